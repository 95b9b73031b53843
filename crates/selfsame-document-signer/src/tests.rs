use std::sync::Arc;

use selfsame_credential::mdoc::certificate::DocumentSigner;
use selfsame_crypto::KeyHandle;
use selfsame_crypto::seal::SealingKey;
use selfsame_store::{Memory, Vault};

use super::*;

const FACTS: SignerFacts<'_> = SignerFacts {
    country: "UT",
    title: "Utopia",
    contact: "https://utopia.example/",
};

async fn store() -> Store {
    let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
    Store::open(Arc::new(Memory::new()), vault).await.unwrap()
}

/// The signers of one organisation, as a process of its own has them.
fn process(store: &Store, clock: &Clock) -> DocumentSigners {
    let keys = Keys::new(store.clone());
    DocumentSigners::new(store.clone(), keys, clock.clone(), TenantId::instance())
}

fn leaf(certified: &CertifiedSigner) -> &[u8] {
    &certified.signer.x5c[0]
}

#[tokio::test]
async fn a_signer_is_made_once_below_an_authority_and_follows_its_profile() {
    let (store, clock) = (store().await, Clock::default());
    let (one, two) = (process(&store, &clock), process(&store, &clock));
    assert_eq!(one.authority().await.unwrap(), None);
    let until = clock.now().plus(365 * 86_400);
    let (first, second) = tokio::join!(one.signer(&FACTS, until), two.signer(&FACTS, until));
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_eq!(leaf(&first), leaf(&second));
    let authority = two.authority().await.unwrap().unwrap();
    for process in [&one, &two] {
        assert_eq!(process.latest_authority().as_ref(), Some(&authority));
    }
    let found = DocumentSigner::find(leaf(&first), &[authority], clock.now()).unwrap();
    assert_eq!(found.country.as_deref(), Some("UT"));
    assert_eq!(KeyHandle::of(&found.key), first.signer.key);
    let keys = Keys::new(store);
    let tenant = TenantId::instance();
    let signature = keys.sign(&tenant, &first.signer.key, b"x").await.unwrap();
    assert!(
        found
            .key
            .verify(first.signer.algorithm, b"x", &signature)
            .is_ok()
    );
}

#[tokio::test]
async fn a_signer_is_renewed_before_a_document_would_outlive_it_and_the_authority_stays() {
    let (store, clock) = (store().await, Clock::default());
    let signers = process(&store, &clock);
    let first = signers.signer(&FACTS, clock.now()).await.unwrap();
    let authority = signers.authority().await.unwrap();
    let within = clock.now().plus(300 * 86_400);
    let same = signers.signer(&FACTS, within).await.unwrap();
    assert_eq!(leaf(&same), leaf(&first));
    clock.advance(200 * 86_400);
    let later = clock.now().plus(300 * 86_400);
    let next = signers.signer(&FACTS, later).await.unwrap();
    assert_ne!(leaf(&next), leaf(&first));
    assert!(next.not_after >= later);
    assert_eq!(signers.authority().await.unwrap(), authority);
    let forever = signers.signer(&FACTS, UnixTime(u64::MAX)).await.unwrap();
    assert!(forever.not_after <= clock.now().plus(SIGNER_SECONDS));
    let found = DocumentSigner::find(leaf(&next), &[authority.unwrap()], clock.now());
    assert!(found.is_ok());
}

#[tokio::test]
async fn another_country_has_another_authority_and_a_country_that_is_none_has_no_certificate() {
    let (store, clock) = (store().await, Clock::default());
    let signers = process(&store, &clock);
    signers.signer(&FACTS, clock.now()).await.unwrap();
    let before = signers.authority().await.unwrap();
    let moved = SignerFacts {
        country: "CH",
        ..FACTS
    };
    signers.signer(&moved, clock.now()).await.unwrap();
    assert_ne!(signers.authority().await.unwrap(), before);
    let nowhere = SignerFacts {
        country: "Nowhere",
        ..FACTS
    };
    let refused = signers.signer(&nowhere, clock.now()).await.unwrap_err();
    assert_eq!(refused.reason.id(), "certificate-not-made");
}
