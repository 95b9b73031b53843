//! How a credential type appears in the book, edited on its page and by the API.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::books::{loaded, publish, read, registration, sent};
use super::instance::{Answered, Instance, call, form, get, post};
use super::pages::check;

const PAGE: &str = "/types/view/registration/book";

/// An operator's browser at the editor.
struct Desk {
    instance: Instance,
    cookie: String,
    token: String,
}

impl Desk {
    /// The editor of a type that is in no book yet.
    async fn open() -> Self {
        let instance = Instance::start().await;
        let mut definition = registration();
        definition.as_object_mut().unwrap().remove("book");
        publish(&instance, &definition).await;
        let cookie = instance.operator_cookie().await;
        let page = instance.call(get(PAGE).cookie(&cookie)).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        check(PAGE, &page.body);
        Self {
            token: page.form_token(),
            cookie,
            instance,
        }
    }

    async fn shown(&self) -> String {
        let page = self.instance.call(get(PAGE).cookie(&self.cookie)).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        check(PAGE, &page.body);
        page.body
    }

    async fn send(&self, fields: &[(&str, &str)]) -> Answered {
        let token = [("form_token", self.token.as_str())];
        let fields = form(&[&token[..], fields].concat());
        let sent = post(PAGE).cookie(&self.cookie).form(fields);
        self.instance.call(sent).await
    }

    async fn draft(&self) -> Value {
        let asked = get("/api/types/registration").bearer(&self.instance.token);
        let shown = self.instance.call(asked).await;
        let shown: Value = serde_json::from_str(&shown.body).unwrap();
        shown["draft"]["book"].clone()
    }
}

/// The fields of a whole mapping.
const FIELDS: [(&str, &str); 11] = [
    ("topic.type", "registration.registries.ca"),
    ("topic.source_id", "[\"number\"]"),
    ("topic.founds", "true"),
    ("automatic", "true"),
    ("names.0.type", "entity_name"),
    ("names.0.claim", "[\"name\"]"),
    ("names.1.type", ""),
    ("attributes.0.type", "entity_type"),
    ("attributes.0.claim", "[\"kind\"]"),
    ("attributes.0.facet", "true"),
    ("effective_date", "[\"since\"]"),
];

fn mapping() -> Value {
    json!({
        "topic": {"type": "registration.registries.ca", "source_id": ["number"]},
        "automatic": true,
        "names": [{"type": "entity_name", "claim": ["name"]}],
        "attributes": [{"type": "entity_type", "claim": ["kind"], "facet": true}],
        "effective_date": ["since"],
    })
}

#[tokio::test]
async fn a_mapping_is_chosen_checked_with_sample_claims_saved_and_holds_once_published() {
    let desk = Desk::open().await;
    let checked = desk.send(&[&FIELDS[..], &[("do", "check")]].concat()).await;
    assert_eq!(checked.status, StatusCode::OK, "{}", checked.body);
    check("checked", &checked.body);
    assert!(
        checked.body.contains("Nothing is wrong"),
        "{}",
        checked.body
    );
    assert!(
        checked.body.contains("entity_name: Blue Whale Ltd."),
        "{}",
        checked.body
    );
    assert!(
        checked.body.contains("name=\"names.1.type\""),
        "{}",
        checked.body
    );
    assert_eq!(desk.draft().await, Value::Null);
    let saved = desk.send(&[&FIELDS[..], &[("do", "save")]].concat()).await;
    assert_eq!(saved.status, StatusCode::SEE_OTHER, "{}", saved.body);
    assert_eq!(desk.draft().await, mapping());
    let shown = desk.shown().await;
    assert!(shown.contains("value=\"entity_name\""), "{shown}");
    let published = sent(
        &desk.instance,
        "/api/types/registration/publish",
        &json!({}),
    )
    .await;
    assert_eq!(published.status, StatusCode::OK, "{}", published.body);
    let rows = json!([{"claims": {"number": "1", "name": "Whale", "kind": "BC"}}]);
    loaded(&desk.instance, "registration", rows).await;
    let only = "/api/v4/search/topic?category=entity_type::BC";
    assert_eq!(read(&desk.instance, only).await["total"], 1);
    let removed = desk.send(&[("do", "remove")]).await;
    assert_eq!(removed.status, StatusCode::SEE_OTHER);
    assert_eq!(desk.draft().await, Value::Null);
}

#[tokio::test]
async fn what_is_wrong_is_named_at_its_field_and_nothing_is_saved() {
    let desk = Desk::open().await;
    for (field, value, told) in [
        ("names.0.type", "two words", "Name 1, type"),
        ("names.0.claim", "[\"absent\"]", "Name 1, claim"),
        ("names.0.claim", "no path", "Name 1, claim"),
        ("topic.source_id", "", "Topic, number"),
        ("topic.source_id", "[\"kind\"]", "Topic, number"),
        ("topic.type", "", "Topic, type"),
        ("effective_date", "[\"kind\"]", "Holds from"),
    ] {
        let mut fields = FIELDS.to_vec();
        let at = fields.iter().position(|(name, _)| *name == field).unwrap();
        fields[at] = (field, value);
        fields.push(("do", "save"));
        let refused = desk.send(&fields).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{field}: {value}");
        check(field, &refused.body);
        assert!(refused.body.contains(told), "{field}: {}", refused.body);
        let marked = format!("aria-describedby=\"wrong-{field}\"");
        assert!(refused.body.contains(&marked), "{field}: {}", refused.body);
        assert_eq!(desk.draft().await, Value::Null);
    }
    let many: Vec<(String, String)> = (0..21)
        .map(|row| (format!("cardinality.{row}"), "[\"name\"]".to_owned()))
        .collect();
    let many = many.iter().map(|(name, value)| (&**name, &**value));
    let fields: Vec<(&str, &str)> = FIELDS.into_iter().chain(many).collect();
    let refused = desk.send(&[&fields[..], &[("do", "save")]].concat()).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(
        refused.body.contains("id=\"wrong-cardinality\""),
        "{}",
        refused.body
    );
}

#[tokio::test]
async fn programs_show_preview_replace_and_remove_a_mapping() {
    let desk = Desk::open().await;
    let path = "/api/types/registration/book";
    let asked = async |method: Method, path: &str, body: Option<&Value>| {
        let asked = call(method, path).bearer(&desk.instance.token);
        let asked = match body {
            Some(body) => asked.json(&body.to_string()),
            None => asked,
        };
        desk.instance.call(asked).await
    };
    assert_eq!(
        asked(Method::GET, path, None).await.status,
        StatusCode::NOT_FOUND
    );
    let mut wrong = mapping();
    wrong["names"][0]["claim"] = json!(["absent"]);
    let preview = format!("{path}/preview");
    let judged = asked(Method::POST, &preview, Some(&wrong)).await;
    assert_eq!(judged.status, StatusCode::OK, "{}", judged.body);
    let judged: Value = serde_json::from_str(&judged.body).unwrap();
    let refusal = judged["refusals"][0].as_str().unwrap();
    assert!(refusal.contains("book.names[0].claim"), "{refusal}");
    let refused = asked(Method::PUT, path, Some(&wrong)).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
    assert!(
        refused.body.contains("book.names[0].claim"),
        "{}",
        refused.body
    );
    let good = asked(Method::POST, &preview, Some(&mapping())).await;
    let good: Value = serde_json::from_str(&good.body).unwrap();
    assert_eq!(good["refusals"], json!([]));
    assert_eq!(good["names"], json!(["entity_name: Blue Whale Ltd."]));
    assert_eq!(good["facets"], json!(["entity_type"]));
    assert_eq!(desk.draft().await, Value::Null);
    let saved = asked(Method::PUT, path, Some(&mapping())).await;
    assert_eq!(saved.status, StatusCode::OK, "{}", saved.body);
    let shown = asked(Method::GET, path, None).await;
    assert_eq!(
        serde_json::from_str::<Value>(&shown.body).unwrap(),
        mapping()
    );
    let removed = asked(Method::DELETE, path, None).await;
    assert_eq!(removed.status, StatusCode::NO_CONTENT);
    assert_eq!(
        asked(Method::GET, path, None).await.status,
        StatusCode::NOT_FOUND
    );
    for (method, path) in [
        (Method::GET, "/api/types/absent/book"),
        (Method::PUT, "/api/types/absent/book"),
    ] {
        let body = (method == Method::PUT).then(mapping);
        let unknown = asked(method, path, body.as_ref()).await;
        assert_eq!(unknown.status, StatusCode::NOT_FOUND, "{}", unknown.body);
    }
}
