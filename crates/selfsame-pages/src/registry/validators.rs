//! The validators, and who signed the newest checkpoint.

use askama::Template;
use selfsame_ledger::view::browse::ValidatorsView;

use crate::Frame;

/// The page of the validators.
#[derive(Template)]
#[template(path = "registry_validators.html")]
pub struct ValidatorsPage {
    frame: Frame,
    view: ValidatorsView,
    signed: usize,
    height: u64,
}

impl ValidatorsPage {
    /// The page of these validators, on a node that has the blocks up to this height.
    pub fn of(frame: Frame, view: ValidatorsView, height: u64) -> Self {
        Self {
            frame: frame.titled("Validators"),
            signed: view.validators.iter().filter(|one| one.signed).count(),
            height,
            view,
        }
    }
}
