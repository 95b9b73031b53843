//! Credentials: signed values, and the witness of non-revocation.

use std::collections::BTreeMap;

use dashu_int::IBig;
use selfsame_crypto::SecretString;
use selfsame_crypto::json::Limits;
use serde::{Deserialize, Serialize};

use super::encoding::{AttributeValue, normalise_attribute};
use super::identifier::{CredentialDefinitionId, RevocationRegistryId, SchemaId};
use super::limits::MAX_ATTRIBUTES;
use super::message::{LARGE, Message};
use super::schema::check_attributes;
use crate::Error;
use crate::cl::revocation::{NonRevocationCredentialSignature, RevocationRegistry, Witness};
use crate::cl::{CredentialSignature, SignatureCorrectnessProof};

/// A credential (AnonCreds v1.0, "Issue Credential").
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Credential {
    /// The schema.
    pub schema_id: SchemaId,
    /// The definition.
    pub cred_def_id: CredentialDefinitionId,
    /// The registry in which it can be revoked.
    pub rev_reg_id: Option<RevocationRegistryId>,
    /// The attributes, by the names the issuer used.
    pub values: CredentialValues,
    /// The signatures.
    pub signature: CredentialSignature,
    /// The proof that the signature was made with the private key.
    pub signature_correctness_proof: SignatureCorrectnessProof,
    /// The registry's state when the credential was issued.
    pub rev_reg: Option<RevocationRegistry>,
    /// The witness for that state.
    pub witness: Option<Witness>,
}

impl Message for Credential {
    type Text = SecretString;
    const WHAT: &'static str = "the credential";
    const LIMITS: Limits = LARGE;

    fn validate(&self) -> Result<(), Error> {
        self.values.validate()?;
        let revocable = self.rev_reg_id.is_some();
        if revocable && (self.witness.is_none() || self.rev_reg.is_none()) {
            return Err(Error::Malformed {
                what: Self::WHAT,
                why: "it names a registry, but has no witness or no state of it",
            });
        }
        Ok(())
    }
}

impl Credential {
    /// The index in its registry, if it can be revoked.
    pub fn revocation_index(&self) -> Option<u32> {
        let part = self.signature.r_credential.as_ref();
        part.map(NonRevocationCredentialSignature::index)
    }
}

/// The values of a credential, by the names the issuer used.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct CredentialValues(pub BTreeMap<String, AttributeValue>);

impl CredentialValues {
    /// Encodes the values as recommended.
    pub fn of<N: Into<String>, V: Into<String>>(raw: impl IntoIterator<Item = (N, V)>) -> Self {
        let value = |(name, raw): (N, V)| (name.into(), AttributeValue::of(raw));
        Self(raw.into_iter().map(value).collect())
    }

    /// The value of an attribute; the spelling of the name does not matter.
    pub fn get(&self, name: &str) -> Option<&AttributeValue> {
        let name = normalise_attribute(name);
        let mut values = self.0.iter();
        values.find_map(|(known, value)| (normalise_attribute(known) == name).then_some(value))
    }

    /// The numbers that are signed, by normalised name.
    pub(crate) fn encoded(&self) -> Result<BTreeMap<String, IBig>, Error> {
        let number = |(name, value): (&String, &AttributeValue)| {
            let number = value.encoded.parse().map_err(|_| Error::Malformed {
                what: Credential::WHAT,
                why: "an encoded value is not a decimal number",
            })?;
            Ok((normalise_attribute(name), number))
        };
        self.0.iter().map(number).collect()
    }

    pub(crate) fn validate(&self) -> Result<(), Error> {
        if self.0.len() > MAX_ATTRIBUTES {
            return Err(Error::TooLarge {
                what: "the number of attributes",
                limit: MAX_ATTRIBUTES,
            });
        }
        let names: Vec<_> = self.0.keys().cloned().collect();
        check_attributes(&names, Credential::WHAT)?;
        let mut values = self.0.values();
        values.try_for_each(|value| value.validate(Credential::WHAT))
    }
}
