//! Webhooks against receivers on loopback that fail, are slow, redirect and close connections.

mod receiver;
mod subscribed;
mod traced;
mod world;

use std::collections::BTreeSet;
use std::time::Duration;

use proptest::prelude::*;
use selfsame_core::events::EventKind;
use selfsame_driver::paging::Paging;
use selfsame_store::TenantId;

use crate::view::{EndpointChange, EventReplay, NewEndpoint};
use crate::{DeliveryState, EventType, WhichDeliveries};
use receiver::{Receiver, ReceiverAnswer};
use world::{World, eventually, owner};

fn which(state: DeliveryState) -> WhichDeliveries {
    let paging = Paging::default();
    WhichDeliveries { state, paging }
}

/// The subjects of the messages that were confirmed, in the order of their first confirmation.
fn confirmed_once(receiver: &Receiver) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let confirmed = receiver.confirmed();
    let first = confirmed
        .into_iter()
        .filter(|heard| seen.insert(heard.id.clone()));
    first.map(|heard| heard.subject).collect()
}

#[tokio::test]
async fn an_event_arrives_signed_by_the_secret_that_was_shown() {
    let receiver = Receiver::start(vec![]).await;
    let world = World::of(&[&receiver]).await;
    let created = world.endpoint(&receiver).await;
    world.tell(EventKind::Issued, "c1").await;
    eventually(|| receiver.confirmed().len() == 1).await;
    let heard = receiver.confirmed().remove(0);
    assert_eq!(heard.body["type"], "credential.issued");
    assert_eq!(heard.body["data"]["id"], "c1");
    assert!(heard.is_signed_by(created.secret.expose()));
    assert!(!heard.is_signed_by("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
}

#[tokio::test]
async fn after_a_rotation_both_secrets_sign() {
    let receiver = Receiver::start(vec![]).await;
    let world = World::of(&[&receiver]).await;
    let created = world.endpoint(&receiver).await;
    let id = &created.endpoint.id;
    let rotated = world.webhooks.rotate(&owner(), id).await.unwrap();
    world.tell(EventKind::Issued, "c1").await;
    eventually(|| receiver.confirmed().len() == 1).await;
    let heard = receiver.confirmed().remove(0);
    assert!(heard.is_signed_by(created.secret.expose()));
    assert!(heard.is_signed_by(rotated.secret.expose()));
}

#[tokio::test]
async fn an_endpoint_is_sent_the_types_it_asks_for_and_nothing_of_peoples_wallets() {
    let receiver = Receiver::start(vec![]).await;
    let world = World::of(&[&receiver]).await;
    let new = NewEndpoint {
        types: Some(vec![EventType::CredentialStatusChanged]),
        ..receiver.endpoint()
    };
    world.webhooks.create(&owner(), &new).await.unwrap();
    world.tell(EventKind::Issued, "c1").await;
    world.tell(EventKind::Received, "card").await;
    world
        .tell_of("person", EventKind::StatusChanged, "hers")
        .await;
    world.tell(EventKind::StatusChanged, "c2").await;
    eventually(|| receiver.confirmed().len() == 1).await;
    assert_eq!(confirmed_once(&receiver), ["c2"]);
}

#[tokio::test]
async fn a_receiver_that_fails_redirects_and_closes_gets_every_event_of_a_subject_in_order() {
    let answers = vec![
        ReceiverAnswer::Status(500),
        ReceiverAnswer::Close,
        ReceiverAnswer::Redirect,
        ReceiverAnswer::Status(404),
    ];
    let receiver = Receiver::start(answers).await;
    let world = World::of(&[&receiver]).await;
    world.endpoint(&receiver).await;
    for kind in [
        EventKind::Offered,
        EventKind::Issued,
        EventKind::StatusChanged,
    ] {
        world.tell(kind, "s").await;
    }
    world.pass_until(|| receiver.confirmed().len() == 3).await;
    let types: Vec<_> = receiver
        .confirmed()
        .iter()
        .map(|heard| heard.body["type"].clone())
        .collect();
    assert_eq!(
        types,
        [
            "offer.created",
            "credential.issued",
            "credential.status_changed"
        ]
    );
    // Every attempt at one event had the same id.
    let ids: BTreeSet<_> = receiver.heard().into_iter().map(|heard| heard.id).collect();
    assert_eq!(ids.len(), 3);
    assert!(receiver.heard().iter().all(|heard| heard.path == "/hook"));
}

#[tokio::test]
async fn a_receiver_that_was_down_for_an_hour_loses_nothing() {
    let receiver = Receiver::start(vec![]).await;
    receiver.answer_all(Some(ReceiverAnswer::Close));
    let world = World::of(&[&receiver]).await;
    let created = world.endpoint(&receiver).await;
    for number in 0..40 {
        world.tell(EventKind::Issued, &format!("c{number}")).await;
    }
    eventually(|| !receiver.heard().is_empty()).await;
    world.pass_for(3_600).await;
    assert!(receiver.confirmed().is_empty());
    let waiting = world
        .deliveries(&created.endpoint.id, DeliveryState::Pending)
        .await;
    assert_eq!(waiting.len(), 40);
    assert!(
        waiting
            .iter()
            .any(|delivery| delivery.attempts > 0 && delivery.last.is_some())
    );
    receiver.answer_all(None);
    world.pass_until(|| receiver.confirmed().len() >= 40).await;
    let subjects: BTreeSet<_> = confirmed_once(&receiver).into_iter().collect();
    assert_eq!(subjects.len(), 40);
}

#[tokio::test]
async fn a_slow_receiver_does_not_delay_another() {
    let (slow, quick) = (Receiver::start(vec![]).await, Receiver::start(vec![]).await);
    slow.answer_all(Some(ReceiverAnswer::Never));
    let world = World::of(&[&slow, &quick]).await;
    world.endpoint(&slow).await;
    world.endpoint(&quick).await;
    for number in 0..100 {
        world.tell(EventKind::Issued, &format!("c{number}")).await;
    }
    eventually(|| quick.confirmed().len() == 100).await;
    assert!(slow.confirmed().is_empty());
}

#[tokio::test]
async fn a_receiver_that_is_gone_is_disabled_and_keeps_what_waits() {
    let receiver = Receiver::start(vec![ReceiverAnswer::Status(410)]).await;
    let world = World::of(&[&receiver]).await;
    let id = world.endpoint(&receiver).await.endpoint.id;
    world.tell(EventKind::Issued, "c1").await;
    let disabled = async || {
        let endpoint = world.webhooks.endpoint(&owner(), &id).await;
        !endpoint.unwrap().enabled
    };
    for _ in 0..200 {
        if disabled().await {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(disabled().await);
    let refused = world.webhooks.test(&owner(), &id).await.unwrap_err();
    assert_eq!(refused.reason.id(), "webhook-is-disabled");
    let enable = EndpointChange {
        enabled: Some(true),
        ..EndpointChange::default()
    };
    world.webhooks.change(&owner(), &id, enable).await.unwrap();
    eventually(|| receiver.confirmed().len() == 1).await;
}

#[tokio::test]
async fn a_delivery_that_was_given_up_is_listed_and_can_be_sent_again() {
    let receiver = Receiver::start(vec![]).await;
    receiver.answer_all(Some(ReceiverAnswer::Status(400)));
    let world = World::of(&[&receiver]).await;
    let id = world.endpoint(&receiver).await.endpoint.id;
    world.tell(EventKind::Issued, "c1").await;
    eventually(|| !receiver.heard().is_empty()).await;
    world.clock.advance(4 * 86_400);
    for _ in 0..200 {
        if !world
            .deliveries(&id, DeliveryState::Failed)
            .await
            .is_empty()
        {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let failed = world.deliveries(&id, DeliveryState::Failed).await;
    assert_eq!(failed.len(), 1);
    assert_eq!((failed[0].attempts, failed[0].next.is_none()), (2, true));
    receiver.answer_all(None);
    let message = failed[0].id.as_str();
    world.webhooks.resend(&owner(), &id, message).await.unwrap();
    eventually(|| receiver.confirmed().len() == 1).await;
    assert_eq!(receiver.confirmed()[0].id, message);
}

#[tokio::test]
async fn a_replay_sends_the_events_after_a_cursor_again_with_the_same_ids() {
    let receiver = Receiver::start(vec![]).await;
    let world = World::of(&[&receiver]).await;
    let id = world.endpoint(&receiver).await.endpoint.id;
    for subject in ["a", "b", "c"] {
        world.tell(EventKind::Issued, subject).await;
    }
    eventually(|| receiver.confirmed().len() == 3).await;
    let first = receiver.confirmed();
    let of_a = first.iter().find(|heard| heard.subject == "a").unwrap();
    let cursor = of_a.body["cursor"].as_str().unwrap().to_owned();
    let replay = async |replay| world.webhooks.replay(&owner(), &id, &replay).await;
    assert_eq!(
        replay(EventReplay::After(cursor)).await.unwrap().deliveries,
        2
    );
    eventually(|| receiver.confirmed().len() == 5).await;
    let ids = |heard: &[receiver::ArrivedMessage]| -> BTreeSet<String> {
        heard.iter().map(|heard| heard.id.clone()).collect()
    };
    assert_eq!(ids(&first), ids(&receiver.confirmed()));
    let since = EventReplay::Since("2020-01-01T00:00:00Z".to_owned());
    assert_eq!(replay(since).await.unwrap().deliveries, 3);
    let unknown = replay(EventReplay::After("0-0".to_owned()))
        .await
        .unwrap_err();
    assert_eq!(unknown.reason.id(), "webhook-replay-cursor");
}

#[tokio::test]
async fn an_address_that_points_inward_is_refused_unless_it_is_listed() {
    let receiver = Receiver::start(vec![]).await;
    let world = World::of(&[&receiver]).await;
    for inward in [
        "http://receiver.example/",
        "https://127.0.0.1/",
        "https://10.0.0.1/hook",
        "https://[::1]/",
        "https://169.254.169.254/latest/meta-data",
        "https://localhost/",
        "https://receiver.example:22/",
        "https://user:word@receiver.example/",
        "ftp://receiver.example/",
        "receiver",
    ] {
        let new = NewEndpoint {
            url: inward.to_owned(),
            ..receiver.endpoint()
        };
        let refused = world.webhooks.create(&owner(), &new).await.unwrap_err();
        assert_eq!(refused.reason.id(), "webhook-url-refused", "{inward}");
    }
    assert!(
        world
            .webhooks
            .create(&owner(), &receiver.endpoint())
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn a_tenant_has_no_more_endpoints_than_its_limit_and_sees_only_its_own() {
    let receiver = Receiver::start(vec![]).await;
    let world = World::of(&[&receiver]).await;
    let mut ids = Vec::new();
    for _ in 0..crate::records::ENDPOINTS_MAX {
        ids.push(world.endpoint(&receiver).await.endpoint.id);
    }
    let refused = world.webhooks.create(&owner(), &receiver.endpoint()).await;
    assert_eq!(refused.unwrap_err().reason.id(), "webhooks-too-many");
    let other = TenantId::parse("other").unwrap();
    let foreign = world.webhooks.remove(&other, &ids[0]).await.unwrap_err();
    assert_eq!(foreign.reason.id(), "webhook-absent");
    assert!(world.webhooks.endpoints(&other).await.unwrap().is_empty());
    world.webhooks.remove(&owner(), &ids[0]).await.unwrap();
    assert!(
        world
            .webhooks
            .create(&owner(), &receiver.endpoint())
            .await
            .is_ok()
    );
}

#[test]
fn what_a_process_had_not_delivered_when_it_was_killed_the_next_one_delivers() {
    let setup = tokio::runtime::Runtime::new().unwrap();
    let (receiver, world) = setup.block_on(async {
        let receiver = Receiver::start(vec![]).await;
        let world = World::stopped(&[&receiver]).await;
        world.endpoint(&receiver).await;
        (receiver, world)
    });
    receiver.answer_all(Some(ReceiverAnswer::Never));
    let killed = tokio::runtime::Runtime::new().unwrap();
    killed.block_on(async {
        world.webhooks.start();
        for number in 0..60 {
            world.tell(EventKind::Issued, &format!("c{number}")).await;
        }
        eventually(|| receiver.heard().len() >= 20).await;
    });
    killed.shutdown_background();
    receiver.answer_all(None);
    setup.block_on(async {
        let next = world.process();
        next.start();
        world
            .pass_until(|| confirmed_once(&receiver).len() == 60)
            .await;
    });
}

#[tokio::test]
async fn a_process_tells_of_agents_that_a_connection_of_another_one_follows() {
    let world = World::stopped(&[]).await;
    let (here, there) = (world.process(), world.process());
    let (tenant, other) = (owner(), TenantId::parse("another").unwrap());
    here.note_follower("a connection", Some(&tenant))
        .await
        .unwrap();
    there.dispatcher().look_for_followers().await;
    assert!(there.hearers().hears(&tenant) && !there.hearers().hears(&other));
    world.clock.advance(crate::FOLLOWED_SECONDS + 1);
    there.dispatcher().look_for_followers().await;
    assert!(!there.hearers().hears(&tenant));
    here.note_follower("a connection", None).await.unwrap();
    there.dispatcher().look_for_followers().await;
    assert!(there.hearers().hears(&other));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_on_one_store_send_each_event_of_a_subject_in_order() {
    let receiver = Receiver::start(vec![]).await;
    let world = World::of(&[&receiver]).await;
    let other = world.process();
    other.start();
    world.endpoint(&receiver).await;
    for number in 0..120 {
        world
            .tell(EventKind::Verification, &format!("r{}", number % 3))
            .await;
    }
    eventually(|| receiver.confirmed().len() >= 120).await;
    // The cursors of one subject's messages rise, and none came twice.
    let heard = receiver.confirmed();
    let ids: BTreeSet<_> = heard.iter().map(|heard| &heard.id).collect();
    assert_eq!((heard.len(), ids.len()), (120, 120));
    for subject in ["r0", "r1", "r2"] {
        let places: Vec<u64> = heard
            .iter()
            .filter(|heard| heard.subject == subject)
            .map(receiver::ArrivedMessage::place)
            .collect();
        assert!(places.is_sorted(), "{subject}: {places:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn every_event_arrives_at_least_once_and_in_order_for_any_failures(
        // A sixth failure in a row of one delivery is followed by a longer pause than the test waits.
        answers in proptest::collection::vec(receiver::any_answer(), 0..6),
        subjects in proptest::collection::vec(0_u8..3, 1..12),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let receiver = Receiver::start(answers).await;
            let world = World::of(&[&receiver]).await;
            world.endpoint(&receiver).await;
            for subject in &subjects {
                world.tell(EventKind::Issued, &subject.to_string()).await;
            }
            world.pass_until(|| confirmed_once(&receiver).len() == subjects.len()).await;
            for subject in ["0", "1", "2"] {
                let heard = receiver.confirmed();
                let places: Vec<u64> = heard.iter().filter(|heard| heard.subject == subject).map(receiver::ArrivedMessage::place).collect();
                prop_assert!(places.is_sorted(), "{}: {:?}", subject, places);
            }
            Ok(())
        })?;
    }
}

/// Measures the deliveries per second to a receiver on this machine, with a store on disk.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures; run it alone in an optimised build"]
async fn deliveries_per_second() {
    let receiver = Receiver::start(vec![]).await;
    let world = World::on_disk(&[&receiver]).await;
    world.endpoint(&receiver).await;
    let many = 20_000;
    let begun = tokio::time::Instant::now();
    world.tell_many(many).await;
    let told = begun.elapsed();
    while receiver.confirmed_count() < many {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let took = begun.elapsed();
    let rate = f64::from(u32::try_from(many).unwrap()) / took.as_secs_f64();
    #[allow(clippy::disallowed_macros, reason = "a test's figures")]
    {
        println!("{many} deliveries in {took:?} (told in {told:?}): {rate:.0} per second");
    }
}
