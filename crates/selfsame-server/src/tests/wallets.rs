//! Who may create a wallet, and how much a wallet holds.

use http::StatusCode;
use selfsame_driver::Bound;
use selfsame_wallet::config::{Registration, WalletConfig};
use serde_json::{Value, json};

use super::instance::{Answered, Instance, form, get, post};

async fn where_registration_is(registration: Registration) -> Instance {
    Instance::keeping(WalletConfig {
        registration,
        ..WalletConfig::default()
    })
    .await
}

fn account(email: &str) -> Value {
    json!({ "email": email, "password": "not to be guessed" })
}

async fn register(instance: &Instance, account: &Value) -> Answered {
    let call = post("/api/wallet/register").json(&account.to_string());
    instance.call(call).await
}

/// The page's form for new wallets, sent from the page at `path`.
async fn by_page(instance: &Instance, path: &str, fields: &[(&str, &str)]) -> Answered {
    let page = instance.call(get(path)).await;
    let visitor = page.cookie("selfsame-visitor-7380");
    let token = page.form_token();
    let mut all = vec![
        ("form_token", token.as_str()),
        ("password", "not to be guessed"),
    ];
    all.extend(fields);
    let call = post("/wallet/register").cookie(&visitor).form(form(&all));
    instance.call(call).await
}

#[tokio::test]
async fn where_registration_is_closed_no_wallet_is_made_and_the_page_says_so() {
    let instance = where_registration_is(Registration::Closed).await;
    let page = instance.call(get("/wallet/sign-in")).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(
        page.body.contains("This server creates no new wallets"),
        "{}",
        page.body
    );
    assert!(!page.body.contains("/wallet/register"), "{}", page.body);
    let refused = register(&instance, &account("maja@example.org")).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN, "{}", refused.body);
    let fields = [("email", "maja@example.org")];
    let refused = by_page(&instance, "/wallet/sign-in", &fields).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN, "{}", refused.body);
    let call = post("/api/wallet/invitations")
        .bearer(&instance.token)
        .json("{}");
    assert_eq!(instance.call(call).await.status, StatusCode::CONFLICT);
}

#[tokio::test]
async fn an_invitation_makes_one_wallet_and_no_second() {
    let instance = where_registration_is(Registration::Invite).await;
    let page = instance.call(get("/wallet/sign-in")).await;
    assert!(page.body.contains("needs an invitation"), "{}", page.body);
    assert!(!page.body.contains("/wallet/register"), "{}", page.body);
    for wrong in [None, Some("made-up")] {
        let mut account = account("maja@example.org");
        account["invitation"] = json!(wrong);
        let refused = register(&instance, &account).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "{}", refused.body);
    }

    let invite = async || {
        let call = post("/api/wallet/invitations")
            .bearer(&instance.token)
            .json("{}");
        let made = instance.call(call).await;
        assert_eq!(made.status, StatusCode::CREATED, "{}", made.body);
        serde_json::from_str::<Value>(&made.body).unwrap()
    };
    let first = invite().await;
    let mut maja = account("maja@example.org");
    maja["invitation"] = first["invitation"].clone();
    // A refused password does not use up the invitation.
    let mut weak = maja.clone();
    weak["password"] = json!("password12");
    assert_eq!(
        register(&instance, &weak).await.status,
        StatusCode::BAD_REQUEST
    );
    assert_eq!(register(&instance, &maja).await.status, StatusCode::CREATED);
    maja["email"] = json!("otto@example.org");
    let spent = register(&instance, &maja).await;
    assert_eq!(spent.status, StatusCode::FORBIDDEN, "{}", spent.body);

    let second = invite().await;
    // The answer does not reveal whether the address has an account, and the invitation stays valid.
    let taken = json!({ "email": "maja@example.org", "password": maja["password"], "invitation": second["invitation"] });
    let taken = register(&instance, &taken).await;
    assert_eq!((taken.status, &taken.body), (spent.status, &spent.body));
    let link = second["link"].as_str().unwrap();
    let path = link.strip_prefix("http://127.0.0.1:7380").unwrap();
    let token = second["invitation"].as_str().unwrap();
    let page = instance.call(get(path)).await;
    let carried = format!(r#"name="invitation" value="{token}""#);
    assert!(page.body.contains(&carried), "{}", page.body);
    let fields = [("email", "otto@example.org"), ("invitation", token)];
    let made = by_page(&instance, path, &fields).await;
    assert_eq!(made.status, StatusCode::SEE_OTHER, "{}", made.body);
}

#[tokio::test]
async fn the_operators_page_makes_a_link_that_invites_where_wallets_are_made_by_invitation() {
    let open = where_registration_is(Registration::Open).await;
    let operator = open.operator_cookie().await;
    let page = open.call(get("/operator").cookie(&operator)).await;
    assert!(!page.body.contains("Invite a person"), "{}", page.body);

    let instance = where_registration_is(Registration::Invite).await;
    let operator = instance.operator_cookie().await;
    let page = instance.call(get("/operator").cookie(&operator)).await;
    assert!(page.body.contains("Invite a person"), "{}", page.body);
    let fields = form(&[("form_token", &page.form_token())]);
    let ask = post("/operator/invitations").cookie(&operator).form(fields);
    let made = instance.call(ask).await;
    assert_eq!(made.status, StatusCode::OK, "{}", made.body);
    let link = made.body.split("/wallet/invited?token=").nth(1).unwrap();
    let token = link.split('"').next().unwrap();
    let mut maja = account("maja@example.org");
    maja["invitation"] = json!(token);
    assert_eq!(register(&instance, &maja).await.status, StatusCode::CREATED);
}

#[tokio::test]
async fn the_keys_of_a_person_are_limited_and_others_make_theirs() {
    let instance = Instance::keeping(WalletConfig {
        keys_max: Bound::of(2),
        ..WalletConfig::default()
    })
    .await;
    let person = async |email: &str| {
        let made = register(&instance, &account(email)).await;
        let session: Value = serde_json::from_str(&made.body).unwrap();
        session["token"].as_str().unwrap().to_owned()
    };
    let (maja, otto) = (
        person("maja@example.org").await,
        person("otto@example.org").await,
    );
    let make = async |token: &str, path: &str, body: &str| {
        let call = post(path).bearer(token).json(body);
        instance.call(call).await.status
    };
    let (keys, dids, did) = (
        "/api/wallet/keys",
        "/api/wallet/dids",
        r#"{"method":"key"}"#,
    );
    assert_eq!(make(&maja, keys, "{}").await, StatusCode::CREATED);
    assert_eq!(make(&maja, dids, did).await, StatusCode::CREATED);
    for (path, body) in [(keys, "{}"), (dids, did)] {
        let full = make(&maja, path, body).await;
        assert_eq!(full, StatusCode::INSUFFICIENT_STORAGE, "{path}");
    }
    assert_eq!(make(&otto, keys, "{}").await, StatusCode::CREATED);
}
