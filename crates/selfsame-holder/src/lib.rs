//! What holders of OpenID4VC share: people's wallets, and registers of credentials that prove what they hold.
//!
//! Owns: the opening of a request, the delivery of an answer that is not kept, what the record of the wire takes of them,
//! and the errors of the protocols as errors of use cases. Does not own: what is held, who agrees to what.

mod opening;
mod profile;
pub mod recording;
mod refusal;

pub use opening::{RequestOpener, transport};
pub use refusal::refusal;
