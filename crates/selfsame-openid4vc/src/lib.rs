//! Owns: OpenID4VCI 1.0 and OpenID4VP 1.0, both sides of each, as pure steps over stored states, and DCQL.
//! Does not own: credential formats and verdicts (selfsame-credential), OAuth messages
//! (selfsame-oauth), HTTP, storage and any other I/O.
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

pub mod dcql;
pub mod formats;
pub mod holder;
pub mod issuer;
pub mod verifier;
pub mod wallet;
pub mod wire;

pub use error::{CredentialCode, Error, Lacking, PresentationCode};
pub use selfsame_openid4vc_messages::{error, transport};
pub use transport::Transport;
