//! What is issued and proven, and where foreign agents are.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use selfsame_bench::Error;
use selfsame_bench::client::BenchClient;
use serde_json::{Map, Value, json};
use tokio::time::sleep;

use crate::scenario::{IssuerMaterial, StoryOffer, text};

/// The attributes of a vaccination, with the study's values.
const VACCINATION: [(&str, &str); 7] = [
    ("vaccine", "SARS-CoV2 - COVID 19"),
    ("manufacturer", "Pfizer"),
    ("lot", "123456"),
    ("date", "20211221"),
    ("vaccination_site_name", "UBS Porto Feliz"),
    ("vaccination_site_state", "SP"),
    ("vaccination_site_country", "BR"),
];

/// The attributes of a prescription, with the study's values.
const PRESCRIPTION: [(&str, &str); 5] = [
    ("medication_name", "Pantoprazol"),
    ("medication_dose", "40mg"),
    ("medication_quantity", "60"),
    ("cid", "G.888"),
    ("expiration", "20220901"),
];

/// How many attributes of a type a verifier asks for.
const SHOWN: usize = 3;

/// What is issued in a run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// A vaccination, which is not revocable.
    Vaccination,
    /// A prescription that can be revoked, with a proof that it is not; by the size of its registries.
    Prescription(u32),
}

/// Foreign agents, by the URLs of their admin APIs.
#[derive(Clone, Debug)]
pub struct ForeignAgents {
    /// The issuer's. Its wallet has a public DID that may write to its ledger.
    pub issuer: String,
    /// The verifier's.
    pub verifier: String,
    /// The holder's.
    pub holder: String,
}

/// Publishes the schema and the credential definition, and says what is issued and proven.
pub async fn material(issuer: &BenchClient, kind: Kind) -> Result<IssuerMaterial, Error> {
    let (name, attributes) = match kind {
        Kind::Vaccination => ("vaccination", &VACCINATION[..]),
        Kind::Prescription(_) => ("prescription", &PRESCRIPTION[..]),
    };
    let names: Vec<&str> = attributes.iter().map(|(name, _)| *name).collect();
    let schema = json!({"schema_name": name, "schema_version": "1.0", "attributes": names});
    let schema = patient(issuer, "/schemas", schema).await?;
    let schema_id = text(&schema, "schema_id")?;
    let mut definition = json!({"schema_id": schema_id, "tag": name, "support_revocation": false});
    if let Kind::Prescription(size) = kind {
        definition["support_revocation"] = json!(true);
        definition["revocation_registry_size"] = json!(size);
    }
    let definition = patient(issuer, "/credential-definitions", definition).await?;
    let cred_def_id = text(&definition, "credential_definition_id")?;
    let request = request(kind, &schema_id);
    let value = |(name, value): &(&str, &str)| json!({"name": name, "value": value});
    Ok(IssuerMaterial {
        request,
        schema_id,
        cred_def_id,
        offered: StoryOffer::Attributes(attributes.iter().map(value).collect()),
    })
}

/// What is issued and proven of a type that the issuer's organisation has published: its examples, of which the verifier
/// sees three attributes.
pub async fn material_of_type(
    issuer: &BenchClient,
    id: &'static str,
) -> Result<IssuerMaterial, Error> {
    let about = issuer.get(&format!("/credential-types/{id}"), "").await?;
    let cred_def_id = text(&about, "cred_def_id")?;
    let names = about["attributes"].as_array().into_iter().flatten();
    let asked = |(number, name): (usize, &Value)| {
        let restrictions = json!([{"cred_def_id": cred_def_id}]);
        let asked = json!({"name": name, "restrictions": restrictions});
        (format!("attr{}", number + 1), asked)
    };
    let attributes: Map<String, Value> = names.take(SHOWN).enumerate().map(asked).collect();
    Ok(IssuerMaterial {
        request: json!({
            "name": id, "version": "1.0",
            "requested_attributes": attributes,
            "requested_predicates": {},
            "non_revoked": {"to": seconds()},
        }),
        schema_id: text(&about, "schema_id")?,
        offered: StoryOffer::Type(id),
        cred_def_id,
    })
}

/// Calls until the agent is there.
async fn patient(agent: &BenchClient, path: &str, body: Value) -> Result<Value, Error> {
    for _ in 0..50 {
        if let Ok(answer) = agent.post(path, "", &body).await {
            return Ok(answer);
        }
        sleep(Duration::from_millis(100)).await;
    }
    agent.post(path, "", &body).await
}

/// The study's presentation requests.
pub fn request(kind: Kind, schema_id: &str) -> Value {
    let of = |name: &str| json!({"name": name, "restrictions": [{"schema_id": schema_id}]});
    let with = |name: &str, value: &str| {
        let marker = format!("attr::{name}::value");
        json!({"name": name, "restrictions": [{"schema_id": schema_id, marker: value}]})
    };
    let atleast = |name: &str, bound: i32| {
        json!({"pred1": {
            "name": name, "p_type": ">=", "p_value": bound,
            "restrictions": [{"schema_id": schema_id}],
        }})
    };
    match kind {
        Kind::Vaccination => json!({
            "name": "Immunization", "nonce": "1", "version": "1.0",
            "requested_attributes": {
                "attr1": with("vaccine", "SARS-CoV2 - COVID 19"),
                "attr2": with("vaccination_site_country", "BR"),
                "attr3": of("manufacturer"),
            },
            "requested_predicates": atleast("date", 20_210_901),
        }),
        Kind::Prescription(_) => json!({
            "name": "Prescription", "nonce": "1", "version": "1.0",
            "requested_attributes": {
                "attr1": with("medication_name", "Pantoprazol"),
                "attr2": of("medication_dose"),
                "attr3": of("medication_quantity"),
            },
            "requested_predicates": atleast("expiration", 20_220_301),
            "non_revoked": {"to": seconds()},
        }),
    }
}

/// The time, in seconds since 1970.
#[expect(
    clippy::disallowed_methods,
    reason = "a proof of non-revocation is about now"
)]
fn seconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs() + 3600)
}
