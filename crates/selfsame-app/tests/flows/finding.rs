//! A holder finds cards by words and by type, and leaves.

use selfsame_app::App;
use selfsame_crypto::SecretString;
use selfsame_driver::ErrorKind;
use selfsame_wallet::view::Person;
use selfsame_wallet::{CardOrder, Whence, WhichCards};

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
