//! What members of a registration have in common.

use selfsame_crypto::Algorithm;
use selfsame_oauth::{Code, Error};

use crate::rules::ProviderRules;

/// The refusal of a member.
pub(crate) const fn invalid(reason: &'static str) -> Error {
    Error::new(Code::InvalidClientMetadata, reason)
}

/// An algorithm that the rules allow.
pub(crate) fn algorithm(name: &str, rules: &ProviderRules) -> Result<Algorithm, Error> {
    let known = name.parse().ok();
    let known = known.filter(|known| rules.algorithms.contains(known));
    known.ok_or(invalid("an algorithm is not allowed"))
}

pub(crate) fn optional(
    name: &Option<String>,
    rules: &ProviderRules,
) -> Result<Option<Algorithm>, Error> {
    let name = name.as_deref();
    name.map(|name| algorithm(name, rules)).transpose()
}
