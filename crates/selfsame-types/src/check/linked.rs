//! Checks of a type that is issued with Data Integrity proofs: everything in a credential has a meaning there.

use selfsame_driver::Reason;
use serde_json::Map;

use super::Checked;
use crate::fill::put;
use crate::model::TypeDefinition;

pub(super) fn check(definition: &TypeDefinition, found: &mut Checked) {
    // What is wrong with the claims themselves is said already.
    if !definition.is_linked() || !found.refusals.is_empty() {
        return;
    }
    let mut claims = Map::new();
    for claim in definition
        .claims
        .iter()
        .filter(|claim| claim.is_in_credential())
    {
        put(&mut claims, &claim.path, claim.sample());
    }
    if let Err(error) = definition.check_signable(&claims) {
        found.refuse(Reason::new("type-not-signable").with("detail", &error));
    }
}
