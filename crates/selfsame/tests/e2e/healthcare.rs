//! The sample types for healthcare, each as one type of an organisation: issued and shown over OpenID, and issued and proven
//! over DIDComm.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::agents::{AgentApi, HOLDER, agents, connect};
use crate::http::Api;
use crate::rig::{answer, get, post, put, take, text, verdict};

/// The attribute with the date of birth, which all of them have.
const BORN: &str = "patient.birth_date";

const TYPES: [&str; 6] = [
    "allergies",
    "clinical-notes",
    "immunization",
    "laboratory-results",
    "prescription",
    "procedures",
];

/// A type of the organisation that is as a sample, once the registry has its definition. Returns what its file says.
fn published(operator: &Api, sample: &str) -> Value {
    let mut definition = get(operator, &format!("/api/types/{sample}"))["definition"].take();
    let id = format!("clinic-{sample}");
    let path = format!("/api/types/{id}");
    definition["id"] = json!(id);
    definition.as_object_mut().unwrap().remove("w3c_types");
    definition["formats"] = json!(["dc+sd-jwt", "vc+jwt", "anoncreds"]);
    put(operator, &path, &definition);
    post(operator, &format!("{path}/publish"), &json!({}));
    let began = Instant::now();
    loop {
        let shown = get(operator, &path);
        if shown["anoncreds"]["state"] == "published" {
            return definition;
        }
        assert!(began.elapsed() < Duration::from_secs(120), "{shown}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A credential of the type is offered, taken, requested and shown over OpenID.
#[track_caller]
fn over_openid(operator: &Api, person: &Api, id: &str) {
    let offer = json!({"type": id, "examples": true});
    let offer = post(operator, "/api/issuer/offers", &offer);
    assert_eq!(take(person, &offer).len(), 1, "{id}");
    let asked = post(operator, "/api/verifier/requests", &json!({"type": id}));
    answer(person, &asked);
    let status = verdict(operator, &asked);
    assert_eq!(status["verdict"]["outcome"], "valid", "{id}: {status}");
}

/// The agents of the issuer, of a holder and of a verifier.
struct Three<'a> {
    issuer: &'a AgentApi,
    holder: &'a AgentApi,
    verifier: &'a AgentApi,
}

impl Three<'_> {
    /// A credential of the type is offered, issued and kept. Returns the holder's identifier of it.
    #[track_caller]
    fn issued(&self, id: &str) -> String {
        let (connection, issuers) = connect(self.issuer, self.holder);
        let body = json!({"connection_id": issuers, "examples": true});
        let sent = self
            .issuer
            .post(&format!("/credential-types/{id}/send"), &body);
        let thread = text(&sent, "thread_id");
        let records = format!("/issue-credential-2.0/records?connection_id={connection}");
        let received = self.holder.awaited(&records, |one| {
            let record = &one["cred_ex_record"];
            record["thread_id"] == thread.as_str() && record["state"] == "credential-received"
        });
        let exchange = text(&received["cred_ex_record"], "cred_ex_id");
        let path = format!("/issue-credential-2.0/records/{exchange}/store");
        let stored = self.holder.post(&path, &Value::Null);
        text(&stored["anoncreds"], "cred_id_stored")
    }

    /// The holder proves these attributes with the credential, and that its subject was born before 2008. Returns what the
    /// verifier saw, by attribute.
    #[track_caller]
    fn proven(&self, credential: &str, request: &Value) -> Map<String, Value> {
        let (connection, verifiers) = connect(self.verifier, self.holder);
        let body = json!({
            "connection_id": verifiers, "presentation_request": {"anoncreds": request},
        });
        let asked = self.verifier.post("/present-proof-2.0/send-request", &body);
        let records = format!("/present-proof-2.0/records?connection_id={connection}");
        let thread = text(&asked, "thread_id");
        let received = self
            .holder
            .awaited(&records, |one| one["thread_id"] == thread.as_str());
        let shown = json!({"cred_id": credential, "revealed": true});
        let names = request["requested_attributes"].as_object().unwrap().keys();
        let attributes: Map<_, _> = names.map(|name| (name.clone(), shown.clone())).collect();
        let path = format!(
            "/present-proof-2.0/records/{}/send-presentation",
            text(&received, "pres_ex_id")
        );
        let body = json!({"anoncreds": {
            "requested_attributes": attributes,
            "requested_predicates": {"adult": {"cred_id": credential}},
            "self_attested_attributes": {},
        }});
        self.holder.post(&path, &body);
        let exchange = text(&asked, "pres_ex_id");
        self.verifier.awaited("/present-proof-2.0/records", |one| {
            one["pres_ex_id"] == exchange.as_str() && one["state"] == "presentation-received"
        });
        let path = format!("/present-proof-2.0/records/{exchange}/verify-presentation");
        let judged = self.verifier.post(&path, &Value::Null);
        assert_eq!(judged["verified"], "true", "{judged}");
        let proof = &judged["by_format"]["pres"]["anoncreds"]["requested_proof"];
        proof["revealed_attrs"].as_object().unwrap().clone()
    }
}

/// The type's typical request, by the names of its attributes.
fn asked(definition: &Value, cred_def_id: &str) -> Value {
    let of = json!([{ "cred_def_id": cred_def_id }]);
    let claims = definition["requests"][0]["claims"].as_array().unwrap();
    let name = |path: &Value| {
        let names = path.as_array().unwrap().iter();
        let names: Vec<_> = names.map(|name| name.as_str().unwrap()).collect();
        names.join(".")
    };
    let attribute = |name: String| (name.clone(), json!({"name": name, "restrictions": of}));
    // The predicate compares the date of birth, so it is not shown too.
    let names = claims.iter().map(name).filter(|name| name != BORN);
    let attributes: Map<_, _> = names.map(attribute).collect();
    json!({
        "name": "Typical", "version": "1.0",
        "requested_attributes": attributes,
        "requested_predicates": {"adult": {
            "name": BORN, "p_type": "<", "p_value": 20_080_101,
            "restrictions": of,
        }},
    })
}

#[test]
fn each_healthcare_type_is_issued_and_proven_over_openid_and_over_didcomm() {
    let (world, apis) = agents(&[("main", ""), ("patient", HOLDER), ("pharmacy", "")]);
    let [issuer, holder, verifier] = &apis[..] else {
        panic!("three agents");
    };
    let three = Three {
        issuer,
        holder,
        verifier,
    };
    let person = world.person("maja");
    for sample in TYPES {
        let definition = published(&world.operator, sample);
        let id = &text(&definition, "id");
        over_openid(&world.operator, &person, id);
        let about = issuer.get(&format!("/credential-types/{id}"));
        let credential = three.issued(id);
        let request = asked(&definition, &text(&about, "cred_def_id"));
        let seen = three.proven(&credential, &request);
        let claims = definition["claims"].as_array().unwrap();
        let texts = claims.iter().filter(|claim| claim["kind"] == "text");
        let mut compared = 0;
        for claim in texts {
            let path = claim["path"].as_array().unwrap().iter();
            let path: Vec<_> = path.map(|name| name.as_str().unwrap()).collect();
            if let Some(shown) = seen.get(&path.join(".")) {
                assert_eq!(shown["raw"], claim["example"], "{id}: {path:?}");
                compared += 1;
            }
        }
        assert!(compared > 0, "{id}: {seen:?}");
    }
}
