//! Cards that go from one wallet to another, and how cards are found.

use selfsame_crypto::SecretString;
use selfsame_crypto::encoding::base64url_encode;
use selfsame_driver::ErrorKind;
use selfsame_driver::paging::Paging;
use selfsame_store::{Batch, Page, Put, Tag};
use selfsame_wallet::Whence;
use selfsame_wallet::view::Person;
use selfsame_wallet::view::carried::{
    CarriedCredential, CarriedCredentials, NewWalletExport, TakenState,
};
use serde_json::Value;

use crate::verifying::{asked, holder, newest};
use crate::world::{Site, WalletHost, accept, person};

const CARD: &str = "card";
const TYPE: &str = "urn:selfsame:credential:immunization";

fn sealing_key(byte: u8) -> SecretString {
    SecretString::new(base64url_encode(&[byte; 32]))
}

fn password() -> SecretString {
    SecretString::from("correct horse battery".to_owned())
}

fn from_here() -> Whence {
    Whence::of([127, 0, 0, 1].into(), None)
}

/// All cards of a wallet, with their keys.
async fn exported(app: &selfsame_app::App, person: &Person) -> Vec<CarriedCredential> {
    let wallet = app.wallet().unwrap();
    let new = NewWalletExport {
        password: password(),
        sealing_key: Some(sealing_key(7)),
    };
    let begun = wallet
        .begin_export(person, new, &from_here())
        .await
        .unwrap();
    let listed = wallet.exported(person, &begun.id, &Paging::longest()).await;
    listed.unwrap().items
}

fn with_key(credentials: Vec<CarriedCredential>, byte: u8) -> CarriedCredentials {
    CarriedCredentials {
        sealing_key: Some(sealing_key(byte)),
        credentials,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cards_of_a_former_version_are_found_by_what_a_request_asks_once_their_wallet_is_asked() {
    let site = Site::start().await;
    let host = WalletHost::new(&site);
    let app = host.open().await;
    let person = person(&app).await;
    let wallet = app.wallet().unwrap();
    for kind in ["immunization", "allergies"] {
        let offer = accept(&site.offer(kind).await);
        wallet.accept_offer(&person, &offer).await.unwrap();
    }
    let (store, tenant) = (host.store().await, &person.tenant);
    // As a former version stored them: by type and format.
    for record in store.list(tenant, CARD, &Page::first(10)).await.unwrap() {
        let card: Value = serde_json::from_slice(&record.value).unwrap();
        let types = card["types"].as_array().unwrap();
        let mut put = Put::new(CARD, &record.id, record.value.clone());
        for name in types {
            put = put.tag(Tag::hashed("type", name.as_str().unwrap()));
        }
        let put = put.tag(Tag::hashed("format", card["format"].as_str().unwrap()));
        let batch = Batch::new(tenant.clone()).put(put);
        store.commit(batch).await.unwrap();
    }
    let tag = Tag::hashed("asked", format!("dc+sd-jwt\n{TYPE}"));
    let found = async || {
        store
            .find(tenant, CARD, &tag, &Page::first(10))
            .await
            .unwrap()
    };
    assert!(found().await.is_empty());
    let request = newest(&asked(&site, "immunization").await);
    wallet.answer_request(&person, &request).await.unwrap();
    assert_eq!(found().await.len(), 1);
    assert_eq!(wallet.cards_retagged(), 2);
    let request = newest(&asked(&site, "immunization").await);
    wallet.answer_request(&person, &request).await.unwrap();
    assert_eq!(wallet.cards_retagged(), 2, "once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_is_taken_in_once_with_its_key_and_answers() {
    let site = Site::start().await;
    let (app, from) = holder(&site, "immunization").await;
    let cards = exported(&app, &from).await;
    let elsewhere = WalletHost::new(&site).open().await;
    let to = person(&elsewhere).await;
    let wallet = elsewhere.wallet().unwrap();
    // Twice in one request, and from two requests at once.
    let twice = [cards.clone(), cards.clone()].concat();
    let (one, two) = tokio::join!(
        wallet.take_in(&to, with_key(twice.clone(), 7)),
        wallet.take_in(&to, with_key(twice, 7)),
    );
    let all = [one.unwrap().items, two.unwrap().items].concat();
    let stored = all.iter().filter(|one| one.state == TakenState::Stored);
    assert_eq!((all.len(), stored.count()), (4, 1));
    let listed = wallet.cards(&to, &Paging::default()).await.unwrap();
    assert_eq!(listed.items.len(), 1);
    let request = newest(&asked(&site, "immunization").await);
    wallet.answer_request(&to, &request).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_whose_key_or_credential_was_changed_is_refused_and_the_others_go_in() {
    let site = Site::start().await;
    let (app, from) = holder(&site, "immunization").await;
    let good = exported(&app, &from).await.remove(0);
    let changed = |change: &dyn Fn(&mut CarriedCredential)| {
        let mut one = good.clone();
        change(&mut one);
        one
    };
    let other = {
        let offer = accept(&site.offer("allergies").await);
        app.wallet()
            .unwrap()
            .accept_offer(&from, &offer)
            .await
            .unwrap();
        exported(&app, &from).await.remove(1)
    };
    let rows = vec![
        changed(&|one| one.credential.push('x')),
        changed(&|one| one.format = "unknown".to_owned()),
        changed(&|one| one.holder.clone_from(&other.holder)),
        changed(&|one| one.look = serde_json::json!({"title": 7})),
        good.clone(),
    ];
    let elsewhere = WalletHost::new(&site).open().await;
    let to = person(&elsewhere).await;
    let wallet = elsewhere.wallet().unwrap();
    let taken = wallet.take_in(&to, with_key(rows, 7)).await.unwrap().items;
    let reasons: Vec<_> = taken
        .iter()
        .map(|one| one.why.as_ref().map(|why| why.id().to_owned()))
        .collect();
    let wrong = |id: &str| Some(id.to_owned());
    assert_eq!(
        reasons,
        [
            wrong("carried-changed"),
            wrong("carried-format-unknown"),
            wrong("carried-key-unopened"),
            wrong("carried-malformed"),
            None,
        ]
    );
    let sealed = wallet.take_in(&to, with_key(vec![other], 8)).await.unwrap();
    assert_eq!(
        sealed.items[0].why.as_ref().unwrap().id(),
        "carried-key-unopened"
    );
    let none = wallet
        .take_in(&to, with_key(Vec::new(), 7))
        .await
        .unwrap_err();
    assert_eq!(none.kind, ErrorKind::BadRequest);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_alone_exports_nothing_and_without_a_sealing_key_no_key_leaves() {
    let site = Site::start().await;
    let (app, from) = holder(&site, "immunization").await;
    let wallet = app.wallet().unwrap();
    let new = |password: SecretString| NewWalletExport {
        password,
        sealing_key: None,
    };
    let wrong = new(SecretString::new("another password".to_owned()));
    let refused = wallet.begin_export(&from, wrong, &from_here()).await;
    assert_eq!(refused.unwrap_err().kind, ErrorKind::Unauthenticated);
    let made_up = wallet.exported(&from, "made-up", &Paging::default()).await;
    assert_eq!(made_up.unwrap_err().kind, ErrorKind::Gone);
    let new = new(password());
    let begun = wallet.begin_export(&from, new, &from_here()).await.unwrap();
    let listed = wallet
        .exported(&from, &begun.id, &Paging::default())
        .await
        .unwrap();
    let holder = listed.items[0].holder.as_ref().unwrap();
    assert_eq!((&holder.sealed, holder.own), (&None, false));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_under_words_restores_the_cards_elsewhere_and_no_other_words_open_it() {
    let site = Site::start().await;
    let (app, from) = holder(&site, "immunization").await;
    let wallet = app.wallet().unwrap();
    let words = wallet.new_recovery_words();
    let here = from_here();
    let begun = wallet.begin_copy(&from, words.clone(), password(), &here);
    let begun = begun.await.unwrap();
    let part = wallet.copy_part(&from, &begun.export, None).await.unwrap();
    assert_eq!((part.count, part.next), (1, None));
    let file = format!("{}\n{}{{\"end\":1}}\n", begun.head, part.lines);

    let elsewhere = WalletHost::new(&site).open().await;
    let to = person(&elsewhere).await;
    let wallet = elsewhere.wallet().unwrap();
    let others = wallet.new_recovery_words();
    let refused = wallet.restore(&to, others, file.as_bytes()).await;
    assert_eq!(refused.unwrap_err().reason.id(), "export-secret-wrong");
    let restored = wallet.restore(&to, words.clone(), file.as_bytes()).await;
    let restored = restored.unwrap();
    assert_eq!((restored.stored, restored.known), (1, 0));
    assert!(restored.is_complete && restored.refused.is_empty());
    let request = newest(&asked(&site, "immunization").await);
    wallet.answer_request(&to, &request).await.unwrap();

    let cut = file.replace("{\"end\":1}\n", "{\"credential\":");
    let again = wallet.restore(&to, words, cut.as_bytes()).await.unwrap();
    assert_eq!(
        (again.stored, again.known, again.is_complete),
        (0, 1, false)
    );
    let refused: Vec<usize> = again.refused.iter().map(|one| one.line).collect();
    assert_eq!(refused, [3]);
}
