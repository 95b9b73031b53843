//! Three Aries agents of one process, driven by their admin APIs with the calls of the healthcare study's plans.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use url::Url;

use crate::http::Request;
use crate::instance::free_port;
use crate::rig::World;

/// How long a record may take to come to a state.
const PATIENCE: Duration = Duration::from_secs(60);

/// The admin API of an agent.
pub struct AgentApi {
    admin: Url,
}

/// What an agent does by itself in the study: holders request what they are offered.
pub const HOLDER: &str = "auto_respond_credential_offer = true\n";

impl AgentApi {
    /// Answers with JSON after success. The bodies are those of the plans: JSON, or empty with a content type of JSON.
    #[track_caller]
    fn call(&self, method: &'static str, path: &str, body: &str) -> Value {
        let url = self.admin.join(path).unwrap();
        let request = Request::new(method, &url).body("application/json", body);
        let reply = request.send().unwrap();
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        assert_eq!(reply.status, 200, "{method} {path}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    #[track_caller]
    pub fn get(&self, path: &str) -> Value {
        self.call("GET", path, "")
    }

    #[track_caller]
    pub fn post(&self, path: &str, body: &Value) -> Value {
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        self.call("POST", path, &body)
    }

    /// The first result of a list that fits, once there is one.
    #[track_caller]
    pub fn awaited(&self, path: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        loop {
            let listed = self.get(path);
            let results = listed["results"].as_array().unwrap();
            if let Some(found) = results.iter().find(|one| fits(one)) {
                return found.clone();
            }
            assert!(began.elapsed() < PATIENCE, "{path}: {listed}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// An instance with an agent for each of these organisations, which have these further settings.
pub fn agents(organisations: &[(&str, &str)]) -> (World, Vec<AgentApi>) {
    let mut text = String::new();
    let mut apis = Vec::new();
    for (organisation, further) in organisations {
        let (admin, inbound) = (free_port(), free_port());
        text.push_str(&format!(
            "[[agents]]\norganisation = \"{organisation}\"\nlabel = \"{organisation}\"\n\
             admin = \"127.0.0.1:{admin}\"\nadmin_insecure_mode = true\n\
             inbound = \"127.0.0.1:{inbound}\"\n{further}"
        ));
        let admin = format!("http://127.0.0.1:{admin}/").parse().unwrap();
        apis.push(AgentApi { admin });
    }
    (World::configured(&text, &[]), apis)
}

/// Calls 1 to 3 of the plans, and 7 to 9: the holder's identifier of the connection and the inviter's.
pub fn connect(inviter: &AgentApi, holder: &AgentApi) -> (String, String) {
    let path = "/connections/create-invitation?alias=Pacientes&auto_accept=true";
    let made = inviter.post(path, &json!({}));
    let taken = holder.post("/connections/receive-invitation", &made["invitation"]);
    let id = taken["connection_id"].as_str().unwrap().to_owned();
    holder.post(
        &format!("/connections/{id}/accept-invitation"),
        &Value::Null,
    );
    let inviters = made["connection_id"].as_str().unwrap().to_owned();
    (id, inviters)
}

#[test]
fn the_calls_of_the_studys_plans_issue_and_prove() {
    let (world, apis) = agents(&[("clinic", ""), ("holder", HOLDER), ("border", "")]);
    let [issuer, holder, verifier] = &apis[..] else {
        panic!("three agents");
    };
    let names = [
        "vaccine",
        "date",
        "manufacturer",
        "vaccination_site_country",
    ];
    let schema = issuer.post(
        "/schemas",
        &json!({"schema_name": "vaccination", "schema_version": "1.0", "attributes": names}),
    );
    let schema_id = schema["schema_id"].as_str().unwrap();
    let definition = issuer.post(
        "/credential-definitions",
        &json!({"schema_id": schema_id, "tag": "vaccination", "support_revocation": false}),
    );
    let definition_id = definition["credential_definition_id"].as_str().unwrap();
    let public = issuer.get("/wallet/did/public");

    let (connection, issuers) = connect(issuer, holder);
    let values = ["SARS-CoV2 - COVID 19", "20211205", "Pfizer", "BR"];
    let attributes: Vec<_> = names
        .iter()
        .zip(values)
        .map(|(name, value)| json!({"name": name, "value": value}))
        .collect();
    let sent = issuer.post(
        "/issue-credential-2.0/send",
        &json!({
            "auto_remove": true,
            "comment": "vaccination",
            "connection_id": issuers,
            "credential_preview": {
                "@type": "issue-credential/2.0/credential-preview",
                "attributes": attributes,
            },
            "filter": {"indy": {
                "cred_def_id": definition_id,
                "issuer_did": public["result"]["did"],
                "schema_id": schema_id,
                "schema_name": "vaccination",
                "schema_version": "1.0",
            }},
            "trace": false,
        }),
    );
    let thread = sent["thread_id"].as_str().unwrap();
    let records = format!("/issue-credential-2.0/records?connection_id={connection}");
    let received = holder.awaited(&records, |one| {
        let record = &one["cred_ex_record"];
        record["thread_id"] == thread && record["state"] == "credential-received"
    });
    let id = received["cred_ex_record"]["cred_ex_id"].as_str().unwrap();
    holder.post(
        &format!("/issue-credential-2.0/records/{id}/store"),
        &Value::Null,
    );

    let (connection, verifiers) = connect(verifier, holder);
    let by_schema = json!([{ "schema_id": schema_id }]);
    let asked = verifier.post(
        "/present-proof-2.0/send-request",
        &json!({
            "comment": "proof",
            "connection_id": verifiers,
            "presentation_request": {"indy": {
                "name": "Proof of vaccination",
                "nonce": "1",
                "version": "1.0",
                "requested_attributes": {
                    "attr1": {"name": "vaccine", "restrictions": by_schema},
                    "attr2": {"name": "vaccination_site_country", "restrictions": by_schema},
                    "attr3": {"name": "manufacturer", "restrictions": by_schema},
                },
                "requested_predicates": {
                    "pred1": {
                        "name": "date", "p_type": ">=", "p_value": 20210901,
                        "restrictions": by_schema,
                    },
                },
            }},
            "trace": false,
        }),
    );
    let thread = asked["thread_id"].as_str().unwrap();
    let verifiers = asked["pres_ex_id"].as_str().unwrap();
    let records = format!("/present-proof-2.0/records?connection_id={connection}");
    let request = holder.awaited(&records, |one| one["thread_id"] == thread);
    let id = request["pres_ex_id"].as_str().unwrap();
    let fit = holder.get(&format!(
        "/present-proof-2.0/records/{id}/credentials?count=5"
    ));
    let referent = fit[0]["cred_info"]["referent"].as_str().unwrap();
    let shown = json!({"cred_id": referent, "revealed": true});
    holder.post(
        &format!("/present-proof-2.0/records/{id}/send-presentation"),
        &json!({
            "indy": {
                "requested_attributes": {"attr1": shown, "attr2": shown, "attr3": shown},
                "requested_predicates": {"pred1": shown},
                "self_attested_attributes": {},
                "trace": false,
            },
            "trace": false,
        }),
    );
    verifier.awaited("/present-proof-2.0/records", |one| {
        one["pres_ex_id"] == verifiers && one["state"] == "presentation-received"
    });
    let path = format!("/present-proof-2.0/records/{verifiers}/verify-presentation");
    let verified = verifier.post(&path, &Value::Null);
    assert_eq!(verified["verified"], "true", "{verified}");
    for flow in ["issue-credential", "present-proof"] {
        let figures = world.operator.send("GET", "/metrics", None).unwrap();
        let figures = String::from_utf8(figures.body).unwrap();
        let ended = format!("selfsame_flows_ended_total{{flow=\"{flow}\",result=\"done\"}}");
        assert!(figures.contains(&ended), "{flow}: {figures}");
    }
}
