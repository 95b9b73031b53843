//! Two machines that apply the same blocks agree on every byte, and transactions get the same answers however they are
//! divided into blocks.

use proptest::prelude::*;
use selfsame_crypto::KeyType;
use selfsame_did::Options;
use selfsame_registry::{Receipt, Refusal, Transaction};

use crate::deeds::{self, Stage};
use crate::world::{Actor, START, World};

/// An action of an actor; some are meant to be refused.
#[derive(Clone, Debug)]
enum Deed {
    Create,
    Rotate(u64),
    Deactivate(u64),
    Anchor(u8, u8),
    Replay(prop::sample::Index),
    ReuseNonce,
}

fn deeds() -> impl Strategy<Value = Vec<(usize, Deed)>> {
    let deed = prop_oneof![
        3 => Just(Deed::Create),
        4 => (2..6_u64).prop_map(Deed::Rotate),
        1 => (2..6_u64).prop_map(Deed::Deactivate),
        4 => (0..3_u8, any::<u8>()).prop_map(|(list, issued)| Deed::Anchor(list, issued)),
        2 => any::<prop::sample::Index>().prop_map(Deed::Replay),
        1 => Just(Deed::ReuseNonce),
    ];
    prop::collection::vec((0..4_usize, deed), 1..60)
}

/// The transactions for these deeds, of which some will be refused.
fn transactions(world: &World, deeds: &[(usize, Deed)]) -> (Vec<Actor>, Vec<Transaction>) {
    let network = world.network();
    let types = [
        KeyType::Ed25519,
        KeyType::P256,
        KeyType::Ed25519,
        KeyType::P256,
    ];
    let mut actors: Vec<Actor> = types.into_iter().map(Actor::new).collect();
    let mut made: Vec<Transaction> = Vec::new();
    for (who, deed) in deeds {
        let actor = &mut actors[*who];
        let content = actor.content();
        let tx = match deed {
            Deed::Create => actor.create(network),
            Deed::Rotate(version) => actor.update(network, *version, content),
            Deed::Deactivate(version) => actor.deactivate(network, *version),
            Deed::Anchor(list, issued) => {
                let list = format!("https://a.example/{list}");
                actor.anchor(network, &list, START.plus(u64::from(*issued)))
            }
            Deed::Replay(which) if !made.is_empty() => made[which.index(made.len())].clone(),
            Deed::Replay(_) | Deed::ReuseNonce => {
                actor.nonce = actor.nonce.saturating_sub(1);
                actor.update(network, 2, content)
            }
        };
        made.push(tx);
    }
    (actors, made)
}

/// Submits the transactions in blocks of these sizes, repeated in rotation.
fn run(
    world: &mut World,
    transactions: &[Transaction],
    sizes: &[usize],
) -> Vec<Result<Receipt, Refusal>> {
    let mut results = Vec::new();
    let mut rest = transactions;
    for size in sizes.iter().cycle() {
        let (block, later) = rest.split_at((*size).min(rest.len()));
        results.extend(world.block(block).results);
        rest = later;
        if rest.is_empty() {
            break;
        }
    }
    results
}

/// The answers without the height, which depends on the division into blocks.
fn without_height(results: Vec<Result<Receipt, Refusal>>) -> Vec<Result<Receipt, Refusal>> {
    results
        .into_iter()
        .map(|result| {
            result.map(|receipt| Receipt {
                height: 0,
                ..receipt
            })
        })
        .collect()
}

fn twin(world: &World) -> World {
    World::of(world.machine.genesis().clone())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn machines_that_see_the_same_blocks_agree_on_every_byte(
        deeds in deeds(),
        sizes in prop::collection::vec(1..9_usize, 1..6),
    ) {
        let mut first = World::new();
        let mut second = twin(&first);
        let (_, transactions) = transactions(&first, &deeds);
        let results = run(&mut first, &transactions, &sizes);
        prop_assert_eq!(&results, &run(&mut second, &transactions, &sizes));
        prop_assert_eq!(&first.state, &second.state);
        prop_assert_eq!(first.head.to_bytes(), second.head.to_bytes());
        prop_assert_eq!(first.head.app_hash(), second.head.app_hash());
        let accepted: std::collections::BTreeSet<u64> = results.iter().flatten().map(|r| r.seq_no).collect();
        prop_assert!(accepted.into_iter().eq(1..=first.head.log.size()), "numbers without gaps");
    }

    #[test]
    fn however_blocks_are_cut_the_answers_the_log_and_the_documents_are_the_same(
        deeds in deeds(),
        sizes in prop::collection::vec(1..9_usize, 1..6),
        other_sizes in prop::collection::vec(1..60_usize, 1..6),
    ) {
        let mut first = World::new();
        let mut second = twin(&first);
        let (actors, transactions) = transactions(&first, &deeds);
        let results = without_height(run(&mut first, &transactions, &sizes));
        prop_assert_eq!(&results, &without_height(run(&mut second, &transactions, &other_sizes)));
        prop_assert_eq!(first.head.log.root(), second.head.log.root());
        prop_assert_eq!(first.state.keys().collect::<Vec<_>>(), second.state.keys().collect::<Vec<_>>());
        for actor in &actors {
            let did = first.did(actor);
            for version in [None, Some("1".to_owned()), Some("2".to_owned())] {
                let options = Options { version_id: version, ..Options::default() };
                let resolve = |world: &World| world.machine.resolve(&world.state, &did, &options);
                prop_assert_eq!(resolve(&first), resolve(&second));
            }
        }
    }

    #[test]
    fn everything_again_changes_nothing_and_gets_the_same_answers(deeds in deeds()) {
        let mut world = World::new();
        let (_, transactions) = transactions(&world, &deeds);
        let first = run(&mut world, &transactions, &[7]);
        let accepted: Vec<Transaction> =
            transactions.iter().zip(&first).filter(|(_, r)| r.is_ok()).map(|(tx, _)| tx.clone()).collect();
        let receipts: Vec<_> = first.into_iter().filter(Result::is_ok).collect();
        let (state, log) = (world.state.clone(), world.head.log.clone());
        let digest = world.head.tree.hash;
        prop_assert_eq!(run(&mut world, &accepted, &[5]), receipts);
        prop_assert_eq!((&world.state, &world.head.log), (&state, &log));
        prop_assert_eq!(world.head.tree.hash, digest);
    }
}

/// A height that no test reaches: otherwise results would depend on the division into blocks.
const FAR: u64 = 1 << 40;

/// Two copies of one network in which the same actors act.
fn stages() -> (Stage, World) {
    let mut stage = Stage::set();
    stage.rules_from = FAR;
    let mut second = twin(&stage.world);
    let first = &stage.world;
    second.head.clone_from(&first.head);
    second.state.clone_from(&first.state);
    second.nodes.clone_from(&first.nodes);
    (stage, second)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_asked_in_the_same_blocks_machines_agree_on_every_byte(
        deeds in deeds::deeds(),
        sizes in prop::collection::vec(1..9_usize, 1..6),
    ) {
        let (mut stage, mut second) = stages();
        let transactions = stage.transactions(&deeds);
        let first = &mut stage.world;
        prop_assert_eq!(run(first, &transactions, &sizes), run(&mut second, &transactions, &sizes));
        prop_assert_eq!(&first.state, &second.state);
        prop_assert_eq!(first.head.app_hash(), second.head.app_hash());
    }

    #[test]
    fn whatever_is_asked_and_however_blocks_are_cut_the_answers_and_the_log_are_the_same(
        deeds in deeds::deeds(),
        sizes in prop::collection::vec(1..9_usize, 1..6),
        other_sizes in prop::collection::vec(1..60_usize, 1..6),
    ) {
        let (mut stage, mut second) = stages();
        let transactions = stage.transactions(&deeds);
        let first = &mut stage.world;
        let results = without_height(run(first, &transactions, &sizes));
        let others = without_height(run(&mut second, &transactions, &other_sizes));
        prop_assert_eq!(
            results.iter().map(answer).collect::<Vec<_>>(),
            others.iter().map(answer).collect::<Vec<_>>()
        );
        prop_assert_eq!(first.head.log.root(), second.head.log.root());
        prop_assert_eq!(first.state.keys().collect::<Vec<_>>(), second.state.keys().collect::<Vec<_>>());
    }
}

/// An answer; a refusal is reduced to its text, since its receipt of the first use contains a height.
fn answer(result: &Result<Receipt, Refusal>) -> Result<Receipt, String> {
    result.map_err(|refusal| refusal.to_string())
}

#[test]
fn one_changed_transaction_changes_the_digest() {
    let mut first = World::new();
    let mut second = twin(&first);
    let empty = first.head.app_hash();
    assert_eq!(empty, second.head.app_hash());
    let (mut a, mut b) = (Actor::new(KeyType::Ed25519), Actor::new(KeyType::Ed25519));
    let network = first.network().clone();
    first.submit(a.create(&network)).unwrap();
    second.submit(b.create(&network)).unwrap();
    assert_ne!(first.head.app_hash(), second.head.app_hash());
    assert_ne!(first.head.app_hash(), empty);
}

#[test]
fn the_digest_depends_on_all_that_went_before_not_on_the_last_block_alone() {
    let mut first = World::new();
    let mut second = twin(&first);
    let network = first.network().clone();
    first
        .submit(Actor::new(KeyType::Ed25519).create(&network))
        .unwrap();
    second
        .submit(Actor::new(KeyType::Ed25519).create(&network))
        .unwrap();
    let same = Actor::new(KeyType::Ed25519).create(&network);
    let (last, other_last) = (
        first.block(std::slice::from_ref(&same)),
        second.block(&[same]),
    );
    assert_eq!(
        (last.objects, last.marks),
        (other_last.objects, other_last.marks)
    );
    assert_ne!(last.head.tree.hash, other_last.head.tree.hash);
}
