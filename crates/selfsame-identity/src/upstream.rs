//! Another OpenID provider as an identity system: people sign in there, by the authorization code flow with PKCE.
//!
//! The page sends the browser to [`Upstream::begin`]'s address. What the browser brings back is a challenge of the
//! factor `Upstream`: the query of the redirect, as it is.

mod id_token;
mod metadata;

use async_trait::async_trait;
use selfsame_crypto::{SecretString, encoding, hash};
use selfsame_driver::clock::Clock;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_net::{Authorization, Body, Net};
use selfsame_oidc::FactorKind;
use selfsame_sign_in::identity::{
    AskingClient, ClaimsOrder, IdentityFault, IdentityFaultKind, IdentitySystem, OtpOrder, OtpSent,
    PersonClaims, ProvenPerson, SignInAttempt,
};
use selfsame_store::{Batch, Expect, Put, Store, StoreError, TenantId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::{Url, form_urlencoded};

use id_token::{ExpectedToken, judge};
use metadata::MetadataCache;

/// A sign-in that was sent to the provider.
const BEGUN: &str = "upstream_begun";
/// A person who came back, whose claims can be fetched once.
const PROVEN: &str = "upstream_proven";
/// Seconds for which both are kept.
const SECONDS: u64 = 600;
/// The longest query that a browser may bring back, in bytes.
const QUERY_MAX: usize = 8 * 1024;

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

/// The provider.
pub struct Upstream {
    config: UpstreamConfig,
    net: Net,
    store: Store,
    clock: Clock,
    metadata: MetadataCache,
}

#[derive(Deserialize, Serialize)]
struct BegunRecord {
    state: String,
    nonce: String,
    verifier: String,
}

#[derive(Deserialize)]
struct TokenAnswer {
    id_token: String,
}

impl Upstream {
    /// The provider of this configuration. It is not called yet.
    #[must_use]
    pub fn new(config: UpstreamConfig, net: Net, store: Store, clock: Clock) -> Self {
        Self {
            config,
            net,
            store,
            clock,
            metadata: MetadataCache::default(),
        }
    }

    /// Where a browser is sent for a sign-in. `sign_in` is the identifier of 10 characters that the seam has.
    ///
    /// # Errors
    /// `Upstream` if the provider does not answer, and the store's.
    pub async fn begin(&self, sign_in: &str) -> Result<Url> {
        let known = self.metadata.get(&self.net, &self.config.issuer).await;
        let known = known.map_err(|_| Error::upstream("upstream-provider-away"))?;
        let ctx = self.clock.ctx();
        let begun = BegunRecord {
            state: ctx.token("state"),
            nonce: ctx.token("nonce"),
            verifier: ctx.token("code verifier"),
        };
        let challenge = hash::sha256(begun.verifier.as_bytes());
        let mut url = known.authorization_endpoint.clone();
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.config.client_id)
            .append_pair("redirect_uri", self.config.redirect_uri.as_str())
            .append_pair("scope", &self.config.scope)
            .append_pair("state", &begun.state)
            .append_pair("nonce", &begun.nonce)
            .append_pair("code_challenge", &encoding::base64url_encode(&challenge))
            .append_pair("code_challenge_method", "S256");
        let put = Put::new(BEGUN, id("begun", sign_in), encode(&begun)?);
        let put = put.expires(ctx.now().plus(SECONDS));
        let batch = Batch::new(TenantId::instance()).put(put);
        self.store.commit(batch).await?;
        Ok(url)
    }

    /// The claims of the person whom a browser's redirect is about.
    async fn redeemed(
        &self,
        begun: &BegunRecord,
        query: &str,
    ) -> UpstreamAnswer<Map<String, Value>> {
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
        let answer = self
            .net
            .post(&known.token_endpoint, body, Authorization::None);
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
        let keys = self
            .metadata
            .keys(&self.net, &known, &answer.id_token)
            .await?;
        judge(&answer.id_token, &keys, &expected)
    }

    async fn proven(&self, claims: &Map<String, Value>) -> UpstreamAnswer<ProvenPerson> {
        let subject = claims
            .get("sub")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let issuer = self.config.issuer.as_str();
        let parts = [b"upstream\0", issuer.as_bytes(), b"\0", subject.as_bytes()];
        let ctx = self.clock.ctx();
        let token = SecretString::new(ctx.token("upstream token"));
        let put = Put::new(
            PROVEN,
            id("proven", token.expose()),
            encode(claims).map_err(failed)?,
        );
        let batch = Batch::new(TenantId::instance()).put(put.expires(ctx.now().plus(SECONDS)));
        self.store.commit(batch).await.map_err(failed)?;
        Ok(ProvenPerson {
            handle: encoding::base64url_encode(&hash::sha256_parts(&parts)),
            subject: None,
            token,
            factors: vec![FactorKind::Upstream],
        })
    }

    /// Takes a record that can be used once.
    async fn take(&self, kind: &str, id: &str) -> UpstreamAnswer<Vec<u8>> {
        let instance = TenantId::instance();
        let read = self.store.read(&instance, kind, id);
        let gone = || refused("the sign-in is over or was finished before");
        let record = read.await.map_err(failed)?.ok_or_else(gone)?;
        let batch = Batch::new(TenantId::instance());
        let batch = batch.expect(kind, id, Expect::Version(record.version));
        match self.store.commit(batch.delete(kind, id)).await {
            Ok(_) => Ok(record.value),
            Err(StoreError::Conflict { .. }) => Err(gone()),
            Err(other) => Err(failed(other)),
        }
    }
}

type UpstreamAnswer<T> = std::result::Result<T, IdentityFault>;

#[async_trait]
impl IdentitySystem for Upstream {
    fn name(&self) -> &str {
        "upstream"
    }

    fn factors(&self) -> Vec<FactorKind> {
        vec![FactorKind::Upstream]
    }

    async fn send_otp(&self, _: &AskingClient, _: &OtpOrder) -> UpstreamAnswer<OtpSent> {
        Err(IdentityFault::new(IdentityFaultKind::Unsupported))
    }

    async fn authenticate(
        &self,
        asking: &AskingClient,
        attempt: &SignInAttempt,
    ) -> UpstreamAnswer<ProvenPerson> {
        let [challenge] = &attempt.challenges[..] else {
            return Err(IdentityFault::new(IdentityFaultKind::Unsupported));
        };
        let query = challenge.value.expose();
        if challenge.factor != FactorKind::Upstream || query.len() > QUERY_MAX {
            return Err(IdentityFault::new(IdentityFaultKind::Malformed));
        }
        let begun = self.take(BEGUN, &id("begun", &asking.transaction)).await?;
        let begun: BegunRecord = decode(&begun).map_err(failed)?;
        let claims = self.redeemed(&begun, query).await?;
        self.proven(&claims).await
    }

    async fn exchange(
        &self,
        _: &AskingClient,
        order: &ClaimsOrder,
    ) -> UpstreamAnswer<PersonClaims> {
        let claims = self
            .take(PROVEN, &id("proven", order.token.expose()))
            .await?;
        let claims: Map<String, Value> = decode(&claims).map_err(failed)?;
        let asked = |name: &String| {
            let (plain, _) = name.split_once('#').unwrap_or((name, ""));
            order.claims.iter().any(|claim| claim == plain)
        };
        let claims = claims.into_iter().filter(|(name, _)| asked(name));
        Ok(PersonClaims::Plain(claims.collect()))
    }
}

/// The code that a browser brought back, if it is from this sign-in and this provider.
fn code_of(query: &str, begun: &BegunRecord, issuer: &Url) -> UpstreamAnswer<String> {
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

fn id(what: &str, text: &str) -> String {
    let parts = [b"upstream\0", what.as_bytes(), b"\0", text.as_bytes()];
    encoding::base64url_encode(&hash::sha256_parts(&parts))
}

pub(crate) fn refused(what: &'static str) -> IdentityFault {
    tracing::info!(what, "a sign-in by another OpenID provider was refused");
    IdentityFault::new(IdentityFaultKind::WrongChallenge).with_code("upstream-refused")
}

fn failed(error: impl Into<Error>) -> IdentityFault {
    let error: Error = error.into();
    tracing::warn!(reason = %error, "a sign-in by another OpenID provider can't be kept");
    IdentityFault::new(IdentityFaultKind::Unavailable)
}

#[cfg(test)]
mod tests;
