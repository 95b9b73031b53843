//! Somebody who signed in refreshes their access token while a credential waits for an approval.

use selfsame_app::config::Config;
use selfsame_approvals::Decision;
use selfsame_approvals::view::WhichApprovals;
use selfsame_crypto::{KeyType, PrivateKey, SecretString, jws};
use selfsame_driver::Result as Driven;
use selfsame_oauth::ScopeSet;
use selfsame_openid::config::{IssuerConfig, WantedApproval};
use selfsame_openid::issuer::TokenBySignIn;
use selfsame_openid4vc::wire::credential::CredentialAnswer;
use serde_json::{Value, json};
use url::Url;

use super::by_sign_in::{Desk, read};
use super::instance::get;

const DAY: u64 = 86_400;

/// An issuer whose staff passes all need an approval.
struct Scene {
    desk: Desk,
    configuration: String,
}

impl Scene {
    async fn open() -> Self {
        let issuer = IssuerConfig {
            approval: WantedApproval::ByDefault,
            ..IssuerConfig::default()
        };
        let approving = |_: &Url, config: Config| Config { issuer, ..config };
        let desk = Desk::configured(("strict", "none"), "127.0.0.1", approving).await;
        let metadata = get("/.well-known/openid-credential-issuer/issuer");
        let metadata = read(&desk.call(metadata).await);
        let all = metadata["credential_configurations_supported"].as_object();
        let mut all = all.unwrap().iter();
        let is_pass = |one: &Value| one["scope"] == "staff" && one["format"] == "dc+sd-jwt";
        let (configuration, _) = all.find(|(_, one)| is_pass(one)).unwrap();
        Self {
            configuration: configuration.clone(),
            desk,
        }
    }

    fn passes(&self, seconds: u64) {
        self.desk.instance.app.clock().advance(seconds);
    }

    /// An access token of a sign-in, bound to this key, as the provider hands it out now.
    fn token(&self, (text, sign_in): (&str, &str), key: Option<&str>) -> TokenBySignIn {
        let now = self.desk.instance.app.clock().now();
        let claims = json!({"name": "Maja Lind", "email": "maja@example.org"});
        TokenBySignIn {
            token: SecretString::from(text.to_owned()),
            sign_in: sign_in.to_owned(),
            ends: now.plus(30 * DAY),
            key: key.map(str::to_owned),
            client_id: "selfsame-wallet".to_owned(),
            subject: "maja".to_owned(),
            scope: ScopeSet::from_iter(["staff"]),
            details: Vec::new(),
            issuer_state: None,
            claims: claims.as_object().unwrap().clone(),
            expires: now.plus(600),
        }
    }

    /// A request for one copy.
    fn request(&self) -> Value {
        let app = &self.desk.instance.app;
        let nonce = app.main().issuer().unwrap().nonce().c_nonce;
        let holder = PrivateKey::generate(KeyType::P256).unwrap();
        let jwk = holder.public().to_jwk().to_value();
        let audience = self.desk.origin.join("issuer").unwrap();
        let proof = jws::Unsigned::new(
            &json!({"typ": "openid4vci-proof+jwt", "alg": "ES256", "jwk": jwk}),
            &json!({"aud": audience, "iat": app.clock().now().0, "nonce": nonce}),
        );
        let signature = holder.sign(proof.signing_input()).unwrap();
        json!({
            "credential_configuration_id": self.configuration,
            "proofs": {"jwt": [proof.finish(&signature)]},
        })
    }

    async fn asks(&self, by: &TokenBySignIn, request: &Value) -> Result<Option<String>, String> {
        let body = request.to_string();
        let issuer = self.desk.instance.app.main().issuer().unwrap();
        told(issuer.credential_by_sign_in(by, body.as_bytes()).await)
    }

    async fn looks(&self, by: &TokenBySignIn, transaction: &str) -> Result<Option<String>, String> {
        let body = json!({ "transaction_id": transaction }).to_string();
        let issuer = self.desk.instance.app.main().issuer().unwrap();
        told(issuer.deferred_by_sign_in(by, body.as_bytes()).await)
    }

    /// The ids of the requests that wait.
    async fn waiting(&self) -> Vec<String> {
        let issuer = self.desk.instance.app.main().issuer().unwrap();
        let listed = issuer.approvals().list(&WhichApprovals::default()).await;
        let listed = listed.unwrap().items.into_iter();
        listed.map(|one| one.id).collect()
    }
}

/// The name of the transaction that waits, none for credentials, or else the code of the refusal.
fn told(answer: Driven<CredentialAnswer>) -> Result<Option<String>, String> {
    match answer {
        Ok(CredentialAnswer::Deferred(waits)) => Ok(Some(waits.transaction_id)),
        Ok(CredentialAnswer::Plain(_)) => Ok(None),
        Ok(_) => panic!("nothing here is encrypted"),
        Err(error) => Err(error.code.unwrap_or_default().to_owned()),
    }
}

fn refused(code: &str) -> Result<Option<String>, String> {
    Err(code.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refreshed_token_finds_what_waits_and_begins_no_second_decision() {
    let scene = Scene::open().await;
    let first = scene.token(("a.b.c", "one"), None);
    let request = scene.request();
    let waits = scene.asks(&first, &request).await;
    let transaction = waits.clone().unwrap().unwrap();
    // The first token has ended; the provider gives the next one for the same sign-in.
    scene.passes(DAY);
    let second = scene.token(("d.e.f", "one"), None);
    assert_eq!(scene.looks(&second, &transaction).await, waits);
    assert_eq!(scene.asks(&second, &request).await, waits);
    let denied = refused("credential_request_denied");
    assert_eq!(scene.asks(&second, &scene.request()).await, denied);
    let waiting = scene.waiting().await;
    assert_eq!(waiting.len(), 1);
    let issuer = scene.desk.instance.app.main().issuer().unwrap();
    let approvals = issuer.approvals();
    let approved = approvals.decide(&waiting[0], &Decision::Approve);
    approved.await.unwrap();
    assert_eq!(scene.looks(&second, &transaction).await, Ok(None));
    // The sign-in has got what it was for.
    scene.passes(DAY);
    let third = scene.token(("g.h.i", "one"), None);
    assert_eq!(scene.asks(&third, &scene.request()).await, denied);
    assert!(scene.waiting().await.is_empty());
    // When the sign-in ends, what it got is forgotten.
    scene.passes(30 * DAY);
    let later = scene.token(("j.k.l", "one"), None);
    let again = scene.asks(&later, &scene.request()).await;
    assert!(matches!(again, Ok(Some(_))), "{again:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_is_for_the_sign_in_that_began_it_and_its_key_alone() {
    let scene = Scene::open().await;
    let bound = scene.token(("a.b.c", "one"), Some("key"));
    let waits = scene.asks(&bound, &scene.request()).await;
    let transaction = waits.clone().unwrap().unwrap();
    let refreshed = scene.token(("d.e.f", "one"), Some("key"));
    assert_eq!(scene.looks(&refreshed, &transaction).await, waits);
    for key in [None, Some("another key")] {
        let other = scene.token(("d.e.f", "one"), key);
        let invalid = refused("invalid_token");
        assert_eq!(scene.looks(&other, &transaction).await, invalid);
        assert_eq!(scene.asks(&other, &scene.request()).await, invalid);
    }
    let stranger = scene.token(("a.b.c", "two"), Some("key"));
    let unknown = refused("invalid_transaction_id");
    assert_eq!(scene.looks(&stranger, &transaction).await, unknown);
    assert_eq!(scene.waiting().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_cannot_fill_the_list_by_signing_in_again_and_again() {
    let scene = Scene::open().await;
    for number in 0..20 {
        let sign_in = format!("sign-in {number}");
        let by = scene.token(("a.b.c", &sign_in), None);
        let waits = scene.asks(&by, &scene.request()).await;
        assert!(matches!(waits, Ok(Some(_))), "{number}: {waits:?}");
    }
    let by = scene.token(("a.b.c", "one more"), None);
    let request = scene.request();
    let denied = refused("credential_request_denied");
    assert_eq!(scene.asks(&by, &request).await, denied);
    let other = TokenBySignIn {
        subject: "eve".to_owned(),
        ..scene.token(("d.e.f", "of another person"), None)
    };
    let waits = scene.asks(&other, &scene.request()).await;
    assert!(matches!(waits, Ok(Some(_))), "{waits:?}");
    // Once somebody has decided, the same request finds a place.
    let waiting = scene.waiting().await;
    let issuer = scene.desk.instance.app.main().issuer().unwrap();
    let oldest = waiting.last().unwrap();
    let approved = issuer.approvals().decide(oldest, &Decision::Approve).await;
    approved.unwrap();
    let waits = scene.asks(&by, &request).await;
    assert!(matches!(waits, Ok(Some(_))), "{waits:?}");
}
