//! One node of a remote registry: its calls over HTTP, and what its answers mean.

use std::time::Duration;

use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::json::{self, Limits};
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_net::{Authorization, Body, Call, Method, Net, NetError, Request, Response};
use selfsame_proof::entries::{self, ProvenEntries};
use selfsame_proof::log::Hash;
use selfsame_proof::read::Bundle;
use selfsame_proof::reads::ProvenReads;
use selfsame_registry::refusal::CODES;
use selfsame_registry::{Genesis, Receipt, Transaction};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use url::Url;

use crate::config::RegistryNode;
use crate::view::RegistryStatus;

/// The code for a transaction that can't be parsed. The other codes are the machine's.
const MALFORMED: &str = "malformed";
/// The code of a call that reached no node.
pub(super) const UNREACHED: &str = "registry_unreachable";
/// The code of a call that got no answer in time.
pub(super) const UNANSWERED: &str = "registry_silent";
/// Time limit of a read: shorter than a caller waits, so that another node can be asked.
const READS_WITHIN: Duration = Duration::from_secs(4);
/// Time limit of a write: the node itself waits ten seconds for the transaction's block.
const WRITES_WITHIN: Duration = Duration::from_secs(12);
/// Maximum size of an answer: transactions with their proofs.
const BODY_MAX: usize = entries::MAX_BYTES;
/// Maximum hashes of a consistency proof: two for each level of a log of 2⁶⁴ entries.
const PROOF_MAX: usize = 128;

/// A node as this instance calls it. It does not retry by itself.
pub(super) struct Callee {
    net: Net,
    at: RegistryNode,
}

impl Callee {
    pub(super) fn new(net: Net, at: RegistryNode) -> Self {
        Self { net, at }
    }

    /// Its origin, which is its name.
    pub(super) fn name(&self) -> String {
        self.at.origin.origin().ascii_serialization()
    }

    pub(super) async fn genesis(&self) -> Result<Genesis> {
        let url = self.at(&["registry", "genesis"])?;
        let response = success(self.get(&url, "application/cbor").await?)?;
        Genesis::from_bytes(&response.body).map_err(|_| Error::upstream("genesis-malformed"))
    }

    pub(super) async fn submit(&self, transaction: &Transaction) -> Result<Receipt> {
        let body = Body::Bytes {
            content_type: "application/cbor".to_owned(),
            bytes: transaction.to_bytes(),
        };
        let url = self.at(&["registry", "transactions"])?;
        let response = self.call(Method::Post, &url, body).await?;
        if !response.is_success() {
            return Err(refusal(&response));
        }
        let receipt: Receipt = read(&response)?;
        match receipt.tx_hash == transaction.hash() {
            true => Ok(receipt),
            false => Err(Error::upstream("receipt-of-other-transaction")),
        }
    }

    /// The node's answer for an object of the state. Nothing of it is verified.
    pub(super) async fn read(&self, key: &[u8], trusted_height: u64) -> Result<Bundle> {
        let response = success(self.object("read", key, trusted_height).await?)?;
        Bundle::from_bytes(&response.body).map_err(|_| Error::upstream("read-malformed"))
    }

    /// As [`Self::read`], with the objects that the value refers to. A node of an older version sends the object alone.
    pub(super) async fn reads(&self, key: &[u8], trusted_height: u64) -> Result<ProvenReads> {
        let response = self.object("reads", key, trusted_height).await?;
        if response.status == 404 {
            return Ok(ProvenReads {
                bundle: self.read(key, trusted_height).await?,
                further: Vec::new(),
            });
        }
        let response = success(response)?;
        ProvenReads::from_bytes(&response.body).map_err(|_| Error::upstream("read-malformed"))
    }

    async fn object(&self, how: &str, key: &[u8], trusted_height: u64) -> Result<Response> {
        let mut url = self.at(&["registry", how])?;
        url.query_pairs_mut()
            .append_pair("key", &base64url_encode(key))
            .append_pair("trusted_height", &trusted_height.to_string());
        self.get(&url, "application/cbor").await
    }

    /// The node's proof that its log of `new` entries begins with that of `old` entries. It is not verified.
    pub(super) async fn consistency(&self, old: u64, new: u64) -> Result<Vec<Hash>> {
        let mut url = self.at(&["registry", "consistency"])?;
        url.query_pairs_mut()
            .append_pair("old", &old.to_string())
            .append_pair("new", &new.to_string());
        let response = success(self.get(&url, "application/octet-stream").await?)?;
        let (hashes, rest) = response.body.as_chunks::<32>();
        match rest.is_empty() && hashes.len() <= PROOF_MAX {
            true => Ok(hashes.to_vec()),
            false => Err(Error::upstream("proof-malformed")),
        }
    }

    pub(super) async fn status(&self) -> Result<RegistryStatus> {
        self.get_json(&self.at(&["api", "registry", "status"])?)
            .await
    }

    /// Transactions with their proofs. Nothing of them is verified.
    pub(super) async fn proven(
        &self,
        numbers: &[u64],
        trusted_height: u64,
    ) -> Result<ProvenEntries> {
        let mut url = self.at(&["registry", "log"])?;
        let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
        url.query_pairs_mut()
            .append_pair("numbers", &numbers.join(","))
            .append_pair("trusted_height", &trusted_height.to_string());
        let response = success(self.get(&url, "application/cbor").await?)?;
        ProvenEntries::from_bytes(&response.body)
            .map_err(|_| Error::upstream("transactions-malformed"))
    }

    fn at(&self, path: &[&str]) -> Result<Url> {
        let mut url = self.at.origin.clone();
        match url.path_segments_mut() {
            Ok(mut segments) => segments.pop_if_empty().extend(path),
            Err(()) => {
                return Err(Error::internal("the registry's origin can't have a path"));
            }
        };
        Ok(url)
    }

    async fn get(&self, url: &Url, accept: &str) -> Result<Response> {
        let request = Request {
            accept: Some(accept),
            limits: Some(within(READS_WITHIN)),
            ..Request::default()
        };
        self.net.get(url, &request).await.map_err(unreached)
    }

    /// Reads of the API send the operator's token too.
    async fn get_json<T: DeserializeOwned>(&self, url: &Url) -> Result<T> {
        let response = self.call(Method::Get, url, Body::Empty).await?;
        read(&success(response)?)
    }

    async fn call(&self, method: Method, url: &Url, body: Body) -> Result<Response> {
        let authorization = Authorization::Bearer(self.at.token.clone());
        let limits = within(match method {
            Method::Get => READS_WITHIN,
            _ => WRITES_WITHIN,
        });
        let request = Request {
            accept: Some("application/json"),
            limits: Some(limits),
            ..Request::default()
        };
        let call = Call {
            method,
            url,
            body,
            authorization,
            request,
        };
        self.net.call(call).await.map_err(unreached)
    }
}

/// The body of an answer that is not a success.
#[derive(Default, Deserialize)]
struct RefusalBody {
    code: Option<String>,
    error: Option<String>,
    detail: Option<String>,
    error_description: Option<String>,
}

fn read<T: DeserializeOwned>(response: &Response) -> Result<T> {
    json::parse_as(
        &response.body,
        &Limits {
            max_bytes: 1 << 20,
            ..Limits::default()
        },
    )
    .map_err(|_| Error::upstream("answer-malformed"))
}

/// Checks the answer to anything but a transaction. Such a call submits nothing that could be refused, so a code in the
/// answer says nothing about a transaction.
fn success(response: Response) -> Result<Response> {
    if response.is_success() {
        return Ok(response);
    }
    let mut error = refusal(&response);
    error.code = None;
    if error.is_refusal() {
        error.kind = ErrorKind::Upstream;
    }
    Err(error)
}

/// Maps an unsuccessful answer to a transaction to an error. Only a known code of the registry counts as its refusal;
/// all other failures may pass.
fn refusal(response: &Response) -> Error {
    let retry_after = response.retry_after.unwrap_or(1).min(3_600);
    let said: RefusalBody = json::parse_as(&response.body, &Limits::default()).unwrap_or_default();
    let code = said.code.or(said.error);
    let code = CODES
        .into_iter()
        .chain([MALFORMED])
        .find(|known| code.as_deref() == Some(*known));
    let reason = said
        .detail
        .or(said.error_description)
        .filter(|reason| reason.len() <= 300)
        .map_or_else(
            || Reason::new("registry-status").with("status", &response.status),
            |said| Reason::new("rule-broken").with("detail", &said),
        );
    let kind = match (response.status, code) {
        (429, _) => ErrorKind::TooMany { retry_after },
        (503, _) => ErrorKind::Unavailable { retry_after },
        (404, Some(_)) => ErrorKind::NotFound,
        (403, Some(_)) => ErrorKind::Forbidden,
        (409, Some(_)) => ErrorKind::Conflict,
        (410, Some(_)) => ErrorKind::Gone,
        (400..=499, Some(_)) => ErrorKind::BadRequest,
        (401 | 403, None) => {
            return Error::upstream("registry-token-refused");
        }
        _ => ErrorKind::Upstream,
    };
    let error = Error::of(kind, reason);
    match code {
        Some(code) => error.with_code(code),
        None => error,
    }
}

/// The error of a node that took the call and did not answer in time.
pub(super) fn unanswered() -> Error {
    let kind = ErrorKind::Unavailable { retry_after: 2 };
    Error::new(kind, "registry-silent").with_code(UNANSWERED)
}

fn within(time: Duration) -> selfsame_net::CallLimits {
    selfsame_net::CallLimits {
        max_body: BODY_MAX,
        total_timeout: time,
    }
}

fn unreached(error: NetError) -> Error {
    match error {
        NetError::Busy { retry_after } => Error::new(
            ErrorKind::Unavailable { retry_after },
            "registry-calls-crowded",
        )
        .with_code(UNREACHED),
        NetError::Refused(_) => Error::upstream("registry-address-refused"),
        NetError::TimedOut => unanswered(),
        error if error.is_transient() => {
            tracing::warn!(%error, "the registry could not be reached");
            Error::new(
                ErrorKind::Unavailable { retry_after: 2 },
                "registry-unreachable",
            )
            .with_code(UNREACHED)
        }
        error => Error::upstream("registry-unanswered").with("detail", &error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, body: &str) -> Response {
        Response {
            status,
            content_type: None,
            cache_max_age: None,
            etag: None,
            retry_after: Some(7),
            challenge: None,
            dpop_nonce: None,
            attestation_challenge: None,
            replay_nonce: None,
            location: None,
            body: body.to_owned().into(),
        }
    }

    #[test]
    fn only_the_registrys_own_words_are_a_refusal() {
        let refused = refusal(&answer(409, r#"{"code":"nonce_used","detail":"used"}"#));
        assert_eq!(
            (refused.kind, refused.code),
            (ErrorKind::Conflict, Some("nonce_used"))
        );
        assert!(refused.is_refusal());
        let refused = refusal(&answer(
            403,
            r#"{"error":"bad_signature","error_description":"no"}"#,
        ));
        assert_eq!(refused.kind, ErrorKind::Forbidden);
        // A proxy that does not know the address, a wrong token, an answer in another form.
        for (status, body) in [
            (404, ""),
            (401, "{}"),
            (403, "<html>"),
            (400, r#"{"code":"made_up"}"#),
            (502, ""),
        ] {
            assert!(
                !refusal(&answer(status, body)).is_refusal(),
                "{status} {body}"
            );
        }
    }

    #[test]
    fn no_answer_to_a_read_is_a_refusal() {
        for code in CODES.into_iter().chain([MALFORMED]) {
            for status in [400, 403, 404, 409, 410, 422] {
                let body = format!(r#"{{"code":"{code}","detail":"it says so"}}"#);
                let error = success(answer(status, &body)).unwrap_err();
                assert_eq!((error.kind, error.code), (ErrorKind::Upstream, None));
                assert!(!error.is_refusal(), "{status} {code}");
            }
        }
        let busy = success(answer(429, r#"{"code":"quota_used_up"}"#)).unwrap_err();
        assert_eq!(busy.kind, ErrorKind::TooMany { retry_after: 7 });
    }

    #[test]
    fn a_busy_registry_says_when_to_come_back() {
        let busy = refusal(&answer(429, r#"{"code":"quota_used_up"}"#));
        assert_eq!(busy.kind, ErrorKind::TooMany { retry_after: 7 });
        assert!(!busy.is_refusal());
        assert_eq!(
            refusal(&answer(503, "")).kind,
            ErrorKind::Unavailable { retry_after: 7 }
        );
        let silent = Response {
            retry_after: None,
            ..answer(429, "")
        };
        assert_eq!(refusal(&silent).kind, ErrorKind::TooMany { retry_after: 1 });
    }
}
