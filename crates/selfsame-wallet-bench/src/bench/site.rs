//! The measured server with the six issuers, the organisation that keeps the book, and one that asks for proofs.

use std::path::Path;

use async_trait::async_trait;
use selfsame_bench::Error;
use selfsame_bench::client::BenchClient;
use selfsame_bench::process::{Program, ServerProcess};
use serde_json::Value;

use crate::permits::PERMITS;
use crate::walk::{ApiCall, InstanceApi, OfficeCaller, WalkError, broken, found_all};

/// The organisation that keeps the book.
pub(super) const KEEPER: &str = "orgbook";
/// The organisation that asks for proofs of entries.
pub(super) const ASKER: &str = "bank";

/// A server with all organisations.
pub(super) struct BookSite {
    /// The process.
    pub server: ServerProcess,
    /// The operator's calls.
    pub operator: TokenApi,
}

/// The API of the server, with somebody's token.
#[derive(Clone)]
pub(super) struct TokenApi {
    /// The client.
    pub client: BenchClient,
    /// The token.
    pub token: String,
}

impl BookSite {
    /// Starts a server with its data in a new directory, and creates the organisations.
    pub async fn start(program: &Program, data: &Path, settings: &str) -> Result<Self, Error> {
        // What every server of a benchmark is started with ends with the section `[wallet]`.
        let settings = format!("remote_wallets = true\n{settings}");
        let server = program.start(data, &settings).await?;
        let operator = TokenApi {
            client: BenchClient::new(&server.base),
            token: server.operator.clone(),
        };
        found(&operator).await.map_err(failed)?;
        Ok(Self { server, operator })
    }
}

impl TokenApi {
    /// The address of an organisation.
    pub fn at(organisation: &str, path: &str) -> String {
        format!("/o/{organisation}{path}")
    }

    /// Sends `GET path` of an organisation.
    pub async fn get(&self, organisation: &str, path: &str) -> Result<Value, Error> {
        let path = Self::at(organisation, path);
        self.client.get(&path, &self.token).await
    }

    /// Sends `POST path` of an organisation.
    pub async fn post(&self, organisation: &str, path: &str, body: &Value) -> Result<Value, Error> {
        let path = Self::at(organisation, path);
        self.client.post(&path, &self.token, body).await
    }
}

#[async_trait]
impl InstanceApi for TokenApi {
    async fn call(&self, call: ApiCall<'_>) -> Result<Value, WalkError> {
        let path = match call.organisation {
            Some(organisation) => Self::at(organisation, call.path),
            None => call.path.to_owned(),
        };
        let answer = match call.method {
            "GET" => self.client.get(&path, &self.token).await,
            "PUT" => self.client.put(&path, &self.token, call.body).await,
            _ => self.client.post(&path, &self.token, call.body).await,
        };
        answer.map_err(|error| WalkError::new(error.to_string()))
    }
}

/// A failure of a walk as one of a measurement.
pub(super) fn failed(error: WalkError) -> Error {
    Error::Call {
        what: "the six issuers".to_owned(),
        why: error.0,
    }
}

/// An answer that lacks a member.
pub(super) fn lacks(what: &str, answer: &Value) -> Error {
    Error::Call {
        what: what.to_owned(),
        why: format!("unexpected answer {answer}"),
    }
}

/// Creates the six issuers, and two organisations that trust all of them. One has the types of a book.
async fn found(operator: &TokenApi) -> Result<(), WalkError> {
    let offices = found_all(operator).await?;
    let first = OfficeCaller {
        api: operator,
        organisation: None,
    };
    for (name, title) in [(KEEPER, "Credential book"), (ASKER, "Bank (example)")] {
        first.founded(name, title).await?;
        let own = OfficeCaller {
            api: operator,
            organisation: Some(name),
        };
        for permit in &PERMITS {
            let definition = permit.booked().ok_or_else(broken)?;
            let office = offices.get(permit.id).ok_or_else(broken)?;
            let vct = definition.vct.clone().ok_or_else(broken)?;
            own.trusts(&office.issuer, permit.id, &[vct]).await?;
            if name == KEEPER {
                own.publishes(&definition).await?;
            }
        }
    }
    Ok(())
}
