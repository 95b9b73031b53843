//! The profiles of authorities and signers (ISO/IEC 18013-5 Annex B.1), each rule broken once.

use rcgen::{BasicConstraints, CustomExtension, DnType, IsCa, KeyUsagePurpose};
use selfsame_crypto::x509::{CertificateContents, X509Error};
use selfsame_crypto::{Algorithm, PrivateKey};

use super::*;
use crate::certificate::make::{CertificateSubject, NewCertificate, NotMade};
use crate::certificate::{
    Breach, CertificateRole, DocumentSigner, SignerError, authority_rules, end_rules,
};
use crate::testing::{Change, SERVER, authority_with, purpose};

fn found(authority: &Authority, signer: &Signer) -> Result<(), SignerError> {
    let authorities = [authority.certificate.clone()];
    DocumentSigner::find(&signer.certificate, &authorities, NOW).map(|_| ())
}

fn breach(whose: CertificateRole, breach: Breach) -> Result<(), SignerError> {
    Err(SignerError::Profile { whose, breach })
}

#[test]
fn a_signer_that_follows_its_profile_is_found_among_several_authorities() {
    let (one, two) = (testing::authority(), testing::authority());
    let authorities = [one.certificate.clone(), two.certificate.clone()];
    let signer = two.signer();
    let found = DocumentSigner::find(&signer.certificate, &authorities, NOW).unwrap();
    assert_eq!(found.authority, 1);
    assert_eq!(&found.key, signer.key.public());
}

/// The breach that each change of a signer's certificate is.
fn breaches(changes: &[(Change, Breach)]) {
    let authority = testing::authority();
    for (change, broken) in changes {
        let signer = authority.signer_with(*change);
        let refused = breach(CertificateRole::Signer, *broken);
        assert_eq!(found(&authority, &signer), refused);
    }
}

#[test]
fn a_signers_key_is_for_documents_alone() {
    breaches(&[
        (
            |params| {
                params.key_usages = vec![
                    KeyUsagePurpose::DigitalSignature,
                    KeyUsagePurpose::ContentCommitment,
                ]
            },
            Breach::KeyUsage,
        ),
        (
            |params| {
                let last = params.custom_extensions.len() - 1;
                params.custom_extensions.swap_remove(last - 1);
                params.extended_key_usages = vec![SERVER];
            },
            Breach::Purpose,
        ),
        (
            |params| {
                params.custom_extensions[1] = purpose(&[0x28, 0x81, 0x8c, 0x5d, 0x05, 0x01, 0x06])
            },
            Breach::Purpose,
        ),
        (
            |params| {
                params.custom_extensions[1].set_criticality(false);
            },
            Breach::Purpose,
        ),
    ]);
}

#[test]
fn each_further_rule_of_a_signers_profile_is_checked() {
    breaches(&[
        (
            |params| params.distinguished_name.push(DnType::CountryName, "XX"),
            Breach::Country,
        ),
        (
            |params| {
                params
                    .distinguished_name
                    .remove(DnType::CountryName)
                    .then_some(())
                    .unwrap()
            },
            Breach::Country,
        ),
        (
            |params| params.use_authority_key_identifier_extension = false,
            Breach::KeyIdentifier,
        ),
        (
            |params| {
                params.custom_extensions.pop();
            },
            Breach::KeyIdentifier,
        ),
        (
            |params| params.not_after = rcgen::date_time_ymd(2027, 6, 1),
            Breach::Lifetime,
        ),
        (
            |params| params.not_before = rcgen::date_time_ymd(2025, 12, 1),
            Breach::Nesting,
        ),
        (
            |params| {
                // policyConstraints, which is forbidden.
                let forbidden = CustomExtension::from_oid_content(
                    &[2, 5, 29, 36],
                    vec![0x30, 0x03, 0x80, 0x01, 0x00],
                );
                params.custom_extensions.push(forbidden);
            },
            Breach::Forbidden,
        ),
    ]);
}

#[test]
fn an_authority_signs_no_documents() {
    let authority = testing::authority();
    let own = Signer {
        certificate: authority.certificate.clone(),
        key: testing::device(),
    };
    assert_eq!(
        found(&authority, &own),
        breach(CertificateRole::Signer, Breach::Authority)
    );
    let below = authority.signer_with(|params| {
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.custom_extensions.pop();
    });
    assert_eq!(
        found(&authority, &below),
        breach(CertificateRole::Signer, Breach::Authority)
    );
}

#[test]
fn each_rule_of_an_authoritys_profile_is_checked() {
    let changes: [(Change, Breach); 4] = [
        (
            |params| params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained),
            Breach::NoAuthority,
        ),
        (
            |params| params.is_ca = IsCa::Ca(BasicConstraints::Constrained(1)),
            Breach::NoAuthority,
        ),
        (
            |params| params.key_usages = vec![KeyUsagePurpose::KeyCertSign],
            Breach::KeyUsage,
        ),
        (
            |params| {
                params
                    .distinguished_name
                    .push(DnType::CountryName, "utopia")
            },
            Breach::Country,
        ),
    ];
    for (change, broken) in changes {
        let authority = authority_with(change);
        let signer = authority.signer();
        assert_eq!(
            found(&authority, &signer),
            breach(CertificateRole::Authority, broken)
        );
    }
}

#[test]
fn a_state_of_the_authority_is_that_of_its_signers() {
    let authority = authority_with(|params| {
        params
            .distinguished_name
            .push(DnType::StateOrProvinceName, "UT-1");
    });
    let refused = breach(CertificateRole::Signer, Breach::State);
    assert_eq!(found(&authority, &authority.signer()), refused);
    let same = authority.signer_with(|params| {
        params
            .distinguished_name
            .push(DnType::StateOrProvinceName, "UT-1");
    });
    assert_eq!(found(&authority, &same), Ok(()));
}

#[test]
fn a_path_that_does_not_hold_is_refused() {
    let (authority, namesake) = (testing::authority(), testing::authority());
    let signer = namesake.signer();
    assert_eq!(
        found(&authority, &signer),
        Err(SignerError::Path(X509Error::Untrusted))
    );
    let over = authority.signer_with(|params| {
        params.not_after = rcgen::date_time_ymd(2026, 3, 1);
    });
    assert_eq!(
        found(&authority, &over),
        Err(SignerError::Path(X509Error::Expired))
    );
    let other =
        authority_with(|params| params.distinguished_name.push(DnType::CommonName, "Other"));
    assert_eq!(
        found(&authority, &other.signer()),
        Err(SignerError::UnknownAuthority)
    );
}

/// A certificate of ours, and the key that it certifies.
fn made(role: CertificateRole, by: Option<&Made>) -> Made {
    let key = testing::device();
    let new = NewCertificate {
        role,
        subject: CertificateSubject {
            country: "UT",
            state: Some("UT-1"),
            organisation: Some("Utopia"),
            common_name: "Utopia",
        },
        key: key.public(),
        authority: by.map(|by| &*by.certificate),
        serial: [0x81; 16],
        not_before: NOW.minus(60),
        not_after: NOW.plus(86_400),
        contact: "https://utopia.example/",
    };
    let draft = new.draft(Algorithm::Es256).unwrap();
    let signer = by.map_or(&key, |by| &by.key);
    let signature = signer.sign(draft.signing_bytes()).unwrap();
    Made {
        certificate: draft.finish(&signature),
        key,
    }
}

struct Made {
    certificate: Vec<u8>,
    key: PrivateKey,
}

#[test]
fn what_is_made_keeps_every_rule_of_its_profile_and_leads_to_its_authority() {
    let authority = made(CertificateRole::Authority, None);
    let above = CertificateContents::parse(&authority.certificate).unwrap();
    assert!(authority_rules(&above).iter().all(|rule| rule.holds));
    assert_eq!(CertificateRole::of(&above), CertificateRole::Authority);
    for role in [CertificateRole::Signer, CertificateRole::Reader] {
        let made = made(role, Some(&authority));
        let contents = CertificateContents::parse(&made.certificate).unwrap();
        assert_eq!(CertificateRole::of(&contents), role);
        let rules = end_rules(role, &contents, Some(&above));
        assert!(rules.iter().all(|rule| rule.holds), "{rules:?}");
        let alone = end_rules(role, &contents, None);
        assert!(alone.iter().all(|rule| rule.holds), "{alone:?}");
        let authorities = [authority.certificate.clone()];
        let found = DocumentSigner::find(&made.certificate, &authorities, NOW);
        match role {
            CertificateRole::Signer => assert_eq!(&found.unwrap().key, made.key.public()),
            _ => assert!(found.is_err()),
        }
    }
}

#[test]
fn what_no_certificate_can_say_is_refused_by_name() {
    let key = testing::device();
    let good = NewCertificate {
        role: CertificateRole::Authority,
        subject: CertificateSubject {
            country: "UT",
            state: None,
            organisation: None,
            common_name: "Utopia",
        },
        key: key.public(),
        authority: None,
        serial: [1; 16],
        not_before: NOW,
        not_after: NOW.plus(1),
        contact: "https://utopia.example/",
    };
    let refused = |new: NewCertificate<'_>| new.draft(Algorithm::Es256).err();
    assert_eq!(refused(good), None);
    let subject = |country, common_name| CertificateSubject {
        country,
        common_name,
        ..good.subject
    };
    let named = |subject| refused(NewCertificate { subject, ..good });
    assert_eq!(named(subject("Ut", "Utopia")), Some(NotMade::Country));
    assert_eq!(named(subject("UT", "")), Some(NotMade::Text));
    assert_eq!(named(subject("UT", "a\nb")), Some(NotMade::Text));
    let not_after = good.not_before;
    assert_eq!(
        refused(NewCertificate { not_after, ..good }),
        Some(NotMade::Validity)
    );
    let role = CertificateRole::Signer;
    assert_eq!(
        refused(NewCertificate { role, ..good }),
        Some(NotMade::Authority)
    );
    let authority = Some(&b"x"[..]);
    let under = NewCertificate {
        role,
        authority,
        ..good
    };
    assert_eq!(refused(under), Some(NotMade::Authority));
    assert_eq!(good.draft(Algorithm::EdDsa).err(), Some(NotMade::Key));
}
