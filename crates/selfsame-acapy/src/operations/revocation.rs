//! Revocation: of credentials that the agent issued, and the registries that it keeps for them.

use std::collections::BTreeMap;

use selfsame_anoncreds_wallet::{
    IssuanceState, IssuanceView, PlacesByRegistry, RegistryStage, RegistryView,
};
use selfsame_crypto::time::UnixTime;
use selfsame_driver::paging::Paging;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::{OperationError, OperationResult, done, told};
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
}

/// Revokes a credential: at once, or when the pending ones are published.
pub async fn revoke(call: OperationCall) -> OperationResult {
    let body: RevokeBody = call.body()?;
    let issued = body.issued.find(&call).await?;
    let (anoncreds, tenant) = (call.agents().anoncreds(), call.tenant()?);
    anoncreds
        .revoke(tenant, &issued.rev_reg_id, issued.cred_rev_id, body.publish)
        .await?;
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
    let (anoncreds, wanted) = (call.agents().anoncreds(), places(&body.rrid2crid)?);
    let published = anoncreds.publish_revocations(call.tenant()?, &wanted);
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
    told(&json!({ "result": issuance(&issued) }))
}

fn issuance(issued: &IssuanceView) -> Value {
    let at = UnixTime(issued.issued).rfc3339();
    json!({
        "cred_ex_id": issued.exchange,
        "rev_reg_id": issued.rev_reg_id,
        "cred_rev_id": issued.cred_rev_id.to_string(),
        "cred_def_id": issued.cred_def_id,
        "state": match issued.state {
            IssuanceState::Revoked => "revoked",
            IssuanceState::Issued | IssuanceState::Pending => "issued",
        },
        "created_at": at,
        "updated_at": at,
    })
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
        wanted.is_none_or(|wanted| wanted == state(one))
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
    told(&json!({ "result": registry(&found.await?) }))
}

/// The registry in which the next credential of a definition gets its place.
pub async fn active(call: OperationCall) -> OperationResult {
    let anoncreds = call.agents().anoncreds();
    let found = anoncreds.active_registry(call.tenant()?, call.at("cred_def_id")?);
    told(&json!({ "result": registry(&found.await?) }))
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
        all.extend(listed.items.iter().map(issuance));
        match listed.next {
            Some(next) => paging.after = Some(next),
            None => return Ok(all),
        }
    }
}

/// A registry as `IssuerRevRegRecord` has it.
fn registry(of: &RegistryView) -> Value {
    let pending: Vec<String> = of.pending.iter().map(u32::to_string).collect();
    json!({
        "revoc_reg_id": of.rev_reg_id,
        "cred_def_id": of.cred_def_id,
        "issuer_did": of.issuer_id,
        "revoc_def_type": "CL_ACCUM",
        "max_cred_num": of.size,
        "tag": of.number.to_string(),
        "tails_hash": of.tails_hash,
        "state": state(of),
        "pending_pub": pending,
        "created_at": UnixTime(of.begun).rfc3339(),
        "updated_at": UnixTime(of.changed).rfc3339(),
    })
}

/// A registry's state by ACA-Py's names.
fn state(of: &RegistryView) -> &'static str {
    match of.stage {
        RegistryStage::Preparing => "init",
        RegistryStage::Sending => "generated",
        RegistryStage::Ready => "active",
        RegistryStage::Full => "full",
        RegistryStage::Decommissioned | RegistryStage::Failed(_) => "decommissioned",
    }
}
