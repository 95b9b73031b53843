//! The DIDs that credentials name: one that any verifier can resolve, and the registry's for single-use credentials.

use selfsame_core::config::NamedDid;
use selfsame_credential::Format;
use selfsame_driver::paging::Paging;
use selfsame_openid::view::issuer::CredentialStatus;
use selfsame_wallet::view::Person;

use crate::network::{Member, clinic_naming};
use crate::world::{accept, new_offer, person};

/// The card that a person receives for a type, and its id in the issuer's register.
async fn taken(clinic: &Member, person: &Person, offered: (&str, Format)) -> (String, String) {
    let (kind, format) = offered;
    let issuer = clinic.app.main().issuer().unwrap();
    let new = new_offer(kind, format.as_str());
    let accepting = accept(&issuer.create_offer(&new).await.unwrap());
    let wallet = clinic.app.wallet().unwrap();
    let cards = wallet.accept_offer(person, &accepting).await.unwrap();
    let issued = issuer.issued(None, &Paging::default()).await.unwrap();
    (cards[0].id.clone(), issued.items[0].id.clone())
}

/// Whether a credential of this type and format is single-use.
fn is_spent_in_the_registry(kind: &str, format: Format) -> bool {
    kind == "prescription" && format == Format::SdJwtVc
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_for_one_use_names_the_registrys_did_and_all_else_one_that_anybody_resolves() {
    let clinic = clinic_naming(NamedDid::Portable).await;
    assert!(!clinic.app.issues_to_few());
    let person = person(&clinic.app).await;
    let (issuer, wallet) = (
        clinic.app.main().issuer().unwrap(),
        clinic.app.wallet().unwrap(),
    );
    let names = issuer.identity().names();
    assert_eq!(clinic.app.status().await.unwrap().issuer_dids, names);
    for format in Format::of_any_type() {
        for kind in ["immunization", "prescription"] {
            let (card, issued) = taken(&clinic, &person, (kind, format)).await;
            let shown = wallet.card(&person, &card).await.unwrap();
            let is_spent = is_spent_in_the_registry(kind, format);
            let method = if is_spent {
                "did:selfsame:"
            } else {
                "did:jwk:"
            };
            let named = &shown.summary.issuer;
            assert!(
                named.starts_with(method) && names.contains(named),
                "{named}"
            );
            assert_eq!(shown.status, "valid", "{kind} {format:?}");

            let entry = issuer.issued_credential(&issued).await.unwrap();
            assert_eq!(entry.status_list.ends_with("/registry"), is_spent);
            let revoked = issuer.set_status(&issued, CredentialStatus::Revoked).await;
            revoked.unwrap();
            clinic.app.clock().advance(600);
            let shown = wallet.card(&person, &card).await.unwrap();
            assert_eq!(shown.status, "revoked", "{kind} {format:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issuer_that_keeps_to_its_own_did_issues_to_few() {
    let clinic = clinic_naming(NamedDid::Own).await;
    assert!(clinic.app.issues_to_few());
    assert!(clinic.app.status().await.unwrap().issues_to_few);
    let person = person(&clinic.app).await;
    let (issuer, wallet) = (
        clinic.app.main().issuer().unwrap(),
        clinic.app.wallet().unwrap(),
    );
    assert_eq!(
        issuer.identity().names(),
        [issuer.identity().did().as_str()]
    );
    for kind in ["immunization", "prescription"] {
        let (card, issued) = taken(&clinic, &person, (kind, Format::SdJwtVc)).await;
        let shown = wallet.card(&person, &card).await.unwrap();
        assert_eq!(shown.summary.issuer, issuer.identity().did().as_str());
        assert_eq!(shown.status, "valid");
        let entry = issuer.issued_credential(&issued).await.unwrap();
        assert!(
            entry.status_list.ends_with("/status/0"),
            "{}",
            entry.status_list
        );
    }
}
