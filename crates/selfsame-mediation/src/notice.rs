//! What controllers are told of records: each state, with the record as it was then.
//!
//! A notice is a record, written in the commit of the state. Its event is told once the messages of that step were sent,
//! so that a controller that acts at once finds a peer that knows of the state too.

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::hex_encode;
use serde::{Deserialize, Serialize};

pub use selfsame_core::notice::Told;

/// The notices of a record whose events are not told yet, the oldest first.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Untold(Vec<String>);

impl Untold {
    /// Whether the notice is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The identifier of a new notice about this record, which is told last.
    pub fn note(&mut self, record: &str, ctx: &Ctx) -> String {
        let label = format!("aries/notice/{}", self.0.len());
        let id = format!("{record}.{}", hex_encode(&ctx.random::<16>(&label)));
        self.0.push(id.clone());
        id
    }

    /// Takes all of them.
    pub fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.0)
    }
}
