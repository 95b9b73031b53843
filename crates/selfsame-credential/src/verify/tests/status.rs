//! How a credential stands: lists of both kinds, good and bad, fresh and old.

use std::sync::Arc;

use selfsame_crypto::{
    PrivateKey,
    encoding::{base64_encode, base64url_decode},
    jws,
};

use super::{sd_jwt::Authority, *};
use crate::{
    format::{sd_jwt_vc::Issue, w3c},
    sd_jwt::DigestAlgorithm,
    status::{Bits, List, Purpose, Reference, Terms, Width, bitstring, token_list},
    testing::{Party, ctx, object},
};

const URI: &str = "https://issuer.example/status/1";

struct Scene {
    issuer: Party,
    credential: String,
    format: Format,
}

/// An SD-JWT VC at index 5 of a Token Status List.
fn token() -> Scene {
    let issuer = Party::new(KeyType::Ed25519);
    let issue = Issue {
        claims: object(json!({
            "iss": issuer.did, "vct": "v", "status": Reference::token(URI, 5).to_value(),
        })),
        disclosable: Vec::new(),
        decoys: 0,
        cnf: None,
        digest: DigestAlgorithm::Sha256,
        signer: issuer.signer(),
        label: "s".to_owned(),
    };
    let draft = issue.draft(&ctx()).unwrap();
    let signature = issuer.key.sign(draft.signing_input()).unwrap();
    Scene {
        credential: draft.finish(&signature),
        issuer,
        format: Format::SdJwtVc,
    }
}

/// A VCDM 2.0 credential at index 5 of two Bitstring Status Lists.
fn bitstring() -> Scene {
    let issuer = Party::new(KeyType::P256);
    let entries = [Purpose::Revocation, Purpose::Suspension]
        .map(|purpose| Reference::bitstring(format!("{URI}/{purpose}"), 5, purpose).to_value());
    let issue = w3c::Issue {
        format: Format::VcJwt,
        issuer: issuer.did.clone(),
        subject: None,
        types: Vec::new(),
        contexts: Vec::new(),
        claims: object(json!({"name": "Ada"})),
        id: None,
        valid_from: NOW,
        valid_until: None,
        status: Some(json!(entries)),
        token_status: None,
        cnf: None,
        further: Default::default(),
        signer: issuer.signer(),
    };
    let credential = issuer.sign(issue.draft().unwrap());
    Scene {
        issuer,
        credential,
        format: Format::VcJwt,
    }
}

struct Made<'a> {
    by: &'a Party,
    kid: String,
    issuer: &'a str,
    expires_at: Option<UnixTime>,
    ttl: Option<u64>,
}

impl<'a> Made<'a> {
    fn by(party: &'a Party) -> Self {
        Self {
            by: party,
            kid: party.kid(),
            issuer: &party.did,
            expires_at: None,
            ttl: None,
        }
    }

    fn list(&self, uri: &str, purpose: Option<Purpose>, status: u8) -> Arc<List> {
        let header = json!({"alg": self.by.algorithm().as_str(), "kid": self.kid});
        let header = object(header);
        let terms = Terms {
            uri,
            issuer: self.issuer,
            header: &header,
            issued_at: NOW,
            expires_at: self.expires_at,
            ttl: self.ttl,
        };
        let unsigned = match purpose {
            None => {
                let mut bits = Bits::new(Width::Four, 16).unwrap();
                bits.set(5, status).unwrap();
                token_list::encode(&bits, &terms)
            }
            Some(purpose) => {
                let mut bits = Bits::new(Width::One, 131_072).unwrap();
                bits.set(5, status).unwrap();
                bitstring::encode(&bits, purpose, &terms)
            }
        };
        let unsigned = unsigned.unwrap();
        let signature = self.by.key.sign(unsigned.signing_input()).unwrap();
        let text = unsigned.finish(&signature);
        Arc::new(List::parse(uri, None, text.as_bytes(), NOW).unwrap())
    }
}

impl Scene {
    fn presented(&self) -> Presented<'_> {
        Presented {
            format: self.format,
            raw: &self.credential,
            expected: None,
        }
    }

    fn judge(&self, list: Arc<List>, policy: &Policy, now: UnixTime) -> (Verdict, Option<Value>) {
        let mut evidence = Evidence::default();
        evidence.insert_status_list(URI.to_owned(), fetched(list));
        assert_eq!(needs(&self.presented(), policy, &evidence), Ok(vec![]));
        verify(&self.presented(), policy, &evidence, now)
    }
}

#[test]
fn a_token_status_list_says_valid_revoked_suspended_or_what_is_not_known() {
    let scene = token();
    let judged = |status| {
        let list = Made::by(&scene.issuer).list(URI, None, status);
        scene.judge(list, &policy(), NOW)
    };
    let valid = judged(0);
    assert_valid(&valid);
    assert_eq!(valid.0.as_of, Some(NOW.0));
    assert_fails(&judged(1), "status", Outcome::Revoked);
    assert_fails(&judged(2), "status", Outcome::Suspended);
    assert_fails(&judged(3), "status", Outcome::Unverifiable);
}

#[test]
fn bitstring_status_lists_say_so_for_each_purpose() {
    let scene = bitstring();
    let uri = |purpose: Purpose| format!("{URI}/{purpose}");
    let wanted = [Purpose::Revocation, Purpose::Suspension].map(|it| Need::StatusList(uri(it)));
    let none = Evidence::default();
    assert_eq!(
        needs(&scene.presented(), &policy(), &none).as_deref(),
        Ok(wanted.as_slice())
    );
    let judged = |revoked: u8, suspended: u8| {
        let mut evidence = Evidence::default();
        for (purpose, status) in [
            (Purpose::Revocation, revoked),
            (Purpose::Suspension, suspended),
        ] {
            let list = Made::by(&scene.issuer).list(&uri(purpose), Some(purpose), status);
            evidence.insert_status_list(uri(purpose), fetched(list));
        }
        verify(&scene.presented(), &policy(), &evidence, NOW)
    };
    assert_valid(&judged(0, 0));
    assert_fails(&judged(1, 0), "status", Outcome::Revoked);
    assert_fails(&judged(0, 1), "status", Outcome::Suspended);
    // A list for another purpose than the entry's says nothing.
    let list =
        Made::by(&scene.issuer).list(&uri(Purpose::Revocation), Some(Purpose::Suspension), 0);
    let mut evidence = Evidence::default();
    evidence.insert_status_list(uri(Purpose::Revocation), fetched(list));
    let (verdict, _) = verify(&scene.presented(), &policy(), &evidence, NOW);
    assert_eq!(verdict.outcome, Outcome::Unverifiable);
}

fn on_lists(verdict: &Verdict) -> Vec<&Rule> {
    let rules = verdict.rules.iter();
    rules
        .filter(|rule| rule.name.starts_with("status"))
        .collect()
}

#[test]
fn each_list_is_named_by_its_own_paragraph_and_purpose_and_has_its_age() {
    let later = NOW.plus(30);
    let scene = token();
    let (verdict, _) = scene.judge(Made::by(&scene.issuer).list(URI, None, 0), &policy(), later);
    let rules = on_lists(&verdict);
    assert_eq!(rules.len(), 5);
    for Rule {
        name, paragraph, ..
    } in &rules
    {
        assert!(paragraph.starts_with("Token Status List §"), "{name}");
        assert!(!paragraph.contains("Bitstring"), "{name}: {paragraph}");
    }
    assert_eq!(rules[3].detail, "30 s old, signed 30 s ago");

    let scene = bitstring();
    let mut evidence = Evidence::default();
    for purpose in [Purpose::Revocation, Purpose::Suspension] {
        let uri = format!("{URI}/{purpose}");
        let list = Made::by(&scene.issuer).list(&uri, Some(purpose), 0);
        evidence.insert_status_list(uri, fetched(list));
    }
    let (verdict, _) = verify(&scene.presented(), &policy(), &evidence, later);
    let rules = on_lists(&verdict);
    assert_eq!(rules.len(), 9, "one on the entries, four on each list");
    for Rule {
        name, paragraph, ..
    } in &rules
    {
        assert!(paragraph.starts_with("Bitstring Status List §"), "{name}");
    }
    let details: Vec<&str> = rules[1..].iter().map(|rule| rule.detail.as_str()).collect();
    let of_one = |purpose: &str| {
        let [age, bit] =
            ["30 s old, signed 30 s ago", "not set"].map(|what| format!("{purpose}: {what}"));
        [purpose.to_owned(), purpose.to_owned(), age, bit]
    };
    assert_eq!(
        details,
        [of_one("revocation"), of_one("suspension")].concat()
    );
}

#[test]
fn a_list_that_is_missing_or_cannot_be_fetched_leaves_the_verdict_open() {
    let scene = token();
    let mut evidence = Evidence::default();
    let need = Need::StatusList(URI.to_owned());
    let listed = needs(&scene.presented(), &policy(), &evidence);
    assert_eq!(listed.as_deref(), Ok(slice::from_ref(&need)));
    let judged = verify(&scene.presented(), &policy(), &evidence, NOW);
    assert_fails(&judged, "status_list", Outcome::Unverifiable);
    evidence.insert_status_list(URI.to_owned(), unavailable());
    let judged = verify(&scene.presented(), &policy(), &evidence, NOW);
    assert_fails(&judged, "status_list", Outcome::Unverifiable);
}

#[test]
fn a_list_signed_by_anybody_else_is_no_evidence() {
    let scene = token();
    let stranger = Party::new(KeyType::Ed25519);
    let own_name = Made::by(&stranger).list(URI, None, 0);
    let judged = scene.judge(own_name.clone(), &policy(), NOW);
    assert_fails(&judged, "status_list_signature", Outcome::Unverifiable);
    let posing = Made {
        issuer: &scene.issuer.did,
        ..Made::by(&stranger)
    }
    .list(URI, None, 0);
    let judged = scene.judge(posing, &policy(), NOW);
    assert_fails(&judged, "status_list_signature", Outcome::Unverifiable);
    let forged = Made {
        issuer: &scene.issuer.did,
        kid: scene.issuer.kid(),
        ..Made::by(&stranger)
    }
    .list(URI, None, 0);
    let judged = scene.judge(forged, &policy(), NOW);
    assert_fails(&judged, "status_list_signature", Outcome::Unverifiable);
    // One who is trusted by name may keep the list for the issuer.
    let both = Trust::Listed(vec![scene.issuer.did.clone(), stranger.did.clone()]);
    let trusting = Policy {
        trusted_issuers: both,
        ..policy()
    };
    assert_valid(&scene.judge(own_name, &trusting, NOW));
}

#[test]
fn an_old_list_is_no_evidence() {
    let scene = token();
    let made = Made::by(&scene.issuer);
    let plain = made.list(URI, None, 0);
    let strict = Policy {
        max_status_age: Some(60),
        ..policy()
    };
    assert_valid(&scene.judge(plain.clone(), &strict, NOW.plus(60)));
    let judged = scene.judge(plain, &strict, NOW.plus(61));
    assert_fails(&judged, "status_list_fresh", Outcome::Unverifiable);
    assert_eq!(judged.0.as_of, Some(NOW.0));
    let expiring = Made {
        expires_at: Some(NOW.plus(10)),
        ..Made::by(&scene.issuer)
    };
    let judged = scene.judge(expiring.list(URI, None, 0), &policy(), NOW.plus(10));
    assert_fails(&judged, "status_list_fresh", Outcome::Unverifiable);
    let fleeting = Made {
        ttl: Some(10),
        ..Made::by(&scene.issuer)
    };
    let judged = scene.judge(fleeting.list(URI, None, 0), &policy(), NOW.plus(11));
    assert_fails(&judged, "status_list_fresh", Outcome::Unverifiable);
}

#[test]
fn a_list_that_was_signed_too_long_ago_is_no_evidence_however_lately_it_was_fetched() {
    let scene = token();
    let later = NOW.plus(86_400);
    let judge = |max_status_signed_age| {
        let list = Made::by(&scene.issuer).list(URI, None, 0);
        let mut evidence = Evidence::default();
        let fetched_now = Fetched {
            value: Ok(list),
            at: later,
        };
        evidence.insert_status_list(URI.to_owned(), fetched_now);
        let strict = Policy {
            max_status_age: Some(1),
            max_status_signed_age,
            ..policy()
        };
        verify(&scene.presented(), &strict, &evidence, later)
    };
    // The formats set no maximum age: an unchanged list need not be signed again.
    let unlimited = judge(None);
    assert_valid(&unlimited);
    let fresh = |verdict: &Verdict| on_lists(verdict)[3].detail.clone();
    assert_eq!(fresh(&unlimited.0), "0 s old, signed 86400 s ago");
    assert_valid(&judge(Some(86_400)));
    let judged = judge(Some(86_399));
    assert_fails(&judged, "status_list_fresh", Outcome::Unverifiable);
    assert_eq!(
        fresh(&judged.0),
        "the list was signed longer ago than the policy allows: 0 s old, signed 86400 s ago"
    );
}

#[test]
fn a_list_that_hides_when_it_was_signed_is_no_evidence_where_the_policy_asks() {
    let scene = bitstring();
    let uri = format!("{URI}/revocation");
    let told = Made::by(&scene.issuer).list(&uri, Some(Purpose::Revocation), 0);
    let text = told.to_text();
    let payload = base64url_decode(text.split('.').nth(1).unwrap()).unwrap();
    let mut claims: Value = serde_json::from_slice(&payload).unwrap();
    claims.as_object_mut().unwrap().remove("validFrom");
    let header = json!({
        "alg": scene.issuer.algorithm().as_str(), "kid": scene.issuer.kid(), "typ": "vc+jwt",
    });
    let silent = scene.issuer.token(&header, &claims);
    let silent = Arc::new(List::parse(&uri, None, silent.as_bytes(), NOW).unwrap());
    let judge = |list: &Arc<List>, max_status_signed_age| {
        let mut evidence = Evidence::default();
        evidence.insert_status_list(uri.clone(), fetched(list.clone()));
        let other = format!("{URI}/suspension");
        let suspension = Made::by(&scene.issuer).list(&other, Some(Purpose::Suspension), 0);
        evidence.insert_status_list(other, fetched(suspension));
        let policy = Policy {
            max_status_signed_age,
            ..policy()
        };
        verify(&scene.presented(), &policy, &evidence, NOW)
    };
    assert_valid(&judge(&told, Some(60)));
    assert_valid(&judge(&silent, None));
    let judged = judge(&silent, Some(60));
    assert_fails(&judged, "status_list_fresh", Outcome::Unverifiable);
}

#[test]
fn an_old_list_that_says_revoked_still_means_revoked() {
    let scene = token();
    let list = Made::by(&scene.issuer).list(URI, None, 1);
    let strict = Policy {
        max_status_age: Some(60),
        ..policy()
    };
    let (verdict, _) = scene.judge(list, &strict, NOW.plus(61));
    assert_eq!(verdict.outcome, Outcome::Revoked);
}

#[test]
fn a_policy_may_ask_for_a_status() {
    let issuer = Party::new(KeyType::Ed25519);
    let header = json!({"alg": "EdDSA", "typ": "dc+sd-jwt"});
    let raw = issuer.token(&header, &json!({"iss": issuer.did, "vct": "v"})) + "~";
    let presented = Presented {
        format: Format::SdJwtVc,
        raw: &raw,
        expected: None,
    };
    let strict = Policy {
        require_status: true,
        ..policy()
    };
    let judged = verify(&presented, &strict, &Evidence::default(), NOW);
    assert_fails(&judged, "status_reference", Outcome::Unverifiable);
    assert_valid(&verify(&presented, &policy(), &Evidence::default(), NOW));
    let broken = json!({"iss": issuer.did, "vct": "v", "status": {"status_list": {"idx": -1}}});
    let raw = issuer.token(&header, &broken) + "~";
    let presented = Presented {
        format: Format::SdJwtVc,
        raw: &raw,
        expected: None,
    };
    let judged = verify(&presented, &policy(), &Evidence::default(), NOW);
    assert_fails(&judged, "status_reference", Outcome::Invalid);
}

#[test]
fn an_entry_of_another_purpose_is_told_as_saying_nothing_of_revocation() {
    let mut entry = Reference::bitstring(URI, 7, Purpose::Revocation).to_value();
    entry["statusPurpose"] = json!("message");
    let issuer = Party::new(KeyType::Ed25519);
    let raw = w3c(&issuer, Format::VcJwt, Some(entry));
    let presented = Presented {
        format: Format::VcJwt,
        raw: &raw,
        expected: None,
    };
    let judged = verify(&presented, &policy(), &Evidence::default(), NOW);
    assert_valid(&judged);
    let told = rule(&judged.0, "status_reference");
    assert_eq!(told.passed, None);
    assert!(
        told.detail.contains("no status entry for revocation"),
        "{}",
        told.detail
    );
}

#[test]
fn what_is_worse_decides_when_several_rules_fail() {
    let scene = token();
    let revoked = Made::by(&scene.issuer).list(URI, None, 1);
    let nobody = Policy {
        trusted_issuers: Trust::default(),
        ..policy()
    };
    let (verdict, _) = scene.judge(revoked, &nobody, NOW);
    assert_eq!(failed(&verdict), ["issuer_trusted", "status"]);
    assert_eq!(verdict.outcome, Outcome::Untrusted);
}

/// A W3C credential with this `credentialStatus`.
fn w3c(issuer: &Party, format: Format, status: Option<Value>) -> String {
    let issue = w3c::Issue {
        format,
        issuer: issuer.did.clone(),
        subject: None,
        types: Vec::new(),
        contexts: Vec::new(),
        claims: object(json!({"name": "Ada"})),
        id: None,
        valid_from: NOW,
        valid_until: None,
        status,
        token_status: None,
        cnf: None,
        further: Default::default(),
        signer: issuer.signer(),
    };
    issuer.sign(issue.draft().unwrap())
}

/// A W3C credential at index 5 of a Token Status List, by the claim `status` of its JWT.
fn token_of_w3c(format: Format) -> Scene {
    let issuer = Party::new(KeyType::Ed25519);
    let plain = w3c(&issuer, format, None);
    let jwt = jws::Compact::parse(&plain).unwrap();
    let header = json!({"alg": "EdDSA", "typ": jwt.header.typ, "kid": issuer.kid()});
    let mut payload = jwt.claims().unwrap();
    payload["status"] = Reference::token(URI, 5).to_value();
    Scene {
        credential: issuer.token(&header, &payload),
        issuer,
        format,
    }
}

#[test]
fn what_a_wallet_has_read_is_judged_as_its_text_is() {
    let w3c = [Format::JwtVcJson, Format::VcJwt].map(token_of_w3c);
    for scene in w3c.into_iter().chain([token(), bitstring()]) {
        let held = Held::parse(&scene.credential, scene.format).unwrap();
        let mut evidence = Evidence::default();
        for status in [None, Some(0), Some(1)] {
            if let Some(status) = status {
                let list = Made::by(&scene.issuer).list(URI, None, status);
                evidence.insert_status_list(URI.to_owned(), fetched(list));
            }
            let examination = Examination::of(&held);
            assert_eq!(
                Ok(examination.needs(&policy(), &evidence, NOW)),
                needs(&scene.presented(), &policy(), &evidence)
            );
            let (verdict, claims) = examination.verify(&policy(), &evidence, NOW);
            let of_text = verify(&scene.presented(), &policy(), &evidence, NOW);
            assert_eq!((verdict, claims.cloned()), of_text);
        }
    }
}

#[test]
fn a_token_status_list_counts_for_w3c_credentials_too() {
    for format in [Format::JwtVcJson, Format::VcJwt] {
        let scene = token_of_w3c(format);
        let need = Need::StatusList(URI.to_owned());
        assert_eq!(
            needs(&scene.presented(), &policy(), &Evidence::default()).as_deref(),
            Ok(slice::from_ref(&need))
        );
        let list = |status| Made::by(&scene.issuer).list(URI, None, status);
        assert_valid(&scene.judge(list(0), &policy(), NOW));
        let judged = scene.judge(list(1), &policy(), NOW);
        assert_fails(&judged, "status", Outcome::Revoked);
        let held = Held::parse(&scene.credential, format).unwrap();
        assert_eq!(held.statuses(), [Reference::token(URI, 5)]);
    }
}

#[test]
fn no_list_is_asked_for_before_its_credential_is_genuine_and_its_issuer_trusted() {
    let scene = token();
    let (signed, _) = scene.credential.rsplit_once('.').unwrap();
    let forged = Scene {
        credential: format!("{signed}.{}~", "A".repeat(86)),
        ..token()
    };
    let none = Evidence::default();
    assert_eq!(needs(&forged.presented(), &policy(), &none), Ok(vec![]));
    let nobody = Policy {
        trusted_issuers: Trust::default(),
        ..policy()
    };
    assert_eq!(needs(&scene.presented(), &nobody, &none), Ok(vec![]));
    let listed = Policy {
        trusted_issuers: Trust::Listed(vec![scene.issuer.did.clone()]),
        ..policy()
    };
    let asked = needs(&scene.presented(), &listed, &none).unwrap();
    assert_eq!(asked, [Need::StatusList(URI.to_owned())]);
}

#[test]
fn a_list_signed_with_an_algorithm_the_policy_leaves_out_is_no_evidence() {
    let scene = token();
    let keeper = Party::new(KeyType::P256);
    let list = Made::by(&keeper).list(URI, None, 0);
    let both = Policy {
        trusted_issuers: Trust::Listed(vec![scene.issuer.did.clone(), keeper.did.clone()]),
        ..policy()
    };
    assert_valid(&scene.judge(list.clone(), &both, NOW));
    let eddsa = Policy {
        algorithms: Some(vec![selfsame_crypto::Algorithm::EdDsa]),
        ..both
    };
    let judged = scene.judge(list, &eddsa, NOW);
    assert_fails(&judged, "status_list_signature", Outcome::Unverifiable);
}

/// A token with a certificate in its header, by the certified key.
fn certified(
    by: &(PrivateKey, Vec<u8>),
    typ: &str,
    mut claims: Value,
    iss: Option<&str>,
) -> String {
    let (key, leaf) = by;
    let chain = [base64_encode(leaf)];
    let header = json!({"alg": key.algorithm().as_str(), "typ": typ, "x5c": chain});
    if let Some(iss) = iss {
        claims["iss"] = json!(iss);
    }
    let token = jws::Unsigned::new(&header, &claims);
    let signature = key.sign(token.signing_input()).unwrap();
    token.finish(&signature)
}

#[test]
fn a_list_by_certificate_is_the_issuers_own_and_leads_to_an_anchor() {
    let [authority, stranger] = [(); 2].map(|()| Authority::new());
    let (own, other, foreign) = (authority.certify(), authority.certify(), stranger.certify());
    let policy = Policy {
        trust_anchors: vec![authority.der.clone()],
        ..policy()
    };
    let bits = Bits::new(Width::One, 8).unwrap();
    let lst = token_list::encode(
        &bits,
        &Terms {
            uri: URI,
            issuer: "",
            header: &Default::default(),
            issued_at: NOW,
            expires_at: None,
            ttl: None,
        },
    );
    let draft = lst.unwrap().finish(b"");
    let payload = draft.split('.').nth(1).unwrap();
    let payload = base64url_decode(payload).unwrap();
    let mut list: Value = serde_json::from_slice(&payload).unwrap();
    list.as_object_mut().unwrap().remove("iss");
    let judged = |iss: Option<&str>, by: &(PrivateKey, Vec<u8>)| {
        let claims = json!({"vct": "v", "status": Reference::token(URI, 5).to_value()});
        let raw = certified(&own, "dc+sd-jwt", claims, iss) + "~";
        let text = certified(by, "statuslist+jwt", list.clone(), iss);
        let list = List::parse(URI, None, text.as_bytes(), NOW).unwrap();
        let mut evidence = Evidence::default();
        evidence.insert_status_list(URI.to_owned(), fetched(Arc::new(list)));
        let presented = Presented {
            format: Format::SdJwtVc,
            raw: &raw,
            expected: None,
        };
        verify(&presented, &policy, &evidence, NOW)
    };
    let name = Some("https://issuer.example");
    assert_valid(&judged(None, &own));
    assert_valid(&judged(name, &own));
    // The authority vouches for the name, whichever certificate bears it.
    assert_valid(&judged(name, &other));
    for (iss, by) in [(None, &other), (None, &foreign), (name, &foreign)] {
        let judged = judged(iss, by);
        assert_fails(&judged, "status_list_signature", Outcome::Unverifiable);
    }
}

#[test]
fn a_self_made_certificate_in_a_trusted_issuers_name_causes_no_fetch() {
    let [authority, forger] = [(); 2].map(|()| Authority::new());
    let policy = Policy {
        trust_anchors: vec![authority.der.clone()],
        trusted_issuers: Trust::Listed(vec!["https://issuer.example".to_owned()]),
        ..policy()
    };
    let judged = |by: &Authority| {
        let claims = json!({"vct": "v", "status": Reference::token(URI, 5).to_value()});
        let iss = Some("https://issuer.example");
        let raw = certified(&by.certify(), "dc+sd-jwt", claims, iss) + "~";
        let presented = Presented {
            format: Format::SdJwtVc,
            raw: &raw,
            expected: None,
        };
        let none = Evidence::default();
        let needs = needs(&presented, &policy, &none).unwrap();
        (needs, verify(&presented, &policy, &none, NOW))
    };
    assert_eq!(judged(&authority).0, [Need::StatusList(URI.to_owned())]);
    let (needs, forged) = judged(&forger);
    assert_eq!(needs, []);
    assert_fails(&forged, "certificate_chain", Outcome::Untrusted);
}
