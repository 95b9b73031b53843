//! Checks of a type that is issued as a compact credential: what such a credential can say.

use selfsame_credential::format::cwt::{MAX_CLAIMS, MAX_TYPES};
use selfsame_driver::Reason;

use super::{Checked, many};
use crate::model::{ClaimKind, TypeClaim, TypeDefinition};

pub(super) fn check(definition: &TypeDefinition, found: &mut Checked) {
    let mut formats = definition.formats.issued.iter();
    if !formats.any(|format| format.describe().is_for_machines) {
        return;
    }
    // The first type, which every credential has, is not stated.
    if definition.w3c_types.len() > MAX_TYPES.saturating_add(1) {
        found.refuse(many("w3c_types", MAX_TYPES.saturating_add(1)));
    }
    if definition.claims.len() > MAX_CLAIMS {
        found.refuse(many("claims", MAX_CLAIMS));
    }
    for (number, claim) in definition.claims.iter().enumerate() {
        let is_flat = claim.path.len() < 2;
        if claim.is_in_credential() && !(is_flat && has_compact_form(claim)) {
            found.refuse(Reason::new("type-compact").with("place", &format!("claims[{number}]")));
        }
    }
}

fn has_compact_form(claim: &TypeClaim) -> bool {
    match claim.kind {
        ClaimKind::List => claim.of.as_deref().is_some_and(|of| is_text(of.kind)),
        ClaimKind::Number => claim.integer && claim.min.is_some_and(|min| min >= 0.0),
        ClaimKind::Boolean => true,
        kind => is_text(kind),
    }
}

/// Images are texts too, but too long for a handshake.
fn is_text(kind: ClaimKind) -> bool {
    matches!(
        kind,
        ClaimKind::Text | ClaimKind::Date | ClaimKind::Enumeration
    )
}
