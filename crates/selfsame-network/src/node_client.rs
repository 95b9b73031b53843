//! A client of a node's HTTP interface: its public endpoints, and the operator's.

use std::sync::Arc;

use selfsame_catalogue::Refused;
use selfsame_crypto::SecretString;
use selfsame_driver::address;
use selfsame_ledger::view::NodeHealth;
use selfsame_net::{Authorization, Body, Call, Method, Net, NetError, Request, Response, Settings};
use selfsame_registry::Receipt;
use serde_json::{Value, json};
use url::Url;

use crate::NetworkError;

/// DER certificates that are trusted in addition to the system's.
pub type Believed = Arc<[Vec<u8>]>;

/// A client of a node.
pub struct NodeClient {
    net: Net,
    url: Url,
}

impl NodeClient {
    /// The node at this base URL.
    ///
    /// # Errors
    /// If requests would be sent unencrypted, or TLS is not available on this machine.
    pub fn new(url: &Url, believed: &Believed) -> Result<Self, NetworkError> {
        address::check(url)?;
        Self::checked(url, believed)
    }

    /// The node at an address from the settings, which are checked elsewhere.
    ///
    /// # Errors
    /// If TLS is not available on this machine.
    pub fn checked(url: &Url, believed: &Believed) -> Result<Self, NetworkError> {
        let settings = Settings {
            own_origins: vec![url.origin()],
            hosts: selfsame_net::localhost(None),
            extra_roots: believed.to_vec(),
            ..Settings::default()
        };
        let net =
            Net::new(settings).map_err(|error| NetworkError::environment(error.to_string()))?;
        let url = url.clone();
        Ok(Self { net, url })
    }

    /// Submits a signed transaction.
    ///
    /// # Errors
    /// Why the registry refuses it, or that the node does not respond.
    pub async fn write(&self, bytes: &[u8], token: SecretString) -> Result<Receipt, NetworkError> {
        let url = self.at("registry/transactions")?;
        let call = Call {
            method: Method::Post,
            url: &url,
            body: Body::Bytes {
                content_type: "application/cbor".to_owned(),
                bytes: bytes.to_vec(),
            },
            authorization: Authorization::Bearer(token),
            request: Request::default(),
        };
        let response = self.net.call(call).await.map_err(|error| {
            unanswered(self.url.as_ref(), &error)
                .or_hint("start it with `selfsame registry node`, or name another node")
        })?;
        if !response.is_success() {
            let refused = NetworkError::from(Refused::of(response.status, &response.body));
            return Err(refused.or_hint(
                "changing the validators needs a trustee's key; `selfsame registry status` lists the validators",
            ));
        }
        serde_json::from_slice(&response.body)
            .map_err(|error| NetworkError::ours(format!("the receipt is malformed: {error}")))
    }

    /// The response body for a path.
    ///
    /// # Errors
    /// If the node responds with an error, or does not respond.
    pub async fn get(&self, path: &str) -> Result<Vec<u8>, NetworkError> {
        let response = self.ask(path, Authorization::None).await?;
        match response.is_success() {
            true => Ok(response.body.to_vec()),
            false => {
                let said = NetworkError::from(Refused::of(response.status, &response.body));
                let said = said.message();
                Err(NetworkError::no(format!(
                    "it answered {}: {said}",
                    response.status
                )))
            }
        }
    }

    /// The node's health, which only its operator may see; `None` if an older release does not have it.
    ///
    /// # Errors
    /// If the token is not its operator's, or the node does not respond.
    pub async fn health(&self, token: SecretString) -> Result<Option<NodeHealth>, NetworkError> {
        let answer = self.ask("api/registry/node", Authorization::Bearer(token));
        let response = answer.await?;
        match response.status {
            404 => Ok(None),
            _ if response.is_success() => serde_json::from_slice(&response.body)
                .map(Some)
                .map_err(|error| NetworkError::ours(format!("its answer is malformed: {error}"))),
            _ => Err(NetworkError::from(Refused::of(
                response.status,
                &response.body,
            ))),
        }
    }

    /// The engine's response to a call of a light client.
    ///
    /// # Errors
    /// If the engine responds with an error, or does not respond.
    pub async fn light(&self, method: &str, params: Value) -> Result<Value, NetworkError> {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let url = self.at("registry/engine")?;
        let call = Call {
            method: Method::Post,
            url: &url,
            body: Body::Json(call.to_string().into_bytes()),
            authorization: Authorization::None,
            request: Request::default(),
        };
        let answer = self.net.call(call).await;
        let response = answer.map_err(|error| unanswered("it", &error))?;
        if !response.is_success() {
            return Err(NetworkError::from(Refused::of(
                response.status,
                &response.body,
            )));
        }
        serde_json::from_slice(&response.body)
            .map_err(|error| NetworkError::no(format!("its answer is malformed: {error}")))
    }

    fn at(&self, path: &str) -> Result<Url, NetworkError> {
        self.url
            .join(path)
            .map_err(|error| NetworkError::ours(format!("{path}: {error}")))
    }

    async fn ask(
        &self,
        path: &str,
        authorization: Authorization,
    ) -> Result<Response, NetworkError> {
        let url = self.at(path)?;
        let call = Call {
            method: Method::Get,
            url: &url,
            body: Body::Empty,
            authorization,
            request: Request::default(),
        };
        self.net.call(call).await.map_err(|error| {
            unanswered("it", &error).or_hint("start it with `selfsame registry node`")
        })
    }
}

/// A list of many nodes has one line for each, without room for a hint.
fn unanswered(who: &str, error: &NetError) -> NetworkError {
    match error {
        NetError::Tls(_) => NetworkError::environment(format!(
            "{who} does not answer: {error}; name its certificate, or that of its authority, with --tls-root"
        ))
        .hint("name the file of that certificate (PEM) with --tls-root, or in SELFSAME_TLS_ROOT"),
        _ => NetworkError::environment(format!("{who} does not answer: {error}")),
    }
}
