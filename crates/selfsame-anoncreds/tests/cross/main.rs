//! Every message of every flow, exchanged between ours and the published library: `cargo xtask cross anoncreds`.

mod altered;
mod dice;
mod flow;
#[path = "../oracle/ours.rs"]
mod ours;
#[path = "../oracle/party.rs"]
mod party;
mod question;
mod refusals;
#[path = "../oracle/rig.rs"]
mod rig;
#[path = "../oracle/told.rs"]
mod told;
mod wheel;

use selfsame_crypto::{ctx::Ctx, time::UnixTime};

/// A context with fresh randomness.
fn ctx() -> Ctx {
    Ctx::new(
        UnixTime(1_700_000_000),
        selfsame_crypto::seal::random_seed(),
    )
}
