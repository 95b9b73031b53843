//! The attachments of an issuing (RFC 0809, "W3C Data Integrity Credential Attachment Format"), for the binding method
//! `anoncreds_link_secret`. They have what AnonCreds' own messages have.

use selfsame_anoncreds::Error;
use selfsame_crypto::json::{self, Limits, to_bytes};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::document::{IssuedBy, contexts, credential_types};
use crate::subject::SubjectValue;

/// The version of the data model that is issued.
const VERSION: &str = "1.1";
/// Limits on the JSON of an attachment.
const LIMITS: Limits = Limits {
    max_bytes: 1024 * 1024,
    max_depth: 16,
    max_members: 20_000,
};

/// What is offered.
#[derive(Clone, Copy, Debug)]
pub struct OfferedForm<'a> {
    /// The JSON of AnonCreds' own offer.
    pub offer: &'a [u8],
    /// The attributes.
    pub attributes: &'a [OfferedAttribute],
    /// Who offers it, and when.
    pub issued: IssuedBy<'a>,
}

/// An attribute of what is offered.
#[derive(Clone, Debug)]
pub struct OfferedAttribute {
    /// Its name.
    pub name: String,
    /// Its raw value.
    pub value: String,
}

#[derive(Deserialize)]
struct OwnOffer {
    cred_def_id: String,
    nonce: String,
    key_correctness_proof: Value,
}

#[derive(Deserialize)]
struct OfferAttachment {
    data_model_versions_supported: Vec<String>,
    binding_method: Methods,
}

#[derive(Deserialize)]
struct Methods {
    anoncreds_link_secret: Option<OwnOffer>,
}

#[derive(Deserialize)]
struct RequestAttachment {
    binding_proof: Option<BindingProof>,
}

#[derive(Deserialize)]
struct BindingProof {
    anoncreds_link_secret: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
struct CredentialAttachment {
    credential: Value,
}

/// The attachment of an offer. It names the method of a signed attachment too, since peers read offers with both alone; a
/// request must be bound by the link secret all the same.
///
/// # Errors
/// [`Error::Malformed`] if the own offer is none.
pub fn offer(offered: &OfferedForm<'_>) -> Result<Vec<u8>, Error> {
    let own: OwnOffer = read(offered.offer, "the credential offer")?;
    let attributes = offered.attributes.iter();
    let subject = attributes.map(|one| (one.name.clone(), json!(SubjectValue::of(&one.value))));
    Ok(to_bytes(&json!({
        "data_model_versions_supported": [VERSION],
        "binding_required": true,
        "binding_method": {
            "anoncreds_link_secret": {
                "cred_def_id": own.cred_def_id,
                "nonce": own.nonce,
                "key_correctness_proof": own.key_correctness_proof,
            },
            "didcomm_signed_attachment": {
                "algs_supported": ["EdDSA"],
                "did_methods_supported": ["key"],
                "nonce": own.nonce,
            },
        },
        "credential": {
            "@context": contexts(),
            "type": credential_types(),
            "issuer": offered.issued.issuer,
            "issuanceDate": offered.issued.at.rfc3339(),
            "credentialSubject": subject.collect::<Map<String, Value>>(),
        },
    })))
}

/// The credential definition of an offer.
///
/// # Errors
/// [`Error::Malformed`] if it is no offer of AnonCreds.
pub fn offered_definition(attachment: &[u8]) -> Result<String, Error> {
    own_offer(attachment).map(|own| own.cred_def_id)
}

/// AnonCreds' own offer of an attachment. The attachment does not name the schema, which its definition names.
///
/// # Errors
/// [`Error::Malformed`] if it is no offer of AnonCreds in a known version of the data model.
pub fn own_offer_of(attachment: &[u8], schema_id: &str) -> Result<Vec<u8>, Error> {
    let own = own_offer(attachment)?;
    Ok(to_bytes(&json!({
        "schema_id": schema_id,
        "cred_def_id": own.cred_def_id,
        "nonce": own.nonce,
        "key_correctness_proof": own.key_correctness_proof,
    })))
}

fn own_offer(attachment: &[u8]) -> Result<OwnOffer, Error> {
    const WHAT: &str = "the offer of a W3C credential";
    let offer: OfferAttachment = read(attachment, WHAT)?;
    let mut versions = offer.data_model_versions_supported.iter();
    if !versions.any(|version| version == VERSION) {
        return Err(malformed(WHAT, "it does not support version 1.1"));
    }
    let own = offer.binding_method.anoncreds_link_secret;
    own.ok_or(malformed(WHAT, "it can't be bound by a link secret"))
}

/// The attachment of a request.
///
/// # Errors
/// [`Error::Malformed`] if the own request is none.
pub fn request(own: &[u8]) -> Result<Vec<u8>, Error> {
    let mut own: Map<String, Value> = read(own, "the credential request")?;
    // Where the own request names a DID, the attachment has it as entropy.
    if let Some(holder) = own.remove("prover_did") {
        own.insert("entropy".to_owned(), holder);
    }
    Ok(to_bytes(&json!({
        "data_model_version": VERSION,
        "binding_proof": {"anoncreds_link_secret": own},
    })))
}

/// AnonCreds' own request of an attachment. Whatever version it asks for, it gets the one that was offered.
///
/// # Errors
/// [`Error::Malformed`] if it is no request of AnonCreds.
pub fn own_request_of(attachment: &[u8]) -> Result<Vec<u8>, Error> {
    const WHAT: &str = "the request for a W3C credential";
    let request: RequestAttachment = read(attachment, WHAT)?;
    let proof = request.binding_proof;
    let own = proof.and_then(|proof| proof.anoncreds_link_secret);
    let own = own.ok_or(malformed(WHAT, "it is not bound by a link secret"))?;
    Ok(to_bytes(&Value::Object(own)))
}

/// The attachment with a credential.
#[must_use]
pub fn credential(credential: &Value) -> Vec<u8> {
    to_bytes(&json!({ "credential": credential }))
}

/// The credential of an attachment.
///
/// # Errors
/// [`Error::Malformed`] if it has none.
pub fn credential_of(attachment: &[u8]) -> Result<Value, Error> {
    let attachment: CredentialAttachment = read(attachment, "the W3C credential")?;
    Ok(attachment.credential)
}

fn read<T: serde::de::DeserializeOwned>(bytes: &[u8], what: &'static str) -> Result<T, Error> {
    let read = json::parse_as(bytes, &LIMITS);
    read.map_err(|_| malformed(what, "a member is missing or of the wrong kind"))
}

const fn malformed(what: &'static str, why: &'static str) -> Error {
    Error::Malformed { what, why }
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::time::UnixTime;

    use super::*;

    fn own() -> Value {
        json!({"schema_id": "s", "cred_def_id": "c", "nonce": "123", "key_correctness_proof": {"c": "1"}})
    }

    fn offered() -> Value {
        let attributes = [("name", "Alice"), ("age", "28"), ("house", "007")];
        let attributes = attributes.map(|(name, value)| OfferedAttribute {
            name: name.to_owned(),
            value: value.to_owned(),
        });
        let bytes = offer(&OfferedForm {
            offer: &to_bytes(&own()),
            attributes: &attributes,
            issued: IssuedBy {
                issuer: "did:example:1",
                at: UnixTime(1_700_000_000),
            },
        });
        serde_json::from_slice(&bytes.unwrap()).unwrap()
    }

    #[test]
    fn an_offer_is_the_own_one_again_once_its_schema_is_known() {
        let attachment = offered();
        let credential = &attachment["credential"];
        let subject = json!({"name": "Alice", "age": 28, "house": "007"});
        assert_eq!(credential["credentialSubject"], subject);
        assert_eq!(credential["issuer"], "did:example:1");
        let bytes = to_bytes(&attachment);
        assert_eq!(offered_definition(&bytes).unwrap(), "c");
        let again: Value = serde_json::from_slice(&own_offer_of(&bytes, "s").unwrap()).unwrap();
        assert_eq!(again, own());
    }

    #[test]
    fn an_offer_of_another_version_or_binding_is_refused() {
        for (place, value) in [
            ("/data_model_versions_supported", json!(["2.0"])),
            ("/binding_method", json!({"didcomm_signed_attachment": {}})),
            ("/binding_method", Value::Null),
        ] {
            let mut attachment = offered();
            *attachment.pointer_mut(place).unwrap() = value;
            assert!(
                offered_definition(&to_bytes(&attachment)).is_err(),
                "{place}"
            );
        }
    }

    #[test]
    fn a_request_names_its_holder_as_entropy() {
        let own = json!({"prover_did": "did:example:2", "cred_def_id": "c", "nonce": "1"});
        let attachment = request(&to_bytes(&own)).unwrap();
        let again: Value = serde_json::from_slice(&own_request_of(&attachment).unwrap()).unwrap();
        let expected = json!({"entropy": "did:example:2", "cred_def_id": "c", "nonce": "1"});
        assert_eq!(again, expected);
        let other = json!({"data_model_version": "1.1", "binding_proof": {
            "didcomm_signed_attachment": {"attachment_id": "a"}}});
        assert!(own_request_of(&to_bytes(&other)).is_err());
        assert!(own_request_of(b"{\"data_model_version\":\"1.1\"}").is_err());
    }
}
