//! The ends that are not a success: a block, an error.

use askama::Template;

use crate::frame::SignInFrame;
use crate::said::Saying;

/// The page of a person who has to wait.
#[derive(Template)]
#[template(path = "blocked.html")]
pub struct BlockedPage {
    /// What stands around it.
    pub frame: SignInFrame,
    /// Minutes to wait.
    pub minutes: u64,
    /// Where the person can go.
    pub back: Option<ClientLink>,
}

/// The page of a sign-in that did not work.
#[derive(Template)]
#[template(path = "error.html")]
pub struct SignInErrorPage {
    /// What stands around it.
    pub frame: SignInFrame,
    /// What is wrong.
    pub told: Saying,
    /// Where the person can go.
    pub back: Option<ClientLink>,
}

/// A link to a client.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ClientLink {
    /// The client's name.
    pub client: String,
    /// Its address.
    pub href: String,
}
