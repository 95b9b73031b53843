//! The mock identity system in a store in memory.

use std::sync::Arc;

use selfsame_crypto::encoding;
use selfsame_crypto::jws::Compact;
use selfsame_store::{Memory, Vault};
use serde_json::json;

use super::*;

struct World {
    mock: MockIdentities,
    clock: Clock,
}

impl World {
    async fn new() -> Self {
        let clock = Clock::default();
        let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
        let now = clock.clone();
        let store =
            Store::open_with_clock(Arc::new(Memory::new()), vault, Arc::new(move || now.now()));
        let store = store.await.unwrap();
        let config = MockConfig {
            issuer: "https://host.example/v1/esignet".to_owned(),
            delay: Duration::ZERO,
            algorithm: MockAlgorithm::Rs256,
            codes_on_screen: false,
        };
        let resources = MockResources {
            keys: Keys::new(store.clone()),
            store,
            clock: clock.clone(),
            work: CpuPool::new("test").unwrap(),
        };
        let mock = MockIdentities::new(config, resources).unwrap();
        mock.create(maja()).await.unwrap();
        Self { mock, clock }
    }

    async fn send(&self) -> MockAnswer<OtpReceipt> {
        let order = SendOtpRequest {
            transaction_id: "0123456789".to_owned(),
            individual_id: "9876543210".to_owned(),
            otp_channels: vec!["PHONE".to_owned(), "email".to_owned()],
        };
        self.mock.send_otp(&order).await
    }

    async fn authenticate(&self, challenge: KycAuthRequest) -> MockAnswer<KycAuthentication> {
        let request = KycAuthRequest {
            transaction_id: "0123456789".to_owned(),
            individual_id: "9876543210".to_owned(),
            ..challenge
        };
        self.mock.kyc_auth("relying-party", &request).await
    }

    async fn exchange(&self, token: &str, locales: &[&str]) -> MockAnswer<Value> {
        let claims = [
            "name",
            "gender",
            "email",
            "birthdate",
            "address",
            "unheard_of",
        ];
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let request = KycExchangeRequest {
            transaction_id: "0123456789".to_owned(),
            kyc_token: token.to_owned(),
            individual_id: "9876543210".to_owned(),
            accepted_claims: Some(owned(&claims)),
            claim_locales: Some(owned(locales)),
            ..KycExchangeRequest::default()
        };
        let signed = self.mock.kyc_exchange("client", &request, None).await?;
        Ok(Compact::parse(signed.expose()).unwrap().claims().unwrap())
    }
}

fn maja() -> Map<String, Value> {
    let localised = |english: &str, french: &str| {
        json!([
            {"language": "eng", "value": english},
            {"language": "fra", "value": french}
        ])
    };
    let maja = json!({
        "individualId": "9876543210",
        "pin": "4711",
        "password": "correct horse",
        "fullName": localised("Maja Lind", "Maïa Lind"),
        "gender": localised("Female", "Femme"),
        "locality": localised("Ghent", "Gand"),
        "postalCode": "9000",
        "dateOfBirth": "1990/05/31",
        "email": "maja@example.org",
        "phone": "9427357934"
    });
    maja.as_object().unwrap().clone()
}

fn otp(otp: &str) -> KycAuthRequest {
    KycAuthRequest {
        otp: Some(otp.to_owned()),
        ..KycAuthRequest::default()
    }
}

#[tokio::test]
async fn a_person_signs_in_with_the_constant_password_and_a_client_gets_their_claims() {
    let world = World::new().await;
    let receipt = world.send().await.unwrap();
    assert_eq!(receipt.masked_mobile.as_deref(), Some("XXXXXX7934"));
    assert_eq!(receipt.masked_email.as_deref(), Some("XXjX@example.org"));
    let proven = world.authenticate(otp(OTP)).await.unwrap();
    assert!(proven.auth_status);
    let claims = world.exchange(&proven.kyc_token.unwrap(), &["en"]).await;
    assert_eq!(
        claims.unwrap(),
        json!({
            "iss": "https://host.example/v1/esignet",
            "aud": "client",
            "sub": "onH7jV-E5fvhUOEhtOW10dpVy1Pn-Xl7HbDl7EW--MQ",
            "name": "Maja Lind",
            "gender": "Female",
            "email": "maja@example.org",
            "birthdate": "1990/05/31",
            "address": {"locality": "Ghent", "postal_code": "9000"}
        })
    );
}

#[tokio::test]
async fn with_several_languages_each_claim_says_its_own() {
    let world = World::new().await;
    world.send().await.unwrap();
    let proven = world.authenticate(otp(OTP)).await.unwrap();
    let claims = world
        .exchange(&proven.kyc_token.unwrap(), &["eng", "fr"])
        .await;
    let claims = claims.unwrap();
    assert_eq!(claims["name#eng"], "Maja Lind");
    assert_eq!(claims["name#fr"], "Maïa Lind");
    assert_eq!(claims["email"], "maja@example.org");
    assert!(claims.get("name").is_none());
}

#[tokio::test]
async fn a_password_that_was_sent_is_used_once_and_wrong_ones_do_not_use_it_up() {
    let world = World::new().await;
    let refused = |code| Err(MockFault::Refused(code));
    let status = |answer: MockAnswer<KycAuthentication>| answer.map(|proven| proven.auth_status);
    let none = world.authenticate(otp(OTP)).await;
    assert_eq!(status(none), refused("invalid_transaction"));
    world.send().await.unwrap();
    let wrong = world.authenticate(otp("000000")).await;
    assert_eq!(status(wrong), refused("auth_failed"));
    let (one, other) = tokio::join!(world.authenticate(otp(OTP)), world.authenticate(otp(OTP)));
    let mut both = [status(one), status(other)];
    both.sort_by_key(|one| one.is_err());
    assert_eq!(both, [Ok(true), refused("invalid_transaction")]);
    world.send().await.unwrap();
    world.clock.advance(records::SECONDS);
    let late = world.authenticate(otp(OTP)).await;
    assert_eq!(status(late), refused("invalid_transaction"));
}

#[tokio::test]
async fn a_token_gives_claims_once_however_many_ask() {
    let world = World::new().await;
    world.send().await.unwrap();
    let proven = world.authenticate(otp(OTP)).await.unwrap();
    let token = proven.kyc_token.unwrap();
    let (one, other) = tokio::join!(world.exchange(&token, &[]), world.exchange(&token, &[]));
    assert_eq!(
        [one.is_ok(), other.is_ok()]
            .iter()
            .filter(|ok| **ok)
            .count(),
        1
    );
    let again = world.exchange(&token, &[]).await;
    assert_eq!(again, Err(MockFault::UNKNOWN_TOKEN));
}

#[tokio::test]
async fn each_other_factor_is_right_or_wrong() {
    let world = World::new().await;
    let answers = |date: &str| {
        let answers = json!({"dateOfBirth": date, "email": "maja@example.org"});
        encoding::base64url_encode(answers.to_string().as_bytes())
    };
    let with = |set: &dyn Fn(&mut KycAuthRequest)| {
        let mut request = KycAuthRequest::default();
        set(&mut request);
        request
    };
    let right = [
        with(&|one| one.pin = Some("4711".to_owned())),
        with(&|one| one.password = Some("correct horse".to_owned())),
        with(&|one| one.kbi = Some(answers("1990-05-31"))),
        with(&|one| one.biometrics = Some("sample".to_owned())),
        with(&|one| one.tokens = Some(vec!["token".to_owned()])),
    ];
    for request in right {
        assert!(world.authenticate(request).await.unwrap().auth_status);
    }
    let wrong = [
        KycAuthRequest::default(),
        with(&|one| one.pin = Some("4712".to_owned())),
        with(&|one| one.password = Some("correct".to_owned())),
        with(&|one| one.kbi = Some(answers("1990-06-01"))),
        with(&|one| one.kbi = Some(encoding::base64url_encode(b"{}"))),
        with(&|one| one.kbi = Some("no base64url!".to_owned())),
    ];
    for request in wrong {
        let answer = world.authenticate(request).await;
        assert!(answer.is_err() || answer.is_ok_and(|proven| !proven.auth_status));
    }
}

#[tokio::test]
async fn people_are_created_once_updated_by_member_and_shown_without_their_password() {
    let world = World::new().await;
    let twice = world.mock.create(maja()).await;
    assert_eq!(twice, Err(MockFault::Refused("duplicate_individual_id")));
    let change = json!({"individualId": "9876543210", "pin": "0815", "email": null});
    world
        .mock
        .update(change.as_object().unwrap().clone())
        .await
        .unwrap();
    let shown = world.mock.person("9876543210").await.unwrap();
    let shown = shown.members();
    assert_eq!(
        (&shown["pin"], &shown["email"]),
        (&json!("0815"), &json!("maja@example.org"))
    );
    assert_ne!(shown["password"], "correct horse");
    for unknown in ["1234567890", ""] {
        assert_eq!(
            world.mock.person(unknown).await.err(),
            Some(MockFault::UNKNOWN_PERSON)
        );
    }
    for nobody in [
        json!({}),
        json!({"individualId": 7}),
        json!({"individualId": "a b"}),
    ] {
        let members = nobody.as_object().unwrap().clone();
        assert_eq!(
            world.mock.create(members).await,
            Err(MockFault::UNKNOWN_PERSON)
        );
    }
}

#[tokio::test]
async fn people_without_the_address_asked_for_are_told_so() {
    let world = World::new().await;
    let order = |person: &str, channel: &str| SendOtpRequest {
        transaction_id: "0123456789".to_owned(),
        individual_id: person.to_owned(),
        otp_channels: vec![channel.to_owned()],
    };
    let nobody = json!({"individualId": "1"});
    world
        .mock
        .create(nobody.as_object().unwrap().clone())
        .await
        .unwrap();
    for (order, code) in [
        (order("1", "email"), "no_email_mobile_found"),
        (order("2", "email"), "invalid_individual_id"),
        (order("1", "pigeon"), "invalid_otp_channel"),
    ] {
        let refused = world.mock.send_otp(&order).await.err();
        assert_eq!(refused, Some(MockFault::Refused(code)));
    }
}
