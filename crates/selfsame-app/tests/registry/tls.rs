//! Evidence for TLS handshakes and the instance's own staples, with an embedded registry and a remote one.

use selfsame_app::tls::{Gatherer, Reuse, Stapler};
use selfsame_did::{Did, Options};
use selfsame_ledger::{Registry, ServedRegistry};
use selfsame_tls::Alert;
use selfsame_tls::evidence::{Failure, HandshakeNeed, NeedAnswer, Source};
use selfsame_tls::identity::{Staple, StaplePolicy, Stapling, staple};
use selfsame_tls::resumption::AtHand as _;
use selfsame_tls_io::Gather;

use crate::dids::{REGISTRY, app, new};
use crate::paper::{Lie, Paper, reader, store};
use crate::world::World;

/// The only staple.
fn only(staples: &[Staple]) -> Staple {
    let [staple] = staples else {
        panic!("{} staples", staples.len())
    };
    staple.clone()
}

#[tokio::test]
async fn an_identity_staples_what_its_registry_says_and_others_believe_it_without_asking() {
    let world = World::memory().await;
    let app = app(&world, REGISTRY).await;
    let made = app.dids().create(&new("selfsame")).await.unwrap();
    let did = Did::parse(&made.did).unwrap();
    let stapler = Stapler::new(&app, did.clone(), Vec::new());
    let staples = stapler.staples();
    assert!(staples.get().is_empty());

    let gatherer = Gatherer::new(&app, Reuse::default());
    let stapled = StaplePolicy::new(gatherer.ledger().await.unwrap().unwrap());
    let judged = |staple: &Staple| {
        let judged = staple::judge(&stapled, staple, &did, app.clock().now());
        judged.map_err(|refusal| refusal.alert)
    };
    stapler.renew().await.unwrap();
    let first = only(&staples.get());
    assert_eq!(judged(&first), Ok(()));

    app.dids().rotate(&made.did).await.unwrap();
    stapler.renew().await.unwrap();
    let second = only(&staples.get());
    assert_ne!(first, second);
    assert_eq!(judged(&second), Ok(()));
    // The verifier now knows that the DID has changed.
    assert_eq!(judged(&first), Err(Alert::CertificateUnknown));

    app.dids().deactivate(&made.did).await.unwrap();
    stapler.renew().await.unwrap();
    assert_eq!(
        judged(&only(&staples.get())),
        Err(Alert::CertificateUnknown)
    );
}

#[tokio::test]
async fn a_did_is_kept_for_as_long_as_it_may_be_and_asked_for_again_when_that_is_forgotten() {
    let world = World::memory().await;
    let app = app(&world, REGISTRY).await;
    let made = app.dids().create(&new("selfsame")).await.unwrap();
    let need = HandshakeNeed::Did(Did::parse(&made.did).unwrap());
    let gatherer = Gatherer::new(&app, Reuse::default());
    let asked = async |now| match gatherer.gather(&need, now).await {
        NeedAnswer::Did(_, found) => found,
        other => panic!("another answer: {other:?}"),
    };
    let now = app.clock().now();
    assert!(gatherer.at_hand(&need, now).is_none());
    gatherer.prefetch(std::slice::from_ref(&need)).await;
    let now = app.clock().now();
    assert_eq!(gatherer.at_hand(&need, now).unwrap().need(), need);
    let found = asked(now).await;
    assert_eq!(found.source, Source::Registry);
    assert!(found.value.unwrap().document.is_some());
    app.dids().deactivate(&made.did).await.unwrap();
    assert!(asked(now).await.value.unwrap().document.is_some());
    // It may be cached for half a minute.
    let later = now.plus(Reuse::default().did + 1);
    assert!(gatherer.at_hand(&need, later).is_none());
    let ended = asked(later).await.value.unwrap();
    assert!(ended.document_metadata.deactivated);
    gatherer.forget(&need);
    assert!(
        asked(now)
            .await
            .value
            .unwrap()
            .document_metadata
            .deactivated
    );
}

#[tokio::test]
async fn what_cannot_be_had_is_an_answer() {
    let world = World::memory().await;
    let app = app(&world, REGISTRY).await;
    let gatherer = Gatherer::new(&app, Reuse::default());
    let did = Did::parse("did:web:unknown.invalid").unwrap();
    for need in [
        HandshakeNeed::Did(did),
        HandshakeNeed::StatusList("https://unknown.invalid/list".to_owned()),
        HandshakeNeed::StatusList("no address".to_owned()),
        HandshakeNeed::Crl("https://unknown.invalid/list.crl".to_owned()),
        HandshakeNeed::Crl("no address".to_owned()),
    ] {
        let answer = gatherer.gather(&need, app.clock().now()).await;
        assert_eq!(answer.need(), need);
        let failure = match answer {
            NeedAnswer::Did(_, found) => found.value.err(),
            NeedAnswer::StatusList(_, found) => found.value.err(),
            NeedAnswer::Crl(_, found) => found.value.err(),
            other => panic!("another answer: {other:?}"),
        };
        assert_eq!(failure, Some(Failure::Unavailable));
    }
}

#[tokio::test]
async fn what_a_staple_proves_the_registrys_client_knows() {
    let paper = Paper::new();
    let (history, dids) = paper.history(2).await;
    // Changeable objects are cached for a few seconds; with this clock these do not run out, however slow the machine
    // is.
    paper.clock.set_back(30);
    let node = history.node(Lie::None).await;
    let remote = reader(&[&node], (&store().await, &paper.clock, None));
    let ledger = remote.reader().await.unwrap();
    let mut stapling = Stapling::new(ledger.rules(), vec![dids[0].clone()], Vec::new());
    // As another party, the peer, reads it.
    let peer = reader(&[&node], (&store().await, &paper.clock, None));
    while let Some(key) = stapling.missing() {
        stapling.add(peer.read(&key, 0).await.unwrap());
    }
    let staple = only(&stapling.staples());
    let stapled = StaplePolicy::new(ledger);
    let now = paper.clock.now();
    let judged = staple::judge(&stapled, &staple, &dids[0], now);
    assert_eq!(judged.map_err(|refusal| refusal.alert), Ok(()));
    // No node is needed for it now.
    node.does(Lie::Down);
    let known = remote.resolve(&dids[0], &Options::default()).await;
    assert!(known.document.is_some());
    let unknown = remote.resolve(&dids[1], &Options::default()).await;
    assert!(unknown.document.is_none());
}
