//! What happened on the wire: whole flows with secrets that are known here, none of which is kept or shown.

use http::{Method, StatusCode};
use selfsame_crypto::encoding::base64url_decode;
use selfsame_crypto::{KeyType, PrivateKey, SecretString, jws};
use selfsame_wallet::view::{AcceptOffer, AnswerRequest};
use serde_json::{Value, json};

use super::instance::{Answered, Instance, call, form, get, post};
use super::organisations::with_acme;
use super::pages::check;

const GRANT: &str = "urn:ietf:params:oauth:grant-type:pre-authorized_code";
const PASSWORD: &str = "marked correct horse battery";
const EMAIL: &str = "marked-maja@example.org";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const BACK: &str = "https://rp.example/cb";

fn read(answer: &Answered) -> Value {
    assert!(
        answer.status.is_success(),
        "{} {}",
        answer.status,
        answer.body
    );
    serde_json::from_str(&answer.body).unwrap()
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("{value}"))
        .to_owned()
}

impl Instance {
    async fn wire_api(&self, path: &str) -> Value {
        read(&self.call(get(path).bearer(&self.token)).await)
    }

    async fn switches_wire(&self, prefix: &str, is_on: bool) {
        let set = call(Method::PUT, &format!("{prefix}/api/wire")).bearer(&self.token);
        let body = json!({ "is_on": is_on }).to_string();
        assert_eq!(read(&self.call(set.json(&body)).await)["is_on"], is_on);
    }

    async fn offers(&self, prefix: &str) -> Value {
        let new = json!({"type": "immunization", "examples": true, "tx_code": true, "by_reference": true});
        let asked = post(&format!("{prefix}/api/issuer/offers")).bearer(&self.token);
        read(&self.call(asked.json(&new.to_string())).await)
    }

    /// Makes an account for a person, and gives the token of its session.
    async fn signs_up(&self, email: &str) -> String {
        let accounts = self.app.wallet().unwrap().accounts();
        let session = accounts.register(email, SecretString::from(PASSWORD));
        session.await.unwrap().token
    }

    /// A person accepts an offer; gives every secret of the credential.
    async fn gets_a_card(&self, token: &str) -> Vec<String> {
        let wallet = self.app.wallet().unwrap();
        let person = wallet.accounts().person(token).await.unwrap();
        let offer = self.offers("").await;
        let accept = AcceptOffer {
            offer: text(&offer["uri"]),
            tx_code: Some(text(&offer["tx_code"])),
            did: None,
            copies: None,
        };
        wallet.accept_offer(&person, &accept).await.unwrap();
        let cards = wallet.cards(&person, &Default::default()).await.unwrap();
        let card = &cards.items[0].id;
        let raw = wallet.raw_card(&person.tenant, card).await.unwrap();
        secrets_of(&raw.raw)
    }

    /// The verifier requests what that person has, and the person answers; gives the request's id.
    async fn shows_a_card(&self, token: &str) -> String {
        let wallet = self.app.wallet().unwrap();
        let person = wallet.accounts().person(token).await.unwrap();
        let new = json!({"type": "immunization"}).to_string();
        let asked = post("/api/verifier/requests").bearer(&self.token);
        let asked = read(&self.call(asked.json(&new)).await);
        let answer = AnswerRequest {
            request: text(&asked["uri"]),
            cards: Default::default(),
            policy: Some("newest".to_owned()),
        };
        wallet.answer_request(&person, &answer).await.unwrap();
        text(&asked["id"])
    }

    /// Takes an offer as a wallet does, by HTTP, and gives every secret of it.
    async fn takes(&self, offer: &Value) -> Vec<String> {
        let id = text(&offer["id"]);
        let object = read(&self.call(get(&format!("/issuer/offers/{id}"))).await);
        let (code, tx_code) = (
            text(&object["grants"][GRANT]["pre-authorized_code"]),
            text(&offer["tx_code"]),
        );
        let sent = form(&[
            ("grant_type", GRANT),
            ("pre-authorized_code", &code),
            ("tx_code", &tx_code),
        ]);
        let tokens = read(&self.call(post("/issuer/token").form(sent)).await);
        let token = text(&tokens["access_token"]);
        let nonce = text(&read(&self.call(post("/issuer/nonce")).await)["c_nonce"]);
        let holder = PrivateKey::generate(KeyType::P256).unwrap();
        let jwk = holder.public().to_jwk().to_value();
        let proof = jws::Unsigned::new(
            &json!({"typ": "openid4vci-proof+jwt", "alg": "ES256", "jwk": jwk}),
            &json!({"aud": object["credential_issuer"], "iat": self.app.clock().now().0, "nonce": nonce}),
        );
        let signature = holder.sign(proof.signing_input()).unwrap();
        let proof = proof.finish(&signature);
        let body = json!({
            "credential_configuration_id": object["credential_configuration_ids"][0],
            "proofs": {"jwt": [proof]},
        });
        let asked = post("/issuer/credential")
            .bearer(&token)
            .json(&body.to_string());
        let issued = read(&self.call(asked).await);
        let credential = text(&issued["credentials"][0]["credential"]);
        let mut secrets = secrets_of(&credential);
        secrets.extend([id, code, token, nonce, text(&jwk["x"]), credential]);
        secrets.extend(proof.rsplit('.').next().map(str::to_owned));
        // Four digits can be in any number.
        secrets.extend(Some(tx_code).filter(|code| code.len() > 5));
        secrets
    }
}

/// The signature of a credential, its disclosures, their salts and the values that they disclose.
fn secrets_of(credential: &str) -> Vec<String> {
    let mut parts = credential.split('~');
    let signature = parts.next().unwrap().rsplit('.').next().unwrap();
    let mut secrets = vec![signature.to_owned()];
    for disclosure in parts.filter(|part| !part.is_empty()) {
        secrets.push(disclosure.to_owned());
        let told: Value = serde_json::from_slice(&base64url_decode(disclosure).unwrap()).unwrap();
        secrets.push(text(&told[0]));
        leaves(told.as_array().unwrap().last().unwrap(), &mut secrets);
    }
    assert!(secrets.len() > 6, "{secrets:?}");
    secrets
}

fn leaves(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) if text.len() > 3 => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| leaves(item, found)),
        Value::Object(members) => {
            let claims = members
                .iter()
                .filter(|(name, _)| *name != "_sd" && *name != "...");
            claims.for_each(|(_, value)| leaves(value, found));
        }
        _ => {}
    }
}

fn lacks(shown: &str, secrets: &[String]) {
    for secret in secrets {
        assert!(!shown.contains(secret.as_str()), "{secret}: {shown}");
    }
}

fn names(flow: &Value) -> Vec<String> {
    let messages = flow["messages"].as_array().unwrap().iter();
    messages.map(|message| text(&message["name"])).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issuance_is_drawn_with_all_its_messages_and_none_of_its_secrets() {
    let instance = Instance::start().await;
    let quiet = instance.offers("").await;
    instance.takes(&quiet).await;
    let listed = instance.wire_api("/api/issuer/wire").await;
    assert_eq!(
        listed["items"],
        json!([]),
        "nothing is recorded until it is switched on"
    );

    instance.switches_wire("", true).await;
    let offer = instance.offers("").await;
    let secrets = instance.takes(&offer).await;
    let listed = instance.wire_api("/api/issuer/wire").await;
    let items = listed["items"].as_array().unwrap();
    assert_eq!(items.len(), 1, "{listed}");
    let id = text(&items[0]["id"]);
    let flow = instance.wire_api(&format!("/api/issuer/wire/{id}")).await;
    assert_eq!(
        names(&flow),
        [
            "Request for the offer",
            "Credential offer",
            "Token request",
            "Token response",
            "Nonce request",
            "Nonce response",
            "Credential request",
            "Credential response",
        ]
    );
    lacks(&flow.to_string(), &secrets);
    let token = &flow["messages"][2]["content"]["body"];
    assert!(text(&token["tx_code"]).starts_with("hidden"), "{token}");
    assert!(
        text(&token["pre-authorized_code"]).starts_with("SHA-256"),
        "{token}"
    );
    let issued = &flow["messages"][7]["content"]["body"]["credentials"][0]["credential"];
    assert!(issued["payload"]["vct"].is_string(), "{flow}");

    let cookie = instance.operator_cookie().await;
    for path in [
        format!("/issuer/wire/{id}"),
        format!("/issuer/wire/of/{}", text(&offer["id"])),
    ] {
        let page = instance.call(get(&path).cookie(&cookie)).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        check(&path, &page.body);
        lacks(&page.body, &secrets[..secrets.len().min(200)]);
        for part in [
            "Credential response",
            "OpenID4VCI 1.0 §8.3",
            "POST /issuer/token",
        ] {
            assert!(page.body.contains(part), "{part}: {}", page.body);
        }
    }
    // What is switched off records nothing more, and what was recorded is erased on demand.
    instance.switches_wire("", false).await;
    let offer = instance.offers("").await;
    instance.takes(&offer).await;
    let listed = instance.wire_api("/api/issuer/wire").await;
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    let erased = call(Method::DELETE, &format!("/api/issuer/wire/{id}")).bearer(&instance.token);
    assert_eq!(instance.call(erased).await.status, StatusCode::NO_CONTENT);
    let gone = get(&format!("/api/issuer/wire/{id}")).bearer(&instance.token);
    assert_eq!(instance.call(gone).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_presentation_is_drawn_without_what_was_disclosed() {
    let instance = Instance::listening().await;
    let token = instance.signs_up(EMAIL).await;
    instance.switches_wire("", true).await;
    let secrets = instance.gets_a_card(&token).await;
    let asked = instance.shows_a_card(&token).await;
    let listed = instance.wire_api("/api/verifier/wire").await;
    let id = text(&listed["items"][0]["id"]);
    let flow = instance.wire_api(&format!("/api/verifier/wire/{id}")).await;
    let told = names(&flow);
    assert!(
        told.contains(&"Authorization request".to_owned()),
        "{told:?}"
    );
    assert!(
        told.contains(&"Authorization response".to_owned()),
        "{told:?}"
    );
    lacks(&flow.to_string(), &secrets);
    assert!(flow.to_string().contains("key binding"), "{flow}");
    let cookie = instance.operator_cookie().await;
    let path = format!("/verifier/wire/of/{asked}");
    let page = instance.call(get(&path).cookie(&cookie)).await;
    check(&path, &page.body);
    lacks(&page.body, &secrets);
    assert!(page.body.contains("OpenID4VP 1.0 §8.1"), "{}", page.body);

    let path = finds_both_flows(&instance, &token, &secrets).await;
    let other = instance.signs_up("other@example.org").await;
    let other = instance.call(get(&path).bearer(&other)).await;
    assert_eq!(other.status, StatusCode::NOT_FOUND, "{}", other.body);
}

/// A person finds both their flows without these secrets, and nobody finds them at another place. Returns the path of one.
async fn finds_both_flows(instance: &Instance, token: &str, secrets: &[String]) -> String {
    let own = |path: &str| get(path).bearer(token);
    let listed = read(&instance.call(own("/api/wallet/wire")).await);
    let items = listed["items"].as_array().unwrap();
    assert_eq!(items.len(), 2, "{listed}");
    let mut all = Vec::new();
    for item in items {
        let path = format!("/api/wallet/wire/{}", text(&item["id"]));
        let flow = read(&instance.call(own(&path)).await);
        lacks(&flow.to_string(), secrets);
        all.extend(names(&flow));
        let operators = get(&path).bearer(&instance.token);
        assert_ne!(instance.call(operators).await.status, StatusCode::OK);
        let issuers = format!("/api/issuer/wire/{}", text(&item["id"]));
        let issuers = get(&issuers).bearer(&instance.token);
        assert_eq!(instance.call(issuers).await.status, StatusCode::NOT_FOUND);
    }
    for name in [
        "Credential offer",
        "Token request",
        "Nonce response",
        "Credential response",
        "Authorization request",
        "Authorization response",
    ] {
        assert!(all.iter().any(|one| one == name), "{name}: {all:?}");
    }
    format!("/api/wallet/wire/{}", text(&items[0]["id"]))
}

/// Signs a person in at an application by OpenID Connect, up to its userinfo, and gives every secret of it.
async fn signs_in_at_an_application(instance: &Instance) -> Vec<String> {
    instance.signs_up(EMAIL).await;
    let new = json!({"redirect_uris": [BACK], "id_token_signed_response_alg": "ES256",
        "token_endpoint_auth_method": "client_secret_post"});
    let asked = post("/api/sign-in/clients").bearer(&instance.token);
    let client = read(&instance.call(asked.json(&new.to_string())).await);
    let (client_id, secret) = (text(&client["client_id"]), text(&client["client_secret"]));
    let query = form(&[
        ("client_id", &client_id),
        ("redirect_uri", BACK),
        ("response_type", "code"),
        ("scope", "openid"),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
        ("state", "marked-state"),
    ]);
    let begun = instance
        .call(get(&format!("/oidc/authorize?{query}")))
        .await;
    let place = begun.header("location").to_owned();
    let cookie = begun.headers.get("set-cookie").unwrap().to_str().unwrap();
    let cookie = cookie.split(';').next().unwrap();
    let attempt =
        json!({"identifier": EMAIL, "challenges": [{"factor": "password", "value": PASSWORD}]});
    let attempt = post(&format!("{place}/authentication")).json(&attempt.to_string());
    read(&instance.call(attempt.cookie(cookie)).await);
    let agreed = post(&format!("{place}/agreement"))
        .json("{}")
        .cookie(cookie);
    let landing = read(&instance.call(agreed).await);
    let code = text(&landing["parameters"]["code"]);
    let redeem = post("/oidc/token").form(form(&[
        ("grant_type", "authorization_code"),
        ("client_id", &client_id),
        ("client_secret", &secret),
        ("code", &code),
        ("redirect_uri", BACK),
        ("code_verifier", VERIFIER),
    ]));
    let tokens = read(&instance.call(redeem).await);
    let (access, id_token) = (text(&tokens["access_token"]), text(&tokens["id_token"]));
    let person = read(&instance.call(get("/oidc/userinfo").bearer(&access)).await);
    let sub = text(&person["sub"]);
    let place = place.rsplit('/').next().unwrap().to_owned();
    let signature = id_token.rsplit('.').next().unwrap().to_owned();
    let secrets = [
        PASSWORD,
        EMAIL,
        "marked-state",
        VERIFIER,
        CHALLENGE,
        &secret,
        &code,
        &access,
        &id_token,
        &signature,
        &sub,
        &place,
    ];
    secrets.map(str::to_owned).to_vec()
}

#[tokio::test]
async fn a_sign_in_is_drawn_without_password_code_token_and_what_the_application_learns() {
    let instance = Instance::start().await;
    instance.switches_wire("", true).await;
    let secrets = signs_in_at_an_application(&instance).await;
    let listed = instance.wire_api("/api/wire/sign-ins").await;
    assert_eq!(listed["items"].as_array().unwrap().len(), 1, "{listed}");
    let id = text(&listed["items"][0]["id"]);
    let flow = instance.wire_api(&format!("/api/wire/sign-ins/{id}")).await;
    let told = names(&flow);
    for name in [
        "Authentication request",
        "What the person proves",
        "Authentication response",
        "Token response",
        "Userinfo response",
    ] {
        assert!(told.iter().any(|one| one == name), "{name}: {told:?}");
    }
    lacks(&flow.to_string(), &secrets);
    let cookie = instance.operator_cookie().await;
    let path = format!("/wire/sign-ins/{id}");
    let page = instance.call(get(&path).cookie(&cookie)).await;
    check(&path, &page.body);
    lacks(&page.body, &secrets);
    let switch = instance.call(get("/wire").cookie(&cookie)).await;
    check("/wire", &switch.body);
    assert!(switch.body.contains("Switch off"), "{}", switch.body);
    // The form erases everything.
    let token = switch.form_token();
    let erase = post("/wire/erase")
        .cookie(&cookie)
        .form(form(&[("form_token", &token)]));
    assert_eq!(instance.call(erase).await.status, StatusCode::SEE_OTHER);
    let listed = instance.wire_api("/api/wire/sign-ins").await;
    assert_eq!(listed["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_organisation_finds_no_flow_and_records_for_itself_alone() {
    let instance = with_acme().await;
    instance.switches_wire("", true).await;
    let offer = instance.offers("").await;
    instance.takes(&offer).await;
    let listed = instance.wire_api("/api/issuer/wire").await;
    let id = text(&listed["items"][0]["id"]);
    let theirs = instance.wire_api("/o/acme/api/issuer/wire").await;
    assert_eq!(theirs["items"], json!([]));
    assert_eq!(instance.wire_api("/o/acme/api/wire").await["is_on"], false);
    for method in [Method::GET, Method::DELETE] {
        let other = call(method, &format!("/o/acme/api/issuer/wire/{id}")).bearer(&instance.token);
        let other = instance.call(other).await;
        assert_eq!(other.status, StatusCode::NOT_FOUND, "{}", other.body);
        assert!(other.body.contains("wire-flow-unknown"), "{}", other.body);
    }
    // The same flow is no presentation and no sign-in.
    for path in ["/api/verifier/wire", "/api/wire/sign-ins"] {
        let other = get(&format!("{path}/{id}")).bearer(&instance.token);
        assert_eq!(
            instance.call(other).await.status,
            StatusCode::NOT_FOUND,
            "{path}"
        );
    }
    let erased = call(Method::DELETE, "/api/wire").bearer(&instance.token);
    assert_eq!(instance.call(erased).await.status, StatusCode::NO_CONTENT);
    let listed = instance.wire_api("/api/issuer/wire").await;
    assert_eq!(listed["items"], json!([]));
}
