//! Revocation registries: definition, status list, and the holder's revocation state, in the current form and Indy's.

use std::fmt;

use selfsame_crypto::SecretString;
use selfsame_crypto::json::Limits;
use serde::{Deserialize, Serialize};

use super::identifier::{CredentialDefinitionId, IssuerId, RevocationRegistryId};
use super::limits::MAX_REGISTRY;
use super::message::{Message, why};
use super::schema::check_text;
use crate::Error;
use crate::cl::revocation::{
    Accumulator, RegistryDelta, RevocationKeyPrivate, RevocationKeyPublic, RevocationList,
    RevocationRegistry, Witness,
};

/// A revocation registry's definition (AnonCreds v1.0, "Revocation Registry Definition Object Generation").
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", try_from = "WrittenRegistry")]
pub struct RevocationRegistryDefinition {
    /// The issuer, which also revokes.
    pub issuer_id: IssuerId,
    /// The kind of registry.
    pub revoc_def_type: RegistryType,
    /// Distinguishes a definition's registries.
    pub tag: String,
    /// The credential definition.
    pub cred_def_id: CredentialDefinitionId,
    /// Size, key and tails.
    pub value: RegistryValue,
}

/// The registry type: an accumulator, the only one defined.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub enum RegistryType {
    /// `CL_ACCUM`
    #[default]
    #[serde(rename = "CL_ACCUM")]
    Accumulator,
}

/// Size, key and tails of a registry.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistryValue {
    /// The number of places.
    pub max_cred_num: u32,
    /// Its keys.
    pub public_keys: RegistryKeys,
    /// SHA-256 of the tails file, in base58.
    pub tails_hash: String,
    /// Where the tails file is published.
    pub tails_location: String,
}

/// The keys of a registry.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistryKeys {
    /// The accumulator's key.
    pub accum_key: RevocationKeyPublic,
}

/// The current JSON form and that of Indy's time, which names the issuer only within `id`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenRegistry {
    issuer_id: Option<IssuerId>,
    id: Option<String>,
    revoc_def_type: RegistryType,
    tag: String,
    cred_def_id: CredentialDefinitionId,
    value: RegistryValue,
}

impl TryFrom<WrittenRegistry> for RevocationRegistryDefinition {
    type Error = &'static str;

    fn try_from(written: WrittenRegistry) -> Result<Self, Self::Error> {
        let legacy = written.id.as_deref().and_then(IssuerId::of_legacy);
        Ok(Self {
            issuer_id: written.issuer_id.or(legacy).ok_or(why::ISSUER)?,
            revoc_def_type: written.revoc_def_type,
            tag: written.tag,
            cred_def_id: written.cred_def_id,
            value: written.value,
        })
    }
}

impl Message for RevocationRegistryDefinition {
    type Text = String;
    const WHAT: &'static str = "the revocation registry's definition";

    fn validate(&self) -> Result<(), Error> {
        check_text(&self.tag, "the registry's tag")?;
        check_text(&self.value.tails_hash, "the hash of the tails")?;
        check_text(&self.value.tails_location, "the location of the tails")?;
        let size = usize::try_from(self.value.max_cred_num).unwrap_or(usize::MAX);
        match size {
            0 => Err(Error::Malformed {
                what: Self::WHAT,
                why: "it has no places",
            }),
            1..=MAX_REGISTRY => Ok(()),
            _ => Err(Error::TooLarge {
                what: "the revocation registry",
                limit: MAX_REGISTRY,
            }),
        }
    }
}

/// The private part of a registry: secret.
#[derive(Clone, Deserialize, Eq, PartialEq, Serialize)]
pub struct RevocationRegistryPrivate {
    /// The secret γ, whose powers make the tails.
    pub value: RevocationKeyPrivate,
}

impl Message for RevocationRegistryPrivate {
    type Text = SecretString;
    const WHAT: &'static str = "the private part of the revocation registry";

    fn validate(&self) -> Result<(), Error> {
        Ok(())
    }
}

impl fmt::Debug for RevocationRegistryPrivate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RevocationRegistryPrivate(…)")
    }
}

/// The state of a registry at a given time (AnonCreds v1.0, "Creating the Initial Revocation Status List Object").
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RevocationStatusList {
    /// The registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rev_reg_def_id: Option<RevocationRegistryId>,
    /// The issuer, which also revokes.
    pub issuer_id: IssuerId,
    /// 0 for a place that is not revoked, 1 for one that is.
    pub revocation_list: RevocationList,
    /// The accumulator of the places that are not revoked.
    #[serde(default, alias = "accum", skip_serializing_if = "Option::is_none")]
    pub current_accumulator: Option<Accumulator>,
    /// The time of the list, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<u64>,
}

impl Message for RevocationStatusList {
    type Text = String;
    const WHAT: &'static str = "the revocation status list";
    const LIMITS: Limits = Limits {
        max_bytes: 4 * 1024 * 1024,
        max_depth: 4,
        max_members: MAX_REGISTRY + 16,
    };

    fn validate(&self) -> Result<(), Error> {
        Ok(())
    }
}

impl RevocationStatusList {
    /// The accumulator. A list without one proves nothing.
    pub(crate) fn accumulator(&self) -> Result<&Accumulator, Error> {
        self.current_accumulator.as_ref().ok_or(Error::Malformed {
            what: Self::WHAT,
            why: "it has no accumulator",
        })
    }
}

/// The state from which a holder proves that a credential was not revoked at a given time.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct RevocationState {
    /// The witness that the place is in the accumulator.
    pub witness: Witness,
    /// The registry's state.
    pub rev_reg: RevocationRegistry,
    /// The time of the state, in seconds since 1970.
    pub timestamp: u64,
}

impl Message for RevocationState {
    type Text = SecretString;
    const WHAT: &'static str = "the revocation state";

    fn validate(&self) -> Result<(), Error> {
        if self.timestamp == 0 {
            return Err(Error::Malformed {
                what: Self::WHAT,
                why: "its timestamp is zero",
            });
        }
        Ok(())
    }
}

/// A registry's state in the form of Indy's ledger.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct LegacyRegistry {
    /// Always `1.0`.
    #[serde(default = "one")]
    pub ver: String,
    /// The accumulator.
    pub value: RevocationRegistry,
}

/// The changes of a registry between two times, in the form of Indy's ledger.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct LegacyDelta {
    /// Always `1.0`.
    #[serde(default = "one")]
    pub ver: String,
    /// The accumulators before and after, and the places issued and revoked.
    pub value: RegistryDelta,
}

fn one() -> String {
    "1.0".to_owned()
}

fn check_ledger_version(ver: &str, what: &'static str) -> Result<(), Error> {
    if ver == "1.0" {
        return Ok(());
    }
    Err(Error::Malformed {
        what,
        why: "its version is not 1.0",
    })
}

impl Message for LegacyRegistry {
    type Text = String;
    const WHAT: &'static str = "the ledger's registry entry";

    fn validate(&self) -> Result<(), Error> {
        check_ledger_version(&self.ver, Self::WHAT)
    }
}

impl Message for LegacyDelta {
    type Text = String;
    const WHAT: &'static str = "the ledger's registry delta";
    const LIMITS: Limits = Limits {
        max_bytes: 16 * 1024 * 1024,
        max_depth: 4,
        max_members: MAX_REGISTRY + 16,
    };

    fn validate(&self) -> Result<(), Error> {
        check_ledger_version(&self.ver, Self::WHAT)?;
        self.value.changes().map(|_| ())
    }
}
