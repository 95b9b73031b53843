//! What a wallet reads of a credential it was given.

use selfsame_crypto::KeyType;
use serde_json::json;

use super::*;
use crate::{
    format::{sd_jwt_vc::Issue, w3c},
    path::ClaimPath,
    sd_jwt::DigestAlgorithm,
    testing::{NOW, Party, ctx, object},
};

fn sd_jwt_vc(change: impl FnOnce(&mut Issue)) -> String {
    let mut issue = Issue {
        claims: object(json!({
            "iss": "https://issuer.example", "vct": "urn:a:1", "aka_vcts": ["urn:a"],
            "exp": NOW.0, "name": "Ada",
            "status": Reference::token("https://issuer.example/s", 3).to_value(),
        })),
        disclosable: vec![ClaimPath::of_names(["name"]).unwrap()],
        decoys: 0,
        cnf: Some(Party::new(KeyType::P256).key.public().to_jwk()),
        digest: DigestAlgorithm::Sha256,
        signer: Party::new(KeyType::Ed25519).signer(),
        label: "held".to_owned(),
    };
    change(&mut issue);
    issue.draft(&ctx()).unwrap().finish(&[0; 64])
}

fn w3c(format: Format, subject: Option<String>) -> String {
    let issue = w3c::Issue {
        format,
        issuer: "did:example:issuer".to_owned(),
        subject,
        types: vec!["Degree".to_owned()],
        contexts: Vec::new(),
        claims: object(json!({"degree": "BSc"})),
        id: None,
        valid_from: NOW,
        valid_until: Some(NOW.plus(9)),
        status: None,
        token_status: None,
        cnf: None,
        further: Default::default(),
        signer: Party::new(KeyType::Ed25519).signer(),
    };
    issue.draft().unwrap().finish(&[0; 64])
}

#[test]
fn an_sd_jwt_vc_shows_all_its_claims_to_its_holder() {
    let held = Held::parse(&sd_jwt_vc(|_| {}), Format::SdJwtVc).unwrap();
    assert_eq!(held.claims()["name"], "Ada");
    assert_eq!(held.issuer(), Some("https://issuer.example"));
    assert_eq!(held.types(), ["urn:a:1", "urn:a"]);
    assert_eq!(held.expires(), Some(NOW));
    assert_eq!(
        held.statuses(),
        [Reference::token("https://issuer.example/s", 3)]
    );
    assert!(held.is_holder_bound() && held.holder_key().is_some());
    assert_eq!(held.header().typ.as_deref(), Some("dc+sd-jwt"));
    assert!(held.sd_jwt().is_some());
}

#[test]
fn a_w3c_credential_is_bound_by_its_subjects_did() {
    for format in [Format::JwtVcJson, Format::VcJwt] {
        let did = "did:example:holder";
        let held = Held::parse(&w3c(format, Some(did.to_owned())), format).unwrap();
        assert_eq!(held.holder_did(), Some(did));
        assert_eq!(held.types(), ["VerifiableCredential", "Degree"]);
        assert_eq!(held.issuer(), Some("did:example:issuer"));
        assert_eq!(held.expires(), Some(NOW.plus(9)));
        assert!(held.is_holder_bound() && held.sd_jwt().is_none());
        assert!(
            !Held::parse(&w3c(format, None), format)
                .unwrap()
                .is_holder_bound()
        );
    }
}

#[test]
fn what_no_issuer_should_give_is_not_held() {
    let good = sd_jwt_vc(|_| {});
    let jwt = good.split('~').next().unwrap();
    let bound = format!("{good}{jwt}");
    assert_eq!(
        Held::parse(&bound, Format::SdJwtVc).unwrap_err(),
        HeldError::KeyBinding
    );
    let stray = format!("{jwt}~WyJzYWx0IiwiYSIsMV0~");
    let error = Held::parse(&stray, Format::SdJwtVc).unwrap_err();
    assert!(matches!(error, HeldError::Disclosures(_)));
    let timeless = sd_jwt_vc(|issue| {
        issue.claims.insert("exp".to_owned(), json!("soon"));
    });
    assert_eq!(
        Held::parse(&timeless, Format::SdJwtVc).unwrap_err(),
        HeldError::Time
    );
    let misplaced = sd_jwt_vc(|issue| {
        issue
            .claims
            .insert("status".to_owned(), json!({"status_list": {}}));
    });
    assert_eq!(
        Held::parse(&misplaced, Format::SdJwtVc).unwrap_err(),
        HeldError::Status
    );
    assert!(matches!(
        Held::parse(&good, Format::VcJwt).unwrap_err(),
        HeldError::VcJwt(_)
    ));
}
