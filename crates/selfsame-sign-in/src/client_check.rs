//! Which client calls: its credentials are checked against its registration.

use std::sync::Arc;

use selfsame_attester::PresentedClient;
use selfsame_core::gather::Freshness;
use selfsame_credential::evidence::{Need, Step};
use selfsame_crypto::Algorithm;
use selfsame_driver::Result;
use selfsame_oauth::client::{
    AssertionRules, AuthenticationMethod, ClientAssertion, ClientCredentials, ClientProof,
};
use selfsame_oauth::jwt::JwtTime;
use selfsame_oauth::jwt::VerificationKeys;
use selfsame_oauth::spent::SpentId;
use selfsame_oauth::{Code, Form};
use selfsame_oidc::ProviderRules;
use selfsame_oidc::relying_party::PartyKeys;
use url::Url;

use crate::clients::FoundClient;
use crate::dpop_check::CalledEndpoint;
use crate::refusal::{refusal, refuse};
use crate::service::SignIns;
use crate::spent::SpentIds;

/// A client that authenticated, and the identifiers that count once.
pub(crate) struct CallingClient {
    pub client: Arc<FoundClient>,
    pub spent: SpentIds,
    /// The thumbprint of its instance's key, if it is attested.
    pub instance: Option<String>,
}

impl SignIns {
    /// The client that calls an endpoint where wallets authenticate: by its attestation if it sends one, else by what its
    /// form and its header `Authorization` say.
    ///
    /// # Errors
    /// `invalid_request` for more than one method (RFC 6749 §2.3); those of the methods.
    pub(crate) async fn caller(
        &self,
        called: &CalledEndpoint<'_>,
        form: &mut Form,
    ) -> Result<CallingClient> {
        // Where attestations do not count, they are what any unknown header is.
        let gate = self
            .service
            .parts
            .gate
            .as_ref()
            .filter(|gate| gate.is_open());
        let (Some(headers), Some(gate)) = (&called.attestation, gate) else {
            let taken = ClientCredentials::take(form, called.basic);
            return self.calling(taken.map_err(refusal)?, called.url).await;
        };
        if called.basic.is_some() || form.has("client_secret") || form.has("client_assertion") {
            let reason = "the client authenticates in more than one way";
            return Err(refuse(Code::InvalidRequest, reason));
        }
        let named = form.take("client_id");
        let presented = PresentedClient {
            headers: called.attestation,
            client_id: named.as_deref(),
            server: self.place.issuer(),
        };
        let now = self.shared().clock.now();
        let judged = gate.attested(headers, &presented, now);
        let attested = judged.map_err(refusal)?;
        let found = self.clients().active(&attested.client_id).await?;
        // A client may choose a stronger method than it registered, and no other.
        let (attested_too, nothing) = (
            AuthenticationMethod::AttestJwtClientAuth,
            AuthenticationMethod::None,
        );
        let client = found.filter(|one| [attested_too, nothing].contains(&one.party.method));
        Ok(CallingClient {
            client: client.ok_or_else(unknown)?,
            spent: SpentIds::of_tokens(vec![attested.spent]),
            instance: Some(attested.instance),
        })
    }

    /// The client that calls an endpoint.
    ///
    /// # Errors
    /// `invalid_client`, with one sentence for an unknown client and a wrong secret.
    pub(crate) async fn calling(
        &self,
        credentials: ClientCredentials,
        endpoint: &Url,
    ) -> Result<CallingClient> {
        let found = self.clients().active(&credentials.client_id).await?;
        let client = found.ok_or_else(unknown)?;
        // A client may not choose a weaker method than it registered.
        if credentials.proof.method() != client.party.method {
            return Err(unknown());
        }
        let spent = match &credentials.proof {
            ClientProof::None => Vec::new(),
            ClientProof::Secret { secret, .. } => match client.has_secret(secret) {
                true => Vec::new(),
                false => return Err(unknown()),
            },
            ClientProof::Assertion(assertion) => {
                self.asserted(&client, assertion, endpoint).await?
            }
        };
        Ok(CallingClient {
            client,
            spent: SpentIds::of_tokens(spent),
            instance: None,
        })
    }

    /// As [`Self::calling`], for endpoints where a client without a secret has nothing to ask.
    pub(crate) async fn calling_with_secret(
        &self,
        credentials: ClientCredentials,
        endpoint: &Url,
    ) -> Result<CallingClient> {
        match credentials.proof.method() {
            AuthenticationMethod::None => Err(unknown()),
            _ => self.calling(credentials, endpoint).await,
        }
    }

    async fn asserted(
        &self,
        client: &FoundClient,
        assertion: &ClientAssertion,
        endpoint: &Url,
    ) -> Result<Vec<SpentId>> {
        let rules = &client.rules;
        let token_endpoint = self.place.endpoint("token")?;
        let all = [
            self.place.issuer(),
            token_endpoint.as_str(),
            endpoint.as_str(),
        ];
        let audiences = match rules.issuer_is_audience {
            true => &all[..1],
            false => &all[..],
        };
        let demanded = AssertionRules {
            audiences,
            single_audience: rules.issuer_is_audience,
            algorithms: rules.algorithms,
            time: self.time(rules),
            needs_jti: rules.needs_jti,
        };
        let verify = |keys: &VerificationKeys| assertion.verify(keys, &demanded);
        let spent = self.with_keys(&client.party.keys, verify).await?;
        Ok(spent.into_iter().collect())
    }

    /// The time at which a client's tokens are judged.
    pub(crate) fn time(&self, rules: &ProviderRules) -> JwtTime {
        JwtTime {
            now: self.shared().clock.now(),
            leeway: rules.leeway,
            longest: rules.lifetimes.assertion,
        }
    }

    /// Verifies something with a client's keys. Keys at an address are fetched again once if they do not fit, because the
    /// client may have new ones.
    pub(crate) async fn with_keys<T: Send>(
        &self,
        keys: &PartyKeys,
        verify: impl Fn(&VerificationKeys) -> std::result::Result<T, selfsame_oauth::Error>
        + Send
        + Sync,
    ) -> Result<T> {
        let uri = match keys {
            PartyKeys::None => return verify(&VerificationKeys::default()).map_err(refusal),
            PartyKeys::Registered(keys) => return verify(keys).map_err(refusal),
            PartyKeys::At(uri) => uri.as_str(),
        };
        let mut is_fetched_again = false;
        let fresh = Freshness { max_status_age: 0 };
        let run = self.shared().run(&self.place.tenant, fresh, |evidence| {
            let need = || Ok(Step::Needs(vec![Need::JwkSet(uri.to_owned())]));
            let Some(fetched) = evidence.jwk_set(uri) else {
                return need();
            };
            let bytes = fetched.value.as_ref();
            let keys = bytes
                .ok()
                .and_then(|bytes| VerificationKeys::parse(bytes).ok());
            let Some(keys) = keys else {
                return Err(refuse(
                    Code::InvalidClient,
                    "the client's keys can't be had",
                ));
            };
            match verify(&keys) {
                Err(_) if !is_fetched_again => {
                    is_fetched_again = true;
                    need()
                }
                verified => verified.map(Step::Done).map_err(refusal),
            }
        });
        run.await
    }

    /// The algorithms of a client's request objects.
    pub(crate) fn object_algorithms(client: &FoundClient) -> Vec<Algorithm> {
        match client.party.request_object_alg {
            Some(only) => vec![only],
            None => client.rules.algorithms.to_vec(),
        }
    }
}

fn unknown() -> selfsame_driver::Error {
    refuse(
        Code::InvalidClient,
        "the client is unknown, or its authentication is wrong",
    )
}
