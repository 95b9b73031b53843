//! A registry in another Selfsame process, over HTTP. What it says is verified, not believed.

mod known;

use async_trait::async_trait;
use selfsame_crypto::SecretString;
use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::json::{self, Limits};
use selfsame_crypto::time::UnixTime;
use selfsame_did::{Did, Options, Resolution, ResolutionError};
use selfsame_net::{Authorization, Body, Call, Method, Net, NetError, Request, Response};
use selfsame_proof::checkpoint::Checkpoint;
use selfsame_proof::read::Bundle;
use selfsame_registry::refusal::CODES;
use selfsame_registry::{Genesis, Receipt, Transaction};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::sync::OnceCell;
use url::Url;

use super::{ENTRIES_MAX, Registry, checkpoint_verifier, log_origin, uses};
use crate::clock::Clock;
use crate::error::{Error, ErrorKind, Result};
use crate::view::registry::{RegistryDelegation, RegistryEntry, RegistryStatus, RegistryUse};
use known::Known;

/// The code of a transaction that could not be read; the others are the machine's.
const MALFORMED: &str = "malformed";

/// A registry at another origin. Does not try again by itself: the outbox does.
pub struct Remote {
    net: Net,
    origin: Url,
    token: SecretString,
    clock: Clock,
    known: OnceCell<Known>,
}

impl Remote {
    /// The registry at `origin`, written to with its operator's token.
    #[must_use]
    pub fn new(net: Net, clock: Clock, origin: Url, token: SecretString) -> Self {
        Self {
            net,
            origin,
            token,
            clock,
            known: OnceCell::new(),
        }
    }

    /// The genesis and what was verified since, fetched once: it never changes, and another one would be another
    /// network.
    async fn known(&self) -> Result<&Known> {
        self.known
            .get_or_try_init(|| async {
                let response = self
                    .get(&self.at(&["registry", "genesis"])?, "application/cbor")
                    .await?;
                let response = success(response)?;
                let genesis = Genesis::from_bytes(&response.body)
                    .map_err(|_| Error::upstream("the registry's genesis is malformed"))?;
                Known::new(genesis, self.clock.clone())
            })
            .await
    }

    fn at(&self, path: &[&str]) -> Result<Url> {
        let mut url = self.origin.clone();
        match url.path_segments_mut() {
            Ok(mut segments) => segments.pop_if_empty().extend(path),
            Err(()) => {
                return Err(Error::bad_request(
                    "the registry's origin can't have a path",
                ));
            }
        };
        Ok(url)
    }

    async fn get(&self, url: &Url, accept: &str) -> Result<Response> {
        let request = Request {
            accept: Some(accept),
            ..Request::default()
        };
        self.net.get(url, &request).await.map_err(unreached)
    }

    /// Reads of the API take the operator's token too.
    async fn get_json<T: DeserializeOwned>(&self, url: &Url) -> Result<T> {
        let response = self.call(Method::Get, url, Body::Empty).await?;
        read(&success(response)?)
    }

    async fn call(&self, method: Method, url: &Url, body: Body) -> Result<Response> {
        let authorization = Authorization::Bearer(self.token.clone());
        let request = Request {
            accept: Some("application/json"),
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

#[async_trait]
impl Registry for Remote {
    async fn genesis(&self) -> Result<Vec<u8>> {
        Ok(self.known().await?.genesis().to_bytes())
    }

    async fn submit(&self, transaction: &Transaction) -> Result<Receipt> {
        let content_type = "application/cbor".to_owned();
        let body = Body::Bytes {
            content_type,
            bytes: transaction.to_bytes(),
        };
        let response = self
            .call(Method::Post, &self.at(&["registry", "transactions"])?, body)
            .await?;
        let receipt: Receipt = read(&success(response)?)?;
        if receipt.tx_hash != transaction.hash() {
            return Err(Error::upstream(
                "the registry's receipt is for another transaction",
            ));
        }
        self.known().await?.written_at(receipt.height);
        Ok(receipt)
    }

    async fn resolve(&self, did: &Did, options: &Options) -> Resolution {
        let resolved = match self.known().await {
            Ok(known) => known.resolve(self, did, options).await,
            Err(error) => Err(error),
        };
        resolved.unwrap_or_else(|error| {
            tracing::warn!(%error, "the registry gave no resolution");
            Resolution::failed(ResolutionError::InternalError)
        })
    }

    async fn read(&self, key: &[u8], trusted_height: u64) -> Result<Bundle> {
        let mut url = self.at(&["registry", "read"])?;
        url.query_pairs_mut()
            .append_pair("key", &base64url_encode(key))
            .append_pair("trusted_height", &trusted_height.to_string());
        let response = success(self.get(&url, "application/cbor").await?)?;
        Bundle::from_bytes(&response.body)
            .map_err(|_| Error::upstream("the registry's read is malformed"))
    }

    async fn status(&self) -> Result<RegistryStatus> {
        let status: RegistryStatus = self
            .get_json(&self.at(&["api", "registry", "status"])?)
            .await?;
        let genesis = self.known().await?.genesis();
        let verifier = checkpoint_verifier(genesis)?;
        let checkpoint = Checkpoint::open(
            &status.checkpoint,
            &log_origin(&genesis.network()),
            &[verifier],
        )
        .map_err(|error| {
            Error::upstream(format!("the registry's checkpoint is refused: {error}"))
        })?;
        if checkpoint.size != status.transactions || status.network != genesis.network().as_str() {
            return Err(Error::upstream(
                "the registry's checkpoint does not fit what it says beside it",
            ));
        }
        Ok(status)
    }

    async fn entries(&self, first: u64, count: usize) -> Result<Vec<RegistryEntry>> {
        let mut url = self.at(&["api", "registry", "entries"])?;
        url.query_pairs_mut()
            .append_pair("first", &first.to_string())
            .append_pair("count", &count.min(ENTRIES_MAX).to_string());
        let entries: Entries = self.get_json(&url).await?;
        Ok(entries.items)
    }

    async fn history(&self, did: &Did) -> Result<Vec<RegistryEntry>> {
        let mut url = self.at(&["api", "registry", "history"])?;
        url.query_pairs_mut().append_pair("did", did.as_str());
        let entries: Entries = self.get_json(&url).await?;
        Ok(entries.items)
    }

    async fn used(
        &self,
        issuer: &Did,
        digest: &[u8; 32],
    ) -> Result<(Option<RegistryUse>, UnixTime)> {
        let known = self.known().await?;
        let read = known.read_now(self, |machine, state| {
            uses::used(machine, state, (issuer, digest))
        });
        let (used, as_of) = read.await?;
        Ok((used?, as_of))
    }

    async fn delegation(&self, issuer: &Did, name: &str) -> Result<Option<RegistryDelegation>> {
        let known = self.known().await?;
        let read = known.read_now(self, |machine, state| {
            uses::delegation(machine, state, (issuer, name))
        });
        read.await?.0
    }
}

#[derive(Deserialize)]
struct Entries {
    items: Vec<RegistryEntry>,
}

/// What the registry says of a request it does not serve.
#[derive(Default, Deserialize)]
struct Said {
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
    .map_err(|_| Error::upstream("the registry's answer is malformed"))
}

fn success(response: Response) -> Result<Response> {
    if response.is_success() {
        Ok(response)
    } else {
        Err(refusal(&response))
    }
}

/// An answer other than a success, as an error of ours. Only what the registry says in its own words about the
/// transaction counts as its refusal; all else may pass.
fn refusal(response: &Response) -> Error {
    let retry_after = response.retry_after.unwrap_or(1).min(3_600);
    let said: Said = json::parse_as(&response.body, &Limits::default()).unwrap_or_default();
    let code = said.code.or(said.error);
    let code = CODES
        .into_iter()
        .chain([MALFORMED])
        .find(|known| code.as_deref() == Some(*known));
    let reason = said
        .detail
        .or(said.error_description)
        .filter(|reason| reason.len() <= 300)
        .unwrap_or_else(|| format!("the registry answered with status {}", response.status));
    let kind = match (response.status, code) {
        (429, _) => ErrorKind::TooMany { retry_after },
        (503, _) => ErrorKind::Unavailable { retry_after },
        (404, Some(_)) => ErrorKind::NotFound,
        (403, Some(_)) => ErrorKind::Forbidden,
        (409, Some(_)) => ErrorKind::Conflict,
        (410, Some(_)) => ErrorKind::Gone,
        (400..=499, Some(_)) => ErrorKind::BadRequest,
        (401 | 403, None) => {
            return Error::upstream("the registry refused this instance's token")
                .with_hint("the registry's operator token belongs into [registry] token");
        }
        _ => ErrorKind::Upstream,
    };
    let error = Error::new(kind, reason);
    match code {
        Some(code) => error.with_code(code),
        None => error,
    }
}

fn unreached(error: NetError) -> Error {
    match error {
        NetError::Busy { retry_after } => Error::new(
            ErrorKind::Unavailable { retry_after },
            "too many calls to the registry are under way",
        ),
        NetError::Refused(_) => {
            Error::upstream("this instance does not call the registry's address").with_hint(
                "the registry's origin belongs into [trust] origins if it is private or plain http",
            )
        }
        error if error.is_transient() => {
            tracing::warn!(%error, "the registry could not be reached");
            Error::new(
                ErrorKind::Unavailable { retry_after: 2 },
                "the registry can't be reached at this moment",
            )
        }
        error => Error::upstream(format!("the registry did not answer: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::is_refusal;

    fn answer(status: u16, body: &str) -> Response {
        Response {
            status,
            content_type: None,
            cache_max_age: None,
            etag: None,
            retry_after: Some(7),
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
        assert!(is_refusal(&refused));
        let refused = refusal(&answer(
            403,
            r#"{"error":"bad_signature","error_description":"no"}"#,
        ));
        assert_eq!(refused.kind, ErrorKind::Forbidden);
        // A proxy that knows no such address, a token that is wrong, an answer in another form.
        for (status, body) in [
            (404, ""),
            (401, "{}"),
            (403, "<html>"),
            (400, r#"{"code":"made_up"}"#),
            (502, ""),
        ] {
            assert!(
                !is_refusal(&refusal(&answer(status, body))),
                "{status} {body}"
            );
        }
    }

    #[test]
    fn a_busy_registry_says_when_to_come_back() {
        let busy = refusal(&answer(429, r#"{"code":"quota_used_up"}"#));
        assert_eq!(busy.kind, ErrorKind::TooMany { retry_after: 7 });
        assert!(!is_refusal(&busy));
        assert_eq!(
            refusal(&answer(503, "")).kind,
            ErrorKind::Unavailable { retry_after: 7 }
        );
    }
}
