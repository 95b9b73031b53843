//! Presents a mobile document: chosen elements, signed by the device key for one session (OpenID4VP 1.0 §B.2).

use selfsame_crypto::{Algorithm, KeyHandle};
use selfsame_mdoc::MdocError;
use selfsame_mdoc::held::{ElementPath, IssuerSigned};
use selfsame_mdoc::present::MdocPresentation;
use selfsame_mdoc::response::issuer_signed;
use selfsame_mdoc::transcript::SessionTranscript;

use super::read;
use crate::evidence::{Evidence, Need, SignatureRequest, Step};
use crate::path::{ClaimPath, Segment};

/// A presentation to make.
#[derive(Clone, Copy, Debug)]
pub struct MdocPresent<'a> {
    /// The document, as it was issued.
    pub credential: &'a str,
    /// The elements that leave the wallet: their namespaces and names.
    pub reveal: &'a [ClaimPath],
    /// What the presentation is bound to.
    pub transcript: &'a SessionTranscript,
    /// The device key.
    pub key: &'a KeyHandle,
    /// Its algorithm.
    pub algorithm: Algorithm,
}

impl MdocPresent<'_> {
    /// The presentation if its signature is in the evidence, otherwise the need for the signature.
    ///
    /// # Errors
    /// If the document cannot be read, or lacks an element.
    pub fn step(&self, evidence: &Evidence) -> Result<Step<String>, MdocError> {
        let unreadable = MdocError::Malformed("IssuerSigned");
        let bytes = read::bytes_of(self.credential).map_err(|_| unreadable.clone())?;
        let document = IssuerSigned::parse(&bytes)?;
        let security = document.security_object()?;
        let presentation = MdocPresentation {
            document: &document,
            doc_type: security.doc_type,
            chosen: &elements(self.reveal).ok_or(unreadable)?,
            stated: &[],
            transcript: self.transcript,
        };
        let draft = presentation.draft(self.algorithm)?;
        let request = SignatureRequest {
            key: self.key.clone(),
            bytes: draft.signing_bytes(),
        };
        Ok(match evidence.signature(&request) {
            Some(signature) => Step::Done(read::text_of(&draft.finish(signature))),
            None => Step::Needs(vec![Need::Signature(request)]),
        })
    }
}

/// The elements at these paths; `None` if one does not begin with a namespace and an element.
pub(super) fn elements(reveal: &[ClaimPath]) -> Option<Vec<ElementPath<'_>>> {
    let named = reveal.iter().map(|path| match path.segments() {
        [Segment::Name(namespace), Segment::Name(element), ..] => {
            Some(ElementPath { namespace, element })
        }
        _ => None,
    });
    named.collect()
}

/// What the issuer signed in a presentation.
pub(super) fn bare(raw: &str) -> Option<String> {
    let bytes = read::bytes_of(raw).ok()?;
    Some(read::text_of(&issuer_signed(&bytes)?))
}
