//! What an agent tells its controllers of a record: its topic, and the record as it was then.

use selfsame_crypto::time::UnixTime;
use selfsame_store::Put;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::encode;
use crate::Result;

/// The kind of the records of notices. The identifier begins with that of the record that they are about.
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

impl Told {
    /// A state that has this topic.
    #[must_use]
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

/// The record that a notice with this identifier is about.
#[must_use]
pub fn subject(notice: &str) -> &str {
    notice.split_once('.').map_or(notice, |(record, _)| record)
}
