//! The forms in which a status list is served, and the places of credentials in lists.

use selfsame_credential::Format;
use selfsame_credential::format::Profile;
use selfsame_credential::status::{bitstring, cwt_list, token_list};
use serde::{Deserialize, Serialize};

use crate::issuer::CredentialStatus;

/// A credential's place in a list.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ListPlace {
    /// The list's number.
    pub list: u64,
    /// The index in it.
    pub index: u64,
}

/// The forms in which one list is served.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ListFace {
    /// Token Status List, two bits per credential.
    Token,
    /// Token Status List of single-use credentials, signed by the DID that the registry knows.
    Registry,
    /// Token Status List, signed as W3C and compact credentials are.
    TokenOfW3c,
    /// Token Status List, signed by the document signer.
    Document,
    /// The same as a CWT, which is served at the same address.
    DocumentCwt,
    /// Bitstring Status List of revocations.
    Revocation,
    /// Bitstring Status List of suspensions.
    Suspension,
}

impl ListFace {
    /// Parses the last part of a list's URI, if it has one.
    #[must_use]
    pub fn parse(name: Option<&str>) -> Option<Self> {
        match name {
            None => Some(Self::Token),
            Some("registry") => Some(Self::Registry),
            Some("token") => Some(Self::TokenOfW3c),
            Some("mdoc") => Some(Self::Document),
            Some("mdoc+cwt") => Some(Self::DocumentCwt),
            Some("revocation") => Some(Self::Revocation),
            Some("suspension") => Some(Self::Suspension),
            Some(_) => None,
        }
    }

    /// The format of the credentials that refer to this list; their issuer signs it (Token Status List §11.3).
    #[must_use]
    pub fn format(self) -> Format {
        match self {
            Self::Token | Self::Registry => Format::of_profile(Profile::SdJwtVc),
            Self::Document | Self::DocumentCwt => Format::of_profile(Profile::Mdoc),
            Self::TokenOfW3c | Self::Revocation | Self::Suspension => {
                Format::of_profile(Profile::W3c)
            }
        }
    }

    /// The media type that it is served with.
    #[must_use]
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Token | Self::Registry | Self::TokenOfW3c | Self::Document => {
                token_list::MEDIA_TYPE
            }
            Self::DocumentCwt => cwt_list::MEDIA_TYPE,
            Self::Revocation | Self::Suspension => bitstring::MEDIA_TYPE,
        }
    }

    /// The value of this status in the list; `None` for the default value.
    #[must_use]
    pub fn value_of(self, status: CredentialStatus) -> Option<u8> {
        match (self, status) {
            (Self::Suspension, CredentialStatus::Revoked) => None,
            (_, CredentialStatus::Revoked) => Some(1),
            (Self::Suspension, CredentialStatus::Suspended) => Some(1),
            (Self::Revocation, CredentialStatus::Suspended) | (_, CredentialStatus::Valid) => None,
            (_, CredentialStatus::Suspended) => Some(2),
        }
    }
}
