//! Owns: SD-JWT VC and VC-JWT (issue, hold, present), status lists, DCQL, and the verdicts on them.
//! Does not own: keys and JOSE, DID methods, the OpenID protocols, and any kind of I/O; what a judgement
//! needs from outside is listed as needs and comes in as evidence.
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
pub mod format;
pub mod path;
pub mod status;

pub use format::Format;
pub use path::ClaimPath;
