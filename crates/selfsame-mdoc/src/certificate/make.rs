//! Makes certificates of authorities, document signers and readers by their profiles (ISO/IEC 18013-5 §B.1).

use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::x509::{CertificateContents, extension};
use selfsame_crypto::{Algorithm, PublicKey};

use super::der::{
    BIT_STRING, BOOLEAN_TRUE, OBJECT_IDENTIFIER, OCTET_STRING, PRINTABLE_STRING, SEQUENCE, SET,
    UTF8_STRING, element, positive, time,
};
use super::{CertificateRole, is_country};

/// The length of a key identifier (RFC 7093 §2, method 1).
const KEY_ID_BYTES: usize = 20;
/// The attributes of names (RFC 5280 §A.1), without tag and length.
const COUNTRY: &[u8] = &[0x55, 0x04, 0x06];
const STATE: &[u8] = &[0x55, 0x04, 0x08];
const ORGANISATION: &[u8] = &[0x55, 0x04, 0x0a];
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
/// ecdsa-with-SHA256 and ecdsa-with-SHA384 (RFC 5758 §3.2).
const ES256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const ES384: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x03];
/// `[0]`, constructed: the version; `[3]`: the extensions (RFC 5280 §4.1).
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;
/// `[0]`: `keyIdentifier`; `[6]`: `uniformResourceIdentifier` (RFC 5280 §4.2.1).
const KEY_IDENTIFIER: u8 = 0x80;
const URI: u8 = 0x86;
/// Version 3.
const V3: u8 = 2;
/// basicConstraints: an authority with a path length of 0.
const AUTHORITY: &[u8] = &[0x30, 0x06, 0x01, 0x01, 0xff, 0x02, 0x01, 0x00];
/// keyUsage: keyCertSign and cRLSign; digitalSignature.
const SIGNS_CERTIFICATES: &[u8] = &[0x03, 0x02, 0x01, 0x06];
const SIGNS: &[u8] = &[0x03, 0x02, 0x07, 0x80];

/// Whom a certificate is about.
#[derive(Clone, Copy, Debug)]
pub struct CertificateSubject<'a> {
    /// The country (ISO 3166-1 alpha-2, in upper case).
    pub country: &'a str,
    /// The state or province (ISO 3166-2).
    pub state: Option<&'a str>,
    /// The organisation.
    pub organisation: Option<&'a str>,
    /// The name.
    pub common_name: &'a str,
}

/// A certificate that is to be made.
#[derive(Clone, Copy, Debug)]
pub struct NewCertificate<'a> {
    /// What it is for.
    pub role: CertificateRole,
    /// Whom it is about.
    pub subject: CertificateSubject<'a>,
    /// The key that it certifies.
    pub key: &'a PublicKey,
    /// The certificate (DER) of the authority that signs it; `None` for an authority, which signs its own.
    pub authority: Option<&'a [u8]>,
    /// The serial number.
    pub serial: [u8; 16],
    /// The beginning of its validity.
    pub not_before: UnixTime,
    /// The end of its validity.
    pub not_after: UnixTime,
    /// An address at which the authority can be reached.
    pub contact: &'a str,
}

/// Why a certificate cannot be made; who asks for it must act.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NotMade {
    /// The country is malformed.
    #[error("the country is not two letters in upper case (ISO 3166-1)")]
    Country,
    /// A text of the subject or the address is empty, too long, or has control characters.
    #[error("a name or the address is empty, longer than 200 bytes, or has control characters")]
    Text,
    /// The key or the algorithm cannot be used.
    #[error("the key is not on P-256 or P-384")]
    Key,
    /// The certificate of the authority is missing, cannot be read, or has no key identifier.
    #[error("the certificate of the authority is missing or can't be read")]
    Authority,
    /// The end is not after the beginning.
    #[error("the validity ends before it begins")]
    Validity,
}

/// A certificate without its signature.
#[derive(Clone, Debug)]
pub struct CertificateDraft {
    to_be_signed: Vec<u8>,
    algorithm: Vec<u8>,
}

impl NewCertificate<'_> {
    /// The certificate for a key of this algorithm to sign: the authority's, or its own if it is that of an authority.
    ///
    /// # Errors
    /// Why it cannot be made.
    pub fn draft(&self, algorithm: Algorithm) -> Result<CertificateDraft, NotMade> {
        let algorithm = match algorithm {
            Algorithm::Es256 => ES256,
            Algorithm::Es384 => ES384,
            _ => return Err(NotMade::Key),
        };
        if self.not_after <= self.not_before {
            return Err(NotMade::Validity);
        }
        let algorithm = element(SEQUENCE, &[&element(OBJECT_IDENTIFIER, &[algorithm])]);
        let subject = self.subject.name()?;
        let above = match (self.role, self.authority) {
            (CertificateRole::Authority, _) => None,
            (_, Some(certificate)) => {
                Some(CertificateContents::parse(certificate).ok_or(NotMade::Authority)?)
            }
            (_, None) => return Err(NotMade::Authority),
        };
        let issuer = match &above {
            Some(above) => element(SEQUENCE, &[above.subject]),
            None => subject.clone(),
        };
        let own = key_id(self.key);
        let authority = match &above {
            Some(above) => above.subject_key_id().ok_or(NotMade::Authority)?,
            None => &own,
        };
        let to_be_signed = element(
            SEQUENCE,
            &[
                &element(VERSION, &[&positive(&[V3])]),
                &positive(&self.serial),
                &algorithm,
                &issuer,
                &element(SEQUENCE, &[&time(self.not_before), &time(self.not_after)]),
                &subject,
                &self.key.to_spki().map_err(|_| NotMade::Key)?,
                &element(EXTENSIONS, &[&self.extensions(&own, authority)?]),
            ],
        );
        Ok(CertificateDraft {
            to_be_signed,
            algorithm,
        })
    }

    fn extensions(&self, own: &[u8], authority: &[u8]) -> Result<Vec<u8>, NotMade> {
        let own = element(OCTET_STRING, &[own]);
        let above = element(SEQUENCE, &[&element(KEY_IDENTIFIER, &[authority])]);
        let contact = element(SEQUENCE, &[&element(URI, &[checked(self.contact)?])]);
        let purpose = self.role.purpose();
        let purpose = purpose.map(|id| element(SEQUENCE, &[&element(OBJECT_IDENTIFIER, &[id])]));
        let usage = match purpose {
            Some(_) => SIGNS,
            None => SIGNS_CERTIFICATES,
        };
        let mut all = vec![
            extension_of(extension::SUBJECT_KEY_ID, false, &own),
            extension_of(extension::KEY_USAGE, true, usage),
            extension_of(extension::ISSUER_ALT_NAME, false, &contact),
        ];
        match &purpose {
            Some(purpose) => {
                all.push(extension_of(extension::AUTHORITY_KEY_ID, false, &above));
                all.push(extension_of(extension::EXTENDED_KEY_USAGE, true, purpose));
            }
            None => all.push(extension_of(extension::BASIC_CONSTRAINTS, true, AUTHORITY)),
        }
        Ok(element(SEQUENCE, &[&all.concat()]))
    }
}

impl CertificateDraft {
    /// The bytes to sign.
    pub fn signing_bytes(&self) -> &[u8] {
        &self.to_be_signed
    }

    /// The certificate (DER) with this signature (r and s, RFC 9053 §2.1).
    pub fn finish(&self, signature: &[u8]) -> Vec<u8> {
        let (r, s) = signature.split_at(signature.len() / 2);
        let signature = element(SEQUENCE, &[&positive(r), &positive(s)]);
        let signature = element(BIT_STRING, &[&[0], &signature]);
        element(SEQUENCE, &[&self.to_be_signed, &self.algorithm, &signature])
    }
}

impl CertificateSubject<'_> {
    fn name(&self) -> Result<Vec<u8>, NotMade> {
        if !is_country(self.country) {
            return Err(NotMade::Country);
        }
        let country = element(PRINTABLE_STRING, &[self.country.as_bytes()]);
        let mut all = vec![attribute(COUNTRY, &country)];
        let further = [(STATE, self.state), (ORGANISATION, self.organisation)];
        let named = (COMMON_NAME, Some(self.common_name));
        for (id, text) in further.into_iter().chain([named]) {
            if let Some(text) = text {
                all.push(attribute(id, &element(UTF8_STRING, &[checked(text)?])));
            }
        }
        Ok(element(SEQUENCE, &[&all.concat()]))
    }
}

fn attribute(id: &[u8], value: &[u8]) -> Vec<u8> {
    let pair = element(SEQUENCE, &[&element(OBJECT_IDENTIFIER, &[id]), value]);
    element(SET, &[&pair])
}

fn extension_of(id: &[u8], is_critical: bool, value: &[u8]) -> Vec<u8> {
    let id = element(OBJECT_IDENTIFIER, &[id]);
    let flag = if is_critical { BOOLEAN_TRUE } else { &[] };
    element(SEQUENCE, &[&id, flag, &element(OCTET_STRING, &[value])])
}

/// RFC 7093 §2, method 1: the leftmost 160 bits of the SHA-256 digest of the key.
fn key_id(key: &PublicKey) -> Vec<u8> {
    let digest = sha256(key.bytes());
    digest.into_iter().take(KEY_ID_BYTES).collect()
}

fn checked(text: &str) -> Result<&[u8], NotMade> {
    let fits = (1..=200).contains(&text.len()) && !text.chars().any(char::is_control);
    fits.then_some(text.as_bytes()).ok_or(NotMade::Text)
}
