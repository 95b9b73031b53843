//! Verdicts on a transaction while its own block is stored.

use selfsame_registry::Block;
use selfsame_store::ledger::SqliteLedger;

use super::*;
use crate::node::refusal;

const ROUNDS: u64 = 100;

#[tokio::test]
async fn a_transaction_whose_block_is_stored_meanwhile_is_never_refused_for_what_it_wrote_itself() {
    let world = World::new().await;
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteLedger::open(folder.path().join("ledger.sqlite")).unwrap();
    let machine = Arc::new(StateMachine::new(world.genesis.clone()));
    let ledger = Ledger::open(Arc::new(store), machine).unwrap();
    for height in 1..=ROUNDS {
        let head = ledger.head().unwrap();
        let created = ledger.machine().read(&world.creation(), height, &ledger);
        let transactions = vec![created.unwrap()];
        let block = Block {
            time: head.time,
            transactions: &transactions,
        };
        let applied = ledger.apply(&head, &block).unwrap();
        let (asked, transaction) = (ledger.clone(), transactions[0].clone());
        let asking = std::thread::spawn(move || {
            loop {
                match refusal(&asked, &transaction) {
                    Ok(receipt) => return receipt,
                    Err(error) => assert!(!error.is_refusal(), "{error}"),
                }
            }
        });
        ledger.append(&transactions, &applied).await.unwrap();
        assert_eq!(asking.join().unwrap().height, height);
    }
}
