//! Credentials that need an approval: their requests are kept, and the deferred credential endpoint delivers them
//! (OpenID4VCI 1.0 §9).
//!
//! The name of a transaction is a keyed hash of its grant and its request, as those of responses are. So a repeated
//! request has the name that the first had, no name fits another access token, and the record has a hash of it alone.

use std::sync::Arc;

use selfsame_approvals::possession::{OwnToken, Possession};
use selfsame_approvals::{Approvals, DEFERRAL, DeferralRecord, DeferralState, LookOutcome};
use selfsame_approvals::{RequestedCredential, SoughtDeferral, id_of, unknown};
use selfsame_core::events::EventKind;
use selfsame_core::machine::{Next, Round};
use selfsame_credential::evidence::Step;
use selfsame_crypto::encoding::base64url_encode;
use selfsame_driver::Result;
use selfsame_openid4vc::issuer::{self, DeferralAsked};
use selfsame_openid4vc::wire::credential::{CredentialAnswer, RequestOutcome};
use selfsame_openid4vc::wire::deferred::{DeferredRequest, DeferredResponse};
use selfsame_store::Expect;

use super::protocol::{
    GRANT, GrantRecord, IssuedResponse, WalletAsk, check_held, invalid_token, spent,
};
use super::{Current, Issuer};
use crate::config::WantedApproval;
use crate::refusal::refusal;
use crate::view::by_sign_in::TokenBySignIn;

/// A look for a transaction with the token of a grant.
#[derive(Clone, Copy)]
struct WalletLook<'a> {
    grant: &'a str,
    /// The thumbprint of the key that was proven with the token.
    key: Option<&'a str>,
    wanted: &'a DeferredRequest,
}

impl Issuer {
    /// The deferred credential endpoint, for an access token of this issuer.
    ///
    /// # Errors
    /// `invalid_transaction_id` or `credential_request_denied` (§9.3), otherwise as [`Issuer::credential`].
    pub async fn deferred(
        &self,
        token: impl Into<OwnToken<'_>>,
        body: &[u8],
    ) -> Result<CredentialAnswer> {
        let token = token.into();
        let current = self.current().await?;
        let wanted = wanted(body, &current)?;
        let look = WalletLook {
            grant: &token.grant_id(),
            key: token.key(),
            wanted: &wanted,
        };
        self.looked(look, current).await
    }

    /// The deferred credential endpoint, for the access token of somebody who signed in.
    ///
    /// # Errors
    /// As [`Self::deferred`].
    pub async fn deferred_by_sign_in(
        &self,
        by: &TokenBySignIn,
        body: &[u8],
    ) -> Result<CredentialAnswer> {
        let current = self.current().await?;
        let wanted = wanted(body, &current)?;
        let grant = self.approvals().grant_of(&wanted.transaction_id).await?;
        let own = self.grants_of(by).await?;
        let held = own.iter().find(|one| grant.as_ref() == Some(&one.id));
        let held = held.ok_or_else(|| refusal(unknown()))?;
        let look = WalletLook {
            grant: &held.id,
            key: held.key,
            wanted: &wanted,
        };
        self.looked(look, current).await
    }

    async fn looked(
        &self,
        look: WalletLook<'_>,
        current: Arc<Current>,
    ) -> Result<CredentialAnswer> {
        let WalletLook { grant, key, wanted } = look;
        let (store, grants) = (&self.shared.store, &self.memory.grants);
        let found = grants.find(store, self.tenant(), GRANT, grant).await?;
        let (record, version) = found.ok_or_else(invalid_token)?;
        // A token that has ended is refused as such, whatever it looks for.
        check_held(&record, key, self.shared.clock.now())?;
        grants.keep(version, record);
        let transaction = &*wanted.transaction_id;
        let sought = self.sought(transaction, grant).await?;
        let outcome = match sought.outcome {
            LookOutcome::NotYet => RequestOutcome::Deferred(DeferredResponse {
                transaction_id: transaction.to_owned(),
                interval: sought.record.interval,
            }),
            LookOutcome::Ready | LookOutcome::Repeated => {
                let asked = WalletAsk {
                    grant,
                    key,
                    request: &sought.request,
                    transaction: Some(transaction),
                };
                self.issue(asked, current).await?
            }
        };
        let (ctx, wanted) = (self.shared.clock.ctx(), wanted.response_encryption.as_ref());
        CredentialAnswer::to(outcome, wanted, &ctx).map_err(refusal)
    }

    /// A transaction that is looked for with the token of a grant.
    pub(super) async fn sought(&self, transaction: &str, grant: &str) -> Result<SoughtDeferral> {
        let sought = self.approvals().sought(transaction, grant).await?;
        sought.map_err(refusal)
    }

    /// Keeps a request whose credential needs an approval.
    pub(super) fn defer(
        &self,
        grant: &mut GrantRecord,
        asked: &DeferralAsked<'_>,
        round: &Round<'_>,
    ) -> Result<Step<Next<IssuedResponse>>> {
        let taken = issuer::defer(&grant.state, asked, round.evidence, round.ctx);
        let deferral = match taken.map_err(refusal)? {
            Step::Needs(needs) => return Ok(Step::Needs(needs)),
            Step::Done(deferral) => deferral,
        };
        let interval = self.context.config.issuer.approval_interval;
        let key = self.key.derive(b"deferrals").derive(round.at.id.as_bytes());
        let request = asked.request.to_json();
        let transaction_id = base64url_encode(&key.mac(request.as_bytes()));
        let id = id_of(&transaction_id);
        let response = IssuedResponse::deferred(DeferredResponse {
            transaction_id,
            interval,
        });
        if deferral.is_repeated {
            return Ok(Step::Done(Next::unchanged(round, response)));
        }
        let (granted, subject) = (grant.state.granted(), &grant.subject);
        let kept = subject.kept.clone();
        let record = DeferralRecord {
            grant: round.at.id.to_owned(),
            request,
            holders: deferral.holders,
            wanted: RequestedCredential {
                type_id: subject.type_id.clone(),
                version: subject.version,
                format: subject.format.clone(),
                offer: subject.offer.clone(),
                label: subject.label.clone(),
                claims: subject.claims.clone().into_iter().chain(kept).collect(),
            },
            asked: round.ctx.now(),
            until: granted.ok_or_else(invalid_token)?.expires,
            interval,
            state: DeferralState::Waiting,
        };
        grant.state = deferral.state;
        let mut next = Next::written(round, response);
        next.batch = spent(next.batch, deferral.spent).expect(DEFERRAL, &id, Expect::Absent);
        let counted = record.counted(&id, grant.account.as_deref());
        let next = next.put(record.put(&id)?).put(counted);
        Ok(Step::Done(next.tell(EventKind::ApprovalNeeded, id)))
    }

    /// Whether an offer needs an approval unless it says otherwise; `None` if none can.
    #[must_use]
    pub fn approval(&self) -> Option<bool> {
        match self.context.config.issuer.approval {
            WantedApproval::Off => None,
            approval => Some(approval == WantedApproval::ByDefault),
        }
    }

    /// The requests that wait for a decision.
    #[must_use]
    pub fn approvals(&self) -> Approvals<'_> {
        Approvals {
            store: &self.shared.store,
            events: &self.shared.events,
            clock: &self.shared.clock,
            tenant: self.tenant(),
        }
    }

    /// What checks the proofs that come with its access tokens.
    #[must_use]
    pub fn possession(&self) -> Possession<'_> {
        Possession {
            store: &self.shared.store,
            clock: &self.shared.clock,
            tenant: self.tenant(),
        }
    }
}

fn wanted(body: &[u8], current: &Current) -> Result<DeferredRequest> {
    let encryption = current.settings.encryption.as_ref();
    DeferredRequest::read(body, encryption).map_err(refusal)
}
