//! Tests of the wallet presenting credentials: opening requests and answering them.

use selfsame_credential::{ClaimPath, Evidence, Format, Held, Need, Step};
use selfsame_crypto::{
    KeyType, PrivateKey,
    encoding::{base64_encode, base64url_encode},
    hash::sha256,
};
use selfsame_did::{
    Did, DidUrl, Document, DocumentMetadata, Relationship, Representation, Resolution,
    VerificationMethod,
};
use selfsame_oauth::form;
use selfsame_openid4vc::dcql;
use selfsame_openid4vc::{
    Error, PresentationCode, Transport,
    holder::{
        self, Audience, AwaitingConsent, Choice, Delivery, HolderKey, HolderNext, Input,
        PresentationState,
        request::{Invocation, ReceivedObject, WalletTrust, authenticate, open, read},
        response::refusal,
        selection::{by_policy, candidate, explicit},
    },
    verifier::request::{create, link},
    wire::{
        request::{RefusedRequest, RequestUriMethod},
        response::{AuthorizationResponse, VpResponse, VpToken},
        transaction::ready_types,
    },
};
use serde_json::{Value, json};

use crate::{
    verifier::{Verifier, query_sd_jwt, query_w3c},
    world::{
        Driver, Issuer, LINKED, NOW, Party, SD_JWT, W3C, W3C_2, ctx, stored, transport, url, with,
    },
};

/// A credential in a wallet, with the key it is bound to.
pub struct Card {
    pub holder: Party,
    pub held: Held,
    /// The claims to disclose instead of those that the query asks for.
    pub reveal: Option<Vec<ClaimPath>>,
}

impl Card {
    pub fn new(issuer: &Issuer, configuration_id: &str) -> Self {
        let holder = Party::new(KeyType::P256);
        let format = match configuration_id {
            SD_JWT => Format::SdJwtVc,
            W3C => Format::JwtVcJson,
            LINKED => Format::LdpVc,
            _ => Format::VcJwt,
        };
        let header = json!({"typ": "openid4vci-proof+jwt", "alg": "ES256", "kid": holder.kid});
        let proof = holder.token(&header, &issuer.proof_claims());
        let raw = issuer.ask(configuration_id, &[proof]).unwrap().remove(0);
        Self {
            held: Held::parse(&raw, format).unwrap(),
            holder,
            reveal: None,
        }
    }

    fn key(&self) -> HolderKey {
        HolderKey {
            key: self.holder.handle(),
            algorithm: self.holder.key.algorithm(),
            kid: Some(self.holder.kid.clone()),
        }
    }
}

/// The presentations a wallet sends for a request object; the client identifier is taken from the object itself.
pub fn presentations(object: &str, cards: &[(&str, &Card)]) -> VpToken {
    let claims = selfsame_crypto::jws::Compact::parse(object)
        .unwrap()
        .claims()
        .unwrap();
    let client_id = claims["client_id"].as_str().unwrap();
    let asked = opened(object, client_id).unwrap();
    match present(&asked, cards).unwrap().answer {
        VpResponse::Presented(vp_token) => vp_token,
        other => panic!("{other:?}"),
    }
}

fn present(
    asked: &AwaitingConsent,
    cards: &[(&str, &Card)],
) -> Result<AuthorizationResponse, Error> {
    let form = delivered_form(asked, cards)?;
    Ok(AuthorizationResponse::parse(form::encode(&form).as_bytes()).unwrap())
}

/// The form in which a wallet delivers its answer.
pub fn delivered_form(
    asked: &AwaitingConsent,
    cards: &[(&str, &Card)],
) -> Result<Vec<(String, String)>, Error> {
    let next = answered(asked, cards)?;
    assert!(matches!(next.state, PresentationState::Answering(_)));
    let Delivery { url, form } = next.delivery.unwrap();
    assert_eq!(url, asked.request.response_uri);
    Ok(form)
}

/// What a wallet gives back to the page that asks.
pub fn returned_data(asked: &AwaitingConsent, cards: &[(&str, &Card)]) -> Value {
    let next = answered(asked, cards).unwrap();
    assert!(matches!(next.state, PresentationState::Done(done) if done.presented));
    assert!(next.delivery.is_none(), "nothing is posted");
    next.returned.unwrap()
}

fn answered(asked: &AwaitingConsent, cards: &[(&str, &Card)]) -> Result<HolderNext, Error> {
    let keys: Vec<HolderKey> = cards.iter().map(|(_, card)| card.key()).collect();
    let reveals: Vec<Vec<ClaimPath>> = cards
        .iter()
        .map(|(query, card)| reveal(asked, query, card))
        .collect();
    let choices: Vec<Choice<'_>> = cards
        .iter()
        .enumerate()
        .map(|(at, (query, card))| Choice {
            query_id: query,
            held: &card.held,
            reveal: &reveals[at],
            key: Some(&keys[at]),
        })
        .collect();
    let parties: Vec<&Party> = cards.iter().map(|(_, card)| &card.holder).collect();
    let state = stored(&PresentationState::Asked(Box::new(asked.clone())));
    Driver::new(&parties)
        .run(|evidence| holder::step(&state, Input::Present(&choices), evidence, &ctx(60)))
}

fn reveal(asked: &AwaitingConsent, query: &str, card: &Card) -> Vec<ClaimPath> {
    if let Some(reveal) = &card.reveal {
        return reveal.clone();
    }
    let selection = dcql::select(&asked.request.query, &[((), candidate(&card.held, true))]);
    let found = selection
        .query(query)
        .and_then(|found| found.matches.first());
    found.map(|found| found.reveal.clone()).unwrap_or_default()
}

pub fn opened(object: &str, client_id: &str) -> Result<AwaitingConsent, Box<RefusedRequest>> {
    opens(
        &ReceivedObject {
            client_id,
            object,
            request_uri: None,
            wallet_nonce: None,
        },
        &[],
    )
}

fn opens(
    received: &ReceivedObject<'_>,
    anchors: &[Vec<u8>],
) -> Result<AwaitingConsent, Box<RefusedRequest>> {
    let transport = transport();
    let trust = WalletTrust {
        transport: &transport,
        anchors,
        transactions: &ready_types(),
    };
    Driver::new(&[]).run(|evidence| authenticate(received, &trust, evidence, NOW))
}

fn refused<T: std::fmt::Debug>(result: Result<T, Box<RefusedRequest>>) -> &'static str {
    match result {
        Err(refused) => refused.error.code().expect("a code of the specification"),
        Ok(other) => panic!("this must be refused: {other:?}"),
    }
}

// ---- links

fn plain_link(changes: Value) -> String {
    let request = create(Verifier::plain_request(&query_sd_jwt()), &ctx(1)).unwrap();
    let text = link(&request.asked, None).unwrap();
    let parameters: serde_json::Map<String, Value> = url(&text)
        .query_pairs()
        .map(|(name, value)| (name.into_owned(), Value::from(value.into_owned())))
        .collect();
    let changed = with(&Value::Object(parameters), changes);
    let pairs: Vec<(String, String)> = changed
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned()))
        .collect();
    format!("openid4vp://?{}", form::encode(&pairs))
}

fn opens_link(link: &str) -> Result<Invocation, Box<RefusedRequest>> {
    opens_link_over(link, &transport())
}

fn opens_link_over(link: &str, transport: &Transport) -> Result<Invocation, Box<RefusedRequest>> {
    let trust = WalletTrust {
        transport,
        anchors: &[],
        transactions: &ready_types(),
    };
    open(link, &trust)
}

#[test]
fn a_request_in_a_link_is_opened_and_its_verifier_is_not_authenticated() {
    let Invocation::Plain(asked) = opens_link(&plain_link(json!({"unknown": "x"}))).unwrap() else {
        panic!()
    };
    assert!(!asked.verifier.authenticated);
    assert_eq!(asked.verifier.name, "verifier.example");
    assert_eq!(
        asked.request.client_id,
        "redirect_uri:https://verifier.example/responses/1"
    );
    assert_eq!(
        asked.request.response_uri,
        url("https://verifier.example/responses/1")
    );
}

#[test]
fn a_purpose_is_read_as_one_line_and_what_is_no_text_is_ignored() {
    let purpose = |value: Value| match opens_link(&plain_link(json!({ "purpose": value }))) {
        Ok(Invocation::Plain(asked)) => asked.request.purpose,
        other => panic!("{other:?}"),
    };
    assert_eq!(purpose(json!("Boat\nhouse")), Some("Boat house".to_owned()));
    assert_eq!(purpose(json!("x".repeat(4_000))).unwrap().len(), 300);
    assert_eq!(purpose(json!("")), None);
    let verifier = Verifier::new();
    let asked = |value: Value| {
        let object = object(&verifier, json!({}), json!({ "purpose": value }));
        opened(&object, &client_id(&verifier)).unwrap()
    };
    let line = Some("Boat house".to_owned());
    assert_eq!(asked(json!("Boat house")).request.purpose, line);
    assert_eq!(asked(json!({"en": "Boat house"})).request.purpose, None);
}

#[test]
fn a_verifiers_name_is_read_from_its_metadata_and_what_is_no_text_is_ignored() {
    let named = |name: Value| {
        let metadata = json!({ "vp_formats_supported": { "dc+sd-jwt": {} }, "client_name": name });
        let metadata = metadata.to_string();
        match opens_link(&plain_link(json!({ "client_metadata": metadata }))) {
            Ok(Invocation::Plain(asked)) => asked.request.metadata.client_name,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        named(json!("Harbour\u{0}Office")),
        Some("Harbour Office".to_owned())
    );
    assert_eq!(named(json!(["Harbour Office"])), None);
}

#[test]
fn response_uri_may_be_left_out_where_the_client_identifier_says_it() {
    let link = plain_link(json!({"response_uri": null}));
    let Invocation::Plain(asked) = opens_link(&link).unwrap() else {
        panic!()
    };
    assert_eq!(
        asked.request.response_uri,
        url("https://verifier.example/responses/1")
    );
}

#[test]
fn a_response_uri_other_than_the_client_identifier_is_refused() {
    let link = plain_link(json!({"response_uri": "https://evil.example/"}));
    assert_eq!(refused(opens_link(&link)), "invalid_request");
}

#[test]
fn a_client_identifier_of_an_unknown_prefix_or_none_is_refused() {
    for client_id in [
        "verifier-7",
        "x509_hash:abc",
        "openid_federation:https://v.example",
        "origin:https://v.example",
        "did:web:v.example",
        "https://v.example",
        "redirect_uri:not a url",
        "decentralized_identifier:web:v.example",
        "x509_san_dns:https://v.example",
        "x509_san_dns:",
    ] {
        let signed = form::encode(&[
            ("client_id", client_id),
            ("request_uri", "https://v.example/r"),
        ]);
        let code = refused(opens_link(&format!("openid4vp://?{signed}")));
        assert_eq!(code, "invalid_request", "{client_id}");
        let link = plain_link(json!({"client_id": client_id}));
        assert_eq!(refused(opens_link(&link)), "invalid_request", "{client_id}");
    }
}

#[test]
fn a_verifier_that_must_sign_is_refused_when_it_does_not() {
    for client_id in [
        "decentralized_identifier:did:web:v.example",
        "x509_san_dns:verifier.example",
    ] {
        let link = plain_link(json!({"client_id": client_id}));
        assert_eq!(refused(opens_link(&link)), "invalid_request");
    }
}

#[test]
fn a_verifier_that_cannot_sign_is_refused_when_it_pretends_to() {
    for parameter in ["request_uri", "request"] {
        let link = plain_link(json!({parameter: "https://verifier.example/requests/1"}));
        let told = opens_link(&link).unwrap_err().error.to_string();
        assert!(told.contains("unsigned request objects"), "{told}");
        assert_eq!(refused(opens_link(&link)), "invalid_request");
    }
    let object = "e30.e30.";
    let client_id = "redirect_uri:https://verifier.example/responses/1";
    assert_eq!(refused(opened(object, client_id)), "invalid_request");
}

#[test]
fn a_link_says_how_the_request_is_fetched() {
    let verifier = Verifier::new();
    for (method, posts) in [
        (RequestUriMethod::Get, false),
        (RequestUriMethod::Post, true),
    ] {
        let mut new = verifier.new_request(&query_sd_jwt());
        new.request_uri_method = method;
        let link = link(&create(new, &ctx(1)).unwrap().asked, None).unwrap();
        let invocation = opens_link(&link).unwrap();
        let fetch = invocation.fetch(&ctx(2)).unwrap();
        assert_eq!(fetch.url, url("https://verifier.example/requests/1"));
        assert_eq!(fetch.accept, "application/oauth-authz-req+jwt");
        assert_eq!(fetch.form.is_some(), posts);
        assert_eq!(fetch.wallet_nonce.is_some(), posts);
    }
}

#[test]
fn a_request_uri_method_is_get_or_post_in_lower_case_and_not_without_request_uri() {
    let link = |method: &str| {
        let pairs = [
            ("client_id", "x509_san_dns:v.example"),
            ("request_uri", "https://v.example/r"),
            ("request_uri_method", method),
        ];
        format!("openid4vp://?{}", form::encode(&pairs))
    };
    for bad in ["POST", "put", "Get"] {
        assert_eq!(
            refused(opens_link(&link(bad))),
            "invalid_request_uri_method"
        );
    }
    assert!(opens_link(&link("post")).is_ok());
    let lone = plain_link(json!({"request_uri_method": "post"}));
    assert_eq!(refused(opens_link(&lone)), "invalid_request");
}

#[test]
fn a_link_that_points_to_a_place_without_tls_is_refused() {
    for bad in [
        "http://v.example/r",
        "http://127.0.0.1/r",
        "file:///etc/passwd",
    ] {
        let pairs = form::encode(&[
            ("client_id", "x509_san_dns:v.example"),
            ("request_uri", bad),
        ]);
        assert_eq!(
            refused(opens_link(&format!("openid4vp://?{pairs}"))),
            "invalid_request"
        );
    }
    let client_id = "redirect_uri:http://verifier.example/responses/1";
    let plain = plain_link(json!({"client_id": client_id, "response_uri": null}));
    let result = opens_link(&plain).unwrap_err();
    assert_eq!(result.response_uri, None);
    let faulty = json!({"client_id": client_id, "response_uri": null, "nonce": null});
    let result = opens_link(&plain_link(faulty)).unwrap_err();
    assert_eq!(result.response_uri, None);
    let own = Transport::with_plain_origins([&url("http://verifier.example")]);
    assert!(opens_link_over(&plain, &own).is_ok());
}

#[test]
fn a_link_that_repeats_a_parameter_or_has_another_scheme_is_refused() {
    let link = plain_link(json!({}));
    assert_eq!(
        refused(opens_link(&format!("{link}&nonce=other"))),
        "invalid_request"
    );
    assert_eq!(
        refused(opens_link("openid-credential-offer://?client_id=x")),
        "invalid_request"
    );
    assert_eq!(refused(opens_link("not a link")), "invalid_request");
}

// ---- parameters

#[test]
fn parameters_that_break_a_rule_are_refused_with_its_code() {
    let scope = json!({"scope": "vaccination", "dcql_query": null});
    let mdoc = json!({"credentials": [{"id": "a", "format": "vc+sd-jwt-of-another-time", "meta": {"doctype_value": "x"}}]});
    let mut unbound = query_sd_jwt();
    unbound["credentials"][0]["require_cryptographic_holder_binding"] = json!(false);
    for (changes, code) in [
        (json!({"response_type": null}), "invalid_request"),
        (
            json!({"response_type": "code"}),
            "unsupported_response_type",
        ),
        (
            json!({"response_type": "vp_token id_token"}),
            "unsupported_response_type",
        ),
        (json!({"response_mode": null}), "invalid_request"),
        (
            json!({"response_mode": "direct_post.jwt"}),
            "invalid_request",
        ),
        (json!({"response_mode": "fragment"}), "invalid_request"),
        (json!({"nonce": null}), "invalid_request"),
        (json!({"nonce": "with space"}), "invalid_request"),
        (json!({"state": "ümlaut"}), "invalid_request"),
        (json!({"dcql_query": null}), "invalid_request"),
        (json!({"dcql_query": "{}"}), "invalid_request"),
        (json!({"dcql_query": "not json"}), "invalid_request"),
        (
            json!({"dcql_query": null, "presentation_definition": "{}"}),
            "invalid_request",
        ),
        (json!({"scope": "vaccination"}), "invalid_request"),
        (scope, "invalid_scope"),
        (
            json!({"transaction_data": "[\"e30\"]"}),
            "invalid_transaction_data",
        ),
        (
            json!({"dcql_query": mdoc.to_string()}),
            "vp_formats_not_supported",
        ),
        (json!({"client_metadata": "7"}), "invalid_request"),
        (json!({"client_metadata": "[]"}), "invalid_request"),
        (
            json!({"dcql_query": unbound.to_string(), "state": null}),
            "invalid_request",
        ),
    ] {
        assert_eq!(
            refused(opens_link(&plain_link(changes.clone()))),
            code,
            "{changes}"
        );
    }
    assert!(opens_link(&plain_link(json!({"state": null, "client_metadata": null}))).is_ok());
    assert!(opens_link(&plain_link(json!({"dcql_query": unbound.to_string()}))).is_ok());
}

/// Metadata of a verifier that wants encrypted answers.
fn encrypting(keys: &Value, encryptions: &Value) -> Value {
    let metadata = json!({
        "jwks": {"keys": keys},
        "encrypted_response_enc_values_supported": encryptions,
    });
    json!({"response_mode": "direct_post.jwt", "client_metadata": metadata.to_string()})
}

/// An encryption key of a verifier, with these changes.
fn encryption_key(changes: &Value) -> Value {
    let key = PrivateKey::generate(KeyType::P256).unwrap();
    let mut jwk = key.public().to_jwk().to_value();
    for (name, value) in json!({"kid": "enc-1", "alg": "ECDH-ES", "use": "enc"})
        .as_object()
        .unwrap()
        .iter()
        .chain(changes.as_object().unwrap())
    {
        jwk[name] = value.clone();
    }
    jwk
}

#[test]
fn an_answer_by_direct_post_jwt_is_encrypted_to_the_verifiers_key_whole() {
    let keys = json!([
        encryption_key(&json!({"alg": "ECDH-ES+A256KW"})),
        encryption_key(&json!({}))
    ]);
    for (encryptions, chosen) in [
        (json!(["A128GCM"]), "A128GCM"),
        (json!(["A128CBC-HS256", "A128GCM", "A256GCM"]), "A256GCM"),
    ] {
        let link = plain_link(encrypting(&keys, &encryptions));
        let Ok(Invocation::Plain(asked)) = opens_link(&link) else {
            panic!("it is opened")
        };
        let state = stored(&PresentationState::Asked(asked));
        let next = holder::step(&state, Input::Decline, &Evidence::default(), &ctx(60));
        let Ok(Step::Done(next)) = next else {
            panic!("it is declined")
        };
        assert!(matches!(next.state, PresentationState::Declining(_)));
        let Delivery { form, .. } = next.delivery.unwrap();
        let [(name, token)] = form.as_slice() else {
            panic!("{form:?}")
        };
        assert_eq!(name, "response");
        let parts: Vec<&str> = token.split('.').collect();
        assert_eq!((parts.len(), parts[1]), (5, ""));
        let header = selfsame_crypto::encoding::base64url_decode(parts[0]).unwrap();
        let header: Value = serde_json::from_slice(&header).unwrap();
        assert_eq!(
            (&header["alg"], &header["kid"]),
            (&json!("ECDH-ES"), &json!("enc-1"))
        );
        assert_eq!(header["enc"], chosen);
    }
}

#[test]
fn a_verifier_that_wants_encryption_and_has_no_key_for_it_is_refused() {
    let good = encryption_key(&json!({}));
    let other = encryption_key(&json!({"use": "sig"}));
    for (keys, encryptions) in [
        (json!([]), json!(["A128GCM"])),
        (json!([other]), json!(["A128GCM"])),
        (json!([{"kty": "RSA"}]), json!(["A128GCM"])),
        (json!([good]), json!(["A128CBC-HS256"])),
        (json!([good]), json!([])),
    ] {
        let link = plain_link(encrypting(&keys, &encryptions));
        assert_eq!(
            refused(opens_link(&link)),
            "invalid_request",
            "{keys} {encryptions}"
        );
    }
}

#[test]
fn a_redirect_uri_beside_direct_post_is_an_invalid_request() {
    let link = plain_link(json!({"redirect_uri": "https://verifier.example/cb"}));
    assert_eq!(refused(opens_link(&link)), "invalid_request");
}

#[test]
fn a_verifier_is_told_why_its_request_is_refused() {
    let link = plain_link(json!({"transaction_data": "[\"e30\"]"}));
    let refused = opens_link(&link).unwrap_err();
    let Some(Delivery { url: there, form }) = refusal(&refused) else {
        panic!()
    };
    assert_eq!(there, url("https://verifier.example/responses/1"));
    let response = AuthorizationResponse::parse(form::encode(&form).as_bytes()).unwrap();
    assert!(response.state.is_some());
    assert!(
        matches!(response.answer, VpResponse::Refused { error, .. } if error == "invalid_transaction_data")
    );
}

#[test]
fn a_verifier_that_is_not_authenticated_gets_no_error_response() {
    let verifier = Verifier::new();
    let (_, object) = verifier.fetched(verifier.new_request(&query_sd_jwt()), None);
    let (head, signature) = object.rsplit_once('.').unwrap();
    let forged = format!("{head}.{}", signature.chars().rev().collect::<String>());
    let client_id = format!("decentralized_identifier:{}", verifier.party.did);
    let refused = opened(&forged, &client_id).unwrap_err();
    assert!(refusal(&refused).is_none());
}

// ---- request objects

/// A request object with changes, signed by the verifier's key.
fn object(verifier: &Verifier, header: Value, claims: Value) -> String {
    let (_, object) = verifier.fetched(verifier.new_request(&query_sd_jwt()), None);
    let good = selfsame_crypto::jws::Compact::parse(&object)
        .unwrap()
        .claims()
        .unwrap();
    let typ = "oauth-authz-req+jwt";
    let good_header = json!({"typ": typ, "alg": "ES256", "kid": verifier.party.kid});
    verifier
        .party
        .token(&with(&good_header, header), &with(&good, claims))
}

fn client_id(verifier: &Verifier) -> String {
    format!("decentralized_identifier:{}", verifier.party.did)
}

#[test]
fn a_request_object_signed_by_a_key_of_the_clients_did_is_authentic() {
    let verifier = Verifier::new();
    let object = object(
        &verifier,
        json!({}),
        json!({"iss": "ignored", "unknown": 1}),
    );
    let asked = opened(&object, &client_id(&verifier)).unwrap();
    assert!(asked.verifier.authenticated);
    assert_eq!(asked.verifier.prefix, "decentralized_identifier");
    assert_eq!(asked.verifier.name, verifier.party.did);
    assert_eq!(asked.request.client_id, client_id(&verifier));
}

#[test]
fn the_type_of_a_request_object_may_be_written_in_full() {
    let verifier = Verifier::new();
    let typ = "application/oauth-authz-req+jwt";
    let object = object(&verifier, json!({"typ": typ}), json!({}));
    assert!(opened(&object, &client_id(&verifier)).is_ok());
}

#[test]
fn a_request_object_of_another_type_is_refused() {
    let verifier = Verifier::new();
    for typ in [json!("JWT"), json!("text/oauth-authz-req+jwt"), Value::Null] {
        let object = object(&verifier, json!({"typ": typ}), json!({}));
        assert_eq!(
            refused(opened(&object, &client_id(&verifier))),
            "invalid_request"
        );
    }
}

#[test]
fn a_request_object_that_another_key_signed_is_refused() {
    let (verifier, thief) = (Verifier::new(), Verifier::new());
    let stolen = json!({"client_id": client_id(&verifier)});
    let with_own_kid = object(&thief, json!({}), stolen.clone());
    let with_foreign_kid = object(&thief, json!({"kid": verifier.party.kid}), stolen.clone());
    let without_kid = object(&thief, json!({"kid": null}), stolen.clone());
    let no_such_key = object(
        &thief,
        json!({"kid": format!("{}#x", verifier.party.did)}),
        stolen,
    );
    for object in [
        with_own_kid,
        with_foreign_kid,
        without_kid,
        no_such_key,
        "e30.e30.".to_owned(),
    ] {
        assert_eq!(
            refused(opened(&object, &client_id(&verifier))),
            "invalid_request"
        );
    }
}

#[test]
fn a_request_object_without_a_signature_is_refused() {
    let verifier = Verifier::new();
    for algorithm in ["none", "HS256"] {
        let object = object(&verifier, json!({"alg": algorithm}), json!({}));
        assert_eq!(
            refused(opened(&object, &client_id(&verifier))),
            "invalid_request"
        );
    }
}

#[test]
fn a_verifier_whose_did_is_deactivated_or_unknown_is_refused() {
    let verifier = Verifier::new();
    let object = object(&verifier, json!({}), json!({}));
    let did = Did::parse(&verifier.party.did).unwrap();
    let gone = DocumentMetadata {
        deactivated: true,
        ..DocumentMetadata::default()
    };
    let unavailable = selfsame_credential::Unavailable {
        reason: "down".to_owned(),
    };
    for resolution in [Ok(Resolution::deactivated(gone)), Err(unavailable)] {
        let mut driver = Driver::new(&[]);
        driver.resolve(did.clone(), resolution);
        let transport = transport();
        let trust = WalletTrust {
            transport: &transport,
            anchors: &[],
            transactions: &[],
        };
        let client_id = client_id(&verifier);
        let received = ReceivedObject {
            client_id: &client_id,
            object: &object,
            request_uri: None,
            wallet_nonce: None,
        };
        let result = driver.run(|evidence| authenticate(&received, &trust, evidence, NOW));
        assert_eq!(refused(result), "invalid_request");
    }
}

#[test]
fn a_verifier_is_not_known_by_what_a_document_borrows_from_another_did() {
    let verifier = Verifier::new();
    let did = Did::parse(&verifier.party.did).unwrap();
    let other = Did::parse("did:web:other.example").unwrap();
    let borrowed = other.with_fragment("1").unwrap();
    let own = DidUrl::parse(&verifier.party.kid).unwrap();
    for (subject, method, good) in [
        (&did, &own, true),
        (&other, &own, false),
        (&did, &borrowed, false),
    ] {
        let key = verifier.party.key.public();
        let mut method = VerificationMethod::json_web_key(method.clone(), key);
        method.controller = subject.clone();
        let object = object(&verifier, json!({"kid": method.id.to_string()}), json!({}));
        let mut document = Document::new(subject.clone());
        document.add(method, &Relationship::SIGNING);
        let mut driver = Driver::new(&[]);
        let found = Resolution::found(document, Representation::default());
        driver.resolve(did.clone(), Ok(found));
        let transport = transport();
        let trust = WalletTrust {
            transport: &transport,
            anchors: &[],
            transactions: &[],
        };
        let received = ReceivedObject {
            client_id: &client_id(&verifier),
            object: &object,
            request_uri: None,
            wallet_nonce: None,
        };
        let result = driver.run(|evidence| authenticate(&received, &trust, evidence, NOW));
        assert_eq!(result.is_ok(), good, "{object}");
    }
}

#[test]
fn the_client_identifier_of_the_link_and_of_the_object_are_the_same_string() {
    let (verifier, other) = (Verifier::new(), Verifier::new());
    let good = object(&verifier, json!({}), json!({}));
    assert!(opened(&good, &client_id(&verifier)).is_ok());
    assert_eq!(
        refused(opened(&good, &client_id(&other))),
        "invalid_request"
    );
    for id in [
        json!(verifier.party.did),
        json!(client_id(&other)),
        Value::Null,
        json!(7),
    ] {
        let object = object(&verifier, json!({}), json!({"client_id": id}));
        assert_eq!(
            refused(opened(&object, &client_id(&verifier))),
            "invalid_request"
        );
    }
}

#[test]
fn a_request_object_is_for_self_issued_me() {
    let verifier = Verifier::new();
    for good in [
        json!("https://self-issued.me/v2"),
        json!(["https://self-issued.me/v2"]),
    ] {
        let object = object(&verifier, json!({}), json!({"aud": good}));
        assert!(opened(&object, &client_id(&verifier)).is_ok());
    }
    for bad in [
        json!("https://other.example"),
        json!(["https://other.example", 7]),
        json!([]),
    ] {
        let object = object(&verifier, json!({}), json!({"aud": bad}));
        assert_eq!(
            refused(opened(&object, &client_id(&verifier))),
            "invalid_request"
        );
    }
}

#[test]
fn a_request_object_that_is_addressed_to_its_verifier_is_taken_and_says_so() {
    let verifier = Verifier::new();
    let client_id = client_id(&verifier);
    let request_uri = url("https://verifier.example/requests/7");
    let opens = |audience: &Value, request_uri: Option<&url::Url>| {
        let object = object(&verifier, json!({}), json!({"aud": audience}));
        let received = ReceivedObject {
            client_id: &client_id,
            object: &object,
            request_uri,
            wallet_nonce: None,
        };
        opens(&received, &[]).map(|asked| asked.audience)
    };
    let own = opens(&json!("https://self-issued.me/v2"), Some(&request_uri));
    let response_uri = opened(&object(&verifier, json!({}), json!({})), &client_id)
        .unwrap()
        .request
        .response_uri;
    assert_eq!(own.unwrap(), None);
    for audience in [request_uri.as_str(), &client_id, response_uri.as_str()] {
        for written in [json!(audience), json!(["https://other.example", audience])] {
            let taken = opens(&written, Some(&request_uri)).unwrap();
            assert_eq!(taken, Some(Audience::Verifier(audience.to_owned())));
        }
    }
    let fetched_elsewhere = json!("https://verifier.example/requests/8");
    for (audience, request_uri) in [
        (&fetched_elsewhere, Some(&request_uri)),
        (&json!(request_uri.as_str()), None),
        (&json!("https://verifier.example"), Some(&request_uri)),
    ] {
        assert_eq!(refused(opens(audience, request_uri)), "invalid_request");
    }
}

#[test]
fn a_request_object_without_an_audience_is_accepted_and_says_so() {
    let verifier = Verifier::new();
    let object = object(&verifier, json!({}), json!({"aud": null}));
    let asked = opened(&object, &client_id(&verifier)).unwrap();
    assert_eq!(asked.audience, Some(Audience::Unsaid {}));
    let kept = serde_json::to_string(&asked).unwrap();
    assert_eq!(
        serde_json::from_str::<AwaitingConsent>(&kept).unwrap(),
        asked
    );
}

#[test]
fn a_request_object_that_has_expired_or_is_not_valid_yet_is_refused() {
    let verifier = Verifier::new();
    for times in [
        json!({"exp": NOW.0 - 61}),
        json!({"nbf": NOW.0 + 61}),
        json!({"exp": "soon"}),
    ] {
        let object = object(&verifier, json!({}), times);
        assert_eq!(
            refused(opened(&object, &client_id(&verifier))),
            "invalid_request"
        );
    }
}

#[test]
fn a_request_object_repeats_the_wallets_nonce() {
    let verifier = Verifier::new();
    let client_id = client_id(&verifier);
    let opens_with = |object: &str| {
        opens(
            &ReceivedObject {
                client_id: &client_id,
                object,
                request_uri: None,
                wallet_nonce: Some("abc"),
            },
            &[],
        )
    };
    let good = object(&verifier, json!({}), json!({"wallet_nonce": "abc"}));
    assert!(opens_with(&good).is_ok());
    for nonce in [json!("abd"), Value::Null] {
        let bad = object(&verifier, json!({}), json!({"wallet_nonce": nonce}));
        assert_eq!(refused(opens_with(&bad)), "invalid_request");
    }
}

#[test]
fn a_request_object_does_not_refer_to_another_one() {
    let verifier = Verifier::new();
    for name in ["request", "request_uri"] {
        let object = object(&verifier, json!({}), json!({name: "x"}));
        assert_eq!(
            refused(opened(&object, &client_id(&verifier))),
            "invalid_request"
        );
    }
}

#[test]
fn a_request_object_with_parameters_of_the_wrong_type_is_refused() {
    let verifier = Verifier::new();
    for claims in [
        json!({"nonce": 7}),
        json!({"response_uri": []}),
        json!({"dcql_query": "{}"}),
    ] {
        let object = object(&verifier, json!({}), claims);
        assert_eq!(
            refused(opened(&object, &client_id(&verifier))),
            "invalid_request"
        );
    }
}

#[test]
fn only_what_the_request_object_says_counts() {
    let verifier = Verifier::new();
    let (_, object) = verifier.fetched(verifier.new_request(&query_sd_jwt()), None);
    let pairs = form::encode(&[
        ("client_id", client_id(&verifier).as_str()),
        ("request", &object),
        ("nonce", "from-the-link"),
        ("response_uri", "https://evil.example/"),
    ]);
    let invocation = opens_link(&format!("openid4vp://?{pairs}")).unwrap();
    let Invocation::Object { client_id, object } = invocation else {
        panic!()
    };
    let asked = opened(&object, &client_id).unwrap();
    assert_ne!(asked.request.nonce, "from-the-link");
    assert_eq!(
        asked.request.response_uri,
        url("https://verifier.example/responses/1")
    );
}

#[test]
fn a_request_object_is_fetched_with_its_media_type_or_not_at_all() {
    let typ = Some("application/oauth-authz-req+jwt");
    assert_eq!(read(200, typ, b"a.b.c\n").unwrap(), "a.b.c");
    assert!(read(200, Some("application/jwt"), b"a.b.c").is_err());
    assert!(read(200, None, b"a.b.c").is_err());
    for status in [400, 404, 410] {
        let over = read(status, typ, b"a.b.c").unwrap_err();
        assert!(matches!(over, Error::Expired(_)), "{status}: {over}");
    }
    for status in [302, 500, 503, 204] {
        let refused = read(status, typ, b"a.b.c").unwrap_err();
        assert!(
            matches!(refused, Error::Counterpart { .. }),
            "{status}: {refused}"
        );
    }
}

// ---- certificates

pub struct Authority {
    issuer: rcgen::Issuer<'static, rcgen::KeyPair>,
    pub der: Vec<u8>,
}

impl Authority {
    pub fn new() -> Self {
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
        let mut parameters = rcgen::CertificateParams::new(Vec::new()).unwrap();
        parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        parameters.not_before = rcgen::date_time_ymd(2020, 1, 1);
        parameters.not_after = rcgen::date_time_ymd(2090, 1, 1);
        let der = parameters.self_signed(&key).unwrap().der().to_vec();
        Self {
            issuer: rcgen::Issuer::new(parameters, key),
            der,
        }
    }

    pub fn certify(&self, name: &str) -> (Verifier, Vec<u8>) {
        self.certify_with(name, |_| {})
    }

    fn certify_with(
        &self,
        name: &str,
        change: impl FnOnce(&mut rcgen::CertificateParams),
    ) -> (Verifier, Vec<u8>) {
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
        let mut parameters = rcgen::CertificateParams::new(vec![name.to_owned()]).unwrap();
        parameters.not_before = rcgen::date_time_ymd(2020, 1, 1);
        parameters.not_after = rcgen::date_time_ymd(2090, 1, 1);
        parameters.use_authority_key_identifier_extension = true;
        change(&mut parameters);
        let der = parameters
            .signed_by(&key, &self.issuer)
            .unwrap()
            .der()
            .to_vec();
        let party = Party::of(PrivateKey::from_pkcs8(&key.serialize_der()).unwrap());
        (Verifier { party }, der)
    }
}

fn certified_object(verifier: &Verifier, certificate: &[u8], claims: Value) -> String {
    let header = json!({"kid": null, "x5c": [base64_encode(certificate)]});
    let client_id = json!({"client_id": "x509_san_dns:verifier.example"});
    object(verifier, header, with(&client_id, claims))
}

fn opens_certified(
    object: &str,
    anchors: &[Vec<u8>],
) -> Result<AwaitingConsent, Box<RefusedRequest>> {
    let client_id = "x509_san_dns:verifier.example";
    opens(
        &ReceivedObject {
            client_id,
            object,
            request_uri: None,
            wallet_nonce: None,
        },
        anchors,
    )
}

#[test]
fn a_request_object_with_a_trusted_certificate_for_its_name_is_authentic() {
    let authority = Authority::new();
    let (verifier, certificate) = authority.certify("verifier.example");
    let object = certified_object(&verifier, &certificate, json!({}));
    let asked = opens_certified(&object, &[authority.der]).unwrap();
    assert_eq!(
        (asked.verifier.name.as_str(), asked.verifier.authenticated),
        ("verifier.example", true)
    );
}

/// The request object of a verifier that identifies itself by the hash of this certificate.
fn hashed_object(verifier: &Verifier, hashed: &[u8], sent: &[u8]) -> (String, String) {
    let client_id = format!("x509_hash:{}", base64url_encode(&sha256(hashed)));
    let header = json!({"kid": null, "x5c": [base64_encode(sent)]});
    let object = object(verifier, header, json!({"client_id": client_id}));
    (client_id, object)
}

#[test]
fn a_request_object_with_a_trusted_certificate_of_its_hash_is_authentic() {
    let authority = Authority::new();
    let (verifier, certificate) = authority.certify("shop.example");
    let (client_id, object) = hashed_object(&verifier, &certificate, &certificate);
    let received = ReceivedObject {
        client_id: &client_id,
        object: &object,
        request_uri: None,
        wallet_nonce: None,
    };
    let asked = opens(&received, std::slice::from_ref(&authority.der)).unwrap();
    // The name of the certificate is shown; the audience stays the whole identifier.
    assert_eq!(
        (asked.verifier.name.as_str(), asked.verifier.authenticated),
        ("shop.example", true)
    );
    assert_eq!(asked.request.client_id, client_id);
    assert_eq!(refused(opens(&received, &[])), "invalid_request");
}

#[test]
fn a_certificate_of_another_hash_is_refused() {
    let authority = Authority::new();
    let (verifier, certificate) = authority.certify("shop.example");
    let (_, other) = authority.certify("shop.example");
    let (client_id, object) = hashed_object(&verifier, &other, &certificate);
    let received = ReceivedObject {
        client_id: &client_id,
        object: &object,
        request_uri: None,
        wallet_nonce: None,
    };
    assert_eq!(
        refused(opens(&received, std::slice::from_ref(&authority.der))),
        "invalid_request"
    );
}

/// Opens the request object of a verifier with this attestation, by an attester of this authority.
fn opens_attested(
    authority: &Authority,
    header: &Value,
    claims: Value,
) -> Result<AwaitingConsent, Box<RefusedRequest>> {
    let verifier = Verifier::new();
    let (attester, certificate) = authority.certify("attester.example");
    let attested = json!({
        "iss": "https://attester.example", "sub": "shop", "exp": NOW.0 + 3600,
        "cnf": {"jwk": verifier.party.key.public().to_jwk()},
    });
    let attesting = json!({
        "typ": "verifier-attestation+jwt", "alg": attester.party.key.algorithm().as_str(),
        "x5c": [base64_encode(&certificate)],
    });
    let attestation = attester
        .party
        .token(&with(&attesting, header.clone()), &with(&attested, claims));
    let client_id = "verifier_attestation:shop";
    let header = json!({"kid": null, "jwt": attestation});
    let object = object(&verifier, header, json!({"client_id": client_id}));
    let received = ReceivedObject {
        client_id,
        object: &object,
        request_uri: None,
        wallet_nonce: None,
    };
    opens(&received, std::slice::from_ref(&authority.der))
}

#[test]
fn a_request_object_signed_by_a_key_that_is_attested_is_authentic() {
    let authority = Authority::new();
    let address = "https://verifier.example/responses/1";
    for claims in [
        json!({}),
        json!({"redirect_uris": ["https://a.example/", address]}),
    ] {
        let asked = opens_attested(&authority, &json!({}), claims).unwrap();
        assert_eq!(
            (asked.verifier.name.as_str(), asked.verifier.authenticated),
            ("shop", true)
        );
        assert_eq!(asked.request.client_id, "verifier_attestation:shop");
    }
}

#[test]
fn an_attestation_that_is_old_foreign_or_for_something_else_is_refused() {
    let authority = Authority::new();
    let other = Party::new(KeyType::P256);
    for claims in [
        json!({"sub": "other"}),
        json!({"sub": null}),
        json!({"iss": null}),
        json!({"exp": null}),
        json!({"exp": NOW.0 - 3600}),
        json!({"nbf": NOW.0 + 3600}),
        json!({"cnf": null}),
        json!({"cnf": {"jwk": other.key.public().to_jwk()}}),
        json!({"redirect_uris": ["https://verifier.example/responses/12"]}),
        json!({"redirect_uris": []}),
        json!({"redirect_uris": "https://verifier.example/responses/1"}),
    ] {
        let refused = refused(opens_attested(&authority, &json!({}), claims.clone()));
        assert_eq!(refused, "invalid_request", "{claims}");
    }
    for header in [json!({"typ": "jwt"}), json!({"x5c": null})] {
        let refused = refused(opens_attested(&authority, &header, json!({})));
        assert_eq!(refused, "invalid_request", "{header}");
    }
    // Another authority's attester.
    let mut foreign = Authority::new();
    foreign.der = authority.der;
    assert_eq!(
        refused(opens_attested(&foreign, &json!({}), json!({}))),
        "invalid_request"
    );
}

#[test]
fn a_wallet_says_what_it_supports_and_asks_for_no_encrypted_request() {
    let invocation = Invocation::Reference {
        client_id: "x509_hash:x".to_owned(),
        request_uri: url("https://verifier.example/requests/1"),
        method: RequestUriMethod::Post,
    };
    let form = invocation.fetch(&ctx(1)).unwrap().form.unwrap();
    let (_, metadata) = form
        .iter()
        .find(|(name, _)| name == "wallet_metadata")
        .unwrap();
    let metadata: Value = serde_json::from_str(metadata).unwrap();
    assert!(metadata["vp_formats_supported"]["dc+sd-jwt"].is_object());
    let prefixes = metadata["client_id_prefixes_supported"].as_array().unwrap();
    assert!(prefixes.contains(&json!("x509_hash")));
    for absent in ["jwks", "issuer"] {
        assert_eq!(metadata.get(absent), None);
    }
    // Our own verifier reads it.
    let body = form::encode(&form);
    let nonce = selfsame_openid4vc::verifier::request::wallet_nonce(body.as_bytes());
    assert!(nonce.unwrap().is_some());
}

#[test]
fn what_is_not_supported_is_refused_by_its_name() {
    let reason = |changes: Value| {
        let refused = opens_link(&plain_link(changes)).unwrap_err();
        refused.error.detail().to_owned()
    };
    for (changes, name) in [
        (
            json!({"client_id": "openid_federation:https://v.example"}),
            "openid_federation",
        ),
        (json!({"client_id": "origin:https://v.example"}), "reserved"),
        (json!({"response_type": "vp_token id_token"}), "SIOPv2"),
        (json!({"response_mode": "fragment"}), "fragment"),
        (json!({"response_mode": null}), "fragment"),
    ] {
        let told = reason(changes.clone());
        assert!(told.contains(name), "{changes}: {told}");
    }
}

#[test]
fn a_certificate_of_an_unknown_root_is_refused() {
    let authority = Authority::new();
    let (verifier, certificate) = authority.certify("verifier.example");
    let object = certified_object(&verifier, &certificate, json!({}));
    for anchors in [vec![], vec![Authority::new().der]] {
        assert_eq!(
            refused(opens_certified(&object, &anchors)),
            "invalid_request"
        );
    }
}

#[test]
fn a_certificate_for_another_name_is_refused() {
    let authority = Authority::new();
    let (verifier, certificate) = authority.certify("other.example");
    let object = certified_object(&verifier, &certificate, json!({}));
    assert_eq!(
        refused(opens_certified(&object, &[authority.der])),
        "invalid_request"
    );
}

#[test]
fn a_refusal_of_a_certificate_says_what_is_wrong_with_it() {
    type Change = fn(&mut rcgen::CertificateParams);
    let authority = Authority::new();
    let said = |name: &str, anchors: &[Vec<u8>], change: Change| {
        let (verifier, certificate) = authority.certify_with(name, change);
        let object = certified_object(&verifier, &certificate, json!({}));
        let refused = opens_certified(&object, anchors).unwrap_err();
        refused.error.to_string()
    };
    let name = "verifier.example";
    let changes: [(Change, &str); 4] = [
        (
            |it| it.not_after = rcgen::date_time_ymd(2021, 1, 1),
            "expired",
        ),
        (
            |it| it.not_before = rcgen::date_time_ymd(2080, 1, 1),
            "not valid yet",
        ),
        (
            |it| it.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained),
            "CA:TRUE",
        ),
        (
            |it| it.key_usages = vec![rcgen::KeyUsagePurpose::KeyEncipherment],
            "key usage",
        ),
    ];
    let anchors = [authority.der.clone()];
    for (change, reason) in changes {
        let said = said(name, &anchors, change);
        assert!(said.contains(reason), "{said}");
    }
    let unknown = said(name, &[], |_| {});
    assert!(unknown.contains("trust anchor"), "{unknown}");
    let misnamed = said("other.example", &anchors, |_| {});
    assert!(misnamed.contains("is not for the name"), "{misnamed}");
}

#[test]
fn a_certificate_whose_key_did_not_sign_is_refused() {
    let authority = Authority::new();
    let (_, certificate) = authority.certify("verifier.example");
    let object = certified_object(&Verifier::new(), &certificate, json!({}));
    assert_eq!(
        refused(opens_certified(
            &object,
            std::slice::from_ref(&authority.der)
        )),
        "invalid_request"
    );
    let (verifier, _) = authority.certify("verifier.example");
    let header_without = self::object(
        &verifier,
        json!({}),
        json!({"client_id": "x509_san_dns:verifier.example"}),
    );
    assert_eq!(
        refused(opens_certified(&header_without, &[authority.der])),
        "invalid_request"
    );
}

#[test]
fn the_answer_goes_to_the_host_the_certificate_is_for() {
    let authority = Authority::new();
    let (verifier, certificate) = authority.certify("verifier.example");
    let elsewhere = json!({"response_uri": "https://evil.example/responses/1"});
    let object = certified_object(&verifier, &certificate, elsewhere);
    assert_eq!(
        refused(opens_certified(&object, &[authority.der])),
        "invalid_request"
    );
}

// ---- answers

fn asked(query: &Value) -> AwaitingConsent {
    let verifier = Verifier::new();
    let (_, object) = verifier.fetched(verifier.new_request(query), None);
    opened(&object, &client_id(&verifier)).unwrap()
}

#[test]
fn an_answer_repeats_the_state_and_names_the_queries() {
    let asked = asked(&query_sd_jwt());
    let card = Card::new(&Issuer::new(), SD_JWT);
    let response = present(&asked, &[("vaccination", &card)]).unwrap();
    assert_eq!(response.state, asked.request.state);
    let VpResponse::Presented(vp_token) = response.answer else {
        panic!()
    };
    assert_eq!(vp_token.keys().collect::<Vec<_>>(), ["vaccination"]);
    assert_eq!(vp_token["vaccination"].len(), 1);
}

#[test]
fn a_presentation_is_bound_to_the_full_client_identifier_and_the_nonce() {
    for (configuration, query) in [(SD_JWT, query_sd_jwt()), (W3C, query_w3c())] {
        let asked = asked(&query);
        let card = Card::new(&Issuer::new(), configuration);
        let response = present(&asked, &[("vaccination", &card)]).unwrap();
        let VpResponse::Presented(vp_token) = response.answer else {
            panic!()
        };
        let proof = vp_token["vaccination"][0]
            .rsplit('~')
            .next()
            .unwrap()
            .to_owned();
        let claims = selfsame_crypto::jws::Compact::parse(&proof)
            .unwrap()
            .claims()
            .unwrap();
        assert_eq!(claims["aud"], asked.request.client_id);
        assert_eq!(claims["nonce"], asked.request.nonce);
    }
}

#[test]
fn no_claim_leaves_the_wallet_that_was_not_asked_for() {
    let mut query = query_sd_jwt();
    query["credentials"][0]
        .as_object_mut()
        .unwrap()
        .remove("claims");
    let asked = asked(&query);
    let card = Card::new(&Issuer::new(), SD_JWT);
    let VpResponse::Presented(vp_token) =
        present(&asked, &[("vaccination", &card)]).unwrap().answer
    else {
        panic!()
    };
    // There are no disclosures between the issuer's JWT and the key binding.
    assert_eq!(vp_token["vaccination"][0].split('~').count(), 2);
}

#[test]
fn a_bare_credential_is_presented_where_no_holder_binding_is_asked_for() {
    let unbound = |query: Value| {
        let mut query = query;
        query["credentials"][0]["require_cryptographic_holder_binding"] = json!(false);
        asked(&query)
    };
    let presented =
        |asked: &AwaitingConsent, card: &Card| match present(asked, &[("vaccination", card)])
            .unwrap()
            .answer
        {
            VpResponse::Presented(vp_token) => vp_token["vaccination"][0].clone(),
            other => panic!("{other:?}"),
        };
    let issuer = Issuer::new();
    let card = Card::new(&issuer, SD_JWT);
    assert!(presented(&unbound(query_sd_jwt()), &card).ends_with('~'));
    let card = Card::new(&issuer, W3C);
    assert_eq!(presented(&unbound(query_w3c()), &card), card.held.raw);
}

#[test]
fn a_credential_without_its_key_is_not_presented_where_binding_is_asked_for() {
    let asked = PresentationState::Asked(Box::new(asked(&query_sd_jwt())));
    let card = Card::new(&Issuer::new(), SD_JWT);
    let choice = Choice {
        query_id: "vaccination",
        held: &card.held,
        reveal: &[],
        key: None,
    };
    let result = holder::step(
        &asked,
        Input::Present(&[choice]),
        &Evidence::default(),
        &ctx(1),
    );
    assert!(matches!(result, Err(Error::Choice(_))));
}

#[test]
fn a_vcdm_2_credential_is_presented_in_an_envelope() {
    let mut query = query_w3c();
    query["credentials"][0]["format"] = json!("vc+jwt");
    let asked = asked(&query);
    let card = Card::new(&Issuer::new(), W3C_2);
    let VpResponse::Presented(vp_token) =
        present(&asked, &[("vaccination", &card)]).unwrap().answer
    else {
        panic!()
    };
    let jwt = selfsame_crypto::jws::Compact::parse(&vp_token["vaccination"][0]).unwrap();
    assert_eq!(jwt.header.typ.as_deref(), Some("vp+jwt"));
}

#[test]
fn a_choice_that_does_not_fit_the_request_is_not_sent() {
    let asked = asked(&query_sd_jwt());
    let issuer = Issuer::new();
    let (card, other) = (Card::new(&issuer, SD_JWT), Card::new(&issuer, W3C));
    for choices in [
        vec![("other", &card)],
        vec![("vaccination", &other)],
        vec![("vaccination", &card), ("vaccination", &card)],
        vec![],
    ] {
        assert!(matches!(present(&asked, &choices), Err(Error::Choice(_))));
    }
}

#[test]
fn a_key_whose_signatures_the_verifier_cannot_check_is_not_used() {
    let mut asked = asked(&query_sd_jwt());
    let card = Card::new(&Issuer::new(), SD_JWT);
    let formats = &mut asked.request.metadata.vp_formats_supported;
    formats.get_mut("dc+sd-jwt").unwrap().kb_jwt_alg_values = Some(vec!["Ed25519".to_owned()]);
    let error = present(&asked, &[("vaccination", &card)]).unwrap_err();
    assert_eq!(
        error.code(),
        Some(PresentationCode::VpFormatsNotSupported.as_str())
    );
    asked
        .request
        .metadata
        .vp_formats_supported
        .remove("dc+sd-jwt");
    assert!(present(&asked, &[("vaccination", &card)]).is_err());
    asked.request.metadata.vp_formats_supported.clear();
    assert!(present(&asked, &[("vaccination", &card)]).is_ok());
}

#[test]
fn a_credential_whose_issuers_signature_the_verifier_cannot_check_is_not_sent() {
    for bound in [true, false] {
        let mut query = query_sd_jwt();
        query["credentials"][0]["require_cryptographic_holder_binding"] = json!(bound);
        let mut asked = asked(&query);
        let card = Card::new(&Issuer::new(), SD_JWT);
        assert!(present(&asked, &[("vaccination", &card)]).is_ok());
        let formats = &mut asked.request.metadata.vp_formats_supported;
        let format = formats.get_mut("dc+sd-jwt").unwrap();
        format.sd_jwt_alg_values = Some(vec!["ES384".to_owned()]);
        let error = present(&asked, &[("vaccination", &card)]).unwrap_err();
        let code = PresentationCode::VpFormatsNotSupported.as_str();
        assert_eq!(error.code(), Some(code));
    }
}

#[test]
fn a_person_who_declines_sends_access_denied_and_nothing_else() {
    let asked = asked(&query_sd_jwt());
    let state = PresentationState::Asked(Box::new(asked.clone()));
    let step = holder::step(&state, Input::Decline, &Evidence::default(), &ctx(1)).unwrap();
    let Step::Done(HolderNext {
        state, delivery, ..
    }) = step
    else {
        panic!()
    };
    let Delivery { form, .. } = &delivery.unwrap();
    let state_parameter = asked.request.state.clone().unwrap();
    let expected = [
        ("error", "access_denied"),
        ("state", state_parameter.as_str()),
    ];
    let sent: Vec<(&str, &str)> = form
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    assert_eq!(sent, expected);
    assert!(matches!(stored(&state), PresentationState::Declining(_)));
}

fn delivered(status: u16, body: &str) -> PresentationState {
    let asked = asked(&query_sd_jwt());
    let state = PresentationState::Answering(holder::Answering {
        verifier: asked.verifier,
        query_ids: vec![],
    });
    let input = Input::Delivered {
        status,
        body: body.as_bytes(),
    };
    match holder::step(&stored(&state), input, &Evidence::default(), &ctx(1)).unwrap() {
        Step::Done(HolderNext {
            state, delivery, ..
        }) => {
            assert!(delivery.is_none());
            stored(&state)
        }
        Step::Needs(needs) => panic!("{needs:?}"),
    }
}

#[test]
fn a_person_is_told_why_a_verifier_does_not_take_an_answer_in_plain_letters_and_not_at_length() {
    let reason = |status, body: &str| match delivered(status, body) {
        PresentationState::Failed(failed) => failed.reason,
        other => panic!("{other:?}"),
    };
    let bare = "the verifier did not accept the answer";
    let told = |body: &str| reason(400, body).strip_prefix(bare).unwrap().to_owned();
    let described = r#"{"error":"invalid_request","error_description":"the nonce is old"}"#;
    assert_eq!(told(described), "; its reason: the nonce is old");
    assert_eq!(
        told(r#"{"error":"invalid_request"}"#),
        "; its reason: invalid_request"
    );
    let turned = r#"{"error":"x","error_description":"a\u202eb\n<b>\""}"#;
    assert_eq!(told(turned), "; its reason: a?b?<b>'");
    let long = format!(
        r#"{{"error":"x","error_description":"{}"}}"#,
        "a".repeat(5000)
    );
    assert_eq!(told(&long).len(), "; its reason: ".len() + 200);
    for silent in ["", "{}", "<html>", r#"{"error":7}"#, r#"{"error":""}"#] {
        assert_eq!(told(silent), "", "{silent}");
    }
    // A reply with status 200 is not read as a refusal.
    assert!(matches!(
        delivered(200, described),
        PresentationState::Done(_)
    ));
}

#[test]
fn the_browser_goes_where_the_verifier_says() {
    let body = r#"{"redirect_uri":"https://verifier.example/done#response_code=1","unknown":1}"#;
    let PresentationState::Done(done) = delivered(200, body) else {
        panic!()
    };
    assert_eq!(
        done.redirect_uri,
        Some(url("https://verifier.example/done#response_code=1"))
    );
    let PresentationState::Done(done) = delivered(200, "{}") else {
        panic!()
    };
    assert_eq!(done.redirect_uri, None);
}

#[test]
fn a_place_that_is_no_web_address_is_not_handed_to_a_browser() {
    for bad in [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
        "/relative",
    ] {
        let PresentationState::Done(done) =
            delivered(200, &json!({"redirect_uri": bad}).to_string())
        else {
            panic!()
        };
        assert_eq!(done.redirect_uri, None, "{bad}");
    }
}

#[test]
fn an_answer_that_was_not_taken_or_was_redirected_has_failed() {
    for (status, body) in [
        (400, "{}"),
        (302, "{}"),
        (307, "{}"),
        (204, ""),
        (200, "<html>"),
    ] {
        assert!(
            matches!(delivered(status, body), PresentationState::Failed(_)),
            "{status}"
        );
    }
}

#[test]
fn an_answer_is_given_once() {
    let asked = asked(&query_sd_jwt());
    let state = PresentationState::Answering(holder::Answering {
        verifier: asked.verifier,
        query_ids: vec![],
    });
    for input in [Input::Decline, Input::Present(&[])] {
        let result = holder::step(&state, input, &Evidence::default(), &ctx(1));
        assert!(matches!(result, Err(Error::State(_))));
    }
}

// ---- selection

#[test]
fn a_policy_chooses_what_is_required_and_an_explicit_choice_is_held_to_the_query() {
    let asked = asked(&query_sd_jwt());
    let issuer = Issuer::new();
    let (card, other) = (Card::new(&issuer, SD_JWT), Card::new(&issuer, W3C));
    let held = [
        (1, candidate(&other.held, true)),
        (2, candidate(&card.held, true)),
    ];
    let selection = dcql::select(&asked.request.query, &held);
    let chosen = by_policy(&selection).unwrap();
    assert_eq!(chosen.len(), 1);
    assert_eq!((chosen[0].0, chosen[0].1.id), ("vaccination", 2));
    assert_eq!(
        chosen[0].1.reveal,
        [ClaimPath::of_names(["vaccine"]).unwrap()]
    );
    assert!(explicit(&selection, &[("vaccination", 2)]).is_ok());
    for bad in [
        vec![("vaccination", 1)],
        vec![("other", 2)],
        vec![("vaccination", 2), ("vaccination", 2)],
        vec![],
    ] {
        assert!(
            matches!(explicit(&selection, &bad), Err(Error::Choice(_))),
            "{bad:?}"
        );
    }
}

#[test]
fn a_policy_chooses_what_is_optional_only_where_all_is() {
    let card = Card::new(&Issuer::new(), SD_JWT);
    let held = [((), candidate(&card.held, true))];
    let chosen = |sets: Value| {
        let mut query = query_sd_jwt();
        let mut second = query["credentials"][0].clone();
        second["id"] = json!("second");
        query["credentials"].as_array_mut().unwrap().push(second);
        query["credential_sets"] = sets;
        let selection = dcql::select(&asked(&query).request.query, &held);
        let chosen = by_policy(&selection).unwrap();
        let ids = chosen.iter().map(|(id, _)| (*id).to_owned());
        ids.collect::<Vec<_>>()
    };
    let optional = json!({"options": [["second"]], "required": false});
    let required = json!({"options": [["vaccination"]]});
    assert_eq!(chosen(json!([required, optional])), ["vaccination"]);
    assert_eq!(chosen(json!([optional])), ["second"]);
}

#[test]
fn a_person_answers_one_of_the_alternatives_and_no_more() {
    let card = Card::new(&Issuer::new(), SD_JWT);
    let held = [((), candidate(&card.held, true))];
    let answers = |sets: Value, ids: &[&str]| {
        let mut query = query_sd_jwt();
        let one = query["credentials"][0].clone();
        let named = ["a", "b", "c"].map(|id| {
            let mut one = one.clone();
            one["id"] = json!(id);
            one
        });
        query["credentials"] = json!(named);
        query["credential_sets"] = sets;
        let selection = dcql::select(&asked(&query).request.query, &held);
        let chosen: Vec<_> = ids.iter().map(|id| (*id, ())).collect();
        explicit(&selection, &chosen).is_ok()
    };
    let either = || json!([{"options": [["a"], ["b"]]}]);
    assert!(answers(either(), &["a"]) && answers(either(), &["b"]));
    for bad in [&["a", "b"][..], &["c"], &["a", "c"], &[]] {
        assert!(!answers(either(), bad), "{bad:?}");
    }
    let longer = || json!([{"options": [["a", "b"], ["a"], ["c"]]}]);
    assert!(answers(longer(), &["a", "b"]) && answers(longer(), &["a"]));
    assert!(!answers(longer(), &["a", "b", "c"]) && !answers(longer(), &["b"]));
    let optional = || json!([{"options": [["a"], ["b"]]}, {"options": [["c"]], "required": false}]);
    assert!(answers(optional(), &["b"]) && answers(optional(), &["b", "c"]));
    assert!(!answers(optional(), &["c"]) && !answers(optional(), &["a", "b", "c"]));
}

#[test]
fn of_two_credentials_that_match_one_is_chosen_unless_several_are_asked_for() {
    let issuer = Issuer::new();
    let (one, two) = (Card::new(&issuer, SD_JWT), Card::new(&issuer, SD_JWT));
    let held = [
        (1, candidate(&one.held, true)),
        (2, candidate(&two.held, true)),
    ];
    let both = [("vaccination", 1), ("vaccination", 2)];
    let choose = |query: &Value| {
        let selection = dcql::select(&asked(query).request.query, &held);
        explicit(&selection, &both).map(|chosen| chosen.len())
    };
    assert!(matches!(choose(&query_sd_jwt()), Err(Error::Choice(_))));
    let mut several = query_sd_jwt();
    several["credentials"][0]["multiple"] = json!(true);
    assert_eq!(choose(&several).unwrap(), 2);
}

#[test]
fn nothing_is_presented_where_not_all_that_is_required_can_be() {
    let asked = asked(&query_sd_jwt());
    let other = Card::new(&Issuer::new(), W3C);
    let selection = dcql::select(&asked.request.query, &[((), candidate(&other.held, true))]);
    assert!(matches!(by_policy(&selection), Err(Error::Choice(_))));
    let unprovable = Card::new(&Issuer::new(), SD_JWT);
    let selection = dcql::select(
        &asked.request.query,
        &[((), candidate(&unprovable.held, false))],
    );
    assert!(matches!(by_policy(&selection), Err(Error::Choice(_))));
}

#[test]
fn a_signed_request_needs_the_verifiers_did_and_nothing_else() {
    let verifier = Verifier::new();
    let object = object(&verifier, json!({}), json!({}));
    let transport = transport();
    let trust = WalletTrust {
        transport: &transport,
        anchors: &[],
        transactions: &[],
    };
    let client_id = client_id(&verifier);
    let received = ReceivedObject {
        client_id: &client_id,
        object: &object,
        request_uri: None,
        wallet_nonce: None,
    };
    let step = authenticate(&received, &trust, &Evidence::default(), NOW).unwrap();
    let Step::Needs(needs) = step else { panic!() };
    assert_eq!(needs, [Need::Did(Did::parse(&verifier.party.did).unwrap())]);
}
