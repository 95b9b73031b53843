//! The p90 of each call over the time of a round.

use selfsame_bench::chart::Line;
use selfsame_bench::statistics::Sample;

use crate::round::SignInRound;
use crate::study::CALLS;

/// The parts into which a round is divided.
const PARTS: usize = 40;

/// The p90 of each call in each part of the round that has one, in milliseconds by seconds.
pub fn p90_over_time(round: &SignInRound<7>) -> Vec<Line> {
    let part = (round.seconds / PARTS as f64).max(f64::EPSILON);
    let calls = CALLS.iter().zip(&round.calls).zip(&round.began);
    calls
        .map(|((name, sample), began)| {
            let mut parts = vec![Sample::default(); PARTS];
            for (at, time) in began.iter().zip(sample.values()) {
                // What began at the very end belongs to the last part.
                let place = place(*at / part).min(PARTS - 1);
                if let Some(sample) = parts.get_mut(place) {
                    sample.push(*time);
                }
            }
            let parts = parts.iter().enumerate();
            let parts = parts.filter(|(_, sample)| !sample.is_empty());
            let point = |(number, sample): (usize, &Sample)| {
                ((number as f64 + 0.5) * part, sample.quantile(0.9))
            };
            Line {
                name: (*name).to_owned(),
                points: parts.map(point).collect(),
            }
        })
        .collect()
}

/// The whole parts before this one.
fn place(parts: f64) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive number that is bounded next"
    )]
    let whole = parts.floor().max(0.0) as usize;
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_counts_in_the_part_in_which_it_began() {
        let mut round = SignInRound::<7>::begin();
        round.seconds = 40.0;
        for (at, time) in [(0.0, 1.0), (0.9, 3.0), (39.5, 7.0), (40.0, 9.0)] {
            round.began[0].push(at);
            round.calls[0].push(time);
        }
        let lines = p90_over_time(&round);
        assert_eq!(lines[0].points, [(0.5, 3.0), (39.5, 9.0)]);
        assert!(lines[1].points.is_empty());
    }
}
