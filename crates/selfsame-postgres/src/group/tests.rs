use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_store::backend::{BatchOutcome, OutboxId, Place, SealedBatch, SealedEntry, Write};
use selfsame_store::{Expect, StoreError, TenantId};

use super::*;
use crate::rows::{EntryRow, RecordRow, key};
use crate::sequence::Sequence;
use crate::sums::RowSums;

const NOW: UnixTime = UnixTime(1_700_000_000);

fn tenant() -> TenantId {
    TenantId::parse("one").unwrap()
}

fn place(id: &str) -> Place {
    Place {
        tenant: tenant(),
        kind: "code".to_owned(),
        id: id.to_owned(),
    }
}

fn batch(writes: Vec<Write>) -> SealedBatch {
    SealedBatch {
        now: NOW,
        durable: true,
        writes,
    }
}

fn put(id: &str, version: u64) -> Write {
    Write::Put {
        place: place(id),
        version,
        value: vec![1],
        tags: vec![],
        expires: None,
    }
}

fn row(version: i64, expires: Option<i64>) -> RecordRow {
    RecordRow {
        seq: 7,
        version,
        expires,
        tags: vec![],
    }
}

fn entry(id: u64, lane: u8) -> SealedEntry {
    SealedEntry {
        id: OutboxId(id),
        tenant: tenant(),
        lane: [lane; 16],
        not_before: NOW,
        attempts: 0,
        created: NOW,
        sealed: vec![2],
    }
}

fn entry_row(lane: u8) -> EntryRow {
    EntryRow {
        seq: 3,
        tenant: "one".to_owned(),
        lane: [lane; 16],
        not_before: 0,
        attempts: 0,
        created: 0,
        buried: None,
        reason: None,
        holder: None,
    }
}

fn succeeded(answers: &[Result<BatchOutcome, StoreError>]) -> Vec<bool> {
    answers.iter().map(Result::is_ok).collect()
}

#[test]
fn of_two_batches_of_a_group_that_expect_the_same_the_first_one_wins() {
    let spend = |to| {
        batch(vec![
            Write::Expect(place("1"), Expect::Version(5)),
            put("1", to),
        ])
    };
    let batches = [spend(8), spend(9)];
    let mut rows = FoundRows::default();
    rows.records.insert(key(&place("1")), row(5, None));
    let (doomed, sequence) = (Doomed::default(), Sequence::new(0));
    let judged = judge(&batches, &doomed, rows, &sequence);
    assert_eq!(succeeded(&judged.answers), [true, false]);
    let change = &judged.changes.records[&key(&place("1"))];
    let after = &change.after.as_ref().unwrap().row;
    assert_eq!((after.version, after.seq), (8, 7));
}

#[test]
fn a_refused_batch_leaves_nothing_and_a_later_one_sees_what_an_earlier_one_wrote() {
    let refused = batch(vec![
        put("2", 1),
        Write::Expect(place("1"), Expect::Version(4)),
    ]);
    let adds = batch(vec![Write::Expect(place("1"), Expect::Absent), put("1", 2)]);
    let follows = batch(vec![
        Write::Expect(place("1"), Expect::Version(2)),
        put("3", 3),
    ]);
    let batches = [refused, adds, follows];
    let (doomed, sequence) = (Doomed::default(), Sequence::new(0));
    let judged = judge(&batches, &doomed, FoundRows::default(), &sequence);
    assert_eq!(succeeded(&judged.answers), [false, true, true]);
    assert!(!judged.changes.records.contains_key(&key(&place("2"))));
    assert_eq!(judged.changes.records.len(), 2);
}

#[test]
fn an_absence_that_was_a_condition_is_guarded_until_the_commit() {
    let batches = [batch(vec![
        Write::Expect(place("1"), Expect::Absent),
        put("2", 1),
    ])];
    let (doomed, sequence) = (Doomed::default(), Sequence::new(0));
    let judged = judge(&batches, &doomed, FoundRows::default(), &sequence);
    let guarded: Vec<_> = judged
        .changes
        .absent
        .values()
        .map(|place| &*place.id)
        .collect();
    assert_eq!(guarded, ["1"]);
}

#[test]
fn an_expired_record_is_absent_and_a_new_one_takes_its_row_at_the_end() {
    let batches = [batch(vec![
        Write::Expect(place("1"), Expect::Absent),
        put("1", 2),
    ])];
    let mut rows = FoundRows::default();
    rows.records.insert(key(&place("1")), row(1, Some(5)));
    let (doomed, sequence) = (Doomed::default(), Sequence::new(0));
    let judged = judge(&batches, &doomed, rows, &sequence);
    let change = &judged.changes.records[&key(&place("1"))];
    assert!(change.before.is_some(), "the row is there and is changed");
    assert!(change.after.as_ref().unwrap().row.seq > 7);
    assert!(judged.changes.absent.is_empty());
}

#[test]
fn only_the_first_entry_of_a_lane_without_a_head_becomes_its_head() {
    let batches = [
        batch(vec![
            Write::Enqueue(entry(1, 1)),
            Write::Enqueue(entry(2, 2)),
        ]),
        batch(vec![Write::Enqueue(entry(3, 1))]),
    ];
    let mut rows = FoundRows::default();
    rows.headed.insert([2; 16]);
    let (doomed, sequence) = (Doomed::default(), Sequence::new(0));
    let judged = judge(&batches, &doomed, rows, &sequence);
    let heads = |at: usize| judged.answers[at].as_ref().unwrap().heads.clone();
    assert_eq!(heads(0), [OutboxId(1)]);
    assert_eq!(heads(1), []);
    let seq = |id| {
        judged.changes.entries[&OutboxId(id)]
            .after
            .as_ref()
            .unwrap()
            .seq
    };
    assert!(seq(1) < seq(3));
}

#[test]
fn behind_an_entry_that_goes_the_database_finds_the_next_head() {
    let batches = [
        batch(vec![Write::Settle(OutboxId(1))]),
        batch(vec![Write::Enqueue(entry(2, 1))]),
        batch(vec![Write::Settle(OutboxId(1))]),
    ];
    let mut rows = FoundRows::default();
    rows.entries.insert(OutboxId(1), entry_row(1));
    rows.headed.insert([1; 16]);
    let (doomed, sequence) = (Doomed::default(), Sequence::new(0));
    let judged = judge(&batches, &doomed, rows, &sequence);
    assert_eq!(succeeded(&judged.answers), [true, true, false]);
    assert!(judged.changes.disturbed.contains(&[1; 16]));
    assert!(!judged.changes.entries[&OutboxId(2)].head);
}

#[test]
fn a_sweep_removes_only_what_is_still_to_be_removed() {
    let batches = [batch(vec![Write::Purge(9)])];
    let doomed = Doomed {
        records: vec![place("1"), place("2"), place("3")],
        only_expired: true,
        ..Doomed::default()
    };
    let mut rows = FoundRows::default();
    // The second one was written anew after the sweep found it, and the third is gone.
    rows.records.insert(key(&place("1")), row(1, Some(5)));
    rows.records.insert(key(&place("2")), row(1, None));
    let sequence = Sequence::new(0);
    let judged = judge(&batches, &doomed, rows, &sequence);
    assert_eq!(judged.answers[0].as_ref().unwrap().purged, 1);
    assert_eq!(judged.changes.records.len(), 1);
}

#[test]
fn what_a_group_adds_to_the_sum_is_what_its_rows_differ_by() {
    let sums = RowSums::new(std::sync::Arc::new(SealingKey::from_bytes([3; 32])));
    let batches = [
        batch(vec![put("1", 2), Write::Delete(place("2"))]),
        batch(vec![put("1", 3), put("3", 4)]),
        batch(vec![Write::Delete(place("3"))]),
    ];
    let (first, second) = (row(1, None), row(1, None));
    let mut rows = FoundRows::default();
    rows.records.insert(key(&place("1")), first.clone());
    rows.records.insert(key(&place("2")), second.clone());
    let (doomed, sequence) = (Doomed::default(), Sequence::new(0));
    let judged = judge(&batches, &doomed, rows, &sequence);
    let mut tally = judged.changes.tally(&sums);
    assert_eq!(tally.rows, -1);
    tally.add(sums.record(&place("1"), &first));
    tally.add(sums.record(&place("2"), &second));
    let mut left = selfsame_crypto::hash::sum::Tally::default();
    left.add(sums.record(&place("1"), &row(3, None)));
    assert_eq!(tally, left);
}
