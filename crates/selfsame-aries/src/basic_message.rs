//! Basic message 1.0 (RFC 0095): a text for people.

mod messages;
mod step;

pub use messages::{BasicMessage, TextMessage};
pub use step::{BasicInput, step};
