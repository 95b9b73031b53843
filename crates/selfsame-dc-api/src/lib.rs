//! OpenID4VP 1.0 over the Digital Credentials API (Appendix A): a page of a verifier hands a request to the browser, and
//! the browser brings the wallet's answer back to that page.
//!
//! Owns: the protocols of the exchange, requests and answers as browsers carry them, and which origins may ask. Does not
//! own: queries, presentations and verdicts (selfsame-openid4vc), keys, HTTP, pages, and any kind of I/O.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

pub mod answer;
pub mod asking;
pub mod brought;
pub mod exchange;
mod general;
pub mod origin;

#[cfg(test)]
mod tests;

pub use answer::BroughtAnswer;
pub use asking::{AskingParty, BrowserAsk};
pub use brought::BroughtRequest;
pub use exchange::ExchangeProtocol;
pub use origin::PageOrigin;
