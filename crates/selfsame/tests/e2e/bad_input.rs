//! Bad input at the issuer's endpoints: the specification's error, and no change.

use selfsame_crypto::KeyType;
use serde_json::{Value, json};

use crate::foreign::{FORM, Holder, Key, PRE_AUTHORIZED, changed, form, holder, now, unsigned};
use crate::rig::{World, assert_challenge, assert_error, offer, succeeded};

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
        ("pre-authorized_code", "an-unknown-code"),
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
    // None of these requests has used up the code.
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
    // None of these requests has used up the nonce.
    let reply = holder.ask(&token, &[holder.proof(&nonce)]);
    assert!(
        reply.is_success(),
        "{}",
        String::from_utf8_lossy(&reply.body)
    );
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
    let other = holder(&world, &json!({"type": "prescription"}));
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
