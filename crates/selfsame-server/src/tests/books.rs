//! Credential books: entries, searches by anybody, verification, erasure.

use http::{Method, StatusCode};
use selfsame_book_view::v4;
use serde_json::{Value, json};

use super::instance::{Answered, Instance, call, form, get, post};

const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";

pub fn registration() -> Value {
    json!({
        "id": "registration",
        "title": {"en": "Registration"},
        "claims": [
            {"path": ["number"], "kind": "text", "required": true, "label": {"en": "Number"}, "example": "BC0001"},
            {"path": ["name"], "kind": "text", "required": true, "example": "Blue Whale Ltd."},
            {"path": ["kind"], "kind": "enumeration", "values": [{"value": "BC"}, {"value": "XP"}]},
            {"path": ["since"], "kind": "date"},
            {"path": ["director"], "kind": "text"},
        ],
        "book": {
            "topic": {"type": "registration.registries.ca", "source_id": ["number"]},
            "names": [{"type": "entity_name", "claim": ["name"]}],
            "attributes": [{"type": "entity_type", "claim": ["kind"], "facet": true}],
            "effective_date": ["since"],
        },
    })
}

pub fn permit() -> Value {
    json!({
        "id": "permit",
        "title": {"en": "Permit"},
        "claims": [
            {"path": ["company"], "kind": "text", "required": true},
            {"path": ["permit"], "kind": "text", "required": true},
            {"path": ["street"], "kind": "text"},
        ],
        "book": {
            "topic": {"type": "registration.registries.ca", "source_id": ["company"], "founds": false},
            "addresses": [{"civic_address": [["street"]]}],
            "cardinality": [["permit"]],
        },
    })
}

pub async fn sent(instance: &Instance, path: &str, body: &Value) -> Answered {
    let sent = post(path).bearer(&instance.token);
    instance.call(sent.json(&body.to_string())).await
}

pub async fn publish(instance: &Instance, definition: &Value) {
    let created = sent(instance, "/api/types", definition).await;
    assert_eq!(created.status, StatusCode::CREATED, "{}", created.body);
    let id = definition["id"].as_str().unwrap();
    let published = sent(instance, &format!("/api/types/{id}/publish"), &json!({})).await;
    assert_eq!(published.status, StatusCode::OK, "{}", published.body);
}

pub async fn with_book(instance: Instance) -> Instance {
    publish(&instance, &registration()).await;
    publish(&instance, &permit()).await;
    instance
}

async fn load(instance: &Instance, type_id: &str, rows: Value) -> Answered {
    let load = json!({"type": type_id, "rows": rows});
    sent(instance, "/api/book/quick-load", &load).await
}

pub async fn loaded(instance: &Instance, type_id: &str, rows: Value) -> Value {
    let answer = load(instance, type_id, rows).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.body);
    let loaded: Value = serde_json::from_str(&answer.body).unwrap();
    loaded["items"].clone()
}

pub async fn read(instance: &Instance, path: &str) -> Value {
    let answer = instance.call(get(path)).await;
    assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.body);
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    serde_json::from_str(&answer.body).unwrap()
}

/// Has the index built anew, and waits until it is. Returns the number of records that were read.
async fn rebuilt(instance: &Instance) -> u64 {
    let begun = sent(instance, "/api/book/rebuild", &json!({})).await;
    assert_eq!(begun.status, StatusCode::OK, "{}", begun.body);
    loop {
        let asked = instance.call(get("/api/book/rebuild").bearer(&instance.token));
        let asked: Value = serde_json::from_str(&asked.await.body).unwrap();
        match asked["state"].as_str().unwrap() {
            "running" => tokio::time::sleep(std::time::Duration::from_millis(10)).await,
            "done" => return asked["records"].as_u64().unwrap(),
            other => panic!("{other}"),
        }
    }
}

#[tokio::test]
async fn an_index_is_built_anew_in_the_background_and_finds_the_same() {
    let instance = with_book(Instance::start().await).await;
    let asked = || get("/api/book/rebuild").bearer(&instance.token);
    assert_eq!(instance.call(asked()).await.status, StatusCode::NOT_FOUND);
    let rows = json!([{"claims": {"number": "1", "name": "Blue Whale"}}, {"claims": {"number": "2", "name": "Grey Whale"}}]);
    loaded(&instance, "registration", rows).await;
    let before = read(&instance, "/api/v4/search/topic?q=whale").await;
    assert_eq!(rebuilt(&instance).await, 2);
    let after = read(&instance, "/api/v4/search/topic?q=whale").await;
    assert_eq!((&before["total"], &before), (&json!(2), &after));
}

#[tokio::test]
async fn a_topic_with_the_number_of_another_one_is_refused_by_name() {
    let instance = with_book(Instance::start().await).await;
    let mut type_of_pairs = registration();
    type_of_pairs["id"] = json!("pair");
    type_of_pairs["book"]["topic"]["type"] = json!("registration");
    publish(&instance, &type_of_pairs).await;
    let row = |number: &str| json!([{"claims": {"number": number, "name": "Whale"}}]);
    loaded(&instance, "pair", row("1084f0dcd2c38")).await;
    let refused = load(&instance, "pair", row("e7bb945de7a60")).await;
    assert_eq!(refused.status, StatusCode::CONFLICT, "{}", refused.body);
    for named in ["1084f0dcd2c38", "e7bb945de7a60"] {
        assert!(refused.body.contains(named), "{}", refused.body);
    }
    loaded(&instance, "pair", row("3")).await;
    assert_eq!(read(&instance, "/api/v4/search/topic").await["total"], 2);
}

#[tokio::test]
async fn what_is_loaded_is_found_by_anybody_with_orgbooks_members() {
    let instance = with_book(Instance::start().await).await;
    let rows = json!([
        {"claims": {"number": "BC0001", "name": "Blue Whale Ltd.", "kind": "BC", "since": "1998-04-01", "director": "Ada Lovelace"}},
        {"claims": {"number": "BC0002", "name": "Whale Watchers", "kind": "XP"}},
    ]);
    let registered = loaded(&instance, "registration", rows).await;
    loaded(
        &instance,
        "permit",
        json!([{"claims": {"company": "BC0001", "permit": "7", "street": "1 Main Street"}}]),
    )
    .await;
    let found = read(&instance, "/api/v4/search/topic?q=main+whale").await;
    assert_eq!(
        (&found["total"], &found["page"], &found["next"]),
        (&json!(1), &json!(1), &Value::Null)
    );
    let topic = &found["results"][0];
    assert_eq!(topic["id"], registered[0]["topic_id"]);
    assert_eq!(topic["source_id"], "BC0001");
    assert_eq!(topic["names"][0]["text"], "Blue Whale Ltd.");
    assert_eq!(topic["addresses"][0]["civic_address"], "1 Main Street");
    assert_eq!(topic["attributes"][0]["format"], "category");
    assert_eq!(topic["effective_date"], "1998-04-01T00:00:00Z");
    assert_eq!(topic["credential_type"]["description"], "Registration");
    let misspelt = read(&instance, "/api/v4/search/topic?q=wahle+watchres").await;
    assert_eq!(misspelt["results"][0]["source_id"], "BC0002");
    let fuzzy = read(&instance, "/api/v4/search/fuzzy?q=whele").await;
    assert_eq!(fuzzy.as_array().unwrap().len(), 2);
    let facets = read(&instance, "/api/v4/search/topic/facets?q=whale").await;
    let categories = facets["facets"]["fields"]["category"].as_array().unwrap();
    assert_eq!(categories.len(), 2, "{facets}");
    let suggested = read(&instance, "/api/v4/search/autocomplete?q=blu").await;
    assert_eq!(suggested["results"][0]["value"], "Blue Whale Ltd.");
    assert_eq!(suggested["results"][0]["type"], "name");
    let only = read(&instance, "/api/v4/search/topic?category=entity_type::XP").await;
    assert_eq!(only["results"][0]["source_id"], "BC0002");
    let types = read(&instance, "/api/v4/credential-type").await;
    assert_eq!(types["total"], 2);
}

#[tokio::test]
async fn what_a_crawler_has_already_is_not_sent_again() {
    let instance = with_book(Instance::start().await).await;
    let path = "/api/v4/search/topic?q=whale";
    let first = instance.call(get(path)).await;
    let tag = first.header("etag").to_owned();
    let again = || get(path).header("if-none-match", &tag);
    let known = instance.call(again()).await;
    assert_eq!(
        (known.status, known.body.as_str()),
        (StatusCode::NOT_MODIFIED, "")
    );
    loaded(
        &instance,
        "registration",
        json!([{"claims": {"number": "1", "name": "Whale"}}]),
    )
    .await;
    assert_eq!(instance.call(again()).await.status, StatusCode::OK);
}

#[tokio::test]
async fn pages_that_a_crawler_has_are_not_sent_again() {
    let instance = with_book(Instance::start().await).await;
    let first = instance.call(get("/book?q=whale")).await;
    let tag = first.header("etag").to_owned();
    let again = || get("/book?q=whale").header("if-none-match", &tag);
    let known = instance.call(again()).await;
    assert_eq!(
        (known.status, known.body.as_str()),
        (StatusCode::NOT_MODIFIED, "")
    );
    let rows = json!([{"claims": {"number": "1", "name": "Whale"}}]);
    loaded(&instance, "registration", rows).await;
    assert_eq!(instance.call(again()).await.status, StatusCode::OK);
}

/// A book with the registration of a company and a permit of it.
struct BookOfOneCompany {
    instance: Instance,
    /// The company's topic.
    topic: Value,
    /// The identifier of the registration.
    id: String,
}

async fn book_of_one_company() -> BookOfOneCompany {
    let instance = with_book(Instance::start().await).await;
    let rows = json!([{"claims": {"number": "BC0001", "name": "Blue Whale Ltd.", "kind": "BC"}}]);
    let made = loaded(&instance, "registration", rows).await;
    let permit =
        json!([{"claims": {"company": "BC0001", "permit": "7", "street": "1 Main Street"}}]);
    loaded(&instance, "permit", permit).await;
    BookOfOneCompany {
        topic: made[0]["topic_id"].clone(),
        id: made[0]["credential_id"].as_str().unwrap().to_owned(),
        instance,
    }
}

#[tokio::test]
async fn clients_of_older_versions_of_orgbooks_api_find_the_same_topics() {
    let BookOfOneCompany {
        instance,
        topic,
        id,
    } = book_of_one_company().await;
    let topic = &topic;
    let kind = "registration.registries.ca";
    let found = read(&instance, &format!("/api/v3/topic/{kind}/BC0001")).await;
    assert_eq!(&found["id"], topic);
    let found = read(
        &instance,
        &format!("/api/v2/topic/ident/{kind}/BC0001/formatted"),
    )
    .await;
    assert_eq!(found["local_name"]["text"], "Blue Whale Ltd.");
    assert_eq!(found["addresses"][0]["civic_address"], "1 Main Street");
    let by_attribute = read(&instance, "/api/v3/search/topic/attribute/entity_type::BC").await;
    assert_eq!(&by_attribute[0]["id"], topic);
    let credential = read(&instance, &format!("/api/v3/credential/{id}")).await;
    let number = &credential["id"];
    let same = read(&instance, &format!("/api/v2/credential/{number}")).await;
    assert_eq!(same, credential);
    let path = format!("/api/v2/topic/{topic}/credential");
    let all = read(&instance, &path).await;
    assert_eq!(all.as_array().unwrap().len(), 2);
    assert_eq!(&all[0]["topic"]["id"], topic);
    assert_eq!(&all[0]["credential_set"]["topic_id"], topic);
    let active = read(&instance, &format!("{path}/active")).await;
    let past = read(&instance, &format!("{path}/historical")).await;
    assert_eq!((active, past), (all, json!([])));
    let found = read(&instance, "/api/v2/search/credential/topic?q=whale").await;
    assert_eq!(&found["results"][0]["id"], topic);
    let found = read(&instance, "/api/v3/new/search/topic?q=whale").await;
    assert_eq!(&found["results"][0]["id"], topic);
}

#[tokio::test]
async fn clients_of_each_version_of_orgbooks_api_find_the_same_issuers_and_schemas() {
    let BookOfOneCompany {
        instance,
        topic,
        id,
    } = book_of_one_company().await;
    let topic = &topic;
    for version in ["v2", "v3", "v4"] {
        let at = |what: &str| format!("/api/{version}/{what}");
        let found = read(&instance, &at("search/credential?q=whale")).await;
        assert_eq!(found["results"][0]["credential_id"], id, "{found}");
        assert_eq!(&found["results"][0]["topic"]["id"], topic);
        let issuers = read(&instance, &at("issuer")).await;
        assert_eq!(issuers["total"], 1, "{issuers}");
        let issuer = &issuers["results"][0];
        let path = at(&format!("issuer/{}", issuer["id"]));
        assert_eq!(read(&instance, &path).await, *issuer);
        let schemas = read(&instance, &at("schema")).await;
        assert_eq!(schemas["total"], 2, "{schemas}");
        let schema = &schemas["results"][0];
        let number = &schema["id"];
        let path = at(&format!("schema/{number}"));
        assert_eq!(read(&instance, &path).await, *schema);
        let types = match version {
            "v4" => "credential-type",
            _ => "credentialtype",
        };
        let kind = read(&instance, &at(&format!("{types}/{number}"))).await;
        assert_eq!(kind["schema"], *schema);
        if version != "v3" {
            let path = at(&format!("{types}/{number}/language"));
            let language = read(&instance, &path).await;
            assert!(language["claim_labels"].is_object(), "{language}");
        }
        for unknown in ["issuer/7", "schema/7", &format!("{types}/7")] {
            let answer = instance.call(get(&at(unknown))).await;
            assert_eq!(answer.status, StatusCode::NOT_FOUND, "{version}/{unknown}");
        }
    }
}

#[tokio::test]
async fn clients_of_the_first_version_of_orgbooks_api_find_organisations() {
    let BookOfOneCompany {
        instance,
        topic,
        id,
    } = book_of_one_company().await;
    let topic = &topic;
    let credential = read(&instance, &format!("/api/v3/credential/{id}")).await;
    let number = &credential["id"];
    let organisations = read(&instance, "/api/v1/verifiableorgs").await;
    assert_eq!(organisations[0]["legalName"], "Blue Whale Ltd.");
    assert_eq!(organisations[0]["orgId"], "BC0001");
    let of = |what: &str| format!("/api/v1/verifiableorgs/{topic}/{what}");
    let claims = read(&instance, &of("verifiableclaims")).await;
    assert_eq!(claims.as_array().unwrap().len(), 2);
    let said = claims[0]["claimJSON"].as_str().unwrap();
    assert!(said.starts_with('{'), "{said}");
    let places = read(&instance, &of("locations")).await;
    assert_eq!(places[0]["streetAddress"], "1 Main Street");
    assert_eq!(read(&instance, &of("doingbusinessas")).await, json!([]));
    // The organisation alone vouches for it, so there is no credential to verify.
    let verified = read(
        &instance,
        &format!("/api/v1/verifiableclaims/{number}/verify"),
    )
    .await;
    assert_eq!(verified["success"], false);
    for path in [
        "/api/v1/verifiableclaims/7/verify",
        "/api/v2/credential/7",
        "/api/v3/topic/x/y",
    ] {
        assert_eq!(
            instance.call(get(path)).await.status,
            StatusCode::NOT_FOUND,
            "{path}"
        );
    }
}

#[tokio::test]
async fn anybody_searches_and_looks_at_a_topic_on_pages() {
    let instance = with_book(Instance::start().await).await;
    let rows =
        json!([{"claims": {"number": "BC0001", "name": "<b>Blue</b> Whale & Co", "kind": "BC"}}]);
    let made = loaded(&instance, "registration", rows).await;
    let (topic, id) = (
        &made[0]["topic_id"],
        made[0]["credential_id"].as_str().unwrap(),
    );
    let page = async |path: &str| {
        let answer = instance.call(get(path)).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.body);
        assert!(!answer.body.contains("<b>Blue"), "{path}: {}", answer.body);
        answer.body
    };
    assert!(!page("/book").await.contains("Whale"));
    let found = page("/book?q=wahle").await;
    assert!(
        found.contains(&format!("/book/topic/{topic}")) && found.contains("Nothing fits exactly"),
        "{found}"
    );
    let shown = page(&format!("/book/topic/{topic}")).await;
    assert!(
        shown.contains("application/ld+json") && shown.contains(&format!("/book/entry/{id}")),
        "{shown}"
    );
    page(&format!("/book/entry/{id}")).await;
    let verified = page(&format!("/book/entry/{id}/verify")).await;
    assert!(verified.contains("has no credential"), "{verified}");
    let site = page("/book/sitemap.xml").await;
    let part = site
        .split("<loc>")
        .nth(1)
        .unwrap()
        .split("</loc>")
        .next()
        .unwrap();
    let part = page(part.strip_prefix("http://127.0.0.1:7380").unwrap()).await;
    assert!(
        part.contains(&format!("/book/topic/{topic}</loc>")),
        "{part}"
    );
}

#[tokio::test]
async fn a_topic_shows_its_history_and_only_the_claims_of_the_mapping() {
    let instance = with_book(Instance::start().await).await;
    let name = |name: &str, since: &str| json!({"claims": {"number": "BC0001", "name": name, "since": since, "director": "Ada Lovelace"}});
    let rows = json!([
        name("Old Ltd.", "2001-01-01"),
        name("New Ltd.", "2011-01-01")
    ]);
    let made = loaded(&instance, "registration", rows).await;
    let sets = read(
        &instance,
        &format!("/api/v4/topic/{}/credential-set", made[0]["topic_id"]),
    )
    .await;
    assert_eq!(sets.as_array().unwrap().len(), 1);
    let credentials = sets[0]["credentials"].as_array().unwrap();
    let latest: Vec<&Value> = credentials.iter().map(|one| &one["latest"]).collect();
    assert_eq!(latest, [&json!(true), &json!(false)]);
    assert_eq!(credentials[0]["names"][0]["text"], "New Ltd.");
    assert!(!sets.to_string().contains("Lovelace"), "{sets}");
    let old = read(&instance, "/api/v4/search/topic?q=old").await;
    assert_eq!(old["total"], 0);
}

#[tokio::test]
async fn a_credential_is_entered_once_after_it_was_verified_and_is_verified_again_for_anybody() {
    let instance = with_book(Instance::listening().await).await;
    let offer = json!({"type": "registration", "claims": {"number": "BC0009", "name": "Grey Seal Inc.", "kind": "BC"}});
    let credential = instance.issue_many(offer, 1).await.remove(0);
    let body = json!({"credentials": [credential]});
    let entered = sent(&instance, "/api/book/credentials", &body).await;
    assert_eq!(entered.status, StatusCode::CREATED, "{}", entered.body);
    let entered: Value = serde_json::from_str(&entered.body).unwrap();
    let again = sent(&instance, "/api/book/credentials", &body).await;
    let again: Value = serde_json::from_str(&again.body).unwrap();
    assert_eq!(again["items"][0]["new"], false);
    assert_eq!(
        again["items"][0]["credential_id"],
        entered["items"][0]["credential_id"]
    );
    let found = read(&instance, "/api/v4/search/topic?q=grey+seal").await;
    assert_eq!(found["results"][0]["source_id"], "BC0009");
    let id = entered["items"][0]["credential_id"].as_str().unwrap();
    let verified = read(&instance, &format!("/api/v4/credential/{id}/verify")).await;
    assert_eq!(verified["verdict"]["outcome"], "valid", "{verified}");
    assert_eq!(verified["verdict"]["claims"], Value::Null);
    let forged = format!("{}x", credential.trim_end_matches('~'));
    let refused = sent(
        &instance,
        "/api/book/credentials",
        &json!({"credentials": [forged]}),
    )
    .await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
}

/// A request of the instance's verifier for a registration; its id and its link.
async fn asked(instance: &Instance, claims: Value, is_bound: bool) -> (String, String) {
    let credential = json!({
        "id": "registration", "format": "dc+sd-jwt",
        "require_cryptographic_holder_binding": is_bound,
        "meta": {"vct_values": [format!("http://{}/types/registration/1", instance.host)]},
        "claims": claims,
    });
    let new = json!({"dcql_query": {"credentials": [credential]}});
    let made = sent(instance, "/api/verifier/requests", &new).await;
    assert_eq!(made.status, StatusCode::CREATED, "{}", made.body);
    let made: Value = serde_json::from_str(&made.body).unwrap();
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    (text("id"), text("uri"))
}

#[tokio::test]
async fn an_entry_is_proven_to_a_verifier_that_asks_and_shows_it_nothing_else() {
    let instance = with_book(Instance::listening().await).await;
    let offer = json!({"type": "registration", "claims": {"number": "BC0009", "name": "Grey Seal Inc.", "kind": "BC", "director": "Ada Lovelace"}});
    let credential = instance.issue_many(offer, 1).await.remove(0);
    let body = json!({"credentials": [credential]});
    let entered = sent(&instance, "/api/book/credentials", &body).await;
    let entered: Value = serde_json::from_str(&entered.body).unwrap();
    let id = entered["items"][0]["credential_id"].as_str().unwrap();
    let prove = async |link: &str| {
        let path = format!("/api/v4/credential/{id}/prove");
        let proof = json!({"request": link}).to_string();
        instance.call(post(&path).json(&proof)).await
    };
    let judged = async |request: &str| {
        let path = format!("/api/verifier/requests/{request}");
        let shown = instance.call(get(&path).bearer(&instance.token)).await;
        serde_json::from_str::<Value>(&shown.body).unwrap()
    };
    let number = || json!([{"path": ["number"]}, {"path": ["name"]}]);
    let (request, link) = asked(&instance, number(), false).await;
    let proven = prove(&link).await;
    assert_eq!(proven.status, StatusCode::OK, "{}", proven.body);
    let shown = judged(&request).await;
    assert_eq!(shown["verdict"]["outcome"], "valid", "{shown}");
    assert!(shown.to_string().contains("BC0009"), "{shown}");
    assert!(!shown.to_string().contains("Lovelace"), "{shown}");

    let (request, link) = asked(&instance, json!([{"path": ["director"]}]), false).await;
    let refused = prove(&link).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
    assert!(refused.body.contains("director"), "{}", refused.body);
    assert_eq!(judged(&request).await["verdict"], Value::Null);
    let (_, link) = asked(&instance, number(), true).await;
    let refused = prove(&link).await;
    assert!(
        refused
            .body
            .contains("require_cryptographic_holder_binding"),
        "{}",
        refused.body
    );
    for link in [
        "",
        "openid4vp://",
        "https://127.0.0.1:1/x",
        "javascript:alert(1)",
    ] {
        assert_eq!(prove(link).await.status, StatusCode::BAD_REQUEST, "{link}");
    }
    let (_, link) = asked(&instance, number(), false).await;
    let form = form(&[("request", &link)]);
    let page = instance
        .call(post(&format!("/book/entry/{id}/verify")).form(form))
        .await;
    assert!(page.body.contains("has taken the proof"), "{}", page.body);
}

#[tokio::test]
async fn entries_of_an_issuer_that_is_trusted_no_more_are_marked_and_those_of_a_suspended_keeper_are_hidden()
 {
    let instance = with_book(Instance::start().await).await;
    let acme = json!({"name": "acme", "title": "Acme"});
    let created = sent(&instance, "/api/organisations", &acme).await;
    let created: Value = serde_json::from_str(&created.body).unwrap();
    let path = "/o/acme/api/v4/search/topic";
    assert_eq!(read(&instance, path).await["total"], 0);
    let standing = async |issuer: &str| {
        let book = instance.app.book_of(instance.app.main().clone());
        book.standing(issuer).await.unwrap()
    };
    let acme = created["did"].as_str().unwrap();
    assert_eq!(standing(acme).await, v4::IssuerStanding::Untrusted);
    let own = instance.app.main().issuer().unwrap().names().remove(0);
    assert_eq!(standing(&own).await, v4::IssuerStanding::Good);
    let suspended = call(Method::PATCH, "/api/organisations/acme").bearer(&instance.token);
    let suspended = instance
        .call(suspended.json(r#"{"state": "suspended"}"#))
        .await;
    assert_eq!(suspended.status, StatusCode::OK, "{}", suspended.body);
    let hidden = instance.call(get(path)).await;
    assert_eq!(hidden.status, StatusCode::FORBIDDEN, "{}", hidden.body);
    assert_eq!(
        instance.call(get("/o/acme/book")).await.status,
        StatusCode::FORBIDDEN
    );
}

#[tokio::test]
async fn an_erased_entry_leaves_a_tombstone_and_nothing_else() {
    let instance = with_book(Instance::start().await).await;
    let rows = json!([{"claims": {"number": "P-1", "name": "Private Person"}}]);
    let made = loaded(&instance, "registration", rows).await;
    let id = made[0]["credential_id"].as_str().unwrap();
    let path = format!("/api/book/credentials/{id}/erase");
    let groundless = sent(&instance, &path, &json!({"ground": " "})).await;
    assert_eq!(groundless.status, StatusCode::BAD_REQUEST);
    let erased = sent(&instance, &path, &json!({"ground": "court order 7"})).await;
    assert_eq!(erased.status, StatusCode::OK, "{}", erased.body);
    let found = read(&instance, "/api/v4/search/topic?q=private").await;
    assert_eq!(found["total"], 0);
    for (path, status) in [
        (format!("/api/v4/credential/{id}"), StatusCode::GONE),
        (format!("/api/v4/credential/{id}/verify"), StatusCode::GONE),
        (
            format!("/api/v4/topic/{}", made[0]["topic_id"]),
            StatusCode::NOT_FOUND,
        ),
    ] {
        assert_eq!(instance.call(get(&path)).await.status, status, "{path}");
    }
    let again = sent(&instance, &path, &json!({"ground": "court order 7"})).await;
    assert_eq!(again.status, StatusCode::GONE);
    rebuilt(&instance).await;
    let found = read(
        &instance,
        "/api/v4/search/topic?q=private&inactive=any&revoked=any",
    )
    .await;
    assert_eq!(found["total"], 0);
}

#[tokio::test]
async fn a_revoked_entry_is_left_out_unless_it_is_asked_for() {
    let instance = with_book(Instance::start().await).await;
    let rows = json!([{"claims": {"number": "BC0001", "name": "Blue Whale"}}]);
    let made = loaded(&instance, "registration", rows).await;
    let id = made[0]["credential_id"].as_str().unwrap();
    for _ in 0..2 {
        let revoked = sent(
            &instance,
            &format!("/api/book/credentials/{id}/revoke"),
            &json!({}),
        )
        .await;
        assert_eq!(revoked.status, StatusCode::NO_CONTENT, "{}", revoked.body);
    }
    assert_eq!(
        read(&instance, "/api/v4/search/topic?q=whale").await["total"],
        0
    );
    let found = read(&instance, "/api/v4/search/topic?q=whale&revoked=true").await;
    assert_eq!(found["results"][0]["revoked"], true);
}

#[tokio::test]
async fn rows_are_entered_all_or_none_and_only_about_topics_that_are_known() {
    let instance = with_book(Instance::start().await).await;
    for (type_id, rows, part) in [
        (
            "registration",
            json!([{"claims": {"number": "1", "name": "A"}}, {"claims": {"name": "B"}}]),
            "number 2",
        ),
        (
            "registration",
            json!([{"claims": {"number": "1", "name": "A"}, "id": "no UUID"}]),
            "UUID",
        ),
        (
            "registration",
            json!([{"claims": {"number": "1", "name": "A", "colour": "red"}}]),
            "colour",
        ),
        (
            "permit",
            json!([{"claims": {"company": "unknown", "permit": "7"}}]),
            "no topic",
        ),
        ("immunization", json!([{"claims": {}}]), "number 1"),
    ] {
        let refused = load(&instance, type_id, rows).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
        assert!(refused.body.contains(part), "{part}: {}", refused.body);
    }
    assert_eq!(read(&instance, "/api/v4/search/topic").await["total"], 0);
    let row = |name: &str| json!([{"id": UNKNOWN, "claims": {"number": "1", "name": name}}]);
    assert_eq!(
        loaded(&instance, "registration", row("A")).await[0]["new"],
        true
    );
    assert_eq!(
        loaded(&instance, "registration", row("A")).await[0]["new"],
        false
    );
    assert_eq!(
        load(&instance, "registration", row("B")).await.status,
        StatusCode::CONFLICT
    );
}

#[tokio::test]
async fn a_thousand_rows_of_many_claims_are_entered_by_one_request_and_come_again_without_a_change()
{
    let instance = Instance::start().await;
    let mut wide = registration();
    let claims = wide["claims"].as_array_mut().unwrap();
    claims.extend(
        (0..12).map(|number| json!({"path": [format!("further-{number}")], "kind": "text"})),
    );
    publish(&instance, &wide).await;
    let row = |number: usize| {
        let mut claims = json!({"number": number.to_string(), "name": "Whale"});
        for further in 0..12 {
            claims[format!("further-{further}")] = "x".repeat(40).into();
        }
        json!({"id": format!("00000000-0000-4000-8000-{number:012}"), "claims": claims})
    };
    let rows: Vec<Value> = (0..1_000).map(row).collect();
    for is_new in [true, false] {
        let made = loaded(&instance, "registration", rows.clone().into()).await;
        let made = made.as_array().unwrap();
        assert_eq!(made.len(), 1_000);
        assert!(made.iter().all(|one| one["new"] == is_new));
    }
    let some_new = json!([row(999), row(1_000)]);
    let made = loaded(&instance, "registration", some_new).await;
    assert_eq!(
        (&made[0]["new"], &made[1]["new"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(
        read(&instance, "/api/v4/search/topic").await["total"],
        1_001
    );
    let too_many = vec![row(1); 1_001];
    let refused = load(&instance, "registration", too_many.into()).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn only_those_who_keep_a_book_change_it_and_no_search_breaks_it() {
    let instance = with_book(Instance::start().await).await;
    for path in [
        "/api/book/credentials",
        "/api/book/quick-load",
        "/api/book/rebuild",
    ] {
        let anybody = instance.call(post(path).json("{}")).await;
        assert_eq!(anybody.status, StatusCode::UNAUTHORIZED, "{path}");
    }
    for query in [
        "q=%22%29+OR+1%3D1--",
        "q=%00",
        "q=*",
        "category=%27%3B--",
        "type_id=x",
        "issuer_id=-1",
        "unknown=1",
    ] {
        for face in ["topic", "topic/facets", "autocomplete", "fuzzy"] {
            read(&instance, &format!("/api/v4/search/{face}?{query}")).await;
        }
    }
    let long = format!("/api/v4/search/topic?q={}", "x".repeat(300));
    for path in [
        long.as_str(),
        "/api/v4/search/topic?page=5000",
        "/api/v4/search/topic?ordering=x",
    ] {
        assert_eq!(
            instance.call(get(path)).await.status,
            StatusCode::BAD_REQUEST,
            "{path}"
        );
    }
    for path in [
        &format!("/api/v4/credential/{UNKNOWN}"),
        "/api/v4/credential/erased%2Fx",
        "/api/v4/topic/7",
    ] {
        assert_eq!(
            instance.call(get(path)).await.status,
            StatusCode::NOT_FOUND,
            "{path}"
        );
    }
    let deleted = instance.call(call(Method::DELETE, "/api/v4/topic/7")).await;
    assert_eq!(deleted.status, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn each_organisation_has_a_book_of_its_own() {
    let instance = with_book(Instance::start().await).await;
    loaded(
        &instance,
        "registration",
        json!([{"claims": {"number": "1", "name": "Blue Whale"}}]),
    )
    .await;
    let other = json!({"name": "acme", "title": "Acme"});
    let created = sent(&instance, "/api/organisations", &other).await;
    assert_eq!(created.status, StatusCode::CREATED, "{}", created.body);
    assert_eq!(
        read(&instance, "/o/acme/api/v4/search/topic?q=whale").await["total"],
        0
    );
    assert_eq!(
        read(&instance, "/api/v4/search/topic?q=whale").await["total"],
        1
    );
}

#[tokio::test]
async fn the_agent_proves_nothing_for_the_book_until_those_who_keep_it_say_so() {
    let instance = with_book(Instance::start().await).await;
    let path = "/api/book/policy";
    assert_eq!(
        instance.call(get(path)).await.status,
        StatusCode::UNAUTHORIZED
    );
    let policy = async || {
        let asked = instance.call(get(path).bearer(&instance.token)).await;
        serde_json::from_str::<Value>(&asked.body).unwrap()
    };
    assert_eq!(policy().await, json!({"proofs_by_agent": false}));
    let put = async |body: &str| {
        let put = call(Method::PUT, path).bearer(&instance.token);
        instance.call(put.json(body)).await.status
    };
    assert_eq!(put(r#"{"proofs": true}"#).await, StatusCode::BAD_REQUEST);
    assert_eq!(put(r#"{"proofs_by_agent": true}"#).await, StatusCode::OK);
    assert_eq!(policy().await, json!({"proofs_by_agent": true}));

    let cookie = instance.operator_cookie().await;
    let page = instance.call(get("/issuer/book").cookie(&cookie)).await;
    assert!(page.body.contains("Switch it off"), "{}", page.body);
    let token = page.form_token();
    let off = [("form_token", &*token), ("proofs_by_agent", "false")];
    let sent = post("/issuer/book/policy").cookie(&cookie).form(form(&off));
    assert_eq!(instance.call(sent).await.status, StatusCode::SEE_OTHER);
    assert_eq!(policy().await, json!({"proofs_by_agent": false}));
    let page = instance.call(get("/issuer/book").cookie(&cookie)).await;
    assert!(page.body.contains("Switch it on"), "{}", page.body);
}

#[tokio::test]
async fn only_credentials_that_the_agent_holds_are_entered_as_held() {
    let instance = with_book(Instance::start().await).await;
    let path = "/api/book/held";
    let unknown = sent(&instance, path, &json!({"credentials": ["nobody"]})).await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND, "{}", unknown.body);
    let many: Vec<String> = (0..101).map(|number: u32| number.to_string()).collect();
    let many = sent(&instance, path, &json!({"credentials": many})).await;
    assert_eq!(many.status, StatusCode::BAD_REQUEST, "{}", many.body);
    let nobody = post(path).json(r#"{"credentials": []}"#);
    assert_eq!(instance.call(nobody).await.status, StatusCode::UNAUTHORIZED);
}
