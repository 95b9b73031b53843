//! Calls to a registrar: what is sent, and which answers count.

use std::time::Duration;

use selfsame_did::registrar::{Operation, RegistrarAnswer, RegistrarRequest, SigningRequest};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_net::{Authorization, Body, Call, CallLimits, Method, NetError, Response};
use serde_json::{Map, Value};
use url::Url;

use super::Attempt;
use crate::shared::Shared;

/// Time limit for a registrar, which waits for a block of the network. A caller of this instance waits longer, and so
/// learns the outcome.
const TIMEOUT: Duration = Duration::from_secs(25);
/// Maximum size of an answer, in bytes.
const MAX_ANSWER: usize = 256 * 1024;
/// Maximum time that an attempt waits because the registrar asks for it, in milliseconds.
const PATIENCE_MS: u64 = 2_000;
/// Maximum time before a registrar is called again, in seconds.
const LONGEST_WAIT: u64 = 3_600;

/// The response of a registrar.
pub(super) enum RegistrarResponse {
    /// An answer.
    Answer(RegistrarAnswer),
    /// Anything else; it has no consequence.
    Nonsense(Error),
}

impl Shared {
    /// The registrar's base URL.
    pub(super) fn registrar(&self) -> Result<&Url> {
        let registrar = self.config.resolver.cheqd_registrar.as_ref();
        registrar.ok_or_else(|| Error::bad_request("registrar-absent"))
    }

    /// Makes the next call of an attempt.
    pub(super) async fn ask_registrar(
        &self,
        attempt: &Attempt<'_>,
        signatures: Vec<(SigningRequest, Vec<u8>)>,
    ) -> Result<RegistrarResponse> {
        let change = &attempt.change;
        let operation = change.operation();
        let document = match operation {
            Operation::Deactivate => None,
            Operation::Create | Operation::Update => Some(change.then.draft()?.to_value()),
        };
        let network = self.config.resolver.cheqd_network;
        let network = selfsame_did::method::cheqd::parts(&change.then.did)
            .map_or(network, |(network, _)| network);
        let options = Map::from_iter([
            ("network".to_owned(), Value::from(network.as_str())),
            ("versionId".to_owned(), Value::from(attempt.id)),
        ]);
        let request = RegistrarRequest {
            operation,
            did: &change.then.did,
            document,
            options,
            job: change.job.as_deref(),
            signatures,
        };
        let body = Body::Json(serde_json::to_vec(&request.to_value()).map_err(Error::internal)?);
        let mut url = self.registrar()?.clone();
        url.path_segments_mut()
            .map_err(|()| Error::bad_request("registrar-path"))?
            .pop_if_empty()
            .extend(["1.0", operation.path()]);
        let call = Call {
            method: Method::Post,
            url: &url,
            body,
            authorization: Authorization::None,
            request: selfsame_net::Request {
                accept: Some("application/json"),
                limits: Some(CallLimits {
                    max_body: MAX_ANSWER,
                    total_timeout: TIMEOUT,
                }),
                ..selfsame_net::Request::default()
            },
        };
        let response = self.net.call(call).await.map_err(unreached)?;
        Ok(read(&response, &change.then.did))
    }
}

/// Evaluates a response. A failure counts as the registrar's answer only with a success status or 400 (a fault of the
/// request): what it can't do now it may do later, and the 404 of another server says nothing.
fn read(response: &Response, did: &selfsame_did::Did) -> RegistrarResponse {
    let status = response.status;
    let nonsense = RegistrarResponse::Nonsense;
    match (RegistrarAnswer::parse(&response.body, did), status) {
        (Ok(failed @ RegistrarAnswer::Failed { .. }), 200..=299 | 400) => {
            RegistrarResponse::Answer(failed)
        }
        (Ok(RegistrarAnswer::Failed { reason }), _) => {
            let failed = Error::upstream("registrar-failed")
                .with("status", &status)
                .with("detail", &reason);
            nonsense(failed)
        }
        (Ok(answer), 200..=299) => RegistrarResponse::Answer(answer),
        (Err(error), 200..=299) => nonsense(Error::upstream("rule-broken").with("detail", &error)),
        _ => nonsense(Error::upstream("registrar-status").with("status", &status)),
    }
}

/// Waits as long as the registrar asks for, or puts the change off.
pub(super) async fn pause(milliseconds: Option<u64>) -> Result<()> {
    let milliseconds = milliseconds.unwrap_or(PATIENCE_MS);
    if milliseconds <= PATIENCE_MS {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
        return Ok(());
    }
    let retry_after = milliseconds.div_ceil(1_000).min(LONGEST_WAIT);
    Err(Error::new(
        ErrorKind::Unavailable { retry_after },
        "registrar-later",
    ))
}

/// The error for the registrar's refusal, with its reason.
pub(super) fn refused(reason: &str) -> Error {
    Error::bad_request("registrar-refused").with("detail", &reason)
}

fn unreached(error: NetError) -> Error {
    tracing::warn!(%error, "the registrar did not answer");
    if error.is_transient() {
        return Error::new(
            ErrorKind::Unavailable { retry_after: 5 },
            "registrar-unreachable",
        );
    }
    Error::upstream("registrar-unanswered").with("detail", &error)
}
