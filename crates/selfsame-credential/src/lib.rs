//! Owns: SD-JWT VC and VC-JWT (issue, hold, present), the use of mobile documents and of Data Integrity proofs, compact
//! credentials of machines, and the verdicts on them.
//! Does not own: keys and JOSE, SD-JWT as such, DID methods, status lists, the OpenID protocols, and any kind of I/O; a
//! verification lists the evidence that it requires as [`Need`]s and receives it as [`Evidence`].
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

pub mod evidence;
pub mod format;
pub mod held;
mod issuer_key;
mod rules;
pub mod signer;
pub mod single_use;
#[cfg(test)]
mod testing;
pub mod verdict;
pub mod verify;
pub mod w3c;

pub use evidence::{Evidence, Fetched, Need, Step, Unavailable};
pub use format::Format;
pub use held::Held;
pub use selfsame_mdoc as mdoc;
pub use selfsame_sd_jwt as sd_jwt;
pub(crate) use selfsame_sd_jwt::budget;
pub use selfsame_sd_jwt::path::{self, ClaimPath};
pub use selfsame_sd_jwt::validity;
pub use selfsame_status as status;
pub use signer::Signer;
pub use verdict::{Policy, Verdict};
