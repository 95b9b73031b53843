//! Bad input at the endpoints of issuer and verifier: the specification's error, and nothing changes.

use std::sync::{Arc, Barrier};
use std::thread;

use selfsame_crypto::KeyType;
use serde_json::{Value, json};

use crate::foreign::{
    Asked, FORM, Holder, Key, PRE_AUTHORIZED, Said, Stranger, binding, bound, foreign_credential,
    form, now, unsigned,
};
use crate::http::{Api, Reply};
use crate::rig::{World, answer, get, items, offer, post, put, succeeded, take, text, verdict};

/// An error answer of OAuth (RFC 6749 §5.2), which all endpoints of both protocols share.
#[track_caller]
fn assert_error(reply: &Reply, status: u16, code: &str) {
    let body = reply.json();
    let shown = String::from_utf8_lossy(&reply.body);
    assert_eq!(
        (reply.status, body["error"].as_str()),
        (status, Some(code)),
        "{shown}"
    );
    assert_eq!(
        reply.header("content-type"),
        Some("application/json"),
        "{shown}"
    );
    assert_eq!(reply.header("cache-control"), Some("no-store"), "{shown}");
    for name in body.as_object().unwrap().keys() {
        assert!(
            ["error", "error_description"].contains(&name.as_str()),
            "`{name}` is no member of an error"
        );
    }
}

/// An error answer of the API (RFC 9457).
#[track_caller]
fn assert_problem(reply: &Reply, status: u16) {
    let body = reply.json();
    assert_eq!(
        reply.status,
        status,
        "{}",
        String::from_utf8_lossy(&reply.body)
    );
    assert_eq!(
        reply.header("content-type"),
        Some("application/problem+json"),
        "{body}"
    );
    assert_eq!(body["status"], status);
    assert!(
        body["detail"]
            .as_str()
            .is_some_and(|detail| !detail.is_empty()),
        "{body}"
    );
}

/// The challenge of a resource that did not take a bearer token (RFC 6750 §3.1).
#[track_caller]
fn assert_challenge(reply: &Reply, code: &str) {
    let challenge = reply.header("www-authenticate").unwrap_or_default();
    assert!(
        challenge.starts_with("Bearer") && challenge.contains(&format!("error=\"{code}\"")),
        "{challenge}"
    );
}

fn holder(world: &World, changes: &Value) -> Holder {
    Holder::of(&offer(&world.operator, changes), &world.anybody())
}

/// What 32 clients get who do the same at the same instant.
fn race(what: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Vec<Reply> {
    let (what, start) = (Arc::new(what), Arc::new(Barrier::new(32)));
    let clients = (0..32).map(|number| {
        let (what, start) = (what.clone(), start.clone());
        thread::spawn(move || {
            start.wait();
            what(number)
        })
    });
    clients
        .collect::<Vec<_>>()
        .into_iter()
        .map(|client| client.join().unwrap())
        .collect()
}

fn winners(replies: &[Reply]) -> usize {
    replies.iter().filter(|reply| reply.is_success()).count()
}

#[test]
fn a_single_use_code_raced_by_32_wallets_is_redeemed_once() {
    let world = World::start(&[]);
    let made = offer(&world.operator, &json!({}));
    let (origin, link) = (world.anybody(), made.clone());
    let replies = race(move |_| Holder::of(&link, &origin).redeem(&[]));
    assert_eq!(winners(&replies), 1);
    for reply in replies.iter().filter(|reply| !reply.is_success()) {
        assert_error(reply, 400, "invalid_grant");
    }
    let state = get(
        &world.operator,
        &format!("/api/issuer/offers/{}", text(&made, "id")),
    );
    assert_eq!(
        (state["uses_left"].as_u64(), state["state"].as_str()),
        (Some(0), Some("taken"))
    );
}

#[test]
fn a_code_of_three_uses_raced_by_32_wallets_is_redeemed_thrice() {
    let world = World::start(&[]);
    let made = offer(&world.operator, &json!({"uses": 3}));
    let origin = world.anybody();
    let replies = race(move |_| Holder::of(&made, &origin).redeem(&[]));
    assert_eq!(winners(&replies), 3);
}

#[test]
fn a_nonce_raced_by_32_wallets_with_tokens_of_their_own_is_spent_once() {
    let world = World::start(&[]);
    let made = offer(&world.operator, &json!({"uses": 32}));
    let wallets: Vec<(Holder, String)> = (0..32)
        .map(|_| {
            let holder = Holder::of(&made, &world.anybody());
            let token = holder.token();
            (holder, token)
        })
        .collect();
    let nonce = wallets[0].0.nonce();
    let replies = race(move |number| {
        let (holder, token) = &wallets[number];
        holder.ask(token, &[holder.proof(&nonce)])
    });
    assert_eq!(winners(&replies), 1);
    for reply in replies.iter().filter(|reply| !reply.is_success()) {
        assert_error(reply, 400, "invalid_nonce");
    }
}

#[test]
fn one_access_token_raced_by_32_requests_issues_one_credential() {
    let world = World::start(&[]);
    let made = offer(&world.operator, &json!({}));
    let holder = Holder::of(&made, &world.anybody());
    let token = holder.token();
    let proof = holder.proof(&holder.nonce());
    let replies = race(move |_| holder.ask(&token, std::slice::from_ref(&proof)));
    let credentials: std::collections::BTreeSet<String> = replies
        .iter()
        .filter(|reply| reply.is_success())
        .map(|reply| text(&reply.json()["credentials"][0], "credential"))
        .collect();
    assert_eq!(
        credentials.len(),
        1,
        "the same request gets the same credential"
    );
    let issued = get(
        &world.operator,
        &format!("/api/issuer/credentials?offer={}", text(&made, "id")),
    );
    assert_eq!(items(&issued).len(), 1);
}

#[test]
fn one_request_answered_by_32_wallets_at_once_is_answered_once() {
    let world = World::start(&[]);
    let holder = holder(&world, &json!({}));
    let credential = holder.credential();
    let made = ask(&world.operator);
    let asked = Asked::read(&made);
    let presentation = bound(&credential, &holder.key, &binding(&asked));
    let replies = race(move |_| asked.present(&presentation));
    assert_eq!(winners(&replies), 1);
    for reply in replies.iter().filter(|reply| !reply.is_success()) {
        assert_error(reply, 400, "invalid_request");
    }
    assert_eq!(
        verdict(&world.operator, &made)["verdict"]["outcome"],
        "valid"
    );
}

/// A request whose link has everything in it.
fn ask(operator: &Api) -> Value {
    let asked = json!({"template": "immunization", "client_id_prefix": "redirect_uri"});
    post(operator, "/api/verifier/requests", &asked)
}

#[test]
fn the_token_endpoint_refuses_what_the_specification_refuses() {
    let world = World::start(&[]);
    let holder = holder(&world, &json!({}));
    let send = |kind: &str, body: &str| {
        world
            .anybody()
            .request("POST", "/issuer/token")
            .body(kind, body)
            .send()
            .unwrap()
    };
    let good = form(&[
        ("grant_type", PRE_AUTHORIZED),
        ("pre-authorized_code", holder.code()),
    ]);
    assert_error(&send("application/json", &good), 400, "invalid_request");
    assert_error(&send(FORM, ""), 400, "invalid_request");
    assert_error(
        &send(FORM, &format!("{good}&{good}")),
        400,
        "invalid_request",
    );
    assert_error(
        &send(FORM, &form(&[("grant_type", PRE_AUTHORIZED)])),
        400,
        "invalid_request",
    );
    assert_error(
        &send(
            FORM,
            &form(&[("grant_type", "authorization_code"), ("code", "x")]),
        ),
        400,
        "unsupported_grant_type",
    );
    let foreign = form(&[
        ("grant_type", PRE_AUTHORIZED),
        ("pre-authorized_code", "nobody-made-this"),
    ]);
    assert_error(&send(FORM, &foreign), 400, "invalid_grant");
    let huge = form(&[
        ("grant_type", PRE_AUTHORIZED),
        ("pre-authorized_code", &"a".repeat(100_000)),
    ]);
    assert_error(&send(FORM, &huge), 400, "invalid_request");
    assert_error(
        &send(FORM, &"a".repeat(2 * 1024 * 1024)),
        413,
        "invalid_request",
    );
    // §6.3: a transaction code where none is expected.
    assert_error(
        &holder.redeem(&[("tx_code", "1234")]),
        400,
        "invalid_request",
    );
    // None of it has spent the code.
    let token = succeeded("/issuer/token", &holder.redeem(&[]));
    let members: Vec<&str> = token
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    for name in &members {
        assert!(
            [
                "access_token",
                "token_type",
                "expires_in",
                "authorization_details"
            ]
            .contains(name),
            "{name}"
        );
    }
    assert_error(&holder.redeem(&[]), 400, "invalid_grant");
    assert!(
        world.instance.log().contains("refused"),
        "no log line says what was refused"
    );
}

#[test]
fn a_missing_transaction_code_is_an_invalid_request() {
    let world = World::start(&[]);
    let holder = holder(&world, &json!({"tx_code": true}));
    assert_error(&holder.redeem(&[]), 400, "invalid_request");
}

#[test]
fn a_proof_that_breaks_a_rule_is_an_invalid_proof() {
    let world = World::start(&[]);
    let holder = holder(&world, &json!({}));
    let (token, nonce) = (holder.token(), holder.nonce());
    let other = Key::new();
    let of = |header: Value, claims: Value| holder.key.sign(&header, &claims);
    let header = |changes: Value| changed(holder.proof_header(), &changes);
    let claims = |changes: Value| changed(holder.proof_claims(&nonce), &changes);
    let secret = json!({"kty": "oct", "k": "c2VjcmV0"});
    let bad = [
        ("no JWT", "x.y".to_owned()),
        (
            "wrong audience",
            of(
                header(json!({})),
                claims(json!({"aud": "https://other.example"})),
            ),
        ),
        (
            "no audience",
            of(header(json!({})), claims(json!({"aud": null}))),
        ),
        (
            "alg none",
            unsigned(&header(json!({"alg": "none"})), &claims(json!({}))),
        ),
        (
            "a symmetric alg",
            of(
                header(json!({"alg": "HS256", "jwk": secret})),
                claims(json!({})),
            ),
        ),
        (
            "another key's signature",
            other.sign(&header(json!({})), &claims(json!({}))),
        ),
        (
            "another typ",
            of(header(json!({"typ": "JWT"})), claims(json!({}))),
        ),
        (
            "no key",
            of(header(json!({"jwk": null})), claims(json!({}))),
        ),
        (
            "two keys",
            of(header(json!({"kid": holder.key.kid()})), claims(json!({}))),
        ),
        (
            "a private key",
            of(
                header(json!({"jwk": changed(holder.key.jwk(), &json!({"d": "c2VjcmV0"}))})),
                claims(json!({})),
            ),
        ),
        (
            "an unknown crit",
            of(header(json!({"crit": ["x"], "x": 1})), claims(json!({}))),
        ),
        (
            "made in the future",
            of(header(json!({})), claims(json!({"iat": now() + 3600}))),
        ),
        (
            "made long ago",
            of(header(json!({})), claims(json!({"iat": now() - 86_400}))),
        ),
        (
            "no time",
            of(header(json!({})), claims(json!({"iat": null}))),
        ),
        (
            "no nonce",
            of(header(json!({})), claims(json!({"nonce": null}))),
        ),
        (
            "an iss although anonymous",
            of(header(json!({})), claims(json!({"iss": "me"}))),
        ),
        (
            "a DID that does not resolve",
            of(
                header(json!({"jwk": null, "kid": "did:nobody:x#0"})),
                claims(json!({})),
            ),
        ),
    ];
    for (what, proof) in bad {
        let reply = holder.ask(&token, &[proof]);
        assert_eq!(
            reply.json()["error"],
            "invalid_proof",
            "{what}: {}",
            String::from_utf8_lossy(&reply.body)
        );
        assert_error(&reply, 400, "invalid_proof");
    }
    // Nothing of that has spent anything.
    let reply = holder.ask(&token, &[holder.proof(&nonce)]);
    assert!(
        reply.is_success(),
        "{}",
        String::from_utf8_lossy(&reply.body)
    );
}

/// The object with members replaced, and those that are null taken away.
fn changed(mut object: Value, changes: &Value) -> Value {
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => object.as_object_mut().unwrap().remove(name),
            value => object
                .as_object_mut()
                .unwrap()
                .insert(name.clone(), value.clone()),
        };
    }
    object
}

#[test]
fn a_nonce_is_taken_once_and_only_if_it_is_ours() {
    let world = World::start(&[]);
    let made = offer(&world.operator, &json!({"uses": 2}));
    let first = Holder::of(&made, &world.anybody());
    let second = Holder::of(&made, &world.anybody());
    let nonce = first.nonce();
    let (one, other) = (first.token(), second.token());
    assert!(first.ask(&one, &[first.proof(&nonce)]).is_success());
    assert_error(
        &second.ask(&other, &[second.proof(&nonce)]),
        400,
        "invalid_nonce",
    );
    let elsewhere = World::start(&[]);
    let foreign = holder(&elsewhere, &json!({})).nonce();
    for nonce in [foreign.as_str(), "nonsense", ""] {
        assert_error(
            &second.ask(&other, &[second.proof(nonce)]),
            400,
            "invalid_nonce",
        );
    }
    let fresh = second.nonce();
    assert!(
        second.ask(&other, &[second.proof(&fresh)]).is_success(),
        "a new nonce helps"
    );
}

#[test]
fn an_access_token_is_good_for_what_it_was_granted_alone() {
    let world = World::start(&[]);
    let immunization = holder(&world, &json!({}));
    let other = holder(&world, &json!({"template": "prescription"}));
    let token = other.token();
    let reply = immunization.ask(&token, &[immunization.proof(&immunization.nonce())]);
    assert_error(&reply, 403, "insufficient_scope");
    assert_challenge(&reply, "insufficient_scope");
    let body = json!({"credential_configuration_id": "nothing", "proofs": {"jwt": [other.proof(&other.nonce())]}});
    assert_error(
        &other.request(&token, &body),
        400,
        "unknown_credential_configuration",
    );
    let body = json!({"credential_identifier": "nothing", "proofs": {"jwt": [other.proof(&other.nonce())]}});
    let reply = other.request(&token, &body);
    assert!(
        [
            "unknown_credential_identifier",
            "invalid_credential_request"
        ]
        .contains(&reply.json()["error"].as_str().unwrap()),
        "{reply:?}"
    );
    for stranger in ["nonsense", "a.b.c"] {
        let reply = other.ask(stranger, &[other.proof(&other.nonce())]);
        assert_error(&reply, 401, "invalid_token");
        assert_challenge(&reply, "invalid_token");
    }
    let reply = other.request("", &json!({}));
    assert_eq!(reply.status, 401);
    assert!(reply.header("www-authenticate").is_some());
    assert!(
        other
            .ask(&token, &[other.proof(&other.nonce())])
            .is_success(),
        "the token was spent by refusals"
    );
}

#[test]
fn a_credential_request_that_is_no_proper_json_is_refused() {
    let world = World::start(&[]);
    let holder = holder(&world, &json!({}));
    let token = holder.token();
    let send = |kind: &str, body: &str| {
        let request = world
            .anybody()
            .with_token(&token)
            .request("POST", "/issuer/credential");
        request.body(kind, body).send().unwrap()
    };
    let id = holder.configuration();
    let proof = holder.proof(&holder.nonce());
    let good = json!({"credential_configuration_id": id, "proofs": {"jwt": [proof]}}).to_string();
    let deep = format!(
        "{{\"credential_configuration_id\":{}{}}}",
        "[".repeat(5000),
        "]".repeat(5000)
    );
    let twice = good.replacen(
        '{',
        &format!("{{\"credential_configuration_id\":\"{id}\","),
        1,
    );
    let many =
        json!({"credential_configuration_id": id, "proofs": {"jwt": vec![proof.clone(); 50]}})
            .to_string();
    for (what, body) in [
        ("truncated", &good[..good.len() - 3]),
        ("not JSON", "hello"),
        ("an array", "[]"),
        ("empty", ""),
        ("deep", &deep),
        ("a member twice", &twice),
        ("trailing bytes", &format!("{good}{{}}")),
        ("of the wrong type", r#"{"credential_configuration_id":7}"#),
        (
            "both selectors",
            &format!(r#"{{"credential_configuration_id":"{id}","credential_identifier":"x"}}"#),
        ),
        ("neither selector", "{}"),
    ] {
        let reply = send("application/json", body);
        assert_eq!(
            reply.json()["error"],
            "invalid_credential_request",
            "{what}: {reply:?}"
        );
        assert_error(&reply, 400, "invalid_credential_request");
    }
    let wrong_kind = send(FORM, &good);
    assert!(matches!(wrong_kind.status, 400 | 415), "{wrong_kind:?}");
    let huge = format!(
        r#"{{"credential_configuration_id":"{}"}}"#,
        "a".repeat(2 * 1024 * 1024)
    );
    let reply = send("application/json", &huge);
    assert!(matches!(reply.status, 400 | 413), "{reply:?}");
    for proofs in [
        json!(null),
        json!({}),
        json!({"jwt": []}),
        json!({"jwt": "x"}),
        json!({"jwt": ["x"], "di_vp": [{}]}),
    ] {
        let body = json!({"credential_configuration_id": id, "proofs": proofs});
        let code = holder.request(&token, &body).json();
        let code = code["error"].as_str().unwrap();
        assert!(
            ["invalid_proof", "invalid_credential_request"].contains(&code),
            "{proofs}: {code}"
        );
    }
    assert_error(&send("application/json", &many), 400, "invalid_proof");
    assert!(
        send("application/json", &good).is_success(),
        "a refusal has spent the proof"
    );
}

#[test]
fn copies_in_one_request_need_keys_of_their_own() {
    let world = World::start(&[]);
    let holder = holder(&world, &json!({}));
    let (token, nonce) = (holder.token(), holder.nonce());
    let same = [holder.proof(&nonce), holder.proof(&nonce)];
    assert_error(&holder.ask(&token, &same), 400, "invalid_proof");
    let others: Vec<String> = [KeyType::P256, KeyType::Ed25519]
        .map(Key::of)
        .iter()
        .map(|key| {
            let header = json!({"typ": "openid4vci-proof+jwt", "alg": key.alg(), "jwk": key.jwk()});
            key.sign(&header, &holder.proof_claims(&nonce))
        })
        .collect();
    let reply = succeeded("credential", &holder.ask(&token, &others));
    assert_eq!(reply["credentials"].as_array().unwrap().len(), 2);
    assert_eq!(
        reply.as_object().unwrap().len(),
        1,
        "no members beyond the specification's: {reply}"
    );
}

/// The outcome that a verifier comes to on one presentation of a fresh request.
fn judged(operator: &Api, present: impl FnOnce(&Asked) -> String) -> Value {
    let made = ask(operator);
    let asked = Asked::read(&made);
    let presentation = present(&asked);
    let reply = asked.present(&presentation);
    if !reply.is_success() {
        assert_error(&reply, 400, "invalid_request");
    }
    get(
        operator,
        &format!("/api/verifier/requests/{}", text(&made, "id")),
    )
}

/// That a presentation is judged so, and never taken for valid.
#[track_caller]
fn assert_outcome(what: &str, status: &Value, outcome: &str) {
    assert_eq!(status["verdict"]["outcome"], outcome, "{what}: {status}");
    let rules = status["verdict"]["credentials"][0]["rules"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let said =
        status["verdict"]["reason"].is_string() || rules.iter().any(|rule| rule["passed"] == false);
    assert!(said, "{what}: nobody says why: {status}");
}

#[test]
fn a_presentation_that_was_tampered_with_is_judged_invalid() {
    let world = World::start(&[]);
    let holder = holder(&world, &json!({}));
    let credential = holder.credential();
    let judged = |present: &dyn Fn(&Asked) -> String| judged(&world.operator, present);
    let good = judged(&|asked| bound(&credential, &holder.key, &binding(asked)));
    assert_eq!(good["verdict"]["outcome"], "valid", "{good}");

    let tampered = {
        let mut parts: Vec<String> = credential.split('~').map(str::to_owned).collect();
        let disclosure = selfsame_crypto::encoding::base64url_decode(&parts[1]).unwrap();
        let mut disclosure: Value = serde_json::from_slice(&disclosure).unwrap();
        *disclosure.as_array_mut().unwrap().last_mut().unwrap() = json!("forged");
        parts[1] = selfsame_crypto::encoding::base64url_encode(disclosure.to_string().as_bytes());
        parts.join("~")
    };
    let twice = {
        let disclosure = credential.split('~').nth(1).unwrap();
        format!("{credential}{disclosure}~")
    };
    let other = Key::new();
    let (jwt, rest) = credential.split_once('~').unwrap();
    let mut parts = jwt.split('.');
    let payload = {
        parts.next();
        let payload = selfsame_crypto::encoding::base64url_decode(parts.next().unwrap()).unwrap();
        serde_json::from_slice::<Value>(&payload).unwrap()
    };
    let none = format!(
        "{}~{rest}",
        unsigned(&json!({"alg": "none", "typ": "dc+sd-jwt"}), &payload)
    );
    let changes = |asked: &Asked, changes: Value| changed(binding(asked), &changes);
    let bad: [(&str, &dyn Fn(&Asked) -> String); 13] = [
        ("a tampered disclosure", &|asked| {
            bound(&tampered, &holder.key, &binding(asked))
        }),
        ("a disclosure twice", &|asked| {
            bound(&twice, &holder.key, &binding(asked))
        }),
        ("a foreign disclosure", &|asked| {
            bound(
                &format!("{credential}WyJzIiwieCIsMV0~"),
                &holder.key,
                &binding(asked),
            )
        }),
        ("alg none", &|asked| {
            bound(&none, &holder.key, &binding(asked))
        }),
        ("a wrong nonce", &|asked| {
            bound(
                &credential,
                &holder.key,
                &changes(asked, json!({"nonce": "other"})),
            )
        }),
        ("a wrong audience", &|asked| {
            bound(
                &credential,
                &holder.key,
                &changes(asked, json!({"aud": "redirect_uri:https://other.example/"})),
            )
        }),
        ("no audience", &|asked| {
            bound(
                &credential,
                &holder.key,
                &changes(asked, json!({"aud": null})),
            )
        }),
        ("another key's binding", &|asked| {
            bound(&credential, &other, &binding(asked))
        }),
        ("an old binding", &|asked| {
            bound(
                &credential,
                &holder.key,
                &changes(asked, json!({"iat": now() - 86_400})),
            )
        }),
        ("a binding of the future", &|asked| {
            bound(
                &credential,
                &holder.key,
                &changes(asked, json!({"iat": now() + 86_400})),
            )
        }),
        ("no binding", &|_| credential.clone()),
        ("a binding of other disclosures", &|asked| {
            let bound = bound(&credential, &holder.key, &binding(asked));
            let mut parts: Vec<&str> = bound.split('~').collect();
            parts.remove(1);
            parts.join("~")
        }),
        ("nonsense", &|_| "nonsense".to_owned()),
    ];
    for (what, present) in bad {
        assert_outcome(what, &judged(present), "invalid");
    }
    // A claim that was asked for is kept back: genuine, and not what was asked.
    let kept_back = judged(&|asked| {
        let jwt = credential.split('~').next().unwrap();
        bound(&format!("{jwt}~"), &holder.key, &binding(asked))
    });
    assert_outcome("kept back", &kept_back, "invalid");
}

#[test]
fn a_response_that_breaks_the_protocol_is_refused_and_the_request_stays_open() {
    let world = World::start(&[]);
    let holder = holder(&world, &json!({}));
    let credential = holder.credential();
    let made = ask(&world.operator);
    let asked = Asked::read(&made);
    let presentation = bound(&credential, &holder.key, &binding(&asked));
    let vp_token = json!({ &asked.query: [&presentation] }).to_string();
    let state = asked.state.as_str();
    let query = &asked.query;
    let long = "a".repeat(100_000);
    let deep = format!("{{\"{query}\":{}{}}}", "[".repeat(5000), "]".repeat(5000));
    let (one, two) = (
        json!([&presentation, &presentation]).to_string(),
        format!("{{\"{query}\":[\"x\"],\"{query}\":[\"y\"]}}"),
    );
    for (what, pairs) in [
        ("no state", vec![("vp_token", vp_token.as_str())]),
        (
            "a wrong state",
            vec![("vp_token", &vp_token), ("state", "other")],
        ),
        ("no vp_token", vec![("state", state)]),
        (
            "an error besides",
            vec![
                ("vp_token", &vp_token),
                ("state", state),
                ("error", "access_denied"),
            ],
        ),
        (
            "vp_token twice",
            vec![
                ("vp_token", &vp_token),
                ("vp_token", &vp_token),
                ("state", state),
            ],
        ),
        (
            "a string",
            vec![("vp_token", &presentation), ("state", state)],
        ),
        ("an array", vec![("vp_token", &one), ("state", state)]),
        ("a query twice", vec![("vp_token", &two), ("state", state)]),
        ("deep", vec![("vp_token", &deep), ("state", state)]),
        (
            "truncated",
            vec![
                ("vp_token", &vp_token[..vp_token.len() - 4]),
                ("state", state),
            ],
        ),
        (
            "another query",
            vec![("vp_token", r#"{"other":["x"]}"#), ("state", state)],
        ),
        ("an endless error", vec![("error", &long), ("state", state)]),
    ] {
        let reply = asked.post(&pairs);
        assert_eq!(reply.status, 400, "{what}: {reply:?}");
        assert_error(&reply, 400, "invalid_request");
    }
    let several = json!({ query: [&presentation, &presentation] }).to_string();
    assert_error(
        &asked.post(&[("vp_token", &several), ("state", state)]),
        400,
        "invalid_request",
    );
    let json = crate::http::Request::new("POST", &asked.response_uri)
        .json(&json!({"vp_token": {}}))
        .send()
        .unwrap();
    assert_error(&json, 400, "invalid_request");
    let huge = crate::http::Request::new("POST", &asked.response_uri);
    assert_error(
        &huge.body(FORM, "a".repeat(3 * 1024 * 1024)).send().unwrap(),
        413,
        "invalid_request",
    );

    let path = format!("/api/verifier/requests/{}", text(&made, "id"));
    let open = get(&world.operator, &path);
    assert!(
        ["created", "fetched"].contains(&open["state"].as_str().unwrap()),
        "{open}"
    );
    let receipt = asked.present(&presentation);
    assert_eq!(
        (receipt.status, receipt.json()),
        (200, json!({})),
        "OpenID4VP 1.0 §8.2"
    );
    assert_eq!(get(&world.operator, &path)["verdict"]["outcome"], "valid");
    // Replayed to the same request, and to another one.
    assert_error(&asked.present(&presentation), 400, "invalid_request");
    let other = ask(&world.operator);
    let elsewhere = Asked::read(&other);
    assert_error(
        &elsewhere.post(&[("vp_token", &vp_token), ("state", state)]),
        400,
        "invalid_request",
    );
    elsewhere.present(&presentation);
    assert_outcome(
        "replayed elsewhere",
        &verdict(&world.operator, &other),
        "invalid",
    );
}

#[test]
fn foreign_credentials_are_judged_by_whom_the_configuration_trusts() {
    let (issuer, holder) = (Key::new(), Key::new());
    let lists = Stranger::new();
    let did = issuer.did();
    let world = World::start(&[
        "--trust-issuer",
        &did,
        "--trust-origin",
        lists.origin.as_str(),
    ]);
    let judged = |credential: &str| {
        judged(&world.operator, |asked| {
            bound(credential, &holder, &binding(asked))
        })
    };
    let of = |changes: Value| foreign_credential(&issuer, &holder, &changes);
    let good = judged(&of(json!({})));
    assert_eq!(good["verdict"]["outcome"], "valid", "{good}");
    assert_outcome(
        "expired",
        &judged(&of(json!({"exp": now() - 3600}))),
        "expired",
    );
    assert_outcome(
        "not yet valid",
        &judged(&of(json!({"nbf": now() + 3600}))),
        "not_yet_valid",
    );
    assert_outcome(
        "an unknown vct",
        &judged(&of(json!({"vct": "urn:other:type"}))),
        "invalid",
    );
    assert_outcome(
        "no vct",
        &judged(&of(json!({"vct": "", "iss": did}))),
        "invalid",
    );
    let stranger = Key::new();
    assert_outcome(
        "untrusted",
        &judged(&foreign_credential(&stranger, &holder, &json!({}))),
        "untrusted",
    );
    let borrowed = foreign_credential(&stranger, &holder, &json!({"iss": did}));
    assert_outcome("another's name", &judged(&borrowed), "invalid");

    let uri = lists.url("list");
    let with_status = of(json!({"status": {"status_list": {"idx": 5, "uri": uri}}}));
    let list = |subject: &str, exp: u64, lst: &str| {
        let header = json!({"alg": issuer.alg(), "typ": "statuslist+jwt", "kid": issuer.kid()});
        let payload = json!({
            "iss": issuer.did(), "sub": subject, "iat": now(), "exp": exp,
            "status_list": {"bits": 1, "lst": lst},
        });
        (header, payload)
    };
    // 16 entries, all zero: two bytes, compressed as ZLIB.
    let zeros = "eJxjYAAAAAIAAQ";
    let says = |body: String| {
        lists.says(move |_| Said::new(200, "application/statuslist+jwt", body.clone()))
    };
    let signed = |(header, payload): (Value, Value)| issuer.sign(&header, &payload);

    says(signed(list(&uri, now() + 600, zeros)));
    let status = judged(&with_status);
    assert_eq!(status["verdict"]["outcome"], "valid", "{status}");
    let fails = |what: &str, set: &dyn Fn()| {
        set();
        thread::sleep(std::time::Duration::from_secs(7)); // beyond what a verifier may keep of the list before
        let status = judged(&with_status);
        assert_ne!(status["verdict"]["outcome"], "valid", "{what}");
        assert_outcome(what, &status, "unverifiable");
    };
    fails("not there", &|| {
        lists.says(|_| Said::new(404, "text/plain", "nothing"))
    });
    fails("of another list", &|| {
        says(signed(list(
            "https://other.example/list",
            now() + 600,
            zeros,
        )))
    });
    fails("expired", &|| says(signed(list(&uri, now() - 3600, zeros))));
    fails("signed by nobody", &|| {
        let (header, payload) = list(&uri, now() + 600, zeros);
        says(unsigned(
            &changed(header, &json!({"alg": "none"})),
            &payload,
        ));
    });
    fails("too short", &|| {
        says(signed(list(&uri, now() + 600, "eJwDAAAAAAE")))
    });
    fails("compressed to explode", &|| {
        says(signed(list(&uri, now() + 600, &exploding())))
    });
    fails("a redirect", &|| {
        lists.says(|_| Said::redirect("https://127.0.0.1/list"))
    });
}

/// 64 MiB of zeros, compressed as ZLIB.
fn exploding() -> String {
    use std::io::Write as _;
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..64 {
        encoder.write_all(&vec![0; 1024 * 1024]).unwrap();
    }
    selfsame_crypto::encoding::base64url_encode(&encoder.finish().unwrap())
}

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
    assert_problem(&send(FORM, "template=immunization"), 415);
    let deep = format!(r#"{{"claims":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
    let huge = format!(r#"{{"template":"{}"}}"#, "a".repeat(2 * 1024 * 1024));
    for body in [
        "",
        "{",
        "[]",
        "null",
        r#"{"template":"immunization","template":"prescription","examples":true}"#,
        r#"{"template":"immunization","examples":"yes"}"#,
        r#"{"template":"immunization","examples":true,"unknown":1}"#,
        r#"{"template":"immunization"}"#,
        r#"{"template":"immunization","examples":true,"claims":{"shoe_size":44}}"#,
        r#"{"template":"immunization","examples":true,"claims":{"patient":{"birth_date":"yesterday"}}}"#,
        r#"{"template":"immunization","examples":true,"format":"mso_mdoc"}"#,
        &deep,
    ] {
        assert_problem(&send(kind, body), 400);
    }
    assert_problem(&send(kind, &huge), 413);
    assert_problem(
        &send(kind, r#"{"template":"nothing","examples":true}"#),
        404,
    );
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
        ("GET", "/api/issuer/templates"),
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
    let body = json!({"template": "immunization", "examples": true});
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
    // The session rides on a cookie, so a write without its form token is not the person's.
    let with_cookie =
        |request: crate::http::Request| request.header("Cookie", &session).send().unwrap();
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
    let set = reply
        .header("set-cookie")
        .unwrap_or_else(|| panic!("no cookie: {}", reply.status));
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
    let unknown = json!({"email": "nobody@example.org", "password": "not her password"});
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
        &json!({"template": "immunization"}),
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
