//! Faults: nodes are lost and return.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use selfsame_registry::Genesis;
use tokio::time::Instant;

use crate::TURN;
use crate::cluster::{Actor, Cluster, NodeProcess};
use crate::load::Load;
use crate::machine::{Others, Watch};
use crate::told::Told;

/// The maximum time of 99 of 100 writes while one of four nodes is lost.
const P99: Duration = Duration::from_millis(1_500);
/// The maximum time without any acknowledgement while one of four nodes is lost.
const STALL: Duration = Duration::from_secs(3);
/// The maximum time until writes resume after enough nodes have returned.
const RESUMED: Duration = Duration::from_secs(3);

#[tokio::test]
async fn fault_one_of_four_is_killed_under_load_and_no_write_fails() {
    let _turn = TURN.lock().await;
    let cluster = Cluster::start(4).await;
    let told = Arc::new(Told::begin(&cluster).await);
    let before = Load::undisturbed(&cluster, &told).await;
    let watch = Watch::begin();
    let load = Load::start(&cluster, (8, &[0, 1, 2, 3]), &told);
    load.writes(100).await;
    cluster.kill(3).await;
    load.writes(200).await;
    cluster.restart(3).await;
    load.writes(100).await;
    let figures = load.stop().await;
    let others = watch.end();
    figures.print(&format!("one of four killed, {others:?}"));
    let after = Load::undisturbed(&cluster, &told).await;
    let bar = |bar| others.widened(bar, [&before, &after]);
    assert_eq!(figures.failed, Vec::<String>::new());
    assert!(figures.p99 <= bar(P99), "{figures}");
    assert!(figures.stall <= bar(STALL), "{figures}");
    told.is_true_on_all(&cluster).await;
    cluster.stop().await;
}

#[tokio::test]
async fn fault_two_of_four_are_killed_and_writes_wait_until_they_are_back_while_reads_never_stop() {
    let _turn = TURN.lock().await;
    let cluster = Cluster::limited(4, &["deadline=2"]).await;
    let told = Arc::new(Told::begin(&cluster).await);
    let before = Load::undisturbed(&cluster, &told).await;
    let known = told.write(&cluster, 0).await;
    known.is_proven_on_all(&cluster).await;
    let reader = Reader::start(&cluster.genesis, cluster.node(0), &known);

    cluster.kill(3).await;
    cluster.kill(2).await;
    let waiting: Vec<_> = (0..3).map(|_| Actor::new(&cluster.genesis)).collect();
    for (actor, at) in waiting.iter().zip([0, 1, 0]) {
        let refused = cluster.node(at).submit(&actor.create()).await.unwrap_err();
        assert!(refused.starts_with("Unavailable"), "{refused}");
        assert!(refused.contains("too few validators"), "{refused}");
    }
    // The last node can prove its state without the others, even after a restart.
    cluster.kill(1).await;
    let key = known.state_key();
    let genesis = &cluster.genesis;
    assert!(cluster.node(0).proves(genesis, &key).await.is_some());
    cluster.restart(1).await;
    assert!(cluster.node(1).proves(genesis, &key).await.is_some());

    let load = Load::start(&cluster, (4, &[0, 1]), &told);
    let (begun, watch) = (Instant::now(), Watch::begin());
    cluster.restart(2).await;
    load.writes(1).await;
    let resumed = begun.elapsed();
    let others = watch.end();
    load.writes(20).await;
    load.stop().await.print("three of four are back");
    let reads = reader.stop().await;
    print(resumed, &reads, others);

    // The waiting transactions are now written, each once.
    for actor in waiting {
        let transaction = actor.create();
        told.keep(&transaction, &cluster.node(0).write(&transaction).await);
    }
    cluster.restart(3).await;
    told.is_true_on_all(&cluster).await;
    let after = Load::undisturbed(&cluster, &told).await;
    let bar = |bar| others.widened(bar, [&before, &after]);
    assert!(resumed <= bar(RESUMED), "writes went on after {resumed:?}");
    assert!(reads.count > 20 && reads.longest <= bar(STALL), "{reads:?}");
    cluster.stop().await;
}

#[tokio::test]
async fn fault_all_are_killed_under_load_and_what_was_acknowledged_is_there_when_they_are_back() {
    let _turn = TURN.lock().await;
    let cluster = Cluster::start(4).await;
    let told = Arc::new(Told::begin(&cluster).await);
    let before = Load::undisturbed(&cluster, &told).await;
    let load = Load::start(&cluster, (8, &[0, 1, 2, 3]), &told);
    load.writes(60).await;
    for n in 0..4 {
        cluster.kill(n).await;
    }
    for n in 0..2 {
        cluster.restart(n).await;
    }
    // With the third node there are enough.
    let (begun, watch) = (Instant::now(), Watch::begin());
    cluster.restart(2).await;
    load.writes(1).await;
    let resumed = begun.elapsed();
    let others = watch.end();
    cluster.restart(3).await;
    load.writes(40).await;
    load.stop().await.print(&format!(
        "all killed, writes {} ms after the third was started, {others:?}",
        resumed.as_millis()
    ));
    told.is_true_on_all(&cluster).await;
    let after = Load::undisturbed(&cluster, &told).await;
    let bar = others.widened(RESUMED, [&before, &after]);
    assert!(resumed <= bar, "writes went on after {resumed:?}");
    cluster.stop().await;
}

#[allow(clippy::disallowed_macros, reason = "a test's figures")]
fn print(resumed: Duration, reads: &Reads, others: Others) {
    eprintln!(
        "two of four killed: writes after {} ms, {} verified reads in the meantime, the longest {} ms, {others:?}",
        resumed.as_millis(),
        reads.count,
        reads.longest.as_millis()
    );
}

/// A client that reads from one node all the time, and verifies.
struct Reader {
    stop: Arc<AtomicBool>,
    reading: tokio::task::JoinHandle<Reads>,
}

#[derive(Debug, Default)]
struct Reads {
    count: usize,
    longest: Duration,
}

impl Reader {
    fn start(genesis: &Genesis, node: Arc<NodeProcess>, of: &Actor) -> Self {
        let stop = Arc::<AtomicBool>::default();
        let (genesis, key, stopped) = (genesis.clone(), of.state_key(), stop.clone());
        let reading = tokio::spawn(async move {
            let mut reads = Reads::default();
            while !stopped.load(Ordering::Relaxed) {
                let begun = Instant::now();
                assert!(node.proves(&genesis, &key).await.is_some());
                reads.longest = reads.longest.max(begun.elapsed());
                reads.count += 1;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            reads
        });
        Self { stop, reading }
    }

    async fn stop(self) -> Reads {
        self.stop.store(true, Ordering::Relaxed);
        self.reading.await.unwrap()
    }
}
