//! Who sent a request, and which rights they have.

use selfsame_core::organisation::OrganisationName;
use selfsame_driver::{Error, ErrorKind, Result};

use crate::right::{Needed, Right, Rights};
use crate::role::{self, OperatorRole};

/// Who acts.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Actor {
    /// The holder of the operator token, which every instance has for emergencies and for programs on its machine.
    Token,
    /// A person with an account.
    Person {
        /// The id of the account.
        id: String,
        /// Their e-mail address.
        email: String,
    },
    /// A program with an API key.
    Key {
        /// The id of the key.
        id: String,
        /// The name that the key was given.
        name: String,
    },
}

/// Who sent a request, with their rights.
#[derive(Clone, Debug)]
pub struct Authority {
    /// Who acts.
    pub actor: Actor,
    grants: Grants,
}

#[derive(Clone, Debug)]
enum Grants {
    /// Every right everywhere.
    All,
    /// The roles of a person in each organisation that they work for.
    Roles(Vec<(OrganisationName, Vec<OperatorRole>)>),
    /// The rights of a key in its organisation.
    Rights(OrganisationName, Rights),
}

impl Authority {
    /// The holder of the operator token.
    #[must_use]
    pub const fn token() -> Self {
        Self {
            actor: Actor::Token,
            grants: Grants::All,
        }
    }

    pub(crate) fn person(actor: Actor, roles: Vec<(OrganisationName, Vec<OperatorRole>)>) -> Self {
        let grants = Grants::Roles(roles);
        Self { actor, grants }
    }

    pub(crate) fn key(actor: Actor, organisation: OrganisationName, rights: Rights) -> Self {
        let grants = Grants::Rights(organisation, rights);
        Self { actor, grants }
    }

    /// The rights in an organisation.
    #[must_use]
    pub fn rights(&self, organisation: &OrganisationName) -> Rights {
        match &self.grants {
            Grants::All => Rights::every(),
            Grants::Rights(own, rights) if own == organisation => *rights,
            Grants::Rights(..) => Rights::NONE,
            Grants::Roles(all) => all.iter().fold(Rights::NONE, |set, (own, roles)| {
                let elsewhere = roles.iter().map(|role| role.rights_elsewhere());
                match own == organisation {
                    true => set.and(role::rights(roles)),
                    false => elsewhere.fold(set, Rights::and),
                }
            }),
        }
    }

    /// Whether this right is held in this organisation.
    #[must_use]
    pub fn may(&self, organisation: &OrganisationName, right: Right) -> bool {
        self.rights(organisation).has(right)
    }

    /// Whether they run the instance.
    #[must_use]
    pub fn is_administrator(&self) -> bool {
        match &self.grants {
            Grants::All => true,
            Grants::Rights(..) => false,
            Grants::Roles(all) => all
                .iter()
                .any(|(own, roles)| own.is_main() && roles.contains(&OperatorRole::Administrator)),
        }
    }

    /// The organisations in which they have a role, for a person.
    pub fn organisations(&self) -> impl Iterator<Item = &OrganisationName> {
        let all = match &self.grants {
            Grants::Roles(all) => all.as_slice(),
            Grants::All | Grants::Rights(..) => &[],
        };
        all.iter().map(|(name, _)| name)
    }

    /// Refuses an act without this right.
    ///
    /// # Errors
    /// `Forbidden`, with the right that is missing.
    pub fn needs(&self, organisation: &OrganisationName, right: Right) -> Result<()> {
        match self.may(organisation, right) {
            true => Ok(()),
            false => Err(lacking(organisation, right)),
        }
    }

    /// Refuses an act without what it needs.
    ///
    /// # Errors
    /// `Forbidden`, with what is missing.
    pub fn meets(&self, organisation: &OrganisationName, needed: Needed) -> Result<()> {
        match needed {
            Needed::Right(right) => self.needs(organisation, right),
            Needed::Any if !self.rights(organisation).is_empty() => Ok(()),
            Needed::Any => {
                Err(Error::new(ErrorKind::Forbidden, "rights-none")
                    .with("organisation", organisation))
            }
        }
    }
}

/// The refusal of an act without a right.
pub(crate) fn lacking(organisation: &OrganisationName, right: Right) -> Error {
    Error::new(ErrorKind::Forbidden, "right-missing")
        .with("right", &right)
        .with("organisation", organisation)
}
