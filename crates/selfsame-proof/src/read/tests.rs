//! Reads in a network whose validators change, and every kind of forgery.

use proptest::prelude::*;
use selfsame_crypto::PrivateKey;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;

use super::*;
use crate::checkpoint::Standing;
use crate::log::{Hash, LogRead as _};
use crate::note::VerifierKey;
use crate::validators::STATE_KEY;

mod forks;
mod recorded;
mod world;

use world::{KEY, NOW, OBJECT, World, asked, policy, private};

fn outcome(bundle: &Bundle, world: &World) -> ReadOutcome {
    judge(bundle, &asked(&policy()), &world.genesis()).outcome
}

/// The result of a rule.
fn rule(report: &ReadReport, name: &str) -> Option<bool> {
    report
        .rules
        .iter()
        .find(|rule| rule.name == name)
        .unwrap()
        .passed
}

#[test]
fn a_read_through_two_changes_of_validators_verifies() {
    let world = World::new();
    for (bundle, key) in [(world.present(), KEY), (world.absent(), b"did/none")] {
        let policy = policy();
        let question = Question {
            key,
            ..asked(&policy)
        };
        let report = judge(&bundle, &question, &world.genesis());
        assert!(report.is_verified(), "{report:?}");
        assert_eq!(report.as_of, Some(world.standing));
        assert_eq!(report.signers, ["v1", "v2"]);
        let trust = report.trust.unwrap();
        assert_eq!((trust.from_height, trust.seen), (21, Some(world.standing)));
        // No handover is needed from now on, and the trust root can be stored.
        let trust = TrustRoot::from_bytes(&trust.to_bytes()).unwrap();
        let short = Bundle {
            handovers: vec![],
            ..bundle
        };
        assert!(judge(&short, &question, &trust).is_verified());
        let bytes = short.to_bytes();
        assert_eq!(Bundle::from_bytes(&bytes), Ok(short));
    }
}

#[test]
fn two_neighbours_prove_every_key_between_them_absent_and_themselves_not() {
    let world = World::new();
    let shown_absent = |key: &[u8]| {
        let (key, policy) = (key.to_vec(), policy());
        let bundle = Bundle {
            key: key.clone(),
            ..world.absent()
        };
        let question = Question {
            key: &key,
            ..asked(&policy)
        };
        judge(&bundle, &question, &world.genesis()).is_verified()
    };
    // Both places lie between those of `validators` and `schema/1`.
    assert!(shown_absent(b"did/none") && shown_absent(b"did/~one"));
    assert!(!shown_absent(STATE_KEY) && !shown_absent(b"schema/1"));
    assert!(!shown_absent(KEY), "its place is elsewhere");
}

#[test]
fn a_missing_or_swapped_handover_is_refused() {
    let world = World::new();
    let good = world.present();
    let [first, second] = &good.handovers[..] else {
        panic!()
    };
    for handovers in [
        vec![],
        vec![first.clone()],
        vec![second.clone()],
        vec![second.clone(), first.clone()],
    ] {
        let bad = Bundle {
            handovers,
            ..good.clone()
        };
        assert_eq!(outcome(&bad, &world), ReadOutcome::Untrusted);
    }
}

#[test]
fn handovers_that_lead_to_what_is_known_are_passed_over() {
    let world = World::new();
    let bundle = world.present();
    let first = world.genesis().after(&bundle.handovers[0]).unwrap();
    let second = first.after(&bundle.handovers[1]).unwrap();
    for (trust, known) in [(world.genesis(), 0), (first, 1), (second, 2)] {
        let report = judge(&bundle, &asked(&policy()), &trust);
        assert!(report.is_verified(), "{report:?}");
        let passed_over = |rule: &&ReadRule| rule.name == "handover" && rule.passed.is_none();
        assert_eq!(report.rules.iter().filter(passed_over).count(), known);
    }
}

#[test]
fn two_thirds_of_the_power_are_not_enough() {
    let world = World::new();
    // Of the last set, v1 has 6 of 10, v2 has 1, v3 has 1, v5 has 2.
    for (signers, expected) in [
        (&["v1", "v2"][..], ReadOutcome::Verified),
        (&["v1", "v5"], ReadOutcome::Verified),
        (&["v1", "v2", "v3", "v5"], ReadOutcome::Verified),
        (&["v1"], ReadOutcome::Untrusted),
        (&["v2", "v3", "v5"], ReadOutcome::Untrusted),
        // Former validators do not count, and repeated signatures count once.
        (&["v1", "v4"], ReadOutcome::Untrusted),
        (&["v1", "v1"], ReadOutcome::Untrusted),
    ] {
        let note = world.note(&world.standing, signers);
        let bundle = Bundle {
            note,
            ..world.present()
        };
        assert_eq!(outcome(&bundle, &world), expected, "{signers:?}");
    }
}

#[test]
fn a_wrong_signature_of_a_validator_is_a_forgery_even_beside_a_quorum() {
    let world = World::new();
    let elsewhere = Standing {
        height: 31,
        ..world.standing
    };
    let other = world.note(&elsewhere, &["v5"]);
    let stolen = other.lines().last().unwrap();
    let note = world.note(&world.standing, &["v1", "v2"]) + stolen + "\n";
    let report = judge(
        &Bundle {
            note,
            ..world.present()
        },
        &asked(&policy()),
        &world.genesis(),
    );
    assert_eq!(report.outcome, ReadOutcome::Forged);
    assert_eq!(rule(&report, "quorum"), Some(false));
}

#[test]
fn validators_judge_no_height_before_they_are_named() {
    let world = World::new();
    for (height, expected) in [(20, ReadOutcome::Untrusted), (21, ReadOutcome::Verified)] {
        let standing = Standing {
            height,
            ..world.standing
        };
        let note = world.note(&standing, &["v1", "v2"]);
        let bundle = Bundle {
            note,
            ..world.present()
        };
        assert_eq!(outcome(&bundle, &world), expected, "{height}");
    }
}

#[test]
fn another_object_key_network_or_state_is_a_forgery() {
    let world = World::new();
    let good = world.present();
    let absent = world.absent();
    let of_another_state = Standing {
        state: [9; 32],
        ..world.standing
    };
    let elsewhere = world.note(&world.standing, &["v1", "v2"]);
    for (bad, rule_broken) in [
        (
            Bundle {
                value: Some(b"another".to_vec()),
                ..good.clone()
            },
            "value",
        ),
        (
            Bundle {
                value: None,
                ..good.clone()
            },
            "value",
        ),
        (
            Bundle {
                proof: absent.proof.clone(),
                ..good.clone()
            },
            "value",
        ),
        (
            Bundle {
                value: None,
                proof: absent.proof.clone(),
                ..good.clone()
            },
            "value",
        ),
        (absent, "key"),
        (
            Bundle {
                note: world.note(&of_another_state, &["v1", "v2"]),
                ..good.clone()
            },
            "value",
        ),
        (
            Bundle {
                note: elsewhere.replace("example/main", "example/test"),
                ..good.clone()
            },
            "network",
        ),
        (
            Bundle {
                note: "no note".to_owned(),
                ..good.clone()
            },
            "quorum",
        ),
    ] {
        let report = judge(&bad, &asked(&policy()), &world.genesis());
        assert_eq!(report.outcome, ReadOutcome::Forged, "{report:?}");
        assert_eq!(rule(&report, rule_broken), Some(false), "{report:?}");
        assert_eq!(report.trust, None);
    }
}

#[test]
fn a_handover_that_proves_another_set_is_a_forgery() {
    let world = World::new();
    let mut bundle = world.present();
    bundle.handovers[1].set = bundle.handovers[0].set.clone();
    assert_eq!(outcome(&bundle, &world), ReadOutcome::Forged);
    let mut bundle = world.present();
    bundle.handovers[1].proof = world.absent().proof;
    assert_eq!(outcome(&bundle, &world), ReadOutcome::Forged);
}

#[test]
fn an_answer_is_as_old_as_its_checkpoint_and_no_older_than_what_was_seen() {
    let world = World::new();
    let bundle = world.present();
    let strict = policy();
    let forever = ReadPolicy {
        max_age: None,
        ..policy()
    };
    for (now, policy, broken) in [
        (NOW, &strict, None),
        (NOW + 30, &strict, None),
        (NOW + 31, &strict, Some("age")),
        (NOW + 1_000_000_000, &forever, None),
        (NOW - 60 - 10, &strict, None),
        (NOW - 60 - 11, &strict, Some("future")),
    ] {
        let question = Question {
            now: UnixTime(now),
            ..asked(policy)
        };
        let report = judge(&bundle, &question, &world.genesis());
        let failed = report.rules.iter().find(|rule| rule.passed == Some(false));
        assert_eq!(failed.map(|rule| rule.name), broken, "{now}");
        let expected = if broken.is_some() {
            ReadOutcome::Untimely
        } else {
            ReadOutcome::Verified
        };
        assert_eq!(
            (report.outcome, report.as_of),
            (expected, Some(world.standing))
        );
    }
    let later = Standing {
        height: 31,
        ..world.standing
    };
    let trust = TrustRoot {
        seen: Some(later),
        ..world.genesis()
    };
    let report = judge(&bundle, &asked(&strict), &trust);
    assert_eq!(
        (report.outcome, rule(&report, "rollback")),
        (ReadOutcome::Untimely, Some(false))
    );
}

#[test]
fn a_second_history_is_noticed_against_the_checkpoint_seen() {
    let world = World::new();
    for seen in [
        Standing {
            state: [1; 32],
            ..world.standing
        },
        Standing {
            log: [1; 32],
            ..world.standing
        },
        Standing {
            log: [1; 32],
            height: 29,
            ..world.standing
        },
        Standing {
            size: world.standing.size + 1,
            height: 29,
            ..world.standing
        },
        Standing {
            time: UnixTime(NOW),
            height: 29,
            ..world.standing
        },
    ] {
        let trust = TrustRoot {
            seen: Some(seen),
            ..world.genesis()
        };
        let report = judge(&world.present(), &asked(&policy()), &trust);
        assert_eq!(report.outcome, ReadOutcome::Forged, "{seen:?}");
        assert_eq!(rule(&report, "fork"), Some(false));
    }
}

#[test]
fn as_many_witnesses_as_the_policy_asks_for_must_have_signed() {
    let world = World::new();
    let key = |name: &str| VerifierKey::witness(name, private(name).public()).unwrap();
    let all = [key("w1.example"), key("w2.example"), key("w3.example")];
    let signed = |times: &[(&str, u64)]| {
        let mut bundle = world.present();
        for (name, time) in times {
            bundle.note = world::witnessed(&bundle.note, name, UnixTime(*time));
        }
        bundle
    };
    let judged = |bundle: &Bundle, needed| {
        let policy = ReadPolicy {
            witnesses: all.to_vec(),
            witnesses_needed: needed,
            ..policy()
        };
        judge(bundle, &asked(&policy), &world.genesis())
    };
    let two = signed(&[
        ("w1.example", NOW),
        ("w3.example", NOW - 5),
        ("w1.example", NOW - 9),
    ]);
    let report = judged(&two, 2);
    assert!(report.is_verified(), "{report:?}");
    let named = |name: &str, time| (name.to_owned(), UnixTime(time));
    assert_eq!(
        report.witnesses,
        [named("w1.example", NOW), named("w3.example", NOW - 5)]
    );
    assert_eq!(judged(&two, 3).outcome, ReadOutcome::Untrusted);
    assert!(judged(&world.present(), 0).is_verified());
    // Times beyond the clock skew do not count; neither do unknown witnesses.
    let late = signed(&[
        ("w1.example", NOW),
        ("w2.example", NOW + 11),
        ("w4.example", NOW),
    ]);
    assert_eq!(judged(&late, 2).outcome, ReadOutcome::Untrusted);
    // An invalid witness signature is a forgery, even if no witness is required.
    let moved = two.note.replacen("height 30", "height 31", 1);
    assert_ne!(moved, two.note);
    let line = two.note.lines().last().unwrap().to_owned() + "\n";
    let other = Standing {
        height: 31,
        ..world.standing
    };
    let note = world.note(&other, &["v1", "v2"]) + &line;
    assert_eq!(
        judged(&Bundle { note, ..two }, 0).outcome,
        ReadOutcome::Forged
    );
}

#[test]
fn bundles_and_trust_roots_beyond_their_limits_are_refused() {
    let world = World::new();
    let good = world.present();
    let many = Bundle {
        handovers: vec![good.handovers[0].clone(); MAX_HANDOVERS + 1],
        ..good.clone()
    };
    assert_eq!(
        Bundle::from_bytes(&many.to_bytes()),
        Err(Malformed("a bundle has at most 64 handovers"))
    );
    let long = Bundle {
        value: Some(vec![0; MAX_BUNDLE_BYTES]),
        ..good
    };
    assert_eq!(
        Bundle::from_bytes(&long.to_bytes()),
        Err(Malformed("a bundle is too long"))
    );
}

proptest! {
    #[test]
    fn any_bytes_are_a_bundle_or_a_trust_root_in_one_form_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(bundle) = Bundle::from_bytes(&bytes) {
            prop_assert_eq!(bundle.to_bytes(), &bytes[..]);
        }
        if let Ok(trust) = TrustRoot::from_bytes(&bytes) {
            prop_assert_eq!(trust.to_bytes(), bytes);
        }
    }
}
