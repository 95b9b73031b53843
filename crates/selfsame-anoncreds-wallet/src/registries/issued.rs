//! Issuances: which credential has which place, and who asked for it.

use selfsame_crypto::time::UnixTime;
use selfsame_driver::paging::{Listing, Paging, listing};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result, paging::page};
use selfsame_store::{Batch, Expect, Page, Put, Tag, TenantId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::TakenPlace;
use crate::wallet::AnonCreds;

/// The kind of their records.
const ISSUANCE: &str = "anoncreds_issuance";

/// A credential of a revocable definition that was issued.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct IssuanceRecord {
    rev_reg_id: String,
    cred_rev_id: u32,
    cred_def_id: String,
    exchange: Option<String>,
    issued: UnixTime,
}

/// Whether an issued credential is revoked.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IssuanceState {
    /// It is not.
    Issued,
    /// It is to be, once the pending revocations are published.
    Pending,
    /// It is, or the ledger is being told.
    Revoked,
}

/// A credential of a revocable definition that was issued.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct IssuanceView {
    /// Its registry.
    pub rev_reg_id: String,
    /// Its index there.
    pub cred_rev_id: u32,
    /// Its definition.
    pub cred_def_id: String,
    /// The exchange that issued it.
    pub exchange: Option<String>,
    /// When, in seconds since 1970.
    pub issued: u64,
    /// Whether it is revoked.
    pub state: IssuanceState,
}

impl IssuanceView {
    /// The credential as ACA-Py's `IssuerCredRevRecord` has it.
    #[must_use]
    pub fn record(&self) -> Value {
        let at = UnixTime(self.issued).rfc3339();
        json!({
            "cred_ex_id": self.exchange,
            "rev_reg_id": self.rev_reg_id,
            "cred_rev_id": self.cred_rev_id.to_string(),
            "cred_def_id": self.cred_def_id,
            "state": match self.state {
                IssuanceState::Revoked => "revoked",
                IssuanceState::Issued | IssuanceState::Pending => "issued",
            },
            "created_at": at,
            "updated_at": at,
        })
    }
}

/// The writes that note an issuance.
pub(crate) fn issuance(
    tenant: &TenantId,
    taken: &TakenPlace,
    exchange: Option<&str>,
    issued: UnixTime,
) -> Result<Batch> {
    let registry = &taken.registry;
    let record = IssuanceRecord {
        rev_reg_id: registry.id.clone(),
        cred_rev_id: taken.index,
        cred_def_id: registry.cred_def_id.clone(),
        exchange: exchange.map(str::to_owned),
        issued,
    };
    let id = format!("{}/{}", registry.record_id(), taken.index);
    let put = Put::new(ISSUANCE, &id, encode(&record)?)
        .tag(Tag::hashed("rev_reg_id", &registry.id))
        .tag(Tag::hashed("place", place(&registry.id, taken.index)));
    let put = match exchange {
        Some(exchange) => put.tag(Tag::hashed("exchange", exchange)),
        None => put,
    };
    Ok(Batch::new(tenant.clone())
        .expect(ISSUANCE, &id, Expect::Absent)
        .put(put))
}

fn place(rev_reg_id: &str, index: u32) -> String {
    format!("{rev_reg_id} {index}")
}

impl AnonCreds {
    /// The issuance of an exchange.
    ///
    /// # Errors
    /// `NotFound` if it does not exist; the store's.
    pub async fn issuance_of(&self, tenant: &TenantId, exchange: &str) -> Result<IssuanceView> {
        let tag = Tag::hashed("exchange", exchange);
        self.found_issuance(tenant, &tag).await
    }

    /// The issuance at a place of a registry.
    ///
    /// # Errors
    /// `NotFound` if it does not exist; the store's.
    pub async fn issuance_at(
        &self,
        tenant: &TenantId,
        rev_reg_id: &str,
        cred_rev_id: u32,
    ) -> Result<IssuanceView> {
        let rev_reg_id = self.qualified(rev_reg_id).await?;
        let tag = Tag::hashed("place", place(&rev_reg_id, cred_rev_id));
        self.found_issuance(tenant, &tag).await
    }

    /// The issuances of a registry, newest first.
    ///
    /// # Errors
    /// `NotFound` for another's registry; the store's.
    pub async fn issuances(
        &self,
        tenant: &TenantId,
        rev_reg_id: &str,
        paging: &Paging,
    ) -> Result<Listing<IssuanceView>> {
        let registry = self.own_registry(tenant, rev_reg_id).await?;
        let (store, tag) = (&self.shared.store, Tag::hashed("rev_reg_id", &registry.id));
        let found = store.find(tenant, ISSUANCE, &tag, &page(paging)).await?;
        listing(&found, paging, |stored| {
            let record: IssuanceRecord = decode(&stored.value)?;
            let is_pending = registry.pending.contains(&record.cred_rev_id);
            Ok(record.shown(registry.is_revoking(record.cred_rev_id), is_pending))
        })
    }

    async fn found_issuance(&self, tenant: &TenantId, tag: &Tag) -> Result<IssuanceView> {
        let (store, page) = (&self.shared.store, Page::newest(1));
        let found = store.find(tenant, ISSUANCE, tag, &page).await?;
        let found = found.into_iter().next();
        let none = || Error::not_found("anoncreds-issuance-absent");
        let record: IssuanceRecord = decode(&found.ok_or_else(none)?.value)?;
        let registry = self.own_registry(tenant, &record.rev_reg_id).await?;
        let is_pending = registry.pending.contains(&record.cred_rev_id);
        Ok(record.shown(registry.is_revoking(record.cred_rev_id), is_pending))
    }
}

impl IssuanceRecord {
    fn shown(&self, is_revoking: bool, is_pending: bool) -> IssuanceView {
        let state = match (is_revoking, is_pending) {
            (true, _) => IssuanceState::Revoked,
            (false, true) => IssuanceState::Pending,
            (false, false) => IssuanceState::Issued,
        };
        IssuanceView {
            rev_reg_id: self.rev_reg_id.clone(),
            cred_rev_id: self.cred_rev_id,
            cred_def_id: self.cred_def_id.clone(),
            exchange: self.exchange.clone(),
            issued: self.issued.0,
            state,
        }
    }
}
