//! Presentations and credentials that are not what they say.

use selfsame_anoncreds_wallet::issue::NewIssuance;
use selfsame_anoncreds_wallet::{ChosenCredentials, DefinitionFilter, ShownPredicate};
use selfsame_driver::clock::Clock;
use serde_json::{Value, json};

use crate::world::{FakeRegistry, Party, adult, bytes};

const VALUES: [(&str, &str); 2] = [("name", "Alice"), ("born", "1990")];

#[tokio::test(flavor = "multi_thread")]
async fn a_presentation_that_differs_from_its_request_is_not_valid() {
    let registry = FakeRegistry::new(Clock::default());
    let issuer = Party::new(&registry, "clinic").await;
    let holder = Party::new(&registry, "alice").await;
    let verifier = Party::new(&registry, "bank").await;
    let cred_def_id = issuer.defines(&["name", "born"], None).await;
    issuer.issues(&holder, &cred_def_id, &VALUES).await;
    let request = adult(&cred_def_id);
    let honest = holder.answers(&request).await.unwrap();
    assert!(verifier.finds(&request, &honest).await.0);

    let altered = |change: &dyn Fn(&mut Value)| {
        let mut altered = honest.clone();
        change(&mut altered);
        altered
    };
    let cases = [
        (
            "an altered value",
            altered(&|made| {
                made["requested_proof"]["revealed_attrs"]["who"]["raw"] = json!("Mallory");
            }),
        ),
        (
            "an altered value with its encoding",
            altered(&|made| {
                let shown = &mut made["requested_proof"]["revealed_attrs"]["who"];
                shown["raw"] = json!("7");
                shown["encoded"] = json!("7");
            }),
        ),
        (
            "a missing predicate",
            altered(&|made| {
                made["requested_proof"]["predicates"] = json!({});
            }),
        ),
        (
            "a swapped referent",
            altered(&|made| {
                let attrs = made["requested_proof"]["revealed_attrs"].take();
                made["requested_proof"]["revealed_attrs"] = json!({"other": attrs["who"]});
            }),
        ),
        (
            "a definition that the registry does not have",
            altered(&|made| {
                let other = format!("{cred_def_id}x");
                made["identifiers"][0]["cred_def_id"] = json!(other);
            }),
        ),
        ("no presentation", json!({"proof": 1})),
    ];
    for (what, presentation) in cases {
        let (is_valid, messages) = verifier.finds(&request, &presentation).await;
        assert!(!is_valid && messages.len() == 1, "{what}: {messages:?}");
        let code = messages[0].split("::").next().unwrap();
        assert!(
            ["VALUE_ERROR", "VERIFY_ERROR"].contains(&code),
            "{what}: {messages:?}"
        );
    }
    no_other_request_fits(&verifier, &request, &honest).await;
}

/// A presentation answers no request but its own.
async fn no_other_request_fits(verifier: &Party, request: &Value, honest: &Value) {
    for (what, change) in [
        ("another nonce", ("/nonce", json!("99"))),
        (
            "another bound",
            ("/requested_predicates/age/p_value", json!(2000)),
        ),
        (
            "another attribute",
            ("/requested_attributes/who/name", json!("born")),
        ),
        (
            "another issuer",
            (
                "/requested_attributes/who/restrictions/0/cred_def_id",
                json!("did:x:y"),
            ),
        ),
    ] {
        let (pointer, value) = change;
        let mut other = request.clone();
        *other.pointer_mut(pointer).unwrap() = value;
        let (is_valid, messages) = verifier.finds(&other, honest).await;
        assert!(!is_valid && !messages.is_empty(), "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_holder_is_refused_what_no_verifier_would_accept() {
    let registry = FakeRegistry::new(Clock::default());
    let issuer = Party::new(&registry, "clinic").await;
    let (alice, bob) = (
        Party::new(&registry, "alice").await,
        Party::new(&registry, "bob").await,
    );
    let cred_def_id = issuer.defines(&["name", "born"], None).await;
    let young = [("name", "Alice"), ("born", "2020")];
    let cred_id = issuer.issues(&alice, &cred_def_id, &young).await;

    let request = adult(&cred_def_id);
    let none = alice.answers(&request).await.unwrap_err();
    assert_eq!(none.reason.id(), "anoncreds-credential-none");
    let mut chosen = alice
        .anoncreds
        .first_choice(
            &alice.tenant,
            &bytes(&json!({
                "name": "n", "version": "1.0", "nonce": "1",
                "requested_attributes": {"who": {"name": "name"}},
            })),
        )
        .await
        .unwrap();
    let unanswered = alice.shows(&bytes(&request), &chosen).await.unwrap_err();
    assert_eq!(unanswered.reason.id(), "anoncreds-refused");
    let timestamp = None;
    let shown = ShownPredicate { cred_id, timestamp };
    chosen.requested_predicates.insert("age".to_owned(), shown);
    let unmet = alice.shows(&bytes(&request), &chosen).await.unwrap_err();
    assert!(
        unmet.to_string().contains("the comparison does not hold"),
        "{unmet}"
    );
    // Bob has no such credential, whatever he calls it.
    let unheld = bob.shows(&bytes(&request), &chosen).await.unwrap_err();
    assert_eq!(unheld.reason.id(), "anoncreds-credential-unheld");
    let empty = ChosenCredentials::default();
    assert!(alice.shows(&bytes(&request), &empty).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_that_was_not_asked_for_is_not_kept() {
    let registry = FakeRegistry::new(Clock::default());
    let issuer = Party::new(&registry, "clinic").await;
    let (alice, bob) = (
        Party::new(&registry, "alice").await,
        Party::new(&registry, "bob").await,
    );
    let cred_def_id = issuer.defines(&["name", "born"], None).await;
    let of = DefinitionFilter {
        schema_name: Some("donor".to_owned()),
        ..DefinitionFilter::default()
    };
    let offer = issuer.offers(&of).await;
    let other = issuer.offers(&of).await;
    assert_ne!(offer, other, "each offer has a nonce of its own");
    let alices = alice.anoncreds.request(&alice.tenant, &offer, None);
    let alices = alices.await.unwrap();
    let bobs = bob
        .anoncreds
        .request(&bob.tenant, &offer, Some("did:sov:x"));
    let bobs = bobs.await.unwrap();
    let values = VALUES.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let issuance = |offer| NewIssuance {
        offer,
        request: &alices.request,
        values: values.to_vec(),
        exchange: None,
    };
    let other = issuance(&other);
    let refused = issuer.anoncreds.issue(&issuer.tenant, &other);
    assert_eq!(
        refused.await.err().unwrap().reason.id(),
        "anoncreds-refused"
    );
    let incomplete = NewIssuance {
        values: vec![("name".to_owned(), "Alice".to_owned())],
        ..issuance(&offer)
    };
    assert!(
        issuer
            .anoncreds
            .issue(&issuer.tenant, &incomplete)
            .await
            .is_err()
    );
    // Another tenant has no such key.
    assert!(
        bob.anoncreds
            .issue(&bob.tenant, &issuance(&offer))
            .await
            .is_err()
    );

    let right = issuance(&offer);
    let issued = issuer.anoncreds.issue(&issuer.tenant, &right);
    let issued = issued.await.unwrap();
    let refused = bob.keeps(&issued.json, &bobs.metadata).await.unwrap_err();
    assert_eq!(refused.reason.id(), "anoncreds-refused");
    let refused = bob.keeps(&issued.json, &alices.metadata).await.unwrap_err();
    assert_eq!(refused.reason.id(), "anoncreds-refused");
    let mut forged: Value = serde_json::from_slice(&issued.json).unwrap();
    forged["values"]["born"] = json!({"raw": "1950", "encoded": "1950"});
    let refused = alice.keeps(&bytes(&forged), &alices.metadata).await;
    assert_eq!(refused.unwrap_err().reason.id(), "anoncreds-refused");
    alice.keeps(&issued.json, &alices.metadata).await.unwrap();
    let none = DefinitionFilter {
        cred_def_id: Some(cred_def_id),
        issuer: Some("did:x:other".to_owned()),
        ..DefinitionFilter::default()
    };
    let none = issuer.anoncreds.offer(&issuer.tenant, &none).await;
    assert_eq!(none.unwrap_err().reason.id(), "anoncreds-definition-none");
}
