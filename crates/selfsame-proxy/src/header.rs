//! The header that informs the service about the client, before the first byte: PROXY protocol, version 2.

use std::io;
use std::net::{IpAddr, SocketAddr};

use selfsame_crypto::hash::sha256;
use selfsame_crypto::x509;
use selfsame_tls::identity::PeerKind;

/// PROXY protocol §2.2.
const SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";
/// Version 2, and the command PROXY.
const PROXY: u8 = 0x21;
const TCP_OVER_IPV4: u8 = 0x11;
const TCP_OVER_IPV6: u8 = 0x21;
const TYPE_ALPN: u8 = 0x01;
const TYPE_SSL: u8 = 0x20;
const SSL_VERSION: u8 = 0x21;
const SSL_CN: u8 = 0x22;
/// PP2_CLIENT_SSL; the client showed a certificate in this connection or in the session that it resumes.
const OVER_TLS: u8 = 0x01;
const CERTIFIED: u8 = 0x02 | 0x04;
/// Our type, from the range for applications (§2.2.8).
const TYPE_DID: u8 = 0xe0;
const TYPE_ISSUER: u8 = 0xe1;
const TYPE_CLAIMS: u8 = 0xe2;
const TYPE_CERTIFICATE: u8 = 0xe3;

/// The header for a peer that connected from the first address to the second, and the agreed protocol.
///
/// A DID never takes the place of a certificate's name: otherwise an authority for names could impersonate any DID.
///
/// # Errors
/// If the content does not fit into a header.
pub fn header(
    kind: &PeerKind,
    from: SocketAddr,
    to: SocketAddr,
    protocol: Option<&[u8]>,
) -> io::Result<Vec<u8>> {
    let (family, mut body) = addresses(from, to);
    if let Some(protocol) = protocol {
        body.extend(field(TYPE_ALPN, protocol)?);
    }
    let mut over = vec![OVER_TLS];
    let mut own = Vec::new();
    // Zero means that a certificate was shown and verified (§2.2.6).
    let verified = u32::from(!matches!(kind, PeerKind::Certificate(_)));
    let mut names = verified.to_be_bytes().to_vec();
    names.extend(field(SSL_VERSION, b"TLSv1.3")?);
    match kind {
        PeerKind::Anonymous => {}
        PeerKind::Certificate(chain) => {
            over = vec![OVER_TLS | CERTIFIED];
            let leaf = chain.first().map(Vec::as_slice).unwrap_or_default();
            let named = x509::named(leaf).unwrap_or_default();
            if let Some(name) = named.common_name {
                names.extend(field(SSL_CN, name.as_bytes())?);
            }
            own.extend(field(TYPE_CERTIFICATE, &sha256(leaf))?);
        }
        PeerKind::Did(did) => own.extend(field(TYPE_DID, did.as_str().as_bytes())?),
        PeerKind::Credential(credential) => {
            let claims = serde_json::Value::Object(credential.claims.clone());
            own.extend(field(TYPE_DID, credential.subject.as_str().as_bytes())?);
            own.extend(field(TYPE_ISSUER, credential.issuer.as_str().as_bytes())?);
            own.extend(field(TYPE_CLAIMS, claims.to_string().as_bytes())?);
        }
    }
    over.extend(names);
    body.extend(field(TYPE_SSL, &over)?);
    body.extend(own);
    let length = length(&body)?;
    Ok([SIGNATURE, &[PROXY, family][..], &length, &body].concat())
}

fn addresses(from: SocketAddr, to: SocketAddr) -> (u8, Vec<u8>) {
    let ports = [from.port().to_be_bytes(), to.port().to_be_bytes()].concat();
    let (from, to) = (from.ip().to_canonical(), to.ip().to_canonical());
    match (from, to) {
        (IpAddr::V4(from), IpAddr::V4(to)) => (
            TCP_OVER_IPV4,
            [&from.octets()[..], &to.octets(), &ports].concat(),
        ),
        _ => (TCP_OVER_IPV6, [&wide(from)[..], &wide(to), &ports].concat()),
    }
}

fn wide(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

fn field(kind: u8, value: &[u8]) -> io::Result<Vec<u8>> {
    Ok([&[kind][..], &length(value)?, value].concat())
}

fn length(value: &[u8]) -> io::Result<[u8; 2]> {
    let length = u16::try_from(value.len());
    let length =
        length.map_err(|_| io::Error::other("the peer's identity does not fit into the header"));
    Ok(length?.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use selfsame_credential::validity::Validity;
    use selfsame_did::Did;
    use selfsame_tls::VcFormat;
    use selfsame_tls::identity::{Credential, Vc};

    use super::*;

    fn told(kind: &PeerKind, from: &str, protocol: Option<&[u8]>) -> Vec<u8> {
        let to = "192.0.2.1:443".parse().unwrap();
        header(kind, from.parse().unwrap(), to, protocol).unwrap()
    }

    #[test]
    fn a_header_has_the_addresses_the_protocol_and_the_did() {
        let kind = PeerKind::Did(Did::parse("did:web:a.example").unwrap());
        let told = told(&kind, "198.51.100.7:50000", Some(b"h2"));
        let tls = [&[0x20, 0, 15, 1, 0, 0, 0, 1, 0x21, 0, 7][..], b"TLSv1.3"].concat();
        let did = [&[0xe0, 0, 17][..], b"did:web:a.example"].concat();
        let ends = [198, 51, 100, 7, 192, 0, 2, 1, 0xc3, 0x50, 0x01, 0xbb];
        let body = [&ends[..], &[0x01, 0, 2], b"h2", &tls, &did].concat();
        let length = u8::try_from(body.len()).unwrap();
        let head = [&SIGNATURE[..], &[0x21, 0x11, 0, length]].concat();
        assert_eq!(told, [head, body].concat());
    }

    #[test]
    fn an_address_of_ipv6_makes_both_wide() {
        let told = told(&PeerKind::Anonymous, "[2001:db8::1]:1", None);
        assert_eq!(told[13], TCP_OVER_IPV6);
        let mapped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1];
        assert_eq!(told[32..48], mapped);
    }

    #[test]
    fn a_certificate_is_named_by_its_common_name_and_its_digest() {
        let mut params = rcgen::CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params
            .distinguished_name
            .push(rcgen::DnType::CommonName, "sensor 7");
        let key = rcgen::KeyPair::generate().unwrap();
        let leaf = params.self_signed(&key).unwrap().der().to_vec();
        let told = told(
            &PeerKind::Certificate(vec![leaf.clone()]),
            "192.0.2.9:1",
            None,
        );
        let has = |part: &[u8]| told.windows(part.len()).any(|window| window == part);
        // A certificate was shown, and verified.
        assert!(has(&[0x20, 0, 26, 7, 0, 0, 0, 0]));
        assert!(has(&[&[0x22, 0, 8][..], b"sensor 7"].concat()));
        assert!(has(&[&[0xe3, 0, 32][..], &sha256(&leaf)].concat()));
    }

    #[test]
    fn a_credential_is_told_by_its_subject_its_issuer_and_its_claims() {
        let credential = Credential {
            vc: Vc {
                format: VcFormat::VC_JWT,
                bytes: Vec::new(),
            },
            issuer: Did::parse("did:web:issuer.example").unwrap(),
            key_id: String::new(),
            subject: Did::parse("did:web:a.example").unwrap(),
            validity: Validity::default(),
            types: Vec::new(),
            claims: serde_json::Map::from_iter([("dns".to_owned(), "a.example".into())]),
            statuses: Vec::new(),
        };
        let kind = PeerKind::Credential(Box::new(credential));
        let told = told(&kind, "192.0.2.9:1", None);
        let fields = [
            &[0xe0, 0, 17][..],
            b"did:web:a.example",
            &[0xe1, 0, 22],
            b"did:web:issuer.example",
            &[0xe2, 0, 19],
            br#"{"dns":"a.example"}"#,
        ];
        assert!(told.ends_with(&fields.concat()), "{told:?}");
    }

    #[test]
    fn what_does_not_fit_is_not_told_in_part() {
        let long = vec![0; 70_000];
        let end = "192.0.2.1:1".parse().unwrap();
        assert!(header(&PeerKind::Anonymous, end, end, Some(&long)).is_err());
    }
}
