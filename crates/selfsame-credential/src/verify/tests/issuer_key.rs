//! Who may speak for an issuer, and what is asked for once more.

use std::sync::Arc;

use selfsame_did::{Did, Document, Relationship, Representation, Resolution, VerificationMethod};

use selfsame_crypto::encoding::base64_encode;

use super::sd_jwt::Authority;
use super::*;
use crate::{
    evidence::{Evidence, Genuine, Need},
    testing::{Party, object},
};

const LATER: UnixTime = UnixTime(NOW.0 + 30);

fn presented(raw: &str) -> Presented<'_> {
    Presented {
        format: Format::SdJwtVc,
        raw,
        expected: None,
    }
}

/// A credential of `iss`, signed by a party's key that the header names so.
fn signed_by(party: &Party, iss: &str, more: &Value) -> String {
    let mut header = object(json!({"alg": party.algorithm().as_str(), "typ": "dc+sd-jwt"}));
    header.extend(object(more.clone()));
    let payload = json!({"iss": iss, "vct": "https://types.example/id"});
    party.token(&Value::Object(header), &payload) + "~"
}

#[test]
fn no_certificate_authority_speaks_for_a_did() {
    let authority = Authority::new();
    let owner = Party::new(KeyType::Ed25519);
    let anchored = Policy {
        trust_anchors: vec![authority.der.clone()],
        ..policy()
    };
    let own = signed_by(&owner, &owner.did, &json!({"kid": owner.kid()}));
    assert_valid(&verify(
        &presented(&own),
        &anchored,
        &Evidence::default(),
        NOW,
    ));
    let url = authority.credential_of("https://issuer.example/tenant", None);
    assert_valid(&verify(
        &presented(&url),
        &anchored,
        &Evidence::default(),
        NOW,
    ));
    for kid in [None, Some(owner.kid())] {
        let forged = authority.credential_of(&owner.did, kid.as_deref());
        let judged = verify(&presented(&forged), &anchored, &Evidence::default(), NOW);
        assert_fails(&judged, "issuer_key", Outcome::Invalid);
    }
}

#[test]
fn a_key_in_the_header_beside_a_did_is_refused() {
    let owner = Party::new(KeyType::Ed25519);
    let other = Party::new(KeyType::P256).key.public().to_jwk().to_value();
    let raw = signed_by(
        &owner,
        &owner.did,
        &json!({"kid": owner.kid(), "jwk": other}),
    );
    let judged = verify(&presented(&raw), &policy(), &Evidence::default(), NOW);
    assert_fails(&judged, "issuer_key", Outcome::Invalid);
}

/// A self-signed certificate of X.509 version 1, made with `openssl x509 -req -signkey`.
const VERSION_1: &str = "\
    MIIBGTCBwQIUfTOm3GI4drYyDtMHmuZu+LFtm08wCgYIKoZIzj0EAwIwEDEOMAwGA1UEAwwFcmVhbG0wHhcNMjYxMTIzMTc0\
    NDU1WhcNMzYxMTIwMTc0NDU1WjAQMQ4wDAYDVQQDDAVyZWFsbTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNt0/nNHioJV\
    V0GeCmlHKVe+Pf3ZT7wj/yexT2Q1wBlk4u8OPA9HHuBn3BUVU3RgnUHOSw4mqgtLV2de+zPSCNgwCgYIKoZIzj0EAwIDRwAw\
    RAIgPGoDrLiEpeSY0P29ImPPvmSMEwEcXKa8AemwGo1gcegCIEKfEaD1AAx4Q0b8Bng41BncB0kNV1nCSPkRpvREo2Pn";

const METADATA_KID: &str = "key-of-the-metadata";

/// Evidence of an issuer's metadata with this party's key; none if it cannot be had.
fn metadata_with(iss: &str, party: Option<&Party>) -> Evidence {
    let mut evidence = Evidence::default();
    let document = |party: &Party| {
        let key = party.key.public().to_jwk().with_kid(METADATA_KID);
        let keys = json!({"issuer": iss, "jwks": {"keys": [key.to_value()]}});
        fetched(keys.to_string().into_bytes())
    };
    let found = party.map_or_else(unavailable, document);
    evidence.insert_issuer_metadata(iss.to_owned(), found);
    evidence
}

#[test]
fn if_the_certificate_is_unusable_the_issuers_metadata_names_the_key() {
    let iss = "https://issuer.example";
    let (owner, other) = (Party::new(KeyType::P256), Party::new(KeyType::P256));
    let foreign = base64_encode(&Authority::new().certify().1);
    let garbage = base64_encode(b"no certificate");
    for (certificate, reason) in [
        (VERSION_1, "version 3"),
        (&garbage, "can't be read"),
        (&foreign, "leads to no trust anchor"),
    ] {
        let header = json!({"kid": METADATA_KID, "x5c": [certificate]});
        let raw = signed_by(&owner, iss, &header);
        let needs = needs(&presented(&raw), &policy(), &Evidence::default());
        assert_eq!(needs.unwrap(), [Need::IssuerMetadata(iss.to_owned())]);
        let judge = |evidence: &Evidence| verify(&presented(&raw), &policy(), evidence, NOW);
        let judged = judge(&metadata_with(iss, Some(&owner)));
        assert_valid(&judged);
        let detail = &rule(&judged.0, "issuer_key").detail;
        assert!(detail.contains(reason), "{detail}");
        // The key of the metadata counts, and only it.
        let judged = judge(&metadata_with(iss, Some(&other)));
        assert_fails(&judged, "issuer_signature", Outcome::Invalid);
        // Without `kid` nothing but the certificate names a key.
        let unnamed = signed_by(&owner, iss, &json!({"x5c": [certificate]}));
        let judged = verify(
            &presented(&unnamed),
            &policy(),
            &metadata_with(iss, Some(&owner)),
            NOW,
        );
        assert_ne!(judged.0.outcome, Outcome::Valid);
    }
}

#[test]
fn where_the_metadata_says_nothing_the_certificate_is_judged() {
    let iss = "https://issuer.example";
    let authority = Authority::new();
    let raw = authority.credential_of(iss, Some(METADATA_KID));
    let other = Party::new(KeyType::P256);
    let judge =
        |policy: &Policy, evidence: &Evidence| verify(&presented(&raw), policy, evidence, NOW);
    let judged = judge(&policy(), &metadata_with(iss, None));
    assert_fails(&judged, "certificate_chain", Outcome::Untrusted);
    // A chain that leads to a trust anchor needs no metadata.
    let anchored = Policy {
        trust_anchors: vec![authority.der.clone()],
        ..policy()
    };
    assert_valid(&judge(&anchored, &Evidence::default()));
    assert_valid(&judge(&anchored, &metadata_with(iss, Some(&other))));
    let unread = signed_by(
        &other,
        iss,
        &json!({"kid": METADATA_KID, "x5c": [VERSION_1]}),
    );
    let judged = verify(
        &presented(&unread),
        &anchored,
        &metadata_with(iss, None),
        NOW,
    );
    assert_fails(&judged, "issuer_key", Outcome::Unverifiable);
}

#[test]
fn a_policy_can_want_a_certificate_of_the_issuer_and_no_other_key() {
    let iss = "https://issuer.example";
    let (authority, owner) = (Authority::new(), Party::new(KeyType::P256));
    let strict = Policy {
        trust_anchors: vec![authority.der.clone()],
        certificates_alone: true,
        ..policy()
    };
    let evidence = metadata_with(iss, Some(&owner));
    let judge = |raw: &str| verify(&presented(raw), &strict, &evidence, NOW);
    let asked = |raw: &str| needs(&presented(raw), &strict, &Evidence::default()).unwrap();
    let by_metadata = signed_by(&owner, iss, &json!({"kid": METADATA_KID}));
    let by_did = signed_by(&owner, &owner.did, &json!({"kid": owner.kid()}));
    for raw in [&by_metadata, &by_did] {
        assert!(asked(raw).is_empty());
        let judged = judge(raw);
        assert_fails(&judged, "issuer_key", Outcome::Invalid);
        let detail = &rule(&judged.0, "issuer_key").detail;
        assert!(detail.contains("x5c"), "{detail}");
    }
    // The metadata do not help a certificate that nobody trusts.
    let foreign = base64_encode(&Authority::new().certify().1);
    let header = json!({"kid": METADATA_KID, "x5c": [foreign]});
    let beside = signed_by(&owner, iss, &header);
    assert_valid(&verify(&presented(&beside), &policy(), &evidence, NOW));
    assert!(asked(&beside).is_empty());
    assert_ne!(judge(&beside).0.outcome, Outcome::Valid);
    assert_valid(&judge(&authority.credential_of(iss, Some(METADATA_KID))));
}

#[test]
fn where_certificates_alone_count_the_header_leads_to_an_anchor_and_does_not_contain_it() {
    let iss = "https://issuer.example";
    let authority = Authority::new();
    let policy_of = |anchor: &Vec<u8>, certificates_alone| Policy {
        trust_anchors: vec![anchor.clone()],
        certificates_alone,
        ..policy()
    };
    let judge = |raw: &str, policy: &Policy| {
        let evidence = Evidence::default();
        verify(&presented(raw), policy, &evidence, NOW)
    };
    let refused = |raw: &str, policy: &Policy| {
        let judged = judge(raw, policy);
        assert_fails(&judged, "issuer_key", Outcome::Invalid);
        let detail = &rule(&judged.0, "issuer_key").detail;
        assert!(detail.contains("trust anchor"), "{detail}");
    };
    let (strict, other) = (
        policy_of(&authority.der, true),
        policy_of(&authority.der, false),
    );
    let (short, leaf) = authority.credential_with(iss, &[]);
    assert_valid(&judge(&short, &strict));
    // The anchor is refused where it is trusted, and as such where it is not: it signed itself.
    let (with_anchor, _) = authority.credential_with(iss, slice::from_ref(&authority.der));
    assert_valid(&judge(&with_anchor, &other));
    refused(&with_anchor, &strict);
    refused(&with_anchor, &policy_of(&Authority::new().der, true));
    // A leaf that is trusted by itself is an anchor.
    refused(&short, &policy_of(&leaf, true));
}

#[test]
fn a_verdict_says_which_name_the_list_of_trusted_issuers_lacks() {
    let owner = Party::new(KeyType::P256);
    let told = |iss: &str, listed: &str| {
        let raw = signed_by(&owner, iss, &json!({"kid": METADATA_KID}));
        let policy = Policy {
            trusted_issuers: Trust::Listed(vec![listed.to_owned()]),
            ..policy()
        };
        let evidence = metadata_with(iss, Some(&owner));
        let judged = verify(&presented(&raw), &policy, &evidence, NOW);
        let rule = rule(&judged.0, "issuer_trusted").clone();
        (rule.passed, rule.detail)
    };
    let (iss, slashed) = ("https://issuer.example", "https://issuer.example/");
    assert_eq!(told(iss, iss), (Some(true), String::new()));
    let (passed, detail) = told(iss, slashed);
    assert_eq!(passed, Some(false));
    assert!(
        detail.starts_with("https://issuer.example is not"),
        "{detail}"
    );
    assert!(detail.contains("https://issuer.example/ is"), "{detail}");
    let (_, detail) = told(iss, "https://other.example");
    assert!(
        detail.contains(iss) && !detail.contains("other.example"),
        "{detail}"
    );
}

/// Judges with evidence kept since `NOW`, that of each need once more from `renewed` where it is asked for again; says
/// how often it was.
fn judged_later(
    raw: &str,
    evidence: &mut Evidence,
    renewed: impl Fn(&mut Evidence),
) -> (usize, (Verdict, Option<Value>)) {
    let mut asked = 0;
    while let [need] = &needs(&presented(raw), &policy(), evidence).unwrap()[..] {
        assert_eq!(evidence.ask_again(need), Some(NOW));
        renewed(evidence);
        asked += 1;
    }
    (asked, verify(&presented(raw), &policy(), evidence, LATER))
}

fn since(began: UnixTime) -> Evidence {
    Evidence::knowing(Genuine::default(), began)
}

#[test]
fn a_key_that_a_kept_key_set_does_not_name_is_asked_for_once_more() {
    let iss = "https://issuer.example";
    let (old, new) = (Party::new(KeyType::P256), Party::new(KeyType::P256));
    let metadata = |parties: &[&Party]| {
        let key = |party: &&Party| party.key.public().to_jwk().with_kid(party.kid()).to_value();
        let keys: Vec<Value> = parties.iter().map(key).collect();
        json!({"issuer": iss, "jwks": {"keys": keys}})
            .to_string()
            .into_bytes()
    };
    let (before, after) = (metadata(&[&old]), metadata(&[&old, &new]));
    let raw = signed_by(&new, iss, &json!({"kid": new.kid()}));
    let judge = |began: UnixTime, renewed: &Vec<u8>| {
        let mut evidence = since(began);
        evidence.insert_issuer_metadata(iss.to_owned(), fetched(before.clone()));
        judged_later(&raw, &mut evidence, |evidence| {
            evidence.insert_issuer_metadata(iss.to_owned(), fetched(renewed.clone()));
        })
    };
    let (asked, judged) = judge(LATER, &after);
    assert_eq!(asked, 1);
    assert_valid(&judged);
    // It is not there even then, or what is kept is of now.
    for (began, asked) in [(LATER, 1), (NOW, 0)] {
        let judged = judge(began, &before);
        assert_eq!(judged.0, asked);
        assert_fails(&judged.1, "issuer_key", Outcome::Invalid);
    }
}

#[test]
fn a_key_behind_a_jwks_uri_is_asked_for_once_more() {
    let (iss, uri) = ("https://issuer.example", "https://issuer.example/jwks");
    let issuer = Party::new(KeyType::P256);
    let metadata = json!({"issuer": iss, "jwks_uri": uri});
    let metadata = metadata.to_string().into_bytes();
    let key = issuer.key.public().to_jwk().with_kid("k2").to_value();
    let set = json!({"keys": [key]}).to_string().into_bytes();
    let raw = signed_by(&issuer, iss, &json!({"kid": "k2"}));
    let mut evidence = since(LATER);
    evidence.insert_issuer_metadata(iss.to_owned(), fetched(metadata));
    evidence.insert_jwk_set(uri.to_owned(), fetched(b"{\"keys\":[]}".to_vec()));
    let (asked, judged) = judged_later(&raw, &mut evidence, |evidence| {
        evidence.insert_jwk_set(uri.to_owned(), fetched(set.clone()));
    });
    assert_eq!(asked, 1);
    assert_valid(&judged);
}

#[test]
fn a_key_that_a_kept_did_document_does_not_name_is_asked_for_once_more() {
    let did = Did::parse("did:web:issuer.example").unwrap();
    let issuer = Party::new(KeyType::P256);
    let kid = did.with_fragment("k2").unwrap();
    let raw = signed_by(&issuer, did.as_str(), &json!({"kid": kid.to_string()}));
    let resolution = |named: bool| {
        let mut document = Document::new(did.clone());
        if named {
            let method = VerificationMethod::json_web_key(kid.clone(), issuer.key.public());
            document.add(method, &[Relationship::AssertionMethod]);
        }
        fetched(Arc::new(Resolution::found(
            document,
            Representation::default(),
        )))
    };
    let mut evidence = since(LATER);
    evidence.insert_did(did.clone(), resolution(false));
    assert_eq!(
        needs(&presented(&raw), &policy(), &evidence),
        Ok(vec![Need::Did(did.clone())])
    );
    let (asked, judged) = judged_later(&raw, &mut evidence, |evidence| {
        evidence.insert_did(did.clone(), resolution(true));
    });
    assert_eq!(asked, 1);
    assert_valid(&judged);
}

#[test]
fn a_verdict_says_as_of_when_the_issuers_keys_are_known_and_the_policy_how_long_ago_that_may_be() {
    let did = Did::parse("did:web:issuer.example").unwrap();
    let issuer = Party::new(KeyType::P256);
    let kid = did.with_fragment("k1").unwrap();
    let raw = signed_by(&issuer, did.as_str(), &json!({"kid": kid.to_string()}));
    let mut document = Document::new(did.clone());
    let method = VerificationMethod::json_web_key(kid, issuer.key.public());
    document.add(method, &[Relationship::AssertionMethod]);
    let resolution = Resolution::found(document, Representation::default());
    let mut evidence = Evidence::default();
    evidence.insert_did(did, fetched(Arc::new(resolution)));
    let judge = |max_keys_age| {
        let policy = Policy {
            max_keys_age,
            ..policy()
        };
        verify(&presented(&raw), &policy, &evidence, LATER)
    };
    let known = format!("as of {}, 30 s ago", NOW.rfc3339());
    for enough in [None, Some(30)] {
        let judged = judge(enough);
        assert_valid(&judged);
        assert_eq!(rule(&judged.0, "keys_as_of").detail, known);
    }
    let judged = judge(Some(29));
    assert_fails(&judged, "keys_as_of", Outcome::Unverifiable);
    assert!(rule(&judged.0, "keys_as_of").detail.ends_with(&known));
    // Keys that stand in the identifier are of no time.
    let owner = Party::new(KeyType::P256);
    let raw = signed_by(&owner, &owner.did, &json!({"kid": owner.kid()}));
    let judged = verify(&presented(&raw), &policy(), &Evidence::default(), LATER);
    assert_eq!(rule(&judged.0, "keys_as_of").passed, None);
}

#[test]
fn nothing_is_fetched_that_an_issuer_names_who_is_not_trusted() {
    let stranger = Party::new(KeyType::Ed25519);
    for iss in ["https://issuer.example", "did:web:issuer.example"] {
        let raw = signed_by(&stranger, iss, &json!({"kid": format!("{iss}#key")}));
        let needs_of = |policy: &Policy| {
            let evidence = Evidence::default();
            needs(&presented(&raw), policy, &evidence).unwrap().len()
        };
        let listing = |issuer: &str| Policy {
            trusted_issuers: Trust::Listed(vec![issuer.to_owned()]),
            ..policy()
        };
        assert_eq!(needs_of(&listing(iss)), 1, "{iss}");
        assert_eq!(needs_of(&listing("https://other.example")), 0, "{iss}");
        let other = listing("https://other.example");
        let judged = verify(&presented(&raw), &other, &Evidence::default(), NOW);
        assert_fails(&judged, "issuer_key", Outcome::Untrusted);
        assert_eq!(judged.1, None);
    }
}
