//! Tests of transaction data: a person agrees to what they were shown, and the verifier learns of exactly that.

use selfsame_credential::{ClaimPath, Held, verdict::Outcome};
use selfsame_openid4vc::{
    holder::{self, AwaitingConsent, Choice, HolderKey, Input, PresentationState},
    verifier::{VerificationState, request::NewRequest},
    wire::{response::VpToken, transaction::AskedTransaction},
};
use serde_json::{Value, json};

use crate::{
    holder::{Card, delivered_form, opened, presentations},
    verifier::{Verifier, query_sd_jwt, query_w3c},
    world::{Driver, Issuer, SD_JWT, ctx},
};

fn payment(amount: &str) -> Value {
    json!({
        "type": "urn:selfsame:transaction:payment", "credential_ids": ["vaccination"],
        "payee": "Harbour Shop", "amount": amount, "currency": "EUR",
    })
}

/// A fetched request with this query and this transaction, and its request object.
fn asked(verifier: &Verifier, query: &Value, transaction: &Value) -> (VerificationState, String) {
    let new = NewRequest {
        transaction_data: vec![AskedTransaction::of(transaction).unwrap()],
        ..verifier.new_request(query)
    };
    verifier.fetched(new, None)
}

fn opens(object: &str) -> Result<AwaitingConsent, Option<&'static str>> {
    let claims = selfsame_crypto::jws::Compact::parse(object)
        .unwrap()
        .claims()
        .unwrap();
    let client_id = claims["client_id"].as_str().unwrap();
    opened(object, client_id).map_err(|refused| refused.error.code())
}

#[test]
fn what_a_person_agrees_to_is_bound_to_the_presentation() {
    let (issuer, verifier) = (Issuer::new(), Verifier::new());
    let card = Card::new(&issuer, SD_JWT);
    let (state, object) = asked(&verifier, &query_sd_jwt(), &payment("12.50"));
    let awaiting = opens(&object).unwrap();
    assert_eq!(awaiting.request.transaction_data.len(), 1);
    let vp_token = presentations(&object, &[("vaccination", &card)]);
    let answered = verifier.answer(&state, vp_token).unwrap();
    assert_eq!(
        answered.judged.outcome,
        Outcome::Valid,
        "{:?}",
        answered.judged
    );
    let rules = &answered.judged.credentials[0].verdict.rules;
    let rule = rules.iter().find(|rule| rule.name == "transaction_data");
    assert_eq!(rule.unwrap().passed, Some(true));
    // What was agreed to stays agreed to when the credential is verified again.
    let state = VerificationState::Answered(answered);
    let again = selfsame_openid4vc::verifier::Input::Recheck {
        policy: &crate::world::policy(),
    };
    let (state, _) = verifier.step(&state, again, &ctx(53)).unwrap();
    let VerificationState::Answered(answered) = state else {
        panic!("{state:?}")
    };
    assert_eq!(answered.judged.outcome, Outcome::Valid);
}

#[test]
fn an_answer_that_authorises_another_transaction_or_none_is_invalid() {
    let (issuer, verifier) = (Issuer::new(), Verifier::new());
    let card = Card::new(&issuer, SD_JWT);
    let (state, object) = asked(&verifier, &query_sd_jwt(), &payment("12.50"));
    // Somebody changes the transaction, or leaves it out, before the wallet sees it.
    let awaiting = opens(&object).unwrap();
    let dearer = AskedTransaction::of(&payment("1250.00")).unwrap();
    for transactions in [vec![dearer], Vec::new()] {
        let mut changed = awaiting.clone();
        changed.request.transaction_data = transactions;
        let form = delivered_form(&changed, &[("vaccination", &card)]).unwrap();
        let vp_token: VpToken = serde_json::from_str(&form[0].1).unwrap();
        let answered = verifier.answer(&state, vp_token).unwrap();
        assert_eq!(answered.judged.outcome, Outcome::Invalid);
        assert_eq!(answered.judged.credentials[0].claims, None);
    }
}

#[test]
fn a_transaction_of_an_unknown_type_or_for_a_credential_that_cannot_bind_it_is_refused() {
    let verifier = Verifier::new();
    let unknown = json!({"type": "urn:other", "credential_ids": ["vaccination"]});
    let (_, object) = asked(&verifier, &query_sd_jwt(), &unknown);
    assert_eq!(opens(&object), Err(Some("invalid_transaction_data")));
    // A verifier does not send what a wallet must refuse.
    let creates = |query: &Value, ids: Value| {
        let mut said = payment("1");
        said["credential_ids"] = ids;
        let new = NewRequest {
            transaction_data: vec![AskedTransaction::of(&said).unwrap()],
            ..verifier.new_request(query)
        };
        selfsame_openid4vc::verifier::request::create(new, &ctx(50))
    };
    let mut unbound = query_sd_jwt();
    unbound["credentials"][0]["require_cryptographic_holder_binding"] = json!(false);
    assert!(creates(&query_sd_jwt(), json!(["vaccination"])).is_ok());
    for (query, ids) in [
        (query_sd_jwt(), json!(["other"])),
        (query_sd_jwt(), json!(["vaccination", "other"])),
        (unbound, json!(["vaccination"])),
        (query_w3c(), json!(["vaccination"])),
    ] {
        let refused = creates(&query, ids).unwrap_err();
        assert!(
            refused.detail().contains("invalid_transaction_data"),
            "{refused}"
        );
    }
}

#[test]
fn an_answer_without_a_credential_that_authorises_the_transaction_is_not_sent() {
    let (issuer, verifier) = (Issuer::new(), Verifier::new());
    let mut query = query_sd_jwt();
    let mut other = query["credentials"][0].clone();
    other["id"] = json!("other");
    query["credentials"].as_array_mut().unwrap().push(other);
    query["credential_sets"] = json!([{"options": [["vaccination"], ["other"]]}]);
    let (_, object) = asked(&verifier, &query, &payment("1"));
    let awaiting = opens(&object).unwrap();
    let card = Card::new(&issuer, SD_JWT);
    let key = HolderKey {
        key: card.holder.handle(),
        algorithm: card.holder.key.algorithm(),
        kid: None,
    };
    let state = PresentationState::Asked(Box::new(awaiting));
    let answers = |query_id: &str, held: &Held| {
        let reveal: &[ClaimPath] = &[];
        let choice = Choice {
            query_id,
            held,
            reveal,
            key: Some(&key),
        };
        let mut driver = Driver::new(&[&card.holder]);
        driver.run(|evidence| holder::step(&state, Input::Present(&[choice]), evidence, &ctx(60)))
    };
    assert!(answers("vaccination", &card.held).is_ok());
    assert!(answers("other", &card.held).is_err());
}
