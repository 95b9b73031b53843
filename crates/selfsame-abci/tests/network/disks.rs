//! Faults: a node's disk is slow, or full.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use crate::TURN;
use crate::cluster::{Cluster, engines, until};
use crate::load::Load;
use crate::machine::Watch;
use crate::told::Told;

/// A write waits for a slow disk only if too few other nodes are faster.
const UNHURT: Duration = Duration::from_millis(1_500);

#[tokio::test]
async fn fault_a_slow_disk_holds_up_its_own_node_and_slow_disks_everywhere_hold_up_but_lose_nothing()
 {
    let _turn = TURN.lock().await;
    let cluster = Cluster::start(4).await;
    let told = Arc::new(Told::begin(&cluster).await);
    let before = Load::undisturbed(&cluster, &told).await;
    cluster.node(3).ask("slow 400").await.unwrap();
    let watch = Watch::begin();
    let load = Load::start(&cluster, (6, &[0, 1, 2]), &told);
    load.writes(120).await;
    let figures = load.stop().await;
    let others = watch.end();
    figures.print("one disk takes 400 ms longer");
    assert_eq!(figures.failed, Vec::<String>::new());
    let one_slow = figures;

    for n in 0..4 {
        cluster.node(n).ask("slow 100").await.unwrap();
    }
    let load = Load::start(&cluster, (6, &[0, 1, 2]), &told);
    load.writes(20).await;
    let figures = load.stop().await;
    figures.print("all disks take 100 ms longer");
    assert_eq!(figures.failed, Vec::<String>::new());
    for n in 0..4 {
        cluster.node(n).ask("slow 0").await.unwrap();
    }
    told.is_true_on_all(&cluster).await;
    let after = Load::undisturbed(&cluster, &told).await;
    let bar = others.widened(UNHURT, [&before, &after]);
    assert!(one_slow.p99 <= bar, "{one_slow}");
    cluster.stop().await;
}

#[tokio::test]
async fn fault_a_node_whose_disk_is_full_stops_and_says_why_and_goes_on_once_there_is_room() {
    let _turn = TURN.lock().await;
    let cluster = Cluster::limited(4, &["deadline=6"]).await;
    let told = Arc::new(Told::begin(&cluster).await);
    let load = Load::start(&cluster, (6, &[0, 1, 2]), &told);
    load.writes(40).await;
    let full = cluster.node(3);
    room(full.id, "0:");
    let stopped = async || !full.ask("trouble").await.unwrap().is_empty();
    until("the node stops", stopped).await;
    // The other nodes do not need it.
    load.writes(60).await;
    // Either half may report it to the operator.
    until("the operator is told", async || {
        full.said("could not be stored (is the disk full?)")
    })
    .await;
    let trouble = async || full.ask("trouble").await.unwrap();
    until("the engine says why", async || {
        trouble().await.contains("file too large")
    })
    .await;
    let trouble = trouble().await;
    let refused = crate::cluster::Actor::new(&cluster.genesis).create();
    let refused = full.submit(&refused).await.unwrap_err();
    assert!(
        refused.contains("its operator can see the reason"),
        "{refused}"
    );

    room(full.id, "unlimited:");
    for engine in engines(&cluster.home(3)) {
        room(engine.parse().unwrap(), "unlimited:");
    }
    let over = async || full.ask("trouble").await.unwrap().is_empty();
    until("its trouble is over", over).await;
    let figures = load.stop().await;
    figures.print(&format!("one disk full ({trouble})"));
    assert_eq!(figures.failed, Vec::<String>::new());
    told.write(&cluster, 3).await;
    told.is_true_on_all(&cluster).await;
    cluster.stop().await;
}

#[tokio::test]
async fn fault_a_node_whose_disk_was_full_for_a_moment_takes_part_again() {
    let _turn = TURN.lock().await;
    let cluster = Cluster::create(4, &["deadline=6"]);
    for n in 0..3 {
        cluster.restart(n).await;
    }
    cluster.start_on_small_disk(3).await;
    let told = Arc::new(Told::begin(&cluster).await);
    let load = Load::start(&cluster, (6, &[0, 1, 2]), &told);
    load.writes(40).await;
    let full = cluster.node(3);
    let home = cluster.home(3);
    let inside = home.strip_prefix("/").unwrap();
    let filler = PathBuf::from(format!("/proc/{}/root", full.id)).join(inside);
    let filler = filler.join("filler");
    // Repeated, to use up the space that compaction and checkpoints of files free as well.
    let fill = || {
        let to = format!("of={}", filler.display());
        let zeros = ["if=/dev/zero", "bs=4k", "oflag=append", "conv=notrunc"];
        let filled = Command::new("dd").args(zeros).arg(to).output();
        // It fails when the disk is full.
        assert!(!filled.unwrap().status.success());
    };
    until("the node stops", async || {
        fill();
        full.said("both halves of the node stopped")
    })
    .await;
    load.writes(40).await;
    std::fs::remove_file(&filler).unwrap();
    until("its trouble is over", async || {
        full.ask("trouble").await.unwrap().is_empty()
    })
    .await;
    let figures = load.stop().await;
    let why = full.last_said("both halves of the node stopped").join("\n");
    figures.print(&format!("one disk full for a moment ({why})"));
    assert_eq!(figures.failed, Vec::<String>::new());
    told.write(&cluster, 3).await;
    told.is_true_on_all(&cluster).await;
    cluster.stop().await;
}

/// Limits the size of files that a process writes: beyond it, writes fail as on a full disk. The engine that it starts
/// inherits the limit.
fn room(process: u32, bytes: &str) {
    let status = Command::new("prlimit")
        .args(["--pid", &process.to_string()])
        .arg(format!("--fsize={bytes}"))
        .status();
    assert!(status.unwrap().success());
}
