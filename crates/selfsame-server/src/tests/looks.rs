//! How organisations look: logos and colours, by pages and by programs, and where they are shown.

use http::{Method, StatusCode};
use selfsame_app::Access;
use selfsame_core::organisation::OrganisationName;
use selfsame_operators::OperatorRole;
use serde_json::{Value, json};

use super::instance::{Answered, Instance, ORIGIN, call, get, post};
use super::organisations::with_acme;
use super::pages::check;
use super::types::{Upload, form_with};

const DRAWING: &str = r#"<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h9v9z"/></svg>"#;
const SCRIPT: &str = r#"<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>"#;

fn uri(drawing: &str) -> String {
    let data = selfsame_crypto::encoding::base64_encode(drawing.as_bytes());
    format!("data:image/svg+xml;base64,{data}")
}

fn read(answer: &Answered) -> Value {
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    serde_json::from_str(&answer.body).unwrap()
}

async fn change(instance: &Instance, prefix: &str, change: &Value) -> Answered {
    let path = format!("{prefix}/api/look");
    let asked = call(Method::PATCH, &path).bearer(&instance.token);
    instance.call(asked.json(&change.to_string())).await
}

async fn display(instance: &Instance, organisation: &str) -> Value {
    let path = format!("/.well-known/openid-credential-issuer{organisation}");
    let metadata = read(&instance.call(get(&path)).await);
    metadata["display"][0].clone()
}

/// Sends the form of the page of an organisation.
async fn send(
    instance: &Instance,
    cookie: &str,
    fields: &[(&str, &str)],
    file: Option<&str>,
) -> Answered {
    let page = instance
        .call(get("/o/acme/organisation").cookie(cookie))
        .await;
    let token = page.form_token();
    let mut all = vec![("form_token", token.as_str())];
    all.extend(fields);
    let upload = file.map(|text| Upload {
        field: "logo",
        name: "acme.svg",
        text,
    });
    let sent = post("/o/acme/organisation/look").cookie(cookie);
    instance.call(sent.multipart(form_with(&all, upload))).await
}

#[tokio::test]
async fn each_organisation_has_a_logo_and_a_colour_of_its_own_and_wallets_are_told() {
    let instance = with_acme().await;
    for (prefix, identifier) in [("", "/issuer"), ("/o/acme", "/o/acme")] {
        let own = json!({"logo": uri(DRAWING), "colour": "#1F4E79"});
        let look = read(&change(&instance, prefix, &own).await);
        let logo = look["logo"].as_str().unwrap();
        assert!(logo.starts_with(&format!("{ORIGIN}{prefix}/logo/")));
        let shown = display(&instance, identifier).await;
        assert_eq!(shown["logo"]["uri"], logo);
        assert_eq!(shown["logo"]["alt_text"], shown["name"]);
        assert_eq!(shown["background_color"], "#1f4e79");
        assert_eq!(shown["text_color"], "#ffffff");
        let path = logo.strip_prefix(ORIGIN).unwrap();
        let served = instance.call(get(path)).await;
        assert_eq!(served.body, DRAWING);
        assert_eq!(served.header("content-type"), "image/svg+xml");
        assert!(served.header("cache-control").contains("immutable"));
        assert!(
            served
                .header("content-security-policy")
                .ends_with("sandbox")
        );
        let yellow = read(&change(&instance, prefix, &json!({"colour": "#ffee00"})).await);
        assert_eq!(yellow["logo"], logo);
        let shown = display(&instance, identifier).await;
        assert_eq!(shown["text_color"], "#000000");
        let plain = json!({"logo": "", "colour": ""});
        read(&change(&instance, prefix, &plain).await);
        assert_eq!(instance.call(get(path)).await.status, StatusCode::NOT_FOUND);
        let shown = display(&instance, identifier).await;
        assert_eq!(shown.as_object().unwrap().len(), 1, "{shown}");
    }
}

#[tokio::test]
async fn a_logo_of_one_organisation_is_not_served_by_another() {
    let instance = with_acme().await;
    let own = json!({"logo": uri(DRAWING)});
    let look = read(&change(&instance, "/o/acme", &own).await);
    let path = look["logo"].as_str().unwrap().replace(ORIGIN, "");
    let elsewhere = path.replace("/o/acme", "");
    assert_eq!(instance.call(get(&path)).await.status, StatusCode::OK);
    let absent = instance.call(get(&elsewhere)).await;
    assert_eq!(absent.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_look_that_could_harm_is_refused_and_the_old_one_stays() {
    let instance = with_acme().await;
    let own = json!({"logo": uri(DRAWING), "colour": "#1f4e79"});
    let before = read(&change(&instance, "/o/acme", &own).await);
    for (wrong, told) in [
        (json!({"logo": uri(SCRIPT)}), "cannot be the logo"),
        (
            json!({"logo": "https://logos.example/a.png"}),
            "cannot be the logo",
        ),
        (json!({"colour": "red"}), "six hexadecimal digits"),
        (
            json!({"colour": "#fff", "logo": ""}),
            "six hexadecimal digits",
        ),
    ] {
        let refused = change(&instance, "/o/acme", &wrong).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{wrong}");
        assert!(refused.body.contains(told), "{}", refused.body);
    }
    let path = "/o/acme/api/look";
    let after = instance.call(get(path).bearer(&instance.token)).await;
    assert_eq!(read(&after), before);
}

#[tokio::test]
async fn an_owner_gives_the_organisation_its_look_by_the_page_and_each_page_shows_it() {
    let instance = with_acme().await;
    let acme = OrganisationName::parse("acme").unwrap();
    let owner = instance.person_with(&acme, OperatorRole::Owner).await;
    let colour = [("colour", "#1f4e79")];
    let saved = send(&instance, &owner, &colour, Some(DRAWING)).await;
    assert_eq!(saved.status, StatusCode::SEE_OTHER, "{}", saved.body);
    assert_eq!(saved.header("location"), "/o/acme/organisation");
    for path in ["/o/acme/organisation", "/o/acme/issuer", "/o/acme/people"] {
        let page = instance.call(get(path).cookie(&owner)).await.body;
        check(path, &page);
        assert!(page.contains("class=\"own card-1f4e79-ffffff\""), "{path}");
        assert!(page.contains("card-1f4e79-ffffff.css\""), "{path}");
        assert!(
            page.contains("<img class=\"logo\" src=\"/o/acme/logo/"),
            "{path}"
        );
    }
    let operator = instance.operator_cookie().await;
    let list = instance.call(get("/organisations").cookie(&operator)).await;
    assert!(list.body.contains("src=\"/o/acme/logo/"));
    let kept = send(&instance, &owner, &[("colour", "")], None).await;
    assert_eq!(kept.status, StatusCode::SEE_OTHER);
    let page = instance
        .call(get("/o/acme/organisation").cookie(&owner))
        .await;
    assert!(page.body.contains("src=\"/o/acme/logo/") && !page.body.contains("card-1f4e79"));
    send(&instance, &owner, &[("remove_logo", "true")], None).await;
    let page = instance
        .call(get("/o/acme/organisation").cookie(&owner))
        .await;
    assert!(!page.body.contains("/o/acme/logo/"));
}

#[tokio::test]
async fn what_is_wrong_with_a_look_stands_beside_its_field_and_others_cannot_change_it() {
    let instance = with_acme().await;
    let acme = OrganisationName::parse("acme").unwrap();
    let owner = instance.person_with(&acme, OperatorRole::Owner).await;
    for (field, colour, file) in [("logo", "#1f4e79", SCRIPT), ("colour", "blue", DRAWING)] {
        let refused = send(&instance, &owner, &[("colour", colour)], Some(file)).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{field}");
        check(field, &refused.body);
        assert!(refused.body.contains(&format!("id=\"{field}-problem\"")));
        assert!(refused.body.contains(&format!("value=\"{colour}\"")));
    }
    let issuer = instance.person_with(&acme, OperatorRole::Issuer).await;
    let page = instance
        .call(get("/o/acme/organisation").cookie(&issuer))
        .await;
    assert!(!page.body.contains("organisation/look"));
    let refused = send(&instance, &issuer, &[("colour", "#1f4e79")], None).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_signed_request_names_the_logo_and_an_unsigned_one_does_not() {
    let instance = with_acme().await;
    let own = json!({"logo": uri(DRAWING)});
    let look = read(&change(&instance, "/o/acme", &own).await);
    let acme = OrganisationName::parse("acme").unwrap();
    let roles = instance.app.roles_of(&acme, Access::Acting).await.unwrap();
    let verifier = roles.verifier().unwrap().clone();
    let asked = async |prefix: &str| {
        let new = json!({"type": "immunization", "client_id_prefix": prefix});
        let new = serde_json::from_value(new).unwrap();
        let made = verifier.create_request(&new).await.unwrap();
        let uri = url::Url::parse(&made.uri).unwrap();
        let of = |name: &str| {
            let pair = uri.query_pairs().find(|(key, _)| key == name);
            pair.map(|(_, value)| value.into_owned())
        };
        match of("request_uri") {
            Some(address) => {
                let path = address.replace(ORIGIN, "");
                let object = instance.call(get(&path)).await.body;
                let payload = object.split('.').nth(1).unwrap();
                let payload = selfsame_crypto::encoding::base64url_decode(payload).unwrap();
                let payload: Value = serde_json::from_slice(&payload).unwrap();
                payload["client_metadata"].clone()
            }
            None => serde_json::from_str(&of("client_metadata").unwrap()).unwrap(),
        }
    };
    let signed = asked("decentralized_identifier").await;
    assert_eq!(signed["logo_uri"], look["logo"]);
    assert_eq!(signed["client_name"], "Acme Corporation");
    assert_eq!(asked("redirect_uri").await.get("logo_uri"), None);
}
