//! Requests to and answers of a DID registrar (DIF DID Registration). The keys stay with its client.

use selfsame_crypto::encoding::{base64_decode, base64_encode};
use selfsame_crypto::json::{self, Limits};
use serde_json::{Map, Value, json};

use crate::did::Did;
use crate::did::DidUrl;

/// The maximum number of signatures in one operation.
const MAX_SIGNATURES: usize = 32;
/// The maximum length of the names of jobs and signing requests, in bytes.
const MAX_NAME: usize = 256;
/// The maximum length of a reason that is passed on, in bytes.
const MAX_REASON: usize = 300;

/// An operation on a DID.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Operation {
    /// `create()`.
    Create,
    /// `update()`, with a complete new document.
    Update,
    /// `deactivate()`.
    Deactivate,
}

impl Operation {
    /// The last path segment of the operation's URL (DID Registration, HTTPS binding).
    pub const fn path(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Deactivate => "deactivate",
        }
    }
}

/// A request to a registrar.
#[derive(Clone, Debug)]
pub struct RegistrarRequest<'a> {
    /// The requested operation.
    pub operation: Operation,
    /// The DID that the operation is for.
    pub did: &'a Did,
    /// The new document; `None` for a deactivation.
    pub document: Option<Value>,
    /// Options specific to the DID method.
    pub options: Map<String, Value>,
    /// The job to continue, if it has been started.
    pub job: Option<&'a str>,
    /// Signatures, each with the signing request it answers.
    pub signatures: Vec<(SigningRequest, Vec<u8>)>,
}

impl RegistrarRequest<'_> {
    /// The request body.
    pub fn to_value(&self) -> Value {
        let mut options = self.options.clone();
        options.insert("clientSecretMode".to_owned(), Value::Bool(true));
        let mut secret = Map::new();
        if !self.signatures.is_empty() {
            let answers = self.signatures.iter().map(|(asked, signature)| {
                let answer = json!({
                    "kid": asked.kid.to_string(),
                    "alg": ALGORITHM,
                    "signature": base64_encode(signature),
                });
                (asked.id.clone(), answer)
            });
            secret.insert(
                "signingResponse".to_owned(),
                Value::Object(answers.collect()),
            );
        }
        let mut body = Map::from_iter([
            ("options".to_owned(), Value::Object(options)),
            ("secret".to_owned(), Value::Object(secret)),
        ]);
        if let Some(job) = self.job {
            body.insert("jobId".to_owned(), Value::String(job.to_owned()));
        }
        let document = self.document.clone();
        match self.operation {
            // In the specification, `did` is absent or null if the document contains the identifier.
            Operation::Create => {}
            Operation::Update | Operation::Deactivate => {
                body.insert("did".to_owned(), Value::String(self.did.to_string()));
            }
        }
        match (self.operation, document) {
            (Operation::Create, Some(document)) => {
                body.insert("didDocument".to_owned(), document);
            }
            (Operation::Update, Some(document)) => {
                let whole = json!(["setDidDocument"]);
                body.insert("didDocumentOperation".to_owned(), whole);
                body.insert("didDocument".to_owned(), Value::Array(vec![document]));
            }
            _ => {}
        }
        Value::Object(body)
    }
}

/// The signature algorithm: the one that did:cheqd supports.
const ALGORITHM: &str = "EdDSA";

/// An answer of a registrar.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RegistrarAnswer {
    /// The operation is done.
    Finished,
    /// The operation is still running; ask again.
    Wait {
        /// The job.
        job: String,
        /// Milliseconds to wait, if the registrar states it.
        milliseconds: Option<u64>,
    },
    /// The registrar asks for signatures.
    Sign {
        /// The job.
        job: String,
        /// The bytes to sign.
        requests: Vec<SigningRequest>,
    },
    /// The operation failed.
    Failed {
        /// The registrar's reason, shortened for display.
        reason: String,
    },
}

/// Bytes that a registrar wants signed. The signer must first check what they contain.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SigningRequest {
    /// The registrar's name for the request.
    pub id: String,
    /// The identifier of the key.
    pub kid: DidUrl,
    /// The bytes to sign.
    pub payload: Vec<u8>,
}

/// Why an answer is refused. The registrar must act.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum AnswerError {
    /// The answer is not JSON within the limits, or a member is missing or of the wrong type.
    #[error("the registrar's answer has a malformed {0}")]
    Malformed(&'static str),
    /// The answer is about another DID.
    #[error("the registrar's answer is about another DID")]
    OtherDid,
    /// The registrar asks for an action other than supported signatures.
    #[error("the registrar asks for something that is not done here")]
    Unsupported,
}

impl RegistrarAnswer {
    /// Parses an answer about `did`.
    pub fn parse(bytes: &[u8], did: &Did) -> Result<Self, AnswerError> {
        let malformed = AnswerError::Malformed;
        let value = json::parse(bytes, &Limits::default()).map_err(|_| malformed("form"))?;
        let state = value.get("didState").ok_or(malformed("didState"))?;
        let text = |name: &str| state.get(name).and_then(Value::as_str);
        let is_ours = text("did").is_none_or(|named| named == did.as_str() || named.is_empty());
        if !is_ours {
            return Err(AnswerError::OtherDid);
        }
        let job = || {
            let job = value.get("jobId").and_then(Value::as_str);
            job.filter(|job| is_name(job))
                .map(str::to_owned)
                .ok_or(malformed("jobId"))
        };
        match text("state").ok_or(malformed("state"))? {
            // A finished operation must name our DID.
            "finished" if text("did") == Some(did.as_str()) => Ok(Self::Finished),
            "finished" => Err(AnswerError::OtherDid),
            "wait" => Ok(Self::Wait {
                job: job()?,
                milliseconds: state.get("waitTime").and_then(Value::as_u64),
            }),
            "action" if text("action") == Some("signPayload") => Ok(Self::Sign {
                job: job()?,
                requests: signing_requests(state.get("signingRequest"))?,
            }),
            "action" => Err(AnswerError::Unsupported),
            "failed" => Ok(Self::Failed {
                reason: reason(text("reason").or(text("description")).or(text("error"))),
            }),
            _ => Err(malformed("state")),
        }
    }
}

fn signing_requests(value: Option<&Value>) -> Result<Vec<SigningRequest>, AnswerError> {
    let malformed = || AnswerError::Malformed("signingRequest");
    let set = value.and_then(Value::as_object).ok_or_else(malformed)?;
    if set.is_empty() || set.len() > MAX_SIGNATURES {
        return Err(malformed());
    }
    set.iter()
        .map(|(id, request)| {
            let text = |name: &str| request.get(name).and_then(Value::as_str);
            if text("alg") != Some(ALGORITHM) {
                return Err(AnswerError::Unsupported);
            }
            let kid = text("kid").and_then(|kid| DidUrl::parse(kid).ok());
            let payload = text("serializedPayload").and_then(|text| base64_decode(text).ok());
            match (kid, payload) {
                (Some(kid), Some(payload)) if is_name(id) => Ok(SigningRequest {
                    id: id.clone(),
                    kid,
                    payload,
                }),
                _ => Err(malformed()),
            }
        })
        .collect()
}

fn is_name(text: &str) -> bool {
    (1..=MAX_NAME).contains(&text.len())
}

/// The reason given by the other party, as one line and shortened.
fn reason(text: Option<&str>) -> String {
    let text: String = text
        .unwrap_or("no reason given")
        .chars()
        .map(|character| {
            if character.is_control() {
                ' '
            } else {
                character
            }
        })
        .collect();
    let mut end = text.len().min(MAX_REASON);
    while !text.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    text.get(..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
