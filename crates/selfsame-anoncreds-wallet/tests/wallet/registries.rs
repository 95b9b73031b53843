//! Places in revocation registries.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::StreamExt as _;
use selfsame_anoncreds_wallet::issue::NewIssuance;
use selfsame_anoncreds_wallet::{DefinitionFilter, RegistryStage};
use selfsame_driver::clock::Clock;
use selfsame_driver::paging::Paging;

use crate::world::{FakeRegistry, Party};

/// Issues as often as asked, so many at a time, and returns the places that were given out.
async fn issue(
    issuer: &Party,
    cred_def_id: &str,
    count: u32,
    at_once: usize,
) -> Vec<(String, u32)> {
    let of = DefinitionFilter {
        cred_def_id: Some(cred_def_id.to_owned()),
        ..DefinitionFilter::default()
    };
    let offer = issuer.offers(&of).await;
    let requested = issuer.anoncreds.request(&issuer.tenant, &offer, None);
    let request = requested.await.unwrap().request;
    let (offer, request) = (&offer, &request);
    let each = futures_util::stream::iter(0..count).map(|number| async move {
        let exchange = format!("exchange {number}");
        let issuance = NewIssuance {
            offer,
            request,
            values: vec![("name".to_owned(), number.to_string())],
            exchange: Some(&exchange),
        };
        let issued = issuer
            .anoncreds
            .issue(&issuer.tenant, &issuance)
            .await
            .unwrap();
        issuer.shared.store.commit(issued.writes).await.unwrap();
        (issued.rev_reg_id.unwrap(), issued.cred_rev_id.unwrap())
    });
    each.buffer_unordered(at_once).collect().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registry_that_fills_makes_room_for_the_next_and_no_issuance_fails() {
    let registry = FakeRegistry::new(Clock::default());
    let issuer = Party::new(&registry, "clinic").await;
    let cred_def_id = issuer.defines(&["name"], Some(10)).await;
    let taken = issue(&issuer, &cred_def_id, 500, 20).await;
    assert_eq!(taken.len(), 500);
    let unique: BTreeSet<_> = taken.iter().collect();
    assert_eq!(unique.len(), 500);
    assert!(taken.iter().all(|(_, index)| (1..10).contains(index)));
    let (anoncreds, tenant) = (&issuer.anoncreds, &issuer.tenant);
    let registries = anoncreds
        .registries(tenant, Some(&cred_def_id))
        .await
        .unwrap();
    // Nine places of each are given out.
    let full = registries
        .iter()
        .filter(|one| one.stage == RegistryStage::Full);
    assert!(full.count() >= 500 / 9);
    let used: BTreeSet<_> = taken.iter().map(|(id, _)| id).collect();
    assert_eq!(
        used.len(),
        500_usize.div_ceil(9),
        "a registry is used up before the next"
    );
    let active = anoncreds
        .active_registry(tenant, &cred_def_id)
        .await
        .unwrap();
    assert_eq!(active.size, 10);
    // Each registry was published with its first entry, and one is in reserve.
    for one in registries
        .iter()
        .filter(|one| one.stage != RegistryStage::Preparing)
    {
        assert!(one.tails_hash.is_some());
    }

    let one = anoncreds.issuance_of(tenant, "exchange 321").await.unwrap();
    assert!(taken.contains(&(one.rev_reg_id.clone(), one.cred_rev_id)));
    let same = anoncreds.issuance_at(tenant, &one.rev_reg_id, one.cred_rev_id);
    assert_eq!(same.await.unwrap(), one);
    let paging = Paging::longest();
    let all = anoncreds.issuances(tenant, &one.rev_reg_id, &paging).await;
    assert_eq!(all.unwrap().items.len(), 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_parallel_issuances_have_fifty_places() {
    let registry = FakeRegistry::new(Clock::default());
    let issuer = Party::new(&registry, "clinic").await;
    let cred_def_id = issuer.defines(&["name"], Some(100)).await;
    let taken = issue(&issuer, &cred_def_id, 50, 50).await;
    let places: BTreeSet<u32> = taken.iter().map(|(_, index)| *index).collect();
    assert_eq!(places.len(), 50);
    assert!(taken.iter().all(|(id, _)| *id == taken[0].0));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_on_one_store_give_out_no_place_twice() {
    let registry = FakeRegistry::new(Clock::default());
    let issuer = Arc::new(Party::new(&registry, "clinic").await);
    let cred_def_id = issuer.defines(&["name"], Some(10)).await;
    let mut other = Party::on(&registry, "clinic", issuer.shared.store.clone()).await;
    other.author = issuer.author.clone();
    let (one, two) = tokio::join!(
        issue(&issuer, &cred_def_id, 30, 5),
        issue(&other, &cred_def_id, 30, 5),
    );
    let unique: BTreeSet<_> = one.iter().chain(&two).collect();
    assert_eq!(unique.len(), 60);
    // Neither wastes the registries of the other.
    let used: BTreeSet<_> = one.iter().chain(&two).map(|(id, _)| id).collect();
    assert_eq!(used.len(), 60_usize.div_ceil(9));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotated_registry_gives_out_no_more_places() {
    let registry = FakeRegistry::new(Clock::default());
    let issuer = Party::new(&registry, "clinic").await;
    let cred_def_id = issuer.defines(&["name"], Some(100)).await;
    let before = issue(&issuer, &cred_def_id, 1, 1).await;
    let rotated = issuer
        .anoncreds
        .rotate_registries(&issuer.tenant, &cred_def_id);
    rotated.await.unwrap();
    let after = issue(&issuer, &cred_def_id, 1, 1).await;
    assert_ne!(before[0].0, after[0].0);
    let old = issuer
        .anoncreds
        .registry_shown(&issuer.tenant, &before[0].0);
    assert_eq!(old.await.unwrap().stage, RegistryStage::Decommissioned);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registry_that_the_ledger_refused_is_tried_again_by_the_next_issuance() {
    let registry = FakeRegistry::new(Clock::default());
    registry.refuses_registries.store(2, Ordering::SeqCst);
    let issuer = Party::new(&registry, "clinic").await;
    let cred_def_id = issuer.defines(&["name"], Some(20)).await;
    let (anoncreds, tenant) = (&issuer.anoncreds, &issuer.tenant);
    for _ in 0..2_400 {
        let all = anoncreds
            .registries(tenant, Some(&cred_def_id))
            .await
            .unwrap();
        let failed = all
            .iter()
            .filter(|one| matches!(one.stage, RegistryStage::Failed(_)));
        if failed.count() == 2 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    assert_eq!(registry.refuses_registries.load(Ordering::SeqCst), 0);
    assert_eq!(issue(&issuer, &cred_def_id, 3, 3).await.len(), 3);
}
