//! A remote identity system that is slow, down, wrong or late.

use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::{KeyType, PrivateKey, jws::Unsigned};
use selfsame_net::Settings;
use selfsame_oidc::FactorKind;
use selfsame_sign_in::identity::{Challenge, OtpChannel};
use selfsame_store::TenantId;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;

/// A system that gives each caller this answer after a pause.
async fn host(answer: String, pause: Duration) -> RemoteMock {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base: Url = format!(
        "http://{}/v1/mock-identity-system",
        listener.local_addr().unwrap()
    )
    .parse()
    .unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let answer = answer.clone();
            tokio::spawn(async move {
                let mut request = Vec::new();
                while !String::from_utf8_lossy(&request).contains('}') {
                    if stream.read_buf(&mut request).await.unwrap() == 0 {
                        return;
                    }
                }
                tokio::time::sleep(pause).await;
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    remote(base)
}

fn remote(base: Url) -> RemoteMock {
    let settings = Settings {
        own_origins: vec![base.origin()],
        native_roots: false,
        ..Settings::default()
    };
    RemoteMock {
        net: Net::new(settings).unwrap(),
        base,
        time_out: Duration::from_secs(60),
        calls_at_once: 64,
    }
}

fn http(status: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
}

async fn answering(body: Value) -> RemoteMock {
    host(http("200 OK", &body.to_string()), Duration::ZERO).await
}

fn asking() -> AskingClient {
    AskingClient {
        tenant: TenantId::instance(),
        client_id: "client".to_owned(),
        relying_party: "party".to_owned(),
        transaction: "0123456789".to_owned(),
        from: None,
    }
}

async fn send(remote: &RemoteMock) -> Result<OtpSent, IdentityFault> {
    let order = OtpOrder {
        identifier: "9876543210".into(),
        channels: vec![OtpChannel::Phone],
        locales: Vec::new(),
    };
    remote.send_otp(&asking(), &order).await
}

async fn authenticate(remote: &RemoteMock) -> Result<ProvenPerson, IdentityFault> {
    let attempt = SignInAttempt {
        identifier: "9876543210".into(),
        challenges: vec![Challenge {
            factor: FactorKind::Otp,
            format: None,
            value: "111111".into(),
        }],
    };
    remote.authenticate(&asking(), &attempt).await
}

async fn exchange(remote: &RemoteMock) -> Result<PersonClaims, IdentityFault> {
    let order = ClaimsOrder {
        handle: "9876543210".to_owned(),
        subject: "subject".to_owned(),
        token: "token\n9876543210".into(),
        claims: vec!["name".to_owned()],
        locales: Vec::new(),
    };
    remote.exchange(&asking(), &order).await
}

fn kind<T>(answer: Result<T, IdentityFault>) -> IdentityFaultKind {
    answer.err().unwrap().kind
}

#[tokio::test]
async fn an_answer_after_the_time_out_counts_for_nothing() {
    let body =
        json!({"response": {"authStatus": true, "kycToken": "t", "partnerSpecificUserToken": "s"}});
    let late = RemoteMock {
        time_out: Duration::from_millis(300),
        ..host(http("200 OK", &body.to_string()), Duration::from_secs(2)).await
    };
    assert_eq!(kind(authenticate(&late).await), IdentityFaultKind::TooLate);
    assert_eq!(kind(send(&late).await), IdentityFaultKind::TooLate);
}

#[tokio::test]
async fn a_system_that_is_down_is_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let down = remote(base.parse().unwrap());
    assert_eq!(kind(send(&down).await), IdentityFaultKind::Unavailable);
    let broken = host(http("503 Service Unavailable", ""), Duration::ZERO).await;
    assert_eq!(
        kind(exchange(&broken).await),
        IdentityFaultKind::Unavailable
    );
}

#[tokio::test]
async fn answers_against_the_specification_let_nobody_in() {
    for body in [
        json!([]),
        json!({"response": null, "errors": []}),
        json!({"response": {"authStatus": "yes"}}),
        json!({"response": {"authStatus": true, "kycToken": "t"}}),
        json!({"response": {"authStatus": false}}),
        json!({"response": {"authStatus": true, "kycToken": "t", "partnerSpecificUserToken": "s"},
               "errors": [{"errorCode": "auth_failed"}]}),
    ] {
        assert!(
            authenticate(&answering(body.clone()).await).await.is_err(),
            "{body}"
        );
    }
    let other = json!({"response": {"transactionId": "other"}});
    assert_eq!(
        kind(send(&answering(other).await).await),
        IdentityFaultKind::Unavailable
    );
}

#[tokio::test]
async fn codes_of_the_system_say_who_must_act() {
    for (code, expected) in [
        ("invalid_individual_id", IdentityFaultKind::UnknownPerson),
        ("no_email_mobile_found", IdentityFaultKind::NoAddress),
        ("something_else", IdentityFaultKind::Unavailable),
    ] {
        let refusing = answering(json!({"response": null, "errors": [{"errorCode": code}]})).await;
        let fault = send(&refusing).await.unwrap_err();
        assert_eq!((fault.kind, fault.code.as_deref()), (expected, Some(code)));
    }
}

#[tokio::test]
async fn claims_of_another_person_or_for_another_client_are_not_passed_on() {
    let signed = |claims: Value| {
        let key = PrivateKey::generate(KeyType::P256).unwrap();
        let unsigned = Unsigned::new(&json!({"alg": "ES256"}), &claims);
        let signature = key.sign(unsigned.signing_input()).unwrap();
        json!({"response": {"kyc": unsigned.finish(&signature)}})
    };
    let right = json!({"sub": "subject", "aud": "client", "name": "Maja"});
    assert!(exchange(&answering(signed(right)).await).await.is_ok());
    for wrong in [
        signed(json!({"sub": "other", "aud": "client"})),
        signed(json!({"sub": "subject", "aud": "other"})),
        json!({"response": {"kyc": base64url_encode(b"{}")}}),
    ] {
        let fault = exchange(&answering(wrong).await).await;
        assert_eq!(kind(fault), IdentityFaultKind::Unavailable);
    }
}
