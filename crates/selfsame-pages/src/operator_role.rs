//! Roles of people who work for an organisation, in words.

use selfsame_operators::OperatorRole;

/// A role as pages show it.
pub struct RoleWords {
    /// Its name in forms.
    pub id: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// What a person with this role may do.
    pub may: &'static str,
}

impl From<OperatorRole> for RoleWords {
    fn from(role: OperatorRole) -> Self {
        let (name, may) = match role {
            OperatorRole::Administrator => (
                "Administrator",
                "Runs the instance: creates organisations and appoints people in each, but issues nothing and sees no claims.",
            ),
            OperatorRole::Owner => (
                "Owner",
                "May do everything in this organisation, including inviting people and making API keys.",
            ),
            OperatorRole::Issuer => (
                "Issuer",
                "Issues credentials, and suspends or revokes them.",
            ),
            OperatorRole::Verifier => (
                "Verifier",
                "Requests presentations, and sees the claims that people show.",
            ),
            OperatorRole::Auditor => (
                "Auditor",
                "Reads the audit trail and who works here, but changes nothing and sees no claims.",
            ),
        };
        let id = role.as_str();
        Self { id, name, may }
    }
}

/// The names of roles as one text.
pub fn names(roles: &[OperatorRole]) -> String {
    let names = roles.iter().map(|role| RoleWords::from(*role).name);
    names.collect::<Vec<_>>().join(", ")
}
