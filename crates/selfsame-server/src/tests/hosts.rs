//! Organisations with hosts of their own: what answers there, and for whom.

use http::{Method, StatusCode};
use selfsame_app::config::Roles;
use serde_json::{Value, json};

use super::instance::{Answered, Call, Instance, call, form, get, post};
use super::saved::check_in;
use crate::audience::Audience;
use crate::router::group::Routes;
use crate::router::groups;

const CLINIC: &str = "id.clinic.localhost:7380";
const SCHOOL: &str = "id.school.localhost:7380";
const CLINICS_ORIGIN: &str = "http://id.clinic.localhost:7380";

#[track_caller]
fn read(answer: &Answered) -> Value {
    let (status, body) = (answer.status, &answer.body);
    assert!(status.is_success(), "{status} {body}");
    serde_json::from_str(body).unwrap()
}

fn asked(instance: &Instance, method: Method, path: &str) -> Call {
    call(method, path).bearer(&instance.token)
}

async fn created(instance: &Instance, new: &Value) -> Answered {
    let ask = asked(instance, Method::POST, "/api/organisations");
    instance.call(ask.json(&new.to_string())).await
}

async fn posted(instance: &Instance, path: &str, body: &Value) -> Value {
    let ask = asked(instance, Method::POST, path).json(&body.to_string());
    read(&instance.call(ask).await)
}

/// An instance with a clinic and a school, each at a host of its own.
async fn with_hosts() -> Instance {
    let instance = Instance::start().await;
    for name in ["clinic", "school"] {
        let host = format!("id.{name}.localhost");
        let new = json!({"name": name, "title": name, "host": host, "did_method": "web"});
        let made = read(&created(&instance, &new).await);
        assert_eq!(made["host"], json!(host));
        let identifier = format!("http://{host}:7380/issuer");
        assert_eq!(made["identifier"], json!(identifier));
    }
    instance
}

#[tokio::test]
async fn the_addresses_and_identifiers_of_an_organisation_are_at_its_host() {
    let instance = with_hosts().await;
    let of = async |host: &str, path: &str| read(&instance.call(get(path).host(host)).await);
    let metadata = of(CLINIC, "/.well-known/openid-credential-issuer/issuer").await;
    let identifier = format!("{CLINICS_ORIGIN}/issuer");
    assert_eq!(metadata["credential_issuer"], json!(identifier));
    assert_eq!(metadata["display"][0]["name"], "clinic");
    let endpoint = format!("{CLINICS_ORIGIN}/issuer/credential");
    assert_eq!(metadata["credential_endpoint"], json!(endpoint));
    let server = of(CLINIC, "/.well-known/oauth-authorization-server/issuer").await;
    let endpoint = format!("{CLINICS_ORIGIN}/issuer/token");
    assert_eq!(server["token_endpoint"], json!(endpoint));
    let document = of(CLINIC, "/issuer/did.json").await;
    let did = "did:web:id.clinic.localhost%3A7380:issuer";
    assert_eq!(document["id"], did);
    let school = of(SCHOOL, "/.well-known/openid-credential-issuer/issuer").await;
    assert_eq!(school["display"][0]["name"], "school");
    for path in ["/status/0", "/.well-known/jwt-vc-issuer/issuer"] {
        let answer = instance.call(get(path).host(CLINIC)).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
    }
    // The instance's host has the same document, with the same names.
    let same = of(
        "127.0.0.1:7380",
        "/.well-known/openid-credential-issuer/o/clinic",
    )
    .await;
    assert_eq!(same, metadata);
    let offer = json!({"type": "immunization", "examples": true});
    let offer = posted(&instance, "/o/clinic/api/issuer/offers", &offer).await;
    let uri = offer["uri"].as_str().unwrap();
    assert!(uri.contains("id.clinic.localhost"), "{uri}");
}

#[tokio::test]
async fn what_people_work_with_and_what_the_instance_has_is_not_at_a_host_of_an_organisation() {
    let instance = with_hosts().await;
    let cookie = instance.operator_cookie().await;
    let (mut there, mut absent) = (0, 0);
    for group in groups(&Roles::ALL) {
        let is_there = is_at_hosts(&group);
        for route in group.routes.iter().filter(|route| route.path != "/") {
            let path = route.path.replace(['{', '}', '*'], "");
            // Supervisors may use any host.
            if ["/livez", "/readyz"].contains(&route.path.as_str()) {
                continue;
            }
            let sent = async |path: &str, host: &str| {
                let ask = asked(&instance, route.method.clone(), path).host(host);
                instance.call(ask.cookie(&cookie)).await
            };
            let answer = sent(&path, CLINIC).await;
            let (status, body) = (answer.status, &answer.body);
            match is_there {
                true => {
                    let below = sent(&format!("/o/clinic{path}"), "127.0.0.1:7380").await;
                    let is_moved = group.audience == Audience::Doorway;
                    let is_same =
                        status == below.status || is_moved || !group.is_of_organisations();
                    assert!(is_same, "{} {path}: {status}", route.method);
                    there += 1;
                }
                false => {
                    let text = "here is nothing at this address";
                    let is_nowhere = status == StatusCode::NOT_FOUND && body.contains(text);
                    assert!(is_nowhere, "{} {path}: {status} {body}", route.method);
                    absent += 1;
                }
            }
        }
    }
    assert!(there > 20 && absent > 100, "{there} {absent}");
    let front = instance.call(get("/").host(CLINIC)).await;
    assert_eq!(front.header("location"), "http://127.0.0.1:7380/");
    for path in [
        "/o/clinic/status/0",
        "/o/school/status/0",
        "/o/clinic/issuer",
    ] {
        let answer = instance.call(get(path).host(CLINIC)).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
    }
}

/// Whether the addresses of a group are at a host of an organisation.
fn is_at_hosts(group: &Routes) -> bool {
    let files = ["/assets/{version}/{name}", "/embed.js"];
    let is_file = |path: &str| files.contains(&path);
    let is_same_everywhere = group.routes.iter().all(|route| is_file(&route.path));
    is_same_everywhere || group.is_of_organisations() && !group.audience.works_here()
}

#[tokio::test]
async fn what_one_organisation_has_is_not_found_at_the_host_of_another() {
    let instance = with_hosts().await;
    for (owner, own, other) in [
        ("/o/clinic", CLINIC, SCHOOL),
        ("/o/school", SCHOOL, CLINIC),
        ("", "127.0.0.1:7380", CLINIC),
        ("/o/clinic", CLINIC, "127.0.0.1:7380"),
    ] {
        let offer = json!({"type": "immunization", "examples": true});
        let offer = posted(&instance, &format!("{owner}/api/issuer/offers"), &offer).await;
        let request = json!({
            "type": "immunization", "client_id_prefix": "decentralized_identifier"
        });
        let request = posted(
            &instance,
            &format!("{owner}/api/verifier/requests"),
            &request,
        )
        .await;
        let ids = [&offer, &request].map(|one| one["id"].as_str().unwrap());
        let mut seen = 0;
        for group in groups(&Roles::ALL) {
            let routes = group.routes.iter();
            for route in routes.filter(|_| is_at_hosts(&group)) {
                if !route.path.contains("{id}") {
                    continue;
                }
                for id in ids {
                    let path = route.path.replace("{id}", id).replace("{name}", "check-in");
                    let path = path
                        .replace("{version}", "1")
                        .replace("{document}", "schema");
                    let ask = || call(route.method.clone(), &path).from("203.0.113.1");
                    let answer = instance.call(ask().host(other)).await;
                    let status = answer.status;
                    assert!(
                        status.is_client_error(),
                        "{} {other}{path}: {status}",
                        route.method
                    );
                    seen += 1;
                }
            }
        }
        assert!(seen >= 10, "only {seen} addresses");
        for path in [
            format!("/issuer/offers/{}", ids[0]),
            format!("/verifier/requests/{}", ids[1]),
        ] {
            let there = instance.call(get(&path).host(own)).await;
            assert_eq!(there.status, StatusCode::OK, "{own}{path} {}", there.body);
            let elsewhere = instance.call(get(&path).host(other)).await;
            assert_eq!(elsewhere.status, StatusCode::NOT_FOUND, "{other}{path}");
        }
    }
}

#[tokio::test]
async fn a_visitor_is_led_to_the_host_of_the_organisation() {
    let instance = with_hosts().await;
    let made = posted(
        &instance,
        "/o/clinic/api/verifier/saved-requests",
        &check_in(),
    )
    .await;
    let link = format!("{CLINICS_ORIGIN}/ask/check-in");
    assert_eq!(made["link"], json!(link), "{made}");
    let moved = instance
        .call(get("/o/clinic/ask/check-in?reference=7"))
        .await;
    assert_eq!(moved.status, StatusCode::PERMANENT_REDIRECT);
    assert_eq!(moved.header("location"), format!("{link}?reference=7"));
    let page = instance.call(get("/ask/check-in").host(CLINIC)).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    assert!(
        page.body.contains("action=\"/ask/check-in\""),
        "{}",
        page.body
    );
    assert!(!page.body.contains("href=\"/wallet\""), "{}", page.body);
    assert!(!page.body.contains("/operator\""), "{}", page.body);
    let script = instance.call(get("/embed.js").host(CLINIC)).await;
    assert_eq!(script.status, StatusCode::OK);
}

#[tokio::test]
async fn a_form_at_a_host_is_taken_from_a_page_of_that_host_alone() {
    let instance = with_hosts().await;
    posted(
        &instance,
        "/o/clinic/api/verifier/saved-requests",
        &check_in(),
    )
    .await;
    let page = instance.call(get("/ask/check-in").host(CLINIC)).await;
    let cookie = page.cookie("selfsame-visitor-7380");
    let fields = form(&[("form_token", &page.form_token())]);
    let sent = async |host: &str, path: &str, origin: &str| {
        let ask = post(path)
            .host(host)
            .cookie(&cookie)
            .header("origin", origin);
        instance.call(ask.form(fields.clone())).await
    };
    let own = "127.0.0.1:7380";
    for (host, path, origin, status) in [
        (
            CLINIC,
            "/ask/check-in",
            "http://127.0.0.1:7380",
            StatusCode::FORBIDDEN,
        ),
        (
            CLINIC,
            "/ask/check-in",
            "http://id.school.localhost:7380",
            StatusCode::FORBIDDEN,
        ),
        (
            own,
            "/o/clinic/ask/check-in",
            CLINICS_ORIGIN,
            StatusCode::NOT_FOUND,
        ),
        (
            own,
            "/o/clinic/ask/check-in",
            "http://127.0.0.1:7380",
            StatusCode::NOT_FOUND,
        ),
        (
            SCHOOL,
            "/ask/check-in",
            "http://id.school.localhost:7380",
            StatusCode::NOT_FOUND,
        ),
        (own, "/organisations", CLINICS_ORIGIN, StatusCode::FORBIDDEN),
    ] {
        let refused = sent(host, path, origin).await;
        assert_eq!(
            refused.status, status,
            "{host}{path} {origin} {}",
            refused.body
        );
    }
    let opened = sent(CLINIC, "/ask/check-in", CLINICS_ORIGIN).await;
    assert_eq!(opened.status, StatusCode::SEE_OTHER, "{}", opened.body);
    let path = opened.header("location");
    assert!(path.starts_with("/ask/check-in/"), "{path}");
    let shown = instance.call(get(path).host(CLINIC).cookie(&cookie)).await;
    let wallet = "href=\"http://127.0.0.1:7380/wallet/request?";
    assert!(shown.body.contains(wallet), "{}", shown.body);
}

#[tokio::test]
async fn an_unknown_host_is_refused_until_an_organisation_gets_it() {
    let instance = Instance::start().await;
    let before = instance.app.commits().0;
    for host in [
        CLINIC,
        "id.clinic.localhost",
        "id.clinic.localhost:7381",
        "ID.clinic.localhost:7380",
        "id.clinic.localhost.:7380",
        "192.0.2.1:7380",
        "localhost.:7380",
        "a_b.localhost:7380",
        "x:y@id.clinic.localhost:7380",
    ] {
        let refused = instance.call(get("/status/0").host(host)).await;
        assert_eq!(refused.status, StatusCode::MISDIRECTED_REQUEST, "{host}");
        let live = instance.call(get("/livez").host(host)).await;
        assert_eq!(live.status, StatusCode::OK, "{host}");
    }
    assert_eq!(instance.app.commits().0, before);
    let new = json!({"name": "clinic", "title": "Clinic", "host": "id.clinic.localhost"});
    read(&created(&instance, &new).await);
    let found = instance.call(get("/status/0").host(CLINIC)).await;
    assert_eq!(found.status, StatusCode::OK, "{}", found.body);
}

#[tokio::test]
async fn a_host_is_a_free_name_of_the_organisations_own() {
    let instance = with_hosts().await;
    for (host, reason) in [
        ("192.0.2.1", "organisation-host-malformed"),
        ("[::1]", "organisation-host-malformed"),
        ("id.acme.localhost:7380", "organisation-host-malformed"),
        ("ID.acme.localhost", "organisation-host-malformed"),
        ("id.acme.localhost.", "organisation-host-malformed"),
        ("localhost", "organisation-host-malformed"),
        ("https://id.acme.localhost", "organisation-host-malformed"),
        ("", "organisation-host-malformed"),
        ("id.acme.example", "organisation-host-unreachable"),
        ("id.clinic.localhost", "organisation-host-taken"),
        ("1d.cl1nic.localhost", "organisation-host-taken"),
    ] {
        let new = json!({"name": "acme", "title": "Acme", "host": host});
        let refused = created(&instance, &new).await;
        assert!(refused.status.is_client_error(), "{host}");
        assert!(refused.body.contains(reason), "{host}: {}", refused.body);
    }
    let public = Instance::at("https://id.example").await;
    for (host, reason) in [
        ("id.example", "organisation-host-of-instance"),
        ("1d.example", "organisation-host-of-instance"),
        ("id.acme.localhost", "organisation-host-unreachable"),
    ] {
        let new = json!({"name": "acme", "title": "Acme", "host": host}).to_string();
        let ask = asked(&public, Method::POST, "/api/organisations").host("id.example");
        let refused = public.call(ask.json(&new)).await;
        assert!(refused.body.contains(reason), "{host}: {}", refused.body);
    }
}

#[tokio::test]
async fn of_two_organisations_that_are_created_at_once_one_gets_the_host() {
    let instance = Instance::start().await;
    let new = |name: &str, host: &str| json!({"name": name, "title": name, "host": host});
    let (one, other) = (
        new("clinic", "id.clinic.localhost"),
        new("hospital", "id.cl1nic.localhost"),
    );
    let (one, other) = tokio::join!(created(&instance, &one), created(&instance, &other));
    let mut both = [&one, &other];
    both.sort_by_key(|answer| answer.status);
    assert!(both[0].status.is_success(), "{}", both[0].body);
    assert_eq!(both[1].status, StatusCode::CONFLICT);
    let reason = "organisation-host-taken";
    assert!(both[1].body.contains(reason), "{}", both[1].body);
    let listed = instance.call(asked(&instance, Method::GET, "/api/organisations"));
    let listed = read(&listed.await);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_host_stays_as_it_is() {
    let instance = with_hosts().await;
    let change = async |host: Value| {
        let ask = asked(&instance, Method::PATCH, "/api/organisations/clinic");
        let change = json!({"title": "Clinic at the Lake", "host": host});
        instance.call(ask.json(&change.to_string())).await
    };
    for other in ["id.other.localhost", "id.school.localhost", ""] {
        let refused = change(json!(other)).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{other}");
        assert!(
            refused.body.contains("organisation-host-fixed"),
            "{}",
            refused.body
        );
    }
    for same in [json!("id.clinic.localhost"), Value::Null] {
        let changed = read(&change(same).await);
        assert_eq!(changed["host"], "id.clinic.localhost");
        assert_eq!(changed["title"], "Clinic at the Lake");
    }
}

#[tokio::test]
async fn a_suspended_and_an_erased_organisation_answer_at_their_host_what_they_answer_below_their_name()
 {
    let instance = with_hosts().await;
    let nonce = async || {
        instance
            .call(post("/issuer/nonce").host(CLINIC))
            .await
            .status
    };
    let list = async || instance.call(get("/status/0").host(CLINIC)).await.status;
    assert_eq!(nonce().await, StatusCode::OK);
    let change = asked(&instance, Method::PATCH, "/api/organisations/clinic");
    read(
        &instance
            .call(change.json(r#"{"state": "suspended"}"#))
            .await,
    );
    assert_eq!(nonce().await, StatusCode::FORBIDDEN);
    assert_eq!(list().await, StatusCode::OK);
    let order = json!({"confirm": "clinic"});
    posted(&instance, "/api/organisations/clinic/erase", &order).await;
    assert_eq!(nonce().await, StatusCode::GONE);
    assert_eq!(list().await, StatusCode::OK);
    let new = json!({"name": "other", "title": "Other", "host": "id.clinic.localhost"});
    let taken = created(&instance, &new).await;
    assert_eq!(taken.status, StatusCode::CONFLICT, "{}", taken.body);
}
