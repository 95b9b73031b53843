//! Whatever members and others do to a governed network: machines agree, nothing is half done, and
//! somebody can still govern it.

use proptest::prelude::*;
use selfsame_crypto::KeyType;
use selfsame_registry::network::{Mode, Role};
use selfsame_registry::refusal::CheckError;
use selfsame_registry::resource::{Data, Resource, ResourceId};
use selfsame_registry::single_use::{Action, Consume, Delegation};
use selfsame_registry::{Content, Identifier, Machine, Operation, Rules, Transaction};

use crate::agreement::agreement;
use crate::world::{Actor, START, World, validator};

/// An operation by numbers, most of them small, so that they meet.
#[derive(Clone, Debug)]
struct Deed {
    kind: u8,
    a: u8,
    b: u8,
}

fn deeds() -> impl Strategy<Value = Vec<(usize, Vec<Deed>)>> {
    let deed = (0..12_u8, 0..6_u8, 0..4_u8).prop_map(|(kind, a, b)| Deed { kind, a, b });
    let batch = prop::collection::vec(deed, 1..4);
    prop::collection::vec((0..6_usize, batch), 1..40)
}

fn operation(deed: &Deed, (ids, contents): (&[Identifier], &[Content]), who: usize) -> Operation {
    let (a, b) = (usize::from(deed.a), usize::from(deed.b));
    let role = [
        None,
        Some(Role::Trustee),
        Some(Role::Steward),
        Some(Role::Endorser),
    ][b];
    let action = [Action::Consume, Action::Revoke][b / 2];
    let name = format!("d{b}");
    match deed.kind {
        0 => Operation::SetRole {
            subject: ids[a],
            role,
        },
        1 => Operation::UpdateDid {
            version: u64::from(deed.b) + 1,
            content: contents[who].clone(),
        },
        2 => Operation::DeactivateDid {
            version: u64::from(deed.b) + 1,
        },
        3 => Operation::AnchorStatus {
            list: format!("a:{b}"),
            digest: [deed.a; 32],
            issued: START.plus(u64::from(deed.a)),
        },
        4 => Operation::Resource(Resource {
            id: ResourceId([deed.a * 4 + deed.b; 16]),
            name: name.clone(),
            kind: "t".to_owned(),
            version: None,
            media_type: "text/plain".to_owned(),
            also_known_as: Vec::new(),
            data: Data::Digest([deed.a; 32]),
        }),
        5 => Operation::Delegate(Delegation {
            name,
            to: ids[a],
            scope: vec!["T".to_owned()],
            action,
            until: START.plus(10),
        }),
        6 => Operation::WithdrawDelegation { name },
        7 | 8 => Operation::Consume(Consume {
            issuer: ids[a],
            kind: "T".to_owned(),
            handle: [deed.b; 32],
            action,
            delegation: (ids[a] != ids[who]).then_some(name),
        }),
        _ => governing(deed),
    }
}

fn governing(deed: &Deed) -> Operation {
    let (a, b) = (deed.a, deed.b);
    match deed.kind {
        9 => Operation::ChangeValidators {
            add: vec![validator(&format!("v{b}"), u64::from(b))],
            remove: match a {
                4.. => vec![format!("v{}", a - 4)],
                _ => vec![],
            },
        },
        10 => Operation::ChangeRules {
            from_height: u64::from(a) + 2,
            rules: Rules {
                mode: match b {
                    2.. => Mode::Endorsed,
                    _ => Mode::Open,
                },
                ..Rules::default()
            },
        },
        _ => Operation::SetAgreement((b > 2).then(|| agreement("1"))),
    }
}

/// Three members, two others and one who is not registered.
fn stage() -> (World, Vec<Actor>) {
    let (mut world, members) = World::governed(Mode::Open);
    let mut actors: Vec<Actor> = members.into_iter().collect();
    for _ in 0..2 {
        actors.push(world.registered(KeyType::P256));
    }
    actors.push(Actor::new(KeyType::Ed25519));
    (world, actors)
}

fn transactions(
    world: &World,
    actors: &mut [Actor],
    deeds: &[(usize, Vec<Deed>)],
) -> Vec<Transaction> {
    let network = world.network().clone();
    let ids: Vec<_> = actors.iter().map(|actor| actor.id).collect();
    let contents: Vec<_> = actors.iter().map(Actor::content).collect();
    deeds
        .iter()
        .map(|(who, batch)| {
            let operations = batch
                .iter()
                .map(|deed| operation(deed, (&ids, &contents), *who))
                .collect();
            let actor = &mut actors[*who];
            let body = actor.body(&network, operations);
            actor.transaction(body, None)
        })
        .collect()
}

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
        let (mut world, mut actors) = stage();
        let transactions = transactions(&world, &mut actors, &deeds);
        let machine = Machine::new(world.machine.genesis().clone());
        let (mut head, mut state) = (world.head.clone(), world.state.clone());
        let mut nodes = world.nodes.clone();
        let mut rest = &transactions[..];
        for size in sizes.iter().cycle() {
            let (block, later) = rest.split_at((*size).min(rest.len()));
            let applied = world.block(block);
            let same = selfsame_registry::Block { time: world.time, transactions: block };
            let other = machine.apply(&head, &same, (&state, &nodes)).unwrap();
            nodes.extend(other.tree.nodes.clone());
            prop_assert_eq!(&applied, &other);
            prop_assert_eq!(applied.head.app_hash(), other.head.app_hash());
            prop_assert!(applied.marks.keys().all(|key| Machine::is_mark(key)));
            prop_assert!(!applied.objects.keys().any(|key| Machine::is_mark(key)));
            head = other.head;
            for (key, value) in &other.objects {
                let before = state.get(key).filter(|_| Machine::never_changes(key));
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
        let (mut world, mut actors) = stage();
        for transaction in transactions(&world, &mut actors, &deeds) {
            let checked = world.machine.check(&transaction, (&world.head, world.time), &world.state);
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
