//! A wallet gets a credential by signing in at the provider of the issuer's organisation, with one-time passwords of the
//! mock identity system. The wallet's own calls go over a socket.

use std::collections::BTreeMap;

use http::StatusCode;
use http::header::SET_COOKIE;
use selfsame_app::config::Config;
use selfsame_attester::AttestationConfig;
use selfsame_identity::config::{People, SignInConfig};
use selfsame_openid::config::{IssuerConfig, WantedApproval};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use url::Url;

use super::instance::{Answered, Call, Instance, config_of, form, get, opened, post};
use crate::{ServerLimits, ServerSettings, serve};

const OFFER_GRANT: &str = "urn:ietf:params:oauth:grant-type:pre-authorized_code";

/// An instance that issues staff passes to people who sign in, and a person with a wallet there.
pub(super) struct Desk {
    pub instance: Instance,
    pub origin: Url,
    /// The person's token at their wallet.
    pub person: String,
}

impl Desk {
    pub async fn open() -> Self {
        Self::of_wallets("strict").await
    }

    /// An instance whose provider has this preset for its wallets.
    pub async fn of_wallets(preset: &str) -> Self {
        Self::of_clients(preset, "none", AttestationConfig::default()).await
    }

    /// An instance whose wallets authenticate by this method, and whose issuer has these demands.
    pub async fn of_clients(preset: &str, method: &str, attestation: AttestationConfig) -> Self {
        let issuer = IssuerConfig {
            attestation,
            ..IssuerConfig::default()
        };
        Self::with(preset, method, issuer).await
    }

    async fn with(preset: &str, method: &str, issuer: IssuerConfig) -> Self {
        let configured = |_: &Url, config| Config { issuer, ..config };
        Self::configured((preset, method), "127.0.0.1", configured).await
    }

    /// An instance at a host of this machine with settings for its origin.
    pub async fn configured(
        (preset, method): (&str, &str),
        host: &str,
        configure: impl FnOnce(&Url, Config) -> Config,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = format!("{host}:{}", listener.local_addr().unwrap().port());
        let origin: Url = format!("http://{host}/").parse().unwrap();
        let claims = [("name", "name"), ("mail", "email")];
        let claims = claims.map(|(path, source)| (path.to_owned(), source.to_owned()));
        let base = origin.as_str().trim_end_matches('/');
        let mut config = configure(&origin, config_of(base));
        // Most tests publish no permit.
        let types = ["staff", "permit"].map(|id| (id.to_owned(), BTreeMap::from(claims.clone())));
        config.issuer.by_sign_in = BTreeMap::from(types);
        let (app, token) = opened(config).await;
        let people = SignInConfig {
            people: People::Mock,
            ..SignInConfig::default()
        };
        app.know_people(&people).unwrap();
        let never = std::future::pending::<()>();
        let settings = ServerSettings::default();
        tokio::spawn(serve(listener, app.clone(), settings, never));
        let instance = Instance {
            host,
            ..Instance::of((app, token), ServerLimits::default(), false)
        };
        let mut desk = Self {
            instance,
            origin,
            person: String::new(),
        };
        desk.furnish(preset, method).await;
        desk
    }

    /// Publishes the type, registers the wallet as a client, and makes the person known.
    async fn furnish(&mut self, preset: &str, method: &str) {
        let staff = json!({"id": "staff", "title": {"en": "Staff pass"}, "claims": [
            {"path": ["name"], "kind": "text", "required": true},
            {"path": ["mail"], "kind": "text", "disclosed": "selectively"}]});
        self.operator("/api/types", &staff).await;
        self.operator("/api/types/staff/publish", &json!({})).await;
        let client = json!({"client_id": "selfsame-wallet", "client_name": "A wallet",
            "token_endpoint_auth_method": method, "preset": preset,
            "redirect_uris": [self.origin.join("wallet/received").unwrap()]});
        self.operator("/api/sign-in/clients", &client).await;
        let now = self.instance.app.clock().now().rfc3339();
        let maja = json!({"requestTime": now.replace('Z', ".000Z"), "request": {
            "individualId": "987654321", "pin": "111111", "email": "maja@example.org",
            "fullName": [{"language": "eng", "value": "Maja Lind"}], "phone": "942735793",
            "encodedPhoto": "data:image/jpeg;base64,AA", "individualBiometrics": ""}});
        let known = post("/v1/mock-identity-system/identity").json(&maja.to_string());
        self.call(known).await;
        let account = json!({"email": "maja@example.org", "password": "a long password"});
        let account = post("/api/wallet/register").json(&account.to_string());
        let made = read(&self.call(account).await);
        self.person = made["token"].as_str().unwrap().to_owned();
    }

    pub async fn call(&self, call: Call) -> Answered {
        let host = self.origin.authority();
        self.instance.call(call.host(host)).await
    }

    pub async fn operator(&self, path: &str, body: &Value) -> Value {
        let sent = post(path).bearer(&self.instance.token);
        read(&self.call(sent.json(&body.to_string())).await)
    }

    pub async fn wallet(&self, path: &str, body: &Value) -> Answered {
        let sent = post(path).bearer(&self.person);
        self.call(sent.json(&body.to_string())).await
    }

    pub async fn offer(&self) -> Value {
        let new = json!({"type": "staff", "by_sign_in": true, "label": "for Maja"});
        self.operator("/api/issuer/offers", &new).await
    }

    /// Where the person signs in for an offer.
    pub async fn begin(&self, offer: &Value) -> Url {
        let accept = json!({"offer": offer["uri"]});
        let begun = self.wallet("/api/wallet/offers/sign-in", &accept).await;
        let begun = read(&begun);
        begun["url"].as_str().unwrap().parse().unwrap()
    }

    /// The person signs in at an address and agrees; where that leads.
    pub async fn sign_in(&self, url: &Url) -> Url {
        let path = &url[url::Position::BeforePath..];
        let begun = self.call(get(path)).await;
        assert_eq!(begun.status, StatusCode::SEE_OTHER, "{}", begun.body);
        let place = begun.header("location").to_owned();
        let set = begun.headers.get(SET_COOKIE).unwrap().to_str().unwrap();
        let cookie = set.split(';').next().unwrap().to_owned();
        let step = async |name: &str, body: Value| {
            let sent = post(&format!("{place}/{name}")).cookie(&cookie);
            read(&self.call(sent.json(&body.to_string())).await)
        };
        step("otp", json!({"identifier": "987654321", "phone": true})).await;
        let challenge = json!({"factor": "otp", "value": "111111"});
        let attempt = json!({"identifier": "987654321", "challenges": [challenge]});
        let shown = step("authentication", attempt).await;
        assert_eq!(shown["scopes"], json!(["staff"]));
        assert_eq!(shown["essential"], json!(["email", "name"]));
        let agreement = json!({"claims": shown["essential"], "scopes": shown["scopes"]});
        let landing = step("agreement", agreement).await;
        let mut back: Url = landing["redirect_uri"].as_str().unwrap().parse().unwrap();
        let parameters = landing["parameters"].as_object().unwrap();
        let given = parameters.iter();
        let given = given.map(|(name, value)| (name, value.as_str().unwrap()));
        back.query_pairs_mut().extend_pairs(given);
        back
    }

    pub async fn come_back(&self, back: &Url) -> Answered {
        self.wallet("/api/wallet/offers/received", &json!({"response": back}))
            .await
    }
}

pub(super) fn read(answer: &Answered) -> Value {
    let status = answer.status;
    assert!(status.is_success(), "{status} {}", answer.body);
    serde_json::from_str(&answer.body).unwrap_or_default()
}

/// The offer object in a link.
pub(super) fn object(offer: &Value) -> Value {
    let link: Url = offer["uri"].as_str().unwrap().parse().unwrap();
    let (_, object) = link.query_pairs().next().unwrap();
    serde_json::from_str(&object).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wallet_gets_a_credential_of_the_person_who_signed_in() {
    let desk = Desk::open().await;
    let offer = desk.offer().await;
    let link = json!({"offer": offer["uri"]});
    let preview = desk.wallet("/api/wallet/offers/preview", &link).await;
    let provider = desk.origin.join("oidc").unwrap();
    assert_eq!(read(&preview)["sign_in"], provider.as_str());
    let url = desk.begin(&offer).await;
    assert!(url.query().unwrap().contains("request_uri="), "{url}");
    let back = desk.sign_in(&url).await;
    let cards = read(&desk.come_back(&back).await);
    let id = cards["items"][0]["id"].as_str().unwrap();
    let card = get(&format!("/api/wallet/credentials/{id}")).bearer(&desk.person);
    let card = read(&desk.call(card).await);
    let claims = card["claims"].as_array().unwrap();
    for value in ["Maja Lind", "maja@example.org"] {
        assert!(claims.iter().any(|claim| claim["value"] == value), "{card}");
    }
    // The operator sees which offer led to it.
    let token = &desk.instance.token;
    let issued = get("/api/issuer/credentials").bearer(token);
    let issued = read(&desk.call(issued).await);
    assert_eq!(issued["items"][0]["offer"], offer["id"]);
    assert_eq!(issued["items"][0]["label"], "for Maja");
    let offers = read(&desk.call(get("/api/issuer/offers").bearer(token)).await);
    assert_eq!(offers["items"][0]["state"], "taken");

    // A response counts once.
    let again = desk.come_back(&back).await;
    assert_eq!(again.status, StatusCode::NOT_FOUND, "{}", again.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_signed_in_waits_for_an_approval_too() {
    for preset in ["strict", "wallets"] {
        let issuer = IssuerConfig {
            approval: WantedApproval::ByDefault,
            ..IssuerConfig::default()
        };
        let desk = Desk::with(preset, "none", issuer).await;
        let offer = desk.offer().await;
        let back = desk.sign_in(&desk.begin(&offer).await).await;
        let waits = desk.come_back(&back).await;
        assert!(waits.body.contains("credential-prepared"), "{}", waits.body);
        let token = &desk.instance.token;
        let waiting = get("/api/issuer/approvals").bearer(token);
        let waiting = read(&desk.call(waiting).await);
        assert_eq!(waiting["items"][0]["offer"], offer["id"]);
        let id = waiting["items"][0]["id"].as_str().unwrap();
        let path = format!("/api/issuer/approvals/{id}");
        let seen = read(&desk.call(get(&path).bearer(token)).await);
        assert_eq!(seen["claims"]["name"], "Maja Lind");
        desk.operator(&format!("{path}/approve"), &json!({})).await;
        desk.instance.app.clock().advance(61);
        let cards = async || {
            let listed = get("/api/wallet/credentials").bearer(&desk.person);
            let listed = read(&desk.call(listed).await);
            listed["items"].as_array().unwrap().len()
        };
        for _ in 0..1_200 {
            if cards().await == 1 {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        assert_eq!(cards().await, 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offer_spares_the_approval_while_it_is_open_and_not_after() {
    for seconds in [0, 61] {
        let issuer = IssuerConfig {
            approval: WantedApproval::ByDefault,
            ..IssuerConfig::default()
        };
        let desk = Desk::with("strict", "none", issuer).await;
        let new =
            json!({"type": "staff", "by_sign_in": true, "needs_approval": false, "expires_in": 60});
        let offer = desk.operator("/api/issuer/offers", &new).await;
        let url = desk.begin(&offer).await;
        desk.instance.app.clock().advance(seconds);
        let answer = desk.come_back(&desk.sign_in(&url).await).await;
        match seconds {
            0 => assert!(read(&answer)["items"][0]["id"].is_string()),
            _ => assert!(
                answer.body.contains("credential-prepared"),
                "{}",
                answer.body
            ),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_response_of_another_server_ends_what_the_wallet_began() {
    let desk = Desk::open().await;
    let offer = desk.offer().await;
    let back = desk.sign_in(&desk.begin(&offer).await).await;
    let pairs = back.query_pairs().filter(|(name, _)| name != "iss");
    let pairs: Vec<_> = pairs
        .map(|(a, b)| (a.into_owned(), b.into_owned()))
        .collect();
    let mut foreign = back.clone();
    let mut query = foreign.query_pairs_mut();
    query.clear().extend_pairs(pairs);
    query.append_pair("iss", "https://evil.example");
    drop(query);
    let refused = desk.come_back(&foreign).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
    assert!(refused.body.contains("sign-in-response-foreign"));
    let late = desk.come_back(&back).await;
    assert_eq!(late.status, StatusCode::NOT_FOUND, "{}", late.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_response_is_of_no_use_to_another_wallet() {
    let desk = Desk::open().await;
    let offer = desk.offer().await;
    let back = desk.sign_in(&desk.begin(&offer).await).await;
    let account = json!({"email": "eve@example.org", "password": "a long password"});
    let account = post("/api/wallet/register").json(&account.to_string());
    let eve = read(&desk.call(account).await);
    let eve = post("/api/wallet/offers/received").bearer(eve["token"].as_str().unwrap());
    let refused = desk
        .call(eve.json(&json!({"response": back}).to_string()))
        .await;
    assert_eq!(refused.status, StatusCode::NOT_FOUND, "{}", refused.body);
    assert!(desk.come_back(&back).await.status.is_success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_declines_gets_nothing_and_is_told() {
    let desk = Desk::open().await;
    let offer = desk.offer().await;
    let url = desk.begin(&offer).await;
    let begun = desk.call(get(&url[url::Position::BeforePath..])).await;
    let place = begun.header("location").to_owned();
    let set = begun.headers.get(SET_COOKIE).unwrap().to_str().unwrap();
    let cookie = set.split(';').next().unwrap();
    let declined = post(&format!("{place}/refusal")).json("{}").cookie(cookie);
    let landing = read(&desk.call(declined).await);
    let parameters = landing["parameters"].as_object().unwrap();
    let pairs: Vec<(&str, &str)> = parameters
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str().unwrap()))
        .collect();
    let response = json!({"response": form(&pairs)});
    let told = desk.wallet("/api/wallet/offers/received", &response).await;
    assert_eq!(told.status, StatusCode::FORBIDDEN, "{}", told.body);
    assert!(told.body.contains("access_denied"), "{}", told.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offer_for_people_who_sign_in_redeems_nothing_by_itself() {
    let desk = Desk::open().await;
    let offer = desk.offer().await;
    let grants = &object(&offer)["grants"];
    let state = grants["authorization_code"]["issuer_state"].as_str();
    let stolen = [
        ("grant_type", OFFER_GRANT),
        ("pre-authorized_code", state.unwrap()),
    ];
    let refused = desk.call(post("/issuer/token").form(form(&stolen))).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.body.contains("invalid_grant"), "{}", refused.body);
    let accept = json!({"offer": offer["uri"]});
    let early = desk.wallet("/api/wallet/offers/accept", &accept).await;
    assert_eq!(early.status, StatusCode::BAD_REQUEST, "{}", early.body);
    for body in [
        json!({"type": "staff", "by_sign_in": true, "examples": true}),
        json!({"type": "staff", "by_sign_in": true, "tx_code": true}),
        json!({"type": "immunization", "by_sign_in": true}),
    ] {
        let sent = post("/api/issuer/offers").bearer(&desk.instance.token);
        let refused = desk.call(sent.json(&body.to_string())).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_issuer_names_the_provider_and_the_scope_of_what_it_issues() {
    let desk = Desk::open().await;
    let metadata = get("/.well-known/openid-credential-issuer/issuer");
    let metadata = read(&desk.call(metadata).await);
    let servers = json!([
        desk.origin.join("issuer").unwrap(),
        desk.origin.join("oidc").unwrap()
    ]);
    assert_eq!(metadata["authorization_servers"], servers);
    let all = metadata["credential_configurations_supported"].as_object();
    let all = all.unwrap().iter();
    let with_scope: Vec<_> = all.filter(|(_, one)| one["scope"] == "staff").collect();
    assert!(!with_scope.is_empty());
    assert!(with_scope.iter().all(|(id, _)| id.starts_with("staff_1_")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_type_that_needs_other_credentials_has_no_scope_though_the_settings_name_it() {
    let desk = Desk::open().await;
    let name = json!({"path": ["name"], "kind": "text", "required": true});
    let permit = json!({"id": "permit", "title": {"en": "Permit"}, "claims": [name],
        "prerequisites": {
            "needs": [{"name": "staff", "type": "staff"}],
            "fills": [{"claim": ["name"], "proven": {"need": "staff", "claim": ["name"]}}]}});
    desk.operator("/api/types", &permit).await;
    desk.operator("/api/types/permit/publish", &json!({})).await;
    let metadata = get("/.well-known/openid-credential-issuer/issuer");
    let metadata = read(&desk.call(metadata).await);
    let all = metadata["credential_configurations_supported"].as_object();
    let scopes = |prefix: &str| {
        let own = all.unwrap().iter().filter(|(id, _)| id.starts_with(prefix));
        own.map(|(_, one)| one["scope"].clone()).collect::<Vec<_>>()
    };
    let (permits, passes) = (scopes("permit_1_"), scopes("staff_1_"));
    assert!(!permits.is_empty() && !passes.is_empty(), "{metadata}");
    assert!(permits.iter().all(Value::is_null), "{permits:?}");
    assert!(passes.iter().all(|scope| scope == "staff"), "{passes:?}");
    let new = json!({"type": "permit", "by_sign_in": true});
    let sent = post("/api/issuer/offers").bearer(&desk.instance.token);
    let refused = desk.call(sent.json(&new.to_string())).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clerk_makes_an_offer_on_the_page_for_which_the_person_signs_in() {
    let desk = Desk::open().await;
    let cookie = desk.instance.operator_cookie().await;
    let other = desk.call(get("/issuer/new/immunization").cookie(&cookie));
    assert!(!other.await.body.contains("by_sign_in"));
    let page = desk.call(get("/issuer/new/staff").cookie(&cookie)).await;
    assert!(
        page.body.contains("Or the person signs in"),
        "{}",
        page.body
    );
    let token = page.form_token();
    let fields = [
        ("form_token", token.as_str()),
        ("type", "staff"),
        ("by_sign_in", "true"),
        ("by_reference", "true"),
        ("uses", "1"),
        ("label", "for Maja"),
    ];
    let made = post("/issuer/new").cookie(&cookie).form(form(&fields));
    let made = desk.call(made).await;
    assert_eq!(made.status, StatusCode::SEE_OTHER, "{}", made.body);
    let offers = get("/api/issuer/offers").bearer(&desk.instance.token);
    let offers = read(&desk.call(offers).await);
    let begun = desk.begin(&offers["items"][0]).await;
    assert!(begun.path().starts_with("/oidc/authorize"), "{begun}");
}
