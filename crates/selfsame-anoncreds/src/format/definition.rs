//! Credential definitions: an issuer's keys for one schema, the public part, the private one, and its proof.

use std::collections::BTreeSet;
use std::fmt;

use selfsame_crypto::SecretString;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash::sha256;
use serde::{Deserialize, Serialize};

use super::identifier::{IssuerId, SchemaId};
use super::message::{Message, why};
use super::schema::{Schema, check_text};
use crate::Error;
use crate::cl::revocation::{CredentialRevocationPrivateKey, CredentialRevocationPublicKey};
use crate::cl::{
    KeyCorrectnessProof, LINK_SECRET, PrimaryPrivateKey, PrimaryPublicKey, PublishedKeyProof,
};

/// A credential definition (AnonCreds v1.0, "Issuer Create and Publish Credential Definition Object").
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", try_from = "WrittenDefinition")]
pub struct CredentialDefinition {
    /// The schema of its credentials.
    pub schema_id: SchemaId,
    /// The kind of signature.
    #[serde(rename = "type")]
    pub signature_type: SignatureType,
    /// Distinguishes an issuer's definitions for one schema.
    pub tag: String,
    /// The public keys.
    pub value: CredentialPublicKeys,
    /// The issuer's identifier.
    pub issuer_id: IssuerId,
}

/// The signature type: Camenisch-Lysyanskaya, the only one defined.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub enum SignatureType {
    /// `CL`
    #[default]
    #[serde(rename = "CL")]
    CamenischLysyanskaya,
}

/// The public keys of a definition.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct CredentialPublicKeys {
    /// The key for the attributes.
    pub primary: PrimaryPublicKey,
    /// The key for revocation, if the credentials can be revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revocation: Option<CredentialRevocationPublicKey>,
}

/// The current JSON form and that of Indy's time, which names the issuer only within `id`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenDefinition {
    schema_id: SchemaId,
    #[serde(rename = "type")]
    signature_type: SignatureType,
    tag: String,
    value: CredentialPublicKeys,
    issuer_id: Option<IssuerId>,
    id: Option<String>,
}

impl TryFrom<WrittenDefinition> for CredentialDefinition {
    type Error = &'static str;

    fn try_from(written: WrittenDefinition) -> Result<Self, Self::Error> {
        let legacy = written.id.as_deref().and_then(IssuerId::of_legacy);
        Ok(Self {
            schema_id: written.schema_id,
            signature_type: written.signature_type,
            tag: written.tag,
            value: written.value,
            issuer_id: written.issuer_id.or(legacy).ok_or(why::ISSUER)?,
        })
    }
}

impl Message for CredentialDefinition {
    type Text = String;
    const WHAT: &'static str = "the credential definition";

    fn validate(&self) -> Result<(), Error> {
        check_text(&self.tag, "the credential definition's tag")?;
        if self.value.primary.r.contains_key(LINK_SECRET) {
            return Ok(());
        }
        Err(Error::Malformed {
            what: Self::WHAT,
            why: "it has no base for the link secret",
        })
    }
}

impl CredentialDefinition {
    /// Refuses a schema whose attributes are not those the keys are for.
    pub fn check_schema(&self, schema: &Schema) -> Result<(), Error> {
        self.check_attributes(&schema.attributes())
    }

    /// Refuses a schema whose normalised attribute names are not those the keys are for.
    ///
    /// # Errors
    /// `Mismatch` if they differ.
    pub fn check_attributes(&self, attributes: &BTreeSet<String>) -> Result<(), Error> {
        let keyed = self
            .value
            .primary
            .r
            .keys()
            .filter(|name| *name != LINK_SECRET);
        if keyed.eq(attributes.iter()) {
            return Ok(());
        }
        Err(Error::Mismatch {
            what: "the schema",
            why: "its attributes are not those of the credential definition",
        })
    }
}

/// The private part of a definition: secret.
#[derive(Clone, Deserialize, Eq, PartialEq, Serialize)]
pub struct CredentialDefinitionPrivate {
    /// The private keys.
    pub value: CredentialPrivateKeys,
}

/// The private keys of a definition: secret.
#[derive(Clone, Deserialize, Eq, PartialEq, Serialize)]
pub struct CredentialPrivateKeys {
    /// The key for the attributes.
    pub p_key: PrimaryPrivateKey,
    /// The key for revocation.
    pub r_key: Option<CredentialRevocationPrivateKey>,
}

impl Message for CredentialDefinitionPrivate {
    type Text = SecretString;
    const WHAT: &'static str = "the private part of the credential definition";

    fn validate(&self) -> Result<(), Error> {
        Ok(())
    }
}

impl fmt::Debug for CredentialDefinitionPrivate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CredentialDefinitionPrivate(…)")
    }
}

impl fmt::Debug for CredentialPrivateKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CredentialPrivateKeys(…)")
    }
}

impl PublishedKeyProof {
    /// Reads the proof from the bytes at [`Self::location`].
    ///
    /// # Errors
    /// [`Error::Malformed`] if they are not those that the hash names, or no proof.
    pub fn read(&self, bytes: &[u8]) -> Result<KeyCorrectnessProof, Error> {
        if hex_encode(&sha256(bytes)) != self.sha256 {
            return Err(Error::Malformed {
                what: KeyCorrectnessProof::WHAT,
                why: "what is published has another hash",
            });
        }
        KeyCorrectnessProof::from_json(bytes)
    }
}

impl Message for KeyCorrectnessProof {
    type Text = String;
    const WHAT: &'static str = "the key correctness proof";

    fn validate(&self) -> Result<(), Error> {
        Ok(())
    }
}
