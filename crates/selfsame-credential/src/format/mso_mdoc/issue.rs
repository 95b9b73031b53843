//! Issues a mobile document.

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::{PublicKey, time::UnixTime};
use selfsame_mdoc::MdocError;
use selfsame_mdoc::digest::DigestAlgorithm;
use selfsame_mdoc::issue::{IssuedNamespace, MdocIssuance};
use selfsame_mdoc::security::{KeyAuthorizations, MdocStatus, ValidityInfo};

use super::read;
use crate::evidence::{Evidence, Need, SignatureRequest, Step};
use crate::signer::Signer;
use crate::status::Reference;

/// The content of a document to issue.
#[derive(Clone, Debug)]
pub struct MdocIssue<'a> {
    /// The type of the document.
    pub doc_type: &'a str,
    /// The elements, by namespace.
    pub namespaces: &'a [IssuedNamespace],
    /// The key of the holder.
    pub holder: &'a PublicKey,
    /// When it is signed and from when it is valid.
    pub valid_from: UnixTime,
    /// The document is not valid after this time.
    pub valid_until: UnixTime,
    /// The place of its status.
    pub status: Option<Reference>,
    /// How many decoy digests hide the number of the elements of each namespace.
    pub decoys: usize,
    /// The document signer's key, with its certificate.
    pub signer: &'a Signer,
    /// The label of this document among all that are made with one `Ctx`, so that no two have an equal random part.
    pub label: &'a str,
}

impl MdocIssue<'_> {
    /// The document if its signature is in the evidence, otherwise the need for the signature.
    ///
    /// # Errors
    /// As [`MdocIssuance::draft`].
    pub fn step(&self, evidence: &Evidence, ctx: &Ctx) -> Result<Step<String>, MdocError> {
        let status = self.status.as_ref();
        let status = status.map_or(MdocStatus::None, |place| MdocStatus::List {
            index: place.index,
            uri: place.uri.clone(),
        });
        let issuance = MdocIssuance {
            doc_type: self.doc_type,
            namespaces: self.namespaces,
            device_key: self.holder,
            authorizations: &KeyAuthorizations::default(),
            validity: ValidityInfo {
                signed: self.valid_from,
                valid_from: self.valid_from,
                valid_until: self.valid_until,
                expected_update: None,
            },
            status: &status,
            digest_algorithm: DigestAlgorithm::Sha256,
            decoys: self.decoys,
        };
        let own = Ctx::new(ctx.now(), ctx.random::<32>(self.label));
        let draft = issuance.draft(self.signer.algorithm, self.signer.x5c.clone(), &own)?;
        let request = SignatureRequest {
            key: self.signer.key.clone(),
            bytes: draft.signing_bytes(),
        };
        Ok(match evidence.signature(&request) {
            Some(signature) => Step::Done(read::text_of(&draft.finish(signature))),
            None => Step::Needs(vec![Need::Signature(request)]),
        })
    }
}
