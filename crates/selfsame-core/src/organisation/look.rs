//! How organisations look: a logo and a colour each, which their wallets and pages show.

use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash::sha256;
use selfsame_driver::Result;
use serde::{Deserialize, Serialize};
use url::Url;
use utoipa::ToSchema;

use super::Organisation;

/// How an organisation looks.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct OrganisationLook {
    /// Its logo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logo: Option<OrganisationLogo>,
    /// Its colour, `#rrggbb`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub colour: Option<String>,
}

/// A logo, whose file is a record of its own.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct OrganisationLogo {
    /// SHA-256 of the file, in hexadecimal digits.
    pub digest: String,
    /// The file's media type.
    pub media: String,
}

/// How an organisation looks, with addresses.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct LookView {
    /// The address of its logo. What it serves never changes: another logo has another address.
    pub logo: Option<String>,
    /// Its colour, `#rrggbb`.
    pub colour: Option<String>,
}

/// What to change of an organisation's look; what is absent stays.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LookChange {
    /// Its logo as a `data:` URI of PNG, JPEG, WebP or SVG, at most 64 KB large; an empty text removes it.
    #[serde(default)]
    pub logo: Option<String>,
    /// Its colour, `#rrggbb`; an empty text removes it.
    #[serde(default)]
    pub colour: Option<String>,
}

/// The file of a logo.
pub struct LogoFile {
    /// Its media type.
    pub media: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A part of a look after a change.
#[derive(Default)]
pub enum Changed<T> {
    /// As it was.
    #[default]
    No,
    /// This, or nothing.
    To(Option<T>),
}

/// A change of a look that was checked.
#[derive(Default)]
pub struct CheckedLook {
    /// The logo.
    pub logo: Changed<LogoFile>,
    /// The colour.
    pub colour: Changed<String>,
}

impl OrganisationLook {
    /// The look with the addresses of this organisation.
    ///
    /// # Errors
    /// `Internal` for a base that no address can stand below.
    pub fn view(&self, organisation: &Organisation) -> Result<LookView> {
        Ok(LookView {
            logo: self.logo_url(organisation)?.map(String::from),
            colour: self.colour.clone(),
        })
    }

    /// The address of the logo, below the base of its organisation.
    ///
    /// # Errors
    /// `Internal` for a base that no address can stand below.
    pub fn logo_url(&self, organisation: &Organisation) -> Result<Option<Url>> {
        let logo = self.logo.as_ref();
        let url = logo.map(|logo| organisation.url(&format!("logo/{}", logo.digest)));
        url.transpose()
    }

    /// The look after a change.
    pub(super) fn changed(&self, to: &CheckedLook) -> Self {
        Self {
            logo: match &to.logo {
                Changed::No => self.logo.clone(),
                Changed::To(file) => file.as_ref().map(|file| OrganisationLogo {
                    digest: hex_encode(&sha256(&file.bytes)),
                    media: file.media.clone(),
                }),
            },
            colour: match &to.colour {
                Changed::No => self.colour.clone(),
                Changed::To(colour) => colour.clone(),
            },
        }
    }
}
