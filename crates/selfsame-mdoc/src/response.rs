//! Reads a response (ISO/IEC 18013-5 §8.3.2.1.2.2, DeviceResponse) with one document, as OpenID4VP sends it (HAIP §5.3.1).

use selfsame_cbor::Cbor;
use selfsame_cbor::cose::{CoseKind, CoseReceived};

use crate::error::MdocError;
use crate::held::IssuerSigned;
use crate::security::member;
use crate::{ELEMENTS_MAX, LIMITS};

/// A document as it was presented. Nothing is verified yet.
#[derive(Clone, Debug)]
pub struct PresentedDocument<'b> {
    /// The stated type.
    pub doc_type: &'b str,
    /// What the issuer signed.
    pub issuer_signed: IssuerSigned<'b>,
    /// The elements that the device itself states.
    pub stated: Vec<StatedElement<'b>>,
    /// The proof of the device key.
    pub proof: DeviceProof<'b>,
    pub(crate) stated_bytes: &'b [u8],
}

/// An element that the device itself states.
#[derive(Clone, Debug)]
pub struct StatedElement<'b> {
    /// The namespace.
    pub namespace: &'b str,
    /// The name of the element.
    pub element: &'b str,
    /// Its value.
    pub value: Cbor<'b>,
}

/// How the device shows that it has its key.
#[derive(Clone, Debug)]
pub enum DeviceProof<'b> {
    /// By a signature.
    Signature(CoseReceived<'b>),
    /// By a tag whose key it shares with the reader.
    Mac(CoseReceived<'b>),
}

impl<'b> PresentedDocument<'b> {
    /// Reads a response.
    ///
    /// # Errors
    /// What is malformed, unsupported or too large; `Unsupported` for a response that reports an error, or has no or
    /// several documents.
    pub fn parse(bytes: &'b [u8]) -> Result<Self, MdocError> {
        let response = Cbor::parse(bytes, &LIMITS)?;
        let version = member(&response, "version")?.text();
        if !version.is_some_and(|version| version.starts_with("1.")) {
            return Err(MdocError::Unsupported("this version of the response"));
        }
        if member(&response, "status")?.uint() != Some(0) {
            return Err(MdocError::Unsupported("a response that reports an error"));
        }
        let documents = member(&response, "documents")?.array();
        match documents {
            Some([document]) => Self::read(document),
            Some(_) => Err(MdocError::Unsupported(
                "no document, or several, in a response",
            )),
            None => Err(MdocError::Malformed("documents")),
        }
    }

    fn read(item: &Cbor<'b>) -> Result<Self, MdocError> {
        let doc_type = member(item, "docType")?.text();
        let device = member(item, "deviceSigned")?;
        let namespaces = member(device, "nameSpaces")?;
        let auth = member(device, "deviceAuth")?;
        let proof = match (auth.named("deviceSignature"), auth.named("deviceMac")) {
            (Some(signature), None) => {
                DeviceProof::Signature(CoseReceived::read(signature, CoseKind::Sign1)?)
            }
            (None, Some(mac)) => DeviceProof::Mac(CoseReceived::read(mac, CoseKind::Mac0)?),
            _ => return Err(MdocError::Malformed("deviceAuth")),
        };
        Ok(Self {
            doc_type: doc_type.ok_or(MdocError::Malformed("docType"))?,
            issuer_signed: IssuerSigned::read(member(item, "issuerSigned")?)?,
            stated: stated(&namespaces.embedded(&LIMITS)?)?,
            proof,
            stated_bytes: namespaces.raw(),
        })
    }
}

/// What the issuer signed in a response with one document (IssuerSigned in CBOR); `None` if that is not one.
pub fn issuer_signed(response: &[u8]) -> Option<Vec<u8>> {
    let response = Cbor::parse(response, &LIMITS).ok()?;
    match response.named("documents")?.array()? {
        [document] => Some(document.named("issuerSigned")?.raw().to_vec()),
        _ => None,
    }
}

impl<'b> DeviceProof<'b> {
    /// The message of COSE.
    pub fn message(&self) -> &CoseReceived<'b> {
        match self {
            Self::Signature(message) | Self::Mac(message) => message,
        }
    }
}

fn stated<'b>(namespaces: &Cbor<'b>) -> Result<Vec<StatedElement<'b>>, MdocError> {
    const WRONG: MdocError = MdocError::Malformed("deviceSigned");
    let mut read = Vec::new();
    for namespace in namespaces.map().ok_or(WRONG)? {
        let name = namespace.key.text().ok_or(WRONG)?;
        for element in namespace.value.map().ok_or(WRONG)? {
            if read.len() == ELEMENTS_MAX {
                return Err(MdocError::TooMany);
            }
            read.push(StatedElement {
                namespace: name,
                element: element.key.text().ok_or(WRONG)?,
                value: element.value.clone(),
            });
        }
    }
    Ok(read)
}
