//! The pages of organisations: the list, the form, the page of each, and its changes.

use http::StatusCode;
use selfsame_core::organisation::OrganisationName;
use selfsame_operators::OperatorRole;

use super::instance::{Answered, Instance, form, get, post};
use super::organisations::with_acme;
use super::pages::check;

/// Sends a form of the operator's.
async fn send(instance: &Instance, path: &str, fields: &[(&str, &str)]) -> Answered {
    let cookie = instance.operator_cookie().await;
    let token = instance
        .call(get("/organisations").cookie(&cookie))
        .await
        .form_token();
    let mut all = vec![("form_token", token.as_str())];
    all.extend(fields);
    instance
        .call(post(path).cookie(&cookie).form(form(&all)))
        .await
}

async fn read(instance: &Instance, path: &str) -> Answered {
    let cookie = instance.operator_cookie().await;
    let page = instance.call(get(path).cookie(&cookie)).await;
    assert_eq!(page.status, StatusCode::OK, "{path}: {}", page.body);
    check(path, &page.body);
    page
}

#[tokio::test]
async fn an_organisation_is_created_by_the_form_and_its_page_tells_the_next_steps() {
    let instance = Instance::start().await;
    let fields = [
        ("title", "Ministry of Health"),
        ("name", "health"),
        ("issuer", "true"),
        ("did_method", "jwk"),
    ];
    let created = send(&instance, "/organisations", &fields).await;
    assert_eq!(created.status, StatusCode::SEE_OTHER, "{}", created.body);
    let there = created.header("location").to_owned();
    assert_eq!(there, "/o/health/organisation?created=true");
    let page = read(&instance, &there).await.body;
    for shown in [
        "Ministry of Health",
        "Appoint people",
        "href=\"/o/health/types\"",
        "Issue the first credential",
        "http://127.0.0.1:7380/.well-known/openid-credential-issuer/o/health",
        "did:jwk:",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
    assert!(!page.contains("href=\"/o/health/verifier\""));
    let later = read(&instance, "/o/health/organisation").await.body;
    assert!(!later.contains("Appoint people"));
    let list = read(&instance, "/organisations").await.body;
    assert!(list.contains("href=\"/o/health/organisation\"") && list.contains("main"));
}

#[tokio::test]
async fn what_is_wrong_with_a_new_organisation_stands_beside_the_field_and_what_was_typed_stays() {
    let instance = with_acme().await;
    for (title, name, role, field, told) in [
        (
            "Other",
            "ac-me",
            "issuer",
            "name",
            "is taken, or looks like one that is",
        ),
        ("Other", "api", "issuer", "name", "is reserved"),
        (
            "Other",
            "Not A Name",
            "issuer",
            "name",
            "lower-case letters",
        ),
        (
            "Other",
            "other",
            "",
            "roles",
            "an issuer, a verifier, or both",
        ),
        ("", "other", "issuer", "title", "1 to 100 characters"),
        ("Straße 1", "", "issuer", "name", "made from the title"),
        ("東京都", "", "issuer", "name", "No name can be made"),
    ] {
        let fields = [("title", title), ("name", name), (role, "true")];
        let refused = send(&instance, "/organisations", &fields).await;
        assert!(refused.status.is_client_error(), "{title} {name}");
        check(name, &refused.body);
        let beside = format!("id=\"{field}-problem\"");
        let (_, beside) = refused.body.split_once(&beside).unwrap();
        let beside = beside.split_once("</p>").unwrap().0.to_lowercase();
        assert!(beside.contains(&told.to_lowercase()), "{name}: {beside}");
        assert!(
            refused
                .body
                .contains(&format!("name=\"title\" value=\"{title}\""))
        );
        assert!(refused.body.contains("<title>Error: Organisations"));
        let suggested = if title == "Straße 1" {
            "strasse-1"
        } else {
            name
        };
        assert!(
            refused
                .body
                .contains(&format!("name=\"name\" value=\"{suggested}\""))
        );
    }
    // A did:web needs an origin with a domain name.
    let fields = [
        ("title", "Other"),
        ("name", "other"),
        ("issuer", "true"),
        ("did_method", "web"),
    ];
    let refused = send(&instance, "/organisations", &fields).await;
    assert!(refused.body.contains("id=\"did_method-problem\""));
    assert!(refused.body.contains("<option value=\"web\" selected>"));
    let list = read(&instance, "/organisations").await.body;
    assert!(!list.contains("Other") && !list.contains("strasse"));
}

#[tokio::test]
async fn an_organisation_is_renamed_given_other_roles_suspended_and_reinstated() {
    let instance = with_acme().await;
    let change = async |fields: &[(&str, &str)]| {
        let changed = send(&instance, "/organisations/acme", fields).await;
        assert_eq!(changed.status, StatusCode::SEE_OTHER, "{}", changed.body);
        assert_eq!(changed.header("location"), "/o/acme/organisation");
        read(&instance, "/o/acme/organisation").await.body
    };
    let renamed = change(&[("change", "title"), ("title", "Acme & Sons")]).await;
    assert!(renamed.contains("Acme &#38; Sons"));
    let verifier = "href=\"/o/acme/verifier\"";
    assert!(renamed.contains(verifier));
    let issuer = change(&[("change", "roles"), ("issuer", "true")]).await;
    assert!(!issuer.contains(verifier));
    let suspended = change(&[("change", "suspend")]).await;
    assert!(
        suspended.contains("This organisation is suspended") && suspended.contains("Reinstate")
    );
    let reinstated = change(&[("change", "reinstate")]).await;
    assert!(!reinstated.contains("This organisation is suspended"));
}

#[tokio::test]
async fn a_wrong_change_of_an_organisation_is_told_on_its_own_page() {
    let instance = with_acme().await;
    for (fields, field) in [
        (
            vec![("change", "title"), ("title", "\u{202e}emcA")],
            "title",
        ),
        (vec![("change", "roles")], "roles"),
    ] {
        let refused = send(&instance, "/organisations/acme", &fields).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST);
        check(field, &refused.body);
        assert!(refused.body.contains(&format!("id=\"{field}-problem\"")));
        assert!(refused.body.contains("href=\"/o/acme/people\""));
    }
    let unknown = [("change", "suspend")];
    let unknown = send(&instance, "/organisations/unknown", &unknown).await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn each_role_reads_the_page_of_its_organisation_and_only_administrators_change_it() {
    let instance = with_acme().await;
    let acme = OrganisationName::parse("acme").unwrap();
    let main = OrganisationName::main();
    for role in OperatorRole::ALL
        .into_iter()
        .filter(|role| role.fits(&acme))
    {
        let cookie = instance.person_with(&acme, role).await;
        let page = instance
            .call(get("/o/acme/organisation").cookie(&cookie))
            .await;
        assert_eq!(page.status, StatusCode::OK, "{role:?}");
        assert!(!page.body.contains("Suspend") && !page.body.contains("/organisations"));
        let elsewhere = instance.call(get("/organisation").cookie(&cookie)).await;
        assert_eq!(elsewhere.status, StatusCode::FORBIDDEN, "{role:?}");
        let all = instance.call(get("/organisations").cookie(&cookie)).await;
        assert_eq!(all.status, StatusCode::FORBIDDEN, "{role:?}");
    }
    let administrator = instance
        .person_with(&main, OperatorRole::Administrator)
        .await;
    let page = instance.call(get("/o/acme/organisation").cookie(&administrator));
    let page = page.await.body;
    assert!(page.contains("Suspend") && page.contains("class=\"own\" href=\"/organisations\""));
}

#[tokio::test]
async fn the_navigation_of_an_organisations_pages_leads_to_its_own_pages() {
    let instance = with_acme().await;
    let page = read(&instance, "/o/acme/issuer").await.body;
    for own in ["issuer", "verifier", "organisation"] {
        assert!(
            page.contains(&format!("<a href=\"/o/acme/{own}\"")),
            "{own}"
        );
    }
    assert!(page.contains("<bdi>Acme Corporation</bdi>"));
    let main = read(&instance, "/issuer").await.body;
    assert!(main.contains("<a href=\"/organisation\"") && !main.contains("class=\"own\""));
    let visitors = instance.call(get("/")).await.body;
    assert!(!visitors.contains("href=\"/organisation\""));
}

#[tokio::test]
async fn an_organisation_is_erased_on_a_page_that_says_what_becomes_unverifiable_and_asks_for_the_name()
 {
    let instance = with_acme().await;
    let page = read(&instance, "/o/acme/organisation").await.body;
    assert!(page.contains("href=\"/o/acme/organisation/export\""));
    assert!(page.contains("href=\"/organisations/acme/erase\""));
    let path = "/organisations/acme/erase";
    let asked = read(&instance, path).await.body;
    assert!(
        asked.contains("No credential that it issued is valid now"),
        "{asked}"
    );
    assert!(asked.contains("all its credentials become unverifiable"));
    let typo = send(&instance, path, &[("confirm", "acne")]).await;
    assert_eq!(typo.status, StatusCode::BAD_REQUEST);
    check(path, &typo.body);
    assert!(
        typo.body.contains("id=\"confirm-problem\""),
        "{}",
        typo.body
    );
    let erased = send(&instance, path, &[("confirm", "acme")]).await;
    assert_eq!(erased.status, StatusCode::SEE_OTHER, "{}", erased.body);
    let page = read(&instance, erased.header("location")).await.body;
    assert!(page.contains("This organisation was erased on"), "{page}");
    assert!(!page.contains("href=\"/o/acme/organisation/export\""));
    let rest = read(&instance, path).await.body;
    assert!(rest.contains("Destroy it now"), "{rest}");
    let hastened = send(&instance, path, &[("confirm", "acme"), ("now", "true")]).await;
    assert_eq!(hastened.status, StatusCode::SEE_OTHER, "{}", hastened.body);
    let list = read(&instance, "/organisations").await.body;
    assert!(list.contains("/o/acme/audit") && !list.contains("/o/acme/people"));
}
