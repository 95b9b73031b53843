//! A transaction: its author, its content, and the proof that it is in the log.

use askama::Template;
use axum::extract::State;
use selfsame_ledger::browse::Browser;
use selfsame_ledger::view::browse::{InclusionView, OperationView};

use super::super::resolver::pretty;
use super::Frame;
use crate::error::{Handled, Problem};
use crate::extract::Path;
use crate::server::Server;

#[derive(Template)]
#[template(path = "registry_entry.html")]
struct TransactionPage {
    frame: Frame,
    first: OperationView,
    operations: Vec<OperationView>,
    keys: Vec<String>,
    raw: String,
    role: Option<&'static str>,
    proof: Option<InclusionView>,
    newest: u64,
}

/// The page.
pub async fn page(State(server): State<Server>, frame: Frame, Path(seq_no): Path<u64>) -> Handled {
    let browser = Browser::of(&**server.registry()?)?;
    let operations = browser.operations(seq_no)?;
    let Some(first) = operations.first().cloned() else {
        return Err(Problem::bad_request("operations-absent"));
    };
    let proof = match seq_no {
        0 => None,
        _ => browser.inclusion(seq_no).await?,
    };
    super::super::html(&TransactionPage {
        frame: frame.titled(title(seq_no)),
        keys: first.signatures.iter().map(|one| one.key.clone()).collect(),
        raw: pretty(&server.registry()?.entries(seq_no.max(1), 1).await?),
        role: browser.role(&first.author, first.unix_time)?,
        newest: browser.head()?.1,
        first,
        operations,
        proof,
    })
}

fn title(seq_no: u64) -> String {
    match seq_no {
        0 => "Genesis".to_owned(),
        _ => format!("Transaction {seq_no}"),
    }
}
