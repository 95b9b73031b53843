//! What SD-JWT VC asks of an SD-JWT (draft-ietf-oauth-sd-jwt-vc, §2).

use serde_json::Value;

use super::{Processed, SdJwt};
use crate::path::Segment;

/// The type of an SD-JWT VC (§2.2.1).
pub const TYP: &str = "dc+sd-jwt";

/// The claims, with all within them, that a disclosure must never carry (§2.2.2.3).
pub const NEVER_DISCLOSED: [&str; 8] = [
    "iss",
    "nbf",
    "exp",
    "cnf",
    "vct",
    "vct#integrity",
    "aka_vcts",
    "status",
];

/// §2.2.1: the header says that this is an SD-JWT VC.
pub(crate) fn has_type(sd_jwt: &SdJwt) -> bool {
    sd_jwt.jwt().header.is_of_type(TYP)
}

/// RFC 7519 §4.1.1: `iss`, where present, is a string. What is none must not count as absent: who issued would
/// then be read from the certificate alone.
pub(crate) fn names_its_issuer_as_specified(sd_jwt: &SdJwt) -> bool {
    sd_jwt.payload().get("iss").is_none_or(Value::is_string)
}

/// §2.2.2.1: `vct` names the credential's type.
pub(crate) fn names_its_type(sd_jwt: &SdJwt) -> bool {
    let vct = sd_jwt.payload().get("vct").and_then(Value::as_str);
    vct.is_some_and(|vct| !vct.is_empty())
}

/// §2.2.2.2: `aka_vcts`, where present, is a non-empty array of strings without `vct`.
pub(crate) fn names_its_other_types(sd_jwt: &SdJwt) -> bool {
    let vct = sd_jwt.payload().get("vct");
    match sd_jwt.payload().get("aka_vcts") {
        None => true,
        Some(Value::Array(types)) => {
            !types.is_empty()
                && types
                    .iter()
                    .all(|name| name.is_string() && Some(name) != vct)
        }
        Some(_) => false,
    }
}

/// §2.2.2.3: nothing that decides over validity was selectively disclosed.
pub(crate) fn discloses_only_what_it_may(processed: &Processed) -> bool {
    processed.places.iter().all(|place| {
        !matches!(place.path.segments().first(),
            Some(Segment::Name(name)) if NEVER_DISCLOSED.contains(&name.as_str()))
    })
}
