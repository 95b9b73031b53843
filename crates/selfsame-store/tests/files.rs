//! The data files: their permissions, and which files are refused.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rusqlite::Connection;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_store::backend::{Backend, Place, SealedBatch, SealedEntry, Window, Write};
use selfsame_store::ledger::{Block, Entry, KEPT_HEIGHTS, LedgerStore, SqliteLedger, TreeChanges};
use selfsame_store::offline::LedgerFile;
use selfsame_store::{Batch, Expect, OutboxId, Put, Sqlite, Store, StoreError, TenantId, Vault};
use tempfile::TempDir;

fn tenant() -> TenantId {
    TenantId::parse("anna").unwrap()
}

const NOW: UnixTime = UnixTime(1);

fn place(id: &str) -> Place {
    Place {
        tenant: tenant(),
        kind: "a".to_owned(),
        id: id.to_owned(),
    }
}

fn put(id: &str, version: u64) -> Write {
    Write::Put {
        place: place(id),
        version,
        value: vec![7; 9_000],
        tags: vec![vec![1]],
        expires: None,
    }
}

/// Enqueueing this entry a second time fails.
fn enqueue() -> Write {
    Write::Enqueue(SealedEntry {
        id: OutboxId(7),
        tenant: tenant(),
        lane: [0; 16],
        not_before: NOW,
        attempts: 0,
        created: NOW,
        sealed: vec![],
    })
}

fn batch(durable: bool, writes: Vec<Write>) -> SealedBatch {
    SealedBatch {
        now: NOW,
        durable,
        writes,
    }
}

async fn version(backend: &Sqlite, id: &str) -> Option<u64> {
    let read = backend.read(&place(id), NOW).await.unwrap();
    read.map(|record| record.version)
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_can_read_the_files() {
    use std::os::unix::fs::PermissionsExt;
    let dir = TempDir::new().unwrap();
    let data = dir.path().join("deep").join("data");
    let backend = Arc::new(Sqlite::open(data.join("store.db")).unwrap());
    let store = Store::open(backend, Vault::from_master(SealingKey::from_bytes([1; 32])))
        .await
        .unwrap();
    store
        .commit(Batch::new(tenant()).put(Put::new("a", "b", vec![])))
        .await
        .unwrap();
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (mode(&dir.path().join("deep")), mode(&data)),
        (0o700, 0o700)
    );
    let files: Vec<_> = std::fs::read_dir(&data)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    assert_eq!(files.len(), 4, "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn files_of_another_release_are_refused() {
    let dir = TempDir::new().unwrap();
    let (store, ledger) = (dir.path().join("store.db"), dir.path().join("ledger.db"));
    drop((
        Sqlite::open(&store).unwrap(),
        SqliteLedger::open(&ledger).unwrap(),
    ));
    for path in [&store, &ledger] {
        Connection::open(path)
            .unwrap()
            .pragma_update(None, "user_version", 9)
            .unwrap();
    }
    assert!(matches!(
        Sqlite::open(&store),
        Err(StoreError::OtherLayout { found: 9, known: 6 })
    ));
    assert!(matches!(
        SqliteLedger::open(&ledger),
        Err(StoreError::OtherLayout { found: 9, known: 5 })
    ));
}

#[test]
fn files_of_others_are_refused_and_left_alone() {
    let dir = TempDir::new().unwrap();
    let text = dir.path().join("text");
    std::fs::write(
        &text,
        "certainly not a database, but long enough to look at ".repeat(20),
    )
    .unwrap();
    assert!(matches!(Sqlite::open(&text), Err(StoreError::Foreign(_))));
    assert!(
        std::fs::read_to_string(&text)
            .unwrap()
            .starts_with("certainly")
    );
    let other = dir.path().join("other.db");
    Connection::open(&other)
        .unwrap()
        .execute_batch("CREATE TABLE theirs (a)")
        .unwrap();
    assert!(matches!(Sqlite::open(&other), Err(StoreError::Foreign(_))));
    let ledger = dir.path().join("ledger.db");
    drop(SqliteLedger::open(&ledger).unwrap());
    assert!(matches!(Sqlite::open(&ledger), Err(StoreError::Foreign(_))));
    // It has our tables, but a layout that no release had.
    let file = Connection::open(&ledger).unwrap();
    file.pragma_update(None, "user_version", 0).unwrap();
    drop(file);
    assert!(matches!(
        SqliteLedger::open(&ledger),
        Err(StoreError::Foreign(_))
    ));
}

#[test]
fn a_file_in_use_is_refused_until_it_is_closed() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("store.db");
    let first = Sqlite::open(&path).unwrap();
    assert!(matches!(Sqlite::open(&path), Err(StoreError::InUse(_))));
    drop(first);
    assert!(Sqlite::open(&path).is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_that_fails_half_way_leaves_nothing_and_harms_no_other() {
    let dir = TempDir::new().unwrap();
    let backend = Arc::new(Sqlite::open(dir.path().join("store.db")).unwrap());
    backend.commit(batch(true, vec![enqueue()])).await.unwrap();
    let mut tasks = Vec::new();
    for number in 0..20 {
        let good = batch(true, vec![put(&format!("good{number}"), 1)]);
        let bad = batch(true, vec![put(&format!("bad{number}"), 1), enqueue()]);
        for (batch, succeeds) in [(good, true), (bad, false)] {
            let backend = backend.clone();
            tasks.push((
                succeeds,
                tokio::spawn(async move { backend.commit(batch).await }),
            ));
        }
    }
    for (succeeds, task) in tasks {
        assert_eq!(task.await.unwrap().is_ok(), succeeds);
    }
    for number in 0..20 {
        assert_eq!(version(&backend, &format!("good{number}")).await, Some(1));
        assert_eq!(version(&backend, &format!("bad{number}")).await, None);
    }
    drop(backend);
    let tags: u32 = Connection::open(dir.path().join("store.db"))
        .unwrap()
        .query_row("SELECT count(*) FROM tags", [], |row| row.get(0))
        .unwrap();
    assert_eq!(tags, 20);
}

#[tokio::test]
async fn a_deferred_batch_is_seen_at_once_and_outlives_a_neighbour_that_fails() {
    let dir = TempDir::new().unwrap();
    let backend = Sqlite::open(dir.path().join("store.db")).unwrap();
    let first = vec![put("first", 1), enqueue()];
    backend.commit(batch(true, first)).await.unwrap();
    for round in 1..=40 {
        let deferred = batch(false, vec![put("deferred", round)]);
        backend.commit(deferred).await.unwrap();
        // It is half written, fails, and takes no other batch with it.
        let failing = batch(true, vec![put("failing", 1), enqueue()]);
        assert!(backend.commit(failing).await.is_err());
        // It is refused before anything is written.
        let refused = batch(true, vec![Write::Expect(place("first"), Expect::Absent)]);
        assert!(backend.commit(refused).await.is_err());
        assert_eq!(version(&backend, "deferred").await, Some(round));
        assert_eq!(version(&backend, "failing").await, None);
        // Another connection sees the same data.
        let window = Window {
            newest_first: true,
            after: None,
            limit: 1_000,
        };
        let of_kind = backend.list(&tenant(), "a", window, NOW).await.unwrap();
        let versions: Vec<_> = of_kind.iter().map(|record| record.version).collect();
        assert_eq!(versions, [round, 1]);
    }
}

#[tokio::test]
async fn a_deferred_batch_reaches_the_file_by_itself_and_when_the_store_is_closed() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("store.db");
    let backend = Sqlite::open(&file).unwrap();
    let deferred = batch(false, vec![put("deferred", 1)]);
    backend.commit(deferred).await.unwrap();
    let reader = Connection::open(&file).unwrap();
    let is_there = || {
        let query = "SELECT count(*) FROM records WHERE id = 'deferred'";
        reader.query_row(query, [], |row| row.get::<_, bool>(0))
    };
    let mut waits = 0;
    while !is_there().unwrap() {
        waits += 1;
        assert!(waits < 6_000);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    drop(reader);
    let deferred = batch(false, vec![put("deferred", 2)]);
    backend.commit(deferred).await.unwrap();
    drop(backend);
    let backend = Sqlite::open(&file).unwrap();
    assert_eq!(version(&backend, "deferred").await, Some(2));
}

#[tokio::test]
async fn looking_for_what_has_expired_costs_no_commit_and_misses_nothing() {
    let dir = TempDir::new().unwrap();
    let now = Arc::new(AtomicU64::new(1_000));
    let clock = now.clone();
    let store = Store::open_with_clock(
        Arc::new(Sqlite::open(dir.path().join("store.db")).unwrap()),
        vault(),
        Arc::new(move || UnixTime(clock.load(Ordering::Relaxed))),
    );
    let store = store.await.unwrap();
    let put = Put::new("a", "soon over", vec![1]).expires(UnixTime(1_010));
    let batch = Batch::new(tenant()).put(put);
    store.commit(batch).await.unwrap();
    let before = store.meter().commits();
    for _ in 0..50 {
        assert_eq!(store.purge_expired(UnixTime(1_009), 9).await.unwrap(), 0);
    }
    assert_eq!(store.meter().commits(), before);
    now.store(1_010, Ordering::Relaxed);
    assert_eq!(store.purge_expired(UnixTime(1_010), 9).await.unwrap(), 1);
    assert_eq!(store.purge_expired(UnixTime(1_010), 9).await.unwrap(), 0);
}

#[tokio::test]
async fn a_file_is_whole_by_itself_once_its_log_is_folded_in_while_it_stays_open() {
    let dir = TempDir::new().unwrap();
    let (path, alone) = (dir.path().join("store.db"), dir.path().join("alone.db"));
    let backend = Sqlite::open(&path).unwrap();
    for (id, durable) in [("durable", true), ("deferred", false)] {
        let written = backend.commit(batch(durable, vec![put(id, 1)])).await;
        written.unwrap();
    }
    let is_whole = async || {
        std::fs::copy(&path, &alone).unwrap();
        match Sqlite::open(&alone) {
            Ok(alone) => {
                version(&alone, "durable").await == Some(1)
                    && version(&alone, "deferred").await == Some(1)
            }
            Err(_) => false,
        }
    };
    assert!(!is_whole().await);
    backend.fold().await.unwrap();
    assert!(is_whole().await);
    let log = std::fs::metadata(dir.path().join("store.db-wal")).unwrap();
    assert_eq!(log.len(), 0);
    // The store continues to work.
    let written = backend.commit(batch(true, vec![put("then", 1)])).await;
    written.unwrap();
    assert_eq!(version(&backend, "then").await, Some(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_stays_bounded_while_there_is_no_rest() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("store.db");
    let backend = Arc::new(Sqlite::open(&path).unwrap());
    let store = Store::open(backend, Vault::from_master(SealingKey::from_bytes([1; 32])))
        .await
        .unwrap();
    let mut tasks = Vec::new();
    for task in 0..8_u8 {
        let store = store.clone();
        tasks.push(tokio::spawn(async move {
            for _ in 0..450 {
                let put = Put::new("a", task.to_string(), vec![task; 200_000]);
                store
                    .commit(Batch::new(tenant()).put(put).deferred())
                    .await
                    .unwrap();
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    // 720 MB were written. The writer waits once 64 MiB were written after a checkpoint was requested that does not
    // come, or when a checkpoint that comes finds that much. With a slow checkpoint and another one waiting, the log
    // reaches three times that at most.
    let log = std::fs::metadata(dir.path().join("store.db-wal"))
        .unwrap()
        .len();
    assert!(log < 240 << 20, "{log}");
}

#[tokio::test]
async fn a_ledger_is_the_same_after_reopening() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("ledger.db");
    let ledger = SqliteLedger::open(&path).unwrap();
    let entries = vec![Entry {
        hash: [1; 32],
        bytes: vec![2],
    }];
    let writes = [(b"key".to_vec(), b"value".to_vec())].into();
    let head = ledger
        .append(Block {
            height: 1,
            entries,
            writes,
            tree: TreeChanges::default(),
            head: b"head".to_vec(),
        })
        .await
        .unwrap();
    drop(ledger);
    let ledger = SqliteLedger::open(&path).unwrap();
    assert_eq!(ledger.head().unwrap(), Some(head));
    assert_eq!(ledger.get(b"key").unwrap(), Some(b"value".to_vec()));
    assert_eq!(ledger.entry(1).unwrap().unwrap().entry.bytes, [2]);
}

fn vault() -> Vault {
    Vault::from_master(SealingKey::from_bytes([1; 32]))
}

async fn opened(file: &std::path::Path) -> Store {
    let backend = Arc::new(Sqlite::open(file).unwrap());
    Store::open(backend, vault()).await.unwrap()
}

#[tokio::test]
async fn a_copy_made_while_others_write_holds_one_moment_and_knows_that_it_is_a_copy() {
    let dir = TempDir::new().unwrap();
    let store = opened(&dir.path().join("store.db")).await;
    let put = |number: u64| {
        let id = number.to_string();
        Batch::new(tenant())
            .put(Put::new("a", &id, vec![1]))
            .put(Put::new("b", &id, vec![2]))
    };
    for number in 0..20 {
        store.commit(put(number)).await.unwrap();
    }
    let writing = tokio::spawn({
        let store = store.clone();
        async move {
            for number in 20..200 {
                store.commit(put(number)).await.unwrap();
            }
        }
    });
    let file = dir.path().join("copy").join("store.db");
    store.copy(&file).await.unwrap();
    writing.await.unwrap();
    assert_eq!(store.copied_at().await.unwrap(), None);

    let names: Vec<_> = std::fs::read_dir(dir.path().join("copy"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["store.db"]);
    Sqlite::check(&file).unwrap();
    let copy = opened(&file).await;
    assert!(copy.copied_at().await.unwrap().is_some());
    let page = selfsame_store::Page::first(500);
    let ids = |records: Vec<selfsame_store::Record>| -> Vec<String> {
        records.into_iter().map(|record| record.id).collect()
    };
    let a = ids(copy.list(&tenant(), "a", &page).await.unwrap());
    let b = ids(copy.list(&tenant(), "b", &page).await.unwrap());
    assert!(a.len() >= 20 && a == b, "{} and {}", a.len(), b.len());
}

#[tokio::test]
async fn a_store_that_begins_with_a_copy_gives_no_number_again() {
    let dir = TempDir::new().unwrap();
    let store = opened(&dir.path().join("store.db")).await;
    store.allocate(&tenant(), "place", 3).await.unwrap();
    let file = dir.path().join("copy.db");
    store.copy(&file).await.unwrap();
    let since = store.allocate(&tenant(), "place", 5_000).await.unwrap();

    let copy = opened(&file).await;
    copy.begin_with_copy(1 << 32).await.unwrap();
    assert_eq!(copy.copied_at().await.unwrap(), None);
    let next = copy.allocate(&tenant(), "place", 1).await.unwrap();
    assert!(
        next.start >= since.end + (1 << 31),
        "{next:?} after {since:?}"
    );
}

#[tokio::test]
async fn of_a_destroyed_tenant_the_file_has_neither_key_nor_value() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("store.db");
    let backend = Arc::new(Sqlite::open(&file).unwrap());
    let store = Store::open(backend.clone(), vault()).await.unwrap();
    for owner in ["anna", "ben", "carl"] {
        let owner = TenantId::parse(owner).unwrap();
        let batch = Batch::new(owner.clone()).put(Put::new("a", "b", vec![7; 9_000]));
        store.commit(batch).await.unwrap();
    }
    let mut sealed = Vec::new();
    for (kind, id) in [("selfsame.key", ""), ("a", "b")] {
        let at = Place {
            kind: kind.to_owned(),
            ..place(id)
        };
        sealed.push(backend.read(&at, NOW).await.unwrap().unwrap().value);
    }
    let holds = |value: &[u8]| {
        let part = &value[value.len().saturating_sub(40)..];
        let bytes = std::fs::read(&file).unwrap();
        bytes.windows(part.len()).any(|window| window == part)
    };
    store.fold().await.unwrap();
    assert!(sealed.iter().all(|value| holds(value)));
    store.destroy(&tenant(), 100).await.unwrap();
    store.fold().await.unwrap();
    assert!(!sealed.iter().any(|value| holds(value)));
}

#[tokio::test]
async fn a_copy_never_overwrites_and_a_damaged_one_is_found_out() {
    let dir = TempDir::new().unwrap();
    let store = opened(&dir.path().join("store.db")).await;
    for number in 0..50 {
        let put = Put::new("a", number.to_string(), vec![7; 2_000]);
        store.commit(Batch::new(tenant()).put(put)).await.unwrap();
    }
    let file = dir.path().join("copy.db");
    store.copy(&file).await.unwrap();
    assert!(matches!(
        store.copy(&file).await,
        Err(StoreError::Storage(_))
    ));
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2 / 4_096 * 4_096;
    bytes[middle..middle + 64].fill(0xff);
    std::fs::write(&file, bytes).unwrap();
    assert!(Sqlite::check(&file).is_err());
    assert!(matches!(
        SqliteLedger::check(dir.path().join("store.db")),
        Err(StoreError::Foreign(_))
    ));
}

#[tokio::test]
async fn a_ledger_that_is_never_at_rest_forgets_nodes_too_even_if_it_was_closed_meanwhile() {
    const NODES: u32 = 500;
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("ledger.db");
    let node = |height: u64, number: u32| format!("{height:04}/{number}").into_bytes();
    let block = |height: u64| Block {
        height,
        entries: vec![Entry {
            hash: sha256(&height.to_be_bytes()),
            bytes: vec![1],
        }],
        writes: BTreeMap::new(),
        tree: TreeChanges {
            nodes: (0..NODES).map(|n| (node(height, n), vec![7])).collect(),
            stale: (0..NODES).map(|n| node(height - 1, n)).collect(),
        },
        head: Vec::new(),
    };
    let mut ledger = SqliteLedger::open(&path).unwrap();
    for height in 1..=60 {
        ledger.append(block(height)).await.unwrap();
        if height % 10 == 0 {
            drop(ledger);
            ledger = SqliteLedger::open(&path).unwrap();
        }
        // Kept heights stay readable, and the rest does not grow without bound.
        let first_kept = height.saturating_sub(KEPT_HEIGHTS).max(1);
        for kept in first_kept..=height {
            assert!(ledger.node(&node(kept, 0)).unwrap().is_some(), "{kept}");
        }
        let last_gone = height.saturating_sub(2 * KEPT_HEIGHTS);
        assert!(ledger.node(&node(last_gone, 0)).unwrap().is_none());
    }
}

#[tokio::test]
async fn a_ledger_at_rest_gives_back_the_room_of_forgotten_nodes_and_keeps_the_others() {
    const NODES: u64 = 2_000;
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("ledger.db");
    let node = |height: u64, number: u64| format!("{height:04}/{number}").into_bytes();
    let ledger = SqliteLedger::open(&path).unwrap();
    let append = async |height: u64, nodes: u64, stale: Vec<Vec<u8>>| {
        let entries = match nodes {
            0 => Vec::new(),
            _ => vec![Entry {
                hash: sha256(&height.to_be_bytes()),
                bytes: vec![1],
            }],
        };
        let nodes = (0..nodes).map(|n| (node(height, n), vec![7; 400]));
        let block = Block {
            height,
            entries,
            writes: BTreeMap::new(),
            tree: TreeChanges {
                nodes: nodes.collect(),
                stale,
            },
            head: Vec::new(),
        };
        ledger.append(block).await.unwrap();
    };
    append(1, NODES, Vec::new()).await;
    // One node of eight stays, so each page keeps some.
    for height in 2..=10 {
        let stale = (0..NODES).filter(|n| n % 8 != 0);
        append(height, NODES, stale.map(|n| node(height - 1, n)).collect()).await;
    }
    let size = || {
        let length = |end| std::fs::metadata(dir.path().join(end)).map_or(0, |file| file.len());
        length("ledger.db") + length("ledger.db-wal")
    };
    let busy = size();
    for height in 11..=40 {
        append(height, 0, Vec::new()).await;
    }
    for height in 1..=10 {
        for n in (0..NODES).step_by(8) {
            assert!(ledger.node(&node(height, n)).unwrap().is_some());
        }
        let gone = ledger.node(&node(height, 1)).unwrap().is_none();
        assert_eq!(gone, height < 10);
    }
    drop(ledger);
    SqliteLedger::check(&path).unwrap();
    // 2 MB of 8 MB of nodes are left.
    assert!(
        size() < busy / 2 && size() < 4 << 20,
        "{} of {busy}",
        size()
    );
}

#[tokio::test]
async fn a_look_at_a_ledger_names_indices_that_do_not_lead_to_what_is_in_it() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("ledger.db");
    let ledger = SqliteLedger::open(&path).unwrap();
    let writes = (0..40_u8).map(|key| (vec![key, 1], vec![key]));
    let block = Block {
        height: 1,
        entries: vec![Entry {
            hash: [1; 32],
            bytes: vec![2],
        }],
        writes: writes.collect(),
        tree: TreeChanges::default(),
        head: b"head".to_vec(),
    };
    ledger.append(block).await.unwrap();
    ledger.fold().await.unwrap();
    drop(ledger);
    let looked = || {
        let file = LedgerFile::open(&path).unwrap();
        let parts = file.look(&|_, _| ());
        let wrong = parts.into_iter().filter(|part| !part.is_sound());
        wrong
            .map(|part| (part.what, part.damage.join("; "), part.untold))
            .collect::<Vec<_>>()
    };
    let edit = |statement: &str| {
        let connection = Connection::open(&path).unwrap();
        assert!(connection.execute(statement, []).unwrap() > 0);
    };
    assert_eq!(looked(), []);
    edit("UPDATE hashes SET start = start + 1");
    let one = (
        "indices",
        "transaction 1 is not found by its hash".to_owned(),
        0,
    );
    assert_eq!(looked(), [one]);
    edit("UPDATE hashes SET start = start - 1");
    edit("DELETE FROM recent");
    let [(what, said, untold)] = &looked()[..] else {
        panic!("{:?}", looked());
    };
    assert!(said.contains("is not found by its key"), "{said}");
    // The first twenty are described, and the others counted.
    assert_eq!((*what, *untold), ("indices", 20));
}

#[tokio::test]
async fn a_ledger_is_folded_in_though_another_checkpoint_is_under_way() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("ledger.db");
    let ledger = SqliteLedger::begin(&path).unwrap();
    let block = Block {
        height: 1,
        entries: vec![Entry {
            hash: [1; 32],
            bytes: vec![2],
        }],
        writes: BTreeMap::new(),
        tree: TreeChanges::default(),
        head: b"head".to_vec(),
    };
    ledger.append(block).await.unwrap();
    // A checkpoint that waits for a reader: it holds the file's checkpoint lock until its timeout.
    let reader = Connection::open(&path).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    let entries = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
    let read = reader.query_row("SELECT count(*) FROM hashes", [], entries);
    assert_eq!(read.unwrap(), 1);
    let other = Connection::open(&path).unwrap();
    other.busy_timeout(Duration::from_millis(500)).unwrap();
    let waiting = std::thread::spawn(move || {
        let busy = other.query_row("PRAGMA wal_checkpoint(RESTART)", [], entries);
        drop(reader);
        busy.unwrap()
    });
    std::thread::sleep(Duration::from_millis(100));
    ledger.fold().await.unwrap();
    assert_eq!(waiting.join().unwrap(), 1, "the other one had to wait");
    assert_eq!(
        std::fs::metadata(dir.path().join("ledger.db-wal"))
            .unwrap()
            .len(),
        0
    );
}

#[tokio::test]
async fn a_ledger_takes_the_place_of_another_which_is_kept_with_all_that_was_in_its_log() {
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name);
    let block = |head: &[u8]| Block {
        height: 1,
        entries: Vec::new(),
        writes: BTreeMap::new(),
        tree: TreeChanges::default(),
        head: head.to_vec(),
    };
    let new = SqliteLedger::begin(path("new.db")).unwrap();
    new.append(block(b"new")).await.unwrap();
    new.fold().await.unwrap();
    drop(new);
    // Committed data are in the log only, as after a process was killed.
    let old = SqliteLedger::open(path("old.db")).unwrap();
    old.append(block(b"old")).await.unwrap();
    for suffix in ["", "-wal"] {
        let file = format!("old.db{suffix}");
        std::fs::copy(path(&file), path(&format!("ledger.db{suffix}"))).unwrap();
    }
    drop(old);
    assert!(std::fs::metadata(path("ledger.db-wal")).unwrap().len() > 0);
    let ledger = LedgerFile::open(&path("ledger.db")).unwrap();
    assert_eq!(ledger.head().unwrap().unwrap().bytes, b"old");
    assert!(
        SqliteLedger::open(path("ledger.db")).is_err(),
        "it is in use"
    );
    ledger.give_way(&path("new.db"), &path("kept.db")).unwrap();
    let head = |file: &str| SqliteLedger::open(path(file)).unwrap().head().unwrap();
    assert_eq!(head("ledger.db").unwrap().bytes, b"new");
    assert_eq!(head("kept.db").unwrap().bytes, b"old");
}
