//! The client of this node's own engine. The engine's RPC is the only way in for transactions.

use std::net::SocketAddr;
use std::time::Duration;

use selfsame_crypto::encoding::base64_encode;
use selfsame_crypto::json::{self, Limits};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_net::{Authorization, Body, Call, Method, Net, NetError, Request, Settings};
use serde::Deserialize;
use serde_json::json;
use url::Url;

use crate::light::LightCall;

/// The maximum number of calls under way; the engine allows 900 connections.
const IN_FLIGHT: usize = 256;
const TIMEOUT: Duration = Duration::from_secs(5);
const MAX_BODY: usize = 256 * 1024;

/// The engine's RPC.
pub(crate) struct Rpc {
    net: Net,
    url: Url,
}

/// The engine's answer to a transaction.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum TakenTransaction {
    /// The transaction waits for a block.
    Waits,
    /// The application's check refused the transaction.
    NotLetIn,
}

#[derive(Deserialize)]
struct EngineAnswer {
    result: Option<Checked>,
    error: Option<RpcFailure>,
}

#[derive(Deserialize)]
struct Checked {
    code: u32,
}

#[derive(Deserialize)]
struct RpcFailure {
    #[serde(default)]
    message: String,
    #[serde(default)]
    data: String,
}

impl Rpc {
    /// Creates a client of the RPC at this local address, for at most this many waiting transactions.
    pub(crate) fn new(address: SocketAddr, waiting_max: usize) -> Result<Self> {
        let url = Url::parse(&format!("http://{address}/")).map_err(Error::internal)?;
        let settings = Settings {
            own_origins: vec![url.origin()],
            native_roots: false,
            limits: selfsame_net::CallLimits {
                max_body: MAX_BODY,
                total_timeout: TIMEOUT,
            },
            max_redirects: 0,
            max_in_flight: IN_FLIGHT,
            max_waiting: waiting_max,
            max_idle: IN_FLIGHT,
            ..Settings::default()
        };
        let net = Net::new(settings).map_err(Error::internal)?;
        Ok(Self { net, url })
    }

    /// Submits a transaction. Returns as soon as the application has checked it.
    pub(crate) async fn broadcast(&self, transaction: &[u8]) -> Result<TakenTransaction> {
        let body = json!({
            "jsonrpc": "2.0",
            "id": 1,
            "method": "broadcast_tx_sync",
            "params": { "tx": base64_encode(transaction) },
        });
        let call = Call {
            method: Method::Post,
            url: &self.url,
            body: Body::Json(body.to_string().into_bytes()),
            authorization: Authorization::None,
            request: Request::default(),
        };
        let response = self
            .net
            .call(call)
            .await
            .map_err(|error| unreached(&error))?;
        let answer: EngineAnswer = json::parse_as(
            &response.body,
            &Limits {
                max_bytes: MAX_BODY,
                ..Limits::default()
            },
        )
        .map_err(|_| Error::upstream("engine-answer-malformed"))?;
        taken(&answer)
    }
}

impl Rpc {
    /// Passes on a light client's call and returns the engine's answer.
    pub(crate) async fn light(&self, call: &LightCall) -> Result<Vec<u8>> {
        let call = Call {
            method: Method::Post,
            url: &self.url,
            body: Body::Json(call.body()),
            authorization: Authorization::None,
            request: Request::default(),
        };
        let answer = self.net.call(call).await;
        let response = answer.map_err(|error| unreached(&error))?;
        match response.is_success() {
            true => Ok(response.body.to_vec()),
            false => Err(Error::upstream("engine-status").with("status", &response.status)),
        }
    }
}

fn taken(answer: &EngineAnswer) -> Result<TakenTransaction> {
    match answer {
        EngineAnswer {
            result: Some(checked),
            ..
        } if checked.code == 0 => Ok(TakenTransaction::Waits),
        EngineAnswer {
            result: Some(_), ..
        } => Ok(TakenTransaction::NotLetIn),
        EngineAnswer {
            error: Some(failure),
            ..
        } => failed(failure),
        _ => Err(Error::upstream("engine-answer-malformed")),
    }
}

/// The engine has no error codes for these cases, only messages.
fn failed(failure: &RpcFailure) -> Result<TakenTransaction> {
    if failure.data.contains("tx already exists in cache") {
        return Ok(TakenTransaction::Waits);
    }
    if failure.data.contains("mempool is full") {
        let kind = ErrorKind::TooMany { retry_after: 1 };
        return Err(Error::new(kind, "transactions-waiting"));
    }
    tracing::warn!(message = %failure.message, data = %failure.data, "the engine did not accept a transaction");
    Err(unavailable("the registry can't write at the moment"))
}

fn unreached(error: &NetError) -> Error {
    if let NetError::Busy { retry_after } = error {
        let kind = ErrorKind::TooMany {
            retry_after: *retry_after,
        };
        return Error::new(kind, "transactions-waiting");
    }
    tracing::debug!(%error, "the engine can't be reached");
    unavailable("the registry's engine is not running at the moment")
}

/// An error for a write that may or may not have happened. Submitting the same transaction again is safe.
pub(crate) fn unavailable(reason: &str) -> Error {
    Error::new(ErrorKind::Unavailable { retry_after: 2 }, "write-unsure").with("detail", reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<TakenTransaction> {
        taken(&serde_json::from_str(body).unwrap())
    }

    #[test]
    fn the_engines_answers_are_understood() {
        let good = r#"{"jsonrpc":"2.0","id":1,"result":{"code":0,"data":"","log":"","codespace":"","hash":"00"}}"#;
        assert_eq!(read(good), Ok(TakenTransaction::Waits));
        assert_eq!(
            read(r#"{"result":{"code":2}}"#),
            Ok(TakenTransaction::NotLetIn)
        );
        let known = r#"{"error":{"code":-32603,"message":"Internal error","data":"tx already exists in cache"}}"#;
        assert_eq!(read(known), Ok(TakenTransaction::Waits));
    }

    #[test]
    fn a_full_mempool_says_when_to_come_back() {
        let full = r#"{"error":{"code":-32603,"message":"Internal error","data":"mempool is full: number of txs 3000 (max: 3000)"}}"#;
        assert_eq!(
            read(full).unwrap_err().kind,
            ErrorKind::TooMany { retry_after: 1 }
        );
        let other = read(r#"{"error":{"code":-32603,"message":"Internal error","data":"EOF"}}"#);
        assert!(matches!(
            other.unwrap_err().kind,
            ErrorKind::Unavailable { .. }
        ));
        assert_eq!(read("{}").unwrap_err().kind, ErrorKind::Upstream);
    }
}
