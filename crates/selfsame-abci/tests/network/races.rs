//! Races between two clients for one thing, at a validator and at a node that only follows.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use crate::TURN;
use crate::bad_input::call;
use crate::cluster::{Actor, Cluster, until};
use crate::load::Load;
use crate::machine::Watch;
use crate::told::Told;

/// The maximum time after both requests until the loser is told.
const TOLD: Duration = Duration::from_secs(2);
const FOLLOWER: usize = 3;

#[tokio::test]
async fn who_loses_a_race_at_a_follower_or_at_a_validator_is_told_soon_and_leaves_nothing_behind() {
    let _turn = TURN.lock().await;
    let cluster = Cluster::start(4).await;
    let told = std::sync::Arc::new(Told::begin(&cluster).await);
    let removal = cluster.trustee.remove_validator(1, "node-4");
    told.keep(&removal, &cluster.node(0).write(&removal).await);
    let [issuer, one, two] = [(); 3].map(|()| Actor::new(&cluster.genesis));
    for transaction in [
        one.create(),
        two.create(),
        issuer.begin_with_delegates(&[&one, &two]),
    ] {
        told.keep(&transaction, &cluster.node(0).write(&transaction).await);
    }
    // The follower has the block.
    let before = Load::undisturbed(&cluster, &told).await;
    let (watch, mut slowest) = (Watch::begin(), Duration::ZERO);
    for handle in 0..8 {
        let of_one = one.consume(u64::from(handle) + 1, (&issuer, handle, 0));
        let of_two = two.consume(u64::from(handle) + 1, (&issuer, handle, 1));
        let (at_one, at_two) = match handle % 2 {
            0 => (FOLLOWER, 0),
            _ => (1, FOLLOWER),
        };
        let begun = Instant::now();
        let (at_one, at_two) = (cluster.node(at_one), cluster.node(at_two));
        let (first, second) = tokio::join!(at_one.submit(&of_one), at_two.submit(&of_two));
        slowest = slowest.max(begun.elapsed());
        let lost = match (first, second) {
            (Ok(receipt), Err(lost)) => {
                told.keep(&of_one, &receipt);
                lost
            }
            (Err(lost), Ok(receipt)) => {
                told.keep(&of_two, &receipt);
                lost
            }
            both => panic!("{both:?}"),
        };
        assert!(
            lost.starts_with("Conflict") && lost.contains("used before"),
            "{lost}"
        );
    }
    let bar = watch.end().widened(TOLD, [&before, &before]);
    assert!(slowest <= bar, "told after {slowest:?}");
    // The losing transaction is gone from every node after some more blocks.
    let nothing_waits = async || {
        told.write(&cluster, 1).await;
        (0..4).all(|n| waiting(&cluster, n) == "0")
    };
    until("what lost is dropped", nothing_waits).await;
    told.is_true_on_all(&cluster).await;
    cluster.stop().await;
}

fn waiting(cluster: &Cluster, n: usize) -> String {
    let answer = call(cluster.rpc(n), "num_unconfirmed_txs", json!({}));
    answer["result"]["n_txs"].as_str().unwrap().to_owned()
}
