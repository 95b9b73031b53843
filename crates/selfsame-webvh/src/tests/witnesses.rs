//! Witnesses approve entries, and a log without enough approval ends before the entry that lacks it.

use selfsame_crypto::PrivateKey;
use serde_json::{Value, json};

use super::kit::{Logbook, did_key, first, key, now, proof, set};
use crate::LogReading;

fn witness(threshold: usize, keys: &[&PrivateKey]) -> Value {
    let ids: Vec<Value> = keys.iter().map(|key| json!({"id": did_key(key)})).collect();
    json!({"threshold": threshold, "witnesses": ids})
}

/// The part of the file for one version.
fn part(version_id: &str, keys: &[&PrivateKey]) -> Value {
    let signed = json!({ "versionId": version_id });
    let proofs: Vec<Value> = keys.iter().map(|key| proof(&signed, key, |_| {})).collect();
    json!({"versionId": version_id, "proof": proofs})
}

fn judged(book: &Logbook, file: &Value) -> Option<(&'static str, u64)> {
    let reading = book.read();
    assert!(reading.needs_witnesses());
    fault(&reading.witnessed(Some(file.to_string().as_bytes()), now()))
}

fn fault(reading: &LogReading) -> Option<(&'static str, u64)> {
    reading
        .fault()
        .map(|error| (error.fault.code(), error.entry))
}

struct Three {
    author: PrivateKey,
    witnesses: [PrivateKey; 3],
    book: Logbook,
}

/// Three entries, of which all must be approved by two of three.
fn three() -> Three {
    let author = key();
    let witnesses = [key(), key(), key()];
    let [a, b, c] = &witnesses;
    let mut parameters = first(&author);
    parameters["witness"] = witness(2, &[a, b, c]);
    let mut book = Logbook::new(&parameters, &author);
    book.add(&json!({}), &author);
    book.add(&json!({}), &author);
    Three {
        author,
        witnesses,
        book,
    }
}

#[test]
fn a_threshold_of_distinct_witnesses_approves_an_entry_and_those_before_it() {
    let Three {
        witnesses, book, ..
    } = three();
    let [a, b, c] = &witnesses;
    let id = |number| book.version_id(number);
    assert_eq!(judged(&book, &json!([part(&id(3), &[a, b])])), None);
    let both = json!([part(&id(3), &[c]), part(&id(3), &[a])]);
    assert_eq!(judged(&book, &both), None);
    let twice = json!([part(&id(3), &[a, a]), part(&id(2), &[a])]);
    assert_eq!(judged(&book, &twice), Some(("witness-threshold-missed", 1)));
    let early = json!([part(&id(2), &[a, b]), part(&id(3), &[c])]);
    assert_eq!(judged(&book, &early), Some(("witness-threshold-missed", 3)));
    let stranger = json!([part(&id(3), &[a, &key()])]);
    assert_eq!(
        judged(&book, &stranger),
        Some(("witness-threshold-missed", 1))
    );
}

#[test]
fn a_proof_for_an_entry_that_is_not_in_the_log_approves_nothing() {
    let Three {
        witnesses, book, ..
    } = three();
    let [a, b, _] = &witnesses;
    let ahead = format!("4-{}", book.version_id(3).split_once('-').unwrap().1);
    let file = json!([part(&ahead, &[a, b])]);
    assert_eq!(judged(&book, &file), Some(("witness-threshold-missed", 1)));
    // Nor does a proof of another versionId in the place of this one.
    let mut moved = part(&book.version_id(2), &[a, b]);
    moved["versionId"] = book.version_id(3).into();
    assert_eq!(
        judged(&book, &json!([moved])),
        Some(("witness-threshold-missed", 1))
    );
}

#[test]
fn a_proof_that_does_not_verify_is_left_out() {
    let Three {
        witnesses, book, ..
    } = three();
    let [a, b, c] = &witnesses;
    let id = book.version_id(3);
    let signed = json!({ "versionId": id });
    let body = did_key(a);
    let elsewhere = format!("{body}#{}", did_key(b).strip_prefix("did:key:").unwrap());
    for change in [
        set("cryptosuite", json!("ecdsa-jcs-2019")),
        set("proofPurpose", json!("authentication")),
        set("verificationMethod", json!(elsewhere)),
    ] {
        let wrong = proof(&signed, a, change);
        let alone = json!([{"versionId": id, "proof": [wrong, proof(&signed, b, |_| {})]}]);
        assert_eq!(judged(&book, &alone), Some(("witness-threshold-missed", 1)));
        let file = json!([alone[0], part(&id, &[c])]);
        assert_eq!(judged(&book, &file), None);
    }
}

#[test]
fn another_set_of_witnesses_acts_after_the_entry_that_names_it() {
    let Three {
        author,
        witnesses,
        mut book,
    } = three();
    let [a, b, _] = &witnesses;
    let new = key();
    book.add(&json!({"witness": witness(1, &[&new])}), &author);
    let id = book.version_id(4);
    assert_eq!(
        judged(&book, &json!([part(&id, &[&new])])),
        Some(("witness-threshold-missed", 1))
    );
    assert_eq!(judged(&book, &json!([part(&id, &[a, b])])), None);
    book.add(&json!({"witness": {}}), &author);
    let last = book.version_id(5);
    let old = json!([part(&last, &[a, b])]);
    assert_eq!(judged(&book, &old), Some(("witness-threshold-missed", 5)));
    let both = json!([part(&id, &[a, b]), part(&last, &[&new])]);
    assert_eq!(judged(&book, &both), None);
    // Without witnesses, the next entry needs none.
    book.add(&json!({}), &author);
    assert_eq!(judged(&book, &both), None);
}

#[test]
fn the_first_set_acts_at_once() {
    let (author, a) = (key(), key());
    let mut book = Logbook::new(&first(&author), &author);
    assert!(!book.read().needs_witnesses());
    book.add(&json!({"witness": witness(1, &[&a])}), &author);
    assert_eq!(
        judged(&book, &json!([])),
        Some(("witness-threshold-missed", 2))
    );
    assert_eq!(
        judged(&book, &json!([part(&book.version_id(2), &[&a])])),
        None
    );
}

#[test]
fn without_a_file_or_with_a_malformed_one_entries_before_the_witnesses_stay_valid() {
    let (author, a) = (key(), key());
    let mut book = Logbook::new(&first(&author), &author);
    book.add(&json!({"witness": witness(1, &[&a])}), &author);
    let missing = book.read().witnessed(None, now());
    assert_eq!(fault(&missing), Some(("witness-proofs-missing", 2)));
    assert_eq!(missing.log().versions().len(), 1);
    for file in [json!({}), json!([1]), json!([{"proof": []}])] {
        assert_eq!(judged(&book, &file), Some(("witness-proofs-malformed", 2)));
    }
    let long = vec![b' '; 1024 * 1024 + 1];
    let reading = book.read().witnessed(Some(&long), now());
    assert_eq!(fault(&reading), Some(("witness-proofs-malformed", 2)));
}

#[test]
fn what_was_approved_once_needs_no_proofs_again() {
    let Three {
        author,
        witnesses,
        mut book,
    } = three();
    let [a, b, _] = &witnesses;
    let file = json!([part(&book.version_id(3), &[a, b])]).to_string();
    let reading = book.read().witnessed(Some(file.as_bytes()), now());
    assert_eq!(fault(&reading), None);
    let log = reading.log().clone();
    let again = log.read(&book.text(), now());
    assert!(!again.needs_witnesses() && again.fault().is_none());
    book.add(&json!({}), &author);
    let longer = log.read(&book.text(), now());
    assert!(longer.needs_witnesses());
    let missed = longer.clone().witnessed(Some(file.as_bytes()), now());
    assert_eq!(fault(&missed), Some(("witness-threshold-missed", 4)));
    assert_eq!(missed.log().versions().len(), 3);
    let file = json!([part(&book.version_id(4), &[a, b])]).to_string();
    let approved = longer.witnessed(Some(file.as_bytes()), now());
    assert_eq!(fault(&approved), None);
}
