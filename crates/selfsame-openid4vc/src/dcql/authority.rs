//! The authority key identifiers of certificates, for the `aki` kind of trusted authority (OpenID4VP 1.0 §6.1.1.1).

/// The authority key identifiers in the certificates (DER) that came with a credential, as in its `x5c` header. A
/// certificate that can't be read has none. They are claims about the issuer's authorities; nothing is verified by
/// them.
pub fn authority_keys(certificates: &[Vec<u8>]) -> Vec<Vec<u8>> {
    certificates
        .iter()
        .filter_map(|certificate| authority_key(certificate))
        .map(<[u8]>::to_vec)
        .collect()
}

const OID_AUTHORITY_KEY: &[u8] = &[0x55, 0x1d, 0x23];

const OCTET_STRING: u8 = 0x04;
const OBJECT_IDENTIFIER: u8 = 0x06;
const SEQUENCE: u8 = 0x30;
/// `[0]`, primitive: `keyIdentifier` of AuthorityKeyIdentifier (RFC 5280 §4.2.1.1).
const KEY_IDENTIFIER: u8 = 0x80;
/// `[3]`, constructed: `extensions` of TBSCertificate (RFC 5280 §4.1).
const EXTENSIONS: u8 = 0xa3;

fn authority_key(certificate: &[u8]) -> Option<&[u8]> {
    let (certificate, _) = expect(certificate, SEQUENCE)?;
    let (to_be_signed, _) = expect(certificate, SEQUENCE)?;
    let extensions = find(to_be_signed, EXTENSIONS)?;
    let (mut extensions, _) = expect(extensions, SEQUENCE)?;
    while let Some((extension, rest)) = expect(extensions, SEQUENCE) {
        extensions = rest;
        let (oid, members) = expect(extension, OBJECT_IDENTIFIER)?;
        if oid == OID_AUTHORITY_KEY {
            let (value, _) = expect(find(members, OCTET_STRING)?, SEQUENCE)?;
            return find(value, KEY_IDENTIFIER);
        }
    }
    None
}

/// The content of the first element of this tag.
fn find(mut elements: &[u8], wanted: u8) -> Option<&[u8]> {
    while let Some((tag, content, rest)) = take(elements) {
        if tag == wanted {
            return Some(content);
        }
        elements = rest;
    }
    None
}

/// The content of the first element, which must have this tag, and the bytes after it.
fn expect(elements: &[u8], wanted: u8) -> Option<(&[u8], &[u8])> {
    let (tag, content, rest) = take(elements)?;
    (tag == wanted).then_some((content, rest))
}

/// The first DER element: its tag, its content, and the bytes after it. Certificates are far below 64 KiB.
fn take(input: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = input.split_first()?;
    let (length, rest) = rest.split_first()?;
    let (length, rest) = match length {
        0..=0x7f => (usize::from(*length), rest),
        0x81 => {
            let (length, rest) = rest.split_first()?;
            (usize::from(*length), rest)
        }
        0x82 => {
            let (length, rest) = rest.split_first_chunk::<2>()?;
            (usize::from(u16::from_be_bytes(*length)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}

#[cfg(test)]
mod tests {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyIdMethod, KeyPair};

    use super::*;

    /// A certificate below an authority with this key identifier, and the authority's own.
    fn chain(key_identifier: &[u8], names_authority: bool) -> Vec<Vec<u8>> {
        let key = KeyPair::generate().unwrap();
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_identifier_method = KeyIdMethod::PreSpecified(key_identifier.to_vec());
        let own = authority.self_signed(&key).unwrap().der().to_vec();
        let authority = Issuer::new(authority, key);
        let mut leaf = CertificateParams::new(vec!["issuer.example".to_owned()]).unwrap();
        leaf.use_authority_key_identifier_extension = names_authority;
        let key = KeyPair::generate().unwrap();
        let leaf = leaf.signed_by(&key, &authority).unwrap();
        vec![leaf.der().to_vec(), own]
    }

    #[test]
    fn a_certificate_names_the_key_of_its_authority() {
        assert_eq!(
            authority_keys(&chain(b"the authority", true)),
            [b"the authority"]
        );
    }

    #[test]
    fn a_certificate_that_names_no_key_has_none() {
        assert!(authority_keys(&chain(b"the authority", false)).is_empty());
    }

    #[test]
    fn what_is_no_certificate_has_no_authority_and_does_no_harm() {
        let certificate = chain(b"the authority", true).remove(0);
        for end in 0..certificate.len() {
            authority_keys(&[certificate[..end].to_vec()]);
            let mut broken = certificate.clone();
            broken[end] ^= 0xff;
            authority_keys(&[broken]);
        }
        assert!(authority_keys(&[Vec::new(), vec![0x30], vec![0x30, 0x84, 1, 2, 3, 4]]).is_empty());
    }
}
