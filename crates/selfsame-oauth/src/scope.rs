//! Scopes (RFC 6749 §3.3).

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Code, Error};

/// The maximum number of scopes in one request.
const MAX_SCOPES: usize = 64;

/// A set of scopes. Their order means nothing.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct ScopeSet(BTreeSet<String>);

impl ScopeSet {
    /// Parses the parameter `scope`.
    ///
    /// # Errors
    /// `invalid_scope` for other characters than RFC 6749 §3.3 allows, or too many scopes.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let allowed = |c: char| matches!(c, '!' | '#'..='[' | ']'..='~');
        let scopes: BTreeSet<String> = text
            .split(' ')
            .filter(|scope| !scope.is_empty())
            .map(str::to_owned)
            .collect();
        let is_well_formed = scopes.iter().all(|scope| scope.chars().all(allowed));
        match is_well_formed && scopes.len() <= MAX_SCOPES {
            true => Ok(Self(scopes)),
            false => Err(Error::new(Code::InvalidScope, "scope is malformed")),
        }
    }

    /// Whether the scope is in the set.
    pub fn has(&self, scope: &str) -> bool {
        self.0.contains(scope)
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The scopes in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Whether all scopes are also in the other set.
    pub fn is_within(&self, other: &Self) -> bool {
        self.0.is_subset(&other.0)
    }

    /// The scopes that are in both sets.
    #[must_use]
    pub fn both(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0).cloned().collect())
    }

    /// The scopes that this condition allows.
    #[must_use]
    pub fn keep(&self, allows: impl Fn(&str) -> bool) -> Self {
        self.iter().filter(|scope| allows(scope)).collect()
    }
}

impl<'a> FromIterator<&'a str> for ScopeSet {
    fn from_iter<I: IntoIterator<Item = &'a str>>(scopes: I) -> Self {
        Self(scopes.into_iter().map(str::to_owned).collect())
    }
}

impl fmt::Display for ScopeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, scope) in self.0.iter().enumerate() {
            let space = if place == 0 { "" } else { " " };
            write!(f, "{space}{scope}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_a_set() {
        let scopes = ScopeSet::parse("profile openid  openid").unwrap();
        assert_eq!(scopes.to_string(), "openid profile");
        assert!(scopes.has("openid") && !scopes.has("email"));
        assert!(ScopeSet::parse("openid").unwrap().is_within(&scopes));
        assert!(ScopeSet::parse("").unwrap().is_empty());
    }

    #[test]
    fn a_scope_with_quotes_or_control_characters_is_refused() {
        for bad in ["a\"b", "a\\b", "a\tb", "ä"] {
            assert_eq!(ScopeSet::parse(bad).unwrap_err().code, Code::InvalidScope);
        }
    }
}
