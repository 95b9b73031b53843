//! Authorities, signers and documents of the tests.

use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
};
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Algorithm, KeyType, PrivateKey};
use serde_json::{Value, json};

use crate::digest::DigestAlgorithm;
use crate::elements::{MDL, MDL_NAMESPACE, encode_element};
use crate::held::ElementPath;
use crate::issue::{IssuedElement, IssuedNamespace, MdocIssuance};
use crate::security::{KeyAuthorizations, MdocStatus, ValidityInfo};

/// 2026-06-01T00:00:00Z.
pub const NOW: UnixTime = UnixTime(1_780_272_000);

/// How a certificate of the tests differs from its profile.
pub type Change = fn(&mut CertificateParams);

pub struct Authority {
    pub certificate: Vec<u8>,
    params: CertificateParams,
    key: KeyPair,
}

pub struct Signer {
    pub certificate: Vec<u8>,
    pub key: PrivateKey,
}

fn unchanged(_: &mut CertificateParams) {}

fn named(country: &str, name: &str) -> DistinguishedName {
    let mut names = DistinguishedName::new();
    names.push(DnType::CountryName, country);
    names.push(DnType::CommonName, name);
    names
}

fn issuer_alt_name() -> CustomExtension {
    // GeneralNames with one rfc822Name.
    let name = b"ca@example.com";
    let mut der = vec![0x30, 2 + name.len() as u8, 0x81, name.len() as u8];
    der.extend(name);
    CustomExtension::from_oid_content(&[2, 5, 29, 18], der)
}

pub fn authority() -> Authority {
    authority_with(unchanged)
}

pub fn authority_with(change: Change) -> Authority {
    let mut params = CertificateParams::default();
    params.distinguished_name = named("UT", "Utopia IACA");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params.not_before = rcgen::date_time_ymd(2026, 1, 1);
    params.not_after = rcgen::date_time_ymd(2036, 1, 1);
    params.custom_extensions = vec![issuer_alt_name()];
    change(&mut params);
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap().der().to_vec();
    Authority {
        certificate,
        params,
        key,
    }
}

impl Authority {
    pub fn signer(&self) -> Signer {
        self.signer_with(unchanged)
    }

    pub fn signer_with(&self, change: Change) -> Signer {
        let mut params = CertificateParams::default();
        params.distinguished_name = named("UT", "Utopia DS 1");
        params.is_ca = IsCa::NoCa;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.use_authority_key_identifier_extension = true;
        params.not_before = rcgen::date_time_ymd(2026, 2, 1);
        params.not_after = rcgen::date_time_ymd(2027, 2, 1);
        params.custom_extensions = vec![
            issuer_alt_name(),
            purpose(&[0x28, 0x81, 0x8c, 0x5d, 0x05, 0x01, 0x02]),
            subject_key_id(),
        ];
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let issuer = Issuer::from_params(&self.params, &self.key);
        let certificate = params.signed_by(&key, &issuer).unwrap().der().to_vec();
        Signer {
            certificate,
            key: PrivateKey::from_pkcs8(&key.serialize_der()).unwrap(),
        }
    }
}

/// A critical extKeyUsage with this purpose alone.
pub fn purpose(oid: &[u8]) -> CustomExtension {
    let mut der = vec![0x30, 2 + oid.len() as u8, 0x06, oid.len() as u8];
    der.extend(oid);
    let mut extension = CustomExtension::from_oid_content(&[2, 5, 29, 37], der);
    extension.set_criticality(true);
    extension
}

fn subject_key_id() -> CustomExtension {
    CustomExtension::from_oid_content(&[2, 5, 29, 14], vec![0x04, 0x04, 1, 2, 3, 4])
}

/// So that a change of the tests can name a purpose of rcgen's.
pub const SERVER: ExtendedKeyUsagePurpose = ExtendedKeyUsagePurpose::ServerAuth;

pub fn device() -> PrivateKey {
    PrivateKey::generate(KeyType::P256).unwrap()
}

pub fn ctx(seed: u8) -> Ctx {
    Ctx::new(NOW, [seed; 32])
}

pub fn validity() -> ValidityInfo {
    ValidityInfo {
        signed: NOW.minus(3_600),
        valid_from: NOW.minus(3_600),
        valid_until: NOW.plus(86_400),
        expected_update: None,
    }
}

pub fn elements() -> Vec<(&'static str, Value)> {
    vec![
        ("family_name", json!("Mustermann")),
        ("given_name", json!("Erika")),
        ("birth_date", json!("1990-08-12")),
        ("issuing_country", json!("UT")),
        ("document_number", json!("12345")),
        ("portrait", json!("_9j_4A")),
        ("age_over_18", json!(true)),
        (
            "driving_privileges",
            json!([{"vehicle_category_code": "B"}]),
        ),
    ]
}

pub fn licence(elements: &[(&str, Value)]) -> Vec<IssuedNamespace> {
    let namespace = MDL_NAMESPACE;
    let elements = elements.iter().map(|(element, value)| IssuedElement {
        name: (*element).to_owned(),
        value: encode_element(MDL.doc_type, ElementPath { namespace, element }, value).unwrap(),
    });
    vec![IssuedNamespace {
        name: namespace.to_owned(),
        elements: elements.collect(),
    }]
}

/// What differs between the documents of the tests.
pub struct Terms {
    pub namespaces: Vec<IssuedNamespace>,
    pub authorizations: KeyAuthorizations,
    pub validity: ValidityInfo,
    pub status: MdocStatus,
    pub digest_algorithm: DigestAlgorithm,
    pub decoys: usize,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            namespaces: licence(&elements()),
            authorizations: KeyAuthorizations::default(),
            validity: validity(),
            status: MdocStatus::None,
            digest_algorithm: DigestAlgorithm::Sha256,
            decoys: 3,
        }
    }
}

impl Terms {
    pub fn issue(&self, signer: &Signer, device: &PrivateKey) -> Vec<u8> {
        let issuance = MdocIssuance {
            doc_type: MDL.doc_type,
            namespaces: &self.namespaces,
            device_key: device.public(),
            authorizations: &self.authorizations,
            validity: self.validity,
            status: &self.status,
            digest_algorithm: self.digest_algorithm,
            decoys: self.decoys,
        };
        let chain = vec![signer.certificate.clone()];
        let draft = issuance.draft(Algorithm::Es256, chain, &ctx(7)).unwrap();
        draft.finish(&signer.key.sign(&draft.signing_bytes()).unwrap())
    }
}
