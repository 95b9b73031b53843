//! Operations: what a transaction does.

use selfsame_crypto::PublicKey;
use selfsame_crypto::time::UnixTime;
use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed};
use selfsame_proof::validators::Validator;

use crate::agreement::Agreement;
use crate::anoncreds::{Definition, RevocationEntry};
use crate::authority::Role;
use crate::consumption::Consume;
use crate::content::Content;
use crate::delegation::Delegation;
use crate::encoding::{optional, public_key, write_optional};
use crate::identifier::Identifier;
use crate::resource::Resource;
use crate::rules::Rules;

/// An operation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Operation {
    /// Registers the author, whose identifier belongs to the first key. Must be the first operation of its transaction.
    CreateDid(Content),
    /// Replaces the author's content; earlier versions stay readable.
    UpdateDid {
        /// The version it creates, one above the present one.
        version: u64,
        /// The new content.
        content: Content,
    },
    /// Deactivates the author's DID for ever, and takes away its role.
    DeactivateDid {
        /// The version it creates, one above the present one.
        version: u64,
    },
    /// Anchors the status list that the author has issued under a URI.
    AnchorStatus {
        /// The list's URI.
        list: String,
        /// SHA-256 of the list as served.
        digest: [u8; 32],
        /// When the list was issued; later than the one anchored before.
        issued: UnixTime,
    },
    /// Registers another owner's DID, with no content but the key that its identifier belongs to.
    RegisterDid {
        /// The identifier, which belongs to the key.
        subject: Identifier,
        /// The key, Ed25519 or P-256.
        key: PublicKey,
        /// The key's signature over [`Identifier::consent_bytes`]; required for an identifier of Indy's form.
        consent: Option<[u8; 64]>,
    },
    /// Gives a registered DID a role, or takes its role away.
    SetRole {
        /// The DID.
        subject: Identifier,
        /// The role; `None` takes it away.
        role: Option<Role>,
    },
    /// Publishes an AnonCreds schema.
    Schema {
        /// Its JSON.
        json: String,
    },
    /// Publishes an AnonCreds credential definition.
    CredentialDefinition(Definition),
    /// Publishes the definition of an AnonCreds revocation registry.
    RevocationRegistry {
        /// Its JSON.
        json: String,
    },
    /// Changes the revoked places of a revocation registry.
    RevocationEntry(RevocationEntry),
    /// Publishes a resource of the author's DID.
    Resource(Resource),
    /// Lets another DID use up or revoke the author's credentials.
    Delegate(Delegation),
    /// Ends a delegation before its time.
    WithdrawDelegation {
        /// The delegation's name.
        name: String,
    },
    /// Uses a credential up, or revokes it.
    Consume(Consume),
    /// Puts an author agreement in force; `None` ends the one in force.
    SetAgreement(Option<Agreement>),
    /// Changes the validators from the next height on.
    ChangeValidators {
        /// Validators to add.
        add: Vec<Validator>,
        /// Names of validators to remove.
        remove: Vec<String>,
    },
    /// Changes the rules from a height on.
    ChangeRules {
        /// The first height they hold for, after the block's height.
        from_height: u64,
        /// The rules.
        rules: Rules,
    },
}

/// Returns the machine version that introduced an operation.
pub(crate) type Since = fn(&Operation) -> u64;

impl Operation {
    /// The machine version that introduced the operation; earlier ones do not know it.
    pub fn since(&self) -> u64 {
        match self {
            Self::CreateDid(_)
            | Self::UpdateDid { .. }
            | Self::DeactivateDid { .. }
            | Self::AnchorStatus { .. }
            | Self::RegisterDid { .. }
            | Self::SetRole { .. }
            | Self::Schema { .. }
            | Self::CredentialDefinition(_)
            | Self::RevocationRegistry { .. }
            | Self::RevocationEntry(_)
            | Self::Resource(_)
            | Self::Delegate(_)
            | Self::WithdrawDelegation { .. }
            | Self::Consume(_)
            | Self::SetAgreement(_)
            | Self::ChangeValidators { .. }
            | Self::ChangeRules { .. } => 1,
        }
    }
}

impl CborItem for Operation {
    fn write(&self, to: &mut CborWriter) {
        match self {
            Self::CreateDid(content) => to.array(2).uint(1).item(content),
            Self::UpdateDid { version, content } => {
                to.array(3).uint(2).uint(*version).item(content)
            }
            Self::DeactivateDid { version } => to.array(2).uint(3).uint(*version),
            Self::AnchorStatus {
                list,
                digest,
                issued,
            } => to.array(4).uint(4).text(list).bytes(digest).uint(issued.0),
            Self::RegisterDid {
                subject,
                key,
                consent,
            } => {
                to.array(3_usize.saturating_add(usize::from(consent.is_some())));
                to.uint(5).item(subject).bytes(&key.to_multicodec());
                if let Some(signature) = consent {
                    to.bytes(signature);
                }
                to
            }
            Self::SetRole { subject, role } => {
                write_optional(to.array(3).uint(6).item(subject), role.as_ref());
                to
            }
            Self::Schema { json } => to.array(2).uint(7).text(json),
            Self::CredentialDefinition(definition) => to.array(2).uint(8).item(definition),
            Self::RevocationRegistry { json } => to.array(2).uint(9).text(json),
            Self::RevocationEntry(entry) => to.array(2).uint(10).item(entry),
            Self::Resource(resource) => to.array(2).uint(11).item(resource),
            Self::Delegate(delegation) => to.array(2).uint(12).item(delegation),
            Self::WithdrawDelegation { name } => to.array(2).uint(13).text(name),
            Self::Consume(consume) => to.array(2).uint(14).item(consume),
            Self::SetAgreement(agreement) => {
                write_optional(to.array(2).uint(15), agreement.as_ref());
                to
            }
            Self::ChangeValidators { add, remove } => to.array(3).uint(16).items(add).items(remove),
            Self::ChangeRules { from_height, rules } => {
                to.array(3).uint(17).uint(*from_height).item(rules)
            }
        };
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        Ok(match (from.array()?, from.uint()?) {
            (2, 1) => Self::CreateDid(Content::read(from)?),
            (3, 2) => Self::UpdateDid {
                version: from.uint()?,
                content: Content::read(from)?,
            },
            (2, 3) => Self::DeactivateDid {
                version: from.uint()?,
            },
            (4, 4) => Self::AnchorStatus {
                list: from.text()?.to_owned(),
                digest: from.array_of()?,
                issued: UnixTime(from.uint()?),
            },
            (3, 5) => Self::RegisterDid {
                subject: Identifier::read(from)?,
                key: public_key(from)?,
                consent: None,
            },
            (4, 5) => Self::RegisterDid {
                subject: Identifier::read(from)?,
                key: public_key(from)?,
                consent: Some(from.array_of()?),
            },
            (3, 6) => Self::SetRole {
                subject: Identifier::read(from)?,
                role: optional(from)?,
            },
            (2, 7) => Self::Schema {
                json: from.text()?.to_owned(),
            },
            (2, 8) => Self::CredentialDefinition(Definition::read(from)?),
            (2, 9) => Self::RevocationRegistry {
                json: from.text()?.to_owned(),
            },
            (2, 10) => Self::RevocationEntry(RevocationEntry::read(from)?),
            (2, 11) => Self::Resource(Resource::read(from)?),
            (2, 12) => Self::Delegate(Delegation::read(from)?),
            (2, 13) => Self::WithdrawDelegation {
                name: from.text()?.to_owned(),
            },
            (2, 14) => Self::Consume(Consume::read(from)?),
            (2, 15) => Self::SetAgreement(optional(from)?),
            (3, 16) => Self::ChangeValidators {
                add: from.items()?,
                remove: from.items()?,
            },
            (3, 17) => Self::ChangeRules {
                from_height: from.uint()?,
                rules: Rules::read(from)?,
            },
            _ => return Err(Malformed("an unknown operation")),
        })
    }
}
