//! The validators, and who signed the newest checkpoint.

use axum::extract::State;
use selfsame_pages::registry::validators::ValidatorsPage;

use crate::error::Handled;
use crate::server::Server;
use crate::ui::{self, Frame};

/// The page.
pub async fn page(State(server): State<Server>, frame: Frame) -> Handled {
    let browser = server.browser()?;
    let view = browser.validators().await?;
    ui::html(&ValidatorsPage::of(frame, view, browser.head()?.0))
}
