//! The source of an operation's randomness: the context and all inputs of the operation. And the hash of tests of primes.

use selfsame_bignum::{Primes, Random};
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash::sha256;
use zeroize::Zeroizing;

/// Tests of primes with bases from SHA-256.
pub(crate) const PRIMES: Primes = Primes::new(sha256);

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
    stream(ctx, &label)
}

/// The random stream of a context for a label: HKDF-SHA256 with the block's number as its information. Equal labels give
/// equal streams, so a step uses each label once.
pub(crate) fn stream(ctx: &Ctx, label: &str) -> Random {
    let source = Ctx::new(ctx.now(), ctx.random(label));
    Random::new(move |number| Zeroizing::new(source.random(&number.to_string())))
}
