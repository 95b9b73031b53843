//! Rights: an area, and whether it is read or written.

use std::fmt;

use selfsame_driver::{Error, Result};
use serde::{Deserialize, Serialize};

/// What a right is about.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Area {
    /// Offers, issued credentials and their status.
    Issuer,
    /// Requests for presentations, and the claims that people have shown.
    Verifier,
    /// Credential types.
    Types,
    /// The agent's connections with other agents, and its invitations.
    Agent,
    /// Webhooks and their deliveries.
    Webhooks,
    /// People, their roles, and API keys.
    People,
    /// The audit trail.
    Audit,
    /// What an organisation decides about itself: its logo, its colour, and the issuers it trusts.
    Settings,
    /// The organisations of the instance.
    Organisations,
    /// The DIDs of the instance.
    Dids,
    /// Invitations to wallets.
    Wallets,
    /// The registry.
    Registry,
    /// The instance itself: its state, its backups.
    Instance,
}

impl Area {
    /// All areas, in the order of the enum.
    pub const ALL: [Self; 13] = [
        Self::Issuer,
        Self::Verifier,
        Self::Types,
        Self::Agent,
        Self::Webhooks,
        Self::People,
        Self::Audit,
        Self::Settings,
        Self::Organisations,
        Self::Dids,
        Self::Wallets,
        Self::Registry,
        Self::Instance,
    ];

    /// Its name in a right.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Issuer => "issuer",
            Self::Verifier => "verifier",
            Self::Types => "types",
            Self::Agent => "agent",
            Self::Webhooks => "webhooks",
            Self::People => "people",
            Self::Audit => "audit",
            Self::Settings => "settings",
            Self::Organisations => "organisations",
            Self::Dids => "dids",
            Self::Wallets => "wallets",
            Self::Registry => "registry",
            Self::Instance => "instance",
        }
    }

    /// The right to read it.
    #[must_use]
    pub const fn read(self) -> Right {
        Right {
            area: self,
            access: AccessMode::Read,
        }
    }

    /// The right to change it.
    #[must_use]
    pub const fn write(self) -> Right {
        Right {
            area: self,
            access: AccessMode::Write,
        }
    }
}

/// What is done in an area.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum AccessMode {
    /// It is read.
    Read,
    /// It is changed.
    Write,
}

/// A right, written `issuer:read`. The right to write does not include the right to read.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Right {
    /// What it is about.
    pub area: Area,
    /// What may be done there.
    pub access: AccessMode,
}

impl Right {
    /// Parses a right.
    ///
    /// # Errors
    /// `BadRequest` for text that names none.
    pub fn parse(text: &str) -> Result<Self> {
        let unknown = || Error::bad_request("right-unknown").with("right", text);
        let (area, access) = text.split_once(':').ok_or_else(unknown)?;
        let access = match access {
            "read" => AccessMode::Read,
            "write" => AccessMode::Write,
            _ => return Err(unknown()),
        };
        let area = Area::ALL.into_iter().find(|known| known.as_str() == area);
        let area = area.ok_or_else(unknown)?;
        Ok(Self { area, access })
    }

    /// All rights.
    pub fn all() -> impl Iterator<Item = Self> {
        let of = |area: Area| [area.read(), area.write()];
        Area::ALL.into_iter().flat_map(of)
    }

    const fn bit(self) -> u32 {
        let access = match self.access {
            AccessMode::Read => 0,
            AccessMode::Write => 1,
        };
        1 << (self.area as u32 * 2 + access)
    }
}

impl fmt::Display for Right {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let access = match self.access {
            AccessMode::Read => "read",
            AccessMode::Write => "write",
        };
        write!(formatter, "{}:{access}", self.area.as_str())
    }
}

impl TryFrom<String> for Right {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        Self::parse(&text)
    }
}

impl From<Right> for String {
    fn from(right: Right) -> Self {
        right.to_string()
    }
}

/// What an act in an organisation needs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Needed {
    /// This right.
    Right(Right),
    /// A right, whichever it is.
    Any,
}

/// A set of rights.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(from = "Vec<Right>", into = "Vec<Right>")]
pub struct Rights(u32);

impl Rights {
    /// No right.
    pub const NONE: Self = Self(0);

    /// Every right.
    #[must_use]
    pub fn every() -> Self {
        Right::all().collect()
    }

    /// These rights.
    #[must_use]
    pub const fn of(rights: &[Right]) -> Self {
        let (mut set, mut rest) = (0, rights);
        while let [right, others @ ..] = rest {
            set |= right.bit();
            rest = others;
        }
        Self(set)
    }

    /// Whether the set has this right.
    #[must_use]
    pub const fn has(self, right: Right) -> bool {
        self.0 & right.bit() != 0
    }

    /// Whether the set has no right.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The rights of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The rights that both sets have.
    #[must_use]
    pub const fn within(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The first right that `other` lacks.
    #[must_use]
    pub fn beyond(self, other: Self) -> Option<Right> {
        self.iter().find(|right| !other.has(*right))
    }

    /// Its rights, in the order of the areas.
    pub fn iter(self) -> impl Iterator<Item = Right> {
        Right::all().filter(move |right| self.has(*right))
    }
}

impl FromIterator<Right> for Rights {
    fn from_iter<I: IntoIterator<Item = Right>>(rights: I) -> Self {
        let add = |set: u32, right: Right| set | right.bit();
        Self(rights.into_iter().fold(0, add))
    }
}

impl From<Vec<Right>> for Rights {
    fn from(rights: Vec<Right>) -> Self {
        rights.into_iter().collect()
    }
}

impl From<Rights> for Vec<Right> {
    fn from(rights: Rights) -> Self {
        rights.iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_right_is_parsed_from_what_it_is_written_as() {
        for right in Right::all() {
            assert_eq!(Right::parse(&right.to_string()), Ok(right));
        }
        for text in [
            "",
            "issuer",
            "issuer:",
            "issuer:rw",
            "Issuer:read",
            "issuer:read ",
        ] {
            assert!(Right::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_set_has_exactly_the_rights_it_was_made_of(chosen in proptest::collection::vec(any::<bool>(), 26)) {
            let rights: Vec<Right> = Right::all().zip(&chosen).filter(|(_, is)| **is).map(|(right, _)| right).collect();
            let set: Rights = rights.iter().copied().collect();
            prop_assert_eq!(set, Rights::of(&rights));
            for (right, is) in Right::all().zip(&chosen) {
                prop_assert_eq!(set.has(right), *is);
            }
            prop_assert_eq!(Vec::from(set), rights);
            prop_assert_eq!(set.beyond(set), None);
            prop_assert_eq!(Rights::every().beyond(set).is_none(), chosen.iter().all(|is| *is));
        }
    }
}
