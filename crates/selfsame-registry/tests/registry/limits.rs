//! Tests of quotas, sizes, blocks, rules by height and state errors.

use selfsame_crypto::KeyType;
use selfsame_crypto::time::UnixTime;
use selfsame_registry::content::Uses;
use selfsame_registry::content::{ContentFault, Key, Service};
use selfsame_registry::network::Act;
use selfsame_registry::refusal::{
    AgreementFault, ApplyError, AuthorFault, CODES, CheckError, DelegationFault, EntryFault,
    GovernanceFault, ObjectFault, SignatureFault,
};
use selfsame_registry::{Block, Content, Operation, Refusal, Rules, Transaction};

use crate::world::{Actor, Broken, START, World};

fn many(world: &World, count: usize) -> Vec<Transaction> {
    (0..count)
        .map(|_| Actor::new(KeyType::Ed25519).create(world.network()))
        .collect()
}

#[test]
fn an_author_past_his_quota_waits_for_the_next_window() {
    let rules = Rules {
        author_quota: 3,
        quota_window: 100,
        ..Rules::default()
    };
    let mut world = World::with_rules(rules);
    world.time = UnixTime(START.0 / 100 * 100 + 130);
    let mut actor = world.registered(KeyType::Ed25519);
    let network = world.network().clone();
    world.submit(actor.rotate(&network, 2)).unwrap();
    let last = actor.rotate(&network, 3);
    let receipt = world.submit(last.clone()).unwrap();
    let content = actor.content();
    let next = actor.update(&network, 4, content);
    assert_eq!(
        world.submit(next.clone()),
        Err(Refusal::Quota { retry_after: 70 })
    );
    assert_eq!(world.submit(last), Ok(receipt), "replays cost nothing");
    world.registered(KeyType::Ed25519);
    world.time = world.time.plus(70);
    assert!(world.submit(next).is_ok());
}

#[test]
fn the_network_past_its_quota_of_creations_still_takes_updates() {
    let rules = Rules {
        creation_quota: 2,
        quota_window: 100,
        ..Rules::default()
    };
    let mut world = World::with_rules(rules);
    world.time = UnixTime(START.0 / 100 * 100 + 100);
    let mut actor = world.registered(KeyType::Ed25519);
    world.registered(KeyType::Ed25519);
    let third = Actor::new(KeyType::Ed25519).create(world.network());
    assert_eq!(
        world.submit(third.clone()),
        Err(Refusal::Quota { retry_after: 100 })
    );
    let update = actor.rotate(&world.network().clone(), 2);
    assert!(world.submit(update).is_ok());
    world.time = world.time.plus(100);
    assert!(world.submit(third).is_ok());
}

#[test]
fn a_full_block_refuses_the_rest_by_number_and_by_bytes() {
    let by_number = Rules {
        max_block_transactions: 2,
        ..Rules::default()
    };
    let mut world = World::with_rules(by_number);
    let txs = many(&world, 3);
    let applied = world.block(&txs);
    assert_eq!(applied.logged, [0, 1]);
    assert_eq!(applied.results[2], Err(Refusal::BlockFull));
    assert!(
        world.submit(txs[2].clone()).is_ok(),
        "the next block has room"
    );

    let mut world = World::with_rules(Rules {
        max_transaction_bytes: 4_096,
        max_block_bytes: 4_096,
        ..Rules::default()
    });
    let txs = many(&world, 30);
    let fit = 4_096 / txs[0].to_bytes().len();
    assert!(fit < 30);
    let applied = world.block(&txs);
    assert_eq!(applied.logged, (0..fit).collect::<Vec<_>>());
    assert_eq!(applied.results[fit], Err(Refusal::BlockFull));
}

#[test]
fn replays_and_refused_transactions_take_no_room_in_a_block() {
    let rules = Rules {
        max_block_transactions: 1,
        ..Rules::default()
    };
    let mut world = World::with_rules(rules);
    let first = many(&world, 1).remove(0);
    world.submit(first.clone()).unwrap();
    let refused = Actor::new(KeyType::Ed25519).rotate(&world.network().clone(), 2);
    let second = many(&world, 1).remove(0);
    let applied = world.block(&[first, refused, second]);
    assert_eq!(applied.logged, [2]);
}

#[test]
fn content_past_the_networks_limits_is_refused() {
    let rules = Rules {
        max_keys: 2,
        max_services: 1,
        max_also_known_as: 1,
        max_content_bytes: 300,
        ..Rules::default()
    };
    let mut world = World::with_rules(rules);
    let mut actor = world.registered(KeyType::Ed25519);
    let network = world.network().clone();
    let good = actor.content();
    let key = |n: usize| Key {
        id: format!("k{n}"),
        public: good.keys[0].public.clone(),
        uses: Uses::SIGNING,
    };
    let service = |n: usize, length: usize| Service {
        id: format!("s{n}"),
        kind: "T".to_owned(),
        endpoint: format!("https:{}", "a".repeat(length)),
    };
    for (content, fault) in [
        (
            Content {
                keys: (0..3).map(key).collect(),
                ..good.clone()
            },
            ContentFault::TooManyKeys,
        ),
        (
            Content {
                services: (0..2).map(|n| service(n, 1)).collect(),
                ..good.clone()
            },
            ContentFault::TooManyServices,
        ),
        (
            Content {
                also_known_as: vec!["a:b".to_owned(), "a:c".to_owned()],
                ..good.clone()
            },
            ContentFault::TooManyNames,
        ),
        (
            Content {
                services: vec![service(0, 300)],
                ..good.clone()
            },
            ContentFault::TooLarge,
        ),
    ] {
        let update = actor.update(&network, 2, content);
        assert_eq!(world.submit(update), Err(Refusal::Content(fault)));
    }
    let most = Content {
        keys: (0..2).map(key).collect(),
        services: vec![service(0, 100)],
        ..good
    };
    assert!(world.submit(actor.update(&network, 2, most)).is_ok());
}

#[test]
fn a_block_before_its_head_is_not_applied() {
    let mut world = World::new();
    world.time = world.time.plus(10);
    world.block(&[]);
    let block = Block {
        time: world.time.minus(1),
        transactions: &[],
    };
    assert_eq!(
        world
            .machine
            .apply(&world.head, &block, &world.state, &world.nodes),
        Err(ApplyError::Time)
    );
}

#[test]
fn a_state_that_cannot_be_read_refuses_nothing_and_applies_nothing() {
    let world = World::new();
    let tx = many(&world, 1).remove(0);
    let checked = world.machine.check(&tx, &world.head, world.time, &Broken);
    assert!(matches!(checked, Err(CheckError::State(_))));
    let block = Block {
        time: world.time,
        transactions: &[tx],
    };
    assert!(matches!(
        world
            .machine
            .apply(&world.head, &block, &Broken, &world.nodes),
        Err(ApplyError::State(_))
    ));
}

#[test]
fn a_corrupt_record_is_noticed() {
    let mut world = World::new();
    let mut actor = world.registered(KeyType::Ed25519);
    for value in world.state.values_mut() {
        value.push(0);
    }
    let update = actor.rotate(&world.network().clone(), 2);
    let checked = world
        .machine
        .check(&update, &world.head, world.time, &world.state);
    assert!(matches!(checked, Err(CheckError::State(_))));
}

#[test]
fn a_transaction_larger_than_the_network_allows_is_refused() {
    let rules = Rules {
        max_transaction_bytes: 4_096,
        ..Rules::default()
    };
    let mut world = World::with_rules(rules);
    let mut actor = world.registered(KeyType::Ed25519);
    let anchors = |count: usize| -> Vec<Operation> {
        let anchor = |n| Operation::AnchorStatus {
            list: format!("a:{n}"),
            digest: [0; 32],
            issued: START,
        };
        (0..count).map(anchor).collect()
    };
    assert_eq!(world.act(&mut actor, anchors(100)), Err(Refusal::TooLarge));
    assert!(world.act(&mut actor, anchors(50)).is_ok());
}

#[test]
fn every_code_belongs_to_a_refusal_and_every_refusal_has_one() {
    let receipt = selfsame_registry::Receipt {
        seq_no: 7,
        height: 3,
        time: START,
        tx_hash: [1; 32],
    };
    let all = [
        Refusal::Network,
        Refusal::Identifier,
        Refusal::Author(AuthorFault::Exists),
        Refusal::Author(AuthorFault::Unknown),
        Refusal::Author(AuthorFault::Deactivated),
        Refusal::Version { present: 1 },
        Refusal::Signature(SignatureFault::Bad),
        Refusal::NonceUsed,
        Refusal::Content(ContentFault::Uri),
        Refusal::NotAllowed {
            act: Act::CreateDid,
        },
        Refusal::Endorser,
        Refusal::Agreement(AgreementFault::Missing),
        Refusal::Governance(GovernanceFault::Height),
        Refusal::Object(ObjectFault::Exists),
        Refusal::Object(ObjectFault::Unknown),
        Refusal::Object(ObjectFault::Key),
        Refusal::Entry(EntryFault::Before),
        Refusal::Entry(EntryFault::Place),
        Refusal::Delegation(DelegationFault::Scope),
        Refusal::Used { receipt },
        Refusal::NotNewer,
        Refusal::Future,
        Refusal::TooLarge,
        Refusal::Quota { retry_after: 1 },
        Refusal::BlockFull,
    ];
    let codes: Vec<&str> = all.iter().map(Refusal::code).collect();
    assert_eq!(codes, CODES);
    assert!(all.iter().all(|refusal| !refusal.to_string().is_empty()));
}

#[test]
fn the_refusal_of_a_second_use_names_nothing_but_the_first() {
    let receipt = selfsame_registry::Receipt {
        seq_no: 7,
        height: 3,
        time: START,
        tx_hash: [1; 32],
    };
    let refusal = Refusal::Used { receipt };
    assert_eq!(refusal.to_string(), "it was used before, by transaction 7");
}

#[test]
fn every_refusal_says_whether_waiting_helps() {
    assert_eq!(Refusal::BlockFull.retry_after(), Some(1));
    assert_eq!(Refusal::Quota { retry_after: 7 }.retry_after(), Some(7));
    assert_eq!(Refusal::Network.retry_after(), None);
    assert_eq!(Refusal::NonceUsed.code(), "nonce_used");
}
