//! Credential types by API and on pages, and the documents that anyone may read.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::instance::{Answered, Instance, call, form, get, post};

fn membership() -> Value {
    json!({
        "id": "membership",
        "title": {"en": "Membership"},
        "card": {"logo": {"uri": "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4="}},
        "claims": [
            {"path": ["number"], "kind": "text", "required": true, "label": {"en": "Number"}},
            {"path": ["level"], "kind": "enumeration", "values": [{"value": "basic"}, {"value": "full"}]},
            {"path": ["address"], "kind": "object", "claims": [
                {"path": ["city"], "kind": "text", "required": true},
                {"path": ["rented"], "kind": "boolean"},
            ]},
            {"path": ["visits"], "kind": "list", "of": {"kind": "object", "claims": [
                {"path": ["day"], "kind": "date"},
                {"path": ["with", "name"], "kind": "text"},
            ]}},
        ],
    })
}

async fn sent(instance: &Instance, path: &str, body: &Value) -> Answered {
    let sent = post(path).bearer(&instance.token).json(&body.to_string());
    instance.call(sent).await
}

async fn published() -> Instance {
    let instance = Instance::start().await;
    let created = sent(&instance, "/api/types", &membership()).await;
    assert_eq!(created.status, StatusCode::CREATED, "{}", created.body);
    let published = sent(&instance, "/api/types/membership/publish", &json!({})).await;
    assert_eq!(published.status, StatusCode::OK, "{}", published.body);
    instance
}

#[tokio::test]
async fn a_type_is_created_shown_published_and_retired_by_api() {
    let instance = published().await;
    let shown = instance
        .call(get("/api/types/membership").bearer(&instance.token))
        .await;
    let shown: Value = serde_json::from_str(&shown.body).unwrap();
    assert_eq!(
        (&shown["state"], &shown["version"]),
        (&json!("published"), &json!(1))
    );
    let advice = shown["advice"][0].as_str().unwrap();
    assert!(
        advice.contains("`card.logo` has no text alternative"),
        "{advice}"
    );
    let again = sent(&instance, "/api/types", &membership()).await;
    assert_eq!(again.status, StatusCode::CONFLICT, "{}", again.body);
    let other = call(Method::PUT, "/api/types/other").bearer(&instance.token);
    let other = instance.call(other.json(&membership().to_string())).await;
    assert_eq!(other.status, StatusCode::BAD_REQUEST, "{}", other.body);
    let retired = sent(&instance, "/api/types/membership/retire", &json!({})).await;
    assert!(retired.body.contains("\"retired\""), "{}", retired.body);
    let offer = json!({"type": "membership", "examples": true});
    let refused = sent(&instance, "/api/issuer/offers", &offer).await;
    assert_eq!(refused.status, StatusCode::GONE, "{}", refused.body);
    let listed = instance
        .call(get("/api/types").bearer(&instance.token))
        .await;
    let listed: Value = serde_json::from_str(&listed.body).unwrap();
    assert_eq!(listed["items"].as_array().unwrap().len(), 11);
}

#[tokio::test]
async fn a_type_that_is_refused_names_the_place_and_nothing_is_stored() {
    let instance = Instance::start().await;
    let mut wrong = membership();
    wrong["claims"][1]["path"] = json!(["number"]);
    let refused = sent(&instance, "/api/types", &wrong).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(
        refused
            .body
            .contains("`claims[1].path` is equal to `number`"),
        "{}",
        refused.body
    );
    let shown = instance
        .call(get("/api/types/membership").bearer(&instance.token))
        .await;
    assert_eq!(shown.status, StatusCode::NOT_FOUND);
    wrong["claims"][1]["colour"] = json!(7);
    let refused = sent(&instance, "/api/types", &wrong).await;
    assert!(refused.body.contains("claims[1]"), "{}", refused.body);
}

#[tokio::test]
async fn the_documents_of_a_type_are_public_and_never_change() {
    let instance = published().await;
    for (document, media) in [
        ("", "application/json"),
        ("/schema", "application/schema+json"),
        ("/context", "application/ld+json"),
        ("/logo", "image/svg+xml"),
    ] {
        let path = format!("/types/membership/1{document}");
        let answer = instance.call(get(&path)).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.body);
        assert_eq!(answer.header("content-type"), media);
        assert_eq!(
            answer.header("cache-control"),
            "public, max-age=31536000, immutable"
        );
        // What an image contains runs nothing, even if it is opened on its own.
        let policy = answer.header("content-security-policy");
        assert!(policy.ends_with("sandbox"), "{path}: {policy}");
    }
    for absent in [
        "/types/membership/2",
        "/types/other/1",
        "/types/membership/1/background",
        "/types/membership/1/secret",
    ] {
        assert_eq!(
            instance.call(get(absent)).await.status,
            StatusCode::NOT_FOUND,
            "{absent}"
        );
    }
    let metadata = instance
        .call(get("/.well-known/openid-credential-issuer/issuer"))
        .await;
    let metadata: Value = serde_json::from_str(&metadata.body).unwrap();
    let configuration = &metadata["credential_configurations_supported"]["membership_1_sd_jwt_vc"];
    let display = &configuration["credential_metadata"]["display"][0];
    assert_eq!(display["name"], "Membership");
    assert!(
        display["logo"]["uri"]
            .as_str()
            .unwrap()
            .ends_with("/types/membership/1/logo")
    );
}

#[tokio::test]
async fn an_import_is_not_stored_and_says_what_it_left_out() {
    let instance = Instance::start().await;
    let schema =
        json!({"title": "Person", "properties": {"name": {"type": "string", "minLength": 2}}});
    let imported = sent(&instance, "/api/types/import?id=person", &schema).await;
    let imported: Value = serde_json::from_str(&imported.body).unwrap();
    assert_eq!(imported["definition"]["claims"][0]["kind"], "text");
    assert_eq!(
        imported["left_out"],
        json!(["`properties.name.minLength` is not taken over"])
    );
    assert_eq!(imported["refusals"], json!([]));
    let shown = instance
        .call(get("/api/types/person").bearer(&instance.token))
        .await;
    assert_eq!(shown.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_pages_issue_and_request_a_type_of_ones_own() {
    let instance = published().await;
    let operator = instance.operator_cookie().await;
    let page = instance
        .call(get("/issuer/new/membership").cookie(&operator))
        .await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    for field in [
        "claim.number",
        "claim.level",
        "claim.address/city",
        "claim.visits/0/with/name",
    ] {
        assert!(page.body.contains(&format!("name=\"{field}\"")), "{field}");
    }
    let token = page.form_token();
    let fields = [
        ("form_token", token.as_str()),
        ("type", "membership"),
        ("claim.number", "17"),
        ("claim.level", "full"),
        ("claim.visits/0/day", "2026-01-31"),
        ("uses", "1"),
        ("format", "dc+sd-jwt"),
    ];
    let made = post("/issuer/new").cookie(&operator).form(form(&fields));
    let made = instance.call(made).await;
    assert_eq!(made.status, StatusCode::SEE_OTHER, "{}", made.body);
    let asking = instance
        .call(get("/verifier/new/membership").cookie(&operator))
        .await;
    assert!(asking.body.contains("value=\"address\""), "{}", asking.body);
}

/// The name, the file name and the content of a file of a form.
pub struct Upload<'a> {
    pub field: &'a str,
    pub name: &'a str,
    pub text: &'a str,
}

/// A form with files, as browsers send it.
pub fn form_with(fields: &[(&str, &str)], upload: Option<Upload<'_>>) -> String {
    let mut body = String::new();
    for (name, value) in fields {
        body.push_str(&format!(
            "--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
        ));
    }
    if let Some(Upload { field, name, text }) = upload {
        body.push_str(&format!(
            "--b\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"{name}\"\r\n\r\n{text}\r\n"
        ));
    }
    body + "--b--\r\n"
}

/// An operator at the pages of types.
struct Editing {
    instance: Instance,
    cookie: String,
}

impl Editing {
    async fn start() -> Self {
        let instance = Instance::start().await;
        let cookie = instance.operator_cookie().await;
        Self { instance, cookie }
    }

    async fn see(&self, path: &str) -> Answered {
        self.instance.call(get(path).cookie(&self.cookie)).await
    }

    async fn send(
        &self,
        path: &str,
        fields: &[(&str, &str)],
        upload: Option<Upload<'_>>,
    ) -> Answered {
        let token = self.see("/types/new").await.form_token();
        let fields: Vec<_> = [("form_token", token.as_str())]
            .into_iter()
            .chain(fields.iter().copied())
            .collect();
        let sent = post(path).cookie(&self.cookie);
        self.instance
            .call(sent.multipart(form_with(&fields, upload)))
            .await
    }
}

const BASE: &str = r#"{"id":"","title":{},"claims":[]}"#;

fn boat(pressed: &str) -> Vec<(&str, &str)> {
    vec![
        ("base", BASE),
        ("language", "en"),
        ("title", "Boat licence"),
        ("validity_days", "365"),
        ("revocable", "true"),
        ("suspendable", "true"),
        ("format", "dc+sd-jwt"),
        ("background_color", "#0b3d91"),
        ("text_color", "#ffffff"),
        ("row", "0"),
        ("0.label", "Licence number"),
        ("0.kind", "text"),
        ("0.required", "true"),
        ("0.front", "true"),
        ("row", "3"),
        ("3.label", "Class"),
        ("3.kind", "enumeration"),
        ("3.values", "A = Lakes\nB"),
        ("do", pressed),
    ]
}

#[tokio::test]
async fn a_type_in_anoncreds_names_what_it_cannot_carry_and_shows_its_objects() {
    let desk = Editing::start().await;
    let mut donor = membership();
    donor["formats"] = json!(["anoncreds"]);
    donor["claims"][3] = json!({"path": ["photo"], "kind": "image"});
    let refused = sent(&desk.instance, "/api/types", &donor).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
    assert!(
        refused.body.contains("`claims[3].kind` is `image`"),
        "{}",
        refused.body
    );
    donor["claims"].as_array_mut().unwrap().remove(3);
    sent(&desk.instance, "/api/types", &donor).await;
    let published = sent(&desk.instance, "/api/types/membership/publish", &json!({})).await;
    let published: Value = serde_json::from_str(&published.body).unwrap();
    let objects = &published["anoncreds"];
    assert_eq!(objects["state"], "publishing", "{published}");

    let page = desk.see("/types/view/membership?done=published").await;
    for shown in [
        "The type is published.",
        "AnonCreds in the registry",
        objects["schema_id"].as_str().unwrap(),
        objects["cred_def_id"].as_str().unwrap(),
    ] {
        assert!(page.body.contains(shown), "{shown}: {}", page.body);
    }
    // Nothing of it is issued over OpenID4VCI.
    assert!(!page.body.contains("Offer this credential"));
    assert!(
        !desk
            .see("/issuer")
            .await
            .body
            .contains("/issuer/new/membership")
    );
    let metadata = get("/.well-known/openid-credential-issuer/issuer");
    let metadata = desk.instance.call(metadata).await;
    assert!(!metadata.body.contains("membership"), "{}", metadata.body);
}

#[tokio::test]
async fn the_editor_offers_anoncreds_and_says_at_the_claim_what_it_cannot_carry() {
    let desk = Editing::start().await;
    let chosen = |kind: &'static str| {
        let mut form = boat("check");
        form.push(("format", "anoncreds"));
        form.retain(|(name, _)| !name.starts_with("3.") && *name != "3.values");
        form.extend([("3.label", "Photo"), ("3.kind", kind)]);
        form
    };
    let fits = desk.send("/types/new", &chosen("text"), None).await;
    assert!(
        fits.body.contains("value=\"anoncreds\" checked"),
        "{}",
        fits.body
    );
    assert!(!fits.body.contains("wrong-3.kind"), "{}", fits.body);
    let image = desk.send("/types/new", &chosen("image"), None).await;
    assert!(image.body.contains("id=\"wrong-3.kind\""), "{}", image.body);
}

const BOAT: &str = r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path d="M2 16h20l-4 5H6z"/></svg>"#;

#[tokio::test]
async fn a_type_is_described_on_pages_published_offered_changed_and_retired() {
    let desk = Editing::start().await;
    let logo = Upload {
        field: "logo_file",
        name: "boat.svg",
        text: BOAT,
    };
    let saved = desk.send("/types/new", &boat("save"), Some(logo)).await;
    assert_eq!(saved.status, StatusCode::SEE_OTHER, "{}", saved.body);
    assert_eq!(
        saved.header("location"),
        "/types/edit/boat-licence?done=saved"
    );
    let editor = desk.see("/types/edit/boat-licence?done=saved").await;
    for shown in [
        "The draft is saved.",
        "value=\"licence_number\"",
        "card-0b3d91-ffffff.css",
        "src=\"data:image/svg+xml;base64,",
        "A = Lakes",
    ] {
        assert!(editor.body.contains(shown), "{shown}: {}", editor.body);
    }
    let view = desk.see("/types/view/boat-licence").await;
    assert!(view.body.contains("Publish the draft as version 1"));
    assert!(!view.body.contains("Offer this credential"));
    let published = desk
        .send("/types/view/boat-licence/publish", &[], None)
        .await;
    assert_eq!(
        published.header("location"),
        "/types/view/boat-licence?done=published"
    );
    let view = desk.see("/types/view/boat-licence?done=published").await;
    for shown in [
        "href=\"/issuer/new/boat-licence\"",
        "href=\"/types/boat-licence/1/schema\"",
        "New version",
        "Retire this type",
    ] {
        assert!(view.body.contains(shown), "{shown}: {}", view.body);
    }
    assert_eq!(
        desk.see("/issuer/new/boat-licence").await.status,
        StatusCode::OK
    );
    let file = desk.see("/types/view/boat-licence/file").await;
    let again = selfsame_types::file::read_toml(&file.body).unwrap();
    assert_eq!(again.card.front, [vec!["licence_number".to_owned()]]);

    let base = serde_json::to_string(&again).unwrap();
    let mut next = boat("publish");
    next[0] = ("base", &base);
    next.extend([
        ("0.from", "0"),
        ("3.from", "1"),
        ("0.name", "number"),
        ("3.name", "class"),
    ]);
    let changed = desk.send("/types/edit/boat-licence", &next, None).await;
    assert_eq!(
        changed.header("location"),
        "/types/view/boat-licence#publish",
        "{}",
        changed.body
    );
    is_changed_and_retired(&desk).await;
}

/// A published type with a draft loses the draft, is retired, and its documents stay served.
async fn is_changed_and_retired(desk: &Editing) {
    let list = desk.see("/types").await;
    assert!(list.body.contains("with a draft"), "{}", list.body);
    let deleted = desk
        .send("/types/view/boat-licence/delete", &[], None)
        .await;
    assert_eq!(deleted.header("location"), "/types?done=deleted");
    let retired = desk
        .send("/types/view/boat-licence/retire", &[], None)
        .await;
    assert_eq!(retired.status, StatusCode::SEE_OTHER, "{}", retired.body);
    let list = desk.see("/types").await;
    assert!(list.body.contains("badge is-retired"), "{}", list.body);
    let document = desk.see("/types/boat-licence/1").await;
    assert_eq!(document.status, StatusCode::OK, "it stays served");
}

#[tokio::test]
async fn what_is_wrong_with_a_type_stands_beside_its_field() {
    let desk = Editing::start().await;
    let mut wrong = boat("save");
    wrong.extend([
        ("0.name", "vct"),
        ("3.name", "class"),
        ("row", "4"),
        ("4.label", "Again"),
        ("4.name", "class"),
    ]);
    wrong.retain(|(name, _)| !matches!(*name, "validity_days" | "3.values"));
    let answer = desk.send("/types/new", &wrong, None).await;
    assert_eq!(answer.status, StatusCode::OK);
    for shown in [
        "<title>Error: New credential type",
        "id=\"wrong-0.name\">Name has the name vct, to which a credential format gives a meaning",
        "id=\"wrong-4.name\">Name is equal to class",
        "id=\"wrong-3.values\">Values needs at least one value",
        "id=\"wrong-validity_days\"",
        "value=\"Boat licence\"",
    ] {
        assert!(answer.body.contains(shown), "{shown}: {}", answer.body);
    }
    assert_eq!(
        desk.see("/types/view/boat-licence").await.status,
        StatusCode::NOT_FOUND
    );

    let large = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\">{}</svg>",
        " ".repeat(300 * 1024)
    );
    for (text, said) in [
        (
            "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>1</script></svg>",
            "wrong-logo_file",
        ),
        (
            large.as_str(),
            "id=\"wrong-logo_file\">It is larger than 65536 bytes",
        ),
        ("GIF89a", "wrong-logo_file"),
    ] {
        let logo = Upload {
            field: "logo_file",
            name: "logo",
            text,
        };
        let answer = desk.send("/types/new", &boat("save"), Some(logo)).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
        assert!(answer.body.contains(said), "{said}: {}", answer.body);
        assert!(!answer.body.contains("<img class"), "{}", answer.body);
    }
}

#[tokio::test]
async fn a_taken_id_and_a_text_that_is_hard_to_read_are_noticed() {
    let desk = Editing::start().await;
    let mut taken = boat("save");
    taken.push(("id", "immunization"));
    let answer = desk.send("/types/new", &taken, None).await;
    assert!(
        answer
            .body
            .contains("id=\"wrong-id\">The id immunization is taken"),
        "{}",
        answer.body
    );
    let mut faint = boat("check");
    faint.retain(|(name, _)| *name != "text_color");
    faint.push(("text_color", "#0b3d99"));
    let answer = desk.send("/types/new", &faint, None).await;
    assert!(
        answer.body.contains("which is hard to read"),
        "{}",
        answer.body
    );
    assert!(
        answer.body.contains("It is not saved yet."),
        "{}",
        answer.body
    );
}

#[tokio::test]
async fn the_buttons_of_rows_work_without_a_script() {
    let desk = Editing::start().await;
    let order = async |pressed: &str| {
        let answer = desk.send("/types/new", &boat(pressed), None).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
        let form = answer.body.split("<template").next().unwrap().to_owned();
        let keys = form.split("name=\"row\" value=\"").skip(1);
        keys.map(|rest| rest.split('"').next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(order("show").await, ["0", "3"]);
    assert_eq!(order("up.3").await, ["3", "0"]);
    assert_eq!(order("down.0").await, ["3", "0"]);
    assert_eq!(order("remove.0").await, ["3"]);
    assert_eq!(order("add").await, ["0", "3", "4"]);
    assert_eq!(order("add.0").await, ["0", "4", "3"]);
}

#[tokio::test]
async fn a_file_of_each_kind_opens_in_the_editor() {
    let desk = Editing::start().await;
    let own = serde_json::to_string(&membership()).unwrap();
    let schema =
        r#"{"title": "Person", "properties": {"name": {"type": "string", "minLength": 2}}}"#;
    let metadata = r#"{"vct": "https://example.org/person", "name": "Person", "claims": [{"path": ["name"]}]}"#;
    let toml = "id = \"club\"\ntitle = { en = \"Club\" }\n[[claims]]\npath = [\"name\"]\nkind = \"text\"\n";
    for (text, shown) in [
        (own.as_str(), "value=\"visits\""),
        (toml, "value=\"Club\""),
        (metadata, "all are taken for texts"),
        (schema, "Properties.name.minLength is not taken over"),
    ] {
        let file = Upload {
            field: "file",
            name: "type",
            text,
        };
        let answer = desk.send("/types/import", &[], Some(file)).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
        assert!(answer.body.contains(shown), "{shown}: {}", answer.body);
    }
    let file = Upload {
        field: "file",
        name: "type",
        text: "[1, 2]",
    };
    let answer = desk.send("/types/import", &[], Some(file)).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{}", answer.body);
    let copy = desk.see("/types/new?from=immunization").await;
    assert!(
        copy.body.contains("name=\"id\" value=\"\""),
        "{}",
        copy.body
    );
}
