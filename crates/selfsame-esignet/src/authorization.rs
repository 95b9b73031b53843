//! The steps of a person in a sign-in: a code is sent, the person proves who they are, and agrees.

use axum::response::Response;
use http::HeaderMap;
use selfsame_driver::Error;
use selfsame_http::extract::Raw;
use selfsame_identity::blocks::NamedPerson;
use selfsame_sign_in::identity::{Challenge, OtpChannel, SignInAttempt};
use selfsame_sign_in::view::{Landing, PersonsAgreement, SignInStage};
use selfsame_sign_in::{AttemptLimits, SignInVisitor, WantedOtp};
use serde::{Deserialize, Serialize};

use crate::codes::Coded;
use crate::door::EsignetHere;
use crate::factors::AuthChallenge;
use crate::{codes, csrf, envelope};

/// The header with the transaction.
const DETAILS_KEY: &str = "oauth-details-key";
/// The header with the hash of its details.
const DETAILS_HASH: &str = "oauth-details-hash";
/// The fourth delivery of a code and the fourth attempt are refused.
const LIMITS: AttemptLimits = AttemptLimits { sent: 3, wrong: 3 };
/// Challenges of one attempt.
const CHALLENGES_MAX: usize = 5;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct OtpRequest {
    transaction_id: String,
    individual_id: String,
    otp_channels: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OtpResponse {
    transaction_id: String,
    masked_email: Option<String>,
    masked_mobile: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct AuthRequest {
    transaction_id: String,
    individual_id: String,
    challenge_list: Vec<AuthChallenge>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AuthResponse {
    transaction_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    consent_action: Option<&'static str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct CodeRequest {
    transaction_id: String,
    accepted_claims: Option<Vec<String>>,
    permitted_authorize_scopes: Option<Vec<String>>,
}

/// Where the browser goes, and with what.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CodeResponse {
    nonce: Option<String>,
    state: Option<String>,
    code: String,
    redirect_uri: String,
}

/// Has a one-time password sent.
pub async fn send_otp(here: EsignetHere, headers: HeaderMap, Raw(body): Raw) -> Response {
    if let Err(refusal) = here.let_in(&headers) {
        return *refusal;
    }
    let now = here.door.clock.now();
    let sent = match envelope::request(&body, now) {
        Ok(request) => here.otp_sent(&headers, request).await,
        Err(code) => Err(code),
    };
    envelope::answer(sent, now)
}

/// Authenticates a person, by the first version of the call, which says nothing about consent.
pub async fn authenticate_v1(here: EsignetHere, headers: HeaderMap, Raw(body): Raw) -> Response {
    let proven = here.proven(&headers, &body).await;
    let proven = proven.map(|proven| {
        proven.map(|proven| AuthResponse {
            consent_action: None,
            ..proven
        })
    });
    here.answered(proven)
}

/// Authenticates a person.
pub async fn authenticate(here: EsignetHere, headers: HeaderMap, Raw(body): Raw) -> Response {
    let proven = here.proven(&headers, &body).await;
    here.answered(proven)
}

/// Ends a sign-in with a code: the person agrees.
pub async fn auth_code(here: EsignetHere, headers: HeaderMap, Raw(body): Raw) -> Response {
    let now = here.door.clock.now();
    if !csrf::is_genuine(&headers) {
        return csrf::forbidden(now);
    }
    let code = match envelope::request(&body, now) {
        Ok(request) => here.agreed(&headers, request).await,
        Err(code) => Err(code),
    };
    envelope::answer(code, now)
}

impl EsignetHere {
    async fn otp_sent(&self, headers: &HeaderMap, request: OtpRequest) -> Coded<OtpResponse> {
        let channels = channels(&request.otp_channels)?;
        let person = self.named(&request.individual_id)?;
        let visitor = self.seen(headers, &request.transaction_id).await?;
        self.admit(person).await?;
        let wanted = WantedOtp {
            identifier: request.individual_id.as_str().into(),
            channels,
        };
        match self.door.sign_ins.send_otp(&visitor, wanted).await {
            Ok(sent) => Ok(OtpResponse {
                transaction_id: request.transaction_id,
                masked_email: sent.masked_email,
                masked_mobile: sent.masked_phone,
            }),
            Err(error) => match self.refused(person, &error).await {
                "unknown_error" => Err("send_otp_failed"),
                code => Err(code),
            },
        }
    }

    /// Reads the request, if it is let in, and authenticates the person.
    async fn proven(
        &self,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<Coded<AuthResponse>, Box<Response>> {
        self.let_in(headers)?;
        Ok(match envelope::request(body, self.door.clock.now()) {
            Ok(request) => self.authenticated(headers, request).await,
            Err(code) => Err(code),
        })
    }

    async fn authenticated(
        &self,
        headers: &HeaderMap,
        request: AuthRequest,
    ) -> Coded<AuthResponse> {
        let challenges = challenges(request.challenge_list)?;
        let person = self.named(&request.individual_id)?;
        let visitor = self.seen(headers, &request.transaction_id).await?;
        self.admit(person).await?;
        let attempt = SignInAttempt {
            identifier: request.individual_id.as_str().into(),
            challenges,
        };
        match self.door.sign_ins.authenticate(&visitor, attempt).await {
            Ok(proven) => Ok(AuthResponse {
                transaction_id: request.transaction_id,
                consent_action: Some(consent_action(proven.sign_in.stage)),
            }),
            Err(error) => Err(self.refused(person, &error).await),
        }
    }

    async fn agreed(&self, headers: &HeaderMap, request: CodeRequest) -> Coded<CodeResponse> {
        let visitor = self.seen(headers, &request.transaction_id).await?;
        let agreement = PersonsAgreement {
            claims: request.accepted_claims.unwrap_or_default(),
            scopes: request.permitted_authorize_scopes.unwrap_or_default(),
        };
        let landing = self.door.sign_ins.agree(&visitor, &agreement).await;
        CodeResponse::of(landing.map_err(|error| codes::of(&error))?)
    }

    /// The visitor, who has seen the details of the sign-in that the request is for.
    async fn seen(&self, headers: &HeaderMap, transaction: &str) -> Coded<SignInVisitor> {
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let key = header(DETAILS_KEY).filter(|key| *key == transaction);
        key.ok_or(codes::INVALID_TRANSACTION)?;
        let hash = header(DETAILS_HASH).ok_or(envelope::INVALID_REQUEST)?;
        let visitor = self.visitor(transaction);
        let view = self.door.sign_ins.view(&visitor).await;
        let view = view.map_err(|error| codes::of(&error))?;
        match self.door.has_told(&view, hash) {
            true => Ok(visitor),
            false => Err(envelope::INVALID_REQUEST),
        }
    }

    async fn admit(&self, person: NamedPerson<'_>) -> Coded<()> {
        let blocked = self.door.blocked.is_blocked(person).await;
        match blocked.map_err(|error| codes::of(&error))? {
            true => Err("individual_id_blocked"),
            false => Ok(()),
        }
    }

    /// The code of an error. An attempt too many blocks the person.
    async fn refused(&self, person: NamedPerson<'_>, error: &Error) -> &'static str {
        if error.reason.id() == "sign-in-attempts-exhausted"
            && let Err(error) = self.door.blocked.block(person).await
        {
            tracing::warn!(reason = %error, "a person can't be blocked");
        }
        codes::of(error)
    }

    pub(crate) fn visitor(&self, sign_in: &str) -> SignInVisitor {
        SignInVisitor {
            sign_in: sign_in.to_owned(),
            browser: None,
            from: self.device(),
            limits: LIMITS,
        }
    }

    fn named<'a>(&self, individual_id: &'a str) -> Coded<NamedPerson<'a>> {
        match individual_id.trim().is_empty() || individual_id.len() > 256 {
            true => Err("invalid_identifier"),
            false => Ok(NamedPerson {
                individual_id,
                from: self.from,
            }),
        }
    }

    fn answered(&self, answer: Result<Coded<AuthResponse>, Box<Response>>) -> Response {
        match answer {
            Ok(answer) => envelope::answer(answer, self.door.clock.now()),
            Err(refusal) => *refusal,
        }
    }
}

impl CodeResponse {
    pub(crate) fn of(landing: Landing) -> Coded<Self> {
        let code = landing.code.ok_or(codes::INVALID_TRANSACTION)?;
        Ok(Self {
            nonce: landing.nonce,
            state: landing.state,
            code: code.expose().to_owned(),
            redirect_uri: landing.redirect_uri,
        })
    }
}

/// The challenges of a request: at least one, and few.
pub(crate) fn challenges(given: Vec<AuthChallenge>) -> Coded<Vec<Challenge>> {
    match given.len() {
        1..=CHALLENGES_MAX => given.into_iter().map(AuthChallenge::read).collect(),
        _ => Err("invalid_no_of_challenges"),
    }
}

/// Whether the person must be asked, once they have proven who they are.
pub(crate) fn consent_action(stage: SignInStage) -> &'static str {
    match stage {
        SignInStage::Agreed => "NOCAPTURE",
        SignInStage::Authentication | SignInStage::Consent => "CAPTURE",
    }
}

/// The kinds of addresses of a request, which are written in any case.
pub(crate) fn channels(names: &[String]) -> Coded<Vec<OtpChannel>> {
    let channel = |name: &String| match name.to_ascii_lowercase().as_str() {
        "email" => Ok(OtpChannel::Email),
        "phone" => Ok(OtpChannel::Phone),
        _ => Err("invalid_otp_channel"),
    };
    match names.len() {
        1 | 2 => names.iter().map(channel).collect(),
        _ => Err("invalid_otp_channel"),
    }
}
