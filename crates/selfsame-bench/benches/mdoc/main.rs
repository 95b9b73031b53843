//! How fast mdocs are issued and verified: `cargo bench -p selfsame-bench --bench mdoc`.
//!
//! The document has 30 elements, one of them a portrait of 20 kB. The response presents all of them, signed by the device.
//! Verification is compared with its three signatures alone, in alternating rounds of the same run.
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "a bench measures time and prints it"
)]

use std::hint::black_box;
use std::time::Duration;

use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, DistinguishedName, DnType, IsCa, Issuer,
    KeyPair, KeyUsagePurpose,
};
use selfsame_bench::statistics::Sample;
use selfsame_cbor::deterministic::encode;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Algorithm, KeyType, PrivateKey};
use selfsame_mdoc::digest::DigestAlgorithm;
use selfsame_mdoc::elements::{MDL, MDL_NAMESPACE};
use selfsame_mdoc::held::{ElementPath, IssuerSigned};
use selfsame_mdoc::issue::{IssuedElement, IssuedNamespace, MdocIssuance};
use selfsame_mdoc::present::MdocPresentation;
use selfsame_mdoc::security::{KeyAuthorizations, MdocStatus, ValidityInfo};
use selfsame_mdoc::transcript::{DcApiHandover, SessionTranscript};
use selfsame_mdoc::verify::{MdocCourt, MdocRequest, verify};

/// 2026-06-01.
const NOW: UnixTime = UnixTime(1_780_272_000);
const ELEMENTS: usize = 30;
const PORTRAIT: usize = 20_000;
const ROUND: Duration = Duration::from_millis(400);
const ROUNDS: usize = 9;

fn main() {
    let bench = Bench::new();
    let [mut issued, mut verified, mut signatures] = [(); 3].map(|()| Sample::default());
    for _ in 0..ROUNDS {
        issued.push_rate(ROUND, || bench.issue());
        verified.push_rate(ROUND, || bench.verify());
        signatures.push_rate(ROUND, || bench.three_signatures());
    }
    let ratio = signatures.ratios_to(&verified).median();
    println!("mdoc_issue_per_s    {:.0}", issued.median());
    println!("mdoc_verify_per_s   {:.0}", verified.median());
    println!("mdoc_verify_ratio   {ratio:.2}   over three P-256 verifications");
}

struct Bench {
    authorities: Vec<Vec<u8>>,
    certificate: Vec<u8>,
    signer: PrivateKey,
    device: PrivateKey,
    namespaces: Vec<IssuedNamespace>,
    transcript: SessionTranscript,
    response: Vec<u8>,
    message: Vec<u8>,
    signature: Vec<u8>,
}

impl Bench {
    fn new() -> Self {
        let (authority, certificate, signer) = certificates();
        let device = PrivateKey::generate(KeyType::P256).unwrap();
        let message = vec![7; 2_000];
        let mut bench = Self {
            authorities: vec![authority],
            certificate,
            signature: device.sign(&message).unwrap(),
            signer,
            device,
            namespaces: namespaces(),
            transcript: SessionTranscript::of_dc_api(&DcApiHandover {
                origin: "https://reader.example",
                nonce: "nonce",
                thumbprint: None,
            }),
            response: Vec::new(),
            message,
        };
        bench.response = bench.presented();
        bench
    }

    fn issued(&self) -> Vec<u8> {
        let issuance = MdocIssuance {
            doc_type: MDL.doc_type,
            namespaces: &self.namespaces,
            device_key: self.device.public(),
            authorizations: &KeyAuthorizations::default(),
            validity: ValidityInfo {
                signed: NOW,
                valid_from: NOW,
                valid_until: NOW.plus(86_400),
                expected_update: None,
            },
            status: &MdocStatus::None,
            digest_algorithm: DigestAlgorithm::Sha256,
            decoys: 0,
        };
        let chain = vec![self.certificate.clone()];
        let ctx = Ctx::new(NOW, [7; 32]);
        let draft = issuance.draft(Algorithm::Es256, chain, &ctx).unwrap();
        draft.finish(&self.signer.sign(&draft.signing_bytes()).unwrap())
    }

    fn presented(&self) -> Vec<u8> {
        let issued = self.issued();
        let document = IssuerSigned::parse(&issued).unwrap();
        let elements = &self.namespaces[0].elements;
        let chosen: Vec<ElementPath<'_>> = elements
            .iter()
            .map(|element| ElementPath {
                namespace: MDL_NAMESPACE,
                element: &element.name,
            })
            .collect();
        let presentation = MdocPresentation {
            document: &document,
            doc_type: MDL.doc_type,
            chosen: &chosen,
            stated: &[],
            transcript: &self.transcript,
        };
        let draft = presentation.draft(Algorithm::Es256).unwrap();
        draft.finish(&self.device.sign(&draft.signing_bytes()).unwrap())
    }

    fn issue(&self) {
        black_box(self.issued());
    }

    fn verify(&self) {
        let court = MdocCourt {
            now: NOW,
            leeway: 0,
            authorities: &self.authorities,
            algorithms: None,
            statuses: &[],
            require_status: false,
        };
        let request = MdocRequest {
            transcript: &self.transcript,
            reader_key: None,
            doc_type: MDL.doc_type,
            wanted: &[],
        };
        let (verdict, document) = verify(&self.response, &request, &court);
        assert!(verdict.is_valid());
        black_box(document);
    }

    fn three_signatures(&self) {
        let key = self.device.public();
        for _ in 0..3 {
            let verified = key.verify(Algorithm::Es256, &self.message, &self.signature);
            assert!(verified.is_ok());
        }
    }
}

fn namespaces() -> Vec<IssuedNamespace> {
    let text = |at: usize| IssuedElement {
        name: format!("element_{at}"),
        value: encode(|to| {
            to.text("a value of a usual length");
        }),
    };
    let mut elements: Vec<IssuedElement> = (1..ELEMENTS).map(text).collect();
    elements.push(IssuedElement {
        name: "portrait".to_owned(),
        value: encode(|to| {
            to.bytes(&vec![7; PORTRAIT]);
        }),
    });
    vec![IssuedNamespace {
        name: MDL_NAMESPACE.to_owned(),
        elements,
    }]
}

/// An authority and a document signer that follow their profiles.
fn certificates() -> (Vec<u8>, Vec<u8>, PrivateKey) {
    let params = |name: &str| {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CountryName, "UT");
        params.distinguished_name.push(DnType::CommonName, name);
        params.not_before = rcgen::date_time_ymd(2026, 1, 1);
        params.not_after = rcgen::date_time_ymd(2027, 1, 1);
        params
    };
    let mut above = params("Utopia IACA");
    above.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    above.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let above_key = KeyPair::generate().unwrap();
    let authority = above.self_signed(&above_key).unwrap().der().to_vec();
    let mut params = params("Utopia DS 1");
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.use_authority_key_identifier_extension = true;
    let purpose = b"\x30\x09\x06\x07\x28\x81\x8c\x5d\x05\x01\x02".to_vec();
    let mut purpose = CustomExtension::from_oid_content(&[2, 5, 29, 37], purpose);
    purpose.set_criticality(true);
    let identifier = CustomExtension::from_oid_content(&[2, 5, 29, 14], vec![4, 4, 1, 2, 3, 4]);
    params.custom_extensions = vec![purpose, identifier];
    let key = KeyPair::generate().unwrap();
    let issuer = Issuer::from_params(&above, &above_key);
    let certificate = params.signed_by(&key, &issuer).unwrap().der().to_vec();
    let key = PrivateKey::from_pkcs8(&key.serialize_der()).unwrap();
    (authority, certificate, key)
}
