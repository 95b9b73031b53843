//! Uses up a credential that was shown, or revokes it on its issuer's behalf: ordered together with the answer, carried
//! out once, and finally done or refused.

use std::sync::Arc;

use async_trait::async_trait;
use selfsame_credential::evidence::Step;
use selfsame_credential::single_use::{HANDLE, Reference};
use selfsame_credential::verdict::Outcome;
use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::time::UnixTime;
use selfsame_did::{Did, selfsame};
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_openid4vc::dcql::{ClaimQuery, CredentialQuery, DcqlQuery, Meta};
use selfsame_openid4vc::verifier::{AnsweredRequest, VerificationState};
use selfsame_registry::single_use::{Action, Consume};
use selfsame_registry::{Identifier, Operation};
use selfsame_store::{Committed, NewOutbox};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{RequestRecord, VERIFICATION, Verifier, unknown};
use crate::delegations::Delegations;
use crate::view::verifier::{NewRequest, SpendingState, SpendingStatus, VerificationStatus};
use selfsame_core::events::EventKind;
use selfsame_core::machine::{At, Call, CallAnswer, Calling, Machine, Next, Round};
use selfsame_core::registry::{WantedDelegation, newest_delegation};
use selfsame_driver::record::RecordCache;

/// The use or revocation ordered from the registry for a request, and its result.
#[derive(Clone, Deserialize, Serialize)]
pub(super) struct Spending {
    action: String,
    by: Did,
    progress: SpendingProgress,
}

#[derive(Clone, Deserialize, Serialize)]
enum SpendingProgress {
    /// The transaction is stored and will be sent until the registry answers.
    Pending { transaction: String },
    /// The registry has it.
    Done { at: UnixTime, seq_no: u64 },
    /// It will never be done.
    Refused { reason: Reason },
}

/// A handle that a holder has shown.
struct ShownHandle {
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
        matches!(self.progress, SpendingProgress::Pending { .. })
    }

    pub(super) fn view(&self) -> SpendingStatus {
        let (state, at, seq_no, reason) = match &self.progress {
            SpendingProgress::Pending { .. } => (SpendingState::Pending, None, None, None),
            SpendingProgress::Done { at, seq_no } => {
                (SpendingState::Done, Some(*at), Some(*seq_no), None)
            }
            SpendingProgress::Refused { reason } => {
                (SpendingState::Refused, None, None, Some(reason))
            }
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
    /// Refuses a request whose credential could not be used up as it says.
    ///
    /// # Errors
    /// `BadRequest`; the registry's.
    pub async fn check_spender(&self, new: &NewRequest, query: &DcqlQuery) -> Result<()> {
        self.spender_of(new, query).await.map(drop)
    }

    /// The DID that is to use up the credential a new request asks for, if the request says so.
    pub(super) async fn spender_of(
        &self,
        new: &NewRequest,
        query: &DcqlQuery,
    ) -> Result<Option<Did>> {
        match (new.spend, new.spender.as_deref()) {
            (true, named) => {
                let asking = asks_for_one_handle(query)?;
                let spender = self.spender(named).await?;
                self.be_admitted(&spender, asking).await;
                Ok(Some(spender))
            }
            (false, None) => Ok(None),
            (false, Some(_)) => Err(Error::bad_request("spender-without-spend")),
        }
    }

    /// Has the issuer of the same organisation admit this verifier, for the types of its own that the query asks for.
    async fn be_admitted(&self, spender: &Did, asking: &CredentialQuery) {
        let own = self.context.own_issuer.get();
        let own = own.filter(|own| own.identity.did().origin().is_registry());
        let (Some(own), Meta::SdJwtVc { vct_values }) = (own, &asking.meta) else {
            return;
        };
        if spender != self.identity.did() || spender == own.identity.did() {
            return;
        }
        let delegations = Delegations {
            shared: &self.shared,
            context: &self.context,
            issuer: &own.identity,
        };
        let admitted = async {
            let types = self.context.types_now().await?;
            let of_query = vct_values.iter().filter_map(|vct| types.by_vct(vct));
            for one in of_query.filter(|one| one.single_use) {
                delegations.admit_own_verifier(spender, one).await?;
            }
            Ok::<_, Error>(())
        };
        // The verdict says it if the verifier may not use the credential up.
        if let Err(error) = admitted.await {
            tracing::warn!(%error, "the own verifier is not admitted now");
        }
    }

    /// The DID that is to use up the credential: one of this instance, known to the registry.
    async fn spender(&self, named: Option<&str>) -> Result<Did> {
        let did = match named {
            None => self.identity.did().clone(),
            Some(named) => {
                Did::parse(named).map_err(|_| Error::bad_request("spender-malformed"))?
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
        let (Some(by), VerificationState::Answered(answered)) = (kept.spender.clone(), &kept.state)
        else {
            return Ok(None);
        };
        if answered.judged.outcome != Outcome::Valid {
            return Ok(None);
        }
        match self.order(id, answered, Action::Consume, &by).await {
            Ok(Order { spending, entry }) => {
                kept.spending = Some(spending);
                Ok(Some(entry))
            }
            Err(error) if error.is_refusal() => {
                kept.spending = Some(Spending {
                    action: Action::Consume.name().to_owned(),
                    by,
                    progress: SpendingProgress::Refused {
                        reason: error.reason.clone(),
                    },
                });
                not_used_up(&mut kept.state, &error.reason);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Carries out what was ordered at once; if that fails, the outbox continues.
    pub(super) async fn spend_now(self: &Arc<Self>, committed: &Committed) {
        let entry = committed.outbox.first().copied();
        if let Err(error) = self.shared.go_on(self, entry).await {
            tracing::warn!(%error, "a use is left to the outbox");
        }
    }

    /// Revokes a credential whose handle was shown, by its issuer's delegation; as `by`, or by default as the DID that
    /// was to use it up.
    ///
    /// # Errors
    /// `Conflict` if there is no answer or it was acted on already; `Forbidden` without a delegation.
    pub async fn revoke(
        self: &Arc<Self>,
        id: &str,
        by: Option<&str>,
    ) -> Result<VerificationStatus> {
        self.read_trust().await?;
        let wanted = WantedRevocation {
            by: by.map(str::to_owned),
            order: None,
        };
        let driven = self
            .shared
            .drive(&Revoking(self), self.at(id), wanted)
            .await?;
        self.spend_now(&driven.committed).await;
        self.request(id).await
    }

    /// The signed transaction, as an outbox entry.
    async fn order(
        &self,
        id: &str,
        answered: &AnsweredRequest,
        action: Action,
        by: &Did,
    ) -> Result<Order> {
        let shown =
            shown(answered, action).ok_or_else(|| Error::bad_request("handle-not-shown"))?;
        let unknown = || Error::bad_request("issuer-without-registry");
        let (network, _) = selfsame::parts(&shown.issuer).ok_or_else(unknown)?;
        let issuer = Identifier::of_did(&shown.issuer, &network).ok_or_else(unknown)?;
        let delegation = match shown.issuer == *by {
            true => None,
            false => Some(self.delegation(&shown, action, by).await?),
        };
        let operation = Operation::Consume(Consume {
            issuer,
            kind: shown.kind,
            handle: shown.handle,
            action,
            delegation,
        });
        let signed = self.dids.signed_as(by, &self.identity, operation).await?;
        let call = Call::registry(&signed);
        let transaction = base64url_encode(&signed.to_bytes());
        let entry = call.entry(VERIFICATION, id, id, self.shared.clock.now())?;
        let spending = Spending {
            action: action.name().to_owned(),
            by: by.clone(),
            progress: SpendingProgress::Pending { transaction },
        };
        Ok(Order { spending, entry })
    }

    async fn delegation(&self, shown: &ShownHandle, action: Action, by: &Did) -> Result<String> {
        let wanted = WantedDelegation {
            issuer: &shown.issuer,
            by,
            action,
            kind: &shown.kind,
            now: self.shared.clock.now(),
        };
        let registry = self.shared.own_registry()?;
        let newest = newest_delegation(&**registry, &wanted).await?;
        newest.ok_or_else(|| {
            Error::new(ErrorKind::Forbidden, "delegation-absent")
                .with("by", by)
                .with("action", action.name())
        })
    }
}

impl Machine for Verifier {
    const KIND: &'static str = VERIFICATION;
    type Record = RequestRecord;
    type Input = CallAnswer;
    type Reply = ();

    fn records(&self) -> &RecordCache<RequestRecord> {
        &self.records
    }

    /// Stores the registry's answer. An answer whose credential could not be used up is verified again: nearly always
    /// another use came first, and the verdict then names it and its time. In no case is the credential still valid.
    fn step(
        &self,
        kept: &mut RequestRecord,
        answer: &CallAnswer,
        round: &Round<'_>,
    ) -> Result<Step<Next<()>>> {
        let next = Next::written(round, ()).tell(EventKind::Verification, round.at.id);
        let (progress, next) = match answer {
            CallAnswer::Accepted(receipt) => {
                let done = SpendingProgress::Done {
                    at: receipt.time,
                    seq_no: receipt.seq_no,
                };
                let seq_no = receipt.seq_no.to_string();
                (done, next.tell(EventKind::Anchored, seq_no))
            }
            CallAnswer::Refused(error) => {
                let reason = error.reason.clone();
                (SpendingProgress::Refused { reason }, next)
            }
            _ => return Err(Error::internal("a registry accepts or refuses")),
        };
        if !kept.awaits(round) {
            return Ok(Step::Done(next));
        }
        if let Some(reason) = kept.refused_use(&progress) {
            kept.state = match self.judged_again(kept, round)? {
                Step::Needs(needs) => return Ok(Step::Needs(needs)),
                Step::Done(state) => state,
            };
            not_used_up(&mut kept.state, &reason);
        }
        kept.progress(progress);
        Ok(Step::Done(next))
    }
}

impl Calling for Verifier {
    fn given_up(
        &self,
        kept: Option<&mut RequestRecord>,
        error: Option<&Error>,
        round: &Round<'_>,
    ) -> Result<Next<()>> {
        let (Some(kept), Some(error)) = (kept, error) else {
            return Ok(Next::unchanged(round, ()));
        };
        if kept.awaits(round) {
            // Whether the registry accepted it is unknown.
            let reason = Reason::new("given-up").because(error.reason.clone());
            let progress = SpendingProgress::Refused { reason };
            if let Some(reason) = kept.refused_use(&progress) {
                not_used_up(&mut kept.state, &reason);
            }
            kept.progress(progress);
        }
        Ok(Next::written(round, ()))
    }
}

/// The machine that orders a revocation.
struct Revoking<'a>(&'a Verifier);

/// A revocation that was asked for, and its order.
struct WantedRevocation {
    by: Option<String>,
    order: Option<Order>,
}

/// What was ordered from the registry.
struct Order {
    spending: Spending,
    entry: NewOutbox,
}

#[async_trait]
impl Machine for Revoking<'_> {
    const KIND: &'static str = VERIFICATION;
    type Record = RequestRecord;
    type Input = WantedRevocation;
    type Reply = ();

    fn records(&self) -> &RecordCache<RequestRecord> {
        &self.0.records
    }

    async fn prepare(
        &self,
        at: At<'_>,
        kept: &RequestRecord,
        wanted: &mut WantedRevocation,
    ) -> Result<()> {
        let VerificationState::Answered(answered) = &kept.state else {
            return Err(Error::new(ErrorKind::Conflict, "nothing-to-revoke"));
        };
        let acted = kept.spending.as_ref();
        if acted
            .is_some_and(|spending| !matches!(spending.progress, SpendingProgress::Refused { .. }))
        {
            return Err(Error::new(ErrorKind::Conflict, "credential-over"));
        }
        let by = match (wanted.by.as_deref(), &kept.spender) {
            (None, Some(spender)) => spender.clone(),
            (named, _) => self.0.spender(named).await?,
        };
        let order = self.0.order(at.id, answered, Action::Revoke, &by).await?;
        wanted.order = Some(order);
        Ok(())
    }

    fn step(
        &self,
        kept: &mut RequestRecord,
        wanted: &WantedRevocation,
        round: &Round<'_>,
    ) -> Result<Step<Next<()>>> {
        let unprepared = || Error::internal("a revocation was not ordered");
        let order = wanted.order.as_ref().ok_or_else(unprepared)?;
        kept.spending = Some(order.spending.clone());
        Ok(Step::Done(
            Next::written(round, ()).call(order.entry.clone()),
        ))
    }

    fn absent(&self, _: &WantedRevocation) -> Result<()> {
        Err(unknown())
    }
}

impl RequestRecord {
    /// Whether the call of this round is the one whose answer this request awaits.
    fn awaits(&self, round: &Round<'_>) -> bool {
        let pending = match self.spending.as_ref().map(|spending| &spending.progress) {
            Some(SpendingProgress::Pending { transaction }) => transaction,
            _ => return false,
        };
        let call = round.entry.map(|entry| &entry.call);
        matches!(call, Some(Call::Registry(transaction)) if transaction == pending)
    }

    fn progress(&mut self, progress: SpendingProgress) {
        if let Some(spending) = &mut self.spending {
            spending.progress = progress;
        }
    }

    /// Says that an answer which is otherwise valid was not used up, if its use was refused.
    pub(super) fn remember_refused_use(&mut self) {
        let progress = self.spending.as_ref().map(|spending| &spending.progress);
        if let Some(reason) = progress.cloned().and_then(|one| self.refused_use(&one)) {
            not_used_up(&mut self.state, &reason);
        }
    }

    /// Why a use is refused, if this progress is the refusal of one.
    fn refused_use(&self, progress: &SpendingProgress) -> Option<Reason> {
        let spending = self.spending.as_ref()?;
        match progress {
            SpendingProgress::Refused { reason } if spending.action == Action::Consume.name() => {
                Some(reason.clone())
            }
            _ => None,
        }
    }
}

/// The one credential query whose answer can be used up: every way to answer it must include the handle.
fn asking_for_handle(query: &DcqlQuery) -> Option<&CredentialQuery> {
    let handle = |claim: &&ClaimQuery| claim.path.to_value() == Value::from(vec![HANDLE]);
    let mut asking = query.credentials().iter().filter(|credential| {
        let combinations = credential.combinations();
        let has = |claims: &Vec<_>| claims.iter().any(handle);
        combinations.iter().all(has) && !credential.multiple
    });
    asking.next().filter(|_| asking.next().is_none())
}

fn asks_for_one_handle(query: &DcqlQuery) -> Result<&CredentialQuery> {
    asking_for_handle(query)
        .ok_or_else(|| Error::bad_request("handle-not-requested").with("handle", &HANDLE))
}

/// The handle that was asked for, in a genuine credential; to be used up, the credential must be valid. A handle that
/// another credential discloses unasked does not count: the requested credential could then be shown again.
fn shown(answered: &AnsweredRequest, action: Action) -> Option<ShownHandle> {
    let query = asking_for_handle(&answered.asked.query)?;
    let mut credentials = answered.judged.credentials.iter();
    let credential = credentials.find(|credential| credential.query_id == query.id)?;
    if action == Action::Consume && credential.verdict.outcome != Outcome::Valid {
        return None;
    }
    let claims = credential.claims.as_ref()?;
    let reference = Reference::in_payload(claims).ok().flatten()?;
    let handle = reference.handle(claims).ok().flatten()?;
    Some(ShownHandle {
        issuer: Did::parse(claims.get("iss")?.as_str()?).ok()?,
        kind: claims.get("vct")?.as_str()?.to_owned(),
        handle,
    })
}

/// A verdict that was valid except for the use: verifiers must not rely on it.
fn not_used_up(state: &mut VerificationState, reason: &Reason) {
    if let VerificationState::Answered(answered) = state
        && answered.judged.outcome == Outcome::Valid
    {
        answered.judged.outcome = match reason.id() {
            "delegation-absent" => Outcome::NotAuthorised,
            _ => Outcome::Unverifiable,
        };
        let unused = Reason::new("use-failed").because(reason.clone());
        answered.judged.reason = Some(unused.stored());
    }
}

#[cfg(test)]
mod tests {
    use selfsame_credential::single_use;
    use serde_json::json;

    use super::*;

    const KIND: &str = "urn:example:prescription";

    /// An answer to the queries `a`, for an identifier, and `rx`, for a handle; each with an outcome and a handle.
    fn answered(a: (Outcome, u8), rx: (Outcome, u8)) -> AnsweredRequest {
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

    fn handle(answered: &AnsweredRequest, action: Action) -> Option<u8> {
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
