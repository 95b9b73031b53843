//! Revocation: proofs before and after it, and what is left of it when the ledger is cut off.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use selfsame_anoncreds_wallet::revocation::TailsName;
use selfsame_anoncreds_wallet::{CredentialInfo, IssuanceState, PlacesByRegistry};
use selfsame_driver::clock::Clock;
use selfsame_store::Batch;
use serde_json::{Value, json};

use crate::world::{FakeRegistry, Party, adult};

struct Clinic {
    registry: Arc<FakeRegistry>,
    issuer: Arc<Party>,
    holder: Party,
    verifier: Party,
    cred_def_id: String,
}

impl Clinic {
    async fn new() -> Self {
        let registry = FakeRegistry::new(Clock::default());
        let issuer = Party::new(&registry, "clinic").await;
        let cred_def_id = issuer.defines(&["name", "born"], Some(50)).await;
        Self {
            holder: Party::new(&registry, "alice").await,
            verifier: Party::new(&registry, "bank").await,
            issuer: Arc::new(issuer),
            cred_def_id,
            registry,
        }
    }

    async fn issued(&self, name: &str) -> CredentialInfo {
        let values = [("name", name), ("born", "1990")];
        let id = self
            .issuer
            .issues(&self.holder, &self.cred_def_id, &values)
            .await;
        let info = self.holder.anoncreds.credential(&self.holder.tenant, &id);
        info.await.unwrap()
    }

    async fn revoke(&self, info: &CredentialInfo, publish: bool) -> selfsame_driver::Result<()> {
        let (registry, index) = place(info);
        let revoking = self
            .issuer
            .anoncreds
            .revoke(&self.issuer.tenant, &registry, index, publish);
        revoking.await
    }

    /// A request that all credentials of this name answer, which must not be revoked in the interval.
    fn request(&self, name: &str, interval: Value) -> Value {
        let mut request = adult(&self.cred_def_id);
        request["requested_attributes"]["who"]["restrictions"] =
            json!([{"cred_def_id": self.cred_def_id, "attr::name::value": name}]);
        request["requested_predicates"] = json!({});
        request["non_revoked"] = interval;
        request
    }

    fn now(&self) -> u64 {
        self.registry.clock.now().0
    }

    /// Whether this agent and the ledger agree on a registry.
    async fn agrees(&self, rev_reg_id: &str) -> bool {
        let anoncreds = &self.issuer.anoncreds;
        let found = anoncreds.registry_difference(&self.issuer.tenant, rev_reg_id);
        found.await.unwrap().is_none()
    }

    /// Waits until a change is on its way to the ledger: a registry gets at most one entry in a second.
    async fn calls_the_ledger(&self, rev_reg_id: &str) {
        let (anoncreds, tenant) = (&self.issuer.anoncreds, &self.issuer.tenant);
        for _ in 0..2_400 {
            let difference = anoncreds.registry_difference(tenant, rev_reg_id).await;
            let difference = difference.unwrap();
            if difference.is_some_and(|found| found.waiting_since.is_some()) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("the ledger is not called");
    }

    /// Waits until they agree; the pauses between attempts are skipped.
    async fn comes_to_agree(&self, rev_reg_id: &str) {
        for _ in 0..2_400 {
            if self.agrees(rev_reg_id).await {
                return;
            }
            self.registry.clock.advance(5);
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("they do not come to agree");
    }
}

fn place(info: &CredentialInfo) -> (String, u32) {
    let index = info.cred_rev_id.as_deref().unwrap();
    (info.rev_reg_id.clone().unwrap(), index.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_credential_proves_no_more_and_proved_before() {
    let clinic = Clinic::new().await;
    let alice = clinic.issued("Alice").await;
    clinic.issued("Bob").await;
    let before = clinic.now();
    let asked = clinic.request("Alice", json!({"from": before, "to": before}));
    let earlier = clinic.holder.answers(&asked).await.unwrap();
    let (is_valid, messages) = clinic.verifier.finds(&asked, &earlier).await;
    assert!(is_valid, "{messages:?}");
    // Without the part for revocation it is refused.
    let mut bare = clinic.request("Alice", Value::Null);
    bare.as_object_mut().unwrap().remove("non_revoked");
    let unproven = clinic.holder.answers(&bare).await.unwrap();
    assert!(clinic.verifier.finds(&bare, &unproven).await.0);
    assert!(!clinic.verifier.finds(&asked, &unproven).await.0);

    clinic.registry.clock.advance(1_000);
    clinic.revoke(&alice, true).await.unwrap();
    clinic.revoke(&alice, true).await.unwrap();
    let (rev_reg_id, index) = place(&alice);
    assert_eq!(
        clinic.registry.revocations(&rev_reg_id),
        [vec![], vec![index]]
    );
    let issuance = clinic
        .issuer
        .anoncreds
        .issuance_at(&clinic.issuer.tenant, &rev_reg_id, index);
    assert_eq!(issuance.await.unwrap().state, IssuanceState::Revoked);

    clinic.registry.clock.advance(1_000);
    let now = clinic.now();
    let now = json!({"from": now, "to": now});
    let refused = clinic
        .holder
        .answers(&clinic.request("Alice", now.clone()))
        .await;
    assert_eq!(refused.unwrap_err().reason.id(), "anoncreds-refused");
    // A proof of the earlier interval verifies, made before or now.
    assert!(clinic.verifier.finds(&asked, &earlier).await.0);
    let later = clinic.holder.answers(&asked).await.unwrap();
    assert!(clinic.verifier.finds(&asked, &later).await.0);
    // The earlier proof says nothing about now.
    let (is_valid, messages) = clinic
        .verifier
        .finds(&clinic.request("Alice", now.clone()), &earlier)
        .await;
    assert!(!is_valid);
    assert!(
        messages.iter().any(|one| one == "TS_OUT_NRI::who"),
        "{messages:?}"
    );
    // The others still prove, although the list is older than the interval.
    let bob = clinic.request("Bob", now);
    let presentation = clinic.holder.answers(&bob).await.unwrap();
    let (is_valid, messages) = clinic.verifier.finds(&bob, &presentation).await;
    assert!(is_valid, "{messages:?}");
    let mut ahead = presentation.clone();
    ahead["identifiers"][0]["timestamp"] = json!(clinic.now() + 10_000);
    assert!(!clinic.verifier.finds(&bob, &ahead).await.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_revocations_are_written_together_and_the_others_still_prove() {
    let clinic = Arc::new(Clinic::new().await);
    let mut issued = Vec::new();
    for number in 0..21 {
        issued.push(clinic.issued(&format!("P{number}")).await);
    }
    let kept = issued.pop().unwrap();
    let (rev_reg_id, _) = place(&kept);
    let revoking = issued.iter().map(|info| clinic.revoke(info, true));
    for revoked in futures_util::future::join_all(revoking).await {
        revoked.unwrap();
    }
    let entries = clinic.registry.revocations(&rev_reg_id);
    let all: BTreeSet<u32> = entries.iter().flatten().copied().collect();
    assert_eq!(all, issued.iter().map(|info| place(info).1).collect());
    assert!(entries.len() <= 10, "{} entries", entries.len());
    assert!(clinic.agrees(&rev_reg_id).await);
    clinic.registry.clock.advance(100);
    let now = json!({"to": clinic.now()});
    let request = clinic.request("P20", now);
    let presentation = clinic.holder.answers(&request).await.unwrap();
    assert!(clinic.verifier.finds(&request, &presentation).await.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proof_made_between_two_revocations_that_follow_at_once_verifies() {
    let clinic = Clinic::new().await;
    let mut issued = Vec::new();
    for number in 0..5 {
        issued.push(clinic.issued(&format!("P{number}")).await);
    }
    let request = clinic.request("P4", json!({"to": clinic.now() + 60}));
    let mut presentations = Vec::new();
    for revoked in &issued[..4] {
        clinic.revoke(revoked, true).await.unwrap();
        presentations.push(clinic.holder.answers(&request).await.unwrap());
    }
    for presentation in presentations {
        let (is_valid, messages) = clinic.verifier.finds(&request, &presentation).await;
        assert!(is_valid, "{messages:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pending_revocations_wait_for_a_word() {
    let clinic = Clinic::new().await;
    let (alice, bob, carol) = (
        clinic.issued("Alice").await,
        clinic.issued("Bob").await,
        clinic.issued("Carol").await,
    );
    for info in [&alice, &bob, &carol] {
        clinic.revoke(info, false).await.unwrap();
    }
    let (rev_reg_id, index) = place(&alice);
    let (anoncreds, tenant) = (&clinic.issuer.anoncreds, &clinic.issuer.tenant);
    assert_eq!(clinic.registry.revocations(&rev_reg_id).len(), 1);
    let issuance = anoncreds
        .issuance_at(tenant, &rev_reg_id, index)
        .await
        .unwrap();
    assert_eq!(issuance.state, IssuanceState::Pending);

    let only = PlacesByRegistry::from([(rev_reg_id.clone(), BTreeSet::from([index]))]);
    assert_eq!(
        anoncreds.publish_revocations(tenant, &only).await.unwrap(),
        only
    );
    assert_eq!(
        clinic.registry.revocations(&rev_reg_id),
        [vec![], vec![index]]
    );
    let bobs = PlacesByRegistry::from([(rev_reg_id.clone(), BTreeSet::from([place(&bob).1]))]);
    let left = anoncreds.clear_pending(tenant, &bobs).await.unwrap();
    assert_eq!(left[&rev_reg_id], BTreeSet::from([place(&carol).1]));
    let all = PlacesByRegistry::new();
    assert_eq!(
        anoncreds.publish_revocations(tenant, &all).await.unwrap(),
        left
    );
    assert!(
        anoncreds
            .publish_revocations(tenant, &all)
            .await
            .unwrap()
            .is_empty()
    );
    let shown = anoncreds.registry_shown(tenant, &rev_reg_id).await.unwrap();
    assert_eq!(shown.revoked, BTreeSet::from([index, place(&carol).1]));
    assert!(shown.pending.is_empty() && shown.writing.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ledger_that_is_cut_off_in_the_middle_ends_in_the_same_state() {
    for loses_answers in [false, true] {
        let clinic = Arc::new(Clinic::new().await);
        let (alice, bob) = (clinic.issued("Alice").await, clinic.issued("Bob").await);
        let (rev_reg_id, index) = place(&alice);
        let cut = match loses_answers {
            true => &clinic.registry.loses_answers,
            false => &clinic.registry.is_away,
        };
        cut.store(true, Ordering::SeqCst);
        let revoking = clinic.revoke(&alice, true);
        let late = tokio::time::timeout(Duration::from_millis(500), revoking).await;
        assert!(late.is_err(), "it waits for the ledger");
        clinic.calls_the_ledger(&rev_reg_id).await;
        // Another one comes meanwhile.
        let revoking = clinic.revoke(&bob, true);
        let late = tokio::time::timeout(Duration::from_millis(300), revoking).await;
        assert!(late.is_err());
        let (anoncreds, tenant) = (&clinic.issuer.anoncreds, &clinic.issuer.tenant);
        let difference = async || {
            let found = anoncreds.registry_difference(tenant, &rev_reg_id).await;
            found.unwrap().unwrap()
        };
        // The entry arrives in its time.
        for _ in 0..2_400 {
            if !loses_answers || !difference().await.only_ledger.is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        let difference = difference().await;
        assert!(difference.waiting_since.is_some());
        match loses_answers {
            true => assert_eq!(difference.only_ledger, BTreeSet::from([index])),
            false => assert!(difference.unwritten.contains(&index)),
        }
        cut.store(false, Ordering::SeqCst);
        clinic.comes_to_agree(&rev_reg_id).await;
        let entries = clinic.registry.revocations(&rev_reg_id);
        let bobs = place(&bob).1;
        assert_eq!(entries, [vec![], vec![index], vec![bobs]]);
        let shown = anoncreds.registry_shown(tenant, &rev_reg_id).await.unwrap();
        assert_eq!(shown.revoked, BTreeSet::from([index, bobs]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_copy_of_the_records_learns_what_the_ledger_has() {
    let clinic = Clinic::new().await;
    let (alice, bob) = (clinic.issued("Alice").await, clinic.issued("Bob").await);
    let (rev_reg_id, index) = place(&alice);
    let (store, tenant) = (&clinic.issuer.shared.store, &clinic.issuer.tenant);
    let page = selfsame_store::Page::first(10);
    let before = store
        .list(tenant, "anoncreds_registry", &page)
        .await
        .unwrap();
    clinic.revoke(&alice, true).await.unwrap();
    let mut batch = Batch::new(tenant.clone());
    for record in before {
        let now = store.read(tenant, "anoncreds_registry", &record.id).await;
        let now = now.unwrap().unwrap();
        batch = batch.update("anoncreds_registry", &now, record.value);
    }
    store.commit(batch).await.unwrap();
    let anoncreds = &clinic.issuer.anoncreds;
    let difference = anoncreds
        .registry_difference(tenant, &rev_reg_id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(difference.only_ledger, BTreeSet::from([index]));

    clinic.revoke(&bob, true).await.unwrap();
    clinic.comes_to_agree(&rev_reg_id).await;
    let shown = anoncreds.registry_shown(tenant, &rev_reg_id).await.unwrap();
    assert_eq!(shown.revoked, BTreeSet::from([index, place(&bob).1]));
    assert_eq!(clinic.registry.revocations(&rev_reg_id).len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tails_file_that_is_another_one_is_refused_and_none_means_no_credential() {
    let clinic = Clinic::new().await;
    let alice = clinic.issued("Alice").await;
    let (rev_reg_id, index) = place(&alice);
    let tails = clinic
        .issuer
        .anoncreds
        .tails(TailsName::Registry(&rev_reg_id));
    let (hash, tails) = tails.await.unwrap().unwrap();
    let mut other = tails.to_vec();
    *other.last_mut().unwrap() ^= 1;
    let bank = &clinic.verifier.anoncreds;
    let refused = bank.keep_tails(&rev_reg_id, &other).await.unwrap_err();
    assert_eq!(refused.reason.id(), "anoncreds-refused");
    let short = bank
        .keep_tails(&rev_reg_id, &tails[..100])
        .await
        .unwrap_err();
    assert_eq!(short.reason.id(), "anoncreds-refused");
    let unknown = bank.keep_tails("did:x:y", &tails).await.unwrap_err();
    assert_eq!(unknown.reason.id(), "anoncreds-object-unknown");
    assert!(
        bank.tails(TailsName::Registry(&rev_reg_id))
            .await
            .unwrap()
            .is_none()
    );
    assert_eq!(bank.keep_tails(&rev_reg_id, &tails).await.unwrap(), hash);
    let kept = bank.tails(TailsName::Hash(&hash)).await.unwrap();
    assert_eq!(kept, Some((hash.clone(), tails.clone())));
    let alices = &clinic.holder.anoncreds;
    let refused = alices.keep_hashed_tails(&hash, &other).await.unwrap_err();
    assert_eq!(refused.reason.id(), "anoncreds-tails-other");
    alices.keep_hashed_tails(&hash, &tails).await.unwrap();

    // Another's registry, and places that it does not have.
    let foreign = clinic
        .holder
        .anoncreds
        .revoke(&clinic.holder.tenant, &rev_reg_id, index, true);
    assert_eq!(
        foreign.await.unwrap_err().reason.id(),
        "anoncreds-object-absent"
    );
    for absent in [0, 50, u32::MAX] {
        let refused =
            clinic
                .issuer
                .anoncreds
                .revoke(&clinic.issuer.tenant, &rev_reg_id, absent, true);
        assert_eq!(
            refused.await.unwrap_err().reason.id(),
            "anoncreds-place-absent"
        );
    }
}
