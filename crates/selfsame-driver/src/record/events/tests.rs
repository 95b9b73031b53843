use std::sync::Arc;

use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_store::backend::EVENT_SECONDS;
use selfsame_store::{Expect, Memory, Put, TenantId, Vault};

use super::*;

const PATIENCE: Duration = Duration::from_secs(30);

/// A store with a clock that the test sets.
struct Ground {
    store: Store,
    now: Arc<AtomicU64>,
}

impl Ground {
    async fn new() -> Self {
        let now = Arc::new(AtomicU64::new(1_700_000_000));
        let clock = now.clone();
        let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
        let clock = Arc::new(move || UnixTime(clock.load(Ordering::SeqCst)));
        let store = Store::open_with_clock(Arc::new(Memory::new()), vault, clock);
        let store = store.await.unwrap();
        Self { store, now }
    }

    fn process(&self) -> Events {
        Events::new(self.store.clone())
    }
}

fn batch() -> Batch {
    Batch::new(TenantId::instance())
}

async fn issue(events: &Events, id: &str) {
    let event = Event::new(EventKind::Issued, id);
    events.commit(batch(), event).await.unwrap();
}

async fn heard(reader: &mut EventReader) -> Option<String> {
    let next = timeout(PATIENCE, reader.next()).await.unwrap();
    next.map(|event| event.id)
}

/// Nothing is there to be read: a reader has looked again meanwhile.
async fn is_silent(reader: &mut EventReader) -> bool {
    timeout(2 * LOOKED_EVERY, reader.next()).await.is_err()
}

#[tokio::test]
async fn a_reader_hears_what_is_committed_from_now_on_and_nothing_that_is_not() {
    let events = Ground::new().await.process();
    issue(&events, "before").await;
    let mut reader = events.reader().await.unwrap();
    let card = || {
        let batch = batch().expect("card", "1", Expect::Absent);
        batch.put(Put::new("card", "1", vec![]))
    };
    let received = || Event::new(EventKind::Received, "1");
    events.commit(card(), received()).await.unwrap();
    assert!(events.commit(card(), received()).await.is_err());
    issue(&events, "2").await;
    let next = reader.next().await.unwrap();
    assert_eq!(next, received());
    assert_eq!(heard(&mut reader).await.unwrap(), "2");
    assert!(is_silent(&mut reader).await);
    let counts = EventKind::ALL.map(|kind| events.count(kind));
    assert_eq!(counts[..4], [0, 2, 0, 1]);
    assert_eq!(counts[4..].iter().sum::<u64>(), 0);
}

#[tokio::test]
async fn a_reader_hears_other_processes_too_which_are_not_counted() {
    let ground = Ground::new().await;
    let (own, other) = (ground.process(), ground.process());
    let mut reader = own.reader().await.unwrap();
    assert_eq!(reader.cursor(), None);
    issue(&other, "theirs").await;
    assert_eq!(heard(&mut reader).await.unwrap(), "theirs");
    issue(&other, "theirs too").await;
    issue(&own, "ours").await;
    assert_eq!(heard(&mut reader).await.unwrap(), "theirs too");
    assert_eq!(heard(&mut reader).await.unwrap(), "ours");
    assert_eq!(own.count(EventKind::Issued), 1);
    // A kind that only a newer release knows is passed over.
    let newer = batch().event("delegated", "1");
    ground.store.commit(newer).await.unwrap();
    issue(&other, "known").await;
    assert_eq!(heard(&mut reader).await.unwrap(), "known");
}

#[tokio::test]
async fn all_readers_hear_what_one_of_them_finds_of_another_process() {
    let ground = Ground::new().await;
    let (own, other) = (ground.process(), ground.process());
    let mut readers = Vec::new();
    for _ in 0..5 {
        let mut reader = own.reader().await.unwrap();
        readers.push(tokio::spawn(async move { heard(&mut reader).await }));
        tokio::task::yield_now().await;
    }
    issue(&other, "theirs").await;
    for reader in readers {
        assert_eq!(reader.await.unwrap().unwrap(), "theirs");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_readers_hear_every_event_of_a_burst_once_and_in_order() {
    let events = Ground::new().await.process();
    let many = u32::try_from(3 * REMEMBERED_AND_MORE).unwrap();
    let mut readers = Vec::new();
    for _ in 0..5 {
        let mut reader = events.reader().await.unwrap();
        readers.push(tokio::spawn(async move {
            let mut ids = Vec::new();
            for _ in 0..many {
                ids.extend(heard(&mut reader).await);
            }
            ids
        }));
    }
    for number in 0..many {
        issue(&events, &number.to_string()).await;
        if number % 100 == 0 {
            tokio::task::yield_now().await;
        }
    }
    let expected: Vec<_> = (0..many).map(|number| number.to_string()).collect();
    for reader in readers {
        assert_eq!(reader.await.unwrap(), expected);
    }
}

/// More events than a tail has.
const REMEMBERED_AND_MORE: usize = 300;

#[tokio::test]
async fn a_reader_resumes_at_its_cursor_unless_it_is_unknown_or_far_behind() {
    let events = Ground::new().await.process();
    let mut reader = events.reader().await.unwrap();
    for id in ["1", "2", "3"] {
        issue(&events, id).await;
    }
    heard(&mut reader).await;
    let cursor = reader.cursor().unwrap().to_owned();
    // In a process that was started meanwhile.
    let events = Events::new(events.0.store.clone());
    let mut resumed = events.resume(&cursor).await.unwrap().unwrap();
    assert_eq!(resumed.cursor(), Some(cursor.as_str()));
    assert_eq!(heard(&mut resumed).await.unwrap(), "2");
    assert_eq!(heard(&mut resumed).await.unwrap(), "3");
    issue(&events, "4").await;
    assert_eq!(heard(&mut resumed).await.unwrap(), "4");
    for unknown in ["", "0-0", "1-0", "no cursor"] {
        assert!(events.resume(unknown).await.unwrap().is_none());
    }
    for _ in 0..tail::PAGE {
        issue(&events, "further").await;
    }
    assert!(events.resume(&cursor).await.unwrap().is_none());
}

#[tokio::test]
async fn a_reader_whose_events_were_removed_is_told_so_and_continues() {
    let ground = Ground::new().await;
    let events = ground.process();
    let mut reader = events.reader().await.unwrap();
    // Told by another process, so that the tail of this one does not have them.
    for id in ["1", "2", "3"] {
        issue(&ground.process(), id).await;
    }
    let passed = ground.now.fetch_add(EVENT_SECONDS + 1, Ordering::SeqCst);
    let now = UnixTime(passed + EVENT_SECONDS + 1);
    assert_eq!(ground.store.purge_expired(now, 9).await.unwrap(), 2);
    assert_eq!(heard(&mut reader).await, None);
    issue(&events, "4").await;
    assert_eq!(heard(&mut reader).await.unwrap(), "4");
}
