//! Authority: the roles of members and, as one table, who may do what.

use crate::cbor::{Item, Malformed, Reader, Writer};

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

impl Role {
    /// The role's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Trustee => "trustee",
            Self::Steward => "steward",
            Self::Endorser => "endorser",
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
