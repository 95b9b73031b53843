//! An authority, a signer, a device and a reader, and the programs that act as their peers.

use std::time::{SystemTime, UNIX_EPOCH};

use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, DistinguishedName, DnType, IsCa, Issuer,
    KeyPair, KeyUsagePurpose,
};
use selfsame_cbor::Cbor;
use selfsame_cbor::deterministic::encode;
use selfsame_crypto::agreement::{AgreementCurve, AgreementPrivate};
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::{base64url_encode, hex_decode, hex_encode};
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Algorithm, KeyType, PrivateKey};
use selfsame_mdoc::LIMITS;
use selfsame_mdoc::digest::DigestAlgorithm;
use selfsame_mdoc::elements::{MDL, MDL_NAMESPACE, encode_element};
use selfsame_mdoc::held::{ElementPath, IssuerSigned};
use selfsame_mdoc::issue::{IssuedElement, IssuedNamespace, MdocIssuance};
use selfsame_mdoc::json::to_json;
use selfsame_mdoc::present::MdocPresentation;
use selfsame_mdoc::security::{KeyAuthorizations, MdocStatus, ValidityInfo};
use selfsame_mdoc::transcript::{RedirectHandover, SessionTranscript};
use selfsame_mdoc::verify::{MdocCourt, MdocRequest, verify, verify_issued};
use serde_json::{Value, json};

use crate::peer::Peer;

const WANTED: [ElementPath<'static>; 2] = [
    ElementPath {
        namespace: MDL_NAMESPACE,
        element: "family_name",
    },
    ElementPath {
        namespace: MDL_NAMESPACE,
        element: "birth_date",
    },
];

/// The bytes that a job gives.
fn given(peer: &Peer, job: &Value) -> Vec<u8> {
    let said = peer.said(job);
    let response = said["response"].as_str();
    let response = response.unwrap_or_else(|| panic!("{}: {said}", peer.script()));
    hex_decode(response).unwrap()
}

pub struct Scene {
    now: UnixTime,
    authority: Vec<u8>,
    certificate: Vec<u8>,
    signer: PrivateKey,
    device: PrivateKey,
    reader: AgreementPrivate,
    transcript: SessionTranscript,
}

impl Scene {
    #[allow(
        clippy::disallowed_methods,
        reason = "the packages judge by the clock of the machine"
    )]
    pub fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let (authority, certificate, signer) = certificates();
        Self {
            now: UnixTime(now.as_secs()),
            authority,
            certificate,
            signer,
            device: PrivateKey::generate(KeyType::P256).unwrap(),
            reader: AgreementPrivate::generate(AgreementCurve::P256).unwrap(),
            transcript: transcript("nonce"),
        }
    }

    /// The reader's private key as a JWK.
    pub fn reader_jwk(&self) -> Value {
        let mut jwk = self.reader.public().to_jwk().to_value();
        jwk["d"] = base64url_encode(self.reader.to_raw().unwrap().expose()).into();
        jwk
    }

    fn issued(&self) -> Vec<u8> {
        let elements = elements();
        let elements = elements.as_object().unwrap().iter();
        let namespaces = [IssuedNamespace {
            name: MDL_NAMESPACE.to_owned(),
            elements: elements
                .map(|(element, value)| IssuedElement {
                    name: element.clone(),
                    value: encode_element(MDL.doc_type, path(element), value).unwrap(),
                })
                .collect(),
        }];
        let issuance = MdocIssuance {
            doc_type: MDL.doc_type,
            namespaces: &namespaces,
            device_key: self.device.public(),
            authorizations: &KeyAuthorizations::default(),
            validity: ValidityInfo {
                signed: self.now.minus(60),
                valid_from: self.now.minus(60),
                valid_until: self.now.plus(3_600),
                expected_update: None,
            },
            status: &MdocStatus::None,
            digest_algorithm: DigestAlgorithm::Sha256,
            decoys: 2,
        };
        let chain = vec![self.certificate.clone()];
        let ctx = Ctx::new(self.now, [7; 32]);
        let draft = issuance.draft(Algorithm::Es256, chain, &ctx).unwrap();
        draft.finish(&self.signer.sign(&draft.signing_bytes()).unwrap())
    }

    fn presented(&self, issued: &[u8]) -> Vec<u8> {
        let document = IssuerSigned::parse(issued).unwrap();
        let presentation = MdocPresentation {
            document: &document,
            doc_type: MDL.doc_type,
            chosen: &WANTED,
            stated: &[],
            transcript: &self.transcript,
        };
        let draft = presentation.draft(Algorithm::Es256).unwrap();
        draft.finish(&self.device.sign(&draft.signing_bytes()).unwrap())
    }

    /// Verifies a response here, and returns its elements.
    fn verified(&self, response: &[u8], transcript: &SessionTranscript) -> Result<Value, String> {
        let authorities = [self.authority.clone()];
        let request = MdocRequest {
            transcript,
            reader_key: Some(&self.reader),
            doc_type: MDL.doc_type,
            wanted: &WANTED,
        };
        let (verdict, document) = verify(response, &request, &self.court(&authorities));
        let Some(document) = document.filter(|_| verdict.is_valid()) else {
            return Err(format!("{verdict:#?}"));
        };
        let items = document.namespaces.iter().flat_map(|one| &one.items);
        Ok(items
            .map(|item| (item.element, to_json(&item.value)))
            .collect())
    }

    fn court<'a>(&self, authorities: &'a [Vec<u8>]) -> MdocCourt<'a> {
        MdocCourt {
            now: self.now,
            leeway: 60,
            authorities,
            algorithms: None,
            statuses: &[],
            require_status: false,
        }
    }

    fn job(&self, what: &str, members: Value) -> Value {
        let mut job = json!({
            "do": what,
            "type": MDL.doc_type,
            "namespace": MDL_NAMESPACE,
            "authority": hex_encode(&self.authority),
            "embedded": hex_encode(&embedded(&self.transcript)),
        });
        let all = job.as_object_mut().unwrap();
        all.extend(members.as_object().unwrap().clone());
        job
    }

    /// The peer verifies a response of ours, and refuses it for another session and if it was changed.
    pub fn is_verified_by(&self, peer: &Peer) {
        let response = self.presented(&self.issued());
        let job = |response: &[u8]| self.job("verify", json!({"response": hex_encode(response)}));
        let said = peer.said(&job(&response));
        assert_eq!(said["type"], MDL.doc_type, "{said}");
        assert_eq!(said["elements"]["family_name"], "Mustermann");
        assert_eq!(said["elements"].as_object().unwrap().len(), WANTED.len());
        let mut elsewhere = job(&response);
        elsewhere["embedded"] = hex_encode(&embedded(&transcript("other"))).into();
        assert!(peer.said(&elsewhere)["refused"].is_string());
        let changed = changed(&response);
        assert!(peer.said(&job(&changed))["refused"].is_string());
    }

    /// The peer verifies a document of ours without a device's proof, and refuses it if it was changed.
    pub fn is_issued_for(&self, peer: &Peer) {
        let issued = self.issued();
        let job = |issued: &[u8]| {
            let response = hex_encode(&document_of(issued));
            self.job("verify", json!({"response": response}))
        };
        let said = peer.said(&job(&issued));
        assert_eq!(said["elements"]["family_name"], "Mustermann", "{said}");
        let changed = changed(&issued);
        assert!(peer.said(&job(&changed))["refused"].is_string());
    }

    /// A document that the peer issues is valid here, is presented here, and verified.
    pub fn verifies_documents_of(&self, peer: &Peer, digest: &str) {
        let job = self.job(
            "issue",
            json!({
                "elements": elements(),
                "digest": digest,
                "signed": self.now.0 - 60,
                "until": self.now.0 + 3_600,
                "key": hex_encode(self.signer.to_pkcs8().unwrap().expose()),
                "certificate": hex_encode(&self.certificate),
                "device": self.device.public().to_jwk().to_value(),
            }),
        );
        let response = given(peer, &job);
        let issued = issuer_signed(&response);
        let authorities = [self.authority.clone()];
        let (verdict, _) = verify_issued(&issued, &self.court(&authorities));
        assert!(verdict.is_valid(), "{} {verdict:#?}", peer.script());
        let elements = self.verified(&self.presented(&issued), &self.transcript);
        assert_eq!(elements.unwrap()["family_name"], "Mustermann");
    }

    /// The peer presents a document of ours, with a tag if it is told the reader's key, and we verify that.
    pub fn verifies_responses_of(&self, peer: &Peer, reader: Option<Value>) {
        let mut members = json!({
            "document": hex_encode(&document_of(&self.issued())),
            "device": hex_encode(self.device.to_pkcs8().unwrap().expose()),
            "elements": WANTED.map(|path| path.element),
        });
        if let Some(mut reader) = reader {
            reader.as_object_mut().unwrap().remove("d");
            members["reader"] = reader;
        }
        let response = given(peer, &self.job("present", members));
        let elements = self.verified(&response, &self.transcript);
        let wanted = json!({"family_name": "Mustermann", "birth_date": "1990-08-12"});
        assert_eq!(elements, Ok(wanted), "{}", peer.script());
        assert!(self.verified(&response, &transcript("other")).is_err());
    }
}

fn elements() -> Value {
    json!({
        "family_name": "Mustermann",
        "given_name": "Erika",
        "birth_date": "1990-08-12",
        "issuing_country": "UT",
        "document_number": "12345",
    })
}

fn path(element: &str) -> ElementPath<'_> {
    ElementPath {
        namespace: MDL_NAMESPACE,
        element,
    }
}

fn transcript(nonce: &str) -> SessionTranscript {
    SessionTranscript::of_redirect(&RedirectHandover {
        client_id: "x509_san_dns:reader.example",
        nonce,
        thumbprint: None,
        response_uri: "https://reader.example/response",
    })
}

fn embedded(transcript: &SessionTranscript) -> Vec<u8> {
    encode(|to| {
        to.embedded(transcript.as_bytes());
    })
}

fn changed(bytes: &[u8]) -> Vec<u8> {
    let at = bytes.windows(10).position(|part| part == b"Mustermann");
    let mut changed = bytes.to_vec();
    changed[at.unwrap()] = b'N';
    changed
}

/// A document as the packages keep it: a response without a device's part.
fn document_of(issued: &[u8]) -> Vec<u8> {
    encode(|to| {
        to.map(3).text("status").uint(0).text("version").text("1.0");
        to.text("documents").array(1).map(2);
        to.text("docType").text(MDL.doc_type);
        to.text("issuerSigned").raw(issued);
    })
}

/// What the issuer signed of such a document.
fn issuer_signed(response: &[u8]) -> Vec<u8> {
    let response = Cbor::parse(response, &LIMITS).unwrap();
    let document = &response.named("documents").unwrap().array().unwrap()[0];
    document.named("issuerSigned").unwrap().raw().to_vec()
}

/// An authority and a document signer that follow their profiles.
fn certificates() -> (Vec<u8>, Vec<u8>, PrivateKey) {
    let extension = |id: &[u64], der: &[u8]| CustomExtension::from_oid_content(id, der.to_vec());
    let contact = || extension(&[2, 5, 29, 18], b"\x30\x10\x81\x0eca@example.com");
    let params = |name: &str| {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CountryName, "UT");
        params.distinguished_name.push(DnType::CommonName, name);
        params.custom_extensions.push(contact());
        params
    };
    let mut above = params("Utopia IACA");
    above.not_before = rcgen::date_time_ymd(2025, 1, 1);
    above.not_after = rcgen::date_time_ymd(2045, 1, 1);
    above.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    above.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let above_key = KeyPair::generate().unwrap();
    let authority = above.self_signed(&above_key).unwrap().der().to_vec();
    let year = year_of_now();
    let mut params = params("Utopia DS 1");
    params.not_before = rcgen::date_time_ymd(year - 1, 12, 1);
    params.not_after = rcgen::date_time_ymd(year + 1, 2, 1);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.use_authority_key_identifier_extension = true;
    let mut purpose = extension(
        &[2, 5, 29, 37],
        b"\x30\x09\x06\x07\x28\x81\x8c\x5d\x05\x01\x02",
    );
    purpose.set_criticality(true);
    params.custom_extensions.push(purpose);
    let identifier = extension(&[2, 5, 29, 14], &[4, 4, 1, 2, 3, 4]);
    params.custom_extensions.push(identifier);
    let key = KeyPair::generate().unwrap();
    let issuer = Issuer::from_params(&above, &above_key);
    let certificate = params.signed_by(&key, &issuer).unwrap().der().to_vec();
    let key = PrivateKey::from_pkcs8(&key.serialize_der()).unwrap();
    (authority, certificate, key)
}

#[allow(
    clippy::disallowed_methods,
    reason = "the packages judge by the clock of the machine"
)]
fn year_of_now() -> i32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let now = UnixTime(now.as_secs()).rfc3339();
    now[..4].parse().unwrap()
}
