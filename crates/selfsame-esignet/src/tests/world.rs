//! A provider with the mock identity system behind eSignet's interface, and a user interface that calls it.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::FromRequestParts;
use http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, RETRY_AFTER, SET_COOKIE};
use http::request::Parts;
use http::{Method, Request};
use http_body_util::BodyExt as _;
use selfsame_audit::{Act, AuditedActor, Trail};
use selfsame_core::config::{OrganisationsConfig, ResolverConfig, SharedConfig, TrustConfig};
use selfsame_core::organisation::{Organisation, OrganisationName};
use selfsame_core::{Resources, Shared};
use selfsame_crypto::PrivateKey;
use selfsame_crypto::jws::Unsigned;
use selfsame_crypto::seal::SealingKey;
use selfsame_driver::CpuPool;
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::Keys;
use selfsame_http::error::{Face, write};
use selfsame_identity::blocks::BlockedPeople;
use selfsame_identity::links::Links;
use selfsame_identity::mock::{MockAlgorithm, MockConfig, MockIdentities, MockResources};
use selfsame_net::{Net, Settings};
use selfsame_oidc::{AcrTable, Preset};
use selfsame_sign_in::identity::IdentitySystem;
use selfsame_sign_in::{CALLS_EACH, SignInParts, SignInService};
use selfsame_store::{Memory, Store, Vault};
use serde_json::{Value, json};
use tower::ServiceExt as _;
use url::Url;

use crate::{
    ClientManager, EsignetDoor, EsignetHere, EsignetSettings, MockDoor, details_hash, envelope,
    is_managing, routes,
};

/// The redirect URI of the plan.
pub(crate) const REDIRECT: &str = "https://healthservices.example/userprofile";
pub(crate) const BASE_URL: &str = "https://host.example/v1/esignet/";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// Which rules clients have.
#[derive(Clone, Copy)]
pub(crate) enum Setting {
    Strict,
    Legacy,
    /// Strict, for callers who are not the operator.
    Stranger,
}

pub(crate) struct World {
    pub router: Router,
    pub clock: Clock,
    /// The key of all clients.
    pub key: Arc<PrivateKey>,
}

/// A client that is registered.
pub(crate) struct Registered {
    pub id: String,
    key: Arc<PrivateKey>,
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answered {
    pub status: u16,
    pub text: String,
    cookie: Option<String>,
    /// The seconds to wait.
    pub wait: Option<u64>,
}

#[derive(Clone)]
struct State {
    provider: EsignetDoor,
    may_manage: bool,
    trail: Trail,
    mock: MockDoor,
}

impl FromRequestParts<State> for MockDoor {
    type Rejection = Infallible;

    async fn from_request_parts(_: &mut Parts, state: &State) -> Result<Self, Infallible> {
        Ok(state.mock.clone())
    }
}

impl FromRequestParts<State> for EsignetHere {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, Infallible> {
        let act = Act {
            organisation: OrganisationName::main(),
            actor: AuditedActor::unknown(),
            act: "act".to_owned(),
            object: None,
            detail: None,
            from: None,
        };
        Ok(Self {
            door: state.provider.clone(),
            from: Some([192, 0, 2, 1].into()),
            manager: is_managing(parts).then(|| ClientManager {
                may: state.may_manage,
                is_known: false,
                act,
                trail: state.trail.clone(),
            }),
        })
    }
}

impl World {
    pub(crate) async fn legacy() -> Self {
        Self::of(Setting::Legacy).await
    }

    pub(crate) async fn of(setting: Setting) -> Self {
        Self::with(setting, |mock| Arc::new(mock)).await
    }

    /// A provider whose identity system is made of the mock one.
    pub(crate) async fn with(
        setting: Setting,
        system: impl FnOnce(MockIdentities) -> Arc<dyn IdentitySystem>,
    ) -> Self {
        let clock = Clock::default();
        let may_manage = !matches!(setting, Setting::Stranger);
        let shared = shared(&clock).await;
        let mock = mock(&shared);
        let preset = match setting {
            Setting::Strict | Setting::Stranger => Preset::Strict,
            Setting::Legacy => Preset::LegacyEsignet,
        };
        let service = Arc::new(SignInService::new(SignInParts {
            gate: None,
            shared: shared.clone(),
            system: system(mock.clone()),
            wallet_settings: None,
            preset,
            acr: AcrTable::default().with_mosip(),
            locales: vec!["en"],
            calls_each: CALLS_EACH,
            keys_in_hsm: false,
            credentials: Default::default(),
        }));
        let organisation = Organisation::main(&"https://host.example/".parse().unwrap()).unwrap();
        let base: Url = BASE_URL.parse().unwrap();
        let provider = EsignetDoor {
            sign_ins: service.of(&organisation).unwrap(),
            blocked: Arc::new(BlockedPeople::new(shared.store.clone(), clock.clone())),
            links: Arc::new(Links::new(shared.store.clone(), clock.clone())),
            mock: Some(mock.clone()),
            clock: clock.clone(),
            settings: Arc::new(EsignetSettings::new(base, preset)),
        };
        let state = State {
            provider,
            may_manage,
            trail: Trail::new(shared.store.clone(), clock.clone()),
            mock: MockDoor {
                mock: mock.clone(),
                clock: clock.clone(),
            },
        };
        Self {
            router: routed(state),
            clock,
            key: Arc::new(PrivateKey::generate_rsa().unwrap()),
        }
    }

    pub(crate) async fn call(&self, request: Request<Body>) -> Answered {
        let response = self.router.clone().oneshot(request).await.unwrap();
        // The server gives each list of routes the format of its errors.
        let response = write(Face::Protocol, response);
        let cookie = response.headers().get(SET_COOKIE);
        let cookie = cookie.map(|cookie| cookie.to_str().unwrap().to_owned());
        let wait = response.headers().get(RETRY_AFTER);
        let wait = wait.map(|wait| wait.to_str().unwrap().parse().unwrap());
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        Answered {
            status,
            text: String::from_utf8(body.to_vec()).unwrap(),
            cookie,
            wait,
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answered {
        let request = Request::get(format!("/v1/esignet/{path}"));
        self.call(request.body(Body::empty()).unwrap()).await
    }

    /// A person as the plan creates them.
    pub(crate) async fn person(&self, id: &str, name: &str) {
        let body = format!(
            "{{\n    \"requestTime\": \"{}\",\n    \"request\":  {{\"individualId\":\"{id}\",\"pin\":\"111111\",\"fullName\":[{{\"language\":\"fra\",\"value\":\"{name}\"}},{{\"language\":\"ara\",\"value\":\"تتگل\"}},{{\"language\":\"eng\",\"value\":\"{name}\"}}],\"encodedPhoto\":\"data:image/jpeg;base64,/9j/4AAQ\",\"individualBiometrics\":{{\"format\":\"cbeff\",\"version\":1.0,\"value\":\"individualBiometrics_bio_CBEFF\"}},\"email\":\"maja@example.org\",\"phone\":\"0123456789\"}}\n}}",
            envelope::time(self.clock.now())
        );
        let request = json_request("/v1/mock-identity-system/identity");
        let made = self.call(request.body(Body::from(body)).unwrap()).await;
        assert!(
            made.has("mock identity data created successfully"),
            "{made:?}"
        );
    }

    /// Registers a client as the plan does, changed by the test.
    pub(crate) async fn register(&self, change: impl FnOnce(&mut Value)) -> Answered {
        let mut client = json!({
            "clientId": "client-1",
            "clientName": "clienta2",
            "publicKey": self.key.public().to_jwk().to_value(),
            "relyingPartyId": "mock-relying-party-id",
            "userClaims": ["name", "email", "gender", "phone_number", "picture", "birthdate"],
            "authContextRefs": [
                "mosip:idp:acr:generated-code", "mosip:idp:acr:password", "mosip:idp:acr:linked-wallet"
            ],
            "logoUri": "https://healthservices.example/logo.png",
            "redirectUris": [
                REDIRECT, "io.mosip.residentapp://oauth", "http://loclahost:3000/**",
                "http://loclahost:5000/registration/*"
            ],
            "grantTypes": ["authorization_code"],
            "clientAuthMethods": ["private_key_jwt"]
        });
        change(&mut client);
        let request = json_request("/v1/esignet/client-mgmt/oidc-client");
        let body = self.enveloped(client);
        self.call(request.body(Body::from(body)).unwrap()).await
    }

    pub(crate) async fn change(&self, client: &Registered, change: Value) -> Answered {
        let path = format!("/v1/esignet/client-mgmt/oidc-client/{}", client.id);
        let request = json_request(&path).method(Method::PUT);
        let body = self.enveloped(change);
        self.call(request.body(Body::from(body)).unwrap()).await
    }

    pub(crate) async fn client(&self) -> Registered {
        let made = self.register(|_| {}).await;
        assert!(made.has("\"status\":\"ACTIVE\""), "{made:?}");
        self.registered().await
    }

    pub(crate) async fn registered(&self) -> Registered {
        Registered {
            id: "client-1".to_owned(),
            key: self.key.clone(),
        }
    }

    fn enveloped(&self, request: Value) -> String {
        let time = envelope::time(self.clock.now());
        json!({"requestTime": time, "request": request}).to_string()
    }
}

/// The user interface: it knows a transaction, and the hash of its details.
pub(crate) struct UserInterface<'a> {
    world: &'a World,
    pub cookie: String,
    token: String,
    pub transaction: String,
    pub hash: String,
    code: String,
    /// What makes an assertion count once.
    pub jti: Option<String>,
}

impl<'a> UserInterface<'a> {
    pub(crate) fn new(world: &'a World) -> Self {
        Self {
            world,
            cookie: String::new(),
            token: String::new(),
            transaction: String::new(),
            hash: String::new(),
            code: String::new(),
            jti: None,
        }
    }

    /// T01 and T02.
    pub(crate) async fn begin(&mut self, client: &Registered) -> Answered {
        self.begin_with(client, None).await
    }

    pub(crate) async fn begin_with(
        &mut self,
        client: &Registered,
        change: Option<(&str, Value)>,
    ) -> Answered {
        let token = self.world.get("csrf/token").await;
        assert!(token.has("\"token\":"));
        self.token = token.found("\"token\":\"", "\"");
        self.cookie = format!("XSRF-TOKEN={}", self.token);
        let set = token.cookie.unwrap();
        assert!(
            set.starts_with(&self.cookie) && set.contains("Path=/v1/esignet/"),
            "{set}"
        );
        let mut request = json!({
            "clientId": client.id,
            "scope": "openid profile Manage-Identity-Data Manage-VID Manage-Authentication Manage-Service-Requests Manage-Credentials",
            "responseType": "code",
            "redirectUri": REDIRECT,
            "display": "popup",
            "prompt": "login",
            "acrValues": "mosip:idp:acr:generated-code",
            "nonce": "973eieljzng",
            "state": "eree2311",
            "claimsLocales": "en",
            "codeChallenge": CHALLENGE,
            "codeChallengeMethod": "S256"
        });
        if let Some((name, value)) = change {
            request[name] = value;
        }
        let begun = self
            .post(
                "authorization/v2/oauth-details",
                &self.world.enveloped(request),
            )
            .await;
        if begun.has("\"errors\":[]") {
            self.transaction = begun.found("\"transactionId\":\"", "\"");
            self.hash = details_hash::of(&begun.found("\"response\":", ",\"errors\":"));
        }
        begun
    }

    /// T03.
    pub(crate) async fn send_otp(&self, person: &str) -> Answered {
        self.send_otp_by(person, "[\"PHONE\"]").await
    }

    pub(crate) async fn send_otp_by(&self, person: &str, channels: &str) -> Answered {
        let body = format!(
            "{{\n  \"requestTime\": \"{}\",\n  \"request\": {{\n    \"transactionId\": \"{}\",\n    \"individualId\": \"{person}\",\n   \"otpChannels\": {channels},\n    \"captchaToken\" : \"\"\n    \n  }}\n}} \n",
            envelope::time(self.world.clock.now()),
            self.transaction
        );
        self.post("authorization/send-otp", &body).await
    }

    /// T04.
    pub(crate) async fn authenticate(&self, person: &str, otp: &str) -> Answered {
        let request = json!({
            "transactionId": self.transaction,
            "individualId": person,
            "challengeList": [
                {"authFactorType": "OTP", "challenge": otp, "format": "alpha-numeric"}
            ]
        });
        self.post(
            "authorization/v3/authenticate",
            &self.world.enveloped(request),
        )
        .await
    }

    /// T05.
    pub(crate) async fn auth_code(&mut self, claims: &[&str]) -> Answered {
        let request = json!({
            "transactionId": self.transaction,
            "permittedAuthorizeScopes": [],
            "acceptedClaims": claims
        });
        let coded = self
            .post("authorization/auth-code", &self.world.enveloped(request))
            .await;
        if coded.has("\"errors\":[]") {
            self.code = coded.found("\"code\":\"", "\"");
        }
        coded
    }

    pub(crate) async fn post(&self, path: &str, body: &str) -> Answered {
        let request = json_request(&format!("/v1/esignet/{path}"))
            .header(COOKIE, &self.cookie)
            .header("X-XSRF-TOKEN", &self.token)
            .header("oauth-details-key", &self.transaction)
            .header("oauth-details-hash", &self.hash);
        self.world
            .call(request.body(Body::from(body.to_owned())).unwrap())
            .await
    }

    /// T06.
    pub(crate) async fn token(&self, client: &Registered) -> Answered {
        let now = self.world.clock.now().0;
        let mut claims = json!({
            "iss": client.id, "sub": client.id, "aud": format!("{BASE_URL}oauth/v2/token"),
            "iat": now, "exp": now + 60
        });
        if let Some(jti) = &self.jti {
            claims["jti"] = json!(jti);
        }
        let unsigned = Unsigned::new(&json!({"alg": "RS256"}), &claims);
        let signature = client.key.sign(unsigned.signing_input()).unwrap();
        let form = selfsame_oauth::form::encode(&[
            ("grant_type", "authorization_code"),
            ("code", &self.code),
            ("client_id", &client.id),
            (
                "client_assertion_type",
                "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
            ),
            ("client_assertion", &unsigned.finish(&signature)),
            ("redirect_uri", REDIRECT),
            ("code_verifier", VERIFIER),
        ]);
        let request = Request::post("/v1/esignet/oauth/v2/token")
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(Body::from(form));
        self.world.call(request.unwrap()).await
    }

    /// T07.
    pub(crate) async fn userinfo(&self, token: &str) -> Answered {
        let request = Request::get("/v1/esignet/oidc/userinfo")
            .header(AUTHORIZATION, format!("Bearer {token}"))
            .body(Body::empty());
        self.world.call(request.unwrap()).await
    }

    pub(crate) fn enveloped(&self, request: Value) -> String {
        self.world.enveloped(request)
    }
}

impl Answered {
    pub(crate) fn has(&self, text: &str) -> bool {
        self.text.contains(text)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    /// What the plan's expressions find.
    pub(crate) fn found(&self, before: &str, after: &str) -> String {
        between(&self.text, before, after)
            .unwrap_or_default()
            .to_owned()
    }

    pub(crate) fn code(&self) -> String {
        let code = self.json()["errors"][0]["errorCode"].clone();
        code.as_str().unwrap_or_default().to_owned()
    }
}

/// The first text between two others.
pub(crate) fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(after).map(|(found, _)| found)
}

fn json_request(path: &str) -> http::request::Builder {
    Request::post(path).header(CONTENT_TYPE, "application/json")
}

fn routed(state: State) -> Router {
    let mut router = Router::new();
    let lists = [
        routes::interface::<State>(),
        routes::documents::<State>(),
        routes::mock_identity_system::<State>(),
    ];
    for route in lists.into_iter().flatten() {
        router = router.route(&route.path, route.handler);
    }
    router.with_state(state)
}

async fn shared(clock: &Clock) -> Arc<Shared> {
    let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
    let now = clock.clone();
    let store = Store::open_with_clock(Arc::new(Memory::new()), vault, Arc::new(move || now.now()));
    let store = store.await.unwrap();
    let settings = Settings {
        native_roots: false,
        ..Settings::default()
    };
    let config = SharedConfig {
        origin: "https://host.example/".parse().unwrap(),
        trust: TrustConfig::default(),
        resolver: ResolverConfig::default(),
        organisations: OrganisationsConfig::default(),
    };
    let resources = Resources {
        keys: Keys::new(store.clone()),
        store,
        net: Net::new(settings).unwrap(),
        clock: clock.clone(),
        registry: None,
    };
    Arc::new(Shared::new(config, resources).unwrap())
}

fn mock(shared: &Arc<Shared>) -> MockIdentities {
    let config = MockConfig {
        issuer: "https://host.example/v1/esignet".to_owned(),
        delay: Duration::ZERO,
        algorithm: MockAlgorithm::Rs256,
        codes_on_screen: false,
    };
    let resources = MockResources {
        store: shared.store.clone(),
        keys: shared.keys.clone(),
        clock: shared.clock.clone(),
        work: CpuPool::new("test").unwrap(),
    };
    MockIdentities::new(config, resources).unwrap()
}
