//! Another OpenID provider as an identity system: people sign in there, by the authorization code flow with PKCE.
//!
//! All sign-ins have one redirect URI, which leads on to the page of the sign-in that the state belongs to. What the
//! browser brings back there is a challenge of the factor `Upstream`: the query of the redirect, as it is.

mod client;
mod id_token;
mod metadata;
mod userinfo;

use async_trait::async_trait;
use selfsame_crypto::{SecretString, encoding, hash};
use selfsame_driver::clock::Clock;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_net::Net;
use selfsame_oidc::FactorKind;
use selfsame_sign_in::identity::{
    AskedElsewhere, AskingClient, ClaimsOrder, ElsewhereOrder, IdentityFault, IdentityFaultKind,
    IdentitySystem, OtpOrder, OtpSent, PersonClaims, ProvenPerson, SignInAttempt,
};
use selfsame_store::{Batch, Expect, Put, Store, StoreError, TenantId};
use serde_json::{Map, Value};
use url::{Url, form_urlencoded};

pub use client::{BegunAtProvider, ProviderClient, RedeemedCode, SentBrowser, UpstreamConfig};

/// A sign-in that was sent to the provider.
const BEGUN: &str = "upstream_begun";
/// The page that waits for a person, by the state.
const AWAITING: &str = "upstream_awaiting";
/// A person who came back, whose claims can be fetched once.
const PROVEN: &str = "upstream_proven";
/// Seconds for which both are kept.
const SECONDS: u64 = 600;
/// The longest query that a browser may bring back, in bytes.
const QUERY_MAX: usize = 8 * 1024;

/// The provider.
pub struct Upstream {
    client: ProviderClient,
    store: Store,
    clock: Clock,
}

impl Upstream {
    /// The provider of this configuration. It is not called yet.
    #[must_use]
    pub fn new(config: UpstreamConfig, net: Net, store: Store, clock: Clock) -> Self {
        Self {
            client: ProviderClient::new(config, net, clock.clone()),
            store,
            clock,
        }
    }

    /// Where a browser is sent for a sign-in, which goes on at this page. `sign_in` is the identifier of 10 characters
    /// that the seam has.
    async fn begin(&self, sign_in: &str, page: &Url) -> Result<Url> {
        let SentBrowser { url, begun } = self.client.begin().await?;
        let end = self.clock.now().plus(SECONDS);
        let awaiting = Put::new(AWAITING, id("awaiting", begun.state()), encode(page)?);
        let put = Put::new(BEGUN, id("begun", sign_in), encode(&begun)?);
        let batch = Batch::new(TenantId::instance());
        let batch = batch.put(put.expires(end)).put(awaiting.expires(end));
        self.store.commit(batch).await?;
        Ok(url)
    }

    async fn proven(&self, claims: &Map<String, Value>) -> UpstreamAnswer<ProvenPerson> {
        let subject = claims
            .get("sub")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let issuer = self.client.issuer().as_str();
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

/// The answer of the provider, or why it did not answer.
pub type UpstreamAnswer<T> = std::result::Result<T, IdentityFault>;

#[async_trait]
impl IdentitySystem for Upstream {
    fn name(&self) -> &str {
        "upstream"
    }

    fn factors(&self) -> Vec<FactorKind> {
        vec![FactorKind::Upstream]
    }

    async fn ask(
        &self,
        asking: &AskingClient,
        order: &ElsewhereOrder,
    ) -> UpstreamAnswer<AskedElsewhere> {
        if order.factor != FactorKind::Upstream {
            return Err(IdentityFault::new(IdentityFaultKind::Unsupported));
        }
        let url = self.begin(&asking.transaction, &order.address).await;
        Ok(AskedElsewhere::Provider(url.map_err(failed)?))
    }

    async fn awaiting(&self, query: &str) -> UpstreamAnswer<Url> {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        let state = pairs.find(|(name, _)| name == "state");
        let (_, state) = state.ok_or_else(|| refused("the answer has no state"))?;
        let (instance, place) = (TenantId::instance(), id("awaiting", &state));
        let read = self.store.read(&instance, AWAITING, &place).await;
        let read = read.map_err(failed)?;
        let read = read.ok_or_else(|| refused("no sign-in waits for this answer"))?;
        decode(&read.value).map_err(failed)
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
        let begun: BegunAtProvider = decode(&begun).map_err(failed)?;
        let mut redeemed = self.client.redeem(&begun, query).await?;
        let further = self.client.userinfo(&redeemed).await?;
        // What the ID token says counts: it is signed.
        for (name, value) in further {
            redeemed.claims.entry(name).or_insert(value);
        }
        self.proven(&redeemed.claims).await
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
