//! Offers for which the person signs in at the issuer's authorization server (OpenID4VCI 1.0 §5): the request, and what
//! the server's response leads to.

use selfsame_core::machine::{CallAttestation, HttpBody, HttpCall};
use selfsame_crypto::KeyType;
use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::json::{self, Limits};
use selfsame_crypto::time::UnixTime;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_oauth::client::authorization::{RequestedCode, ResponseFault, address};
use selfsame_oauth::client::possession::kind_of_key;
use selfsame_oauth::pkce::S256;
use selfsame_oauth::{AuthorizationDetail, ErrorBody, Form, ServerMetadata};
use selfsame_openid4vc::wire::metadata::IssuerMetadata;
use selfsame_openid4vc::wire::offer::CredentialOffer;
use selfsame_store::{Batch, Expect, Put};
use serde::{Deserialize, Serialize};
use url::Url;

use super::attested::SenderKeys;
use super::possession::PossessedKey;
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
    /// The key that the code is bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    possessed: Option<PossessedKey>,
    /// What the wallet is attested with at the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attested: Option<Box<CallAttestation>>,
    did: Option<String>,
    copies: Option<usize>,
}

/// A code that is about to be asked for.
struct AskedCode<'a> {
    person: &'a Person,
    server: &'a ServerMetadata,
    requested: &'a RequestedCode,
    parameters: Vec<(String, String)>,
    attested: Option<Box<CallAttestation>>,
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
        let offer = self.offer(&accept.offer, Some(&person.tenant)).await?;
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
        let until = ctx.now().plus(LIFETIME);
        let (mut sender, batch) = self.sender_until(person, &known.server, until).await?;
        let bound = sender.possessed.iter().map(|one| {
            // RFC 9449 §10: the thumbprint, which is the name of the key too.
            ("dpop_jkt", one.key.as_str().to_owned())
        });
        let further = question(&offer, &known.issuer).into_iter().chain(bound);
        let asked = AskedCode {
            person,
            server: &known.server,
            requested: &requested,
            parameters: requested.parameters(further.collect()),
            attested: sender.attested.clone(),
        };
        let url = self.begin_at(asked, sender.possessed.as_mut()).await?;
        let id = state_id(requested.state.expose());
        let record = ReceivingSignIn {
            offer,
            requested,
            possessed: sender.possessed,
            attested: sender.attested,
            did: accept.did.clone(),
            copies: accept.copies,
        };
        let put = Put::new(SIGN_IN, id, encode(&record)?).expires(until);
        self.shared.store.commit(batch.put(put)).await?;
        Ok(Some(SignInForOffer { url: url.into() }))
    }

    /// Takes the response of an authorization server, and receives the cards. `response` is the address that the browser
    /// was led back to, or its query. A response counts once, and in the wallet alone that asked for it.
    ///
    /// # Errors
    /// `NotFound` for a response that no sign-in waits for; `BadRequest` for one of another server (RFC 9207 §2.4);
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
            possessed,
            attested,
            did,
            copies,
        } = awaited;
        let code = requested.code(response).map_err(refused)?;
        let known = self.issuer_of(&offer, REDEEMING_AGE).await?;
        // The code goes to the server that gave it alone.
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
            redemption: Some(requested.redemption(&code, &[])),
            sender: Some(SenderKeys {
                possessed,
                attested,
            }),
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

    /// A fresh key for the code and the access token, if the server binds them to keys, and by which the wallet is
    /// attested, if the server wants that. It is deleted at this time unless the offer is accepted by then.
    async fn sender_until(
        &self,
        person: &Person,
        server: &ServerMetadata,
        until: UnixTime,
    ) -> Result<(SenderKeys, Batch)> {
        let (binds, attests) = (kind_of_key(server), server.wants_attestation());
        let Some(kind) = binds.or(attests.then_some(KeyType::P256)) else {
            return Ok((SenderKeys::default(), Batch::new(person.tenant.clone())));
        };
        let keys = &self.shared.keys;
        let (key, batch) = keys.create_until(&person.tenant, kind, until)?;
        let mut sender = SenderKeys {
            possessed: binds.map(|_| PossessedKey::new(key.clone())),
            attested: None,
        };
        if attests {
            sender.attested = Some(self.attested_by(person, server, key).await?);
        }
        Ok((sender, batch))
    }

    /// The address for the browser: with the request pushed ahead, if the server takes that (RFC 9126).
    async fn begin_at(
        &self,
        asked: AskedCode<'_>,
        possessed: Option<&mut PossessedKey>,
    ) -> Result<Url> {
        let server = asked.server;
        let usable = |url: &&Url| self.transport.allows(url);
        let endpoint = server.authorization_endpoint.as_ref().filter(usable);
        let methods = &server.code_challenge_methods_supported;
        let knows_method = methods.is_empty() || methods.iter().any(|one| one == S256);
        let unusable = || Error::upstream("authorization-server-unusable");
        let endpoint = endpoint.filter(|_| knows_method).ok_or_else(unusable)?;
        match &server.pushed_authorization_request_endpoint {
            None => Ok(address(endpoint, &asked.parameters)),
            Some(url) if !self.transport.allows(url) => Err(unusable()),
            Some(url) => {
                let requested = asked.requested;
                let pushed = self.push(url, asked, possessed).await?;
                Ok(requested.pushed_address(endpoint, &pushed.request_uri))
            }
        }
    }

    /// Pushes the request, with a proof of possession of the key that the code is bound to (RFC 9449 §10.1).
    async fn push(
        &self,
        url: &Url,
        asked: AskedCode<'_>,
        possessed: Option<&mut PossessedKey>,
    ) -> Result<PushedAddress> {
        let body = HttpBody::Form(asked.parameters);
        let call = HttpCall {
            proof: possessed.as_ref().map(|possessed| possessed.at_server()),
            attested: asked.attested,
            ..HttpCall::post(url.clone(), body)
        };
        let answer = self.shared.sent(&asked.person.tenant, &call).await?;
        let answer =
            answer.map_err(|error| unreachable(Reason::new("the-authorization-server"), &error))?;
        if let Some(possessed) = possessed {
            possessed.heard_from_server(answer.dpop_nonce.as_deref());
        }
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

/// The id of the record of a sign-in. The database shows ids; a sign-in cannot be answered by them.
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
