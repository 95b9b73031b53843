//! The ledger: blocks follow each other, no entry occurs twice, no block is half written.

use std::collections::BTreeMap;
use std::sync::Arc;

use selfsame_crypto::hash::sha256;
use selfsame_store::StoreError;
use selfsame_store::ledger::{
    Block, Entry, Head, KEPT_HEIGHTS, LedgerStore, MemoryLedger, SqliteLedger, TreeChanges,
};
use tempfile::TempDir;

/// Where a ledger keeps its data: in a file of this directory, or in memory.
pub struct Ledger(Option<TempDir>);

impl Ledger {
    pub fn memory() -> Self {
        Self(None)
    }

    pub fn sqlite() -> Self {
        Self(Some(TempDir::new().unwrap()))
    }

    fn open(&self) -> Arc<dyn LedgerStore> {
        match &self.0 {
            None => Arc::new(MemoryLedger::new()),
            Some(dir) => Arc::new(SqliteLedger::open(dir.path().join("ledger.db")).unwrap()),
        }
    }
}

fn block(height: u64, entries: &[u8], writes: &[(&str, &str)]) -> Block {
    let entries = entries
        .iter()
        .map(|byte| Entry {
            hash: [*byte; 32],
            bytes: vec![*byte; 3],
        })
        .collect();
    let writes = writes
        .iter()
        .map(|(key, value)| (key.as_bytes().to_vec(), value.as_bytes().to_vec()))
        .collect::<BTreeMap<_, _>>();
    Block {
        height,
        entries,
        writes,
        tree: TreeChanges::default(),
        head: format!("head {height}").into_bytes(),
    }
}

fn conflicts(result: selfsame_store::Result<Head>) -> bool {
    matches!(result, Err(StoreError::Conflict { kind, .. }) if kind == "ledger")
}

fn value(ledger: &dyn LedgerStore, key: &str) -> Option<String> {
    ledger
        .get(key.as_bytes())
        .unwrap()
        .map(|value| String::from_utf8(value).unwrap())
}

pub async fn blocks_are_appended_in_order(ledger: Ledger) {
    let place = ledger;
    let ledger = place.open();
    assert_eq!(ledger.head().unwrap(), None);
    assert!(conflicts(ledger.append(block(0, &[], &[])).await));
    assert!(conflicts(ledger.append(block(2, &[], &[])).await));
    ledger
        .append(block(1, &[1, 2], &[("a", "1"), ("b", "1")]))
        .await
        .unwrap();
    assert!(conflicts(
        ledger.append(block(1, &[9], &[("a", "9")])).await
    ));
    let head = ledger.append(block(2, &[], &[("a", "2")])).await.unwrap();
    assert_eq!(
        head,
        Head {
            height: 2,
            size: 2,
            bytes: b"head 2".to_vec()
        }
    );
    assert_eq!(ledger.head().unwrap(), Some(head));
    assert_eq!(
        (
            value(&*ledger, "a"),
            value(&*ledger, "b"),
            value(&*ledger, "c")
        ),
        (Some("2".into()), Some("1".into()), None)
    );
    assert_eq!(
        (
            ledger.block(1).unwrap(),
            ledger.block(3).unwrap(),
            ledger.block(0).unwrap()
        ),
        (Some(b"head 1".to_vec()), None, None)
    );
    assert_eq!(ledger.meter().commits(), 2);
}

pub async fn an_entry_is_never_taken_twice(ledger: Ledger) {
    let place = ledger;
    let ledger = place.open();
    ledger.append(block(1, &[1], &[])).await.unwrap();
    assert!(conflicts(
        ledger.append(block(2, &[2, 1], &[("a", "1")])).await
    ));
    assert!(conflicts(
        ledger.append(block(2, &[3, 3], &[("a", "1")])).await
    ));
    assert_eq!(
        (
            value(&*ledger, "a"),
            ledger.by_hash(&[2; 32]).unwrap(),
            ledger.head().unwrap().unwrap().size
        ),
        (None, None, 1)
    );
}

pub async fn entries_are_found_by_number_and_hash(ledger: Ledger) {
    let place = ledger;
    let ledger = place.open();
    ledger.append(block(1, &[1, 2], &[])).await.unwrap();
    ledger.append(block(2, &[3], &[])).await.unwrap();
    assert_eq!(ledger.by_hash(&[3; 32]).unwrap(), Some(3));
    let third = ledger.entry(3).unwrap().unwrap();
    assert_eq!(
        (third.seq, third.height, third.entry.bytes.as_slice()),
        (3, 2, &[3, 3, 3][..])
    );
    assert!(ledger.entry(0).unwrap().is_none() && ledger.entry(4).unwrap().is_none());
    let numbers = |range| {
        ledger
            .entries(range)
            .unwrap()
            .iter()
            .map(|placed| placed.seq)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (numbers(2..9), numbers(0..2), numbers(4..9)),
        (vec![2, 3], vec![1], vec![])
    );
}

pub async fn nodes_of_the_tree_outlive_it_for_a_while(ledger: Ledger) {
    let place = ledger;
    let ledger = place.open();
    let mut first = block(1, &[], &[]);
    first.tree.nodes = vec![
        (b"old".to_vec(), b"1".to_vec()),
        (b"kept".to_vec(), b"2".to_vec()),
    ];
    ledger.append(first).await.unwrap();
    let mut second = block(2, &[], &[]);
    second.tree.nodes = vec![(b"new".to_vec(), b"3".to_vec())];
    second.tree.stale = vec![b"old".to_vec()];
    ledger.append(second).await.unwrap();
    let has = |key: &str| ledger.node(key.as_bytes()).unwrap().is_some();
    for height in 3..2 + KEPT_HEIGHTS {
        ledger.append(block(height, &[], &[])).await.unwrap();
    }
    assert!(has("old") && has("kept") && has("new"));
    ledger
        .append(block(2 + KEPT_HEIGHTS, &[], &[]))
        .await
        .unwrap();
    assert!(!has("old") && has("kept") && has("new"));
}

pub async fn keys_are_found_by_their_place(ledger: Ledger) {
    let place = ledger;
    let ledger = place.open();
    let digest = "0f".repeat(32);
    let keys = [
        "did/a".to_owned(),
        format!("status/a/{digest}"),
        format!("status/a/{digest}/v/1"),
    ];
    let writes: Vec<(&str, &str)> = keys.iter().map(|key| (key.as_str(), "value")).collect();
    ledger.append(block(1, &[1], &writes)).await.unwrap();
    ledger
        .append(block(2, &[2], &[("did/a", "other")]))
        .await
        .unwrap();
    for key in &keys {
        let place = sha256(key.as_bytes());
        assert_eq!(ledger.key(&place).unwrap(), Some(key.clone().into_bytes()));
    }
    assert_eq!(ledger.key(&sha256(b"did/b")).unwrap(), None);
    assert_eq!(value(&*ledger, "did/a"), Some("other".into()));
}

pub async fn a_value_that_holds_its_transactions_hash_comes_back_as_it_was(ledger: Ledger) {
    let place = ledger;
    let ledger = place.open();
    // As in deterministic CBOR: a string of 32 bytes, among other values.
    let receipt = |hash: u8| [&[0x84, 0x01, 0x58, 0x20][..], &[hash; 32], &[0x07]].concat();
    let mut first = block(1, &[1, 2], &[]);
    for (key, hash) in [("own", 2), ("unknown", 9), ("other", 1)] {
        first.writes.insert(key.into(), receipt(hash));
    }
    ledger.append(first).await.unwrap();
    let mut second = block(2, &[3], &[]);
    second.writes.insert("other".into(), receipt(3));
    second.writes.insert("late".into(), receipt(1));
    ledger.append(second).await.unwrap();
    for (key, hash) in [("own", 2), ("unknown", 9), ("other", 3), ("late", 1)] {
        assert_eq!(ledger.get(key.as_bytes()).unwrap(), Some(receipt(hash)));
    }
}
