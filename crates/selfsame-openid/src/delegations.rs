//! Delegations: the DIDs that an issuer allows to use up or revoke its credentials on its behalf. The verifier of its
//! own organisation may use them up without being named.

use std::sync::Arc;

use selfsame_crypto::time::UnixTime;
use selfsame_did::Did;
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_registry::Operation;
use selfsame_registry::single_use::{Action, Delegation as Given};
use selfsame_store::{Batch, Expect, MAX_PAGE, Page, Put, TenantId};
use selfsame_types::{CredentialType, TypeSet};
use serde::{Deserialize, Serialize};

use crate::context::{Context, OwnAct};
use crate::view::issuer::{Delegation, DelegationState, NewDelegation};
use selfsame_core::Shared;
use selfsame_core::dids::Dids;
use selfsame_core::identity::Identity;
use selfsame_core::registry::{
    DELEGATIONS_MAX, WantedDelegation, delegation_name, newest_delegation,
};

/// The kind of the records of delegations, by name.
const DELEGATION: &str = "delegation";
const DEFAULT_DAYS: u64 = 90;

/// A delegation as it is stored; its state comes from the registry.
#[derive(Deserialize, Serialize)]
struct DelegationRecord {
    to: Did,
    action: String,
    #[serde(alias = "templates")]
    types: Vec<String>,
    until: UnixTime,
}

/// The delegations of the issuer with this identity.
pub(crate) struct Delegations<'a> {
    pub shared: &'a Arc<Shared>,
    pub context: &'a Context,
    pub issuer: &'a Identity,
}

impl Delegations<'_> {
    /// Allows a DID to use up or revoke credentials of these templates for a time. Returns once the registry has it.
    ///
    /// # Errors
    /// `BadRequest` for a delegation that is not possible; the registry's.
    pub async fn delegate(&self, new: &NewDelegation) -> Result<Delegation> {
        self.delegate_noted(new, None).await
    }

    /// The same; with `act`, it is the instance's own act, of which the audit trail gets an entry.
    async fn delegate_noted(
        &self,
        new: &NewDelegation,
        act: Option<&OwnAct>,
    ) -> Result<Delegation> {
        let types = self.context.types_now().await?;
        let record = self.wanted(new, &types)?;
        let action = action(&record.action)?;
        let (name, identifier) = self.free_name(&record, action).await?;
        let kinds = new.types.iter().map(|id| Ok(types.find(id)?.vct.clone()));
        let given = Given {
            name: name.clone(),
            to: identifier,
            scope: kinds.collect::<Result<_>>()?,
            action,
            until: record.until,
        };
        let batch = Batch::new(self.tenant().clone())
            .expect(DELEGATION, &name, Expect::Absent)
            .put(Put::new(DELEGATION, &name, encode(&record)?))
            .and(self.entry(act, None)?);
        let operation = Operation::Delegate(given);
        let written = self.dids().write_as(self.issuer, operation, batch).await;
        match written {
            Ok(receipt) => {
                tracing::info!(name, seq_no = receipt.seq_no, "delegated");
            }
            Err(error) if error.is_refusal() => {
                let undone = Batch::new(self.tenant().clone())
                    .delete(DELEGATION, &name)
                    .and(self.entry(act, Some(error.reason.id()))?);
                self.shared.store.commit(undone).await?;
                return Err(error);
            }
            // The delegation is stored, and shown as pending.
            Err(error) => tracing::warn!(name, %error, "the delegation is not in the registry yet"),
        }
        self.delegation_view(&name, &record).await
    }

    /// The delegations, newest first, including those that have ended.
    ///
    /// # Errors
    /// The store's, the registry's.
    pub async fn list(&self, paging: &Paging) -> Result<Listing<Delegation>> {
        let store = &self.shared.store;
        let records = store.list(self.tenant(), DELEGATION, &page(paging)).await?;
        let listed = listing(&records, paging, |record| Ok(record.clone()))?;
        let mut items = Vec::with_capacity(listed.items.len());
        for record in &listed.items {
            let kept: DelegationRecord = decode(&record.value)?;
            items.push(self.delegation_view(&record.id, &kept).await?);
        }
        let next = listed.next;
        Ok(Listing { items, next })
    }

    /// Ends a delegation early. Uses and revocations made under it remain.
    ///
    /// # Errors
    /// `NotFound`; the registry's.
    pub async fn withdraw(&self, name: &str) -> Result<Delegation> {
        let record = self
            .shared
            .store
            .read(self.tenant(), DELEGATION, name)
            .await?;
        let record = record.ok_or_else(|| Error::not_found("delegation-unknown"))?;
        let kept: DelegationRecord = decode(&record.value)?;
        let operation = Operation::WithdrawDelegation {
            name: name.to_owned(),
        };
        self.dids()
            .write_as(self.issuer, operation, Batch::new(self.tenant().clone()))
            .await?;
        tracing::info!(name, "delegation withdrawn");
        self.delegation_view(name, &kept).await
    }

    /// Allows the verifier of the issuer's own organisation to use up credentials of a type, so that an operator need
    /// not copy its DID from one page to another. A delegation that was withdrawn is not given again by itself.
    ///
    /// # Errors
    /// The store's, the registry's.
    pub async fn admit_own_verifier(&self, verifier: &Did, one: &CredentialType) -> Result<()> {
        let wanted = WantedDelegation {
            issuer: self.issuer.did(),
            by: verifier,
            action: Action::Consume,
            kind: &one.vct,
            now: self.shared.clock.now(),
        };
        let registry = self.shared.own_registry()?;
        let may_already = newest_delegation(&**registry, &wanted).await?.is_some();
        if may_already || self.was_decided(&wanted, &one.id).await? {
            return Ok(());
        }
        let new = NewDelegation {
            to: verifier.to_string(),
            action: Action::Consume.name().to_owned(),
            types: vec![one.id.clone()],
            until: None,
        };
        let act = OwnAct {
            organisation: self.context.organisation.name.clone(),
            act: "DELEGATE /issuer/delegations",
            detail: format!("{} {verifier}", one.id),
            refused: None,
        };
        self.delegate_noted(&new, Some(&act)).await.map(drop)
    }

    /// The write of an act's entry in the audit trail, if there is an act and a trail.
    fn entry(&self, act: Option<&OwnAct>, refused: Option<&str>) -> Result<Batch> {
        let Some((act, entry)) = act.zip(self.context.own_acts.get()) else {
            return Ok(Batch::new(self.tenant().clone()));
        };
        entry(OwnAct {
            refused: refused.map(str::to_owned),
            ..act.clone()
        })
    }

    /// Whether such a delegation was withdrawn, or is on its way to the registry.
    async fn was_decided(&self, wanted: &WantedDelegation<'_>, type_id: &str) -> Result<bool> {
        let registry = self.shared.own_registry()?;
        let page = Page::newest(MAX_PAGE);
        let stored = self.shared.store.list(self.tenant(), DELEGATION, &page);
        for record in stored.await? {
            let kept: DelegationRecord = decode(&record.value)?;
            let is_such = kept.to == *wanted.by && kept.action == wanted.action.name();
            if !is_such || !kept.types.iter().any(|id| id == type_id) {
                continue;
            }
            let given = registry.delegation(wanted.issuer, &record.id).await?;
            let is_decided = given.is_none_or(|given| {
                given.is_withdrawn && given.scope.iter().any(|kind| kind == wanted.kind)
            });
            if is_decided {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn tenant(&self) -> &TenantId {
        &self.context.organisation.issuer
    }

    fn dids(&self) -> Dids {
        Dids::new(self.shared.clone())
    }

    /// The wanted delegation, checked as far as possible here; the registry decides.
    fn wanted(&self, new: &NewDelegation, types: &TypeSet) -> Result<DelegationRecord> {
        if !self.issuer.did().origin().is_registry() {
            return Err(Error::bad_request("delegation-issuer"));
        }
        if new.types.is_empty() {
            return Err(Error::bad_request("delegation-types-missing"));
        }
        for id in &new.types {
            if !types.find(id)?.single_use {
                return Err(Error::bad_request("type-not-single-use").with("type", id));
            }
        }
        let to = Did::parse(&new.to)
            .ok()
            .filter(|to| to.origin().is_registry())
            .ok_or_else(|| Error::bad_request("delegation-to-other-method"))?;
        let until = match &new.until {
            None => {
                let days = DEFAULT_DAYS.saturating_mul(24 * 3600);
                self.shared.clock.now().plus(days)
            }
            Some(until) => UnixTime::parse_rfc3339(until)
                .ok_or_else(|| Error::bad_request("delegation-end-malformed"))?,
        };
        action(&new.action)?;
        Ok(DelegationRecord {
            to,
            action: new.action.clone(),
            types: new.types.clone(),
            until,
        })
    }

    /// The next free name among the delegations of this action to this delegate.
    async fn free_name(
        &self,
        record: &DelegationRecord,
        action: Action,
    ) -> Result<(String, selfsame_registry::Identifier)> {
        let foreign = || Error::bad_request("delegation-to-other-network");
        let (network, _) = selfsame_did::selfsame::parts(self.issuer.did()).ok_or_else(foreign)?;
        let identifier = selfsame_registry::Identifier::of_did(&record.to, &network);
        let identifier = identifier.ok_or_else(foreign)?;
        for number in 1..=DELEGATIONS_MAX {
            let name = delegation_name(&record.to, action, number).ok_or_else(foreign)?;
            let taken = self
                .shared
                .store
                .read(self.tenant(), DELEGATION, &name)
                .await?;
            if taken.is_none() {
                return Ok((name, identifier));
            }
        }
        Err(Error::new(ErrorKind::Conflict, "delegations-too-many")
            .with("maximum", &DELEGATIONS_MAX))
    }

    async fn delegation_view(&self, name: &str, record: &DelegationRecord) -> Result<Delegation> {
        let registry = self.shared.registry.as_ref();
        let registry = registry.ok_or_else(|| Error::internal("delegations need a registry"))?;
        let given = registry.delegation(self.issuer.did(), name).await?;
        let now = self.shared.clock.now();
        let state = match &given {
            None => DelegationState::Pending,
            Some(given) if given.is_withdrawn => DelegationState::Withdrawn,
            Some(_) if now >= record.until => DelegationState::Expired,
            Some(_) => DelegationState::Active,
        };
        Ok(Delegation {
            id: name.to_owned(),
            to: record.to.to_string(),
            action: record.action.clone(),
            types: record.types.clone(),
            until: record.until.rfc3339(),
            state,
            seq_no: given.map(|given| given.seq_no),
        })
    }
}

fn action(name: &str) -> Result<Action> {
    [Action::Consume, Action::Revoke]
        .into_iter()
        .find(|action| action.name() == name)
        .ok_or_else(|| Error::bad_request("delegation-action-unknown"))
}
