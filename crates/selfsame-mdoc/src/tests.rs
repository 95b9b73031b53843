//! Documents are issued, held, presented and verified, and every rule is broken once.

mod certificates;
mod properties;
mod recorded;
mod responses;
mod wrong;

use selfsame_crypto::agreement::{AgreementCurve, AgreementPrivate};
use selfsame_crypto::{Algorithm, PrivateKey};
use selfsame_verdict::{Outcome, Verdict};

use crate::cose_keys::agreement_key;
use crate::device::mac_key;
use crate::elements::{MDL, MDL_NAMESPACE};
use crate::held::{ElementPath, IssuerSigned};
use crate::issue::IssuedNamespace;
use crate::present::MdocPresentation;
use crate::testing::{self, Authority, NOW, Signer, Terms};
use crate::transcript::{DcApiHandover, SessionTranscript};
use crate::verify::{MdocCourt, MdocRequest, verify};

/// An authority, its signer, a device, and what a reader asks for.
pub struct Scene {
    pub authorities: Vec<Vec<u8>>,
    pub signer: Signer,
    pub device: PrivateKey,
    pub reader: AgreementPrivate,
    pub transcript: SessionTranscript,
}

impl Scene {
    pub fn new() -> Self {
        let authority = testing::authority();
        Self {
            authorities: vec![authority.certificate.clone()],
            signer: authority.signer(),
            device: testing::device(),
            reader: AgreementPrivate::generate(AgreementCurve::P256).unwrap(),
            transcript: transcript("nonce"),
        }
    }

    pub fn court(&self) -> MdocCourt<'_> {
        MdocCourt {
            now: NOW,
            leeway: 0,
            authorities: &self.authorities,
            algorithms: None,
            statuses: &[],
            require_status: false,
        }
    }

    pub fn request(&self) -> MdocRequest<'_> {
        MdocRequest {
            transcript: &self.transcript,
            reader_key: Some(&self.reader),
            doc_type: MDL.doc_type,
            wanted: &WANTED,
        }
    }

    /// The verdict on a response to the request of this scene.
    pub fn verdict(&self, response: &[u8]) -> Verdict {
        verify(response, &self.request(), &self.court()).0
    }

    /// A response with the wanted elements, signed by the device.
    pub fn signed(&self, issued: &[u8], stated: &[IssuedNamespace]) -> Vec<u8> {
        self.signed_for(issued, stated, MDL.doc_type)
    }

    pub fn signed_for(&self, issued: &[u8], stated: &[IssuedNamespace], doc_type: &str) -> Vec<u8> {
        let document = IssuerSigned::parse(issued).unwrap();
        let presentation = MdocPresentation {
            document: &document,
            doc_type,
            chosen: &WANTED,
            stated,
            transcript: &self.transcript,
        };
        let draft = presentation.draft(Algorithm::Es256).unwrap();
        draft.finish(&self.device.sign(&draft.signing_bytes()).unwrap())
    }

    /// A response with the wanted elements and a tag, under this transcript.
    pub fn authenticated(&self, issued: &[u8], transcript: &SessionTranscript) -> Vec<u8> {
        let document = IssuerSigned::parse(issued).unwrap();
        let presentation = MdocPresentation {
            document: &document,
            doc_type: MDL.doc_type,
            chosen: &WANTED,
            stated: &[],
            transcript,
        };
        // The tag's key is the same from either side; here it is the reader's.
        let key = agreement_key(self.device.public()).unwrap();
        let key = mac_key(&self.reader, &key, transcript).unwrap();
        presentation.authenticate(&key).unwrap()
    }

    pub fn issue(&self) -> Vec<u8> {
        Terms::default().issue(&self.signer, &self.device)
    }
}

pub const WANTED: [ElementPath<'static>; 2] = [
    ElementPath {
        namespace: MDL_NAMESPACE,
        element: "family_name",
    },
    ElementPath {
        namespace: MDL_NAMESPACE,
        element: "age_over_18",
    },
];

pub fn transcript(nonce: &str) -> SessionTranscript {
    SessionTranscript::of_dc_api(&DcApiHandover {
        origin: "https://reader.example",
        nonce,
        thumbprint: None,
    })
}

/// The outcome and the name of the first broken rule.
pub fn reason(verdict: &Verdict) -> (Outcome, String) {
    let mut broken = verdict
        .rules
        .iter()
        .filter(|rule| rule.passed == Some(false));
    let name = broken.next().map(|rule| rule.name.to_string());
    (verdict.outcome, name.unwrap_or_default())
}

pub fn broken(verdict: &Verdict, outcome: Outcome, rule: &str) {
    assert_eq!(reason(verdict), (outcome, rule.to_owned()), "{verdict:#?}");
}
