//! What the pages show, and that nothing in them comes from elsewhere or runs inline.

use http::StatusCode;

use super::instance::{Instance, form, get, post};

/// Checks what every page must have, and must not have.
pub fn check(path: &str, page: &str) {
    assert!(
        page.starts_with("<!doctype html>\n<html lang=\"en\">"),
        "{path}"
    );
    assert_eq!(page.matches("<h1").count(), 1, "{path} has one heading");
    for wanted in [
        "<title>",
        "class=\"skip\"",
        "<main id=\"main\"",
        "aria-label=\"Main\"",
    ] {
        assert!(page.contains(wanted), "{path} lacks {wanted}");
    }
    for unwanted in [
        " style=",
        "<style",
        "javascript:",
        " onclick=",
        "src=\"http",
        "href=\"http",
    ] {
        assert!(!page.contains(unwanted), "{path} has {unwanted}");
    }
    for script in page.split("<script").skip(1) {
        assert!(
            script.starts_with(" type=\"module\" src=\"/assets/"),
            "{path} has an inline script"
        );
    }
    for form in page.split("<form method=\"post\"").skip(1) {
        let form = form.split("</form>").next().unwrap();
        assert!(
            form.contains("name=\"form_token\" value=\""),
            "{path} has a form without its token"
        );
        assert!(
            !form.contains("name=\"form_token\" value=\"\""),
            "{path} has a form with an empty token"
        );
    }
}

#[tokio::test]
async fn pages_are_whole_and_hold_nothing_inline_or_foreign() {
    let instance = Instance::start().await;
    let operator = instance.operator_cookie().await;
    let person = instance.person_cookie("c@example.org").await;
    let cookies = format!("{operator}; {person}");
    for path in [
        "/",
        "/issuer",
        "/issuer/new/immunization",
        "/issuer/new/prescription",
        "/types",
        "/types/new",
        "/types/new?from=prescription",
        "/types/view/immunization",
        "/verifier",
        "/verifier/new/immunization",
        "/wallet",
        "/wallet/groups?by=issuer",
        "/wallet/groups?by=type",
        "/wallet/groups?by=state",
        "/wallet?issuer=did:example:nobody",
        "/wallet/wire",
        "/wire",
        "/wire/sign-ins",
        "/issuer/wire",
        "/verifier/wire",
        "/wallet/history",
        "/wallet/keys",
        "/wallet/sign-in",
        "/registry",
        "/registry/blocks",
        "/registry/blocks/1",
        "/registry/validators",
        "/registry/register",
        "/registry/view/0",
        "/registry/view/1",
        "/registry/search?q=key&kind=create_did",
        "/registry/search?kind=create_did",
        "/registry/search?q=nothing-like-this",
        "/registry/object?id=rules",
        "/registry/object?id=validators/changes",
        "/registry/object?id=did/unknown",
        "/browse/domain",
        "/browse/pool?query=embedded",
        "/browse/config?type=120&page_size=1",
        "/resolver",
        "/operator",
        "/people",
        "/audit",
        "/audit?act=nothing-like-this",
        "/organisations",
        "/organisation",
        "/webhooks",
        "/trust",
        "/resolver?did=did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
    ] {
        let answer = instance.call(get(path).cookie(&cookies)).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.body);
        check(path, &answer.body);
    }
    let path = "/issuer/wire/of/nothing";
    let answer = instance.call(get(path).cookie(&cookies)).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND, "{}", answer.body);
    assert!(answer.body.contains("This flow was not recorded"));
    check(path, &answer.body);
}

#[tokio::test]
async fn an_offer_made_by_the_form_has_a_code_a_link_and_a_page_of_its_own() {
    let instance = Instance::start().await;
    let operator = instance.operator_cookie().await;
    let page = instance
        .call(get("/issuer/new/immunization?sample=true").cookie(&operator))
        .await;
    let token = page.form_token();
    let fields = filled(&page.body);
    let mut fields: Vec<(&str, &str)> = fields
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    fields.extend([
        ("form_token", token.as_str()),
        ("type", "immunization"),
        ("uses", "1"),
        ("format", "dc+sd-jwt"),
    ]);
    let made = instance
        .call(post("/issuer/new").cookie(&operator).form(form(&fields)))
        .await;
    assert_eq!(made.status, StatusCode::SEE_OTHER, "{}", made.body);
    let offer = instance
        .call(get(made.header("location")).cookie(&operator))
        .await;
    check("offer", &offer.body);
    assert!(offer.body.contains("<svg ") && offer.body.contains("openid-credential-offer://"));
    assert!(
        offer
            .body
            .contains("/wallet/offer?uri=openid-credential-offer%3A%2F%2F")
    );
    fields.push(("tx_code", "true"));
    let made = instance
        .call(post("/issuer/new").cookie(&operator).form(form(&fields)))
        .await;
    assert_eq!(
        made.status,
        StatusCode::OK,
        "the code is shown at once: {}",
        made.body
    );
    assert!(made.body.contains("id=\"tx-code\""));
}

#[tokio::test]
async fn a_form_that_is_refused_is_drawn_again_and_nothing_is_made() {
    let instance = Instance::start().await;
    let operator = instance.operator_cookie().await;
    let token = instance
        .call(get("/issuer/new/immunization").cookie(&operator))
        .await
        .form_token();
    for (path, fields, kept) in [
        (
            "/issuer/new",
            vec![
                ("type", "immunization"),
                ("uses", "0"),
                ("claim.patient/given_name", "Ida"),
            ],
            "value=\"Ida\"",
        ),
        (
            "/verifier/new",
            vec![
                ("type", "prescription"),
                ("spend", "true"),
                ("format", "vc+jwt"),
                ("purpose", "Counter"),
            ],
            "value=\"Counter\"",
        ),
    ] {
        let mut fields = fields;
        fields.push(("form_token", token.as_str()));
        let sent = post(path).cookie(&operator).form(form(&fields));
        let again = instance.call(sent).await;
        assert_eq!(
            again.status,
            StatusCode::BAD_REQUEST,
            "{path}: {}",
            again.body
        );
        check(path, &again.body);
        assert!(
            again.body.contains(kept) && again.body.contains("role=\"alert\""),
            "{}",
            again.body
        );
        assert!(again.body.contains("<title>Error: "), "{}", again.body);
    }
    let issuer = instance.call(get("/issuer").cookie(&operator)).await;
    assert!(!issuer.body.contains("id=\"offers\""), "{}", issuer.body);
}

/// The claims with which the form is prefilled.
fn filled(page: &str) -> Vec<(String, String)> {
    let unescaped = |text: &str| {
        text.replace("&#34;", "\"")
            .replace("&#39;", "'")
            .replace("&#38;", "&")
            .replace("&amp;", "&")
    };
    page.split("name=\"claim.")
        .skip(1)
        .map(|field| {
            let name = field.split('"').next().unwrap();
            let tag = field.split('>').next().unwrap();
            let value = match tag.split_once(" value=\"") {
                Some((_, value)) => value.split('"').next().unwrap(),
                None => field
                    .split_once('>')
                    .unwrap()
                    .1
                    .split("</textarea>")
                    .next()
                    .unwrap(),
            };
            (format!("claim.{name}"), unescaped(value))
        })
        .collect()
}

#[tokio::test]
async fn a_link_is_led_to_the_page_that_understands_it() {
    let instance = Instance::start().await;
    let person = instance.person_cookie("d@example.org").await;
    let token = instance
        .call(get("/wallet").cookie(&person))
        .await
        .form_token();
    for (link, page) in [
        (
            "openid-credential-offer://?credential_offer=%7B%7D",
            "/wallet/offer?uri=",
        ),
        ("openid4vp://?client_id=x", "/wallet/request?uri="),
        (" OPENID4VP://?client_id=x ", "/wallet/request?uri="),
        (
            "https://wallet.example/?credential_offer_uri=x",
            "/wallet/offer?uri=",
        ),
        (
            "http://127.0.0.1:7380/wallet/request?uri=openid4vp%3A%2F%2F%3Frequest_uri%3Dx",
            "/wallet/request?uri=openid4vp%3A",
        ),
    ] {
        let sent = form(&[("form_token", &token), ("uri", link)]);
        let answer = instance
            .call(post("/wallet/open").cookie(&person).form(sent))
            .await;
        assert!(
            answer.header("location").starts_with(page),
            "{link}: {}",
            answer.header("location")
        );
    }
    let sent = form(&[("form_token", &token), ("uri", "javascript:alert(1)")]);
    let answer = instance
        .call(post("/wallet/open").cookie(&person).form(sent))
        .await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_page_of_which_nothing_came_leads_back_to_its_part_of_the_site() {
    let instance = Instance::start().await;
    let operator = instance.operator_cookie().await;
    let person = instance.person_cookie("e@example.org").await;
    let cookies = format!("{operator}; {person}");
    for (lost, back) in [
        ("/issuer/new/nothing", "/issuer"),
        ("/verifier/view/nothing", "/verifier"),
        ("/wallet/cards/nothing", "/wallet"),
        ("/wallet/offer?uri=nothing", "/wallet"),
        ("/wallet/request?uri=nothing", "/wallet"),
        ("/registry/view/99999", "/registry"),
        ("/nothing", "/"),
    ] {
        let answer = instance.call(get(lost).cookie(&cookies)).await;
        assert!(!answer.status.is_success(), "{lost}");
        let button = format!("<a class=\"button\" href=\"{back}\">");
        assert!(answer.body.contains(&button), "{lost}: {}", answer.body);
    }
}

#[tokio::test]
async fn a_deep_link_survives_signing_in() {
    let instance = Instance::start().await;
    let deep = "/wallet/offer?uri=openid-credential-offer%3A%2F%2F%3Fcredential_offer%3D%257B%257D";
    let answer = instance.call(get(deep)).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    let door = instance.call(get(answer.header("location"))).await;
    let next = door
        .body
        .split("name=\"next\" value=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    assert_eq!(next, deep);
}

#[tokio::test]
async fn a_link_that_holds_a_whole_request_survives_signing_in_too() {
    let instance = Instance::start().await;
    let long = "%22%3A".repeat(9_000);
    let deep = format!("/wallet/request?uri=openid4vp%3A%2F%2F%3Fdcql_query%3D{long}");
    let led = instance.call(get(&deep)).await;
    let location = led.header("location").to_owned();
    assert!(location.len() < deep.len() + 100, "{}", location.len());
    let door = instance.call(get(&location)).await;
    let visitor = door.cookie("selfsame-visitor-7380");
    let sent = form(&[
        ("form_token", &door.form_token()),
        ("email", "long@example.org"),
        ("password", "a long password"),
        ("next", &deep),
    ]);
    let answer = post("/wallet/register").cookie(&visitor).form(sent);
    let answer = instance.call(answer).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    assert_eq!(answer.header("location"), deep);
}

#[tokio::test]
async fn an_error_on_a_page_is_said_first_and_has_the_focus() {
    let instance = Instance::start().await;
    let page = instance.call(get("/wallet/sign-in")).await;
    let visitor = page.cookie("selfsame-visitor-7380");
    assert!(!page.body.contains("autofocus") && !page.body.contains("aria-invalid"));
    let sent = form(&[
        ("form_token", &page.form_token()),
        ("email", "stranger@example.org"),
        ("password", "a wrong password"),
    ]);
    let answer = post("/wallet/sign-in").cookie(&visitor).form(sent);
    let answer = instance.call(answer).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    for wanted in [
        "<title>Error: Your wallet",
        "role=\"alert\" tabindex=\"-1\" autofocus>",
        "aria-invalid=\"true\" aria-describedby=\"problem\"",
        "Wrong e-mail or password. No wallet yet? Create one below.",
    ] {
        assert!(answer.body.contains(wanted), "{wanted}: {}", answer.body);
    }
    assert!(!answer.body.contains("page /wallet"), "{}", answer.body);
}

#[tokio::test]
async fn a_signed_in_operator_is_not_asked_for_the_token_again() {
    let instance = Instance::start().await;
    let operator = instance.operator_cookie().await;
    let page = instance.call(get("/operator").cookie(&operator)).await;
    assert!(page.body.contains("You are signed in") && !page.body.contains("Operator token"));
    let led = instance
        .call(get("/operator?next=%2Fverifier").cookie(&operator))
        .await;
    assert_eq!(led.header("location"), "/verifier");
    let out = form(&[("form_token", &page.form_token())]);
    let out = post("/operator/sign-out").cookie(&operator).form(out);
    assert_eq!(instance.call(out).await.status, StatusCode::SEE_OTHER);
    let page = instance.call(get("/operator").cookie(&operator)).await;
    assert!(page.body.contains("Operator token"));
}

#[tokio::test]
async fn a_certificate_is_not_offered_where_the_verifier_has_none() {
    let instance = Instance::start().await;
    let operator = instance.operator_cookie().await;
    let page = get("/verifier/new/immunization").cookie(&operator);
    let page = instance.call(page).await;
    assert!(page.body.contains("value=\"x509_san_dns\" disabled>"));
}

#[tokio::test]
async fn the_issuers_page_leads_on_to_older_offers() {
    let instance = Instance::start().await;
    let operator = instance.operator_cookie().await;
    let page = async |path: &str| {
        let answer = instance.call(get(path).cookie(&operator)).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        let offers = answer.body.matches("href=\"/issuer/view/").count();
        let older = answer.body.split("href=\"/issuer?offers=").nth(1);
        let older = older.and_then(|rest| rest.split('#').next());
        (
            offers,
            older.map(|cursor| format!("/issuer?offers={cursor}")),
        )
    };
    let mut made = 0;
    for (wanted, older) in [(10, false), (11, true)] {
        while made < wanted {
            let call = post("/api/issuer/offers").bearer(&instance.token);
            let call = call.json(r#"{"type":"immunization","examples":true}"#);
            assert_eq!(instance.call(call).await.status, StatusCode::CREATED);
            made += 1;
        }
        let (offers, on) = page("/issuer").await;
        assert_eq!((offers, on.is_some()), (10, older));
        if let Some(on) = on {
            assert_eq!(page(&on).await, (1, None));
        }
    }
    let lost = instance
        .call(get("/issuer?offers=zzz").cookie(&operator))
        .await;
    assert_eq!(lost.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn the_address_that_an_answered_form_leaves_behind_leads_to_a_page() {
    let instance = Instance::start().await;
    let operator = instance.operator_cookie().await;
    let person = instance.person_cookie("f@example.org").await;
    let cookies = format!("{operator}; {person}");
    for (left_behind, page) in [
        ("/wallet/request", "/wallet"),
        ("/wallet/request?uri=", "/wallet"),
        ("/wallet/offer", "/wallet"),
        ("/wallet/open", "/wallet"),
        ("/wallet/sign-out", "/wallet"),
        ("/wallet/cards/one/delete", "/wallet"),
        ("/wallet/register", "/wallet/sign-in"),
        ("/issuer/new", "/issuer"),
        ("/verifier/new", "/verifier"),
        ("/verifier/view/one/recheck", "/verifier"),
        ("/operator/sign-out", "/operator"),
    ] {
        let answer = instance.call(get(left_behind).cookie(&cookies)).await;
        let led = (answer.status, answer.header("location"));
        assert_eq!(led, (StatusCode::SEE_OTHER, page), "{left_behind}");
    }
}

#[tokio::test]
async fn the_address_of_a_form_leads_to_a_page() {
    let instance = Instance::start().await;
    for (form, page) in [
        ("/wallet/sign-out", "/wallet"),
        ("/operator/sign-out", "/operator"),
        ("/issuer/issued/one/status", "/issuer"),
    ] {
        let answer = instance.call(get(form)).await;
        assert_eq!(answer.header("location"), page, "{form}");
    }
}

#[tokio::test]
async fn what_others_put_into_a_pages_address_is_ignored_and_into_an_apis_refused() {
    let instance = Instance::start().await;
    let operator = instance.operator_cookie().await;
    let person = instance.person_cookie("g@example.org").await;
    let cookies = format!("{operator}; {person}");
    for path in [
        "/?utm_source=x",
        "/issuer?fbclid=x",
        "/verifier?fbclid=x",
        "/wallet?utm_source=x",
        "/wallet/history?utm_source=x",
        "/wallet/sign-in?utm_source=x",
        "/registry?utm_source=x",
        "/registry/blocks?utm_source=x",
        "/registry/search?kind=create_did&utm_source=x",
        "/registry/object?id=rules&utm_source=x",
        "/browse/domain?utm_source=x",
        "/resolver?utm_source=x",
        "/operator?utm_source=x",
    ] {
        let answer = instance.call(get(path).cookie(&cookies)).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
    }
    let api = get("/api/issuer/offers?utm_source=x").bearer(&instance.token);
    assert_eq!(instance.call(api).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn who_follows_events_without_a_session_is_refused_and_not_led_to_a_page() {
    let instance = Instance::start().await;
    let followed = "/verifier/view/one/events";
    let events = get(followed).header("accept", "text/event-stream");
    assert_eq!(instance.call(events).await.status, StatusCode::UNAUTHORIZED);
    let looked = get(followed).header("accept", "text/html");
    assert_eq!(instance.call(looked).await.status, StatusCode::SEE_OTHER);
}
