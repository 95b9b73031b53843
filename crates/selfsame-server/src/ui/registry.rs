//! The registry's browser: blocks, transactions, searches, objects with their history, validators; all with proofs.

pub mod blocks;
pub mod object;
pub mod picture;
pub mod register;
pub mod search;
pub mod transaction;
pub mod validators;

use askama::Template;
use axum::extract::State;
use axum::response::sse::Event;
use axum::response::{IntoResponse as _, Redirect, Response};
use futures_util::{StreamExt as _, stream};
use http::Uri;
use selfsame_did::DidUrl;
use selfsame_did::method::Origin;
use selfsame_driver::paging::Paging;
use selfsame_ledger::Registry;
use selfsame_ledger::browse::Browser;
use selfsame_ledger::config::RegistryConfig;
use selfsame_ledger::view::RegistryEntry;
use selfsame_ledger::view::browse::{BlockView, ValidatorsView};
use serde_json::{Value, json};

use super::{Frame, ListPosition};
use crate::error::{Handled, Problem};
use crate::extract::Query;
use crate::server::Server;
use crate::stream::respond;

/// Interval at which the head is checked for pages that follow it.
const LOOKED_AT: std::time::Duration = std::time::Duration::from_secs(1);
/// Number of blocks in the picture.
const PICTURED: u64 = 30;
/// Transactions per page.
const ON_PAGE: usize = 25;

/// The pages of the registry, for its navigation.
pub const PAGES: [(&str, &str, &str); 7] = [
    ("transactions", "/registry", "Transactions"),
    ("blocks", "/registry/blocks", "Blocks"),
    ("validators", "/registry/validators", "Validators"),
    ("domain", "/browse/domain", "Domain"),
    ("pool", "/browse/pool", "Pool"),
    ("config", "/browse/config", "Config"),
    ("register", "/registry/register", "Register"),
];

/// The kinds of operations that a search can be limited to, with their names.
pub const KINDS: [(&str, &str); 18] = [
    ("create_did", "DID created"),
    ("register_did", "DID registered by another party"),
    ("update_did", "DID updated"),
    ("deactivate_did", "DID deactivated"),
    ("set_role", "Role"),
    ("schema", "Schema"),
    ("credential_definition", "Credential definition"),
    ("revocation_registry", "Revocation registry"),
    ("revocation_entry", "Revocation entry"),
    ("anchor_status", "Status list"),
    ("resource", "Resource"),
    ("delegate", "Delegation"),
    ("withdraw_delegation", "Delegation withdrawn"),
    ("consume", "Credential used up"),
    ("revoke", "Credential revoked"),
    ("set_agreement", "Author agreement"),
    ("change_validators", "Validators"),
    ("change_rules", "Rules"),
];

#[derive(Template)]
#[template(path = "registry.html")]
struct RegistryPage {
    frame: Frame,
    part: &'static str,
    name: String,
    height: u64,
    transactions: u64,
    network: String,
    checkpoint: Option<(String, String)>,
    validators: ValidatorsView,
    blocks: Vec<BlockView>,
    entries: Vec<RegistryEntry>,
    next: Option<String>,
    live: bool,
}

/// The head, the newest blocks, and the transactions, newest first.
pub async fn page(
    State(server): State<Server>,
    frame: Frame,
    Query(at): Query<ListPosition>,
) -> Handled {
    let mut paging = Paging::from(at);
    paging.limit = Some(paging.limit.unwrap_or(ON_PAGE));
    super::html(&RegistryPage::of(&**server.registry()?, frame, paging).await?)
}

impl RegistryPage {
    async fn of(registry: &dyn Registry, frame: Frame, mut paging: Paging) -> Handled<Self> {
        let browser = Browser::of(registry)?;
        let (height, transactions) = browser.head()?;
        let live = paging.cursor().is_none();
        if live {
            // Also shows transactions that are stored but not yet in a signed checkpoint.
            paging.after = Some(transactions.saturating_add(1).to_string());
        }
        let listed = registry.recent(&paging).await?;
        // A network with too few signatures for a checkpoint can still be browsed.
        let checkpoint = registry.status().await.ok();
        Ok(Self {
            frame: frame.titled("Registry"),
            part: "transactions",
            name: browser.name().to_owned(),
            network: registry.network().await?.to_string(),
            checkpoint: checkpoint.map(|status| (status.checkpoint, status.verifier_key)),
            validators: browser.validators().await?,
            blocks: browser.blocks(None, PICTURED)?,
            entries: listed.items,
            next: listed.next,
            height,
            transactions,
            live,
        })
    }
}

/// Server-sent events: height and number of transactions whenever they change.
pub async fn events(State(server): State<Server>) -> Handled {
    let registry = server.registry()?.clone();
    Browser::of(&*registry)?;
    let ticks = tokio::time::interval(LOOKED_AT);
    let changes = stream::unfold((ticks, None), move |(mut ticks, mut seen)| {
        let registry = registry.clone();
        async move {
            loop {
                ticks.tick().await;
                let head = Browser::of(&*registry).and_then(|browser| browser.head());
                let head = head.ok()?;
                if seen.replace(head) != Some(head) {
                    let (height, transactions) = head;
                    return Some((told(height, transactions), (ticks, seen)));
                }
            }
        }
    });
    Ok(respond(
        server.stopped(),
        changes.filter_map(std::future::ready),
    ))
}

fn told(height: u64, transactions: u64) -> Option<Event> {
    let head = json!({ "height": height, "transactions": transactions });
    Event::default().event("head").json_data(head).ok()
}

/// Redirects to the pages of the process that runs the registry.
pub async fn elsewhere(State(server): State<Server>, asked: Uri) -> Handled<Response> {
    let nodes = match &server.app().config().registry {
        RegistryConfig::Remote { nodes, .. } => nodes.as_slice(),
        RegistryConfig::Embedded { .. } | RegistryConfig::None => &[],
    };
    let Some(first) = nodes.first() else {
        return Err(Problem::new(
            http::StatusCode::NOT_FOUND,
            "registry-page-absent",
        ));
    };
    let path = asked.path_and_query().map_or("/", |path| path.as_str());
    let there = first.origin.as_str().trim_end_matches('/');
    Ok(Redirect::temporary(&format!("{there}{path}")).into_response())
}

/// A number with thousands separators.
pub fn grouped(number: &u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len().saturating_mul(2));
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && digits.len().saturating_sub(at) % 3 == 0 {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A hash shortened to fit on a line.
pub fn short_hash(hash: &str) -> String {
    match (hash.get(..10), hash.get(hash.len().saturating_sub(4)..)) {
        (Some(start), Some(end)) if hash.len() > 18 => format!("{start}…{end}"),
        _ => hash.to_owned(),
    }
}

/// Whether two texts are equal, whatever types a template holds them as.
pub fn same(one: impl AsRef<str>, other: impl AsRef<str>) -> bool {
    one.as_ref() == other.as_ref()
}

/// What a transaction does; for a batch, each kind of operation once.
pub fn what(entry: &RegistryEntry) -> String {
    let operations = entry.content.get("operations").and_then(Value::as_array);
    let Some(operations) = operations.filter(|_| entry.kind == "batch") else {
        return super::words(&entry.kind);
    };
    let mut kinds: Vec<&str> = operations
        .iter()
        .filter_map(|one| one["kind"].as_str())
        .collect();
    kinds.dedup();
    let more = if kinds.len() > 3 { ", …" } else { "" };
    kinds.truncate(3);
    let kinds = super::words(&kinds.join(", "));
    format!("{} operations: {kinds}{more}", operations.len())
}

/// A key's name within its DID document.
pub fn fragment(key: &str) -> &str {
    key.rsplit_once('#').map_or(key, |(_, fragment)| fragment)
}

/// The page of an identifier of the registry; `None` for any other text.
pub fn link(identifier: &str) -> Option<String> {
    let escaped = url::form_urlencoded::byte_serialize(identifier.as_bytes());
    DidUrl::parse(identifier)
        .is_ok_and(|url| url.did.origin() == Origin::Registry)
        .then(|| format!("/registry/object?id={}", escaped.collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_says_what_is_in_it() {
        let entry = |kind: &str, content| RegistryEntry {
            unproven: Vec::new(),
            seq_no: 1,
            height: 1,
            time: String::new(),
            hash: String::new(),
            kind: kind.to_owned(),
            author: String::new(),
            subject: String::new(),
            content,
        };
        assert_eq!(what(&entry("set_role", json!({}))), "set role");
        let kinds = ["register_did", "set_role", "set_role", "schema", "resource"];
        let operations: Vec<Value> = kinds.iter().map(|kind| json!({ "kind": kind })).collect();
        let batch = entry("batch", json!({ "operations": operations }));
        assert_eq!(
            what(&batch),
            "5 operations: register did, set role, schema, …"
        );
    }

    #[test]
    fn numbers_and_hashes_are_made_readable() {
        assert_eq!(grouped(&7), "7");
        assert_eq!(grouped(&1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(short_hash(&"ab".repeat(32)), "ababababab…abab");
        assert_eq!(short_hash("abcd"), "abcd");
    }
}
