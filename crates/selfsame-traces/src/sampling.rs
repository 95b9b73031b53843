//! Which traces that begin here are recorded.

use crate::context::TraceId;

/// The number of values that the random bits of a trace can have.
const VALUES: f64 = (1_u64 << 56) as f64;

/// A part of all traces, decided by their random bits: every process that knows the ratio decides alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Traces whose bits are below it are recorded.
    below: u64,
}

/// A number is not a ratio.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{0} is not between 0 and 1")]
pub struct SamplingError(f64);

impl Sampling {
    /// All traces.
    pub const ALL: Self = Self { below: 1 << 56 };

    /// This part of the traces, from 0 to 1.
    ///
    /// # Errors
    /// If it is below 0, above 1, or no number.
    pub fn ratio(ratio: f64) -> Result<Self, SamplingError> {
        match (0.0..=1.0).contains(&ratio) {
            // The product is between 0 and 2^56, so the conversion is exact enough and can't overflow.
            true => Ok(Self {
                below: (ratio * VALUES) as u64,
            }),
            false => Err(SamplingError(ratio)),
        }
    }

    /// Whether a trace is recorded.
    pub(crate) fn has(self, trace: TraceId) -> bool {
        trace.random_bits() < self.below
    }
}
