//! Offers for which the person signs in at the issuer's authorization server (OpenID4VCI 1.0 §5): the request, and what
//! the server's response leads to.

use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::json::{self, Limits};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_net::{Authorization, Body, Call, Method, Request};
use selfsame_oauth::client::authorization::{RequestedCode, ResponseFault, address};
use selfsame_oauth::pkce::S256;
use selfsame_oauth::{AuthorizationDetail, ErrorBody, Form, ServerMetadata};
use selfsame_openid4vc::wire::metadata::IssuerMetadata;
use selfsame_openid4vc::wire::offer::CredentialOffer;
use selfsame_store::{Batch, Expect, Put};
use serde::{Deserialize, Serialize};
use url::Url;

use super::{OfferToAccept, REDEEMING_AGE, unreachable};
use crate::Wallet;
use crate::view::{AcceptOffer, CardSummary, Person, SignInForOffer};

/// The kind of the records of sign-ins whose response the wallet waits for.
const SIGN_IN: &str = "receiving_sign_in";
/// Seconds for which it waits.
const LIFETIME: u64 = 900;
/// Where responses come to, below the origin.
const RETURN: &str = "wallet/received";

/// An offer whose person signs in elsewhere now.
#[derive(Deserialize, Serialize)]
struct ReceivingSignIn {
    offer: CredentialOffer,
    requested: RequestedCode,
    did: Option<String>,
    copies: Option<usize>,
}

/// The answer to a pushed request (RFC 9126 §2.2).
#[derive(Deserialize)]
struct PushedAddress {
    request_uri: String,
}

impl Wallet {
    /// Begins the sign-in that an offer needs; `None` for an offer that needs none.
    ///
    /// # Errors
    /// If the offer or the issuer's documents are invalid, or the issuer or its authorization server can't be reached or
    /// refuses the request.
    pub async fn sign_in_for(
        &self,
        person: &Person,
        accept: &AcceptOffer,
    ) -> Result<Option<SignInForOffer>> {
        let offer = self.offer(&accept.offer).await?;
        if offer.authorization_code().is_none() {
            return Ok(None);
        }
        let known = self.issuer_of(&offer, REDEEMING_AGE).await?;
        super::check_for_people(&offer, &known.issuer)?;
        self.quotas.has_room_for_a_flow(person, SIGN_IN).await?;
        let ctx = self.shared.clock.ctx();
        let redirect_uri = self.shared.config.origin.join(RETURN);
        let redirect_uri = redirect_uri.map_err(Error::internal)?;
        let requested = RequestedCode::new(&known.server, &self.client_id, &redirect_uri, &ctx);
        let parameters = requested.parameters(question(&offer, &known.issuer));
        let url = self.begin_at(&known.server, &requested, parameters).await?;
        let id = state_id(requested.state.expose());
        let record = ReceivingSignIn {
            offer,
            requested,
            did: accept.did.clone(),
            copies: accept.copies,
        };
        let put = Put::new(SIGN_IN, id, encode(&record)?).expires(ctx.now().plus(LIFETIME));
        let batch = Batch::new(person.tenant.clone());
        self.shared.store.commit(batch.put(put)).await?;
        Ok(Some(SignInForOffer { url: url.into() }))
    }

    /// Takes the response of an authorization server, and receives the cards. `response` is the address that the browser
    /// was led back to, or its query. A response counts once, and in the wallet alone that asked for it.
    ///
    /// # Errors
    /// `NotFound` for a response that nobody waits for; `BadRequest` for one of another server (RFC 9207 §2.4);
    /// `Forbidden` if the server or the person refused; those of [`Wallet::accept_offer`].
    pub async fn received(&self, person: &Person, response: &str) -> Result<Vec<CardSummary>> {
        let query = match Url::parse(response) {
            Ok(url) => url.query().unwrap_or_default().to_owned(),
            Err(_) => response.trim_start_matches('?').to_owned(),
        };
        let malformed = |_| Error::bad_request("sign-in-response-malformed");
        let response = Form::of_query(&query).map_err(malformed)?;
        let unknown = || Error::not_found("sign-in-response-unknown");
        let state = response.get("state").ok_or_else(unknown)?;
        let awaited = self.awaited(person, state).await?.ok_or_else(unknown)?;
        let ReceivingSignIn {
            offer,
            requested,
            did,
            copies,
        } = awaited;
        let code = requested.code(response).map_err(refused)?;
        let known = self.issuer_of(&offer, REDEEMING_AGE).await?;
        // The code goes to nobody but the server that gave it.
        if known.server.issuer != requested.issuer {
            return Err(refused(ResponseFault::OtherServer));
        }
        let accept = AcceptOffer {
            offer: String::new(),
            tx_code: None,
            did,
            copies,
        };
        let to_accept = OfferToAccept {
            offer,
            known,
            redemption: Some(requested.redemption(&code)),
        };
        self.accept(person, &accept, to_accept).await
    }

    /// The sign-in whose response has this state; it is awaited no longer.
    async fn awaited(&self, person: &Person, state: &str) -> Result<Option<ReceivingSignIn>> {
        let (store, id) = (&self.shared.store, state_id(state));
        let Some(record) = store.read(&person.tenant, SIGN_IN, &id).await? else {
            return Ok(None);
        };
        let batch = Batch::new(person.tenant.clone())
            .expect(SIGN_IN, &id, Expect::Version(record.version))
            .delete(SIGN_IN, &id);
        store.commit(batch).await?;
        decode(&record.value).map(Some)
    }

    /// The address for the browser: with the request pushed ahead, if the server takes that (RFC 9126).
    async fn begin_at(
        &self,
        server: &ServerMetadata,
        requested: &RequestedCode,
        parameters: Vec<(String, String)>,
    ) -> Result<Url> {
        let usable = |url: &&Url| self.transport.allows(url);
        let endpoint = server.authorization_endpoint.as_ref().filter(usable);
        let methods = &server.code_challenge_methods_supported;
        let knows_method = methods.is_empty() || methods.iter().any(|one| one == S256);
        let unusable = || Error::upstream("authorization-server-unusable");
        let endpoint = endpoint.filter(|_| knows_method).ok_or_else(unusable)?;
        match &server.pushed_authorization_request_endpoint {
            None => Ok(address(endpoint, &parameters)),
            Some(url) if !self.transport.allows(url) => Err(unusable()),
            Some(url) => {
                let pushed = self.push(url, parameters).await?;
                Ok(requested.pushed_address(endpoint, &pushed.request_uri))
            }
        }
    }

    async fn push(&self, url: &Url, parameters: Vec<(String, String)>) -> Result<PushedAddress> {
        let call = Call {
            method: Method::Post,
            url,
            body: Body::Form(parameters),
            authorization: Authorization::None,
            request: Request {
                accept: Some("application/json"),
                ..Request::default()
            },
        };
        let answer = self.shared.net.call(call).await;
        let answer =
            answer.map_err(|error| unreachable(Reason::new("the-authorization-server"), &error))?;
        if answer.is_success()
            && let Ok(pushed) = json::parse_as(&answer.body, &Limits::default())
        {
            return Ok(pushed);
        }
        let body: Option<ErrorBody> = json::parse_as(&answer.body, &Limits::default()).ok();
        let code = body.map_or_else(|| answer.status.to_string(), |body| body.error);
        Err(Error::upstream("sign-in-request-refused").with("code", &code))
    }
}

/// What the request asks for: the scopes of the configurations, or each configuration if one has no scope (OpenID4VCI
/// 1.0 §5.1), and at which issuer (§5.1.2).
fn question(offer: &CredentialOffer, issuer: &IssuerMetadata) -> Vec<(&'static str, String)> {
    let ids = offer.credential_configuration_ids.iter();
    let scopes = ids
        .clone()
        .map(|id| issuer.configuration(id)?.scope.as_deref());
    let asked = match scopes.collect::<Option<Vec<&str>>>() {
        Some(scopes) => ("scope", scopes.join(" ")),
        None => {
            let detail = |id: &String| AuthorizationDetail {
                // §5.1.1: it names the issuer where the issuer names servers.
                locations: issuer
                    .authorization_servers
                    .as_ref()
                    .map(|_| vec![issuer.credential_issuer.clone()]),
                ..AuthorizationDetail::requesting(id)
            };
            let details: Vec<AuthorizationDetail> = ids.map(detail).collect();
            let details = serde_json::to_string(&details).unwrap_or_default();
            ("authorization_details", details)
        }
    };
    let state = offer.authorization_code();
    let state = state.and_then(|grant| grant.issuer_state.clone());
    let state = state.map(|state| ("issuer_state", state));
    let resource = ("resource", issuer.credential_issuer.clone());
    [asked, resource].into_iter().chain(state).collect()
}

/// The id of the record of a sign-in. The database shows ids; nobody answers a sign-in by them.
fn state_id(state: &str) -> String {
    base64url_encode(&sha256(state.as_bytes()))
}

fn refused(fault: ResponseFault) -> Error {
    tracing::warn!(%fault, "a sign-in for an offer gave no code");
    match fault {
        ResponseFault::Malformed => Error::bad_request("sign-in-response-malformed"),
        ResponseFault::OtherRequest => Error::not_found("sign-in-response-unknown"),
        ResponseFault::OtherServer => Error::bad_request("sign-in-response-foreign"),
        ResponseFault::Refused { code } => {
            Error::new(ErrorKind::Forbidden, "sign-in-response-refused").with("code", &code)
        }
    }
}
