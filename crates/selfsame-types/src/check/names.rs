//! Names that claims cannot have, because a format gives them a meaning.

use selfsame_credential::single_use;

use crate::formats::TypeFormats;

/// Maximum number of bytes of a name.
const NAME_MAX: usize = 64;
/// SD-JWT gives these a meaning at any depth (RFC 9901 §4.1).
const SD_JWT: [&str; 3] = ["_sd", "_sd_alg", "..."];
/// Members at the top of an SD-JWT VC (RFC 7519 §4.1, RFC 7800 §3, RFC 9901 §4.1, SD-JWT VC §2.2.2, and ours).
const SD_JWT_VC: [&str; 16] = [
    "iss",
    "sub",
    "aud",
    "exp",
    "nbf",
    "iat",
    "jti",
    "cnf",
    "status",
    "vct",
    "vct#integrity",
    "aka_vcts",
    "vc",
    "vp",
    single_use::CLAIM,
    single_use::HANDLE,
];
/// JSON-LD aliases these in credentials at any depth (Verifiable Credentials Data Model 2.0 §4.4, §4.5).
const W3C: [&str; 2] = ["id", "type"];

/// Whether a name has the form of a claim's name: printable, short, and without what paths are written with.
pub(super) fn is_name(name: &str) -> bool {
    (1..=NAME_MAX).contains(&name.len())
        && !name.chars().any(|c| {
            c.is_control() || c.is_whitespace() || matches!(c, '.' | '/' | '[' | ']' | '"' | '\\')
        })
}

/// Whether one of the formats in which credentials are issued reserves a name; `is_top`: whether the name is the first
/// of a claim's path.
pub(super) fn is_reserved(name: &str, is_top: bool, formats: &TypeFormats) -> bool {
    formats
        .offered()
        .any(|format| match format.describe().subject_claim {
            None => SD_JWT.contains(&name) || (is_top && SD_JWT_VC.contains(&name)),
            Some(_) => W3C.contains(&name) || name.starts_with('@'),
        })
}

/// Whether a name can be a W3C type: a term, not a URL, so that the context of the type defines it.
pub(super) fn is_w3c_type(name: &str) -> bool {
    let mut letters = name.chars();
    name.len() <= NAME_MAX
        && letters
            .next()
            .is_some_and(|first| first.is_ascii_alphabetic())
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}
