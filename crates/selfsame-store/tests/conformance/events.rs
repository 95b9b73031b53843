//! Events: in the commit of what they tell, in its order, and read by cursor.

use selfsame_store::backend::{EVENT_SECONDS, EVENTS_MAX};
use selfsame_store::{Batch, Expect, Put, Store};

use super::ground::{Ground, tenant};

fn batch() -> Batch {
    Batch::new(tenant("anna"))
}

async fn tell(store: &Store, id: &str) {
    store.commit(batch().event("issued", id)).await.unwrap();
}

/// The identifiers of all events after a cursor, read in small pages; `None` if the cursor is not known.
async fn after(store: &Store, cursor: Option<String>) -> Option<Vec<String>> {
    let (mut cursor, mut ids) = (cursor, Vec::new());
    loop {
        let page = store.events_after(cursor.as_deref(), 3).await.unwrap()?;
        let Some(last) = page.last() else {
            return Some(ids);
        };
        cursor = Some(last.cursor());
        ids.extend(page.into_iter().map(|event| event.place.id));
    }
}

async fn all(store: &Store) -> Vec<String> {
    after(store, None).await.unwrap()
}

pub async fn an_event_is_in_the_commit_of_what_it_tells_or_nowhere(ground: Ground) {
    let store = ground.store().await;
    assert_eq!(store.newest_event().await.unwrap(), None);
    assert_eq!(all(&store).await, [""; 0]);
    let put = |id| {
        let put = batch().expect("card", id, Expect::Absent);
        put.put(Put::new("card", id, vec![])).event("issued", id)
    };
    store.commit(put("1")).await.unwrap();
    assert!(store.commit(put("1")).await.is_err());
    let of_two = put("2").for_tenant(tenant("ben")).event("received", "3");
    store.commit(of_two).await.unwrap();
    let events = store.events_after(None, 9).await.unwrap().unwrap();
    let told: Vec<_> = events
        .iter()
        .map(|event| {
            let place = &event.place;
            (place.tenant.as_str(), place.kind.as_str(), &place.id[..])
        })
        .collect();
    assert_eq!(
        told,
        [
            ("anna", "issued", "1"),
            ("anna", "issued", "2"),
            ("ben", "received", "3")
        ]
    );
    assert!(events.iter().all(|event| event.at == ground.now()));
    assert_eq!(
        store.newest_event().await.unwrap(),
        Some(events[2].cursor())
    );
}

pub async fn events_are_read_on_from_a_cursor_also_after_reopening(ground: Ground) {
    let store = ground.store().await;
    for id in ["1", "2", "3", "4"] {
        tell(&store, id).await;
    }
    store
        .commit(batch().event("issued", "5").deferred())
        .await
        .unwrap();
    assert_eq!(all(&store).await, ["1", "2", "3", "4", "5"]);
    let newest = store.newest_event().await.unwrap();
    assert_eq!(after(&store, newest.clone()).await.unwrap(), [""; 0]);
    drop(store);
    let store = ground.store().await;
    tell(&store, "6").await;
    assert_eq!(after(&store, newest).await.unwrap(), ["6"]);
    assert_eq!(all(&store).await.len(), 6);
}

pub async fn a_reader_sees_every_event_of_many_writers_once(ground: Ground) {
    let store = ground.store().await;
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                for number in 0..40 {
                    tell(&store, &format!("{writer}-{number}")).await;
                }
            })
        })
        .collect();
    let (mut cursor, mut seen) = (None::<String>, Vec::new());
    while seen.len() < 8 * 40 {
        let page = store.events_after(cursor.as_deref(), 7).await.unwrap();
        let page = page.expect("the cursor is known");
        cursor = page.last().map(|last| last.cursor()).or(cursor);
        seen.extend(page.into_iter().map(|event| event.place.id));
        tokio::task::yield_now().await;
    }
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(seen, all(&store).await);
    for writer in 0..8 {
        let of_one = seen
            .iter()
            .filter(|id| id.starts_with(&format!("{writer}-")));
        let expected = (0..40).map(|number| format!("{writer}-{number}"));
        assert!(of_one.cloned().eq(expected));
    }
}

pub async fn old_events_are_purged_in_portions_and_the_newest_stays(ground: Ground) {
    let store = ground.store().await;
    for id in ["1", "2", "3", "4", "5"] {
        tell(&store, id).await;
    }
    let first = store.events_after(None, 1).await.unwrap().unwrap()[0].cursor();
    let newest = store.newest_event().await.unwrap();
    ground.wait(EVENT_SECONDS);
    assert_eq!(store.purge_expired(ground.now(), 3).await.unwrap(), 0);
    assert_eq!(after(&store, Some(first.clone())).await.unwrap().len(), 4);
    ground.wait(1);
    assert_eq!(store.purge_expired(ground.now(), 3).await.unwrap(), 3);
    // Who has not seen them all is told so.
    assert_eq!(after(&store, Some(first)).await, None);
    assert_eq!(after(&store, None).await, None);
    assert_eq!(store.purge_expired(ground.now(), 3).await.unwrap(), 1);
    assert_eq!(store.purge_expired(ground.now(), 3).await.unwrap(), 0);
    assert_eq!(after(&store, newest).await.unwrap(), [""; 0]);
}

pub async fn positions_do_not_begin_again_after_all_other_events_were_purged(ground: Ground) {
    let store = ground.store().await;
    tell(&store, "1").await;
    tell(&store, "2").await;
    let newest = store.newest_event().await.unwrap();
    ground.wait(EVENT_SECONDS + 1);
    assert_eq!(store.purge_expired(ground.now(), 9).await.unwrap(), 1);
    assert_eq!(store.newest_event().await.unwrap(), newest);
    drop(store);
    let store = ground.store().await;
    tell(&store, "3").await;
    assert_eq!(after(&store, newest).await.unwrap(), ["3"]);
    assert_eq!(store.purge_expired(ground.now(), 9).await.unwrap(), 1);
}

pub async fn the_number_of_events_kept_is_bounded(ground: Ground) {
    let store = ground.store().await;
    tell(&store, "first").await;
    let first = store.newest_event().await.unwrap();
    let many = (0..2_000).fold(batch(), |batch, _| batch.event("issued", "one"));
    for _ in 1..EVENTS_MAX / 2_000 {
        store.commit(many.clone()).await.unwrap();
    }
    let is_kept = async || {
        let page = store.events_after(first.as_deref(), 1).await.unwrap();
        page.is_some()
    };
    assert!(is_kept().await);
    for _ in 0..2 {
        store.commit(many.clone()).await.unwrap();
    }
    assert!(!is_kept().await);
    let newest = store.newest_event().await.unwrap();
    tell(&store, "last").await;
    assert_eq!(after(&store, newest).await.unwrap(), ["last"]);
}

pub async fn a_cursor_of_another_history_is_not_known(ground: Ground) {
    let (store, another) = (ground.store().await, ground.another().store().await);
    for store in [&store, &another] {
        tell(store, "1").await;
        tell(store, "2").await;
    }
    let cursor = store.newest_event().await.unwrap();
    assert_eq!(after(&store, cursor.clone()).await.unwrap(), [""; 0]);
    // The positions are equal.
    assert_eq!(after(&another, cursor).await, None);
    for cursor in [
        "",
        "2",
        "2-",
        "-7",
        "0-0",
        "1-0",
        "99999999999999999999-1",
        "a-b",
    ] {
        assert_eq!(
            after(&store, Some(cursor.to_owned())).await,
            None,
            "{cursor}"
        );
    }
    let beyond = format!("{}-1", u64::MAX);
    assert_eq!(after(&store, Some(beyond)).await, None);
}
