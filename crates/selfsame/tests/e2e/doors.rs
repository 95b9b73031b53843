//! Access: tokens, hosts, origins, forms, passwords; what the API refuses; what the log records.

use serde_json::{Value, json};

use crate::foreign::{FORM, Holder, form};
use crate::http::{Reply, Request};
use crate::rig::{
    World, answer, assert_problem, get, items, offer, post, put, succeeded, take, text, verdict,
};

#[test]
fn the_api_refuses_what_is_no_proper_json_with_problem_details() {
    let world = World::start(&[]);
    let send = |kind: &str, body: &str| {
        world
            .operator
            .request("POST", "/api/issuer/offers")
            .body(kind, body)
            .send()
            .unwrap()
    };
    let kind = "application/json";
    assert_problem(&send("text/plain", "{}"), 415);
    assert_problem(&send(FORM, "type=immunization"), 415);
    let deep = format!(r#"{{"claims":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
    let huge = format!(r#"{{"type":"{}"}}"#, "a".repeat(2 * 1024 * 1024));
    for body in [
        "",
        "{",
        "[]",
        "null",
        r#"{"type":"immunization","type":"prescription","examples":true}"#,
        r#"{"type":"immunization","examples":"yes"}"#,
        r#"{"type":"immunization","examples":true,"unknown":1}"#,
        r#"{"type":"immunization"}"#,
        r#"{"type":"immunization","examples":true,"claims":{"shoe_size":44}}"#,
        r#"{"type":"immunization","examples":true,"claims":{"patient":{"birth_date":"yesterday"}}}"#,
        r#"{"type":"immunization","examples":true,"format":"mso_mdoc"}"#,
        &deep,
    ] {
        assert_problem(&send(kind, body), 400);
    }
    assert_problem(&send(kind, &huge), 413);
    assert_problem(&send(kind, r#"{"type":"nothing","examples":true}"#), 404);
    assert!(
        items(&get(&world.operator, "/api/issuer/offers")).is_empty(),
        "a refusal made an offer"
    );
    for query in [
        json!({"credentials": []}),
        json!({"credentials": [{"id": "a", "format": "dc+sd-jwt"}]}),
        json!({"credentials": [{"id": "a b", "format": "dc+sd-jwt", "meta": {"vct_values": ["x"]}}]}),
        json!("x"),
    ] {
        let reply = world
            .operator
            .send(
                "POST",
                "/api/verifier/requests",
                Some(&json!({"dcql_query": query})),
            )
            .unwrap();
        assert_problem(&reply, 400);
    }
}

#[test]
fn an_operators_door_opens_for_the_operators_token_alone() {
    let world = World::start(&[]);
    let person = world.person("maja");
    let routes = [
        ("GET", "/api/status"),
        ("GET", "/api/dids"),
        ("POST", "/api/dids"),
        ("PUT", "/api/dids/x"),
        ("DELETE", "/api/dids/x"),
        ("GET", "/api/types"),
        ("GET", "/api/issuer/offers"),
        ("POST", "/api/issuer/offers"),
        ("GET", "/api/issuer/credentials"),
        ("PUT", "/api/issuer/credentials/x/status"),
        ("GET", "/api/verifier/requests"),
        ("POST", "/api/verifier/requests"),
        ("POST", "/api/verifier/requests/x/recheck"),
        ("POST", "/api/verifier/verify"),
        ("GET", "/api/wallet/credentials"),
        ("GET", "/api/wallet/history"),
        ("POST", "/api/wallet/offers/accept"),
        ("POST", "/api/wallet/requests/answer"),
        ("POST", "/registry/transactions"),
    ];
    for (method, path) in routes {
        for token in ["", "nonsense"] {
            let reply = world
                .operator
                .with_token(token)
                .send(method, path, None)
                .unwrap();
            assert_eq!(reply.status, 401, "{method} {path} with `{token}`");
            assert!(
                reply.header("www-authenticate").is_some(),
                "{method} {path}"
            );
        }
        let foreign = if path.starts_with("/api/wallet") {
            &world.operator
        } else {
            &person
        };
        let reply = foreign.send(method, path, None).unwrap();
        assert_eq!(reply.status, 401, "{method} {path} for the wrong role");
    }
}

#[test]
fn a_request_under_another_name_or_from_another_site_is_refused() {
    let world = World::start(&[]);
    let api = &world.operator;
    for host in ["evil.example", "localhost:1", "169.254.169.254", ""] {
        let reply = api
            .request("GET", "/api/status")
            .under(host)
            .send()
            .unwrap();
        assert!(
            matches!(reply.status, 400 | 421),
            "{host}: {}",
            reply.status
        );
    }
    let body = json!({"type": "immunization", "examples": true});
    let from = |origin: &str| {
        api.request("POST", "/api/issuer/offers")
            .json(&body)
            .header("Origin", origin)
            .send()
            .unwrap()
    };
    for origin in ["https://evil.example", "null", "http://localhost:1"] {
        assert_problem(&from(origin), 403);
    }
    let own = world
        .instance
        .origin
        .as_str()
        .trim_end_matches('/')
        .to_owned();
    assert!(from(&own).is_success());
    assert_eq!(items(&get(api, "/api/issuer/offers")).len(), 1);
}

#[test]
fn a_form_without_its_sessions_token_is_refused() {
    let world = World::start(&[]);
    let anybody = world.anybody();
    // Signing in needs the token of the page that showed the form.
    let credentials = [
        ("email", "a@example.org"),
        ("password", "correct horse battery"),
    ];
    let page = anybody.send("GET", "/wallet/sign-in", None).unwrap();
    let cookie = cookie(&page);
    let register = |cookie: &str, fields: &[(&str, &str)]| {
        let request = anybody
            .request("POST", "/wallet/register")
            .body(FORM, form(fields));
        request.header("Cookie", cookie).send().unwrap()
    };
    assert_eq!(register(&cookie, &credentials).status, 403);
    let html = String::from_utf8(page.body.clone()).unwrap();
    let token = html
        .split("name=\"form_token\" value=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    let token = token.unwrap_or_else(|| panic!("no form token in {html}"));
    let with_token = [credentials[0], credentials[1], ("form_token", token)];
    assert_eq!(
        register("", &with_token).status,
        403,
        "a form token without its cookie"
    );
    let registered = register(&cookie, &with_token);
    assert_eq!(
        registered.status,
        303,
        "{}",
        String::from_utf8_lossy(&registered.body)
    );
    let session = self::cookie(&registered);
    let set = registered.header("set-cookie").unwrap();
    assert!(
        set.contains("HttpOnly") && set.contains("SameSite="),
        "{set}"
    );
    // The session is a cookie, so a write without the session's form token may not come from the person.
    let with_cookie = |request: Request| request.header("Cookie", &session).send().unwrap();
    assert_eq!(with_cookie(anybody.request("GET", "/wallet")).status, 200);
    assert_eq!(
        with_cookie(
            anybody
                .request("POST", "/wallet/keys")
                .body(FORM, "kind=P-256")
        )
        .status,
        403
    );
    let api = anybody
        .request("POST", "/api/wallet/keys")
        .json(&json!({"kind": "P-256"}));
    assert_eq!(with_cookie(api).status, 403);
    let keys = with_cookie(anybody.request("GET", "/api/wallet/keys")).json();
    assert!(items(&keys).is_empty(), "{keys}");
}

/// The name and value of the last cookie an answer sets.
fn cookie(reply: &Reply) -> String {
    let mut sets = reply.all("set-cookie");
    // A browser that has signed in is recognised by another cookie, which is not a session.
    let set = sets.find(|set| !set.starts_with("selfsame-known"));
    let set = set.unwrap_or_else(|| panic!("no cookie: {}", reply.status));
    set.split(';').next().unwrap().to_owned()
}

#[test]
fn guessing_at_a_password_is_slowed_down() {
    let world = World::start(&[]);
    world.person("maja");
    let wrong = json!({"email": "maja@example.org", "password": "not her password"});
    let statuses: Vec<u16> = (0..30)
        .map(|_| {
            world
                .anybody()
                .send("POST", "/api/wallet/sessions", Some(&wrong))
                .unwrap()
                .status
        })
        .collect();
    assert_eq!(statuses[0], 401, "{statuses:?}");
    assert!(
        statuses.contains(&429),
        "thirty guesses in a row: {statuses:?}"
    );
    let unknown = json!({"email": "stranger@example.org", "password": "not her password"});
    let reply = world
        .anybody()
        .send("POST", "/api/wallet/sessions", Some(&unknown))
        .unwrap();
    assert!(matches!(reply.status, 401 | 429));
}

#[test]
fn neither_secrets_nor_claims_stand_in_the_log() {
    let world = World::start(&[]);
    let person = world.person("maja");
    let made = offer(&world.operator, &json!({"tx_code": true, "uses": 2}));
    let code = text(&made, "tx_code");
    post(
        &person,
        "/api/wallet/offers/accept",
        &json!({"offer": made["uri"], "tx_code": code}),
    );
    let holder = Holder::of(&made, &world.anybody());
    let token = text(
        &succeeded("token", &holder.redeem(&[("tx_code", &code)])),
        "access_token",
    );
    holder.ask(&token, &["nonsense".to_owned()]);
    take(&person, &offer(&world.operator, &json!({})));
    let asked = post(
        &world.operator,
        "/api/verifier/requests",
        &json!({"type": "immunization"}),
    );
    answer(&person, &asked);
    assert_eq!(
        verdict(&world.operator, &asked)["verdict"]["outcome"],
        "valid"
    );
    let log = world.instance.log();
    assert!(log.contains("refused"), "{log}");
    for line in log.lines() {
        assert!(
            serde_json::from_str::<Value>(line).is_ok(),
            "a line that is not structured: {line}"
        );
    }
    let operator = std::fs::read_to_string(world.instance.token_file()).unwrap();
    for secret in [
        operator.trim(),
        &token,
        holder.code(),
        "Musterfrau",
        "1990-01-01",
        "correct horse",
    ] {
        assert!(!log.contains(secret), "`{secret}` stands in the log");
    }
    assert!(
        !log.contains(&format!("\"{code}\"")),
        "the transaction code stands in the log"
    );
}

#[test]
fn a_status_that_there_is_not_is_refused() {
    let world = World::start(&[]);
    let made = offer(&world.operator, &json!({}));
    take(&world.person("maja"), &made);
    let issued = get(&world.operator, "/api/issuer/credentials");
    let path = format!(
        "/api/issuer/credentials/{}/status",
        text(&items(&issued)[0], "id")
    );
    for body in [
        json!({"status": "gone"}),
        json!({}),
        json!({"status": "revoked", "further": 1}),
        json!(7),
    ] {
        assert_problem(
            &world.operator.send("PUT", &path, Some(&body)).unwrap(),
            400,
        );
    }
    let unknown = world.operator.send(
        "PUT",
        "/api/issuer/credentials/x/status",
        Some(&json!({"status": "revoked"})),
    );
    assert_problem(&unknown.unwrap(), 404);
    assert_eq!(
        put(&world.operator, &path, &json!({"status": "suspended"}))["status"],
        "suspended"
    );
}
