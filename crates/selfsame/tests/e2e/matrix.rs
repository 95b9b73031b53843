//! Every combination of format, issuer's DID method and client-id prefix, and every option of an offer.

use std::collections::BTreeSet;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, SanType};
use serde_json::{Value, json};

use crate::foreign::Holder;
use crate::http::Api;
use crate::rig::{
    World, answer, get, issued, items, offer, post, put, recheck_until, refused, set_status, take,
    text, verdict, write_private,
};

const FORMATS: [&str; 3] = ["dc+sd-jwt", "jwt_vc_json", "vc+jwt"];
/// The sample types that are mobile documents.
const DOCUMENTS: [&str; 3] = [
    "driving-licence",
    "person-identification",
    "vaccination-document",
];

/// Issues, presents, verifies, suspends, reinstates and revokes, in each format and by each prefix.
fn walk(world: &World, prefixes: &[&str]) {
    let operator = &world.operator;
    for (at, format) in FORMATS.into_iter().enumerate() {
        for (which, prefix) in prefixes.iter().enumerate() {
            // Half of the offers are passed by reference.
            let by_reference = (at + which) % 2 == 1;
            let person = world.person(&format!("{at}-{which}"));
            let made = offer(
                operator,
                &json!({"format": format, "by_reference": by_reference}),
            );
            let referred = text(&made, "uri").contains("credential_offer_uri=");
            assert_eq!(referred, by_reference, "{made}");
            take(&person, &made);
            let credential = &issued(operator, &made)[0];
            assert_eq!(credential["format"], format);
            let asked =
                json!({"type": "immunization", "format": format, "client_id_prefix": prefix});
            let asked = post(operator, "/api/verifier/requests", &asked);
            let named = text(&asked, "uri").contains(&format!("client_id={prefix}%3A"));
            assert!(named, "{asked}");
            assert_eq!(answer(&person, &asked)["delivered"], true);
            let status = verdict(operator, &asked);
            assert_eq!(
                status["verdict"]["outcome"], "valid",
                "{format} {prefix} {status}"
            );
            for (new, outcome) in [
                ("suspended", "suspended"),
                ("valid", "valid"),
                ("suspended", "suspended"),
                ("revoked", "revoked"),
            ] {
                assert_eq!(set_status(operator, credential, new)["status"], new);
                recheck_until(operator, &asked, outcome);
            }
        }
    }
}

/// The walk with an issuer and a verifier that are identified by DIDs of one method.
fn walk_by(did_method: &str) {
    let settings = format!(
        "[issuer]\ndid_method = \"{did_method}\"\nissuer_did = \"own\"\n[verifier]\ndid_method = \"{did_method}\"\n"
    );
    let world = World::configured(&settings, &[]);
    let did = text(&get(&world.operator, "/api/status"), "did");
    assert!(did.starts_with(&format!("did:{did_method}:")), "{did}");
    walk(&world, &["redirect_uri", "decentralized_identifier"]);
}

#[test]
fn credentials_of_a_did_key_live_and_die_in_every_format() {
    walk_by("key");
}

#[test]
fn credentials_of_a_did_jwk_live_and_die_in_every_format() {
    walk_by("jwk");
}

#[test]
fn credentials_of_a_did_web_live_and_die_in_every_format() {
    walk_by("web");
}

#[test]
fn credentials_of_a_did_selfsame_live_and_die_in_every_format() {
    walk_by("selfsame");
}

/// An authority's certificate, and one it issued to the issuer and verifier at this port, with its key; all PEM.
fn certified(port: u16) -> [String; 3] {
    let key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let anchor = authority.self_signed(&key).unwrap().pem();
    let authority = Issuer::new(authority, key);
    let key = KeyPair::generate().unwrap();
    let mut leaf = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let identifier = format!("http://localhost:{port}/issuer");
    leaf.subject_alt_names
        .push(SanType::URI(identifier.try_into().unwrap()));
    let leaf = leaf.signed_by(&key, &authority).unwrap().pem();
    [anchor, leaf, key.serialize_pem()]
}

/// An instance identified by certificates, which trusts this anchor, or its own.
fn by_certificate(anchor: Option<&str>) -> World {
    World::prepared(&[], |folder, port| {
        let [own, leaf, key] = certified(port);
        std::fs::write(folder.join("anchor.pem"), anchor.unwrap_or(&own)).unwrap();
        std::fs::write(folder.join("leaf.pem"), leaf).unwrap();
        write_private(&folder.join("key.pem"), &key);
        let certificate = "certificate = \"leaf.pem\"\ncertificate_key = \"key.pem\"\n";
        format!(
            "[issuer]\nidentify_by = \"x5c\"\n{certificate}[verifier]\n{certificate}\
             [trust]\ncertificates = [\"anchor.pem\"]\n"
        )
    })
}

#[test]
fn credentials_of_an_issuer_known_by_its_certificate_live_and_die_in_every_format() {
    walk(&by_certificate(None), &["x509_san_dns", "redirect_uri"]);
}

#[test]
fn an_instance_with_an_untrusted_certificate_is_not_believed() {
    let [stranger, ..] = certified(1);
    let world = by_certificate(Some(&stranger));
    let (operator, person) = (&world.operator, world.person("maja"));
    take(&person, &offer(operator, &json!({})));
    let ask = |prefix: &str| {
        let asked = json!({"type": "immunization", "client_id_prefix": prefix});
        post(operator, "/api/verifier/requests", &asked)
    };
    let asked = ask("x509_san_dns");
    let refusal = refused(
        &person,
        "/api/wallet/requests/preview",
        &json!({"request": asked["uri"]}),
    );
    assert!(
        refusal.json()["detail"]
            .as_str()
            .unwrap()
            .contains("not trusted"),
        "{refusal:?}"
    );
    let asked = ask("redirect_uri");
    answer(&person, &asked);
    assert_ne!(verdict(operator, &asked)["verdict"]["outcome"], "valid");
}

#[test]
fn credentials_whose_issuer_is_named_by_url_are_verified_by_its_metadata() {
    let world = World::configured("[issuer]\nidentify_by = \"metadata\"\n", &[]);
    let person = world.person("maja");
    let made = offer(&world.operator, &json!({}));
    let card = &take(&person, &made)[0];
    assert_eq!(
        text(card, "issuer"),
        format!("{}issuer", world.instance.origin)
    );
    let asked = post(
        &world.operator,
        "/api/verifier/requests",
        &json!({"type": "immunization"}),
    );
    answer(&person, &asked);
    let status = verdict(&world.operator, &asked);
    assert_eq!(status["verdict"]["outcome"], "valid", "{status}");
}

#[test]
fn every_type_is_issued_and_verified_in_every_format() {
    let world = World::start(&[]);
    let person = world.person("maja");
    let types = get(&world.operator, "/api/types");
    assert_eq!(items(&types).len(), 10);
    for kind in items(&types) {
        let id = text(kind, "id");
        let formats: &[&str] = match DOCUMENTS.contains(&&*id) {
            true => &["mso_mdoc"],
            false => &FORMATS,
        };
        for format in formats {
            let body = json!({"type": id, "format": format, "examples": true});
            take(&person, &post(&world.operator, "/api/issuer/offers", &body));
            let asked = json!({"type": id, "format": format});
            let asked = post(&world.operator, "/api/verifier/requests", &asked);
            answer(&person, &asked);
            let status = verdict(&world.operator, &asked);
            assert_eq!(
                status["verdict"]["outcome"], "valid",
                "{id} {format} {status}"
            );
        }
    }
}

#[test]
fn a_credential_may_be_bound_to_any_of_a_persons_dids() {
    let world = World::start(&[]);
    let operator = &world.operator;
    for (method, kind) in [
        ("key", "Ed25519"),
        ("key", "P-256"),
        ("jwk", "Ed25519"),
        ("jwk", "P-256"),
    ] {
        let person = world.person(&format!("{method}-{kind}"));
        let did = post(
            &person,
            "/api/wallet/dids",
            &json!({"method": method, "kind": kind}),
        );
        for format in ["jwt_vc_json", "vc+jwt"] {
            let made = offer(operator, &json!({"format": format}));
            let accept = json!({"offer": made["uri"], "did": did["did"]});
            post(&person, "/api/wallet/offers/accept", &accept);
            let asked = json!({"type": "immunization", "format": format});
            let asked = post(operator, "/api/verifier/requests", &asked);
            answer(&person, &asked);
            let status = verdict(operator, &asked);
            assert_eq!(
                status["verdict"]["outcome"], "valid",
                "{method} {kind} {format} {status}"
            );
        }
    }
}

/// The labels of the type's claims that a verdict shows.
fn shown(kind: &Value, verdict: &Value) -> BTreeSet<String> {
    let claims = &verdict["verdict"]["credentials"][0]["claims"];
    let claims = claims.get("credentialSubject").unwrap_or(claims);
    let fields = kind["claims"].as_array().unwrap().iter();
    let present = fields.filter(|field| {
        let mut names = field["path"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str);
        names
            .try_fold(claims, |value, name| value.get(name))
            .is_some_and(|it| !it.is_null())
    });
    present
        .map(|field| field["label"]["en"].as_str().unwrap().to_owned())
        .collect()
}

fn labels(lines: &Value) -> BTreeSet<String> {
    let lines = lines.as_array().unwrap().iter();
    lines
        .map(|line| line["label"].as_str().or(line.as_str()).unwrap().to_owned())
        .collect()
}

/// A claim's value that occurs nowhere else by chance, unlike three digits, which may be in a port.
const PARTICULAR: &str = "a quite particular vaccine";

/// An offer with this value in it.
fn particular(operator: &Api, format: &str) -> Value {
    let claims = json!({"vaccine": {"cvx": PARTICULAR}});
    offer(operator, &json!({"format": format, "claims": claims}))
}

#[test]
fn consent_and_history_show_precisely_what_the_verifier_learns() {
    let world = World::start(&[]);
    let (operator, person) = (&world.operator, world.person("maja"));
    let kind = &get(operator, "/api/types/immunization")["definition"];
    for format in FORMATS {
        take(&person, &particular(operator, format));
        let asked = json!({
            "type": "immunization",
            "format": format,
            "claims": [["vaccine", "cvx"], ["series", "complete"]],
        });
        let asked = post(operator, "/api/verifier/requests", &asked);
        let preview = post(
            &person,
            "/api/wallet/requests/preview",
            &json!({"request": asked["uri"]}),
        );
        let choice = &preview["shares"][0]["choices"][0];
        let consented = labels(&choice["claims"]);
        let cards = json!({preview["shares"][0]["query"].as_str().unwrap(): choice["card"]});
        let answered = post(
            &person,
            "/api/wallet/requests/answer",
            &json!({"request": preview["id"], "cards": cards}),
        );
        let status = verdict(operator, &asked);
        assert_eq!(status["verdict"]["outcome"], "valid", "{status}");
        let learnt = shown(kind, &status);
        // An SD-JWT reveals the requested claims and those that its issuer made undisclosable; the others can only
        // reveal all.
        if format == "dc+sd-jwt" {
            let expected = ["Disease", "Series complete", "Vaccine (CVX)"].map(str::to_owned);
            assert_eq!(learnt, BTreeSet::from(expected));
            assert!(!status.to_string().contains("Musterfrau"), "{status}");
        } else {
            assert_eq!(learnt.len(), kind["claims"].as_array().unwrap().len());
        }
        assert!(status.to_string().contains(PARTICULAR), "{status}");
        // For an SD-JWT the object around a withheld claim is revealed too, but only its name.
        let mut left = learnt.clone();
        left.extend((format == "dc+sd-jwt").then(|| "patient".to_owned()));
        assert_eq!(consented, left, "{format}: consent is not what left");
        let history = get(&person, "/api/wallet/history");
        let entry = items(&history)
            .iter()
            .find(|entry| entry["id"] == answered["history"])
            .unwrap();
        assert_eq!(entry["what"], "shared");
        assert_eq!(
            labels(&entry["claims"]),
            left,
            "{format}: the history is not what left"
        );
        assert!(
            !history.to_string().contains(PARTICULAR),
            "a claim's value stands in the history: {history}"
        );
    }
}

#[test]
fn a_verdict_names_each_rule_with_its_paragraph() {
    let world = World::start(&[]);
    let (operator, person) = (&world.operator, world.person("maja"));
    for format in FORMATS {
        let cards = take(&person, &particular(operator, format));
        assert_eq!(cards[0]["issuer_name"], "Selfsame Clinic");
        let asked = post(
            operator,
            "/api/verifier/requests",
            &json!({"type": "immunization", "format": format}),
        );
        answer(&person, &asked);
        let status = verdict(operator, &asked);
        let credential = &status["verdict"]["credentials"][0];
        let rules = credential["rules"].as_array().unwrap();
        // There is one rule for each status list; W3C credentials have two lists, with different purposes.
        let name = |rule: &Value| rule["name"].as_str().unwrap().to_owned();
        let lists: BTreeSet<&str> = rules
            .iter()
            .filter(|rule| name(rule) == "status_list")
            .map(|rule| rule["detail"].as_str().unwrap())
            .collect();
        assert_eq!(
            lists.len(),
            if format == "dc+sd-jwt" { 1 } else { 2 },
            "{rules:?}"
        );
        let names: BTreeSet<String> = rules.iter().map(name).collect();
        let repeated = rules.len() - names.len();
        assert_eq!(
            repeated,
            (lists.len() - 1) * 4,
            "a rule stands twice: {rules:?}"
        );
        for rule in rules {
            assert_ne!(rule["passed"], false, "{rule}");
            let paragraph = rule["paragraph"].as_str().unwrap();
            assert!(
                paragraph.contains('§') || paragraph.contains("Selfsame"),
                "{rule}"
            );
            assert!(
                !rule["detail"].as_str().unwrap().contains(PARTICULAR),
                "a claim's value stands in {rule}"
            );
        }
        assert!(
            rules.iter().filter(|rule| rule["passed"] == true).count() >= 6,
            "{rules:?}"
        );
        assert!(
            credential["status_as_of"].is_string(),
            "the list's age is missing: {credential}"
        );
    }
}

#[test]
fn copies_have_keys_and_indices_of_their_own() {
    let world = World::start(&[]);
    let (operator, person) = (&world.operator, world.person("maja"));
    let made = offer(operator, &json!({}));
    let taken = post(
        &person,
        "/api/wallet/offers/accept",
        &json!({"offer": made["uri"], "copies": 5}),
    );
    assert_eq!(items(&taken).len(), 5);
    let records = issued(operator, &made);
    let places: BTreeSet<(String, u64)> = records
        .iter()
        .map(|one| {
            (
                text(one, "status_list"),
                one["status_index"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(places.len(), 5, "{records:?}");
    // Credentials issued one after the other are not adjacent in the list.
    let indices: Vec<u64> = places.iter().map(|(_, index)| *index).collect();
    assert!(
        indices.windows(2).any(|pair| pair[1] - pair[0] > 1),
        "{indices:?}"
    );
    let many = refused(
        &person,
        "/api/wallet/offers/accept",
        &json!({"offer": made["uri"], "copies": 1000}),
    );
    assert_eq!(many.status, 400);
}

#[test]
fn an_offer_is_taken_as_often_as_it_says() {
    let world = World::start(&[]);
    let operator = &world.operator;
    let made = offer(operator, &json!({"uses": 2}));
    let state = |made: &Value| {
        get(
            operator,
            &format!("/api/issuer/offers/{}", text(made, "id")),
        )
    };
    for (name, left) in [("first", 1), ("second", 0)] {
        take(&world.person(name), &made);
        assert_eq!(state(&made)["uses_left"], left);
    }
    assert_eq!(state(&made)["state"], "taken");
    let late = refused(
        &world.person("third"),
        "/api/wallet/offers/accept",
        &json!({"offer": made["uri"]}),
    );
    assert!(
        late.json()["detail"]
            .as_str()
            .is_some_and(|detail| !detail.is_empty()),
        "{late:?}"
    );
    assert_eq!(late.json()["code"], "invalid_grant", "{late:?}");
    assert_eq!(issued(operator, &made).len(), 2);
    for body in [
        json!({"uses": 0}),
        json!({"uses": 1_000_000}),
        json!({"expires_in": 0}),
    ] {
        let mut body = body;
        body["type"] = json!("immunization");
        body["examples"] = json!(true);
        assert_eq!(
            refused(operator, "/api/issuer/offers", &body).status,
            400,
            "{body}"
        );
    }
}

#[test]
fn a_transaction_code_is_needed_and_voids_the_offer_when_guessed_at() {
    let world = World::start(&[]);
    let (operator, person) = (&world.operator, world.person("maja"));
    let made = offer(operator, &json!({"tx_code": true}));
    let right = text(&made, "tx_code");
    let wrong = other_code(&right);
    let preview = post(
        &person,
        "/api/wallet/offers/preview",
        &json!({"offer": made["uri"]}),
    );
    assert_eq!(
        preview["tx_code"]["length"].as_u64(),
        Some(right.len() as u64),
        "{preview}"
    );
    let accept = |code: Option<&str>| json!({"offer": made["uri"], "tx_code": code});
    refused(&person, "/api/wallet/offers/accept", &accept(None));
    let told = refused(&person, "/api/wallet/offers/accept", &accept(Some(&wrong)));
    let told = text(&told.json(), "detail");
    let said = "the transaction code is wrong; 4 more tries are left";
    assert!(told.contains(said), "{told}");
    post(&person, "/api/wallet/offers/accept", &accept(Some(&right)));

    let made = offer(operator, &json!({"tx_code": true}));
    let right = text(&made, "tx_code");
    let holder = Holder::of(&made, &world.anybody());
    let wrong = other_code(&right);
    for _ in 0..5 {
        let reply = holder.redeem(&[("tx_code", &wrong)]);
        assert_eq!(
            (reply.status, reply.json()["error"].as_str()),
            (400, Some("invalid_grant"))
        );
    }
    let late = holder.redeem(&[("tx_code", &right)]);
    assert_eq!(
        (late.status, late.json()["error"].as_str()),
        (400, Some("invalid_grant")),
        "guessing went on"
    );
    let offer_now = get(
        operator,
        &format!("/api/issuer/offers/{}", text(&made, "id")),
    );
    assert_eq!(offer_now["state"], "locked");
    assert!(
        offer_now["tx_code"].is_null(),
        "the code is told again: {offer_now}"
    );
}

fn other_code(code: &str) -> String {
    code.chars()
        .map(|digit| if digit == '1' { '2' } else { '1' })
        .collect()
}

#[test]
fn a_wallet_that_has_nothing_says_what_is_missing_and_a_person_may_decline() {
    let world = World::start(&[]);
    let (operator, person) = (&world.operator, world.person("maja"));
    let asked = post(
        operator,
        "/api/verifier/requests",
        &json!({"type": "prescription"}),
    );
    let preview = post(
        &person,
        "/api/wallet/requests/preview",
        &json!({"request": asked["uri"]}),
    );
    assert_eq!(preview["answerable"], false);
    assert_eq!(preview["shares"], json!([]));
    assert_eq!(preview["missing"].as_array().unwrap().len(), 1, "{preview}");
    assert_eq!(preview["verifier"]["authenticated"], true);
    refused(
        &person,
        "/api/wallet/requests/answer",
        &json!({"request": asked["uri"], "policy": "newest"}),
    );
    assert_eq!(
        get(
            operator,
            &format!("/api/verifier/requests/{}", text(&asked, "id"))
        )["state"],
        "fetched"
    );
    post(
        &person,
        "/api/wallet/requests/decline",
        &json!({"request": asked["uri"]}),
    );
    let status = verdict(operator, &asked);
    assert_eq!(
        (status["state"].as_str(), status["error"].as_str()),
        (Some("declined"), Some("access_denied"))
    );
}

#[test]
fn a_revoked_credential_stays_revoked() {
    let world = World::start(&[]);
    let (operator, person) = (&world.operator, world.person("maja"));
    let made = offer(operator, &json!({}));
    take(&person, &made);
    let credential = &issued(operator, &made)[0];
    set_status(operator, credential, "revoked");
    let path = format!("/api/issuer/credentials/{}/status", text(credential, "id"));
    for status in ["valid", "suspended"] {
        let reply = operator
            .send("PUT", &path, Some(&json!({"status": status})))
            .unwrap();
        assert_eq!(reply.status, 409, "{reply:?}");
    }
    assert_eq!(
        put(operator, &path, &json!({"status": "revoked"}))["status"],
        "revoked"
    );
}

#[test]
fn one_persons_wallet_is_closed_to_everybody_else() {
    let world = World::start(&[]);
    let (maja, other) = (world.person("maja"), world.person("other"));
    let card = text(&take(&maja, &offer(&world.operator, &json!({})))[0], "id");
    let path = format!("/api/wallet/credentials/{card}");
    assert_eq!(text(&get(&maja, &path)["summary"], "id"), card);
    let status = |api: &Api| api.send("GET", &path, None).unwrap().status;
    assert_eq!(status(&other), 404);
    assert_eq!(status(&world.operator), 401);
    assert_eq!(status(&world.anybody()), 401);
    let deleted = other.send("DELETE", &path, None).unwrap();
    assert_eq!(deleted.status, 404);
    assert_eq!(items(&get(&maja, "/api/wallet/credentials")).len(), 1);
}
