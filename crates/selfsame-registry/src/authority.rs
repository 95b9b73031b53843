//! Authority: the roles of members and, as one table, who may do what.

use selfsame_proof::cbor::{Item, Malformed, Reader, Writer};

use crate::rules::Mode;

/// What a member is in a network. Everybody else who is registered has no role.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Role {
    /// Governs the network.
    Trustee,
    /// Runs a validator.
    Steward,
    /// Writes for others, or vouches for what they write.
    Endorser,
}

/// What can be done: an operation, or the part of one that has rules of its own.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Act {
    /// Begin a DID.
    CreateDid,
    /// Change or end a DID.
    ChangeDid,
    /// Anchor a status list.
    AnchorStatus,
    /// Make somebody a trustee.
    AddTrustee,
    /// Make somebody a steward.
    AddSteward,
    /// Make somebody an endorser.
    AddEndorser,
    /// Take a trustee's, a steward's or an endorser's role away.
    TakeRole,
    /// Publish a schema.
    PublishSchema,
    /// Publish a credential definition.
    PublishDefinition,
    /// Publish the definition of a revocation registry.
    PublishRegistry,
    /// Change what a revocation registry revokes.
    ChangeRegistry,
    /// Publish a resource of a DID.
    PublishResource,
    /// Delegate, or withdraw what was delegated.
    Delegate,
    /// Use a handle up, or revoke it: one's own, or as the delegate of its issuer.
    Consume,
    /// Put the author agreement in force, or out of it.
    SetAgreement,
    /// Add a validator.
    AddValidator,
    /// Remove a validator.
    RemoveValidator,
    /// Change the rules.
    ChangeRules,
}

/// Whose object it is: the author's own, or somebody else's.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Whose {
    /// The author's.
    Own,
    /// Not the author's.
    Other,
}

/// Roles, and being registered without one, as bits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Who(u8);

const NOBODY: Who = Who(0);
const TRUSTEE: Who = Who(1);
const TRUSTEE_OR_STEWARD: Who = Who(1 | 2);
const MEMBER: Who = Who(1 | 2 | 4);
const ANYBODY: Who = Who(1 | 2 | 4 | 8);

/// One line of the table.
struct Line {
    act: Act,
    /// Who may with an object of his own: in mode `open`, in mode `endorsed`.
    own: [Who; 2],
    /// Who may with somebody else's: in mode `open`, in mode `endorsed`.
    other: [Who; 2],
    /// Whether an endorser's signature stands in for a role in mode `endorsed`.
    endorsable: bool,
    /// Whether the author has to accept the author agreement first.
    agreement: bool,
}

const fn own(act: Act, endorsed: Who) -> Line {
    Line {
        act,
        own: [ANYBODY, endorsed],
        other: [NOBODY, NOBODY],
        endorsable: endorsed.0 != ANYBODY.0,
        agreement: true,
    }
}

const fn governing(act: Act, who: Who) -> Line {
    Line {
        act,
        own: [who, who],
        other: [who, who],
        endorsable: false,
        agreement: false,
    }
}

/// Who may do what. After the defaults of Hyperledger Indy (indy-node, docs/source/auth_rules.md):
/// a trustee adds trustees and stewards; a trustee or a steward adds endorsers; a trustee takes any
/// role away; trustees, stewards and endorsers write DIDs for others, schemas and definitions; the
/// owner alone changes what is his; a steward runs one validator of his own, a trustee may change
/// any; trustees set rules and agreement. Mode `open` lets everybody publish what is his own.
const TABLE: [Line; 18] = [
    Line {
        other: [MEMBER, MEMBER],
        ..own(Act::CreateDid, MEMBER)
    },
    own(Act::ChangeDid, ANYBODY),
    own(Act::AnchorStatus, ANYBODY),
    Line {
        agreement: true,
        ..governing(Act::AddTrustee, TRUSTEE)
    },
    Line {
        agreement: true,
        ..governing(Act::AddSteward, TRUSTEE)
    },
    Line {
        agreement: true,
        ..governing(Act::AddEndorser, TRUSTEE_OR_STEWARD)
    },
    Line {
        agreement: true,
        ..governing(Act::TakeRole, TRUSTEE)
    },
    own(Act::PublishSchema, MEMBER),
    own(Act::PublishDefinition, MEMBER),
    own(Act::PublishRegistry, MEMBER),
    own(Act::ChangeRegistry, ANYBODY),
    own(Act::PublishResource, MEMBER),
    own(Act::Delegate, ANYBODY),
    Line {
        // Only as a delegate: the delegation is judged besides.
        other: [ANYBODY, ANYBODY],
        ..own(Act::Consume, ANYBODY)
    },
    governing(Act::SetAgreement, TRUSTEE),
    Line {
        own: [TRUSTEE_OR_STEWARD, TRUSTEE_OR_STEWARD],
        ..governing(Act::AddValidator, TRUSTEE)
    },
    Line {
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

    /// Whether somebody with this role, or none, may; `endorsed` if a member vouches for it.
    pub fn is_allowed(
        self,
        (role, whose): (Option<Role>, Whose),
        mode: Mode,
        endorsed: bool,
    ) -> bool {
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

    /// Whether the author has to accept the author agreement first, where there is one.
    pub fn needs_agreement(self) -> bool {
        self.line().is_none_or(|line| line.agreement)
    }

    fn line(self) -> Option<&'static Line> {
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

    /// The act of giving it.
    pub(crate) fn addition(self) -> Act {
        match self {
            Self::Trustee => Act::AddTrustee,
            Self::Steward => Act::AddSteward,
            Self::Endorser => Act::AddEndorser,
        }
    }
}

impl Item for Role {
    fn write(&self, to: &mut Writer) {
        to.text(self.name());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        match from.text()? {
            "trustee" => Ok(Self::Trustee),
            "steward" => Ok(Self::Steward),
            "endorser" => Ok(Self::Endorser),
            _ => Err(Malformed("an unknown role")),
        }
    }
}
