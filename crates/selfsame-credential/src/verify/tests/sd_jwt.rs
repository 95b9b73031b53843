//! SD-JWT VC, with and without key binding.

use super::*;
use crate::{
    format::sd_jwt_vc::{Issue, KeyBindingClaims},
    path::ClaimPath,
    sd_jwt::{DigestAlgorithm, SdJwt},
    testing::{Party, ctx, object},
};

/// One issuer, one holder, one credential.
struct Scene {
    issuer: Party,
    holder: Party,
    credential: String,
}

impl Scene {
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut Issue)) -> Self {
        let issuer = Party::new(KeyType::Ed25519);
        let holder = Party::new(KeyType::P256);
        let mut issue = Issue {
            claims: object(json!({
                "iss": issuer.did, "vct": "https://types.example/id", "exp": NOW.0 + 100,
                "nbf": NOW.0 - 100, "name": "Ada", "address": {"locality": "Bonn"},
            })),
            disclosable: vec![
                ClaimPath::of_names(["name"]).unwrap(),
                ClaimPath::of_names(["address", "locality"]).unwrap(),
            ],
            decoys: 1,
            cnf: Some(holder.key.public().to_jwk()),
            digest: DigestAlgorithm::Sha256,
            signer: issuer.signer(),
            label: "c".to_owned(),
        };
        change(&mut issue);
        let draft = issue.draft(&ctx()).unwrap();
        let signature = issuer.key.sign(draft.signing_input()).unwrap();
        Self {
            credential: draft.finish(&signature),
            issuer,
            holder,
        }
    }

    /// A credential with this header and payload, signed by the issuer.
    fn of(header: &Value, payload: &Value) -> Self {
        let scene = Self::new();
        let mut payload = payload.clone();
        payload["iss"] = json!(scene.issuer.did);
        let mut header = header.clone();
        header["kid"] = json!(scene.issuer.kid());
        let credential = scene.issuer.token(&header, &payload) + "~";
        Self {
            credential,
            ..scene
        }
    }

    fn bare(&self) -> (Verdict, Option<Value>) {
        judge(&self.credential, None, &policy())
    }

    fn present(&self) -> String {
        self.present_with(|_| {}, &self.holder)
    }

    fn present_with(&self, change: impl FnOnce(&mut KeyBindingClaims), by: &Party) -> String {
        let sd_jwt = SdJwt::parse(&self.credential).unwrap();
        let paths = [ClaimPath::of_names(["name"]).unwrap()];
        let mut claims = KeyBindingClaims {
            audience: AUDIENCE.to_owned(),
            nonce: NONCE.to_owned(),
            issued_at: NOW,
            further: Default::default(),
        };
        change(&mut claims);
        let shown = sd_jwt.present(&paths).unwrap();
        let draft = claims.bind(shown, by.handle(), by.algorithm());
        let signature = by.key.sign(draft.signing_input()).unwrap();
        draft.finish(&signature)
    }

    /// A presentation whose key binding has this header and these claims.
    fn present_raw(&self, header: &Value, claims: &Value) -> String {
        let sd_jwt = SdJwt::parse(&self.credential).unwrap();
        let shown = sd_jwt.present(&[]).unwrap().unbound();
        let hash = SdJwt::parse(&shown).unwrap().sd_hash();
        let mut claims = claims.clone();
        claims["sd_hash"] = json!(hash);
        shown + &self.holder.token(header, &claims)
    }
}

fn judge(raw: &str, expected: Option<&Binding>, policy: &Policy) -> (Verdict, Option<Value>) {
    let presented = Presented {
        format: Format::SdJwtVc,
        raw,
        expected,
    };
    verify(&presented, policy, &Evidence::default(), NOW)
}

fn judge_bound(raw: &str) -> (Verdict, Option<Value>) {
    judge(raw, Some(&binding()), &policy())
}

#[test]
fn a_genuine_credential_is_valid_and_needs_nothing_for_a_did_key() {
    let scene = Scene::new();
    let claims = assert_valid(&scene.bare());
    assert_eq!(claims["address"]["locality"], "Bonn");
    let presented = Presented {
        format: Format::SdJwtVc,
        raw: &scene.credential,
        expected: None,
    };
    assert_eq!(
        needs(&presented, &policy(), &Evidence::default()),
        Ok(vec![])
    );
}

#[test]
fn a_genuine_presentation_is_valid_and_shows_only_what_was_chosen() {
    let claims = assert_valid(&judge_bound(&Scene::new().present()));
    assert_eq!(claims["name"], "Ada");
    assert_eq!(claims["address"], json!({}));
}

#[test]
fn a_tampered_disclosure_is_refused() {
    let scene = Scene::new();
    let forged = selfsame_crypto::encoding::base64url_encode(br#"["salt","name","Eve"]"#);
    let parts: Vec<&str> = scene.credential.split('~').collect();
    let raw = format!("{}~{forged}~", parts[0]);
    assert_fails(
        &judge(&raw, None, &policy()),
        "disclosures_referenced",
        Outcome::Invalid,
    );
}

#[test]
fn a_tampered_payload_is_refused() {
    let scene = Scene::new();
    let (jwt, rest) = scene.credential.split_once('~').unwrap();
    let [header, payload, signature]: [&str; 3] =
        jwt.split('.').collect::<Vec<_>>().try_into().unwrap();
    let bytes = selfsame_crypto::encoding::base64url_decode(payload).unwrap();
    let changed = String::from_utf8(bytes)
        .unwrap()
        .replace("types.example", "tapes.example");
    let changed = selfsame_crypto::encoding::base64url_encode(changed.as_bytes());
    let raw = format!("{header}.{changed}.{signature}~{rest}");
    assert_fails(
        &judge(&raw, None, &policy()),
        "issuer_signature",
        Outcome::Invalid,
    );
}

#[test]
fn a_credential_signed_with_another_key_than_the_issuers_is_refused() {
    let scene = Scene::new();
    let other = Party::new(KeyType::Ed25519);
    let header = json!({"alg": "EdDSA", "typ": "dc+sd-jwt", "kid": scene.issuer.kid()});
    let payload = json!({"iss": scene.issuer.did, "vct": "v"});
    let raw = other.token(&header, &payload) + "~";
    assert_fails(
        &judge(&raw, None, &policy()),
        "issuer_signature",
        Outcome::Invalid,
    );
    let header = json!({"alg": "EdDSA", "typ": "dc+sd-jwt", "kid": other.kid()});
    let raw = other.token(&header, &payload) + "~";
    assert_fails(
        &judge(&raw, None, &policy()),
        "issuer_key",
        Outcome::Invalid,
    );
}

#[test]
fn the_algorithm_none_is_refused_and_so_is_one_the_policy_leaves_out() {
    let header = json!({"alg": "none", "typ": "dc+sd-jwt"});
    let none = selfsame_crypto::jws::Unsigned::new(&header, &json!({"vct": "v"}));
    let raw = none.finish(&[]) + "~";
    assert_fails(&judge(&raw, None, &policy()), "algorithm", Outcome::Invalid);
    let hmac = selfsame_crypto::jws::Unsigned::new(&json!({"alg": "HS256"}), &json!({}));
    let raw = hmac.finish(&[0; 32]) + "~";
    assert_fails(&judge(&raw, None, &policy()), "algorithm", Outcome::Invalid);
    let es256 = Policy {
        algorithms: Some(vec![selfsame_crypto::Algorithm::Es256]),
        ..policy()
    };
    let scene = Scene::new();
    assert_fails(
        &judge(&scene.credential, None, &es256),
        "algorithm",
        Outcome::Invalid,
    );
    let eddsa = Policy {
        algorithms: Some(vec![selfsame_crypto::Algorithm::EdDsa]),
        ..policy()
    };
    assert_valid(&judge(&scene.credential, None, &eddsa));
    assert_fails(
        &judge(&scene.present(), Some(&binding()), &eddsa),
        "holder_algorithm",
        Outcome::Invalid,
    );
}

#[test]
fn a_token_of_another_type_is_refused() {
    for typ in [
        json!("JWT"),
        json!("vc+sd-jwt"),
        json!("kb+jwt"),
        json!("vc+jwt"),
    ] {
        let scene = Scene::of(&json!({"alg": "EdDSA", "typ": typ}), &json!({"vct": "v"}));
        assert_fails(&scene.bare(), "type_header", Outcome::Invalid);
    }
    let untyped = Scene::of(&json!({"alg": "EdDSA"}), &json!({"vct": "v"}));
    assert_fails(&untyped.bare(), "type_header", Outcome::Invalid);
}

#[test]
fn a_type_may_be_written_in_full() {
    let scene = Scene::of(
        &json!({"alg": "EdDSA", "typ": "application/dc+sd-jwt"}),
        &json!({"vct": "v"}),
    );
    assert_valid(&scene.bare());
    let claims = json!({"aud": AUDIENCE, "nonce": NONCE, "iat": NOW.0});
    let header = json!({"alg": "ES256", "typ": "application/kb+jwt"});
    assert_valid(&judge_bound(&Scene::new().present_raw(&header, &claims)));
}

#[test]
fn the_type_claims_must_be_as_specified() {
    let header = json!({"alg": "EdDSA", "typ": "dc+sd-jwt"});
    assert_fails(
        &Scene::of(&header, &json!({})).bare(),
        "vct",
        Outcome::Invalid,
    );
    assert_fails(
        &Scene::of(&header, &json!({"vct": 1})).bare(),
        "vct",
        Outcome::Invalid,
    );
    for aka in [json!([]), json!(["v"]), json!("w"), json!([1])] {
        let scene = Scene::of(&header, &json!({"vct": "v", "aka_vcts": aka}));
        assert_fails(&scene.bare(), "aka_vcts", Outcome::Invalid);
    }
    assert_valid(&Scene::of(&header, &json!({"vct": "v", "aka_vcts": ["w"]})).bare());
}

#[test]
fn a_time_of_issue_must_be_a_time_whether_disclosed_or_not() {
    let header = json!({"alg": "EdDSA", "typ": "dc+sd-jwt"});
    let clear = |iat: Value| Scene::of(&header, &json!({"vct": "v", "iat": iat})).bare();
    let disclosed = |iat: Value| {
        let disclosure = json!(["salt", "iat", iat]).to_string();
        let disclosure = selfsame_crypto::encoding::base64url_encode(disclosure.as_bytes());
        let digest = DigestAlgorithm::Sha256.digest(disclosure.as_bytes());
        let scene = Scene::of(&header, &json!({"vct": "v", "_sd": [digest]}));
        judge(
            &format!("{}{disclosure}~", scene.credential),
            None,
            &policy(),
        )
    };
    assert_valid(&clear(json!(NOW.0)));
    assert_valid(&disclosed(json!(NOW.0)));
    for iat in [json!("x"), json!(null), json!([NOW.0]), json!(-1)] {
        for judged in [clear(iat.clone()), disclosed(iat)] {
            assert_fails(&judged, "times_well_formed", Outcome::Invalid);
        }
    }
}

#[test]
fn an_unknown_digest_algorithm_is_refused() {
    let header = json!({"alg": "EdDSA", "typ": "dc+sd-jwt"});
    let scene = Scene::of(&header, &json!({"vct": "v", "_sd_alg": "sha-1"}));
    assert_fails(&scene.bare(), "digest_algorithm", Outcome::Invalid);
}

#[test]
fn validity_claims_that_were_hidden_are_refused() {
    for name in ["exp", "status", "cnf", "nbf"] {
        let disclosure = json!(["salt", name, 1]).to_string();
        let disclosure = selfsame_crypto::encoding::base64url_encode(disclosure.as_bytes());
        let digest = DigestAlgorithm::Sha256.digest(disclosure.as_bytes());
        let header = json!({"alg": "EdDSA", "typ": "dc+sd-jwt"});
        let scene = Scene::of(&header, &json!({"vct": "v", "_sd": [digest]}));
        let raw = format!("{}{disclosure}~", scene.credential);
        assert_fails(
            &judge(&raw, None, &policy()),
            "never_disclosed",
            Outcome::Invalid,
        );
    }
}

#[test]
fn time_is_judged_with_leeway() {
    let scene = Scene::new();
    let at = |now: UnixTime, leeway: u64| {
        let presented = Presented {
            format: Format::SdJwtVc,
            raw: &scene.credential,
            expected: None,
        };
        verify(
            &presented,
            &Policy { leeway, ..policy() },
            &Evidence::default(),
            now,
        )
    };
    assert_fails(&at(NOW.plus(100), 0), "expiry", Outcome::Expired);
    assert_valid(&at(NOW.plus(100), 60));
    assert_fails(&at(NOW.minus(101), 0), "not_before", Outcome::NotYetValid);
    assert_valid(&at(NOW.minus(101), 60));
    let header = json!({"alg": "EdDSA", "typ": "dc+sd-jwt"});
    let scene = Scene::of(&header, &json!({"vct": "v", "exp": "never"}));
    assert_fails(&scene.bare(), "times_well_formed", Outcome::Invalid);
}

#[test]
fn an_issuer_is_trusted_for_the_types_that_the_policy_names() {
    let scene = Scene::new();
    let sd_jwt = SdJwt::parse(&scene.credential).unwrap();
    let vct = sd_jwt.payload()["vct"].as_str().unwrap().to_owned();
    let judged = |types: &[&str]| {
        let types = types.iter().map(|name| (*name).to_owned()).collect();
        let policy = Policy {
            trusted_issuers: Trust::Listed(vec![scene.issuer.did.clone()]),
            issuer_types: [(scene.issuer.did.clone(), types)].into(),
            ..policy()
        };
        judge(&scene.credential, None, &policy)
    };
    assert_valid(&judged(&["urn:example:other", &vct]));
    for other in [&["urn:example:other"][..], &[]] {
        assert_fails(&judged(other), "issuer_trusted", Outcome::Untrusted);
    }
}

#[test]
fn a_credential_is_accepted_from_the_issuers_that_the_policy_names_for_its_type_and_no_other() {
    let scene = Scene::new();
    let sd_jwt = SdJwt::parse(&scene.credential).unwrap();
    let vct = sd_jwt.payload()["vct"].as_str().unwrap();
    let issuer = scene.issuer.did.as_str();
    let judged = |of: &str, named: &[&str], trusted: Trust| {
        let named = named.iter().map(|name| (*name).to_owned()).collect();
        let policy = Policy {
            trusted_issuers: trusted,
            issuers_by_type: [(of.to_owned(), named)].into(),
            ..policy()
        };
        judge(&scene.credential, None, &policy)
    };
    let named_rule = "issuer_trusted_for_request";
    let named = judged(vct, &["did:web:other.example", issuer], Trust::Any);
    assert_valid(&named);
    assert_eq!(rule(&named.0, named_rule).passed, Some(true));
    for named in [&["did:web:other.example"][..], &[]] {
        let other = judged(vct, named, Trust::Any);
        assert_fails(&other, named_rule, Outcome::Untrusted);
        assert!(!is_by_a_trusted_issuer(&other.0));
    }
    let unnamed = judged("urn:example:other", &["did:web:other.example"], Trust::Any);
    assert_valid(&unnamed);
    assert!(!unnamed.0.rules.iter().any(|one| one.name == named_rule));
    // To be named for a type makes no issuer trusted.
    let stranger = judged(vct, &[issuer], Trust::default());
    assert_fails(&stranger, "issuer_trusted", Outcome::Untrusted);
}

#[test]
fn an_issuer_that_is_not_listed_is_untrusted_and_still_shown() {
    let scene = Scene::new();
    let nobody = Policy {
        trusted_issuers: Trust::default(),
        ..policy()
    };
    let judged = judge(&scene.credential, None, &nobody);
    assert_fails(&judged, "issuer_trusted", Outcome::Untrusted);
    let listed = Trust::Listed(vec![scene.issuer.did.clone()]);
    assert_valid(&judge(
        &scene.credential,
        None,
        &Policy {
            trusted_issuers: listed,
            ..policy()
        },
    ));
}

#[test]
fn keys_from_did_documents_are_a_profile_that_the_policy_may_leave_out() {
    let scene = Scene::new();
    let strict = Policy {
        accept_did_issuers: false,
        ..policy()
    };
    assert_fails(
        &judge(&scene.credential, None, &strict),
        "issuer_key",
        Outcome::Invalid,
    );
}

#[test]
fn key_binding_is_present_exactly_where_it_is_asked_for() {
    let scene = Scene::new();
    assert_fails(
        &judge_bound(&scene.credential),
        "key_binding",
        Outcome::Invalid,
    );
    let judged = judge(&scene.present(), None, &policy());
    assert_fails(&judged, "key_binding", Outcome::Invalid);
}

#[test]
fn a_presentation_for_another_verifier_or_request_is_refused() {
    let scene = Scene::new();
    let other = scene.present_with(|claims| claims.audience = "x".to_owned(), &scene.holder);
    assert_fails(&judge_bound(&other), "holder_audience", Outcome::Invalid);
    let replayed = scene.present_with(|claims| claims.nonce = "old".to_owned(), &scene.holder);
    assert_fails(&judge_bound(&replayed), "holder_nonce", Outcome::Invalid);
    let header = json!({"alg": "ES256", "typ": "kb+jwt"});
    let list = json!({"aud": [AUDIENCE], "nonce": NONCE, "iat": NOW.0});
    let judged = judge_bound(&scene.present_raw(&header, &list));
    assert_fails(&judged, "holder_audience", Outcome::Invalid);
}

#[test]
fn a_proof_without_a_nonce_answers_no_request_not_even_one_without() {
    let scene = Scene::new();
    let header = json!({"alg": "ES256", "typ": "kb+jwt"});
    let raw = scene.present_raw(&header, &json!({"aud": AUDIENCE, "iat": NOW.0}));
    let careless = Binding {
        nonce: String::new(),
        session: None,
        ..binding()
    };
    for expected in [&binding(), &careless] {
        let judged = judge(&raw, Some(expected), &policy());
        assert_fails(&judged, "holder_nonce", Outcome::Invalid);
    }
}

#[test]
fn an_algorithm_may_go_by_its_fully_specified_name() {
    let with = |of_issuer: &str, of_holder: &str| {
        let mut scene = Scene::new();
        scene.holder = Party::new(KeyType::Ed25519);
        let jwk = scene.holder.key.public().to_jwk().to_value();
        let payload = json!({"iss": scene.issuer.did, "vct": "v", "cnf": {"jwk": jwk}});
        let header = json!({"alg": of_issuer, "typ": "dc+sd-jwt", "kid": scene.issuer.kid()});
        scene.credential = scene.issuer.token(&header, &payload) + "~";
        let header = json!({"alg": of_holder, "typ": "kb+jwt"});
        let claims = json!({"aud": AUDIENCE, "nonce": NONCE, "iat": NOW.0});
        judge_bound(&scene.present_raw(&header, &claims))
    };
    for name in ["Ed25519", "EdDSA"] {
        assert_valid(&with(name, "Ed25519"));
        assert_valid(&with(name, "EdDSA"));
    }
    for other in ["Ed448", "ed25519", "ES256"] {
        let header = json!({"alg": other, "typ": "dc+sd-jwt"});
        let of_issuer = Scene::of(&header, &json!({"vct": "v"})).bare();
        for (judged, _) in [of_issuer, with("Ed25519", other)] {
            assert_eq!(judged.outcome, Outcome::Invalid, "{other}");
        }
    }
}

#[test]
fn a_holders_key_that_is_not_for_these_signatures_is_refused() {
    for (member, value) in [
        ("alg", json!("ES384")),
        ("alg", json!("ECDH-ES")),
        ("use", json!("enc")),
        ("key_ops", json!(["encrypt"])),
        ("key_ops", json!("verify")),
    ] {
        let mut scene = Scene::new();
        let mut jwk = scene.holder.key.public().to_jwk().to_value();
        jwk[member] = value;
        let payload = json!({"iss": scene.issuer.did, "vct": "v", "cnf": {"jwk": jwk}});
        let header = json!({"alg": "EdDSA", "typ": "dc+sd-jwt", "kid": scene.issuer.kid()});
        scene.credential = scene.issuer.token(&header, &payload) + "~";
        let header = json!({"alg": "ES256", "typ": "kb+jwt"});
        let claims = json!({"aud": AUDIENCE, "nonce": NONCE, "iat": NOW.0});
        let judged = judge_bound(&scene.present_raw(&header, &claims));
        assert_fails(&judged, "holder_key", Outcome::Invalid);
    }
}

#[test]
fn a_presentation_that_was_not_made_just_now_is_refused() {
    let scene = Scene::new();
    for at in [NOW.minus(601), NOW.plus(1)] {
        let raw = scene.present_with(|claims| claims.issued_at = at, &scene.holder);
        assert_fails(&judge_bound(&raw), "holder_proof_time", Outcome::Invalid);
    }
    let header = json!({"alg": "ES256", "typ": "kb+jwt"});
    let timeless = json!({"aud": AUDIENCE, "nonce": NONCE});
    let judged = judge_bound(&scene.present_raw(&header, &timeless));
    assert_fails(&judged, "holder_proof_time", Outcome::Invalid);
}

#[test]
fn a_presentation_by_somebody_else_is_refused() {
    let scene = Scene::new();
    let thief = Party::new(KeyType::P256);
    let raw = scene.present_with(|_| {}, &thief);
    assert_fails(&judge_bound(&raw), "holder_signature", Outcome::Invalid);
}

#[test]
fn a_credential_without_a_holders_key_cannot_be_presented_bound() {
    let scene = Scene::with(|issue| issue.cnf = None);
    assert_fails(
        &judge_bound(&scene.present()),
        "holder_key",
        Outcome::Invalid,
    );
}

#[test]
fn a_key_binding_of_another_type_is_refused() {
    let scene = Scene::new();
    let claims = json!({"aud": AUDIENCE, "nonce": NONCE, "iat": NOW.0});
    for header in [
        json!({"alg": "ES256"}),
        json!({"alg": "ES256", "typ": "JWT"}),
    ] {
        let judged = judge_bound(&scene.present_raw(&header, &claims));
        assert_fails(&judged, "holder_type", Outcome::Invalid);
    }
}

#[test]
fn a_key_binding_moved_to_other_disclosures_is_refused() {
    let scene = Scene::new();
    let shown = scene.present();
    let (_, key_binding) = shown.rsplit_once('~').unwrap();
    let raw = scene.credential.clone() + key_binding;
    assert_fails(&judge_bound(&raw), "sd_hash", Outcome::Invalid);
}

#[test]
fn keys_come_from_the_issuers_metadata_and_are_asked_for() {
    let iss = "https://issuer.example/tenant";
    let scene = Scene::with(|issue| {
        issue.claims.insert("iss".to_owned(), json!(iss));
        issue.signer.kid = Some("k1".to_owned());
    });
    let presented = Presented {
        format: Format::SdJwtVc,
        raw: &scene.credential,
        expected: None,
    };
    let mut evidence = Evidence::default();
    let need = Need::IssuerMetadata(iss.to_owned());
    assert_eq!(
        needs(&presented, &policy(), &evidence),
        Ok(vec![need.clone()])
    );
    let judged = verify(&presented, &policy(), &evidence, NOW);
    assert_fails(&judged, "issuer_key", Outcome::Unverifiable);

    let key = scene.issuer.key.public().to_jwk().with_kid("k1").to_value();
    let strange = json!({"kty": "AKP", "kid": "k0"});
    let but = |member: &str, value: &str| {
        let mut key = key.clone();
        key[member] = json!(value);
        key
    };
    let mut judge_with = |document: Value| {
        let bytes = document.to_string().into_bytes();
        evidence.insert_issuer_metadata(iss.to_owned(), fetched(bytes));
        assert!(evidence.answers(&need));
        verify(&presented, &policy(), &evidence, NOW)
    };
    let good = json!({"issuer": iss, "jwks": {"keys": [strange, key]}});
    assert_valid(&judge_with(good));
    let refused = [
        json!({"issuer": "https://issuer.example", "jwks": {"keys": [key]}}),
        json!({"issuer": iss, "jwks": {"keys": [strange]}}),
        json!({"issuer": iss, "jwks": {"keys": [key, key]}}),
        json!({"issuer": iss, "jwks": {"keys": [but("use", "enc")]}}),
        json!({"issuer": iss, "jwks": {"keys": [but("alg", "ES256")]}}),
        json!({"issuer": iss}),
        json!({"issuer": iss, "jwks": {"keys": [key]}, "jwks_uri": "https://issuer.example/j"}),
        json!({"issuer": iss, "jwks_uri": "http://issuer.example/j"}),
    ];
    for document in refused {
        assert_fails(&judge_with(document), "issuer_key", Outcome::Invalid);
    }
    for unread in [
        json!("rubbish"),
        json!([iss, {"keys": [key]}, null]),
        json!({"issuer": iss, "jwks": [[key]]}),
    ] {
        assert_fails(&judge_with(unread), "issuer_key", Outcome::Unverifiable);
    }
}

#[test]
fn keys_behind_a_jwks_uri_are_a_second_need() {
    let (iss, uri) = ("https://issuer.example", "https://issuer.example/jwks?v=1");
    let scene = Scene::with(|issue| {
        issue.claims.insert("iss".to_owned(), json!(iss));
        issue.signer.kid = None;
    });
    let presented = Presented {
        format: Format::SdJwtVc,
        raw: &scene.credential,
        expected: None,
    };
    let mut evidence = Evidence::default();
    let document = json!({"issuer": iss, "jwks_uri": uri})
        .to_string()
        .into_bytes();
    evidence.insert_issuer_metadata(iss.to_owned(), fetched(document));
    let need = Need::JwkSet(uri.to_owned());
    assert_eq!(
        needs(&presented, &policy(), &evidence).as_deref(),
        Ok(slice::from_ref(&need))
    );
    let set = json!({"keys": [scene.issuer.key.public().to_jwk().to_value()]});
    evidence.insert_jwk_set(uri.to_owned(), fetched(set.to_string().into_bytes()));
    assert_valid(&verify(&presented, &policy(), &evidence, NOW));
    evidence.insert_jwk_set(uri.to_owned(), unavailable());
    let judged = verify(&presented, &policy(), &evidence, NOW);
    assert_fails(&judged, "issuer_key", Outcome::Unverifiable);
}

#[test]
fn issuers_that_are_no_safe_urls_are_refused() {
    for iss in [
        "http://issuer.example",
        "https://u:p@issuer.example",
        "issuer",
        "https://x/?q",
    ] {
        let scene = Scene::with(|issue| {
            issue.claims.insert("iss".to_owned(), json!(iss));
        });
        assert_fails(&scene.bare(), "issuer_key", Outcome::Invalid);
    }
    let without_issuer = Scene::with(|issue| {
        issue.claims.remove("iss");
    });
    assert_fails(&without_issuer.bare(), "issuer_key", Outcome::Invalid);
}

#[test]
fn a_certificate_chain_must_lead_to_an_anchor_and_name_the_issuer() {
    let authority = Authority::new();
    let scene = authority.scene(Some(json!("https://issuer.example/tenant")));
    let anchored = Policy {
        trust_anchors: vec![authority.der.clone()],
        ..policy()
    };
    assert_valid(&judge(&scene, None, &anchored));
    assert_fails(
        &judge(&scene, None, &policy()),
        "certificate_chain",
        Outcome::Untrusted,
    );
    let presented = Presented {
        format: Format::SdJwtVc,
        raw: &scene,
        expected: None,
    };
    for (policy, now, reason) in [
        (&policy(), NOW, "does not lead to a trust anchor"),
        (&anchored, UnixTime(1), "not valid yet"),
        (&anchored, NOW.plus(1 << 42), "expired"),
    ] {
        let (verdict, _) = verify(&presented, policy, &Evidence::default(), now);
        let detail = &rule(&verdict, "certificate_chain").detail;
        assert!(detail.contains(reason), "{detail}");
    }
    let foreign = Policy {
        trust_anchors: vec![Authority::new().der],
        ..policy()
    };
    assert_fails(
        &judge(&scene, None, &foreign),
        "certificate_chain",
        Outcome::Untrusted,
    );
    let misnamed = authority.scene(Some(json!("https://other.example")));
    assert_fails(
        &judge(&misnamed, None, &anchored),
        "issuer_key",
        Outcome::Invalid,
    );
}

#[test]
fn an_issuer_known_by_its_certificate_alone_is_listed_by_name_or_hash() {
    let authority = Authority::new();
    let scene = authority.scene(None);
    let with = |entry: &str| {
        let policy = Policy {
            trust_anchors: vec![authority.der.clone()],
            trusted_issuers: Trust::Listed(vec![entry.to_owned()]),
            ..policy()
        };
        judge(&scene, None, &policy)
    };
    assert_valid(&with("x509_san_dns:issuer.example"));
    let leaf = &SdJwt::parse(&scene)
        .unwrap()
        .jwt()
        .header
        .x5c
        .clone()
        .unwrap()[0];
    let hash = DigestAlgorithm::Sha256.digest(leaf);
    assert_valid(&with(&format!("x509_hash:{hash}")));
    let other = DigestAlgorithm::Sha256.digest(b"another certificate");
    for entry in [
        "x509_san_dns:other.example",
        "https://issuer.example",
        &format!("x509_hash:{other}"),
    ] {
        assert_fails(&with(entry), "issuer_trusted", Outcome::Untrusted);
    }
}

#[test]
fn an_issuer_known_by_its_certificate_is_trusted_for_the_types_that_the_policy_names() {
    let authority = Authority::new();
    let scene = authority.scene(None);
    let sd_jwt = SdJwt::parse(&scene).unwrap();
    let vct = sd_jwt.payload()["vct"].as_str().unwrap();
    let (name, other) = ("x509_san_dns:issuer.example", "x509_san_dns:other.example");
    let judged = |entry: &str, types: &[&str]| {
        let types = types.iter().map(|name| (*name).to_owned()).collect();
        let policy = Policy {
            trust_anchors: vec![authority.der.clone()],
            trusted_issuers: Trust::Listed(vec![name.to_owned(), other.to_owned()]),
            issuer_types: [(entry.to_owned(), types)].into(),
            ..policy()
        };
        judge(&scene, None, &policy)
    };
    assert_valid(&judged(name, &[vct]));
    assert_valid(&judged(other, &["urn:example:other"]));
    for types in [&["urn:example:other"][..], &[]] {
        assert_fails(&judged(name, types), "issuer_trusted", Outcome::Untrusted);
    }
}

#[test]
fn an_iss_that_is_no_string_does_not_count_as_absent() {
    let authority = Authority::new();
    let policy = Policy {
        trust_anchors: vec![authority.der.clone()],
        ..policy()
    };
    assert_valid(&judge(&authority.scene(None), None, &policy));
    for iss in [json!(5), json!([]), json!({}), json!(null), json!(true)] {
        let judged = judge(&authority.scene(Some(iss)), None, &policy);
        assert_fails(&judged, "issuer_claim", Outcome::Invalid);
    }
}

/// A certificate authority and the one issuer it certifies, `issuer.example`.
pub(super) struct Authority {
    issuer: rcgen::Issuer<'static, rcgen::KeyPair>,
    pub(super) der: Vec<u8>,
}

impl Authority {
    pub(super) fn new() -> Self {
        let mut params = rcgen::CertificateParams::default();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let key = rcgen::KeyPair::generate().unwrap();
        let der = params.self_signed(&key).unwrap().der().to_vec();
        Self {
            issuer: rcgen::Issuer::new(params, key),
            der,
        }
    }

    /// A new key, and a certificate for it.
    pub(super) fn certify(&self) -> (selfsame_crypto::PrivateKey, Vec<u8>) {
        self.certify_as(None)
    }

    fn certify_as(&self, uri: Option<&str>) -> (selfsame_crypto::PrivateKey, Vec<u8>) {
        let key = rcgen::KeyPair::generate().unwrap();
        let mut params = rcgen::CertificateParams::new(vec!["issuer.example".to_owned()]).unwrap();
        let uri = uri.map(|uri| rcgen::SanType::URI(uri.try_into().unwrap()));
        params.subject_alt_names.extend(uri);
        // Otherwise the leaf has the name of its authority, and looks as if it signed itself.
        let name = rcgen::DnType::CommonName;
        params.distinguished_name.push(name, "An issuer");
        let leaf = params.signed_by(&key, &self.issuer).unwrap();
        let signing = selfsame_crypto::PrivateKey::from_pkcs8(&key.serialize_der()).unwrap();
        (signing, leaf.der().to_vec())
    }

    /// A credential by the certified issuer, whose certificate names `iss` too, with the header's `kid`.
    pub(super) fn credential_of(&self, iss: &str, kid: Option<&str>) -> String {
        let (signing, leaf) = self.certify_as(Some(iss));
        self.signed(Some(json!(iss)), kid, (signing, vec![leaf]))
    }

    /// A credential by the certified issuer with further certificates in its header, and the issuer's own.
    pub(super) fn credential_with(&self, iss: &str, more: &[Vec<u8>]) -> (String, Vec<u8>) {
        let (signing, leaf) = self.certify_as(Some(iss));
        let x5c = [slice::from_ref(&leaf), more].concat();
        (self.signed(Some(json!(iss)), None, (signing, x5c)), leaf)
    }

    fn scene(&self, iss: Option<Value>) -> String {
        let (signing, leaf) = self.certify();
        self.signed(iss, None, (signing, vec![leaf]))
    }

    fn signed(
        &self,
        iss: Option<Value>,
        kid: Option<&str>,
        (signing, x5c): (selfsame_crypto::PrivateKey, Vec<Vec<u8>>),
    ) -> String {
        let mut claims = object(json!({"vct": "v"}));
        if let Some(iss) = iss {
            claims.insert("iss".to_owned(), iss);
        }
        let issue = Issue {
            claims,
            disclosable: Vec::new(),
            decoys: 0,
            cnf: None,
            digest: DigestAlgorithm::Sha256,
            signer: crate::signer::Signer {
                key: selfsame_crypto::KeyHandle::of(signing.public()),
                algorithm: signing.algorithm(),
                kid: kid.map(str::to_owned),
                x5c,
            },
            label: "x".to_owned(),
        };
        let draft = issue.draft(&ctx()).unwrap();
        let signature = signing.sign(draft.signing_input()).unwrap();
        draft.finish(&signature)
    }
}
