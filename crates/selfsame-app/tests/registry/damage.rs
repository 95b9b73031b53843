//! What a registry does whose ledger has other bits than were written.

use selfsame_app::registry::Registry;
use selfsame_app::registry::embedded::Embedded;
use selfsame_app::{Error, ErrorKind};
use selfsame_proof::validators::STATE_KEY;

use crate::world::{Actor, ENTRIES, NODES, SOUND, VALUES, World};

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
    assert!(error.reason.contains("damaged"), "{error}");
    assert!(error.hint.as_ref().unwrap().contains("selfsame restore"));
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
        // Whoever saw damage once does not trust what reads well the next time.
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
