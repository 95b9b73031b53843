//! The endpoints that wallets call: the request object and the response (OpenID4VP 1.0 §5.10, §8.2).

use std::sync::Arc;

use async_trait::async_trait;
use selfsame_credential::evidence::Step;
use selfsame_credential::signer::Signer;
use selfsame_crypto::SecretString;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_openid4vc::verifier::{self, Input, Reply, VerificationState, request};
use selfsame_openid4vc::wire::request::ClientId;
use selfsame_openid4vc::wire::response::{AuthorizationResponse, PostedResponse, Receipt};

use super::judge::log_refusal;
use super::{RequestRecord, VERIFICATION, Verifier, unknown};
use crate::refusal::refusal;
use crate::view::verifier::VerificationStatus;
use selfsame_core::events::EventKind;
use selfsame_core::gather::Freshness;
use selfsame_core::identity::kid_of;
use selfsame_core::machine::{At, FlowResult, FlowStage, Machine, Next, Round};
use selfsame_driver::record::RecordCache;

impl Verifier {
    /// The signed request object, for a wallet that fetches it; `posted` is the form of a POST.
    ///
    /// # Errors
    /// `NotFound`, or `Gone` if the request is answered or has expired.
    pub async fn request_object(&self, id: &str, posted: Option<&[u8]>) -> Result<String> {
        let wallet_nonce = posted
            .map(request::wallet_nonce)
            .transpose()
            .map_err(refusal)?
            .flatten();
        let fetched = self
            .shared
            .drive(&Fetching(self), self.at(id), wallet_nonce)
            .await?;
        Ok(fetched.reply)
    }

    /// Accepts a wallet's response, and replies once it is verified and durable. The first response counts that matches
    /// the request and comes from a trusted issuer; other responses leave the request open, a few times.
    ///
    /// # Errors
    /// OpenID4VP 1.0 §8.5, with its code; `TooMany` while several other answers to this request are being verified.
    pub async fn response(self: &Arc<Self>, id: &str, body: &[u8]) -> Result<Receipt> {
        let posted = PostedResponse::parse(body).map_err(refusal)?;
        self.answered(id, &posted, None).await
    }

    /// Accepts a wallet's response that a browser brought back to a page of this origin (OpenID4VP 1.0 Appendix A.4), as
    /// [`Self::response`] does. That the origin is the verifier's own is for the caller to see to.
    ///
    /// # Errors
    /// As [`Self::response`].
    pub async fn returned(
        self: &Arc<Self>,
        id: &str,
        posted: &PostedResponse,
        origin: &str,
    ) -> Result<Receipt> {
        self.answered(id, posted, Some(origin.to_owned())).await
    }

    async fn answered(
        self: &Arc<Self>,
        id: &str,
        posted: &PostedResponse,
        origin: Option<String>,
    ) -> Result<Receipt> {
        let crowded = || {
            Error::new(
                ErrorKind::TooMany { retry_after: 1 },
                "answers-in-judgement",
            )
        };
        let _place = self.judging.enter(id).ok_or_else(crowded)?;
        let (kept, version) = self.record(id).await?;
        let response = kept.state.opened(posted).map_err(refusal)?;
        self.records.keep(version, kept);
        self.read_trust().await?;
        let received = ReceivedAnswer { response, origin };
        let driven = self
            .shared
            .drive(&Responding(self), self.at(id), received)
            .await?;
        self.spend_now(&driven.committed).await;
        driven.reply
    }

    /// The result for the browser that asked, in the same-device flow: it must send its own secret and the response
    /// code, so that another person's answer is not taken for this browser's (OpenID4VP 1.0 §14.2).
    ///
    /// # Errors
    /// `Forbidden` for any other browser.
    pub async fn same_device_result(
        &self,
        id: &str,
        response_code: &str,
        browser: &str,
    ) -> Result<VerificationStatus> {
        let (kept, _) = self.record(id).await?;
        let given = selfsame_crypto::hash::sha256(browser.as_bytes());
        let same_browser = kept
            .browser
            .is_some_and(|hash| selfsame_crypto::hash::ct_eq(&hash, &given));
        let code = SecretString::from(response_code.to_owned());
        if same_browser && kept.state.is_response_code(&code) {
            return self.named(self.view(id, &kept)).await;
        }
        Err(Error::new(ErrorKind::Forbidden, "result-of-other-browser"))
    }

    /// The signer of a request: the client it names. The settings may have changed since it was created.
    fn signer(&self, state: &VerificationState) -> Signer {
        self.signer_of(ClientId::parse(&state.asked().client_id).ok().as_ref())
    }

    /// The signer of requests of this client.
    pub(super) fn signer_of(&self, client: Option<&ClientId>) -> Signer {
        let kid = match (client, &self.context.verifier_certificate) {
            (Some(ClientId::X509SanDns(_) | ClientId::X509Hash(_)), Some(certificate)) => {
                return certificate.signer.clone();
            }
            (Some(ClientId::DecentralizedIdentifier(did)), _) if did != self.identity.did() => {
                kid_of(did)
            }
            _ => self.identity.kid().to_owned(),
        };
        Signer::with_kid(self.identity.key().clone(), self.identity.algorithm(), kid)
    }
}

/// An answer, and how it came.
struct ReceivedAnswer {
    response: AuthorizationResponse,
    /// The origin of the page that a browser brought it back to.
    origin: Option<String>,
}

impl RequestRecord {
    /// The state in which a wallet can still change it.
    fn stage(&self) -> Option<FlowStage> {
        let (state, origin) = match self.state {
            VerificationState::Created(_) => ("created", self.origin),
            VerificationState::Fetched(_) => ("fetched", self.origin),
            VerificationState::Answered(_) | VerificationState::Declined(_) => return None,
        };
        Some(FlowStage { state, origin })
    }
}

/// How a request ended, for figures.
fn result(state: &VerificationState) -> Option<FlowResult> {
    let result = match state {
        VerificationState::Created(_) | VerificationState::Fetched(_) => return None,
        VerificationState::Answered(answered) => answered.judged.outcome.as_str(),
        VerificationState::Declined(_) => "declined",
    };
    let flow = "presentation";
    Some(FlowResult { flow, result })
}

/// The machine that gives out a request object.
struct Fetching<'a>(&'a Verifier);

impl Machine for Fetching<'_> {
    const KIND: &'static str = VERIFICATION;
    type Record = RequestRecord;
    type Input = Option<String>;
    type Reply = String;

    fn records(&self) -> &RecordCache<RequestRecord> {
        &self.0.records
    }

    fn flow(&self, kept: &RequestRecord) -> Option<FlowStage> {
        kept.stage()
    }

    fn step(
        &self,
        kept: &mut RequestRecord,
        wallet_nonce: &Option<String>,
        round: &Round<'_>,
    ) -> Result<Step<Next<String>>> {
        let signer = self.0.signer(&kept.state);
        let input = Input::Fetch {
            signer: &signer,
            wallet_nonce: wallet_nonce.as_deref(),
        };
        let taken = verifier::step(&kept.state, input, round.evidence, round.ctx);
        let verifier::VerifierNext { state, reply } = match taken.map_err(refusal)? {
            Step::Needs(needs) => return Ok(Step::Needs(needs)),
            Step::Done(next) => next,
        };
        let Some(Reply::RequestObject(object)) = reply else {
            return Err(Error::internal("no request object was made"));
        };
        if !matches!(kept.state, VerificationState::Created(_)) {
            return Ok(Step::Done(Next::unchanged(round, object)));
        }
        // If another wallet fetches it at the same time, both may answer, and the first answer counts.
        kept.state = state;
        let next = Next::written(round, object).deferred();
        Ok(Step::Done(next.tell(EventKind::Verification, round.at.id)))
    }

    fn absent(&self, _: &Option<String>) -> Result<String> {
        Err(unknown())
    }
}

/// The machine that verifies a wallet's response.
struct Responding<'a>(&'a Verifier);

#[async_trait]
impl Machine for Responding<'_> {
    const KIND: &'static str = VERIFICATION;
    type Record = RequestRecord;
    type Input = ReceivedAnswer;
    type Reply = Result<Receipt>;

    fn records(&self) -> &RecordCache<RequestRecord> {
        &self.0.records
    }

    fn flow(&self, kept: &RequestRecord) -> Option<FlowStage> {
        kept.stage()
    }

    fn result(&self, kept: &RequestRecord) -> Option<FlowResult> {
        result(&kept.state)
    }

    fn freshness(&self, kept: &RequestRecord, _: &ReceivedAnswer) -> Freshness {
        let max_status_age = self.0.max_status_age(kept);
        Freshness { max_status_age }
    }

    fn step(
        &self,
        kept: &mut RequestRecord,
        received: &ReceivedAnswer,
        round: &Round<'_>,
    ) -> Result<Step<Next<Self::Reply>>> {
        let policy = &self.0.policy_of(kept, self.0.max_status_age(kept));
        let response = &received.response;
        let input = match received.origin.as_deref() {
            Some(origin) => Input::Returned {
                response,
                origin,
                policy,
            },
            None => Input::Response { response, policy },
        };
        let taken = verifier::step(&kept.state, input, round.evidence, round.ctx);
        let verifier::VerifierNext { state, reply } = match taken.map_err(refusal)? {
            Step::Needs(needs) => return Ok(Step::Needs(needs)),
            Step::Done(next) => next,
        };
        kept.state = state;
        let reply = match reply {
            Some(Reply::Receipt(receipt)) => Ok(receipt),
            Some(Reply::Refusal { error, judged }) => {
                log_refusal(round.at.id, &judged);
                Err(refusal(error))
            }
            Some(Reply::RequestObject(_)) | None => {
                return Err(Error::internal("a response was not answered"));
            }
        };
        let next = Next::written(round, reply);
        Ok(Step::Done(next.tell(EventKind::Verification, round.at.id)))
    }

    async fn complete(
        &self,
        at: At<'_>,
        kept: &mut RequestRecord,
        next: Next<Self::Reply>,
    ) -> Result<Next<Self::Reply>> {
        let next = match self.0.spend_if_asked(at.id, kept).await? {
            Some(entry) => next.call(entry),
            None => next,
        };
        if let VerificationState::Answered(answered) = &kept.state {
            tracing::info!(
                request = at.id,
                outcome = answered.judged.outcome.as_str(),
                reason = answered.judged.reason.as_deref(),
                "judged"
            );
            log_refusal(at.id, &answered.judged);
        }
        Ok(next)
    }

    fn absent(&self, _: &ReceivedAnswer) -> Result<Self::Reply> {
        Err(unknown())
    }
}
