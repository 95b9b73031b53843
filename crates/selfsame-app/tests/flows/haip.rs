//! A wallet that keeps HAIP 1.0 and an issuer and a verifier that do not; and what keeps roles from starting.

use std::sync::Arc;

use rcgen::{CertificateParams, DnType, Issuer, KeyPair};
use selfsame_app::App;
use selfsame_crypto::SecretString;
use selfsame_driver::{Error, ErrorKind};
use selfsame_haip::WantedProfile;
use selfsame_openid::config::{IssuerConfig, VerifierConfig};
use selfsame_openid::view::verifier::NewRequest;
use selfsame_wallet::config::WalletConfig;
use selfsame_wallet::view::Person;
use serde_json::json;

use crate::verifying::newest;
use crate::world::{Fault, Site, WalletHost, accept, person};

const METADATA: &str = "/.well-known/openid-credential-issuer";

/// The settings of a wallet that keeps the profile.
fn keeping() -> WalletConfig {
    let named = |name: &str| {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params
    };
    let authority = Issuer::new(named("An authority"), KeyPair::generate().unwrap());
    let key = KeyPair::generate().unwrap();
    let leaf = named("An attester").signed_by(&key, &authority).unwrap();
    let mut settings = WalletConfig {
        profile: Some(WantedProfile::Haip),
        certificate: Some(leaf.pem()),
        certificate_key: Some(SecretString::from(key.serialize_pem())),
        ..WalletConfig::default()
    };
    settings.complete(|_| false);
    settings
}

/// A site without the profile, and a wallet with it.
struct Scene {
    site: Site,
    wallet: Arc<App>,
    person: Person,
}

impl Scene {
    async fn new() -> Self {
        let site = Site::start().await;
        let wallet = WalletHost::new(&site).keeping(keeping()).await;
        Self {
            person: person(&wallet).await,
            wallet,
            site,
        }
    }

    async fn offered(&self) -> Error {
        let offer = self.site.offer("immunization").await;
        let wallet = self.wallet.wallet().unwrap();
        wallet.preview_offer(&offer.uri).await.unwrap_err()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wallet_by_the_profile_refuses_the_offer_of_another_issuer_before_it_sends_anything() {
    let scene = Scene::new().await;
    let refused = scene.offered().await;
    assert_eq!(refused.kind, ErrorKind::Upstream);
    assert!(refused.to_string().contains("HAIP 1.0 §4.2"), "{refused}");
    let offer = scene.site.offer("immunization").await;
    let wallet = scene.wallet.wallet().unwrap();
    let refused = wallet.accept_offer(&scene.person, &accept(&offer)).await;
    assert!(refused.is_err());
    assert_eq!(scene.site.issued().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wallet_by_the_profile_refuses_metadata_that_nobody_who_is_trusted_signed() {
    let scene = Scene::new().await;
    let issuer = scene.site.app.main().issuer().unwrap().clone();
    let signed = issuer.signed_metadata().await.unwrap();
    scene.site.faults.add(METADATA, Fault::Sign(signed.leak()));
    let refused = scene.offered().await;
    assert!(refused.to_string().contains("HAIP 1.0 §4.1"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wallet_takes_metadata_that_a_trusted_did_signed_and_no_forged_ones() {
    let site = Site::start().await;
    let did = site
        .app
        .main()
        .issuer()
        .unwrap()
        .identity()
        .did()
        .to_string();
    let settings = WalletConfig {
        signed_metadata: selfsame_wallet::config::WantedMetadata::Required,
        ..WalletConfig::default()
    };
    let app = WalletHost::new(&site).trusting(settings, vec![did]).await;
    let wallet = app.wallet().unwrap();
    let offer = site.offer("immunization").await;
    // The server of these tests signs nothing by itself.
    let unsigned = wallet.preview_offer(&offer.uri).await.unwrap_err();
    assert_eq!(unsigned.reason.id(), "metadata-unsigned");
    app.clock().advance(60);
    let issuer = site.app.main().issuer().unwrap().clone();
    let signed = issuer.signed_metadata().await.unwrap();
    let (start, signature) = signed.rsplit_once('.').unwrap();
    let forged = format!("{start}.{}", signature.chars().rev().collect::<String>());
    site.faults.add(METADATA, Fault::Sign(forged.leak()));
    let refused = wallet.preview_offer(&offer.uri).await.unwrap_err();
    assert_ne!(refused.reason.id(), "metadata-unsigned", "{refused}");
    app.clock().advance(60);
    site.faults.add(METADATA, Fault::Sign(signed.leak()));
    wallet.preview_offer(&offer.uri).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wallet_that_only_asks_takes_the_plain_metadata_where_the_signer_is_a_stranger() {
    let site = Site::start().await;
    let settings = WalletConfig {
        signed_metadata: selfsame_wallet::config::WantedMetadata::Asked,
        ..WalletConfig::default()
    };
    let app = WalletHost::new(&site).keeping(settings).await;
    let issuer = site.app.main().issuer().unwrap().clone();
    let signed = issuer.signed_metadata().await.unwrap();
    site.faults.add(METADATA, Fault::Sign(signed.leak()));
    let offer = site.offer("immunization").await;
    let wallet = app.wallet().unwrap();
    wallet.preview_offer(&offer.uri).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wallet_by_the_profile_refuses_the_request_of_another_verifier_and_tells_it_why() {
    let scene = Scene::new().await;
    let verifier = scene.site.app.main().verifier().unwrap().clone();
    let new = NewRequest {
        type_id: Some("immunization".to_owned()),
        ..NewRequest::default()
    };
    let asked = verifier.create_request(&new).await.unwrap();
    let wallet = scene.wallet.wallet().unwrap();
    let refused = wallet
        .answer_request(&scene.person, &newest(&asked.uri))
        .await;
    let refused = refused.unwrap_err();
    assert_eq!(refused.code, Some("invalid_request"));
    assert!(refused.to_string().contains("HAIP 1.0 §5"), "{refused}");
    for _ in 0..1_200 {
        let told = verifier.request(&asked.id).await.unwrap();
        if told.error.as_deref() == Some("invalid_request") {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("the verifier was not told");
}

#[test]
fn roles_whose_settings_contradict_the_profile_do_not_start() {
    let issuer = IssuerConfig::haip();
    let told = |error: Error| error.to_string();
    assert!(told(issuer.check().unwrap_err()).contains("HAIP 1.0 §4"));
    let whole: IssuerConfig = serde_json::from_value(json!({
        "profile": "haip", "formats": ["dc+sd-jwt"], "identify_by": "x5c",
        "by_sign_in": {"staff": {"name": "name"}},
        "attestation": {"wallets": "required", "keys": true,
            "attesters": [{"certificates": [keeping().certificate.unwrap()]}]}
    }))
    .unwrap();
    whole.check().unwrap();
    let verifier = VerifierConfig::haip();
    verifier.check().unwrap();
    let other = VerifierConfig {
        response_mode: VerifierConfig::default().response_mode,
        ..verifier
    };
    assert!(told(other.check().unwrap_err()).contains("HAIP 1.0 §5.1"));
    keeping().check().unwrap();
    let bare = WalletConfig {
        certificate: None,
        ..keeping()
    };
    assert!(told(bare.check().unwrap_err()).contains("HAIP 1.0 §4.4.1"));
}
