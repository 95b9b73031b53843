//! The start page: the trust triangle, live.

use askama::Template;
use serde::Serialize;

use crate::Frame;

/// The start page.
#[derive(Template)]
#[template(path = "home.html")]
pub struct HomePage {
    /// What stands around it.
    pub frame: Frame,
    /// What it counts.
    pub tally: Tally,
}

/// Counts of the events that this process told since it started: numbers only. The page's stream sends the same.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Tally {
    /// Credentials issued.
    pub issued: u64,
    /// Credentials received by wallets here.
    pub received: u64,
    /// Presentations made by wallets here.
    pub presented: u64,
    /// Credentials suspended, reinstated or revoked.
    pub status_changed: u64,
    /// Transactions in the registry.
    pub anchored: u64,
}
