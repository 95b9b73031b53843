//! Rows of remote Indy wallets at the addresses of the service of 2018.

use http::{Method, StatusCode};
use selfsame_wallet::config::WalletConfig;
use serde_json::{Value, json};

use super::instance::{Answered, Call, Instance, call, form, get, post};

async fn serving() -> Instance {
    Instance::keeping(WalletConfig {
        remote_wallets: true,
        ..WalletConfig::default()
    })
    .await
}

/// An API key of an organisation with these rights.
async fn key(instance: &Instance, below: &str, scopes: &[&str]) -> String {
    let new = json!({"name": "wallet", "scopes": scopes}).to_string();
    let asked = post(&format!("{below}/api/keys")).bearer(&instance.token);
    let made = instance.call(asked.json(&new)).await;
    assert_eq!(made.status, StatusCode::CREATED, "{}", made.body);
    read(&made)["key"].as_str().unwrap().to_owned()
}

fn read(answer: &Answered) -> Value {
    serde_json::from_str(&answer.body).unwrap()
}

fn row(item_id: &str, value: &str) -> Value {
    json!({
        "wallet_name": "TheOrgBook_Holder_Wallet::42",
        "item_type": "claim",
        "item_id": item_id,
        "item_value": value,
        "created_date": "2018-03-13T23:53:37.114Z",
    })
}

fn with_token(request: Call, key: &str) -> Call {
    request.header("authorization", &format!("Token {key}"))
}

async fn create(instance: &Instance, key: &str, row: &Value) -> Answered {
    let sent = with_token(post("/api/v1/keyval/"), key);
    instance.call(sent.json(&row.to_string())).await
}

const LIST: &str = "/api/v1/keyval/TheOrgBook_Holder_Wallet::42/claim/";

#[tokio::test]
async fn a_program_of_2018_signs_in_and_creates_finds_changes_and_removes_rows() {
    let instance = serving().await;
    let key = key(&instance, "", &["issuer:read", "issuer:write"]).await;
    let credentials = json!({"username": "wallet", "password": key}).to_string();
    let signed_in = instance
        .call(post("/api/v1/api-token-auth/").json(&credentials))
        .await;
    assert_eq!(signed_in.status, StatusCode::OK, "{}", signed_in.body);
    let token = read(&signed_in)["token"].as_str().unwrap().to_owned();
    let fields = form(&[("username", "wallet"), ("password", &key)]);
    let by_form = instance
        .call(post("/api/v1/api-token-auth/").form(fields))
        .await;
    assert_eq!(read(&by_form)["token"], token);

    let made = create(&instance, &token, &row("7", r#"{"a": 1}"#)).await;
    assert_eq!(made.status, StatusCode::CREATED, "{}", made.body);
    let made = read(&made);
    assert_eq!(
        (&made["item_id"], &made["creator"]),
        (&json!("7"), &json!("wallet"))
    );
    let id = made["id"].as_i64().unwrap();
    assert!(
        made["url"]
            .as_str()
            .unwrap()
            .ends_with(&format!("/api/v1/keyval/{id}/"))
    );
    create(&instance, &token, &row("8", "other")).await;

    let asked = async |path: &str| instance.call(with_token(get(path), &token)).await;
    let listed = read(&asked(LIST).await);
    let ids: Vec<&Value> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["item_id"])
        .collect();
    assert_eq!(ids, ["7", "8"]);
    let found = read(&asked(&format!("{LIST}7/")).await);
    assert_eq!((found.as_array().unwrap().len(), &found[0]), (1, &made));
    assert_eq!(read(&asked(&format!("{LIST}9/")).await), json!([]));
    let one = format!("/api/v1/keyval/{id}/");
    assert_eq!(read(&asked(&one).await), made);

    let changed = async |method: Method, body: &Value| {
        let sent = with_token(call(method, &one), &token).json(&body.to_string());
        instance.call(sent).await
    };
    let replaced = changed(Method::PUT, &row("7", "new")).await;
    assert_eq!(read(&replaced)["item_value"], "new", "{}", replaced.body);
    let replaced = changed(Method::PATCH, &json!({"item_value": "newer"})).await;
    assert_eq!(read(&replaced)["item_value"], "newer");
    let renamed = changed(Method::PATCH, &json!({"item_id": "9"})).await;
    assert_eq!(renamed.status, StatusCode::BAD_REQUEST);
    let removed = instance
        .call(with_token(call(Method::DELETE, &one), &token))
        .await;
    assert_eq!(removed.status, StatusCode::NO_CONTENT);
    assert_eq!(asked(&one).await.status, StatusCode::NOT_FOUND);
    assert_eq!(read(&asked(LIST).await).as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_row_is_there_once_and_has_limits() {
    let instance = serving().await;
    let key = key(&instance, "", &["issuer:read", "issuer:write"]).await;
    assert_eq!(
        create(&instance, &key, &row("7", "x")).await.status,
        StatusCode::CREATED
    );
    for refused in [
        row("7", "another value"),
        row("", "x"),
        row("8", ""),
        row("8", &"x".repeat((256 << 10) + 1)),
        row(&"8".repeat(256), "x"),
        json!({"wallet_name": "a", "item_type": "b", "item_id": "c"}),
        json!({"wallet_name": 7, "item_type": "b", "item_id": "c", "item_value": "d"}),
        json!([]),
    ] {
        let answer = create(&instance, &key, &refused).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{}", answer.body);
    }
    let huge = create(&instance, &key, &row("8", &"x".repeat(1 << 20))).await;
    assert_eq!(huge.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn only_a_key_of_the_organisation_with_the_right_opens_its_rows() {
    let instance = serving().await;
    let acme = json!({"name": "acme", "title": "Acme"}).to_string();
    let created = post("/api/organisations")
        .bearer(&instance.token)
        .json(&acme);
    assert_eq!(instance.call(created).await.status, StatusCode::CREATED);
    let both = &["issuer:read", "issuer:write"];
    let main = key(&instance, "", both).await;
    let other = key(&instance, "/o/acme", both).await;
    let reader = key(&instance, "", &["issuer:read"]).await;
    let stranger = key(&instance, "", &["webhooks:read"]).await;
    create(&instance, &main, &row("7", "secret")).await;

    for wrong in ["", "none", instance.token.as_str()] {
        let answer = instance.call(with_token(get(LIST), wrong)).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{}", answer.body);
    }
    assert_eq!(
        instance.call(get(LIST)).await.status,
        StatusCode::UNAUTHORIZED
    );
    for key in [&other, &stranger] {
        let answer = instance.call(with_token(get(LIST), key)).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{}", answer.body);
    }
    let refused = create(&instance, &reader, &row("8", "x")).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let theirs = instance
        .call(with_token(get(&format!("/o/acme{LIST}")), &other))
        .await;
    assert_eq!(
        (theirs.status, theirs.body.as_str()),
        (StatusCode::OK, "[]")
    );
    for (name, password) in [
        ("wallet", "none"),
        ("another", main.as_str()),
        ("wallet", &other),
    ] {
        let body = json!({"username": name, "password": password}).to_string();
        let answer = instance
            .call(post("/api/v1/api-token-auth/").json(&body))
            .await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{}", answer.body);
    }
}

#[tokio::test]
async fn a_long_list_goes_on_where_its_header_says() {
    let instance = serving().await;
    let key = key(&instance, "", &["issuer:read", "issuer:write"]).await;
    for number in 0..1_001 {
        create(&instance, &key, &row(&number.to_string(), "x")).await;
    }
    let first = instance.call(with_token(get(LIST), &key)).await;
    assert_eq!(read(&first).as_array().unwrap().len(), 1_000);
    let link = first.header("link");
    let next = link.split(['<', '>']).nth(1).unwrap();
    let next = next.parse::<url::Url>().unwrap();
    let path = format!("{}?{}", next.path(), next.query().unwrap());
    let rest = instance.call(with_token(get(&path), &key)).await;
    let rest = read(&rest);
    assert_eq!(
        (rest.as_array().unwrap().len(), &rest[0]["item_id"]),
        (1, &json!("1000"))
    );
}

#[tokio::test]
async fn an_instance_serves_them_only_if_its_settings_say_so() {
    let instance = Instance::start().await;
    let key = key(&instance, "", &["issuer:read"]).await;
    let answer = instance.call(with_token(get(LIST), &key)).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
}
