//! Tests of the witness protocol, with the examples of the specification.

use super::*;
use proptest::prelude::*;
use selfsame_crypto::{KeyType, PrivateKey};

use crate::note::cosigned;

const EXAMPLE: &str = include_str!("../../vectors/witness-example.txt");
const ORIGIN: &str = "registry.example/main";
const NOW: UnixTime = UnixTime(1_800_000_000);

/// The part of the vector that begins with this line.
fn part(name: &str) -> &'static str {
    let begin = format!("---- {name}\n");
    let after = EXAMPLE.split_once(&begin).unwrap().1;
    after.split("---- ").next().unwrap()
}

fn checkpoint(size: u64) -> SignedNote {
    let log = PrivateKey::generate(KeyType::Ed25519).unwrap();
    let key = VerifierKey::new(ORIGIN, log.public()).unwrap();
    let checkpoint = Checkpoint {
        origin: ORIGIN.to_owned(),
        size,
        root: [7; 32],
        extensions: vec!["height 3".to_owned()],
    };
    let mut note = checkpoint.to_note().unwrap();
    let signature = log.sign(note.signing_bytes()).unwrap();
    note.sign(&key, signature).unwrap();
    note
}

struct Witness(VerifierKey, PrivateKey);

impl Witness {
    fn new(name: &str) -> Self {
        let private = PrivateKey::generate(KeyType::Ed25519).unwrap();
        let key = VerifierKey::witness(name, private.public()).unwrap();
        Self(key, private)
    }

    /// The witness's answer for this note at this time.
    fn answer(&self, note: &SignedNote, time: UnixTime) -> String {
        let text = std::str::from_utf8(note.signing_bytes()).unwrap();
        let signature = self.1.sign(&cosigned(text, time).unwrap()).unwrap();
        let mut alone = SignedNote::new(text.to_owned()).unwrap();
        let bytes = [time.0.to_be_bytes().as_slice(), &signature].concat();
        alone.sign(&self.0, bytes).unwrap();
        let written = alone.to_string();
        written.rsplit_once("\n\n").unwrap().1.to_owned()
    }
}

#[test]
fn the_call_of_the_specification_is_read_and_written_as_it_was() {
    let body = part("call");
    let call = AddCheckpoint::parse(body).unwrap();
    assert_eq!((call.old(), call.proof().len()), (20_852_014, 4));
    let checkpoint = Checkpoint::parse(call.note().text()).unwrap();
    assert_eq!(checkpoint.origin, "example.com/behind-the-sofa");
    assert_eq!(checkpoint.size, 20_852_163);
    assert_eq!(call.to_string(), body);
    let again = AddCheckpoint::new(call.old(), call.proof().to_vec(), call.note().clone());
    assert_eq!(again, Ok(call));
}

#[test]
fn the_answer_of_the_specification_is_read_and_strangers_in_it_are_left_out() {
    let lines = signatures(part("answer")).unwrap();
    assert_eq!(lines.len(), 3);
    let (stranger, mut note) = (Witness::new("witness.example/w1"), checkpoint(7));
    let plain = note.clone();
    let taken = take_cosignature(&mut note, part("answer"), &stranger.0, NOW);
    assert_eq!(taken, Err(ProofError::Untrusted));
    assert_eq!(note, plain);
}

#[test]
fn a_witness_that_answers_has_its_cosignature_in_the_note() {
    let (witness, other, mut note) = (Witness::new("w/1"), Witness::new("w/2"), checkpoint(7));
    let answer = [other.answer(&note, NOW), witness.answer(&note, NOW)].concat();
    let taken = take_cosignature(&mut note, &answer, &witness.0, NOW);
    assert_eq!(taken, Ok(NOW));
    let keys = [witness.0, other.0];
    let read = SignedNote::parse(&note.to_string()).unwrap();
    let signers = read.signers(&keys).unwrap();
    assert_eq!(signers.len(), 1, "the other's was not asked for");
    assert_eq!((signers[0].key, signers[0].time), (&keys[0], Some(NOW)));
}

#[test]
fn of_two_cosignatures_of_one_witness_the_later_is_taken() {
    let (witness, mut note) = (Witness::new("w/1"), checkpoint(7));
    let times = [NOW.minus(5), NOW, NOW.minus(9)];
    let answer = times.map(|time| witness.answer(&note, time)).concat();
    let taken = take_cosignature(&mut note, &answer, &witness.0, NOW);
    assert_eq!(taken, Ok(NOW));
}

#[test]
fn what_is_signed_for_another_note_by_another_key_or_at_no_time_is_not_taken() {
    let (witness, note) = (Witness::new("w/1"), checkpoint(7));
    let namesake = Witness::new("w/1");
    let malformed = ProofError::Witness("the time of the cosignature is 0 or in the future");
    for (answer, error) in [
        (
            witness.answer(&checkpoint(8), NOW),
            ProofError::BadSignature,
        ),
        (namesake.answer(&note, NOW), ProofError::Untrusted),
        (witness.answer(&note, UnixTime(0)), malformed.clone()),
        (witness.answer(&note, NOW.plus(1)), malformed),
        // A valid line does not compensate for an invalid one.
        (
            witness.answer(&note, NOW) + &witness.answer(&checkpoint(8), NOW),
            ProofError::BadSignature,
        ),
    ] {
        let mut shown = note.clone();
        let taken = take_cosignature(&mut shown, &answer, &witness.0, NOW);
        assert_eq!(taken, Err(error));
        assert_eq!(shown, note);
    }
}

#[test]
fn the_key_of_a_log_is_no_witness() {
    let log = PrivateKey::generate(KeyType::Ed25519).unwrap();
    let key = VerifierKey::new("w/1", log.public()).unwrap();
    let mut note = checkpoint(7);
    let mut alone = SignedNote::new(note.text().to_owned()).unwrap();
    alone
        .sign(&key, log.sign(note.signing_bytes()).unwrap())
        .unwrap();
    let answer = alone.to_string().rsplit_once("\n\n").unwrap().1.to_owned();
    let taken = take_cosignature(&mut note, &answer, &key, NOW);
    assert!(matches!(taken, Err(ProofError::Witness(_))));
}

#[test]
fn malformed_answers_are_refused() {
    let (witness, note) = (Witness::new("w/1"), checkpoint(7));
    let good = witness.answer(&note, NOW);
    let bad = [
        String::new(),
        "\n".to_owned(),
        good.trim_end().to_owned(),
        format!("{good}\n"),
        format!("\n{good}"),
        good.replace('\n', "\r\n"),
        good.repeat(MAX_LINES + 1),
        "x".repeat(MAX_ANSWER_BYTES) + "\n",
    ];
    for answer in bad {
        let mut shown = note.clone();
        let taken = take_cosignature(&mut shown, &answer, &witness.0, NOW);
        assert!(
            matches!(taken, Err(ProofError::Witness(_) | ProofError::Note(_))),
            "{answer:?}"
        );
        assert_eq!(shown, note);
    }
    assert_eq!(parse_size("0\n"), Ok(0));
    assert_eq!(parse_size("20852163\n"), Ok(20_852_163));
    for size in ["", "\n", "7", "07\n", "7\n\n", " 7\n", "+7\n", "7\r\n"] {
        assert!(parse_size(size).is_err(), "{size:?}");
    }
}

#[test]
fn malformed_calls_are_refused() {
    let note = checkpoint(7).to_string();
    let line = base64_encode(&[1; 32]);
    let good = format!("old 3\n{line}\n\n{note}");
    assert_eq!(AddCheckpoint::parse(&good).unwrap().to_string(), good);
    let longest = format!("old 3\n{}\n{note}", format!("{line}\n").repeat(MAX_PROOF));
    assert!(AddCheckpoint::parse(&longest).is_ok());
    for body in [
        String::new(),
        note.clone(),
        format!("old 03\n\n{note}"),
        format!("old  3\n\n{note}"),
        format!("old -3\n\n{note}"),
        format!("old 18446744073709551616\n\n{note}"),
        format!("Old 3\n\n{note}"),
        format!("{line}\nold 3\n\n{note}"),
        format!("old 3\n{line}\n{note}"),
        format!("old 3\n{line}\n\n\n{note}"),
        format!("old 3\n{}\n\n{note}", base64_encode(&[1; 31])),
        format!("old 3\n{}\n\n{note}", line.trim_end_matches('=')),
        format!("old 3\n{line}\r\n\n{note}"),
        format!(
            "old 3\n{}\n{note}",
            format!("{line}\n").repeat(MAX_PROOF + 1)
        ),
        format!("old 3\n\n{}", note.trim_end()),
        "old 3\n\nno checkpoint\n\n\u{2014} a AAAAAAAA\n".to_owned(),
    ] {
        assert!(AddCheckpoint::parse(&body).is_err(), "{body:?}");
    }
    let proof = vec![[0; 32]; MAX_PROOF + 1];
    assert!(AddCheckpoint::new(3, proof, checkpoint(7)).is_err());
}

proptest! {
    #[test]
    fn any_call_has_one_form(old: u64, proof in prop::collection::vec(any::<Hash>(), 0..=MAX_PROOF)) {
        let call = AddCheckpoint::new(old, proof, checkpoint(7)).unwrap();
        let body = call.to_string();
        prop_assert!(body.len() <= MAX_CALL_BYTES);
        prop_assert_eq!(AddCheckpoint::parse(&body), Ok(call));
    }

    #[test]
    fn any_text_is_a_call_in_one_form_or_refused(text in "(old 0|old 7|\n|AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=|a\n0\n|\u{2014} a AAAAAAAA\n|\\PC){0,20}") {
        if let Ok(call) = AddCheckpoint::parse(&text) {
            prop_assert_eq!(call.to_string(), text);
        }
    }
}
