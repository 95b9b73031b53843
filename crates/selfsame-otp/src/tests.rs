//! Codes that are sent: every path of events against a small model, and what the paths do not show.

mod model;
mod paths;

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::time::UnixTime;

use crate::sent::*;
use crate::{AllowanceLimits, OtpAllowance};

fn at(seconds: u64) -> Ctx {
    Ctx::new(UnixTime(1_000_000 + seconds), [7; 32])
}

/// A sign-in of one person from one network.
struct World {
    codes: OtpRecord,
    meters: [OtpMeter; 3],
}

impl World {
    fn new() -> Self {
        let meter = |limits| OtpMeter {
            used: OtpAllowance::default(),
            limits,
        };
        let limits = [
            AllowanceLimits::PAIR,
            AllowanceLimits::ACCOUNT,
            AllowanceLimits::ADDRESS,
        ];
        Self {
            codes: OtpRecord::default(),
            meters: limits.map(meter),
        }
    }

    fn step(&mut self, event: &OtpEvent, ctx: &Ctx) -> OtpOutcome {
        let mut records = OtpRecords {
            bound_to: "sign-in",
            codes: &mut self.codes,
            meters: &mut self.meters,
        };
        records.step(event, &OtpPolicy::default(), ctx)
    }

    fn enter(&mut self, code: &str, seconds: u64) -> OtpOutcome {
        self.step(&OtpEvent::Enter(code.into()), &at(seconds))
    }

    fn send(&mut self, seconds: u64) -> Result<String, OtpRefusal> {
        match self.step(&OtpEvent::Send, &at(seconds)) {
            OtpOutcome::Deliver { code, .. } => Ok(code.expose().to_owned()),
            OtpOutcome::Refused(refusal) => Err(refusal),
            other => panic!("{other:?}"),
        }
    }
}

fn other_than(code: &str) -> &'static str {
    if code == "000000" { "000001" } else { "000000" }
}

#[test]
fn a_code_is_sent_again_after_a_wrong_one_and_works() {
    let mut world = World::new();
    let first = world.send(0).unwrap();
    assert_eq!(
        world.enter(other_than(&first), 1),
        OtpOutcome::Wrong { left: 2 }
    );
    let again = world.send(2).unwrap();
    assert_eq!(world.enter(&again, 3), OtpOutcome::Accepted);
    assert_eq!(
        world.enter(&again, 4),
        OtpOutcome::Refused(OtpRefusal::Used)
    );
}

#[test]
fn what_is_not_six_digits_is_no_guess() {
    let mut world = World::new();
    let code = world.send(0).unwrap();
    for _ in 0..100 {
        let refused = OtpOutcome::Refused(OtpRefusal::NotDigits);
        assert_eq!(world.enter("12345", 1), refused);
    }
    assert_eq!(world.enter(&format!(" {code} "), 1), OtpOutcome::Accepted);
}

#[test]
fn after_five_codes_in_an_hour_each_further_one_costs_five_minutes() {
    let mut world = World::new();
    for _ in 0..5 {
        world.send(0).unwrap();
    }
    assert_eq!(world.send(10), Err(OtpRefusal::Pause { seconds: 290 }));
    // The last of them is accepted meanwhile.
    world.send(300).unwrap();
    assert_eq!(world.send(301), Err(OtpRefusal::Pause { seconds: 299 }));
    for _ in 0..5 {
        world.send(3_600).unwrap();
    }
    assert!(world.send(3_600).is_err());
}

#[test]
fn guesses_at_an_account_are_bounded_however_many_networks_they_come_from() {
    let mut world = World::new();
    let (mut guesses, mut now) = (0, 0);
    while now < 86_400 {
        // Each guess comes from another network and another address.
        let fresh = World::new().meters;
        (world.meters[0], world.meters[2]) = (fresh[0], fresh[2]);
        let code = match world.send(now) {
            Ok(code) => code,
            Err(OtpRefusal::Pause { seconds }) => {
                now += seconds;
                continue;
            }
            Err(other) => panic!("{other:?}"),
        };
        for _ in 0..3 {
            if let OtpOutcome::Wrong { .. } = world.enter(other_than(&code), now) {
                guesses += 1;
            }
        }
    }
    // One in a million each: less than one in a thousand a day.
    assert!((500..1_000).contains(&guesses), "{guesses}");
}

#[test]
fn a_code_that_did_not_leave_counts_for_nothing_and_the_one_before_is_accepted() {
    let mut world = World::new();
    let first = world.send(0).unwrap();
    let before = world.meters;
    for _ in 0..100 {
        let sent = world.step(&OtpEvent::Send, &Ctx::new(at(1).now(), [8; 32]));
        let OtpOutcome::Deliver { number, .. } = sent else {
            panic!("{sent:?}");
        };
        let withdrawn = world.step(&OtpEvent::NotDelivered(number), &at(1));
        assert_eq!(withdrawn, OtpOutcome::Withdrawn);
    }
    assert_eq!(world.meters, before);
    assert_eq!(world.enter(&first, 2), OtpOutcome::Accepted);
}

#[test]
fn a_digest_is_of_no_use_for_another_sign_in() {
    let mut world = World::new();
    let code = world.send(0).unwrap();
    let mut records = OtpRecords {
        bound_to: "another",
        codes: &mut world.codes,
        meters: &mut world.meters,
    };
    let outcome = records.step(&OtpEvent::Enter(code.into()), &OtpPolicy::default(), &at(1));
    assert_eq!(outcome, OtpOutcome::Wrong { left: 2 });
}
