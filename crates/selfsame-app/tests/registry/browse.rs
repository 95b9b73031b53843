//! Browsing the ledger: pages, searches, the views of Indy, proofs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use selfsame_crypto::encoding::{base64_decode, hex_decode};
use selfsame_driver::ErrorKind;
use selfsame_ledger::Registry;
use selfsame_ledger::browse::{Browser, IndyLedger, SearchCriteria, Type, ViewPage};
use selfsame_ledger::view::browse::FoundView;
use selfsame_proof::log::{leaf_hash, node_hash};
use selfsame_registry::resource::{Resource, ResourceData, ResourceId};
use selfsame_registry::transaction::Body;
use selfsame_registry::{Identifier, Operation, UnsignedTransaction};
use selfsame_store::ledger::SqliteLedger;

use crate::world::{Actor, World};

fn resource(number: u8) -> Operation {
    Operation::Resource(Resource {
        id: ResourceId([number; 16]),
        name: format!("leaflet {number}"),
        kind: "PatientInformation".to_owned(),
        version: Some("1".to_owned()),
        media_type: "text/plain".to_owned(),
        also_known_as: Vec::new(),
        data: ResourceData::Bytes(vec![number; 8]),
    })
}

/// The hits once everything is searched: a query waits only briefly for the index to catch up with the log.
async fn searched(
    browser: &Browser<'_>,
    search: &SearchCriteria<'_>,
    (before, count): (Option<u64>, u64),
) -> FoundView {
    loop {
        let found = browser.search(search, before, count).await.unwrap();
        if found.searched == found.transactions {
            return found;
        }
    }
}

/// The hits of a page of a view, once everything is searched.
async fn viewed(browser: &Browser<'_>, view: IndyLedger, page: &ViewPage<'_>) -> FoundView {
    loop {
        let found = browser.view(view, page).await.unwrap();
        if found.searched == found.transactions {
            return found;
        }
    }
}

/// Thirty DIDs; the last one also writes a batch of three resources and a rotation.
async fn written(registry: &dyn Registry) -> Actor {
    for _ in 0..29 {
        let actor = Actor::new(registry).await;
        registry.submit(&actor.create()).await.unwrap();
    }
    let mut actor = Actor::new(registry).await;
    registry.submit(&actor.create()).await.unwrap();
    let batch = actor.batch(9, (1..=3).map(resource).collect());
    registry.submit(&batch).await.unwrap();
    registry.submit(&actor.rotate(2)).await.unwrap();
    actor
}

#[tokio::test(flavor = "multi_thread")]
#[expect(
    clippy::disallowed_methods,
    reason = "how long somebody waits is the point"
)]
async fn who_searches_while_the_index_is_made_is_told_so_at_once() {
    let world = World::memory().await;
    let registry = Arc::new(world.open().await);
    let actors = futures_util::future::join_all((0..450).map(|_| Actor::new(&*registry))).await;
    let written: Vec<_> = actors.iter().map(Actor::create).collect();
    let submitted = written.iter().map(|one| registry.submit(one));
    futures_util::future::join_all(submitted).await;
    world.ledger.reads_slowly(Duration::from_secs(2));
    let browser = Browser::of(&*registry).unwrap();
    let created = SearchCriteria {
        kind: Some("create_did"),
        ..SearchCriteria::default()
    };
    // The first query starts building the index, and waits for it briefly.
    let begun = Instant::now();
    let first = browser.search(&created, None, 10).await.unwrap();
    assert!(first.searched < first.transactions, "{first:?}");
    assert!(begun.elapsed() >= Duration::from_secs(1));
    let begun = Instant::now();
    let second = browser.search(&created, None, 10).await.unwrap();
    assert!(second.searched < second.transactions, "{second:?}");
    // Less than the wait of the first one.
    assert!(begun.elapsed() < Duration::from_millis(1_400));
    world.ledger.reads_slowly(Duration::ZERO);
    let whole = searched(&browser, &created, (None, 10)).await;
    assert_eq!(whole.total, 450);
}

#[tokio::test]
async fn everything_is_found_by_kind_by_did_and_by_words_page_by_page() {
    for world in World::all().await {
        let registry = world.open().await;
        let actor = written(&registry).await;
        let browser = Browser::of(&registry).unwrap();
        assert_eq!(browser.head().unwrap().1, 32);

        let created = SearchCriteria {
            kind: Some("create_did"),
            ..SearchCriteria::default()
        };
        let mut seen = Vec::new();
        let mut before = None;
        loop {
            let page = searched(&browser, &created, (before, 7)).await;
            assert_eq!((page.total, page.searched, page.transactions), (30, 32, 32));
            seen.extend(page.items.iter().map(|one| one.seq_no));
            before = page.next;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(seen, (1..=30).rev().collect::<Vec<_>>());

        let about = SearchCriteria {
            did: Some(actor.did.as_str()),
            ..SearchCriteria::default()
        };
        let page = searched(&browser, &about, (None, 50)).await;
        let found = |one: &selfsame_ledger::view::browse::OperationView| (one.seq_no, one.place);
        let places: Vec<_> = page.items.iter().map(found).collect();
        assert_eq!(places, [(32, 1), (31, 3), (31, 2), (31, 1), (30, 1)]);

        // Only the last word may be incomplete: a "2" there would match one hash in sixteen.
        let words = SearchCriteria {
            text: Some("2 LEAFLET"),
            ..SearchCriteria::default()
        };
        let page = searched(&browser, &words, (None, 50)).await;
        assert_eq!(page.items.iter().map(found).collect::<Vec<_>>(), [(31, 2)]);
        assert_eq!(
            page.items[0].said,
            "Publishes the resource leaflet 2 of type PatientInformation."
        );
        let both = SearchCriteria {
            kind: Some("update_did"),
            ..about
        };
        assert_eq!(searched(&browser, &both, (None, 50)).await.total, 1);

        // Later transactions are found as well.
        registry.submit(&actor.deactivate(3)).await.unwrap();
        let ended = SearchCriteria {
            text: Some("ends"),
            ..SearchCriteria::default()
        };
        assert_eq!(
            searched(&browser, &ended, (None, 50)).await.items[0].seq_no,
            33
        );
        for (search, what) in [
            (SearchCriteria::default(), "nothing"),
            (
                SearchCriteria {
                    text: Some(&"x".repeat(201)),
                    ..SearchCriteria::default()
                },
                "too much",
            ),
        ] {
            let refused = browser.search(&search, None, 50).await.unwrap_err();
            assert_eq!(refused.kind, ErrorKind::BadRequest, "{what}");
        }
    }
}

#[tokio::test]
async fn indys_three_ledgers_are_views_with_pages_and_counts_from_the_genesis_on() {
    let world = World::memory().await;
    let registry = world.open().await;
    written(&registry).await;
    let browser = Browser::of(&registry).unwrap();
    let page = |kind, text, page| ViewPage {
        kind,
        text,
        page,
        size: 10,
    };
    let all = viewed(&browser, IndyLedger::Domain, &page(None, None, 1)).await;
    // The trustee of the genesis, thirty DIDs, three resources, one rotation.
    assert_eq!((all.total, all.items.len()), (35, 10));
    assert_eq!(
        (all.items[0].seq_no, all.items[0].kind.as_str()),
        (0, "member")
    );
    assert_eq!(all.items[1].seq_no, 1);
    let last = viewed(&browser, IndyLedger::Domain, &page(None, None, 4)).await;
    assert_eq!(
        last.items.iter().map(|one| one.seq_no).collect::<Vec<_>>(),
        [30, 31, 31, 31, 32]
    );
    let past = viewed(&browser, IndyLedger::Domain, &page(None, None, 5)).await;
    assert!(past.items.is_empty());
    let attribs = viewed(
        &browser,
        IndyLedger::Domain,
        &page(Some(Type::Attrib), None, 1),
    )
    .await;
    assert_eq!(attribs.total, 3);
    // Again the number is not the last word, where it would match hashes too.
    let words = page(Some(Type::Attrib), Some("3 leaflet"), 1);
    let found = viewed(&browser, IndyLedger::Domain, &words).await;
    assert_eq!((found.total, found.items[0].place), (1, 3));
    let pool = viewed(&browser, IndyLedger::Pool, &page(None, None, 1)).await;
    assert_eq!((pool.total, pool.items[0].kind.as_str()), (1, "validator"));
    assert_eq!(browser.count(IndyLedger::Config).await.unwrap(), 1);
    let far = page(None, Some("leaflet"), 10_000);
    let refused = browser.view(IndyLedger::Domain, &far).await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::BadRequest);
}

#[tokio::test]
async fn blocks_are_listed_with_their_transactions() {
    let world = World::sqlite().await;
    let registry = world.open().await;
    written(&registry).await;
    let browser = Browser::of(&registry).unwrap();
    let (height, size) = browser.head().unwrap();
    let blocks = browser.blocks(None, 10).unwrap();
    assert_eq!((blocks.len(), blocks[0].height), (10, height));
    let older = browser.blocks(Some(blocks[9].height), 100).unwrap();
    assert_eq!(older[0].height, height - 10);
    let all: u64 = blocks
        .iter()
        .chain(&older)
        .map(|block| block.transactions)
        .sum();
    assert_eq!(all, size);
    let (block, entries) = browser.block(height).unwrap();
    assert_eq!(entries.len() as u64, block.transactions);
    assert_eq!(entries.last().unwrap().seq_no, size);
    assert_eq!(
        browser.block(height + 1).unwrap_err().kind,
        ErrorKind::NotFound
    );
}

#[tokio::test]
async fn a_transaction_and_an_object_come_with_proofs_that_hold() {
    let world = World::memory().await;
    let registry = world.open().await;
    let actor = written(&registry).await;
    let browser = Browser::of(&registry).unwrap();
    let proof = browser.inclusion(31).await.unwrap().unwrap();
    let mut hash = leaf_hash(&base64_decode(&proof.transaction).unwrap());
    for (beside, left) in proof.path.iter().zip(&proof.left) {
        let beside = hex_decode(beside).unwrap().try_into().unwrap();
        hash = match left {
            true => node_hash(&beside, &hash),
            false => node_hash(&hash, &beside),
        };
    }
    assert_eq!(selfsame_crypto::encoding::hex_encode(&hash), proof.root);
    assert_eq!(proof.signers, ["embedded"]);
    assert_eq!(
        browser.inclusion(99).await.unwrap_err().kind,
        ErrorKind::NotFound
    );
    let (hash, seq) = (browser.operations(31).unwrap()[0].hash.clone(), 31);
    assert_eq!(browser.by_hash(&hash).unwrap(), Some(seq));
    assert_eq!(browser.by_hash("0011").unwrap(), None);

    let key = browser.key_of(actor.did.as_str()).unwrap();
    let object = browser.object(&key, world.clock.now()).await.unwrap();
    assert!(object.holds, "{:?}", object.rules);
    assert_eq!(object.signers, ["embedded"]);
    let versions: Vec<_> = object
        .versions
        .iter()
        .map(|one| (one.number, one.seq_no))
        .collect();
    assert_eq!(versions, [(2, 32), (1, 30)]);
    let absent = browser
        .object("did/unknown", world.clock.now())
        .await
        .unwrap();
    assert!(absent.holds && absent.value.is_none());

    let validators = browser.validators().await.unwrap();
    assert_eq!(validators.validators.len(), 1);
    assert!(validators.validators[0].signed);
    assert_eq!(
        (validators.validators[0].percent, validators.tolerates),
        (100, 0)
    );
}

#[tokio::test]
async fn the_index_is_kept_beside_the_ledger_and_is_not_taken_for_that_of_another() {
    let directory = tempfile::tempdir().unwrap();
    let all = SearchCriteria {
        kind: Some("create_did"),
        ..SearchCriteria::default()
    };
    for round in 0..2 {
        let name = directory.path().join(format!("ledger-{round}"));
        // The second ledger finds the first one's index in place of its own.
        if round == 1 {
            let index = |at: u8| directory.path().join(format!("ledger-{at}-index"));
            std::fs::copy(index(0), index(1)).unwrap();
        }
        let world = World::over(Arc::new(SqliteLedger::open(&name).unwrap()), None).await;
        let registry = world.open().await;
        for _ in 0..=round {
            let actor = Actor::new(&registry).await;
            registry.submit(&actor.create()).await.unwrap();
        }
        let browser = Browser::of(&registry).unwrap();
        let found = searched(&browser, &all, (None, 50)).await;
        assert_eq!(found.total, round + 1);
    }
}

impl Actor {
    fn batch(&self, nonce: u64, operations: Vec<Operation>) -> selfsame_registry::Transaction {
        let (network, id) = selfsame_did::selfsame::parts(&self.did)
            .map(|(network, _)| {
                (
                    network.clone(),
                    Identifier::of_did(&self.did, &network).unwrap(),
                )
            })
            .unwrap();
        self.sign(UnsignedTransaction::of(Body::new(
            &network, id, nonce, operations,
        )))
    }
}
