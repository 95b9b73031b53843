//! Bad input at every place that takes input: the specification's error, one line in the log with the reason, and no
//! change.

use serde_json::{Value, json};

use crate::foreign::{Asked, FORM, Holder, ask, changed, form, holder, unsigned};
use crate::http::{Api, Reply};
use crate::rig::{World, get, issued, offer, post, set_status, take, text};

/// Everything that could change.
fn everything(world: &World, person: &Api) -> Value {
    let of = |api: &Api, path: &str| get(api, path);
    json!({
        "offers": of(&world.operator, "/api/issuer/offers"),
        "credentials": of(&world.operator, "/api/issuer/credentials"),
        "delegations": of(&world.operator, "/api/issuer/delegations"),
        "requests": of(&world.operator, "/api/verifier/requests"),
        "dids": of(&world.operator, "/api/dids"),
        "registry": of(&world.operator, "/api/registry/entries?first=1&count=200"),
        "cards": of(person, "/api/wallet/credentials"),
        "history": of(person, "/api/wallet/history"),
        "keys": of(person, "/api/wallet/keys"),
    })
}

/// The request, its answer, the expected status, and the specification's error code, if it has one.
type Case<'a> = (&'a str, Reply, u16, Option<&'a str>);

fn deep() -> String {
    format!("{}{}", "[".repeat(5000), "]".repeat(5000))
}

/// Requests of a wallet to the issuer.
fn to_the_issuer<'a>(world: &World, (holder, token): (&Holder, &str)) -> Vec<Case<'a>> {
    let anybody = world.anybody();
    let redeem = |body: String| {
        let sent = anybody.request("POST", "/issuer/token").body(FORM, body);
        sent.send().unwrap()
    };
    let credential = |token: &str, body: &str| {
        let api = world.anybody().with_token(token);
        let sent = api.request("POST", "/issuer/credential");
        sent.body("application/json", body).send().unwrap()
    };
    let grant = ("grant_type", crate::foreign::PRE_AUTHORIZED);
    let claims = holder.proof_claims("an-unknown-nonce");
    let foreign_nonce = holder.key.sign(&holder.proof_header(), &claims);
    let none = changed(holder.proof_header(), &json!({"alg": "none"}));
    let twice = format!(
        "{{\"credential_configuration_id\":\"a\",\"credential_configuration_id\":\"{}\"}}",
        holder.configuration()
    );
    let unknown = json!({"credential_configuration_id": "nothing", "proofs": {"jwt": ["x"]}});
    vec![
        (
            "no grant",
            redeem(String::new()),
            400,
            Some("invalid_request"),
        ),
        (
            "another grant",
            redeem(form(&[("grant_type", "password")])),
            400,
            Some("unsupported_grant_type"),
        ),
        (
            "a foreign code",
            redeem(form(&[grant, ("pre-authorized_code", "an-unknown-code")])),
            400,
            Some("invalid_grant"),
        ),
        (
            "a code twice",
            redeem(form(&[grant, grant, ("pre-authorized_code", "x")])),
            400,
            Some("invalid_request"),
        ),
        (
            "a huge form",
            redeem("a".repeat(2 << 20)),
            413,
            Some("invalid_request"),
        ),
        (
            "a foreign token",
            credential("an-unknown-code", &unknown.to_string()),
            401,
            Some("invalid_token"),
        ),
        (
            "truncated JSON",
            credential(token, "{\"credential_conf"),
            400,
            Some("invalid_credential_request"),
        ),
        (
            "deep JSON",
            credential(token, &deep()),
            400,
            Some("invalid_credential_request"),
        ),
        (
            "a member twice",
            credential(token, &twice),
            400,
            Some("invalid_credential_request"),
        ),
        (
            "an unknown configuration",
            credential(token, &unknown.to_string()),
            400,
            Some("unknown_credential_configuration"),
        ),
        (
            "a foreign nonce",
            holder.ask(token, &[foreign_nonce]),
            400,
            Some("invalid_nonce"),
        ),
        (
            "alg none",
            holder.ask(token, &[unsigned(&none, &claims)]),
            400,
            Some("invalid_proof"),
        ),
    ]
}

/// Requests of a wallet to the verifier.
fn to_the_verifier<'a>(asked: &Asked) -> Vec<Case<'a>> {
    let state = asked.state.as_str();
    let wrong = [("vp_token", "{}"), ("state", "other")];
    let (deep, many) = (
        format!("{{\"a\":{}}}", deep()),
        json!({"other": ["x"]}).to_string(),
    );
    let bad = Some("invalid_request");
    vec![
        ("another's state", asked.post(&wrong), 400, bad),
        (
            "deep",
            asked.post(&[("vp_token", &deep), ("state", state)]),
            400,
            bad,
        ),
        (
            "unasked",
            asked.post(&[("vp_token", &many), ("state", state)]),
            400,
            bad,
        ),
        ("nothing", asked.post(&[]), 400, bad),
    ]
}

/// Links, addresses and bodies for the API.
fn to_the_api<'a>(world: &World, person: &Api) -> Vec<Case<'a>> {
    let (anybody, operator) = (world.anybody(), &world.operator);
    let get = |path: &str| anybody.send("GET", path, None).unwrap();
    let sent = |api: &Api, path: &str, body: Value| api.send("POST", path, Some(&body)).unwrap();
    let previewed = |link: &str| sent(person, "/api/wallet/offers/preview", json!({"offer": link}));
    let looked = |link: &str| {
        sent(
            person,
            "/api/wallet/requests/preview",
            json!({"request": link}),
        )
    };
    let inward = "openid-credential-offer://?credential_offer_uri=http%3A%2F%2F169.254.169.254%2F";
    let asked_inward =
        "openid4vp://?client_id=x509_san_dns%3Aa.example&request_uri=http%3A%2F%2F10.0.0.1%2F";
    let registry = |kind: &str| {
        let sent = operator.request("POST", "/registry/transactions");
        sent.body(kind, vec![0xd9, 0xd9]).send().unwrap()
    };
    let verify = "/api/verifier/verify";
    vec![
        ("an unknown offer", get("/issuer/offers/none"), 404, None),
        (
            "an unknown request",
            get("/verifier/requests/none"),
            404,
            None,
        ),
        ("no list", get("/status/no-number"), 404, None),
        ("no DID", get("/1.0/identifiers/did:"), 400, None),
        ("no text", get("/1.0/identifiers/%ff"), 400, None),
        (
            "no such method",
            get("/1.0/identifiers/did:nothing:x"),
            501,
            None,
        ),
        ("no key", get("/1.0/identifiers/did:key:z0OIl"), 400, None),
        ("no such page", get("/api/nowhere"), 404, None),
        ("a text that is not an offer", previewed("hello"), 400, None),
        ("an offer that points inward", previewed(inward), 400, None),
        (
            "a text that is not a request",
            looked("openid4vp://?"),
            400,
            Some("invalid_request"),
        ),
        (
            "a request that points inward",
            looked(asked_inward),
            400,
            Some("invalid_request"),
        ),
        (
            "no credential",
            sent(&anybody.with_token(""), verify, json!({})),
            401,
            None,
        ),
        (
            "nonsense",
            sent(operator, verify, json!({"credential": "x"})),
            400,
            None,
        ),
        ("no CBOR", registry("application/cbor"), 400, None),
        ("another kind", registry("text/plain"), 415, None),
        (
            "another's password",
            sent(
                &anybody,
                "/api/wallet/sessions",
                json!({"email": "maja@example.org", "password": "not her password"}),
            ),
            401,
            None,
        ),
    ]
}

#[test]
fn each_bad_input_has_the_specifications_error_and_a_reason_in_the_log_and_changes_nothing() {
    let world = World::start(&[]);
    let person = world.person("maja");
    let made = offer(&world.operator, &json!({}));
    take(&person, &made);
    let holder = holder(&world, &json!({}));
    let token = holder.token();
    let asked = ask(&world.operator);
    let asked = Asked::read(&asked);
    let before = everything(&world, &person);

    let mut cases = to_the_issuer(&world, (&holder, &token));
    cases.extend(to_the_verifier(&asked));
    cases.extend(to_the_api(&world, &person));
    let lines = world.logged("refused");
    for (what, reply, status, code) in &cases {
        let body = reply.json();
        assert_eq!(reply.status, *status, "{what}: {body}");
        if let Some(code) = code {
            let told = [&body["error"], &body["code"]];
            assert!(told.contains(&&json!(code)), "{what}: {body}");
        }
        // The answer has the same number as its line in the log.
        let number: u64 = reply.header("x-request-id").unwrap().parse().unwrap();
        let line = lines
            .iter()
            .find(|line| line["span"]["id"] == number)
            .unwrap_or_else(|| panic!("{what} is not in the log"));
        assert_eq!(line["fields"]["status"], *status, "{what}");
        assert_ne!(text(&line["fields"], "reason"), "", "{what}");
        assert_ne!(text(&line["span"], "route"), "", "{what}");
    }
    assert_eq!(everything(&world, &person), before);

    // Valid requests still work.
    let nonce = holder.nonce();
    assert_eq!(holder.ask(&token, &[holder.proof(&nonce)]).status, 200);
    let credential = issued(&world.operator, &made).remove(0);
    assert_eq!(
        text(
            &set_status(&world.operator, &credential, "revoked"),
            "status"
        ),
        "revoked"
    );
    post(
        &world.operator,
        "/api/verifier/requests",
        &json!({"type": "immunization"}),
    );
}
