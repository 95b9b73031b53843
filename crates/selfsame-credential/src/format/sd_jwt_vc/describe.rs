//! The properties of SD-JWT VC, and its requirements for an SD-JWT (draft-ietf-oauth-sd-jwt-vc, §2).

use serde_json::Value;

use crate::{
    format::sd_jwt_form::TYP,
    format::view::{Description, Profile, StatusForm},
    path::Segment,
    sd_jwt::{Processed, SdJwt},
};

pub(super) const DESCRIPTION: Description = Description {
    name: "dc+sd-jwt",
    label: "sd_jwt_vc",
    title: "SD-JWT VC",
    summary: "SD-JWT VC: claims can be shown one by one",
    profile: Profile::SdJwtVc,
    type_claims: &["vct", "aka_vcts"],
    subject_claim: None,
    discloses_selectively: true,
    binds_to_did: false,
    status: StatusForm::Claim,
    issuer_needs_did: false,
    undefined_terms: None,
    names_schema: false,
    is_for_machines: false,
};

/// The claims that must never be disclosed selectively, neither as a whole nor in part (§2.2.2.3).
pub(crate) const NEVER_DISCLOSED: [&str; 8] = [
    "iss",
    "nbf",
    "exp",
    "cnf",
    "vct",
    "vct#integrity",
    "aka_vcts",
    "status",
];

/// §2.2.1: the header must have the type of an SD-JWT VC.
pub(super) fn has_type(sd_jwt: &SdJwt) -> bool {
    sd_jwt.jwt().header.is_of_type(TYP)
}

/// RFC 7519 §4.1.1: `iss`, if present, is a string. Any other value must not count as absent: the issuer would then be
/// taken from the certificate alone.
pub(super) fn names_its_issuer_as_specified(sd_jwt: &SdJwt) -> bool {
    sd_jwt.payload().get("iss").is_none_or(Value::is_string)
}

/// §2.2.2.1: `vct` names the credential's type.
pub(super) fn names_its_type(sd_jwt: &SdJwt) -> bool {
    let vct = sd_jwt.payload().get("vct").and_then(Value::as_str);
    vct.is_some_and(|vct| !vct.is_empty())
}

/// §2.2.2.2: `aka_vcts`, where present, is a non-empty array of strings without `vct`.
pub(super) fn names_its_other_types(sd_jwt: &SdJwt) -> bool {
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

/// `vct`, and the other types that the credential names.
pub(super) fn types(sd_jwt: &SdJwt) -> Vec<&str> {
    let payload = sd_jwt.payload();
    let others = payload.get("aka_vcts").and_then(Value::as_array);
    let all = payload
        .get("vct")
        .into_iter()
        .chain(others.into_iter().flatten());
    all.filter_map(Value::as_str).collect()
}

/// §2.2.2.3: no claim that determines validity was selectively disclosed.
pub(super) fn discloses_only_what_it_may(processed: &Processed) -> bool {
    processed.places.iter().all(|place| {
        !matches!(place.path.segments().first(),
            Some(Segment::Name(name)) if NEVER_DISCLOSED.contains(&name.as_str()))
    })
}
