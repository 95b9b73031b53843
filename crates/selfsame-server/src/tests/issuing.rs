//! The issuer's pages: the question before a credential's status changes, and the form of a delegation.

use http::StatusCode;
use selfsame_crypto::{KeyType, PrivateKey, jws};
use selfsame_driver::paging::Paging;
use selfsame_endpoints::CredentialAnswer;
use selfsame_openid::view::issuer::{CredentialStatus, NewOffer};
use serde_json::{Value, json};

use super::instance::{Answered, Instance, call, form, get, post};
use super::pages::check;

/// An instance with a credential of Ada Lovelace, and the operator's browser.
struct IssuersDesk {
    instance: Instance,
    cookie: String,
    /// The credential's id.
    id: String,
    /// The credential's number.
    number: u64,
}

impl IssuersDesk {
    async fn open() -> Self {
        let instance = Instance::start().await;
        let cookie = instance.operator_cookie().await;
        instance.issue("Ada Lovelace").await;
        let listed = get("/api/issuer/credentials").bearer(&instance.token);
        let listed: Value = serde_json::from_str(&instance.call(listed).await.body).unwrap();
        let issued = &listed["items"][0];
        Self {
            id: issued["id"].as_str().unwrap().to_owned(),
            number: issued["status_index"].as_u64().unwrap(),
            instance,
            cookie,
        }
    }

    async fn sees(&self, path: &str) -> Answered {
        self.instance.call(get(path).cookie(&self.cookie)).await
    }

    async fn sends(&self, path: &str, fields: &[(&str, &str)]) -> Answered {
        let token = self.sees("/verifier/saved/new").await.form_token();
        let token = [("form_token", token.as_str())];
        let fields = form(&[&token[..], fields].concat());
        let sent = post(path).cookie(&self.cookie);
        self.instance.call(sent.form(fields)).await
    }
}

impl Instance {
    /// Issues an immunization record to a wallet, with this note.
    async fn issue(&self, label: &str) {
        let new = json!({"type": "immunization", "examples": true, "label": label});
        self.issue_many(new, 1).await;
    }

    /// Issues this number of credentials of an offer to one wallet.
    pub async fn issue_many(&self, new: Value, count: usize) -> Vec<String> {
        let issuer = self.app.main().issuer().unwrap();
        let new: NewOffer = serde_json::from_value(new).unwrap();
        let link = issuer.create_offer(&new).await.unwrap().uri;
        let link = url::Url::parse(&link).unwrap();
        let (_, offer) = link.query_pairs().next().unwrap();
        let offer: Value = serde_json::from_str(&offer).unwrap();
        let grant = "urn:ietf:params:oauth:grant-type:pre-authorized_code";
        let code = offer["grants"][grant]["pre-authorized_code"].as_str();
        let sent = form(&[
            ("grant_type", grant),
            ("pre-authorized_code", code.unwrap()),
        ]);
        let token = issuer.token(sent.as_bytes()).await.unwrap();
        let proof = || {
            let holder = PrivateKey::generate(KeyType::P256).unwrap();
            let proof = jws::Unsigned::new(
                &json!({"typ": "openid4vci-proof+jwt", "alg": "ES256", "jwk": holder.public().to_jwk().to_value()}),
                &json!({"aud": offer["credential_issuer"], "iat": self.app.clock().now().0, "nonce": issuer.nonce().c_nonce}),
            );
            let signature = holder.sign(proof.signing_input()).unwrap();
            proof.finish(&signature)
        };
        let proofs: Vec<String> = (0..count).map(|_| proof()).collect();
        let body = json!({
            "credential_configuration_id": offer["credential_configuration_ids"][0],
            "proofs": {"jwt": proofs},
        });
        let (token, body) = (token.access_token.expose(), body.to_string());
        let issued = issuer.credential(token, body.as_bytes());
        let CredentialAnswer::Plain(issued) = issued.await.unwrap() else {
            panic!("no encryption was asked for");
        };
        let issued = issued.credentials;
        issued.into_iter().map(|one| one.credential).collect()
    }

    /// The ids of all issued credentials.
    async fn issued_ids(&self) -> Vec<String> {
        let issuer = self.app.main().issuer().unwrap();
        let mut paging = Paging::default();
        let mut ids = Vec::new();
        loop {
            let listed = issuer.issued(None, &paging).await.unwrap();
            ids.extend(listed.items.into_iter().map(|one| one.id));
            match listed.next {
                Some(next) => paging.after = Some(next),
                None => return ids,
            }
        }
    }

    async fn sets(&self, status: &str, ids: &[String]) -> Answered {
        let body = json!({"status": status, "ids": ids}).to_string();
        let sent = post("/api/issuer/credentials/status").bearer(&self.token);
        self.call(sent.json(&body)).await
    }

    async fn status_of(&self, id: &str) -> CredentialStatus {
        let issuer = self.app.main().issuer().unwrap();
        issuer.issued_credential(id).await.unwrap().status
    }
}

#[tokio::test]
async fn a_thousand_credentials_are_revoked_in_one_commit_and_each_is_in_the_trail() {
    let instance = Instance::start().await;
    for _ in 0..100 {
        let new = json!({"type": "immunization", "examples": true});
        instance.issue_many(new, 10).await;
    }
    let ids = instance.issued_ids().await;
    assert_eq!(ids.len(), 1000);
    let (before, _) = instance.app.commits();
    let revoked = instance.sets("revoked", &ids).await;
    assert_eq!(revoked.status, StatusCode::OK, "{}", revoked.body);
    // Beside it are the entry of the request itself, and what the duties in the background write.
    let (after, _) = instance.app.commits();
    assert!(after - before < 20, "{}", after - before);
    let revoked: Value = serde_json::from_str(&revoked.body).unwrap();
    let items = revoked["items"].as_array().unwrap();
    assert_eq!(items.len(), 1000);
    assert!(items.iter().all(|one| one["status"] == "revoked"));
    assert_eq!(items[999]["id"], ids[999]);
    for one in [&items[0], &items[999]] {
        let number = one["status_index"].to_string();
        let trail = get(&format!("/api/audit?object={number}")).bearer(&instance.token);
        let trail: Value = serde_json::from_str(&instance.call(trail).await.body).unwrap();
        let entry = &trail["items"][0];
        assert_eq!(entry["act"], "POST /api/issuer/credentials/status");
        let detail = entry["detail"].as_str().unwrap();
        assert!(
            detail.starts_with("immunization ") && detail.contains(&number),
            "{detail}"
        );
    }
    let again = instance.sets("revoked", &ids).await;
    assert_eq!(again.status, StatusCode::OK, "{}", again.body);
}

#[tokio::test]
async fn if_an_id_is_refused_no_status_changes_and_its_place_is_named() {
    let instance = Instance::start().await;
    instance.issue("Ada").await;
    instance.issue("Grace").await;
    let ids = instance.issued_ids().await;
    let wrong = [ids.clone(), vec!["unknown".to_owned()]].concat();
    let refused = instance.sets("suspended", &wrong).await;
    assert_eq!(refused.status, StatusCode::NOT_FOUND);
    let refused: Value = serde_json::from_str(&refused.body).unwrap();
    assert_eq!(
        (&refused["reason"], &refused["row"]),
        (&json!("status-id-refused"), &json!(3))
    );
    assert_eq!(instance.status_of(&ids[0]).await, CredentialStatus::Valid);

    // An id that is named twice changes once.
    let twice = [ids.clone(), ids.clone()].concat();
    let suspended = instance.sets("suspended", &twice).await;
    assert_eq!(suspended.status, StatusCode::OK, "{}", suspended.body);
    let first = &ids[..1];
    assert_eq!(instance.sets("revoked", first).await.status, StatusCode::OK);
    let stays = instance.sets("valid", &ids).await;
    assert_eq!(stays.status, StatusCode::CONFLICT);
    assert_eq!(
        instance.status_of(&ids[1]).await,
        CredentialStatus::Suspended
    );
    assert_eq!(
        instance.sets("valid", &ids[1..]).await.status,
        StatusCode::OK
    );
    assert_eq!(instance.status_of(&ids[1]).await, CredentialStatus::Valid);
}

#[tokio::test]
async fn no_id_and_too_many_ids_are_refused() {
    let instance = Instance::start().await;
    for count in [0, 1001] {
        let ids = vec!["unknown".to_owned(); count];
        let refused = instance.sets("revoked", &ids).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST);
        assert!(refused.body.contains("status-ids"), "{}", refused.body);
    }
}

#[tokio::test]
async fn revoking_asks_by_name_first_and_the_trail_says_which_credential_it_was() {
    let desk = IssuersDesk::open().await;
    let path = format!("/issuer/issued/{}", desk.id);
    let list = desk.sees("/issuer").await.body;
    let link = format!("href=\"{path}?to=revoked\"");
    assert!(
        list.contains(&link) && !list.contains("/status\""),
        "{list}"
    );
    let asked = desk.sees(&format!("{path}?to=revoked")).await.body;
    for said in [
        "Revoke <bdi>“Immunization record” of Ada Lovelace</bdi>?",
        "Verifiers will refuse it within 61 seconds. It can’t be undone.",
        "Revoke this credential",
    ] {
        assert!(asked.contains(said), "{said}: {asked}");
    }
    let sent = [("status", "revoked")];
    let revoked = desk.sends(&format!("{path}/status"), &sent).await;
    assert_eq!(revoked.status, StatusCode::SEE_OTHER, "{}", revoked.body);
    assert_eq!(revoked.header("location"), path);
    let shown = desk.sees(&path).await.body;
    assert!(
        shown.contains("is-revoked") && !shown.contains("?to="),
        "{shown}"
    );

    let status = call(
        http::Method::PUT,
        &format!("/api/issuer/credentials/{}/status", desk.id),
    );
    let again = status
        .bearer(&desk.instance.token)
        .json(r#"{"status":"valid"}"#);
    assert_eq!(desk.instance.call(again).await.status, StatusCode::CONFLICT);
    for query in ["immunization".to_owned(), desk.number.to_string()] {
        let trail = get(&format!("/api/audit?object={query}")).bearer(&desk.instance.token);
        let trail: Value = serde_json::from_str(&desk.instance.call(trail).await.body).unwrap();
        let items = trail["items"].as_array().unwrap();
        let expected = format!("immunization {}", desk.number);
        assert_eq!(items.len(), 2, "{trail}");
        assert!(items.iter().all(|one| one["detail"] == expected), "{trail}");
        assert!(!trail.to_string().contains("Ada"), "{trail}");
    }
    let page = desk.sees("/audit").await.body;
    assert!(page.contains(&format!("immunization {}", desk.number)));
}

#[tokio::test]
async fn a_suspended_credential_is_reinstated_after_a_question_too() {
    let desk = IssuersDesk::open().await;
    let path = format!("/issuer/issued/{}", desk.id);
    let sent = [("status", "suspended")];
    desk.sends(&format!("{path}/status"), &sent).await;
    let shown = desk.sees(&path).await.body;
    assert!(shown.contains("?to=valid") && shown.contains("?to=revoked"));
    assert!(!shown.contains("?to=suspended"), "{shown}");
    let asked = desk.sees(&format!("{path}?to=valid")).await.body;
    assert!(
        asked.contains("accept it again within 61 seconds"),
        "{asked}"
    );
    let unknown = desk.sees("/issuer/issued/unknown?to=revoked").await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
    let wrong = desk.sees(&format!("{path}?to=lost")).await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_delegation_says_what_is_wrong_with_it_in_its_form() {
    let desk = IssuersDesk::open().await;
    let to = "did:web:pharmacy.example";
    let fields = [
        ("to", to),
        ("action", "revoke"),
        ("type", "prescription"),
        ("until", "2030-01-31"),
    ];
    let refused = desk.sends("/issuer/delegations", &fields).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    for said in [
        "<title>Error: Issuer",
        "id=\"to-problem\" role=\"alert\"",
        "value=\"did:web:pharmacy.example\"",
        "<option value=\"revoke\" selected>",
        "value=\"2030-01-31\"",
        "<details open>",
    ] {
        assert!(refused.body.contains(said), "{said}: {}", refused.body);
    }
}

#[tokio::test]
async fn credentials_are_found_by_words_of_their_reference_and_by_status() {
    let desk = IssuersDesk::open().await;
    for label in ["Zoë Müller, E-0017", "Grace Hopper", "Grace Kelly"] {
        desk.instance.issue(label).await;
    }
    let found = async |query: &str| {
        let asked = get(&format!("/api/issuer/credentials?{query}"));
        let answer = desk.instance.call(asked.bearer(&desk.instance.token)).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
        let listed: Value = serde_json::from_str(&answer.body).unwrap();
        let labels = listed["items"].as_array().unwrap().iter();
        let labels: Vec<String> = labels
            .map(|one| one["label"].as_str().unwrap().to_owned())
            .collect();
        labels.join(" | ")
    };
    assert_eq!(found("q=zoe+0017").await, "Zoë Müller, E-0017");
    assert_eq!(found("q=GRACE").await, "Grace Kelly | Grace Hopper");
    assert_eq!(found("q=grace+hopper").await, "Grace Hopper");
    assert_eq!(found("q=nobody").await, "");
    assert_eq!(found("q=grace&type=machine").await, "");
    let path = format!("/issuer/issued/{}/status", desk.id);
    desk.sends(&path, &[("status", "suspended")]).await;
    assert_eq!(found("status=suspended").await, "Ada Lovelace");
    assert_eq!(found("status=valid&q=ada").await, "");
}

#[tokio::test]
async fn several_credentials_are_revoked_on_the_page_after_a_question_that_names_them() {
    let desk = IssuersDesk::open().await;
    desk.instance.issue("Grace Hopper").await;
    let page = desk.sees("/issuer/issued?q=grace").await;
    check("/issuer/issued", &page.body);
    assert!(page.body.contains("Grace Hopper") && !page.body.contains("Ada"));
    let ids = desk.instance.issued_ids().await;
    let chosen = [("id", &*ids[0]), ("id", &*ids[1]), ("status", "revoked")];
    let asked = desk.sends("/issuer/issued", &chosen).await;
    check("POST /issuer/issued", &asked.body);
    for told in [
        "Revoke 2 credentials?",
        "Ada Lovelace",
        "Grace Hopper",
        "undone",
    ] {
        assert!(asked.body.contains(told), "{told}: {}", asked.body);
    }
    let status = desk.instance.status_of(&ids[0]).await;
    assert_eq!(status, CredentialStatus::Valid, "nothing before the answer");
    let done = desk.sends("/issuer/issued/status", &chosen).await;
    assert_eq!(done.status, StatusCode::SEE_OTHER, "{}", done.body);
    for id in &ids {
        let status = desk.instance.status_of(id).await;
        assert_eq!(status, CredentialStatus::Revoked);
    }
    let none = desk.sends("/issuer/issued", &[("status", "revoked")]).await;
    assert_eq!(none.status, StatusCode::SEE_OTHER);
}
