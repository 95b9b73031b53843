//! A holder finds cards by words and by type, and leaves.

use selfsame_app::App;
use selfsame_crypto::SecretString;
use selfsame_driver::ErrorKind;
use selfsame_wallet::view::Person;
use selfsame_wallet::{CardGroups, CardOrder, GroupBy, Grouping, Whence, WhichCards};

use crate::world::{Site, WalletHost, accept, person};

async fn titles(app: &App, person: &Person, which: &WhichCards) -> Vec<String> {
    let wallet = app.wallet().unwrap();
    let found = wallet.find_cards(person, which).await.unwrap();
    let items = found.items.into_iter();
    items.map(|card| card.display.title).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn cards_are_found_by_words_and_by_type_in_either_order() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let wallet = app.wallet().unwrap();
    for kind in ["immunization", "prescription", "allergies"] {
        let offer = site.offer(kind).await;
        wallet.accept_offer(&person, &accept(&offer)).await.unwrap();
        app.clock().advance(1);
    }
    let all = titles(&app, &person, &WhichCards::default()).await;
    assert_eq!(all.len(), 3);
    let which = WhichCards {
        order: Some(CardOrder::Oldest),
        ..WhichCards::default()
    };
    let mut oldest = titles(&app, &person, &which).await;
    oldest.reverse();
    assert_eq!(oldest, all);
    let sought = |text: &str| WhichCards {
        q: Some(text.to_owned()),
        ..WhichCards::default()
    };
    let word = all[1].split(' ').next().unwrap().to_uppercase();
    assert_eq!(
        titles(&app, &person, &sought(&word)).await,
        [all[1].clone()]
    );
    assert!(titles(&app, &person, &sought("nothing")).await.is_empty());
    let card = wallet.find_cards(&person, &sought(&word)).await.unwrap();
    let which = WhichCards {
        type_name: card.items[0].types.last().cloned(),
        ..WhichCards::default()
    };
    assert_eq!(titles(&app, &person, &which).await, [all[1].clone()]);
}

async fn groups(app: &App, person: &Person, by: GroupBy) -> CardGroups {
    let grouping = Grouping {
        by,
        after: None,
        limit: None,
    };
    let wallet = app.wallet().unwrap();
    wallet.card_groups(person, &grouping).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn cards_are_grouped_by_issuer_type_and_state_and_a_card_that_is_deleted_leaves_its_groups() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let wallet = app.wallet().unwrap();
    for kind in ["immunization", "prescription", "immunization"] {
        let offer = site.offer(kind).await;
        wallet.accept_offer(&person, &accept(&offer)).await.unwrap();
    }
    let by_issuer = groups(&app, &person, GroupBy::Issuer).await;
    assert!(by_issuer.is_complete && by_issuer.next.is_none());
    assert_eq!(
        by_issuer.items.iter().map(|one| one.cards).sum::<usize>(),
        3
    );
    let by_type = groups(&app, &person, GroupBy::Type).await.items;
    let counts: Vec<usize> = by_type.iter().map(|group| group.cards).collect();
    assert_eq!(counts, [2, 1], "{by_type:?}");
    let by_state = groups(&app, &person, GroupBy::State).await.items;
    assert_eq!((&*by_state[0].key, by_state[0].cards), ("unchecked", 3));
    // A status that is learned moves a card to another group.
    let all = wallet.find_cards(&person, &WhichCards::default()).await;
    let all = all.unwrap().items;
    let checked = wallet.card(&person, &all[0].id).await.unwrap();
    let of_state = |state: &str| WhichCards {
        state: Some(state.to_owned()),
        ..WhichCards::default()
    };
    let valid = wallet.find_cards(&person, &of_state("valid")).await;
    let valid = valid.unwrap().items;
    assert_eq!(valid.len(), 1);
    assert_eq!(valid[0].id, checked.summary.id);
    assert_eq!(titles(&app, &person, &of_state("unchecked")).await.len(), 2);
    // The cards of an issuer, a page at a time, and together with another filter.
    let issuer = by_issuer.items[0].key.clone();
    let of_issuer = |after: Option<String>| WhichCards {
        issuer: Some(issuer.clone()),
        limit: Some(1),
        after,
        ..WhichCards::default()
    };
    let first = wallet.find_cards(&person, &of_issuer(None)).await.unwrap();
    assert_eq!(first.items[0].id, all[0].id);
    if by_issuer.items[0].cards > 1 {
        let second = wallet.find_cards(&person, &of_issuer(first.next)).await;
        assert_ne!(second.unwrap().items[0].id, all[0].id);
    }
    let nobody = WhichCards {
        issuer: Some("did:example:nobody".to_owned()),
        ..WhichCards::default()
    };
    assert!(titles(&app, &person, &nobody).await.is_empty());
    wallet.delete_card(&person, &all[0].id).await.unwrap();
    assert!(titles(&app, &person, &of_state("valid")).await.is_empty());
    let left = groups(&app, &person, GroupBy::Type).await.items;
    assert_eq!(left.iter().map(|group| group.cards).sum::<usize>(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_leaves_needs_the_password_and_leaves_nothing() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let wallet = app.wallet().unwrap();
    let offer = site.offer("immunization").await;
    wallet.accept_offer(&person, &accept(&offer)).await.unwrap();
    let whence = Whence::of([127, 0, 0, 1].into(), None);
    let wrong = SecretString::from("not the password".to_owned());
    let refused = wallet.leave(&person, wrong, &whence).await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Unauthenticated);
    assert_eq!(titles(&app, &person, &WhichCards::default()).await.len(), 1);
    let right = SecretString::from("correct horse battery".to_owned());
    wallet.leave(&person, right, &whence).await.unwrap();
    let gone = wallet.find_cards(&person, &WhichCards::default()).await;
    assert!(gone.is_err() || gone.unwrap().items.is_empty());
    assert!(!wallet.accounts().has(&person.email).await.unwrap());
    // What an earlier process has begun is completed, also if it was complete.
    wallet.finish_leaving().await.unwrap();
}
