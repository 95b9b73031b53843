//! What the tests of several modules begin with.

use selfsame_crypto::{ctx::Ctx, hash::sha256, time::UnixTime};
use zeroize::Zeroizing;

use crate::{Primes, Random};

pub(crate) const PRIMES: Primes = Primes::new(sha256);

/// The stream of a context with this seed for a label.
pub(crate) fn stream(seed: u8, label: &str) -> Random {
    let ctx = Ctx::new(UnixTime(0), [seed; 32]);
    let source = Ctx::new(ctx.now(), ctx.random(label));
    Random::new(move |number| Zeroizing::new(source.random(&number.to_string())))
}
