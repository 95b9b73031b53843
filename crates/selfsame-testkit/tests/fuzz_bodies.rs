//! Runs every parser of outside bytes for ten seconds on inputs close to valid ones; `docs/fuzzing.md` has the long
//! run.

use std::{
    collections::hash_map::RandomState,
    hash::{BuildHasher, Hasher},
    panic::{AssertUnwindSafe, catch_unwind},
    thread,
    time::{Duration, Instant},
};

use proptest::prelude::*;
use selfsame_testkit::fuzz_bodies::{Mutator, TARGETS, Target};

const TIME: Duration = Duration::from_secs(10);
/// The number of accepted and of refused inputs that a run must see, however long a busy machine takes.
const ENOUGH: u64 = 100;
const PATIENCE: Duration = Duration::from_secs(600);

/// The counts of one run.
struct Run {
    name: &'static str,
    read: u64,
    refused: u64,
}

#[test]
fn every_seed_is_read() {
    for target in TARGETS {
        let seeds = (target.seeds)();
        assert!(!seeds.is_empty(), "{}", target.name);
        for seed in seeds {
            let shown = String::from_utf8_lossy(&seed);
            assert!((target.body)(&seed), "{}: {shown}", target.name);
        }
    }
}

#[test]
fn every_parser_stands_ten_seconds_of_mutated_input() {
    // The number differs in each run; a failure prints the input itself.
    let number = RandomState::new().build_hasher().finish();
    let runs: Vec<_> = TARGETS
        .into_iter()
        .map(|target| thread::spawn(move || run(target, number)))
        .collect();
    for run in runs {
        let run = run
            .join()
            .unwrap()
            .unwrap_or_else(|failure| panic!("{failure}"));
        let Run {
            name,
            read,
            refused,
        } = run;
        assert!(
            read > ENOUGH && refused > ENOUGH,
            "{name}: {read} inputs read and {refused} refused, too few of a kind"
        );
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test ends by the clock; what it tests does not see it"
)]
fn run(target: Target, number: u64) -> Result<Run, String> {
    let name = target.name;
    let mut inputs = Mutator::new((target.seeds)(), number);
    let begin = Instant::now();
    let mut run = Run {
        name,
        read: 0,
        refused: 0,
    };
    let goes_on = |run: &Run| {
        let is_enough = run.read > ENOUGH && run.refused > ENOUGH;
        begin.elapsed() < if is_enough { TIME } else { PATIENCE }
    };
    while goes_on(&run) {
        let input = inputs.next_input();
        match catch_unwind(AssertUnwindSafe(|| (target.body)(&input))) {
            Ok(true) => run.read += 1,
            Ok(false) => run.refused += 1,
            Err(_) => {
                return Err(format!(
                    "{name} broke a rule at b\"{}\"",
                    input.escape_ascii()
                ));
            }
        }
    }
    Ok(run)
}

proptest! {
    #[test]
    fn no_bytes_harm_any_parser(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        for target in TARGETS {
            (target.body)(&bytes);
        }
    }

    #[test]
    fn no_text_harms_any_parser(text in "[\\[\\]{}:,\"0-9a-z~.#?%/\\\\ \\PC]{0,256}") {
        for target in TARGETS {
            (target.body)(text.as_bytes());
        }
    }
}
