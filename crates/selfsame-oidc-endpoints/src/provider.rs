//! What clients call: documents, pushed requests, tokens, userinfo, introspection, revocation.

use axum::response::{IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, Method, StatusCode};
use selfsame_attester::AttestationHeaders;
use selfsame_http::error::{Handled, Problem};
use selfsame_http::extract::{Raw, is_kind};
use selfsame_http::response::{document, json, open_to_all};
use selfsame_sign_in::CalledEndpoint;
use selfsame_sign_in::access::{PresentedToken, Userinfo};

use crate::here::{ProviderHere, after, attestation, proof, with_challenge, with_nonce};

const JSON: &str = "application/json";
const JWT: &str = "application/jwt";
const FORM: &str = "application/x-www-form-urlencoded";
const BUTTON: &str = include_str!("../assets/button.svg");

/// The metadata (OpenID Connect Discovery §4, RFC 8414 §3).
pub async fn metadata(here: ProviderHere) -> Handled {
    document(JSON, &here.provider.metadata()?)
}

/// The public keys (RFC 7517 §5).
pub async fn keys(here: ProviderHere) -> Handled {
    document(JSON, &here.provider.keys().await?)
}

/// The picture on a button that leads to a sign-in, for pages of relying parties.
pub async fn button() -> Handled {
    let about = [
        (CONTENT_TYPE, "image/svg+xml"),
        (CACHE_CONTROL, "public, max-age=86400"),
        // A picture that is opened on its own runs nothing.
        (CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
    ];
    // A page that isolates itself loads only what says that anyone may.
    let policy = HeaderName::from_static("cross-origin-resource-policy");
    let shared = [(policy, "cross-origin")];
    Ok(open_to_all((about, shared, BUTTON).into_response()))
}

/// The pushed authorization request endpoint (RFC 9126 §2).
pub async fn push(here: ProviderHere, headers: HeaderMap, Raw(body): Raw) -> Handled {
    let url = here.provider.place().endpoint("par")?;
    let answer = match called(&headers, &body) {
        Ok(called) => here.client_call(here.provider.push(&called.at(&url))).await,
        Err(problem) => return Err(problem),
    };
    let answer = answer.map(|answer| (StatusCode::CREATED, axum::Json(answer)).into_response());
    finished(&here, &headers, answer.map_err(Problem::from)).await
}

/// The token endpoint (RFC 6749 §3.2).
pub async fn token(here: ProviderHere, headers: HeaderMap, Raw(body): Raw) -> Handled {
    let url = here.provider.place().endpoint("token")?;
    let called = called(&headers, &body)?;
    let called = called.at(&url);
    let tokens = here.client_call(here.provider.token(&called)).await;
    let answer = tokens.map(|tokens| open_to_all(axum::Json(tokens).into_response()));
    finished(&here, &headers, answer.map_err(Problem::from)).await
}

/// The introspection endpoint (RFC 7662 §2).
pub async fn introspect(here: ProviderHere, headers: HeaderMap, Raw(body): Raw) -> Handled {
    let url = here.provider.place().endpoint("introspect")?;
    let called = called(&headers, &body)?;
    let called = called.at(&url);
    let told = here.client_call(here.provider.introspect(&called)).await;
    json(&told?)
}

/// The revocation endpoint (RFC 7009 §2).
pub async fn revoke(here: ProviderHere, headers: HeaderMap, Raw(body): Raw) -> Handled {
    let url = here.provider.place().endpoint("revoke")?;
    let called = called(&headers, &body)?;
    let called = called.at(&url);
    here.client_call(here.provider.revoke(&called)).await?;
    Ok(open_to_all(StatusCode::OK.into_response()))
}

/// The userinfo endpoint (OpenID Connect Core §5.3).
pub async fn userinfo(here: ProviderHere, method: Method, headers: HeaderMap) -> Handled {
    let url = here.provider.place().endpoint("userinfo")?;
    let bound = after(&headers, "dpop");
    let Some(token) = bound.or_else(|| after(&headers, "bearer")) else {
        let status = StatusCode::UNAUTHORIZED;
        return Err(Problem::new(status, "access-token-needed"));
    };
    let presented = PresentedToken {
        url: &url,
        method: method.as_str(),
        is_dpop: bound.is_some(),
        token,
        proof: proof(&headers),
    };
    let answer = here.provider.userinfo(&presented).await;
    let answer = answer.map(told).map_err(Problem::from);
    finished(&here, &headers, answer).await
}

fn told(userinfo: Userinfo) -> Response {
    let response = match userinfo {
        Userinfo::Json(claims) => axum::Json(claims).into_response(),
        Userinfo::Jwt(jwt) => ([(CONTENT_TYPE, JWT)], jwt).into_response(),
    };
    let private = [(CACHE_CONTROL, "no-store")];
    open_to_all((private, response).into_response())
}

/// A call whose endpoint is not yet named.
struct CalledHeaders<'a> {
    basic: Option<&'a str>,
    proof: Option<&'a str>,
    attestation: Option<AttestationHeaders<'a>>,
    body: &'a [u8],
}

impl<'a> CalledHeaders<'a> {
    fn at(&self, url: &'a url::Url) -> CalledEndpoint<'a> {
        CalledEndpoint {
            url,
            method: "POST",
            basic: self.basic,
            proof: self.proof,
            attestation: self.attestation,
            body: self.body,
        }
    }
}

fn called<'a>(headers: &'a HeaderMap, body: &'a [u8]) -> Handled<CalledHeaders<'a>> {
    if !is_kind(headers, FORM) {
        return Err(Problem::bad_request("body-not-form"));
    }
    Ok(CalledHeaders {
        basic: after(headers, "basic"),
        proof: proof(headers),
        attestation: attestation(headers),
        body,
    })
}

/// An answer. A client that uses proofs gets a nonce or a challenge for the next ones.
async fn finished(here: &ProviderHere, headers: &HeaderMap, answer: Handled) -> Handled {
    let (is_proven, is_attested) = (proof(headers).is_some(), attestation(headers).is_some());
    if !is_proven && !is_attested {
        return answer;
    }
    let mut answer = answer.unwrap_or_else(|problem| problem.into_response());
    if is_attested {
        answer = with_challenge(here, answer);
    }
    match is_proven {
        true => with_nonce(here, answer).await,
        false => Ok(answer),
    }
}

/// The challenge endpoint (attestation-based client authentication, draft -07 §8).
pub async fn challenge(here: ProviderHere) -> Handled {
    let absent = || Problem::new(StatusCode::NOT_FOUND, "address-unknown");
    let challenge = here.provider.challenge().ok_or_else(absent)?;
    let fresh = [(CACHE_CONTROL, "no-store")];
    Ok(open_to_all((fresh, axum::Json(challenge)).into_response()))
}
