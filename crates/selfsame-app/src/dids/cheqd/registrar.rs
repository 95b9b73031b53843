//! The calls to a registrar: what is sent, and what of its answers counts.

use std::time::Duration;

use selfsame_did::registrar::{Answer, Operation, Request, SigningRequest};
use selfsame_net::{Authorization, Body, Call, Limits, Method, NetError, Response};
use serde_json::{Map, Value};
use url::Url;

use super::Attempt;
use crate::error::{Error, ErrorKind, Result};
use crate::shared::Shared;

/// How long a registrar may take, which waits for a block of the network: less than whoever asks us for the change
/// waits, so that he hears what became of it.
const TIMEOUT: Duration = Duration::from_secs(25);
/// The largest answer that is read, in bytes.
const MAX_ANSWER: usize = 256 * 1024;
/// A registrar that wants to be waited for no longer than this is waited for at once, in milliseconds.
const PATIENCE_MS: u64 = 2_000;
/// The longest time a registrar is waited for before it is asked again, in seconds.
const LONGEST_WAIT: u64 = 3_600;

/// What came back.
pub(super) enum Said {
    /// An answer.
    Answer(Answer),
    /// Something else, of which nothing follows.
    Nonsense(Error),
}

impl Shared {
    /// The registrar's base URL.
    pub(super) fn registrar(&self) -> Result<&Url> {
        let registrar = self.config.resolver.cheqd_registrar.as_ref();
        registrar.ok_or_else(|| {
            Error::bad_request("this instance has no registrar for did:cheqd")
                .with_hint("set cheqd_registrar in [resolver]")
        })
    }

    /// Makes the next call of an attempt.
    pub(super) async fn ask_registrar(
        &self,
        attempt: &Attempt<'_>,
        signatures: Vec<(SigningRequest, Vec<u8>)>,
    ) -> Result<Said> {
        let change = &attempt.change;
        let operation = change.operation();
        let document = match operation {
            Operation::Deactivate => None,
            Operation::Create | Operation::Update => Some(change.then.draft()?.to_value()),
        };
        let network = self.config.resolver.cheqd_network;
        let network =
            selfsame_did::cheqd::parts(&change.then.did).map_or(network, |(network, _)| network);
        let options = Map::from_iter([
            ("network".to_owned(), Value::from(network.as_str())),
            ("versionId".to_owned(), Value::from(attempt.id)),
        ]);
        let request = Request {
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
            .map_err(|()| Error::bad_request("the registrar's address can't have a path"))?
            .pop_if_empty()
            .extend(["1.0", operation.path()]);
        let call = Call {
            method: Method::Post,
            url: &url,
            body,
            authorization: Authorization::None,
            request: selfsame_net::Request {
                accept: Some("application/json"),
                limits: Some(Limits {
                    max_body: MAX_ANSWER,
                    total_timeout: TIMEOUT,
                }),
                redirects: 0,
            },
        };
        let response = self.net.call(call).await.map_err(unreached)?;
        Ok(read(&response, &change.then.did))
    }
}

/// Judges a response. A failure counts as the registrar's word only where it says that the request was at fault
/// (400): what it can't do now it may do later, and the 404 of a server that is no registrar says nothing.
fn read(response: &Response, did: &selfsame_did::Did) -> Said {
    let status = response.status;
    let nonsense = |reason: String| Said::Nonsense(Error::upstream(reason));
    match (Answer::parse(&response.body, did), status) {
        (Ok(failed @ Answer::Failed { .. }), 200..=299 | 400) => Said::Answer(failed),
        (Ok(Answer::Failed { reason }), _) => {
            nonsense(format!("the registrar failed (status {status}): {reason}"))
        }
        (Ok(answer), 200..=299) => Said::Answer(answer),
        (Err(error), 200..=299) => nonsense(error.to_string()),
        _ => nonsense(format!("the registrar answered with status {status}")),
    }
}

/// Waits as the registrar wishes, or has the change put off.
pub(super) async fn pause(milliseconds: Option<u64>) -> Result<()> {
    let milliseconds = milliseconds.unwrap_or(PATIENCE_MS);
    if milliseconds <= PATIENCE_MS {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
        return Ok(());
    }
    let retry_after = milliseconds.div_ceil(1_000).min(LONGEST_WAIT);
    Err(Error::new(
        ErrorKind::Unavailable { retry_after },
        "the registrar asks to be called again later",
    ))
}

/// What the registrar does not do, and why.
pub(super) fn refused(reason: &str) -> Error {
    Error::bad_request(format!("the registrar refused: {reason}"))
}

fn unreached(error: NetError) -> Error {
    tracing::warn!(%error, "the registrar did not answer");
    if error.is_transient() {
        return Error::new(
            ErrorKind::Unavailable { retry_after: 5 },
            "the registrar can't be reached now",
        );
    }
    Error::upstream(format!("the registrar did not answer: {error}"))
}
