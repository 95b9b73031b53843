//! Witnesses of the embedded registry, and readers that require their cosignatures.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use selfsame_crypto::encoding::base64url_decode;
use selfsame_did::{Did, Options};
use selfsame_driver::clock::Clock;
use selfsame_driver::{Error, ErrorKind};
use selfsame_ledger::config::{RegistryNode, RegistryWitness, WitnessQuorum};
use selfsame_ledger::embedded::{Embedded, Setup};
use selfsame_ledger::remote::Remote;
use selfsame_ledger::{
    LocalRegistry, Registry, ServedRegistry, checkpoint_verifier, log_origin, remote,
};
use selfsame_net::{Net, Settings};
use selfsame_proof::checkpoint::Checkpoint;
use selfsame_proof::note::{SignedNote, VerifierKey};
use selfsame_registry::{Genesis, Transaction};
use selfsame_store::ledger::MemoryLedger;
use selfsame_testkit::fake_server::{FakeServer, ReceivedRequest, Reply};
use selfsame_testkit::witness::{Manner, Witness};
use tokio::runtime::Handle;
use url::Url;

use crate::paper::store;
use crate::world::{Actor, World};

/// More than any of this takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn net(origins: &[&str]) -> Net {
    let origin = |address: &&str| address.parse::<Url>().unwrap().origin();
    let settings = Settings {
        own_origins: origins.iter().map(origin).collect(),
        ..Settings::default()
    };
    Net::new(settings).unwrap()
}

async fn witness(world: &World, name: &str) -> Witness {
    Witness::start(name, world.clock.now()).await
}

/// A registry that sends its checkpoints to these witnesses, which get to know it one after another.
async fn watched(world: &World, witnesses: &[&Witness]) -> Arc<Embedded> {
    opened(world.setup(), witnesses).await
}

async fn opened(mut setup: Setup, witnesses: &[&Witness]) -> Arc<Embedded> {
    let at = |witness: &&Witness| RegistryWitness {
        key: witness.key().clone(),
        url: witness.address().parse().unwrap(),
    };
    let addresses: Vec<&str> = witnesses.iter().map(|witness| witness.address()).collect();
    setup.witnesses = Some((net(&addresses), witnesses.iter().map(at).collect()));
    let registry = Embedded::open(setup).await.unwrap();
    for witness in witnesses {
        introduce(&registry, witness).await;
    }
    Arc::new(registry)
}

async fn introduce(registry: &Embedded, witness: &Witness) {
    let genesis = Genesis::from_bytes(&registry.genesis().await.unwrap()).unwrap();
    witness.knows(&origin(&genesis), checkpoint_verifier(&genesis).unwrap());
}

fn origin(genesis: &Genesis) -> String {
    log_origin(&genesis.network())
}

/// The witnesses that cosigned the registry's current checkpoint.
async fn cosigners(registry: &Embedded, witnesses: &[&Witness]) -> Vec<String> {
    let note = registry.status().await.unwrap().checkpoint;
    let note = SignedNote::parse(&note).unwrap();
    let keys: Vec<VerifierKey> = witnesses.iter().map(|w| w.key().clone()).collect();
    let signers = note.signers(&keys).unwrap();
    signers.iter().map(|s| s.key.name().to_owned()).collect()
}

/// Waits until this number of them have cosigned. A witness that is late on a busy machine is asked again.
async fn are_cosigners(world: &World, registry: &Embedded, (many, of): (usize, &[&Witness])) {
    let asking = async {
        while cosigners(registry, of).await.len() != many {
            tokio::time::sleep(Duration::from_millis(50)).await;
            // A checkpoint without changes is signed and sent again every other second.
            world.clock.advance(2);
        }
    };
    let asked = tokio::time::timeout(PATIENCE, asking).await;
    assert!(asked.is_ok(), "not cosigned: {:?}", registry.witnesses());
}

async fn write(registry: &Embedded) -> Did {
    let actor = Actor::new(registry).await;
    registry.submit(&actor.create()).await.unwrap();
    actor.did
}

/// The registry as a node over HTTP.
async fn node(registry: &Arc<Embedded>) -> FakeServer {
    let registry = registry.clone();
    let answer = move |asked: &ReceivedRequest| {
        let answered = answer(&registry, asked);
        tokio::task::block_in_place(|| Handle::current().block_on(answered))
    };
    FakeServer::start(answer).await.unwrap()
}

pub async fn answer(registry: &Embedded, asked: &ReceivedRequest) -> Reply {
    let query = asked.query.as_deref().unwrap_or("").as_bytes();
    let query: Vec<_> = url::form_urlencoded::parse(query).into_owned().collect();
    let of = |name: &str| &query.iter().find(|(key, _)| key == name).unwrap().1;
    let body = match asked.path.as_str() {
        "/registry/genesis" => registry.genesis().await.unwrap(),
        "/registry/read" => {
            let key = base64url_decode(of("key")).unwrap();
            registry.read(&key, 0).await.unwrap().to_bytes()
        }
        "/registry/reads" => {
            let key = base64url_decode(of("key")).unwrap();
            registry.reads(&key, 0).await.unwrap().to_bytes()
        }
        "/registry/log" => {
            let numbers = of("numbers").split(',').map(|n| n.parse().unwrap());
            let numbers: Vec<u64> = numbers.collect();
            registry.proven(&numbers, 0).await.unwrap().to_bytes()
        }
        "/registry/transactions" => {
            let transaction = Transaction::from_bytes(&asked.body).unwrap();
            serde_json::to_vec(&registry.submit(&transaction).await.unwrap()).unwrap()
        }
        "/api/registry/status" => serde_json::to_vec(&registry.status().await.unwrap()).unwrap(),
        other => panic!("an unexpected request for {other}"),
    };
    let is_json = asked.path.contains("transactions") || asked.path.contains("status");
    Reply {
        status: 200,
        content_type: if is_json {
            "application/json"
        } else {
            "application/cbor"
        },
        body,
        ..Reply::default()
    }
}

/// A reader of that node that requires this number of these witnesses.
async fn reader(node: &FakeServer, clock: &Clock, (needed, of): (usize, &[&Witness])) -> Remote {
    let keys = of.iter().map(|witness| witness.key().clone()).collect();
    Remote::new(remote::RemoteSetup {
        net: net(&[node.address()]),
        clock: clock.clone(),
        store: store().await,
        nodes: vec![RegistryNode {
            origin: node.address().parse().unwrap(),
            token: "unused".to_owned().into(),
        }],
        pin: None,
        standstill: 0,
        witnesses: WitnessQuorum::new(keys, Some(needed)).unwrap(),
    })
}

async fn asks(remote: &Remote, did: &Did) -> Result<(), Error> {
    remote.used(did, &[1; 32]).await.map(drop)
}

/// Waits until all reads are believed: a witness that was late on a busy machine signs the next checkpoint.
async fn is_believed(world: &World, remote: &Remote, did: &Did) {
    let asking = async {
        loop {
            let used = asks(remote, did).await.is_ok();
            let resolution = remote.resolve(did, &Options::default()).await;
            let status = remote.status().await.is_ok();
            let entries = remote.entries(1, 1).await.is_ok_and(|all| all.len() == 1);
            if used && resolution.document.is_some() && status && entries {
                return;
            }
            world.clock.advance(2);
        }
    };
    tokio::time::timeout(PATIENCE, asking).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_believe_what_enough_of_their_witnesses_cosigned_and_nothing_else() {
    let world = World::memory().await;
    let (a, b) = (
        witness(&world, "a.example/w").await,
        witness(&world, "b.example/w").await,
    );
    let both = [&a, &b];
    let registry = watched(&world, &both).await;
    let did = write(&registry).await;
    are_cosigners(&world, &registry, (2, &both)).await;
    let node = node(&registry).await;
    for needed in [1, 2] {
        let remote = reader(&node, &world.clock, (needed, &both)).await;
        is_believed(&world, &remote, &did).await;
    }
    // With one of them down, requiring one still succeeds, and requiring two fails.
    b.behaves(Manner::Down);
    let did = write(&registry).await;
    are_cosigners(&world, &registry, (1, &both)).await;
    let remote = reader(&node, &world.clock, (1, &both)).await;
    is_believed(&world, &remote, &did).await;
    let remote = reader(&node, &world.clock, (2, &both)).await;
    for refused in [
        asks(&remote, &did).await.unwrap_err(),
        remote.status().await.unwrap_err(),
        remote.entries(1, 9).await.unwrap_err(),
    ] {
        assert_eq!(refused.kind, ErrorKind::Unavailable { retry_after: 2 });
        assert!(refused.to_string().contains("b.example/w"), "{refused}");
        assert!(refused.to_string().contains("cosignatures-missing"));
    }
    // A witness of others never saw the checkpoint.
    let stranger = witness(&world, "c.example/w").await;
    let remote = reader(&node, &world.clock, (1, &[&stranger])).await;
    let refused = asks(&remote, &did).await.unwrap_err();
    assert!(refused.to_string().contains("c.example/w"), "{refused}");
    // Once it is up again, requiring two succeeds again.
    b.behaves(Manner::Honest);
    are_cosigners(&world, &registry, (2, &both)).await;
    let remote = reader(&node, &world.clock, (2, &both)).await;
    is_believed(&world, &remote, &did).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_to_a_registry_elsewhere_is_proven_by_the_writers_witnesses_too() {
    let world = World::memory().await;
    let a = witness(&world, "a.example/w").await;
    let registry = watched(&world, &[&a]).await;
    let node = node(&registry).await;
    are_cosigners(&world, &registry, (1, &[&a])).await;
    let remote = reader(&node, &world.clock, (1, &[&a])).await;
    let actor = Actor::new(&*registry).await;
    // A witness that is late on a busy machine may leave this write unproven; sending it again is safe.
    let creation = actor.create();
    let sending = async {
        loop {
            if let Ok(receipt) = remote.submit(&creation).await {
                return receipt;
            }
            world.clock.advance(2);
        }
    };
    let receipt = tokio::time::timeout(PATIENCE, sending).await.unwrap();
    assert_eq!(receipt.seq_no, 1);
    a.behaves(Manner::Down);
    let other = Actor::new(&*registry).await;
    let unproven = remote.submit(&other.create()).await.unwrap_err();
    assert!(
        unproven.to_string().contains("acknowledgement-unproven"),
        "{unproven}"
    );
    assert!(
        unproven.to_string().contains("missing: a.example/w"),
        "{unproven}"
    );
}

#[tokio::test]
async fn no_witness_stops_the_writing_or_makes_what_it_did_not_sign_pass() {
    for manner in [
        Manner::Down,
        Manner::Slow(Duration::from_secs(3_600)),
        Manner::SignsAnother,
        Manner::WrongKey,
        Manner::Forges,
        Manner::NeverSatisfied,
        Manner::Babbles,
    ] {
        let world = World::memory().await;
        let (good, bad) = (witness(&world, "good").await, witness(&world, "bad").await);
        let both = [&good, &bad];
        bad.behaves(manner);
        let registry = watched(&world, &both).await;
        for _ in 0..2 {
            write(&registry).await;
            let signed = cosigners(&registry, &both).await;
            assert!(!signed.contains(&"bad".to_owned()), "{manner:?}");
        }
        assert_eq!(registry.status().await.unwrap().transactions, 2);
        // The other witness's cosignature is there all the same.
        are_cosigners(&world, &registry, (1, &both)).await;
        let figures = registry.witnesses();
        assert_eq!((figures[1].name.as_str(), figures[1].cosigned), ("bad", 0));
        assert!(figures[1].refused + figures[1].silent > 0, "{manner:?}");
        // As soon as it behaves, its cosignature counts.
        bad.behaves(Manner::Honest);
        are_cosigners(&world, &registry, (2, &both)).await;
    }
}

#[tokio::test]
async fn a_witness_that_does_not_know_the_log_or_its_key_answers_so_and_is_left_out() {
    let world = World::memory().await;
    let (knows, not) = (witness(&world, "knows").await, witness(&world, "not").await);
    let both = [&knows, &not];
    let registry = watched(&world, &both).await;
    let genesis = Genesis::from_bytes(&registry.genesis().await.unwrap()).unwrap();
    let other = VerifierKey::new(
        &origin(&genesis),
        Witness::start("x", world.clock.now())
            .await
            .key()
            .public_key(),
    );
    not.knows(&origin(&genesis), other.unwrap());
    write(&registry).await;
    are_cosigners(&world, &registry, (1, &both)).await;
    assert!(not.answered().iter().all(|status| *status == 403));
    introduce(&registry, &not).await;
    are_cosigners(&world, &registry, (2, &both)).await;
}

#[tokio::test]
async fn after_a_restart_and_after_it_has_forgotten_a_witness_is_asked_what_it_has_seen() {
    let world = World::memory().await;
    let a = witness(&world, "a").await;
    let registry = watched(&world, &[&a]).await;
    let genesis = Genesis::from_bytes(&registry.genesis().await.unwrap()).unwrap();
    for _ in 0..3 {
        write(&registry).await;
    }
    are_cosigners(&world, &registry, (1, &[&a])).await;
    assert_eq!(a.has_seen(&origin(&genesis)), 3);
    drop(registry);
    let registry = watched(&world, &[&a]).await;
    for _ in 0..2 {
        write(&registry).await;
    }
    are_cosigners(&world, &registry, (1, &[&a])).await;
    assert_eq!(a.has_seen(&origin(&genesis)), 5);
    assert!(a.answered().contains(&409), "it told what it had seen");
    a.forgets();
    write(&registry).await;
    are_cosigners(&world, &registry, (1, &[&a])).await;
    assert_eq!(a.has_seen(&origin(&genesis)), 6);
}

#[tokio::test]
async fn heads_are_cosigned_under_steady_writes_and_every_one_of_them_was_shown() {
    let world = World::memory().await;
    let a = witness(&world, "a").await;
    let registry = watched(&world, &[&a]).await;
    let genesis = Genesis::from_bytes(&registry.genesis().await.unwrap()).unwrap();
    are_cosigners(&world, &registry, (1, &[&a])).await;
    let enough = Arc::new(AtomicBool::new(false));
    let writer = |_| {
        let (registry, enough) = (registry.clone(), enough.clone());
        tokio::spawn(async move {
            while !enough.load(Ordering::SeqCst) {
                write(&registry).await;
            }
        })
    };
    let writers: Vec<_> = (0..4).map(writer).collect();
    let mut heights = BTreeSet::new();
    let reading = async {
        while heights.len() < 5 {
            let note = registry.status().await.unwrap().checkpoint;
            let read = SignedNote::parse(&note).unwrap();
            let signers = read.signers(std::slice::from_ref(a.key())).unwrap();
            if !signers.is_empty() {
                let keys = [checkpoint_verifier(&genesis).unwrap()];
                let head = Checkpoint::open(&note, &origin(&genesis), &keys).unwrap();
                heights.insert(head.standing().unwrap().height);
            }
            // Cached reads are answered at once, which would leave the other tasks no turn.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let read = tokio::time::timeout(PATIENCE, reading).await;
    assert!(read.is_ok(), "cosigned while the others write: {heights:?}");
    enough.store(true, Ordering::SeqCst);
    for writer in writers {
        writer.await.unwrap();
    }
    are_cosigners(&world, &registry, (1, &[&a])).await;
    let status = registry.status().await.unwrap();
    assert_eq!(a.has_seen(&origin(&genesis)), status.transactions);
    let blocks = status.height;
    let figures = registry.witnesses().remove(0);
    // A witness that was late on a busy machine may have been left out since.
    assert!(figures.silent > 0 || figures.cosigned + figures.refused >= blocks);
}

#[tokio::test]
async fn a_head_at_rest_is_cosigned_anew() {
    let world = World::memory().await;
    let a = witness(&world, "a").await;
    let registry = watched(&world, &[&a]).await;
    write(&registry).await;
    are_cosigners(&world, &registry, (1, &[&a])).await;
    let before = registry.status().await.unwrap().checkpoint;
    world.clock.advance(60);
    are_cosigners(&world, &registry, (1, &[&a])).await;
    let after = registry.status().await.unwrap().checkpoint;
    assert_ne!(after, before);
}

#[tokio::test]
async fn a_witness_vouches_for_the_clock_of_a_registry_that_was_away() {
    let world = World::memory().await;
    let early = witness(&world, "early").await;
    let registry = watched(&world, &[&early]).await;
    write(&registry).await;
    drop(registry);
    world.clock.start_machine();
    world.clock.set_ahead(7 * 86_400);
    // A witness whose own clock shows the believed time does not vouch for another.
    let registry = watched(&world, &[&early]).await;
    are_cosigners(&world, &registry, (1, &[&early])).await;
    assert!(registry.times().unwrap().view().doubt.is_some());
    drop(registry);

    let a = witness(&world, "a").await;
    let registry = watched(&world, &[&a]).await;
    are_cosigners(&world, &registry, (1, &[&a])).await;
    assert_eq!(registry.times().unwrap().view().doubt, None);
    write(&registry).await;
}

#[tokio::test]
async fn of_two_histories_under_one_key_a_witness_cosigns_one() {
    let world = World::memory().await;
    let a = witness(&world, "a").await;
    let one = watched(&world, &[&a]).await;
    // The same key, with another ledger.
    let split = Setup {
        ledger: Arc::new(MemoryLedger::new()),
        ..world.setup()
    };
    let other = opened(split, &[&a]).await;
    assert_eq!(one.genesis().await.unwrap(), other.genesis().await.unwrap());
    write(&one).await;
    are_cosigners(&world, &one, (1, &[&a])).await;
    // Shorter than the one it saw, of equal length, and longer.
    for writes in [0, 1, 2, 3] {
        if writes > 0 {
            write(&other).await;
        }
        for _ in 0..3 {
            world.clock.advance(2);
            assert_eq!(cosigners(&other, &[&a]).await, Vec::<String>::new());
        }
    }
    assert!(a.answered().contains(&409) && a.answered().contains(&422));
    assert_eq!(other.witnesses()[0].cosigned, 0);
    assert_eq!(
        other.status().await.unwrap().transactions,
        3,
        "it still writes"
    );
    // The first ledger can continue.
    write(&one).await;
    are_cosigners(&world, &one, (1, &[&a])).await;
}
