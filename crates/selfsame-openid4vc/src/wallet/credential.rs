//! Reads the credential endpoint's response and checks the credentials in it (OpenID4VCI 1.0 §8.3).

use selfsame_credential::{
    Format, Held,
    evidence::{Evidence, Step},
    format::Profile,
    sd_jwt::SdJwt,
    w3c::{Model, VcJwt},
};
use selfsame_crypto::{
    Jwk, PublicKey, Secret,
    ctx::Ctx,
    json::{self, Limits},
};
use selfsame_did::{DidUrl, jwk};
use selfsame_oauth::ErrorBody;

use super::{
    Ask, Binding, HttpAnswer, MAX_NONCES, NamedResponse, ReceivedCredential, ReceivingState,
    Requesting, RequestsProgress, WalletNext, ask, encryption, failed,
};
use crate::{
    error::Error,
    wire::{credential::CredentialResponse, encryption::EncryptionKey, limits},
};

/// Maximum size of a response, in bytes; one response can contain many copies.
const MAX_RESPONSE: usize = 1 << 20;
/// Maximum size of an encrypted response, in bytes: that of its content in base64url, and its header.
const MAX_ENCRYPTED: usize = MAX_RESPONSE / 3 * 4 + 16 * 1024;
const TELL: &str = "Tell the issuer; the credential was not stored.";

pub(super) fn answered(
    requesting: &Requesting,
    answer: HttpAnswer<'_>,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<Step<WalletNext>, Error> {
    match answer.status {
        200 => arrived(requesting.progress.clone(), answer, evidence, ctx),
        _ => refused(requesting, answer, evidence, ctx),
    }
}

/// The body of an answer, decrypted.
pub(super) fn body(answer: HttpAnswer<'_>, key: Option<&EncryptionKey>) -> Result<Secret, Error> {
    encryption::opened(answer, key, MAX_ENCRYPTED)
}

/// Takes an answer with credentials.
pub(super) fn arrived(
    mut progress: RequestsProgress,
    answer: HttpAnswer<'_>,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<Step<WalletNext>, Error> {
    let Some(current) = progress.plan.asks.first() else {
        return Err(Error::State("there is no credential left to request"));
    };
    let limits = Limits {
        max_bytes: MAX_RESPONSE,
        ..limits()
    };
    let key = progress.response_key.take();
    let body = body(answer, key.as_deref())?;
    let response: CredentialResponse = json::parse_as(body.expose(), &limits)
        .map_err(|_| Error::counterpart("the issuer's answer cannot be read", TELL))?;
    let named = response.notification_id.clone().map(|id| NamedResponse {
        notification_id: id,
        configuration_id: current.configuration_id.clone(),
    });
    let received = take(current, response);
    progress.named.extend(named);
    let received = match received {
        Ok(received) => received,
        Err(Error::Counterpart { reason, advice }) => {
            let state = ReceivingState::Requesting(Requesting { progress });
            return Ok(Step::Done(failed(&state, None, reason, advice)));
        }
        Err(other) => return Err(other),
    };
    progress.credentials.extend(received);
    progress.plan.asks.remove(0);
    if !progress.wanted.is_empty() {
        progress.wanted.remove(0);
    }
    progress.nonces = 0;
    ask(progress, evidence, ctx)
}

fn refused(
    requesting: &Requesting,
    answer: HttpAnswer<'_>,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<Step<WalletNext>, Error> {
    let body: Option<ErrorBody> = json::parse_as(answer.body, &limits()).ok();
    let code = body.map(|body| body.error);
    let progress: &RequestsProgress = &requesting.progress;
    // §8.3.1.2: if the issuer refuses a nonce, the wallet fetches a new one, but not endlessly.
    if code.as_deref() == Some("invalid_nonce") && progress.nonces < MAX_NONCES {
        return ask(progress.clone(), evidence, ctx);
    }
    let (reason, advice) = match code.as_deref() {
        Some("invalid_nonce") => (
            "The issuer refuses its own nonces.",
            "Tell the issuer, or try again later with a new offer.",
        ),
        Some("invalid_proof") => (
            "The issuer does not accept the proof of your key.",
            "Choose another key or DID, and ask the issuer for a new offer.",
        ),
        Some("credential_request_denied") => (
            "The issuer refuses to issue this credential.",
            "Ask the issuer why.",
        ),
        Some("invalid_token") => (
            "The issuer no longer accepts its own access token.",
            "Ask the issuer for a new offer.",
        ),
        Some(_) => (
            "The issuer refused the request.",
            "Ask the issuer for a new offer.",
        ),
        None => (
            "The issuer's credential endpoint failed.",
            "Try again later with a new offer.",
        ),
    };
    let state = ReceivingState::Requesting(requesting.clone());
    Ok(Step::Done(failed(&state, code, reason.to_owned(), advice)))
}

fn take(ask: &Ask, response: CredentialResponse) -> Result<Vec<ReceivedCredential>, Error> {
    let bad = |reason: &str| Error::counterpart(reason, TELL);
    // §8.3: at most one credential per key.
    let most = ask.bindings.len().max(1);
    if response.credentials.is_empty() || response.credentials.len() > most {
        return Err(bad(
            "the issuer sent no credential, or more than were requested",
        ));
    }
    let mut unused: Vec<&Binding> = ask.bindings.iter().collect();
    let mut received = Vec::with_capacity(response.credentials.len());
    for issued in response.credentials {
        let seen = inspect(&issued.credential, ask.format)
            .ok_or_else(|| bad("a credential is not of the offered format"))?;
        if !ask.types.iter().all(|wanted| seen.types.contains(wanted)) {
            return Err(bad("a credential is not of the offered type"));
        }
        let binding = match ask.bindings.is_empty() {
            true => None,
            false => {
                let place = unused.iter().position(|binding| seen.is_bound_to(binding));
                let place = place
                    .ok_or_else(|| bad("a credential is bound to a key that was not requested"))?;
                Some(unused.remove(place))
            }
        };
        received.push(ReceivedCredential {
            configuration_id: ask.configuration_id.clone(),
            format: ask.format,
            raw: issued.credential,
            key: binding.map(|binding| binding.key.clone()),
            kid: binding.and_then(|binding| kid(binding, ask.format)),
            issuer: ask.issuer.clone(),
        });
    }
    Ok(received)
}

// A W3C credential bound to a bare key names its subject by the did:jwk of that key.
fn kid(binding: &Binding, format: Format) -> Option<String> {
    let is_w3c = matches!(
        format.describe().profile,
        Profile::W3c | Profile::DataIntegrity
    );
    if binding.kid.is_some() || !is_w3c {
        return binding.kid.clone();
    }
    let key = PublicKey::from_jwk(&binding.jwk).ok()?;
    jwk::create(&key).kid()
}

/// The type and the holder that a credential states.
struct Seen {
    types: Vec<String>,
    key: Option<Jwk>,
    subject: Option<String>,
}

fn inspect(raw: &str, format: Format) -> Option<Seen> {
    if let Some(model) = Model::of(format) {
        let credential = VcJwt::parse(raw, model).ok()?;
        let key = match credential.confirmed_key() {
            Some(key) => Some(key.ok()?),
            None => None,
        };
        return Some(Seen {
            types: credential.types().into_iter().map(str::to_owned).collect(),
            key,
            subject: credential.subject().map(str::to_owned),
        });
    }
    if format.describe().profile != Profile::SdJwtVc {
        let held = Held::parse(raw, format).ok()?;
        return Some(Seen {
            types: held.types().into_iter().map(str::to_owned).collect(),
            key: held.holder_key().map(|key| key.to_jwk()),
            subject: held.holder_did().map(str::to_owned),
        });
    }
    let credential = SdJwt::parse(raw).ok()?;
    // An issuer must not send a key binding, and its disclosures must match the credential.
    if credential.key_binding().is_some() || credential.process().is_err() {
        return None;
    }
    let payload = credential.payload();
    let key = payload.get("cnf").and_then(|cnf| cnf.get("jwk"));
    Some(Seen {
        types: payload
            .get("vct")?
            .as_str()
            .map(str::to_owned)
            .into_iter()
            .collect(),
        key: key.and_then(|value| Jwk::from_value(value).ok()),
        subject: payload
            .get("sub")
            .and_then(|sub| sub.as_str())
            .map(str::to_owned),
    })
}

impl Seen {
    fn is_bound_to(&self, binding: &Binding) -> bool {
        if let Some(key) = &self.key {
            return key.thumbprint() == binding.jwk.thumbprint();
        }
        let Some(subject) = self.subject.as_deref() else {
            return false;
        };
        match &binding.kid {
            Some(kid) => DidUrl::parse(kid).is_ok_and(|url| url.did.as_str() == subject),
            None => PublicKey::from_jwk(&binding.jwk)
                .is_ok_and(|key| jwk::create(&key).as_str() == subject),
        }
    }
}
