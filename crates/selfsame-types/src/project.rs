//! The documents that are made from a type, each in a file. They are pure, and are kept as they were published, so
//! that their bytes stay those whose integrity credentials state.

mod anoncreds;
mod branch;
mod json_ld;
mod json_schema;
mod linked;
mod mdoc;
mod openid;
mod type_metadata;

use selfsame_credential::path::Segment;
use selfsame_credential::{Format, single_use};
use selfsame_crypto::{encoding, hash};
use selfsame_driver::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use crate::model::{Addresses, CredentialType, TypeClaim};

pub(crate) use anoncreds::refusals as anoncreds_refusals;
pub use anoncreds::{TypeAttribute, attribute_values, attributes};
pub use openid::{credential_metadata, dcql};

/// The documents of one version of a type, as they are served.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Documents {
    /// SD-JWT VC type metadata.
    pub metadata: String,
    /// JSON Schema 2020-12 of a W3C credential.
    pub schema: String,
    /// JSON-LD context.
    pub context: String,
}

impl Addresses {
    /// The addresses below an organisation's base.
    ///
    /// # Errors
    /// `Internal` for a base that no address can stand below.
    pub fn below(base: &Url, id: &str, version: u32) -> Result<Self> {
        let metadata = base.join(&format!("types/{id}/{version}"));
        Ok(Self {
            metadata: String::from(metadata.map_err(Error::internal)?).into(),
        })
    }

    /// The type metadata.
    #[must_use]
    pub fn metadata(&self) -> &str {
        &self.metadata
    }

    /// The JSON Schema.
    #[must_use]
    pub fn schema(&self) -> String {
        self.at("schema")
    }

    /// The JSON-LD context.
    #[must_use]
    pub fn context(&self) -> String {
        self.at("context")
    }

    /// The logo.
    #[must_use]
    pub fn logo(&self) -> String {
        self.at("logo")
    }

    /// The background image.
    #[must_use]
    pub fn background(&self) -> String {
        self.at("background")
    }

    fn at(&self, name: &str) -> String {
        format!("{}/{name}", self.metadata)
    }
}

impl CredentialType {
    /// Whether a credential of this type in this format has this claim.
    #[must_use]
    pub fn may_be_asked(&self, format: Format, path: &[String]) -> bool {
        let has_handle = self.single_use && format.describe().discloses_selectively;
        let is_claim = self.claim(path).is_some_and(TypeClaim::is_in_credential);
        is_claim || (has_handle && path == [single_use::HANDLE])
    }

    /// The addresses of its documents, which stand below `base`, that of its organisation.
    ///
    /// # Errors
    /// `Internal` for a base that no address can stand below.
    pub fn addresses(&self, base: &Url) -> Result<Addresses> {
        match &self.served {
            Some(served) => Ok(served.addresses.clone()),
            None => Addresses::below(base, &self.id, self.version),
        }
    }
}

impl Documents {
    /// The documents of a type.
    ///
    /// # Errors
    /// `Internal` if one cannot be JSON.
    pub fn of(one: &CredentialType, addresses: &Addresses) -> Result<Self> {
        let text = |value: &Value| serde_json::to_string(value).map_err(Error::internal);
        Ok(Self {
            metadata: text(&type_metadata::document(one, addresses))?,
            schema: text(&json_schema::document(one, addresses))?,
            context: text(&json_ld::document(one, addresses))?,
        })
    }
}

/// Integrity metadata of a document (W3C Subresource Integrity §3.1).
#[must_use]
pub fn integrity(bytes: &[u8]) -> String {
    format!("sha256-{}", encoding::base64_encode(&hash::sha256(bytes)))
}

/// A claim, a member or an element with its whole path.
pub(crate) struct Located<'a> {
    /// The path from the type.
    pub path: Vec<Segment>,
    /// What stands there.
    pub claim: &'a TypeClaim,
    /// Whether every credential has it.
    pub is_mandatory: bool,
    /// Whether the holder may withhold it.
    pub is_selective: bool,
}

/// Everything that is put into a credential, at any depth: what contains comes before what it contains.
pub(crate) fn located(claims: &[TypeClaim]) -> Vec<Located<'_>> {
    let mut all = Vec::new();
    let top = Around {
        path: &[],
        is_mandatory: true,
        is_inner: false,
    };
    for claim in claims.iter().filter(|claim| claim.is_in_credential()) {
        top.locate(claim, &mut all);
    }
    all
}

struct Around<'a> {
    path: &'a [Segment],
    is_mandatory: bool,
    is_inner: bool,
}

impl Around<'_> {
    fn locate<'c>(&self, claim: &'c TypeClaim, all: &mut Vec<Located<'c>>) {
        let own: Vec<Segment> = match claim.path.is_empty() {
            true => self.path.iter().cloned().chain([Segment::All]).collect(),
            false => {
                let names = claim.path.iter().cloned().map(Segment::Name);
                self.path.iter().cloned().chain(names).collect()
            }
        };
        let is_mandatory = self.is_mandatory && claim.required;
        all.push(Located {
            path: own.clone(),
            claim,
            is_mandatory,
            is_selective: claim.is_selective(self.is_inner),
        });
        let below = Around {
            path: &own,
            is_mandatory,
            is_inner: true,
        };
        for inner in claim.claims.iter().chain(claim.of.as_deref()) {
            below.locate(inner, all);
        }
    }
}

#[cfg(test)]
mod tests;
