//! Walks every path of at most eight events.

use super::model::{Judged, Model, POLICY, What};
use super::*;

const EVENTS_MAX: usize = 8;
const PAUSE: u64 = 150;
const LIMITS: [AllowanceLimits; 2] = [
    AllowanceLimits {
        sends: 2,
        wrong: 3,
        window: 400,
        pause: PAUSE,
        right_clears: true,
    },
    AllowanceLimits {
        sends: 3,
        wrong: 4,
        window: 700,
        pause: 60,
        right_clears: false,
    },
];
/// A code that is never made.
const STRANGE: &str = "999999";

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Step {
    Send,
    /// The code that was made last could not be delivered.
    Lose,
    /// The code that was delivered last, whatever became of it.
    EnterLast,
    /// The one before it.
    EnterOlder,
    EnterStrange,
    /// The time of a code passes.
    PassLifetime,
    PassPause,
}

const STEPS: [Step; 7] = [
    Step::Send,
    Step::Lose,
    Step::EnterLast,
    Step::EnterOlder,
    Step::EnterStrange,
    Step::PassLifetime,
    Step::PassPause,
];

/// The state after a path.
#[derive(Clone)]
struct Node {
    now: u64,
    codes: OtpRecord,
    meters: [OtpMeter; 2],
    model: Model,
    /// The code that was made last and may still turn out to be lost.
    to_lose: Option<u64>,
    /// The codes that were accepted, by their places.
    accepted: Vec<usize>,
}

impl Node {
    fn start() -> Self {
        let meter = |limits| OtpMeter {
            used: OtpAllowance::default(),
            limits,
        };
        Self {
            now: 1_000_000,
            codes: OtpRecord::default(),
            meters: LIMITS.map(meter),
            model: Model::default(),
            to_lose: None,
            accepted: Vec::new(),
        }
    }

    fn drive(&mut self, event: &OtpEvent, place: usize) -> OtpOutcome {
        let ctx = Ctx::new(UnixTime(self.now), seed(place));
        let mut records = OtpRecords {
            bound_to: "sign-in",
            codes: &mut self.codes,
            meters: &mut self.meters,
        };
        records.step(event, &POLICY, &ctx)
    }

    /// Takes a step, and compares with the model. `None` if the step can't come now.
    fn take(&mut self, step: Step, codes: &[String]) -> Option<()> {
        match step {
            Step::Send => self.send(),
            Step::Lose => {
                let number = self.to_lose.take()?;
                let outcome = self.drive(&OtpEvent::NotDelivered(number), 0);
                assert_eq!(outcome, OtpOutcome::Withdrawn);
                self.model.lose();
            }
            Step::EnterLast => self.enter(Some(self.delivered(0)?), codes),
            Step::EnterOlder => self.enter(Some(self.delivered(1)?), codes),
            Step::EnterStrange => self.enter(None, codes),
            Step::PassLifetime => self.now += POLICY.lifetime,
            Step::PassPause => self.now += PAUSE,
        }
        Some(())
    }

    /// The place of the code that was delivered last but this many.
    fn delivered(&self, before_last: usize) -> Option<usize> {
        let codes = self.model.codes.iter().enumerate().rev();
        let mut delivered = codes.filter(|(_, code)| !code.withdrawn);
        delivered.nth(before_last).map(|(place, _)| place)
    }

    fn send(&mut self) {
        let judged = self.model.send(&LIMITS, self.now);
        let place = self.model.codes.len().saturating_sub(1);
        let outcome = match self.drive(&OtpEvent::Send, place) {
            OtpOutcome::Deliver { number, .. } => {
                self.to_lose = Some(number);
                Judged::Sent
            }
            other => judged_as(other),
        };
        assert_eq!(outcome, judged);
    }

    fn enter(&mut self, code: Option<usize>, codes: &[String]) {
        let typed = code.map_or(STRANGE, |place| &codes[place]);
        let outcome = judged_as(self.drive(&OtpEvent::Enter(typed.into()), 0));
        assert_eq!(outcome, self.model.enter(code, &LIMITS, self.now));
        if outcome == Judged::Accepted {
            let code = code.unwrap();
            assert!(!self.accepted.contains(&code), "accepted twice");
            self.accepted.push(code);
        }
    }

    /// No code got more guesses than it may, and no person more codes and guesses than the limits say.
    fn check_bounds(&self) {
        let passed = self.now - 1_000_000;
        let codes = self.model.codes.iter();
        assert!(codes.clone().all(|code| code.wrong <= POLICY.wrong_max));
        let limits = LIMITS[1];
        let most =
            |free: u32| u64::from(free) * (1 + passed / limits.window) + passed / limits.pause;
        let count = |what: What| {
            let history = self.model.history.iter();
            history.filter(|one| one.what == what).count() as u64
        };
        assert!(count(What::Sent { lost: false }) <= most(limits.sends));
        assert!(count(What::Wrong) <= most(limits.wrong));
    }

    /// After the longest pause a code is sent, and accepted.
    fn check_way_out(&self, codes: &[String]) {
        let mut out = self.clone();
        out.now += PAUSE;
        let place = out.model.codes.len();
        let sent = out.drive(&OtpEvent::Send, place);
        assert!(matches!(sent, OtpOutcome::Deliver { .. }), "{sent:?}");
        let entered = out.drive(&OtpEvent::Enter(codes[place].as_str().into()), 0);
        assert_eq!(entered, OtpOutcome::Accepted);
    }
}

fn judged_as(outcome: OtpOutcome) -> Judged {
    match outcome {
        OtpOutcome::Accepted => Judged::Accepted,
        OtpOutcome::Wrong { left } => Judged::Wrong { left },
        OtpOutcome::Refused(refusal) => Judged::Refused(refusal),
        other => panic!("{other:?}"),
    }
}

fn seed(place: usize) -> [u8; 32] {
    [place as u8 + 1; 32]
}

/// The codes that are made, by their places.
fn codes() -> Vec<String> {
    let code = |place| {
        let mut node = Node::start();
        match node.drive(&OtpEvent::Send, place) {
            OtpOutcome::Deliver { code, .. } => code.expose().to_owned(),
            other => panic!("{other:?}"),
        }
    };
    let codes: Vec<String> = (0..=EVENTS_MAX).map(code).collect();
    let mut distinct = codes.clone();
    distinct.push(STRANGE.to_owned());
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), codes.len() + 1);
    codes
}

/// Walks on from a node; returns the number of paths.
fn walk(node: &Node, path: &mut Vec<Step>, codes: &[String]) -> u64 {
    let mut paths = 1;
    for step in STEPS {
        let mut next = node.clone();
        path.push(step);
        if next.take(step, codes).is_some() {
            next.check_bounds();
            next.check_way_out(codes);
            if path.len() < EVENTS_MAX {
                paths += walk(&next, path, codes);
            } else {
                paths += 1;
            }
        }
        path.pop();
    }
    paths
}

#[test]
fn every_path_of_eight_events_does_as_the_model_and_none_ends_without_a_way_out() {
    let codes = codes();
    let walks = STEPS
        .into_iter()
        .flat_map(|first| STEPS.map(|second| [first, second]));
    let walks: Vec<[Step; 2]> = walks.collect();
    let halves = walks.chunks(walks.len().div_ceil(2));
    let paths: u64 = std::thread::scope(|scope| {
        let walking: Vec<_> = halves
            .map(|half| {
                scope.spawn(|| {
                    half.iter()
                        .map(|begin| walk_from(begin, &codes))
                        .sum::<u64>()
                })
            })
            .collect();
        walking.into_iter().map(|half| half.join().unwrap()).sum()
    });
    // Steps that can't come are left out: losing a code twice or before there is one, entering one that was never
    // delivered. The rest is counted, so that no change leaves out more.
    assert_eq!(paths, 700_868);
}

fn walk_from(begin: &[Step], codes: &[String]) -> u64 {
    let (mut node, mut path) = (Node::start(), Vec::new());
    for step in begin {
        path.push(*step);
        if node.take(*step, codes).is_none() {
            return 0;
        }
        node.check_bounds();
        node.check_way_out(codes);
    }
    walk(&node, &mut path, codes)
}
