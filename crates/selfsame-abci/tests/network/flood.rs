//! Back-pressure: a node receives more requests than it accepts.

use std::sync::Arc;

use crate::TURN;
use crate::cluster::{Actor, Cluster};
use crate::load::Load;
use crate::told::Told;

/// The number of transactions that may wait at a node of this test, and the number submitted.
const WAITING: usize = 64;
const FLOOD: usize = 1_500;
/// The share of the earlier rate that counts as the full rate, since measurements differ by that much.
const FULL: f64 = 0.7;
const MEASURED: usize = 5;

#[tokio::test]
async fn fault_a_flood_is_turned_away_with_a_time_to_come_back_and_the_rate_is_as_before_after_it()
{
    let _turn = TURN.lock().await;
    let cluster = Cluster::limited(4, &[&format!("waiting={WAITING}")]).await;
    let told = Arc::new(Told::begin(&cluster).await);
    let measure = async |what: &str| {
        let load = Load::start(&cluster, (16, &[0, 1, 2, 3]), &told);
        load.writes(200).await;
        let figures = load.stop().await;
        figures.print(what);
        assert_eq!(figures.failed, Vec::<String>::new());
        figures.rate()
    };
    measure("before the flood, cold").await;
    let before = measure("before the flood").await;

    let transactions: Vec<_> = (0..FLOOD)
        .map(|_| Actor::new(&cluster.genesis).create())
        .collect();
    let node = cluster.node(0);
    let senders: Vec<_> = transactions
        .into_iter()
        .map(|transaction| {
            let node = node.clone();
            tokio::spawn(async move { (node.submit(&transaction).await, transaction) })
        })
        .collect();
    let (mut taken, mut turned_away) = (0, 0);
    for sender in senders {
        match sender.await.unwrap() {
            (Ok(receipt), transaction) => {
                told.keep(&transaction, &receipt);
                taken += 1;
            }
            // The HTTP server turns it into a 429 with `Retry-After`.
            (Err(reason), _) => {
                let told_when = reason.starts_with("TooMany { retry_after: 1 }");
                assert!(told_when, "{reason}");
                turned_away += 1;
            }
        }
    }
    assert!(
        taken >= WAITING && turned_away > 0,
        "{taken} taken, {turned_away} turned away"
    );
    // Other work on this machine may disturb one measurement, but not all of them.
    let mut after = Vec::new();
    while after.iter().all(|rate| *rate < before * FULL) {
        assert!(
            after.len() < MEASURED,
            "{before:.0}/s before, {after:.0?} after"
        );
        after.push(measure("after the flood").await);
    }
    told.is_true_on_all(&cluster).await;
    cluster.stop().await;
}
