//! OpenID4VCI 1.0: the issuer's metadata, offers by reference, and its endpoints; status lists.

use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use http::header::{
    ACCEPT, ACCESS_CONTROL_EXPOSE_HEADERS, AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, ETAG, VARY,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use selfsame_attester::{AttestationHeaders, ChallengeAnswer, headers as names};
use selfsame_core::organisation::look::LogoFile;
use selfsame_http::error::{Handled, Problem};
use selfsame_http::extract::{Path, Raw, after, bearer, is_kind};
use selfsame_http::negotiation::{is_known, preferred};
use selfsame_http::response::{open_to_all, ready};
use selfsame_openid::OrganisationRoles;
use selfsame_openid::issuer::TokenHeaders;
use selfsame_openid::issuer::lists::ListFace;
use selfsame_openid::view::issuer::ServedList;
use selfsame_sign_in::access::PresentedToken;
use selfsame_types::{DocumentKind, Picture};
use url::Url;

use crate::CredentialAnswer;
use crate::instance::{Instance, RolesHere, WithToken};

const JSON: &str = "application/json";
/// The media type of encrypted requests and responses (§10).
const JWT: &str = selfsame_openid4vc::wire::encryption::MEDIA_TYPE;
const PEM: &str = "application/pem-certificate-chain";
const FORM: &str = "application/x-www-form-urlencoded";
/// The scheme and the header of proofs of possession (RFC 9449 §7.1).
const DPOP: &str = "dpop";
/// What scripts of other origins may read of an answer to a proof (RFC 9449 §8.2).
const PROOF_HEADERS: &str = "DPoP-Nonce, WWW-Authenticate";
/// Where wallets look for credentials that take their time.
const DEFERRED: &str = "issuer/deferred";
/// OpenID4VCI 1.0 §8.3.1.2: an error in a credential request's payload is never `invalid_request`.
const MALFORMED: &str = "invalid_credential_request";

/// Credential issuer metadata (§12.2), signed for those who prefer that.
pub async fn metadata(RolesHere(roles): RolesHere, headers: HeaderMap) -> Handled {
    let issuer = roles.issuer()?;
    let answer = match wants_signed(&headers) && issuer.signs_metadata() {
        true => ready(JWT, &issuer.signed_metadata().await?.into_bytes().into()),
        false => ready(JSON, &issuer.published().await?.issuer),
    };
    Ok(([(VARY, "Accept")], answer).into_response())
}

/// Whether metadata are asked for as a JWT (§12.2.2). Those who name no form get JSON.
fn wants_signed(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    let named = |wish: &str| match wish.split(';').next().unwrap_or_default().trim() {
        JWT => Some(true),
        JSON | "application/*" | "*/*" => Some(false),
        _ => None,
    };
    preferred(accept.unwrap_or_default(), named).unwrap_or(false)
}

/// Authorization server metadata (RFC 8414 §3).
pub async fn authorization_server(RolesHere(roles): RolesHere) -> Handled {
    let published = roles.issuer()?.published().await?;
    Ok(ready(JSON, &published.server))
}

/// JWT VC issuer metadata (SD-JWT VC §4).
pub async fn jwt_vc_issuer(RolesHere(roles): RolesHere) -> Handled {
    let published = roles.publisher()?.published().await?;
    Ok(ready(JSON, &published.jwt_vc_issuer))
}

/// An offer that a link refers to (§4.1.3).
pub async fn offer(RolesHere(roles): RolesHere, Path(id): Path<String>) -> Handled {
    let offer = roles.issuer()?.offer_object(&id).await?;
    Ok(([(CONTENT_TYPE, JSON)], offer).into_response())
}

/// The token endpoint (§6). A wallet that is attested gets a challenge for its next proof.
pub async fn token(RolesHere(roles): RolesHere, headers: HeaderMap, Raw(body): Raw) -> Handled {
    if !is_kind(&headers, FORM) {
        return Err(Problem::bad_request("body-not-form"));
    }
    let issuer = roles.issuer()?;
    let all = |name: &'static str| headers.get_all(name).iter().map(HeaderValue::as_bytes);
    let attestation = AttestationHeaders::read(all(names::ATTESTATION), all(names::POP));
    let mut proofs = headers.get_all(DPOP).iter();
    let proof = proofs
        .next()
        .map(|proof| proof.to_str().unwrap_or_default());
    // RFC 9449 §4.3: two proofs are refused, as one that is none.
    let dpop = proof.map(|proof| proofs.next().map_or(proof, |_| ""));
    let answer = issuer
        .token_for(&body, TokenHeaders { attestation, dpop })
        .await;
    let answer = answer.map(|tokens| axum::Json(tokens).into_response());
    if attestation.is_none() {
        return Ok(answer?);
    }
    let answer = answer.unwrap_or_else(|error| Problem::from(error).into_response());
    Ok(with_challenge(issuer.challenge(), answer))
}

/// The challenge endpoint (attestation-based client authentication, draft -07 §8).
pub async fn challenge(RolesHere(roles): RolesHere) -> Handled {
    let absent = || Problem::new(StatusCode::NOT_FOUND, "address-unknown");
    let challenge = roles.issuer()?.challenge().ok_or_else(absent)?;
    let fresh = [(CACHE_CONTROL, "no-store")];
    Ok(open_to_all((fresh, axum::Json(challenge)).into_response()))
}

/// The keys of the attester of the wallet here, for those who want to trust it (RFC 7517 §5).
pub async fn attester(State(instance): State<Instance>) -> Handled {
    let keys = instance.attester_keys().await?;
    Ok(open_to_all(axum::Json(keys).into_response()))
}

/// An answer with a challenge for the next proof of a wallet (draft -07 §8.1).
fn with_challenge(challenge: Option<ChallengeAnswer>, mut answer: Response) -> Response {
    let given = challenge.and_then(|given| HeaderValue::try_from(given.attestation_challenge).ok());
    if let Some(challenge) = given {
        let headers = answer.headers_mut();
        headers.insert(names::CHALLENGE, challenge);
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    answer
}

/// The nonce endpoint (§7). Where access tokens may be bound to a key, a nonce for the next proof comes along, which saves
/// the wallet a refusal.
pub async fn nonce(State(instance): State<Instance>, RolesHere(roles): RolesHere) -> Handled {
    let issuer = roles.issuer()?;
    let answer = axum::Json(issuer.nonce()).into_response();
    match issuer.names_provider() {
        true => with_dpop_nonce(&instance, &roles, answer).await,
        false => Ok(answer),
    }
}

/// The credential endpoint (§8).
pub async fn credential(
    State(instance): State<Instance>,
    RolesHere(roles): RolesHere,
    headers: HeaderMap,
    body: Result<Raw, Problem>,
) -> Handled {
    let call = PostedCall {
        instance: &instance,
        roles: &roles,
        headers: &headers,
    };
    let answer = call.issued("issuer/credential", body).await;
    finished(&instance, &roles, &headers, answer).await
}

/// The deferred credential endpoint (§9).
pub async fn deferred(
    State(instance): State<Instance>,
    RolesHere(roles): RolesHere,
    headers: HeaderMap,
    body: Result<Raw, Problem>,
) -> Handled {
    let call = PostedCall {
        instance: &instance,
        roles: &roles,
        headers: &headers,
    };
    let answer = call.issued(DEFERRED, body).await;
    finished(&instance, &roles, &headers, answer).await
}

/// The notification endpoint (§11).
pub async fn notification(
    State(instance): State<Instance>,
    RolesHere(roles): RolesHere,
    headers: HeaderMap,
    body: Result<Raw, Problem>,
) -> Handled {
    let answer = notified(&instance, &roles, &headers, body).await;
    finished(&instance, &roles, &headers, answer).await
}

async fn notified(
    instance: &Instance,
    roles: &OrganisationRoles,
    headers: &HeaderMap,
    body: Result<Raw, Problem>,
) -> Handled {
    let url = roles.organisation.url("issuer/notification")?;
    let presented = presented(&url, headers).ok_or_else(absent)?;
    let malformed = |problem: Problem| problem.with_code("invalid_notification_request");
    if !is_kind(headers, JSON) {
        return Err(malformed(Problem::bad_request("body-not-json")));
    }
    let Raw(body) = body.map_err(malformed)?;
    let call = WithToken {
        roles,
        presented: &presented,
        body: &body,
    };
    instance.notified(call).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// An answer at a resource; one to a call with a proof of possession has a nonce for the next proof.
async fn finished(
    instance: &Instance,
    roles: &OrganisationRoles,
    headers: &HeaderMap,
    answer: Handled,
) -> Handled {
    match headers.contains_key(DPOP) {
        false => answer,
        true => {
            let answer = answer.unwrap_or_else(IntoResponse::into_response);
            with_dpop_nonce(instance, roles, answer).await
        }
    }
}

/// An answer with a nonce for the next proof of possession (RFC 9449 §9).
async fn with_dpop_nonce(
    instance: &Instance,
    roles: &OrganisationRoles,
    mut answer: Response,
) -> Handled {
    let nonce = instance.dpop_nonce(roles).await?;
    let nonce = nonce.as_deref().map(HeaderValue::from_str);
    if let Some(Ok(nonce)) = nonce {
        let headers = answer.headers_mut();
        headers.insert("dpop-nonce", nonce);
        let exposed = HeaderValue::from_static(PROOF_HEADERS);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    Ok(answer)
}

/// A call of an endpoint that gives credentials.
struct PostedCall<'a> {
    instance: &'a Instance,
    roles: &'a OrganisationRoles,
    headers: &'a HeaderMap,
}

impl PostedCall<'_> {
    async fn issued(&self, path: &str, body: Result<Raw, Problem>) -> Handled {
        let (roles, headers) = (self.roles, self.headers);
        let url = roles.organisation.url(path)?;
        let presented = presented(&url, headers).ok_or_else(absent)?;
        if !is_kind(headers, JSON) && !is_kind(headers, JWT) {
            let problem = Problem::bad_request("body-not-json");
            return Err(problem.with_code(MALFORMED));
        }
        let Raw(body) = body.map_err(|problem| problem.with_code(MALFORMED))?;
        let call = WithToken {
            roles,
            presented: &presented,
            body: &body,
        };
        let answer = match path {
            DEFERRED => self.instance.deferred(call).await?,
            _ => self.instance.credential(call).await?,
        };
        Ok(answered(answer))
    }
}

/// An answer with credentials, or that they take their time (§8.3, §9.2).
fn answered(answer: CredentialAnswer) -> Response {
    const LATER: StatusCode = StatusCode::ACCEPTED;
    match answer {
        CredentialAnswer::Plain(response) => axum::Json(response).into_response(),
        CredentialAnswer::Encrypted(token) => ([(CONTENT_TYPE, JWT)], token).into_response(),
        CredentialAnswer::Deferred(response) => (LATER, axum::Json(response)).into_response(),
        CredentialAnswer::EncryptedDeferred(token) => {
            (LATER, [(CONTENT_TYPE, JWT)], token).into_response()
        }
    }
}

fn absent() -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, "access-token-needed")
}

/// The access token of a call of an endpoint, and the proof that comes with it.
fn presented<'a>(url: &'a Url, headers: &'a HeaderMap) -> Option<PresentedToken<'a>> {
    let authorization = headers.get(AUTHORIZATION)?;
    let bound = after(authorization, DPOP);
    let mut proofs = headers.get_all(DPOP).iter();
    let proof = proofs.next().and_then(|proof| proof.to_str().ok());
    Some(PresentedToken {
        url,
        method: "POST",
        is_dpop: bound.is_some(),
        token: bound.or_else(|| bearer(authorization))?,
        // RFC 9449 §4.3: two proofs are refused.
        proof: proof.filter(|_| proofs.next().is_none()),
    })
}

/// The type metadata of a version of a type (SD-JWT VC, Type Metadata).
pub async fn type_metadata(
    RolesHere(roles): RolesHere,
    Path((id, version)): Path<(String, u32)>,
) -> Handled {
    let types = roles.publisher()?.types();
    let document = types.document(&id, version, DocumentKind::Metadata).await?;
    Ok(served_for_ever(document))
}

/// The other documents of a version of a type, and its images.
pub async fn type_document(
    RolesHere(roles): RolesHere,
    Path((id, version, document)): Path<(String, u32, String)>,
) -> Handled {
    let kind = match document.as_str() {
        "schema" => DocumentKind::Schema,
        "context" => DocumentKind::Context,
        "logo" => DocumentKind::Logo,
        "background" => DocumentKind::Background,
        _ => return Err(Problem::new(StatusCode::NOT_FOUND, "address-unknown")),
    };
    let types = roles.publisher()?.types();
    Ok(served_for_ever(types.document(&id, version, kind).await?))
}

/// The logo of the organisation.
pub async fn logo(RolesHere(roles): RolesHere, Path(digest): Path<String>) -> Handled {
    let LogoFile { media, bytes } = roles.logo(&digest).await?;
    Ok(unchanging(&media, bytes))
}

/// A document whose bytes never change.
fn served_for_ever(document: Picture) -> Response {
    unchanging(document.media, document.bytes)
}

fn unchanging(media: &str, bytes: Vec<u8>) -> Response {
    let about = [
        (CONTENT_TYPE, media),
        (CACHE_CONTROL, "public, max-age=31536000, immutable"),
        // An image that is opened on its own runs nothing, whatever it contains.
        (
            CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox",
        ),
    ];
    open_to_all((about, bytes).into_response())
}

/// A Token Status List: signed and kept ready, public, cached by its ETag.
pub async fn status_list(
    RolesHere(roles): RolesHere,
    Path(list): Path<u64>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Handled {
    of_now(query.as_deref())?;
    served(&roles, list, None, &headers).await
}

/// The Token Status List signed as W3C credentials are; those credentials refer to it.
pub async fn w3c_token_list(
    RolesHere(roles): RolesHere,
    Path(list): Path<u64>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Handled {
    of_now(query.as_deref())?;
    served(&roles, list, Some("token"), &headers).await
}

/// The Token Status List signed by the DID in the registry; single-use credentials refer to it.
pub async fn registry_token_list(
    RolesHere(roles): RolesHere,
    Path(list): Path<u64>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Handled {
    of_now(query.as_deref())?;
    served(&roles, list, Some("registry"), &headers).await
}

/// The Token Status List of mobile documents, as a JWT or, for those that prefer it, as a CWT (§8.2).
pub async fn document_list(
    RolesHere(roles): RolesHere,
    Path(list): Path<u64>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Handled {
    of_now(query.as_deref())?;
    let list = served(&roles, list, Some(form_of_list(&headers)), &headers).await?;
    Ok(([(VARY, "Accept")], list).into_response())
}

/// The name of the form in which a list of mobile documents is asked for.
fn form_of_list(headers: &HeaderMap) -> &'static str {
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    let named = |wish: &str| match wish.split(';').next().unwrap_or_default().trim() {
        "application/statuslist+cwt" => Some("mdoc+cwt"),
        "application/statuslist+jwt" | "application/*" | "*/*" => Some("mdoc"),
        _ => None,
    };
    preferred(accept.unwrap_or_default(), named).unwrap_or("mdoc")
}

/// The certificate of the authority of mobile documents, for those who want to trust it.
pub async fn authority(RolesHere(roles): RolesHere) -> Handled {
    let certificate = roles.publisher()?.authority().await?;
    Ok(open_to_all(
        ([(CONTENT_TYPE, PEM)], certificate).into_response(),
    ))
}

/// The list as a Bitstring Status List of one purpose.
pub async fn bitstring_list(
    RolesHere(roles): RolesHere,
    Path((list, purpose)): Path<(u64, String)>,
    headers: HeaderMap,
) -> Handled {
    served(&roles, list, Some(&purpose), &headers).await
}

async fn served(
    roles: &OrganisationRoles,
    list: u64,
    purpose: Option<&str>,
    headers: &HeaderMap,
) -> Handled {
    let face = ListFace::parse(purpose)
        .ok_or_else(|| selfsame_driver::Error::not_found("list-unknown"))?;
    let list = roles.publisher()?.lists().serve(list, face).await?;
    let known = is_known(headers, &list.etag);
    Ok(open_to_all(fresh_or_known(list, known)))
}

fn of_now(query: Option<&str>) -> Result<(), Problem> {
    if asks_for_history(query.unwrap_or_default()) {
        return Err(Problem::new(
            StatusCode::NOT_IMPLEMENTED,
            "status-history-absent",
        ));
    }
    Ok(())
}

/// Token Status List §8.4: `time` asks for a list that was valid then.
fn asks_for_history(query: &str) -> bool {
    url::form_urlencoded::parse(query.as_bytes()).any(|(name, _)| name == "time")
}

fn fresh_or_known(list: ServedList, known: bool) -> Response {
    let age = format!("public, max-age={}", list.max_age);
    let about = [(ETAG, list.etag), (CACHE_CONTROL, age)];
    if known {
        return (StatusCode::NOT_MODIFIED, about).into_response();
    }
    let body = axum::body::Bytes::from_owner(list.body);
    (about, [(CONTENT_TYPE, list.content_type)], body).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_documents_is_a_cwt_only_for_those_that_prefer_it() {
        let form = |accept: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
            form_of_list(&headers)
        };
        assert_eq!(form_of_list(&HeaderMap::new()), "mdoc");
        assert_eq!(form("application/statuslist+cwt"), "mdoc+cwt");
        let both = "application/statuslist+jwt, application/statuslist+cwt;q=0.9";
        assert_eq!(form(both), "mdoc");
        assert_eq!(form("text/html, */*;q=0.1"), "mdoc");
    }

    #[test]
    fn a_time_in_the_query_asks_for_history() {
        assert!(asks_for_history("time=1686925000"));
        assert!(asks_for_history("a=b&t%69me="));
        assert!(!asks_for_history(""));
        assert!(!asks_for_history("times=1&a=time"));
    }
}
