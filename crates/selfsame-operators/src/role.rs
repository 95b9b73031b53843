//! Roles: what a person is for an organisation.

use selfsame_core::organisation::OrganisationName;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::right::{Area, Right, Rights};

/// What a person is for an organisation.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum OperatorRole {
    /// Runs the instance: creates organisations, appoints people in each, makes backups. Sees no claims and issues nothing.
    Administrator,
    /// Runs the organisation, with every right in it.
    Owner,
    /// Issues credentials and changes their status.
    Issuer,
    /// Asks for presentations and sees the claims that people show.
    Verifier,
    /// Reads the audit trail and the settings. Sees no claims and changes nothing.
    Auditor,
}

/// What an owner may do: all that an organisation has.
const OWNER: Rights = Rights::of(&[
    Area::Issuer.read(),
    Area::Issuer.write(),
    Area::Verifier.read(),
    Area::Verifier.write(),
    Area::Types.read(),
    Area::Types.write(),
    Area::Agent.read(),
    Area::Agent.write(),
    Area::People.read(),
    Area::People.write(),
    Area::Audit.read(),
    Area::Webhooks.read(),
    Area::Webhooks.write(),
    Area::Settings.read(),
    Area::Settings.write(),
]);
const ISSUER: Rights = Rights::of(&[
    Area::Issuer.read(),
    Area::Issuer.write(),
    Area::Types.read(),
    Area::Agent.read(),
    Area::Agent.write(),
]);
const VERIFIER: Rights = Rights::of(&[
    Area::Verifier.read(),
    Area::Verifier.write(),
    Area::Types.read(),
    Area::Agent.read(),
    Area::Agent.write(),
]);
const AUDITOR: Rights = Rights::of(&[
    Area::Audit.read(),
    Area::People.read(),
    Area::Types.read(),
    Area::Settings.read(),
]);
/// What an administrator may do where the instance is run.
const ADMINISTRATOR: Rights = Rights::of(&[
    Area::Audit.read(),
    Area::Organisations.read(),
    Area::Organisations.write(),
    Area::Dids.read(),
    Area::Dids.write(),
    Area::Wallets.read(),
    Area::Wallets.write(),
    Area::Registry.read(),
    Area::Registry.write(),
    Area::Webhooks.read(),
    Area::Webhooks.write(),
    Area::Settings.read(),
    Area::Settings.write(),
    Area::Instance.read(),
    Area::Instance.write(),
]);
/// What an administrator may do in every organisation.
const APPOINTING: Rights = Rights::of(&[Area::People.read(), Area::People.write()]);

impl OperatorRole {
    /// All roles, in the order of the enum.
    pub const ALL: [Self; 5] = [
        Self::Administrator,
        Self::Owner,
        Self::Issuer,
        Self::Verifier,
        Self::Auditor,
    ];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Administrator => "administrator",
            Self::Owner => "owner",
            Self::Issuer => "issuer",
            Self::Verifier => "verifier",
            Self::Auditor => "auditor",
        }
    }

    /// Its rights in the organisation that it is a role of.
    #[must_use]
    pub const fn rights(self) -> Rights {
        match self {
            Self::Administrator => ADMINISTRATOR.and(APPOINTING),
            Self::Owner => OWNER,
            Self::Issuer => ISSUER,
            Self::Verifier => VERIFIER,
            Self::Auditor => AUDITOR,
        }
    }

    /// Its rights in every other organisation of the instance.
    #[must_use]
    pub const fn rights_elsewhere(self) -> Rights {
        match self {
            Self::Administrator => APPOINTING,
            _ => Rights::NONE,
        }
    }

    /// Whether people of this organisation can have it. The instance is run from the organisation that every instance
    /// has.
    #[must_use]
    pub fn fits(self, organisation: &OrganisationName) -> bool {
        self != Self::Administrator || organisation.is_main()
    }

    /// The rights to appoint it: who gives a role has all of its rights, or runs the instance.
    #[must_use]
    pub fn may_be_given_by(self, rights: Rights, is_administrator: bool) -> bool {
        is_administrator || self.rights().beyond(rights).is_none()
    }
}

/// The rights of these roles.
pub(crate) fn rights(roles: &[OperatorRole]) -> Rights {
    let add = |set: Rights, role: &OperatorRole| set.and(role.rights());
    roles.iter().fold(Rights::NONE, add)
}

impl Right {
    /// Whether keys of this organisation can have it. Rights about the instance are given by the organisation that
    /// runs it.
    #[must_use]
    pub fn fits(self, organisation: &OrganisationName) -> bool {
        OWNER.has(self) || organisation.is_main()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_owners_and_verifiers_see_the_claims_that_people_show() {
        let sees = |role: &OperatorRole| role.rights().has(Area::Verifier.read());
        let seeing: Vec<_> = OperatorRole::ALL.into_iter().filter(sees).collect();
        assert_eq!(seeing, [OperatorRole::Owner, OperatorRole::Verifier]);
    }

    #[test]
    fn an_auditor_changes_nothing() {
        assert!(Right::all().all(|right| {
            right.access == crate::AccessMode::Read || !OperatorRole::Auditor.rights().has(right)
        }));
    }

    #[test]
    fn who_gives_a_role_has_its_rights_or_runs_the_instance() {
        assert!(OperatorRole::Issuer.may_be_given_by(OperatorRole::Owner.rights(), false));
        assert!(OperatorRole::Owner.may_be_given_by(OperatorRole::Owner.rights(), false));
        assert!(!OperatorRole::Administrator.may_be_given_by(OperatorRole::Owner.rights(), false));
        assert!(!OperatorRole::Owner.may_be_given_by(OperatorRole::Issuer.rights(), false));
        assert!(OperatorRole::Owner.may_be_given_by(OperatorRole::Administrator.rights(), true));
    }

    #[test]
    fn roles_together_have_every_right_but_that_to_write_the_audit_trail() {
        let ungiven: Vec<_> = Right::all()
            .filter(|right| !rights(&OperatorRole::ALL).has(*right))
            .collect();
        assert_eq!(ungiven, [Area::Audit.write()]);
    }
}
