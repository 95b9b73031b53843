//! Where an operation's randomness comes from: the context, and everything the operation is about.

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash::sha256;

use crate::random::Random;

/// The stream for one operation over these inputs.
///
/// A step that is run again with the same context must come to the same result, so its label may not count runs. But
/// two signatures or proofs that share their randomness and differ in what they are over give secrets away; so what
/// they are over is part of the label.
pub(crate) fn random(ctx: &Ctx, operation: &str, inputs: &[&[u8]]) -> Random {
    let mut all = Vec::new();
    for input in inputs {
        all.extend_from_slice(&sha256(input));
    }
    let label = format!("anoncreds {operation} {}", hex_encode(&sha256(&all)));
    Random::new(ctx, &label)
}
