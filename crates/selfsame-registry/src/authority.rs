//! Authority: the roles of members, and one table of who may do what.

use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed};

use crate::rules::Mode;

/// A member's role in a network. A DID that is registered and not a member has no role.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Role {
    /// Governs the network.
    Trustee,
    /// Runs a validator.
    Steward,
    /// Writes for others, or endorses what they write.
    Endorser,
}

/// A permission: an operation, or the part of an operation that has its own rules.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Act {
    /// Create a DID.
    CreateDid,
    /// Change or deactivate a DID.
    ChangeDid,
    /// Anchor a status list.
    AnchorStatus,
    /// Give the role of a trustee.
    AddTrustee,
    /// Give the role of a steward.
    AddSteward,
    /// Give the role of an endorser.
    AddEndorser,
    /// Take away the role of a trustee, a steward or an endorser.
    TakeRole,
    /// Publish a schema.
    PublishSchema,
    /// Publish a credential definition.
    PublishDefinition,
    /// Publish the definition of a revocation registry.
    PublishRegistry,
    /// Change the revoked places of a revocation registry.
    ChangeRegistry,
    /// Publish a resource of a DID.
    PublishResource,
    /// Delegate, or withdraw a delegation.
    Delegate,
    /// Use up or revoke a handle, as its issuer or as the issuer's delegate.
    Consume,
    /// Put an author agreement in force, or end the one in force.
    SetAgreement,
    /// Add a validator.
    AddValidator,
    /// Remove a validator.
    RemoveValidator,
    /// Change the rules.
    ChangeRules,
}

/// The owner of the object: the author, or another DID.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Whose {
    /// The author's own.
    Own,
    /// Another DID's.
    Other,
}

/// A set of roles, as bits; one bit stands for a registered DID without a role.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Who(u8);

const NOBODY: Who = Who(0);
const TRUSTEE: Who = Who(1);
const TRUSTEE_OR_STEWARD: Who = Who(1 | 2);
const MEMBER: Who = Who(1 | 2 | 4);
const ANYBODY: Who = Who(1 | 2 | 4 | 8);

/// One line of the table.
struct AuthorityLine {
    act: Act,
    /// Who may act on their own object: in mode `open`, in mode `endorsed`.
    own: [Who; 2],
    /// Who may act on another's object: in mode `open`, in mode `endorsed`.
    other: [Who; 2],
    /// Whether an endorser's signature replaces the author's role in mode `endorsed`.
    endorsable: bool,
    /// Whether the author must accept the author agreement.
    agreement: bool,
}

const fn own(act: Act, endorsed: Who) -> AuthorityLine {
    AuthorityLine {
        act,
        own: [ANYBODY, endorsed],
        other: [NOBODY, NOBODY],
        endorsable: endorsed.0 != ANYBODY.0,
        agreement: true,
    }
}

const fn governing(act: Act, who: Who) -> AuthorityLine {
    AuthorityLine {
        act,
        own: [who, who],
        other: [who, who],
        endorsable: false,
        agreement: false,
    }
}

/// Who may do what. After the defaults of Hyperledger Indy (indy-node, docs/source/auth_rules.md): a trustee adds
/// trustees and stewards; a trustee or a steward adds endorsers; a trustee takes away any role; trustees, stewards and
/// endorsers write DIDs for others, schemas and definitions; only the owner changes an object; a steward runs one
/// validator of their own, a trustee may change any; trustees set rules and agreement. In mode `open` every registered
/// DID may publish its own objects.
const TABLE: [AuthorityLine; 18] = [
    AuthorityLine {
        other: [MEMBER, MEMBER],
        ..own(Act::CreateDid, MEMBER)
    },
    own(Act::ChangeDid, ANYBODY),
    own(Act::AnchorStatus, ANYBODY),
    AuthorityLine {
        agreement: true,
        ..governing(Act::AddTrustee, TRUSTEE)
    },
    AuthorityLine {
        agreement: true,
        ..governing(Act::AddSteward, TRUSTEE)
    },
    AuthorityLine {
        agreement: true,
        ..governing(Act::AddEndorser, TRUSTEE_OR_STEWARD)
    },
    AuthorityLine {
        agreement: true,
        ..governing(Act::TakeRole, TRUSTEE)
    },
    own(Act::PublishSchema, MEMBER),
    own(Act::PublishDefinition, MEMBER),
    own(Act::PublishRegistry, MEMBER),
    own(Act::ChangeRegistry, ANYBODY),
    own(Act::PublishResource, MEMBER),
    own(Act::Delegate, ANYBODY),
    AuthorityLine {
        // Only as a delegate; the delegation itself is checked separately.
        other: [ANYBODY, ANYBODY],
        ..own(Act::Consume, ANYBODY)
    },
    governing(Act::SetAgreement, TRUSTEE),
    AuthorityLine {
        own: [TRUSTEE_OR_STEWARD, TRUSTEE_OR_STEWARD],
        ..governing(Act::AddValidator, TRUSTEE)
    },
    AuthorityLine {
        own: [TRUSTEE_OR_STEWARD, TRUSTEE_OR_STEWARD],
        ..governing(Act::RemoveValidator, TRUSTEE)
    },
    governing(Act::ChangeRules, TRUSTEE),
];

impl Act {
    /// Every act, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|line| line.act)
    }

    /// Whether an author with this role, or without a role, may do it; `endorsed` if a member endorses the transaction.
    pub fn is_allowed(self, role: Option<Role>, whose: Whose, mode: Mode, endorsed: bool) -> bool {
        let Some(line) = self.line() else {
            return false;
        };
        let [open, with_endorser] = match whose {
            Whose::Own => line.own,
            Whose::Other => line.other,
        };
        match mode {
            Mode::Open => open.includes(role),
            Mode::Endorsed => {
                let vouched = line.endorsable && endorsed && whose == Whose::Own;
                with_endorser.includes(role) || vouched
            }
        }
    }

    /// Whether the author must accept the author agreement, on a network that has one.
    pub fn needs_agreement(self) -> bool {
        self.line().is_none_or(|line| line.agreement)
    }

    fn line(self) -> Option<&'static AuthorityLine> {
        TABLE.iter().find(|line| line.act == self)
    }
}

impl Who {
    fn includes(self, role: Option<Role>) -> bool {
        let bit = match role {
            Some(Role::Trustee) => 1,
            Some(Role::Steward) => 2,
            Some(Role::Endorser) => 4,
            None => 8,
        };
        self.0 & bit != 0
    }
}

impl Role {
    /// The role's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Trustee => "trustee",
            Self::Steward => "steward",
            Self::Endorser => "endorser",
        }
    }

    /// The permission needed to give this role.
    pub(crate) fn addition(self) -> Act {
        match self {
            Self::Trustee => Act::AddTrustee,
            Self::Steward => Act::AddSteward,
            Self::Endorser => Act::AddEndorser,
        }
    }
}

impl CborItem for Role {
    fn write(&self, to: &mut CborWriter) {
        to.text(self.name());
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        match from.text()? {
            "trustee" => Ok(Self::Trustee),
            "steward" => Ok(Self::Steward),
            "endorser" => Ok(Self::Endorser),
            _ => Err(Malformed("an unknown role")),
        }
    }
}
