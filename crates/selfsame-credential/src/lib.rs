//! Owns: SD-JWT VC and VC-JWT (issue, hold, present), the use of mobile documents, compact credentials of machines, and
//! the verdicts on them.
//! Does not own: keys and JOSE, DID methods, status lists, the OpenID protocols, and any kind of I/O; a verification
//! lists the evidence that it requires as [`Need`]s and receives it as [`Evidence`].
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

mod budget;
pub mod evidence;
pub mod format;
pub mod held;
mod issuer_key;
pub mod path;
mod rules;
pub mod sd_jwt;
pub mod signer;
pub mod single_use;
#[cfg(test)]
mod testing;
pub mod validity;
pub mod verdict;
pub mod verify;
pub mod w3c;

pub use evidence::{Evidence, Fetched, Need, Step, Unavailable};
pub use format::Format;
pub use held::Held;
pub use path::ClaimPath;
pub use selfsame_mdoc as mdoc;
pub use selfsame_status as status;
pub use signer::Signer;
pub use verdict::{Policy, Verdict};
