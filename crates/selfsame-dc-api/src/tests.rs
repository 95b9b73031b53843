//! Requests as a verifier makes them and a wallet reads them, and what makes them wrong.

use std::sync::Arc;

use selfsame_credential::evidence::{Evidence, Fetched, Need, Step};
use selfsame_credential::signer::Signer;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::{base64_encode, base64url_decode, base64url_encode};
use selfsame_crypto::hash::sha256;
use selfsame_crypto::jws::Unsigned;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyHandle, KeyType, PrivateKey};
use selfsame_did::{Options, ResolutionPlan};
use selfsame_openid4vc::dcql::DcqlQuery;
use selfsame_openid4vc::formats::formats;
use selfsame_openid4vc::holder::AwaitingConsent;
use selfsame_openid4vc::holder::request::WalletTrust;
use selfsame_openid4vc::verifier::Asked;
use selfsame_openid4vc::verifier::request::{NewRequest, create};
use selfsame_openid4vc::wire::client_metadata::ClientMetadata;
use selfsame_openid4vc::wire::request::{ClientId, RequestUriMethod, TYP};
use selfsame_openid4vc::wire::response::{
    AuthorizationResponse, PostedResponse, VpResponse, VpToken, encryption_to,
};
use selfsame_openid4vc::{Error, Transport};
use serde_json::{Value, json};
use url::Url;

use crate::answer::refused;
use crate::origin::is_own;
use crate::{AskingParty, BroughtAnswer, BroughtRequest, BrowserAsk, ExchangeProtocol, PageOrigin};

const NOW: UnixTime = UnixTime(1_800_000_000);
const SHOP: &str = "https://shop.example";

fn ctx() -> Ctx {
    Ctx::new(NOW, [7; 32])
}

/// A verifier with identities, and the certificates that wallets trust.
struct Shop {
    keys: Vec<PrivateKey>,
    parties: Vec<AskingParty>,
    anchors: Vec<Vec<u8>>,
}

impl Shop {
    /// One that signs by its DID.
    fn new() -> Self {
        let key = PrivateKey::generate(KeyType::P256).unwrap();
        let did = selfsame_did::key::create(key.public());
        let kid = format!("{did}#{}", did.as_str().trim_start_matches("did:key:"));
        let party = AskingParty {
            client: ClientId::DecentralizedIdentifier(did),
            signer: Signer::with_kid(KeyHandle::of(key.public()), key.algorithm(), kid),
        };
        Self {
            keys: vec![key],
            parties: vec![party],
            anchors: Vec::new(),
        }
    }

    /// One that signs by a certificate too, whose authority wallets trust or do not.
    fn certified(is_trusted: bool) -> Self {
        let mut shop = Self::new();
        let authority_key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
        let mut parameters = rcgen::CertificateParams::new(Vec::new()).unwrap();
        parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let anchor = parameters.self_signed(&authority_key).unwrap();
        let authority = rcgen::Issuer::new(parameters, authority_key);
        let leaf_key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
        let leaf = rcgen::CertificateParams::new(vec!["shop.example".to_owned()]).unwrap();
        let leaf = leaf.signed_by(&leaf_key, &authority).unwrap();
        let key = PrivateKey::from_pkcs8(&leaf_key.serialize_der()).unwrap();
        shop.parties.push(AskingParty {
            client: ClientId::X509Hash(sha256(leaf.der())),
            signer: Signer {
                key: KeyHandle::of(key.public()),
                algorithm: key.algorithm(),
                kid: None,
                x5c: vec![leaf.der().to_vec()],
            },
        });
        shop.keys.push(key);
        if is_trusted {
            shop.anchors.push(anchor.der().to_vec());
        }
        shop
    }

    fn asked(&self, encrypted: bool) -> Asked {
        let query = json!({"credentials": [{
            "id": "pid", "format": "dc+sd-jwt", "meta": {"vct_values": ["urn:pid"]},
        }]});
        let url = |text: &str| Url::parse(text).unwrap();
        let new = NewRequest {
            client: self.parties[0].client.clone(),
            response_uri: url("https://shop.example/verifier/responses/1"),
            request_uri: Some(url("https://shop.example/verifier/requests/1")),
            request_uri_method: RequestUriMethod::Get,
            redirect_uri: None,
            query: DcqlQuery::parse(&query).unwrap(),
            metadata: ClientMetadata {
                client_name: Some("The shop".to_owned()),
                ..formats()
            },
            purpose: Some("To sell wine".to_owned()),
            transaction_data: Vec::new(),
            encrypted,
            lifetime: 300,
        };
        create(new, &ctx()).unwrap().asked
    }

    /// The `data` of a request.
    fn asks(&self, protocol: ExchangeProtocol, asked: &Asked) -> Value {
        let origins = [SHOP.to_owned(), "https://till.shop.example".to_owned()];
        let ask = BrowserAsk {
            asked,
            protocol,
            origins: &origins,
            parties: &self.parties,
        };
        self.run(|evidence| ask.step(evidence, &ctx())).unwrap()
    }

    fn run<T>(
        &self,
        mut step: impl FnMut(&Evidence) -> Result<Step<T>, Error>,
    ) -> Result<T, Error> {
        let mut evidence = Evidence::default();
        for _ in 0..4 {
            match step(&evidence)? {
                Step::Done(done) => return Ok(done),
                Step::Needs(needs) => {
                    for need in needs {
                        self.gather(&need, &mut evidence);
                    }
                }
            }
        }
        panic!("the step never ends");
    }

    fn gather(&self, need: &Need, evidence: &mut Evidence) {
        match need {
            Need::Did(did) => {
                let Ok(ResolutionPlan::Done(resolution)) = did.plan(&Options::default()) else {
                    panic!("not resolved in these tests: {did}");
                };
                let value = Ok(Arc::new(*resolution));
                evidence.insert_did(did.clone(), Fetched { value, at: NOW });
            }
            Need::Signature(request) => {
                let is_it = |key: &&PrivateKey| KeyHandle::of(key.public()) == request.key;
                let key = self.keys.iter().find(is_it).unwrap();
                let signature = key.sign(&request.bytes).unwrap();
                evidence.insert_signature(request.clone(), signature);
            }
            other => panic!("not needed in these tests: {other:?}"),
        }
    }

    /// What a wallet reads from this data.
    fn read(&self, origin: &str, protocol: &str, data: Value) -> Result<AwaitingConsent, Error> {
        let transport = Transport::default();
        let trust = WalletTrust {
            transport: &transport,
            anchors: &self.anchors,
            transactions: &[],
        };
        let brought = BroughtRequest::new(origin, protocol, data, &transport)?;
        self.run(|evidence| brought.open(&trust, evidence, NOW))
    }

    fn opened(&self, protocol: ExchangeProtocol, asked: &Asked) -> AwaitingConsent {
        let data = self.asks(protocol, asked);
        self.read(SHOP, protocol.as_str(), data).unwrap()
    }

    /// A signed request whose payload has these members changed; null removes one.
    fn altered(&self, change: Value) -> Result<AwaitingConsent, Error> {
        let data = self.asks(ExchangeProtocol::Signed, &self.asked(false));
        let compact = data["request"].as_str().unwrap();
        let claims = decoded(compact.split('.').nth(1).unwrap());
        let header = decoded(compact.split('.').next().unwrap());
        let object = self.sign(0, &header, &changed(claims, &change));
        self.read(SHOP, "openid4vp-v1-signed", json!({ "request": object }))
    }

    fn sign(&self, key: usize, header: &Value, claims: &Value) -> String {
        let draft = Unsigned::new(header, claims);
        let signature = self.keys[key].sign(draft.signing_input()).unwrap();
        draft.finish(&signature)
    }
}

fn changed(mut members: Value, change: &Value) -> Value {
    let map = members.as_object_mut().unwrap();
    for (name, value) in change.as_object().unwrap() {
        match value {
            Value::Null => map.remove(name),
            value => map.insert(name.clone(), value.clone()),
        };
    }
    members
}

fn decoded(part: &str) -> Value {
    serde_json::from_slice(&base64url_decode(part).unwrap()).unwrap()
}

fn reason(refused: Result<AwaitingConsent, Error>) -> String {
    let error = refused.unwrap_err();
    assert_eq!(error.code(), Some("invalid_request"), "{error}");
    error.detail().to_owned()
}

#[test]
fn an_unsigned_request_has_no_client_id_and_its_verifier_is_the_origin() {
    let shop = Shop::new();
    let asked = shop.asked(false);
    let data = shop.asks(ExchangeProtocol::Unsigned, &asked);
    for absent in ["client_id", "state", "response_uri", "expected_origins"] {
        assert!(data.get(absent).is_none(), "{absent}");
    }
    assert!(data["client_metadata"].get("client_name").is_none());
    assert_eq!(data["response_mode"], "dc_api");
    let read = shop.opened(ExchangeProtocol::Unsigned, &asked);
    assert_eq!(read.request.client_id, "origin:https://shop.example");
    assert_eq!(read.request.audience(), "origin:https://shop.example");
    assert_eq!(read.request.nonce, asked.nonce);
    assert_eq!(read.verifier.name, SHOP);
    assert!(!read.verifier.authenticated);
}

#[test]
fn client_id_and_expected_origins_of_an_unsigned_request_are_ignored() {
    let shop = Shop::new();
    let data = shop.asks(ExchangeProtocol::Unsigned, &shop.asked(false));
    let foreign = json!({
        "client_id": "x509_san_dns:bank.example",
        "expected_origins": ["https://bank.example"],
        "state": 7,
        "response_uri": "https://bank.example/",
        "redirect_uri": "https://bank.example/",
        "unheard_of": true,
    });
    let read = shop
        .read(SHOP, "openid4vp-v1-unsigned", changed(data, &foreign))
        .unwrap();
    assert_eq!(read.request.client_id, "origin:https://shop.example");
    assert_eq!(read.request.state, None);
    assert_eq!(read.request.response_uri.as_str(), "https://shop.example/");
}

#[test]
fn a_signed_request_names_its_client_and_the_audience_stays_the_origin() {
    let shop = Shop::new();
    let asked = shop.asked(false);
    let read = shop.opened(ExchangeProtocol::Signed, &asked);
    assert_eq!(read.request.client_id, asked.client_id);
    assert_eq!(read.request.audience(), "origin:https://shop.example");
    assert!(read.verifier.authenticated);
    assert_eq!(read.audience, None);
    assert_eq!(read.request.purpose.as_deref(), Some("To sell wine"));
}

#[test]
fn a_request_has_the_certificates_of_the_client_that_is_asked_about() {
    let certificates = |shop: &Shop, protocol: ExchangeProtocol, client: &ClientId| {
        let data = shop.asks(protocol, &shop.asked(true));
        let brought = BroughtRequest::new(SHOP, protocol.as_str(), data, &Transport::default());
        brought.unwrap().certificates(&client.to_string())
    };
    let mut shop = Shop::certified(true);
    let (by_did, by_hash) = (shop.parties[0].clone(), shop.parties[1].clone());
    let several = ExchangeProtocol::Multisigned;
    let found = certificates(&shop, several, &by_hash.client);
    assert_eq!(found, by_hash.signer.x5c);
    for protocol in ExchangeProtocol::ALL {
        let found = certificates(&shop, protocol, &by_did.client);
        assert!(found.is_empty(), "{protocol:?}");
    }
    shop.parties.reverse();
    let found = certificates(&shop, ExchangeProtocol::Signed, &by_hash.client);
    assert_eq!(found, by_hash.signer.x5c);
}

#[test]
fn the_payload_of_the_specifications_example_is_read() {
    let example = include_str!("../../../vectors/openid4vc/dc_api.json");
    let example: Value = serde_json::from_str(example).unwrap();
    let mut payload = example["payload"].clone();
    let query = serde_json::to_value(&Shop::new().asked(false).query).unwrap();
    payload["dcql_query"] = query;
    payload.as_object_mut().unwrap().remove("client_id");
    let shop = Shop::new();
    let header = json!({
        "alg": "ES256", "typ": TYP, "kid": shop.parties[0].signer.kid,
    });
    payload["client_id"] = json!(shop.parties[0].client.to_string());
    let data = json!({ "request": shop.sign(0, &header, &payload) });
    let origin = "https://origin2.example.com";
    assert_eq!(refused(&Error::invalid_request("")), example["error"]);
    let read = shop
        .read(origin, "openid4vp-v1-signed", data.clone())
        .unwrap();
    assert_eq!(read.request.nonce, "n-0S6_WzA2Mj");
    assert_eq!(read.request.page.unwrap().origin, origin);
    assert!(
        shop.read("https://origin3.example.com", "openid4vp-v1-signed", data)
            .is_err()
    );
}

#[test]
fn a_signed_request_for_pages_of_another_origin_is_refused() {
    let shop = Shop::new();
    let data = shop.asks(ExchangeProtocol::Signed, &shop.asked(false));
    for origin in ["https://evil.example", "https://shop.example:8443"] {
        let why = reason(shop.read(origin, "openid4vp-v1-signed", data.clone()));
        assert!(why.contains("another origin"), "{why}");
    }
}

#[test]
fn a_signed_request_without_expected_origins_is_refused() {
    let shop = Shop::new();
    let why = reason(shop.altered(json!({ "expected_origins": null })));
    assert!(why.contains("lacks expected_origins"), "{why}");
    for wrong in [json!([]), json!(SHOP), json!([7]), json!({})] {
        let why = reason(shop.altered(json!({ "expected_origins": wrong })));
        assert!(why.contains("not a list of origins"), "{why}");
    }
    for foul in [
        "javascript:alert(1)",
        "ws://shop.example",
        "data:,x",
        "http://shop.example",
    ] {
        let listed = json!({ "expected_origins": [SHOP, foul] });
        assert!(shop.altered(listed).is_err(), "{foul}");
    }
    assert!(shop.altered(json!({ "expected_origins": [SHOP] })).is_ok());
}

#[test]
fn expected_origins_are_compared_as_they_are() {
    let shop = Shop::new();
    for almost in [
        "https://shop.example/",
        "https://SHOP.example",
        "https://shop.example:443",
    ] {
        let why = reason(shop.altered(json!({ "expected_origins": [almost] })));
        assert!(why.contains("another origin"), "{almost}: {why}");
    }
}

#[test]
fn a_signed_request_that_was_changed_or_has_run_out_is_refused() {
    let shop = Shop::new();
    let data = shop.asks(ExchangeProtocol::Signed, &shop.asked(false));
    let compact = data["request"].as_str().unwrap();
    let parts: Vec<&str> = compact.split('.').collect();
    let other = changed(decoded(parts[1]), &json!({"nonce": "other"}));
    let payload = base64url_encode(other.to_string().as_bytes());
    let forged = format!("{}.{payload}.{}", parts[0], parts[2]);
    let why = reason(shop.read(SHOP, "openid4vp-v1-signed", json!({ "request": forged })));
    assert!(why.contains("signature does not verify"), "{why}");
    for change in [
        json!({"exp": NOW.0 - 61}),
        json!({"aud": "https://other.example"}),
        json!({"client_id": null}),
        json!({"client_id": "origin:https://shop.example"}),
        json!({"client_id": "redirect_uri:https://shop.example/"}),
        json!({"request": "again"}),
        json!({"request_uri": "https://shop.example/"}),
        json!({"response_mode": "direct_post"}),
        json!({"nonce": null}),
    ] {
        assert!(shop.altered(change.clone()).is_err(), "{change}");
    }
}

#[test]
fn of_several_identities_a_wallet_takes_the_first_that_it_knows() {
    let asked = Shop::new().asked(false);
    let shop = Shop::certified(true);
    let data = shop.asks(ExchangeProtocol::Multisigned, &asked);
    let payload = decoded(data["request"]["payload"].as_str().unwrap());
    assert!(payload.get("client_id").is_none());
    let signatures = data["request"]["signatures"].as_array().unwrap();
    let named = signatures.iter().map(|one| {
        let header = decoded(one["protected"].as_str().unwrap());
        header["client_id"].as_str().unwrap().to_owned()
    });
    let wanted: Vec<String> = shop
        .parties
        .iter()
        .map(|one| one.client.to_string())
        .collect();
    assert_eq!(named.collect::<Vec<_>>(), wanted);
    let protocol = "openid4vp-v1-multisigned";
    let read = shop.read(SHOP, protocol, data.clone()).unwrap();
    assert_eq!(read.request.client_id, wanted[0]);
    assert_eq!(read.request.audience(), "origin:https://shop.example");
    // The object alone, as the text shows it.
    let bare = shop.read(SHOP, protocol, data["request"].clone()).unwrap();
    assert_eq!(bare, read);
    // A wallet that prefers certificates takes the second.
    let transport = Transport::default();
    let trust = WalletTrust {
        transport: &transport,
        anchors: &shop.anchors,
        transactions: &[],
    };
    let mut brought = BroughtRequest::new(SHOP, protocol, data, &transport).unwrap();
    brought.by_hash_first = true;
    let read = shop.run(|evidence| brought.open(&trust, evidence, NOW));
    assert_eq!(read.unwrap().request.client_id, wanted[1]);
}

#[test]
fn an_identity_of_another_trust_framework_does_not_hinder() {
    let shop = Shop::certified(false);
    let mut data = shop.asks(ExchangeProtocol::Multisigned, &shop.asked(false));
    let signatures = data["request"]["signatures"].as_array_mut().unwrap();
    signatures.reverse();
    let protocol = "openid4vp-v1-multisigned";
    let read = shop.read(SHOP, protocol, data.clone()).unwrap();
    assert_eq!(read.request.client_id, shop.parties[0].client.to_string());
    data["request"]["signatures"].as_array_mut().unwrap().pop();
    let why = reason(shop.read(SHOP, protocol, data));
    assert!(why.contains("not trusted here"), "{why}");
}

#[test]
fn one_bad_signature_of_several_makes_the_request_bad() {
    for is_trusted in [true, false] {
        let shop = Shop::certified(is_trusted);
        let sound = shop.asks(ExchangeProtocol::Multisigned, &shop.asked(false));
        for at in 0..2 {
            let mut data = sound.clone();
            let place = &mut data["request"]["signatures"][at]["signature"];
            let mut bytes = base64url_decode(place.as_str().unwrap()).unwrap();
            bytes[40] ^= 1;
            *place = json!(base64url_encode(&bytes));
            let why = reason(shop.read(SHOP, "openid4vp-v1-multisigned", data));
            assert!(why.contains("one of the request's signatures"), "{why}");
        }
    }
}

#[test]
fn a_request_with_several_signatures_that_breaks_its_form_is_refused() {
    let shop = Shop::certified(true);
    let data = shop.asks(ExchangeProtocol::Multisigned, &shop.asked(false));
    let request = &data["request"];
    let signature = request["signatures"][0].clone();
    let unprotected = changed(signature.clone(), &json!({"header": {"kid": "x"}}));
    for wrong in [
        json!({"payload": request["payload"], "signatures": []}),
        json!({"payload": request["payload"], "signatures": vec![signature.clone(); 9]}),
        json!({"payload": request["payload"], "signatures": [unprotected]}),
        json!({"payload": "!", "signatures": [signature]}),
        json!({"signatures": request["signatures"]}),
        json!("a.b.c"),
    ] {
        let read = shop.read(
            SHOP,
            "openid4vp-v1-multisigned",
            json!({ "request": wrong }),
        );
        assert!(read.is_err(), "{wrong}");
    }
}

#[test]
fn what_is_for_one_signature_stands_in_its_protected_header_alone() {
    let shop = Shop::new();
    let data = shop.asks(ExchangeProtocol::Multisigned, &shop.asked(false));
    let request = &data["request"];
    let claims = decoded(request["payload"].as_str().unwrap());
    let header = decoded(request["signatures"][0]["protected"].as_str().unwrap());
    let several = |header: &Value, claims: &Value| {
        let compact = shop.sign(0, header, claims);
        let parts: Vec<&str> = compact.split('.').collect();
        let data = json!({"payload": parts[1], "signatures": [
            {"protected": parts[0], "signature": parts[2]},
        ]});
        shop.read(SHOP, "openid4vp-v1-multisigned", data)
    };
    assert!(several(&header, &claims).is_ok());
    for own in [
        json!({"client_id": header["client_id"]}),
        json!({"verifier_info": []}),
    ] {
        let why = reason(several(&header, &changed(claims.clone(), &own)));
        assert!(why.contains("the payload of several signatures"), "{why}");
    }
    let nameless = changed(header.clone(), &json!({"client_id": null}));
    let why = reason(several(&nameless, &claims));
    assert!(why.contains("no client_id"), "{why}");
    let other = changed(header, &json!({"typ": "jwt"}));
    assert!(several(&other, &claims).is_err());
}

#[test]
fn protocols_that_are_not_supported_are_refused_by_name() {
    for (name, word) in [
        ("org-iso-mdoc", "org-iso-mdoc"),
        ("openid4vci-v1", "openid4vci-v1"),
        ("openid4vp", "not known"),
        ("openid4vp-v2-signed", "not known"),
    ] {
        let error = ExchangeProtocol::parse(name).unwrap_err();
        assert_eq!(error.code(), Some("invalid_request"));
        assert!(error.detail().contains(word), "{error}");
    }
    for protocol in ExchangeProtocol::ALL {
        assert_eq!(ExchangeProtocol::parse(protocol.as_str()), Ok(protocol));
    }
}

#[test]
fn an_origin_is_one_as_browsers_write_it() {
    let local = Url::parse("http://127.0.0.1:7380/").unwrap();
    let transport = Transport::with_plain_origins([&local]);
    for right in [
        "https://shop.example",
        "https://shop.example:8443",
        "http://127.0.0.1:7380",
    ] {
        assert_eq!(
            PageOrigin::parse(right, &transport).unwrap().as_str(),
            right
        );
    }
    for wrong in [
        "null",
        "",
        "shop.example",
        "https://shop.example/",
        "https://Shop.example",
        "https://shop.example:443",
        "https://user@shop.example",
        "http://shop.example",
        "file://",
        "javascript:alert(1)",
        "android:apk-key-hash:x",
    ] {
        assert!(PageOrigin::parse(wrong, &transport).is_err(), "{wrong}");
    }
}

#[test]
fn an_answer_is_taken_from_pages_of_the_verifier_alone() {
    let own = [SHOP.to_owned()];
    assert!(is_own(SHOP, &own).is_ok());
    for other in ["https://shop.example/", "https://evil.example", ""] {
        let error = is_own(other, &own).unwrap_err();
        assert_eq!(error.code(), Some("invalid_request"));
    }
}

/// What a wallet gives back.
fn presented(read: &AwaitingConsent) -> Value {
    let response = AuthorizationResponse {
        state: None,
        answer: VpResponse::Presented(token()),
    };
    let metadata = &read.request.metadata;
    let to = read
        .request
        .encrypted
        .then(|| encryption_to(metadata).unwrap());
    response.to_data(to.as_ref(), &ctx()).unwrap()
}

fn token() -> VpToken {
    VpToken::from([("pid".to_owned(), vec!["a~b~".to_owned()])])
}

#[test]
fn an_answer_in_the_clear_is_an_object_of_its_parameters() {
    let shop = Shop::new();
    let read = shop.opened(ExchangeProtocol::Unsigned, &shop.asked(false));
    let data = presented(&read);
    assert_eq!(data, json!({"vp_token": {"pid": ["a~b~"]}}));
    let answer = BroughtAnswer::read("openid4vp-v1-unsigned", &data).unwrap();
    let PostedResponse::Plain(response) = answer.posted else {
        panic!("it is not encrypted");
    };
    assert_eq!(response.answer, VpResponse::Presented(token()));
    assert!(BroughtAnswer::read("org-iso-mdoc", &data).is_err());
}

#[test]
fn an_encrypted_answer_opens_with_the_key_of_its_request_alone() {
    let shop = Shop::new();
    let asked = shop.asked(true);
    for protocol in ExchangeProtocol::ALL {
        let read = shop.opened(protocol, &asked);
        assert!(read.request.encrypted);
        let data = presented(&read);
        assert_eq!(
            data.as_object().unwrap().keys().collect::<Vec<_>>(),
            ["response"]
        );
        let answer = BroughtAnswer::read(protocol.as_str(), &data).unwrap();
        let opened = answer.posted.opened(asked.encryption.as_deref()).unwrap();
        assert_eq!(opened.answer, VpResponse::Presented(token()));
        assert!(answer.posted.opened(None).is_err());
        let other = Ctx::new(NOW, [8; 32]);
        let key = selfsame_openid4vc::wire::encryption::EncryptionKey::new(&other, "x").unwrap();
        assert!(answer.posted.opened(Some(&key)).is_err());
    }
    let plain = json!({"vp_token": {"pid": ["a~b~"]}});
    let answer = BroughtAnswer::read("openid4vp-v1-signed", &plain).unwrap();
    assert!(answer.posted.opened(asked.encryption.as_deref()).is_err());
}

#[test]
fn an_error_goes_back_as_its_code_alone() {
    let refusal = VpResponse::Refused {
        error: "access_denied".to_owned(),
        description: Some("The person did not want to".to_owned()),
    };
    let response = AuthorizationResponse {
        state: None,
        answer: refusal,
    };
    let declined = response.to_data(None, &ctx()).unwrap();
    assert_eq!(declined, json!({"error": "access_denied"}));
    let error = Error::invalid_request("the page is of another origin");
    assert_eq!(refused(&error), json!({"error": "invalid_request"}));
    assert_eq!(refused(&Error::Choice("nothing")), declined);
}

#[test]
fn a_request_that_has_expired_is_not_made() {
    let shop = Shop::new();
    let asked = shop.asked(false);
    let ask = BrowserAsk {
        asked: &asked,
        protocol: ExchangeProtocol::Unsigned,
        origins: &[],
        parties: &shop.parties,
    };
    let late = Ctx::new(NOW.plus(300), [7; 32]);
    let refused = ask.step(&Evidence::default(), &late);
    assert!(matches!(refused, Err(Error::Expired(_))));
    let nobody = BrowserAsk {
        protocol: ExchangeProtocol::Signed,
        parties: &[],
        ..ask
    };
    assert!(nobody.step(&Evidence::default(), &ctx()).is_err());
}

#[test]
fn certificates_in_a_header_are_standard_base64() {
    let shop = Shop::certified(true);
    let data = shop.asks(ExchangeProtocol::Multisigned, &shop.asked(false));
    let protected = data["request"]["signatures"][1]["protected"]
        .as_str()
        .unwrap();
    let leaf = &shop.parties[1].signer.x5c[0];
    assert_eq!(decoded(protected)["x5c"], json!([base64_encode(leaf)]));
}
