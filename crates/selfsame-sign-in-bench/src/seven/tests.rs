use selfsame_crypto::jws::Compact;

use super::*;
use crate::fake_provider::FakeProvider;
use crate::people::BenchPeople;
use crate::round::SignInRound;

async fn walked(fake: &FakeProvider) -> WalkedSignIn {
    let client = BenchClient::new(fake.origin());
    let provider = EsignetProvider::find(client, BELOW, "").await.unwrap();
    let party = provider.party().await.unwrap();
    let person = BenchPeople::new(1).next();
    provider.walk(&party, &person, None).await
}

#[test]
fn the_text_of_a_response_is_taken_as_it_was_written() {
    let envelope = r#"{"responseTime":"t","response":{"a":[1,{"b":"}"}],"é":null},"errors":[]}"#;
    let text = r#"{"a":[1,{"b":"}"}],"é":null}"#;
    assert_eq!(response_text(envelope), Some(text));
    let without = r#"{"response":null,"errors":[]}"#;
    assert_eq!(response_text(without), Some("null"));
    assert_eq!(response_text(r#"{"errors":[]}"#), None);
}

#[test]
fn userinfo_must_have_the_persons_name() {
    let token = |claims: &str| format!("e30.{}.c2ln", base64url_encode(claims.as_bytes()));
    assert!(has_name(&token(r#"{"name":"Rosa"}"#), "Rosa"));
    for wrong in [&token(r#"{"name":"Ada"}"#), r#"{"name":"Rosa"}"#, ""] {
        assert!(!has_name(wrong, "Rosa"), "{wrong}");
    }
}

#[tokio::test]
async fn a_sign_in_has_seven_calls_with_the_proofs_that_belong_together() {
    let fake = FakeProvider::start("").await;
    let walked = walked(&fake).await;
    assert!(walked.failed.is_none(), "{:?}", walked.failed);
    assert_eq!(walked.calls.len(), 7);
    let details: Value = serde_json::from_str(&fake.bodies("oauth-details")[0]).unwrap();
    let form = &fake.bodies("oauth/v2/token")[0];
    let value = |name: &str| {
        let mut fields = form.split('&').filter_map(|field| field.split_once('='));
        let found = fields.find(|(key, _)| *key == name);
        found.unwrap().1.to_owned()
    };
    let challenge = base64url_encode(&sha256(value("code_verifier").as_bytes()));
    assert_eq!(details["request"]["codeChallenge"], challenge);
    let assertion = Compact::parse(&value("client_assertion")).unwrap();
    let claims = assertion.claims().unwrap();
    assert_eq!(claims["sub"], details["request"]["clientId"]);
    let audience = "https://op.example/v1/esignet/oauth/v2/token";
    assert_eq!(claims["aud"], audience);
}

#[tokio::test]
async fn an_error_in_an_envelope_ends_the_sign_in_at_its_call() {
    let fake = FakeProvider::start("authenticate").await;
    let mut round = SignInRound::<7>::begin();
    round.add(walked(&fake).await);
    assert_eq!(
        (round.finished, round.failed_at),
        (0, [0, 0, 0, 1, 0, 0, 0])
    );
    assert!(round.why.unwrap().contains("broken"));
}
