//! Credentials that are entered into the credential book when they are issued.

use std::time::Duration;

use http::{Method, StatusCode};
use selfsame_driver::paging::Paging;
use serde_json::{Value, json};

use super::books::{loaded, permit, publish, read, registration, sent};
use super::instance::{Instance, call, form, get, post};
use super::pages::check;

fn automatic(mut definition: Value) -> Value {
    definition["book"]["automatic"] = json!(true);
    definition
}

fn whale() -> Value {
    json!({"type": "registration", "claims": {"number": "BC0009", "name": "Grey Whale Inc.", "kind": "BC", "director": "Ada Lovelace"}})
}

/// What is read at an address, once it is as it should be.
async fn read_until(instance: &Instance, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let mut found = Value::Null;
    for _ in 0..3_000 {
        found = read(instance, path).await;
        if is_so(&found) {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{path}: {found}");
}

/// The identifier of the only entry that a search finds, once there is one.
async fn entered(instance: &Instance, words: &str) -> String {
    let path = format!("/api/v4/search/topic?q={words}");
    let found = read_until(instance, &path, |found| found["total"] == 1).await;
    let topic = &found["results"][0]["id"];
    let sets = read(instance, &format!("/api/v4/topic/{topic}/credential-set")).await;
    let credentials = sets[0]["credentials"].as_array().unwrap();
    assert_eq!(credentials.len(), 1, "{sets}");
    credentials[0]["credential_id"].as_str().unwrap().to_owned()
}

/// The ids of the issued credentials, the newest first.
async fn issued(instance: &Instance) -> Vec<String> {
    let issuer = instance.app.main().issuer().unwrap();
    let listed = issuer.issued(None, &Paging::default()).await.unwrap();
    listed.items.into_iter().map(|one| one.id).collect()
}

async fn revoke(instance: &Instance, id: &str) {
    let path = format!("/api/issuer/credentials/{id}/status");
    let revoked = call(Method::PUT, &path).bearer(&instance.token);
    let revoked = instance
        .call(revoked.json(r#"{"status": "revoked"}"#))
        .await;
    assert_eq!(revoked.status, StatusCode::OK, "{}", revoked.body);
}

#[tokio::test]
async fn an_issued_credential_is_entered_without_a_call_and_shows_and_keeps_what_the_mapping_names()
{
    let instance = Instance::listening().await;
    publish(&instance, &automatic(registration())).await;
    instance.issue_many(whale(), 1).await;
    let id = entered(&instance, "grey+whale").await;
    let shown = read(&instance, &format!("/api/v4/credential/{id}")).await;
    assert_eq!(
        shown["raw_data"],
        json!({"number": "BC0009", "name": "Grey Whale Inc.", "kind": "BC"})
    );
    let verified = read(&instance, &format!("/api/v4/credential/{id}/verify")).await;
    assert_eq!(verified["verdict"]["outcome"], "valid", "{verified}");
    // The book can't prove a claim that it does not keep.
    let credential = json!({
        "id": "registration", "format": "dc+sd-jwt", "require_cryptographic_holder_binding": false,
        "meta": {"vct_values": [format!("http://{}/types/registration/1", instance.host)]},
        "claims": [{"path": ["director"]}],
    });
    let new = json!({"dcql_query": {"credentials": [credential]}});
    let made = sent(&instance, "/api/verifier/requests", &new).await;
    let made: Value = serde_json::from_str(&made.body).unwrap();
    let proof = json!({"request": made["uri"]}).to_string();
    let path = format!("/api/v4/credential/{id}/prove");
    let refused = instance.call(post(&path).json(&proof)).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
}

#[tokio::test]
async fn a_type_that_does_not_say_so_enters_nothing() {
    let instance = Instance::start().await;
    publish(&instance, &registration()).await;
    instance.issue_many(whale(), 1).await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    let found = read(&instance, "/api/v4/search/topic?q=whale").await;
    assert_eq!(found["total"], 0);
    // Nor does an offer of the version that said so, once a newer one does not.
    let instance = Instance::start().await;
    publish(&instance, &automatic(registration())).await;
    let issuer = instance.app.main().issuer().unwrap();
    let types = issuer.types();
    let newer = serde_json::from_value(registration()).unwrap();
    types.replace("registration", &newer).await.unwrap();
    let path = "/api/types/registration/publish";
    assert_eq!(
        sent(&instance, path, &json!({})).await.status,
        StatusCode::OK
    );
    instance.issue_many(whale(), 1).await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    let found = read(&instance, "/api/v4/search/topic?q=whale").await;
    assert_eq!(found["total"], 0);
}

#[tokio::test]
async fn an_entry_is_revoked_once_all_copies_of_its_credential_are() {
    let instance = Instance::start().await;
    publish(&instance, &automatic(registration())).await;
    instance.issue_many(whale(), 2).await;
    let id = entered(&instance, "whale").await;
    let copies = issued(&instance).await;
    assert_eq!(copies.len(), 2);
    revoke(&instance, &copies[0]).await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    let path = format!("/api/v4/credential/{id}");
    assert_eq!(read(&instance, &path).await["revoked"], false);
    revoke(&instance, &copies[1]).await;
    read_until(&instance, &path, |shown| shown["revoked"] == true).await;
    let found = read(&instance, "/api/v4/search/topic?q=whale").await;
    assert_eq!(found["total"], 0);
}

#[tokio::test]
async fn copies_that_are_revoked_together_revoke_their_entry() {
    let instance = Instance::start().await;
    publish(&instance, &automatic(registration())).await;
    instance.issue_many(whale(), 2).await;
    let id = entered(&instance, "whale").await;
    let ids = issued(&instance).await;
    let all = json!({"ids": ids, "status": "revoked"});
    let revoked = sent(&instance, "/api/issuer/credentials/status", &all).await;
    assert_eq!(revoked.status, StatusCode::OK, "{}", revoked.body);
    let path = format!("/api/v4/credential/{id}");
    read_until(&instance, &path, |shown| shown["revoked"] == true).await;
}

#[tokio::test]
async fn an_erased_entry_stays_erased_when_its_credential_is_revoked() {
    let instance = Instance::start().await;
    publish(&instance, &automatic(registration())).await;
    instance.issue_many(whale(), 1).await;
    let id = entered(&instance, "whale").await;
    let erase = format!("/api/book/credentials/{id}/erase");
    let erased = sent(&instance, &erase, &json!({"ground": "court order 7"})).await;
    assert_eq!(erased.status, StatusCode::OK, "{}", erased.body);
    revoke(&instance, &issued(&instance).await[0]).await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    let gone = instance
        .call(get(&format!("/api/v4/credential/{id}")))
        .await;
    assert_eq!(gone.status, StatusCode::GONE);
    let any = "/api/v4/search/topic?q=whale&revoked=any&inactive=any";
    assert_eq!(read(&instance, any).await["total"], 0);
}

#[tokio::test]
async fn a_credential_that_cannot_be_entered_is_listed_with_the_reason_and_tried_again() {
    let instance = Instance::start().await;
    publish(&instance, &registration()).await;
    publish(&instance, &automatic(permit())).await;
    let new = json!({"type": "permit", "claims": {"company": "BC0001", "permit": "7"}});
    for _ in 0..2 {
        instance.issue_many(new.clone(), 1).await;
    }
    let refused = async || {
        let asked = get("/api/book/refused").bearer(&instance.token);
        let listed = instance.call(asked).await;
        let listed: Value = serde_json::from_str(&listed.body).unwrap();
        listed["items"].as_array().unwrap().clone()
    };
    for _ in 0..3_000 {
        if refused().await.len() == 2 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let listed = refused().await;
    assert_eq!(listed.len(), 2);
    assert_eq!(
        listed[0]["because"],
        "the book has no topic that this credential could be about"
    );
    let id = listed[0]["credential_id"].as_str().unwrap();
    let again = format!("/api/book/refused/{id}/enter");
    let still = sent(&instance, &again, &json!({})).await;
    assert_eq!(still.status, StatusCode::BAD_REQUEST, "{}", still.body);
    let rows = json!([{"claims": {"number": "BC0001", "name": "Blue Whale Ltd."}}]);
    loaded(&instance, "registration", rows).await;
    let now = sent(&instance, &again, &json!({})).await;
    assert_eq!(now.status, StatusCode::CREATED, "{}", now.body);
    assert_eq!(refused().await.len(), 1);
    let shown = read(&instance, &format!("/api/v4/credential/{id}")).await;
    assert_eq!(shown["raw_data"]["permit"], "7");

    let cookie = instance.operator_cookie().await;
    let page = instance.call(get("/issuer/book").cookie(&cookie)).await;
    check("/issuer/book", &page.body);
    assert!(
        page.body.contains("no topic that this credential"),
        "{}",
        page.body
    );
    let token = page.form_token();
    let other = refused().await[0]["credential_id"].clone();
    let path = format!("/issuer/book/refused/{}/drop", other.as_str().unwrap());
    let sent_form = post(&path)
        .cookie(&cookie)
        .form(form(&[("form_token", &token)]));
    assert_eq!(instance.call(sent_form).await.status, StatusCode::SEE_OTHER);
    assert!(refused().await.is_empty());
    let path = format!("/api/book/refused/{}", other.as_str().unwrap());
    let gone = call(Method::DELETE, &path).bearer(&instance.token);
    assert_eq!(instance.call(gone).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn what_was_issued_by_another_organisation_is_in_its_own_book_alone() {
    let instance = super::organisations::with_acme().await;
    for path in ["/api/types", "/o/acme/api/types"] {
        let made = sent(&instance, path, &automatic(registration())).await;
        assert_eq!(made.status, StatusCode::CREATED, "{}", made.body);
        let publish = format!("{path}/registration/publish");
        let published = sent(&instance, &publish, &json!({})).await;
        assert_eq!(published.status, StatusCode::OK, "{}", published.body);
    }
    instance.issue_many(whale(), 1).await;
    entered(&instance, "whale").await;
    let other = read(&instance, "/o/acme/api/v4/search/topic?q=whale").await;
    assert_eq!(other["total"], 0);
}
