//! Upgrades of tables with rows, on a real server.

#[path = "../../tests/server/server.rs"]
mod server;

use std::sync::Arc;

use selfsame_crypto::seal::SealingKey;
use selfsame_store::{Batch, NewOutbox, Put, Store, Tag, TenantId, Vault};
use server::Server;

use super::*;
use crate::address::Address;
use crate::backend::{Company, Postgres};
use crate::pool::{connection, pool};

/// Makes the tables those of layout 1 again.
const BACK: &str = "DROP TABLE readers; DROP INDEX records_of_keys;
    ALTER TABLE outbox DROP COLUMN holder; ALTER TABLE processes DROP COLUMN alone;
    UPDATE layout SET layout = 1";

async fn open(url: &str) -> Store {
    let address = Address::parse(url).unwrap();
    let backend = Postgres::open(&address, 1, Company::Alone).await.unwrap();
    let vault = Vault::from_master(SealingKey::from_bytes([1; 32]));
    Store::open(Arc::new(backend), vault).await.unwrap()
}

fn tenant() -> TenantId {
    TenantId::parse("one").unwrap()
}

/// Tables of layout 1 with rows in each of them.
async fn former(url: &str) -> Client {
    let store = open(url).await;
    for id in ["1", "2"] {
        let put = Put::new("card", id, vec![7; 40]).tag(Tag::hashed("colour", "red"));
        let call = NewOutbox {
            destination: "there".to_owned(),
            subject: id.to_owned(),
            key: "once".to_owned(),
            payload: Vec::new(),
            not_before: selfsame_crypto::time::UnixTime(0),
        };
        let batch = Batch::new(tenant()).put(put).event("issued", id);
        store.commit(batch.enqueue(call)).await.unwrap();
    }
    store.allocate(&tenant(), "places", 1).await.unwrap();
    drop(store);
    let client = connection(&pool(&Address::parse(url).unwrap(), 1).unwrap()).await;
    let client = client.unwrap();
    client.batch_execute(BACK).await.unwrap();
    client
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upgrade_that_loses_or_changes_a_row_is_undone_and_the_tables_stay_usable() {
    let harmful = [
        "DELETE FROM records WHERE kind = 'card' AND id = '1'",
        "UPDATE records SET value = '' WHERE kind = 'card' AND id = '1'",
        "UPDATE records SET expires = 1 WHERE kind = 'card' AND id = '1'",
        "INSERT INTO counters (tenant, counter, next) VALUES ('one', 'other', 1)",
        "DELETE FROM tags",
        "DELETE FROM outbox",
        "UPDATE outbox SET head = false",
        "DELETE FROM events",
        "UPDATE positions SET newest = 0",
        "UPDATE processes SET generation = 0",
        "ALTER TABLE records DROP COLUMN tags",
        "no statement at all",
    ];
    let url = Server::shared().fresh();
    let client = former(&url).await;
    let before = whole_census(&client).await.unwrap();
    for harm in harmful {
        let upgrade = [schema::MIGRATIONS[0], schema::MIGRATIONS[1], harm];
        let refused = transaction(&client, upgraded(&client, &upgrade, 1)).await;
        let Err(DatabaseFailure::Final(StoreError::Storage(why))) = refused else {
            panic!("{harm}: {refused:?}");
        };
        let census = whole_census(&client).await.unwrap();
        assert_eq!(before.difference(&census), None, "{harm}: {why}");
        let layout = client.query_one(schema::LOCK_LAYOUT, &[]).await.unwrap();
        assert_eq!(layout.get::<_, i32>(1), 1, "{harm}");
        // What the release before sends is still understood.
        let former = "SELECT id, seq, tenant, lane, not_before, attempts, created, buried, reason FROM outbox";
        assert_eq!(client.query(former, &[]).await.unwrap().len(), 2);
    }
    let store = open(&url).await;
    let card = store.read(&tenant(), "card", "1").await.unwrap();
    assert_eq!(card.unwrap().value, [7; 40], "the real upgrade follows");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_upgrade_says_which_rows_it_would_have_lost() {
    let url = Server::shared().fresh();
    let client = former(&url).await;
    let upgrade = [
        schema::MIGRATIONS[0],
        schema::MIGRATIONS[1],
        "DELETE FROM records WHERE id = '1'",
    ];
    let refused = transaction(&client, upgraded(&client, &upgrade, 1)).await;
    let said = refused.unwrap_err().into_error().to_string();
    assert!(
        said.contains("(records of the kind card: 2 before, 1 after)"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commits_of_other_processes_wait_for_an_upgrade() {
    let url = Server::shared().fresh();
    let client = former(&url).await;
    let other = connection(&pool(&Address::parse(&url).unwrap(), 1).unwrap()).await;
    let other = other.unwrap();
    other
        .batch_execute("SET lock_timeout = '50ms'")
        .await
        .unwrap();
    let upgrade = async {
        upgraded(&client, &schema::MIGRATIONS, 1).await?;
        let process = other.query("SELECT process FROM processes FOR UPDATE", &[]);
        let refused = process.await.unwrap_err();
        assert_eq!(
            refused.code().unwrap().code(),
            "55P03",
            "the lock is still held"
        );
        DatabaseResult::Ok(())
    };
    transaction(&client, upgrade).await.unwrap();
}

/// A process of the release before goes on with a commit that waits while the tables are upgraded, and the upgrade does not
/// wait for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_commit_of_the_release_before_waits_for_an_upgrade_and_then_takes_effect() {
    let url = Server::shared().fresh();
    drop(former(&url).await);
    let address = Address::parse(&url).unwrap();
    let client = connection(&pool(&address, 1).unwrap()).await.unwrap();
    let back = "ALTER TABLE outbox ADD COLUMN holder uuid;
        ALTER TABLE processes ADD COLUMN alone boolean NOT NULL DEFAULT false; UPDATE layout SET layout = 2";
    client.batch_execute(back).await.unwrap();
    let other = connection(&pool(&address, 1).unwrap()).await.unwrap();
    let commit = async {
        // As a commit does: it locks the row of its process, and then writes records.
        other.batch_execute("BEGIN").await.unwrap();
        let locked = other.query(schema::LOCK_PROCESSES, &[]).await;
        let written = other
            .execute("UPDATE records SET expires = NULL WHERE kind = 'card'", &[])
            .await;
        other.batch_execute("COMMIT").await.unwrap();
        (locked.map(drop), written)
    };
    let upgrade = async {
        let upgrade = async {
            client.query(schema::LOCK_PROCESSES, &[]).await?;
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
            upgraded(&client, &schema::MIGRATIONS, 2).await
        };
        transaction(&client, upgrade).await
    };
    let (upgraded, (locked, written)) = tokio::join!(upgrade, commit);
    upgraded.unwrap();
    locked.unwrap();
    assert_eq!(written.unwrap(), 2);
}
