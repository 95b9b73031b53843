//! What is said to a DID registrar and what it answers (DIF DID Registration), where the keys stay with its client.

use selfsame_crypto::encoding::{base64_decode, base64_encode};
use selfsame_crypto::json::{self, Limits};
use serde_json::{Map, Value, json};

use crate::did::Did;
use crate::did::DidUrl;

/// The most signatures one operation asks for.
const MAX_SIGNATURES: usize = 32;
/// The longest names of jobs and of signing requests, in bytes.
const MAX_NAME: usize = 256;
/// The longest reason that is repeated, in bytes.
const MAX_REASON: usize = 300;

/// What is done to a DID.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Operation {
    /// `create()`.
    Create,
    /// `update()`, by a whole new document.
    Update,
    /// `deactivate()`.
    Deactivate,
}

impl Operation {
    /// The last segment of its address (DID Registration, HTTPS binding).
    pub const fn path(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Deactivate => "deactivate",
        }
    }
}

/// An operation as a registrar is asked for it.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// What is to be done.
    pub operation: Operation,
    /// To which DID.
    pub did: &'a Did,
    /// The new document; `None` to deactivate.
    pub document: Option<Value>,
    /// Options of the DID's method.
    pub options: Map<String, Value>,
    /// The job that goes on, once there is one.
    pub job: Option<&'a str>,
    /// Signatures, each with the request it answers.
    pub signatures: Vec<(SigningRequest, Vec<u8>)>,
}

impl Request<'_> {
    /// The body.
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
            // The specification has `did` absent or null where the document names it.
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

/// The algorithm of the signatures: the one that did:cheqd knows.
const ALGORITHM: &str = "EdDSA";

/// What a registrar answers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Answer {
    /// The operation is done.
    Finished,
    /// It goes on; ask again.
    Wait {
        /// The job.
        job: String,
        /// Milliseconds to wait, if the registrar says.
        milliseconds: Option<u64>,
    },
    /// These bytes are to be signed.
    Sign {
        /// The job.
        job: String,
        /// What is to be signed.
        requests: Vec<SigningRequest>,
    },
    /// The registrar has given up.
    Failed {
        /// Its reason, cut to what can be shown.
        reason: String,
    },
}

/// Bytes that a registrar wants signed. Whoever signs them judges first what they say.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SigningRequest {
    /// The registrar's name for it.
    pub id: String,
    /// The key.
    pub kid: DidUrl,
    /// The bytes.
    pub payload: Vec<u8>,
}

/// Why an answer is not accepted. The registrar must act.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum AnswerError {
    /// The answer is not JSON within the limits, or a member is missing or of the wrong type.
    #[error("the registrar's answer has a malformed {0}")]
    Malformed(&'static str),
    /// The answer is about another DID.
    #[error("the registrar's answer is about another DID")]
    OtherDid,
    /// The registrar wants something other than signatures of a kind that is made here.
    #[error("the registrar asks for something that is not done here")]
    Unsupported,
}

impl Answer {
    /// Reads an answer about `did`.
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
            // Done must be done to our DID, by its name.
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

/// A reason of another party: of one line, and not too long.
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
