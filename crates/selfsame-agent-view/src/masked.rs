//! Messages without what is secret or unreadable: the values of members that are known to be harmless stay, and every
//! other value is replaced by its length.

use serde_json::{Map, Value, json};

/// The member with the secret by which a credential is used up.
pub(crate) const HANDLE: &str = "single_use_handle";
/// What the members begin with by which a request restricts values.
const RESTRICTION: &str = "attr::";
/// The member in which a holder states values without a credential: their names are the members below it.
const SELF_ATTESTED: &str = "self_attested_attrs";

/// The members whose values are shown: names, identifiers, times, texts for people, and values that were disclosed.
const SHOWN: [&str; 40] = [
    "@id",
    "@type",
    "attach_id",
    "code",
    "comment",
    "cred_def_id",
    "description",
    "en",
    "explain",
    "format",
    "from",
    "goal",
    "goal_code",
    "issuer_did",
    "issuer_id",
    "label",
    "mime-type",
    "name",
    "names",
    "non_revoked",
    "p_type",
    "p_value",
    "predicate",
    "pthid",
    "raw",
    "replacement_id",
    "requested_attributes",
    "rev_reg_id",
    "schema_id",
    "schema_issuer_did",
    "schema_name",
    "schema_version",
    "status",
    "sub_proof_index",
    "thid",
    "threshold",
    "timestamp",
    "to",
    "value",
    "version",
];

/// The message without what is secret.
pub(crate) fn masked(message: &Value) -> Value {
    below(message, ValuePlace::default())
}

/// Where a value is.
#[derive(Clone, Copy, Default)]
struct ValuePlace<'a> {
    /// The member that it is the value of, or of whose list it is an element.
    member: &'a str,
    /// The member that this one is below.
    parent: &'a str,
}

impl ValuePlace<'_> {
    fn is_shown(self) -> bool {
        SHOWN.contains(&self.member)
            || self.member.starts_with(RESTRICTION)
            || self.parent == SELF_ATTESTED
    }
}

fn below(value: &Value, at: ValuePlace<'_>) -> Value {
    match value {
        Value::Object(members) => object(members, at.member),
        Value::Array(items) => items.iter().map(|item| below(item, at)).collect(),
        Value::Null | Value::Bool(_) => value.clone(),
        _ if at.is_shown() => value.clone(),
        _ => hidden(value),
    }
}

fn object(members: &Map<String, Value>, parent: &str) -> Value {
    let is_handle = parent == HANDLE || members.get("name").is_some_and(|name| name == HANDLE);
    let shown = members.iter().map(|(member, value)| {
        let at = ValuePlace { member, parent };
        let is_secret = member == HANDLE || is_handle && ["raw", "value"].contains(&&**member);
        let value = match (is_secret, value) {
            (true, Value::String(_) | Value::Number(_)) => hidden(value),
            _ => below(value, at),
        };
        (member.clone(), value)
    });
    Value::Object(shown.collect())
}

/// What stands in place of a value.
fn hidden(value: &Value) -> Value {
    let length = match value {
        Value::String(text) => text.chars().count(),
        other => other.to_string().len(),
    };
    json!(format!("hidden, {length} characters"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_proof_are_hidden_and_disclosed_values_are_shown() {
        let message = json!({
            "requested_proof": {
                "revealed_attrs": {"0_vaccine_uuid": {"sub_proof_index": 0, "raw": "Pfizer", "encoded": "4711"}},
                "unrevealed_attrs": {"lot": {"sub_proof_index": 0}},
                "self_attested_attrs": {"nickname": "Maja"},
            },
            "proof": {"proofs": [{"primary_proof": {"eq_proof": {"m": {"age": "99999"}, "a_prime": "12345"}}}]},
            "identifiers": [{"schema_id": "did:example:1/schema", "timestamp": 7}],
        });
        let shown = masked(&message);
        let requested = &shown["requested_proof"];
        assert_eq!(
            requested["revealed_attrs"]["0_vaccine_uuid"]["raw"],
            "Pfizer"
        );
        assert_eq!(requested["unrevealed_attrs"]["lot"]["sub_proof_index"], 0);
        assert_eq!(requested["self_attested_attrs"]["nickname"], "Maja");
        assert_eq!(shown["identifiers"][0]["timestamp"], 7);
        let text = shown.to_string();
        for secret in ["99999", "12345", "4711"] {
            assert!(!text.contains(secret), "{text}");
        }
        assert!(text.contains("hidden, 5 characters"));
    }

    #[test]
    fn the_handle_of_a_single_use_is_hidden_wherever_it_stands() {
        let message = json!({
            "credential_preview": {"attributes": [
                {"name": "single_use_handle", "value": "h4ndle"},
                {"name": "drug", "value": "Amoxicillin"},
            ]},
            "values": {"single_use_handle": {"raw": "h4ndle", "encoded": "1"}},
            "self_attested_attrs": {"single_use_handle": "h4ndle"},
        });
        let text = masked(&message).to_string();
        assert!(
            !text.contains("h4ndle") && text.contains("Amoxicillin"),
            "{text}"
        );
    }
}
