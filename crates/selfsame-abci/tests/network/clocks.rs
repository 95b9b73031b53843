//! Faults: clocks are wrong by minutes.

use std::sync::Arc;

use selfsame_driver::clock::Clock;
use selfsame_ledger::trust_root;
use selfsame_proof::checkpoint::Checkpoint;
use selfsame_proof::note::SignedNote;
use selfsame_proof::read::ReadOutcome;

use crate::TURN;
use crate::cluster::Cluster;
use crate::load::Load;
use crate::told::Told;

const MINUTES: i64 = 10 * 60;

#[tokio::test]
async fn fault_nodes_whose_clocks_are_wrong_by_minutes_write_and_sign_with_the_others() {
    let _turn = TURN.lock().await;
    let cluster = Cluster::start(4).await;
    let told = Arc::new(Told::begin(&cluster).await);
    cluster.node(0).ask("clock 600").await.unwrap();
    cluster.node(1).ask("clock -600").await.unwrap();
    let load = Load::start(&cluster, (8, &[0, 1, 2, 3]), &told);
    load.writes(80).await;
    let figures = load.stop().await;
    figures.print("two clocks wrong by minutes");
    assert_eq!(figures.failed, Vec::<String>::new());
    let known = told.write(&cluster, 0).await;
    told.is_true_on_all(&cluster).await;

    let (now, trust) = (Clock::default().now(), trust_root(&cluster.genesis));
    for node in cluster.alive() {
        // The network's time comes from the validators' engines; our half's clock does not affect blocks.
        let note = SignedNote::parse(&node.note().await.unwrap()).unwrap();
        let text = std::str::from_utf8(note.signing_bytes()).unwrap();
        let standing = Checkpoint::parse(text).unwrap().standing().unwrap();
        assert!(standing.time.0.abs_diff(now.0) < 60, "{standing:?}");

        // A reader whose own clock is wrong learns that the answer does not match its time; it does not take it for
        // forged.
        let key = known.state_key();
        for (wrong_by, outcome) in [
            (0, ReadOutcome::Verified),
            (MINUTES, ReadOutcome::Untimely),
            (-MINUTES, ReadOutcome::Untimely),
        ] {
            let (_, judged, _) = node.judged(&key, &trust, wrong_by).await;
            assert_eq!(judged, outcome, "wrong by {wrong_by} s");
        }
    }
    cluster.stop().await;
}
