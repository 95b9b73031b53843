//! The table of attachment formats: what a credential or a proof is attached as. To add a format, add a folder here and
//! its line in [`FORMATS`].

pub mod anoncreds;
pub mod dif;
mod filter;
pub mod hlindy;
mod members;
pub mod vc_di;

use selfsame_crypto::json::{self, JsonError, Limits};
use serde_json::Value;

pub use filter::CredentialFilter;

/// What an attachment of an exchange is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Artefact {
    /// Which credential a holder proposes.
    Filter,
    /// The offer of a credential.
    Offer,
    /// The request for a credential.
    Request,
    /// A credential.
    Credential,
    /// The request for a proof, which a prover may propose.
    ProposedProof,
    /// The request for a proof.
    ProofRequest,
    /// A proof.
    Proof,
}

/// A format of attachments.
#[derive(Clone, Copy, Debug)]
pub struct AttachmentFormat {
    /// The name that records and the API of an agent have for it.
    pub name: &'static str,
    /// The identifier of what is attached.
    pub id: fn(Artefact) -> &'static str,
    /// The identifier of an attachment in version 1 of the protocols.
    pub first_id: fn(Artefact) -> &'static str,
    /// The members that the JSON of an attachment has at least.
    pub members: fn(Artefact) -> &'static [&'static str],
    /// Reads a filter.
    pub read_filter: fn(&[u8]) -> Result<CredentialFilter, JsonError>,
    /// Writes a filter.
    pub write_filter: fn(&CredentialFilter) -> Vec<u8>,
}

/// The formats that are known here.
pub const FORMATS: &[&AttachmentFormat] = &[
    &hlindy::FORMAT,
    &anoncreds::FORMAT,
    &dif::FORMAT,
    &vc_di::FORMAT,
];
/// The only format of version 1 of the protocols.
pub const FIRST: &AttachmentFormat = &hlindy::FORMAT;

/// Limits on the JSON of an attachment.
const LIMITS: Limits = Limits {
    max_bytes: 1024 * 1024,
    max_depth: 16,
    max_members: 20_000,
};

/// A format and what is attached in it.
#[derive(Clone, Copy, Debug)]
pub struct Identified {
    /// The format.
    pub format: &'static AttachmentFormat,
    /// What it is, by its identifier; a proposal of a proof has that of the request. Where several have one identifier, it
    /// is the first of them.
    pub artefact: Artefact,
}

/// The format with this identifier.
pub fn find(id: &str) -> Option<Identified> {
    let each = FORMATS.iter().flat_map(|format| {
        let all = Artefact::ALL.iter();
        all.map(|artefact| Identified {
            format,
            artefact: *artefact,
        })
    });
    let mut each = each.filter(|one| one.artefact != Artefact::ProposedProof);
    // RFC 0511, "`issue-credential` attachment format": the identifier is that of the credential's format.
    let credential = id
        .parse::<selfsame_credential::Format>()
        .ok()
        .map(|_| Identified {
            format: &dif::FORMAT,
            artefact: Artefact::Credential,
        });
    credential.or_else(|| each.find(|one| (one.format.id)(one.artefact) == id))
}

impl Artefact {
    /// Everything that can be attached.
    pub const ALL: [Self; 7] = [
        Self::Filter,
        Self::Offer,
        Self::Request,
        Self::Credential,
        Self::ProposedProof,
        Self::ProofRequest,
        Self::Proof,
    ];

    /// Whether it is proposed, so that a message may be without it.
    pub const fn is_proposed(self) -> bool {
        matches!(self, Self::Filter | Self::ProposedProof)
    }
}

impl AttachmentFormat {
    /// Whether these bytes can be such an attachment: JSON with the members that it needs. What they mean is for the
    /// format's cryptography to judge.
    ///
    /// # Errors
    /// If they are not JSON within the limits.
    pub fn fits(&self, artefact: Artefact, bytes: &[u8]) -> Result<bool, JsonError> {
        let value = json::parse(bytes, &LIMITS)?;
        let has = |name: &&str| value.get(name).is_some_and(|member| !member.is_null());
        Ok(matches!(value, Value::Object(_)) && (self.members)(artefact).iter().all(has))
    }
}

#[cfg(test)]
mod tests;
