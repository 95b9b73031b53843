//! The lengths in bits of all numbers of AnonCreds v1.0, and checks of them.

use dashu_int::{IBig, UBig, ops::BitTest as _};

use crate::Error;

/// A modulus is a product of two primes of at least 1,024 bits each.
pub(crate) const MODULUS_SHORTEST: usize = 2_047;
/// The longest modulus. The blinding of a secret ([`V_PRIME`]) is 76 bits longer than a modulus of this length, so that
/// it hides the secret completely; under a longer modulus it would hide less.
pub(crate) const MODULUS_LONGEST: usize = 2_052;
/// Link secret, encoded attribute, credential context.
pub(crate) const VALUE: usize = 256;
/// A challenge: SHA-256.
pub(crate) const CHALLENGE: usize = 256;
/// e is a prime from 2^596 up to 2^596 + 2^119.
pub(crate) const E_START: usize = 596;
/// See [`E_START`].
pub(crate) const E_RANGE: usize = 119;
/// v', the holder's blinding of the link secret; r, that of A; r_i, that of a T_i.
pub(crate) const V_PRIME: usize = 2_128;
/// v″ from the issuer, whose highest bit is always set.
pub(crate) const V_PRIME_PRIME: usize = 2_724;
/// The bits by which a mask exceeds challenge times secret, so that the response reveals nothing of the secret.
pub(crate) const HIDING: usize = 80;
/// The mask of v' in a request. A shorter one would reveal the high bits of v', and through them the number that v'
/// hides, to an issuer that knows more about its modulus than it discloses.
pub(crate) const V_PRIME_MASK: usize = V_PRIME + CHALLENGE + HIDING;
/// The mask of the link secret in a request.
pub(crate) const REQUEST_MASK: usize = 593;
/// The mask of an attribute in a proof; the published implementations draw one bit less than the specification says.
pub(crate) const VALUE_MASK: usize = 592;
/// The mask of e - 2^596.
pub(crate) const E_MASK: usize = 456;
/// The mask of v - e·r.
pub(crate) const V_MASK: usize = 3_060;
/// The mask of m₂.
pub(crate) const CONTEXT_MASK: usize = 2_432;
/// The mask of a square root u_i.
pub(crate) const ROOT_MASK: usize = 592;
/// The mask of r_i, as long as that of v' for the reason given at [`V_PRIME_MASK`]; the specification gives 672 bits.
pub(crate) const BLINDING_MASK: usize = V_PRIME + CHALLENGE + HIDING;
/// The mask of r_Δ - ∑ u_i·r_i.
pub(crate) const ALPHA_MASK: usize = 2_787;
/// A square root: Δ is below 2^33.
pub(crate) const ROOT: usize = 17;

/// The length of a response to a challenge: the longer of the mask and of challenge times secret, and a carry.
pub(crate) const fn response(mask: usize, secret: usize) -> usize {
    let product = CHALLENGE.saturating_add(secret);
    let longer = if mask > product { mask } else { product };
    longer.saturating_add(1)
}

/// ê.
pub(crate) const E_RESPONSE: usize = response(E_MASK, E_RANGE);
/// v̂; v - e·r has 2,725 bits, and one more is allowed.
pub(crate) const V_RESPONSE: usize = response(V_MASK, V_PRIME_PRIME + 2);
/// m̂ of an attribute.
pub(crate) const VALUE_RESPONSE: usize = response(VALUE_MASK + 1, VALUE);
/// m̂₂.
pub(crate) const CONTEXT_RESPONSE: usize = response(CONTEXT_MASK, VALUE);
/// û_i.
pub(crate) const ROOT_RESPONSE: usize = response(ROOT_MASK, ROOT);
/// r̂_i and r̂_Δ.
pub(crate) const BLINDING_RESPONSE: usize = response(BLINDING_MASK, V_PRIME);
/// α̂.
pub(crate) const ALPHA_RESPONSE: usize = response(ALPHA_MASK, V_PRIME + ROOT + 3);
/// v̂' of a request.
pub(crate) const V_PRIME_RESPONSE: usize = response(V_PRIME_MASK, V_PRIME);
/// m̂ of a request.
pub(crate) const REQUEST_RESPONSE: usize = response(REQUEST_MASK, VALUE);

/// Refuses a number that is longer than `bits`.
pub(crate) fn at_most(number: &UBig, bits: usize, refusal: Error) -> Result<(), Error> {
    if number.bit_len() > bits {
        return Err(refusal);
    }
    Ok(())
}

/// 2^bits.
pub(crate) fn power_of_two(bits: usize) -> UBig {
    let mut power = UBig::ZERO;
    power.set_bit(bits);
    power
}

/// Refuses an attribute of more than 256 bits, which the proofs' lengths do not cover.
pub(crate) fn check_value(value: &IBig) -> Result<(), Error> {
    if value.bit_len() > VALUE {
        return Err(Error::TooLarge {
            what: "an encoded attribute in bits",
            limit: VALUE,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_have_the_lengths_that_follow_from_the_specification() {
        assert_eq!(E_RESPONSE, 457);
        assert_eq!(V_RESPONSE, 3_061);
        assert_eq!(VALUE_RESPONSE, 594);
        assert_eq!(CONTEXT_RESPONSE, 2_433);
        assert_eq!(BLINDING_RESPONSE, 2_465);
        assert_eq!(ALPHA_RESPONSE, 2_788);
        assert_eq!(V_PRIME_RESPONSE, 2_465);
        assert_eq!(REQUEST_RESPONSE, 594);
    }

    /// A mask hides challenge times secret except with probability 2^-margin.
    #[test]
    fn every_mask_hides_challenge_times_secret() {
        // v and e·r are below 2^2724 + 2^2247 each, so their difference is one bit longer than v.
        let difference = V_PRIME_PRIME + 1;
        let masks = [
            (E_MASK, E_RANGE, 81),
            (VALUE_MASK, VALUE, 80),
            (V_MASK, difference, 79),
            (CONTEXT_MASK, VALUE, 1_920),
            (ROOT_MASK, ROOT, 319),
            (BLINDING_MASK, V_PRIME, 80),
            (ALPHA_MASK, V_PRIME + ROOT + 3, 383),
            (V_PRIME_MASK, V_PRIME, 80),
            (REQUEST_MASK, VALUE, 81),
        ];
        for (mask, secret, margin) in masks {
            assert_eq!(mask, secret + CHALLENGE + margin, "{mask} for {secret}");
        }
        let e = power_of_two(E_START) + power_of_two(E_RANGE);
        let longest = e * power_of_two(V_PRIME);
        assert_eq!(longest.bit_len(), difference);
    }

    #[test]
    fn what_blinds_a_secret_is_76_bits_longer_than_the_longest_modulus() {
        const { assert!(V_PRIME >= MODULUS_LONGEST + 76) };
    }
}
