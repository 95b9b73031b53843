//! The pauses of the study's users. Its plan has a timer of 2 s with a deviation of 0.5 s for all calls, and one for each
//! call of a group; all timers in scope of a call add up (Apache JMeter, "Scoping Rules").

use std::time::Duration;

/// The mean of one timer and its deviation, in seconds.
const MEAN: f64 = 2.0;
const DEVIATION: f64 = 0.5;
/// How long the pauses of a scenario are together, in seconds.
pub const SCENARIO_S: f64 = 72.0;
/// The timers in scope of each call.
const TIMERS: [u32; 14] = [2, 2, 2, 2, 3, 3, 2, 2, 2, 2, 4, 4, 4, 2];

/// The pauses of one user.
pub struct Thinking {
    haste: f64,
    state: u64,
}

impl Thinking {
    /// Pauses that are the study's divided by `haste`; different for each user.
    pub fn new(haste: f64, user: usize) -> Self {
        let state = (user as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self { haste, state }
    }

    /// The pause before a call.
    pub fn before(&mut self, step: usize) -> Duration {
        let timers = TIMERS.get(step).copied().unwrap_or(2);
        let seconds: f64 = (0..timers).map(|_| self.timer()).sum();
        Duration::from_secs_f64(seconds.max(0.0) / self.haste)
    }

    /// One timer: the sum of twelve uniform numbers is nearly normal, with a deviation of 1.
    fn timer(&mut self) -> f64 {
        let normal: f64 = (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0;
        MEAN + DEVIATION * normal
    }

    /// A number from 0 to 1, by xorshift: pauses need to differ, not to be secret.
    fn uniform(&mut self) -> f64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_pauses_as_long_as_the_studys() {
        let mut all = 0.0;
        for user in 0..200 {
            let mut thinking = Thinking::new(1.0, user);
            all += (0..14)
                .map(|step| thinking.before(step).as_secs_f64())
                .sum::<f64>();
        }
        let mean = all / 200.0;
        assert!((mean - SCENARIO_S).abs() < 1.0, "{mean}");
    }
}
