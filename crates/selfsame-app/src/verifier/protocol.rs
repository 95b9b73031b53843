//! The endpoints that wallets call: the request object and the response (OpenID4VP 1.0 §5.10, §8.2).

use selfsame_credential::signer::Signer;
use selfsame_crypto::SecretString;
use selfsame_driver::record::encode;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_openid4vc::verifier::{self, Effect, Input, State, request};
use selfsame_openid4vc::wire::request::ClientId;
use selfsame_openid4vc::wire::response::{AuthorizationResponse, Receipt};
use selfsame_store::{Batch, StoreError};

use super::judge::log_refusal;
use super::{VERIFICATION, Verifier, tenant};
use crate::events::EventKind;
use crate::gather::Freshness;
use crate::identity::kid_of;
use crate::refusal::refusal;
use crate::view::verifier::VerificationStatus;

/// If the request changed meanwhile, a response is verified again on the new state; requests rarely change.
const RACES_MAX: usize = 4;

impl Verifier {
    /// The signed request object, for a wallet that fetches it; `posted` is the form of a POST.
    ///
    /// # Errors
    /// `NotFound`, or `Gone` if the request is answered or has expired.
    pub async fn request_object(&self, id: &str, posted: Option<&[u8]>) -> Result<String> {
        let (mut kept, version) = self.record(id).await?;
        let wallet_nonce = posted
            .map(request::wallet_nonce)
            .transpose()
            .map_err(refusal)?
            .flatten();
        let signer = self.signer(&kept.state);
        let input = Input::Fetch {
            signer: &signer,
            wallet_nonce: wallet_nonce.as_deref(),
        };
        let ctx = self.shared.clock.ctx();
        let freshness = Freshness { max_status_age: 0 };
        let (state, effects) = self
            .shared
            .run(&tenant(), freshness, |evidence| {
                verifier::step(&kept.state, input, evidence, &ctx)
            })
            .await?;
        let first = matches!(kept.state, State::Created(_));
        kept.state = state;
        if first {
            let batch = Batch::new(tenant())
                .update_version(VERIFICATION, id, version, encode(&kept)?)
                .deferred();
            match self.shared.store.commit(batch).await {
                Ok(committed) => self.at_hand.hold(&committed, kept),
                // Another wallet fetched it at the same time; both may answer, and the first answer counts.
                Err(StoreError::Conflict { .. }) => {}
                Err(other) => return Err(other.into()),
            }
            self.shared.events.tell(EventKind::Verification, id);
        }
        effects
            .into_iter()
            .find_map(|effect| match effect {
                Effect::RequestObject(object) => Some(object),
                Effect::Receipt(_) | Effect::Refuse { .. } => None,
            })
            .ok_or_else(|| Error::internal("no request object was made"))
    }

    /// Accepts a wallet's response, and replies once it is verified and durable. The first response counts that matches
    /// the request and comes from a trusted issuer; other responses leave the request open, a few times.
    ///
    /// # Errors
    /// OpenID4VP 1.0 §8.5, with its code; `TooMany` while several other answers to this request are being verified.
    pub async fn response(&self, id: &str, body: &[u8]) -> Result<Receipt> {
        let _place = self.judging.enter(id)?;
        let response = AuthorizationResponse::parse(body).map_err(refusal)?;
        for _ in 0..RACES_MAX {
            if let Some(receipt) = self.take(id, &response).await? {
                return Ok(receipt);
            }
        }
        Err(Error::new(
            ErrorKind::Unavailable { retry_after: 1 },
            "too many changes to this request at once",
        ))
    }

    /// Verifies a response and stores it; `None` if the request has changed meanwhile. Whether it can still be answered
    /// is checked when it is read again.
    async fn take(&self, id: &str, response: &AuthorizationResponse) -> Result<Option<Receipt>> {
        let (mut kept, version) = self.record(id).await?;
        let max_status_age = self.max_status_age(&kept);
        let policy = self.policy(max_status_age);
        let input = Input::Response {
            response,
            policy: &policy,
        };
        let ctx = self.shared.clock.ctx();
        let freshness = Freshness { max_status_age };
        let (state, effects) = self
            .shared
            .run(&tenant(), freshness, |evidence| {
                verifier::step(&kept.state, input, evidence, &ctx)
            })
            .await?;
        kept.state = state;
        let entry = self.spend_if_asked(id, &mut kept).await?;
        let batch = Batch::new(tenant()).update_version(VERIFICATION, id, version, encode(&kept)?);
        let batch = match entry {
            Some(entry) => batch.enqueue(entry),
            None => batch,
        };
        let committed = match self.shared.store.commit(batch).await {
            Ok(committed) => committed,
            Err(StoreError::Conflict { .. }) => return Ok(None),
            Err(other) => return Err(other.into()),
        };
        if let State::Answered(answered) = &kept.state {
            tracing::info!(
                request = id,
                outcome = answered.judged.outcome.as_str(),
                reason = answered.judged.reason.as_deref(),
                "judged"
            );
        }
        let answer = answer(id, (&kept.state, effects));
        self.at_hand.hold(&committed, kept);
        self.shared.events.tell(EventKind::Verification, id);
        self.carry_out_here(&committed).await;
        answer.map(Some)
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
            return Ok(self.view(id, &kept));
        }
        Err(Error::new(
            ErrorKind::Forbidden,
            "this result belongs to another browser",
        )
        .with_hint("start again in this browser"))
    }

    /// The signer of a request: the client it names. The settings may have changed since it was created.
    fn signer(&self, state: &State) -> Signer {
        let client = ClientId::parse(&state.asked().client_id);
        let kid = match (client, &self.shared.verifier_certificate) {
            (Ok(ClientId::X509SanDns(_)), Some(certificate)) => return certificate.signer.clone(),
            (Ok(ClientId::DecentralizedIdentifier(did)), _) if did != *self.identity.did() => {
                kid_of(&did)
            }
            _ => self.identity.kid().to_owned(),
        };
        Signer::with_kid(self.identity.key().clone(), self.identity.algorithm(), kid)
    }
}

/// The reply to a wallet; logs an answer that something is wrong with.
fn answer(id: &str, (state, effects): (&State, Vec<Effect>)) -> Result<Receipt> {
    let mut receipt = None;
    for effect in effects {
        match effect {
            Effect::Receipt(given) => receipt = Some(given),
            Effect::Refuse { error, judged } => {
                log_refusal(id, &judged);
                return Err(refusal(error));
            }
            Effect::RequestObject(_) => {}
        }
    }
    if let State::Answered(answered) = state {
        log_refusal(id, &answered.judged);
    }
    receipt.ok_or_else(|| Error::internal("a response was not answered"))
}
