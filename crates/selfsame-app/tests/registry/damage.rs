//! The behaviour of a registry whose ledger reads other bits than were written.

use selfsame_did::Options;
use selfsame_driver::{Error, ErrorKind};
use selfsame_ledger::embedded::Embedded;
use selfsame_ledger::{LocalRegistry, Registry, ServedRegistry};
use selfsame_proof::validators::STATE_KEY;

use crate::world::{Actor, ENTRIES, HEAD, NODES, SOUND, VALUES, World};

async fn of_three_dids(world: &World) -> Embedded {
    let registry = world.open().await;
    for _ in 0..3 {
        let actor = Actor::new(&registry).await;
        registry.submit(&actor.create()).await.unwrap();
    }
    registry
}

fn names_damage(error: &Error) {
    assert_eq!(error.kind, ErrorKind::Damaged, "{error}");
    assert_eq!(error.reason.id(), "data-damaged");
}

#[tokio::test]
async fn nothing_is_written_on_a_damaged_tree_and_writes_end_with_what_was_found() {
    for world in World::all().await {
        let registry = of_three_dids(&world).await;
        let damage = registry.ledger().unwrap().damage();
        assert!(!damage.is_found());
        let before = registry.status().await.unwrap();
        let actor = Actor::new(&registry).await;

        world.ledger.rot(NODES);
        names_damage(&registry.submit(&actor.create()).await.unwrap_err());
        assert!(damage.is_found());
        // After damage was found once, later successful reads are not trusted either.
        world.ledger.rot(SOUND);
        names_damage(&registry.submit(&actor.create()).await.unwrap_err());
        assert_eq!(registry.status().await.unwrap().height, before.height);
    }
}

#[tokio::test]
async fn a_damaged_node_object_or_transaction_is_not_served_and_named_as_damage() {
    for world in World::all().await {
        let registry = of_three_dids(&world).await;
        assert!(registry.read(STATE_KEY, 0).await.is_ok());
        for what in [NODES, VALUES] {
            world.ledger.rot(what);
            names_damage(&registry.read(STATE_KEY, 0).await.unwrap_err());
        }
        world.ledger.rot(ENTRIES);
        names_damage(&registry.entries(1, 2).await.unwrap_err());
        names_damage(&registry.proven(&[2], 0).await.unwrap_err());
        world.ledger.rot(SOUND);
        assert_eq!(registry.proven(&[2], 0).await.unwrap().entries.len(), 1);
    }
}

#[tokio::test]
async fn a_head_that_rots_while_the_registry_runs_is_not_signed_and_not_built_on() {
    for world in World::all().await {
        let registry = of_three_dids(&world).await;
        let damage = registry.ledger().unwrap().damage();
        let before = registry.ledger().unwrap().head().unwrap();
        let actor = Actor::new(&registry).await;
        world.ledger.rot(HEAD);
        names_damage(&registry.status().await.unwrap_err());
        assert!(damage.is_found());
        names_damage(&registry.read(STATE_KEY, 0).await.unwrap_err());
        names_damage(&registry.submit(&actor.create()).await.unwrap_err());
        world.ledger.rot(SOUND);
        names_damage(&registry.submit(&actor.create()).await.unwrap_err());
        assert_eq!(registry.ledger().unwrap().head().unwrap(), before);
    }
}

#[tokio::test]
async fn a_ledger_whose_tree_or_log_is_not_that_of_its_head_is_not_opened() {
    for world in World::all().await {
        drop(of_three_dids(&world).await);
        for what in [NODES, ENTRIES] {
            world.ledger.rot(what);
            let refused = Embedded::open(world.setup()).await.err().unwrap();
            names_damage(&refused);
        }
        world.ledger.rot(SOUND);
        assert!(Embedded::open(world.setup()).await.is_ok());
    }
}

#[tokio::test]
async fn a_value_that_rotted_or_is_hidden_decides_no_transaction_and_is_not_served() {
    for world in World::all().await {
        let registry = world.open().await;
        let mut actor = Actor::new(&registry).await;
        registry.submit(&actor.create()).await.unwrap();
        let id = actor.did.to_string();
        let key = format!("did/{}", id.rsplit(':').next().unwrap());
        let damage = registry.ledger().unwrap().damage();
        let before = registry.ledger().unwrap().head().unwrap();
        // Otherwise the same DID would be created a second time.
        world.ledger.hide(Some(key.as_bytes()));
        assert!(
            registry
                .resolve(&actor.did, &Options::default())
                .await
                .document
                .is_none()
        );
        assert!(damage.is_found());

        let registry = reopened(&world).await;
        world.ledger.hide(Some(key.as_bytes()));
        names_damage(&registry.submit(&actor.rotate(2)).await.unwrap_err());
        world.ledger.hide(None);
        names_damage(
            &registry
                .submit(&Actor::new(&registry).await.create())
                .await
                .unwrap_err(),
        );
        assert_eq!(registry.ledger().unwrap().head().unwrap(), before);
    }
}

async fn reopened(world: &World) -> Embedded {
    world.ledger.hide(None);
    world.open().await
}

#[tokio::test]
async fn values_are_compared_for_few_more_nodes_than_a_block_writes() {
    let world = World::sqlite().await;
    let registry = world.open().await;
    let actors = futures_util::future::join_all((0..600).map(|_| Actor::new(&registry))).await;
    let (first, rest) = actors.split_at(400);
    for actor in first.chunks(200) {
        let written = actor.iter().map(|actor| actor.create());
        let written: Vec<_> = written.collect();
        let submitted = written
            .iter()
            .map(|transaction| registry.submit(transaction));
        for receipt in futures_util::future::join_all(submitted).await {
            receipt.unwrap();
        }
    }
    // One by one, which costs the most.
    let before = world.ledger.nodes_read();
    for actor in rest {
        registry.submit(&actor.create()).await.unwrap();
    }
    let each = (world.ledger.nodes_read() - before) as f64 / rest.len() as f64;
    assert!(each < 30.0, "{each} nodes are read for a DID");
}
