//! Presents a document (ISO/IEC 18013-5 §8.3.2.1.2.2, DeviceResponse): chosen elements, and the proof of the device key.

use selfsame_cbor::cose::{CoseKind, CoseOutgoing};
use selfsame_cbor::deterministic::encode;
use selfsame_crypto::{Algorithm, Secret};

use crate::device::{self, HMAC};
use crate::error::MdocError;
use crate::held::{ElementPath, IssuerSigned};
use crate::issue::{IssuedNamespace, algorithm_number};
use crate::security::entry;
use crate::transcript::SessionTranscript;

/// A response that is to be made.
#[derive(Clone, Debug)]
pub struct MdocPresentation<'a> {
    /// The document.
    pub document: &'a IssuerSigned<'a>,
    /// Its type.
    pub doc_type: &'a str,
    /// The elements that leave the wallet, and no others.
    pub chosen: &'a [ElementPath<'a>],
    /// Elements that the device itself states.
    pub stated: &'a [IssuedNamespace],
    /// What the response is bound to.
    pub transcript: &'a SessionTranscript,
}

/// A response without the device's signature.
#[derive(Clone, Debug)]
pub struct PresentationDraft {
    doc_type: String,
    issuer_signed: Vec<u8>,
    stated: Vec<u8>,
    payload: Vec<u8>,
    auth: CoseOutgoing,
}

impl MdocPresentation<'_> {
    /// The response for the device key to sign.
    ///
    /// # Errors
    /// `NoElement` for one that the document does not have; `Unsupported` for an algorithm without a number in COSE.
    pub fn draft(&self, algorithm: Algorithm) -> Result<PresentationDraft, MdocError> {
        self.draft_of(CoseOutgoing::new(
            CoseKind::Sign1,
            algorithm_number(algorithm)?,
        ))
    }

    /// The response with a tag by this key ([`device::mac_key`]) in place of a signature.
    ///
    /// # Errors
    /// `NoElement` for one that the document does not have.
    pub fn authenticate(&self, key: &Secret) -> Result<Vec<u8>, MdocError> {
        let draft = self.draft_of(CoseOutgoing::new(CoseKind::Mac0, HMAC))?;
        let tag = device::tag(key, &draft.signing_bytes());
        Ok(draft.response("deviceMac", &tag))
    }

    fn draft_of(&self, auth: CoseOutgoing) -> Result<PresentationDraft, MdocError> {
        let stated = stated_bytes(self.stated);
        Ok(PresentationDraft {
            doc_type: self.doc_type.to_owned(),
            issuer_signed: self.document.disclose(self.chosen)?,
            payload: device::authentication(self.transcript, self.doc_type, &stated),
            stated,
            auth,
        })
    }
}

impl PresentationDraft {
    /// The bytes for the device key to sign.
    pub fn signing_bytes(&self) -> Vec<u8> {
        self.auth.secured(&self.payload)
    }

    /// The response with this signature (ECDSA: r and s, RFC 9053 §2.1): DeviceResponse in CBOR.
    pub fn finish(&self, signature: &[u8]) -> Vec<u8> {
        self.response("deviceSignature", signature)
    }

    fn response(&self, proof_name: &str, proof: &[u8]) -> Vec<u8> {
        let device_signed = encode(|to| {
            to.sorted([
                entry("nameSpaces", |to| {
                    to.raw(&self.stated);
                }),
                entry("deviceAuth", |to| {
                    to.map(1).text(proof_name);
                    self.auth.write(None, proof, to);
                }),
            ]);
        });
        let document = encode(|to| {
            to.sorted([
                entry("docType", |to| {
                    to.text(&self.doc_type);
                }),
                entry("issuerSigned", |to| {
                    to.raw(&self.issuer_signed);
                }),
                entry("deviceSigned", |to| {
                    to.raw(&device_signed);
                }),
            ]);
        });
        encode(|to| {
            to.sorted([
                entry("version", |to| {
                    to.text("1.0");
                }),
                entry("documents", |to| {
                    to.array(1).raw(&document);
                }),
                entry("status", |to| {
                    to.uint(0);
                }),
            ]);
        })
    }
}

/// DeviceNameSpacesBytes.
fn stated_bytes(stated: &[IssuedNamespace]) -> Vec<u8> {
    let namespaces = encode(|to| {
        to.sorted(stated.iter().map(|namespace| {
            entry(&namespace.name, |to| {
                let elements = namespace.elements.iter();
                to.sorted(elements.map(|element| {
                    entry(&element.name, |to| {
                        to.raw(&element.value);
                    })
                }));
            })
        }));
    });
    encode(|to| {
        to.embedded(&namespaces);
    })
}
