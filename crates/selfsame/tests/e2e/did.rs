//! The Universal Resolver API: statuses, representations, the envelope, versions, and the document hosted for did:web.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::foreign::Key;
use crate::http::Reply;
use crate::rig::{World, post, put, text};

const ENVELOPE: &str = "application/did-resolution";

fn resolve(world: &World, did: &str, accept: Option<&str>) -> Reply {
    // A DID's own percent signs are encoded again in a path.
    let path = format!("/1.0/identifiers/{}", did.replace('%', "%25"));
    let request = world.anybody().request("GET", &path);
    let request = match accept {
        Some(accept) => request.header("Accept", accept),
        None => request,
    };
    request.send().unwrap()
}

/// Checks that an answer is a resolution result with this status, and has a document only on success.
#[track_caller]
fn assert_envelope(reply: &Reply, status: u16) -> Value {
    let body = reply.json();
    assert_eq!(reply.status, status, "{body}");
    assert!(
        reply.header("content-type").unwrap().starts_with(ENVELOPE),
        "{reply:?}"
    );
    for name in [
        "didDocument",
        "didDocumentMetadata",
        "didResolutionMetadata",
    ] {
        assert!(body.get(name).is_some(), "no {name} in {body}");
    }
    body
}

#[test]
fn what_is_wrong_with_a_did_has_its_status_and_error() {
    let world = World::start(&[]);
    let unknown = {
        let network = text(&crate::rig::get(&world.operator, "/api/status"), "network");
        format!(
            "did:selfsame:{network}:{}",
            selfsame_crypto::encoding::base58_encode(&[7; 16])
        )
    };
    for (did, status, error) in [
        ("nonsense", 400, "INVALID_DID"),
        ("did:key:nonsense", 400, "INVALID_DID"),
        ("did:jwk:nonsense", 400, "INVALID_DID"),
        ("did:web:", 400, "INVALID_DID"),
        (unknown.as_str(), 404, "NOT_FOUND"),
        ("did:nobody:x", 501, "METHOD_NOT_SUPPORTED"),
    ] {
        let body = assert_envelope(&resolve(&world, did, None), status);
        assert_eq!(body["didDocument"], Value::Null, "{did}");
        let error_type = body["didResolutionMetadata"]["error"]["type"]
            .as_str()
            .unwrap_or_default();
        assert!(error_type.ends_with(error), "{did}: {body}");
    }
}

#[test]
fn the_form_of_the_answer_is_what_was_asked_for() {
    let world = World::start(&[]);
    let key = Key::new().did();
    for accept in [None, Some("*/*"), Some("application/json"), Some(ENVELOPE)] {
        let body = assert_envelope(&resolve(&world, &key, accept), 200);
        assert_eq!(body["didDocument"]["id"], key.as_str());
        assert!(
            body["didResolutionMetadata"].get("error").is_none(),
            "{body}"
        );
    }
    let profile = "application/ld+json;profile=\"https://w3id.org/did-resolution\"";
    assert_envelope(&resolve(&world, &key, Some(profile)), 200);
    for accept in [
        "application/did",
        "application/did+json",
        "application/did+ld+json",
    ] {
        let reply = resolve(&world, &key, Some(accept));
        assert_eq!(reply.status, 200);
        assert_eq!(reply.header("content-type"), Some(accept));
        assert_eq!(reply.json()["id"], key.as_str());
        assert_eq!(reply.header("access-control-allow-origin"), Some("*"));
    }
    let with_context = resolve(&world, &key, Some("application/did+ld+json")).json();
    assert!(
        with_context["@context"].is_array() || with_context["@context"].is_string(),
        "{with_context}"
    );
    let body = assert_envelope(&resolve(&world, &key, Some("text/html")), 406);
    assert!(
        body["didResolutionMetadata"]["error"]["type"]
            .as_str()
            .unwrap()
            .ends_with("REPRESENTATION_NOT_SUPPORTED")
    );
    let preferring = resolve(
        &world,
        &key,
        Some("application/did;q=0.1, application/did-resolution;q=0.9"),
    );
    assert_envelope(&preferring, 200);
    // A DID may be percent-encoded as one segment.
    let encoded = format!("/1.0/identifiers/{}", key.replace(':', "%3A"));
    assert_envelope(&world.anybody().send("GET", &encoded, None).unwrap(), 200);
}

#[test]
fn a_did_selfsame_resolves_at_a_version_and_at_a_time() {
    let world = World::start(&[]);
    let made = post(&world.operator, "/api/dids", &json!({"method": "selfsame"}));
    let did = text(&made, "did");
    let first = assert_envelope(&resolve(&world, &did, None), 200);
    let at_first = &first["didDocumentMetadata"];
    let version = text(at_first, "versionId");
    let created = text(at_first, "created");
    std::thread::sleep(Duration::from_millis(2100));
    put(&world.operator, &format!("/api/dids/{did}"), &json!({}));
    let second = assert_envelope(&resolve(&world, &did, None), 200);
    assert_ne!(first["didDocument"], second["didDocument"]);
    assert_ne!(
        second["didDocumentMetadata"]["versionId"],
        at_first["versionId"]
    );
    assert!(
        second["didDocumentMetadata"]["updated"].is_string(),
        "{second}"
    );

    let by_version = assert_envelope(
        &resolve(&world, &format!("{did}?versionId={version}"), None),
        200,
    );
    assert_eq!(by_version["didDocument"], first["didDocument"]);
    assert_eq!(
        by_version["didDocumentMetadata"]["nextVersionId"],
        second["didDocumentMetadata"]["versionId"]
    );
    let by_time = assert_envelope(
        &resolve(&world, &format!("{did}?versionTime={created}"), None),
        200,
    );
    assert_eq!(by_time["didDocument"], first["didDocument"]);
    let early = resolve(
        &world,
        &format!("{did}?versionTime=2020-01-01T00:00:00Z"),
        None,
    );
    assert_envelope(&early, 404);
    assert_envelope(
        &resolve(&world, &format!("{did}?versionTime=yesterday"), None),
        400,
    );
    assert_envelope(&resolve(&world, &format!("{did}?versionId=99"), None), 404);

    let deleted = world
        .operator
        .send("DELETE", &format!("/api/dids/{did}"), None)
        .unwrap();
    assert_eq!(
        (deleted.status, deleted.json()["state"].as_str()),
        (200, Some("deactivated"))
    );
    let gone = assert_envelope(&resolve(&world, &did, None), 410);
    assert_eq!(gone["didDocumentMetadata"]["deactivated"], true);
    let again = world
        .operator
        .send("PUT", &format!("/api/dids/{did}"), Some(&json!({})))
        .unwrap();
    assert!(matches!(again.status, 409 | 410), "{again:?}");
}

#[test]
fn a_did_with_a_log_is_hosted_with_its_did_web_and_resolves_at_each_version() {
    let world = World::start(&[]);
    let made = post(&world.operator, "/api/dids", &json!({"method": "webvh"}));
    let did = text(&made, "did");
    let name = did.rsplit(':').next().unwrap().to_owned();
    let file = |file: &str| {
        let path = format!("/dids/{name}/{file}");
        world.anybody().send("GET", &path, None).unwrap()
    };
    let first = assert_envelope(&resolve(&world, &did, None), 200);
    let metadata = &first["didDocumentMetadata"];
    assert!(text(metadata, "versionId").starts_with("1-"), "{first}");
    assert_eq!(
        (text(metadata, "ttl"), &metadata["portable"]),
        ("3600".to_owned(), &json!(false))
    );
    let own = format!("/api/dids/{}", did.replace('%', "%25"));
    put(&world.operator, &own, &json!({}));
    let log = file("did.jsonl");
    assert_eq!(log.header("content-type"), Some("text/jsonl"));
    let entries = |log: &Reply| log.body.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(entries(&log), 2);
    assert_eq!(file("did-witness.json").json(), json!([]));
    assert_eq!(file("did.json").json()["alsoKnownAs"], json!([did]));
    let second = assert_envelope(&resolve(&world, &did, None), 200);
    assert_ne!(second["didDocument"], first["didDocument"]);
    let by_number = resolve(&world, &format!("{did}?versionNumber=1"), None);
    assert_eq!(
        assert_envelope(&by_number, 200)["didDocument"],
        first["didDocument"]
    );
    assert_envelope(
        &resolve(&world, &format!("{did}?versionNumber=3"), None),
        404,
    );
    let whois = resolve(&world, &format!("{did}/whois"), None);
    let port = world.instance.origin.port().unwrap();
    let place = format!("https://localhost:{port}/dids/{name}/whois.vp");
    assert_eq!(
        (whois.status, whois.json()["contentStream"].as_str()),
        (200, Some(&*place))
    );

    let ended = world.operator.send("DELETE", &own, None).unwrap();
    assert_eq!(ended.json()["state"], "deactivated");
    assert_eq!(entries(&file("did.jsonl")), 3);
    assert_eq!(file("did.json").status, 410);
    assert_envelope(&resolve(&world, &did, None), 410);
    let whois = resolve(&world, &format!("{did}/whois"), None);
    assert_eq!(whois.status, 404);
}

#[test]
fn a_did_web_is_hosted_where_its_method_says_and_resolves() {
    let world = World::configured(
        "[issuer]\ndid_method = \"web\"\n[verifier]\ndid_method = \"web\"\n",
        &[],
    );
    let did = text(&crate::rig::get(&world.operator, "/api/status"), "did");
    let port = world.instance.origin.port().unwrap();
    assert!(
        did.starts_with(&format!("did:web:localhost%3A{port}")),
        "{did}"
    );
    for role in ["issuer", "verifier"] {
        let hosted = world
            .anybody()
            .send("GET", &format!("/{role}/did.json"), None)
            .unwrap();
        assert_eq!(hosted.status, 200);
        assert_eq!(
            hosted.json()["id"],
            format!("did:web:localhost%3A{port}:{role}")
        );
        assert_eq!(hosted.header("access-control-allow-origin"), Some("*"));
        let resolved = assert_envelope(
            &resolve(&world, &format!("did:web:localhost%3A{port}:{role}"), None),
            200,
        );
        assert_eq!(resolved["didDocument"], hosted.json());
    }
    let missing = resolve(&world, &format!("did:web:localhost%3A{port}:nobody"), None);
    assert_envelope(&missing, 404);
}

#[test]
fn a_further_did_web_is_hosted_too_and_its_key_rotates() {
    let world = World::start(&[]);
    let did = post(&world.operator, "/api/dids", &json!({"method": "web"}));
    let resolved = assert_envelope(&resolve(&world, &text(&did, "did"), None), 200);
    assert_eq!(resolved["didDocument"]["id"], did["did"]);
    let key = &resolved["didDocument"]["verificationMethod"][0];
    put(
        &world.operator,
        &format!("/api/dids/{}", text(&did, "did").replace('%', "%25")),
        &json!({}),
    );
    let began = Instant::now();
    while &did_json(&world, &text(&did, "did"))["verificationMethod"][0] == key {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "the hosted document still has the old key"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The document at the path of the method's specification.
fn did_json(world: &World, did: &str) -> Value {
    let path = did
        .splitn(4, ':')
        .nth(3)
        .unwrap_or_else(|| panic!("{did} has no path"));
    crate::rig::get(
        &world.anybody(),
        &format!("/{}/did.json", path.replace(':', "/")),
    )
}
