//! Arbitrary input from outside never causes a panic, and a message with a changed character is never accepted.

use proptest::{
    collection::vec,
    prelude::{any, prop_oneof, proptest},
    sample::{Index, select},
    strategy::{BoxedStrategy, Strategy},
};
use selfsame_credential::Evidence;
use selfsame_crypto::{KeyType, SecretString};
use selfsame_oauth::{Form, ServerMetadata, TokenRequest, TokenResponse, form};
use selfsame_openid4vc::{
    holder::{
        self,
        request::{ReceivedObject, WalletTrust, authenticate, open, read},
    },
    issuer::nonce,
    verifier::request::wallet_nonce,
    wallet::{self, Accept, HttpAnswer, Input, ReceivingState},
    wire::{
        credential::{CredentialRequest, EndpointEncryption},
        encryption::EncryptionKey,
        notification::NotificationRequest,
        offer::CredentialOffer,
        response::{AuthorizationResponse, PostedResponse},
    },
};
use serde_json::json;

use crate::{
    verifier::{Verifier, query_sd_jwt},
    world::{Driver, ISSUER, Issuer, NOW, Party, SD_JWT, ctx, transport},
};

/// Arbitrary bytes, and bytes that resemble the expected messages.
fn bytes() -> BoxedStrategy<Vec<u8>> {
    let words = select(vec![
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "null",
        "1e999",
        "-0",
        "\\u0000",
        "\u{fffd}",
        "\"credentials\"",
        "\"credential\"",
        "\"c_nonce\"",
        "\"access_token\"",
        "\"token_type\"",
        "\"proofs\"",
        "\"jwt\"",
        "\"credential_identifier\"",
        "&",
        "=",
        "%",
        "%7B",
        "+",
        "grant_type",
        "vp_token",
        "state",
        "error",
        "a.b.c",
        "~",
        "eyJhbGciOiJub25lIn0",
        "https://a.example/",
    ]);
    prop_oneof![
        vec(any::<u8>(), 0..300),
        vec(words, 0..40).prop_map(|words| words.concat().into_bytes()),
    ]
    .boxed()
}

fn text() -> BoxedStrategy<String> {
    bytes()
        .prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .boxed()
}

/// The same text with one character replaced.
fn garbled(text: &str, at: Index, with: char) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    let place = at.index(characters.len());
    characters[place] = with;
    characters.into_iter().collect()
}

proptest! {
    #[test]
    fn messages_of_any_bytes_are_read_or_refused(bytes in bytes()) {
        let _ = Form::parse(&bytes);
        let _ = TokenRequest::parse(&bytes);
        let _ = TokenResponse::parse(&bytes);
        let _ = ServerMetadata::parse(&bytes, ISSUER);
        let _ = CredentialRequest::parse(&bytes);
        let _ = CredentialOffer::parse(&bytes);
        let _ = NotificationRequest::parse(&bytes);
        let _ = AuthorizationResponse::parse(&bytes);
        let key = EncryptionKey::new(&ctx(1), "any").unwrap();
        let _ = PostedResponse::parse(&bytes).map(|posted| posted.opened(Some(&key)));
        let endpoint = EndpointEncryption { key, required: false };
        let _ = CredentialRequest::read(&bytes, Some(&endpoint));
        let _ = wallet_nonce(&bytes);
        let _ = read(200, Some("application/oauth-authz-req+jwt"), &bytes);
        let _ = wallet::offer::read(&bytes, Some("application/json"));
    }

    #[test]
    fn links_of_any_text_are_read_or_refused(text in text()) {
        let _ = wallet::offer::locate(&text, &transport());
        let _ = wallet::offer::locate(&format!("openid-credential-offer://?{text}"), &transport());
        let transport = transport();
        let trust = WalletTrust { transport: &transport, anchors: &[], transactions: &[] };
        let _ = open(&text, &trust);
        let _ = open(&format!("openid4vp://?client_id=x509_san_dns:a&{text}"), &trust);
    }

    #[test]
    fn a_form_reads_back_whatever_it_holds(pairs in vec((text(), text()), 0..5)) {
        let distinct: std::collections::BTreeMap<_, _> = pairs.into_iter().collect();
        let pairs: Vec<_> = distinct.into_iter().collect();
        let read = Form::parse(form::encode(&pairs).as_bytes()).unwrap();
        for (name, value) in &pairs {
            let expected = Some(value.as_str()).filter(|value| !value.is_empty());
            assert_eq!(read.get(name), expected);
        }
    }

    #[test]
    fn a_nonce_of_any_text_is_not_ours(text in text()) {
        assert!(nonce::check(&Issuer::new().settings, &text, NOW).is_err());
    }

    #[test]
    fn a_garbled_nonce_is_not_ours(at in any::<Index>(), with in "[A-Za-z0-9_=. -]") {
        let issuer = Issuer::new();
        let good = issuer.nonce();
        let bad = garbled(&good, at, with.chars().next().unwrap());
        assert_eq!(nonce::check(&issuer.settings, &bad, NOW).is_ok(), bad == good);
    }

    #[test]
    fn a_garbled_proof_gets_no_credential(at in any::<Index>(), with in "[A-Za-z0-9_=. -]") {
        let issuer = Issuer::new();
        let good = issuer.proof(&Party::new(KeyType::P256));
        let bad = garbled(&good, at, with.chars().next().unwrap());
        assert_eq!(issuer.ask(SD_JWT, std::slice::from_ref(&bad)).is_ok(), bad == good);
    }

    #[test]
    fn a_garbled_request_object_is_refused(at in any::<Index>(), with in "[A-Za-z0-9_=. -]") {
        let verifier = Verifier::new();
        let (_, good) = verifier.fetched(verifier.new_request(&query_sd_jwt()), None);
        let bad = garbled(&good, at, with.chars().next().unwrap());
        let client_id = format!("decentralized_identifier:{}", verifier.party.did);
        let transport = transport();
        let trust = WalletTrust { transport: &transport, anchors: &[], transactions: &[] };
        let received = ReceivedObject { client_id: &client_id, object: &bad, request_uri: None, wallet_nonce: None };
        let read = Driver::new(&[]).run(|evidence| authenticate(&received, &trust, evidence, NOW));
        assert_eq!(read.is_ok(), bad == good);
    }

    #[test]
    fn a_wallet_bears_whatever_an_issuer_answers(status in 0_u16..1000, body in bytes()) {
        let issuer = Issuer::new();
        let holder = Party::new(KeyType::P256);
        let answer = |body| HttpAnswer { status, content_type: None, body };
        let redeeming = wallet::begin(&Accept {
            offer: &issuer.offer(SD_JWT).offer,
            issuer: &issuer.metadata,
            server: &issuer.server(),
            tx_code: None,
            bindings: &[holder.binding()],
            with_proof: false,
            redemption: None,
        }).unwrap();
        let token = json!({"access_token": "t", "token_type": "Bearer"}).to_string();
        let good = |body: &'static str| HttpAnswer { status: 200, content_type: None, body: body.as_bytes() };
        let mut driver = Driver::new(&[&holder]);
        let mut next = |state: &ReceivingState, input: Input<'_>| {
            driver.run(|evidence| wallet::step(state, &input, evidence, &ctx(1))).unwrap().state
        };
        next(&redeeming.state, Input::Token(answer(&body)));
        let granted = HttpAnswer { status: 200, content_type: None, body: token.as_bytes() };
        let proving = next(&redeeming.state, Input::Token(granted));
        next(&proving, Input::Nonce(answer(&body)));
        let requesting = next(&proving, Input::Nonce(good(r#"{"c_nonce":"n"}"#)));
        let end = next(&requesting, Input::Credential(answer(&body)));
        let received = matches!(end, ReceivingState::Received(_));
        assert!(!received, "nothing here is a credential");
    }

    #[test]
    fn a_wallet_bears_whatever_a_verifier_answers(status in 0_u16..1000, body in bytes()) {
        let verifier = holder::Verifier {
            prefix: "redirect_uri".to_owned(),
            name: "a.example".to_owned(),
            authenticated: false,
        };
        let state = holder::PresentationState::Declining(holder::Declining { verifier });
        let input = holder::Input::Delivered { status, body: &body };
        holder::step(&state, input, &Evidence::default(), &ctx(1)).unwrap();
    }

    #[test]
    fn a_transaction_code_of_any_text_opens_nothing(text in text()) {
        let issuer = Issuer::new();
        let made = issuer.offer_of(&selfsame_openid4vc::issuer::offer::NewOffer {
            tx_code: Some(String::new()),
            ..crate::world::new_offer(SD_JWT)
        });
        let request = crate::world::with_tx_code(&made.offer, &SecretString::from(text));
        let state = selfsame_openid4vc::issuer::IssuanceState::Offered(made.state);
        let (_, outcome) = issuer.token(&state, &request, &ctx(2)).unwrap();
        assert!(outcome.is_err());
    }
}
