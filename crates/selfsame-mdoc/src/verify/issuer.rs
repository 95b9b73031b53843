//! The rules for what the issuer signed (ISO/IEC 18013-5 §9.3.1).

use selfsame_cbor::Cbor;
use selfsame_crypto::{Algorithm, PublicKey};
use selfsame_verdict::{BrokenRule, Checklist};

use super::laws::{
    ALGORITHM, COUNTRY, DIGESTS, EXPIRY, ISSUER_SIGNATURE, NOT_BEFORE, SECURITY_OBJECT,
    SIGNED_TIME, SIGNER, TIMES,
};
use super::{MdocCourt, status};
use crate::certificate::{DocumentSigner, SignerError};
use crate::elements;
use crate::held::IssuerSigned;
use crate::security::SecurityObject;

/// What the issuer signed, once its signature is known to be genuine.
pub struct JudgedIssuer<'b> {
    pub security: SecurityObject<'b>,
    /// The signer, if it is relied upon.
    pub signer: Option<DocumentSigner>,
}

/// Judges the issuer's part; `None` if nothing of it can be relied upon.
pub fn judge<'b>(
    document: &IssuerSigned<'b>,
    court: &MdocCourt<'_>,
    list: &mut Checklist,
) -> Option<JudgedIssuer<'b>> {
    let signer = match find_signer(document, court) {
        Ok(signer) => {
            list.passes(&SIGNER, "");
            Some(signer)
        }
        Err(error) => {
            list.fails(&SIGNER, error.to_string());
            None
        }
    };
    // A signature by an unknown signer is still checked, so that the verdict tells a forgery from a stranger's document.
    let key = match &signer {
        Some(signer) => Some(signer.key.clone()),
        None => unproven_key(document),
    };
    let Some(key) = key else {
        list.fails(&ISSUER_SIGNATURE, "there is no key to verify it with");
        return None;
    };
    if !is_signed(document, &key, court, list) {
        return None;
    }
    let security = match document.security_object() {
        Ok(security) => security,
        Err(error) => {
            list.fails(&SECURITY_OBJECT, error.to_string());
            return None;
        }
    };
    list.passes(&SECURITY_OBJECT, "");
    judge_times(&security, signer.as_ref(), court, list);
    judge_digests(document, &security, list);
    judge_country(document, &security, signer.as_ref(), list);
    status::judge(&security.status, court, list);
    Some(JudgedIssuer { security, signer })
}

fn find_signer(
    document: &IssuerSigned<'_>,
    court: &MdocCourt<'_>,
) -> Result<DocumentSigner, SignerError> {
    let certificate = document.issuer_auth.chain.first();
    let certificate = certificate.ok_or(SignerError::NoCertificate)?;
    DocumentSigner::find(certificate, court.authorities, court.now)
}

fn unproven_key(document: &IssuerSigned<'_>) -> Option<PublicKey> {
    let certificate = document.issuer_auth.chain.first()?;
    let chain = selfsame_crypto::x509::Chain::parse(&[certificate.to_vec()]).ok()?;
    Some(chain.leaf_public_key().clone())
}

fn is_signed(
    document: &IssuerSigned<'_>,
    key: &PublicKey,
    court: &MdocCourt<'_>,
    list: &mut Checklist,
) -> bool {
    let auth = &document.issuer_auth;
    let accepted = accepted(auth.algorithm, court);
    let Some(algorithm) = accepted else {
        list.fails(&ALGORITHM, "the issuer's signature has another algorithm");
        return false;
    };
    list.passes(&ALGORITHM, algorithm.as_str());
    let signed = auth.secured(document.payload);
    let genuine = key.verify(algorithm, &signed, auth.proof).is_ok();
    list.check(
        &ISSUER_SIGNATURE,
        genuine,
        "the signature is not by the key of the certificate",
    )
}

/// The algorithm of this number, if it is one of a document's and accepted.
pub fn accepted(number: i64, court: &MdocCourt<'_>) -> Option<Algorithm> {
    let known = [Algorithm::Es256, Algorithm::Es384, Algorithm::EdDsa];
    let algorithm = Algorithm::from_cose(number).filter(|algorithm| known.contains(algorithm))?;
    let accepted = court.algorithms;
    accepted
        .is_none_or(|accepted| accepted.contains(&algorithm))
        .then_some(algorithm)
}

fn judge_times(
    security: &SecurityObject<'_>,
    signer: Option<&DocumentSigner>,
    court: &MdocCourt<'_>,
    list: &mut Checklist,
) {
    let validity = &security.validity;
    match signer {
        Some(signer) => {
            let within =
                signer.not_before <= validity.signed && validity.signed <= signer.not_after;
            let otherwise = "it was signed while the signer's certificate was not valid";
            list.check(&SIGNED_TIME, within, otherwise);
        }
        None => list.skips(&SIGNED_TIME, "the signer is not known"),
    }
    let in_order =
        validity.signed <= validity.valid_from && validity.valid_from <= validity.valid_until;
    list.check(
        &TIMES,
        in_order,
        "it is valid before it was signed, or ends before it begins",
    );
    let begun = validity.valid_from <= court.now.plus(court.leeway);
    list.check(&NOT_BEFORE, begun, "not valid yet");
    let lasts = court.now <= validity.valid_until.plus(court.leeway);
    list.check(&EXPIRY, lasts, "expired");
}

/// Every item has a digest of its namespace and identifier, over the bytes as they were received.
fn judge_digests(document: &IssuerSigned<'_>, security: &SecurityObject<'_>, list: &mut Checklist) {
    let algorithm = security.digest_algorithm;
    for namespace in &document.namespaces {
        let digests = security.namespace(namespace.name);
        for item in &namespace.items {
            let Some(stated) = digests.and_then(|digests| digests.digest(item.digest_id)) else {
                return list.fails(&DIGESTS, "an element has no digest in its namespace");
            };
            if algorithm.digest(item.bytes) != stated {
                return list.fails(&DIGESTS, "an element is not the one that was signed");
            }
        }
    }
    list.passes(&DIGESTS, "");
}

/// The country of a driving licence is that of its signer; the jurisdiction too, if the certificate states one.
fn judge_country(
    document: &IssuerSigned<'_>,
    security: &SecurityObject<'_>,
    signer: Option<&DocumentSigner>,
    list: &mut Checklist,
) {
    if security.doc_type != elements::MDL.doc_type {
        return list.skips(&COUNTRY, "the document is not a driving licence");
    }
    let Some(signer) = signer else {
        return list.skips(&COUNTRY, "the signer is not known");
    };
    let stated = |element| {
        let item = document.item(elements::MDL_NAMESPACE, element);
        item.map(|item| &item.value).and_then(Cbor::text)
    };
    let (country, place) = (stated("issuing_country"), stated("issuing_jurisdiction"));
    if country.is_none() && place.is_none() {
        return list.skips(&COUNTRY, "the country was not disclosed");
    }
    let is_same = |stated: Option<&str>, certified: Option<&str>| match (stated, certified) {
        (Some(stated), Some(certified)) => stated == certified,
        _ => true,
    };
    let holds =
        is_same(country, signer.country.as_deref()) && is_same(place, signer.state.as_deref());
    match holds {
        true => list.passes(&COUNTRY, ""),
        false => list.fails_as(
            &COUNTRY,
            BrokenRule::Invalid,
            "the issuing country or jurisdiction is not that of the signer's certificate",
        ),
    }
}
