//! Records: written values are read by the right tenant, in order, until they expire.

use selfsame_store::backend::{Place, SealedBatch, Write};
use selfsame_store::{
    Batch, Expect, MAX_PAGE, Page, Put, Record, Store, StoreError, Tag, TenantId,
};

use super::ground::{Ground, read_as, tenant};

const KIND: &str = "card";

fn ids(records: &[Record]) -> Vec<&str> {
    records.iter().map(|record| record.id.as_str()).collect()
}

fn place(tenant: &TenantId, id: &str) -> Place {
    Place {
        tenant: tenant.clone(),
        kind: KIND.to_owned(),
        id: id.to_owned(),
    }
}

async fn put(store: &Store, tenant: &TenantId, put: Put) -> u64 {
    store
        .commit(Batch::new(tenant.clone()).put(put))
        .await
        .unwrap()
        .versions[0]
}

pub async fn what_is_put_is_read_again_also_after_reopening(ground: Ground) {
    let anna = tenant("anna");
    let store = ground.store().await;
    let version = put(&store, &anna, Put::new(KIND, "1", b"value".to_vec())).await;
    let deferred = Batch::new(anna.clone())
        .put(Put::new(KIND, "2", b"later".to_vec()))
        .deferred();
    store.commit(deferred).await.unwrap();
    assert_eq!(
        store.read(&anna, KIND, "2").await.unwrap().unwrap().value,
        b"later"
    );
    drop(store);
    let store = ground.store().await;
    let record = store.read(&anna, KIND, "1").await.unwrap().unwrap();
    assert_eq!(
        (record.value.as_slice(), record.version, record.expires),
        (&b"value"[..], version, None)
    );
    assert_eq!(
        store.read(&anna, KIND, "2").await.unwrap().unwrap().value,
        b"later"
    );
    assert_eq!(store.read(&anna, "other", "1").await.unwrap(), None);
    assert_eq!(store.read(&anna, KIND, "3").await.unwrap(), None);
}

pub async fn a_put_replaces_the_whole_record_and_keeps_its_place(ground: Ground) {
    let (store, anna) = (ground.store().await, tenant("anna"));
    let first = Tag::hashed("color", "red");
    put(
        &store,
        &anna,
        Put::new(KIND, "1", b"a".to_vec())
            .tag(first.clone())
            .expires(ground.now().plus(9)),
    )
    .await;
    put(&store, &anna, Put::new(KIND, "2", b"b".to_vec())).await;
    put(
        &store,
        &anna,
        Put::new(KIND, "1", b"c".to_vec()).tag(Tag::hashed("color", "blue")),
    )
    .await;
    assert_eq!(
        store
            .find(&anna, KIND, &first, &Page::first(9))
            .await
            .unwrap(),
        []
    );
    let found = store
        .find(&anna, KIND, &Tag::hashed("color", "blue"), &Page::first(9))
        .await
        .unwrap();
    assert_eq!(
        (ids(&found), found[0].value.as_slice(), found[0].expires),
        (vec!["1"], &b"c"[..], None)
    );
    assert_eq!(
        ids(&store.list(&anna, KIND, &Page::first(9)).await.unwrap()),
        ["1", "2"]
    );
}

pub async fn an_update_keeps_tags_and_expiry(ground: Ground) {
    let (store, anna, red) = (
        ground.store().await,
        tenant("anna"),
        Tag::hashed("color", "red"),
    );
    let expires = ground.now().plus(60);
    let version = put(
        &store,
        &anna,
        Put::new(KIND, "1", b"a".to_vec())
            .tag(red.clone())
            .expires(expires),
    )
    .await;
    let update =
        |version| Batch::new(anna.clone()).update(KIND, &read_as("1", version), b"b".to_vec());
    let committed = store.commit(update(version)).await.unwrap();
    let found = store
        .find(&anna, KIND, &red, &Page::first(9))
        .await
        .unwrap();
    assert_eq!(
        (
            found[0].value.as_slice(),
            found[0].version,
            found[0].expires
        ),
        (&b"b"[..], committed.versions[0], Some(expires))
    );
    assert!(
        matches!(store.commit(update(version)).await, Err(StoreError::Conflict { kind, id }) if kind == KIND && id == "1")
    );
}

pub async fn a_batch_whose_expectation_fails_writes_nothing(ground: Ground) {
    let (store, anna, ben) = (ground.store().await, tenant("anna"), tenant("ben"));
    put(
        &store,
        &anna,
        Put::new(KIND, "1", b"a".to_vec()).tag(Tag::hashed("color", "red")),
    )
    .await;
    let batch = Batch::new(anna.clone())
        .put(Put::new(KIND, "2", b"b".to_vec()))
        .delete(KIND, "1")
        .for_tenant(ben.clone())
        .put(Put::new(KIND, "3", b"c".to_vec()))
        .for_tenant(anna.clone())
        .expect(KIND, "1", Expect::Absent);
    assert!(matches!(
        store.commit(batch.clone()).await,
        Err(StoreError::Conflict { .. })
    ));
    assert!(matches!(
        store.commit(batch.deferred()).await,
        Err(StoreError::Conflict { .. })
    ));
    assert_eq!(
        ids(&store.list(&anna, KIND, &Page::first(9)).await.unwrap()),
        ["1"]
    );
    assert_eq!(store.list(&ben, KIND, &Page::first(9)).await.unwrap(), []);
    assert_eq!(
        store
            .find(&anna, KIND, &Tag::hashed("color", "red"), &Page::first(9))
            .await
            .unwrap()
            .len(),
        1
    );
}

pub async fn versions_never_come_back(ground: Ground) {
    let (store, anna) = (ground.store().await, tenant("anna"));
    let first = put(&store, &anna, Put::new(KIND, "1", b"a".to_vec())).await;
    store
        .commit(
            Batch::new(anna.clone())
                .delete(KIND, "1")
                .delete(KIND, "never there"),
        )
        .await
        .unwrap();
    assert_eq!(store.read(&anna, KIND, "1").await.unwrap(), None);
    let second = put(&store, &anna, Put::new(KIND, "1", b"a".to_vec())).await;
    assert_ne!(first, second);
    let stale = Batch::new(anna.clone())
        .expect(KIND, "1", Expect::Version(first))
        .delete(KIND, "1");
    assert!(matches!(
        store.commit(stale).await,
        Err(StoreError::Conflict { .. })
    ));
}

pub async fn tags_find_records_in_order_page_by_page(ground: Ground) {
    let (store, anna) = (ground.store().await, tenant("anna"));
    for tag in [Tag::hashed("color", "red"), Tag::plain("color", "red")] {
        let mut batch = Batch::new(anna.clone());
        for number in 0..7 {
            // Not in identifier order, and with other records between them.
            batch = batch.put(
                Put::new(KIND, format!("{}", 9 - number), vec![number])
                    .tag(tag.clone())
                    .tag(Tag::hashed("size", "l")),
            );
            batch = batch.put(
                Put::new(KIND, format!("other{number}"), vec![]).tag(Tag::hashed("color", "red ")),
            );
        }
        store.commit(batch).await.unwrap();
        let (mut page, mut seen) = (Page::first(3), Vec::new());
        loop {
            let found = store.find(&anna, KIND, &tag, &page).await.unwrap();
            let Some(last) = found.last() else { break };
            page = page.after(last.cursor());
            seen.extend(found.into_iter().map(|record| record.id));
        }
        assert_eq!(seen, ["9", "8", "7", "6", "5", "4", "3"]);
        let newest = store
            .find(&anna, KIND, &tag, &Page::newest(2))
            .await
            .unwrap();
        assert_eq!(ids(&newest), ["3", "4"]);
        assert_eq!(
            store
                .find(&anna, "other", &tag, &Page::first(9))
                .await
                .unwrap(),
            []
        );
    }
}

pub async fn lists_go_both_ways_page_by_page(ground: Ground) {
    let (store, anna) = (ground.store().await, tenant("anna"));
    for number in [5, 1, 3, 2, 4] {
        put(&store, &anna, Put::new(KIND, number.to_string(), vec![])).await;
    }
    let first = store.list(&anna, KIND, &Page::newest(2)).await.unwrap();
    assert_eq!(ids(&first), ["4", "2"]);
    let second = store
        .list(&anna, KIND, &Page::newest(9).after(first[1].cursor()))
        .await
        .unwrap();
    assert_eq!(ids(&second), ["3", "1", "5"]);
    let long = store
        .list(&anna, KIND, &Page::first(MAX_PAGE))
        .await
        .unwrap();
    assert_eq!(ids(&long), ["5", "1", "3", "2", "4"]);
    assert!(matches!(
        store.list(&anna, KIND, &Page::first(1).after("x")).await,
        Err(StoreError::Malformed(_))
    ));
}

pub async fn what_a_tenant_keeps_of_a_kind_has_a_number_and_a_weight(ground: Ground) {
    let (store, anna, otto) = (ground.store().await, tenant("anna"), tenant("otto"));
    let nothing = store.weight(&anna, KIND, u64::MAX).await.unwrap();
    assert_eq!((nothing.records, nothing.bytes), (0, 0));
    for id in ["a", "b", "c"] {
        put(&store, &anna, Put::new(KIND, id, vec![0; 1000])).await;
    }
    put(&store, &anna, Put::new("another", "a", vec![0; 1000])).await;
    put(&store, &otto, Put::new(KIND, "a", vec![0; 1000])).await;
    let three = store.weight(&anna, KIND, u64::MAX).await.unwrap();
    assert_eq!(three.records, 3);
    // Sealing adds a few bytes.
    assert!((3000..3300).contains(&three.bytes), "{three:?}");
    let batch = Batch::new(anna.clone()).delete(KIND, "b");
    store.commit(batch).await.unwrap();
    let two = store.weight(&anna, KIND, u64::MAX).await.unwrap();
    assert_eq!((two.records, two.bytes), (2, three.bytes / 3 * 2));
    assert_eq!(store.count(&anna, KIND, u64::MAX).await.unwrap(), 2);
}

pub async fn counting_what_a_tenant_keeps_ends_at_a_bound(ground: Ground) {
    let (store, anna) = (ground.store().await, tenant("anna"));
    for (id, bytes) in [("a", 10), ("b", 1000), ("c", 1000)] {
        put(&store, &anna, Put::new(KIND, id, vec![0; bytes])).await;
    }
    for (most, counted) in [(0, 0), (1, 1), (3, 3), (4, 3), (u64::MAX, 3)] {
        let weight = store.weight(&anna, KIND, most).await.unwrap();
        assert_eq!(weight.records, counted, "{most}");
        let count = store.count(&anna, KIND, most).await.unwrap();
        assert_eq!(count, counted, "{most}");
    }
    let oldest = store.weight(&anna, KIND, 1).await.unwrap();
    assert!((10..100).contains(&oldest.bytes), "{oldest:?}");
}

pub async fn what_has_expired_reads_as_absent_and_is_purged(ground: Ground) {
    let (store, anna, red) = (
        ground.store().await,
        tenant("anna"),
        Tag::hashed("color", "red"),
    );
    for number in 0..10 {
        let brief = Put::new(KIND, number.to_string(), vec![])
            .tag(red.clone())
            .expires(ground.now().plus(10));
        store
            .commit(Batch::new(anna.clone()).put(brief))
            .await
            .unwrap();
    }
    put(
        &store,
        &anna,
        Put::new(KIND, "stays", vec![]).tag(red.clone()),
    )
    .await;
    ground.wait(9);
    assert!(store.read(&anna, KIND, "0").await.unwrap().is_some());
    assert_eq!(store.purge_expired(ground.now(), 100).await.unwrap(), 0);
    ground.wait(1);
    assert_eq!(store.read(&anna, KIND, "0").await.unwrap(), None);
    assert_eq!(
        ids(&store
            .find(&anna, KIND, &red, &Page::first(1))
            .await
            .unwrap()),
        ["stays"]
    );
    assert_eq!(
        ids(&store.list(&anna, KIND, &Page::first(1)).await.unwrap()),
        ["stays"]
    );
    assert_eq!(store.purge_expired(ground.now(), 6).await.unwrap(), 6);
    assert_eq!(store.purge_expired(ground.now(), 100).await.unwrap(), 4);
    assert_eq!(store.purge_expired(ground.now(), 100).await.unwrap(), 0);
    assert!(store.read(&anna, KIND, "stays").await.unwrap().is_some());
}

pub async fn an_expired_record_makes_room_for_a_new_one(ground: Ground) {
    let (store, anna, red) = (
        ground.store().await,
        tenant("anna"),
        Tag::hashed("color", "red"),
    );
    let brief = || {
        Put::new(KIND, "1", b"old".to_vec())
            .tag(red.clone())
            .expires(ground.now().plus(10))
    };
    let old = put(&store, &anna, brief()).await;
    put(&store, &anna, Put::new(KIND, "2", vec![])).await;
    ground.wait(10);
    let stale = Batch::new(anna.clone()).update(KIND, &read_as("1", old), b"x".to_vec());
    assert!(matches!(
        store.commit(stale).await,
        Err(StoreError::Conflict { .. })
    ));
    let fresh = Batch::new(anna.clone())
        .expect(KIND, "1", Expect::Absent)
        .put(Put::new(KIND, "1", b"new".to_vec()));
    store.commit(fresh).await.unwrap();
    assert_eq!(
        ids(&store.list(&anna, KIND, &Page::first(9)).await.unwrap()),
        ["2", "1"]
    );
    assert_eq!(
        store
            .find(&anna, KIND, &red, &Page::first(9))
            .await
            .unwrap(),
        []
    );
    assert_eq!(store.purge_expired(ground.now(), 100).await.unwrap(), 0);
}

pub async fn tenants_do_not_see_each_other(ground: Ground) {
    let (store, anna, ben, red) = (
        ground.store().await,
        tenant("anna"),
        tenant("ben"),
        Tag::hashed("color", "red"),
    );
    let of = |name: &str| Put::new(KIND, "1", name.as_bytes().to_vec()).tag(red.clone());
    store
        .commit(
            Batch::new(anna.clone())
                .put(of("anna"))
                .for_tenant(ben.clone())
                .put(of("ben")),
        )
        .await
        .unwrap();
    for (tenant, name) in [(&anna, "anna"), (&ben, "ben")] {
        assert_eq!(
            store.read(tenant, KIND, "1").await.unwrap().unwrap().value,
            name.as_bytes()
        );
        assert_eq!(
            store
                .find(tenant, KIND, &red, &Page::first(9))
                .await
                .unwrap()
                .len(),
            1
        );
        assert_eq!(
            store
                .list(tenant, KIND, &Page::first(9))
                .await
                .unwrap()
                .len(),
            1
        );
    }
    store
        .commit(Batch::new(anna.clone()).delete(KIND, "1"))
        .await
        .unwrap();
    assert!(store.read(&ben, KIND, "1").await.unwrap().is_some());
    let stranger = tenant("stranger");
    assert_eq!(store.read(&stranger, KIND, "1").await.unwrap(), None);
    assert_eq!(
        store
            .find(&stranger, KIND, &red, &Page::first(9))
            .await
            .unwrap(),
        []
    );
}

pub async fn a_value_moved_elsewhere_does_not_open(ground: Ground) {
    let (anna, ben) = (tenant("anna"), tenant("ben"));
    let backend = ground.backend().await;
    let store = ground.front(backend.clone()).await;
    for who in [&anna, &ben] {
        let batch = Batch::new(who.clone())
            .put(Put::new(KIND, "1", b"a".to_vec()))
            .put(Put::new(KIND, "2", b"b".to_vec()));
        store.commit(batch).await.unwrap();
    }
    let stolen = backend
        .read(&place(&anna, "1"), ground.now())
        .await
        .unwrap()
        .unwrap();
    let moves = [
        (place(&anna, "2"), stolen.version),
        (place(&ben, "1"), stolen.version),
        (place(&anna, "1"), stolen.version ^ 1),
    ];
    for (to, version) in moves {
        let value = stolen.value.clone();
        let put = Write::Put {
            place: to.clone(),
            version,
            value,
            tags: vec![],
            expires: None,
        };
        backend
            .commit(SealedBatch {
                now: ground.now(),
                durable: true,
                writes: vec![put],
            })
            .await
            .unwrap();
        assert!(
            matches!(
                store.read(&to.tenant, KIND, &to.id).await,
                Err(StoreError::Tampered(_))
            ),
            "{to:?}"
        );
    }
    let back = Write::Put {
        place: place(&anna, "1"),
        version: stolen.version,
        value: stolen.value,
        tags: vec![],
        expires: None,
    };
    backend
        .commit(SealedBatch {
            now: ground.now(),
            durable: true,
            writes: vec![back],
        })
        .await
        .unwrap();
    assert_eq!(
        store.read(&anna, KIND, "1").await.unwrap().unwrap().value,
        b"a"
    );
}

pub async fn nothing_of_a_value_or_a_hashed_tag_is_kept_in_the_clear(ground: Ground) {
    let (backend, anna) = (ground.backend().await, tenant("anna"));
    let store = ground.front(backend.clone()).await;
    let record = Put::new(KIND, "1", b"very secret value".to_vec())
        .tag(Tag::hashed("mail", "secret@example.org"));
    store
        .commit(Batch::new(anna.clone()).put(record))
        .await
        .unwrap();
    let kept = backend
        .read(&place(&anna, "1"), ground.now())
        .await
        .unwrap()
        .unwrap();
    assert!(!contains(&kept.value, b"secret"));
    for file in ground.files().await {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!contains(&bytes, b"secret"), "{}", file.display());
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

pub async fn another_master_key_is_refused(ground: Ground) {
    let backend = ground.backend().await;
    drop(ground.front(backend.clone()).await);
    assert!(matches!(
        ground.front_under(backend.clone(), [2; 32]).await,
        Err(StoreError::WrongKey(_))
    ));
    assert!(ground.front_under(backend, [1; 32]).await.is_ok());
}

pub async fn limits_hold(ground: Ground) {
    let (store, anna) = (ground.store().await, tenant("anna"));
    let batch = || Batch::new(anna.clone());
    let large = batch().put(Put::new(KIND, "1", vec![0; (8 << 20) + 1]));
    assert!(matches!(
        store.commit(large).await,
        Err(StoreError::TooLarge { what: "value", .. })
    ));
    let many = (0..5).fold(batch(), |batch, number| {
        batch.put(Put::new(KIND, number.to_string(), vec![0; 8 << 20]))
    });
    assert!(matches!(
        store.commit(many).await,
        Err(StoreError::TooLarge { what: "batch", .. })
    ));
    let long = batch().put(Put::new(KIND, "x".repeat(513), vec![]));
    assert!(matches!(
        store.commit(long).await,
        Err(StoreError::TooLarge { .. })
    ));
    let tagged = (0..33).fold(Put::new(KIND, "1", vec![]), |put, number| {
        put.tag(Tag::hashed("t", number.to_string()))
    });
    assert!(matches!(
        store.commit(batch().put(tagged)).await,
        Err(StoreError::TooLarge { .. })
    ));
    let twice = batch().put(Put::new(KIND, "1", vec![])).delete(KIND, "1");
    assert!(matches!(
        store.commit(twice).await,
        Err(StoreError::Malformed(_))
    ));
    let own = batch().delete("selfsame.key", "");
    assert!(matches!(
        store.commit(own).await,
        Err(StoreError::Malformed(_))
    ));
    assert_eq!(store.list(&anna, KIND, &Page::first(9)).await.unwrap(), []);
    assert!(
        TenantId::parse("").is_err()
            && TenantId::parse("a b").is_err()
            && TenantId::parse(&"a".repeat(129)).is_err()
    );
}

pub async fn durable_commits_are_counted(ground: Ground) {
    let (store, anna) = (ground.store().await, tenant("anna"));
    put(&store, &anna, Put::new(KIND, "0", vec![])).await;
    let before = store.meter().commits();
    for number in 0..3 {
        put(&store, &anna, Put::new(KIND, number.to_string(), vec![])).await;
    }
    store
        .commit(
            Batch::new(anna.clone())
                .put(Put::new(KIND, "4", vec![]))
                .deferred(),
        )
        .await
        .unwrap();
    let conflict = Batch::new(anna.clone())
        .expect(KIND, "4", Expect::Absent)
        .delete(KIND, "4");
    store.commit(conflict).await.unwrap_err();
    assert_eq!(store.meter().commits() - before, 3);
    assert!(store.meter().median().is_some());
}
