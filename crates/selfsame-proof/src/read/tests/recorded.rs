//! Two recorded reads through two changes of validators: they verify offline, and with any bit flipped they do not.

use std::fmt::Write as _;

use selfsame_crypto::encoding::{base64_decode, base64_encode};

use super::*;
use crate::entries::ProvenEntries;
use crate::validators::STATE_KEY;

const RECORDED: &str = include_str!("../../../vectors/read-two-handovers.txt");
const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/vectors/read-two-handovers.txt"
);

/// The record made with fixed keys, in lines.
fn record() -> String {
    let world = World::new();
    let mut text = "# Reads of a registry whose validators changed at heights 10 and 20 (docs/registry.md).\n\
        # `trust` is the trust root pinned with the genesis; `present` and `absent` are read bundles\n\
        # that verify from it at the time `now`; `log` is an answer with the transactions 1 and 3;\n\
        # base64. Each checkpoint has the least signatures that are enough, so that no bit of a bundle\n\
        # can change.\n\
        # Source: this project; keys are Ed25519 with SHA-256 of the signer's name as seed. Written by\n\
        # `cargo test -p selfsame-proof write_the_vector_of_reads -- --ignored`.\n"
        .to_owned();
    writeln!(text, "now {NOW}").unwrap();
    writeln!(text, "trust {}", base64_encode(&world.genesis().to_bytes())).unwrap();
    for (name, bundle) in [("present", world.present()), ("absent", world.absent())] {
        let key = base64_encode(&bundle.key);
        writeln!(text, "{name} {key} {}", base64_encode(&bundle.to_bytes())).unwrap();
    }
    let entries = world.entries(&[(1, 1), (3, 10)]).to_bytes();
    writeln!(text, "log {}", base64_encode(&entries)).unwrap();
    text
}

/// The words of the line with this name.
fn line(name: &str) -> Vec<&str> {
    let mut lines = RECORDED
        .lines()
        .map(|line| line.split(' ').collect::<Vec<_>>());
    lines.find(|words| words[0] == name).unwrap()
}

fn trust() -> TrustRoot {
    TrustRoot::from_bytes(&base64_decode(line("trust")[1]).unwrap()).unwrap()
}

fn bundles() -> Vec<(Vec<u8>, Vec<u8>)> {
    let bundle = |name| {
        let words = line(name);
        (
            base64_decode(words[1]).unwrap(),
            base64_decode(words[2]).unwrap(),
        )
    };
    vec![bundle("present"), bundle("absent")]
}

#[test]
#[ignore = "writes the vector"]
fn write_the_vector_of_reads() {
    std::fs::write(FILE, record()).unwrap();
}

#[test]
fn the_recorded_reads_are_what_fixed_keys_give() {
    assert_eq!(RECORDED, record());
}

#[test]
fn the_recorded_reads_verify_offline() {
    let now = UnixTime(line("now")[1].parse().unwrap());
    let values = bundles().into_iter().map(|(key, bytes)| {
        let bundle = Bundle::from_bytes(&bytes).unwrap();
        let question = Question {
            key: &key,
            policy: &policy(),
            now,
        };
        let report = judge(&bundle, &question, &trust());
        assert!(report.is_verified(), "{report:?}");
        assert_eq!(
            report
                .rules
                .iter()
                .filter(|rule| rule.name == "handover")
                .count(),
            2
        );
        bundle.value
    });
    assert_eq!(values.collect::<Vec<_>>(), [Some(OBJECT.to_vec()), None]);
}

/// The proven transactions of an answer with transactions 1 and 3.
fn logged(bytes: &[u8]) -> Option<Vec<(u64, Vec<u8>)>> {
    let answer = ProvenEntries::from_bytes(bytes).ok()?;
    let policy = ReadPolicy {
        max_age: None,
        ..policy()
    };
    let question = Question {
        key: STATE_KEY,
        policy: &policy,
        now: UnixTime(NOW),
    };
    let report = judge(&answer.bundle, &question, &trust());
    let standing = report.is_verified().then_some(report.as_of)??;
    let entries = answer.judged(&[1, 3], &standing).ok()?;
    let proven = entries
        .into_iter()
        .map(|entry| (entry.seq_no, entry.transaction));
    Some(proven.collect())
}

#[test]
fn the_recorded_transactions_verify_offline_and_no_flipped_bit_makes_them_others() {
    let bytes = base64_decode(line("log")[1]).unwrap();
    let whole = logged(&bytes).unwrap();
    let heights = [1_u64, 10].map(|height| height.to_be_bytes().to_vec());
    assert!(
        whole
            .iter()
            .map(|(_, transaction)| transaction)
            .eq(&heights)
    );
    let mut unproven = 0;
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        if let Some(read) = logged(&flipped) {
            assert_eq!(read, whole, "bit {bit}");
            unproven += 1;
        }
    }
    // Height and time of an entry, which the proof does not cover: one or two bytes, and four.
    assert!((1..=2 * 6 * 8).contains(&unproven), "{unproven}");
}

#[test]
fn every_flipped_bit_of_the_recorded_reads_is_refused() {
    let trust = trust();
    // A flipped bit is refused even without limits on time.
    let policy = ReadPolicy {
        max_age: None,
        ..policy()
    };
    let (mut judged, mut before): (_, Vec<u8>) = (0, vec![]);
    for (key, bytes) in bundles() {
        let question = Question {
            key: &key,
            policy: &policy,
            now: UnixTime(NOW),
        };
        // Both end with the handovers.
        let ends = bytes.iter().rev().zip(before.iter().rev());
        let same = ends.take_while(|(a, b)| a == b).count();
        for bit in 0..(bytes.len() - same) * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let Ok(bundle) = Bundle::from_bytes(&flipped) else {
                continue;
            };
            let report = judge(&bundle, &question, &trust);
            assert!(
                report.outcome >= ReadOutcome::Untrusted,
                "bit {bit}: {report:?}"
            );
            judged += 1;
        }
        before = bytes;
    }
    assert!(judged > 10_000, "{judged} of the flips were read at all");
}
