//! What tells an SD-JWT VC from other JWTs: for its own format, and for those that must not take it for theirs.

use selfsame_verdict::{BrokenRule, Law};

/// The type of an SD-JWT VC (SD-JWT VC §2.2.1).
pub(super) const TYP: &str = "dc+sd-jwt";

pub(super) const WELL_FORMED: Law = Law::new("well_formed", "RFC 9901 §4", BrokenRule::Invalid);
