//! Which AnonCreds credentials are of a type, beside those of the organisation's own schema of the type.

use serde::{Deserialize, Serialize};

/// Maximum number of schemas, and of credential definitions.
pub const IDS_MAX: usize = 50;
/// Maximum number of bytes of an identifier.
const ID_BYTES: usize = 500;

/// Which AnonCreds credentials are of a type.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct AnonCredsMapping {
    /// Whether those that the organisation's agent receives and keeps are entered, without a further call.
    #[serde(skip_serializing_if = "is_false")]
    pub received: bool,
    /// The identifiers of their schemas, beside the organisation's own schema of the type.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub schemas: Vec<String>,
    /// The identifiers of their credential definitions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub definitions: Vec<String>,
}

/// What an AnonCreds credential names. Identifiers are in the qualified form.
#[derive(Clone, Copy, Debug)]
pub struct NamedObjects<'a> {
    /// The identifier of its schema.
    pub schema_id: &'a str,
    /// The identifier of its credential definition.
    pub definition_id: &'a str,
}

impl AnonCredsMapping {
    /// Whether it says nothing.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it names the schema or the credential definition of a credential.
    #[must_use]
    pub fn names(&self, one: NamedObjects<'_>) -> bool {
        self.schemas.iter().any(|id| id == one.schema_id)
            || self.definitions.iter().any(|id| id == one.definition_id)
    }
}

/// Whether a text can be the identifier of a schema or of a credential definition: it stands on one line.
#[must_use]
pub fn is_id(text: &str) -> bool {
    let fits = |one: char| !one.is_control();
    (1..=ID_BYTES).contains(&text.len()) && text.trim() == text && text.chars().all(fits)
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "the form that serde asks for"
)]
fn is_false(value: &bool) -> bool {
    !*value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_is_named_by_its_schema_or_by_its_definition() {
        let mapping = AnonCredsMapping {
            received: true,
            schemas: vec!["s1".to_owned()],
            definitions: vec!["d2".to_owned()],
        };
        for (schema_id, definition_id, expected) in [
            ("s1", "d1", true),
            ("s2", "d2", true),
            ("s2", "d1", false),
            ("d2", "s1", false),
        ] {
            let one = NamedObjects {
                schema_id,
                definition_id,
            };
            assert_eq!(mapping.names(one), expected, "{one:?}");
        }
    }

    #[test]
    fn an_identifier_stands_on_one_line_and_is_not_endless() {
        assert!(is_id(
            "did:web:a.example/anoncreds/v0/SCHEMA/registration/1.0"
        ));
        for other in ["", " did:x", "did:x\n", "a\u{7}b"] {
            assert!(!is_id(other), "{other:?}");
        }
        assert!(!is_id(&"x".repeat(ID_BYTES + 1)));
    }

    #[test]
    fn a_mapping_without_it_is_written_as_before() {
        let text = serde_json::to_string(&AnonCredsMapping::default()).unwrap();
        assert_eq!(text, "{}");
        assert!(serde_json::from_str::<AnonCredsMapping>("{\"other\": 1}").is_err());
    }
}
