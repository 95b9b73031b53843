//! Tests of encrypted answers (`direct_post.jwt`): our wallet's to our verifier, and those that break the rules.

use selfsame_openid4vc::{
    verifier::{Input, Reply, VerificationState, request::NewRequest},
    wire::response::{PostedResponse, VpResponse},
};
use serde_json::{Value, json};

use crate::{
    holder::{Card, delivered_form, opened},
    verifier::{Verifier, query_sd_jwt},
    world::{Issuer, SD_JWT, ctx, policy, stored},
};

/// A fetched request for an encrypted answer, and its request object.
fn asked(verifier: &Verifier) -> (VerificationState, String) {
    let new = NewRequest {
        encrypted: true,
        ..verifier.new_request(&query_sd_jwt())
    };
    verifier.fetched(new, None)
}

fn claims(object: &str) -> Value {
    let object = selfsame_crypto::jws::Compact::parse(object).unwrap();
    object.claims().unwrap()
}

/// What our wallet posts.
fn posted(object: &str, card: &Card) -> PostedResponse {
    let client_id = claims(object)["client_id"].as_str().unwrap().to_owned();
    let asked = opened(object, &client_id).unwrap();
    let form = delivered_form(&asked, &[("vaccination", card)]).unwrap();
    assert_eq!(form.len(), 1);
    let body = selfsame_oauth::form::encode(&form);
    PostedResponse::parse(body.as_bytes()).unwrap()
}

#[test]
fn a_request_for_an_encrypted_answer_has_a_key_of_its_own_and_says_what_it_takes() {
    let verifier = Verifier::new();
    let (state, object) = asked(&verifier);
    let claims = claims(&object);
    assert_eq!(claims["response_mode"], "direct_post.jwt");
    let metadata = &claims["client_metadata"];
    let keys = metadata["jwks"]["keys"].as_array().unwrap();
    assert_eq!((keys.len(), &keys[0]["alg"]), (1, &json!("ECDH-ES")));
    assert_eq!(keys[0].get("d"), None);
    assert!(keys[0]["kid"].is_string());
    let values = &metadata["encrypted_response_enc_values_supported"];
    assert_eq!(*values, json!(["A256GCM", "A128GCM"]));
    // The private key is in the record of the open request, and does not show.
    let kept = serde_json::to_value(&state).unwrap();
    let number = kept["fetched/1"]["asked"]["encryption"]["private"].as_str();
    assert!(!format!("{state:?}").contains(number.unwrap()));
}

#[test]
fn an_encrypted_answer_gets_the_verdict_of_a_plain_one_and_the_key_is_forgotten() {
    let (issuer, verifier) = (Issuer::new(), Verifier::new());
    let card = Card::new(&issuer, SD_JWT);
    let (state, object) = asked(&verifier);
    let state = stored(&state);
    let posted = posted(&object, &card);
    let response = state.opened(&posted).unwrap();
    assert!(matches!(response.answer, VpResponse::Presented(_)));
    let input = Input::Response {
        response: &response,
        policy: &policy(),
    };
    let (state, reply) = verifier.step(&state, input, &ctx(52)).unwrap();
    assert!(matches!(reply, Some(Reply::Receipt(_))));
    assert!(matches!(state, VerificationState::Answered(_)));
    assert!(state.asked().encryption.is_none());
    // Nobody can have it decrypted again.
    let again = state.opened(&posted).unwrap_err();
    assert!(again.detail().contains("has been answered"), "{again}");
}

#[test]
fn an_answer_for_another_request_or_in_the_clear_is_refused() {
    let (issuer, verifier) = (Issuer::new(), Verifier::new());
    let card = Card::new(&issuer, SD_JWT);
    let (state, object) = asked(&verifier);
    let new = NewRequest {
        encrypted: true,
        lifetime: 301,
        ..verifier.new_request(&query_sd_jwt())
    };
    let other = selfsame_openid4vc::verifier::request::create(new, &ctx(77)).unwrap();
    let other = VerificationState::Created(other);
    let for_this = posted(&object, &card);
    let refused = other.opened(&for_this).unwrap_err();
    assert_eq!(refused.code(), Some("invalid_request"));
    let response = state.opened(&for_this).unwrap();
    let plain = state.opened(&PostedResponse::Plain(response)).unwrap_err();
    assert!(plain.detail().contains("direct_post.jwt"), "{plain}");
}
