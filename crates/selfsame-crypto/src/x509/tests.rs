use rcgen::{
    BasicConstraints, CertificateParams, GeneralSubtree, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    NameConstraints, PublicKeyData, SanType, date_time_ymd,
};

use super::*;

struct Pki {
    root: Vec<u8>,
    issuer: Issuer<'static, KeyPair>,
}

fn pki(name: &str) -> Pki {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::default();
    params
        .distinguished_name
        .push(rcgen::DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root = params.self_signed(&key).unwrap().der().to_vec();
    Pki {
        root,
        issuer: Issuer::new(params, key),
    }
}

fn leaf(pki: &Pki, key: &KeyPair) -> Vec<u8> {
    let mut params =
        CertificateParams::new(["verifier.example".to_owned(), "*.wild.example".to_owned()])
            .unwrap();
    params
        .subject_alt_names
        .push(SanType::URI("https://issuer.example/a".try_into().unwrap()));
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2030, 1, 1);
    params.signed_by(key, &pki.issuer).unwrap().der().to_vec()
}

const NOW: UnixTime = UnixTime(1_700_000_000);

#[test]
fn a_chain_to_an_anchor_is_accepted_within_its_time_only() {
    let pki = pki("root");
    let key = KeyPair::generate().unwrap();
    let chain = Chain::parse(&[leaf(&pki, &key)]).unwrap();
    let anchors = [pki.root.clone()];
    assert_eq!(chain.verify(&anchors, NOW), Ok(()));
    assert_eq!(
        chain.verify(&anchors, UnixTime(1_500_000_000)),
        Err(X509Error::NotYetValid)
    );
    assert_eq!(
        chain.verify(&anchors, UnixTime(1_900_000_000)),
        Err(X509Error::Expired)
    );
    assert_eq!(
        chain.leaf_public_key().to_spki().unwrap(),
        key.subject_public_key_info()
    );
    assert_eq!(chain.leaf_sha256(), sha256(&chain.leaf));
}

#[test]
fn a_chain_to_another_anchor_or_to_none_is_not_trusted() {
    let (ours, theirs) = (pki("root"), pki("root"));
    let chain = Chain::parse(&[
        leaf(&ours, &KeyPair::generate().unwrap()),
        ours.root.clone(),
    ])
    .unwrap();
    assert_eq!(chain.verify(&[theirs.root], NOW), Err(X509Error::Untrusted));
    assert_eq!(chain.verify(&[], NOW), Err(X509Error::Untrusted));
    assert_eq!(
        chain.verify(&[b"no certificate".to_vec()], NOW),
        Err(X509Error::Anchor)
    );
}

#[test]
fn what_is_no_certificate_is_no_anchor() {
    let pki = pki("root");
    assert!(is_anchor(&pki.root));
    assert!(!is_anchor(b"no certificate"));
    assert!(!is_anchor(&pki.root[1..]));
}

#[test]
fn a_chain_by_an_intermediate_authority_is_accepted_with_and_without_its_root() {
    let pki = pki("root");
    let middle_key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::default();
    params
        .distinguished_name
        .push(rcgen::DnType::CommonName, "middle");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    let middle = params
        .signed_by(&middle_key, &pki.issuer)
        .unwrap()
        .der()
        .to_vec();
    let middle_pki = Pki {
        root: Vec::new(),
        issuer: Issuer::new(params, middle_key),
    };
    let key = KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
    let leaf = leaf(&middle_pki, &key);
    let anchors = [pki.root.clone()];
    let verify = |x5c: &[Vec<u8>]| Chain::parse(x5c).unwrap().verify(&anchors, NOW);
    assert_eq!(verify(&[leaf.clone(), middle.clone()]), Ok(()));
    assert_eq!(
        verify(&[leaf.clone(), middle.clone(), pki.root.clone()]),
        Ok(())
    );
    assert_eq!(
        verify(std::slice::from_ref(&leaf)),
        Err(X509Error::Untrusted)
    );
    assert_eq!(
        verify(&[leaf.clone(), pki.root.clone()]),
        Err(X509Error::Untrusted)
    );
    let chain = Chain::parse(&[leaf, middle]).unwrap();
    assert_eq!(chain.leaf_public_key().key_type(), crate::KeyType::Ed25519);
}

#[test]
fn a_certificate_changed_anywhere_is_refused() {
    let pki = pki("root");
    let leaf = leaf(&pki, &KeyPair::generate().unwrap());
    for at in 0..leaf.len() {
        let mut changed = leaf.clone();
        changed[at] ^= 1;
        let verified = Chain::parse(&[changed])
            .and_then(|chain| chain.verify(std::slice::from_ref(&pki.root), NOW));
        assert!(verified.is_err(), "byte {at}");
    }
}

#[test]
fn an_intermediate_that_is_no_authority_is_not_trusted() {
    let pki = pki("root");
    let middle_key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(["middle.example".to_owned()]).unwrap();
    params
        .distinguished_name
        .push(rcgen::DnType::CommonName, "middle");
    let middle = params
        .signed_by(&middle_key, &pki.issuer)
        .unwrap()
        .der()
        .to_vec();
    let middle_pki = Pki {
        root: Vec::new(),
        issuer: Issuer::new(params, middle_key),
    };
    let chain = Chain::parse(&[leaf(&middle_pki, &KeyPair::generate().unwrap()), middle]).unwrap();
    assert_eq!(chain.verify(&[pki.root], NOW), Err(X509Error::Untrusted));
}

#[test]
fn names_match_exactly_and_wildcards_do_not() {
    let chain = Chain::parse(&[leaf(&pki("root"), &KeyPair::generate().unwrap())]).unwrap();
    assert!(chain.has_dns_name("verifier.example"));
    assert!(chain.has_dns_name("Verifier.Example"));
    assert!(!chain.has_dns_name("a.wild.example"));
    assert!(!chain.has_dns_name("verifier.example.evil"));
    assert!(chain.has_uri("https://issuer.example/a"));
    assert!(!chain.has_uri("https://issuer.example/"));
}

#[test]
fn chains_that_are_empty_too_long_or_no_certificates_are_refused() {
    assert_eq!(Chain::parse(&[]).err(), Some(X509Error::Size));
    assert_eq!(
        Chain::parse(&vec![vec![0x30]; 9]).err(),
        Some(X509Error::Size)
    );
    assert_eq!(
        Chain::parse(&[vec![0; 16 * 1024 + 1]]).err(),
        Some(X509Error::Size)
    );
    assert_eq!(
        Chain::parse(&[vec![0x30, 0x00]]).err(),
        Some(X509Error::Malformed)
    );
}

#[test]
fn the_path_to_an_anchor_leaves_out_what_does_not_belong_to_it() {
    let (own, other) = (pki("own"), pki("other"));
    let [key, stranger] = [(); 2].map(|()| KeyPair::generate().unwrap());
    let (first, beside) = (leaf(&own, &key), leaf(&other, &stranger));
    let chain = Chain::parse(&[first.clone(), beside, other.root.clone()]).unwrap();
    let anchors = [own.root.clone(), other.root.clone()];
    assert_eq!(chain.path(&anchors, NOW), Ok(vec![first]));
    assert_eq!(chain.path(&[], NOW), Err(X509Error::Untrusted));
}

#[test]
fn a_certificate_says_when_it_begins_and_ends_in_either_form_of_time() {
    let pki = pki("root");
    let key = KeyPair::generate().unwrap();
    let certificate = leaf(&pki, &key);
    let end = UnixTime::parse_rfc3339("2030-01-01T00:00:00Z");
    assert_eq!(not_after(&certificate), end);
    let begin = UnixTime::parse_rfc3339("2020-01-01T00:00:00Z");
    assert_eq!(not_before(&certificate), begin);
    // After 2049, only GeneralizedTime has enough digits.
    let mut params = CertificateParams::default();
    params.not_after = date_time_ymd(2075, 6, 30);
    let late = params.signed_by(&key, &pki.issuer).unwrap();
    let end = UnixTime::parse_rfc3339("2075-06-30T00:00:00Z");
    assert_eq!(not_after(late.der()), end);
    let both = [certificate.as_slice(), late.der()];
    assert_eq!(chain_not_after(both), not_after(&certificate));
    assert_eq!(
        chain_not_after([late.der().as_ref(), b"no certificate"]),
        None
    );
    assert_eq!(chain_not_after([]), None);
    for at in 0..certificate.len() {
        let cut = not_after(&certificate[..at]);
        assert_eq!(cut, None);
    }
    assert_eq!(not_after(b"no certificate"), None);
    assert_eq!(not_before(b"no certificate"), None);
}

/// An authority under `pki` with these key usages: its certificate in DER, and the authority that signs.
fn middle(pki: &Pki, usages: &[KeyUsagePurpose], key: KeyPair) -> (Vec<u8>, Pki) {
    let mut params = CertificateParams::default();
    params
        .distinguished_name
        .push(rcgen::DnType::CommonName, "middle");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = usages.to_vec();
    let certificate = params.signed_by(&key, &pki.issuer).unwrap().der().to_vec();
    let middle = Pki {
        root: Vec::new(),
        issuer: Issuer::new(params, key),
    };
    (certificate, middle)
}

#[test]
fn an_authority_above_the_first_certificate_must_be_allowed_to_sign_certificates() {
    let pki = pki("root");
    let verify = |usages: &[KeyUsagePurpose]| {
        let (certificate, middle) = middle(&pki, usages, KeyPair::generate().unwrap());
        let first = leaf(&middle, &KeyPair::generate().unwrap());
        let chain = Chain::parse(&[first, certificate]).unwrap();
        chain.verify(std::slice::from_ref(&pki.root), NOW)
    };
    let (certify, revoke) = (KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign);
    assert_eq!(verify(&[]), Ok(()));
    assert_eq!(verify(&[certify, revoke]), Ok(()));
    assert_eq!(verify(&[revoke]), Err(X509Error::KeyUsage));
    assert_eq!(
        verify(&[KeyUsagePurpose::DigitalSignature]),
        Err(X509Error::KeyUsage)
    );
}

#[test]
fn another_path_is_taken_where_the_first_has_an_authority_that_must_not_certify() {
    let pki = pki("root");
    let key = KeyPair::generate().unwrap();
    let again = KeyPair::try_from(key.serialize_der()).unwrap();
    let (wrong, _) = middle(&pki, &[KeyUsagePurpose::CrlSign], again);
    let (right, signer) = middle(&pki, &[KeyUsagePurpose::KeyCertSign], key);
    let first = leaf(&signer, &KeyPair::generate().unwrap());
    let chain = Chain::parse(&[first.clone(), wrong, right.clone()]).unwrap();
    assert_eq!(chain.path(&[pki.root], NOW), Ok(vec![first, right]));
}

#[test]
fn the_key_of_the_first_certificate_must_be_allowed_to_sign() {
    let pki = pki("root");
    let verify = |usages: &[KeyUsagePurpose]| {
        let mut params = CertificateParams::default();
        params.key_usages = usages.to_vec();
        let key = KeyPair::generate().unwrap();
        let first = params.signed_by(&key, &pki.issuer).unwrap().der().to_vec();
        let chain = Chain::parse(&[first]).unwrap();
        chain.verify(std::slice::from_ref(&pki.root), NOW)
    };
    let encipher = KeyUsagePurpose::KeyEncipherment;
    assert_eq!(verify(&[]), Ok(()));
    assert_eq!(verify(&[KeyUsagePurpose::DigitalSignature]), Ok(()));
    assert_eq!(
        verify(&[encipher, KeyUsagePurpose::DigitalSignature]),
        Ok(())
    );
    assert_eq!(verify(&[KeyUsagePurpose::ContentCommitment]), Ok(()));
    for usage in [
        encipher,
        KeyUsagePurpose::KeyAgreement,
        KeyUsagePurpose::KeyCertSign,
        KeyUsagePurpose::DecipherOnly,
    ] {
        assert_eq!(verify(&[usage]), Err(X509Error::KeyUsage), "{usage:?}");
    }
}

#[test]
fn an_authority_signs_no_tokens_itself() {
    let (above, own) = (pki("above"), pki("own"));
    let chain = Chain::parse(std::slice::from_ref(&own.root)).unwrap();
    assert_eq!(
        chain.verify(std::slice::from_ref(&own.root), NOW),
        Err(X509Error::Authority)
    );
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::ExplicitNoCa;
    let key = KeyPair::generate().unwrap();
    let first = params.signed_by(&key, &above.issuer).unwrap();
    let chain = Chain::parse(&[first.der().to_vec()]).unwrap();
    assert_eq!(chain.verify(&[above.root], NOW), Ok(()));
    let own = params.self_signed(&key).unwrap().der().to_vec();
    let chain = Chain::parse(std::slice::from_ref(&own)).unwrap();
    assert_eq!(chain.verify(&[own], NOW), Ok(()));
}

#[test]
fn whom_a_certificate_names_is_told_in_one_line() {
    let (pki, key) = (pki("root"), KeyPair::generate().unwrap());
    let mut params = CertificateParams::new(["sensor.example".to_owned()]).unwrap();
    params
        .subject_alt_names
        .push(SanType::IpAddress("192.0.2.7".parse().unwrap()));
    params.distinguished_name = rcgen::DistinguishedName::new();
    let name = &mut params.distinguished_name;
    name.push(rcgen::DnType::CommonName, "sensor 7\nACCEPTED");
    name.push(rcgen::DnType::OrganizationName, "Plant");
    let der = params.signed_by(&key, &pki.issuer).unwrap().der().to_vec();
    let told = named(&der).unwrap();
    assert_eq!(told.subject, "CN=sensor 7\u{fffd}ACCEPTED, O=Plant");
    assert_eq!(told.alternatives, ["dns:sensor.example", "ip:192.0.2.7"]);
    assert_eq!(told.common_name.unwrap(), "sensor 7\u{fffd}ACCEPTED");
    assert!(named(&pki.root).unwrap().alternatives.is_empty());
    assert!((0..der.len()).all(|cut| named(&der[..cut]).is_none()));
}

#[test]
fn a_key_signs_handshakes_unless_its_certificate_states_other_usages_alone() {
    let (pki, key) = (pki("root"), KeyPair::generate().unwrap());
    let stated = |usages: &[KeyUsagePurpose]| {
        let mut params = CertificateParams::default();
        params.key_usages = usages.to_vec();
        params.signed_by(&key, &pki.issuer).unwrap().der().to_vec()
    };
    let (sign, encipher) = (
        KeyUsagePurpose::DigitalSignature,
        KeyUsagePurpose::KeyEncipherment,
    );
    assert!(may_sign_handshakes(&stated(&[])));
    assert!(may_sign_handshakes(&stated(&[sign, encipher])));
    assert!(!may_sign_handshakes(&stated(&[encipher])));
}

/// Verifies a certificate with these URIs under an authority with these name constraints.
fn constrained(
    pki: &Pki,
    permitted: &[&str],
    excluded: &[&str],
    uris: &[&str],
) -> Result<(), X509Error> {
    let trees = |names: &[&str]| {
        let names = names.iter().map(|&name| name.to_owned());
        names.map(GeneralSubtree::DnsName).collect()
    };
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::default();
    let name = (rcgen::DnType::CommonName, "constrained");
    params.distinguished_name.push(name.0, name.1);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.name_constraints = Some(NameConstraints {
        permitted_subtrees: trees(permitted),
        excluded_subtrees: trees(excluded),
    });
    let middle = params.signed_by(&key, &pki.issuer).unwrap().der().to_vec();
    // The same authority as a trust anchor, as an operator may choose it for its constraints.
    let anchor = params.self_signed(&key).unwrap().der().to_vec();
    let middle_issuer = Issuer::new(params, key);
    let mut params = CertificateParams::default();
    let uris = uris
        .iter()
        .map(|&uri| SanType::URI(uri.try_into().unwrap()));
    params.subject_alt_names.extend(uris);
    let leaf = params.signed_by(&KeyPair::generate().unwrap(), &middle_issuer);
    let leaf = leaf.unwrap().der().to_vec();
    let chain = Chain::parse(&[leaf.clone(), middle]).unwrap();
    let verified = chain.verify(std::slice::from_ref(&pki.root), NOW);
    let direct = Chain::parse(&[leaf]).unwrap().verify(&[anchor], NOW);
    assert_eq!(verified, direct);
    verified
}

#[test]
fn an_authority_for_some_dns_names_certifies_no_uri_elsewhere() {
    let pki = pki("root");
    let own = "https://issuer.example/a";
    let refused = Err(X509Error::Constrained);
    for (permitted, excluded, uris, expected) in [
        (&["issuer.example"][..], &[][..], &[own][..], Ok(())),
        (&["example"], &[], &[own], Ok(())),
        (&["other.example"], &[], &[own], refused),
        (&["other.example", "issuer.example"], &[], &[own], Ok(())),
        (
            &["issuer.example"],
            &[],
            &[own, "https://other.example/"],
            refused,
        ),
        (
            &["issuer.example"],
            &[],
            &["did:web:issuer.example"],
            refused,
        ),
        (&["issuer.example"], &[], &["https://192.0.2.1/"], refused),
        (
            &["issuer.example"],
            &[],
            &["https://x@issuer.example/"],
            refused,
        ),
        (&[], &["issuer.example"], &[own], refused),
        (
            &[],
            &["issuer.example"],
            &["https://issuer.example./a"],
            refused,
        ),
        (&[], &["other.example"], &[own], Ok(())),
        (&["example"], &["issuer.example"], &[own], refused),
        (&["other.example"], &[], &[], Ok(())),
    ] {
        let verified = constrained(&pki, permitted, excluded, uris);
        assert_eq!(verified, expected, "{permitted:?} {excluded:?} {uris:?}");
    }
}
