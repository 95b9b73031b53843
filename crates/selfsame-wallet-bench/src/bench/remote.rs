//! The study's direct load as it was: rows of a remote wallet, one in each request, eight requests at once.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::Request;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use selfsame_bench::{Error, Progress, tasks};
use serde_json::{Value, json};

use super::names::business;
use super::site::{BookSite, KEEPER, TokenApi, lacks};

const PATH: &str = "/api/v1/keyval/";
/// The study's number of threads.
const AT_ONCE: usize = 8;

/// Loads this number of rows. Returns rows a second.
#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
pub(super) async fn load(
    site: &BookSite,
    rows: usize,
    progress: &dyn Progress,
) -> Result<f64, Error> {
    let sender = Arc::new(RowSender::new(&site.operator).await?);
    progress.begin("loading rows of a remote wallet", rows as u64);
    let sending = (0..rows as u64).map(|number| {
        let sender = sender.clone();
        async move { sender.send(number).await }
    });
    let began = Instant::now();
    tasks::all(sending, AT_ONCE, progress).await?;
    Ok(rows as f64 / began.elapsed().as_secs_f64().max(f64::EPSILON))
}

/// A program with an API key.
struct RowSender {
    operator: TokenApi,
    key: String,
}

impl RowSender {
    async fn new(operator: &TokenApi) -> Result<Self, Error> {
        let new = json!({"name": "remote wallet", "scopes": ["issuer:read", "issuer:write"]});
        let made = operator.post(KEEPER, "/api/keys", &new).await?;
        let key = made["key"].as_str();
        Ok(Self {
            operator: operator.clone(),
            key: key.ok_or_else(|| lacks("/api/keys", &made))?.to_owned(),
        })
    }

    /// Sends a claim as the study's load did.
    async fn send(&self, number: u64) -> Result<(), Error> {
        let business = business(number);
        let claim = json!({"schema": "incorporation", "claim": business.incorporation()});
        let row = json!({
            "wallet_name": format!("TheOrgBook_Holder_Wallet::{}", business.legal_entity_id),
            "item_type": "claim",
            "item_id": format!("{number:032x}"),
            "item_value": claim.to_string(),
        });
        let request = Request::post(TokenApi::at(KEEPER, PATH))
            .header(AUTHORIZATION, format!("Token {}", self.key))
            .header(CONTENT_TYPE, "application/json")
            .body(Bytes::from(row.to_string()));
        let request = request.map_err(|error| lacks(PATH, &Value::from(error.to_string())))?;
        let answer = self.operator.client.call(request).await?;
        match answer.status().is_success() {
            true => Ok(()),
            false => {
                let said = String::from_utf8_lossy(answer.body());
                Err(lacks(PATH, &Value::from(said)))
            }
        }
    }
}
