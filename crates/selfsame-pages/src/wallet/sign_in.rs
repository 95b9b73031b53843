//! Creating a wallet and signing in.

use askama::Template;
use selfsame_wallet_view::words::Registration;

use crate::Frame;

/// The page with both forms.
#[derive(Template)]
#[template(path = "wallet_sign_in.html")]
pub struct SignInPage {
    /// What stands around it.
    pub frame: Frame,
    /// The page to continue at; empty for the wallet's first page.
    pub next: String,
    /// The e-mail address that was typed.
    pub email: String,
    /// What the person can correct.
    pub problem: Option<String>,
    /// Whether the person is creating a wallet.
    pub registering: bool,
    /// Who may create a wallet.
    pub may: Registration,
    /// The token of the invitation that led here.
    pub invitation: String,
}

impl SignInPage {
    /// The page with empty forms.
    pub fn of(frame: Frame, may: Registration) -> Self {
        Self {
            frame,
            next: String::new(),
            email: String::new(),
            problem: None,
            registering: false,
            may,
            invitation: String::new(),
        }
    }

    /// Whether a wallet can be created from here.
    fn has_room(&self) -> bool {
        match self.may {
            Registration::Open => true,
            Registration::Invite => !self.invitation.is_empty(),
            Registration::Closed => false,
        }
    }
}
