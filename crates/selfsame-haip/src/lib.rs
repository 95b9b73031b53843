//! Owns: the rules of the OpenID4VC High Assurance Interoperability Profile 1.0 (HAIP) that a program can check, each by
//! its name and its paragraph, and their judgement of facts.
//! Does not own: the protocols and their messages, settings files, who refuses with which status, and any kind of I/O.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

pub mod asked;
pub mod certified;
pub mod offered;
pub mod own;
pub mod received;
mod rule;
#[cfg(test)]
mod sample;

use selfsame_credential::Format;
use selfsame_credential::format::Profile;
use serde::{Deserialize, Serialize};

pub use rule::HaipRule;

/// A profile that a role keeps.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WantedProfile {
    /// HAIP 1.0.
    Haip,
}

/// Whether HAIP profiles this format (§6): SD-JWT VCs and mdocs.
#[must_use]
pub fn is_profiled(format: Format) -> bool {
    matches!(format.describe().profile, Profile::SdJwtVc | Profile::Mdoc)
}

/// Whether this is the name of a format that HAIP profiles.
#[must_use]
pub fn names_profiled(format: &str) -> bool {
    format.parse().is_ok_and(is_profiled)
}

/// A link with the scheme that HAIP names in place of another one; a link of the web stays as it is.
#[must_use]
pub fn invoking(link: &str, scheme: &str) -> String {
    match link.split_once("://") {
        Some((old, rest)) if !matches!(old, "http" | "https") => format!("{scheme}://{rest}"),
        _ => link.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_gets_the_scheme_of_the_profile_and_an_address_of_the_web_keeps_its_own() {
        let link = "openid-credential-offer://?credential_offer_uri=https%3A%2F%2Fa.example";
        let invoking = |link| invoking(link, "haip-vci");
        assert_eq!(
            invoking(link),
            "haip-vci://?credential_offer_uri=https%3A%2F%2Fa.example"
        );
        assert_eq!(invoking("https://a.example/x"), "https://a.example/x");
    }

    #[test]
    fn two_formats_have_a_profile() {
        let names = Format::ALL.into_iter().filter(|one| is_profiled(*one));
        let names: Vec<&str> = names.map(Format::as_str).collect();
        assert_eq!(names, ["dc+sd-jwt", "mso_mdoc"]);
        assert!(names_profiled("mso_mdoc"));
        for other in ["jwt_vc_json", "ldp_vc", "anything"] {
            assert!(!names_profiled(other), "{other}");
        }
    }

    #[test]
    fn a_profile_is_named_in_settings() {
        let read: WantedProfile = serde_json::from_str("\"haip\"").unwrap();
        assert_eq!(read, WantedProfile::Haip);
        assert!(serde_json::from_str::<WantedProfile>("\"other\"").is_err());
    }
}
