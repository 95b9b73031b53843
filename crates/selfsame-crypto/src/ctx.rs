//! The context of a pure step: the time and randomness, both passed in.

use std::fmt;

use aws_lc_rs::hkdf::Prk;

use crate::encoding::base64url_encode;
use crate::hkdf;
use crate::time::UnixTime;

/// Time and randomness for one run of one step. A `Ctx` always gives the same bytes for a label, so a step that is run
/// again once its needs are met gives the same result.
#[derive(Clone)]
pub struct Ctx {
    now: UnixTime,
    prk: Prk,
}

impl Ctx {
    /// A context at time `now` whose randomness is derived from `seed`, which must be fresh and secret.
    pub fn new(now: UnixTime, seed: [u8; 32]) -> Self {
        Self {
            now,
            prk: hkdf::extract(b"selfsame ctx v1", &seed),
        }
    }

    /// The time at which the step happens.
    pub fn now(&self) -> UnixTime {
        self.now
    }

    /// Bytes derived from the seed and the label alone (HKDF-SHA256). Equal labels give equal bytes.
    pub fn random<const N: usize>(&self, label: &str) -> [u8; N] {
        hkdf::expand(&self.prk, &[label.as_bytes()])
    }

    /// 256 random bits in base64url.
    pub fn token(&self, label: &str) -> String {
        base64url_encode(&self.random::<32>(label))
    }

    /// A number below `bound`, uniform up to a bias of 2^-64; 0 if `bound` is 0.
    pub fn below(&self, label: &str, bound: u64) -> u64 {
        let wide = u128::from_be_bytes(self.random(label));
        wide.checked_rem(u128::from(bound))
            .and_then(|rest| u64::try_from(rest).ok())
            .unwrap_or(0)
    }
}

impl fmt::Debug for Ctx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ctx")
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_and_label_give_the_same_bytes_and_others_do_not() {
        let ctx = Ctx::new(UnixTime(7), [1; 32]);
        assert_eq!(
            ctx.token("salt"),
            Ctx::new(UnixTime(8), [1; 32]).token("salt")
        );
        assert_ne!(ctx.token("salt"), ctx.token("salt 2"));
        assert_ne!(
            ctx.token("salt"),
            Ctx::new(UnixTime(7), [2; 32]).token("salt")
        );
        assert_eq!(ctx.now(), UnixTime(7));
    }

    #[test]
    fn the_bytes_are_those_of_hkdf_sha256() {
        // Computed with HMAC-SHA256 of another library.
        let token = "fQu_TVF8fcVaBig1vMIJH2icpWIEFAEETKMmHL3ZOPM";
        assert_eq!(Ctx::new(UnixTime(7), [1; 32]).token("salt"), token);
    }

    #[test]
    fn numbers_below_a_bound_stay_below_it_and_reach_all_of_it() {
        let ctx = Ctx::new(UnixTime(0), [3; 32]);
        let seen: std::collections::BTreeSet<u64> =
            (0..200).map(|i| ctx.below(&format!("n{i}"), 5)).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert_eq!(ctx.below("none", 0), 0);
    }

    #[test]
    fn debug_output_does_not_show_the_seed() {
        assert_eq!(
            format!("{:?}", Ctx::new(UnixTime(7), [9; 32])),
            "Ctx { now: UnixTime(7), .. }"
        );
    }
}
