//! A gate and a wallet of one instance, on records in memory.

use std::sync::Arc;

use selfsame_attestation::made::PopDraft;
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::Keys;
use selfsame_oauth::ServerMetadata;
use selfsame_store::{Memory, Store, Vault};
use serde_json::{Value, json};

use super::*;

const SERVER: &str = "https://as.example";
const CLIENT: &str = "selfsame-wallet";

/// The records, the keys and the clock of an instance.
struct Instance {
    store: Store,
    clock: Clock,
    origin: &'static str,
}

impl Instance {
    async fn at(origin: &'static str) -> Self {
        let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
        let store = Store::open(Arc::new(Memory::default()), vault).await;
        Self {
            store: store.unwrap(),
            clock: Clock::default(),
            origin,
        }
    }

    fn attester(&self) -> Attester {
        let keys = Keys::new(self.store.clone());
        let origin = self.origin.parse().unwrap();
        Attester::new(self.store.clone(), keys, self.clock.clone(), &origin)
    }
}

async fn gate(shared: &Instance, config: Value) -> WalletGate {
    let config: AttestationConfig = serde_json::from_value(config).unwrap();
    config.check().unwrap();
    let own = shared.attester();
    WalletGate::open(&own, &config, Vec::new()).await.unwrap()
}

/// The headers of an instance of the wallet of `shared`, with this challenge.
async fn headers(shared: &Instance, challenge: Option<&str>) -> (String, String) {
    let instance = PrivateKey::generate(KeyType::P256).unwrap();
    let attester = shared.attester();
    let attestation = attester.attest_client(CLIENT, instance.public()).await;
    let draft = PopDraft {
        client_id: CLIENT,
        server: SERVER,
        challenge,
    };
    let draft = draft.draft(instance.public(), &shared.clock.ctx());
    let signature = instance.sign(draft.signing_input()).unwrap();
    (attestation.unwrap(), draft.finish(&signature))
}

fn code(
    gate: &WalletGate,
    shared: &Instance,
    headers: Option<&(String, String)>,
    client_id: Option<&str>,
) -> Option<&'static str> {
    let presented = PresentedClient {
        headers: headers.map(|(attestation, pop)| AttestationHeaders { attestation, pop }),
        client_id,
        server: SERVER,
    };
    let admitted = gate.admitted(&presented, shared.clock.now());
    admitted.err().map(|refused| refused.code.as_str())
}

#[tokio::test]
async fn a_gate_admits_the_wallet_of_its_instance_and_no_other() {
    let shared = Instance::at("https://here.example/").await;
    let gate = gate(&shared, json!({"wallets": "required"})).await;
    let challenge = gate.challenge(SERVER, &shared.clock.ctx()).unwrap();
    let challenge = challenge.attestation_challenge;
    let own = headers(&shared, Some(&challenge)).await;
    assert_eq!(code(&gate, &shared, Some(&own), None), None);
    assert_eq!(code(&gate, &shared, Some(&own), Some(CLIENT)), None);
    let other = code(&gate, &shared, Some(&own), Some("other"));
    assert_eq!(other, Some("invalid_client_attestation"));
    assert_eq!(code(&gate, &shared, None, None), Some("invalid_client"));
    let without = headers(&shared, None).await;
    let refused = code(&gate, &shared, Some(&without), None);
    assert_eq!(refused, Some("use_attestation_challenge"));
    let elsewhere = Instance::at("https://elsewhere.example/").await;
    let foreign = headers(&elsewhere, Some(&challenge)).await;
    let refused = code(&gate, &shared, Some(&foreign), None);
    assert_eq!(refused, Some("invalid_client_attestation"));
}

#[tokio::test]
async fn another_wallet_is_admitted_once_its_attester_is_trusted() {
    let (shared, elsewhere) = (
        Instance::at("https://here.example/").await,
        Instance::at("https://elsewhere.example/").await,
    );
    let known = elsewhere.attester().known().await.unwrap();
    let keys = known.keys.to_value()["keys"].clone();
    let attester = json!({"issuer": known.issuer, "keys": keys});
    let gate = gate(
        &shared,
        json!({"wallets": "required", "attesters": [attester]}),
    )
    .await;
    let challenge = gate.challenge(SERVER, &shared.clock.ctx()).unwrap();
    let challenge = challenge.attestation_challenge;
    let foreign = headers(&elsewhere, Some(&challenge)).await;
    assert_eq!(code(&gate, &shared, Some(&foreign), None), None);
}

#[tokio::test]
async fn a_gate_that_is_off_gives_no_challenge_and_looks_at_nothing() {
    let shared = Instance::at("https://here.example/").await;
    let off = gate(&shared, json!({})).await;
    assert!(off.challenge(SERVER, &shared.clock.ctx()).is_none());
    let nonsense = ("a".to_owned(), "b".to_owned());
    assert_eq!(code(&off, &shared, Some(&nonsense), None), None);
    let allowed = gate(&shared, json!({"wallets": "allowed"})).await;
    assert_eq!(code(&allowed, &shared, None, None), None);
    let refused = code(&allowed, &shared, Some(&nonsense), None);
    assert_eq!(refused, Some("invalid_client_attestation"));
}

#[tokio::test]
async fn the_metadata_say_what_the_gate_does() {
    let shared = Instance::at("https://here.example/").await;
    let endpoint = || "https://as.example/challenge".parse().unwrap();
    let plain =
        || ServerMetadata::pre_authorized(SERVER, "https://as.example/token".parse().unwrap());
    let off = gate(&shared, json!({"keys": true})).await;
    assert_eq!(off.described(plain(), endpoint()), plain());
    let allowed = gate(&shared, json!({"wallets": "allowed"})).await;
    let told = allowed.described(plain(), endpoint());
    let methods = &told.token_endpoint_auth_methods_supported;
    assert_eq!(methods, &["none", "attest_jwt_client_auth"]);
    assert!(told.anonymous_access_supported && !told.wants_attestation());
    let required = gate(&shared, json!({"wallets": "required"})).await;
    let told = required.described(plain(), endpoint());
    assert!(!told.anonymous_access_supported && told.wants_attestation());
    assert_eq!(told.challenge_endpoint, Some(endpoint()));
    assert!(
        !told
            .client_attestation_signing_alg_values_supported
            .is_empty()
    );
    assert!(
        !told
            .client_attestation_pop_signing_alg_values_supported
            .is_empty()
    );
}

#[tokio::test]
async fn an_attester_with_certificates_is_trusted_by_their_anchor() {
    let mut params = rcgen::CertificateParams::default();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority = rcgen::KeyPair::generate().unwrap();
    let anchor = params.self_signed(&authority).unwrap().der().to_vec();
    let authority = rcgen::Issuer::new(params, authority);
    let pair = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::new(vec!["wallet.example".to_owned()]).unwrap();
    params.distinguished_name = rcgen::DistinguishedName::new();
    let leaf = params.signed_by(&pair, &authority).unwrap().der().to_vec();
    let key = PrivateKey::from_pkcs8(&pair.serialize_der()).unwrap();
    let handle = selfsame_crypto::KeyHandle::of(key.public());

    let (here, elsewhere) = (
        Instance::at("https://here.example/").await,
        Instance::at("https://elsewhere.example/").await,
    );
    let keys = Keys::new(elsewhere.store.clone());
    let tenant = selfsame_store::TenantId::instance();
    keys.import(&tenant, key).await.unwrap();
    let certified = |x5c: Vec<Vec<u8>>| {
        let key = handle.clone();
        Some(AttesterKey { key, x5c })
    };
    let attester = elsewhere.attester();
    let whole = certified(vec![leaf.clone(), anchor.clone()]);
    let refused = attester.certify(whole).await.unwrap_err();
    assert_eq!(refused.reason.id(), "attester-self-signed");
    attester.certify(certified(vec![leaf])).await.unwrap();

    let config = serde_json::from_value(json!({"wallets": "required"})).unwrap();
    let opened = WalletGate::open(&here.attester(), &config, vec![anchor]).await;
    let gate = opened.unwrap();
    let challenge = gate.challenge(SERVER, &here.clock.ctx()).unwrap();
    let challenge = challenge.attestation_challenge;
    let foreign = headers(&elsewhere, Some(&challenge)).await;
    assert_eq!(code(&gate, &here, Some(&foreign), None), None);
    // Without its certificates it signs with a key that nobody knows here.
    attester.certify(None).await.unwrap();
    let foreign = headers(&elsewhere, Some(&challenge)).await;
    let refused = code(&gate, &here, Some(&foreign), None);
    assert_eq!(refused, Some("invalid_client_attestation"));
}

#[tokio::test]
async fn attesters_with_certificates_alone_are_trusted_where_the_profile_wants_them() {
    let mut params = rcgen::CertificateParams::default();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority = rcgen::KeyPair::generate().unwrap();
    let anchor = params.self_signed(&authority).unwrap().der().to_vec();
    let authority = rcgen::Issuer::new(params, authority);
    let pair = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::new(vec!["wallet.example".to_owned()]).unwrap();
    params.distinguished_name = rcgen::DistinguishedName::new();
    let leaf = params.signed_by(&pair, &authority).unwrap().der().to_vec();
    let key = PrivateKey::from_pkcs8(&pair.serialize_der()).unwrap();
    let handle = selfsame_crypto::KeyHandle::of(key.public());

    let shared = Instance::at("https://here.example/").await;
    let keys = Keys::new(shared.store.clone());
    let tenant = selfsame_store::TenantId::instance();
    keys.import(&tenant, key).await.unwrap();
    let config = serde_json::from_value(json!({"wallets": "required"})).unwrap();
    let attester = shared.attester();
    let opened = WalletGate::open(&attester, &config, vec![anchor]).await;
    let gate = opened.unwrap().by_certificates_alone();
    let challenge = gate.challenge(SERVER, &shared.clock.ctx()).unwrap();
    let challenge = challenge.attestation_challenge;
    // The attester of the instance's own wallet is known by its key, which is not enough.
    let own = headers(&shared, Some(&challenge)).await;
    let refused = code(&gate, &shared, Some(&own), None);
    assert_eq!(refused, Some("invalid_client_attestation"));
    let certified = AttesterKey {
        key: handle,
        x5c: vec![leaf],
    };
    attester.certify(Some(certified)).await.unwrap();
    let own = headers(&shared, Some(&challenge)).await;
    assert_eq!(code(&gate, &shared, Some(&own), None), None);
}

#[tokio::test]
async fn the_key_of_the_attester_is_made_once() {
    let shared = Instance::at("https://here.example/").await;
    let known = shared.attester().known().await.unwrap();
    assert_eq!(known.issuer, "https://here.example");
    let again = shared.attester().known().await.unwrap();
    assert_eq!(again, known);
}
