//! Means, deviations, percentiles of small samples.

use std::time::{Duration, Instant};

/// A sample of measurements, in any unit.
#[derive(Clone, Debug, Default)]
pub struct Sample(Vec<f64>);

impl FromIterator<f64> for Sample {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl Sample {
    /// Adds a duration in milliseconds.
    pub fn add(&mut self, time: Duration) {
        self.0.push(time.as_secs_f64() * 1e3);
    }

    /// Adds a number.
    pub fn push(&mut self, value: f64) {
        self.0.push(value);
    }

    /// Does a job again and again for a while, and adds how often it was done in a second.
    #[expect(clippy::disallowed_methods, reason = "the rate is measured here")]
    pub fn push_rate(&mut self, round: Duration, mut job: impl FnMut()) {
        let (begin, mut count) = (Instant::now(), 0_u32);
        while begin.elapsed() < round {
            job();
            count = count.saturating_add(1);
        }
        self.push(f64::from(count) / begin.elapsed().as_secs_f64());
    }

    /// Adds all measurements of another sample.
    pub fn extend(&mut self, other: &Self) {
        self.0.extend_from_slice(&other.0);
    }

    /// The measurements in the order in which they were taken.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// The number of measurements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the sample is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The mean; 0 for an empty sample.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.is_empty() {
            0.0
        } else {
            self.0.iter().sum::<f64>() / self.count()
        }
    }

    /// The standard deviation; 0 for fewer than two measurements.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        if self.len() < 2 {
            return 0.0;
        }
        let mean = self.mean();
        let squares: f64 = self.0.iter().map(|value| (value - mean).powi(2)).sum();
        (squares / (self.count() - 1.0)).sqrt()
    }

    /// The value that this share (0 to 1) of the measurements does not exceed; 0 for an empty sample.
    #[must_use]
    pub fn quantile(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "an index within the sample"
        )]
        let at = (share * last as f64).round() as usize;
        sorted.get(at).copied().unwrap_or(0.0)
    }

    /// The median.
    #[must_use]
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The ratios of these measurements to those of another sample, pair by pair.
    #[must_use]
    pub fn ratios_to(&self, other: &Self) -> Self {
        let pairs = self.0.iter().zip(&other.0);
        let ratio = |(one, other): (&f64, &f64)| one / other.max(f64::EPSILON);
        Self(pairs.map(ratio).collect())
    }

    /// The difference between the largest and the smallest measurement.
    #[must_use]
    pub fn range(&self) -> f64 {
        self.quantile(1.0) - self.quantile(0.0)
    }

    fn count(&self) -> f64 {
        self.0.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_how_often_the_job_was_done_in_a_second() {
        let (mut sample, mut done) = (Sample::default(), 0);
        sample.push_rate(Duration::from_millis(20), || done += 1);
        let rate = sample.values()[0];
        assert!(done > 0 && rate > 0.0 && rate <= f64::from(done) / 0.02);
    }

    #[test]
    fn a_sample_knows_its_middle_and_spread() {
        let mut sample = Sample::default();
        for value in [4.0, 1.0, 3.0, 2.0, 5.0] {
            sample.push(value);
        }
        assert_eq!(
            (sample.mean(), sample.median(), sample.range()),
            (3.0, 3.0, 4.0)
        );
        assert!((sample.deviation() - 2.5_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn an_empty_sample_is_all_zero() {
        let none = Sample::default();
        assert_eq!(
            (none.mean(), none.median(), none.deviation(), none.range()),
            (0.0, 0.0, 0.0, 0.0)
        );
    }
}
