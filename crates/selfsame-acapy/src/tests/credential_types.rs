//! Credentials of an organisation's types: their claims are the attributes, and a question has an answer that shows nothing
//! else.

use http::StatusCode;
use selfsame_types::TypeDefinition;
use selfsame_types::samples::samples;
use serde_json::{Value, json};

use super::connecting::connected;
use super::study::awaited;
use super::world::{Agent, World};

const TYPE: &str = "blood-report";

/// The laboratory publishes a type of its own that is as a sample, also in the format AnonCreds or without it.
async fn publish(world: &World, anoncreds: bool, id: &str) {
    let laboratory = world.app.agent_of("laboratory").unwrap();
    let issuer = world.app.agent_issuer(&laboratory).await.unwrap();
    let samples = samples("urn:x:").into_iter();
    let mut sample = samples.filter(|one| one.id == "laboratory-results");
    let mut definition = TypeDefinition::clone(&sample.next().unwrap().definition);
    definition.id = id.to_owned();
    definition.w3c_types.clear();
    definition.formats.anoncreds = anoncreds;
    issuer.types().replace(id, &definition).await.unwrap();
    world.app.publish_type(&issuer, id).await.unwrap();
}

/// A laboratory with a published type, a hospital that asks, and people who answer offers.
async fn world() -> World {
    let names = ["laboratory", "hospital", "anna", "berta"];
    let world = World::with(&names, |settings| {
        settings.terms.settings.auto_respond_credential_offer = true;
        settings.terms.settings.preserve_exchange_records = true;
    });
    let world = world.await;
    publish(&world, true, TYPE).await;
    let path = format!("/credential-types/{TYPE}");
    let began = tokio::time::Instant::now();
    while world.agents[0]
        .send(http::Method::GET, &path, "")
        .await
        .status
        != StatusCode::OK
    {
        assert!(began.elapsed().as_secs() < 120);
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    world
}

/// The holder has a report with this blood group; returns the attributes as it keeps them.
async fn reported(laboratory: &Agent, holder: &Agent, blood_group: &str) -> Value {
    let [issuers, holders] = connected(laboratory, holder).await;
    let body = json!({
        "connection_id": issuers, "claims": {"blood_group": blood_group}, "examples": true,
    });
    let path = format!("/credential-types/{TYPE}/send");
    let sent = laboratory.post(&path, &body.to_string()).await;
    stored(holder, &holders, &sent).await
}

/// The credential of this exchange, once the holder has received and stored it.
async fn stored(holder: &Agent, connection: &str, sent: &Value) -> Value {
    let path = format!("/issue-credential-2.0/records?connection_id={connection}");
    let received = awaited(holder, &path, |one| {
        let record = &one["cred_ex_record"];
        record["thread_id"] == sent["thread_id"] && record["state"] == "credential-received"
    });
    let id = received.await["cred_ex_record"]["cred_ex_id"].clone();
    let path = format!(
        "/issue-credential-2.0/records/{}/store",
        id.as_str().unwrap()
    );
    holder.post(&path, "").await;
    let held = holder.get("/credentials").await;
    held["results"][0].clone()
}

/// The holder has an answer that somebody else issued, by a definition of their own.
async fn invented(issuer: &Agent, holder: &Agent) -> Value {
    let schema = json!({
        "schema_name": TYPE, "schema_version": "1.0", "attributes": ["can_give_to.a_pos"],
    });
    let schema = issuer.post("/schemas", &schema.to_string()).await;
    let definition = json!({"schema_id": schema["schema_id"]});
    let path = "/credential-definitions";
    let definition = issuer.post(path, &definition.to_string()).await;
    let [issuers, holders] = connected(issuer, holder).await;
    let body = json!({
        "connection_id": issuers,
        "credential_preview": {"attributes": [{"name": "can_give_to.a_pos", "value": "1"}]},
        "filter": {"anoncreds": {"cred_def_id": definition["credential_definition_id"]}},
    });
    let path = "/issue-credential-2.0/send";
    let sent = issuer.post(path, &body.to_string()).await;
    stored(holder, &holders, &sent).await
}

/// What the holder's agent presents if somebody asks it this.
async fn presented(asker: &Agent, holder: &Agent, request: &Value, credential: &Value) -> Value {
    let [verifiers, holders] = asked(asker, holder, request).await;
    let path = format!("{holders}/send-presentation");
    holder.post(&path, &yes(&credential["referent"])).await;
    let received = |one: &Value| one["state"] == "presentation-received";
    let received = asker.until(&verifiers, received).await;
    received["by_format"]["pres"]["anoncreds"].clone()
}

/// The hospital's question, on a new connection: both sides' paths of the exchange.
async fn asked(hospital: &Agent, holder: &Agent, request: &Value) -> [String; 2] {
    let [verifiers, holders] = connected(hospital, holder).await;
    let body = json!({
        "connection_id": verifiers, "presentation_request": {"anoncreds": request},
    });
    let sent = hospital
        .post("/present-proof-2.0/send-request", &body.to_string())
        .await;
    let path = format!("/present-proof-2.0/records?connection_id={holders}");
    let received = awaited(holder, &path, |one| one["thread_id"] == sent["thread_id"]).await;
    [&sent, &received].map(|record| {
        let id = record["pres_ex_id"].as_str().unwrap();
        format!("/present-proof-2.0/records/{id}")
    })
}

/// Whether the holder may give blood to A+: a predicate, and no attribute.
fn question(cred_def_id: &Value) -> Value {
    json!({
        "name": "May this person give blood to A+?", "version": "1.0",
        "requested_attributes": {},
        "requested_predicates": {"may_give": {
            "name": "can_give_to.a_pos", "p_type": ">=", "p_value": 1,
            "restrictions": [{"cred_def_id": cred_def_id}],
        }},
    })
}

/// An answer to it with this credential.
fn yes(credential: &Value) -> String {
    let answer = json!({"anoncreds": {
        "requested_attributes": {},
        "requested_predicates": {"may_give": {"cred_id": credential}},
        "self_attested_attributes": {},
    }});
    answer.to_string()
}

#[tokio::test]
async fn a_question_is_answered_with_yes_and_no_value_is_shown() {
    let world = world().await;
    let [laboratory, hospital, anna, berta] = &world.agents[..] else {
        panic!("four agents");
    };
    let about = laboratory.get(&format!("/credential-types/{TYPE}")).await;
    let report = reported(laboratory, anna, "A Rh positive").await;
    assert_eq!(report["cred_def_id"], about["cred_def_id"]);
    let attributes = &report["attrs"];
    let shown = |name: &str| attributes[name].as_str().unwrap();
    assert_eq!(shown("blood_group"), "A Rh positive");
    assert_eq!(shown("patient.birth_date"), "19900101");
    assert_eq!(
        (shown("can_give_to.a_pos"), shown("can_give_to.o_neg")),
        ("1", "0")
    );
    let results: Value = serde_json::from_str(shown("results")).unwrap();
    assert_eq!(results[0]["name"], "Glucose");

    let question = question(&about["cred_def_id"]);
    let [verifiers, holders] = asked(hospital, anna, &question).await;
    let fit = anna.get(&format!("{holders}/credentials")).await;
    assert_eq!(fit[0]["cred_info"]["referent"], report["referent"]);
    let path = format!("{holders}/send-presentation");
    anna.post(&path, &yes(&report["referent"])).await;
    let received = |one: &Value| one["state"] == "presentation-received";
    hospital.until(&verifiers, received).await;
    let path = format!("{verifiers}/verify-presentation");
    let judged = hospital.post(&path, "").await;
    assert_eq!(judged["verified"], "true", "{judged}");
    // All that the hospital has.
    let presentation = &judged["by_format"]["pres"]["anoncreds"];
    assert_eq!(presentation["requested_proof"]["revealed_attrs"], json!({}));
    let proofs = presentation["proof"]["proofs"].as_array().unwrap();
    assert_eq!(proofs.len(), 1);
    let revealed = &proofs[0]["primary_proof"]["eq_proof"]["revealed_attrs"];
    assert_eq!(*revealed, json!({}));
    let everything = judged.to_string();
    for value in ["A Rh positive", "19900101", "Musterfrau"] {
        assert!(!everything.contains(value), "{value} in {everything}");
    }

    // Who may not give has nothing that answers, and no proof can be made by force.
    let report = reported(laboratory, berta, "B Rh positive").await;
    assert_eq!(report["attrs"]["can_give_to.a_pos"], "0");
    let [_, holders] = asked(hospital, berta, &question).await;
    assert_eq!(
        berta.get(&format!("{holders}/credentials")).await,
        json!([])
    );
    let path = format!("{holders}/send-presentation");
    let body = yes(&report["referent"]);
    let refused = berta.send(http::Method::POST, &path, &body).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
}

#[tokio::test]
async fn a_holder_who_cheats_with_another_type_another_answer_or_an_old_one_is_refused() {
    let world = world().await;
    let [laboratory, hospital, anna, berta] = &world.agents[..] else {
        panic!("four agents");
    };
    let about = laboratory.get(&format!("/credential-types/{TYPE}")).await;
    let report = reported(laboratory, anna, "A Rh positive").await;
    let question = question(&about["cred_def_id"]);
    let [verifiers, _] = asked(hospital, anna, &question).await;
    let asked = hospital.get(&verifiers).await;
    let asked = asked["by_format"]["pres_request"]["anoncreds"].clone();
    assert!(asked["nonce"].is_string(), "{asked}");
    let anoncreds = world.app.agents().anoncreds();
    let judged = async |answer: &Value| {
        let [asked, answer] = [&asked, answer].map(|one| one.to_string().into_bytes());
        anoncreds.verify(&asked, &answer).await.unwrap()
    };
    // Another verifier with the same nonce gets what answers the hospital.
    let honest = presented(laboratory, anna, &asked, &report).await;
    let verdict = judged(&honest).await;
    assert!(verdict.is_valid, "{verdict:?}");

    // Of a credential that somebody else issued.
    let mut unrestricted = asked.clone();
    unrestricted["requested_predicates"]["may_give"]["restrictions"] = json!([]);
    let invented = invented(anna, berta).await;
    let other = presented(laboratory, berta, &unrestricted, &invented).await;
    assert!(!judged(&other).await.is_valid, "another definition");
    let mut renamed = other;
    renamed["identifiers"] = honest["identifiers"].clone();
    assert!(!judged(&renamed).await.is_valid, "a renamed definition");

    // Of a report that says no.
    let mut weaker = asked.clone();
    weaker["requested_predicates"]["may_give"]["p_value"] = json!(0);
    let says_no = reported(laboratory, hospital, "B Rh positive").await;
    let weak = presented(laboratory, hospital, &weaker, &says_no).await;
    assert!(!judged(&weak).await.is_valid, "a weaker predicate");
    let mut altered = weak;
    let predicate = "/proof/proofs/0/primary_proof/ge_proofs/0/predicate/value";
    let value = altered.pointer_mut(predicate).expect("the predicate");
    assert_eq!(*value, json!(0));
    *value = json!(1);
    assert!(!judged(&altered).await.is_valid, "an altered predicate");

    // Of an earlier question.
    let mut earlier = asked.clone();
    earlier["nonce"] = json!("1234567890");
    let old = presented(laboratory, anna, &earlier, &report).await;
    assert!(!judged(&old).await.is_valid, "an old answer");
}

#[tokio::test]
async fn a_type_is_offered_only_with_claims_that_fit_and_once_the_registry_has_it() {
    let world = world().await;
    let [laboratory, _, anna, _] = &world.agents[..] else {
        panic!("four agents");
    };
    let [issuers, _] = connected(laboratory, anna).await;
    let sent = async |id: &str, claims: Value| {
        let body = json!({"connection_id": issuers, "claims": claims, "examples": true});
        let path = format!("/credential-types/{id}/send");
        laboratory
            .send(http::Method::POST, &path, &body.to_string())
            .await
    };
    let unknown = sent(TYPE, json!({"shoe": 44})).await;
    assert_eq!(unknown.status, StatusCode::BAD_REQUEST);
    assert!(unknown.body.contains("shoe"), "{}", unknown.body);
    let contrary = json!({"can_give_to": {"o_neg": true}, "blood_group": "A Rh positive"});
    let contrary = sent(TYPE, contrary).await;
    assert_eq!(contrary.status, StatusCode::BAD_REQUEST);
    publish(&world, false, "paper-report").await;
    let unpublished = sent("paper-report", json!({})).await;
    assert_eq!(unpublished.status, StatusCode::BAD_REQUEST);
    assert!(
        unpublished.body.contains("credential definition"),
        "{}",
        unpublished.body
    );
    let absent = sent("membership", json!({})).await;
    assert_eq!(absent.status, StatusCode::NOT_FOUND);
}
