//! The source of an operation's randomness: the context and all inputs of the operation.

use selfsame_bignum::Random;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash::sha256;

/// The random stream of one operation over these inputs.
///
/// A step that is run again with the same context must give the same result, so its label must not count runs. But two
/// signatures or proofs with shared randomness and different inputs reveal secrets. So the label includes the inputs.
pub(crate) fn random(ctx: &Ctx, operation: &str, inputs: &[&[u8]]) -> Random {
    let mut all = Vec::new();
    for input in inputs {
        all.extend_from_slice(&sha256(input));
    }
    let label = format!("anoncreds {operation} {}", hex_encode(&sha256(&all)));
    Random::new(ctx, &label)
}
