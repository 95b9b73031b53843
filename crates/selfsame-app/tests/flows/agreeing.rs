//! Encrypted answers, and transactions that people agree to by presenting a credential.

use selfsame_credential::verdict::Outcome;
use selfsame_openid::view::verifier::{NewRequest, RequestState};
use selfsame_openid4vc::wire::credential::WantedEncryption;
use selfsame_wallet::view::AnswerRequest;
use serde_json::json;

use crate::verifying::{holder, newest};
use crate::world::{Fault, Site, WalletHost, accept};

fn payment(amount: &str) -> serde_json::Value {
    json!({
        "type": "urn:selfsame:transaction:payment",
        "payee": "Harbour Shop", "amount": amount, "currency": "EUR",
    })
}

fn of_type() -> NewRequest {
    NewRequest {
        type_id: Some("immunization".to_owned()),
        ..NewRequest::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_asked_for_encrypted_is_read_by_the_verifier_alone() {
    let site = Site::start().await;
    let (app, person) = holder(&site, "immunization").await;
    let wallet = app.wallet().unwrap();
    let verifier = site.app.main().verifier().unwrap();
    for prefix in [None, Some("redirect_uri".to_owned())] {
        let asking = NewRequest {
            response_mode: Some("direct_post.jwt".to_owned()),
            client_id_prefix: prefix,
            ..of_type()
        };
        let request = verifier.create_request(&asking).await.unwrap();
        // The first attempt gets lost, and shows what is on the way.
        site.faults.add("/verifier/responses", Fault::CutBefore);
        let _ = wallet.answer_request(&person, &newest(&request.uri)).await;
        let (_, body) = site.faults.last_request();
        let body = String::from_utf8(body).unwrap();
        assert!(body.starts_with("response=") && !body.contains("vp_token"));
        verifier.response(&request.id, body.as_bytes()).await.ok();
        let status = verifier.wait(&request.id, 20).await.unwrap();
        assert_eq!(status.state, RequestState::Answered);
        assert_eq!(status.verdict.unwrap().outcome, Outcome::Valid);
        // The key is gone with the answer.
        assert!(
            verifier
                .response(&request.id, body.as_bytes())
                .await
                .is_err()
        );
    }
    let unknown = NewRequest {
        response_mode: Some("fragment".to_owned()),
        ..of_type()
    };
    let refused = verifier.create_request(&unknown).await.unwrap_err();
    assert_eq!(refused.reason.id(), "response-mode-unknown");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_is_requested_and_sent_encrypted_where_the_issuer_encrypts() {
    for wanted in [WantedEncryption::Allowed, WantedEncryption::Required] {
        let site = Site::encrypting(wanted).await;
        site.faults.add("/issuer/credential", Fault::CutBefore);
        // The first attempt gets lost, and shows what is on the way; the next one brings the card.
        let app = WalletHost::new(&site).open().await;
        let person = crate::world::person(&app).await;
        let offer = accept(&site.offer("immunization").await);
        let wallet = app.wallet().unwrap();
        wallet.accept_offer(&person, &offer).await.unwrap_err();
        let (token, body) = site.faults.last_request();
        assert_eq!(body.iter().filter(|byte| **byte == b'.').count(), 4);
        let issuer = site.app.main().issuer().unwrap();
        let token = token.unwrap();
        let answer = issuer.credential(token.as_str(), &body).await.unwrap();
        assert!(answer.plain().is_none());
        // What is not encrypted is taken only where it need not be.
        let plain = br#"{"credential_configuration_id":"x"}"#;
        let refused = issuer.credential(token.as_str(), plain).await.unwrap_err();
        let code = match wanted {
            WantedEncryption::Required => "invalid_encryption_parameters",
            _ => "unknown_credential_configuration",
        };
        assert_eq!(refused.code, Some(code));
    }
    // The whole way.
    let site = Site::encrypting(WantedEncryption::Required).await;
    holder(&site, "immunization").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_sees_the_transaction_before_they_agree_and_the_verdict_says_that_they_did() {
    let site = Site::start().await;
    let (app, person) = holder(&site, "immunization").await;
    let wallet = app.wallet().unwrap();
    let verifier = site.app.main().verifier().unwrap();
    let asking = NewRequest {
        transaction_data: Some(vec![payment("12.50")]),
        ..of_type()
    };
    let request = verifier.create_request(&asking).await.unwrap();
    let unseen = wallet.answer_request(&person, &newest(&request.uri)).await;
    assert_eq!(
        unseen.unwrap_err().reason.id(),
        "transaction-without-preview"
    );
    let preview = wallet.preview_request(&person, &request.uri).await.unwrap();
    let [transaction] = preview.transactions.as_slice() else {
        panic!("{:?}", preview.transactions)
    };
    assert_eq!(transaction.title, "Payment");
    assert_eq!(transaction.lines[1].value, "12.50");
    let share = &preview.shares[0];
    let cards = [(share.query.clone(), share.choices[0].card.clone())];
    let answer = AnswerRequest {
        request: preview.id.clone(),
        cards: cards.into(),
        policy: None,
    };
    wallet.answer_request(&person, &answer).await.unwrap();
    let status = verifier.wait(&request.id, 20).await.unwrap();
    let verdict = status.verdict.unwrap();
    assert_eq!(verdict.outcome, Outcome::Valid);
    let mut rules = verdict.credentials[0].rules.iter();
    let rule = rules.find(|rule| rule.name == "transaction_data").unwrap();
    assert_eq!(rule.passed, Some(true));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_no_wallet_could_show_is_not_asked_for() {
    let site = Site::start().await;
    let verifier = site.app.main().verifier().unwrap();
    for transaction in [
        json!({"type": "urn:other", "amount": 1}),
        json!({"type": "urn:selfsame:transaction:payment"}),
        json!("payment"),
    ] {
        let asking = NewRequest {
            transaction_data: Some(vec![transaction.clone()]),
            ..of_type()
        };
        let refused = verifier.create_request(&asking).await.unwrap_err();
        assert_eq!(
            refused.code,
            Some("invalid_transaction_data"),
            "{transaction}"
        );
    }
}
