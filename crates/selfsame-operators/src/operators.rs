//! The parts that people, invitations and keys share.

use selfsame_accounts::{Accounts, AccountsParts, Realm, Registration, account_id};
use selfsame_core::organisation::OrganisationName;
use selfsame_driver::clock::Clock;
use selfsame_driver::{CpuPool, ErrorKind, Result};
use selfsame_store::{Store, Tag, TenantId};
use url::Url;

use crate::authority::{Actor, Authority};
use crate::view::AuthorityView;

/// The parts that operators are built on.
pub struct OperatorsParts {
    /// The store.
    pub store: Store,
    /// Time and randomness.
    pub clock: Clock,
    /// The pool that passwords are hashed in.
    pub work: CpuPool,
    /// The origin of the pages, for links.
    pub origin: Url,
}

/// The people and the programs that work for the organisations of an instance.
pub struct Operators {
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) origin: Url,
    pub(crate) accounts: Accounts,
}

impl Operators {
    /// Those in the store of these parts.
    #[must_use]
    pub fn new(parts: OperatorsParts) -> Self {
        let OperatorsParts {
            store,
            clock,
            work,
            origin,
        } = parts;
        let accounts = AccountsParts {
            store: store.clone(),
            clock: clock.clone(),
            work,
            origin: origin.clone(),
            // An account comes with an invitation, which this crate keeps.
            registration: Registration::Closed,
        };
        Self {
            store,
            clock,
            origin,
            accounts: Accounts::of(Realm::Operators, accounts),
        }
    }

    /// The accounts: sign-in, sessions, known devices.
    #[must_use]
    pub fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    /// The authority of the person with this session; `None` if it has ended.
    ///
    /// # Errors
    /// The store's.
    pub async fn of_session(&self, session: &str) -> Result<Option<Authority>> {
        let person = match self.accounts.person(session).await {
            Ok(person) => person,
            Err(error) if error.kind == ErrorKind::Unauthenticated => return Ok(None),
            Err(error) => return Err(error),
        };
        let id = account_id(&person.email);
        let roles = self.roles_of(&id).await?;
        let email = person.email;
        Ok(Some(Authority::person(Actor::Person { id, email }, roles)))
    }

    /// The person with this e-mail address, if they work for an organisation. It takes the same steps whether they do.
    ///
    /// # Errors
    /// The store's.
    pub async fn of_email(&self, email: &str) -> Result<Option<Authority>> {
        let email = email.trim().to_lowercase();
        let id = account_id(&email);
        let roles = self.roles_of(&id).await?;
        let is_known = !roles.is_empty();
        let authority = || Authority::person(Actor::Person { id, email }, roles);
        Ok(is_known.then(authority))
    }

    /// Ends a session.
    ///
    /// # Errors
    /// The store's.
    pub async fn sign_out(&self, session: &str) -> Result<()> {
        self.accounts.sign_out(session).await
    }
}

impl Authority {
    /// Who this is, with their rights in an organisation.
    #[must_use]
    pub fn view(&self, organisation: &OrganisationName) -> AuthorityView {
        let (kind, name) = match &self.actor {
            Actor::Token => ("token", None),
            Actor::Person { email, .. } => ("person", Some(email.clone())),
            Actor::Key { name, .. } => ("key", Some(name.clone())),
        };
        AuthorityView {
            kind: kind.to_owned(),
            name,
            organisation: organisation.clone(),
            rights: self.rights(organisation).into(),
        }
    }
}

impl Actor {
    /// Their name for people.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Token => "operator token",
            Self::Person { email, .. } => email,
            Self::Key { name, .. } => name,
        }
    }
}

/// The tenant that holds people, invitations and keys.
pub(crate) fn home() -> TenantId {
    TenantId::instance()
}

/// The tag of what belongs to an organisation.
pub(crate) fn of_organisation(organisation: &OrganisationName) -> Tag {
    Tag::hashed("organisation", organisation.to_string())
}
