//! A provider on records in memory, a system that knows one person, and a client that does what the specification says.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use selfsame_attester::WalletGate;
use selfsame_core::Resources;
use selfsame_core::Shared;
use selfsame_core::config::{OrganisationsConfig, ResolverConfig, SharedConfig, TrustConfig};
use selfsame_core::organisation::Organisation;
use selfsame_crypto::encoding::{base64_encode, base64url_encode};
use selfsame_crypto::hash::sha256;
use selfsame_crypto::jws::Unsigned;
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::{KeyType, PrivateKey, SecretString};
use selfsame_driver::Result;
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::Keys;
use selfsame_net::{Net, Settings};
use selfsame_oauth::jwt::{Jwt, VerificationKeys};
use selfsame_oauth::{Form, form};
use selfsame_oidc::token::GrantedTokens;
use selfsame_oidc::{AcrTable, ClientRegistration, FactorKind, Preset};
use selfsame_sign_in::access::{PresentedToken, Userinfo};
use selfsame_sign_in::clients::WantedClient;
use selfsame_sign_in::identity::{
    AskingClient, Challenge, ClaimsOrder, IdentityFault, IdentityFaultKind, IdentitySystem,
    OtpOrder, OtpSent, PersonClaims, ProvenPerson, SignInAttempt,
};
use selfsame_sign_in::view::{BegunSignIn, Landing, PersonsAgreement, SignInView};
use selfsame_sign_in::{
    ArrivingBrowser, AttemptLimits, CALLS_EACH, CalledEndpoint, CredentialScopes, SignInParts,
    SignInService, SignInVisitor, SignIns,
};
use selfsame_store::{Memory, Store, Vault};
use serde_json::{Map, Value, json};
use url::Origin;

use crate::credentials::credentials;

pub const URI: &str = "https://rp.example/cb";
pub const ISSUER: &str = "http://localhost:9/oidc";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// A system that knows Alice, by a PIN and a one-time password that never changes.
#[derive(Default)]
pub struct OnePerson {
    /// Tokens that were not yet exchanged.
    pub tokens: Mutex<HashSet<String>>,
    /// Whether tokens last.
    pub keeps: bool,
    /// Whether it signs claims itself.
    pub signs: bool,
}

#[async_trait]
impl IdentitySystem for OnePerson {
    fn name(&self) -> &str {
        "one person"
    }

    fn factors(&self) -> Vec<FactorKind> {
        vec![FactorKind::Otp, FactorKind::Password]
    }

    fn keeps_sessions(&self, _: &SecretString) -> bool {
        self.keeps
    }

    async fn send_otp(
        &self,
        _: &AskingClient,
        order: &OtpOrder,
    ) -> std::result::Result<OtpSent, IdentityFault> {
        match order.identifier.expose() {
            "alice" => Ok(OtpSent {
                masked_email: Some("a…@example.org".to_owned()),
                masked_phone: None,
            }),
            _ => Err(IdentityFault::new(IdentityFaultKind::UnknownPerson)),
        }
    }

    async fn authenticate(
        &self,
        asking: &AskingClient,
        attempt: &SignInAttempt,
    ) -> std::result::Result<ProvenPerson, IdentityFault> {
        let known = attempt.identifier.expose() == "alice";
        let right = attempt
            .challenges
            .iter()
            .all(|one| one.value.expose() == "111111");
        if !known || !right {
            return Err(IdentityFault::new(IdentityFaultKind::WrongChallenge));
        }
        let token = format!("token of {}", asking.transaction);
        self.tokens.lock().unwrap().insert(token.clone());
        Ok(ProvenPerson {
            handle: "alice-1".to_owned(),
            subject: None,
            token: token.into(),
            factors: attempt.challenges.iter().map(|one| one.factor).collect(),
        })
    }

    async fn exchange(
        &self,
        _: &AskingClient,
        order: &ClaimsOrder,
    ) -> std::result::Result<PersonClaims, IdentityFault> {
        let known = self.tokens.lock().unwrap().remove(order.token.expose());
        if !known && !self.keeps {
            return Err(IdentityFault::new(IdentityFaultKind::WrongChallenge));
        }
        let all = [
            ("name", "Alice"),
            ("email", "alice@example.org"),
            ("gender", "f"),
        ];
        let given = all
            .into_iter()
            .filter(|(name, _)| order.claims.iter().any(|one| one == name));
        let given = given.map(|(name, value)| (name.to_owned(), Value::from(value)));
        let given: Map<String, Value> = given.collect();
        Ok(match self.signs {
            true => PersonClaims::Signed(signed_by_system(given)),
            false => PersonClaims::Plain(given),
        })
    }
}

/// Claims as the system signs them itself.
fn signed_by_system(claims: Map<String, Value>) -> String {
    let key = PrivateKey::generate(KeyType::P256).unwrap();
    let mut all = json!({"iss": "system", "sub": "psut", "iat": 1});
    all.as_object_mut().unwrap().extend(claims);
    let draft = Unsigned::new(&json!({"alg": "ES256"}), &all);
    let signature = key.sign(draft.signing_input()).unwrap();
    draft.finish(&signature)
}

/// A provider and a client.
pub struct World {
    pub shared: Arc<Shared>,
    pub provider: SignIns,
    pub client_id: String,
    pub secret: Option<SecretString>,
    pub is_public: bool,
    pub key: PrivateKey,
    pub browser: ArrivingBrowser,
}

pub async fn provider(system: OnePerson, preset: Preset) -> (Arc<Shared>, SignIns) {
    let shared = shared(Vec::new()).await;
    let provider = provider_on(&shared, system, preset);
    (shared, provider)
}

/// An instance that may call these origins on this machine.
pub async fn shared(own_origins: Vec<Origin>) -> Arc<Shared> {
    let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
    let clock = Clock::default();
    let now = clock.clone();
    let now = Arc::new(move || now.now());
    let store = Store::open_with_clock(Arc::new(Memory::default()), vault, now);
    let store = store.await.unwrap();
    let settings = Settings {
        native_roots: false,
        own_origins,
        ..Settings::default()
    };
    let config = SharedConfig {
        origin: "http://localhost:9/".parse().unwrap(),
        trust: TrustConfig::default(),
        resolver: ResolverConfig::default(),
        organisations: OrganisationsConfig::default(),
    };
    let resources = Resources {
        keys: Keys::new(store.clone()),
        store,
        net: Net::new(settings).unwrap(),
        clock,
        registry: None,
    };
    Arc::new(Shared::new(config, resources).unwrap())
}

/// The provider of another process on the same records.
pub fn beside(shared: &Arc<Shared>) -> SignIns {
    provider_on(shared, OnePerson::default(), Preset::Strict)
}

fn provider_on(shared: &Arc<Shared>, system: OnePerson, preset: Preset) -> SignIns {
    provider_with(shared, system, preset, None)
}

/// A provider where wallets are attested, if there is a gate.
pub fn provider_with(
    shared: &Arc<Shared>,
    system: OnePerson,
    preset: Preset,
    gate: Option<Arc<WalletGate>>,
) -> SignIns {
    provider_for(shared, (system, preset), gate, credentials())
}

/// A provider whose tokens get these credentials.
pub fn provider_for(
    shared: &Arc<Shared>,
    (system, preset): (OnePerson, Preset),
    gate: Option<Arc<WalletGate>>,
    credentials: CredentialScopes,
) -> SignIns {
    let service = Arc::new(SignInService::new(SignInParts {
        shared: shared.clone(),
        system: Arc::new(system),
        wallet_settings: None,
        preset,
        acr: AcrTable::default(),
        locales: vec!["en"],
        calls_each: CALLS_EACH,
        keys_in_hsm: false,
        credentials,
        gate,
    }));
    let organisation = Organisation::main(&shared.config.origin).unwrap();
    service.of(&organisation).unwrap()
}

impl World {
    pub async fn new(members: Value) -> Self {
        Self::with(OnePerson::default(), Preset::Strict, members).await
    }

    pub async fn with(system: OnePerson, preset: Preset, members: Value) -> Self {
        let (shared, provider) = provider(system, preset).await;
        let key = PrivateKey::generate(KeyType::P256).unwrap();
        let mut all = json!({
            "redirect_uris": [URI],
            "client_name": "A relying party",
            "id_token_signed_response_alg": "ES256"
        });
        let members = members.as_object().unwrap().clone();
        all.as_object_mut().unwrap().extend(members);
        if all["token_endpoint_auth_method"] == "private_key_jwt" {
            all["jwks"] = json!({"keys": [key.public().to_jwk().to_value()]});
        }
        let is_public = all["token_endpoint_auth_method"] == "none";
        let registration: ClientRegistration = serde_json::from_value(all).unwrap();
        let made = provider
            .register(WantedClient {
                client_id: None,
                registration,
                preset,
                reads_tokens: false,
                fetches_logo: true,
            })
            .await
            .unwrap();
        Self {
            shared,
            provider,
            client_id: made.client_id,
            secret: made.client_secret,
            is_public,
            key,
            browser: ArrivingBrowser {
                secret: Some(SecretString::from("browser")),
                session: None,
            },
        }
    }

    /// The parameters of a request, with these changes; an empty value leaves one out.
    pub fn request(&self, change: &[(&str, &str)]) -> Vec<(String, String)> {
        let mut all = BTreeMap::from([
            ("client_id", self.client_id.as_str()),
            ("redirect_uri", URI),
            ("response_type", "code"),
            ("scope", "openid email"),
            ("state", "s"),
            ("nonce", "n"),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
        ]);
        all.extend(change.iter().copied());
        let all = all.into_iter().filter(|(_, value)| !value.is_empty());
        all.map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    pub async fn begin(&self, change: &[(&str, &str)]) -> Result<BegunSignIn> {
        let form = Form::of_parameters(self.request(change));
        self.provider.begin(form, &self.browser).await
    }

    pub async fn asking(&self, change: &[(&str, &str)]) -> SignInView {
        match self.begin(change).await.unwrap() {
            BegunSignIn::Asking(view) => *view,
            BegunSignIn::Landed(landing) => panic!("landed: {landing:?}"),
        }
    }

    pub async fn landed(&self, change: &[(&str, &str)]) -> Landing {
        match self.begin(change).await.unwrap() {
            BegunSignIn::Landed(landing) => *landing,
            BegunSignIn::Asking(view) => panic!("asking: {view:?}"),
        }
    }

    pub fn visitor(&self, sign_in: &str) -> SignInVisitor {
        SignInVisitor {
            sign_in: sign_in.to_owned(),
            browser: self.browser.secret.clone(),
            from: None,
            limits: AttemptLimits::default(),
        }
    }

    /// Alice signs in and agrees to everything.
    pub async fn code(&mut self, change: &[(&str, &str)]) -> SecretString {
        let view = self.asking(change).await;
        let visitor = self.visitor(&view.id);
        let signed_in = self
            .provider
            .authenticate(&visitor, alice("111111"))
            .await
            .unwrap();
        if signed_in.session.is_some() {
            self.browser.session = signed_in.session;
        }
        let landing = self
            .provider
            .agree(&visitor, &everything(&view))
            .await
            .unwrap();
        landing.code.unwrap()
    }

    /// What the client sends beside a grant to authenticate.
    pub fn credentials(&self, jti: &str) -> Vec<(String, String)> {
        let own = |name: &str, value: String| (name.to_owned(), value);
        if self.secret.is_some() {
            return Vec::new();
        }
        if self.is_public {
            return vec![own("client_id", self.client_id.clone())];
        }
        let claims = json!({
            "iss": self.client_id, "sub": self.client_id, "aud": ISSUER, "jti": jti,
            "exp": self.shared.clock.now().plus(60).0
        });
        vec![
            own("client_id", self.client_id.clone()),
            own(
                "client_assertion_type",
                selfsame_oauth::client::JWT_BEARER.to_owned(),
            ),
            own("client_assertion", self.signed(json!({}), claims)),
        ]
    }

    pub fn signed(&self, header: Value, claims: Value) -> String {
        let mut header = header;
        header["alg"] = json!("ES256");
        let draft = Unsigned::new(&header, &claims);
        let signature = self.key.sign(draft.signing_input()).unwrap();
        draft.finish(&signature)
    }

    pub fn basic(&self) -> Option<String> {
        let secret = self.secret.as_ref()?;
        let joined = format!("{}:{}", self.client_id, secret.expose());
        Some(base64_encode(joined.as_bytes()))
    }

    pub async fn token(
        &self,
        parameters: &[(String, String)],
        proof: Option<&str>,
    ) -> Result<GrantedTokens> {
        let url = self.provider.place().endpoint("token").unwrap();
        let body = form::encode(parameters);
        let basic = self.basic();
        let called = CalledEndpoint {
            url: &url,
            method: "POST",
            basic: basic.as_deref(),
            proof,
            attestation: None,
            body: body.as_bytes(),
        };
        self.provider.token(&called).await
    }

    pub fn redemption(&self, code: &SecretString) -> Vec<(String, String)> {
        let mut all = self.credentials(code.expose());
        let own = [
            ("grant_type", "authorization_code"),
            ("code", code.expose()),
            ("redirect_uri", URI),
            ("code_verifier", VERIFIER),
        ];
        all.extend(own.map(|(name, value)| (name.to_owned(), value.to_owned())));
        all
    }

    pub async fn redeem(&self, code: &SecretString) -> Result<GrantedTokens> {
        self.token(&self.redemption(code), None).await
    }

    pub async fn tokens(&mut self, change: &[(&str, &str)]) -> GrantedTokens {
        let code = self.code(change).await;
        self.redeem(&code).await.unwrap()
    }

    pub async fn userinfo(&self, token: &SecretString) -> Result<Map<String, Value>> {
        match self.userinfo_with(token, None).await? {
            Userinfo::Json(claims) => Ok(claims),
            Userinfo::Jwt(jwt) => panic!("a JWT: {jwt}"),
        }
    }

    pub async fn userinfo_with(
        &self,
        token: &SecretString,
        proof: Option<&str>,
    ) -> Result<Userinfo> {
        let url = self.provider.place().endpoint("userinfo").unwrap();
        let presented = PresentedToken {
            url: &url,
            method: "GET",
            is_dpop: proof.is_some(),
            token: token.expose(),
            proof,
        };
        self.provider.userinfo(&presented).await
    }

    pub async fn keys(&self) -> VerificationKeys {
        self.provider.keys().await.unwrap()
    }

    /// A DPoP proof by the client's key.
    pub fn proof(&self, of: &ProofOf<'_>) -> String {
        let header = json!({"typ": "dpop+jwt", "jwk": self.key.public().to_jwk().to_value()});
        let url = self.provider.place().endpoint(of.endpoint).unwrap();
        let mut claims = json!({
            "htm": of.method, "htu": url.as_str(), "jti": of.jti,
            "iat": self.shared.clock.now().0
        });
        if let Some(token) = of.token {
            claims["ath"] = json!(base64url_encode(&sha256(token.expose().as_bytes())));
        }
        if let Some(nonce) = of.nonce {
            claims["nonce"] = json!(nonce);
        }
        self.signed(header, claims)
    }
}

/// What a proof is for.
#[derive(Clone, Copy)]
pub struct ProofOf<'a> {
    pub endpoint: &'a str,
    pub method: &'a str,
    pub jti: &'a str,
    pub token: Option<&'a SecretString>,
    pub nonce: Option<&'a str>,
}

pub fn alice(otp: &str) -> SignInAttempt {
    SignInAttempt {
        identifier: SecretString::from("alice"),
        challenges: vec![Challenge {
            factor: FactorKind::Otp,
            format: None,
            value: SecretString::from(otp),
        }],
    }
}

pub fn everything(view: &SignInView) -> PersonsAgreement {
    PersonsAgreement {
        claims: view
            .essential
            .iter()
            .chain(&view.voluntary)
            .cloned()
            .collect(),
        scopes: view.scopes.clone(),
    }
}

pub fn jwt(token: &SecretString) -> Jwt {
    Jwt::parse(token.expose()).unwrap()
}

/// The specification's code of a refusal.
pub fn code<T>(result: Result<T>) -> Option<&'static str> {
    match result {
        Ok(_) => panic!("not refused"),
        Err(error) => error.code,
    }
}
