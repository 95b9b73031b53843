//! Invariants of a governed network under arbitrary operations of members and others: machines agree, no transaction is
//! applied in part, and at least one trustee remains.

use proptest::prelude::*;
use selfsame_registry::StateMachine;
use selfsame_registry::network::Role;
use selfsame_registry::refusal::CheckError;

use crate::deeds::{Stage, deeds};
use crate::world::{Actor, World};

fn governed(world: &World, actors: &[Actor]) -> bool {
    let roles = actors.iter().map(|actor| {
        let did = world.did(actor);
        world.machine.role(&world.state, &did).unwrap()
    });
    roles.flatten().any(|role| role == Role::Trustee)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn machines_agree_and_the_network_stays_governed(
        deeds in deeds(),
        sizes in prop::collection::vec(1..7_usize, 1..5),
    ) {
        let mut stage = Stage::set();
        let transactions = stage.transactions(&deeds);
        let Stage { mut world, actors, .. } = stage;
        let machine = StateMachine::new(world.machine.genesis().clone());
        let (mut head, mut state) = (world.head.clone(), world.state.clone());
        let mut nodes = world.nodes.clone();
        let mut rest = &transactions[..];
        for size in sizes.iter().cycle() {
            let (block, later) = rest.split_at((*size).min(rest.len()));
            let applied = world.block(block);
            let same = selfsame_registry::Block { time: world.time, transactions: block };
            let other = machine.apply(&head, &same, &state, &nodes).unwrap();
            nodes.extend(other.tree.nodes.clone());
            prop_assert_eq!(&applied, &other);
            prop_assert_eq!(applied.head.app_hash(), other.head.app_hash());
            prop_assert!(applied.marks.keys().all(|key| StateMachine::is_mark(key)));
            prop_assert!(!applied.objects.keys().any(|key| StateMachine::is_mark(key)));
            head = other.head;
            for (key, value) in &other.objects {
                let before = state.get(key).filter(|_| StateMachine::never_changes(key));
                prop_assert!(before.is_none_or(|before| before == value), "{:?}", key);
            }
            state.extend(other.objects);
            state.extend(other.marks);
            prop_assert!(governed(&world, &actors));
            prop_assert!(world.machine.validators(&world.state).unwrap().power() > 0);
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
    }

    #[test]
    fn a_transaction_that_is_refused_changes_nothing_and_checking_it_says_the_same(deeds in deeds()) {
        let mut stage = Stage::set();
        let transactions = stage.transactions(&deeds);
        let world = &mut stage.world;
        for transaction in transactions {
            let checked = world.machine.check(&transaction, &world.head, world.time, &world.state);
            let before = (world.state.clone(), world.head.app_hash());
            let applied = world.block(&[transaction]);
            match (checked, applied.results[0]) {
                (Ok(None), Ok(_)) => prop_assert_eq!(applied.logged, [0]),
                (Err(CheckError::Refused(checked)), Err(refusal)) => {
                    prop_assert_eq!(checked, refusal);
                    prop_assert_eq!((&world.state, world.head.app_hash()), (&before.0, before.1));
                }
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }
}
