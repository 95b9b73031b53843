//! The validators, and who signed the newest checkpoint.

use askama::Template;
use axum::extract::State;
use selfsame_ledger::browse::Browser;
use selfsame_ledger::view::browse::ValidatorsView;

use super::Frame;
use crate::error::Handled;
use crate::server::Server;

#[derive(Template)]
#[template(path = "registry_validators.html")]
struct ValidatorsPage {
    frame: Frame,
    part: &'static str,
    view: ValidatorsView,
    signed: usize,
    height: u64,
}

/// The page.
pub async fn page(State(server): State<Server>, frame: Frame) -> Handled {
    let browser = Browser::of(&**server.registry()?)?;
    let view = browser.validators().await?;
    super::super::html(&ValidatorsPage {
        frame: frame.titled("Validators"),
        part: "validators",
        signed: view.validators.iter().filter(|one| one.signed).count(),
        height: browser.head()?.0,
        view,
    })
}
