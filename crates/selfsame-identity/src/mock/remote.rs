//! A mock identity system that is another process, ours or MOSIP's, called over HTTP.

use std::time::Duration;

use async_trait::async_trait;
use selfsame_crypto::jws::Compact;
use selfsame_net::{Authorization, Body, Call, CallLimits, Method, Net, NetError, Request};
use selfsame_oidc::FactorKind;
use selfsame_sign_in::identity::{
    AskingClient, ClaimsOrder, IdentityFault, IdentityFaultKind, IdentitySystem, OtpOrder, OtpSent,
    PersonClaims, ProvenPerson, SignInAttempt,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use url::Url;

use super::embedded::{FACTORS, auth_request, exchange_request, fault, otp_request, proven_person};
use super::wire::{KycAuthentication, KycExchanged, OtpReceipt};

/// The largest answer, in bytes: claims with a picture.
const ANSWER_MAX: usize = 1 << 20;

/// A mock identity system behind an address.
pub struct RemoteMock {
    /// Our calls.
    pub net: Net,
    /// Its address, such as `http://host:8082/v1/mock-identity-system/`.
    pub base: Url,
    /// How long an answer is waited for.
    pub time_out: Duration,
    /// How many calls of one kind are under way at once.
    pub calls_at_once: usize,
}

/// An answer in its envelope.
#[derive(Deserialize)]
struct AnswerEnvelope<T> {
    response: Option<T>,
    #[serde(default)]
    errors: Option<Vec<AnswerError>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnswerError {
    error_code: String,
}

#[async_trait]
impl IdentitySystem for RemoteMock {
    fn name(&self) -> &str {
        "remote mock"
    }

    fn factors(&self) -> Vec<FactorKind> {
        FACTORS.to_vec()
    }

    async fn send_otp(
        &self,
        asking: &AskingClient,
        order: &OtpOrder,
    ) -> Result<OtpSent, IdentityFault> {
        let request = otp_request(asking, order);
        let receipt: OtpReceipt = self.call("send-otp", asking, &request).await?;
        if receipt.transaction_id != asking.transaction {
            return Err(against("the receipt is for another sign-in"));
        }
        Ok(OtpSent {
            masked_email: receipt.masked_email,
            masked_phone: receipt.masked_mobile,
        })
    }

    async fn authenticate(
        &self,
        asking: &AskingClient,
        attempt: &SignInAttempt,
    ) -> Result<ProvenPerson, IdentityFault> {
        let request = auth_request(asking, attempt)?;
        let proven: KycAuthentication = self.call("kyc-auth", asking, &request).await?;
        if !proven.auth_status {
            let wrong = IdentityFault::new(IdentityFaultKind::WrongChallenge);
            return Err(wrong.with_code("auth_failed"));
        }
        proven_person(
            attempt,
            proven.kyc_token,
            proven.partner_specific_user_token,
        )
    }

    async fn exchange(
        &self,
        asking: &AskingClient,
        order: &ClaimsOrder,
    ) -> Result<PersonClaims, IdentityFault> {
        let request = exchange_request(asking, order)?;
        let exchanged: KycExchanged = self.call("kyc-exchange", asking, &request).await?;
        // The client verifies the signature; here it counts whose claims they are, and for whom.
        let signed = Compact::parse(&exchanged.kyc).ok();
        let claims = signed.and_then(|signed| signed.claims().ok());
        let claims = claims.ok_or_else(|| against("the claims are no JWS"))?;
        match claims["sub"] == order.subject && claims["aud"] == asking.client_id {
            true => Ok(PersonClaims::Signed(exchanged.kyc)),
            false => Err(against(
                "the claims are of another person or for another client",
            )),
        }
    }
}

impl RemoteMock {
    async fn call<T: DeserializeOwned>(
        &self,
        name: &str,
        asking: &AskingClient,
        body: &impl Serialize,
    ) -> Result<T, IdentityFault> {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty();
            path.extend([name, &asking.relying_party, &asking.client_id]);
        }
        let body = serde_json::to_vec(body).map_err(|_| against("a call can't be encoded"))?;
        let request = Request {
            limits: Some(CallLimits {
                max_body: ANSWER_MAX,
                total_timeout: self.time_out,
            }),
            max_in_flight: Some(self.calls_at_once),
            ..Request::default()
        };
        let call = self.net.call(Call {
            method: Method::Post,
            url: &url,
            body: Body::Json(body),
            authorization: Authorization::None,
            request,
        });
        let answer = call.await.map_err(|error| away(&error))?;
        if !answer.is_success() {
            return Err(against("the status is not 200"));
        }
        let read = serde_json::from_slice::<AnswerEnvelope<T>>(&answer.body);
        let envelope = read.map_err(|_| against("the answer is no envelope"))?;
        let error = envelope.errors.into_iter().flatten().next();
        match (error, envelope.response) {
            (Some(error), _) => Err(fault(&error.error_code)),
            (None, Some(response)) => Ok(response),
            (None, None) => Err(against("the envelope is empty")),
        }
    }
}

/// The fault of a system that does not answer.
fn away(error: &NetError) -> IdentityFault {
    tracing::warn!(%error, "the identity system does not answer");
    IdentityFault::new(match error {
        NetError::TimedOut => IdentityFaultKind::TooLate,
        _ => IdentityFaultKind::Unavailable,
    })
}

/// The fault of a system that answers against its specification.
fn against(what: &'static str) -> IdentityFault {
    tracing::warn!(
        what,
        "the identity system answers against its specification"
    );
    IdentityFault::new(IdentityFaultKind::Unavailable)
}

#[cfg(test)]
mod tests;
