//! Identifiers in both forms.

use proptest::prelude::*;

use crate::format::*;

const DID: &str = "NcYxiDXkpYi6ov5FcYDi1e";

#[test]
fn legacy_identifiers_are_built_of_the_did() {
    let schema = format!("{DID}:2:degree:1.0");
    assert!(IssuerId::new(DID).unwrap().is_legacy());
    assert!(SchemaId::new(&schema).unwrap().is_legacy());
    for definition in [
        format!("{DID}:3:CL:15:tag"),
        format!("{DID}:3:CL:15:"),
        format!("{DID}:3:CL:{schema}:tag"),
    ] {
        assert!(
            CredentialDefinitionId::new(&definition)
                .unwrap()
                .is_legacy()
        );
        let registry = format!("{DID}:4:{definition}:CL_ACCUM:r1");
        let registry = RevocationRegistryId::new(registry).unwrap();
        assert_eq!(registry.is_legacy(), !definition.ends_with(':'));
    }
}

#[test]
fn any_uri_is_an_identifier() {
    for uri in [
        "did:indy:sovrin:7Tqg6BwSSWapxgUDm9KKgg/anoncreds/v0/SCHEMA/degree/1.0",
        "did:example:1",
        "https://example.org/schema",
        "a+b-c.1:x",
    ] {
        assert!(SchemaId::new(uri).is_ok(), "{uri}");
        assert!(!IssuerId::new(uri).unwrap().is_legacy());
    }
}

/// A legacy DID that begins with a digit is the only kind that is never a valid URI.
#[test]
fn everything_else_is_refused() {
    let digit = "1cYxiDXkpYi6ov5FcYDi1e";
    assert!(SchemaId::new(format!("{digit}:2:degree:1.0")).is_ok());
    for refused in [
        format!("{digit}:2::1.0"),
        format!("{digit}:2:degree:one"),
        format!("{digit}:3:degree:1.0"),
        "did:".into(),
        ":x".into(),
        "1a:x".into(),
        "a:\n".into(),
        "".into(),
    ] {
        assert!(SchemaId::new(&refused).is_err(), "{refused}");
    }
    for refused in [&DID[..20], "0OIl0OIl0OIl0OIl0OIl00", "acme"] {
        assert!(IssuerId::new(refused).is_err(), "{refused}");
    }
    assert!(CredentialDefinitionId::new(format!("{digit}:3:CL:015:tag")).is_err());
    assert!(CredentialDefinitionId::new(format!("{digit}:3:XX:15:tag")).is_err());
    let long = format!("did:{}", "x".repeat(limits::MAX_NAME));
    assert!(matches!(
        IssuerId::new(long),
        Err(crate::Error::TooLarge { .. })
    ));
}

#[test]
fn a_schema_may_be_a_sequence_number_of_a_ledger() {
    assert!(SchemaId::new("15").unwrap().is_sequence_number());
    assert!(SchemaId::new("015").is_err());
    assert!(!SchemaId::new("did:example:1").unwrap().is_sequence_number());
}

proptest! {
    #[test]
    fn reading_an_identifier_never_changes_it(text in "[ -~]{0,40}") {
        if let Ok(id) = CredentialDefinitionId::new(text.clone()) {
            prop_assert_eq!(id.as_str(), text.as_str());
            let json = serde_json::to_string(&id).unwrap();
            prop_assert_eq!(serde_json::from_str::<CredentialDefinitionId>(&json).unwrap(), id);
        }
    }
}
