//! The rules for what the device adds (ISO/IEC 18013-5 §9.1.3).

use selfsame_crypto::hash::ct_eq;
use selfsame_verdict::Checklist;

use super::issuer::{JudgedIssuer, accepted};
use super::laws::{AUTHORIZATIONS, DEVICE_ALGORITHM, DEVICE_PROOF, DOC_TYPE, ELEMENTS};
use super::{MdocCourt, MdocRequest};
use crate::cose_keys;
use crate::device::{self, HMAC};
use crate::response::{DeviceProof, PresentedDocument};

/// A request with that by which its answer is judged.
#[derive(Clone, Copy)]
pub struct DeviceCourt<'a> {
    pub request: &'a MdocRequest<'a>,
    pub court: &'a MdocCourt<'a>,
}

/// The type is the same in the query, the document and the security object.
pub fn judge_type(
    document: &PresentedDocument<'_>,
    judged: &JudgedIssuer<'_>,
    request: &MdocRequest<'_>,
    list: &mut Checklist,
) {
    let asked = request.doc_type;
    let is_same = document.doc_type == asked && judged.security.doc_type == asked;
    list.check(
        &DOC_TYPE,
        is_same,
        "the type of the document is not the one that was asked for, or not the one that was signed",
    );
}

/// Each element that was asked for is there.
pub fn judge_elements(
    document: &PresentedDocument<'_>,
    request: &MdocRequest<'_>,
    list: &mut Checklist,
) {
    let signed = &document.issuer_signed;
    let mut wanted = request.wanted.iter();
    let all = wanted.all(|path| signed.item(path.namespace, path.element).is_some());
    list.check(&ELEMENTS, all, "an element that was asked for is missing");
}

/// The proof of the device key under our own transcript, and the right of the device to what it states.
pub fn judge(
    document: &PresentedDocument<'_>,
    judged: &JudgedIssuer<'_>,
    asked: DeviceCourt<'_>,
    list: &mut Checklist,
) {
    judge_proof(document, judged, asked, list);
    let allowed = &judged.security.authorizations;
    let mut stated = document.stated.iter();
    if document.stated.is_empty() {
        return list.skips(&AUTHORIZATIONS, "the device states no element");
    }
    let all = stated.all(|one| allowed.allows(one.namespace, one.element));
    list.check(
        &AUTHORIZATIONS,
        all,
        "the issuer does not allow the device to state an element",
    );
}

fn judge_proof(
    document: &PresentedDocument<'_>,
    judged: &JudgedIssuer<'_>,
    asked: DeviceCourt<'_>,
    list: &mut Checklist,
) {
    let payload = device::authentication(
        asked.request.transcript,
        document.doc_type,
        document.stated_bytes,
    );
    let message = document.proof.message();
    // The payload is detached (ISO/IEC 18013-5 §9.1.3.6); one that is sent could only differ.
    if message.payload.is_some() {
        return list.fails(
            &DEVICE_PROOF,
            "the payload of the device's proof is not detached",
        );
    }
    let secured = message.secured(&payload);
    let key = &judged.security.device_key;
    let holds = match &document.proof {
        DeviceProof::Signature(message) => {
            let Some(algorithm) = accepted(message.algorithm, asked.court) else {
                return list.fails(
                    &DEVICE_ALGORITHM,
                    "the device's signature has another algorithm",
                );
            };
            list.passes(&DEVICE_ALGORITHM, algorithm.as_str());
            key.verify(algorithm, &secured, message.proof).is_ok()
        }
        DeviceProof::Mac(message) => {
            let Some(reader) = asked
                .request
                .reader_key
                .filter(|_| message.algorithm == HMAC)
            else {
                return list.fails(
                    &DEVICE_ALGORITHM,
                    "a tag was not offered, or has another algorithm",
                );
            };
            list.passes(&DEVICE_ALGORITHM, "HMAC 256/256");
            let key = cose_keys::agreement_key(key);
            let key = key.and_then(|key| device::mac_key(reader, &key, asked.request.transcript));
            key.is_ok_and(|key| ct_eq(&device::tag(&key, &secured), message.proof))
        }
    };
    list.check(
        &DEVICE_PROOF,
        holds,
        "the proof is not by the key of the device, or is for another session",
    );
}
