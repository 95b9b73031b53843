//! Access: hosts, origins, forms, bodies, budgets, and the headers of responses.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::StatusCode;
use http::header::CONTENT_LENGTH;

use serde_json::Value;

use super::instance::{Answered, Call, Instance, ORIGIN, form, get, post};
use crate::{Budget, ServerLimits};

#[tokio::test]
async fn a_foreign_host_is_refused_and_another_loopback_name_is_led_home() {
    let instance = Instance::start().await;
    for host in [
        "rebound.example",
        "rebound.example:7380",
        "127.0.0.1:7381",
        "127.0.0.1",
        "",
    ] {
        let answer = instance.call(get("/").host(host)).await;
        assert_eq!(answer.status, StatusCode::MISDIRECTED_REQUEST, "{host}");
    }
    let led = instance
        .call(get("/registry?after=9").host("localhost:7380"))
        .await;
    assert_eq!(led.status, StatusCode::PERMANENT_REDIRECT);
    assert_eq!(led.header("location"), format!("{ORIGIN}/registry?after=9"));
    let post = instance
        .call(post("/issuer/nonce").host("localhost:7380"))
        .await;
    assert_eq!(post.status, StatusCode::MISDIRECTED_REQUEST);
    assert_eq!(
        instance
            .call(get("/livez").host("10.0.0.7:7380"))
            .await
            .status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn a_request_with_two_hosts_is_misdirected() {
    let instance = Instance::start().await;
    let answer = instance
        .call(get("/").header("host", "rebound.example"))
        .await;
    assert_eq!(answer.status, StatusCode::MISDIRECTED_REQUEST);
}

#[tokio::test]
async fn a_post_from_another_sites_page_is_refused_even_with_the_cookie() {
    let instance = Instance::start().await;
    let cookie = instance.operator_cookie().await;
    let page = instance.call(get("/issuer").cookie(&cookie)).await;
    let sent = form(&[("form_token", &page.form_token())]);
    for origin in ["https://evil.example", "null", "http://127.0.0.1:7381"] {
        let call = post("/operator/sign-out")
            .cookie(&cookie)
            .header("origin", origin)
            .form(sent.clone());
        assert_eq!(
            instance.call(call).await.status,
            StatusCode::FORBIDDEN,
            "{origin}"
        );
    }
    let own = post("/operator/sign-out")
        .cookie(&cookie)
        .header("origin", ORIGIN)
        .form(sent);
    assert_eq!(instance.call(own).await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn a_form_without_its_sessions_token_is_refused() {
    let instance = Instance::start().await;
    let cookie = instance.operator_cookie().await;
    let person = instance.person_cookie("a@example.org").await;
    let persons_token = instance
        .call(get("/wallet").cookie(&person))
        .await
        .form_token();
    for token in ["", "wrong", &persons_token] {
        let call = post("/issuer/issued/1/status")
            .cookie(&cookie)
            .form(form(&[("form_token", token), ("status", "revoked")]));
        let answer = instance.call(call).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN);
        assert!(answer.body.contains("out of date"));
    }
    let api = post("/api/issuer/offers")
        .cookie(&cookie)
        .json(r#"{"type":"immunization","examples":true}"#);
    assert_eq!(
        instance.call(api).await.status,
        StatusCode::FORBIDDEN,
        "a cookie alone is no proof of who asked"
    );
    let bearer = post("/api/issuer/offers")
        .bearer(&instance.token)
        .json(r#"{"type":"immunization","examples":true}"#);
    assert_eq!(instance.call(bearer).await.status, StatusCode::CREATED);
}

#[tokio::test]
async fn a_sign_in_form_works_only_in_the_browser_it_was_shown_to() {
    let instance = Instance::start().await;
    let page = instance.call(get("/operator")).await;
    let sent = form(&[
        ("form_token", &page.form_token()),
        ("token", &instance.token),
    ]);
    let stranger = instance
        .call(post("/operator/sign-in").form(sent.clone()))
        .await;
    assert_eq!(stranger.status, StatusCode::FORBIDDEN);
    let visitor = page.cookie("selfsame-visitor-7380");
    assert!(page.header("set-cookie").contains("SameSite=Lax"));
    let link_of_another_site = instance.call(get("/operator").cookie(&visitor)).await;
    assert_eq!(link_of_another_site.form_token(), page.form_token());
    let answer = instance
        .call(post("/operator/sign-in").cookie(&visitor).form(sent))
        .await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    let session = answer
        .headers
        .get_all("set-cookie")
        .iter()
        .next()
        .unwrap()
        .to_str()
        .unwrap();
    assert!(
        session.contains("HttpOnly") && session.contains("SameSite=Strict"),
        "{session}"
    );
}

#[tokio::test]
async fn the_sign_in_link_works_once_and_leaves_no_token_behind() {
    let instance = Instance::start().await;
    let link = instance.sign_in_link().await;
    assert!(!link.contains(&instance.token));
    let answer = instance.call(get(&link)).await;
    // Not a redirect: a browser coming from another site would follow it without the cookie that is set here.
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.header("refresh"), "0; url=/issuer");
    assert!(
        answer.body.contains("href=\"/issuer\">Continue"),
        "{}",
        answer.body
    );
    assert!(answer.header("set-cookie").contains("SameSite=Strict"));
    assert_eq!(answer.header("referrer-policy"), "no-referrer");
    assert!(!format!("{:?}{}", answer.headers, answer.body).contains(&instance.token));
    let by_token = format!("/operator/sign-in?code={}", instance.token);
    for over in [link.as_str(), "/operator/sign-in?code=wrong", &by_token] {
        let refused = instance.call(get(over)).await;
        assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{over}");
        assert!(refused.body.contains("ten minutes"), "{}", refused.body);
        assert!(
            refused
                .headers
                .get_all("set-cookie")
                .iter()
                .all(|cookie| !cookie.to_str().unwrap().contains("operator"))
        );
    }
}

#[tokio::test]
async fn the_sign_in_link_is_over_after_ten_minutes() {
    let instance = Instance::start().await;
    let (in_time, late) = (instance.sign_in_link().await, instance.sign_in_link().await);
    // The real clock also advances meanwhile, on a busy machine by seconds.
    instance.app.clock().advance(560);
    assert_eq!(instance.call(get(&in_time)).await.status, StatusCode::OK);
    instance.app.clock().advance(41);
    let refused = instance.call(get(&late)).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    assert!(refused.body.contains("ten minutes"), "{}", refused.body);
}

#[tokio::test]
async fn after_signing_in_one_is_where_one_wanted_to_be_but_never_elsewhere() {
    let instance = Instance::start().await;
    for (next, expected) in [
        ("/verifier?x=1", "/verifier?x=1"),
        ("//evil.example", "/issuer"),
        ("https://evil.example", "/issuer"),
    ] {
        let page = instance.call(get("/operator")).await;
        let sent = form(&[
            ("form_token", &page.form_token()),
            ("token", &instance.token),
            ("next", next),
        ]);
        let call = post("/operator/sign-in")
            .cookie(&page.cookie("selfsame-visitor-7380"))
            .form(sent);
        assert_eq!(instance.call(call).await.header("location"), expected);
    }
}

#[tokio::test]
async fn signing_out_ends_the_session() {
    let instance = Instance::start().await;
    let person = instance.person_cookie("b@example.org").await;
    let token = instance
        .call(get("/wallet").cookie(&person))
        .await
        .form_token();
    let out = instance
        .call(
            post("/wallet/sign-out")
                .cookie(&person)
                .form(form(&[("form_token", &token)])),
        )
        .await;
    assert!(out.header("set-cookie").contains("Max-Age=0"));
    assert_eq!(
        instance.call(get("/wallet").cookie(&person)).await.status,
        StatusCode::SEE_OTHER
    );
}

#[tokio::test]
async fn signing_in_again_ends_the_session_that_the_browser_had_and_no_other() {
    let instance = Instance::start().await;
    let page = instance.call(get("/operator")).await;
    let visitor = page.cookie("selfsame-visitor-7380");
    let form_token = page.form_token();
    let token = instance.token.clone();
    let by_form = form(&[("form_token", &form_token), ("token", &token)]);
    let by_link = instance.sign_in_link().await;
    let registration = form(&[
        ("form_token", &form_token),
        ("email", "again@example.org"),
        ("password", "a long password"),
    ]);
    let person = instance
        .call(
            post("/wallet/register")
                .cookie(&visitor)
                .form(registration.clone()),
        )
        .await
        .cookie("selfsame-wallet-7380");
    let with = |former: &str| format!("{visitor}; {former}");
    let other = instance.operator_cookie().await;
    let first = instance.operator_cookie().await;
    let second = instance.call(get(&by_link).cookie(&first)).await;
    let second = second.cookie("selfsame-operator-7380");
    let call = post("/operator/sign-in")
        .cookie(&with(&second))
        .form(by_form);
    let third = instance.call(call).await.cookie("selfsame-operator-7380");
    let call = post("/wallet/sign-in")
        .cookie(&with(&person))
        .form(registration);
    let person_again = instance.call(call).await.cookie("selfsame-wallet-7380");
    for (path, session, expected) in [
        ("/issuer", &other, StatusCode::OK),
        ("/issuer", &first, StatusCode::SEE_OTHER),
        ("/issuer", &second, StatusCode::SEE_OTHER),
        ("/issuer", &third, StatusCode::OK),
        ("/wallet", &person, StatusCode::SEE_OTHER),
        ("/wallet", &person_again, StatusCode::OK),
    ] {
        let answer = instance.call(get(path).cookie(session)).await;
        assert_eq!(answer.status, expected, "{path} {session}");
    }
    // An invalid session does not prevent signing in.
    let another = instance.sign_in_link().await;
    let made_up = get(&another).cookie("selfsame-operator-7380=made-up");
    assert_eq!(instance.call(made_up).await.status, StatusCode::OK);
}

#[tokio::test]
async fn each_same_device_request_has_a_cookie_of_its_own() {
    let instance = Instance::start().await;
    let operator = instance.operator_cookie().await;
    let page = get("/verifier/new/immunization").cookie(&operator);
    let form_token = instance.call(page).await.form_token();
    let ask = async |same_device: &str| {
        let sent = form(&[
            ("form_token", &form_token),
            ("type", "immunization"),
            ("claim", "disease/name"),
            ("same_device", same_device),
        ]);
        let call = post("/verifier/new").cookie(&operator).form(sent);
        let answer = instance.call(call).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
        let id = answer.header("location").split('/').next_back().unwrap();
        (id.to_owned(), answer.header("set-cookie").to_owned())
    };
    let mut values = Vec::new();
    for _ in 0..2 {
        let (id, cookie) = ask("true").await;
        let value = cookie.strip_prefix("selfsame-asked-7380=").expect(&cookie);
        let page = format!("; Path=/verifier/results/{id}; HttpOnly; SameSite=Lax; Max-Age=");
        assert!(value.contains(&page), "{cookie}");
        values.push(value.split(';').next().unwrap().to_owned());
    }
    assert_ne!(values[0], values[1]);
    assert_eq!(ask("false").await.1, "", "no cookie for another device");
}

#[tokio::test]
async fn bodies_have_limits_and_kinds() {
    let instance = Instance::start().await;
    let large = format!(r#"{{"type":"{}"}}"#, "x".repeat(300 * 1024));
    let answer = instance
        .call(
            post("/api/issuer/offers")
                .bearer(&instance.token)
                .json(&large),
        )
        .await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(answer.header("content-type"), "application/problem+json");
    let untyped = instance
        .call(post("/api/issuer/offers").bearer(&instance.token))
        .await;
    assert_eq!(untyped.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    for bad in [
        r#"{"type":"a","type":"b"}"#,
        r#"{"type":"a","unknown":1}"#,
        "{",
        "[]",
    ] {
        let answer = instance
            .call(post("/api/issuer/offers").bearer(&instance.token).json(bad))
            .await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{bad}");
    }
    let token = instance.call(post("/issuer/token").json("{}")).await;
    assert_eq!(token.status, StatusCode::BAD_REQUEST);
    assert!(
        token.body.contains(r#""error":"invalid_request""#),
        "{}",
        token.body
    );
}

#[tokio::test]
async fn what_is_wrong_with_a_credential_requests_payload_has_the_codes_of_credential_requests() {
    let instance = Instance::start().await;
    let ask = || post("/issuer/credential").bearer("an-unknown-token");
    let large = format!(r#"{{"proofs":"{}"}}"#, "x".repeat(2 << 20));
    for (call, status) in [
        (ask(), StatusCode::BAD_REQUEST),
        (ask().form("a=b".to_owned()), StatusCode::BAD_REQUEST),
        (ask().json("{"), StatusCode::BAD_REQUEST),
        (ask().json(&large), StatusCode::PAYLOAD_TOO_LARGE),
    ] {
        let answer = instance.call(call).await;
        assert_eq!(answer.status, status, "{}", answer.body);
        let code = r#""error":"invalid_credential_request""#;
        assert!(answer.body.contains(code), "{}", answer.body);
        assert_eq!(answer.header("content-type"), "application/json");
    }
    // Its token is checked as usual (RFC 6750 §3.1).
    let known = r#"{"credential_configuration_id":"x"}"#;
    for call in [ask().json(known), post("/issuer/credential").json(known)] {
        let answer = instance.call(call).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
        assert!(answer.body.contains(r#""error":"invalid_token""#));
    }
}

#[tokio::test]
async fn a_status_list_is_given_as_it_is_now_and_not_as_it_was() {
    let instance = Instance::start().await;
    let now = instance.call(get("/status/0")).await;
    assert_eq!(now.status, StatusCode::OK, "{}", now.body);
    let other = instance.call(get("/status/0?times=1")).await;
    assert_eq!(other.status, StatusCode::OK);
    // Token Status List §8.4.
    for query in ["time=1686925000", "a=b&time="] {
        let past = instance.call(get(&format!("/status/0?{query}"))).await;
        assert_eq!(past.status, StatusCode::NOT_IMPLEMENTED, "{query}");
        assert_eq!(past.header("content-type"), "application/problem+json");
    }
}

#[tokio::test]
async fn each_answer_carries_the_headers_that_keep_browsers_safe() {
    let instance = Instance::start().await;
    for path in [
        "/",
        "/issuer",
        "/nowhere",
        "/api/status",
        "/.well-known/openid-credential-issuer/issuer",
    ] {
        let answer = instance.call(get(path)).await;
        let policy = answer.header("content-security-policy");
        assert!(
            policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{path}"
        );
        assert!(!policy.contains("unsafe"), "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert!(!answer.header("referrer-policy").is_empty(), "{path}");
        assert!(!answer.header("x-request-id").is_empty(), "{path}");
        assert!(!answer.header("cache-control").is_empty(), "{path}");
    }
}

#[tokio::test]
async fn refusals_speak_the_callers_language() {
    let instance = Instance::start().await;
    let program = instance.call(get("/api/status")).await;
    assert_eq!(program.header("content-type"), "application/problem+json");
    assert_eq!(program.header("www-authenticate"), "Bearer");
    let wallet = instance.call(post("/issuer/credential").json("{}")).await;
    assert_eq!(wallet.status, StatusCode::UNAUTHORIZED);
    assert!(wallet.body.contains(r#""error":"invalid_token""#));
    let person = instance.call(get("/nowhere")).await;
    assert!(person.body.contains("Not found"));
    assert_eq!(person.status, StatusCode::NOT_FOUND);
    let method = instance.call(post("/registry")).await;
    assert_eq!(method.status, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn people_waiting_do_not_keep_protocols_waiting() {
    let none = Budget {
        running: 0,
        waiting: 0,
        patience: Duration::from_secs(1),
    };
    let instance = Instance::with(ServerLimits {
        people: none,
        ..ServerLimits::default()
    })
    .await;
    let person = instance.call(get("/wallet/sign-in")).await;
    assert_eq!(person.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(person.header("retry-after"), "1");
    assert_eq!(
        instance.call(post("/issuer/nonce")).await.status,
        StatusCode::OK
    );
    assert_eq!(instance.call(get("/livez")).await.status, StatusCode::OK);
}

#[tokio::test]
async fn assets_are_kept_for_ever_and_only_under_their_contents_name() {
    let instance = Instance::start().await;
    let answer = instance
        .call(get(&selfsame_pages::assets::url("app.css")))
        .await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(answer.header("cache-control").contains("immutable"));
    assert_eq!(
        answer.header(CONTENT_LENGTH.as_str()),
        answer.body.len().to_string()
    );
    assert_eq!(
        instance.call(get("/assets/old/app.css")).await.status,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn figures_name_routes_and_never_addresses() {
    let instance = Instance::start().await;
    instance
        .call(get("/1.0/identifiers/did:example:secret-person"))
        .await;
    let figures = instance.call(get("/metrics")).await.body;
    assert!(
        figures.contains("selfsame_http_requests_total"),
        "{figures}"
    );
    assert!(figures.contains(r#"route="/1.0/identifiers/{*did}""#));
    assert!(!figures.contains("secret-person"));
    for known in [
        "# TYPE selfsame_store_commits_total counter",
        "# TYPE selfsame_store_commits_microseconds_total counter",
        "selfsame_outbox_dead 0",
    ] {
        assert!(figures.contains(known), "{known}: {figures}");
    }
}

/// Lines logged on this thread.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<String>>>);

impl tracing::Subscriber for Heard {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        ["selfsame_server::audited", "selfsame_app::app::seats"].contains(&metadata.target())
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        struct Text(String);
        impl tracing::field::Visit for Text {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                self.0.push_str(&format!("{}={value:?} ", field.name()));
            }
        }
        let mut text = Text(event.metadata().level().to_string() + " ");
        event.record(&mut text);
        self.0.lock().unwrap().push(text.0);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[tokio::test]
async fn what_the_operator_does_is_noted_once_and_tells_no_secret() {
    let instance = Instance::start().await;
    let heard = Heard::default();
    let _listening = tracing::subscriber::set_default(heard.clone());
    let lines = || std::mem::take(&mut *heard.0.lock().unwrap());
    let api = |call: Call| call.bearer(&instance.token);

    instance.operator_cookie().await;
    let line = lines().join("\n");
    assert_eq!(line.matches("the operator: signed in").count(), 1, "{line}");
    assert!(
        line.starts_with("INFO") && !line.contains(&instance.token),
        "{line}"
    );

    let new = r#"{"type":"immunization","examples":true}"#;
    instance
        .call(api(post("/api/issuer/offers").json(new)))
        .await;
    let made = lines();
    assert_eq!(made.len(), 1, "{made:?}");
    assert!(
        made[0].contains("/api/issuer/offers") && made[0].contains("POST"),
        "{made:?}"
    );

    let new = r#"{"type":"immunization"}"#;
    let asked = instance
        .call(api(post("/api/verifier/requests").json(new)))
        .await;
    let asked: Value = serde_json::from_str(&asked.body).unwrap();
    let id = asked["id"].as_str().unwrap();
    let one = format!("/api/verifier/requests/{id}");
    instance.call(api(get(&one))).await;
    let read = lines();
    assert_eq!(read.len(), 2, "{read:?}");
    assert!(
        read[1].contains("GET /api/verifier/requests/{id}") && read[1].contains(&id[..8]),
        "{read:?}"
    );
    assert!(!read.concat().contains(id), "{read:?}");

    // Requests that are refused, or that show no personal data, are not logged.
    instance.call(get(&one)).await;
    instance.call(api(get("/api/status"))).await;
    instance
        .call(api(post("/api/issuer/offers").json("{")))
        .await;
    assert_eq!(lines(), Vec::<String>::new());
}

#[tokio::test]
async fn figures_are_for_this_machine_and_for_the_operator() {
    let instance = Instance::start().await;
    let ask = || get("/metrics").from("203.0.113.1");
    let stranger = instance.call(ask()).await;
    assert_eq!(stranger.status, StatusCode::UNAUTHORIZED);
    assert!(!stranger.body.contains("selfsame_"), "{}", stranger.body);
    let cookie = instance.operator_cookie().await;
    for operator in [ask().bearer(&instance.token), ask().cookie(&cookie)] {
        assert_eq!(instance.call(operator).await.status, StatusCode::OK);
    }
    let wrong = instance.call(ask().bearer("guessed")).await;
    assert_eq!(wrong.status, StatusCode::UNAUTHORIZED);
    // Process supervisors call these by IP address, from anywhere.
    for path in ["/livez", "/readyz"] {
        let answer = instance.call(get(path).from("203.0.113.1")).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
    }
}

#[tokio::test]
async fn an_instance_whose_ledger_is_damaged_is_not_ready_and_its_figures_say_so() {
    let instance = Instance::start().await;
    assert_eq!(instance.call(get("/readyz")).await.status, StatusCode::OK);
    let registry = instance.app.registry().unwrap();
    let damage = registry.ledger().unwrap().damage();
    let _told = damage.found("a bit flipped");
    let answer = instance.call(get("/readyz")).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(answer.body, "the registry's ledger is damaged\n");
    // All instances of this process share one set of metrics.
    for _ in 0..100 {
        let figures = instance.call(get("/metrics")).await.body;
        if figures.contains("\nselfsame_registry_damaged 1\n") {
            return;
        }
    }
    panic!("the figures do not tell of damage");
}

#[tokio::test]
async fn the_operators_token_is_needed_to_read_and_to_confirm_the_registrys_clock() {
    let instance = Instance::start().await;
    let path = "/api/registry/clock";
    let stranger = instance.call(post(path)).await;
    assert_eq!(stranger.status, StatusCode::UNAUTHORIZED);
    let clock = instance.app.clock();
    clock.set_ahead(30 * 86_400);
    let doubt = |answer: Answered| {
        let clock: Value = serde_json::from_str(&answer.body).unwrap();
        clock["doubt"].as_str().map(str::to_owned)
    };
    let ask = || instance.call(get(path).bearer(&instance.token));
    assert!(doubt(ask().await).unwrap().contains("leapt ahead"));
    let vouched = instance.call(post(path).bearer(&instance.token)).await;
    assert_eq!(vouched.status, StatusCode::OK, "{}", vouched.body);
    assert_eq!((doubt(vouched), doubt(ask().await)), (None, None));
}

#[tokio::test]
async fn a_list_goes_on_at_its_own_cursors_only_and_an_api_takes_no_member_that_it_does_not_know() {
    let instance = Instance::start().await;
    let operator = instance.operator_cookie().await;
    let person = instance.person_cookie("lists@example.org").await;
    for path in [
        "/api/dids",
        "/api/issuer/offers",
        "/api/issuer/credentials",
        "/api/verifier/requests",
        "/api/wallet/credentials",
        "/api/wallet/history",
        "/api/wallet/keys",
        "/api/wallet/dids",
        "/issuer",
        "/verifier",
        "/registry",
        "/wallet",
        "/wallet/history",
    ] {
        let unknown = match path.starts_with("/api/") {
            true => StatusCode::BAD_REQUEST,
            false => StatusCode::OK,
        };
        for (query, expected) in [
            ("after=zzz", StatusCode::BAD_REQUEST),
            ("after=-1", StatusCode::BAD_REQUEST),
            ("limit=abc", StatusCode::BAD_REQUEST),
            ("limit=0", StatusCode::BAD_REQUEST),
            ("unknown=1", unknown),
            ("after=", StatusCode::OK),
            ("after=1", StatusCode::OK),
        ] {
            let call = get(&format!("{path}?{query}")).cookie(&format!("{operator}; {person}"));
            let answer = instance.call(call).await;
            assert_eq!(answer.status, expected, "{path}?{query}: {}", answer.body);
            let kind = match (path.starts_with("/api/"), expected) {
                (true, StatusCode::OK) => "application/json",
                (true, _) => "application/problem+json",
                (false, _) => "text/html; charset=utf-8",
            };
            assert_eq!(answer.header("content-type"), kind, "{path}?{query}");
        }
    }
}

#[tokio::test]
async fn a_body_or_query_that_is_refused_is_told_what_of_it_is_wrong_and_never_its_values() {
    let instance = Instance::start().await;
    let offers = "/api/issuer/offers";
    for (path, body, named) in [
        (
            offers,
            r#"{"type":"immunization","uses":-1}"#,
            "`uses` must be a whole number",
        ),
        (offers, r#"{"examples":true}"#, "`type` is missing"),
        (offers, r#"["secret"]"#, "it must be an object"),
        (
            "/api/dids",
            r#"{"method":"key","nmae":"secret"}"#,
            "`nmae` is unknown",
        ),
        (
            "/api/dids",
            r#"{"method":["secret"]}"#,
            "`method` must be a string",
        ),
    ] {
        let call = post(path).json(body).bearer(&instance.token);
        let answer = instance.call(call).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{}", answer.body);
        let told: Value = serde_json::from_str(&answer.body).unwrap();
        let detail = told["detail"].as_str().unwrap();
        assert!(detail.contains(named), "{detail}");
        assert!(told["hint"].as_str().unwrap().contains("/openapi.json"));
        assert!(!answer.body.contains("secret"), "{}", answer.body);
    }
    for (query, named) in [
        ("limit=-1", "`limit` must be a whole number"),
        ("limit=0", "`limit` must be a whole number from 1"),
        ("limit=1&limit=2", "`limit` is there twice"),
        ("lmiit=secret", "`lmiit` is unknown"),
    ] {
        let call = get(&format!("{offers}?{query}")).bearer(&instance.token);
        let answer = instance.call(call).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{}", answer.body);
        assert!(answer.body.contains(named), "{}", answer.body);
        assert!(!answer.body.contains("secret"), "{}", answer.body);
    }
}

#[tokio::test]
async fn who_takes_json_and_no_page_is_told_in_json_that_there_is_nothing() {
    let instance = Instance::start().await;
    for (accept, kind) in [
        ("application/json", "application/problem+json"),
        (
            "application/problem+json, */*;q=0.1",
            "application/problem+json",
        ),
        (
            "text/html,application/json;q=0.9",
            "text/html; charset=utf-8",
        ),
        ("*/*", "text/html; charset=utf-8"),
    ] {
        let answer = instance
            .call(get("/no/such/place").header("accept", accept))
            .await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND);
        assert_eq!(answer.header("content-type"), kind, "{accept}");
    }
}
