//! A person's keys and DIDs.

use askama::Template;
use selfsame_wallet_view::entries::{DidInfo, KeyInfo};

use crate::Frame;

/// The keys and DIDs of a person.
#[derive(Template)]
#[template(path = "wallet_keys.html")]
pub struct KeysPage {
    /// What stands around it.
    pub frame: Frame,
    /// The keys, except those of single cards.
    pub keys: Vec<KeyInfo>,
    /// The DIDs.
    pub dids: Vec<DidInfo>,
}
