//! The registry's browser: blocks, transactions, searches, objects with their history, validators; all with proofs.

pub mod blocks;
pub mod object;
mod picture;
pub mod register;
pub mod search;
pub mod transaction;
pub mod validators;

use askama::Template;
use selfsame_did::DidUrl;
use selfsame_did::method::Origin;
use selfsame_ledger::view::browse::{BlockView, ValidatorsView};
use selfsame_ledger::view::{RegistryEntry, RegistryStatus};
use serde_json::Value;

use crate::Frame;
use crate::text::words;

/// The pages of the registry, for its navigation.
const PAGES: [(&str, &str, &str); 7] = [
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

/// The head, the newest blocks, and the transactions, newest first.
#[derive(Template)]
#[template(path = "registry.html")]
pub struct RegistryPage {
    /// What stands around it.
    pub frame: Frame,
    /// The name of the network.
    pub name: String,
    /// The identifier of the network.
    pub network: String,
    /// The height of the newest block.
    pub height: u64,
    /// How many transactions there are.
    pub transactions: u64,
    /// The status with the newest checkpoint; `None` if too few validators have signed one.
    pub status: Option<RegistryStatus>,
    /// The validators.
    pub validators: ValidatorsView,
    /// The newest blocks, for the picture.
    pub blocks: Vec<BlockView>,
    /// A page of transactions.
    pub entries: Vec<RegistryEntry>,
    /// The cursor of the next page.
    pub next: Option<String>,
    /// Whether the page follows the head.
    pub live: bool,
}

/// A number with thousands separators.
fn grouped(number: &u64) -> String {
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
fn short_hash(hash: &str) -> String {
    match (hash.get(..10), hash.get(hash.len().saturating_sub(4)..)) {
        (Some(start), Some(end)) if hash.len() > 18 => format!("{start}…{end}"),
        _ => hash.to_owned(),
    }
}

/// Whether two texts are equal, whatever types a template holds them as.
fn same(one: impl AsRef<str>, other: impl AsRef<str>) -> bool {
    one.as_ref() == other.as_ref()
}

/// What a transaction does; for a batch, each kind of operation once.
fn what(entry: &RegistryEntry) -> String {
    let operations = entry.content.get("operations").and_then(Value::as_array);
    let Some(operations) = operations.filter(|_| entry.kind == "batch") else {
        return words(&entry.kind);
    };
    let mut kinds: Vec<&str> = operations
        .iter()
        .filter_map(|one| one["kind"].as_str())
        .collect();
    kinds.dedup();
    let more = if kinds.len() > 3 { ", …" } else { "" };
    kinds.truncate(3);
    let kinds = words(&kinds.join(", "));
    format!("{} operations: {kinds}{more}", operations.len())
}

/// A key's name within its DID document.
fn fragment(key: &str) -> &str {
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
    use serde_json::json;

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
