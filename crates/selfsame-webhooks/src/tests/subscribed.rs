//! News of a credential book for its subscribers.

use std::collections::BTreeSet;

use selfsame_book::TopicKey;
use selfsame_book::news::{BookNews, NewsWanted, WantedTopic};
use selfsame_core::events::EventKind;
use selfsame_crypto::SecretString;
use selfsame_driver::ErrorKind;
use serde_json::json;

use super::receiver::{ArrivedMessage, Receiver, ReceiverAnswer};
use super::which;
use super::world::{World, eventually, owner};
use crate::endpoint::{Endpoint, EndpointForm, NewsReader};
use crate::records::EndpointAt;
use crate::sender::{TO_READER_AT_ONCE, TO_READERS_AT_ONCE};
use crate::{
    CreatedSubscription, DeliveryState, EventReplay, NewSubscription, SubscriptionChange, Webhooks,
};

/// A day, in seconds.
const DAY: u64 = 86_400;

fn topic(source_id: &str) -> WantedTopic {
    WantedTopic {
        source_id: source_id.to_owned(),
        kind: None,
    }
}

fn stream(source_id: &str, type_id: &str) -> NewsWanted {
    NewsWanted::Stream {
        topic: topic(source_id),
        type_id: type_id.to_owned(),
    }
}

fn news(source_id: &str, type_id: &str, is_first: bool) -> BookNews {
    let shown = json!({"name": "Blue Whale", "number": source_id});
    BookNews {
        topic: TopicKey {
            kind: "registration".to_owned(),
            source_id: source_id.to_owned(),
        },
        type_id: type_id.to_owned(),
        issuer: "did:example:1".to_owned(),
        is_first,
        shown: shown.as_object().cloned().unwrap(),
    }
}

async fn subscribe(
    webhooks: &Webhooks,
    receiver: &Receiver,
    wanted: NewsWanted,
) -> CreatedSubscription {
    let new = NewSubscription {
        subscriber: "anon".to_owned(),
        url: receiver.url.to_string(),
        wanted,
        token: SecretString::from("the hook's token"),
        origin: Some(receiver.origin()),
    };
    webhooks.subscribe(&owner(), &new).await.unwrap()
}

/// The entries of the messages that a receiver has confirmed, each once, in their order.
fn entries(receiver: &Receiver) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let confirmed = receiver.confirmed().into_iter();
    let first = confirmed.filter(|heard| seen.insert(heard.id.clone()));
    first.map(|heard| entry(&heard)).collect()
}

fn entry(heard: &ArrivedMessage) -> String {
    let id = heard.body["data"]["credential_id"].as_str();
    id.unwrap_or_default().to_owned()
}

#[tokio::test]
async fn each_subscriber_hears_once_of_the_entries_that_it_asked_for_and_of_no_others() {
    let receivers = [
        Receiver::start(vec![]).await,
        Receiver::start(vec![]).await,
        Receiver::start(vec![]).await,
        Receiver::start(vec![]).await,
    ];
    let [of_new, of_topic, of_stream, own] = &receivers;
    let world = World::of(&[of_new, of_topic, of_stream, own]).await;
    subscribe(&world.webhooks, of_new, NewsWanted::NewTopics).await;
    subscribe(&world.webhooks, of_topic, NewsWanted::Topic(topic("BC1"))).await;
    let created = subscribe(&world.webhooks, of_stream, stream("BC1", "permit")).await;
    // The organisation's own webhook is sent all types, and no news.
    world.endpoint(own).await;
    world.news("e1", &news("BC1", "registration", true)).await;
    world.news("e2", &news("BC2", "registration", true)).await;
    world.news("e3", &news("BC1", "permit", false)).await;
    world.news("e4", &news("BC2", "permit", false)).await;
    world.tell(EventKind::Issued, "c1").await;
    eventually(|| own.confirmed().len() == 1).await;
    eventually(|| entries(of_new).len() == 2 && entries(of_topic).len() == 2).await;
    eventually(|| entries(of_stream).len() == 1).await;
    let sorted = |receiver: &Receiver| {
        let mut all = entries(receiver);
        all.sort();
        all
    };
    assert_eq!(sorted(of_new), ["e1", "e2"]);
    assert_eq!(sorted(of_topic), ["e1", "e3"]);
    assert_eq!(sorted(of_stream), ["e3"]);
    // One message for each: nothing came twice.
    assert_eq!(of_new.heard().len(), 2);
    assert_eq!(own.heard()[0].body["type"], "credential.issued");
    let heard = of_stream.heard().remove(0);
    assert!(heard.is_signed_by(created.secret.expose()));
    assert_eq!(heard.body["type"], "book.entered");
    assert_eq!(heard.body.get("cursor"), None);
    assert_eq!(heard.body["data"]["corp_num"], "BC1");
    assert_eq!(heard.body["data"]["credential_type"], "permit");
    assert_eq!(
        heard.body["data"]["credential_json"]["attributes"]["name"],
        "Blue Whale"
    );
    let subscription = &heard.body["subscription"];
    assert_eq!(subscription["id"], created.subscription.id);
    assert_eq!(subscription["subscription_type"], "Stream");
    assert_eq!(subscription["hook_token"], "the hook's token");
}

#[test]
fn what_a_process_had_not_told_a_subscriber_when_it_was_killed_the_next_one_tells() {
    let setup = tokio::runtime::Runtime::new().unwrap();
    let (receiver, world) = setup.block_on(async {
        let receiver = Receiver::start(vec![]).await;
        let world = World::stopped(&[&receiver]).await;
        subscribe(&world.webhooks, &receiver, NewsWanted::Topic(topic("BC1"))).await;
        (receiver, world)
    });
    receiver.answer_all(Some(ReceiverAnswer::Never));
    let killed = tokio::runtime::Runtime::new().unwrap();
    killed.block_on(async {
        world.webhooks.start();
        for number in 0..40 {
            let of = if number % 2 == 0 { "BC1" } else { "BC2" };
            let news = news(of, "permit", false);
            world.news(&format!("e{number}"), &news).await;
        }
        eventually(|| receiver.heard().len() >= TO_READER_AT_ONCE).await;
    });
    killed.shutdown_background();
    receiver.answer_all(None);
    setup.block_on(async {
        let next = world.process();
        next.start();
        world.pass_until(|| entries(&receiver).len() == 20).await;
    });
}

#[tokio::test]
async fn a_subscription_whose_receiver_takes_nothing_is_paused_told_and_goes_on_when_it_works() {
    let (receiver, own) = (Receiver::start(vec![]).await, Receiver::start(vec![]).await);
    receiver.answer_all(Some(ReceiverAnswer::Status(500)));
    let world = World::of(&[&receiver, &own]).await;
    let created = subscribe(&world.webhooks, &receiver, NewsWanted::NewTopics).await;
    world.endpoint(&own).await;
    let id = created.subscription.id;
    world.news("e1", &news("BC1", "registration", true)).await;
    eventually(|| !receiver.heard().is_empty()).await;
    let paused = async || {
        let all = world.webhooks.subscriptions(&owner()).await.unwrap();
        all[0].paused.clone()
    };
    assert_eq!(paused().await, None);
    // Between attempts there are up to seven hours.
    for look in 0..600 {
        // Ten days are enough for it; on a busy machine, the attempts take longer than the looks.
        if look < 60 {
            world.clock.advance(DAY / 6);
        }
        tokio::time::sleep(std::time::Duration::from_millis(60)).await;
        if paused().await.is_some() {
            break;
        }
    }
    let because = paused().await.unwrap();
    assert_eq!(because.id(), "book-subscription-failing");
    eventually(|| own.confirmed().len() == 1).await;
    let told = own.confirmed().remove(0);
    assert_eq!(told.body["type"], "book.subscription_paused");
    assert_eq!(told.subject, id);
    let tried = receiver.heard().len();
    world.news("e2", &news("BC2", "registration", true)).await;
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(receiver.heard().len(), tried);

    receiver.answer_all(None);
    let on = SubscriptionChange {
        enabled: Some(true),
        ..SubscriptionChange::default()
    };
    let changed = world.webhooks.change_subscription(&owner(), &id, on).await;
    assert!(changed.unwrap().paused.is_none());
    world.news("e3", &news("BC3", "registration", true)).await;
    eventually(|| entries(&receiver) == ["e3"]).await;
    // What was told meanwhile is kept, and can be asked for.
    let since = EventReplay::Since("1970-01-01T00:00:00Z".to_owned());
    let replayed = world.webhooks.replay(&owner(), &id, &since).await.unwrap();
    assert!(replayed.deliveries >= 2, "{replayed:?}");
    eventually(|| entries(&receiver).contains(&"e2".to_owned())).await;
}

#[tokio::test]
async fn nobody_hears_of_an_entry_that_was_erased_before_its_message_was_sent() {
    let receiver = Receiver::start(vec![]).await;
    receiver.answer_all(Some(ReceiverAnswer::Status(500)));
    let world = World::of(&[&receiver]).await;
    let created = subscribe(&world.webhooks, &receiver, NewsWanted::NewTopics).await;
    world.news("e1", &news("BC1", "registration", true)).await;
    eventually(|| !receiver.heard().is_empty()).await;
    world.forget_news("e1").await;
    receiver.answer_all(None);
    let pending = || which(DeliveryState::Pending);
    for _ in 0..2_000 {
        world.clock.advance(30);
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        let id = &created.subscription.id;
        let left = world.webhooks.deliveries(&owner(), id, &pending()).await;
        if left.unwrap().items.is_empty() {
            assert!(receiver.confirmed().is_empty());
            return;
        }
    }
    panic!("the message still waits");
}

#[tokio::test]
async fn a_subscription_or_news_that_can_not_be_read_holds_up_no_other() {
    let receiver = Receiver::start(vec![]).await;
    let world = World::of(&[&receiver]).await;
    subscribe(&world.webhooks, &receiver, NewsWanted::NewTopics).await;
    world.unreadable_endpoint("damaged").await;
    world.unreadable_news("e0").await;
    world.news("e1", &news("BC1", "registration", true)).await;
    eventually(|| entries(&receiver) == ["e1"]).await;
    let listed = world.webhooks.subscriptions(&owner()).await.unwrap();
    assert_eq!(listed.len(), 1);
}

#[tokio::test]
async fn subscriptions_are_few_for_each_subscriber_and_do_not_take_the_place_of_webhooks() {
    let receiver = Receiver::start(vec![]).await;
    let world = World::stopped(&[&receiver]).await;
    for _ in 0..10 {
        subscribe(&world.webhooks, &receiver, NewsWanted::NewTopics).await;
    }
    let one_more = |subscriber: &str| NewSubscription {
        subscriber: subscriber.to_owned(),
        url: receiver.url.to_string(),
        wanted: NewsWanted::NewTopics,
        token: SecretString::from(""),
        origin: Some(receiver.origin()),
    };
    let webhooks = &world.webhooks;
    let refused = webhooks.subscribe(&owner(), &one_more("anon")).await;
    let refused = refused.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Conflict);
    assert_eq!(refused.reason.id(), "book-subscriptions-many");
    let other = webhooks.subscribe(&owner(), &one_more("other")).await;
    let other = other.unwrap().subscription.id;
    for _ in 0..20 {
        world.endpoint(&receiver).await;
    }
    assert_eq!(webhooks.endpoints(&owner()).await.unwrap().len(), 20);
    assert_eq!(webhooks.subscriptions(&owner()).await.unwrap().len(), 11);
    // A subscriber sees its own alone.
    let seen = webhooks.subscription(&owner(), "anon", &other).await;
    assert_eq!(seen.unwrap_err().kind, ErrorKind::NotFound);
    webhooks.unsubscribe(&owner(), Some("anon")).await.unwrap();
    assert_eq!(webhooks.subscriptions(&owner()).await.unwrap().len(), 1);
    assert!(webhooks.has_subscriptions(&owner()).await.unwrap());
    webhooks.unsubscribe(&owner(), None).await.unwrap();
    assert!(!webhooks.has_subscriptions(&owner()).await.unwrap());
    let inward = NewSubscription {
        url: "http://127.0.0.2:9/".to_owned(),
        ..one_more("anon")
    };
    let refused = webhooks.subscribe(&owner(), &inward).await.unwrap_err();
    assert_eq!(refused.reason.id(), "webhook-url-refused");
}

#[tokio::test]
async fn many_subscriptions_and_many_entries_are_told_in_several_commits_and_none_is_lost() {
    let receiver = Receiver::start(vec![]).await;
    let world = World::stopped(&[&receiver]).await;
    for number in 0..40 {
        let new = NewSubscription {
            subscriber: format!("subscriber-{}", number / 10),
            url: receiver.url.to_string(),
            wanted: NewsWanted::NewTopics,
            token: SecretString::from(""),
            origin: Some(receiver.origin()),
        };
        world.webhooks.subscribe(&owner(), &new).await.unwrap();
    }
    for number in 0..100 {
        let news = news(&number.to_string(), "registration", true);
        world.news(&format!("e{number}"), &news).await;
    }
    let dispatcher = world.webhooks.dispatcher();
    let mut looks = 0;
    while dispatcher.look().await.unwrap() != crate::dispatch::EventsLook::Nothing {
        looks += 1;
    }
    assert!(looks > 1, "{looks}");
    eventually(|| receiver.confirmed_count() == 4_000).await;
}

#[tokio::test]
async fn a_subscription_is_sent_few_messages_at_once_and_all_of_them_not_many() {
    let receivers = [Receiver::start(vec![]).await, Receiver::start(vec![]).await];
    let [one, many] = &receivers;
    let world = World::of(&[one, many]).await;
    for receiver in &receivers {
        receiver.answer_all(Some(ReceiverAnswer::Slow));
    }
    subscribe(&world.webhooks, one, NewsWanted::Topic(topic("BC1"))).await;
    for number in 0..40 {
        let new = NewSubscription {
            subscriber: format!("subscriber-{}", number / 10),
            url: many.url.to_string(),
            wanted: NewsWanted::Topic(topic("BC2")),
            token: SecretString::from(""),
            origin: Some(many.origin()),
        };
        world.webhooks.subscribe(&owner(), &new).await.unwrap();
    }
    for number in 0..20 {
        for of in ["BC1", "BC2"] {
            let news = news(of, "permit", false);
            world.news(&format!("{of}-{number}"), &news).await;
        }
    }
    eventually(|| one.confirmed_count() == 20 && many.confirmed_count() == 800).await;
    assert!(one.most_at_once() <= TO_READER_AT_ONCE);
    assert!((2..=TO_READERS_AT_ONCE).contains(&many.most_at_once()));
}

#[tokio::test]
async fn messages_that_wait_for_a_place_do_not_delay_the_end() {
    let receiver = Receiver::start(vec![]).await;
    let world = World::of(&[&receiver]).await;
    let places = world.webhooks.senders.reader_places.clone();
    let all = u32::try_from(TO_READERS_AT_ONCE).unwrap();
    let taken = places.acquire_many(all).await.unwrap();
    let created = subscribe(&world.webhooks, &receiver, NewsWanted::NewTopics).await;
    world.news("e1", &news("BC1", "registration", true)).await;
    let id = &created.subscription.id;
    let at = EndpointAt {
        owner: owner(),
        id: id.clone(),
    };
    let is_running = || world.webhooks.senders.is_running(&at);
    eventually(is_running).await;
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    assert!(receiver.heard().is_empty());
    world.stop();
    eventually(|| !is_running()).await;
    drop(taken);
    // It was not sent, and is not lost.
    let pending = which(DeliveryState::Pending);
    let left = world.webhooks.deliveries(&owner(), id, &pending).await;
    assert_eq!(left.unwrap().items.len(), 1);
    assert!(receiver.heard().is_empty());
}

#[tokio::test]
async fn a_subscriber_names_no_origin_of_the_instance_but_the_one_where_it_is_registered() {
    let receivers = [Receiver::start(vec![]).await, Receiver::start(vec![]).await];
    let [registered, inside] = &receivers;
    let world = World::of(&[registered, inside]).await;
    let webhooks = &world.webhooks;
    assert_eq!(
        webhooks.own_origin(inside.url.as_str()),
        Some(inside.origin())
    );
    assert_eq!(webhooks.own_origin("https://receiver.example/"), None);
    let created = subscribe(webhooks, registered, NewsWanted::NewTopics).await;
    let id = &created.subscription.id;
    let refused =
        |error: selfsame_driver::Error| assert_eq!(error.reason.id(), "webhook-url-refused");
    for origin in [None, Some(registered.origin())] {
        let new = NewSubscription {
            subscriber: "anon".to_owned(),
            url: inside.url.to_string(),
            wanted: NewsWanted::NewTopics,
            token: SecretString::from(""),
            origin,
        };
        refused(webhooks.subscribe(&owner(), &new).await.unwrap_err());
    }
    let moved = SubscriptionChange {
        url: Some(inside.url.to_string()),
        ..SubscriptionChange::default()
    };
    let changed = webhooks.change_subscription(&owner(), id, moved).await;
    refused(changed.unwrap_err());
    // One that was there before the instance came to trust its origin is sent nothing.
    let form = EndpointForm::Book(NewsReader {
        subscriber: "anon".to_owned(),
        wanted: NewsWanted::NewTopics,
        token: SecretString::from(""),
        origin: None,
    });
    let former = Endpoint {
        form,
        ..Endpoint::new(inside.url.clone(), &world.clock.ctx())
    };
    world.put_endpoint("former", &former).await;
    world.news("e1", &news("BC1", "registration", true)).await;
    eventually(|| entries(registered) == ["e1"]).await;
    for _ in 0..3_000 {
        let pending = which(DeliveryState::Pending);
        let left = webhooks.deliveries(&owner(), "former", &pending).await;
        if left.unwrap().items.iter().any(|one| one.attempts > 0) {
            assert!(inside.heard().is_empty());
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("the refusal is not noted");
}
