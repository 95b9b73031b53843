//! The credentials that people get by signing in (OpenID4VCI 1.0 §5): a scope for each type, and the claims that a
//! credential of it is made from. A person who agrees to the scope has to agree to these claims.

use std::collections::{BTreeMap, BTreeSet};

use selfsame_haip::WantedProfile;

/// The scopes that stand for credentials, each the id of a credential type, with the claims that such a credential is
/// made from.
#[derive(Clone, Debug, Default)]
pub struct CredentialScopes {
    scopes: BTreeMap<String, BTreeSet<String>>,
    profile: Option<WantedProfile>,
}

impl CredentialScopes {
    /// These scopes, of an issuer that keeps a profile.
    #[must_use]
    pub fn keeping(self, profile: Option<WantedProfile>) -> Self {
        Self { profile, ..self }
    }

    /// The profile that the issuer keeps.
    pub(crate) fn profile(&self) -> Option<WantedProfile> {
        self.profile
    }

    /// The scopes.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.scopes.keys().map(String::as_str)
    }

    /// The scope of a credential configuration, whose identifier begins with the id of its type. The issuer judges the
    /// configuration itself.
    pub(crate) fn of_configuration(&self, id: &str) -> Option<&str> {
        let begins = |scope: &&str| {
            let rest = id.strip_prefix(*scope);
            rest.is_some_and(|rest| rest.starts_with('_'))
        };
        self.names().filter(begins).max_by_key(|scope| scope.len())
    }

    /// The claims that a credential with this scope is made from.
    pub(crate) fn claims(&self, scope: &str) -> impl Iterator<Item = &String> {
        self.scopes.get(scope).into_iter().flatten()
    }
}

impl FromIterator<(String, BTreeSet<String>)> for CredentialScopes {
    fn from_iter<I: IntoIterator<Item = (String, BTreeSet<String>)>>(scopes: I) -> Self {
        Self {
            scopes: scopes.into_iter().collect(),
            profile: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_has_the_scope_of_its_type() {
        let scope = |name: &str| (name.to_owned(), BTreeSet::new());
        let scopes: CredentialScopes = ["pass", "pass_staff"].map(scope).into_iter().collect();
        assert_eq!(scopes.of_configuration("pass_1_sd-jwt"), Some("pass"));
        let longer = scopes.of_configuration("pass_staff_1_sd-jwt");
        assert_eq!(longer, Some("pass_staff"));
        assert_eq!(scopes.of_configuration("passport_1_sd-jwt"), None);
        assert_eq!(scopes.of_configuration("pass"), None);
    }
}
