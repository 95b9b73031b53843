//! What a prover proposes in version 1.0 (RFC 0037, "Presentation Preview"), and the request that answers it.

use selfsame_aries::exchange::Formatted;
use selfsame_aries::present_proof::PREVIEW;
use selfsame_crypto::ctx::Ctx;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A proposal of version 1.0.
#[derive(Deserialize)]
struct ProofPreview {
    #[serde(default)]
    attributes: Vec<PreviewedAttribute>,
    #[serde(default)]
    predicates: Vec<PreviewedPredicate>,
}

#[derive(Deserialize)]
struct PreviewedAttribute {
    name: String,
    cred_def_id: Option<String>,
    value: Option<String>,
    /// Attributes with the same referent are of the same credential.
    referent: Option<String>,
}

#[derive(Deserialize)]
struct PreviewedPredicate {
    name: String,
    cred_def_id: Option<String>,
    predicate: String,
    threshold: i64,
}

/// The proposal of a controller, as a message carries it.
#[must_use]
pub fn previewed(preview: &Map<String, Value>) -> Formatted {
    let mut preview = preview.clone();
    let kind = || json!(format!("https://didcomm.org/{PREVIEW}"));
    preview.entry("@type").or_insert_with(kind);
    Formatted {
        attach_id: "preview".to_owned(),
        format: PREVIEW.to_owned(),
        bytes: Some(Value::Object(preview).to_string().into_bytes()),
    }
}

/// A request with a nonce (AnonCreds v1.0, "Presentation Request").
///
/// # Errors
/// If it is no object.
pub fn with_nonce(request: &Value, ctx: &Ctx) -> Result<Vec<u8>, serde_json::Error> {
    let mut request: Map<String, Value> = serde_json::from_value(request.clone())?;
    if request.get("nonce").is_none_or(Value::is_null) {
        request.insert("nonce".to_owned(), Value::String(nonce(ctx)));
    }
    serde_json::to_vec(&request)
}

/// A nonce of 80 bits, in decimal (AnonCreds v1.0, "Presentation Request").
fn nonce(ctx: &Ctx) -> String {
    let bytes = ctx.random::<10>("aries/nonce");
    let number = bytes
        .iter()
        .fold(0_u128, |number, byte| (number << 8) | u128::from(*byte));
    number.to_string()
}

/// The request for what a proposal says.
///
/// # Errors
/// If it is no proposal.
pub fn request_of(preview: &[u8]) -> Result<Value, serde_json::Error> {
    let ProofPreview {
        attributes,
        predicates,
    } = serde_json::from_value(Value::Object(serde_json::from_slice(preview)?))?;
    let (mut single, mut groups) = (Map::new(), Map::new());
    for (place, one) in attributes.into_iter().enumerate() {
        match one.referent.clone() {
            Some(referent) => one.join(groups.entry(referent).or_insert_with(group)),
            None => {
                let key = format!("{place}_{}_uuid", one.name);
                single.insert(key, one.alone());
            }
        }
    }
    single.extend(groups);
    let predicates = predicates.into_iter().enumerate().map(|(place, one)| {
        let key = format!("{place}_{}_{}_uuid", one.name, one.predicate);
        (key, one.asked())
    });
    Ok(json!({
        "name": "proof-request",
        "version": "1.0",
        "requested_attributes": single,
        "requested_predicates": Value::Object(predicates.collect()),
    }))
}

/// Attributes of one credential, before the first of them.
fn group() -> Value {
    json!({ "names": [], "restrictions": [{}] })
}

impl PreviewedAttribute {
    /// What restricts the credential.
    fn restriction(&self) -> Map<String, Value> {
        let mut restriction = Map::new();
        if let Some(definition) = &self.cred_def_id {
            restriction.insert("cred_def_id".to_owned(), json!(definition));
        }
        if let Some(value) = &self.value {
            restriction.insert(format!("attr::{}::value", self.name), json!(value));
        }
        restriction
    }

    fn alone(self) -> Value {
        let restriction = self.restriction();
        match restriction.is_empty() {
            true => json!({ "name": self.name }),
            false => json!({ "name": self.name, "restrictions": [restriction] }),
        }
    }

    /// Adds it to those of the same credential.
    fn join(self, group: &mut Value) {
        if let Some(names) = group["names"].as_array_mut() {
            names.push(json!(self.name));
        }
        let first = group["restrictions"].get_mut(0);
        if let Some(restriction) = first.and_then(Value::as_object_mut) {
            restriction.extend(self.restriction());
        }
    }
}

impl PreviewedPredicate {
    fn asked(self) -> Value {
        let mut asked = json!({
            "name": self.name,
            "p_type": self.predicate,
            "p_value": self.threshold,
        });
        if let Some(definition) = self.cred_def_id {
            asked["restrictions"] = json!([{ "cred_def_id": definition }]);
        }
        asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proposal_of_version_one_becomes_a_request() {
        let preview = json!({
            "attributes": [
                {"name": "vaccine", "cred_def_id": "did:example:1/definition", "value": "A"},
                {"name": "date", "referent": "card"},
                {"name": "lot", "referent": "card", "cred_def_id": "did:example:1/definition"},
                {"name": "note"},
            ],
            "predicates": [{"name": "age", "predicate": ">=", "threshold": 18}],
        });
        let request = request_of(preview.to_string().as_bytes()).unwrap();
        let asked = &request["requested_attributes"];
        assert_eq!(
            asked["0_vaccine_uuid"]["restrictions"][0]["attr::vaccine::value"],
            "A"
        );
        assert_eq!(asked["card"]["names"], json!(["date", "lot"]));
        assert_eq!(
            asked["card"]["restrictions"][0]["cred_def_id"],
            "did:example:1/definition"
        );
        assert_eq!(asked["3_note_uuid"], json!({"name": "note"}));
        let predicate = &request["requested_predicates"]["0_age_>=_uuid"];
        assert_eq!(predicate["p_value"], 18);
        assert!(request_of(b"[]").is_err());
        assert!(request_of(br#"{"attributes":[{}]}"#).is_err());
    }
}
