//! The table of credential formats. To add a format, add a folder here and its lines in [`Format`].

pub mod cwt;
mod entry;
mod jwt_vc;
pub mod ldp_vc;
pub mod mso_mdoc;
mod sd_jwt_form;
pub mod sd_jwt_vc;
mod vc_jwt;
mod view;
pub mod w3c;

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::entry::Entry;
pub(crate) use self::view::{CredentialView, ReadCredential, Subject};
pub use self::view::{Description, HeldError, Profile, StatusForm};

/// A credential format, named as in OpenID4VCI 1.0 Appendix A.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub enum Format {
    /// SD-JWT VC: `dc+sd-jwt`.
    #[serde(rename = "dc+sd-jwt")]
    SdJwtVc,
    /// W3C Verifiable Credentials Data Model 1.1 as a JWT: `jwt_vc_json`.
    #[serde(rename = "jwt_vc_json")]
    JwtVcJson,
    /// W3C Verifiable Credentials Data Model 2.0 as a JWT: `vc+jwt`.
    #[serde(rename = "vc+jwt")]
    VcJwt,
    /// W3C Verifiable Credentials with Data Integrity proofs: `ldp_vc`.
    #[serde(rename = "ldp_vc")]
    LdpVc,
    /// Mobile document of ISO/IEC 18013-5: `mso_mdoc`.
    #[serde(rename = "mso_mdoc")]
    MsoMdoc,
    /// Compact credential of a machine, for TLS handshakes: `cwt`.
    #[serde(rename = "cwt")]
    Cwt,
    /// The example of how to add a format.
    #[cfg(test)]
    #[serde(rename = "toy+jwt")]
    Toy,
}

impl Format {
    /// Every format.
    #[cfg(not(test))]
    pub const ALL: [Self; 6] = [
        Self::SdJwtVc,
        Self::JwtVcJson,
        Self::VcJwt,
        Self::LdpVc,
        Self::MsoMdoc,
        Self::Cwt,
    ];
    /// Every format, and the example.
    #[cfg(test)]
    pub const ALL: [Self; 7] = [
        Self::SdJwtVc,
        Self::JwtVcJson,
        Self::Toy,
        Self::VcJwt,
        Self::LdpVc,
        Self::MsoMdoc,
        Self::Cwt,
    ];
    /// The format of a request or an offer that names none.
    pub const DEFAULT: Self = Self::SdJwtVc;

    pub(crate) const fn entry(self) -> &'static Entry {
        match self {
            Self::SdJwtVc => &sd_jwt_vc::ENTRY,
            Self::JwtVcJson => &jwt_vc::ENTRY,
            Self::VcJwt => &vc_jwt::ENTRY,
            Self::LdpVc => &ldp_vc::ENTRY,
            Self::MsoMdoc => &mso_mdoc::ENTRY,
            Self::Cwt => &cwt::ENTRY,
            #[cfg(test)]
            Self::Toy => &tests::toy::ENTRY,
        }
    }

    /// The formats of credentials that people hold and present.
    pub fn of_people() -> impl Iterator<Item = Self> {
        let all = Self::ALL.into_iter();
        all.filter(|format| !format.describe().is_for_machines)
    }

    /// The formats of people in which every type can be issued: a type is issued in the others only if it names them.
    pub fn of_any_type() -> impl Iterator<Item = Self> {
        let must_be_named = |profile| matches!(profile, Profile::Mdoc | Profile::DataIntegrity);
        Self::of_people().filter(move |format| !must_be_named(format.describe().profile))
    }

    /// The format that a credential looks like.
    pub fn guess(raw: &str) -> Self {
        let is_like = |format: &Self| (format.entry().is_like)(raw);
        Self::ALL.into_iter().find(is_like).unwrap_or(Self::VcJwt)
    }

    /// The credential in a presentation of this format, without the holder's proof; `None` if the text is not a
    /// presentation.
    pub fn bare(self, raw: &str) -> Option<String> {
        (self.entry().bare)(raw)
    }

    /// The types of a credential with these claims, as queries name them (OpenID4VP 1.0 Appendix B).
    pub fn asked_types(self, claims: &Value) -> Vec<String> {
        let entry = self.entry();
        if let Some(asked_types) = entry.asked_types {
            return asked_types(claims);
        }
        let members = entry.description.type_claims.iter();
        let values = members.filter_map(|name| claims.get(name));
        let values = values.flat_map(|value| match value {
            Value::Array(values) => values.iter().collect(),
            value => vec![value],
        });
        let names = values.filter_map(Value::as_str);
        names.map(str::to_owned).collect()
    }

    /// The properties of the format.
    pub const fn describe(self) -> &'static Description {
        &self.entry().description
    }

    /// The first format of a profile.
    pub fn of_profile(profile: Profile) -> Self {
        let is_of = |format: &Self| format.describe().profile == profile;
        Self::ALL.into_iter().find(is_of).unwrap_or(Self::DEFAULT)
    }

    /// The identifiers of the formats that people present, in one text.
    pub fn names() -> String {
        let names: Vec<&str> = Self::of_people().map(Self::as_str).collect();
        names.join(", ")
    }

    /// The format's identifier on the wire.
    pub const fn as_str(self) -> &'static str {
        self.describe().name
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL
            .into_iter()
            .find(|format| format.as_str() == name)
            .ok_or(UnknownFormat)
    }
}

/// The name is not that of a supported credential format.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("unknown credential format")]
pub struct UnknownFormat;

#[cfg(test)]
mod tests;
