//! A client of an OpenID provider: where it sends browsers, and what it gets for what they bring back.

use std::sync::Arc;

use selfsame_crypto::{Algorithm, SecretString};
use selfsame_driver::clock::Clock;
use selfsame_driver::{Error, Result};
use selfsame_net::{Authorization, Body, Call, Method, Net, Request};
use selfsame_oauth::Form;
use selfsame_oauth::client::authorization::{RequestedCode, ResponseFault, address};
use selfsame_oauth::jwt::Jwt;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;

use super::id_token::{self, ExpectedToken};
use super::metadata::{self, MetadataCache, ProviderMetadata};
use super::userinfo::{self, ReadUserinfo};
use super::{UpstreamAnswer, refused};

/// The media type of forms.
const FORM: &str = "application/x-www-form-urlencoded";

/// What we are at the provider.
#[derive(Clone, Debug)]
pub struct UpstreamConfig {
    /// The provider's issuer identifier.
    pub issuer: Url,
    /// Our client identifier there.
    pub client_id: String,
    /// Our secret there.
    pub client_secret: SecretString,
    /// Where the provider sends browsers back.
    pub redirect_uri: Url,
    /// The scopes that are asked for, `openid` among them.
    pub scope: String,
    /// The only algorithm of userinfo, which then is always signed; without one it may be signed or not (OpenID Connect
    /// Dynamic Client Registration §2, `userinfo_signed_response_alg`).
    pub userinfo_alg: Option<Algorithm>,
}

/// A client of the authorization code flow with PKCE. It keeps nothing of a sign-in.
pub struct ProviderClient {
    config: UpstreamConfig,
    net: Net,
    clock: Clock,
    metadata: MetadataCache,
}

/// What is kept of a sign-in while the browser is at the provider.
#[derive(Clone, Deserialize, Serialize)]
pub struct BegunAtProvider {
    requested: RequestedCode,
    nonce: String,
}

impl BegunAtProvider {
    /// The state that the provider sends back.
    pub(super) fn state(&self) -> &str {
        self.requested.state.expose()
    }
}

/// A browser that is to be sent to the provider.
pub struct SentBrowser {
    /// Where it is sent.
    pub url: Url,
    /// What is kept until it comes back.
    pub begun: BegunAtProvider,
}

/// What a code was redeemed for.
pub struct RedeemedCode {
    /// The claims of the ID token, which was verified.
    pub claims: Map<String, Value>,
    /// The ID token.
    pub id_token: String,
    access_token: Option<SecretString>,
}

#[derive(Deserialize)]
struct TokenAnswer {
    id_token: String,
    access_token: Option<SecretString>,
}

impl ProviderClient {
    /// A client of this configuration. The provider is not called yet.
    #[must_use]
    pub fn new(config: UpstreamConfig, net: Net, clock: Clock) -> Self {
        Self {
            config,
            net,
            clock,
            metadata: MetadataCache::default(),
        }
    }

    /// The provider's issuer identifier.
    #[must_use]
    pub fn issuer(&self) -> &Url {
        &self.config.issuer
    }

    /// Begins a sign-in.
    ///
    /// # Errors
    /// `Upstream` if the provider does not answer.
    pub async fn begin(&self) -> Result<SentBrowser> {
        let known = self.metadata.get(&self.net, &self.config.issuer).await;
        let known = known.map_err(|_| Error::upstream("upstream-provider-away"))?;
        let endpoint = known.authorization_endpoint();
        let endpoint = endpoint.map_err(|_| Error::upstream("upstream-provider-away"))?;
        let ctx = self.clock.ctx();
        let UpstreamConfig {
            client_id,
            redirect_uri,
            scope,
            ..
        } = &self.config;
        let begun = BegunAtProvider {
            requested: RequestedCode::new(&known.server, client_id, redirect_uri, &ctx),
            nonce: ctx.token("nonce"),
        };
        let further = vec![("scope", scope.clone()), ("nonce", begun.nonce.clone())];
        let url = address(endpoint, &begun.requested.parameters(further));
        Ok(SentBrowser { url, begun })
    }

    /// Redeems the code that a browser brought back in the query of the redirect.
    ///
    /// # Errors
    /// `WrongChallenge` for a query or a token that is not of this sign-in; `Unavailable` or `TooLate` if the provider
    /// does not answer.
    pub async fn redeem(
        &self,
        begun: &BegunAtProvider,
        query: &str,
    ) -> UpstreamAnswer<RedeemedCode> {
        let code = code_of(query, &begun.requested)?;
        let known = self.metadata.get(&self.net, &self.config.issuer).await?;
        // The code goes to the provider that gave it alone.
        if known.server.issuer != begun.requested.issuer {
            return Err(refused("the provider has another name than it had before"));
        }
        let secret = [("client_secret", self.config.client_secret.expose())];
        let form = begun.requested.redemption(&code, &secret);
        let body = Body::Bytes {
            content_type: FORM.to_owned(),
            bytes: form.expose().as_bytes().to_vec(),
        };
        let endpoint = known.token_endpoint()?;
        let answer = self.net.post(endpoint, body, Authorization::None).await;
        let answer = answer.map_err(|error| metadata::away(&error))?;
        if !answer.is_success() {
            return Err(refused("the provider redeems no such code"));
        }
        let answer: TokenAnswer =
            serde_json::from_slice(&answer.body).map_err(|_| refused("there is no ID token"))?;
        let expected = ExpectedToken {
            issuer: &known.server.issuer,
            client_id: &self.config.client_id,
            nonce: &begun.nonce,
            now: self.clock.now(),
        };
        let token =
            Jwt::parse(&answer.id_token).map_err(|_| refused("the ID token is malformed"))?;
        let allowed = algorithms(&known.id_token_signing_alg_values_supported);
        self.verify(&token, &known, &allowed).await?;
        id_token::check(&token, &expected)?;
        Ok(RedeemedCode {
            claims: token.into_claims(),
            id_token: answer.id_token,
            access_token: answer.access_token,
        })
    }

    /// The claims at the userinfo endpoint; none if the provider has no such endpoint or gave no access token.
    ///
    /// A token there counts as an ID token does: by a key of the provider, for this client (OpenID Connect Core §5.3.2,
    /// §5.3.4). JSON comes from the provider itself, over the connection to the address that its metadata name.
    ///
    /// # Errors
    /// `WrongChallenge` for claims of another person, by another issuer or for another client, and for claims without
    /// the signature that was registered; `Unavailable` or `TooLate` if the provider does not answer.
    pub async fn userinfo(&self, redeemed: &RedeemedCode) -> UpstreamAnswer<Map<String, Value>> {
        let known = self.metadata.get(&self.net, &self.config.issuer).await?;
        let (Some(url), Some(token)) = (&known.userinfo_endpoint, &redeemed.access_token) else {
            return Ok(Map::new());
        };
        let call = Call {
            method: Method::Get,
            url,
            body: Body::Empty,
            authorization: Authorization::Bearer(token.clone()),
            request: Request::default(),
        };
        let answer = self.net.call(call).await;
        let answer = answer.map_err(|error| metadata::away(&error))?;
        let claims = match (userinfo::read(&answer)?, self.config.userinfo_alg) {
            (ReadUserinfo::Plain(claims), None) => claims,
            (ReadUserinfo::Plain(_), Some(_)) => return Err(refused("userinfo is not signed")),
            (ReadUserinfo::Signed(signed), registered) => {
                let supported = &known.userinfo_signing_alg_values_supported;
                let allowed = registered.map_or_else(|| algorithms(supported), |one| vec![one]);
                self.verify(&signed, &known, &allowed).await?;
                userinfo::claims(*signed, &known.server.issuer, &self.config.client_id)?
            }
        };
        // §5.3.2: claims of another subject are not used.
        match claims.get("sub") == redeemed.claims.get("sub") {
            true => Ok(claims),
            false => Err(refused("userinfo is of another person")),
        }
    }

    /// Verifies the signature of a token by the provider's keys.
    async fn verify(
        &self,
        token: &Jwt,
        known: &Arc<ProviderMetadata>,
        allowed: &[Algorithm],
    ) -> UpstreamAnswer<()> {
        let keys = self.metadata.keys(&self.net, known, token).await?;
        let verified = token.verify_with(&keys, allowed);
        verified.map_err(|_| refused("a token has no valid signature of the provider"))
    }

    /// Where a browser is sent to sign out at the provider (OpenID Connect RP-Initiated Logout §2).
    ///
    /// # Errors
    /// As [`Self::redeem`].
    pub async fn sign_out(&self, id_token: &str, back_to: &Url) -> UpstreamAnswer<Option<Url>> {
        let known = self.metadata.get(&self.net, &self.config.issuer).await?;
        let mut url = known.end_session_endpoint.clone();
        if let Some(url) = &mut url {
            url.query_pairs_mut()
                .append_pair("id_token_hint", id_token)
                .append_pair("post_logout_redirect_uri", back_to.as_str());
        }
        Ok(url)
    }
}

/// The code that a browser brought back, if it is from this sign-in and this provider.
fn code_of(query: &str, requested: &RequestedCode) -> UpstreamAnswer<SecretString> {
    let response = Form::of_query(query).map_err(|_| refused("the answer is malformed"))?;
    requested.code(response).map_err(|fault| {
        refused(match fault {
            ResponseFault::Malformed => "the answer is malformed",
            ResponseFault::OtherRequest => "the state is not that of this sign-in",
            ResponseFault::OtherServer => "the answer is from another provider",
            ResponseFault::Refused { .. } => "the person did not sign in there",
        })
    })
}

/// The algorithms with these names, as far as they are known; all of them where a provider names none.
fn algorithms(named: &[String]) -> Vec<Algorithm> {
    let all = Algorithm::ALL.into_iter();
    let is_named = |one: &Algorithm| {
        named.is_empty() || one.names().any(|name| named.iter().any(|one| one == name))
    };
    all.filter(is_named).collect()
}
