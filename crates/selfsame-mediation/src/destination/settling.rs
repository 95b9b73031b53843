//! Deliveries to peers: what becomes of one by its answer, and which one is the last of a record that ends.

use selfsame_core::machine::{Call, CallAnswer, CallEntry, HttpBody, Settlement};
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash;
use selfsame_driver::Reason;
use serde::{Deserialize, Serialize};

/// How often a delivery is put off that the peer answers with an error.
const REFUSED_MAX: u32 = 6;
/// How often it is put off if the peer has too much to do, and the longest pause, as a power of two in seconds: for a
/// quarter of an hour or so.
const BUSY_MAX: u32 = 20;
const BUSY_PAUSE: u32 = 6;
/// The answers of a peer that has too much to do, or of a balancer whose servers give no answer.
const BUSY: [u16; 4] = [429, 502, 503, 504];

/// The last message of a record that ends: the digest of its envelope. The record stays until that message is delivered,
/// because the messages of a record that is gone are not sent any more.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct LastSent(Option<String>);

impl LastSent {
    /// Whether the record sends nothing before it ends.
    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// Notes a message, which is sent after those before.
    pub fn note(&mut self, call: &Call) {
        self.0 = digest(call).or(self.0.take());
    }

    /// The peer has ended the record too, and waits for no message.
    pub fn forget(&mut self) {
        self.0 = None;
    }

    /// Whether nothing more is to be delivered once this entry of the outbox is settled.
    pub fn is_settled_by(&self, entry: Option<&CallEntry>) -> bool {
        self.is_none() || self.0 == entry.and_then(|entry| digest(&entry.call))
    }
}

fn digest(call: &Call) -> Option<String> {
    match call {
        Call::Http(call) => match &call.body {
            HttpBody::Envelope { bytes, .. } => Some(hex_encode(&hash::sha256(bytes))),
            _ => None,
        },
        Call::Registry(_) | Call::Dialogue => None,
    }
}

/// What becomes of a delivery after this number of attempts: it is done if the peer took the message, and put off a few times if
/// the peer answered with an error.
pub fn settlement(answer: &CallAnswer, attempts: u32) -> Settlement {
    let (reason, is_busy) = match answer {
        CallAnswer::Http { response, .. } if response.status / 100 == 2 => {
            return Settlement::Settled;
        }
        CallAnswer::Http { response, .. } => (
            Reason::new("aries-peer-status").with("status", &response.status),
            BUSY.contains(&response.status),
        ),
        CallAnswer::Unreachable { reason } => {
            (Reason::new("aries-peer-away").with("why", reason), false)
        }
        CallAnswer::Accepted(_) | CallAnswer::Finished => return Settlement::Settled,
        CallAnswer::Refused(error) => (error.reason.clone(), false),
    };
    let [most, pause] = match is_busy {
        true => [BUSY_MAX, attempts.min(BUSY_PAUSE)],
        false => [REFUSED_MAX, attempts],
    };
    match attempts < most {
        true => Settlement::Later(1 << pause),
        false => Settlement::Buried(reason),
    }
}
