//! The claims of a type as the tree of objects that they make in a credential.

use std::collections::BTreeMap;

use crate::model::TypeClaim;

/// A claim, and the names that still lead to it.
pub(super) struct Branch<'a> {
    /// The names; none if the claim is here.
    pub names: &'a [String],
    /// The claim.
    pub claim: &'a TypeClaim,
}

/// What the members of an object lead to, by the name of the member.
pub(super) type BranchesByName<'a> = BTreeMap<&'a str, Vec<Branch<'a>>>;

impl<'a> Branch<'a> {
    /// The claims beside each other, with their whole paths.
    pub fn all(claims: impl IntoIterator<Item = &'a TypeClaim>) -> Vec<Self> {
        let whole = |claim: &'a TypeClaim| Self {
            names: &claim.path,
            claim,
        };
        claims.into_iter().map(whole).collect()
    }

    /// The claim, if it is the only one and it is here.
    pub fn only(branches: &[Self]) -> Option<&'a TypeClaim> {
        match branches {
            [only] if only.names.is_empty() => Some(only.claim),
            _ => None,
        }
    }
}

/// The claims by the member that leads to them.
pub(super) fn members(branches: Vec<Branch<'_>>) -> BranchesByName<'_> {
    let mut below = BranchesByName::new();
    for branch in branches {
        if let Some((first, names)) = branch.names.split_first() {
            let branch = Branch {
                names,
                claim: branch.claim,
            };
            below.entry(first).or_default().push(branch);
        }
    }
    below
}
