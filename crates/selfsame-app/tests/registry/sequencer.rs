//! Order, durability, answers and limits of the embedded registry.

use std::collections::BTreeSet;
use std::sync::Arc;

use selfsame_did::{Options, Relationship, ResolutionError};
use selfsame_driver::ErrorKind;
use selfsame_driver::paging::Paging;
use selfsame_ledger::embedded::{Embedded, Setup};
use selfsame_ledger::{
    ENTRIES_MAX, LocalRegistry, Registry, ServedRegistry, checkpoint_verifier, log_origin,
    parse_transaction,
};
use selfsame_proof::checkpoint::Checkpoint;
use selfsame_proof::entries::MAX_BYTES;
use selfsame_proof::note::VerifierKey;
use selfsame_registry::resource::{Resource, ResourceData, ResourceId};
use selfsame_registry::{Genesis, Operation};
use selfsame_store::StoreError;
use selfsame_store::ledger::SqliteLedger;
use selfsame_testkit::consensus::Consensus;
use tokio::task::JoinSet;

use crate::world::{Actor, World};

#[tokio::test]
async fn a_clock_that_is_hours_behind_the_last_block_lets_nothing_be_written() {
    for world in World::all().await {
        let registry = world.open().await;
        let mut actor = Actor::new(&registry).await;
        let created = registry.submit(&actor.create()).await.unwrap();
        let change = actor.rotate(2);
        world.clock.set_back(2 * 3_600);
        let refused = registry.submit(&change).await.unwrap_err();
        assert!(matches!(refused.kind, ErrorKind::Unavailable { .. }));
        assert!(
            refused.to_string().contains("clock-behind-block"),
            "{refused}"
        );
        assert!(!refused.is_refusal(), "the outbox sends it again");
        // An offset of minutes is accepted, and no block is earlier than the one before.
        world.clock.advance(2 * 3_600 - 600);
        let rotated = registry.submit(&change).await.unwrap();
        assert!(rotated.time >= created.time);
    }
}

#[tokio::test]
async fn a_clock_that_leaps_ahead_puts_no_time_to_come_into_the_log() {
    for world in World::all().await {
        let registry = world.open().await;
        let mut actor = Actor::new(&registry).await;
        registry.submit(&actor.create()).await.unwrap();
        let change = actor.rotate(2);
        // Passing time is not a leap, and neither is an adjustment of the clock by minutes.
        world.clock.advance(40 * 86_400);
        world.clock.set_ahead(300);
        let right = world.clock.now();
        world.clock.set_ahead(30 * 86_400);
        let refused = registry.submit(&change).await.unwrap_err();
        assert!(matches!(refused.kind, ErrorKind::Unavailable { .. }));
        assert!(refused.to_string().contains("clock-leapt"), "{refused}");
        assert!(!refused.is_refusal(), "the outbox sends it again");
        // Meanwhile checkpoints are signed with the true time.
        let status = registry.status().await.unwrap();
        let genesis = Genesis::from_bytes(&registry.genesis().await.unwrap()).unwrap();
        let (origin, key) = (
            log_origin(&genesis.network()),
            checkpoint_verifier(&genesis),
        );
        let checkpoint = Checkpoint::open(&status.checkpoint, &origin, &[key.unwrap()]);
        let signed = checkpoint.unwrap().time().unwrap();
        assert!(signed.seconds_since(right) < 60 && right.seconds_since(signed) < 600);
        world.clock.set_back(30 * 86_400);
        let rotated = registry.submit(&change).await.unwrap();
        assert!(rotated.time.seconds_since(right) < 60);
    }
}

#[tokio::test]
async fn a_did_is_created_rotated_and_deactivated_and_its_past_stays_resolvable() {
    for world in World::all().await {
        let registry = world.open().await;
        let mut actor = Actor::new(&registry).await;
        let unknown = registry.resolve(&actor.did, &Options::default()).await;
        assert_eq!(unknown.metadata.error, Some(ResolutionError::NotFound));
        assert_eq!(unknown.metadata.reason, None);

        let created = registry.submit(&actor.create()).await.unwrap();
        assert_eq!((created.seq_no, created.height), (1, 1));
        let first = registry.resolve(&actor.did, &Options::default()).await;
        world.clock.advance(100);
        let rotated = registry.submit(&actor.rotate(2)).await.unwrap();
        assert!(rotated.time.seconds_since(created.time) >= 100);
        let second = registry.resolve(&actor.did, &Options::default()).await;
        let keys = |resolution: &selfsame_did::Resolution| {
            let document = resolution.document.as_ref().unwrap();
            document
                .keys(Relationship::AssertionMethod)
                .map(|(id, _)| id.fragment.unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            (keys(&first), keys(&second)),
            (vec!["key-1".to_owned()], vec!["key-2".to_owned()])
        );

        let at_version = |id: &str| Options {
            version_id: Some(id.to_owned()),
            ..Options::default()
        };
        let at_time = |time| Options {
            version_time: Some(time),
            ..Options::default()
        };
        for (options, expected) in [
            (at_version("1"), &first),
            (at_version("2"), &second),
            (at_time(created.time), &first),
            (at_time(rotated.time), &second),
        ] {
            let past = registry.resolve(&actor.did, &options).await;
            assert_eq!(past.document, expected.document);
        }

        let missing = registry.resolve(&actor.did, &at_version("9")).await;
        assert_eq!(missing.metadata.error, Some(ResolutionError::NotFound));
        assert!(missing.metadata.reason.unwrap().contains("no such version"));

        registry.submit(&actor.deactivate(3)).await.unwrap();
        let ended = registry.resolve(&actor.did, &Options::default()).await;
        assert!(ended.document.is_none() && ended.document_metadata.deactivated);
        assert_eq!(
            registry
                .resolve(&actor.did, &at_version("1"))
                .await
                .document,
            first.document
        );

        let history = registry.history(&actor.did).await.unwrap();
        let kinds: Vec<&str> = history.iter().map(|entry| entry.kind.as_str()).collect();
        assert_eq!(kinds, ["create_did", "update_did", "deactivate_did"]);
        assert!(
            history
                .iter()
                .all(|entry| entry.author == actor.did.as_str())
        );
    }
}

#[tokio::test]
async fn what_the_sequencer_orders_leads_to_the_same_app_hash_without_it() {
    let world = World::memory().await;
    let registry = world.open().await;
    let (mut actor, other) = (Actor::new(&registry).await, Actor::new(&registry).await);
    let first = [actor.create(), actor.rotate(2), other.create()];
    let then = [actor.deactivate(3), other.deactivate(2)];
    let transactions = [first.to_vec(), then.to_vec()].concat();
    let genesis = Genesis::from_bytes(&registry.genesis().await.unwrap()).unwrap();
    let mut receipts = Vec::new();
    for transaction in &transactions {
        world.clock.advance(60);
        receipts.push(registry.submit(transaction).await.unwrap());
    }
    let ledger = registry.ledger().unwrap();
    let mut paper = Consensus::new(&genesis, &[0; 4]);
    paper.begin(receipts[0].time);
    for (n, transaction) in transactions.iter().enumerate() {
        let next = receipts.get(n + 1).unwrap_or(&receipts[n]).time;
        let decided = paper.decide(next, std::slice::from_ref(transaction));
        assert_eq!(decided.results, vec![Ok(receipts[n])]);
        let block = ledger.block(receipts[n].height).unwrap();
        assert_eq!(decided.heads, vec![block; 4]);
    }
    assert_eq!(ledger.head().unwrap().height, transactions.len() as u64);
}

#[tokio::test]
async fn the_same_transaction_again_gets_its_first_receipt() {
    for world in World::all().await {
        let registry = world.open().await;
        let mut actor = Actor::new(&registry).await;
        let create = actor.create();
        let first = registry.submit(&create).await.unwrap();
        let rotate = actor.rotate(2);
        let second = registry.submit(&rotate).await.unwrap();
        assert_eq!(registry.submit(&create).await.unwrap(), first);
        assert_eq!(
            registry
                .submit(&parse_transaction(&rotate.to_bytes()).unwrap())
                .await
                .unwrap(),
            second
        );
        assert_eq!(registry.status().await.unwrap().transactions, 2);

        // Twice at the same time, in one block or in two.
        let third = actor.rotate(3);
        let (one, other) = tokio::join!(registry.submit(&third), registry.submit(&third));
        assert_eq!(one.unwrap(), other.unwrap());
        assert_eq!(registry.status().await.unwrap().transactions, 3);
    }
}

#[tokio::test]
async fn a_refused_transaction_says_why_and_changes_nothing() {
    for world in World::all().await {
        let registry = world.open().await;
        let mut actor = Actor::new(&registry).await;
        let early = registry.submit(&actor.deactivate(2)).await.unwrap_err();
        assert_eq!(
            (early.kind, early.code),
            (ErrorKind::NotFound, Some("author_unknown"))
        );
        registry.submit(&actor.create()).await.unwrap();
        let before = (
            registry.status().await.unwrap().height,
            said(&registry).await,
        );

        let used = actor.transaction(0, Operation::DeactivateDid { version: 2 });
        let used = registry.submit(&used).await.unwrap_err();
        assert_eq!(
            (used.kind, used.code),
            (ErrorKind::Conflict, Some("nonce_used"))
        );
        actor.rotate(2);
        let foreign = registry.submit(&actor.rotate(2)).await.unwrap_err();
        assert_eq!(
            (foreign.kind, foreign.code),
            (ErrorKind::Forbidden, Some("bad_signature"))
        );
        let garbage = parse_transaction(&[0xa0; 40]).unwrap_err();
        assert_eq!(
            (garbage.kind, garbage.code),
            (ErrorKind::BadRequest, Some("malformed"))
        );
        assert!(
            [early, used, foreign, garbage]
                .iter()
                .all(|error| error.is_refusal())
        );

        let height = registry.status().await.unwrap().height;
        assert_eq!((height, said(&registry).await), before);
    }
}

#[tokio::test]
async fn all_who_wait_share_the_next_blocks_and_get_numbers_of_their_own() {
    for world in World::all().await {
        let registry = Arc::new(world.open().await);
        world.ledger.shut().await;
        let mut submitters = JoinSet::new();
        let mut submit = async || {
            let actor = Actor::new(&*registry).await;
            let registry = registry.clone();
            submitters.spawn(async move { registry.submit(&actor.create()).await });
        };
        submit().await;
        // The first block is in progress with one transaction while the others arrive.
        world.ledger.is_waited_at().await;
        for _ in 0..99 {
            submit().await;
        }
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        world.ledger.open();
        let receipts = submitters.join_all().await;
        let receipts: Vec<_> = receipts.into_iter().map(Result::unwrap).collect();
        let seq_nos: BTreeSet<u64> = receipts.iter().map(|receipt| receipt.seq_no).collect();
        assert_eq!(seq_nos, (1..=100).collect());
        // The earliest of these were judged at once, for the second block; the rest is in the third.
        let heights: BTreeSet<u64> = receipts.iter().map(|receipt| receipt.height).collect();
        assert!(heights.len() <= 3, "{heights:?}");
        assert_eq!(world.ledger_commits(), heights.len() as u64);
    }
}

#[tokio::test]
async fn what_was_judged_on_a_block_that_could_not_be_stored_is_judged_again() {
    for world in World::all().await {
        let registry = Arc::new(world.open().await);
        let mut actor = Actor::new(&*registry).await;
        world.ledger.shut().await;
        world.ledger.lose_one();
        let submit = |transaction| {
            let registry = registry.clone();
            tokio::spawn(async move { registry.submit(&transaction).await })
        };
        let create = actor.create();
        let lost = submit(create.clone());
        world.ledger.is_waited_at().await;
        // One that is valid only after the block in progress, and one that is valid in any case.
        let (rotated, other) = (submit(actor.rotate(2)), Actor::new(&*registry).await);
        let kept = submit(other.create());
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        world.ledger.open();
        let lost = lost.await.unwrap().unwrap_err();
        assert_eq!(lost.kind, ErrorKind::Unavailable { retry_after: 1 });
        let rotated = rotated.await.unwrap().unwrap_err();
        assert!(rotated.is_refusal(), "{rotated:?}");
        let kept = kept.await.unwrap().unwrap();
        // The log has each at most once, and a transaction sent again is written.
        let again = registry.submit(&other.create()).await.unwrap();
        assert_eq!((kept.seq_no, again.seq_no), (1, 1));
        assert_eq!(registry.submit(&create).await.unwrap().seq_no, 2);
    }
}

#[tokio::test]
async fn who_comes_when_too_many_wait_is_told_when_to_come_back() {
    for world in World::all().await {
        let setup = Setup {
            waiting_max: 4,
            ..world.setup()
        };
        let registry = Arc::new(Embedded::open(setup).await.unwrap());
        world.ledger.shut().await;
        let mut submitters = JoinSet::new();
        for count in 0..20 {
            let actor = Actor::new(&*registry).await;
            let registry = registry.clone();
            submitters.spawn(async move { registry.submit(&actor.create()).await });
            if count == 0 {
                world.ledger.is_waited_at().await;
            }
        }
        // One is being written, four wait; the other fifteen are answered meanwhile.
        for _ in 0..15 {
            let turned_away = submitters.join_next().await.unwrap().unwrap().unwrap_err();
            assert_eq!(turned_away.kind, ErrorKind::TooMany { retry_after: 1 });
            assert!(!turned_away.is_refusal());
        }
        world.ledger.open();
        let served = submitters.join_all().await;
        assert_eq!(served.iter().filter(|answer| answer.is_ok()).count(), 5);
        let late = Actor::new(&*registry).await;
        assert_eq!(registry.submit(&late.create()).await.unwrap().seq_no, 6);
    }
}

#[tokio::test]
async fn a_registry_opened_again_goes_on_where_it_stopped() {
    for world in World::all().await {
        let registry = world.open().await;
        let actor = Actor::new(&registry).await;
        let receipt = registry.submit(&actor.create()).await.unwrap();
        let genesis = registry.genesis().await.unwrap();
        let before = (
            registry.status().await.unwrap().height,
            said(&registry).await,
        );
        drop(registry);

        let registry = world.open().await;
        assert_eq!(registry.genesis().await.unwrap(), genesis);
        let height = registry.status().await.unwrap().height;
        assert_eq!((height, said(&registry).await), before);
        assert_eq!(registry.submit(&actor.create()).await.unwrap(), receipt);
        assert_eq!(
            registry.submit(&actor.deactivate(2)).await.unwrap().seq_no,
            2
        );
    }
}

#[tokio::test]
async fn a_ledger_file_closed_and_opened_again_has_the_same_head() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.db");
    let world = World::memory().await;
    let mut statuses = Vec::new();
    for round in 0..3 {
        // The sequencer releases the file once no caller can submit any more.
        let ledger = loop {
            match SqliteLedger::open(&path) {
                Ok(ledger) => break ledger,
                Err(StoreError::InUse(_)) => tokio::task::yield_now().await,
                Err(other) => panic!("{other}"),
            }
        };
        let setup = Setup {
            ledger: Arc::new(ledger),
            ..world.setup()
        };
        let registry = Embedded::open(setup).await.unwrap();
        statuses.push(said(&registry).await);
        assert!(round == 0 || statuses[2 * round] == statuses[2 * round - 1]);
        let actor = Actor::new(&registry).await;
        registry.submit(&actor.create()).await.unwrap();
        statuses.push(said(&registry).await);
    }
}

/// The network, size and root in the ledger's checkpoint, which is signed again with the time each second.
async fn said(registry: &Embedded) -> Vec<String> {
    let checkpoint = registry.status().await.unwrap().checkpoint;
    checkpoint.lines().take(3).map(str::to_owned).collect()
}

#[tokio::test]
async fn a_checkpoint_verifies_with_the_key_of_the_genesis_and_no_other() {
    for world in World::all().await {
        let registry = world.open().await;
        let genesis = Genesis::from_bytes(&registry.genesis().await.unwrap()).unwrap();
        let verifier = checkpoint_verifier(&genesis).unwrap();
        let origin = log_origin(&genesis.network());
        let mut roots = BTreeSet::new();
        for size in 0..3 {
            let status = registry.status().await.unwrap();
            assert_eq!(
                status.verifier_key.parse::<VerifierKey>().unwrap(),
                verifier
            );
            let checkpoint =
                Checkpoint::open(&status.checkpoint, &origin, std::slice::from_ref(&verifier))
                    .unwrap();
            assert_eq!((checkpoint.size, status.transactions), (size, size));
            assert!(roots.insert(checkpoint.root));
            let actor = Actor::new(&registry).await;
            registry.submit(&actor.create()).await.unwrap();
        }
        let other = World::memory().await.open().await.status().await.unwrap();
        let foreign: VerifierKey = other.verifier_key.parse().unwrap();
        assert!(Checkpoint::open(&other.checkpoint, &origin, &[verifier]).is_err());
        let own = registry.status().await.unwrap().checkpoint;
        assert!(Checkpoint::open(&own, &origin, &[foreign]).is_err());
    }
}

#[tokio::test]
async fn a_block_that_could_not_be_stored_is_no_block() {
    for world in World::all().await {
        let registry = world.open().await;
        let actor = Actor::new(&registry).await;
        world.ledger.lose();
        let lost = registry.submit(&actor.create()).await.unwrap_err();
        assert_eq!(lost.kind, ErrorKind::Unavailable { retry_after: 1 });
        assert_eq!(registry.status().await.unwrap().transactions, 0);
        world.ledger.work();
        assert_eq!(registry.submit(&actor.create()).await.unwrap().seq_no, 1);
    }
}

#[tokio::test]
async fn a_block_stored_without_an_answer_holds_and_its_receipt_can_be_had_again() {
    for world in World::all().await {
        let registry = world.open().await;
        let (actor, other) = (Actor::new(&registry).await, Actor::new(&registry).await);
        world.ledger.lose_answers();
        let unanswered = registry.submit(&actor.create()).await.unwrap_err();
        assert!(!unanswered.is_refusal());
        world.ledger.work();
        assert_eq!(registry.submit(&other.create()).await.unwrap().seq_no, 2);
        assert_eq!(registry.submit(&actor.create()).await.unwrap().seq_no, 1);
    }
}

#[tokio::test]
async fn a_ledger_of_another_network_is_refused() {
    for world in World::all().await {
        let registry = world.open().await;
        let actor = Actor::new(&registry).await;
        registry.submit(&actor.create()).await.unwrap();
        drop(registry);
        // With a store that knows no network, and with one that knows another.
        let elsewhere = World::memory().await;
        let stranger = || Setup {
            ledger: world.ledger.clone(),
            clock: world.clock.clone(),
            ..elsewhere.setup()
        };
        assert!(Embedded::open(stranger()).await.is_err());
        drop(elsewhere.open().await);
        assert!(Embedded::open(stranger()).await.is_err());
    }
}

#[tokio::test]
async fn entries_are_listed_newest_first_page_by_page() {
    let world = World::sqlite().await;
    let registry = world.open().await;
    for _ in 0..5 {
        let actor = Actor::new(&registry).await;
        registry.submit(&actor.create()).await.unwrap();
    }
    let (mut paging, mut pages) = (
        Paging {
            after: None,
            limit: Some(2),
        },
        Vec::new(),
    );
    loop {
        let page = registry.recent(&paging).await.unwrap();
        pages.push(
            page.items
                .iter()
                .map(|entry| entry.seq_no)
                .collect::<Vec<_>>(),
        );
        let Some(next) = page.next else { break };
        paging.after = Some(next);
    }
    assert_eq!(pages, [vec![5, 4], vec![3, 2], vec![1]]);
    assert_eq!(registry.entry(3).await.unwrap().kind, "create_did");
    assert_eq!(
        registry.entry(6).await.unwrap_err().kind,
        ErrorKind::NotFound
    );
    assert_eq!(
        registry.entry(0).await.unwrap_err().kind,
        ErrorKind::NotFound
    );
}

#[tokio::test]
async fn transactions_that_are_too_long_for_one_answer_are_asked_for_in_several() {
    let registry = World::memory().await.open().await;
    let author = Actor::new(&registry).await;
    registry.submit(&author.create()).await.unwrap();
    let resource = Operation::Resource(Resource {
        id: ResourceId([7; 16]),
        name: "long".to_owned(),
        kind: "Text".to_owned(),
        version: None,
        media_type: "text/plain".to_owned(),
        also_known_as: Vec::new(),
        data: ResourceData::Bytes(vec![b'x'; 128 * 1024]),
    });
    let long = author.transaction(1, resource);
    let number = registry.submit(&long).await.unwrap().seq_no;
    // The same transaction may be requested many times; the size of an answer is limited all the same.
    for (times, fits) in [(1, true), (120, true), (130, false), (ENTRIES_MAX, false)] {
        match registry.proven(&vec![number; times], 0).await {
            Ok(proven) => {
                assert!(fits && proven.to_bytes().len() <= MAX_BYTES, "{times}");
            }
            Err(error) => {
                assert!(!fits, "{times}: {error}");
                assert_eq!(error.kind, ErrorKind::BadRequest);
                assert_eq!(error.reason.id(), "transactions-too-long");
            }
        }
    }
}

impl World {
    fn ledger_commits(&self) -> u64 {
        use selfsame_store::ledger::LedgerStore;
        self.ledger.meter().commits()
    }
}
