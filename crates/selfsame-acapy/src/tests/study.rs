//! The calls of the healthcare study's plans: a vaccination is issued and proven.

use serde_json::{Value, json};

use super::connecting::connected;
use super::world::{Agent, World};

const NAMES: [&str; 4] = [
    "vaccine",
    "date",
    "manufacturer",
    "vaccination_site_country",
];
pub const VALUES: [&str; 4] = ["SARS-CoV2 - COVID 19", "20211205", "Pfizer", "BR"];

/// What an issuer has published.
pub struct Published {
    pub schema: String,
    pub definition: String,
}

/// Three agents; the holder requests what it is offered.
pub async fn three() -> World {
    World::with(&["clinic", "holder", "border"], |settings| {
        let is_holder = settings.organisation == "holder";
        settings.terms.settings.auto_respond_credential_offer = is_holder;
        settings.terms.settings.preserve_exchange_records = true;
    })
    .await
}

/// The schema and the credential definition of a vaccination.
pub async fn published(issuer: &Agent, revocable: bool) -> Published {
    let body = json!({
        "schema_name": "vaccination", "schema_version": "1.0", "attributes": NAMES,
    });
    let schema = issuer.post("/schemas", &body.to_string()).await;
    let schema = schema["schema_id"].as_str().unwrap().to_owned();
    let body = json!({
        "schema_id": schema, "tag": "vaccination",
        "support_revocation": revocable, "revocation_registry_size": 10,
    });
    let made = issuer
        .post("/credential-definitions", &body.to_string())
        .await;
    let definition = made["credential_definition_id"]
        .as_str()
        .unwrap()
        .to_owned();
    Published { schema, definition }
}

/// The attributes of a vaccination.
pub fn attributes() -> Value {
    let values = NAMES.iter().zip(VALUES);
    let attributes = values.map(|(name, value)| json!({"name": name, "value": value}));
    Value::Array(attributes.collect())
}

/// The body of an offer on this connection.
pub fn offered(connection: &str, published: &Published) -> Value {
    json!({
        "auto_remove": true,
        "comment": "vaccination",
        "connection_id": connection,
        "credential_preview": {
            "@type": "issue-credential/2.0/credential-preview",
            "attributes": attributes(),
        },
        "filter": {"indy": {
            "cred_def_id": published.definition,
            "schema_id": published.schema,
            "schema_name": "vaccination",
            "schema_version": "1.0",
        }},
        "trace": false,
    })
}

/// The first result of a list that fits, once there is one.
pub async fn awaited(agent: &Agent, path: &str, fits: impl Fn(&Value) -> bool) -> Value {
    let found = |listed: &Value| listed["results"].as_array().unwrap().iter().any(&fits);
    let listed = agent.until(path, found).await;
    let mut results = listed["results"].as_array().unwrap().iter();
    results.find(|one| fits(one)).unwrap().clone()
}

/// A credential that was issued and stored.
pub struct IssuedCredential {
    /// The connection's identifiers at the issuer and at the holder.
    pub connections: [String; 2],
    /// What the issuer was answered with, and the holder.
    pub sent: Value,
    pub stored: Value,
}

/// Issues a credential, which the holder stores.
pub async fn issued(issuer: &Agent, holder: &Agent, published: &Published) -> IssuedCredential {
    let connections = connected(issuer, holder).await;
    let [issuers, holders] = &connections;
    let body = offered(issuers, published);
    let sent = issuer
        .post("/issue-credential-2.0/send", &body.to_string())
        .await;
    assert_eq!(sent["state"], "offer-sent");
    let path = format!("/issue-credential-2.0/records?connection_id={holders}");
    let received = awaited(holder, &path, |one| {
        one["cred_ex_record"]["thread_id"] == sent["thread_id"]
            && one["cred_ex_record"]["state"] == "credential-received"
    });
    let id = received.await["cred_ex_record"]["cred_ex_id"].clone();
    let id = id.as_str().unwrap();
    let stored = holder
        .post(&format!("/issue-credential-2.0/records/{id}/store"), "")
        .await;
    assert_eq!(stored["cred_ex_record"]["state"], "done");
    IssuedCredential {
        connections,
        sent,
        stored,
    }
}

/// Three attributes and a predicate, as the plans ask for them.
pub fn request(published: &Published) -> Value {
    let by_schema = json!([{ "schema_id": published.schema }]);
    json!({
        "name": "Proof of vaccination",
        "nonce": "1",
        "version": "1.0",
        "requested_attributes": {
            "attr1": {"name": "vaccine", "restrictions": by_schema},
            "attr2": {"name": "vaccination_site_country", "restrictions": by_schema},
            "attr3": {"name": "manufacturer", "restrictions": by_schema},
        },
        "requested_predicates": {"pred1": {
            "name": "date", "p_type": ">=", "p_value": 20_210_901, "restrictions": by_schema,
        }},
    })
}

/// What `verify-presentation` answers after the holder has presented its first credential.
pub async fn proven(verifier: &Agent, holder: &Agent, request: &Value) -> Value {
    let all = |shown: &Value| {
        json!({
            "requested_attributes": {"attr1": shown, "attr2": shown, "attr3": shown},
            "requested_predicates": {"pred1": shown},
            "self_attested_attributes": {},
            "trace": false,
        })
    };
    judged(verifier, holder, request, all).await
}

/// The same after the holder has shown this of it.
async fn judged(
    verifier: &Agent,
    holder: &Agent,
    request: &Value,
    shows: impl Fn(&Value) -> Value,
) -> Value {
    let [verifiers, holders] = connected(verifier, holder).await;
    let body = json!({
        "comment": "proof",
        "connection_id": verifiers,
        "presentation_request": {"indy": request},
        "trace": false,
    });
    let asked = verifier
        .post("/present-proof-2.0/send-request", &body.to_string())
        .await;
    let path = format!("/present-proof-2.0/records?connection_id={holders}");
    let thread = &asked["thread_id"];
    let found = awaited(holder, &path, |one| one["thread_id"] == *thread).await;
    let id = found["pres_ex_id"].as_str().unwrap();
    let path = format!("/present-proof-2.0/records/{id}/credentials?count=5");
    let fit = holder.get(&path).await;
    let referent = fit[0]["cred_info"]["referent"].as_str().unwrap();
    let shown = shows(&json!({"cred_id": referent, "revealed": true}));
    let body = json!({"indy": shown, "trace": false});
    let path = format!("/present-proof-2.0/records/{id}/send-presentation");
    holder.post(&path, &body.to_string()).await;
    let id = asked["pres_ex_id"].as_str().unwrap();
    let path = format!("/present-proof-2.0/records/{id}");
    verifier
        .until(&path, |one| one["state"] == "presentation-received")
        .await;
    verifier
        .post(&format!("{path}/verify-presentation"), "")
        .await
}

#[tokio::test]
async fn the_calls_of_the_plans_issue_and_prove_a_vaccination() {
    let world = three().await;
    let [issuer, holder, verifier] = &world.agents[..] else {
        panic!("three agents");
    };
    let published = published(issuer, false).await;
    let issued = issued(issuer, holder, &published).await;
    assert!(issued.sent.get("detail").is_none());
    let held = holder.get("/credentials").await;
    let detail = &issued.stored["indy"];
    assert_eq!(
        detail["cred_id_stored"], held["results"][0]["referent"],
        "{detail}"
    );
    assert_eq!(
        detail["cred_ex_id"],
        issued.stored["cred_ex_record"]["cred_ex_id"]
    );
    assert!(issued.stored["anoncreds"].is_null());
    assert_eq!(held["results"][0]["attrs"]["vaccine"], VALUES[0]);
    assert_eq!(held["results"][0]["schema_id"], published.schema.as_str());
    let verified = proven(verifier, holder, &request(&published)).await;
    assert_eq!(verified["verified"], "true", "{verified}");
    let schemas = issuer.get("/schemas/created?schema_name=vaccination").await;
    assert_eq!(schemas["schema_ids"], json!([published.schema]));
    let path = format!("/schemas/{}", published.schema.replace('/', "%2F"));
    let shown = verifier.get(&path).await;
    assert_eq!(shown["schema"]["attrNames"].as_array().unwrap().len(), 4);
    let path = "/credential-definitions/created";
    let made = issuer.get(path).await;
    assert_eq!(
        made["credential_definition_ids"],
        json!([published.definition])
    );
    assert_eq!(
        holder.get(path).await["credential_definition_ids"],
        json!([])
    );
}

#[tokio::test]
async fn a_presentation_without_a_predicate_that_was_asked_for_is_sent_and_found_false() {
    let world = three().await;
    let [issuer, holder, verifier] = &world.agents[..] else {
        panic!("three agents");
    };
    let published = published(issuer, false).await;
    issued(issuer, holder, &published).await;
    let names = ["vaccine", "manufacturer", "vaccination_site_country"];
    let request = json!({
        "name": "Proof of vaccination",
        "nonce": "1",
        "version": "1.0",
        "requested_attributes": {"all": {"names": names, "restrictions": [{
            "schema_id": published.schema,
            "attr::vaccine::value": VALUES[0],
        }]}},
        "requested_predicates": {"all": {"name": "date", "p_type": ">=", "p_value": 20_210_801}},
    });
    let without = |shown: &Value| {
        json!({
            "requested_attributes": {"all": shown},
            "requested_predicates": {},
            "self_attested_attributes": {},
        })
    };
    let verdict = judged(verifier, holder, &request, without).await;
    assert_eq!(verdict["verified"], "false", "{verdict}");
    let with = |shown: &Value| {
        json!({
            "requested_attributes": {"all": shown},
            "requested_predicates": {"all": shown},
            "self_attested_attributes": {},
        })
    };
    let verdict = judged(verifier, holder, &request, with).await;
    assert_eq!(verdict["verified"], "true", "{verdict}");
}
