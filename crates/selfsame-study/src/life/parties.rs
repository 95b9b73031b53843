//! Issuer, wallet and verifier as their controllers see them: in one process or in several.

use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{Method, Request};
use selfsame_bench::Error;
use selfsame_bench::client::BenchClient;
use selfsame_bench::flow::SAMPLE;
use selfsame_bench::process::ServerProcess;
use serde_json::{Value, json};

/// A party's address and its operator's token.
#[derive(Clone)]
pub struct Party {
    client: BenchClient,
    token: String,
}

/// The three parties of a credential.
#[derive(Clone)]
pub struct Parties {
    /// Who issues and revokes.
    pub issuer: Party,
    /// Who holds.
    pub wallet: Party,
    /// Who asks.
    pub verifier: Party,
}

impl Party {
    /// The party that this server is.
    pub fn of(server: &ServerProcess) -> Self {
        Self {
            client: BenchClient::new(&server.base),
            token: server.operator.clone(),
        }
    }
}

impl Parties {
    /// All three in one process.
    pub fn in_one(server: &ServerProcess) -> Self {
        let party = Party::of(server);
        Self {
            issuer: party.clone(),
            wallet: party.clone(),
            verifier: party,
        }
    }

    /// Makes a wallet, and returns its session.
    pub async fn person(&self, number: usize) -> Result<String, Error> {
        selfsame_bench::flow::register(&self.wallet.client, number).await
    }

    /// Offers a credential and takes it, and returns the offer's identifier.
    pub async fn issue(&self, person: &str) -> Result<String, Error> {
        let offer = json!({"type": SAMPLE, "examples": true});
        let path = "/api/issuer/offers";
        let offer = self
            .issuer
            .client
            .post(path, &self.issuer.token, &offer)
            .await?;
        let taking = json!({"offer": offer["uri"]});
        let path = "/api/wallet/offers/accept";
        let taken = self.wallet.client.post(path, person, &taking).await?;
        match taken["items"].as_array().map(Vec::len) {
            Some(1..) => text(&offer, "id"),
            _ => Err(unexpected(path, &taken)),
        }
    }

    /// Asks for the credential and answers, and returns the verdict's outcome.
    pub async fn present(&self, person: &str) -> Result<String, Error> {
        self.presented(person, &json!({"type": SAMPLE})).await
    }

    /// As [`Self::present`], but no status list counts that was fetched before.
    pub async fn present_anew(&self, person: &str) -> Result<String, Error> {
        let request = json!({"type": SAMPLE, "max_status_age": 0});
        self.presented(person, &request).await
    }

    async fn presented(&self, person: &str, request: &Value) -> Result<String, Error> {
        let path = "/api/verifier/requests";
        let verifier = &self.verifier;
        let request = verifier.client.post(path, &verifier.token, request).await?;
        let answer = json!({"request": request["uri"], "policy": "newest"});
        let answering = "/api/wallet/requests/answer";
        self.wallet.client.post(answering, person, &answer).await?;
        let path = format!("{path}/{}?wait=30", text(&request, "id")?);
        let status = verifier.client.get(&path, &verifier.token).await?;
        text(&status["verdict"], "outcome")
    }

    /// The identifier under which the issuer knows what it issued by this offer.
    pub async fn issued(&self, offer: &str) -> Result<String, Error> {
        let path = format!("/api/issuer/credentials?offer={offer}");
        let issued = self.issuer.client.get(&path, &self.issuer.token).await?;
        text(&issued["items"][0], "id")
    }

    /// Revokes a credential.
    pub async fn revoke(&self, id: &str) -> Result<(), Error> {
        let path = format!("/api/issuer/credentials/{id}/status");
        let body = json!({"status": "revoked"}).to_string();
        let request = Request::builder()
            .method(Method::PUT)
            .uri(&path)
            .header(AUTHORIZATION, format!("Bearer {}", self.issuer.token))
            .header(CONTENT_TYPE, "application/json")
            .body(body.into())
            .map_err(|error| Error::Server(error.to_string()))?;
        let answer = self.issuer.client.call(request).await?;
        match answer.status().is_success() {
            true => Ok(()),
            false => Err(Error::Call {
                what: path,
                why: answer.status().to_string(),
            }),
        }
    }

    /// Whether the status list shows the revocation.
    pub async fn is_published(&self, id: &str) -> Result<bool, Error> {
        let path = format!("/api/issuer/credentials/{id}");
        let issued = self.issuer.client.get(&path, &self.issuer.token).await?;
        Ok(issued["published"] == true)
    }

    /// How many credentials a person holds.
    pub async fn held(&self, person: &str) -> Result<usize, Error> {
        let path = "/api/wallet/credentials?limit=200";
        let held = self.wallet.client.get(path, person).await?;
        let items = held["items"].as_array().map(Vec::len);
        items.ok_or_else(|| unexpected(path, &held))
    }
}

fn text(value: &Value, name: &str) -> Result<String, Error> {
    let text = value[name].as_str().map(str::to_owned);
    text.ok_or_else(|| unexpected(name, value))
}

fn unexpected(what: &str, got: &Value) -> Error {
    Error::Call {
        what: what.to_owned(),
        why: format!("unexpected answer {got}"),
    }
}
