//! A client of an OpenID provider: where it sends browsers, and what it gets for what they bring back.

use selfsame_crypto::jws::Compact;
use selfsame_crypto::{SecretString, hash, json};
use selfsame_driver::clock::Clock;
use selfsame_driver::{Error, Result};
use selfsame_net::{Authorization, Body, Call, Method, Net, Request, Response};
use selfsame_oauth::pkce::{CodeChallenge, S256};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::{Url, form_urlencoded};

use super::id_token::{ExpectedToken, judge};
use super::metadata::{self, MetadataCache};
use super::{UpstreamAnswer, refused};

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
    state: String,
    nonce: String,
    verifier: String,
}

impl BegunAtProvider {
    /// The state that the provider sends back.
    pub(super) fn state(&self) -> &str {
        &self.state
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
        let ctx = self.clock.ctx();
        let begun = BegunAtProvider {
            state: ctx.token("state"),
            nonce: ctx.token("nonce"),
            verifier: ctx.token("code verifier"),
        };
        let challenge = CodeChallenge::of(&begun.verifier).to_text();
        let mut url = known.authorization_endpoint.clone();
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.config.client_id)
            .append_pair("redirect_uri", self.config.redirect_uri.as_str())
            .append_pair("scope", &self.config.scope)
            .append_pair("state", &begun.state)
            .append_pair("nonce", &begun.nonce)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", S256);
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
        let code = code_of(query, begun, &self.config.issuer)?;
        let known = self.metadata.get(&self.net, &self.config.issuer).await?;
        let form = [
            ("grant_type", "authorization_code"),
            ("code", &code),
            ("redirect_uri", self.config.redirect_uri.as_str()),
            ("client_id", &self.config.client_id),
            ("client_secret", self.config.client_secret.expose()),
            ("code_verifier", &begun.verifier),
        ];
        let form = form.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let body = Body::Form(form.to_vec());
        let net = &self.net;
        let answer = net.post(&known.token_endpoint, body, Authorization::None);
        let answer = answer.await.map_err(|error| metadata::away(&error))?;
        if !answer.is_success() {
            return Err(refused("the provider redeems no such code"));
        }
        let answer: TokenAnswer =
            serde_json::from_slice(&answer.body).map_err(|_| refused("there is no ID token"))?;
        let expected = ExpectedToken {
            issuer: known.issuer.as_str(),
            client_id: &self.config.client_id,
            nonce: &begun.nonce,
            now: self.clock.now(),
        };
        let keys = self.metadata.keys(net, &known, &answer.id_token).await?;
        Ok(RedeemedCode {
            claims: judge(&answer.id_token, &keys, &expected)?,
            id_token: answer.id_token,
            access_token: answer.access_token,
        })
    }

    /// The claims at the userinfo endpoint; none if the provider has no such endpoint or gave no access token.
    ///
    /// A JWT there is read without its signature: like JSON it comes from the provider itself, over the connection to
    /// the address that its metadata name (OpenID Connect Core §5.3.2).
    ///
    /// # Errors
    /// `WrongChallenge` for claims of another person; `Unavailable` or `TooLate` if the provider does not answer.
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
        let claims = claims_of(&answer)?;
        // §5.3.2: claims of another subject are not used.
        match claims.get("sub") == redeemed.claims.get("sub") {
            true => Ok(claims),
            false => Err(refused("userinfo is of another person")),
        }
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

fn claims_of(answer: &Response) -> UpstreamAnswer<Map<String, Value>> {
    if !answer.is_success() {
        return Err(refused("userinfo is refused"));
    }
    let malformed = || refused("userinfo is malformed");
    let body = std::str::from_utf8(&answer.body).map_err(|_| malformed())?;
    let read = match answer.media_type().as_deref() {
        Some("application/jwt") => {
            let signed = Compact::parse(body).map_err(|_| malformed())?;
            signed.claims()
        }
        _ => json::parse(body.as_bytes(), &json::Limits::default()),
    };
    match read {
        Ok(Value::Object(claims)) => Ok(claims),
        _ => Err(malformed()),
    }
}

/// The code that a browser brought back, if it is from this sign-in and this provider.
fn code_of(query: &str, begun: &BegunAtProvider, issuer: &Url) -> UpstreamAnswer<String> {
    let pairs = form_urlencoded::parse(query.as_bytes()).into_owned();
    let pairs: Vec<(String, String)> = pairs.collect();
    let one = |name: &str| {
        let mut found = pairs.iter().filter(|(one, _)| one == name);
        found
            .next()
            .map(|(_, value)| value)
            .filter(|_| found.next().is_none())
    };
    let state =
        one("state").is_some_and(|state| hash::ct_eq(state.as_bytes(), begun.state.as_bytes()));
    if !state {
        return Err(refused("the state is not that of this sign-in"));
    }
    // RFC 9207 §2.4: against mix-up of providers.
    if one("iss").is_some_and(|named| !metadata::is_issuer(named, issuer)) {
        return Err(refused("the answer is from another provider"));
    }
    let code = one("code").filter(|code| !code.is_empty());
    code.cloned()
        .ok_or_else(|| refused("the person did not sign in there"))
}
