//! What was received and what was shown: to whom, when, which claims.

use askama::Template;
use axum::extract::State;
use selfsame_app::view::wallet::HistoryEntry;

use crate::error::Answer;
use crate::extract::{Owner, Query};
use crate::server::Server;
use crate::ui::{self, At, Frame};

#[derive(Template)]
#[template(path = "wallet_history.html")]
struct Page {
    frame: Frame,
    tab: &'static str,
    entries: Vec<HistoryEntry>,
    next: Option<String>,
}

/// The page.
pub async fn page(
    State(server): State<Server>,
    frame: Frame,
    Owner(person): Owner,
    Query(at): Query<At>,
) -> Answer {
    let listed = server.wallet()?.history(&person, &at.into()).await?;
    ui::html(&Page {
        frame: frame.titled("History"),
        tab: "history",
        entries: listed.items,
        next: listed.next,
    })
}

/// What happened, as a person would say it.
pub fn verb(what: &str) -> &'static str {
    match what {
        "received" => "Received",
        "shared" => "Shown",
        "declined" => "Declined",
        _ => "Failed",
    }
}
