//! Races: under concurrency, single events still happen once.

use std::collections::HashSet;

use selfsame_store::{Batch, Expect, Put, StoreError, TenantId};
use tokio::task::JoinSet;

use super::ground::{Ground, read_as, tenant};

const KIND: &str = "code";

/// Runs the commits concurrently and returns how many succeeded. All others must have failed with a conflict.
async fn winners(
    ground: &Ground,
    batches: impl IntoIterator<Item = Batch>,
) -> (usize, selfsame_store::Store) {
    let store = ground.store().await;
    let mut tasks = JoinSet::new();
    for batch in batches {
        let store = store.clone();
        tasks.spawn(async move { store.commit(batch).await });
    }
    let mut won = 0;
    while let Some(outcome) = tasks.join_next().await {
        match outcome.unwrap() {
            Ok(_) => won += 1,
            Err(StoreError::Conflict { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    (won, store)
}

pub async fn of_many_commits_with_one_expectation_exactly_one_wins(ground: Ground) {
    let anna = tenant("anna");
    let store = ground.store().await;
    let version = store
        .commit(Batch::new(anna.clone()).put(Put::new(KIND, "1", vec![])))
        .await
        .unwrap()
        .versions[0];
    drop(store);
    let spend = |number: u8| {
        let spent = Put::new("spent", format!("{number}"), vec![]);
        let batch = Batch::new(anna.clone())
            .update(KIND, &read_as("1", version), vec![number])
            .put(spent);
        // Durable and deferred batches share transactions.
        if number.is_multiple_of(3) {
            batch.deferred()
        } else {
            batch
        }
    };
    let (won, store) = winners(&ground, (0..64).map(spend)).await;
    assert_eq!(won, 1);
    let spent = store
        .list(&anna, "spent", &selfsame_store::Page::first(99))
        .await
        .unwrap();
    let code = store.read(&anna, KIND, "1").await.unwrap().unwrap();
    assert_eq!(
        spent
            .iter()
            .map(|record| record.id.as_str())
            .collect::<Vec<_>>(),
        [code.value[0].to_string()]
    );
}

pub async fn of_many_commits_that_expect_absence_exactly_one_wins(ground: Ground) {
    let anna = tenant("anna");
    let claim = |number: u8| {
        Batch::new(anna.clone())
            .expect(KIND, "1", Expect::Absent)
            .put(Put::new(KIND, "1", vec![number]))
    };
    let (won, _) = winners(&ground, (0..64).map(claim)).await;
    assert_eq!(won, 1);
}

pub async fn allocated_numbers_never_repeat(ground: Ground) {
    let anna = tenant("anna");
    let mut given = HashSet::new();
    for _ in 0..3 {
        let store = ground.store().await;
        let mut tasks = JoinSet::new();
        for task in 0..16_u64 {
            let (store, anna) = (store.clone(), anna.clone());
            tasks.spawn(async move {
                let mut numbers = Vec::new();
                for round in 0..150 {
                    numbers.extend(
                        store
                            .allocate(&anna, "list", 1 + (task + round) % 3)
                            .await
                            .unwrap(),
                    );
                }
                numbers
            });
        }
        while let Some(numbers) = tasks.join_next().await {
            for number in numbers.unwrap() {
                assert!(given.insert(number), "{number} was given twice");
            }
        }
    }
    let (store, first) = (ground.store().await, TenantId::instance());
    assert_eq!(
        store.allocate(&first, "list", 5_000).await.unwrap(),
        0..5_000
    );
    assert_eq!(
        store.allocate(&first, "list", 1).await.unwrap(),
        5_000..5_001
    );
    let before = store.meter().commits();
    for number in 5_001..5_501 {
        assert_eq!(
            store.allocate(&first, "list", 1).await.unwrap().start,
            number
        );
    }
    assert_eq!(
        store.meter().commits(),
        before,
        "numbers of a block cost no commit"
    );
}

pub async fn a_tenant_first_seen_by_many_gets_one_key(ground: Ground) {
    let anna = tenant("anna");
    let puts = (0..32).map(|number: u8| {
        Batch::new(anna.clone()).put(Put::new(KIND, number.to_string(), vec![number]))
    });
    let (won, store) = winners(&ground, puts).await;
    assert_eq!(won, 32);
    drop(store);
    let store = ground.store().await;
    for number in 0..32 {
        assert_eq!(
            store
                .read(&anna, KIND, &number.to_string())
                .await
                .unwrap()
                .unwrap()
                .value,
            [number]
        );
    }
}
