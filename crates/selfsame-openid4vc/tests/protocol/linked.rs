//! Tests of W3C credentials with Data Integrity proofs: their metadata, how messages carry them, and the whole way from the
//! issuer to the verifier.

use selfsame_credential::Format;
use selfsame_credential::verdict::Outcome;
use selfsame_openid4vc::dcql::{DcqlQuery, Mismatch, mismatch};
use selfsame_openid4vc::holder::selection::candidate;
use selfsame_openid4vc::issuer::metadata::{Offering, build};
use selfsame_openid4vc::verifier::request::NewRequest;
use selfsame_openid4vc::wire::client_metadata::VpFormat;
use selfsame_openid4vc::wire::credential::CredentialResponse;
use serde_json::{Value, json};

use crate::{
    holder::{Card, delivered_form, opened, presentations},
    verifier::Verifier,
    world::{Issuer, LINKED, W3C_2, description},
};

const BASE: &str = "https://www.w3.org/ns/credentials/v2";
const GENERAL: &str = "https://www.w3.org/2018/credentials#VerifiableCredential";
const TYPE: &str = "https://types.example/vaccination#VaccinationCredential";

fn terms() -> Value {
    json!({
        "VaccinationCredential": TYPE,
        "given_name": "https://types.example/vaccination#given_name",
        "vaccine": "https://types.example/vaccination#vaccine",
    })
}

fn offering() -> Offering {
    Offering {
        format: Format::LdpVc,
        contexts: vec![BASE.into(), terms()],
        ..description().credentials[W3C_2].clone()
    }
}

fn issuer() -> Issuer {
    let mut issuer = Issuer::new();
    let mut description = description();
    description
        .credentials
        .insert(LINKED.to_owned(), offering());
    issuer.publish(build(&description).unwrap());
    issuer.content.contexts = vec![terms()];
    issuer
}

fn query(types: Value) -> Value {
    json!({"credentials": [{
        "id": "vaccination", "format": "ldp_vc", "meta": {"type_values": [types]},
        "claims": [{"path": ["credentialSubject", "vaccine"]}],
    }]})
}

/// A request of a verifier that accepts these suites.
fn accepting(verifier: &Verifier, suites: &[&str]) -> NewRequest {
    let mut new = verifier.new_request(&query(json!([GENERAL, TYPE])));
    let format = VpFormat {
        cryptosuite_values: Some(suites.iter().map(|name| (*name).to_owned()).collect()),
        ..VpFormat::default()
    };
    let formats = &mut new.metadata.vp_formats_supported;
    formats.insert("ldp_vc".to_owned(), format);
    new
}

#[test]
fn the_metadata_has_contexts_types_and_cryptosuites() {
    let metadata = serde_json::to_value(&issuer().metadata).unwrap();
    let made = &metadata["credential_configurations_supported"][LINKED];
    assert_eq!(made["format"], "ldp_vc");
    assert_eq!(
        made["credential_definition"],
        json!({"@context": [BASE, terms()], "type": ["VerifiableCredential", "VaccinationCredential"]})
    );
    assert_eq!(
        made["credential_signing_alg_values_supported"],
        json!(["eddsa-rdfc-2022", "ecdsa-rdfc-2019"])
    );
    let other = &metadata["credential_configurations_supported"][W3C_2];
    assert!(other["credential_definition"].get("@context").is_none());
    let mut description = description();
    let bare = Offering {
        contexts: Vec::new(),
        ..offering()
    };
    description.credentials.insert(LINKED.to_owned(), bare);
    assert!(build(&description).is_err());
}

#[test]
fn a_credential_is_an_object_in_the_response() {
    let issuer = issuer();
    let card = Card::new(&issuer, LINKED);
    let response = CredentialResponse::of(vec![card.held.raw.clone()]);
    let sent = serde_json::to_value(&response).unwrap();
    let credential = &sent["credentials"][0]["credential"];
    assert_eq!(credential["proof"]["cryptosuite"], "eddsa-rdfc-2022");
    assert_eq!(credential["issuer"], json!(issuer.party.did));
    let again: CredentialResponse = serde_json::from_value(sent).unwrap();
    assert_eq!(again, response);
}

#[test]
fn a_presentation_proves_its_holder_to_one_verifier_for_one_request() {
    let (issuer, verifier) = (issuer(), Verifier::new());
    let card = Card::new(&issuer, LINKED);
    let new = || verifier.new_request(&query(json!([GENERAL, TYPE])));
    let (state, object) = verifier.fetched(new(), None);
    let shown = presentations(&object, &[("vaccination", &card)]);
    let answered = verifier.answer(&state, shown.clone()).unwrap();
    assert_eq!(
        answered.judged.outcome,
        Outcome::Valid,
        "{:#?}",
        answered.judged
    );
    let claims = answered.judged.credentials[0].claims.as_ref().unwrap();
    assert_eq!(claims["credentialSubject"]["vaccine"], "MMR");
    // The same presentation in the answer to another request.
    let (mut other, _) = verifier.fetched(
        NewRequest {
            lifetime: 301,
            ..new()
        },
        None,
    );
    if let selfsame_openid4vc::verifier::VerificationState::Fetched(fetched) = &mut other {
        fetched.asked.nonce = "another-nonce".to_owned();
    }
    let answered = verifier.answer(&other, shown).unwrap();
    assert_eq!(answered.judged.outcome, Outcome::Invalid);
    let rules = &answered.judged.credentials[0].verdict.rules;
    let broken = rules.iter().filter(|rule| rule.passed == Some(false));
    let broken: Vec<_> = broken.map(|rule| &*rule.name).collect();
    assert_eq!(broken, ["holder_nonce"]);
}

#[test]
fn a_presentation_is_an_object_whose_proof_is_bound_to_the_request() {
    let (issuer, verifier) = (issuer(), Verifier::new());
    let card = Card::new(&issuer, LINKED);
    let suites = ["eddsa-rdfc-2022", "ecdsa-jcs-2019"];
    let (state, object) = verifier.fetched(accepting(&verifier, &suites), None);
    let client = format!("decentralized_identifier:{}", verifier.party.did);
    let asked = opened(&object, &client).unwrap();
    let form = delivered_form(&asked, &[("vaccination", &card)]).unwrap();
    let sent = form.iter().find(|(name, _)| name == "vp_token").unwrap();
    let sent: Value = serde_json::from_str(&sent.1).unwrap();
    let presentation = &sent["vaccination"][0];
    assert_eq!(presentation["holder"], json!(card.holder.did));
    let proof = &presentation["proof"];
    assert_eq!(proof["type"], "DataIntegrityProof");
    assert_eq!(proof["cryptosuite"], "ecdsa-jcs-2019");
    assert_eq!(proof["proofPurpose"], "authentication");
    assert_eq!(proof["domain"], json!(client));
    assert_eq!(proof["challenge"], json!(state.asked().nonce));
}

#[test]
fn a_verifier_that_lacks_the_suite_gets_no_answer() {
    let (issuer, verifier) = (issuer(), Verifier::new());
    let card = Card::new(&issuer, LINKED);
    let client = format!("decentralized_identifier:{}", verifier.party.did);
    for suites in [
        &["bbs-2023"][..],
        &["ecdsa-rdfc-2019"],
        &["eddsa-rdfc-2022"],
    ] {
        let (_, object) = verifier.fetched(accepting(&verifier, suites), None);
        let asked = opened(&object, &client).unwrap();
        let refused = delivered_form(&asked, &[("vaccination", &card)]).unwrap_err();
        assert_eq!(
            refused.code(),
            Some("vp_formats_not_supported"),
            "{suites:?}"
        );
    }
}

#[test]
fn a_query_names_types_as_contexts_expand_them() {
    let card = Card::new(&issuer(), LINKED);
    let found = |types: Value| {
        let query = DcqlQuery::parse(&query(types)).unwrap();
        mismatch(&query.credentials()[0], &candidate(&card.held, true))
    };
    assert_eq!(found(json!([TYPE])), None);
    assert_eq!(found(json!([GENERAL, TYPE])), None);
    for other in [json!(["VaccinationCredential"]), json!([GENERAL, "urn:x"])] {
        assert_eq!(found(other), Some(Mismatch::Type));
    }
}
