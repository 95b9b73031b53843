//! The Universal Resolver API: answers about DIDs that other resolvers resolve, and refused requests.

use selfsame_core::config::ResolverConfig;
use selfsame_testkit::cheqd::{Cheqd, FakeFault};
use serde_json::{Value, json};

use super::instance::{Answered, Instance, get, post};

const DID: &str = "did:cheqd:testnet:c1685ca0-1f5b-439c-8eb8-5c0e85ab7cd0";
const KEY: &str = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK";
const ENVELOPE: &str = "application/did-resolution";

async fn world() -> (Cheqd, Instance) {
    let cheqd = Cheqd::start().await;
    let resolver = ResolverConfig {
        cheqd: Some(cheqd.address()),
        ttl: 0,
        negative_ttl: 0,
        ..ResolverConfig::default()
    };
    (cheqd, Instance::resolving(resolver).await)
}

fn document() -> Value {
    json!({
        "@context": ["https://www.w3.org/ns/did/v1"],
        "id": DID,
        "verificationMethod": [{
            "id": format!("{DID}#key-1"), "type": "Ed25519VerificationKey2020", "controller": DID,
            "publicKeyMultibase": "z6Mkjhidm3FJxUo4FekqyhXGMqrDLnrw9NtuzfmGQ61UXW1e",
        }],
        "authentication": [format!("{DID}#key-1")],
    })
}

async fn ask(instance: &Instance, rest: &str, accept: &str) -> Answered {
    let path = format!("/1.0/identifiers/{rest}");
    instance.call(get(&path).header("accept", accept)).await
}

fn body(answer: &Answered) -> Value {
    serde_json::from_str(&answer.body).unwrap()
}

/// The error's problem type, after the mark.
fn error(body: &Value) -> &str {
    let metadata = body
        .get("didResolutionMetadata")
        .or(body.get("dereferencingMetadata"));
    let uri = metadata.unwrap()["error"]["type"].as_str();
    uri.unwrap_or_default().rsplit('#').next().unwrap()
}

#[tokio::test]
async fn a_foreign_document_comes_in_each_form_and_its_envelope_names_who_said_so() {
    let (cheqd, instance) = world().await;
    cheqd.ledger().write(DID, "v1", document());
    let answer = ask(&instance, DID, "*/*").await;
    assert_eq!(
        (answer.status.as_u16(), answer.header("content-type")),
        (200, ENVELOPE)
    );
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    let result = body(&answer);
    assert_eq!(result["didDocument"]["id"], DID);
    assert_eq!(result["didDocumentMetadata"]["versionId"], "v1");
    let origin = cheqd.address().origin().ascii_serialization();
    assert_eq!(result["didResolutionMetadata"]["trustedResolver"], origin);
    for form in [
        "application/did",
        "application/did+json",
        "application/did+ld+json",
    ] {
        let answer = ask(&instance, DID, form).await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("content-type")),
            (200, form)
        );
        assert_eq!(body(&answer)["id"], DID);
    }
    // What follows from the DID itself depends on no other resolver.
    let own = body(&ask(&instance, KEY, "*/*").await);
    assert_eq!(own["didResolutionMetadata"].get("trustedResolver"), None);
}

#[tokio::test]
async fn versions_are_asked_for_by_parameters_and_one_of_them_only() {
    let (cheqd, instance) = world().await;
    cheqd.ledger().write(DID, "v1", document());
    cheqd.ledger().write(DID, "v2", document());
    let first = cheqd.ledger().versions(DID)[0].time.rfc3339();
    for (query, version) in [
        ("versionId=v1", "v1"),
        (&format!("versionTime={first}"), "v1"),
        ("", "v2"),
    ] {
        let answer = ask(&instance, &format!("{DID}?{query}"), ENVELOPE).await;
        assert_eq!(answer.status.as_u16(), 200, "{query}");
        assert_eq!(
            body(&answer)["didDocumentMetadata"]["versionId"],
            version,
            "{query}"
        );
    }
    for (rest, status, name) in [
        (format!("{DID}?versionId=v3"), 404, "NOT_FOUND"),
        (
            format!("{DID}?versionTime=2001-01-01T00:00:00Z"),
            404,
            "NOT_FOUND",
        ),
        (
            format!("{DID}?versionTime=yesterday"),
            400,
            "INVALID_OPTIONS",
        ),
        (
            format!("{DID}?versionId=v1&versionTime={first}"),
            400,
            "INVALID_OPTIONS",
        ),
        (format!("{KEY}?versionId=1"), 501, "FEATURE_NOT_SUPPORTED"),
    ] {
        let answer = ask(&instance, &rest, ENVELOPE).await;
        assert_eq!(
            (answer.status.as_u16(), error(&body(&answer))),
            (status, name),
            "{rest}"
        );
    }
    let twice = ask(
        &instance,
        &format!("{DID}?versionId=v1&versionId=v2"),
        ENVELOPE,
    )
    .await;
    assert_eq!(twice.status.as_u16(), 400);
}

#[tokio::test]
async fn what_a_resolver_does_wrong_is_a_failure_here_with_its_status() {
    let (cheqd, instance) = world().await;
    let missing = ask(&instance, DID, "application/did").await;
    // Without a document the envelope states the reason, whatever format was requested.
    assert_eq!(
        (missing.status.as_u16(), missing.header("content-type")),
        (404, ENVELOPE)
    );
    cheqd.ledger().write(DID, "v1", document());
    for (fault, status, name) in [
        (FakeFault::WrongId, 500, "INVALID_DID_DOCUMENT"),
        (FakeFault::Malformed, 500, "INVALID_DID_DOCUMENT"),
        (FakeFault::Elsewhere, 500, "INTERNAL_ERROR"),
        (FakeFault::Broken, 500, "INTERNAL_ERROR"),
    ] {
        cheqd.fault(fault.clone());
        let answer = ask(&instance, DID, "*/*").await;
        assert_eq!(
            (answer.status.as_u16(), error(&body(&answer))),
            (status, name),
            "{fault:?}"
        );
        assert_eq!(body(&answer)["didDocument"], Value::Null);
    }
    cheqd.fault(FakeFault::None);
    cheqd.ledger().deactivate(DID, "v2");
    let gone = ask(&instance, DID, "*/*").await;
    assert_eq!(gone.status.as_u16(), 410);
    assert_eq!(body(&gone)["didDocumentMetadata"]["deactivated"], true);
    for (did, status, name) in [
        ("did:cheqd:testnet:1", 400, "INVALID_DID"),
        ("did:ion:x", 501, "METHOD_NOT_SUPPORTED"),
    ] {
        let answer = ask(&instance, did, "*/*").await;
        assert_eq!(
            (answer.status.as_u16(), error(&body(&answer))),
            (status, name),
            "{did}"
        );
    }
}

#[tokio::test]
async fn a_linked_resource_comes_in_the_envelope_of_dereferencing() {
    let (cheqd, instance) = world().await;
    let ids = [
        "9ba3922e-d5f5-4f53-b265-fc0d4e988c77",
        "e733ebb7-c8dd-41ed-9d42-33bceea70952",
    ];
    cheqd.ledger().write(DID, "v1", document());
    let (json, html) = (br#"{"a":[1]}"#, b"<script>alert(1)</script>");
    cheqd
        .ledger()
        .write_resource(DID, ids[0], "application/json", json);
    cheqd
        .ledger()
        .write_resource(DID, ids[1], "text/html", html);
    for (id, stream) in [
        (ids[0], json!({"a": [1]})),
        (ids[1], json!("<script>alert(1)</script>")),
    ] {
        let answer = ask(&instance, &format!("{DID}/resources/{id}"), "*/*").await;
        assert_eq!(answer.status.as_u16(), 200);
        assert_eq!(
            answer.header("content-type"),
            "application/did-url-dereferencing"
        );
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        let result = body(&answer);
        assert_eq!(result["contentStream"], stream);
        assert_eq!(result["contentMetadata"]["resourceId"], id);
        assert!(result["dereferencingMetadata"]["trustedResolver"].is_string());
    }
    for (rest, status, name) in [
        (
            format!("{DID}/resources/00000000-0000-4000-8000-000000000000"),
            404,
            "NOT_FOUND",
        ),
        (format!("{DID}/resources/1"), 400, "INVALID_DID_URL"),
        (format!("{DID}?resourceName=Nothing"), 404, "NOT_FOUND"),
        // Two resources have this name, and neither is a later version of the other.
        (format!("{DID}?resourceName=Demo"), 400, "INVALID_DID_URL"),
        (format!("{KEY}/resources/{}", ids[0]), 400, "INVALID_DID"),
    ] {
        let answer = ask(&instance, &rest, "*/*").await;
        assert_eq!(
            (answer.status.as_u16(), error(&body(&answer))),
            (status, name),
            "{rest}"
        );
    }
    cheqd.fault(FakeFault::Malformed);
    let altered = ask(&instance, &format!("{DID}/resources/{}", ids[0]), "*/*").await;
    assert_eq!(
        (altered.status.as_u16(), error(&body(&altered))),
        (500, "INVALID_DID_DOCUMENT")
    );
}

#[tokio::test]
async fn a_did_of_the_registry_says_as_of_when_it_holds() {
    let instance = Instance::start().await;
    let made = instance
        .call(
            post("/register")
                .bearer(&instance.token)
                .json(r#"{"seed":"as_of_when"}"#),
        )
        .await;
    let did = body(&made)["id"].as_str().unwrap().to_owned();
    let answer = ask(&instance, &did, "*/*").await;
    assert_eq!(answer.status.as_u16(), 200, "{}", answer.body);
    let as_of = &body(&answer)["didResolutionMetadata"]["asOf"];
    assert!(as_of["height"].as_u64() >= Some(1), "{as_of}");
    let time = as_of["time"].as_str().unwrap();
    assert!(selfsame_crypto::time::UnixTime::parse_rfc3339(time).is_some());
}

#[tokio::test]
async fn a_registry_that_says_nothing_is_told_with_the_reason_and_when_to_come_back() {
    // A name that does not exist (RFC 2606 §2).
    let there = "https://registry.invalid";
    let instance = Instance::with_registry_at(there).await;
    let answer = ask(&instance, "did:selfsame:2h7gyccowauiba6p:x", "*/*").await;
    assert_ne!(answer.status.as_u16(), 200);
    let did = "did:selfsame:2h7gyccowauiba6p:AKYdnZnHVwU1Ptm5yQQ1pW";
    let answer = ask(&instance, did, "*/*").await;
    assert_eq!(answer.status.as_u16(), 503, "{}", answer.body);
    assert_eq!(answer.header("retry-after"), "2");
    let metadata = &body(&answer)["didResolutionMetadata"];
    let reason = metadata["reason"].as_str().unwrap();
    assert!(reason.contains(there), "{reason}");
    assert_eq!(metadata["retryAfter"], 2);
    assert_eq!(error(&body(&answer)), "INTERNAL_ERROR");
}

#[tokio::test]
async fn what_is_registered_by_seed_has_its_name_by_indys_method_and_other_dids_have_none() {
    let instance = Instance::registering().await;
    let made = instance.call(post("/register").json(r#"{"seed":"a town"}"#));
    let made = body(&made.await);
    let registered = made["id"].as_str().unwrap().to_owned();
    let name = registered.replace("did:selfsame:", "did:indy:selfsame:");
    let answer = ask(&instance, &name, ENVELOPE).await;
    assert_eq!(answer.status.as_u16(), 200, "{}", answer.body);
    let found = body(&answer);
    let document = &found["didDocument"];
    assert_eq!(document["id"], name);
    let verkey = &document["verificationMethod"][0];
    assert_eq!(verkey["id"], format!("{name}#verkey"));
    assert_eq!(verkey["publicKeyBase58"], made["verkey"]);
    assert_eq!(document["alsoKnownAs"], json!([registered]));
    // A DID of the instance itself is not of Indy's rules.
    let names = instance.app.main().issuer().unwrap().names();
    let own = names[1].replace("did:selfsame:", "did:indy:selfsame:");
    let answer = ask(&instance, &own, ENVELOPE).await;
    assert_eq!(answer.status.as_u16(), 404, "{}", answer.body);
    let elsewhere = "did:indy:sovrin:7Tqg6BwSSWapxgUDm9KKgg";
    let answer = ask(&instance, elsewhere, ENVELOPE).await;
    assert_eq!(error(&body(&answer)), "METHOD_NOT_SUPPORTED");
    let answer = ask(
        &instance,
        "did:indy:Sovrin:7Tqg6BwSSWapxgUDm9KKgg",
        ENVELOPE,
    )
    .await;
    assert_eq!(error(&body(&answer)), "INVALID_DID");
}
