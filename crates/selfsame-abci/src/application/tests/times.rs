//! Header times that are wrong by minutes: with any proposer, the ledger's time never goes back, and all nodes agree.

use super::*;

/// Applies blocks with these times, in seconds after the beginning, on a node.
async fn applied(world: &mut World, blocks: &[(i64, Bytes)]) -> Vec<(u64, [u8; 32])> {
    let mut heads = Vec::new();
    for ((after, transaction), height) in blocks.iter().zip(1_u32..) {
        let mut block = decided(height, vec![transaction.clone()]);
        block.time = time(*after);
        let finalized = world.consensus.finalize(&block).unwrap();
        assert_eq!(finalized.tx_results[0].code.value(), 0);
        world.consensus.commit().await.unwrap();
        let head = world.stored();
        assert_eq!(finalized.app_hash.as_bytes(), head.app_hash());
        heads.push((head.time.0 - BEGAN.unsigned_abs(), head.app_hash()));
    }
    heads
}

#[tokio::test]
async fn header_times_that_jump_and_go_back_by_minutes_leave_the_ledgers_time_in_order_on_all_nodes()
 {
    let mut world = World::new().await;
    let mut neighbour = world.neighbour(1).await;
    // Forward by ten minutes, back by nine, to before the beginning, then forward again.
    let times = [1, 600, 60, -600, 60, 601];
    let blocks: Vec<_> = times.map(|after| (after, world.creation())).into();
    let heads = applied(&mut world, &blocks).await;
    let ledger_times: Vec<u64> = heads.iter().map(|(time, _)| *time).collect();
    assert_eq!(ledger_times, [1, 600, 600, 600, 600, 601]);
    assert_eq!(applied(&mut neighbour, &blocks).await, heads);
    let receipts = world.application.ledger.entries(1, 10).unwrap();
    assert!(receipts.windows(2).all(|pair| pair[0].time <= pair[1].time));
}

#[tokio::test]
async fn a_clock_of_ours_that_is_wrong_by_minutes_changes_neither_what_waits_nor_what_is_decided() {
    let mut world = World::new().await;
    let mut neighbour = world.neighbour(1).await;
    let blocks: Vec<_> = [1, 2, 3].map(|after| (after, world.creation())).into();
    let checked = |world: &World, tx: &Bytes| {
        let request = request::CheckTx {
            tx: tx.clone(),
            kind: CheckTxKind::New,
        };
        world.application.check(&request).code
    };
    world.application.clock.advance(600);
    neighbour.application.clock.set_back(600);
    for (_, transaction) in &blocks {
        assert!(checked(&world, transaction).is_ok());
        assert!(checked(&neighbour, transaction).is_ok());
    }
    let heads = applied(&mut world, &blocks).await;
    assert_eq!(applied(&mut neighbour, &blocks).await, heads);
}
