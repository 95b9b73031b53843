//! Revocation: of credentials that the agent issued, and the registries that it keeps for them.

use std::collections::BTreeMap;

use selfsame_agent::connect::RevocationNotification;
use selfsame_anoncreds_wallet::{IssuanceView, PlacesByRegistry, RegistryView};
use selfsame_app::agent::{IssuedPlace, WaitingNotification};
use selfsame_aries::revocation_notification::RevokedCredential;
use selfsame_driver::Reason;
use selfsame_driver::paging::Paging;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::{OperationError, OperationResult, cannot, done, told};
use crate::call::OperationCall;

/// An index of a registry, which callers write as a number or as a text.
#[derive(Deserialize)]
#[serde(untagged)]
enum RegistryIndex {
    Number(u32),
    Text(String),
}

impl RegistryIndex {
    fn number(&self) -> OperationResult<u32> {
        let wrong = || OperationError::field("cred_rev_id", "a whole number");
        match self {
            Self::Number(number) => Ok(*number),
            Self::Text(text) => text.parse().map_err(|_| wrong()),
        }
    }
}

/// An issued credential: by the exchange that issued it, or by its place in a registry.
#[derive(Deserialize)]
struct IssuedBy {
    cred_ex_id: Option<String>,
    rev_reg_id: Option<String>,
    cred_rev_id: Option<RegistryIndex>,
}

impl IssuedBy {
    async fn find(&self, call: &OperationCall) -> OperationResult<IssuanceView> {
        let (anoncreds, tenant) = (call.agents().anoncreds(), call.tenant()?);
        Ok(
            match (&self.cred_ex_id, &self.rev_reg_id, &self.cred_rev_id) {
                (Some(exchange), None, None) => anoncreds.issuance_of(tenant, exchange).await?,
                (None, Some(registry), Some(index)) => {
                    let found = anoncreds.issuance_at(tenant, registry, index.number()?);
                    found.await?
                }
                _ => return Err(named_wrongly()),
            },
        )
    }
}

fn named_wrongly() -> OperationError {
    OperationError::field(
        "cred_ex_id",
        "either cred_ex_id, or rev_reg_id and cred_rev_id",
    )
}

#[derive(Deserialize)]
struct RevokeBody {
    #[serde(flatten)]
    issued: IssuedBy,
    #[serde(default)]
    publish: bool,
    #[serde(flatten)]
    notice: NoticeBody,
}

/// Whether and how the holder is notified.
#[derive(Deserialize)]
struct NoticeBody {
    #[serde(default)]
    notify: bool,
    #[serde(default)]
    notify_version: NoticeVersion,
    connection_id: Option<String>,
    thread_id: Option<String>,
    comment: Option<String>,
}

/// The version of the notification.
#[derive(Clone, Copy, Default, Deserialize)]
enum NoticeVersion {
    #[default]
    #[serde(rename = "v1_0")]
    First,
    #[serde(rename = "v2_0")]
    Latest,
}

impl NoticeBody {
    /// The notification of a credential at this place; `None` if the caller wants none.
    fn waiting(self, place: IssuedPlace) -> OperationResult<Option<WaitingNotification>> {
        if !self.notify {
            return Ok(None);
        }
        let missing = || cannot(Reason::new("agent-notify-connection"));
        let by_place = || RevokedCredential::Registry {
            format: "indy-anoncreds".to_owned(),
            rev_reg_id: place.rev_reg_id.clone(),
            cred_rev_id: place.cred_rev_id.to_string(),
        };
        let notification = match (self.notify_version, self.thread_id) {
            (NoticeVersion::First, Some(thread)) => RevocationNotification {
                major: 1,
                credential: RevokedCredential::Thread(thread),
                comment: self.comment,
            },
            (version, _) => RevocationNotification {
                major: match version {
                    NoticeVersion::First => 1,
                    NoticeVersion::Latest => 2,
                },
                credential: by_place(),
                comment: self.comment,
            },
        };
        Ok(Some(WaitingNotification {
            connection_id: self.connection_id.ok_or_else(missing)?,
            place,
            notification,
        }))
    }
}

/// Revokes a credential: at once, or when the pending ones are published. Its holder is notified once it is revoked.
pub async fn revoke(call: OperationCall) -> OperationResult {
    let body: RevokeBody = call.body()?;
    if let Some(exchange) = &body.issued.cred_ex_id
        && call.app().revoke_jwt(call.tenant()?, exchange).await?
    {
        return done();
    }
    let issued = body.issued.find(&call).await?;
    let place = IssuedPlace {
        rev_reg_id: issued.rev_reg_id,
        cred_rev_id: issued.cred_rev_id,
    };
    let (app, tenant) = (call.app(), call.tenant()?);
    if let Some(waiting) = body.notice.waiting(place.clone())? {
        app.notify_once_revoked(tenant, &waiting).await?;
    }
    app.revoke_anoncreds(tenant, &place, body.publish).await?;
    done()
}

/// Indexes by registry, as callers write them.
type IndexesByRegistry = BTreeMap<String, Vec<RegistryIndex>>;

fn places(of: &IndexesByRegistry) -> OperationResult<PlacesByRegistry> {
    let each = of.iter().map(|(registry, indexes)| {
        let indexes: OperationResult<_> = indexes.iter().map(RegistryIndex::number).collect();
        Ok((registry.clone(), indexes?))
    });
    each.collect()
}

/// Indexes by registry, as ACA-Py writes them: as texts.
fn indexes(of: &PlacesByRegistry) -> Value {
    let each = of.iter().map(|(registry, places)| {
        let texts: Vec<String> = places.iter().map(u32::to_string).collect();
        (registry.clone(), json!(texts))
    });
    Value::Object(each.collect())
}

#[derive(Deserialize)]
struct PublishBody {
    #[serde(default)]
    rrid2crid: IndexesByRegistry,
}

/// Publishes pending revocations.
pub async fn publish(call: OperationCall) -> OperationResult {
    let body: PublishBody = call.body()?;
    let (app, wanted) = (call.app(), places(&body.rrid2crid)?);
    let published = app.publish_anoncreds_revocations(call.tenant()?, &wanted);
    told(&json!({ "rrid2crid": indexes(&published.await?) }))
}

#[derive(Deserialize)]
struct ClearBody {
    #[serde(default)]
    purge: IndexesByRegistry,
}

/// Takes back pending revocations.
pub async fn clear(call: OperationCall) -> OperationResult {
    let body: ClearBody = call.body()?;
    let (anoncreds, wanted) = (call.agents().anoncreds(), places(&body.purge)?);
    let left = anoncreds.clear_pending(call.tenant()?, &wanted);
    told(&json!({ "rrid2crid": indexes(&left.await?) }))
}

/// An issued credential.
pub async fn record(call: OperationCall) -> OperationResult {
    let asked: IssuedBy = call.query()?;
    let issued = asked.find(&call).await?;
    told(&json!({ "result": issued.record() }))
}

#[derive(Deserialize)]
struct CreatedQuery {
    cred_def_id: Option<String>,
    state: Option<String>,
}

/// The registries that the agent keeps.
pub async fn created(call: OperationCall) -> OperationResult {
    let asked: CreatedQuery = call.query()?;
    let anoncreds = call.agents().anoncreds();
    let all = anoncreds
        .registries(call.tenant()?, asked.cred_def_id.as_deref())
        .await?;
    let is_wanted = |one: &&RegistryView| {
        let wanted = asked.state.as_deref();
        wanted.is_none_or(|wanted| wanted == one.state())
    };
    let ids: Vec<_> = all
        .iter()
        .filter(is_wanted)
        .map(|one| &one.rev_reg_id)
        .collect();
    told(&json!({ "rev_reg_ids": ids }))
}

/// A registry.
pub async fn show(call: OperationCall) -> OperationResult {
    let anoncreds = call.agents().anoncreds();
    let found = anoncreds.registry_shown(call.tenant()?, call.at("rev_reg_id")?);
    told(&json!({ "result": found.await?.record() }))
}

/// The registry in which the next credential of a definition gets its place.
pub async fn active(call: OperationCall) -> OperationResult {
    let anoncreds = call.agents().anoncreds();
    let found = anoncreds.active_registry(call.tenant()?, call.at("cred_def_id")?);
    told(&json!({ "result": found.await?.record() }))
}

/// Gives out no more places of the registries of a definition, and begins others.
pub async fn rotate(call: OperationCall) -> OperationResult {
    let (anoncreds, id) = (call.agents().anoncreds(), call.at("cred_def_id")?);
    anoncreds.rotate_registries(call.tenant()?, id).await?;
    let all = anoncreds.registries(call.tenant()?, Some(id)).await?;
    let ids: Vec<_> = all.iter().map(|one| &one.rev_reg_id).collect();
    told(&json!({ "rev_reg_ids": ids }))
}

/// How the ledger's state of a registry differs from what is kept here.
pub async fn difference(call: OperationCall) -> OperationResult {
    let anoncreds = call.agents().anoncreds();
    let found = anoncreds.registry_difference(call.tenant()?, call.at("rev_reg_id")?);
    told(&json!({ "result": found.await? }))
}

/// The number of credentials that have a place in a registry.
pub async fn issued(call: OperationCall) -> OperationResult {
    told(&json!({ "result": all_issued(&call).await?.len() }))
}

/// The credentials that have a place in a registry.
pub async fn issued_details(call: OperationCall) -> OperationResult {
    told(&all_issued(&call).await?)
}

async fn all_issued(call: &OperationCall) -> OperationResult<Vec<Value>> {
    let (anoncreds, id) = (call.agents().anoncreds(), call.at("rev_reg_id")?);
    let (mut all, mut paging) = (Vec::new(), Paging::longest());
    loop {
        let listed = anoncreds.issuances(call.tenant()?, id, &paging).await?;
        all.extend(listed.items.iter().map(IssuanceView::record));
        match listed.next {
            Some(next) => paging.after = Some(next),
            None => return Ok(all),
        }
    }
}
