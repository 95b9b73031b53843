//! A transaction: its author, its content, and the proof that it is in the log.

use axum::extract::State;
use selfsame_pages::registry::transaction::{TransactionPage, TransactionParts};

use crate::error::{Handled, Problem};
use crate::extract::Path;
use crate::server::Server;
use crate::ui::{self, Frame};

/// The page.
pub async fn page(State(server): State<Server>, frame: Frame, Path(seq_no): Path<u64>) -> Handled {
    let browser = server.browser()?;
    let operations = browser.operations(seq_no)?;
    let Some(first) = operations.first().cloned() else {
        return Err(Problem::bad_request("operations-absent"));
    };
    let proof = match seq_no {
        0 => None,
        _ => browser.inclusion(seq_no).await?,
    };
    let parts = TransactionParts {
        entry: server.registry()?.entries(seq_no.max(1), 1).await?,
        role: browser.role(&first.author, first.unix_time)?,
        newest: browser.head()?.1,
        first,
        operations,
        proof,
    };
    ui::html(&TransactionPage::of(frame, parts))
}
