//! The uses that a certificate permits for its key (RFC 5280 §4.2.1.3).

use webpki::{Cert, VerifiedPath};

use crate::der;

const BOOLEAN: u8 = 0x01;
pub(super) const OBJECT_IDENTIFIER: u8 = 0x06;
const OCTET_STRING: u8 = 0x04;
const EXTENSIONS: u8 = 0xa3;
/// id-ce-keyUsage, 2.5.29.15.
const KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x0f];

const DIGITAL_SIGNATURE: u8 = 0x80;
const NON_REPUDIATION: u8 = 0x40;
const KEY_CERT_SIGN: u8 = 0x04;

/// Whether each key of the path was permitted its use: the first to sign a token, those above it to sign certificates.
/// The anchor is not part of the path (RFC 5280 §6.1).
pub(super) fn allows(path: &VerifiedPath<'_>) -> bool {
    may_sign_tokens(path.end_entity())
        && path.intermediate_certificates().all(may_sign_certificates)
}

/// RFC 5280 §4.2.1.3: either bit permits signatures other than those on certificates and revocation lists. Seals of
/// organisations may have `nonRepudiation` alone; readers of signed messages accept either bit as well (RFC 8550
/// §4.4.2).
fn may_sign_tokens(certificate: &Cert<'_>) -> bool {
    may(certificate, DIGITAL_SIGNATURE | NON_REPUDIATION)
}

/// RFC 5280 §6.1.4 (n).
fn may_sign_certificates(certificate: &Cert<'_>) -> bool {
    may(certificate, KEY_CERT_SIGN)
}

/// Whether the key of this certificate (DER) may sign TLS handshakes: if key usages are stated, they must include
/// `digitalSignature` (RFC 8446 §4.4.2.2).
pub fn may_sign_handshakes(certificate: &[u8]) -> bool {
    states(certificate, DIGITAL_SIGNATURE)
}

/// Whether any of these usages is permitted. Without the extension, all are.
fn may(certificate: &Cert<'_>, any_of: u8) -> bool {
    states(&certificate.der(), any_of)
}

fn states(certificate: &[u8], any_of: u8) -> bool {
    match stated(certificate) {
        Some(None) => true,
        Some(Some(usages)) => usages & any_of != 0,
        None => false,
    }
}

/// The first eight bits of the extension, if present; `None` if the certificate cannot be read.
fn stated(certificate: &[u8]) -> Option<Option<u8>> {
    match extension(certificate, KEY_USAGE)? {
        Some(value) => usages(value).map(Some),
        None => Some(None),
    }
}

/// The value of an extension of this certificate (DER), if present; `None` if the certificate cannot be read. webpki
/// has checked that no extension occurs twice.
pub(super) fn extension<'a>(certificate: &'a [u8], wanted: &[u8]) -> Option<Option<&'a [u8]>> {
    let (certificate, _) = der::take(certificate, der::SEQUENCE)?;
    let (mut rest, _) = der::take(certificate, der::SEQUENCE)?;
    // The extensions come last, after fields with other tags (RFC 5280 §4.1).
    let extensions = loop {
        let Some(tag) = rest.first() else {
            return Some(None);
        };
        let (content, after) = der::take(rest, *tag)?;
        if *tag == EXTENSIONS {
            break content;
        }
        rest = after;
    };
    let mut extensions = der::only(extensions, der::SEQUENCE)?;
    while !extensions.is_empty() {
        let (extension, after) = der::take(extensions, der::SEQUENCE)?;
        let (id, value) = der::take(extension, OBJECT_IDENTIFIER)?;
        if id == wanted {
            // Skips the critical flag, if present.
            let value = der::take(value, BOOLEAN).map_or(value, |(_, value)| value);
            return der::only(value, OCTET_STRING).map(Some);
        }
        extensions = after;
    }
    Some(None)
}

/// The first eight bits of a KeyUsage.
fn usages(value: &[u8]) -> Option<u8> {
    let (unused, bits) = der::only(value, der::BIT_STRING)?.split_first()?;
    let first = bits.first().copied().unwrap_or_default();
    // An empty bit string permits nothing. In DER the unused bits of the last byte are zero (X.690 §11.2).
    (*unused < 8).then_some(first)
}
