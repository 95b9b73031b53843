//! The operator's pages: signing in, and what a signed-in operator is offered.

use askama::Template;

use crate::Frame;

/// The page that asks for the operator's token.
#[derive(Template)]
#[template(path = "operator.html")]
pub struct OperatorPage {
    /// What stands around it.
    pub frame: Frame,
    /// The page to continue at; empty for the operator's first page.
    pub next: String,
    /// Why the token was refused.
    pub problem: Option<String>,
}

/// The page of an operator who has signed in.
#[derive(Template)]
#[template(path = "operator_signed_in.html")]
pub struct SignedInPage {
    /// What stands around it.
    pub frame: Frame,
    /// The form token, if a session exists already.
    pub token: Option<String>,
    /// Whether wallets are made by invitation on this instance.
    pub invites: bool,
    /// The link of a new invitation.
    pub invitation: Option<String>,
}
