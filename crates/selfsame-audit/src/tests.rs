//! Trails in a store in memory, and exports that were tampered with.

use std::sync::Arc;

use proptest::prelude::*;
use selfsame_core::organisation::OrganisationName;
use selfsame_crypto::seal::SealingKey;
use selfsame_driver::clock::Clock;
use selfsame_store::{Batch, Memory, Page, Put, Store, TenantId, Vault};

use crate::{Act, AuditFilter, AuditResult, AuditedActor, ChainHead, Trail, TrailFault, verify};

struct World {
    store: Store,
    trail: Trail,
}

impl World {
    async fn new() -> Self {
        let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
        let store = Store::open(Arc::new(Memory::new()), vault).await.unwrap();
        let trail = Trail::new(store.clone(), Clock::default());
        Self { store, trail }
    }

    async fn acts(&self, organisation: &OrganisationName, objects: &[&str]) {
        for object in objects {
            let act = act(organisation, object);
            self.trail.write(act, AuditResult::Done).await.unwrap();
        }
    }

    /// The whole export of an organisation, as lines.
    async fn export(&self, organisation: &OrganisationName) -> Vec<String> {
        let (mut text, mut after) = (String::new(), Some(0));
        while let Some(number) = after {
            let part = self.trail.export(organisation, number).await.unwrap();
            text.push_str(&part.text());
            after = part.next;
        }
        text.lines().map(str::to_owned).collect()
    }
}

fn act(organisation: &OrganisationName, object: &str) -> Act {
    Act {
        organisation: organisation.clone(),
        actor: AuditedActor {
            kind: "person".to_owned(),
            id: Some("p1".to_owned()),
            name: "clerk@acme.example".to_owned(),
        },
        act: "POST /api/issuer/offers".to_owned(),
        object: Some(object.to_owned()),
        detail: None,
        from: None,
    }
}

fn acme() -> OrganisationName {
    OrganisationName::parse("acme").unwrap()
}

fn checked(lines: &[String], known: &[ChainHead]) -> Result<crate::Verified, TrailFault> {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    verify(text.as_bytes(), known)
}

/// A trail of three links with five entries: lines 0, 3 and 6 are links, line 8 is the head.
async fn five_acts() -> (World, Vec<String>) {
    let world = World::new().await;
    for objects in [&["a", "b"][..], &["c", "d"], &["e"]] {
        world.acts(&acme(), objects).await;
        world.trail.chain_all().await.unwrap();
    }
    let lines = world.export(&acme()).await;
    assert_eq!(lines.len(), 9);
    (world, lines)
}

#[tokio::test]
async fn an_export_verifies_and_contains_every_act() {
    let (world, lines) = five_acts().await;
    let verified = checked(&lines, &[]).unwrap();
    assert_eq!(verified.head.entries, 5);
    assert_eq!(verified.head.number, 3);
    assert_eq!(verified.head, world.trail.head(&acme()).await.unwrap());
}

#[tokio::test]
async fn entries_that_a_release_before_had_not_chained_yet_are_chained() {
    let (world, _) = five_acts().await;
    world.acts(&acme(), &["f", "g"]).await;
    let (home, page) = (TenantId::instance(), Page::first(100));
    let entries = world.store.list(&home, "audit_entry", &page).await.unwrap();
    let waiting = world.store.list(&home, "audit_waiting", &page).await;
    let waiting = waiting.unwrap();
    assert_eq!((entries.len(), waiting.len()), (7, 2));
    // That release went by a cursor, and nothing said which entries wait.
    let cursor = serde_json::json!({"after": entries[4].cursor()});
    let batch = waiting.iter().fold(Batch::new(home), |batch, record| {
        batch.delete("audit_waiting", &record.id)
    });
    let put = Put::new("audit_cursor", "", cursor.to_string().into_bytes());
    world.store.commit(batch.put(put)).await.unwrap();
    world.trail.chain_all().await.unwrap();
    let lines = world.export(&acme()).await;
    assert_eq!(checked(&lines, &[]).unwrap().head.entries, 7);
}

#[tokio::test]
async fn each_organisation_has_a_chain_of_its_own() {
    let (world, _) = five_acts().await;
    let other = OrganisationName::parse("other").unwrap();
    world.acts(&other, &["z"]).await;
    world.acts(&acme(), &["f"]).await;
    world.trail.chain_all().await.unwrap();
    let lines = world.export(&other).await;
    assert!(
        lines
            .iter()
            .all(|line| !line.contains("\"organisation\":\"acme\""))
    );
    assert_eq!(checked(&lines, &[]).unwrap().head.entries, 1);
    let all = world
        .trail
        .list(&other, &AuditFilter::default())
        .await
        .unwrap();
    assert_eq!(all.items.len(), 1);
    let lines = world.export(&acme()).await;
    assert_eq!(checked(&lines, &[]).unwrap().head.entries, 6);
}

#[tokio::test]
async fn an_entry_is_in_the_commit_of_its_act_or_nowhere() {
    let world = World::new().await;
    let entry = || {
        world
            .trail
            .entry(act(&acme(), "a"), AuditResult::Done)
            .unwrap()
    };
    let put = || Batch::new(TenantId::instance()).put(Put::new("thing", "1", Vec::new()));
    let commit = async {
        let refused = put().expect("thing", "1", selfsame_store::Expect::Version(1));
        world.store.commit(refused).await.is_ok()
    };
    assert_eq!(Store::accompanied(entry(), commit).await, (false, false));
    let listed = async || {
        world
            .trail
            .list(&acme(), &AuditFilter::default())
            .await
            .unwrap()
            .items
    };
    assert!(listed().await.is_empty());
    let commit = async { world.store.commit(put()).await.is_ok() };
    assert_eq!(Store::accompanied(entry(), commit).await, (true, true));
    assert_eq!(listed().await.len(), 1);
}

#[tokio::test]
async fn removed_changed_moved_and_cut_off_entries_are_detected() {
    let (world, lines) = five_acts().await;
    let head = world.trail.head(&acme()).await.unwrap();
    let with = |change: &dyn Fn(&mut Vec<String>)| {
        let mut lines = lines.clone();
        change(&mut lines);
        checked(&lines, std::slice::from_ref(&head)).unwrap_err()
    };
    let changed = with(&|lines| lines[1] = lines[1].replace("clerk@", "chief@"));
    assert!(matches!(
        changed,
        TrailFault::EntryForeign {
            line: 2,
            place: 1,
            number: 1,
            ..
        }
    ));
    let removed = with(&|lines| drop(lines.remove(2)));
    assert!(matches!(
        removed,
        TrailFault::EntriesMissing {
            number: 1,
            expected: 2,
            found: 1
        }
    ));
    let moved = with(&|lines| lines.swap(1, 2));
    assert!(matches!(moved, TrailFault::EntryForeign { line: 2, .. }));
    let links = with(&|lines| drop(lines.drain(3..6)));
    assert!(matches!(
        links,
        TrailFault::LinkOutOfOrder {
            found: 3,
            expected: 2,
            ..
        }
    ));
    let cut = with(&|lines| lines.truncate(6));
    assert!(matches!(cut, TrailFault::CutOff));
    let shorter = with(&|lines| drop(lines.drain(6..8)));
    assert!(matches!(
        shorter,
        TrailFault::HeadForeign {
            found: 3,
            expected: 2
        }
    ));
    let doubled = with(&|lines| lines.push(lines[8].clone()));
    assert!(matches!(doubled, TrailFault::AfterHead { line: 10 }));
    let rehashed = with(&|lines| lines[3] = lines[3].replace(":2,", ":1,"));
    assert!(matches!(
        rehashed,
        TrailFault::LinkOutOfOrder { found: 1, .. }
    ));
}

#[tokio::test]
async fn a_trail_that_was_written_again_does_not_contain_a_head_seen_before() {
    let (world, lines) = five_acts().await;
    let head = world.trail.head(&acme()).await.unwrap();
    let (_, others) = five_acts().await;
    assert!(checked(&others, &[]).is_ok());
    let fault = checked(&others, std::slice::from_ref(&head)).unwrap_err();
    assert!(matches!(fault, TrailFault::HeadUnknown { number: 3 }));
    world.acts(&acme(), &["f"]).await;
    world.trail.chain_all().await.unwrap();
    let longer = world.export(&acme()).await;
    assert!(checked(&longer, std::slice::from_ref(&head)).is_ok());
    let newer = world.trail.head(&acme()).await.unwrap();
    let fault = checked(&lines, std::slice::from_ref(&newer)).unwrap_err();
    assert!(matches!(fault, TrailFault::HeadUnknown { number: 4 }));
}

#[tokio::test]
async fn an_entry_that_was_deleted_from_the_store_is_missed() {
    let (world, _) = five_acts().await;
    let found = world
        .trail
        .list(&acme(), &AuditFilter::default())
        .await
        .unwrap();
    let id = &found.items[0].id;
    let gone = Batch::new(TenantId::instance()).delete("audit_entry", id);
    world.store.commit(gone).await.unwrap();
    let fault = checked(&world.export(&acme()).await, &[]).unwrap_err();
    assert!(matches!(
        fault,
        TrailFault::EntriesMissing { number: 3, .. }
    ));
}

#[tokio::test]
async fn a_search_finds_acts_by_object_actor_and_time() {
    let (world, _) = five_acts().await;
    let found = async |filter: AuditFilter| {
        let listed = world.trail.list(&acme(), &filter).await.unwrap();
        listed.items.len()
    };
    let all = AuditFilter::default;
    assert_eq!(found(all()).await, 5);
    assert_eq!(
        found(AuditFilter {
            object: Some("c".to_owned()),
            ..all()
        })
        .await,
        1
    );
    assert_eq!(
        found(AuditFilter {
            actor: Some("clerk@acme.example".to_owned()),
            ..all()
        })
        .await,
        5
    );
    assert_eq!(
        found(AuditFilter {
            actor: Some("other".to_owned()),
            ..all()
        })
        .await,
        0
    );
    assert_eq!(
        found(AuditFilter {
            act: Some("offers".to_owned()),
            ..all()
        })
        .await,
        5
    );
    assert_eq!(
        found(AuditFilter {
            since: Some("2999".to_owned()),
            ..all()
        })
        .await,
        0
    );
    assert_eq!(
        found(AuditFilter {
            until: Some("2999".to_owned()),
            ..all()
        })
        .await,
        5
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_change_of_a_byte_goes_unnoticed(at in any::<prop::sample::Index>(), to in any::<u8>()) {
        static TRAIL: std::sync::OnceLock<(Vec<u8>, ChainHead)> = std::sync::OnceLock::new();
        let (text, head) = TRAIL.get_or_init(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(async {
                let (world, lines) = five_acts().await;
                let head = world.trail.head(&acme()).await.unwrap();
                (format!("{}\n", lines.join("\n")).into_bytes(), head)
            })
        });
        let mut changed = text.clone();
        let at = at.index(changed.len());
        prop_assume!(changed[at] != to);
        changed[at] = to;
        let verified = verify(&changed[..], std::slice::from_ref(head));
        // White space around the objects is no part of them.
        let same = |text: &[u8]| -> Option<Vec<serde_json::Value>> {
            let lines = std::str::from_utf8(text).ok()?.lines();
            lines.map(|line| serde_json::from_str(line).ok()).collect()
        };
        prop_assert!(verified.is_err() || same(&changed) == same(text), "{:?}", verified);
    }
}
