//! von-network's addresses and JSON shapes over our ledger, for browsers and tools that know them. The protocol of
//! Indy clients is not served here.

pub mod query;
pub mod register;
mod shape;

use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use selfsame_catalogue::english;
use selfsame_crypto::encoding::base64_encode;
use selfsame_http::error::{Handled, Problem};
use selfsame_http::extract::Path;
use selfsame_http::response::open_to_all;
use selfsame_ledger::browse::{Browser, IndyLedger, ViewPage};
use selfsame_ledger::view::browse::{FoundView, OperationView};
use serde_json::{Value, json};

use crate::instance::Instance;
use query::{AskedPart, view_named};

const TEXT: &str = "text/plain; charset=utf-8";
/// Default number of transactions on a page, as in von-network.
const PAGE_SIZE: u64 = 100;

/// One JSON object a line: the trust root, then the genesis transactions.
pub async fn genesis(State(instance): State<Instance>) -> Handled {
    let registry = instance.registry()?;
    let browser = Browser::of(&**registry)?;
    let network = registry.network().await?;
    let root = json!({
        "network": network.to_string(),
        "name": browser.name(),
        "origin": selfsame_ledger::log_origin(&network),
        "genesis": base64_encode(&registry.genesis().await?),
    });
    let began = browser.operations(0)?;
    let began = began
        .iter()
        .map(|operation| shape::transaction(operation, None));
    let lines: Vec<String> = [root]
        .into_iter()
        .chain(began)
        .map(|line| line.to_string())
        .collect();
    Ok(text(lines.join("\n") + "\n"))
}

/// The status of the registry; with `?validators`, also of each validator.
pub async fn status(State(instance): State<Instance>, RawQuery(query): RawQuery) -> Handled {
    let with_validators = query::asks_for_validators(query.as_deref())?;
    let registry = instance.registry()?;
    let browser = Browser::of(&**registry)?;
    let (signed, problem) = match registry.status().await {
        Ok(status) => (Some(status.height), None),
        Err(error) => (None, Some(english(&error.reason))),
    };
    let mut status = json!({
        "anonymous": false,
        "display_ledger_state": true,
        "init_error": problem,
        "ready": signed.is_some(),
        "register_new_dids": instance.open_registration(),
        "syncing": signed.is_some_and(|signed| browser.head().is_ok_and(|head| is_syncing(signed, head.0))),
    });
    if with_validators {
        status["validators"] = validators(&browser).await?.into();
    }
    Ok(json_answer(StatusCode::OK, &status))
}

/// The votes for the next block sign the newest one. In an idle registry the next block may take long.
fn is_syncing(signed: u64, stored: u64) -> bool {
    stored > signed.saturating_add(1)
}

/// The status of each validator, as text.
pub async fn status_text(State(instance): State<Instance>) -> Handled {
    let browser = instance.browser()?;
    let mut lines = String::new();
    for validator in validators(&browser).await? {
        let name = validator["Node_info"]["Name"].as_str().unwrap_or_default();
        let detail = serde_json::to_string_pretty(&validator).unwrap_or_default();
        lines.push_str(&format!("{name}\n\n{detail}\n\n"));
    }
    Ok(text(lines))
}

async fn validators(browser: &Browser<'_>) -> Handled<Vec<Value>> {
    let view = browser.validators().await?;
    let counts = json!({
        "ledger": browser.count(IndyLedger::Domain).await?,
        "pool": browser.count(IndyLedger::Pool).await?,
        "config": browser.count(IndyLedger::Config).await?,
    });
    let shaped = |one| shape::validator(one, &view, &counts);
    Ok(view.validators.iter().map(shaped).collect())
}

/// A page of one of Indy's ledgers.
pub async fn ledger(
    State(instance): State<Instance>,
    Path(name): Path<String>,
    asked: AskedPart,
) -> Handled {
    let page = asked.page(PAGE_SIZE);
    let found = found(&instance, &name, &page).await?;
    if found.items.is_empty() && page.page > 1 {
        let detail = json!({ "detail": "Invalid page." });
        return Ok(json_answer(StatusCode::NOT_FOUND, &detail));
    }
    Ok(json_answer(StatusCode::OK, &shape::page(&found, &page)))
}

/// A page of one of Indy's ledgers, as text.
pub async fn ledger_text(
    State(instance): State<Instance>,
    Path(name): Path<String>,
    asked: AskedPart,
) -> Handled {
    let page = asked.page(PAGE_SIZE);
    let found = found(&instance, &name, &page).await?;
    let lines: Vec<String> = found.items.iter().map(shape::text).collect();
    Ok(text(lines.join("\n")))
}

async fn found(instance: &Instance, ledger: &str, page: &ViewPage<'_>) -> Handled<FoundView> {
    let view = view_named(ledger)?;
    Ok(instance.browser()?.view(view, page).await?)
}

/// One transaction, by its number or its hash, with the proof that it is in the log.
pub async fn transaction(
    State(instance): State<Instance>,
    Path((name, ident)): Path<(String, String)>,
) -> Handled {
    let view = view_named(&name)?;
    let browser = instance.browser()?;
    let Some((seq_no, place)) = query::place(&browser, &ident)? else {
        return Err(nothing());
    };
    let operations = browser.operations(seq_no)?;
    let Some(found) = chosen(&operations, view, place) else {
        return Err(nothing());
    };
    let proof = match seq_no {
        0 => None,
        _ => browser.inclusion(seq_no).await?,
    };
    let body = shape::transaction(found, proof.as_ref());
    Ok(json_answer(StatusCode::OK, &body))
}

/// The operation at that place, else the first one of the view.
fn chosen(
    operations: &[OperationView],
    view: IndyLedger,
    place: Option<u64>,
) -> Option<&OperationView> {
    let mut operations = operations.iter();
    operations
        .find(|one| shape::kind(one).view() == view && place.is_none_or(|place| one.place == place))
}

/// The proof that a transaction is in the log.
pub async fn inclusion(State(instance): State<Instance>, Path(seq_no): Path<u64>) -> Handled {
    let browser = instance.browser()?;
    match browser.inclusion(seq_no).await? {
        Some(proof) => Ok(open_to_all(axum::Json(proof).into_response())),
        None => Err(
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "transaction-uncovered").come_back_in(1),
        ),
    }
}

fn nothing() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "transaction-not-in-ledger")
}

fn text(text: String) -> Response {
    open_to_all(([(CONTENT_TYPE, TEXT)], text).into_response())
}

fn json_answer(status: StatusCode, body: &Value) -> Response {
    open_to_all((status, axum::Json(body)).into_response())
}

#[cfg(test)]
mod tests {
    use super::is_syncing;

    #[test]
    fn a_network_at_rest_is_not_syncing_though_its_newest_block_is_not_signed_yet() {
        assert!(!is_syncing(7, 7));
        assert!(!is_syncing(7, 8));
        assert!(is_syncing(7, 9));
    }
}
