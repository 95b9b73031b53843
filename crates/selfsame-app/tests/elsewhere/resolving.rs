//! DIDs resolved by other resolvers: found, missing, deactivated, late; and answers of a resolver that must be refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use selfsame_did::method::cheqd::resource::wanted;
use selfsame_did::{DidUrl, Options, ResolutionError};
use selfsame_testkit::cheqd::FakeFault;
use selfsame_testkit::fake_server::{FakeServer, Reply};
use serde_json::json;

use crate::world::{DID, World, document};

#[tokio::test]
async fn a_document_is_found_and_says_whose_word_it_is() {
    let world = World::start().await;
    world.cheqd.ledger().write(DID, "v1", document(DID));
    let found = world.resolve(DID).await;
    assert_eq!(found.document().unwrap().id.as_str(), DID);
    assert_eq!(found.document_metadata.version_id.as_deref(), Some("v1"));
    let origin = world.cheqd.address().origin().ascii_serialization();
    assert_eq!(found.metadata.trusted_resolver, Some(origin));
}

#[tokio::test]
async fn a_did_that_is_missing_or_ended_has_no_document() {
    let world = World::start().await;
    let missing = world.resolve(DID).await;
    assert_eq!(missing.document().err(), Some(ResolutionError::NotFound));
    assert!(missing.metadata.trusted_resolver.is_some());
    let ended = "did:cheqd:mainnet:Ps1ysXP2Ae6GBfxNhNQNKN";
    world.cheqd.ledger().write(ended, "v1", document(ended));
    world.cheqd.ledger().deactivate(ended, "v2");
    let gone = world.resolve(ended).await;
    assert!(gone.document_metadata.deactivated);
    assert_eq!(gone.document().err(), Some(ResolutionError::NotFound));
}

#[tokio::test]
async fn what_is_no_did_of_the_method_is_not_asked_for() {
    let world = World::start().await;
    for did in [
        "did:cheqd:testnet:1",
        "did:cheqd:devnet:c1685ca0-1f5b-439c-8eb8-5c0e85ab7cd0",
    ] {
        let refused = world.resolve(did).await;
        assert_eq!(refused.metadata.error, Some(ResolutionError::InvalidDid));
    }
    assert_eq!(world.cheqd.resolved(), 0);
}

#[tokio::test]
async fn a_version_is_found_by_its_name_and_by_its_time() {
    let world = World::start().await;
    let mut second = document(DID);
    second["alsoKnownAs"] = json!(["https://example.org/"]);
    world.cheqd.ledger().write(DID, "v1", document(DID));
    world.cheqd.ledger().write(DID, "v2", second);
    let named = |name: &str| Options {
        version_id: Some(name.to_owned()),
        ..Options::default()
    };
    let first = world.resolve_at(DID, &named("v1")).await;
    assert!(first.document().unwrap().also_known_as.is_empty());
    let missing = world.resolve_at(DID, &named("v3")).await;
    assert_eq!(missing.document().err(), Some(ResolutionError::NotFound));
    let times: Vec<_> = world
        .cheqd
        .ledger()
        .versions(DID)
        .iter()
        .map(|version| version.time)
        .collect();
    for (time, version) in [(times[0], "v1"), (times[1], "v2")] {
        let then = Options {
            version_time: Some(time),
            ..Options::default()
        };
        let found = world.resolve_at(DID, &then).await;
        assert_eq!(found.document_metadata.version_id.as_deref(), Some(version));
    }
}

#[tokio::test]
async fn a_resolver_can_not_make_us_believe_another_document_or_version() {
    let world = World::start().await;
    world.cheqd.ledger().write(DID, "v1", document(DID));
    for fault in [FakeFault::WrongId, FakeFault::Malformed] {
        world.cheqd.fault(fault.clone());
        let refused = world.resolve(DID).await;
        let error = refused.document().err();
        assert_eq!(
            error,
            Some(ResolutionError::InvalidDidDocument),
            "{fault:?}"
        );
        world.app.clock().advance(60);
    }
    world.cheqd.fault(FakeFault::WrongVersion);
    let first = Options {
        version_id: Some("v1".to_owned()),
        ..Options::default()
    };
    let refused = world.resolve_at(DID, &first).await;
    assert_eq!(
        refused.document().err(),
        Some(ResolutionError::InvalidDidDocument)
    );
}

#[tokio::test]
async fn what_is_no_answer_is_a_failure_of_the_resolver_and_not_of_the_did() {
    let world = World::start().await;
    world.cheqd.ledger().write(DID, "v1", document(DID));
    for fault in [
        FakeFault::Elsewhere,
        FakeFault::Broken,
        FakeFault::Oversized,
    ] {
        world.cheqd.fault(fault.clone());
        let failed = world.resolve(DID).await;
        assert_eq!(
            failed.metadata.error,
            Some(ResolutionError::InternalError),
            "{fault:?}"
        );
        world.app.clock().advance(60);
    }
    world.cheqd.fault(FakeFault::None);
    assert!(world.resolve(DID).await.document().is_ok());
}

#[tokio::test]
async fn no_answer_is_used_after_the_deadline() {
    // With the short timeout the answer never comes; with the long one it comes well before the deadline.
    for (timeout, late, is_answered) in [(1, 3_600_000, false), (60, 1_250, true)] {
        let world = World::with(|cheqd, resolver| {
            resolver.cheqd = Some(cheqd.address());
            resolver.timeout = timeout;
        })
        .await;
        world.cheqd.ledger().write(DID, "v1", document(DID));
        world
            .cheqd
            .fault(FakeFault::Late(Duration::from_millis(late)));
        let found = world.resolve(DID).await;
        let error = (!is_answered).then_some(ResolutionError::InternalError);
        assert_eq!(found.metadata.error, error, "{timeout}");
        assert_eq!(found.document().is_ok(), is_answered, "{timeout}");
    }
}

#[tokio::test]
async fn a_resolver_can_not_send_us_elsewhere() {
    let reached = Arc::new(AtomicBool::new(false));
    let tells = reached.clone();
    let inward = FakeServer::start(move |_| {
        tells.store(true, Ordering::SeqCst);
        Reply {
            status: 200,
            content_type: "application/did",
            body: document(DID).to_string().into_bytes(),
            ..Reply::default()
        }
    })
    .await
    .unwrap();
    let world = World::start().await;
    for to in [
        format!("{}1.0/identifiers/{DID}", inward.address()),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        // A redirect to the resolver itself is refused too: the resolver must answer itself.
        format!("{}1.0/identifiers/{DID}", world.cheqd.address()),
    ] {
        world.cheqd.fault(FakeFault::Redirect(to.clone()));
        let failed = world.resolve(DID).await;
        assert_eq!(
            failed.metadata.error,
            Some(ResolutionError::InternalError),
            "{to}"
        );
        world.app.clock().advance(60);
    }
    assert!(!reached.load(Ordering::SeqCst));
    assert_eq!(world.cheqd.resolved(), 3);
}

#[tokio::test]
async fn a_late_resolver_is_asked_once_within_the_time_to_live() {
    let world = World::with(|cheqd, resolver| {
        resolver.cheqd = Some(cheqd.address());
        (resolver.ttl, resolver.negative_ttl) = (600, 30);
    })
    .await;
    world.cheqd.delay(Duration::from_millis(50));
    assert!(world.resolve(DID).await.document().is_err());
    world.cheqd.ledger().write(DID, "v1", document(DID));
    assert!(world.resolve(DID).await.document().is_err());
    assert_eq!(world.cheqd.resolved(), 1);
    world.app.clock().advance(31);
    // Simultaneous requests share one call.
    let (one, two) = tokio::join!(world.resolve(DID), world.resolve(DID));
    assert!(one.document().is_ok() && two.document().is_ok());
    world.app.clock().advance(300);
    assert!(world.resolve(DID).await.document().is_ok());
    assert_eq!(world.cheqd.resolved(), 2);
    world.app.clock().advance(301);
    world.resolve(DID).await;
    assert_eq!(world.cheqd.resolved(), 3);
}

#[tokio::test]
async fn a_universal_resolver_is_asked_for_the_listed_methods_and_never_for_ours() {
    let world = World::with(|cheqd, resolver| {
        resolver.universal = Some(cheqd.address());
        resolver.universal_methods = vec!["ion".to_owned()];
    })
    .await;
    let ion = "did:ion:EiClkZMDxPKqC9c-umQfTkR8vvZ9JPhl_xLDI9Nfk38w5w";
    world.cheqd.ledger().write(ion, "v1", document(ion));
    let found = world.resolve(ion).await;
    assert_eq!(found.document().unwrap().id.as_str(), ion);
    assert!(found.metadata.trusted_resolver.is_some());
    assert_eq!(world.cheqd.resolved(), 1);
    for did in [
        DID,
        "did:ebsi:zvHWX359A3CvfJnCYaAiAde",
        "did:selfsame:mfrggzdfmztwq2lk:4WJwSKNzJ3wiVcpBQKVkbe",
    ] {
        let refused = world.resolve(did).await;
        assert_eq!(
            refused.metadata.error,
            Some(ResolutionError::MethodNotSupported),
            "{did}"
        );
    }
    let key = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK";
    assert_eq!(world.resolve(key).await.metadata.trusted_resolver, None);
    assert_eq!(world.cheqd.resolved(), 1);
}

#[tokio::test]
async fn did_cheqd_goes_to_its_own_resolver_before_any_universal_one() {
    let cheqd = selfsame_testkit::cheqd::Cheqd::start().await;
    cheqd.ledger().write(DID, "own", document(DID));
    let world = World::with(|universal, resolver| {
        resolver.universal = Some(universal.address());
        resolver.universal_methods = vec!["*".to_owned()];
        resolver.cheqd = Some(cheqd.address());
    })
    .await;
    world.cheqd.ledger().write(DID, "universal", document(DID));
    let found = world.resolve(DID).await;
    assert_eq!(found.document_metadata.version_id.as_deref(), Some("own"));
    assert_eq!((cheqd.resolved(), world.cheqd.resolved()), (1, 0));
}

#[tokio::test]
async fn a_linked_resource_is_found_by_path_and_by_name_and_must_have_its_checksum() {
    let world = World::start().await;
    let id = "9ba3922e-d5f5-4f53-b265-fc0d4e988c77";
    let content = br#"{"content":"test data"}"#;
    world.cheqd.ledger().write(DID, "v1", document(DID));
    world
        .cheqd
        .ledger()
        .write_resource(DID, id, "application/json", content);
    let linked = async |rest: &str| {
        let url = DidUrl::parse(&format!("{DID}{rest}")).unwrap();
        let wanted = wanted(&url).unwrap().unwrap();
        world.app.linked(&url, &wanted).await
    };
    let path = format!("/resources/{id}");
    for rest in [path.as_str(), "?resourceName=Demo&resourceType=String"] {
        let found = linked(rest).await.unwrap();
        assert_eq!(
            (found.content.as_slice(), found.resource.id.as_str()),
            (content.as_slice(), id)
        );
        assert_eq!(found.resource.media_type, "application/json");
        assert!(found.trusted_resolver.starts_with("http://127.0.0.1:"));
    }
    // Cached resources are not fetched again.
    let asked = world.cheqd.resolved();
    linked(&path).await.unwrap();
    assert_eq!(world.cheqd.resolved(), asked);
    let other = linked("/resources/e733ebb7-c8dd-41ed-9d42-33bceea70952").await;
    assert_eq!(other, Err(ResolutionError::NotFound));
    world.app.clock().advance(61);
    world.cheqd.fault(FakeFault::Malformed);
    assert_eq!(
        linked(&path).await,
        Err(ResolutionError::InvalidDidDocument)
    );
}
