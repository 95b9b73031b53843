//! The addresses at which passkeys are added and signed in with.

use http::StatusCode;
use selfsame_core::organisation::OrganisationName;
use selfsame_crypto::KeyType;
use selfsame_operators::OperatorRole;
use serde_json::Value;

use super::instance::{Answered, Call, Instance, form, get, post};
pub use authenticator::Authenticator;

#[path = "../../../selfsame-passkeys/tests/ceremonies/authenticator.rs"]
mod authenticator;

pub const ORIGIN: &str = "http://localhost:7380";
pub const HOST: &str = "localhost:7380";
const PASSWORD: &str = "a long password";

async fn called(instance: &Instance, call: Call) -> Answered {
    instance.call(call.host(HOST)).await
}

/// The page of an account.
async fn account(instance: &Instance, root: &str, cookie: &str) -> Answered {
    let page = called(instance, get(&format!("{root}/account")).cookie(cookie)).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    page
}

/// Sends a form of the page of an account.
async fn sent(instance: &Instance, cookie: &str, to: &str, fields: &[(&str, &str)]) -> Answered {
    let root = to.split("/account").next().unwrap();
    let token = account(instance, root, cookie).await.form_token();
    let mut all = vec![("form_token", token.as_str())];
    all.extend(fields);
    called(instance, post(to).cookie(cookie).form(form(&all))).await
}

/// An authenticator with a passkey of the account whose session this is.
pub async fn with_passkey(instance: &Instance, root: &str, cookie: &str) -> Authenticator {
    let mut one = Authenticator::new(KeyType::P256, "localhost", ORIGIN);
    let fields = [("name", "My phone"), ("password", PASSWORD)];
    let begun = sent(
        instance,
        cookie,
        &format!("{root}/account/passkeys"),
        &fields,
    )
    .await;
    assert_eq!(begun.status, StatusCode::OK, "{}", begun.body);
    let options = begun.body.split("data-options=\"").nth(1).unwrap();
    let options = options.split('"').next().unwrap().replace("&#34;", "\"");
    let answer = one
        .create(&serde_json::from_str(&options).unwrap())
        .to_string();
    let fields = [("name", "My phone"), ("answer", answer.as_str())];
    let to = format!("{root}/account/passkeys/add");
    let added = sent(instance, cookie, &to, &fields).await;
    assert_eq!(added.status, StatusCode::SEE_OTHER, "{}", added.body);
    one
}

/// Signs in with the passkey in a new browser.
async fn sign_in(instance: &Instance, root: &str, one: &mut Authenticator) -> Answered {
    let asked = called(instance, get(&format!("{root}/passkey/options"))).await;
    assert_eq!(asked.status, StatusCode::OK, "{}", asked.body);
    let visitor = asked.cookie("selfsame-visitor-7380");
    let options: Value = serde_json::from_str(&asked.body).unwrap();
    let door = match root {
        "/wallet" => "/wallet/sign-in",
        _ => root,
    };
    let page = called(instance, get(door).cookie(&visitor)).await;
    let answer = one.answer(&options).to_string();
    let fields = [
        ("form_token", page.form_token()),
        ("answer", answer),
        ("next", format!("{root}/account")),
    ];
    let fields = fields
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    let call = post(&format!("{root}/passkey"))
        .cookie(&visitor)
        .form(form(&fields));
    called(instance, call).await
}

#[tokio::test]
async fn a_holder_adds_a_passkey_and_signs_in_with_it() {
    let instance = Instance::at(ORIGIN).await;
    let cookie = holders_cookie(&instance).await;
    let mut one = with_passkey(&instance, "/wallet", &cookie).await;
    let signed_in = sign_in(&instance, "/wallet", &mut one).await;
    assert_eq!(
        signed_in.status,
        StatusCode::SEE_OTHER,
        "{}",
        signed_in.body
    );
    assert_eq!(signed_in.header("location"), "/wallet/account");
    let cookie = signed_in.cookie("selfsame-wallet-7380");
    let page = account(&instance, "/wallet", &cookie).await;
    assert!(page.body.contains("My phone") && !page.body.contains("never"));
    // The browser is known from now on.
    signed_in.cookie("selfsame-known-7380");
    let stranger = &mut Authenticator::new(KeyType::P256, "localhost", ORIGIN);
    let refused = sign_in(&instance, "/wallet", stranger).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    assert!(
        refused.body.contains("This passkey was not accepted"),
        "{}",
        refused.body
    );
}

pub async fn holders_cookie(instance: &Instance) -> String {
    let page = called(instance, get("/wallet/sign-in")).await;
    let token = page.form_token();
    let fields = [
        ("form_token", token.as_str()),
        ("email", "maja@example.org"),
        ("password", PASSWORD),
    ];
    let visitor = page.cookie("selfsame-visitor-7380");
    let call = post("/wallet/register")
        .cookie(&visitor)
        .form(form(&fields));
    called(instance, call).await.cookie("selfsame-wallet-7380")
}

#[tokio::test]
async fn who_works_for_an_organisation_signs_in_with_a_passkey_and_the_trail_says_so() {
    let instance = Instance::at(ORIGIN).await;
    let main = OrganisationName::main();
    let cookie = instance.person_with(&main, OperatorRole::Owner).await;
    let mut one = with_passkey(&instance, "/operator", &cookie).await;
    let signed_in = sign_in(&instance, "/operator", &mut one).await;
    assert_eq!(
        signed_in.status,
        StatusCode::SEE_OTHER,
        "{}",
        signed_in.body
    );
    let cookie = signed_in.cookie("selfsame-operator-7380");
    let page = account(&instance, "/operator", &cookie).await;
    assert!(page.body.contains("owner@main.example"));
    let trail = called(&instance, get("/audit").cookie(&cookie)).await;
    assert!(
        trail.body.contains("Signs in with a passkey"),
        "{}",
        trail.body
    );
    // A passkey of a holder opens no door of operators.
    let holder = holders_cookie(&instance).await;
    let mut holders = with_passkey(&instance, "/wallet", &holder).await;
    let refused = sign_in(&instance, "/operator", &mut holders).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_wrong_password_adds_no_passkey_and_the_operator_token_has_no_account() {
    let instance = Instance::at(ORIGIN).await;
    let cookie = holders_cookie(&instance).await;
    let fields = [("name", "My phone"), ("password", "another password")];
    let again = sent(&instance, &cookie, "/wallet/account/passkeys", &fields).await;
    assert_eq!(again.status, StatusCode::UNAUTHORIZED);
    assert!(again.body.contains("Wrong password.") && again.body.contains("value=\"My phone\""));
    let fields = [("name", "My phone"), ("answer", "{}")];
    let again = sent(&instance, &cookie, "/wallet/account/passkeys/add", &fields).await;
    assert_eq!(again.status, StatusCode::BAD_REQUEST);
    let link = called(&instance, get(&instance.sign_in_link_at(HOST).await)).await;
    let operator = link.cookie("selfsame-operator-7380");
    let refused = called(&instance, get("/operator/account").cookie(&operator)).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN, "{}", refused.body);
    assert!(refused.body.contains("has no account"), "{}", refused.body);
}

impl Instance {
    /// A link that signs the operator in at an instance with this host, without its origin.
    async fn sign_in_link_at(&self, host: &str) -> String {
        let call = post("/api/operator/links").bearer(&self.token).host(host);
        let told: Value = serde_json::from_str(&self.call(call).await.body).unwrap();
        let url = told["url"].as_str().unwrap().to_owned();
        let (_, path) = url.split_once("/operator").unwrap();
        format!("/operator{path}")
    }
}
