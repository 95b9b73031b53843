//! A process that is killed at any instant loses nothing that it has acknowledged.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use selfsame_crypto::seal::{SealingKey, random_seed};
use selfsame_crypto::time::UnixTime;
use selfsame_store::{
    Batch, Expect, NewOutbox, OutboxId, Page, Put, Sqlite, Store, Tag, TenantId, Vault,
};

const KILLS: u32 = 60;
const WRITERS: u64 = 4;
/// The variable that makes this test, run in a process of its own, the victim. Its value is the data directory.
const VICTIM: &str = "SELFSAME_STORE_CRASH_VICTIM";

async fn open(path: &Path) -> Store {
    let backend = Arc::new(Sqlite::open(path).unwrap());
    Store::open(backend, Vault::from_master(SealingKey::from_bytes([3; 32])))
        .await
        .unwrap()
}

fn tenant() -> TenantId {
    TenantId::parse("anna").unwrap()
}

fn acknowledge(line: &str) {
    // Bypasses the test harness, which captures output. A broken pipe means that the reader is gone.
    let _ = std::io::stdout().lock().write_all(line.as_bytes());
}

/// Writes and acknowledges until the process is killed.
async fn victim(store: Store, writer: u64, round: String) {
    let tenant = tenant();
    let chain = format!("chain{writer}");
    for step in 0_u64.. {
        let id = format!("{round}-{writer}-{step}");
        let record = Put::new("acked", &id, id.clone().into_bytes()).tag(Tag::hashed("id", &id));
        let call = NewOutbox {
            destination: id.clone(),
            subject: String::new(),
            key: id.clone(),
            payload: vec![],
            not_before: UnixTime(0),
        };
        let batch = Batch::new(tenant.clone())
            .expect("acked", &id, Expect::Absent)
            .put(record)
            .event("acked", &id)
            .enqueue(call);
        let batch = if step % 5 == 4 {
            batch.deferred()
        } else {
            batch
        };
        let committed = store.commit(batch).await.unwrap();
        acknowledge(&format!("ack record {id} {}\n", committed.outbox[0]));

        let number = store.allocate(&tenant, "number", 1).await.unwrap().start;
        acknowledge(&format!("ack number {number} -\n"));

        let read = store.read(&tenant, "chain", &chain).await.unwrap();
        let batch = Batch::new(tenant.clone());
        let length = match &read {
            Some(record) => u64::from_be_bytes(record.value.clone().try_into().unwrap()) + 1,
            None => 1,
        };
        let batch = match &read {
            Some(record) => batch.update("chain", record, length.to_be_bytes().to_vec()),
            None => batch.put(Put::new("chain", &chain, length.to_be_bytes().to_vec())),
        };
        // The oldest call is settled in the same batch: both writes or neither.
        store
            .commit(batch.settle(committed.outbox[0]))
            .await
            .unwrap();
        acknowledge(&format!("ack chain {writer} {length}\n"));
        acknowledge(&format!("ack settled {id} {}\n", committed.outbox[0]));
    }
}

fn spawn(path: &Path, round: u32) -> (Child, Receiver<String>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "nothing_acknowledged_is_lost_when_the_process_is_killed",
            "--nocapture",
        ])
        .env(VICTIM, format!("{round}:{}", path.display()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let (send, lines) = channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        // A line without its end was cut off and is not an acknowledgement.
        while output.read_line(&mut line).is_ok_and(|length| length > 0) && line.ends_with('\n') {
            if line.starts_with("ack ") && send.send(line.trim_end().to_owned()).is_err() {
                break;
            }
            line.clear();
        }
    });
    (child, lines)
}

/// Everything acknowledged so far.
#[derive(Default)]
struct Acked {
    records: Vec<(String, OutboxId)>,
    settled: HashSet<String>,
    numbers: HashSet<u64>,
    chains: [u64; WRITERS as usize],
}

impl Acked {
    fn note(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        let (what, number) = (words[2], words[3].parse::<u64>());
        match words[1] {
            "record" => self
                .records
                .push((what.to_owned(), OutboxId(number.unwrap()))),
            "settled" => assert!(self.settled.insert(what.to_owned())),
            "number" => assert!(
                self.numbers.insert(what.parse().unwrap()),
                "{what} was given twice"
            ),
            "chain" => self.chains[what.parse::<usize>().unwrap()] = number.unwrap(),
            other => panic!("{other}"),
        }
    }

    async fn check(&self, store: &Store, from: usize) {
        let tenant = tenant();
        let told = told(store).await;
        for id in &told {
            let record = store.read(&tenant, "acked", id).await.unwrap();
            assert!(record.is_some(), "{id} was told and is lost");
        }
        for (id, entry) in &self.records[from..] {
            assert!(told.contains(id), "the event of {id} is lost");
            let record = store.read(&tenant, "acked", id).await.unwrap();
            assert_eq!(
                record.unwrap_or_else(|| panic!("{id} is lost")).value,
                id.as_bytes()
            );
            let found = store
                .find(&tenant, "acked", &Tag::hashed("id", id), &Page::first(2))
                .await
                .unwrap();
            assert_eq!(found.len(), 1, "the tag of {id} is lost");
            let pending = store.lease_early(*entry).await.unwrap().is_some();
            assert!(
                !(pending && self.settled.contains(id)),
                "{id} was settled and is pending again"
            );
        }
        for (writer, acked) in self.chains.iter().enumerate() {
            let chain = store
                .read(&tenant, "chain", &format!("chain{writer}"))
                .await
                .unwrap();
            let length = chain.map_or(0, |record| {
                u64::from_be_bytes(record.value.try_into().unwrap())
            });
            assert!(
                length >= *acked,
                "chain {writer} has {length} links, {acked} were acknowledged"
            );
        }
    }
}

/// What the events tell of.
async fn told(store: &Store) -> HashSet<String> {
    let (mut cursor, mut told) = (None::<String>, HashSet::new());
    loop {
        let page = store.events_after(cursor.as_deref(), 1_000).await.unwrap();
        let page = page.expect("no event was removed");
        let Some(last) = page.last() else {
            return told;
        };
        cursor = Some(last.cursor());
        for event in page {
            assert!(told.insert(event.place.id), "told twice");
        }
    }
}

#[test]
#[allow(
    clippy::disallowed_methods,
    reason = "the victim is this test itself, told so by its environment"
)]
fn nothing_acknowledged_is_lost_when_the_process_is_killed() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    match std::env::var(VICTIM) {
        Ok(told) => {
            let (round, path) = told.split_once(':').unwrap();
            runtime.block_on(async {
                let store = open(Path::new(path)).await;
                let writers: Vec<_> = (0..WRITERS)
                    .map(|writer| tokio::spawn(victim(store.clone(), writer, round.to_owned())))
                    .collect();
                for writer in writers {
                    writer.await.unwrap();
                }
            });
        }
        Err(_) => runtime.block_on(kill_again_and_again()),
    }
}

async fn kill_again_and_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.db");
    let mut acked = Acked::default();
    let mut round = 0;
    // On a busy machine, few victims get far enough to settle anything.
    while round < KILLS || acked.settled.len() <= KILLS as usize {
        assert!(round < 20 * KILLS, "{} were settled", acked.settled.len());
        let (mut child, lines) = spawn(&path, round);
        round += 1;
        let first = lines
            .recv_timeout(Duration::from_secs(120))
            .expect("the victim acknowledges something");
        let [a, b, ..] = random_seed();
        tokio::time::sleep(Duration::from_micros(u64::from(u16::from_be_bytes([a, b])))).await;
        child.kill().unwrap();
        child.wait().unwrap();
        let from = acked.records.len();
        acked.note(&first);
        lines.iter().for_each(|line| acked.note(&line));
        let store = open(&path).await;
        acked.check(&store, from).await;
    }
    let store = open(&path).await;
    acked.check(&store, 0).await;
    assert!(acked.records.len() >= KILLS as usize);
}
