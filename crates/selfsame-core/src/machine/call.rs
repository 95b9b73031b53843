//! Calls to others, as outbox entries: the transport, what is sent, and the machine and record that get the answer.

use std::fmt;

use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyHandle, SecretString};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_net::{Body, NetError, Response};
use selfsame_oauth::client::possession::usable_nonce;
use selfsame_oauth::secret;
use selfsame_registry::{Receipt, Transaction};
use selfsame_store::{Leased, NewOutbox, TenantId};
use selfsame_traces::TraceContext;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::shared::Shared;

/// Grace period in seconds for the writer of an entry; after it any worker may take the entry.
const OWN_SECONDS: u64 = 10;
/// How often a call is put off while its host can't be reached; the wait doubles each time.
const CALLS_MAX: u32 = 5;
/// Maximum number of seconds that a host can ask to be left alone.
const WAIT_MAX: u64 = 60;

/// A call in the outbox.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct CallEntry {
    /// The call.
    pub call: Call,
    /// The kind of the record that gets the answer, which is the name of its machine.
    pub machine: String,
    /// The id of the record that gets the answer.
    pub record: String,
    /// The span that wrote it, if its trace is recorded: the transport that carries the call out goes on with that trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceContext>,
}

/// A call, by its transport.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Call {
    /// An HTTP request.
    Http(Box<HttpCall>),
    /// A transaction for the registry, base64url. Submitting it again returns its first receipt.
    Registry(String),
    /// Several requests to one party, which the machine makes one after another.
    Dialogue,
}

/// An HTTP POST; to `ws` or `wss`, one message on a WebSocket of its own.
#[derive(Clone, Deserialize, Serialize)]
pub struct HttpCall {
    /// The URL that is called.
    pub url: Url,
    /// The body of the request.
    pub body: HttpBody,
    /// A bearer token (RFC 6750 §2.1).
    #[serde(with = "secret::option")]
    pub bearer: Option<SecretString>,
    /// Whether it may be sent again although it may have arrived.
    pub is_repeatable: bool,
    /// The key whose possession a proof shows. The token goes with it, by the scheme of bound tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<CallProof>,
    /// What the sender is attested with, at an authorization server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attested: Option<Box<CallAttestation>>,
    /// A POST without a body that is made first. Its answer, if there is one, comes along.
    pub first: Option<Url>,
}

/// The attestation of a call's sender, and what the proof of possession beside it is made with.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct CallAttestation {
    /// The attestation.
    pub attestation: String,
    /// The attested key.
    pub key: KeyHandle,
    /// The client that is attested.
    pub client_id: String,
    /// The identifier of the authorization server.
    pub server: String,
    /// Where the server gives challenges, if it does.
    pub challenge_endpoint: Option<Url>,
}

/// What the proof of possession of a call is made with.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct CallProof {
    /// The key.
    pub key: KeyHandle,
    /// The nonce that the server gave last.
    pub nonce: Option<String>,
}

/// The body of an HTTP request.
#[derive(Clone, Deserialize, Serialize)]
pub enum HttpBody {
    /// No body.
    Empty,
    /// A form: names and values.
    Form(Vec<(String, String)>),
    /// A form, encoded.
    EncodedForm(#[serde(with = "secret")] SecretString),
    /// JSON.
    Json(String),
    /// An envelope of DIDComm, of this media type.
    Envelope {
        /// The media type.
        media_type: String,
        /// The envelope, encrypted to its recipient.
        #[serde(with = "envelope_text")]
        bytes: Vec<u8>,
    },
}

/// An envelope is JSON; it is stored as the text that it is.
mod envelope_text {
    use serde::{Deserialize as _, Deserializer, Serializer, ser::Error as _};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        let text = std::str::from_utf8(bytes).map_err(S::Error::custom)?;
        serializer.serialize_str(text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<u8>, D::Error> {
        String::deserialize(deserializer).map(String::into_bytes)
    }
}

/// The answer to a call.
#[derive(Clone)]
pub enum CallAnswer {
    /// An HTTP response.
    Http {
        /// The response.
        response: Arrived,
        /// The response to the request that was made first, if there was one.
        first: Option<Arrived>,
    },
    /// No answer, and there will be none. The reason may be shown to anyone.
    Unreachable {
        /// The reason.
        reason: String,
    },
    /// The registry's receipt.
    Accepted(Receipt),
    /// The other side refused for good.
    Refused(Error),
    /// A dialogue has reached its end.
    Finished,
}

/// An HTTP response that was received. It may hold a token, so it has no `Debug`.
#[derive(Clone, Deserialize, Serialize)]
pub struct Arrived {
    /// The status code.
    pub status: u16,
    /// The media type, if the response has one.
    pub content_type: Option<String>,
    /// The body as text.
    pub body: String,
    /// The server's nonce for the next proof of possession, if the answer has one (RFC 9449 §8).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dpop_nonce: Option<String>,
}

/// What came of an attempt.
pub(super) enum Called {
    Answered(CallAnswer),
    /// It is to be repeated after this number of seconds.
    Later(u64),
}

impl fmt::Debug for HttpCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("HttpCall")
            .field("url", &self.url.origin().ascii_serialization())
            .finish_non_exhaustive()
    }
}

impl HttpCall {
    /// A POST without authorization, which is not sent again once it may have arrived.
    pub fn post(url: Url, body: HttpBody) -> Self {
        Self {
            url,
            body,
            bearer: None,
            is_repeatable: false,
            proof: None,
            attested: None,
            first: None,
        }
    }

    /// Whether a call answered with this status is made again: the host refused it before it did anything, or a balancer
    /// had no answer of a server that may have done it (RFC 9110 §15.6.3, §15.6.5).
    fn is_put_off(&self, status: u16) -> bool {
        matches!(status, 429 | 503) || self.is_repeatable && matches!(status, 502 | 504)
    }

    /// What comes of a failed attempt.
    fn failed(&self, error: NetError, attempts: u32) -> Posted {
        let is_repeated = error.is_retried() && (self.is_repeatable || error.is_unsent());
        match attempts < CALLS_MAX && is_repeated {
            true => {
                tracing::info!(reason = %error, attempts, "a host can't be reached now");
                Posted::Later(1 << attempts)
            }
            false => Posted::Failed(error),
        }
    }
}

impl Call {
    /// A transaction for the registry.
    pub fn registry(transaction: &Transaction) -> Self {
        Self::Registry(base64url_encode(&transaction.to_bytes()))
    }

    /// An entry for this call, which its writer carries out itself. The answer goes to this record of this machine.
    /// Calls with one transport and subject are carried out in order.
    ///
    /// # Errors
    /// `Internal` if it can't be encoded.
    pub fn entry(
        self,
        machine: &str,
        record: &str,
        subject: &str,
        now: UnixTime,
    ) -> Result<NewOutbox> {
        let destination = self.transport().to_owned();
        let entry = CallEntry {
            call: self,
            machine: machine.to_owned(),
            record: record.to_owned(),
            // It decides nothing, so a step may take it from its task.
            trace: selfsame_traces::present(),
        };
        Ok(NewOutbox {
            destination,
            subject: subject.to_owned(),
            key: subject.to_owned(),
            payload: encode(&entry)?,
            not_before: now.plus(OWN_SECONDS),
        })
    }

    /// The URL that is called.
    pub fn url(&self) -> Option<&Url> {
        match self {
            Self::Http(call) => Some(&call.url),
            Self::Registry(_) | Self::Dialogue => None,
        }
    }

    fn transport(&self) -> &'static str {
        match self {
            Self::Http(_) => HTTP,
            Self::Registry(_) => "registry",
            Self::Dialogue => "dialogue",
        }
    }
}

/// The destination of entries that are HTTP requests.
pub const HTTP: &str = "http";

impl CallEntry {
    /// The entry.
    ///
    /// # Errors
    /// `Internal` if another version wrote it.
    pub fn read(leased: &Leased) -> Result<Self> {
        decode(&leased.payload)
    }

    /// Whether a retry can't succeed after this error.
    pub fn is_final(&self, error: &Error) -> bool {
        match self.call {
            Call::Http(_) => error.kind == ErrorKind::BadRequest,
            Call::Registry(_) | Call::Dialogue => error.is_refusal(),
        }
    }
}

impl Arrived {
    /// What a message on a WebSocket counts as: it was taken.
    fn taken() -> Self {
        Self {
            status: 202,
            content_type: None,
            body: String::new(),
            dpop_nonce: None,
        }
    }

    fn of(response: &Response) -> Self {
        Self {
            status: response.status,
            content_type: response.content_type.clone(),
            // A body that is not UTF-8 is not JSON either, and is refused as such.
            body: String::from_utf8_lossy(&response.body).into_owned(),
            dpop_nonce: usable_nonce(response.dpop_nonce.as_deref()).map(str::to_owned),
        }
    }
}

impl Shared {
    /// Makes an HTTP request of a tenant that was put off `attempts` times.
    ///
    /// # Errors
    /// If the request needs a proof and its key can't sign.
    pub(super) async fn called(
        &self,
        tenant: &TenantId,
        call: &HttpCall,
        attempts: u32,
    ) -> Result<Called> {
        let mut first = None;
        if let Some(url) = &call.first {
            let ahead = HttpCall {
                is_repeatable: true,
                ..HttpCall::post(url.clone(), HttpBody::Empty)
            };
            match self.posted(tenant, &ahead, attempts).await? {
                Posted::Answered(arrived) => first = Some(arrived),
                Posted::Later(seconds) => return Ok(Called::Later(seconds)),
                Posted::Failed(_) => {}
            }
        }
        Ok(match self.posted(tenant, call, attempts).await? {
            Posted::Answered(response) => Called::Answered(CallAnswer::Http { response, first }),
            Posted::Later(seconds) => Called::Later(seconds),
            Posted::Failed(error) => {
                tracing::warn!(reason = %error, "a call was not answered");
                Called::Answered(CallAnswer::Unreachable {
                    reason: error.public_reason(),
                })
            }
        })
    }

    async fn posted(&self, tenant: &TenantId, call: &HttpCall, attempts: u32) -> Result<Posted> {
        if let ("ws" | "wss", HttpBody::Envelope { bytes, .. }) = (call.url.scheme(), &call.body) {
            let sent = self.net.send_on_socket(&call.url, bytes.clone()).await;
            return Ok(match sent {
                Ok(()) => Posted::Answered(Arrived::taken()),
                Err(error) => call.failed(error, attempts),
            });
        }
        Ok(match self.sent(tenant, call).await? {
            Ok(response) if attempts < CALLS_MAX && call.is_put_off(response.status) => {
                let wait = 1_u64 << attempts;
                Posted::Later(response.retry_after.unwrap_or(wait).clamp(wait, WAIT_MAX))
            }
            Ok(response) => Posted::Answered(Arrived::of(&response)),
            Err(error) => call.failed(error, attempts),
        })
    }

    /// Submits a transaction to the registry.
    ///
    /// # Errors
    /// If the registry does not answer.
    pub(super) async fn submitted(&self, transaction: &str) -> Result<CallAnswer> {
        let bytes = base64url_decode(transaction).map_err(Error::internal)?;
        let transaction = Transaction::from_bytes(&bytes).map_err(Error::internal)?;
        match self.own_registry()?.submit(&transaction).await {
            Ok(receipt) => Ok(CallAnswer::Accepted(receipt)),
            Err(error) if error.is_refusal() => {
                tracing::warn!(%error, code = error.code, "the registry refused a transaction");
                Ok(CallAnswer::Refused(error))
            }
            Err(error) => Err(error),
        }
    }
}

/// What came of one request.
enum Posted {
    Answered(Arrived),
    Later(u64),
    Failed(NetError),
}

impl HttpBody {
    pub(super) fn body(&self) -> Body {
        match self {
            Self::Empty => Body::Empty,
            Self::Form(form) => Body::Form(form.clone()),
            Self::EncodedForm(form) => Body::Bytes {
                content_type: "application/x-www-form-urlencoded".to_owned(),
                bytes: form.expose().as_bytes().to_vec(),
            },
            Self::Json(json) => Body::Json(json.clone().into_bytes()),
            Self::Envelope { media_type, bytes } => Body::Bytes {
                content_type: media_type.clone(),
                bytes: bytes.clone(),
            },
        }
    }
}
