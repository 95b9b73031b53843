//! Reads what an issuer signed, as a wallet and a verifier see it: its elements as JSON, by namespace.

use selfsame_crypto::encoding::{base64_encode, base64url_decode, base64url_encode};
use selfsame_crypto::{Algorithm, PublicKey, json, jws};
use selfsame_mdoc::security::MdocStatus;
use selfsame_mdoc::{LIMITS, MdocError, held::IssuerSigned, json::to_json};
use serde_json::{Map, Value};

use super::describe::DOC_TYPE;
use crate::status::{Reference, StatusError};
use crate::validity::Validity;

/// Maximum length of a text, in bytes: that of a document in base64url.
const MAX_TEXT: usize = LIMITS.bytes / 3 * 4 + 4;
/// How images begin, and their media types. A wallet can show these.
const IMAGES: [(&[u8], &str); 2] = [
    (&[0xff, 0xd8, 0xff], "image/jpeg"),
    (&[0x89, b'P', b'N', b'G'], "image/png"),
];

/// The text is not a mobile document.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(super) enum NotMdoc {
    #[error("the text is not base64url, or too long")]
    Text,
    #[error(transparent)]
    Document(#[from] MdocError),
    #[error("the document has an algorithm that is not supported")]
    Algorithm,
    #[error("the parsed document exceeds the memory limit")]
    TooMuch,
}

/// A document, read. Nothing is verified yet.
#[derive(Debug)]
pub(super) struct ReadMdoc {
    /// The type, and the elements by namespace.
    pub claims: Value,
    /// Its COSE headers in the words of JOSE.
    pub header: jws::Header,
    pub doc_type: String,
    pub validity: Validity,
    pub device_key: PublicKey,
    status: MdocStatus,
}

/// The bytes of a text.
pub(super) fn bytes_of(raw: &str) -> Result<Vec<u8>, NotMdoc> {
    let bytes = (raw.len() <= MAX_TEXT).then(|| base64url_decode(raw).ok());
    bytes.flatten().ok_or(NotMdoc::Text)
}

/// The text of a document or a response.
pub(super) fn text_of(bytes: &[u8]) -> String {
    base64url_encode(bytes)
}

pub(super) fn is_like(raw: &str) -> bool {
    bytes_of(raw).is_ok_and(|bytes| IssuerSigned::parse(&bytes).is_ok())
}

impl ReadMdoc {
    pub fn new(document: &IssuerSigned<'_>) -> Result<Self, NotMdoc> {
        let security = document.security_object()?;
        let mut claims = Map::new();
        claims.insert(DOC_TYPE.to_owned(), Value::from(security.doc_type));
        for namespace in &document.namespaces {
            let items = namespace.items.iter();
            let elements = items.map(|item| {
                (
                    item.element.to_owned(),
                    shown(item.value.bytes(), || to_json(&item.value)),
                )
            });
            claims.insert(namespace.name.to_owned(), Value::Object(elements.collect()));
        }
        let chain = document.issuer_auth.chain.iter();
        let algorithm = Algorithm::from_cose(document.issuer_auth.algorithm);
        Ok(Self {
            claims: Value::Object(claims),
            header: jws::Header {
                alg: algorithm.ok_or(NotMdoc::Algorithm)?,
                typ: None,
                kid: None,
                jwk: None,
                x5c: Some(chain.map(|one| one.to_vec()).collect()),
                other: Map::new(),
            },
            doc_type: security.doc_type.to_owned(),
            validity: Validity {
                not_before: Some(security.validity.valid_from),
                expires: Some(security.validity.valid_until),
            },
            device_key: security.device_key,
            status: security.status,
        })
    }

    /// The place of its status (Token Status List §6.3).
    pub fn statuses(&self) -> Result<Vec<Reference>, StatusError> {
        match &self.status {
            MdocStatus::None => Ok(Vec::new()),
            MdocStatus::List { index, uri } => Ok(vec![Reference::token(uri, *index)]),
            MdocStatus::Unknown => Err(StatusError::Unsupported),
        }
    }

    /// Its memory, in bytes.
    pub fn weight(&self) -> usize {
        let chain = self.header.x5c.iter().flatten().map(Vec::len);
        json::weight(&self.claims).saturating_add(chain.fold(0, usize::saturating_add))
    }
}

/// The value of an element as JSON; an image as a `data:` URL, which people's programs show.
fn shown(bytes: Option<&[u8]>, otherwise: impl FnOnce() -> Value) -> Value {
    let image = bytes.and_then(|bytes| {
        let mut kinds = IMAGES.iter();
        let (_, media_type) = kinds.find(|(start, _)| bytes.starts_with(start))?;
        Some(format!("data:{media_type};base64,{}", base64_encode(bytes)))
    });
    image.map_or_else(otherwise, Value::from)
}
