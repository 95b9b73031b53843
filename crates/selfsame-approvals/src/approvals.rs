//! What those who work for an issuer do with the requests that wait.

use selfsame_driver::clock::Clock;
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::decode;
use selfsame_driver::record::events::{Event, EventKind, Events};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_openid4vc_messages::error::CredentialCode;
use selfsame_store::{Batch, Expect, Page, Store, StoreError, TenantId};

use crate::deferral::{DEFERRAL, Decision, DeferralRecord, WAITING, of_account, tagged};
use crate::view::{Approval, ApprovalState, WhichApprovals};

/// If a request changes this often during one decision, others change it at the same time.
const RACES_MAX: usize = 8;
/// Maximum number of requests of an issuer that wait at once.
const WAITING_MAX: u64 = 10_000;
/// Maximum number of requests of one account that wait at once: each sign-in can begin some.
const OF_ACCOUNT_MAX: usize = 20;

/// The requests of an issuer that wait for a decision.
#[derive(Clone, Copy)]
pub struct Approvals<'a> {
    /// The records.
    pub store: &'a Store,
    /// What is told of decisions.
    pub events: &'a Events,
    /// The time.
    pub clock: &'a Clock,
    /// The tenant of the issuer.
    pub tenant: &'a TenantId,
}

impl Approvals<'_> {
    /// The requests in a state, newest first, without their claims.
    ///
    /// # Errors
    /// The store's.
    pub async fn list(&self, which: &WhichApprovals) -> Result<Listing<Approval>> {
        let paging = Paging {
            after: which.after.clone(),
            limit: which.limit,
        };
        let tag = tagged(which.state.unwrap_or(ApprovalState::Waiting));
        let place = page(&paging);
        let found = self.store.find(self.tenant, DEFERRAL, &tag, &place);
        listing(&found.await?, &paging, |record| {
            let mut kept: DeferralRecord = decode(&record.value)?;
            kept.wanted.claims.clear();
            Ok(kept.view(&record.id))
        })
    }

    /// One request, with its claims.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn one(&self, id: &str) -> Result<Approval> {
        Ok(self.record(id).await?.0.view(id))
    }

    /// Approves or refuses a request. The same decision again changes nothing.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` if the other decision was taken before.
    pub async fn decide(&self, id: &str, decision: &Decision) -> Result<Approval> {
        let (kind, told) = match decision {
            Decision::Approve => (EventKind::ApprovalGiven, "approved"),
            Decision::Refuse(_) => (EventKind::ApprovalRefused, "refused"),
        };
        for _ in 0..RACES_MAX {
            let (mut record, version) = self.record(id).await?;
            if !record.decide(decision, self.clock.now())? {
                return Ok(record.view(id));
            }
            let batch = Batch::new(self.tenant.clone())
                .expect(DEFERRAL, id, Expect::Version(version))
                .put(record.put(id)?)
                .delete(WAITING, id);
            match self.events.commit(batch, Event::new(kind, id)).await {
                Ok(_) => {
                    tracing::info!(approval = id, "a credential was {told}");
                    return Ok(record.view(id));
                }
                Err(StoreError::Conflict { .. }) => {}
                Err(other) => return Err(other.into()),
            }
        }
        Err(Error::new(ErrorKind::Conflict, "approval-changing"))
    }

    /// Whether one more request may wait; `account` is that of the person who signed in.
    ///
    /// # Errors
    /// `credential_request_denied` (OpenID4VCI 1.0 §8.3.1.2) if too many wait; the store's.
    pub async fn check_room(&self, account: Option<&str>) -> Result<()> {
        let code = CredentialCode::CredentialRequestDenied.as_str();
        if self.store.count(self.tenant, WAITING, WAITING_MAX).await? >= WAITING_MAX {
            tracing::warn!("too many requests wait for an approval");
            return Err(Error::bad_request("approvals-too-many").with_code(code));
        }
        let Some(account) = account else {
            return Ok(());
        };
        let (tag, page) = (of_account(account), Page::first(OF_ACCOUNT_MAX));
        let own = self.store.find(self.tenant, WAITING, &tag, &page).await?;
        match own.len() < OF_ACCOUNT_MAX {
            true => Ok(()),
            false => {
                tracing::info!("too many requests of an account wait for an approval");
                Err(Error::bad_request("approvals-of-account")
                    .with("maximum", &OF_ACCOUNT_MAX)
                    .with_code(code))
            }
        }
    }

    /// A record and its version.
    ///
    /// # Errors
    /// `NotFound`; the store's.
    pub async fn record(&self, id: &str) -> Result<(DeferralRecord, u64)> {
        let read = self.store.read(self.tenant, DEFERRAL, id).await?;
        let read = read.ok_or_else(|| Error::not_found("approval-unknown"))?;
        Ok((decode(&read.value)?, read.version))
    }
}
