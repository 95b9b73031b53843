//! A foreign verifier that breaks the rules: the wallet refuses, reports the error only where it may, and shares
//! nothing.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::foreign::{Heard, Key, Said, Stranger, changed, form, now, unsigned};
use crate::http::{Api, Reply};
use crate::rig::{World, get, items, offer, post, take};

const OBJECT: &str = "application/oauth-authz-req+jwt";

/// A verifier that signs with its DID's key, or claims to.
struct Verifier {
    key: Key,
    site: Stranger,
}

impl Verifier {
    fn client_id(&self) -> String {
        format!("decentralized_identifier:{}", self.key.did())
    }

    fn header(&self) -> Value {
        json!({"typ": "oauth-authz-req+jwt", "alg": self.key.alg(), "kid": self.key.kid()})
    }

    fn claims(&self) -> Value {
        json!({
            "client_id": self.client_id(),
            "aud": "https://self-issued.me/v2",
            "iat": now(),
            "exp": now() + 300,
            "response_type": "vp_token",
            "response_mode": "direct_post",
            "response_uri": self.site.url("response"),
            "nonce": "n-0S6_WzA2Mj",
            "state": "a-state",
            "dcql_query": {"credentials": [{
                "id": "shot",
                "format": "dc+sd-jwt",
                "meta": {"vct_values": ["urn:selfsame:credential:immunization"]},
                "claims": [{"path": ["vaccine", "cvx"]}],
            }]},
        })
    }

    /// Serves this object; returns the link to it.
    fn publish(&self, content_type: &'static str, object: String) -> String {
        self.site.says(move |heard| match heard.target.as_str() {
            "/request" => Said::new(200, content_type, object.clone()),
            "/response" => Said::json(&json!({})),
            _ => Said::new(404, "text/plain", "nothing"),
        });
        let pairs = [
            ("client_id", self.client_id()),
            ("request_uri", self.site.url("request")),
        ];
        let pairs: Vec<(&str, &str)> = pairs
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        format!("openid4vp://?{}", form(&pairs))
    }

    fn signed(&self, header: &Value, claims: &Value) -> String {
        self.publish(OBJECT, self.key.sign(header, claims))
    }
}

fn stage() -> (Verifier, World, Api) {
    let verifier = Verifier {
        key: Key::new(),
        site: Stranger::new(),
    };
    let world = World::start(&["--trust-origin", verifier.site.origin.as_str()]);
    let person = world.person("maja");
    take(&person, &offer(&world.operator, &json!({})));
    (verifier, world, person)
}

fn answer(person: &Api, link: &str) -> Reply {
    let body = json!({"request": link, "policy": "newest"});
    person
        .send("POST", "/api/wallet/requests/answer", Some(&body))
        .unwrap()
}

/// How long to wait for a report that must come, and for one that must not.
const PATIENCE: Duration = Duration::from_secs(60);
const NEVER: Duration = Duration::from_millis(800);

/// What was posted to the verifier's response URI; waits for it, since refusals are reported in the background.
fn told(site: &Stranger, patience: Duration) -> Vec<Heard> {
    let began = Instant::now();
    let mut told: Vec<Heard> = Vec::new();
    while told.is_empty() && began.elapsed() < patience {
        told.extend(
            site.heard()
                .into_iter()
                .filter(|heard| heard.target == "/response"),
        );
        thread::sleep(Duration::from_millis(20));
    }
    told
}

#[test]
fn a_request_that_does_not_say_that_it_is_for_a_wallet_is_answered_with_a_remark() {
    let (verifier, _world, person) = stage();
    let signed = |audience: Value| {
        let claims = changed(verifier.claims(), &json!({"aud": audience}));
        verifier.key.sign(&verifier.header(), &claims)
    };
    let in_the_link = |object: String| {
        verifier.publish(OBJECT, String::new());
        let pairs = [("client_id", verifier.client_id()), ("request", object)];
        let pairs = pairs
            .each_ref()
            .map(|(name, value)| (*name, value.as_str()));
        format!("openid4vp://?{}", form(&pairs))
    };
    let own = verifier.site.url("request");
    let by_reference = |object: String| verifier.publish(OBJECT, object);
    let client_id = verifier.client_id();
    let ways: [(&dyn Fn(String) -> String, Value, &str); 4] = [
        (&in_the_link, Value::Null, "does not say"),
        (&by_reference, Value::Null, "does not say"),
        (&in_the_link, json!(client_id), &client_id),
        (&by_reference, json!(own), &own),
    ];
    for (way, audience, remark) in ways {
        let link = way(signed(audience));
        let asked = json!({"request": link});
        let preview = post(&person, "/api/wallet/requests/preview", &asked);
        let remarks = preview["remarks"].as_array().unwrap();
        assert_eq!(remarks.len(), 1, "{preview}");
        assert!(remarks[0].as_str().unwrap().contains(remark), "{preview}");
        assert_eq!(answer(&person, &link).json()["delivered"], true);
    }
    let elsewhere = in_the_link(signed(json!("https://wallet.example")));
    assert_eq!(answer(&person, &elsewhere).status, 400);
}

#[test]
fn a_foreign_verifier_that_keeps_the_rules_is_answered() {
    let (verifier, world, person) = stage();
    let link = verifier.signed(&verifier.header(), &verifier.claims());
    let preview = post(
        &person,
        "/api/wallet/requests/preview",
        &json!({"request": link}),
    );
    assert_eq!(preview["verifier"]["client_id"], verifier.client_id());
    assert_eq!(preview["verifier"]["authenticated"], true);
    assert_eq!(preview["verifier"]["trusted"], false);
    assert_eq!(preview["remarks"], json!([]));
    assert_eq!(answer(&person, &link).json()["delivered"], true);
    let told = told(&verifier.site, PATIENCE);
    assert_eq!(told.len(), 1);
    let pairs: Vec<(String, String)> = url::form_urlencoded::parse(told[0].body.as_bytes())
        .into_owned()
        .collect();
    let names: Vec<&str> = pairs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["vp_token", "state"],
        "no members beyond the specification's"
    );
    let vp_token: Value = serde_json::from_str(&pairs[0].1).unwrap();
    let presentation = vp_token["shot"][0].as_str().unwrap();
    assert_eq!(vp_token["shot"].as_array().unwrap().len(), 1);
    let binding = presentation.rsplit('~').next().unwrap();
    let claims = selfsame_crypto::jws::Compact::parse(binding)
        .unwrap()
        .claims()
        .unwrap();
    assert_eq!(
        (&claims["aud"], &claims["nonce"]),
        (&json!(verifier.client_id()), &json!("n-0S6_WzA2Mj"))
    );
    let shown = crate::foreign::claims_of(presentation);
    assert_eq!(shown["vaccine"], json!({"cvx": "208"}), "{shown:?}");
    assert!(
        shown
            .get("patient")
            .is_none_or(|patient| patient == &json!({})),
        "{shown:?}"
    );
    assert_eq!(items(&get(&person, "/api/wallet/history")).len(), 2);
    drop(world);
}

#[test]
fn a_request_object_that_is_not_authentic_is_refused_without_an_error_response() {
    let (verifier, world, person) = stage();
    let (header, claims) = (verifier.header(), verifier.claims());
    let other = Key::new();
    let links: Vec<(&str, Box<dyn Fn() -> String>)> = vec![
        (
            "alg none",
            Box::new(|| {
                verifier.publish(
                    OBJECT,
                    unsigned(&changed(header.clone(), &json!({"alg": "none"})), &claims),
                )
            }),
        ),
        (
            "another key",
            Box::new(|| verifier.publish(OBJECT, other.sign(&header, &claims))),
        ),
        (
            "another DID's kid",
            Box::new(|| {
                verifier.publish(
                    OBJECT,
                    other.sign(
                        &changed(header.clone(), &json!({"kid": other.kid()})),
                        &claims,
                    ),
                )
            }),
        ),
        (
            "no kid",
            Box::new(|| verifier.signed(&changed(header.clone(), &json!({"kid": null})), &claims)),
        ),
        (
            "another typ",
            Box::new(|| verifier.signed(&changed(header.clone(), &json!({"typ": "JWT"})), &claims)),
        ),
        (
            "no typ",
            Box::new(|| verifier.signed(&changed(header.clone(), &json!({"typ": null})), &claims)),
        ),
        (
            "another client",
            Box::new(|| {
                verifier.signed(
                    &header,
                    &changed(
                        claims.clone(),
                        &json!({"client_id": format!("decentralized_identifier:{}", other.did())}),
                    ),
                )
            }),
        ),
        (
            "another audience",
            Box::new(|| {
                verifier.signed(
                    &header,
                    &changed(claims.clone(), &json!({"aud": "https://wallet.example"})),
                )
            }),
        ),
        (
            "expired",
            Box::new(|| {
                verifier.signed(
                    &header,
                    &changed(claims.clone(), &json!({"exp": now() - 3600})),
                )
            }),
        ),
        (
            "another content type",
            Box::new(|| verifier.publish("application/json", verifier.key.sign(&header, &claims))),
        ),
        (
            "no JWT",
            Box::new(|| verifier.publish(OBJECT, "nonsense".to_owned())),
        ),
        (
            "empty",
            Box::new(|| verifier.publish(OBJECT, String::new())),
        ),
        (
            "huge",
            Box::new(|| verifier.publish(OBJECT, "a".repeat(8 * 1024 * 1024))),
        ),
        (
            "within another",
            Box::new(|| {
                verifier.signed(
                    &header,
                    &changed(
                        claims.clone(),
                        &json!({"request_uri": "https://other.example/"}),
                    ),
                )
            }),
        ),
    ];
    for (what, link) in links {
        let link = link();
        verifier.site.heard();
        assert_refusal(what, &answer(&person, &link));
        assert!(
            told(&verifier.site, NEVER).is_empty(),
            "{what}: an unknown verifier was told something"
        );
    }
    verifier
        .site
        .says(|_| Said::redirect("https://other.example/request"));
    let link = format!(
        "openid4vp://?{}",
        form(&[
            ("client_id", &verifier.client_id()),
            ("request_uri", &verifier.site.url("request"))
        ])
    );
    assert_refusal("a redirect", &answer(&person, &link));
    assert!(
        items(&get(&person, "/api/wallet/history"))
            .iter()
            .all(|entry| entry["what"] != "shared")
    );
    drop(world);
}

#[track_caller]
fn assert_refusal(what: &str, reply: &Reply) {
    let body = reply.json();
    assert!(
        matches!(reply.status, 400 | 410 | 502),
        "{what}: {} {body}",
        reply.status
    );
    assert!(
        body["detail"]
            .as_str()
            .is_some_and(|detail| !detail.is_empty()),
        "{what}: {body}"
    );
    assert!(body["code"].is_string(), "{what}: {body}");
}

#[test]
fn an_authentic_request_that_breaks_a_rule_is_refused_with_the_specifications_code() {
    let (verifier, world, person) = stage();
    let with =
        |changes: Value| verifier.signed(&verifier.header(), &changed(verifier.claims(), &changes));
    let query = |query: Value| json!({"dcql_query": {"credentials": [query]}});
    let data = selfsame_crypto::encoding::base64url_encode(
        br#"{"type":"payment","credential_ids":["shot"]}"#,
    );
    for (what, changes, code) in [
        ("no query", json!({"dcql_query": null}), "invalid_request"),
        (
            "an old query",
            json!({"dcql_query": null, "presentation_definition": {"id": "x", "input_descriptors": []}}),
            "invalid_request",
        ),
        (
            "query and scope",
            json!({"scope": "shot"}),
            "invalid_request",
        ),
        (
            "scope alone",
            json!({"dcql_query": null, "scope": "shot"}),
            "invalid_scope",
        ),
        (
            "a query without meta",
            query(json!({"id": "a", "format": "dc+sd-jwt"})),
            "invalid_request",
        ),
        (
            "a redirect_uri",
            json!({"redirect_uri": "https://verifier.example/"}),
            "invalid_request",
        ),
        ("no nonce", json!({"nonce": null}), "invalid_request"),
        (
            "a nonce of strange characters",
            json!({"nonce": "a b\u{0}"}),
            "invalid_request",
        ),
        (
            "another response type",
            json!({"response_type": "code"}),
            "unsupported_response_type",
        ),
        (
            "unknown transaction data",
            json!({"transaction_data": [data]}),
            "invalid_transaction_data",
        ),
        (
            "an unknown format alone",
            query(
                json!({"id": "shot", "format": "jwt_vc_json-ld", "meta": {"type_values": [["x"]]}}),
            ),
            "vp_formats_not_supported",
        ),
    ] {
        let link = with(changes);
        verifier.site.heard();
        assert_refusal(what, &answer(&person, &link));
        let told = told(&verifier.site, PATIENCE);
        assert_eq!(told.len(), 1, "{what}: the verifier is not told");
        let pairs: Vec<(String, String)> = url::form_urlencoded::parse(told[0].body.as_bytes())
            .into_owned()
            .collect();
        let of = |name: &str| {
            pairs
                .iter()
                .find(|(known, _)| known == name)
                .map(|(_, value)| value.as_str())
        };
        assert_eq!(of("error"), Some(code), "{what}: {pairs:?}");
        assert_eq!(of("state"), Some("a-state"), "{what}: {pairs:?}");
        assert!(of("vp_token").is_none(), "{what}");
    }
    drop(world);
}

/// An issuer's false response at a path.
type Lie = Box<dyn Fn(&str) -> Option<Said> + Send + Sync>;

/// A false response at paths that contain this text.
fn at(end: &'static str, said: Said) -> Lie {
    Box::new(move |path| path.contains(end).then(|| said.clone()))
}

/// Malformed responses, in place of each of an issuer's documents.
fn lies_everywhere() -> Vec<(String, Lie)> {
    let json = |body: &str| Said::new(200, "application/json", body);
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(5000), "]".repeat(5000));
    let wrong = [
        ("nothing", json("")),
        ("truncated", json("{\"credential_issuer\": \"http")),
        ("deep", json(&deep)),
        ("an array", json("[]")),
        (
            "wrong types",
            json(
                r#"{"credential_issuer":1,"issuer":2,"access_token":3,"c_nonce":4,"credentials":5}"#,
            ),
        ),
        ("a member twice", json(r#"{"c_nonce":"a","c_nonce":"b"}"#)),
        (
            "no text",
            Said::new(200, "application/json", vec![0xff; 64]),
        ),
        ("packed to explode", Said::exploding()),
        ("a redirect inward", Said::redirect("http://127.0.0.1:1/")),
    ];
    let places = [
        "openid-credential-issuer",
        "oauth-authorization-server",
        "/token",
        "/nonce",
        "/credential",
    ];
    let everywhere = places.into_iter().flat_map(|place| {
        let wrong = wrong.clone();
        wrong.map(|(what, said)| (format!("{what} at {place}"), at(place, said)))
    });
    everywhere.collect()
}

fn lies() -> Vec<(&'static str, Lie)> {
    let metadata = "openid-credential-issuer";
    let huge = format!("{{\"a\":\"{}\"}}", "a".repeat(16 << 20));
    let twice = r#"{"access_token":"a","access_token":"b","token_type":"Bearer"}"#;
    let denied = r#"{"error":"credential_request_denied"}"#;
    let other = crate::foreign::foreign_credential(&Key::new(), &Key::new(), &json!({}));
    let credentials = |values: Value| Said::json(&json!({"credentials": values}));
    vec![
        (
            "another issuer's metadata",
            at(
                metadata,
                Said::json(&json!({"credential_issuer": "https://other.example"})),
            ),
        ),
        (
            "metadata as text",
            at(metadata, Said::new(200, "text/html", "{}")),
        ),
        (
            "huge metadata",
            at(metadata, Said::new(200, "application/json", huge)),
        ),
        ("no token", at("/token", Said::new(500, "text/plain", "x"))),
        (
            "a token of another type",
            at(
                "/token",
                Said::json(&json!({"access_token": "t", "token_type": "DPoP"})),
            ),
        ),
        (
            "a member twice",
            at("/token", Said::new(200, "application/json", twice)),
        ),
        ("no credential", at("/credential", credentials(json!([])))),
        (
            "nonsense for a credential",
            at(
                "/credential",
                credentials(json!([{"credential": "nonsense"}])),
            ),
        ),
        (
            "another's credential",
            at("/credential", credentials(json!([{"credential": other}]))),
        ),
        (
            "an error",
            at("/credential", Said::new(400, "application/json", denied)),
        ),
    ]
}

#[test]
fn an_issuer_that_breaks_the_rules_gets_nothing_into_a_wallet() {
    // Each one comes from a separate issuer, since a wallet caches what an issuer serves.
    let special = lies().into_iter().map(|(what, lie)| (what.to_owned(), lie));
    let liars: Vec<(String, Lie, Stranger)> = special
        .chain(lies_everywhere())
        .map(|(what, lie)| (what, lie, Stranger::new()))
        .collect();
    let trusted: Vec<&str> = liars
        .iter()
        .flat_map(|(.., site)| ["--trust-origin", site.origin.as_str()])
        .collect();
    let world = World::start(&trusted);
    let person = world.person("maja");
    let own = world.instance.origin.as_str().trim_end_matches('/');
    let document =
        |name: &str| get(&world.anybody(), &format!("/.well-known/{name}/issuer")).to_string();
    let (metadata, server) = (
        document("openid-credential-issuer"),
        document("oauth-authorization-server"),
    );
    let made = offer(&world.operator, &json!({}));
    let value =
        crate::foreign::parameter(made["uri"].as_str().unwrap(), "credential_offer").unwrap();
    for (what, lie, site) in liars {
        let theirs = site.origin.as_str().trim_end_matches('/');
        let (metadata, server) = (metadata.replace(own, theirs), server.replace(own, theirs));
        let json = |text: &str| Said::new(200, "application/json", text);
        site.says(move |heard| {
            let path = heard.target.as_str();
            lie(path).unwrap_or_else(|| match path {
                path if path.contains("openid-credential-issuer") => json(&metadata),
                path if path.contains("oauth-authorization-server") => json(&server),
                "/issuer/token" => {
                    Said::json(&json!({"access_token": "t", "token_type": "Bearer"}))
                }
                "/issuer/nonce" => Said::json(&json!({"c_nonce": "n"})),
                _ => Said::new(404, "text/plain", ""),
            })
        });
        let link = format!(
            "openid-credential-offer://?{}",
            form(&[("credential_offer", &value.replace(own, theirs))])
        );
        let taken = person
            .send(
                "POST",
                "/api/wallet/offers/accept",
                Some(&json!({"offer": link})),
            )
            .unwrap();
        assert_refusal(&what, &taken);
        assert!(
            items(&get(&person, "/api/wallet/credentials")).is_empty(),
            "{what}: something came in"
        );
    }
}
