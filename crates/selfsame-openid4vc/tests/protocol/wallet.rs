//! Tests of the wallet receiving credentials: from our own issuer, and from issuers that break the rules.

use selfsame_credential::{Format, Need};
use selfsame_crypto::{KeyType, SecretString, ctx::Ctx};
use selfsame_oauth::TokenRequest;
use selfsame_openid4vc::{
    Error, Lacking,
    issuer::{self, IssuanceState as IssuerState, offer::NewOffer},
    wallet::{
        self, Accept, Binding, Failed, HttpAnswer, Input, Received, ReceivingState, WalletCall,
        begin,
    },
    wire::{
        credential::{CredentialAnswer, CredentialRequest, WantedEncryption},
        offer::CredentialOffer,
    },
};
use serde_json::{Value, json};

use crate::world::{
    COMPACT, Driver, Issuer, Party, SD_JWT, SIGNER, TICKET, W3C, credentials, ctx, grant,
    new_offer, stored,
};

/// A wallet in use: its state, its next call, and the credentials it keeps.
struct Wallet<'a> {
    holders: Vec<&'a Party>,
    state: ReceivingState,
    call: Option<WalletCall>,
    kept: Vec<wallet::ReceivedCredential>,
}

impl<'a> Wallet<'a> {
    fn accepts(issuer: &Issuer, offer: &CredentialOffer, holder: &'a Party) -> Self {
        Self::with_keys(issuer, offer, holder, &[holder.binding()]).unwrap()
    }

    fn with_keys(
        issuer: &Issuer,
        offer: &CredentialOffer,
        holder: &'a Party,
        bindings: &[Binding],
    ) -> Result<Self, Error> {
        let code = SecretString::from("123456".to_owned());
        let is_coded = offer
            .pre_authorized_code()
            .is_some_and(|grant| grant.tx_code.is_some());
        let begun = begin(&Accept {
            offer,
            issuer: &issuer.metadata,
            server: &issuer.server(),
            tx_code: is_coded.then_some(&code),
            bindings,
            with_proof: false,
            redemption: None,
        })?;
        Ok(Self {
            holders: vec![holder],
            state: begun.state,
            call: begun.call,
            kept: begun.received,
        })
    }

    fn take(&mut self, input: &Input<'_>, ctx: &Ctx) {
        // Each state must survive being stored as a record.
        let state = stored(&self.state);
        let mut driver = Driver::new(&self.holders);
        let next = driver.run(|evidence| wallet::step(&state, input, evidence, ctx));
        let only_signatures = |need: &Need| matches!(need, Need::Signature(_));
        assert!(driver.asked.iter().all(only_signatures));
        let next = next.unwrap();
        (self.state, self.call, self.kept) = (next.state, next.call, next.received);
    }

    fn token(&mut self, status: u16, body: &Value) {
        self.take(
            &Input::Token(answer(status, body.to_string().as_bytes())),
            &ctx(10),
        );
    }

    fn nonce(&mut self, nonce: &str) {
        let body = json!({"c_nonce": nonce, "unknown": 1}).to_string();
        self.take(&Input::Nonce(answer(200, body.as_bytes())), &ctx(11));
    }

    fn credential(&mut self, status: u16, body: &Value) {
        self.take(
            &Input::Credential(answer(status, body.to_string().as_bytes())),
            &ctx(12),
        );
    }

    /// Takes the issuer's answer to a credential request.
    fn answered(&mut self, answer: &CredentialAnswer) {
        match answer {
            CredentialAnswer::Plain(response) => {
                self.credential(200, &serde_json::to_value(response).unwrap());
            }
            CredentialAnswer::Encrypted(token) => {
                let answer = HttpAnswer {
                    status: 200,
                    content_type: Some("application/jwt; charset=utf-8"),
                    body: token.as_bytes(),
                };
                self.take(&Input::Credential(answer), &ctx(12));
            }
            CredentialAnswer::Deferred(_) | CredentialAnswer::EncryptedDeferred(_) => {
                panic!("nothing takes its time here");
            }
        }
    }

    /// The wallet after the token endpoint and the nonce endpoint have answered.
    fn requesting(issuer: &Issuer, holder: &'a Party) -> Self {
        let mut wallet = Self::accepts(issuer, &issuer.offer(SD_JWT).offer, holder);
        wallet.token(200, &token());
        wallet.nonce(&issuer.nonce());
        wallet
    }

    fn body(&self) -> Value {
        match &self.call {
            Some(WalletCall::RequestCredential { body, .. }) => serde_json::from_str(body).unwrap(),
            other => panic!("no credential request: {other:?}"),
        }
    }

    fn failed(&self) -> &Failed {
        match &self.state {
            ReceivingState::Failed(failed) => failed,
            other => panic!("not failed: {other:?}"),
        }
    }

    fn received(&self) -> &Received {
        match &self.state {
            ReceivingState::Received(received) => received,
            other => panic!("not received: {other:?}"),
        }
    }
}

fn answer(status: u16, body: &[u8]) -> HttpAnswer<'_> {
    HttpAnswer {
        status,
        content_type: Some("application/json"),
        body,
    }
}

fn token() -> Value {
    json!({"access_token": "t", "token_type": "Bearer", "expires_in": 600, "unknown": {}})
}

fn error(code: &str) -> Value {
    json!({ "error": code })
}

/// Passes messages between wallet and issuer until the wallet has finished.
fn exchange(
    issuer: &Issuer,
    made: issuer::offer::MadeOffer,
    wallet: &mut Wallet<'_>,
) -> Vec<&'static str> {
    let mut offered = IssuerState::Offered(made.state);
    let mut granted = None;
    let mut calls = Vec::new();
    for seed in 20..40 {
        let Some(call) = wallet.call.clone() else {
            return calls;
        };
        match call {
            WalletCall::RedeemToken { url, form } => {
                calls.push("token");
                assert_eq!(url.as_str(), "https://issuer.example/tenant/token");
                let request = TokenRequest::parse(form.expose().as_bytes()).unwrap();
                let (next, redeemed) = issuer.token(&offered, &request, &ctx(seed)).unwrap();
                offered = next;
                granted = Some(IssuerState::Granted(grant(&redeemed)));
                let response = serde_json::to_value(&redeemed.unwrap().response);
                wallet.token(200, &response.unwrap());
            }
            WalletCall::FetchNonce { url } => {
                calls.push("nonce");
                assert_eq!(url.as_str(), "https://issuer.example/tenant/nonce");
                wallet.nonce(&issuer.nonce());
            }
            WalletCall::RequestCredential { url, body, .. } => {
                calls.push("credential");
                assert_eq!(url.as_str(), "https://issuer.example/tenant/credential");
                let encryption = issuer.settings.encryption.as_ref();
                let request = CredentialRequest::read(body.as_bytes(), encryption).unwrap();
                let state = granted.take().unwrap();
                let (next, issuance) = issuer.credential(&state, &request, &ctx(seed)).unwrap();
                granted = Some(next);
                let answer = CredentialAnswer::of(credentials(&issuance), &request, &ctx(seed));
                wallet.answered(&answer.unwrap());
            }
            WalletCall::RequestDeferred { .. } => panic!("the issuer defers nothing"),
        }
    }
    panic!("the exchange never ends: {calls:?}");
}

// ---- encryption

#[test]
fn a_credential_is_requested_and_sent_encrypted_where_the_issuer_encrypts() {
    for wanted in [WantedEncryption::Allowed, WantedEncryption::Required] {
        let issuer = Issuer::encrypting(wanted);
        let holder = Party::new(KeyType::P256);
        let made = issuer.offer(SD_JWT);
        let mut wallet = Wallet::accepts(&issuer, &made.offer, &holder);
        exchange(&issuer, made, &mut wallet);
        assert_eq!(wallet.received().credentials.len(), 1);
    }
    // Neither the request nor the response is readable on the way.
    let issuer = Issuer::encrypting(WantedEncryption::Allowed);
    let holder = Party::new(KeyType::P256);
    let wallet = Wallet::requesting(&issuer, &holder);
    let Some(WalletCall::RequestCredential {
        body, encrypted, ..
    }) = &wallet.call
    else {
        panic!("{:?}", wallet.call)
    };
    assert!(*encrypted && !body.starts_with('{'));
    let request = CredentialRequest::read(body.as_bytes(), issuer.settings.encryption.as_ref());
    assert!(request.unwrap().response_encryption.is_some());
}

#[test]
fn an_answer_whose_encryption_was_removed_or_that_is_for_another_key_is_not_taken() {
    let issuer = Issuer::encrypting(WantedEncryption::Allowed);
    let holder = Party::new(KeyType::P256);
    let plain = json!({"credentials": [{"credential": "x"}]});
    let mut wallet = Wallet::requesting(&issuer, &holder);
    wallet.credential(200, &plain);
    assert!(wallet.failed().reason.contains("did not encrypt"));
    // An answer that was made for another request of the same wallet.
    let other = Wallet::requesting(&issuer, &holder);
    let Some(WalletCall::RequestCredential { body, .. }) = &other.call else {
        panic!("{:?}", other.call)
    };
    let request = CredentialRequest::read(body.as_bytes(), issuer.settings.encryption.as_ref());
    let mut request = request.unwrap();
    let foreign = Issuer::encrypting(WantedEncryption::Allowed).metadata;
    let foreign = foreign.credential_request_encryption.unwrap().jwks["keys"][0].clone();
    request.response_encryption.as_mut().unwrap().jwk = foreign;
    let answer = CredentialAnswer::of(Default::default(), &request, &ctx(13)).unwrap();
    let mut wallet = Wallet::requesting(&issuer, &holder);
    wallet.answered(&answer);
    assert!(wallet.failed().reason.contains("cannot be decrypted"));
    // Encryption where the request asked for none.
    let mut wallet = Wallet::requesting(&Issuer::new(), &holder);
    wallet.answered(&answer);
    assert!(wallet.failed().reason.contains("asked for a plain one"));
    // An error is never encrypted.
    let mut wallet = Wallet::requesting(&issuer, &holder);
    wallet.credential(400, &error("credential_request_denied"));
    assert_eq!(
        wallet.failed().code.as_deref(),
        Some("credential_request_denied")
    );
}

// ---- the whole way

#[test]
fn an_offer_becomes_a_credential_in_three_calls() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let made = issuer.offer(SD_JWT);
    let mut wallet = Wallet::accepts(&issuer, &made.offer, &holder);
    assert_eq!(
        exchange(&issuer, made, &mut wallet),
        ["token", "nonce", "credential"]
    );
    let received = wallet.received();
    assert_eq!(received.credentials.len(), 1);
    assert_eq!(received.credentials[0].key, Some(holder.handle()));
    assert_eq!(received.credentials[0].format, Format::SdJwtVc);
    assert_eq!(wallet.kept, received.credentials);
}

#[test]
fn a_w3c_credential_is_received_for_a_did() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::Ed25519);
    let made = issuer.offer(W3C);
    let mut wallet = Wallet::accepts(&issuer, &made.offer, &holder);
    exchange(&issuer, made, &mut wallet);
    assert_eq!(
        wallet.received().credentials[0].kid.as_ref(),
        Some(&holder.kid)
    );
}

#[test]
fn a_compact_credential_is_received_with_the_name_of_its_signer() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::Ed25519);
    let bare = Binding {
        kid: None,
        ..holder.binding()
    };
    for (binding, kid) in [(holder.binding(), Some(&holder.kid)), (bare, None)] {
        let made = issuer.offer(COMPACT);
        let keys = [binding];
        let mut wallet = Wallet::with_keys(&issuer, &made.offer, &holder, &keys).unwrap();
        exchange(&issuer, made, &mut wallet);
        let received = &wallet.received().credentials[0];
        assert_eq!(received.format, Format::Cwt);
        assert_eq!(received.kid.as_ref(), kid);
        assert_eq!(received.issuer.as_deref(), Some(SIGNER));
    }
}

#[test]
fn a_w3c_credential_for_a_bare_key_is_received_for_the_did_made_of_it() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let made = issuer.offer(W3C);
    let bare = Binding {
        kid: None,
        ..holder.binding()
    };
    let mut wallet = Wallet::with_keys(&issuer, &made.offer, &holder, &[bare]).unwrap();
    exchange(&issuer, made, &mut wallet);
    let did = selfsame_did::jwk::create(holder.key.public());
    let expected = format!("{}#0", did.as_str());
    assert_eq!(wallet.received().credentials[0].kid, Some(expected));
}

#[test]
fn a_credential_without_holder_takes_no_nonce_and_no_proof() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let made = issuer.offer(TICKET);
    let mut wallet = Wallet::accepts(&issuer, &made.offer, &holder);
    assert_eq!(
        exchange(&issuer, made, &mut wallet),
        ["token", "credential"]
    );
    assert_eq!(wallet.received().credentials[0].key, None);
}

#[test]
fn everything_that_was_offered_is_received() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let made = issuer.offer_of(&NewOffer {
        configuration_ids: vec![SD_JWT.to_owned(), W3C.to_owned()],
        ..new_offer(SD_JWT)
    });
    let mut wallet = Wallet::accepts(&issuer, &made.offer, &holder);
    let calls = exchange(&issuer, made, &mut wallet);
    assert_eq!(
        calls,
        ["token", "nonce", "credential", "nonce", "credential"]
    );
    let ids: Vec<&str> = wallet
        .received()
        .credentials
        .iter()
        .map(|credential| credential.configuration_id.as_str())
        .collect();
    assert_eq!(ids, [SD_JWT, W3C]);
}

// ---- keys and proofs

#[test]
fn no_more_keys_are_proven_than_the_issuer_takes_and_each_once() {
    let issuer = Issuer::new();
    let holders: Vec<Party> = (0..5).map(|_| Party::new(KeyType::P256)).collect();
    let made = issuer.offer(SD_JWT);
    let proofs = |bindings: &[Binding]| {
        let mut wallet = Wallet::with_keys(&issuer, &made.offer, &holders[0], bindings).unwrap();
        wallet.holders = holders.iter().collect();
        wallet.token(200, &token());
        wallet.nonce("n");
        wallet.body()["proofs"]["jwt"].as_array().unwrap().len()
    };
    let all: Vec<Binding> = holders.iter().map(Party::binding).collect();
    assert_eq!(proofs(&all), 3);
    assert_eq!(proofs(&vec![holders[0].binding(); 3]), 1);
}

#[test]
fn a_proof_has_what_the_specification_asks_for_and_no_more() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let wallet = Wallet::requesting(&issuer, &holder);
    let proof = wallet.body()["proofs"]["jwt"][0]
        .as_str()
        .unwrap()
        .to_owned();
    let jwt = selfsame_crypto::jws::Compact::parse(&proof).unwrap();
    jwt.verify(holder.key.public()).unwrap();
    assert_eq!(jwt.header.typ.as_deref(), Some("openid4vci-proof+jwt"));
    assert!(jwt.header.jwk.is_some() && jwt.header.kid.is_none() && jwt.header.x5c.is_none());
    let names: Vec<String> = jwt
        .claims()
        .unwrap()
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    assert_eq!(names, ["aud", "iat", "nonce"]);
}

#[test]
fn keys_that_the_issuer_does_not_take_are_refused_before_anything_is_sent() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let offer = issuer.offer(SD_JWT).offer;
    let mut es384 = holder.binding();
    es384.algorithm = selfsame_crypto::Algorithm::Es384;
    for bindings in [vec![], vec![es384]] {
        let result = Wallet::with_keys(&issuer, &offer, &holder, &bindings);
        assert!(matches!(
            result.err(),
            Some(Error::Unsupported {
                lacking: Lacking::Key,
                ..
            })
        ));
    }
}

/// An issuer whose metadata for a configuration has these members changed.
fn describing(configuration: &str, members: &Value) -> Issuer {
    let mut issuer = Issuer::new();
    let mut metadata = serde_json::to_value(&issuer.metadata).unwrap();
    let described = &mut metadata["credential_configurations_supported"][configuration];
    for (name, value) in members.as_object().unwrap() {
        described[name] = value.clone();
    }
    issuer.publish(serde_json::from_value(metadata).unwrap());
    issuer
}

#[test]
fn a_fresh_key_goes_by_a_did_of_its_own_where_the_issuer_binds_to_dids_only() {
    let holder = Party::new(KeyType::P256);
    let key = holder.key.public();
    let by_jwk = format!("{}#0", selfsame_did::jwk::create(key));
    let by_key = selfsame_did::key::create(key);
    let by_key = format!("{by_key}#{}", by_key.method_id());
    for (configuration, methods, expected) in [
        (W3C, json!(["did:key", "did:jwk"]), Some(&by_jwk)),
        (W3C, json!(["did:web", "did:key"]), Some(&by_key)),
        (W3C, json!(["did:web"]), None),
        (W3C, json!(["jwk", "did:key"]), Some(&by_jwk)),
    ] {
        let members = json!({"cryptographic_binding_methods_supported": methods});
        let issuer = describing(configuration, &members);
        let made = issuer.offer(configuration);
        let bare = Binding {
            kid: None,
            ..holder.binding()
        };
        let wallet = Wallet::with_keys(&issuer, &made.offer, &holder, &[bare]);
        let Some(expected) = expected else {
            assert!(matches!(
                wallet.err(),
                Some(Error::Unsupported {
                    lacking: Lacking::Key,
                    ..
                })
            ));
            continue;
        };
        let mut wallet = wallet.unwrap();
        exchange(&issuer, made, &mut wallet);
        let kid = wallet.received().credentials[0].kid.as_ref();
        assert_eq!(kid, Some(expected), "{methods}");
    }
}

#[test]
fn a_key_of_a_did_that_the_issuer_does_not_take_gets_no_other_did() {
    let holder = Party::new(KeyType::P256);
    let members = json!({"cryptographic_binding_methods_supported": ["did:jwk"]});
    let issuer = describing(W3C, &members);
    let binding = holder.binding();
    assert!(binding.kid.as_ref().unwrap().starts_with("did:key:"));
    let offer = issuer.offer(W3C).offer;
    let wallet = Wallet::with_keys(&issuer, &offer, &holder, &[binding]);
    assert!(matches!(
        wallet.err(),
        Some(Error::Unsupported {
            lacking: Lacking::Key,
            ..
        })
    ));
}

#[test]
fn fresh_keys_are_of_a_kind_that_the_issuer_takes_proofs_of() {
    for (algorithms, kind) in [
        (json!(["EdDSA", "ES256"]), KeyType::P256),
        (json!(["ES256K", "ES256"]), KeyType::P256),
        (json!(["EdDSA"]), KeyType::Ed25519),
        (json!(["ES384", "Ed25519"]), KeyType::Ed25519),
    ] {
        let proofs = json!({"jwt": {"proof_signing_alg_values_supported": algorithms}});
        let issuer = describing(W3C, &json!({"proof_types_supported": proofs}));
        let metadata = &issuer.metadata;
        let made = issuer.offer(W3C);
        assert_eq!(wallet::kinds_of_keys(&made.offer, metadata), [kind]);
        let holder = Party::new(kind);
        let mut wallet = Wallet::accepts(&issuer, &made.offer, &holder);
        exchange(&issuer, made, &mut wallet);
        assert_eq!(wallet.received().credentials.len(), 1);
        let both = issuer.offer_of(&NewOffer {
            configuration_ids: vec![SD_JWT.to_owned(), W3C.to_owned()],
            ..new_offer(SD_JWT)
        });
        let kinds = wallet::kinds_of_keys(&both.offer, metadata);
        assert!(kinds.starts_with(&[KeyType::P256]) && kinds.ends_with(&[kind]));
    }
}

#[test]
fn keys_of_a_kind_for_something_else_that_is_offered_make_no_further_copies() {
    let proofs = json!({"jwt": {"proof_signing_alg_values_supported": ["EdDSA"]}});
    let issuer = describing(W3C, &json!({"proof_types_supported": proofs}));
    let both = issuer.offer_of(&NewOffer {
        configuration_ids: vec![SD_JWT.to_owned(), W3C.to_owned()],
        ..new_offer(SD_JWT)
    });
    let kinds = wallet::kinds_of_keys(&both.offer, &issuer.metadata);
    let holders: Vec<Party> = kinds.iter().map(|kind| Party::new(*kind)).collect();
    assert_eq!(holders.len(), 2);
    let bindings: Vec<Binding> = holders.iter().map(Party::binding).collect();
    let mut wallet = Wallet::with_keys(&issuer, &both.offer, &holders[0], &bindings).unwrap();
    wallet.holders = holders.iter().collect();
    exchange(&issuer, both, &mut wallet);
    let received = &wallet.received().credentials;
    let keys: Vec<_> = received.iter().map(|one| one.key.clone()).collect();
    assert_eq!(keys, [Some(holders[0].handle()), Some(holders[1].handle())]);
}

/// An issuer that wants keys to be attested, with these values of `key_storage`.
fn wanting_attestations(storage: &[&str]) -> Issuer {
    let required = match storage {
        [] => json!({}),
        values => json!({ "key_storage": values }),
    };
    let proof = json!({
        "proof_signing_alg_values_supported": ["ES256"],
        "key_attestations_required": required,
    });
    describing(SD_JWT, &json!({"proof_types_supported": {"jwt": proof}}))
}

#[test]
fn an_issuer_that_insists_on_protected_keys_is_refused() {
    let holder = Party::new(KeyType::P256);
    let issuer = wanting_attestations(&["iso_18045_basic"]);
    let offer = issuer.offer(SD_JWT).offer;
    let result = Wallet::with_keys(&issuer, &offer, &holder, &[holder.binding()]);
    assert!(matches!(
        result.err(),
        Some(Error::Unsupported {
            lacking: Lacking::Key,
            ..
        })
    ));
}

#[test]
fn a_proof_carries_the_attestation_of_its_key() {
    let holder = Party::new(KeyType::P256);
    let issuer = wanting_attestations(&[]);
    let mut wallet = Wallet::accepts(&issuer, &issuer.offer(SD_JWT).offer, &holder);
    let ReceivingState::Redeeming(redeeming) = &mut wallet.state else {
        panic!("{:?}", wallet.state);
    };
    assert_eq!(redeeming.plan.asks[0].key_attestation, None);
    redeeming.plan.asks[0].key_attestation = Some("an attestation".to_owned());
    wallet.token(200, &token());
    wallet.nonce(&issuer.nonce());
    let proof = wallet.body()["proofs"]["jwt"][0]
        .as_str()
        .unwrap()
        .to_owned();
    let proof = selfsame_crypto::jws::Compact::parse(&proof).unwrap();
    assert_eq!(proof.header.other["key_attestation"], "an attestation");
}

// ---- transaction codes

#[test]
fn a_transaction_code_is_sent_if_and_only_if_it_is_asked_for() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let with = issuer.offer_of(&NewOffer {
        tx_code: Some(String::new()),
        ..new_offer(SD_JWT)
    });
    let without = issuer.offer(SD_JWT);
    let begin_with = |offer: &CredentialOffer, tx_code: Option<&SecretString>| {
        begin(&Accept {
            offer,
            issuer: &issuer.metadata,
            server: &issuer.server(),
            tx_code,
            bindings: &[holder.binding()],
            with_proof: false,
            redemption: None,
        })
    };
    let right = with.tx_code.clone().unwrap();
    let begun = begin_with(&with.offer, Some(&right)).unwrap();
    let Some(WalletCall::RedeemToken { form, .. }) = &begun.call else {
        panic!()
    };
    let sent = TokenRequest::parse(form.expose().as_bytes()).unwrap();
    assert_eq!(sent.tx_code, Some(right.clone()));
    assert!(begin_with(&without.offer, None).is_ok());
    let (short, letters) = ("123".into(), "abcdef".into());
    for (offer, tx_code) in [
        (&with.offer, None),
        (&without.offer, Some(&right)),
        (&with.offer, Some(&short)),
        (&with.offer, Some(&letters)),
    ] {
        assert!(matches!(begin_with(offer, tx_code), Err(Error::Choice(_))));
    }
}

// ---- nonces

#[test]
fn a_nonce_that_is_refused_is_replaced_by_a_new_one() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let mut wallet = Wallet::requesting(&issuer, &holder);
    let first = wallet.body();
    wallet.credential(400, &error("invalid_nonce"));
    assert!(matches!(wallet.call, Some(WalletCall::FetchNonce { .. })));
    wallet.nonce("another");
    assert_ne!(wallet.body(), first);
}

#[test]
fn with_a_nonce_at_hand_the_token_leads_to_the_request_at_once() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let mut wallet = Wallet::accepts(&issuer, &issuer.offer(SD_JWT).offer, &holder);
    let url = wallet.state.nonce_ahead().map(url::Url::as_str);
    assert_eq!(url, Some("https://issuer.example/tenant/nonce"));
    let ahead = json!({"c_nonce": "ahead"}).to_string();
    wallet.state.take_nonce(answer(200, ahead.as_bytes()));
    wallet.token(200, &token());
    let proof = wallet.body()["proofs"]["jwt"][0].clone();
    let jwt = selfsame_crypto::jws::Compact::parse(proof.as_str().unwrap()).unwrap();
    assert_eq!(jwt.claims().unwrap()["nonce"], "ahead");
    // This nonce counts towards the limit like any other.
    for _ in 0..2 {
        wallet.credential(400, &error("invalid_nonce"));
        wallet.nonce("another");
    }
    wallet.credential(400, &error("invalid_nonce"));
    assert_eq!(wallet.failed().code.as_deref(), Some("invalid_nonce"));
}

#[test]
fn a_nonce_ahead_that_is_no_good_is_asked_for_again_after_the_token() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    for (status, body) in [
        (500, json!({"c_nonce": "n"})),
        (200, json!({"c_nonce": ""})),
    ] {
        let mut wallet = Wallet::accepts(&issuer, &issuer.offer(SD_JWT).offer, &holder);
        let body = body.to_string();
        wallet.state.take_nonce(answer(status, body.as_bytes()));
        wallet.token(200, &token());
        assert!(matches!(wallet.call, Some(WalletCall::FetchNonce { .. })));
    }
}

#[test]
fn no_nonce_is_wanted_ahead_for_a_credential_without_holder() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let wallet = Wallet::accepts(&issuer, &issuer.offer(TICKET).offer, &holder);
    assert_eq!(wallet.state.nonce_ahead(), None);
}

#[test]
fn an_issuer_that_refuses_all_its_nonces_is_given_up() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let mut wallet = Wallet::requesting(&issuer, &holder);
    for _ in 0..2 {
        wallet.credential(400, &error("invalid_nonce"));
        wallet.nonce("another");
    }
    wallet.credential(400, &error("invalid_nonce"));
    assert_eq!(wallet.failed().code.as_deref(), Some("invalid_nonce"));
}

#[test]
fn an_issuer_that_gives_no_nonce_is_given_up() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    for (status, body) in [
        (500, json!({"c_nonce": "n"})),
        (200, json!({})),
        (200, json!({"c_nonce": ""})),
    ] {
        let mut wallet = Wallet::accepts(&issuer, &issuer.offer(SD_JWT).offer, &holder);
        wallet.token(200, &token());
        wallet.take(
            &Input::Nonce(answer(status, body.to_string().as_bytes())),
            &ctx(11),
        );
        assert!(!wallet.failed().advice.is_empty());
    }
}

// ---- credential identifiers

#[test]
fn identifiers_of_the_token_response_are_used() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let mut wallet = Wallet::accepts(&issuer, &issuer.offer(SD_JWT).offer, &holder);
    let mut token = token();
    token["authorization_details"] = json!([
        {"type": "other", "credential_configuration_id": SD_JWT, "credential_identifiers": ["no"]},
        {"type": "openid_credential", "credential_configuration_id": SD_JWT,
         "credential_identifiers": ["Ines-2026"], "unknown": 1},
    ]);
    wallet.token(200, &token);
    wallet.nonce("n");
    assert_eq!(wallet.body()["credential_identifier"], "Ines-2026");
    assert_eq!(wallet.body().get("credential_configuration_id"), None);
}

#[test]
fn a_configuration_is_asked_for_where_there_are_no_identifiers() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let wallet = Wallet::requesting(&issuer, &holder);
    assert_eq!(wallet.body()["credential_configuration_id"], SD_JWT);
    assert_eq!(wallet.body().get("credential_identifier"), None);
}

#[test]
fn a_token_that_is_not_good_for_what_was_offered_is_not_used() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let mut wallet = Wallet::accepts(&issuer, &issuer.offer(SD_JWT).offer, &holder);
    let mut token = token();
    let other = json!([{"type": "openid_credential", "credential_configuration_id": "other",
                        "credential_identifiers": ["x"]}]);
    token["authorization_details"] = other;
    wallet.token(200, &token);
    assert!(wallet.call.is_none() && wallet.kept.is_empty());
    wallet.failed();
}

#[test]
fn a_token_that_is_bound_to_a_key_that_was_not_proven_is_not_used() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let mut bound = token();
    bound["token_type"] = json!("DPoP");
    for with_proof in [false, true] {
        let made = issuer.offer(SD_JWT);
        let begun = begin(&Accept {
            offer: &made.offer,
            issuer: &issuer.metadata,
            server: &issuer.server(),
            tx_code: None,
            bindings: &[holder.binding()],
            with_proof,
            redemption: None,
        });
        let begun = begun.unwrap();
        let mut wallet = Wallet {
            holders: vec![&holder],
            state: begun.state,
            call: begun.call,
            kept: begun.received,
        };
        wallet.token(200, &bound);
        if with_proof {
            wallet.nonce("n");
            let call = wallet.call.as_ref();
            let is_bound = matches!(
                call,
                Some(WalletCall::RequestCredential { is_bound: true, .. })
            );
            assert!(is_bound, "{call:?}");
        } else {
            assert!(wallet.call.is_none() && wallet.kept.is_empty());
            assert!(wallet.failed().reason.contains("not proven"));
        }
    }
}

// ---- issuers that misbehave

#[test]
fn what_the_issuer_says_about_a_transaction_code_is_shown_if_it_is_plain_text() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let why = |description: &str| {
        let offer = issuer.offer_of(&NewOffer {
            tx_code: Some(String::new()),
            ..new_offer(SD_JWT)
        });
        let mut wallet = Wallet::accepts(&issuer, &offer.offer, &holder);
        let body = json!({"error": "invalid_grant", "error_description": description});
        wallet.token(400, &body);
        wallet.failed().reason.clone()
    };
    assert_eq!(why("2 tries are left"), "The issuer says: 2 tries are left");
    let unsaid = "The transaction code is wrong, or the offer has been used or has expired.";
    for odd in ["", "two\nlines", "\u{202e}turned", &"x".repeat(201)] {
        assert_eq!(why(odd), unsaid);
    }
}

#[test]
fn a_token_endpoint_that_refuses_is_explained_to_the_person() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    for (status, body, code) in [
        (400, error("invalid_grant"), Some("invalid_grant")),
        (401, error("invalid_client"), Some("invalid_client")),
        (500, json!("oops"), None),
        (302, json!({}), None),
    ] {
        let mut wallet = Wallet::accepts(&issuer, &issuer.offer(SD_JWT).offer, &holder);
        wallet.token(status, &body);
        assert_eq!(wallet.failed().code.as_deref(), code);
        assert!(!wallet.failed().advice.is_empty());
    }
}

#[test]
fn a_token_of_another_type_is_not_used() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let mut wallet = Wallet::accepts(&issuer, &issuer.offer(SD_JWT).offer, &holder);
    wallet.token(200, &json!({"access_token": "t", "token_type": "DPoP"}));
    wallet.failed();
}

#[test]
fn an_offer_without_a_grant_this_wallet_knows_is_refused() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let offer = CredentialOffer {
        grants: None,
        ..issuer.offer(SD_JWT).offer
    };
    let result = Wallet::with_keys(&issuer, &offer, &holder, &[holder.binding()]);
    assert!(matches!(
        result.err(),
        Some(Error::Unsupported {
            lacking: Lacking::Grant,
            ..
        })
    ));
}

#[test]
fn a_credential_that_was_not_asked_for_is_not_kept() {
    let issuer = Issuer::new();
    let (holder, other) = (Party::new(KeyType::P256), Party::new(KeyType::P256));
    let good = issuer
        .ask(SD_JWT, &[issuer.proof(&holder)])
        .unwrap()
        .remove(0);
    let stolen = issuer
        .ask(SD_JWT, &[issuer.proof(&other)])
        .unwrap()
        .remove(0);
    let other_format = issuer.ask(W3C, &[issuer.proof(&holder)]).unwrap().remove(0);
    let other_type = other_type(&issuer, &holder);
    let list = |credentials: &[&str]| {
        let list: Vec<Value> = credentials
            .iter()
            .map(|it| json!({"credential": it}))
            .collect();
        json!({ "credentials": list, "unknown": 1 })
    };
    for bad in [
        list(&[&stolen]),
        list(&[&other_format]),
        list(&[&other_type]),
        list(&["x"]),
        list(&[]),
        list(&[&good, &good]),
        json!({"credential": good}),
        json!({"credentials": [good]}),
    ] {
        let mut wallet = Wallet::requesting(&issuer, &holder);
        wallet.credential(200, &bad);
        assert!(wallet.call.is_none() && wallet.kept.is_empty(), "{bad}");
        assert!(wallet.failed().credentials.is_empty());
    }
    let mut wallet = Wallet::requesting(&issuer, &holder);
    wallet.credential(200, &list(&[&good]));
    assert_eq!(wallet.received().credentials.len(), 1);
}

#[test]
fn of_a_credential_without_holder_one_is_taken_and_not_two() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let ticket = issuer.ask(TICKET, &[]).unwrap().remove(0);
    let take = |count: usize| {
        let mut wallet = Wallet::accepts(&issuer, &issuer.offer(TICKET).offer, &holder);
        wallet.token(200, &token());
        let list = vec![json!({"credential": ticket}); count];
        wallet.credential(200, &json!({ "credentials": list }));
        wallet.state
    };
    assert!(matches!(take(1), ReceivingState::Received(_)));
    assert!(matches!(take(2), ReceivingState::Failed(_)));
}

/// An SD-JWT VC for the holder's key, of a type that was not offered.
fn other_type(issuer: &Issuer, holder: &Party) -> String {
    let header = json!({"alg": "EdDSA", "typ": "dc+sd-jwt", "kid": issuer.party.kid});
    let payload = json!({"vct": "https://issuer.example/vct/other",
                         "cnf": {"jwk": holder.key.public().to_jwk()}});
    format!("{}~", issuer.party.token(&header, &payload))
}

#[test]
fn fewer_credentials_than_keys_are_taken_each_for_its_key() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let made = issuer.offer(SD_JWT);
    let second = Party::new(KeyType::P256);
    let bindings = [second.binding(), holder.binding()];
    let begun = begin(&Accept {
        offer: &made.offer,
        issuer: &issuer.metadata,
        server: &issuer.server(),
        tx_code: None,
        bindings: &bindings,
        with_proof: false,
        redemption: None,
    })
    .unwrap();
    let mut state = begun.state;
    let only = issuer
        .ask(SD_JWT, &[issuer.proof(&holder)])
        .unwrap()
        .remove(0);
    let nonce = json!({"c_nonce": "n"}).to_string();
    let token = token().to_string();
    let credential = json!({"credentials": [{"credential": only}]}).to_string();
    for input in [
        Input::Token(answer(200, token.as_bytes())),
        Input::Nonce(answer(200, nonce.as_bytes())),
        Input::Credential(answer(200, credential.as_bytes())),
    ] {
        let mut driver = Driver::new(&[&holder, &second]);
        let run = driver.run(|evidence| wallet::step(&state, &input, evidence, &ctx(5)));
        state = run.unwrap().state;
    }
    let ReceivingState::Received(received) = state else {
        panic!("{state:?}")
    };
    assert_eq!(received.credentials[0].key, Some(holder.handle()));
}

/// An issuer that delivers later.
fn preparing() -> Issuer {
    let mut issuer = Issuer::new();
    let url = "https://issuer.example/tenant/deferred".parse().unwrap();
    issuer.metadata.deferred_credential_endpoint = Some(url);
    issuer
}

/// The seconds until the next look, and the transaction that it is for.
fn next_look(wallet: &Wallet<'_>) -> (u32, String) {
    match &wallet.call {
        Some(WalletCall::RequestDeferred {
            url, body, after, ..
        }) => {
            assert_eq!(url.path(), "/tenant/deferred");
            let body: Value = serde_json::from_str(body).unwrap();
            let transaction = body["transaction_id"].as_str().unwrap();
            (*after, transaction.to_owned())
        }
        other => panic!("no look: {other:?}"),
    }
}

fn deferral(interval: u32) -> Value {
    json!({"transaction_id": "8xLOxBtZp8", "interval": interval, "unknown": 1})
}

#[test]
fn a_credential_that_takes_its_time_is_looked_for_until_it_is_ready() {
    let issuer = preparing();
    let holder = Party::new(KeyType::P256);
    let mut wallet = Wallet::requesting(&issuer, &holder);
    wallet.credential(202, &deferral(5));
    let transaction = "8xLOxBtZp8".to_owned();
    assert_eq!(next_look(&wallet), (5, transaction.clone()));
    wallet.credential(202, &deferral(60));
    assert_eq!(next_look(&wallet), (60, transaction.clone()));
    // What is no decision of the issuer's changes nothing.
    for status in [429, 500, 503] {
        wallet.credential(status, &json!({}));
        assert_eq!(next_look(&wallet), (60, transaction.clone()));
    }
    wallet.credential(400, &error("issuance_pending"));
    wallet.take(&Input::Unreachable("it is away"), &ctx(13));
    assert_eq!(next_look(&wallet), (60, transaction));
    let given = issuer.ask(SD_JWT, &[issuer.proof(&holder)]).unwrap();
    let given = json!({"credentials": [{"credential": given[0]}], "notification_id": "n"});
    wallet.credential(200, &given);
    assert_eq!(wallet.received().credentials.len(), 1);
}

#[test]
fn a_deferral_without_a_place_or_a_time_to_look_again_is_a_failure() {
    let holder = Party::new(KeyType::P256);
    let mut wallet = Wallet::requesting(&Issuer::new(), &holder);
    wallet.credential(202, &deferral(5));
    assert!(wallet.failed().reason.contains("delivers nothing later"));
    for bad in [
        json!({"transaction_id": "x"}),
        json!({"interval": 5}),
        json!({"transaction_id": "x", "interval": 0}),
    ] {
        let mut wallet = Wallet::requesting(&preparing(), &holder);
        wallet.credential(202, &bad);
        assert!(wallet.failed().reason.contains("until when"), "{bad}");
    }
}

#[test]
fn an_issuer_that_refuses_later_or_forgets_ends_the_looking() {
    let holder = Party::new(KeyType::P256);
    for (status, code) in [
        (400, "credential_request_denied"),
        (400, "invalid_transaction_id"),
        (401, "invalid_token"),
    ] {
        let mut wallet = Wallet::requesting(&preparing(), &holder);
        wallet.credential(202, &deferral(5));
        wallet.credential(status, &error(code));
        assert_eq!(wallet.failed().code.as_deref(), Some(code));
        assert!(wallet.call.is_none());
    }
    let mut wallet = Wallet::requesting(&preparing(), &holder);
    wallet.credential(202, &deferral(5));
    wallet.credential(202, &json!({"transaction_id": "other", "interval": 5}));
    assert!(wallet.failed().reason.contains("mixes up"));
}

#[test]
fn each_look_has_a_key_of_its_own_for_the_answer() {
    let mut issuer = Issuer::encrypting(WantedEncryption::Required);
    issuer.metadata.deferred_credential_endpoint =
        preparing().metadata.deferred_credential_endpoint;
    let holder = Party::new(KeyType::P256);
    let wallet = Wallet::requesting(&issuer, &holder);
    let Some(WalletCall::RequestCredential { body, .. }) = &wallet.call else {
        panic!("{:?}", wallet.call)
    };
    let encryption = issuer.settings.encryption.as_ref();
    let request = CredentialRequest::read(body.as_bytes(), encryption).unwrap();
    let to = request.response_encryption.unwrap().to().unwrap();
    let sealed = to
        .seal(deferral(5).to_string().as_bytes(), &ctx(14))
        .unwrap();
    let mut wallet = wallet;
    let deferred = HttpAnswer {
        status: 202,
        content_type: Some("application/jwt"),
        body: sealed.as_bytes(),
    };
    wallet.take(&Input::Credential(deferred), &ctx(15));
    let Some(WalletCall::RequestDeferred {
        body, encrypted, ..
    }) = &wallet.call
    else {
        panic!("{:?}", wallet.call)
    };
    assert!(*encrypted && !body.starts_with('{'));
    // The key of the first answer opens no later one.
    let again = HttpAnswer {
        body: sealed.as_bytes(),
        ..deferred
    };
    wallet.take(&Input::Credential(again), &ctx(16));
    assert!(wallet.failed().reason.contains("cannot be decrypted"));
}

#[test]
fn a_credential_endpoint_that_refuses_is_explained_to_the_person() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    for (status, code) in [
        (400, "invalid_proof"),
        (400, "credential_request_denied"),
        (401, "invalid_token"),
        (400, "brand_new"),
    ] {
        let mut wallet = Wallet::requesting(&issuer, &holder);
        wallet.credential(status, &error(code));
        assert_eq!(wallet.failed().code.as_deref(), Some(code));
        assert!(!wallet.failed().advice.is_empty());
    }
}

#[test]
fn what_arrived_before_a_failure_is_kept() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let made = issuer.offer_of(&NewOffer {
        configuration_ids: vec![SD_JWT.to_owned(), W3C.to_owned()],
        ..new_offer(SD_JWT)
    });
    let mut wallet = Wallet::accepts(&issuer, &made.offer, &holder);
    wallet.token(200, &token());
    wallet.nonce("n");
    let first = issuer
        .ask(SD_JWT, &[issuer.proof(&holder)])
        .unwrap()
        .remove(0);
    wallet.credential(200, &json!({"credentials": [{"credential": first}]}));
    wallet.take(&Input::Unreachable("connection refused"), &ctx(6));
    assert_eq!(wallet.failed().credentials.len(), 1);
    assert_eq!(wallet.kept.len(), 1);
}

#[test]
fn an_answer_that_is_not_awaited_is_an_error_of_ours() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let wallet = Wallet::accepts(&issuer, &issuer.offer(SD_JWT).offer, &holder);
    let input = Input::Credential(answer(200, b"{}"));
    let result = wallet::step(&wallet.state, &input, &Default::default(), &ctx(1));
    assert!(matches!(result, Err(Error::State(_))));
}

#[test]
fn secrets_of_a_receipt_do_not_show_in_debug() {
    let issuer = Issuer::new();
    let holder = Party::new(KeyType::P256);
    let made = issuer.offer(SD_JWT);
    let code = made.offer.pre_authorized_code().unwrap().code.clone();
    let mut wallet = Wallet::accepts(&issuer, &made.offer, &holder);
    assert!(!format!("{:?} {:?}", wallet.call, made.offer).contains(code.expose()));
    let mut token = token();
    token["access_token"] = json!("hidden-token");
    wallet.token(200, &token);
    assert!(!format!("{:?}", wallet.state).contains("hidden-token"));
}
