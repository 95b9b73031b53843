//! What controllers are told of records: each state, with the record as it was then.
//!
//! A notice is a record, written in the commit of the state. Its event is told once the messages of that step were sent,
//! so that a controller that acts at once finds a peer that knows of the state too.

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use selfsame_driver::record::encode;
use selfsame_store::Put;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The kind of the records of notices.
pub const NOTICE: &str = "aries_notice";
/// Seconds for which a notice is kept: as long as events are.
const KEPT_SECONDS: u64 = 7 * 24 * 3600;

/// A state of a record, for its controllers.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Told {
    /// The topic of the webhook.
    pub topic: String,
    /// The record as the API shows it.
    pub payload: Value,
}

/// The notices of a record whose events are not told yet, the oldest first.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Untold(Vec<String>);

impl Told {
    /// A state that has this topic.
    pub fn new(topic: &str, payload: &impl Serialize) -> Self {
        Self {
            topic: topic.to_owned(),
            payload: serde_json::to_value(payload).unwrap_or_default(),
        }
    }

    /// The record of the notice.
    ///
    /// # Errors
    /// `Internal` if it can't be encoded.
    pub fn put(&self, id: &str, now: UnixTime) -> Result<Put> {
        Ok(Put::new(NOTICE, id, encode(self)?).expires(now.plus(KEPT_SECONDS)))
    }
}

impl Untold {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The identifier of a new notice, which is told last.
    pub fn note(&mut self, ctx: &Ctx) -> String {
        let label = format!("aries/notice/{}", self.0.len());
        let id = hex_encode(&ctx.random::<16>(&label));
        self.0.push(id.clone());
        id
    }

    /// Takes all of them.
    pub fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.0)
    }
}
