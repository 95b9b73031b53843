//! Checks the examples printed in OpenID4VCI 1.0 and OpenID4VP 1.0.

use selfsame_crypto::{PublicKey, jws::Compact};
use selfsame_oauth::{ErrorBody, TokenRequest, TokenResponse};
use selfsame_openid4vc::{
    Transport,
    holder::request::{WalletTrust, open},
    verifier::request::wallet_nonce,
    wallet::offer::{OfferSource, locate},
    wire::{
        credential::CredentialRequest,
        metadata::{Configuration, IssuerMetadata, MetadataProblem},
        nonce::NonceResponse,
        offer::CredentialOffer,
        response::{AuthorizationResponse, Receipt, VpResponse},
    },
};
use serde_json::Value;

fn file(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn cases(file: &Value) -> &[Value] {
    file["cases"].as_array().unwrap()
}

fn bytes(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

#[test]
fn the_specifications_offers_are_read() {
    let file = file(include_str!("../../../vectors/openid4vc/offers.json"));
    for case in cases(&file) {
        let offer = match case["link"].as_str() {
            None => CredentialOffer::parse(&bytes(&case["offer"])).unwrap(),
            Some(link) => match locate(link, &Transport::default()).unwrap() {
                OfferSource::Value(offer) => offer,
                OfferSource::Reference(url) => {
                    assert_eq!(url.as_str(), case["reference"]);
                    continue;
                }
            },
        };
        assert_eq!(
            serde_json::json!(offer.credential_configuration_ids),
            case["configurations"]
        );
        let grant = offer.pre_authorized_code();
        assert_eq!(
            grant.map(|grant| grant.code.expose()),
            case["grant"].as_str(),
            "{case}"
        );
        assert_eq!(
            grant.is_some_and(|grant| grant.tx_code.is_some()),
            case["tx_code"] == true
        );
    }
}

#[test]
fn the_specifications_metadata_is_read() {
    let file = file(include_str!(
        "../../../vectors/openid4vc/issuer_metadata.json"
    ));
    let metadata: IssuerMetadata =
        selfsame_crypto::json::parse_as(&bytes(&file["document"]), &Default::default()).unwrap();
    metadata.check().unwrap();
    assert_eq!(metadata.batch_size(), 10);
    assert!(
        metadata
            .credential_response_encryption
            .as_ref()
            .unwrap()
            .encryption_required
    );
    let only = metadata
        .configuration("SD_JWT_VC_example_in_OpenID4VCI")
        .unwrap();
    only.check().unwrap();
    assert!(
        only.jwt_proof()
            .unwrap()
            .key_attestations_required
            .is_some()
    );
    for (id, value) in file["configurations"].as_object().unwrap() {
        let configuration: Configuration = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(
            configuration.known_format().is_some(),
            file["known_formats"][id] == true
        );
        if configuration.known_format().is_some() {
            // These examples have binding methods and no types of proofs (§12.2.4).
            let unproven = ["org.iso.18013.5.1.mDL", "UniversityDegree_LDP_VC"];
            let found = unproven
                .contains(&id.as_str())
                .then_some(MetadataProblem::Binding);
            assert_eq!(configuration.check().err(), found, "{id}");
        }
    }
}

#[test]
fn the_specifications_messages_are_read() {
    let file = file(include_str!("../../../vectors/openid4vc/messages.json"));
    let expected = &file["token_request"];
    let request = TokenRequest::parse(expected["form"].as_str().unwrap().as_bytes()).unwrap();
    assert_eq!(request.pre_authorized_code.expose(), expected["code"]);
    assert_eq!(request.tx_code.unwrap().expose(), expected["tx_code"]);
    let details = request.authorization_details.unwrap();
    assert_eq!(
        details[0].credential_configuration_id.as_str(),
        expected["configuration"]
    );

    let response = TokenResponse::parse(&bytes(&file["token_response"])).unwrap();
    assert_eq!(
        serde_json::to_value(&response).unwrap(),
        file["token_response"]
    );
    let nonce: NonceResponse = serde_json::from_value(file["nonce_response"].clone()).unwrap();
    assert_eq!(
        serde_json::to_value(&nonce).unwrap(),
        file["nonce_response"]
    );
    let error: ErrorBody = serde_json::from_value(file["error_response"].clone()).unwrap();
    assert_eq!(
        serde_json::to_value(&error).unwrap(),
        file["error_response"]
    );
    for case in file["credential_requests"].as_array().unwrap() {
        match CredentialRequest::parse(&bytes(&case["body"])) {
            Ok(request) => {
                assert_eq!(
                    request.proofs.unwrap().len(),
                    case["proofs"].as_u64().unwrap() as usize
                );
                assert_eq!(case["error"], Value::Null);
            }
            Err(error) => assert_eq!(error.code(), case["error"].as_str()),
        }
    }
}

#[test]
fn the_specifications_proof_verifies() {
    let file = file(include_str!("../../../vectors/openid4vc/proof.json"));
    let proof = Compact::parse(file["jwt"].as_str().unwrap()).unwrap();
    assert_eq!(proof.header.typ.as_deref(), file["typ"].as_str());
    assert_eq!(proof.header.alg.as_str(), file["alg"]);
    assert_eq!(proof.claims().unwrap(), file["claims"]);
    let key = PublicKey::from_jwk(proof.header.jwk.as_ref().unwrap()).unwrap();
    proof.verify(&key).unwrap();
}

#[test]
fn the_specifications_requests_are_opened_or_refused() {
    use selfsame_openid4vc::{holder::request::Invocation, wire::request::RequestUriMethod};
    let file = file(include_str!("../../../vectors/openid4vc/requests.json"));
    for case in cases(&file) {
        let trust = WalletTrust {
            transport: &Transport::default(),
            anchors: &[],
            transactions: &[],
        };
        match open(case["link"].as_str().unwrap(), &trust) {
            Ok(Invocation::Reference {
                request_uri,
                method,
                ..
            }) => {
                assert_eq!(request_uri.as_str(), case["request_uri"]);
                assert_eq!(method == RequestUriMethod::Post, case["post"] == true);
            }
            Ok(other) => panic!("{other:?}"),
            Err(refused) => assert_eq!(refused.error.code(), case["error"].as_str(), "{case}"),
        }
    }
    let expected = &file["error_response"];
    let form = expected["form"].as_str().unwrap();
    let response = AuthorizationResponse::parse(form.as_bytes()).unwrap();
    assert_eq!(response.state.as_deref(), expected["state"].as_str());
    let VpResponse::Refused { error, description } = response.answer else {
        panic!()
    };
    assert_eq!(error, expected["error"].as_str().unwrap());
    assert_eq!(description.as_deref(), expected["description"].as_str());
    let receipt: Receipt = serde_json::from_value(file["receipt"].clone()).unwrap();
    assert_eq!(
        receipt.redirect_uri.as_deref(),
        file["receipt"]["redirect_uri"].as_str()
    );
    let posted = file["wallet_nonce"]["form"].as_str().unwrap();
    let nonce = wallet_nonce(posted.as_bytes()).unwrap();
    assert_eq!(nonce.as_deref(), file["wallet_nonce"]["nonce"].as_str());
}
