//! The answers of a presentation beside the proof: which credential answers which referent, and the revealed values.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::encoding::{AttributeValue, check_encoded};
use super::identifier::{CredentialDefinitionId, RevocationRegistryId, SchemaId};
use super::limits::{MAX_ATTRIBUTES, MAX_RAW, MAX_REFERENTS};
use super::schema::check_text;
use crate::Error;

const WHAT: &str = "the presentation";

/// The answers of a presentation, by referent (AnonCreds v1.0, "Generate Presentation").
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct RequestedProof {
    /// Revealed attributes.
    pub revealed_attrs: BTreeMap<String, RevealedAttribute>,
    /// Revealed groups of attributes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub revealed_attr_groups: BTreeMap<String, RevealedGroup>,
    /// Self-attested values, which no issuer signed.
    #[serde(default)]
    pub self_attested_attrs: BTreeMap<String, SelfAttested>,
    /// Attributes that a credential has but does not reveal.
    #[serde(default)]
    pub unrevealed_attrs: BTreeMap<String, SubProofReferent>,
    /// Predicates.
    #[serde(default)]
    pub predicates: BTreeMap<String, SubProofReferent>,
}

/// A reference to the credential that answers.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct SubProofReferent {
    /// The credential's index among the proofs and the identifiers.
    pub sub_proof_index: u32,
}

/// A revealed attribute. Its `Debug` form does not show the value.
#[derive(Clone, Deserialize, Eq, PartialEq, Serialize)]
pub struct RevealedAttribute {
    /// The credential's index among the proofs and the identifiers.
    pub sub_proof_index: u32,
    /// The raw value, for people to read.
    pub raw: String,
    /// The signed value, a decimal number.
    pub encoded: String,
}

/// A revealed group of attributes.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct RevealedGroup {
    /// The credential's index among the proofs and the identifiers.
    pub sub_proof_index: u32,
    /// The values, by the names that the request uses.
    pub values: BTreeMap<String, AttributeValue>,
}

/// A self-attested value, which no issuer signed. Its `Debug` form does not show the value.
#[derive(Clone, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct SelfAttested(pub String);

/// The identifiers of a credential in a presentation, and as of when it was not revoked.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct CredentialIdentifiers {
    /// The credential's schema.
    pub schema_id: SchemaId,
    /// The credential's definition.
    pub cred_def_id: CredentialDefinitionId,
    /// The registry in which it can be revoked.
    pub rev_reg_id: Option<RevocationRegistryId>,
    /// The timestamp of the status list in which it is not revoked.
    pub timestamp: Option<u64>,
}

impl RequestedProof {
    /// Refuses answers that are too large, answer a referent twice, or refer to a credential that does not exist.
    pub(crate) fn validate(&self, credentials: usize) -> Result<(), Error> {
        let referents: Vec<_> = self.referents().collect();
        if referents.len() > MAX_REFERENTS {
            return Err(Error::TooLarge {
                what: "the number of answers",
                limit: MAX_REFERENTS,
            });
        }
        for (referent, index) in &referents {
            check_text(referent, "a referent")?;
            let absent =
                |index: &u32| usize::try_from(*index).map_or(true, |index| index >= credentials);
            if index.as_ref().is_some_and(absent) {
                return malformed("an answer speaks of a credential that is not there");
            }
        }
        self.check_repeated()?;
        self.check_values()
    }

    /// The index of the credential that reveals this attribute or group.
    pub(crate) fn shows(&self, referent: &str) -> Option<u32> {
        let alone = self.revealed_attrs.get(referent);
        let group = self.revealed_attr_groups.get(referent);
        alone
            .map(|attribute| attribute.sub_proof_index)
            .or(group.map(|group| group.sub_proof_index))
    }

    /// The index of the credential that has this attribute but does not reveal it.
    pub(crate) fn hides(&self, referent: &str) -> Option<u32> {
        let hidden = self.unrevealed_attrs.get(referent)?;
        Some(hidden.sub_proof_index)
    }

    /// All answered referents, each with the index of its credential unless self-attested.
    pub(crate) fn referents(&self) -> impl Iterator<Item = (&str, Option<u32>)> {
        let shown = self
            .revealed_attrs
            .iter()
            .map(|(r, a)| (r.as_str(), Some(a.sub_proof_index)));
        let groups = self
            .revealed_attr_groups
            .iter()
            .map(|(r, g)| (r.as_str(), Some(g.sub_proof_index)));
        let hidden = self.unrevealed_attrs.iter().chain(&self.predicates);
        let hidden = hidden.map(|(r, s)| (r.as_str(), Some(s.sub_proof_index)));
        let attested = self.self_attested_attrs.keys().map(|r| (r.as_str(), None));
        shown.chain(groups).chain(hidden).chain(attested)
    }

    /// Checks that no attribute referent has two answers. Predicates have separate referents.
    fn check_repeated(&self) -> Result<(), Error> {
        let kinds = |referent: &String| {
            [
                self.revealed_attrs.contains_key(referent),
                self.revealed_attr_groups.contains_key(referent),
                self.self_attested_attrs.contains_key(referent),
                self.unrevealed_attrs.contains_key(referent),
            ]
            .into_iter()
            .filter(|answered| *answered)
            .count()
        };
        let all = self
            .revealed_attrs
            .keys()
            .chain(self.revealed_attr_groups.keys())
            .chain(self.self_attested_attrs.keys());
        if all.into_iter().any(|referent| kinds(referent) > 1) {
            return malformed("a referent has two answers");
        }
        Ok(())
    }

    fn check_values(&self) -> Result<(), Error> {
        let too_long = || Error::TooLarge {
            what: "a raw value",
            limit: MAX_RAW,
        };
        for attribute in self.revealed_attrs.values() {
            if attribute.raw.len() > MAX_RAW {
                return Err(too_long());
            }
            check_encoded(&attribute.encoded, WHAT)?;
        }
        for group in self.revealed_attr_groups.values() {
            if group.values.len() > MAX_ATTRIBUTES {
                return Err(Error::TooLarge {
                    what: "a group of attributes",
                    limit: MAX_ATTRIBUTES,
                });
            }
            for value in group.values.values() {
                value.validate(WHAT)?;
            }
        }
        let mut attested = self.self_attested_attrs.values();
        if attested.any(|value| value.0.len() > MAX_RAW) {
            return Err(too_long());
        }
        Ok(())
    }
}

impl fmt::Debug for RevealedAttribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RevealedAttribute")
            .field("sub_proof_index", &self.sub_proof_index)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for SelfAttested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SelfAttested(…)")
    }
}

fn malformed<T>(why: &'static str) -> Result<T, Error> {
    Err(Error::Malformed { what: WHAT, why })
}
