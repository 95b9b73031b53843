//! Uses up a credential that was shown, or revokes it on its issuer's behalf: ordered together with the answer, carried
//! out once, and finally done or refused.

use selfsame_credential::single_use::{HANDLE, Reference};
use selfsame_credential::verdict::Outcome;
use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use selfsame_crypto::time::UnixTime;
use selfsame_did::{Did, selfsame};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_ledger::is_refusal;
use selfsame_openid4vc::dcql::{ClaimQuery, CredentialQuery, Query};
use selfsame_openid4vc::verifier::{Answered, State};
use selfsame_registry::single_use::{Action, Consume};
use selfsame_registry::{Identifier, Operation, Transaction};
use selfsame_store::{Batch, Committed, Leased, NewOutbox, OutboxId, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{RequestRecord, VERIFICATION, Verifier, tenant};
use crate::events::EventKind;
use crate::outbox::Job;
use crate::shared::Shared;
use crate::uses::newest_delegation;
use crate::view::verifier::{NewRequest, SpendingState, SpendingStatus, VerificationStatus};

/// If a request changes this often meanwhile, others are changing it at the same time.
const TRIES_MAX: usize = 4;

/// The use or revocation ordered from the registry for a request, and its result.
#[derive(Clone, Deserialize, Serialize)]
pub(super) struct Spending {
    action: String,
    by: Did,
    progress: Progress,
}

#[derive(Clone, Deserialize, Serialize)]
enum Progress {
    /// The transaction is stored and will be sent until the registry answers.
    Pending { transaction: String },
    /// The registry has it.
    Done { at: UnixTime, seq_no: u64 },
    /// It will never be done.
    Refused { reason: String },
}

/// A handle that a holder has shown.
struct Shown {
    issuer: Did,
    kind: String,
    handle: [u8; 32],
}

impl Spending {
    /// Whether the person who asked must wait before they can rely on the answer.
    pub(super) fn holds_back(&self) -> bool {
        self.action == Action::Consume.name() && self.is_pending()
    }

    pub(super) fn is_pending(&self) -> bool {
        matches!(self.progress, Progress::Pending { .. })
    }

    pub(super) fn view(&self) -> SpendingStatus {
        let (state, at, seq_no, reason) = match &self.progress {
            Progress::Pending { .. } => (SpendingState::Pending, None, None, None),
            Progress::Done { at, seq_no } => (SpendingState::Done, Some(*at), Some(*seq_no), None),
            Progress::Refused { reason } => (SpendingState::Refused, None, None, Some(reason)),
        };
        SpendingStatus {
            action: self.action.clone(),
            state,
            by: self.by.to_string(),
            at: at.map(UnixTime::rfc3339),
            seq_no,
            reason: reason.cloned(),
        }
    }
}

impl Verifier {
    /// The DID that is to use up the credential a new request asks for, if the request says so.
    pub(super) async fn spender_of(&self, new: &NewRequest, query: &Query) -> Result<Option<Did>> {
        match (new.spend, new.spender.as_deref()) {
            (true, named) => {
                asks_for_one_handle(query)?;
                Ok(Some(self.spender(named).await?))
            }
            (false, None) => Ok(None),
            (false, Some(_)) => Err(Error::bad_request("`spender` needs `spend`")),
        }
    }

    /// The DID that is to use up the credential: one of this instance, known to the registry.
    async fn spender(&self, named: Option<&str>) -> Result<Did> {
        let did = match named {
            None => self.identity.did().clone(),
            Some(named) => {
                Did::parse(named).map_err(|_| Error::bad_request("`spender` is not a DID"))?
            }
        };
        self.dids.may_act_as(&did, &self.identity).await?;
        Ok(did)
    }

    /// Orders the use after a valid answer, if the request asks for it.
    ///
    /// # Errors
    /// The registry's, if it can't be asked now.
    pub(super) async fn spend_if_asked(
        &self,
        id: &str,
        kept: &mut RequestRecord,
    ) -> Result<Option<NewOutbox>> {
        let (Some(by), State::Answered(answered)) = (kept.spender.clone(), &kept.state) else {
            return Ok(None);
        };
        if answered.judged.outcome != Outcome::Valid {
            return Ok(None);
        }
        match self.order(id, answered, (Action::Consume, &by)).await {
            Ok((spending, entry)) => {
                kept.spending = Some(spending);
                Ok(Some(entry))
            }
            Err(error) if is_refusal(&error) => {
                kept.spending = Some(Spending {
                    action: Action::Consume.name().to_owned(),
                    by,
                    progress: Progress::Refused {
                        reason: error.reason.clone(),
                    },
                });
                not_used_up(&mut kept.state, &error.reason);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Carries out an enqueued entry at once; if that fails, the outbox continues.
    pub(super) async fn carry_out_here(&self, committed: &Committed) {
        let Some(entry) = committed.outbox.first() else {
            return;
        };
        match self.shared.store.lease_early(*entry).await {
            Ok(Some(leased)) => {
                if let Err(error) = self.carry_out(&leased).await {
                    self.shared.put_off(&leased, &error).await;
                }
            }
            // Another worker carries it out.
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "a use is left to the outbox"),
        }
    }

    /// Sends the transaction of an entry of the outbox, and settles the entry with the registry's answer.
    ///
    /// # Errors
    /// The registry's, if it does not answer; the store's.
    pub(crate) async fn carry_out(&self, leased: &Leased) -> Result<()> {
        let Job::Spend {
            request,
            transaction,
        } = Job::read(leased)?
        else {
            return Err(Error::internal("the outbox entry is not a use"));
        };
        let bytes = base64url_decode(&transaction).map_err(Error::internal)?;
        let signed = Transaction::from_bytes(&bytes).map_err(Error::internal)?;
        let progress = match self.registry()?.submit(&signed).await {
            Ok(receipt) => {
                self.shared
                    .events
                    .tell(EventKind::Anchored, receipt.seq_no.to_string());
                Progress::Done {
                    at: receipt.time,
                    seq_no: receipt.seq_no,
                }
            }
            Err(error) if is_refusal(&error) => Progress::Refused {
                reason: error.reason,
            },
            Err(error) => return Err(error),
        };
        self.close((leased.id, &request), &transaction, &progress)
            .await
    }

    /// Revokes a credential whose handle was shown, by its issuer's delegation; as `by`, or by default as the DID that
    /// was to use it up.
    ///
    /// # Errors
    /// `Conflict` if there is no answer or it was acted on already; `Forbidden` without a delegation.
    pub async fn revoke(&self, id: &str, by: Option<&str>) -> Result<VerificationStatus> {
        let (mut kept, version) = self.record(id).await?;
        let State::Answered(answered) = &kept.state else {
            let reason = "there is no answer, so nothing to revoke";
            return Err(Error::new(ErrorKind::Conflict, reason));
        };
        let acted = kept.spending.as_ref();
        if acted.is_some_and(|spending| !matches!(spending.progress, Progress::Refused { .. })) {
            let reason = "the credential has been used up or revoked already";
            return Err(Error::new(ErrorKind::Conflict, reason));
        }
        let by = match (by, &kept.spender) {
            (None, Some(spender)) => spender.clone(),
            (named, _) => self.spender(named).await?,
        };
        let (spending, entry) = self.order(id, answered, (Action::Revoke, &by)).await?;
        kept.spending = Some(spending);
        let batch = Batch::new(tenant())
            .update_version(VERIFICATION, id, version, encode(&kept)?)
            .enqueue(entry);
        let committed = self.shared.store.commit(batch).await?;
        self.carry_out_here(&committed).await;
        self.request(id).await
    }

    /// The signed transaction, as an outbox entry.
    async fn order(
        &self,
        id: &str,
        answered: &Answered,
        (action, by): (Action, &Did),
    ) -> Result<(Spending, NewOutbox)> {
        let shown = shown(answered, action).ok_or_else(|| {
            Error::bad_request(
                "the credential whose handle was requested was not shown, or is not valid",
            )
        })?;
        let unknown = || Error::bad_request("the credential's issuer belongs to no registry");
        let (network, _) = selfsame::parts(&shown.issuer).ok_or_else(unknown)?;
        let issuer = Identifier::of_did(&shown.issuer, &network).ok_or_else(unknown)?;
        let delegation = match shown.issuer == *by {
            true => None,
            false => Some(self.delegation(&shown, (action, by)).await?),
        };
        let operation = Operation::Consume(Consume {
            issuer,
            kind: shown.kind,
            handle: shown.handle,
            action,
            delegation,
        });
        let signed = self.dids.signed_as((by, &self.identity), operation).await?;
        let transaction = base64url_encode(&signed.to_bytes());
        let entry = Job::Spend {
            request: id.to_owned(),
            transaction: transaction.clone(),
        }
        .own_entry("registry", id, self.shared.clock.now())?;
        let spending = Spending {
            action: action.name().to_owned(),
            by: by.clone(),
            progress: Progress::Pending { transaction },
        };
        Ok((spending, entry))
    }

    async fn delegation(&self, shown: &Shown, (action, by): (Action, &Did)) -> Result<String> {
        let what = (action, shown.kind.as_str(), self.shared.clock.now());
        let registry = self.registry()?;
        let newest = newest_delegation(registry, &shown.issuer, by, what).await?;
        newest.ok_or_else(|| {
            let doing = action.name();
            let reason =
                format!("the issuer has not authorised {by} to {doing} credentials of this type");
            Error::new(ErrorKind::Forbidden, reason)
                .with_hint("the issuer's operator can do so with POST /api/issuer/delegations")
        })
    }

    fn registry(&self) -> Result<&dyn selfsame_ledger::Registry> {
        let registry = self.shared.registry.as_deref();
        registry.ok_or_else(|| Error::bad_request("this instance has no registry"))
    }

    /// Stores the registry's answer and settles the entry, in one commit.
    async fn close(
        &self,
        (entry, id): (OutboxId, &str),
        transaction: &str,
        progress: &Progress,
    ) -> Result<()> {
        for _ in 0..TRIES_MAX {
            let mut batch = Batch::new(tenant()).settle(entry);
            // If the request has expired meanwhile, there is nothing to store.
            if let Some(record) = self.shared.store.read(&tenant(), VERIFICATION, id).await? {
                let mut kept: RequestRecord = decode(&record.value)?;
                if kept.ends(transaction, progress) {
                    self.rejudge(&mut kept).await?;
                }
                batch = batch.update(VERIFICATION, &record, encode(&kept)?);
            }
            match self.shared.store.commit(batch).await {
                Ok(_) => {
                    self.shared.events.tell(EventKind::Verification, id);
                    return Ok(());
                }
                // Another worker settled it, after sending the same transaction and storing the same answer.
                Err(StoreError::Conflict { kind, .. }) if kind == "outbox" => return Ok(()),
                Err(StoreError::Conflict { .. }) => {}
                Err(other) => return Err(other.into()),
            }
        }
        Err(Error::new(
            ErrorKind::Conflict,
            "this was changed in the meantime",
        ))
    }

    /// Verifies an answer again whose credential could not be used up. Nearly always another use came first; the
    /// verdict then names it and its time. In no case is the credential still valid.
    async fn rejudge(&self, kept: &mut RequestRecord) -> Result<()> {
        let Some(reason) = kept.refused_use() else {
            return Ok(());
        };
        self.judge_again(&mut kept.state).await?;
        not_used_up(&mut kept.state, &reason);
        Ok(())
    }
}

impl RequestRecord {
    /// Stores the result of this transaction; returns whether it is a use that was refused.
    fn ends(&mut self, transaction: &str, progress: &Progress) -> bool {
        let Some(spending) = &mut self.spending else {
            return false;
        };
        match &spending.progress {
            Progress::Pending { transaction: known } if known == transaction => {
                spending.progress = progress.clone();
                self.refused_use().is_some()
            }
            _ => false,
        }
    }

    fn refused_use(&self) -> Option<String> {
        let spending = self.spending.as_ref()?;
        match &spending.progress {
            Progress::Refused { reason } if spending.action == Action::Consume.name() => {
                Some(reason.clone())
            }
            _ => None,
        }
    }
}

/// The request after its transaction was given up: whether the registry accepted it is unknown.
pub(crate) async fn abandoned(
    shared: &Shared,
    batch: Batch,
    (id, transaction): (&str, &str),
    error: &Error,
) -> Result<Batch> {
    let Some(record) = shared.store.read(&tenant(), VERIFICATION, id).await? else {
        return Ok(batch);
    };
    let mut kept: RequestRecord = decode(&record.value)?;
    let reason = format!("given up: {}", error.reason);
    let progress = Progress::Refused { reason };
    if kept.ends(transaction, &progress)
        && let Some(reason) = kept.refused_use()
    {
        not_used_up(&mut kept.state, &reason);
    }
    Ok(batch.update(VERIFICATION, &record, encode(&kept)?))
}

/// The one credential query whose answer can be used up: every way to answer it must include the handle.
fn asking_for_handle(query: &Query) -> Option<&CredentialQuery> {
    let handle = |claim: &&ClaimQuery| claim.path.to_value() == Value::from(vec![HANDLE]);
    let mut asking = query.credentials().iter().filter(|credential| {
        let combinations = credential.combinations();
        let has = |claims: &Vec<_>| claims.iter().any(handle);
        combinations.iter().all(has) && !credential.multiple
    });
    asking.next().filter(|_| asking.next().is_none())
}

fn asks_for_one_handle(query: &Query) -> Result<()> {
    asking_for_handle(query).map(drop).ok_or_else(|| {
        Error::bad_request(format!(
            "to use a credential up, request `{HANDLE}` of exactly one credential"
        ))
    })
}

/// The handle that was asked for, in a genuine credential; to be used up, the credential must be valid. A handle that
/// another credential discloses unasked does not count: the requested credential could then be shown again.
fn shown(answered: &Answered, action: Action) -> Option<Shown> {
    let query = asking_for_handle(&answered.asked.query)?;
    let mut credentials = answered.judged.credentials.iter();
    let credential = credentials.find(|credential| credential.query_id == query.id)?;
    if action == Action::Consume && credential.verdict.outcome != Outcome::Valid {
        return None;
    }
    let claims = credential.claims.as_ref()?;
    let reference = Reference::in_payload(claims).ok().flatten()?;
    let handle = reference.handle(claims).ok().flatten()?;
    Some(Shown {
        issuer: Did::parse(claims.get("iss")?.as_str()?).ok()?,
        kind: claims.get("vct")?.as_str()?.to_owned(),
        handle,
    })
}

/// A verdict that was valid except for the use: verifiers must not rely on it.
fn not_used_up(state: &mut State, reason: &str) {
    if let State::Answered(answered) = state
        && answered.judged.outcome == Outcome::Valid
    {
        answered.judged.outcome = Outcome::Unverifiable;
        answered.judged.reason = Some(format!("genuine, but it could not be used up: {reason}"));
    }
}

#[cfg(test)]
mod tests {
    use selfsame_credential::single_use;
    use serde_json::json;

    use super::*;

    const KIND: &str = "urn:example:prescription";

    /// An answer to the queries `a`, for an identifier, and `rx`, for a handle; each with an outcome and a handle.
    fn answered(a: (Outcome, u8), rx: (Outcome, u8)) -> Answered {
        let asking = |id, name| json!({"id": id, "format": "dc+sd-jwt", "meta": {"vct_values": [KIND]}, "claims": [{"path": [name]}]});
        let judged = |id, (outcome, handle): (Outcome, u8)| {
            let [reference, handle] = single_use::claims(KIND, &[handle; 32]);
            let claims = json!({
                "vct": KIND,
                "iss": "did:selfsame:network:issuer",
                reference.0: reference.1,
                handle.0: handle.1,
            });
            let verdict = json!({"outcome": outcome, "rules": [], "as_of": null});
            json!({"query_id": id, "format": "dc+sd-jwt", "verdict": verdict, "claims": claims})
        };
        let asked = json!({
            "client_id": "redirect_uri:https://verifier.example/response",
            "response_uri": "https://verifier.example/response",
            "request_uri": null,
            "request_uri_method": "get",
            "redirect_uri": null,
            "nonce": "n",
            "state": "s",
            "query": {"credentials": [asking("a", "identifier"), asking("rx", HANDLE)]},
            "metadata": {},
            "expires": 0,
        });
        let credentials = [judged("a", a), judged("rx", rx)];
        serde_json::from_value(json!({
            "asked": asked,
            "vp_token": {},
            "at": 0,
            "judged": {"outcome": "valid", "reason": null, "credentials": credentials},
            "response_code": null,
        }))
        .unwrap()
    }

    fn handle(answered: &Answered, action: Action) -> Option<u8> {
        shown(answered, action).map(|shown| shown.handle[0])
    }

    #[test]
    fn what_is_used_up_is_the_credential_whose_handle_was_asked_for() {
        let both = answered((Outcome::Valid, 1), (Outcome::Valid, 2));
        assert_eq!(handle(&both, Action::Consume), Some(2));
        assert_eq!(handle(&both, Action::Revoke), Some(2));
    }

    #[test]
    fn nothing_but_a_valid_credential_is_used_up() {
        let suspended = answered((Outcome::Valid, 1), (Outcome::Suspended, 2));
        assert_eq!(handle(&suspended, Action::Consume), None);
        assert_eq!(handle(&suspended, Action::Revoke), Some(2));
    }
}
