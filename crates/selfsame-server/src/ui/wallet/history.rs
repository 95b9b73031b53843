//! What was received, and what was shown: to which verifier, when, which claims.

use axum::extract::State;
use selfsame_pages::wallet::history::HistoryPage;

use crate::error::Handled;
use crate::extract::{Owner, Query};
use crate::server::Server;
use crate::ui::{self, Frame, ListPosition};

/// The page.
pub async fn page(
    State(server): State<Server>,
    frame: Frame,
    Owner(person): Owner,
    Query(at): Query<ListPosition>,
) -> Handled {
    let listed = server.wallet()?.history(&person, &at.into()).await?;
    ui::html(&HistoryPage::of(frame, listed))
}
