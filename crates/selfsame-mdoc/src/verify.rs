//! The verdict on a document, presented or issued (ISO/IEC 18013-5 §9.1, §9.3). Nothing is fetched: [`status_wanted`] says
//! what a judgement wants to know of the status, and the rest is given.

mod device;
mod issuer;
mod laws;
mod status;

use selfsame_crypto::agreement::AgreementPrivate;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Algorithm, PublicKey};
use selfsame_verdict::{Checklist, Verdict};

pub use status::{KnownStatus, status_wanted};

use crate::certificate::DocumentSigner;
use crate::held::{ElementPath, IssuerSigned, SignedNamespace};
use crate::response::{PresentedDocument, StatedElement};
use crate::security::{MdocStatus, ValidityInfo};
use crate::transcript::SessionTranscript;

/// By what a document is judged.
#[derive(Clone, Copy, Debug)]
pub struct MdocCourt<'a> {
    /// The time.
    pub now: UnixTime,
    /// The tolerated difference of clocks, in seconds.
    pub leeway: u64,
    /// The certificates of the trusted authorities, as DER.
    pub authorities: &'a [Vec<u8>],
    /// The accepted algorithms of the issuer and of the device; `None` for every supported one.
    pub algorithms: Option<&'a [Algorithm]>,
    /// What is known of the status of documents.
    pub statuses: &'a [KnownStatus<'a>],
    /// Whether a document without a status is refused.
    pub require_status: bool,
}

/// What a document was asked for with.
#[derive(Clone, Copy, Debug)]
pub struct MdocRequest<'a> {
    /// What the response must be bound to.
    pub transcript: &'a SessionTranscript,
    /// The key with which the reader can check deviceMac; without it such a response is refused.
    pub reader_key: Option<&'a AgreementPrivate>,
    /// The type that was asked for.
    pub doc_type: &'a str,
    /// The elements that must be there.
    pub wanted: &'a [ElementPath<'a>],
}

/// A document whose every rule that concerns its authenticity holds.
#[derive(Clone, Debug)]
pub struct VerifiedDocument<'b> {
    /// Its type.
    pub doc_type: &'b str,
    /// The elements that the issuer signed.
    pub namespaces: Vec<SignedNamespace<'b>>,
    /// The elements that the device itself stated, each allowed by the issuer.
    pub stated: Vec<StatedElement<'b>>,
    /// When it is valid.
    pub validity: ValidityInfo,
    /// Where its status is published.
    pub status: MdocStatus,
    /// The key of the device that it was issued to.
    pub device_key: PublicKey,
    /// Its signer.
    pub signer: DocumentSigner,
}

impl<'b> VerifiedDocument<'b> {
    /// The value of an element that the issuer signed.
    pub fn value(&self, path: ElementPath<'_>) -> Option<&selfsame_cbor::Cbor<'b>> {
        let mut namespaces = self.namespaces.iter();
        let namespace = namespaces.find(|namespace| namespace.name == path.namespace)?;
        let mut items = namespace.items.iter();
        let item = items.find(|item| item.element == path.element)?;
        Some(&item.value)
    }
}

/// The verdict on a response, and the document if it is genuine.
pub fn verify<'b>(
    response: &'b [u8],
    request: &MdocRequest<'_>,
    court: &MdocCourt<'_>,
) -> (Verdict, Option<VerifiedDocument<'b>>) {
    let mut list = Checklist::new(laws::OF_RESPONSES);
    let document = match PresentedDocument::parse(response) {
        Ok(document) => document,
        Err(error) => {
            list.fails(&laws::READABLE, error.to_string());
            return list.conclude(None);
        }
    };
    list.passes(&laws::READABLE, "");
    let Some(judged) = issuer::judge(&document.issuer_signed, court, &mut list) else {
        return list.conclude(None);
    };
    device::judge_type(&document, &judged, request, &mut list);
    device::judge_elements(&document, request, &mut list);
    device::judge(
        &document,
        &judged,
        device::DeviceCourt { request, court },
        &mut list,
    );
    list.conclude(judged.signer.map(|signer| VerifiedDocument {
        doc_type: judged.security.doc_type,
        namespaces: document.issuer_signed.namespaces,
        stated: document.stated,
        validity: judged.security.validity,
        status: judged.security.status,
        device_key: judged.security.device_key,
        signer,
    }))
}

/// The verdict on a document that an issuer sent to its holder, and the document if it is genuine.
pub fn verify_issued<'b>(
    issued: &'b [u8],
    court: &MdocCourt<'_>,
) -> (Verdict, Option<VerifiedDocument<'b>>) {
    let mut list = Checklist::new(laws::OF_DOCUMENTS);
    let document = match IssuerSigned::parse(issued) {
        Ok(document) => document,
        Err(error) => {
            list.fails(&laws::READABLE, error.to_string());
            return list.conclude(None);
        }
    };
    list.passes(&laws::READABLE, "");
    let Some(judged) = issuer::judge(&document, court, &mut list) else {
        return list.conclude(None);
    };
    list.conclude(judged.signer.map(|signer| VerifiedDocument {
        doc_type: judged.security.doc_type,
        namespaces: document.namespaces,
        stated: Vec::new(),
        validity: judged.security.validity,
        status: judged.security.status,
        device_key: judged.security.device_key,
        signer,
    }))
}
