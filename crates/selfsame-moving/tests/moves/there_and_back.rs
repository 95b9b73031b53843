//! Whole moves: what arrives is what left, and it works.

use selfsame_anoncreds_wallet::revocation::moving;
use selfsame_audit::{AuditFilter, Trail};
use selfsame_core::organisation::OrganisationName;
use selfsame_driver::ErrorKind;
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::Keys;
use selfsame_moving::{FaultyLine, LineFault, MoveError, discard};
use selfsame_store::{Batch, Page, Put, Store, Tag, TenantId};

use crate::home::{Home, acme, handle, now, tails, tails_hash};

/// What the cards are, of a thousand: a tenth has expired.
const CARDS: u32 = 1_000;

async fn works(store: &Store) {
    let odd = Tag::hashed("parity", "1");
    let found = store.find(&acme(), "card", &odd, &Page::first(1_000)).await;
    assert_eq!(found.unwrap().len(), 500);
    let plain = Tag::plain("number", "00007");
    let found = store.find(&acme(), "card", &plain, &Page::first(9)).await;
    assert_eq!(found.unwrap()[0].value, 7_u32.to_be_bytes().repeat(7));
    let handle = handle(store).await;
    let signed = Keys::new(store.clone())
        .sign(&acme(), &handle, b"said")
        .await;
    assert_eq!(signed.unwrap().len(), 64);
    // The order of insertion is that of the former instance.
    let listed = store
        .list(&acme(), "card", &Page::first(1_000))
        .await
        .unwrap();
    let numbers: Vec<u32> = listed.iter().map(|one| one.id.parse().unwrap()).collect();
    assert!(numbers.is_sorted() && numbers.len() == 900);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenant_moves_from_a_file_to_postgresql_and_back_with_the_same_hashes() {
    let first = Home::in_a_file().with_acme("suspended", CARDS).await;
    let file = first.export().await.unwrap();
    assert_eq!(file.exported.expired, 100);
    assert_eq!((file.exported.calls, file.exported.given_up), (1, 1));
    assert_eq!(file.exported.records, 902);

    let second = Home::in_postgres();
    let arrived = second.import(&file.text).await.unwrap();
    assert!(arrived.complete, "{arrived:?}");
    assert_eq!((arrived.new, arrived.already, arrived.faulty), (902, 0, 0));
    assert_eq!(arrived.hash, file.exported.hash);
    assert_eq!(arrived.kinds, file.exported.kinds);
    let store = second.open().await;
    works(&store).await;
    let given = store.allocate(&acme(), "places", 1).await.unwrap();
    assert!(given.start > 1 << 32, "{given:?}");
    let due = store.due(now(), 10).await.unwrap();
    assert_eq!(due.len(), 1);
    drop(store);

    let back = second.export().await.unwrap();
    assert_eq!(back.exported.hash, file.exported.hash);
    let third = Home::in_a_file();
    let arrived = third.import(&back.text).await.unwrap();
    assert!(arrived.complete, "{arrived:?}");
    assert_eq!(arrived.kinds, file.exported.kinds);
    let store = third.open().await;
    works(&store).await;
    let again = store.allocate(&acme(), "places", 1).await.unwrap();
    assert!(again.start > given.end, "no number is given twice");
    let neighbour = TenantId::parse("o-2").unwrap();
    let neighbours = store.list(&neighbour, "card", &Page::first(9)).await;
    assert_eq!(neighbours.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_tails_files_of_its_registries_come_along_with_a_tenant() {
    // The first is longer than one line holds.
    let files = [tails(9_000, 1), tails(10, 2)];
    let first = Home::in_a_file().with_acme("suspended", 10).await;
    let first = first.with_tails(&files).await;
    let file = first.export().await.unwrap();
    assert_eq!(file.exported.tails, 2);
    let second = Home::in_postgres();
    for _ in 0..2 {
        // Cut off before the last line, it is run again.
        let cut = second.import(&file.text[..file.text.len() - 10]).await;
        assert!(!cut.unwrap().complete);
    }
    let arrived = second.import(&file.text).await.unwrap();
    assert!(arrived.complete, "{arrived:?}");
    assert_eq!((arrived.tails, arrived.faulty), (2, 0));
    let store = second.open().await;
    for bytes in &files {
        let kept = moving::file(&store, &tails_hash(bytes)).await.unwrap();
        assert_eq!(kept.as_ref(), Some(bytes));
        let again = moving::arrival(&store, &acme(), bytes).await.unwrap();
        assert!(again.is_none(), "a registry leads to it");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tails_file_that_has_not_the_hash_of_a_registry_does_not_go_in() {
    let bytes = tails(10, 1);
    let first = Home::in_a_file().with_acme("suspended", 10).await;
    let first = first.with_tails(std::slice::from_ref(&bytes)).await;
    let store = first.open().await;
    let hash = tails_hash(&bytes);
    let put = Put::new("anoncreds_tails_part", format!("{hash}.0"), tails(10, 2));
    let changed = Batch::new(TenantId::instance()).put(put);
    store.commit(changed).await.unwrap();
    drop(store);
    let file = first.export().await.unwrap();
    let second = Home::in_a_file();
    let arrived = second.import(&file.text).await.unwrap();
    assert_eq!((arrived.complete, arrived.tails), (false, 0));
    let line = file.exported.lines - 1;
    let fault = LineFault::OtherTails;
    assert_eq!(arrived.faults, [FaultyLine { line, fault }]);
    let store = second.open().await;
    for hash in [hash, tails_hash(&tails(10, 2))] {
        assert_eq!(moving::file(&store, &hash).await.unwrap(), None);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_instance_where_a_credential_book_arrives_looks_after_it() {
    for has_book in [false, true] {
        let first = Home::in_a_file().with_acme("suspended", 10).await;
        if has_book {
            let store = first.open().await;
            let batch = Batch::new(acme()).put(Put::new("book", "1", b"{}".to_vec()));
            store.commit(batch).await.unwrap();
        }
        let file = first.export().await.unwrap();
        let second = Home::in_a_file();
        assert!(second.import(&file.text).await.unwrap().complete);
        let (store, page) = (second.open().await, Page::first(9));
        let due = store.list(&TenantId::instance(), "book_due", &page).await;
        let ids: Vec<String> = due.unwrap().into_iter().map(|note| note.id).collect();
        let expected = has_book.then(|| format!("arrived/{}", acme()));
        assert_eq!(ids, Vec::from_iter(expected));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_instances_note_the_move_in_their_audit_trails() {
    let first = Home::in_a_file().with_acme("suspended", 10).await;
    let file = first.export().await.unwrap();
    let second = Home::in_a_file();
    second.import(&file.text).await.unwrap();
    for (home, act) in [(&first, "EXPORT"), (&second, "IMPORT")] {
        let trail = Trail::new(home.open().await, Clock::default());
        let filter = AuditFilter::default();
        let listed = trail
            .list(&OrganisationName::main(), &filter)
            .await
            .unwrap();
        let acts: Vec<&str> = listed.items.iter().map(|one| one.act.as_str()).collect();
        assert_eq!(acts, [format!("{act} /organisations/{{name}}")]);
        assert_eq!(listed.items[0].object.as_deref(), Some("acme"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenant_that_is_there_already_is_refused_and_stays_as_it_is() {
    let first = Home::in_a_file().with_acme("suspended", 20).await;
    let file = first.export().await.unwrap();
    let second = Home::in_postgres();
    assert!(second.import(&file.text).await.unwrap().complete);
    for home in [&first, &second] {
        let before = home.source.tally(&acme(), now()).await.unwrap();
        let refused = home.import(&file.text).await;
        assert!(matches!(refused, Err(MoveError::There)), "{refused:?}");
        assert_eq!(home.source.tally(&acme(), now()).await.unwrap(), before);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_organisation_that_is_active_or_has_a_name_that_is_taken_does_not_move() {
    let active = Home::in_a_file().with_acme("active", 20).await;
    let refused = active.export().await;
    let Err(MoveError::Refused(error)) = refused else {
        panic!("an active organisation was exported");
    };
    assert_eq!(error.kind, ErrorKind::Conflict);
    let file = Home::in_a_file().with_acme("suspended", 20).await;
    let file = file.export().await.unwrap();
    // Another tenant has the name.
    let other = Home::in_a_file();
    let store = other.open().await;
    let skeleton = OrganisationName::parse("acme").unwrap().skeleton();
    let put = Put::new("organisation_skeleton", skeleton, Vec::new());
    let batch = Batch::new(TenantId::instance()).put(put);
    store.commit(batch).await.unwrap();
    drop(store);
    let refused = other.import(&file.text).await;
    assert!(matches!(refused, Err(MoveError::Refused(_))), "{refused:?}");
    let tally = other.source.tally(&acme(), now()).await.unwrap();
    assert_eq!(tally.count(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_of_which_a_part_is_in_is_finished_by_its_own_file_or_discarded() {
    let first = Home::in_a_file().with_acme("suspended", 600).await;
    let (file, later) = (first.export().await.unwrap(), first.export().await.unwrap());
    let second = Home::in_postgres();
    let half = &file.text[..file.text.len() / 2];
    let arrived = second.import(half).await.unwrap();
    assert!(!arrived.complete && arrived.new > 200, "{arrived:?}");
    let refused = second.import(&later.text).await;
    assert!(matches!(refused, Err(MoveError::Unfinished)), "{refused:?}");
    let finished = second.import(&file.text).await.unwrap();
    assert!(finished.complete);
    assert_eq!(finished.already, arrived.new);
    assert_eq!(finished.hash, file.exported.hash);

    let third = Home::in_a_file();
    third.import(half).await.unwrap();
    let store = third.open().await;
    let removed = discard(&store, &acme(), &|_, _| {}).await.unwrap();
    assert!(removed > 200, "{removed}");
    let nothing = discard(&store, &acme(), &|_, _| {}).await;
    assert!(matches!(nothing, Err(MoveError::NothingBegun)));
    drop(store);
    assert!(third.import(&later.text).await.unwrap().complete);
    let store = third.open().await;
    let finished = discard(&store, &acme(), &|_, _| {}).await;
    assert!(matches!(finished, Err(MoveError::NothingBegun)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_was_changed_behind_the_import_is_found_before_the_organisation_is_known() {
    let first = Home::in_a_file().with_acme("suspended", 50).await;
    let file = first.export().await.unwrap();
    let second = Home::in_a_file();
    let cut = file.text.len() - 10;
    assert!(!second.import(&file.text[..cut]).await.unwrap().complete);
    let store = second.open().await;
    let kept = store.read(&acme(), "card", "7").await.unwrap().unwrap();
    let changed = Batch::new(acme()).update("card", &kept, vec![9]);
    store.commit(changed).await.unwrap();
    let added = Put::new("card", "9999", Vec::new());
    let added = Batch::new(acme()).put(added);
    store.commit(added).await.unwrap();
    drop(store);
    // The changed one is named by its line, so the file is not in as a whole.
    let arrived = second.import(&file.text).await.unwrap();
    assert!(!arrived.complete && arrived.faulty == 1, "{arrived:?}");
    let store = second.open().await;
    let back = Batch::new(acme()).delete("card", "7");
    store.commit(back).await.unwrap();
    drop(store);
    let refused = second.import(&file.text).await;
    let Err(MoveError::Different(difference)) = refused else {
        panic!("one record too many was not found: {refused:?}");
    };
    assert!(difference.contains("\"card\""), "{difference}");
}
