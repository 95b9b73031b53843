//! What a certificate says of itself, for profiles that ask for more than a path (RFC 5280 §4.1, §4.2).

use super::{after_validity, key_usage::OBJECT_IDENTIFIER, naming, not_after, not_before};
use crate::der;
use crate::time::UnixTime;

const BOOLEAN: u8 = 0x01;
const OCTET_STRING: u8 = 0x04;
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;
const KEY_IDENTIFIER: u8 = 0x80;
/// The maximum number of extensions.
const MAX_EXTENSIONS: usize = 32;

/// The object identifiers of extensions (RFC 5280 §4.2.1), without tag and length.
pub mod extension {
    /// subjectKeyIdentifier, 2.5.29.14.
    pub const SUBJECT_KEY_ID: &[u8] = &[0x55, 0x1d, 0x0e];
    /// keyUsage, 2.5.29.15.
    pub const KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x0f];
    /// issuerAltName, 2.5.29.18.
    pub const ISSUER_ALT_NAME: &[u8] = &[0x55, 0x1d, 0x12];
    /// basicConstraints, 2.5.29.19.
    pub const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x13];
    /// nameConstraints, 2.5.29.30.
    pub const NAME_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x1e];
    /// policyMappings, 2.5.29.33.
    pub const POLICY_MAPPINGS: &[u8] = &[0x55, 0x1d, 0x21];
    /// authorityKeyIdentifier, 2.5.29.35.
    pub const AUTHORITY_KEY_ID: &[u8] = &[0x55, 0x1d, 0x23];
    /// policyConstraints, 2.5.29.36.
    pub const POLICY_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x24];
    /// extKeyUsage, 2.5.29.37.
    pub const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];
    /// freshestCRL, 2.5.29.46.
    pub const FRESHEST_CRL: &[u8] = &[0x55, 0x1d, 0x2e];
    /// inhibitAnyPolicy, 2.5.29.54.
    pub const INHIBIT_ANY_POLICY: &[u8] = &[0x55, 0x1d, 0x36];
}

/// The contents of a certificate.
#[derive(Clone, Debug)]
pub struct CertificateContents<'c> {
    /// The issuer's Name in DER, without tag and length.
    pub issuer: &'c [u8],
    /// The subject's Name in DER, without tag and length.
    pub subject: &'c [u8],
    /// The beginning of the validity.
    pub not_before: UnixTime,
    /// The end of the validity.
    pub not_after: UnixTime,
    /// The extensions.
    pub extensions: Vec<CertificateExtension<'c>>,
}

/// An extension of a certificate.
#[derive(Clone, Copy, Debug)]
pub struct CertificateExtension<'c> {
    /// Its object identifier, without tag and length.
    pub id: &'c [u8],
    /// Whether who does not know it must refuse the certificate.
    pub is_critical: bool,
    /// Its value in DER.
    pub value: &'c [u8],
}

impl<'c> CertificateContents<'c> {
    /// The contents of this certificate (DER); `None` if it cannot be read, or has an extension twice.
    pub fn parse(certificate: &'c [u8]) -> Option<Self> {
        let (subject, mut rest) = der::take(after_validity(certificate)?, der::SEQUENCE)?;
        let mut extensions = Vec::new();
        while let Some(tag) = rest.first() {
            let (content, after) = der::take(rest, *tag)?;
            if *tag == EXTENSIONS {
                extensions = read_extensions(content)?;
            }
            rest = after;
        }
        Some(Self {
            issuer: issuer(certificate)?,
            subject,
            not_before: not_before(certificate)?,
            not_after: not_after(certificate)?,
            extensions,
        })
    }

    /// The extension with this object identifier.
    pub fn extension(&self, id: &[u8]) -> Option<&CertificateExtension<'c>> {
        self.extensions.iter().find(|extension| extension.id == id)
    }

    /// The first attribute of the subject with this short name, such as `C`.
    pub fn subject_attribute(&self, name: &str) -> Option<String> {
        attribute(self.subject, name)
    }

    /// The first attribute of the issuer with this short name.
    pub fn issuer_attribute(&self, name: &str) -> Option<String> {
        attribute(self.issuer, name)
    }

    /// The permitted usages, `digitalSignature` as the most significant bit; `None` if none are stated.
    pub fn key_usage(&self) -> Option<u16> {
        let value = self.extension(extension::KEY_USAGE)?.value;
        let (_, bits) = der::only(value, der::BIT_STRING)?.split_first()?;
        let at = |index: usize| u16::from(bits.get(index).copied().unwrap_or_default());
        Some(at(0) << 8 | at(1))
    }

    /// The object identifiers of the purposes of extKeyUsage; none if they are not stated or cannot be read.
    pub fn purposes(&self) -> Vec<&'c [u8]> {
        let value = self.extension(extension::EXTENDED_KEY_USAGE);
        let mut rest = value
            .and_then(|extension| der::only(extension.value, der::SEQUENCE))
            .unwrap_or_default();
        let mut purposes = Vec::new();
        while let Some((purpose, after)) = der::take(rest, OBJECT_IDENTIFIER) {
            purposes.push(purpose);
            rest = after;
        }
        purposes
    }

    /// Whether it is the certificate of an authority.
    pub fn is_authority(&self) -> bool {
        self.constraints().is_some_and(|content| {
            der::take(content, BOOLEAN).is_some_and(|(is_it, _)| is_it == [0xff])
        })
    }

    /// How many authorities may stand below this one, if that is limited.
    pub fn path_length(&self) -> Option<u8> {
        let (_, rest) = der::take(self.constraints()?, BOOLEAN)?;
        match der::only(rest, der::INTEGER)? {
            [length @ ..=0x7f] => Some(*length),
            _ => None,
        }
    }

    fn constraints(&self) -> Option<&'c [u8]> {
        let value = self.extension(extension::BASIC_CONSTRAINTS)?.value;
        der::only(value, der::SEQUENCE)
    }

    /// The subject's key identifier.
    pub fn subject_key_id(&self) -> Option<&'c [u8]> {
        let value = self.extension(extension::SUBJECT_KEY_ID)?.value;
        der::only(value, OCTET_STRING)
    }

    /// The key identifier of the authority above.
    pub fn authority_key_id(&self) -> Option<&'c [u8]> {
        let value = self.extension(extension::AUTHORITY_KEY_ID)?.value;
        let (id, _) = der::take(der::only(value, der::SEQUENCE)?, KEY_IDENTIFIER)?;
        Some(id)
    }
}

fn issuer(certificate: &[u8]) -> Option<&[u8]> {
    let (certificate, _) = der::take(certificate, der::SEQUENCE)?;
    let (mut rest, _) = der::take(certificate, der::SEQUENCE)?;
    if let Some((_, after)) = der::take(rest, VERSION) {
        rest = after;
    }
    // Serial number, signature algorithm.
    for tag in [der::INTEGER, der::SEQUENCE] {
        (_, rest) = der::take(rest, tag)?;
    }
    der::take(rest, der::SEQUENCE).map(|(issuer, _)| issuer)
}

fn attribute(name: &[u8], wanted: &str) -> Option<String> {
    let attributes = naming::attributes(name)?.into_iter();
    let mut found = attributes.filter(|(name, _)| *name == wanted);
    found.next().map(|(_, value)| value)
}

fn read_extensions(content: &[u8]) -> Option<Vec<CertificateExtension<'_>>> {
    let mut rest = der::only(content, der::SEQUENCE)?;
    let mut read: Vec<CertificateExtension<'_>> = Vec::new();
    while !rest.is_empty() {
        let (extension, after) = der::take(rest, der::SEQUENCE)?;
        rest = after;
        let (id, value) = der::take(extension, OBJECT_IDENTIFIER)?;
        let (is_critical, value) = match der::take(value, BOOLEAN) {
            Some((flag, value)) => (flag == [0xff], value),
            None => (false, value),
        };
        let value = der::only(value, OCTET_STRING)?;
        if read.len() == MAX_EXTENSIONS || read.iter().any(|other| other.id == id) {
            return None;
        }
        read.push(CertificateExtension {
            id,
            is_critical,
            value,
        });
    }
    Some(read)
}
