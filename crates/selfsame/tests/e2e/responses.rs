//! Wallets' answers to a verifier: tampered with, replayed, foreign; refused by the protocol or given the right
//! verdict.

use serde_json::{Value, json};

use crate::foreign::{
    Asked, FORM, Key, Said, Stranger, ask, binding, bound, changed, foreign_credential, holder,
    now, unsigned,
};
use crate::http::Api;
use crate::rig::{World, assert_error, get, text};

/// The verifier's outcome for one presentation in a new request.
fn judged(operator: &Api, present: impl FnOnce(&Asked) -> String) -> Value {
    let made = ask(operator);
    let asked = Asked::read(&made);
    let presentation = present(&asked);
    let reply = asked.present(&presentation);
    if !reply.is_success() {
        assert_error(&reply, 400, "invalid_request");
    }
    let path = format!("/api/verifier/requests/{}", text(&made, "id"));
    let mut status = get(operator, &path);
    // A refused answer does not count, and the request stays open.
    if status["state"] == "fetched" {
        assert!(!reply.is_success());
        status["verdict"] = status["refused"]["last"].clone();
    }
    status
}

/// Checks that a presentation has this outcome, and is never valid.
#[track_caller]
fn assert_outcome(what: &str, status: &Value, outcome: &str) {
    assert_eq!(status["verdict"]["outcome"], outcome, "{what}: {status}");
    let rules = status["verdict"]["credentials"][0]["rules"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let said =
        status["verdict"]["reason"].is_string() || rules.iter().any(|rule| rule["passed"] == false);
    assert!(said, "{what}: the verdict names no reason: {status}");
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
    let mut count = 0;
    for (what, present) in bad {
        assert_outcome(what, &judged(present), "invalid");
        count += 1;
        let told = world.logged("not found valid");
        assert_eq!(told.len(), count, "{what} is not in the log");
        let reason = text(&told.last().unwrap()["fields"], "reason");
        assert!(!reason.is_empty(), "{what}");
        for claim in ["forged", "Musterfrau", "1990-01-01"] {
            assert!(!reason.contains(claim), "{what}: {reason}");
        }
    }
    // A requested claim is withheld: the credential is genuine, but does not answer the request.
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
    assert_error(&elsewhere.present(&presentation), 400, "invalid_request");
    let path = format!("/api/verifier/requests/{}", text(&other, "id"));
    let open = get(&world.operator, &path);
    assert_eq!(open["refused"]["last"]["outcome"], "invalid", "{open}");
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
    let untrusted = judged(&foreign_credential(&stranger, &holder, &json!({})));
    assert_outcome("untrusted", &untrusted, "untrusted");
    assert_eq!(untrusted["state"], "fetched", "a stranger ends no request");
    assert_eq!(
        untrusted["verdict"]["credentials"][0]["claims"],
        Value::Null
    );
    let borrowed = foreign_credential(&stranger, &holder, &json!({"iss": did}));
    assert_outcome("another's name", &judged(&borrowed), "invalid");

    // 16 entries, all zero: two bytes, compressed as ZLIB.
    let zeros = "eJxjYAAAAAIAAQ";
    let list = |subject: &str, exp: u64, lst: &str| {
        let header = json!({"alg": issuer.alg(), "typ": "statuslist+jwt", "kid": issuer.kid()});
        let payload = json!({
            "iss": issuer.did(), "sub": subject, "iat": now(), "exp": exp,
            "status_list": {"bits": 1, "lst": lst},
        });
        (header, payload)
    };
    let token = |body: String| Said::new(200, "application/statuslist+jwt", body);
    let signed = |(header, payload): (Value, Value)| token(issuer.sign(&header, &payload));
    // Each list has an address of its own, since a verifier caches lists.
    let by_list = |name: &str, said: &dyn Fn(&str) -> Said| {
        let uri = lists.url(name);
        let said = said(&uri);
        lists.says(move |_| said.clone());
        judged(&of(
            json!({"status": {"status_list": {"idx": 5, "uri": uri}}}),
        ))
    };
    let good = by_list("good", &|uri| signed(list(uri, now() + 600, zeros)));
    assert_eq!(good["verdict"]["outcome"], "valid", "{good}");
    let bad: [(&str, &dyn Fn(&str) -> Said); 7] = [
        ("missing", &|_| Said::new(404, "text/plain", "nothing")),
        ("another", &|_| {
            signed(list("https://other.example/list", now() + 600, zeros))
        }),
        ("expired", &|uri| signed(list(uri, now() - 3600, zeros))),
        ("unsigned", &|uri| {
            let (header, payload) = list(uri, now() + 600, zeros);
            token(unsigned(
                &changed(header, &json!({"alg": "none"})),
                &payload,
            ))
        }),
        ("too-short", &|uri| {
            signed(list(uri, now() + 600, "eJwDAAAAAAE"))
        }),
        ("exploding", &|uri| {
            signed(list(uri, now() + 600, &exploding()))
        }),
        ("redirected", &|_| Said::redirect("https://127.0.0.1/list")),
    ];
    for (what, said) in bad {
        assert_outcome(what, &by_list(what, said), "unverifiable");
    }
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
