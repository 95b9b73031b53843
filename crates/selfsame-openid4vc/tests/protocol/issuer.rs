//! Tests of the issuer: offers, tokens, nonces, proofs, credentials.

use selfsame_credential::{
    Format, Held, Step,
    verdict::{Outcome, Policy, Trust},
    verify::{self, Presented, verify},
};
use selfsame_crypto::{Jwk, KeyType, SecretString, jws::Compact, time::UnixTime};
use selfsame_did::{Did, Document, Relationship, Representation, Resolution, VerificationMethod};
use selfsame_oauth::{AuthorizationDetail, TokenRequest};
use selfsame_openid4vc::{
    Error,
    issuer::{
        Granted, IssuanceState, Redeemed,
        credential::{self, CredentialAsked},
        issue, nonce, offer, token,
    },
    wire::credential::{CredentialRequest, WantedCredential},
};
use serde_json::{Value, json};

use crate::world::{
    COMPACT, Driver, ISSUER, Issuer, NOW, Party, SD_JWT, TICKET, W3C, W3C_2, at, credentials, ctx,
    grant, new_offer, object, policy, proof_header, request, stored, token_request, with,
    with_tx_code,
};

fn code<T>(result: Result<T, Error>) -> &'static str {
    match result {
        Ok(_) => panic!("this must be refused"),
        Err(error) => error.code().expect("a code of the specification"),
    }
}

fn token_of(redeemed: &Result<Redeemed, Error>) -> Value {
    let redeemed = redeemed.as_ref().expect("a token response");
    serde_json::to_value(&redeemed.response).unwrap()
}

// ---- token endpoint

#[test]
fn a_code_is_redeemed_for_a_bearer_token() {
    let issuer = Issuer::new();
    let made = issuer.offer(SD_JWT);
    let request = token_request(&made.offer);
    let (state, outcome) = issuer
        .token(&IssuanceState::Offered(made.state), &request, &ctx(2))
        .unwrap();
    assert!(matches!(stored(&state), IssuanceState::Closed(_)));
    let response = token_of(&outcome);
    assert_eq!(response["token_type"], "Bearer");
    assert_eq!(response["expires_in"], 600);
    assert_eq!(response.get("authorization_details"), None);
    let token = SecretString::from(response["access_token"].as_str().unwrap());
    assert_eq!(grant(&outcome).token_hash, token::token_hash(&token));
}

#[test]
fn a_token_response_has_no_members_beyond_the_specification() {
    let issuer = Issuer::new();
    let made = issuer.offer(SD_JWT);
    let request = token_request(&made.offer);
    let (_, outcome) = issuer
        .token(&IssuanceState::Offered(made.state), &request, &ctx(2))
        .unwrap();
    let names: Vec<String> = object(token_of(&outcome))
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(names, ["access_token", "expires_in", "token_type"]);
}

#[test]
fn a_code_is_redeemed_once() {
    let issuer = Issuer::new();
    let made = issuer.offer(SD_JWT);
    let request = token_request(&made.offer);
    let (state, _) = issuer
        .token(&IssuanceState::Offered(made.state), &request, &ctx(2))
        .unwrap();
    assert_eq!(
        code(issuer.token(&state, &request, &ctx(3))),
        "invalid_grant"
    );
}

#[test]
fn a_code_for_many_is_redeemed_as_often_as_it_says() {
    let issuer = Issuer::new();
    let made = issuer.offer_of(&offer::NewOffer {
        uses: 2,
        ..new_offer(SD_JWT)
    });
    let request = token_request(&made.offer);
    let first = issuer
        .token(&IssuanceState::Offered(made.state), &request, &ctx(2))
        .unwrap();
    let second = issuer.token(&first.0, &request, &ctx(3)).unwrap();
    assert_ne!(grant(&first.1).token_hash, grant(&second.1).token_hash);
    assert_eq!(
        code(issuer.token(&second.0, &request, &ctx(4))),
        "invalid_grant"
    );
}

#[test]
fn a_code_that_is_unknown_or_expired_is_refused() {
    let issuer = Issuer::new();
    let made = issuer.offer(SD_JWT);
    let state = IssuanceState::Offered(made.state);
    let good = token_request(&made.offer);
    let other = TokenRequest {
        pre_authorized_code: "guessed".into(),
        ..good.clone()
    };
    assert_eq!(code(issuer.token(&state, &other, &ctx(2))), "invalid_grant");
    assert_eq!(
        code(issuer.token(&state, &good, &at(300, 2))),
        "invalid_grant"
    );
    assert!(issuer.token(&state, &good, &at(299, 2)).is_ok());
}

#[test]
fn the_right_transaction_code_is_accepted() {
    let issuer = Issuer::new();
    let made = issuer.offer_of(&offer::NewOffer {
        tx_code: Some(String::new()),
        ..new_offer(SD_JWT)
    });
    let tx_code = made.tx_code.unwrap();
    assert_eq!(tx_code.expose().len(), 6);
    let request = with_tx_code(&made.offer, &tx_code);
    let (_, outcome) = issuer
        .token(&IssuanceState::Offered(made.state), &request, &ctx(2))
        .unwrap();
    assert_eq!(token_of(&outcome)["token_type"], "Bearer");
}

#[test]
fn a_transaction_code_that_is_missing_or_not_expected_is_an_invalid_request() {
    let issuer = Issuer::new();
    let with_code = issuer.offer_of(&offer::NewOffer {
        tx_code: Some(String::new()),
        ..new_offer(SD_JWT)
    });
    let request = token_request(&with_code.offer);
    let state = IssuanceState::Offered(with_code.state);
    assert_eq!(
        code(issuer.token(&state, &request, &ctx(2))),
        "invalid_request"
    );
    let without = issuer.offer(SD_JWT);
    let request = with_tx_code(&without.offer, &"123456".into());
    let state = IssuanceState::Offered(without.state);
    assert_eq!(
        code(issuer.token(&state, &request, &ctx(2))),
        "invalid_request"
    );
}

#[test]
fn a_wrong_transaction_code_is_an_invalid_grant_and_voids_the_code_in_the_end() {
    let issuer = Issuer::new();
    let made = issuer.offer_of(&offer::NewOffer {
        tx_code: Some(String::new()),
        ..new_offer(SD_JWT)
    });
    let right = made.tx_code.clone().unwrap();
    let wrong = with_tx_code(&made.offer, &"not it".into());
    let mut state = IssuanceState::Offered(made.state);
    for left in [
        "4 more tries are",
        "3 more tries are",
        "2 more tries are",
        "1 more try is",
        "no more tries are",
    ] {
        assert!(matches!(state, IssuanceState::Offered(_)));
        let (next, outcome) = issuer.token(&state, &wrong, &ctx(2)).unwrap();
        let Err(error) = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!(error.code(), Some("invalid_grant"));
        let told = error.to_string();
        assert!(
            told.contains("code is wrong") && told.contains(&format!("{left} left")),
            "{told}"
        );
        state = stored(&next);
    }
    let request = with_tx_code(&made.offer, &right);
    assert_eq!(
        code(issuer.token(&state, &request, &ctx(3))),
        "invalid_grant"
    );
}

#[test]
fn details_in_the_token_request_are_answered_with_credential_identifiers() {
    let issuer = Issuer::new();
    let two = offer::NewOffer {
        configuration_ids: vec![SD_JWT.to_owned(), W3C.to_owned()],
        ..new_offer(SD_JWT)
    };
    let made = issuer.offer_of(&two);
    let request = TokenRequest {
        authorization_details: Some(vec![AuthorizationDetail::requesting(W3C)]),
        ..token_request(&made.offer)
    };
    let (_, outcome) = issuer
        .token(&IssuanceState::Offered(made.state), &request, &ctx(2))
        .unwrap();
    let response = token_of(&outcome);
    let details = response["authorization_details"].as_array().unwrap();
    assert_eq!(details.len(), 1);
    assert_eq!(details[0]["type"], "openid_credential");
    assert_eq!(details[0]["credential_configuration_id"], W3C);
    assert_eq!(
        details[0]["credential_identifiers"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn details_beyond_the_offer_are_refused() {
    let issuer = Issuer::new();
    let made = issuer.offer(SD_JWT);
    let request = TokenRequest {
        authorization_details: Some(vec![AuthorizationDetail::requesting(W3C)]),
        ..token_request(&made.offer)
    };
    let state = IssuanceState::Offered(made.state);
    assert_eq!(
        code(issuer.token(&state, &request, &ctx(2))),
        "invalid_authorization_details"
    );
}

// ---- nonce endpoint

#[test]
fn a_nonce_is_unpredictable_and_known_as_ours_until_it_expires() {
    let issuer = Issuer::new();
    let one = nonce::make(&issuer.settings, &ctx(1)).c_nonce;
    let two = nonce::make(&issuer.settings, &ctx(2)).c_nonce;
    assert_ne!(one, two);
    let spent = nonce::check(&issuer.settings, &one, NOW.plus(299)).unwrap();
    assert_eq!(spent.expires, NOW.plus(300));
    assert_ne!(
        spent.id,
        nonce::check(&issuer.settings, &two, NOW).unwrap().id
    );
    let late = nonce::check(&issuer.settings, &one, NOW.plus(300));
    assert_eq!(late, Err(nonce::NonceError::Expired));
}

#[test]
fn a_nonce_that_is_not_ours_is_refused() {
    let issuer = Issuer::new();
    let nonce = issuer.nonce();
    let mut altered = nonce.clone().into_bytes();
    altered[3] = if altered[3] == b'A' { b'B' } else { b'A' };
    let altered = String::from_utf8(altered).unwrap();
    for foreign in ["", "abc", "not base64url!", altered.as_str(), &nonce[..30]] {
        let result = nonce::check(&issuer.settings, foreign, NOW);
        assert_eq!(result, Err(nonce::NonceError::Foreign), "{foreign}");
    }
}

// ---- credential endpoint: requested credentials

#[test]
fn a_credential_is_asked_for_by_its_identifier_where_there_are_identifiers() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let granted = granted_with_identifier(&issuer);
    let identifier = granted.credentials[SD_JWT].clone().unwrap();
    let request = CredentialRequest {
        wanted: WantedCredential::CredentialIdentifier(identifier),
        proofs: Some(vec![issuer.proof(&holder)]),
        attestation: None,
        response_encryption: None,
    };
    let (_, outcome) = issuer
        .credential(&IssuanceState::Granted(granted), &request, &ctx(4))
        .unwrap();
    assert_eq!(credentials(&outcome).credentials.len(), 1);
}

#[test]
fn a_configuration_is_not_asked_for_where_there_are_identifiers() {
    let issuer = Issuer::new();
    let state = IssuanceState::Granted(granted_with_identifier(&issuer));
    let request = request(SD_JWT, &[issuer.proof(&Party::new(KeyType::P256))]);
    assert_eq!(
        code(issuer.credential(&state, &request, &ctx(4))),
        "invalid_credential_request"
    );
}

#[test]
fn an_identifier_that_is_unknown_is_refused() {
    let issuer = Issuer::new();
    for granted in [granted_with_identifier(&issuer), issuer.granted(SD_JWT)] {
        let request = CredentialRequest {
            wanted: WantedCredential::CredentialIdentifier("guessed".to_owned()),
            proofs: Some(vec![issuer.proof(&Party::new(KeyType::P256))]),
            attestation: None,
            response_encryption: None,
        };
        let result = issuer.credential(&IssuanceState::Granted(granted), &request, &ctx(4));
        assert_eq!(code(result), "unknown_credential_identifier");
    }
}

#[test]
fn a_configuration_that_is_unknown_is_refused() {
    let issuer = Issuer::new();
    let state = IssuanceState::Granted(issuer.granted(SD_JWT));
    let request = request("nothing", &[issuer.proof(&Party::new(KeyType::P256))]);
    let result = issuer.credential(&state, &request, &ctx(4));
    assert_eq!(code(result), "unknown_credential_configuration");
}

#[test]
fn an_access_token_is_good_for_what_was_offered_and_nothing_else() {
    let issuer = Issuer::new();
    let state = IssuanceState::Granted(issuer.granted(SD_JWT));
    let proofs = [issuer.proof(&Party::new(KeyType::P256))];
    let result = issuer.credential(&state, &request(W3C, &proofs), &ctx(4));
    assert_eq!(code(result), "insufficient_scope");
    assert!(
        issuer
            .credential(&state, &request(SD_JWT, &proofs), &ctx(4))
            .is_ok()
    );
}

#[test]
fn an_access_token_that_has_expired_is_refused() {
    let issuer = Issuer::new();
    let mut granted = issuer.granted(SD_JWT);
    granted.expires = NOW;
    let request = request(SD_JWT, &[issuer.proof(&Party::new(KeyType::P256))]);
    let result = issuer.credential(&IssuanceState::Granted(granted), &request, &ctx(4));
    assert_eq!(code(result), "invalid_token");
}

#[test]
fn the_same_request_again_gets_the_same_answer() {
    let issuer = Issuer::new();
    let state = IssuanceState::Granted(issuer.granted(SD_JWT));
    let request = request(SD_JWT, &[issuer.proof(&Party::new(KeyType::P256))]);
    let (state, first) = issuer.credential(&state, &request, &ctx(4)).unwrap();
    // The nonce has expired in the meantime; the lost answer is repeated nevertheless.
    let (_, again) = issuer
        .credential(&stored(&state), &request, &at(400, 5))
        .unwrap();
    assert_eq!(credentials(&first), credentials(&again));
    assert!(again.issued.is_empty());
}

/// Sends one request per entry of `copies` with the same access token, each for that many copies with fresh keys.
/// Returns the number of credentials issued and the code of the first refusal.
fn asked_in_turn(issuer: &Issuer, copies: &[usize]) -> (usize, Option<&'static str>) {
    let mut state = IssuanceState::Granted(issuer.granted(SD_JWT));
    let mut issued = 0;
    for (seed, copies) in (4..).zip(copies) {
        let proofs: Vec<_> = (0..*copies)
            .map(|_| issuer.proof(&Party::new(KeyType::P256)))
            .collect();
        let request = request(SD_JWT, &proofs);
        let IssuanceState::Granted(granted) = &state else {
            panic!("no grant")
        };
        let further = issuer.content.further_copies;
        let needed = credential::entries_needed(granted, &request, &issuer.settings, further);
        let needed = needed.unwrap();
        match issuer.credential(&state, &request, &ctx(seed)) {
            Ok((next, outcome)) => {
                assert_eq!(needed, *copies);
                issued += credentials(&outcome).credentials.len();
                state = stored(&next);
            }
            Err(error) => {
                assert_eq!(needed, 0);
                return (issued, error.code());
            }
        }
    }
    (issued, None)
}

#[test]
fn an_access_token_is_good_for_as_many_copies_as_one_request_may_ask_for() {
    let denied = Some("credential_request_denied");
    let mut issuer = Issuer::new();
    // The metadata's batch size is three.
    assert_eq!(asked_in_turn(&issuer, &[1, 1, 1]), (3, None));
    assert_eq!(asked_in_turn(&issuer, &[1, 2]), (3, None));
    assert_eq!(asked_in_turn(&issuer, &[1, 1, 1, 1]), (3, denied));
    assert_eq!(asked_in_turn(&issuer, &[2, 2]), (2, denied));
    issuer.content.further_copies = false;
    assert_eq!(asked_in_turn(&issuer, &[3]), (3, None));
    assert_eq!(asked_in_turn(&issuer, &[1, 1]), (1, denied));
}

#[test]
fn a_key_that_has_a_copy_gets_no_other_with_the_same_access_token() {
    let issuer = Issuer::new();
    let parties = [(); 2].map(|()| Party::new(KeyType::P256));
    let by = |party: &Party| request(SD_JWT, &[issuer.proof(party)]);
    let state = IssuanceState::Granted(issuer.granted(SD_JWT));
    let (state, _) = issuer
        .credential(&state, &by(&parties[0]), &ctx(4))
        .unwrap();
    let state = stored(&state);
    let both = request(
        SD_JWT,
        &[issuer.proof(&parties[1]), issuer.proof(&parties[0])],
    );
    for again in [by(&parties[0]), both] {
        let refused = issuer.credential(&state, &again, &ctx(5));
        assert_eq!(code(refused), "invalid_proof");
    }
    assert!(issuer.credential(&state, &by(&parties[1]), &ctx(6)).is_ok());
}

#[test]
fn each_answer_of_an_access_token_is_given_again() {
    let issuer = Issuer::new();
    let requests = [(); 2].map(|()| {
        let proof = issuer.proof(&Party::new(KeyType::P256));
        request(SD_JWT, &[proof])
    });
    let mut state = IssuanceState::Granted(issuer.granted(SD_JWT));
    let mut answers = Vec::new();
    for (seed, request) in [4, 5].into_iter().zip(&requests) {
        let (next, outcome) = issuer.credential(&state, request, &ctx(seed)).unwrap();
        state = stored(&next);
        answers.push(credentials(&outcome));
    }
    assert_ne!(answers[0], answers[1]);
    for (request, answer) in requests.iter().zip(&answers) {
        let (_, again) = issuer.credential(&state, request, &at(400, 6)).unwrap();
        assert_eq!(&credentials(&again), answer);
    }
}

#[test]
fn a_grant_of_an_earlier_build_still_gives_its_answer_again() {
    let issuer = Issuer::new();
    let state = IssuanceState::Granted(issuer.granted(SD_JWT));
    let request = request(SD_JWT, &[issuer.proof(&Party::new(KeyType::P256))]);
    let (state, first) = issuer.credential(&state, &request, &ctx(4)).unwrap();
    let mut record = serde_json::to_value(&state).unwrap();
    let issued = &mut record["granted/1"]["issued"][SD_JWT];
    *issued = issued[0].take();
    issued.as_object_mut().unwrap().remove("holders");
    let state: IssuanceState = serde_json::from_value(record).unwrap();
    let (_, again) = issuer.credential(&state, &request, &at(400, 5)).unwrap();
    assert_eq!(credentials(&first), credentials(&again));
}

fn granted_with_identifier(issuer: &Issuer) -> Granted {
    let made = issuer.offer(SD_JWT);
    let request = TokenRequest {
        authorization_details: Some(vec![AuthorizationDetail::requesting(SD_JWT)]),
        ..token_request(&made.offer)
    };
    let (_, outcome) = issuer
        .token(&IssuanceState::Offered(made.state), &request, &ctx(2))
        .unwrap();
    grant(&outcome)
}

// ---- credential endpoint: issued credentials

#[test]
fn an_sd_jwt_vc_is_bound_to_the_proven_key_and_verifies() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let issued = issuer.ask(SD_JWT, &[issuer.proof(&holder)]).unwrap();
    let held = Held::parse(&issued[0], Format::SdJwtVc).unwrap();
    assert_eq!(held.holder_key().as_ref(), Some(holder.key.public()));
    assert_eq!(held.claims()["given_name"], "Ines");
    assert_eq!(
        verdict(&issuer, &issued[0], Format::SdJwtVc),
        Outcome::Valid
    );
}

#[test]
fn a_w3c_credential_is_issued_to_the_did_of_the_proven_key_and_verifies() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::Ed25519);
    let header = with(
        &proof_header(&holder),
        json!({"jwk": null, "kid": holder.kid}),
    );
    for (configuration, format) in [(W3C, Format::JwtVcJson), (W3C_2, Format::VcJwt)] {
        let proof = holder.token(&header, &issuer.proof_claims());
        let issued = issuer.ask(configuration, &[proof]).unwrap();
        let held = Held::parse(&issued[0], format).unwrap();
        assert_eq!(held.holder_did(), Some(holder.did.as_str()));
        assert!(held.types().contains(&"VaccinationCredential"));
        assert_eq!(verdict(&issuer, &issued[0], format), Outcome::Valid);
    }
}

#[test]
fn a_w3c_credential_for_a_bare_key_is_issued_to_the_did_made_of_it() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let issued = issuer.ask(W3C, &[issuer.proof(&holder)]).unwrap();
    let held = Held::parse(&issued[0], Format::JwtVcJson).unwrap();
    let did = selfsame_did::jwk::create(holder.key.public());
    assert_eq!(held.holder_did(), Some(did.as_str()));
}

#[test]
fn a_compact_credential_is_issued_to_the_did_or_the_key_that_was_proven_and_verifies() {
    let mut issuer = Issuer::new();
    let list = json!({"status_list": {"idx": 7, "uri": "https://issuer.example/status/0"}});
    issuer.content.statuses = vec![in_claim(list)];
    let holder = Party::new(KeyType::Ed25519);
    let by_did = with(
        &proof_header(&holder),
        json!({"jwk": null, "kid": holder.kid}),
    );
    for (header, is_by_key) in [(by_did, false), (proof_header(&holder), true)] {
        let proof = holder.token(&header, &issuer.proof_claims());
        let issued = issuer.ask(COMPACT, &[proof]).unwrap();
        let held = Held::parse(&issued[0], Format::Cwt).unwrap();
        let did = selfsame_did::key::create(holder.key.public());
        assert_eq!(held.holder_did(), Some(did.as_str()));
        assert_eq!(held.holder_key().is_some(), is_by_key);
        let types = ["VerifiableCredential", "VaccinationCredential"];
        assert_eq!(held.types(), types);
        assert_eq!(held.claims()["claims"]["vaccine"], "MMR");
        assert_eq!(held.statuses()[0].index, 7);
        assert!(held.expires() <= Some(NOW.plus(86_400)));
    }
    issuer.content.statuses.clear();
    let issued = issuer.ask(COMPACT, &[issuer.proof(&holder)]).unwrap();
    assert_eq!(verdict(&issuer, &issued[0], Format::Cwt), Outcome::Valid);
}

#[test]
fn each_key_of_a_batch_gets_a_credential_of_its_own() {
    let issuer = Issuer::new();
    let holders: Vec<Party> = (0..3).map(|_| Party::new(KeyType::P256)).collect();
    let proofs: Vec<String> = holders.iter().map(|holder| issuer.proof(holder)).collect();
    let issued = issuer.ask(SD_JWT, &proofs).unwrap();
    assert_eq!(issued.len(), 3);
    for (holder, raw) in holders.iter().zip(&issued) {
        let held = Held::parse(raw, Format::SdJwtVc).unwrap();
        assert_eq!(held.holder_key().as_ref(), Some(holder.key.public()));
    }
    // Two copies have only the issuer's own claims in common: no salt and no digest.
    let parts = |raw: &str| -> Vec<String> { raw.split('~').skip(1).map(str::to_owned).collect() };
    let shared = parts(&issued[0])
        .into_iter()
        .find(|it| !it.is_empty() && issued[1].contains(it));
    assert_eq!(shared, None);
}

#[test]
fn a_batch_larger_than_the_metadata_says_is_refused() {
    let issuer = Issuer::new();
    let proofs: Vec<String> = (0..4)
        .map(|_| issuer.proof(&Party::new(KeyType::P256)))
        .collect();
    assert_eq!(code(issuer.ask(SD_JWT, &proofs)), "invalid_proof");
}

#[test]
fn a_key_gets_one_credential_only() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let proofs = [issuer.proof(&holder), issuer.proof(&holder)];
    assert_eq!(code(issuer.ask(SD_JWT, &proofs)), "invalid_proof");
}

#[test]
fn times_in_credentials_are_rounded() {
    let issuer = Issuer::new();
    let issued = issuer
        .ask(SD_JWT, &[issuer.proof(&Party::new(KeyType::P256))])
        .unwrap();
    let held = Held::parse(&issued[0], Format::SdJwtVc).unwrap();
    for name in ["iat", "exp"] {
        let time = held.claims()[name].as_u64().unwrap();
        assert_eq!(time % 3600, 0, "{name}");
    }
    assert_eq!(held.claims()["iat"], NOW.rounded_down(3600).0);
}

#[test]
fn a_credential_is_not_born_expired_by_rounding() {
    let mut issuer = Issuer::new();
    let soon = NOW.plus(10);
    issuer.content.expires = Some(soon);
    let issued = issuer
        .ask(SD_JWT, &[issuer.proof(&Party::new(KeyType::P256))])
        .unwrap();
    let held = Held::parse(&issued[0], Format::SdJwtVc).unwrap();
    assert_eq!(held.expires(), Some(soon));
}

fn in_claim(entry: Value) -> credential::Status {
    credential::Status {
        claim: Some(entry),
        member: None,
    }
}

#[test]
fn a_w3c_credential_may_tell_its_status_in_a_claim_of_the_jwt_too() {
    let mut issuer = Issuer::new();
    let claim = json!({"status_list": {"idx": 7, "uri": "https://issuer.example/status/1"}});
    let member = json!({
        "id": "https://issuer.example/status/1/revocation#7",
        "type": "BitstringStatusListEntry",
        "statusPurpose": "revocation",
        "statusListIndex": "7",
        "statusListCredential": "https://issuer.example/status/1/revocation",
    });
    issuer.content.statuses = vec![credential::Status {
        claim: Some(claim.clone()),
        member: Some(member.clone()),
    }];
    let proof = issuer.proof(&Party::new(KeyType::P256));
    let issued = issuer.ask(W3C, &[proof]).unwrap();
    let payload = Compact::parse(&issued[0]).unwrap().claims().unwrap();
    assert_eq!(payload["status"], claim);
    assert_eq!(payload["vc"]["credentialStatus"], member);
    let held = Held::parse(&issued[0], Format::JwtVcJson).unwrap();
    assert_eq!(held.statuses().len(), 2);
}

#[test]
fn each_credential_gets_a_status_entry_of_its_own() {
    let mut issuer = Issuer::new();
    let entry =
        |idx: u64| json!({"status_list": {"idx": idx, "uri": "https://issuer.example/status/1"}});
    issuer.content.statuses = [7, 9].map(|idx| in_claim(entry(idx))).to_vec();
    let proofs = [Party::new(KeyType::P256), Party::new(KeyType::P256)].map(|it| issuer.proof(&it));
    let issued = issuer.ask(SD_JWT, &proofs).unwrap();
    let status = |raw: &str| Held::parse(raw, Format::SdJwtVc).unwrap().claims()["status"].clone();
    assert_eq!(
        [status(&issued[0]), status(&issued[1])],
        [entry(7), entry(9)]
    );
    assert_eq!(credential::copies(&request(SD_JWT, &proofs)), 2);
}

#[test]
fn credentials_without_enough_status_entries_are_not_issued() {
    let mut issuer = Issuer::new();
    issuer.content.statuses = vec![in_claim(json!({}))];
    let proofs = [Party::new(KeyType::P256), Party::new(KeyType::P256)].map(|it| issuer.proof(&it));
    assert!(matches!(issuer.ask(SD_JWT, &proofs), Err(Error::Setup(_))));
}

#[test]
fn a_credential_without_holder_needs_no_proof_and_takes_none() {
    let issuer = Issuer::new();
    let issued = issuer.ask(TICKET, &[]).unwrap();
    assert!(
        !Held::parse(&issued[0], Format::SdJwtVc)
            .unwrap()
            .is_holder_bound()
    );
    let proof = issuer.proof(&Party::new(KeyType::P256));
    assert_eq!(code(issuer.ask(TICKET, &[proof])), "invalid_proof");
}

#[test]
fn the_nonces_of_an_issuance_are_reported_as_spent_once_each() {
    let issuer = Issuer::new();
    let state = IssuanceState::Granted(issuer.granted(SD_JWT));
    let proofs = [Party::new(KeyType::P256), Party::new(KeyType::P256)].map(|it| issuer.proof(&it));
    let (_, issuance) = issuer
        .credential(&state, &request(SD_JWT, &proofs), &ctx(4))
        .unwrap();
    let expected = nonce::check(&issuer.settings, &issuer.nonce(), NOW).unwrap();
    assert_eq!(issuance.spent, vec![expected]);
}

fn verdict(issuer: &Issuer, raw: &str, format: Format) -> Outcome {
    let presented = Presented {
        format,
        raw,
        expected: None,
    };
    let policy = Policy {
        trusted_issuers: Trust::Listed(vec![issuer.party.did.clone()]),
        ..policy()
    };
    let mut driver = Driver::new(&[&issuer.party]);
    let verdict = driver.run(|evidence| {
        let needs = verify::needs(&presented, &policy, evidence, NOW).unwrap();
        Ok::<_, Error>(match needs.is_empty() {
            true => Step::Done(verify(&presented, &policy, evidence, NOW).0),
            false => Step::Needs(needs),
        })
    });
    let verdict = verdict.unwrap();
    assert_eq!(verdict.outcome, Outcome::Valid, "{verdict:#?}");
    verdict.outcome
}

// ---- key proofs

#[test]
fn proofs_are_required_where_the_metadata_lists_proof_types() {
    let issuer = Issuer::new();
    assert!(
        issuer
            .ask(SD_JWT, &[issuer.proof(&Party::new(KeyType::P256))])
            .is_ok()
    );
    assert_eq!(code(issuer.ask(SD_JWT, &[])), "invalid_proof");
}

#[test]
fn the_type_of_a_proof_may_be_written_in_full() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let typ = json!({"typ": "application/openid4vci-proof+jwt"});
    let header = with(&proof_header(&holder), typ);
    let proof = holder.token(&header, &issuer.proof_claims());
    assert!(issuer.ask(SD_JWT, &[proof]).is_ok());
}

#[test]
fn a_proof_of_another_type_is_refused() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let header = proof_header(&holder);
    for typ in [json!("JWT"), json!("openid4vci-proof"), Value::Null] {
        let header = with(&header, json!({"typ": typ}));
        assert_eq!(
            issuer.refuses(&header, &issuer.proof_claims(), &holder),
            "invalid_proof"
        );
    }
}

#[test]
fn a_proof_with_an_algorithm_that_is_not_listed_is_refused() {
    let mut issuer = Issuer::new();
    let holder = Party::new(KeyType::Ed25519);
    assert!(issuer.ask(SD_JWT, &[issuer.proof(&holder)]).is_ok());
    let mut description = crate::world::description();
    for offering in description.credentials.values_mut() {
        offering.proof_algorithms = vec![selfsame_crypto::Algorithm::Es256];
    }
    issuer.publish(selfsame_openid4vc::issuer::metadata::build(&description).unwrap());
    assert_eq!(
        code(issuer.ask(SD_JWT, &[issuer.proof(&holder)])),
        "invalid_proof"
    );
}

#[test]
fn a_proof_may_name_its_algorithm_in_each_way_that_is_listed() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::Ed25519);
    let ask = |name: &str| {
        let header = with(&proof_header(&holder), json!({"alg": name}));
        issuer.ask(SD_JWT, &[holder.token(&header, &issuer.proof_claims())])
    };
    let configuration = issuer.metadata.configuration(SD_JWT).unwrap();
    let listed = &configuration
        .jwt_proof()
        .unwrap()
        .proof_signing_alg_values_supported;
    // RFC 9864 §2.2.
    for name in ["Ed25519", "EdDSA"] {
        assert!(listed.contains(&json!(name)));
        assert!(ask(name).is_ok(), "{name}");
    }
    for name in ["Ed448", "ed25519", "ES256"] {
        assert_eq!(code(ask(name)), "invalid_proof", "{name}");
    }
}

#[test]
fn a_proof_without_signature_or_with_a_shared_secret_is_refused() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    for algorithm in ["none", "HS256"] {
        let header = with(&proof_header(&holder), json!({"alg": algorithm}));
        assert_eq!(
            issuer.refuses(&header, &issuer.proof_claims(), &holder),
            "invalid_proof"
        );
    }
}

#[test]
fn a_proof_names_its_key_in_exactly_one_way() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let both = with(&proof_header(&holder), json!({"kid": holder.kid}));
    let neither = with(&proof_header(&holder), json!({"jwk": null}));
    for header in [both, neither] {
        assert_eq!(
            issuer.refuses(&header, &issuer.proof_claims(), &holder),
            "invalid_proof"
        );
    }
}

#[test]
fn a_proof_may_name_its_key_by_did_or_certificate() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let by_did = with(
        &proof_header(&holder),
        json!({"jwk": null, "kid": holder.kid}),
    );
    let (certified, der) = certified();
    let x5c = json!({"jwk": null, "x5c": [selfsame_crypto::encoding::base64_encode(&der)]});
    let by_certificate = with(&proof_header(&certified), x5c);
    for (holder, header) in [(&holder, by_did), (&certified, by_certificate)] {
        let issued = issuer
            .ask(SD_JWT, &[holder.token(&header, &issuer.proof_claims())])
            .unwrap();
        let held = Held::parse(&issued[0], Format::SdJwtVc).unwrap();
        assert_eq!(held.holder_key().as_ref(), Some(holder.key.public()));
    }
}

fn certified() -> (Party, Vec<u8>) {
    let pair = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
    let parameters = rcgen::CertificateParams::new(vec!["holder.example".to_owned()]).unwrap();
    let certificate = parameters.self_signed(&pair).unwrap();
    let key = selfsame_crypto::PrivateKey::from_pkcs8(&pair.serialize_der()).unwrap();
    (Party::of(key), certificate.der().to_vec())
}

#[test]
fn a_key_named_in_a_way_the_metadata_does_not_list_is_refused() {
    let mut issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let mut description = crate::world::description();
    for offering in description.credentials.values_mut() {
        offering
            .binding_methods
            .retain(|method| method != "did:key");
    }
    issuer.publish(selfsame_openid4vc::issuer::metadata::build(&description).unwrap());
    let header = with(
        &proof_header(&holder),
        json!({"jwk": null, "kid": holder.kid}),
    );
    assert_eq!(
        issuer.refuses(&header, &issuer.proof_claims(), &holder),
        "invalid_proof"
    );
}

#[test]
fn a_proof_whose_did_is_unknown_or_has_no_such_key_is_refused() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let other = Party::new(KeyType::P256);
    let elsewhere = format!("{}#elsewhere", holder.did);
    for kid in [
        "did:web:nowhere.example#1",
        &other.kid,
        &elsewhere,
        "key-1",
        "",
    ] {
        let header = with(&proof_header(&holder), json!({"jwk": null, "kid": kid}));
        let refused = issuer.refuses(&header, &issuer.proof_claims(), &holder);
        assert_eq!(refused, "invalid_proof", "{kid}");
    }
}

#[test]
fn a_proof_of_a_deactivated_did_is_refused() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let did = Did::parse("did:web:holder.example").unwrap();
    let id = did.with_fragment("1").unwrap();
    let kid = json!({"jwk": null, "kid": "did:web:holder.example#1"});
    let header = with(&proof_header(&holder), kid);
    let state = IssuanceState::Granted(issuer.granted(SD_JWT));
    let request = request(SD_JWT, &[holder.token(&header, &issuer.proof_claims())]);
    let mut document = Document::new(did.clone());
    let method = VerificationMethod::json_web_key(id, holder.key.public());
    document.add(method, &Relationship::SIGNING);
    let ask = |document: &Document, deactivated: bool| {
        // A careless resolver might answer like this: deactivated, but with a document that contains the key.
        let mut resolution = Resolution::found(document.clone(), Representation::default());
        resolution.document_metadata.deactivated = deactivated;
        let mut driver = Driver::new(&[&issuer.party]);
        driver.resolve(did.clone(), Ok(resolution));
        let asked = CredentialAsked {
            request: &request,
            content: &issuer.content,
            settings: &issuer.settings,
            proven: None,
        };
        driver.run(|evidence| issue(&state, &asked, evidence, &ctx(4)))
    };
    assert!(ask(&document, false).is_ok());
    assert_eq!(code(ask(&document, true)), "invalid_proof");
    // The right key, but in the document of another DID.
    let other = Did::parse("did:web:other.example").unwrap();
    document.id = other.clone();
    document.verification_method[0].controller = other;
    assert_eq!(code(ask(&document, false)), "invalid_proof");
}

#[test]
fn a_proof_that_another_key_signed_is_refused() {
    let issuer = Issuer::new();
    let (holder, thief) = (Party::new(KeyType::P256), Party::new(KeyType::P256));
    let refused = issuer.refuses(&proof_header(&holder), &issuer.proof_claims(), &thief);
    assert_eq!(refused, "invalid_proof");
}

#[test]
fn a_proof_with_a_private_key_in_its_header_is_refused() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let jwk: Jwk = holder.key.public().to_jwk();
    let leaked = with(&jwk.to_value(), json!({"d": "AAAA"}));
    let header = with(&proof_header(&holder), json!({"jwk": leaked}));
    assert_eq!(
        issuer.refuses(&header, &issuer.proof_claims(), &holder),
        "invalid_proof"
    );
}

#[test]
fn a_proof_with_a_key_that_is_not_for_its_algorithm_is_refused() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let jwk = holder.key.public().to_jwk().to_value();
    let ask = |member: Value| {
        let header = with(&proof_header(&holder), json!({"jwk": with(&jwk, member)}));
        issuer.ask(SD_JWT, &[holder.token(&header, &issuer.proof_claims())])
    };
    for member in [
        json!({"alg": "ES256", "use": "sig"}),
        json!({"key_ops": ["verify"]}),
    ] {
        assert!(ask(member).is_ok());
    }
    for member in [
        json!({"alg": "ES384"}),
        json!({"use": "enc"}),
        json!({"key_ops": ["encrypt"]}),
        json!({"key_ops": ["verify", "verify"]}),
    ] {
        assert_eq!(code(ask(member)), "invalid_proof");
    }
}

#[test]
fn a_proof_for_another_issuer_is_refused() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    for audience in [json!("https://other.example"), json!([ISSUER]), Value::Null] {
        let claims = with(&issuer.proof_claims(), json!({"aud": audience}));
        assert_eq!(
            issuer.refuses(&proof_header(&holder), &claims, &holder),
            "invalid_proof"
        );
    }
}

#[test]
fn a_proof_made_at_another_time_is_refused() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let made_at = |time: Value| {
        let claims = with(&issuer.proof_claims(), json!({"iat": time}));
        issuer.ask(SD_JWT, &[holder.token(&proof_header(&holder), &claims)])
    };
    let seconds = |time: UnixTime| json!(time.0);
    for good in [
        seconds(NOW.plus(30)),
        seconds(NOW.minus(330)),
        json!(NOW.0 as f64 + 0.5),
    ] {
        assert!(made_at(good).is_ok());
    }
    for bad in [
        seconds(NOW.plus(31)),
        seconds(NOW.minus(331)),
        json!("now"),
        json!(-1),
        Value::Null,
    ] {
        assert_eq!(code(made_at(bad)), "invalid_proof");
    }
}

#[test]
fn a_proof_is_taken_between_its_nbf_and_its_exp_only() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let ask = |times: Value| {
        let claims = with(&issuer.proof_claims(), times);
        issuer.ask(SD_JWT, &[holder.token(&proof_header(&holder), &claims)])
    };
    // The leeway is 30 s.
    for good in [
        json!({"nbf": NOW.plus(30).0, "exp": NOW.plus(60).0}),
        json!({"exp": NOW.minus(29).0}),
        // A NumericDate may lie before 1970 (RFC 7519 §2).
        json!({"nbf": -1}),
    ] {
        assert!(ask(good.clone()).is_ok(), "{good}");
    }
    for bad in [
        json!({"exp": NOW.minus(30).0}),
        json!({"nbf": NOW.plus(31).0}),
        json!({"exp": "tomorrow"}),
        json!({"nbf": "yesterday"}),
    ] {
        assert_eq!(code(ask(bad.clone())), "invalid_proof", "{bad}");
    }
}

#[test]
fn a_proof_without_a_nonce_is_refused() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    for nonce in [Value::Null, json!(7)] {
        let claims = with(&issuer.proof_claims(), json!({"nonce": nonce}));
        assert_eq!(
            issuer.refuses(&proof_header(&holder), &claims, &holder),
            "invalid_proof"
        );
    }
}

#[test]
fn a_proof_with_a_foreign_or_expired_nonce_is_refused_so_that_a_new_one_is_fetched() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let claims = with(&issuer.proof_claims(), json!({"nonce": "guessed"}));
    assert_eq!(
        issuer.refuses(&proof_header(&holder), &claims, &holder),
        "invalid_nonce"
    );
    let state = IssuanceState::Granted(issuer.granted(SD_JWT));
    let claims = with(&issuer.proof_claims(), json!({"iat": NOW.plus(301).0}));
    let proof = holder.token(&proof_header(&holder), &claims);
    let result = issuer.credential(&state, &request(SD_JWT, &[proof]), &at(301, 4));
    assert_eq!(code(result), "invalid_nonce");
}

#[test]
fn a_proof_names_a_known_client_and_no_anonymous_one() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let claims = with(&issuer.proof_claims(), json!({"iss": "wallet-7"}));
    assert_eq!(
        issuer.refuses(&proof_header(&holder), &claims, &holder),
        "invalid_proof"
    );
    let ask = |client_id: &str| {
        let granted = Granted {
            client_id: Some(client_id.to_owned()),
            ..issuer.granted(SD_JWT)
        };
        let proof = holder.token(&proof_header(&holder), &claims);
        issuer.credential(
            &IssuanceState::Granted(granted),
            &request(SD_JWT, &[proof]),
            &ctx(4),
        )
    };
    assert!(ask("wallet-7").is_ok());
    assert_eq!(code(ask("wallet-8")), "invalid_proof");
}

#[test]
fn one_bad_proof_spoils_the_batch() {
    let issuer = Issuer::new();
    let (one, two) = (Party::new(KeyType::P256), Party::new(KeyType::P256));
    let bad = two.token(
        &proof_header(&two),
        &with(&issuer.proof_claims(), json!({"aud": "x"})),
    );
    assert_eq!(
        code(issuer.ask(SD_JWT, &[issuer.proof(&one), bad])),
        "invalid_proof"
    );
    assert_eq!(
        code(issuer.ask(SD_JWT, &[issuer.proof(&one), "no.jwt".to_owned()])),
        "invalid_proof"
    );
}

#[test]
fn an_input_that_does_not_fit_the_record_is_an_error_of_ours() {
    let issuer = Issuer::new();
    let made = issuer.offer(SD_JWT);
    let request_token = token_request(&made.offer);
    let granted = IssuanceState::Granted(issuer.granted(SD_JWT));
    assert!(matches!(
        issuer.token(&granted, &request_token, &ctx(2)),
        Err(Error::State(_))
    ));
    let offered = IssuanceState::Offered(made.state);
    let request = request(SD_JWT, &[]);
    assert!(matches!(
        issuer.credential(&offered, &request, &ctx(2)),
        Err(Error::State(_))
    ));
}
