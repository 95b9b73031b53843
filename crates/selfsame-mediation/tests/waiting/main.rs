//! Envelopes that wait, on every back end of the store.

#[path = "../../../selfsame-postgres/tests/server/server.rs"]
mod server;
mod suite;

use std::sync::Arc;

use selfsame_postgres::{Address, Company, Postgres};
use selfsame_store::backend::Backend;
use selfsame_store::{Memory, Sqlite, Store};
use server::Server;
use tempfile::TempDir;

/// Runs a case of the suite on each back end.
async fn on_each_backend(case: impl AsyncFn(Store)) {
    let folder = TempDir::new().unwrap();
    let sqlite = Sqlite::open(folder.path().join("store.sqlite")).unwrap();
    let address = Address::parse(&Server::shared().fresh()).unwrap();
    let postgres = Postgres::open(&address, 4, Company::Alone).await.unwrap();
    let backends: [Arc<dyn Backend>; 3] = [
        Arc::new(Memory::new()),
        Arc::new(sqlite),
        Arc::new(postgres),
    ];
    for backend in backends {
        case(suite::store(backend).await).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_goes_back_in_order_and_once() {
    on_each_backend(suite::what_waits_goes_back_in_order_and_once).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_envelope_that_did_not_go_back_waits_on() {
    on_each_backend(suite::an_envelope_that_did_not_go_back_waits_on).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_is_connected_to_one_process_gets_what_another_one_took() {
    on_each_backend(suite::a_peer_that_is_connected_to_one_process_gets_what_another_one_took)
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_of_a_message_opens_no_way_back() {
    on_each_backend(suite::a_copy_of_a_message_opens_no_way_back).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_for_one_thread_leaves_the_others_in_the_queue() {
    on_each_backend(suite::a_line_for_one_thread_leaves_the_others_in_the_queue).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_has_its_room_and_all_have_theirs() {
    on_each_backend(suite::a_peer_has_its_room_and_all_have_theirs).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_too_long_is_gone() {
    on_each_backend(suite::what_waits_too_long_is_gone).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mailbox_has_room_again_when_what_waits_has_gone() {
    on_each_backend(suite::a_mailbox_has_room_again_when_what_waits_has_gone).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_routes_to_the_keys_of_an_erased_agent_are_removed() {
    on_each_backend(suite::the_routes_to_the_keys_of_an_erased_agent_are_removed).await;
}
