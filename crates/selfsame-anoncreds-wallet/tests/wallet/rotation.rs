//! A definition whose key is replaced.

use selfsame_anoncreds_wallet::DefinitionFilter;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::clock::Clock;
use serde_json::json;

use crate::world::{FakeRegistry, Party, adult};

const VALUES: [(&str, &str); 2] = [("name", "Alice"), ("born", "1990")];

#[tokio::test(flavor = "multi_thread")]
async fn a_successor_takes_over_and_the_old_key_is_refused_from_its_time_on() {
    let registry = FakeRegistry::new(Clock::default());
    let issuer = Party::new(&registry, "clinic").await;
    let holder = Party::new(&registry, "alice").await;
    let verifier = Party::new(&registry, "bank").await;
    let old = issuer.defines(&["name", "born"], Some(20)).await;
    issuer.issues(&holder, &old, &VALUES).await;
    let request = adult(&old);
    let presentation = holder.answers(&request).await.unwrap();
    let of = DefinitionFilter {
        cred_def_id: Some(old.clone()),
        ..DefinitionFilter::default()
    };
    let outstanding = issuer.offers(&of).await;

    let until = UnixTime(registry.clock.now().0 + 1_000);
    let rotating = issuer
        .anoncreds
        .rotate_definition(&issuer.author, &old, until);
    let next = rotating.await.unwrap();
    assert_eq!(next.tag, "default.2");
    assert_ne!(next.id, old);
    let again = issuer
        .anoncreds
        .rotate_definition(&issuer.author, &old, until);
    assert_eq!(again.await.unwrap().id, next.id);
    let shown = issuer.anoncreds.credential_definition(&old).await.unwrap();
    assert_eq!(shown.succeeded_by, Some(next.id.clone()));
    assert_eq!(shown.valid_until, Some(until.0));

    // Offers are for the successor, whether they name the old one or none.
    for of in [of.clone(), DefinitionFilter::default()] {
        let offer = issuer.offers(&of).await;
        let offer: serde_json::Value = serde_json::from_slice(&offer).unwrap();
        assert_eq!(offer["cred_def_id"], json!(next.id));
    }
    let id = issuer.issues(&holder, &old, &VALUES).await;
    let info = holder
        .anoncreds
        .credential(&holder.tenant, &id)
        .await
        .unwrap();
    assert_eq!(info.cred_def_id, next.id);
    // Until then the old key holds.
    assert!(verifier.finds(&request, &presentation).await.0);
    let taken = holder.anoncreds.request(&holder.tenant, &outstanding, None);
    assert!(taken.await.is_ok());

    registry.clock.advance(1_000);
    let (is_valid, messages) = verifier.finds(&request, &presentation).await;
    assert!(!is_valid);
    assert!(
        messages[0].starts_with("VERIFY_ERROR::definition"),
        "{messages:?}"
    );
    let late = holder.anoncreds.request(&holder.tenant, &outstanding, None);
    let late = late.await.err().unwrap();
    assert_eq!(late.reason.id(), "anoncreds-definition-expired");
    let renewed = adult(&next.id);
    let presentation = holder.answers(&renewed).await.unwrap();
    assert!(verifier.finds(&renewed, &presentation).await.0);

    let third = issuer
        .anoncreds
        .rotate_definition(&issuer.author, &next.id, until);
    assert_eq!(third.await.unwrap().tag, "default.3");
    let foreign = holder
        .anoncreds
        .rotate_definition(&holder.author, &old, until);
    assert_eq!(
        foreign.await.unwrap_err().reason.id(),
        "anoncreds-object-absent"
    );
}
