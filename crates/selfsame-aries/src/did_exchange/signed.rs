//! Signed attachments of DID exchange: the document and the DID, with a detached JWS (RFC 0017).

use selfsame_credential::evidence::{Evidence, SignatureRequest};
use selfsame_crypto::json::{self, Limits};
use selfsame_crypto::{Algorithm, PublicKey};
use selfsame_didcomm::Error;
use selfsame_didcomm::message::{Attachment, DetachedSignature};
use serde_json::{Value, json};

use crate::connection::DidWithDoc;
use crate::key::VerKey;
use crate::peer_document::PeerDocument;

use super::messages::{DOCUMENT, ROTATION};

/// Limits on a document.
const LIMITS: Limits = Limits {
    max_bytes: 64 * 1024,
    max_depth: 16,
    max_members: 2_000,
};

/// An attachment to sign, or the signature that is missing.
pub(super) type MaybeSigned = Result<Attachment, SignatureRequest>;

/// The document of this party as an attachment, signed.
pub(super) fn document(
    doc: &Value,
    key: &VerKey,
    evidence: &Evidence,
) -> Result<MaybeSigned, Error> {
    let attachment = Attachment::of_bytes("did-doc", &json::to_bytes(doc));
    sign(
        attachment.of_type("application/json").as_member(DOCUMENT),
        key,
        evidence,
    )
}

/// The DID as an attachment, signed: the key of the invitation hands over to that DID (RFC 0023 1.1).
pub(super) fn rotation(did: &str, key: &VerKey, evidence: &Evidence) -> Result<MaybeSigned, Error> {
    let attachment = Attachment::of_bytes("did-rotate", did.as_bytes());
    sign(
        attachment.of_type("text/string").as_member(ROTATION),
        key,
        evidence,
    )
}

fn sign(attachment: Attachment, key: &VerKey, evidence: &Evidence) -> Result<MaybeSigned, Error> {
    let kid = key.to_did().to_string();
    // As in RFC 0017, "Signing Attachments", the identifier of the key is in the key and in the unprotected header. Agents
    // refuse a protected header that has it beside the key.
    let header = json!({
        "alg": Algorithm::EdDsa.as_str(),
        "jwk": key.public_key().to_jwk().with_kid(kid.clone()).to_value(),
    });
    let draft = DetachedSignature::draft(&attachment, &header)?;
    let request = SignatureRequest {
        key: key.handle(),
        bytes: draft.signing_input().to_vec(),
    };
    let Some(signature) = evidence.signature(&request) else {
        return Ok(Err(request));
    };
    let signatures = vec![DetachedSignature::of(draft, signature, Some(kid))];
    Ok(Ok(Attachment {
        signatures,
        ..attachment
    }))
}

/// The party of a request. A key of its document signs the document (RFC 0023 §1, "DID Doc Attach").
pub(super) fn of_request(did: &str, document: Option<&Attachment>) -> Option<DidWithDoc> {
    let Some(document) = document else {
        return party(did, None);
    };
    let signature = document.signatures.first()?;
    let key = named_key(signature, document)?;
    signature.verify(document, key.public_key()).ok()?;
    let party = party(did, Some(document))?;
    let is_own = PeerDocument::told(&party).is_ok_and(|told| told.has(&key));
    is_own.then_some(party)
}

/// The key that the signature names: a `did:key`, or a JWK.
fn named_key(signature: &DetachedSignature, attachment: &Attachment) -> Option<VerKey> {
    let header = signature.over(attachment).ok()?.header;
    let named = header.kid.or_else(|| signature.kid.clone());
    let named = named.and_then(|kid| VerKey::parse(&kid).ok());
    let given = header.jwk.and_then(|jwk| PublicKey::from_jwk(&jwk).ok());
    let given = given.and_then(|key| VerKey::new(key).ok());
    match (named, given) {
        (Some(named), Some(given)) => (named == given).then_some(named),
        (named, given) => named.or(given),
    }
}

/// The party of a response, signed by the key of the invitation: its document, its DID, or both.
pub(super) fn of_response(
    did: &str,
    attachments: &Attachments<'_>,
    key: &VerKey,
) -> Option<DidWithDoc> {
    let is_signed = |attachment: &Attachment| {
        let mut all = attachment.signatures.iter();
        all.any(|signature| signature.verify(attachment, key.public_key()).is_ok())
    };
    let mut both = attachments.document.into_iter().chain(attachments.rotation);
    if !both.all(is_signed) {
        return None;
    }
    if let Some(rotation) = attachments.rotation {
        let bytes = rotation.bytes(LIMITS.max_bytes).ok()?;
        if bytes != did.as_bytes() {
            return None;
        }
    }
    party(did, attachments.document)
}

/// The attachments of a response.
pub(super) struct Attachments<'a> {
    pub(super) document: Option<&'a Attachment>,
    pub(super) rotation: Option<&'a Attachment>,
}

fn party(did: &str, document: Option<&Attachment>) -> Option<DidWithDoc> {
    let doc = document
        .map(|document| document.json(&LIMITS))
        .transpose()
        .ok()?;
    let party = DidWithDoc {
        did: did.to_owned(),
        doc,
    };
    party.is_consistent().then_some(party)
}
