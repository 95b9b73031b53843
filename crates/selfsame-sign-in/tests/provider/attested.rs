//! Wallets that authenticate by attestations (attestation-based client authentication, draft -07).

use std::sync::Arc;

use selfsame_attester::{AttestationConfig, AttestationHeaders, Attester, WalletGate};
use selfsame_core::Shared;
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_driver::Result;
use selfsame_oauth::form;
use selfsame_oidc::token::GrantedTokens;
use selfsame_oidc::{ClientRegistration, Preset};
use selfsame_sign_in::clients::WantedClient;
use selfsame_sign_in::{CalledEndpoint, CredentialScopes, PushedAnswer, SignIns};
use serde_json::{Value, json};

use crate::credentials::credentials;
use crate::world::{OnePerson, URI, World, code, provider_for, provider_with, shared};

const CLIENT: &str = "selfsame-wallet";

/// A provider that trusts the attester of its instance, with a client that is attested.
pub struct Attesting {
    pub world: World,
    attester: Attester,
    instance: PrivateKey,
    attestation: String,
}

pub async fn gate(shared: &Arc<Shared>, wallets: &str) -> Arc<WalletGate> {
    let config: AttestationConfig = serde_json::from_value(json!({ "wallets": wallets })).unwrap();
    let own = attester(shared);
    Arc::new(WalletGate::open(&own, &config, Vec::new()).await.unwrap())
}

fn attester(shared: &Shared) -> Attester {
    let (store, keys) = (shared.store.clone(), shared.keys.clone());
    Attester::new(store, keys, shared.clock.clone(), &shared.config.origin)
}

async fn register(provider: &SignIns, client_id: &str, method: &str) {
    let registration: ClientRegistration = serde_json::from_value(json!({
        "redirect_uris": [URI], "token_endpoint_auth_method": method,
        "grant_types": ["authorization_code", "refresh_token"],
        "id_token_signed_response_alg": "ES256"
    }))
    .unwrap();
    let wanted = WantedClient {
        client_id: Some(client_id.to_owned()),
        registration,
        preset: Preset::Strict,
        reads_tokens: false,
        fetches_logo: false,
    };
    provider.register(wanted).await.unwrap();
}

impl Attesting {
    async fn new() -> Self {
        Self::of(credentials()).await
    }

    /// With a provider whose tokens get these credentials.
    pub async fn of(credentials: CredentialScopes) -> Self {
        let mut world = World::new(json!({})).await;
        let shared = world.shared.clone();
        let gate = gate(&shared, "allowed").await;
        let system = OnePerson {
            keeps: true,
            ..OnePerson::default()
        };
        let of = (system, Preset::Strict);
        world.provider = provider_for(&shared, of, Some(gate), credentials);
        register(&world.provider, CLIENT, "attest_jwt_client_auth").await;
        world.client_id = CLIENT.to_owned();
        world.secret = None;
        let attester = attester(&shared);
        let instance = PrivateKey::generate(KeyType::P256).unwrap();
        let attestation = attester.attest_client(CLIENT, instance.public()).await;
        Self {
            attestation: attestation.unwrap(),
            world,
            attester,
            instance,
        }
    }

    /// A proof of possession, with these claims changed.
    pub fn pop(&self, change: &Value) -> String {
        let shared = &self.world.shared;
        let challenge = self.world.provider.challenge().unwrap();
        let mut claims = json!({
            "iss": CLIENT, "aud": self.world.provider.place().issuer(),
            "iat": shared.clock.now().0, "jti": shared.clock.ctx().token("jti"),
            "challenge": challenge.attestation_challenge
        });
        let change = change.as_object().unwrap().clone();
        claims.as_object_mut().unwrap().extend(change);
        let header = json!({"typ": "oauth-client-attestation-pop+jwt", "alg": "ES256"});
        let draft = selfsame_crypto::jws::Unsigned::new(&header, &claims);
        let signature = self.instance.sign(draft.signing_input()).unwrap();
        draft.finish(&signature)
    }

    async fn push(&self, pop: &str, further: &[(&str, &str)]) -> Result<PushedAnswer> {
        self.push_with(Some(pop), further, None).await
    }

    /// Pushes a request with this attestation and this proof of possession (DPoP).
    pub async fn push_with(
        &self,
        pop: Option<&str>,
        further: &[(&str, &str)],
        proof: Option<&str>,
    ) -> Result<PushedAnswer> {
        let url = self.world.provider.place().endpoint("par").unwrap();
        let body = form::encode(&self.world.request(further));
        let called = CalledEndpoint {
            url: &url,
            method: "POST",
            basic: None,
            proof,
            attestation: pop.map(|pop| AttestationHeaders {
                attestation: &self.attestation,
                pop,
            }),
            body: body.as_bytes(),
        };
        self.world.provider.push(&called).await
    }

    async fn token(&self, pop: Option<&str>, parameters: &[(&str, &str)]) -> Result<GrantedTokens> {
        self.token_with(pop, parameters, None).await
    }

    pub async fn token_with(
        &self,
        pop: Option<&str>,
        parameters: &[(&str, &str)],
        proof: Option<&str>,
    ) -> Result<GrantedTokens> {
        let url = self.world.provider.place().endpoint("token").unwrap();
        let body = form::encode(parameters);
        let attestation = pop.map(|pop| AttestationHeaders {
            attestation: &self.attestation,
            pop,
        });
        let called = CalledEndpoint {
            url: &url,
            method: "POST",
            basic: None,
            proof,
            attestation,
            body: body.as_bytes(),
        };
        self.world.provider.token(&called).await
    }

    /// Tokens with a refresh token, for a code that was given after the sign-in.
    async fn tokens(&mut self) -> GrantedTokens {
        let given = self.world.code(&[("scope", "openid offline_access")]).await;
        let redemption = self.world.redemption(&given);
        let parameters: Vec<(&str, &str)> = redemption
            .iter()
            .filter(|(name, _)| !name.starts_with("client_"))
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let pop = self.pop(&json!({}));
        self.token(Some(&pop), &parameters).await.unwrap()
    }
}

#[tokio::test]
async fn an_attested_wallet_pushes_requests_and_redeems_codes() {
    let mut attesting = Attesting::new().await;
    let pop = attesting.pop(&json!({}));
    let pushed = attesting.push(&pop, &[]).await.unwrap();
    assert!(
        pushed
            .request_uri
            .starts_with("urn:ietf:params:oauth:request_uri:")
    );
    let tokens = attesting.tokens().await;
    assert!(tokens.refresh_token.is_some());
}

#[tokio::test]
async fn a_wallet_without_its_attestation_is_refused() {
    let attesting = Attesting::new().await;
    let url = attesting.world.provider.place().endpoint("par").unwrap();
    let body = form::encode(&attesting.world.request(&[]));
    let called = CalledEndpoint {
        url: &url,
        method: "POST",
        basic: None,
        proof: None,
        attestation: None,
        body: body.as_bytes(),
    };
    let refused = attesting.world.provider.push(&called).await;
    assert_eq!(code(refused), Some("invalid_client"));
    let parameters = [
        ("grant_type", "authorization_code"),
        ("code", "x"),
        ("client_id", CLIENT),
    ];
    let refused = attesting.token(None, &parameters).await;
    assert_eq!(code(refused), Some("invalid_client"));
}

#[tokio::test]
async fn a_proof_of_possession_counts_once_and_for_this_server() {
    let attesting = Attesting::new().await;
    let pop = attesting.pop(&json!({}));
    attesting.push(&pop, &[]).await.unwrap();
    assert_eq!(
        code(attesting.push(&pop, &[]).await),
        Some("invalid_client")
    );
    for (change, expected) in [
        (json!({"challenge": "another"}), "use_attestation_challenge"),
        (json!({"challenge": null}), "use_attestation_challenge"),
        (
            json!({"aud": "https://other.example"}),
            "invalid_client_attestation",
        ),
        (json!({"iss": "other"}), "invalid_client_attestation"),
        (json!({"iat": 1}), "invalid_client_attestation"),
    ] {
        let refused = attesting.push(&attesting.pop(&change), &[]).await;
        assert_eq!(code(refused), Some(expected), "{change}");
    }
}

#[tokio::test]
async fn an_attestation_is_for_the_client_that_is_named_and_no_other_method_stands_beside_it() {
    let attesting = Attesting::new().await;
    let pop = attesting.pop(&json!({}));
    let other = attesting.push(&pop, &[("client_id", "another")]).await;
    assert_eq!(code(other), Some("invalid_client_attestation"));
    let both = attesting.push(&pop, &[("client_secret", "s")]).await;
    assert_eq!(code(both), Some("invalid_request"));
}

#[tokio::test]
async fn a_client_that_registered_another_method_is_not_attested() {
    let mut attesting = Attesting::new().await;
    register(&attesting.world.provider, "secret", "client_secret_basic").await;
    let attester = &attesting.attester;
    let attestation = attester.attest_client("secret", attesting.instance.public());
    attesting.attestation = attestation.await.unwrap();
    attesting.world.client_id = "secret".to_owned();
    let pop = attesting.pop(&json!({"iss": "secret"}));
    assert_eq!(
        code(attesting.push(&pop, &[]).await),
        Some("invalid_client")
    );
}

#[tokio::test]
async fn a_refresh_token_is_bound_to_the_instance_that_got_it() {
    let mut attesting = Attesting::new().await;
    let tokens = attesting.tokens().await;
    let refresh = tokens.refresh_token.unwrap();
    let parameters = [
        ("grant_type", "refresh_token"),
        ("refresh_token", refresh.expose()),
    ];
    // Another instance of the same wallet.
    let other = PrivateKey::generate(KeyType::P256).unwrap();
    let own = std::mem::replace(&mut attesting.instance, other);
    let attester = &attesting.attester;
    let attestation = attester.attest_client(CLIENT, attesting.instance.public());
    let attestation = attestation.await.unwrap();
    let first = std::mem::replace(&mut attesting.attestation, attestation);
    let pop = attesting.pop(&json!({}));
    let refused = attesting.token(Some(&pop), &parameters).await;
    assert_eq!(code(refused), Some("invalid_grant"));
    (attesting.instance, attesting.attestation) = (own, first);
    let pop = attesting.pop(&json!({}));
    attesting.token(Some(&pop), &parameters).await.unwrap();
}

#[tokio::test]
async fn a_provider_says_that_it_takes_attestations_if_it_does() {
    let shared = shared(Vec::new()).await;
    let told = |gate: Option<Arc<WalletGate>>| {
        let provider = provider_with(&shared, OnePerson::default(), Preset::Strict, gate);
        let told = serde_json::to_value(provider.metadata().unwrap()).unwrap();
        let endpoint = told.get("challenge_endpoint");
        assert_eq!(provider.challenge().is_some(), endpoint.is_some());
        told
    };
    let open = told(Some(gate(&shared, "required").await));
    let methods = open["token_endpoint_auth_methods_supported"].to_string();
    assert!(methods.contains("attest_jwt_client_auth"), "{methods}");
    assert!(
        open["challenge_endpoint"]
            .as_str()
            .unwrap()
            .ends_with("/oidc/challenge")
    );
    for gate in [None, Some(gate(&shared, "off").await)] {
        let told = told(gate).to_string();
        assert!(!told.contains("attest"), "{told}");
    }
}
