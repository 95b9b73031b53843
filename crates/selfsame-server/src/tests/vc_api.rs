//! The W3C's API: what an organisation signs and verifies through it, and what is refused with which code.

mod npm;

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use http::{Method, StatusCode};
use selfsame_driver::CpuPool;
use selfsame_driver::paging::Paging;
use selfsame_vc_api::{RefusedStatus, VcApiConfig, VcApiFace};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::instance::{Answered, Instance, ORIGIN, call, config_of, open, opened, post};
use crate::server::ServedSettings;

const V1: &str = "https://www.w3.org/2018/credentials/v1";
const V2: &str = "https://www.w3.org/ns/credentials/v2";
const TERMS: &str = "https://www.w3.org/ns/credentials/undefined-terms/v2";

fn parsed(answer: &Answered) -> Value {
    serde_json::from_str(&answer.body).unwrap()
}

/// Calls the API with the operator's token.
async fn asked(instance: &Instance, path: &str, body: &Value) -> Answered {
    let call = post(&format!("/vc-api{path}")).bearer(&instance.token);
    instance.call(call.json(&body.to_string())).await
}

/// What a call gives under this name.
async fn made(instance: &Instance, path: &str, body: &Value, name: &str) -> Value {
    let answer = asked(instance, path, body).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.body);
    parsed(&answer)[name].clone()
}

/// Why a call was refused.
async fn refused(instance: &Instance, path: &str, body: &Value) -> String {
    let answer = asked(instance, path, body).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{}", answer.body);
    assert_eq!(answer.header("content-type"), "application/problem+json");
    let problem = parsed(&answer);
    let kind = problem["type"].as_str().unwrap().to_owned();
    assert!(kind.ends_with(problem["title"].as_str().unwrap()));
    kind.rsplit('#').next().unwrap().to_owned()
}

fn issuers(instance: &Instance) -> Vec<String> {
    instance.app.main().issuer().unwrap().names()
}

fn credential(instance: &Instance) -> Value {
    json!({
        "@context": [V2, TERMS],
        "id": "urn:uuid:58172aac-d8ba-11ed-83dd-0b3aef56cc33",
        "type": ["VerifiableCredential"],
        "issuer": issuers(instance)[0],
        "validFrom": "2023-01-01T00:00:00Z",
        "credentialSubject": {"id": "did:example:holder", "degree": "Bachelor"},
    })
}

async fn issued(instance: &Instance, body: &Value) -> Value {
    made(instance, "/credentials/issue", body, "verifiableCredential").await
}

async fn verified(instance: &Instance, credential: &Value) -> (StatusCode, Value) {
    let body = json!({"verifiableCredential": credential, "options": {"returnResults": true}});
    let answer = asked(instance, "/credentials/verify", &body).await;
    (answer.status, parsed(&answer))
}

#[tokio::test]
async fn a_credential_of_either_model_and_suite_is_issued_and_a_changed_one_not_verified() {
    let instance = Instance::start().await;
    let old = json!({
        "@context": [V1, TERMS],
        "type": ["VerifiableCredential"],
        "issuer": {"id": issuers(&instance)[1]},
        "issuanceDate": "2023-01-01T00:00:00Z",
        "credentialSubject": {"id": "did:example:holder", "degree": "Bachelor"},
    });
    for document in [credential(&instance), old] {
        for suite in ["ecdsa-rdfc-2019", "ecdsa-jcs-2019"] {
            let body = json!({"credential": document, "options": {"cryptosuite": suite}});
            let mut signed = issued(&instance, &body).await;
            assert_eq!(signed["proof"]["cryptosuite"], suite);
            assert_eq!(signed["proof"]["proofPurpose"], "assertionMethod");
            let (status, found) = verified(&instance, &signed).await;
            assert_eq!(status, StatusCode::OK, "{found}");
            assert_eq!(found["verified"], true, "{found}");
            assert_eq!(found["problemDetails"], json!([]));
            assert_eq!(found["results"]["proof"][0]["verified"], true);
            signed["credentialSubject"]["degree"] = "Master".into();
            let (status, found) = verified(&instance, &signed).await;
            assert_eq!(status, StatusCode::BAD_REQUEST);
            assert_eq!(found["verified"], false);
            let title = &found["problemDetails"][0]["title"];
            assert_eq!(title, "CRYPTOGRAPHIC_SECURITY_ERROR", "{found}");
            assert_eq!(found["results"]["proof"][0]["verified"], false);
        }
    }
}

#[tokio::test]
async fn what_can_not_be_issued_is_refused_with_the_code_of_the_specification() {
    let instance = Instance::start().await;
    let good = credential(&instance);
    let changed = |name: &str, value: Value| {
        let mut document = good.clone();
        document[name] = value;
        json!({"credential": document})
    };
    let lost = {
        let mut document = good.clone();
        document["@context"] = json!([V2]);
        json!({"credential": document})
    };
    let lost_as_json = {
        let mut body = lost.clone();
        body["options"] = json!({"cryptosuite": "ecdsa-jcs-2019"});
        body
    };
    for (body, title) in [
        (
            changed("issuer", json!("did:example:other")),
            "MALFORMED_VALUE_ERROR",
        ),
        (
            changed("credentialSubject", json!({})),
            "MALFORMED_VALUE_ERROR",
        ),
        (
            changed("proof", json!({"type": "DataIntegrityProof"})),
            "MALFORMED_VALUE_ERROR",
        ),
        (
            changed("@context", json!([V2, "https://office.example/v1"])),
            "MALFORMED_VALUE_ERROR",
        ),
        (lost, "DATA_LOSS_DETECTION_ERROR"),
        (lost_as_json, "DATA_LOSS_DETECTION_ERROR"),
        (
            json!({"credential": good, "options": {"cryptosuite": "eddsa-rdfc-2022"}}),
            "PROOF_GENERATION_ERROR",
        ),
        (
            json!({"credential": good, "options": {"mandatoryPointers": ["/issuer"]}}),
            "UNKNOWN_OPTION_PROVIDED",
        ),
        (json!([]), "PARSING_ERROR"),
    ] {
        assert_eq!(
            refused(&instance, "/credentials/issue", &body).await,
            title,
            "{body}"
        );
    }
}

#[tokio::test]
async fn a_status_is_changed_by_the_identifier_of_the_credential() {
    let instance = Instance::start().await;
    let entry = json!({"type": "BitstringStatusListEntry"});
    let body = json!({
        "credential": credential(&instance),
        "options": {"credentialStatus": entry, "credentialId": "licence-7"},
    });
    let signed = issued(&instance, &body).await;
    let purposes = signed["credentialStatus"].as_array().unwrap();
    assert_eq!(purposes.len(), 2);
    assert_eq!(purposes[0]["statusPurpose"], "revocation");
    let again = asked(&instance, "/credentials/issue", &body).await;
    assert_eq!(again.status, StatusCode::CONFLICT, "{}", again.body);
    let change = async |id: &str, purpose: &str, is_set: bool| {
        let body = json!({
            "credentialId": id,
            "credentialStatus": {"type": "BitstringStatusListEntry", "statusPurpose": purpose},
            "status": is_set,
        });
        asked(&instance, "/credentials/status", &body).await.status
    };
    assert_eq!(
        change("licence-8", "revocation", true).await,
        StatusCode::NOT_FOUND
    );
    assert_eq!(
        change("licence-7", "suspension", true).await,
        StatusCode::OK
    );
    assert_eq!(
        change("licence-7", "suspension", false).await,
        StatusCode::OK
    );
    assert_eq!(
        change("licence-7", "revocation", true).await,
        StatusCode::OK
    );
    assert_eq!(
        change("licence-7", "revocation", false).await,
        StatusCode::CONFLICT
    );
    let mut nameless = credential(&instance);
    nameless.as_object_mut().unwrap().remove("id");
    let body = json!({"credential": nameless, "options": {"credentialStatus": entry}});
    assert_eq!(
        refused(&instance, "/credentials/issue", &body).await,
        "MALFORMED_VALUE_ERROR"
    );
}

#[tokio::test]
async fn a_revoked_credential_is_not_verified() {
    let instance = Instance::listening().await;
    let issued = async |id: &str| {
        let mut document = credential(&instance);
        document["id"] = id.into();
        let options = json!({"credentialStatus": {"type": "BitstringStatusListEntry"}});
        issued(
            &instance,
            &json!({"credential": document, "options": options}),
        )
        .await
    };
    let (kept, revoked) = (issued("urn:example:1").await, issued("urn:example:2").await);
    let issuer = instance.app.main().issuer().unwrap();
    let register = issuer.issued(None, &Paging::default()).await.unwrap();
    // A credential without an end has not ended at once.
    assert_eq!(register.items[0].expires, "9999-12-31T23:59:59Z");
    let body = json!({
        "credentialId": "urn:example:2",
        "credentialStatus": {"type": "BitstringStatusListEntry", "statusPurpose": "revocation"},
        "status": true,
    });
    let answer = asked(&instance, "/credentials/status", &body).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    let (status, found) = verified(&instance, &kept).await;
    assert_eq!(status, StatusCode::OK, "{found}");
    assert_eq!(found["results"]["credentialStatus"][0]["verified"], true);
    let (status, found) = verified(&instance, &revoked).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "{found}");
    let title = &found["problemDetails"][0]["title"];
    assert_eq!(title, "STATUS_VERIFICATION_ERROR", "{found}");
    assert_eq!(found["results"]["proof"][0]["verified"], true);
}

async fn challenge(instance: &Instance) -> String {
    let answer = asked(instance, "/challenges", &json!({})).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    parsed(&answer)["challenge"].as_str().unwrap().to_owned()
}

/// A presentation of a credential of the organisation, with these options.
async fn presented(instance: &Instance, options: &Value) -> Value {
    let body = json!({"credential": credential(instance)});
    let presentation = json!({
        "@context": [V2],
        "type": ["VerifiablePresentation"],
        "verifiableCredential": [issued(instance, &body).await],
    });
    let body = json!({"presentation": presentation, "options": options});
    made(instance, "/presentations", &body, "verifiablePresentation").await
}

async fn presentation_verified(
    instance: &Instance,
    presentation: &Value,
    options: Value,
) -> (StatusCode, Value) {
    let body = json!({"verifiablePresentation": presentation, "options": options});
    let answer = asked(instance, "/presentations/verify", &body).await;
    (answer.status, parsed(&answer))
}

#[tokio::test]
async fn a_presentation_answers_a_challenge_of_ours_once_and_for_its_domain_alone() {
    let instance = Instance::start().await;
    let (challenge, domain) = (challenge(&instance).await, "https://verifier.example");
    let options = json!({"challenge": challenge, "domain": domain});
    let presentation = presented(&instance, &options).await;
    assert_eq!(presentation["holder"], issuers(&instance)[0]);
    assert_eq!(presentation["proof"]["proofPurpose"], "authentication");
    for (wrong, title) in [
        (
            json!({"challenge": "another", "domain": domain}),
            "INVALID_CHALLENGE_ERROR",
        ),
        (
            json!({"challenge": challenge, "domain": "https://other.example"}),
            "INVALID_DOMAIN_ERROR",
        ),
    ] {
        let (status, found) = presentation_verified(&instance, &presentation, wrong).await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
        let problems = found["problemDetails"].as_array().unwrap();
        assert!(problems.iter().any(|one| one["title"] == title), "{found}");
    }
    let (status, found) = presentation_verified(&instance, &presentation, options.clone()).await;
    assert_eq!(status, StatusCode::OK, "{found}");
    assert_eq!(found["verified"], true);
    let results = &found["results"];
    for part in ["challenge", "domain", "holder"] {
        assert_eq!(results["presentation"][part]["verified"], true, "{found}");
    }
    assert_eq!(results["credentials"][0]["verified"], true);
    let (status, found) = presentation_verified(&instance, &presentation, options).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(
        found["problemDetails"][0]["title"], "INVALID_CHALLENGE_ERROR",
        "{found}"
    );
}

/// Fills the pool for reading and all places to wait for it with jobs that end when the sender is dropped.
async fn filled(pool: &CpuPool) -> (Sender<()>, Vec<JoinHandle<()>>) {
    let (go, going) = channel::<()>();
    let going = Arc::new(Mutex::new(going));
    let mut jobs = Vec::new();
    // Another job that ends leaves its place: the second round takes it.
    for _ in 0..2 {
        loop {
            let going = going.clone();
            let pool = pool.clone();
            let job = move || going.lock().unwrap().recv().is_ok();
            let mut waiting = Box::pin(async move { pool.run(job).await.map(|_| ()) });
            if waiting.as_mut().now_or_never().is_some() {
                break;
            }
            jobs.push(tokio::spawn(async move { waiting.await.unwrap() }));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    (go, jobs)
}

#[tokio::test]
async fn datasets_are_put_into_canonical_form_in_the_pool_and_not_where_requests_are_served() {
    let instance = Instance::start().await;
    let options = json!({"challenge": challenge(&instance).await});
    let presentation = presented(&instance, &options).await;
    let signed = presentation["verifiableCredential"][0].clone();
    let verifier = instance.app.main().verifier().unwrap().clone();
    let (go, jobs) = filled(&verifier.shared().reading).await;
    let (status, found) = verified(&instance, &signed).await;
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS, "{found}");
    let (status, found) = presentation_verified(&instance, &presentation, options.clone()).await;
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS, "{found}");
    drop(go);
    for job in jobs {
        job.await.unwrap();
    }
    let (status, found) = presentation_verified(&instance, &presentation, options).await;
    assert_eq!(status, StatusCode::OK, "{found}");
    assert_eq!(found["verified"], true, "{found}");
}

#[tokio::test]
async fn a_presentation_for_another_is_not_replayed_with_a_proof_that_somebody_adds() {
    let instance = Instance::start().await;
    let sound = presented(&instance, &json!({"challenge": "of another"})).await;
    let own = sound["proof"].clone();
    let mut added = own.clone();
    added["challenge"] = "of this one".into();
    added["verificationMethod"] = "did:example:somebody#key-1".into();
    for proofs in [json!([own, added]), json!([added, own])] {
        let mut replayed = sound.clone();
        replayed["proof"] = proofs;
        let wanted = json!({"challenge": "of this one"});
        let (status, found) = presentation_verified(&instance, &replayed, wanted).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{found}");
        assert_eq!(found["verified"], false, "{found}");
        let title = &found["problemDetails"][0]["title"];
        assert_eq!(title, "INVALID_CHALLENGE_ERROR", "{found}");
        let challenge = &found["results"]["presentation"]["challenge"];
        assert_eq!(challenge["verified"], false, "{found}");
    }
}

#[tokio::test]
async fn a_changed_presentation_and_one_with_a_changed_credential_are_not_verified() {
    let instance = Instance::start().await;
    let options = json!({"challenge": "of the caller"});
    let good = presented(&instance, &options).await;
    let (status, _) = presentation_verified(&instance, &good, options.clone()).await;
    assert_eq!(status, StatusCode::OK);
    let mut renamed = good.clone();
    renamed["id"] = "urn:example:1".into();
    let mut borrowed = good.clone();
    borrowed["holder"] = issuers(&instance)[1].as_str().into();
    let mut exchanged = good.clone();
    exchanged["verifiableCredential"][0]["credentialSubject"]["degree"] = "Master".into();
    let mut unsigned = good.clone();
    unsigned.as_object_mut().unwrap().remove("proof");
    for wrong in [renamed, borrowed, exchanged, unsigned.clone()] {
        let (status, found) = presentation_verified(&instance, &wrong, options.clone()).await;
        assert_eq!(
            (status, &found["verified"]),
            (StatusCode::BAD_REQUEST, &json!(false))
        );
    }
    // Without a proof, the credentials alone are verified, and nobody is said to be the holder.
    let body = json!({"presentation": unsigned});
    let answer = asked(&instance, "/presentations/verify", &body).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    let holder = &parsed(&answer)["results"]["presentation"]["holder"];
    assert_eq!(holder["verified"], false);
    let mut empty = unsigned.clone();
    empty["verifiableCredential"] = json!([]);
    let body = json!({"presentation": empty});
    let title = refused(&instance, "/presentations/verify", &body).await;
    assert_eq!(title, "MALFORMED_VALUE_ERROR");
    let body = json!({"presentation": unsigned, "options": {"challenge": "a"}});
    let answer = asked(&instance, "/presentations/verify", &body).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(
        answer.body.contains("leave `challenge` out"),
        "{}",
        answer.body
    );
    // A proof that answers nothing is not asked for.
    let body = json!({"verifiablePresentation": good});
    let title = refused(&instance, "/presentations/verify", &body).await;
    assert_eq!(title, "MALFORMED_VALUE_ERROR");
}

#[tokio::test]
async fn nobody_presents_in_the_name_of_another() {
    let instance = Instance::start().await;
    let presentation = |holder: &str| json!({"@context": [V2], "type": ["VerifiablePresentation"], "holder": holder});
    for (holder, options) in [
        ("did:example:other", json!({})),
        (
            issuers(&instance)[0].as_str(),
            json!({"verificationMethod": "did:example:other#key-1"}),
        ),
        (
            issuers(&instance)[0].as_str(),
            json!({"proofPurpose": "assertionMethod"}),
        ),
    ] {
        let body = json!({"presentation": presentation(holder), "options": options});
        let title = refused(&instance, "/presentations", &body).await;
        assert_eq!(title, "MALFORMED_VALUE_ERROR");
    }
}

#[tokio::test]
async fn an_organisation_signs_in_its_own_name_alone() {
    let instance = Instance::start().await;
    let new = json!({"name": "acme", "title": "Acme"}).to_string();
    let created = post("/api/organisations")
        .bearer(&instance.token)
        .json(&new);
    let created = instance.call(created).await;
    assert_eq!(created.status, StatusCode::CREATED, "{}", created.body);
    let body = json!({"credential": credential(&instance)}).to_string();
    let of_acme = post("/o/acme/vc-api/credentials/issue").bearer(&instance.token);
    let answer = instance.call(of_acme.json(&body)).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{}", answer.body);
    let detail = parsed(&answer)["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("`issuer` must be this issuer"), "{detail}");
}

async fn opening(vc_api: VcApiConfig) -> Instance {
    let settings = ServedSettings {
        vc_api,
        ..ServedSettings::default()
    };
    Instance::served(open(ORIGIN).await, settings)
}

#[tokio::test]
async fn without_a_token_only_what_is_open_is_answered() {
    let open = VcApiConfig {
        open: vec![VcApiFace::Verify],
        unverified: RefusedStatus::Success,
    };
    let instance = opening(open).await;
    let body = json!({"verifiableCredential": credential(&instance)}).to_string();
    let verify = || post("/vc-api/credentials/verify").json(&body);
    // What the settings say, an unverified credential is answered with.
    let answer = instance.call(verify()).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    assert_eq!(parsed(&answer)["verified"], false);
    let body = json!({"credential": credential(&instance)}).to_string();
    let issue = post("/vc-api/credentials/issue").json(&body);
    assert_eq!(instance.call(issue).await.status, StatusCode::UNAUTHORIZED);
    let closed = Instance::start().await;
    assert_eq!(closed.call(verify()).await.status, StatusCode::UNAUTHORIZED);
    let get = call(Method::GET, "/vc-api/credentials/verify").bearer(&closed.token);
    assert_eq!(
        closed.call(get).await.status,
        StatusCode::METHOD_NOT_ALLOWED
    );
}

#[tokio::test]
async fn what_is_no_credential_is_not_verified_and_too_much_is_not_read() {
    let instance = Instance::start().await;
    for credential in [json!({}), json!({"proof": {}}), credential(&instance)] {
        let (status, found) = verified(&instance, &credential).await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert_eq!(found["verified"], false, "{found}");
        assert!(found["problemDetails"][0]["type"].is_string());
    }
    let long = json!({"verifiableCredential": "a".repeat(selfsame_vc_api::routes::BODY_MAX)});
    let answer = asked(&instance, "/credentials/verify", &long).await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    let many = json!({"verifiablePresentation": {"verifiableCredential": vec![json!({}); 17]},
        "options": {"challenge": "a"}});
    let title = refused(&instance, "/presentations/verify", &many).await;
    assert_eq!(title, "MALFORMED_VALUE_ERROR");
}

#[tokio::test]
async fn an_issuer_that_is_not_trusted_is_told_from_a_forged_credential() {
    let other = Instance::start().await;
    let signed = issued(&other, &json!({"credential": credential(&other)})).await;
    let mut config = config_of(ORIGIN);
    let opened_here = opened(config.clone()).await;
    let stranger = Instance::served(opened_here, ServedSettings::default());
    let (status, found) = verified(&stranger, &signed).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(
        found["problemDetails"][0]["title"], "UNTRUSTED_ISSUER",
        "{found}"
    );
    config.trust.issuers = vec![issuers(&other)[0].clone()];
    let friend = Instance::served(opened(config).await, ServedSettings::default());
    let (status, found) = verified(&friend, &signed).await;
    assert_eq!(status, StatusCode::OK, "{found}");
}
