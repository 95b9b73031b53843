//! Verdicts, rule by rule: what is genuine passes, and each way of being wrong fails the rule made for it.

mod issuer_key;
mod ldp_vc;
mod sd_jwt;
mod single_use;
mod status;
mod vc_jwt;

use std::slice;

use selfsame_crypto::{KeyType, time::UnixTime};
use selfsame_did::Did;
use serde_json::{Value, json};

use super::*;
use crate::{
    evidence::{Fetched, SignatureRequest, Unavailable},
    format::{
        cwt::tests as compact, cwt::verify as cwt, ldp_vc::verify as ldp,
        mso_mdoc::tests as mso_mdoc, sd_jwt_vc::verify as sd_jwt_vc, w3c::verify as w3c,
    },
    testing::{NOW, Party},
    verdict::{Outcome, Rule, Trust},
};

const AUDIENCE: &str = "redirect_uri:https://verifier.example/cb";
const NONCE: &str = "nonce-1";

fn binding() -> Binding {
    Binding {
        audience: AUDIENCE.to_owned(),
        nonce: NONCE.to_owned(),
        session: None,
    }
}

/// Trusts anyone and takes keys from DID documents.
fn policy() -> Policy {
    Policy {
        trusted_issuers: Trust::Any,
        accept_did_issuers: true,
        ..Policy::default()
    }
}

/// What is missing at [`NOW`].
fn needs(
    presented: &Presented<'_>,
    policy: &Policy,
    evidence: &Evidence,
) -> Result<Vec<Need>, Malformed> {
    super::needs(presented, policy, evidence, NOW)
}

/// The verdict, which saved evidence must give too.
#[track_caller]
fn verify(
    presented: &Presented<'_>,
    policy: &Policy,
    evidence: &Evidence,
    now: UnixTime,
) -> (Verdict, Option<Value>) {
    let judged = super::verify(presented, policy, evidence, now);
    let again = super::verify(presented, policy, &saved(evidence), now);
    assert_eq!(again, judged, "the saved evidence");
    judged
}

/// Evidence that was saved as JSON and read again.
#[track_caller]
fn saved(evidence: &Evidence) -> Evidence {
    let text = serde_json::to_string(evidence).unwrap();
    let read: Evidence = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
    read
}

fn fetched<T>(value: T) -> Fetched<T> {
    Fetched {
        value: Ok(value),
        at: NOW,
    }
}

fn unavailable<T>() -> Fetched<T> {
    Fetched {
        value: Err(Unavailable {
            reason: "no answer".to_owned(),
        }),
        at: NOW,
    }
}

fn failed(verdict: &Verdict) -> Vec<&str> {
    let failed = verdict
        .rules
        .iter()
        .filter(|rule| rule.passed == Some(false));
    failed.map(|rule| &*rule.name).collect()
}

fn rule<'a>(verdict: &'a Verdict, name: &str) -> &'a Rule {
    verdict.rules.iter().find(|rule| rule.name == name).unwrap()
}

/// That exactly this rule fails, with this outcome, and that no claims are given out where they may be forged.
#[track_caller]
fn assert_fails((verdict, claims): &(Verdict, Option<Value>), name: &str, outcome: Outcome) {
    assert_eq!(failed(verdict), [name], "{verdict:#?}");
    assert_eq!(verdict.outcome, outcome);
    let genuine = outcome != Outcome::Invalid && rule(verdict, name).name != "issuer_key";
    assert_eq!(claims.is_some(), genuine);
}

#[track_caller]
fn assert_valid((verdict, claims): &(Verdict, Option<Value>)) -> Value {
    assert_eq!(failed(verdict), [""; 0], "{verdict:#?}");
    assert_eq!(verdict.outcome, Outcome::Valid);
    claims.clone().unwrap()
}

#[test]
fn evidence_that_was_saved_answers_every_need_as_before() {
    let issuer = Party::new(KeyType::Ed25519);
    let did = Did::parse("did:web:issuer.example").unwrap();
    let request = SignatureRequest {
        key: issuer.handle(),
        bytes: vec![0, 255, 7],
    };
    let wanted = [
        Need::Did(did.clone()),
        Need::IssuerMetadata("https://issuer.example".to_owned()),
        Need::JwkSet("https://issuer.example/jwks".to_owned()),
        Need::StatusList("https://issuer.example/list".to_owned()),
        Need::Use {
            issuer: did.clone(),
            digest: [7; 32],
        },
        Need::Signature(request.clone()),
    ];
    let mut evidence = Evidence::knowing(Default::default(), NOW.plus(60));
    evidence.insert_did(did.clone(), unavailable());
    evidence.insert_issuer_metadata("https://issuer.example".to_owned(), fetched(vec![1, 2]));
    evidence.insert_jwk_set("https://issuer.example/jwks".to_owned(), fetched(vec![3]));
    evidence.insert_status_list("https://issuer.example/list".to_owned(), unavailable());
    evidence.insert_single_use(did, [7; 32], fetched(None));
    evidence.insert_signature(request.clone(), vec![9, 8]);
    evidence.ask_again(&wanted[1]);
    let read = saved(&evidence);
    assert!(wanted.iter().all(|need| read.answers(need)));
    let metadata = read.issuer_metadata("https://issuer.example").unwrap();
    assert_eq!(
        (metadata.value.as_ref(), metadata.at),
        (Ok(&vec![1, 2]), NOW)
    );
    assert_eq!(read.signature(&request), Some([9, 8].as_slice()));
    assert!(!read.is_to_be_asked_again(&wanted[1], NOW));
    assert!(read.is_to_be_asked_again(&wanted[2], NOW));
}

#[test]
fn a_malformed_saved_status_list_is_refused() {
    let mut evidence = serde_json::to_value(Evidence::default()).unwrap();
    let list = json!({"value": {"Ok": {"uri": "https://issuer.example", "token": "e30.e30.e30"}}, "at": 1});
    evidence["status_lists"] = json!({"https://issuer.example": list});
    assert!(serde_json::from_value::<Evidence>(evidence).is_err());
}

#[test]
fn a_verdict_names_every_rule_with_its_paragraph_judged_or_not() {
    let presented = Presented {
        format: Format::SdJwtVc,
        raw: "rubbish",
        expected: None,
    };
    let (verdict, claims) = verify(&presented, &policy(), &Evidence::default(), NOW);
    assert_eq!((verdict.outcome, claims), (Outcome::Invalid, None));
    assert_eq!(failed(&verdict), ["well_formed"]);
    assert!(needs(&presented, &policy(), &Evidence::default()).is_err());
    let wire = serde_json::to_value(&verdict).unwrap();
    assert_eq!(wire["outcome"], "invalid");
    assert_eq!(wire["rules"][0]["paragraph"], "RFC 9901 §4");
}

#[test]
fn what_comes_together_shares_one_budget_however_often_it_is_looked_at() {
    let heavy = |number: usize| {
        let payload = json!({"vct": "v", "n": number, "x": vec![json!({"a": 0}); 1_000]});
        let jwt = selfsame_crypto::jws::Unsigned::new(&json!({"alg": "ES256"}), &payload);
        (jwt.finish(&[0; 64]), payload)
    };
    for format in Format::ALL {
        let raws: Vec<String> = (0..20)
            .map(|number| match format {
                Format::SdJwtVc => format!("{}~", heavy(number).0),
                Format::JwtVcJson => {
                    let payload = json!({ "vc": heavy(number).1 });
                    selfsame_crypto::jws::Unsigned::new(&json!({"alg": "ES256"}), &payload)
                        .finish(&[0; 64])
                }
                Format::VcJwt | Format::Toy => heavy(number).0,
                Format::LdpVc => ldp_vc::heavy(number),
                Format::MsoMdoc => mso_mdoc::heavy(number),
                Format::Cwt => compact::heavy(u64::try_from(number).unwrap()),
            })
            .collect();
        let evidence = Evidence::default();
        let is_read = |raw: &str, budget: &mut Budget| {
            let presented = Presented {
                format,
                raw,
                expected: None,
            };
            Examination::among(&presented, &evidence, budget).is_ok()
        };
        let read = || -> Vec<bool> {
            let mut budget = Budget::of_all(raws.iter().map(String::as_str));
            let all = raws.iter().map(|raw| is_read(raw, &mut budget));
            all.collect()
        };
        let first = read();
        let readable = first.iter().filter(|is_ok| **is_ok).count();
        assert!((1..raws.len()).contains(&readable), "{readable}");
        assert_eq!(read(), first);
        let alone = |raw: &String| is_read(raw, &mut Budget::of(raw));
        assert!(raws.iter().all(alone));
    }
}

#[test]
fn a_text_that_was_read_is_known_again_as_what_it_was_read_as() {
    let jwt = |payload: &str| {
        let claims = json!({"vc": {"type": ["VerifiableCredential"]}, "sub": payload});
        selfsame_crypto::jws::Unsigned::new(&json!({"alg": "ES256"}), &claims).finish(&[0; 64])
    };
    let (evidence, one, other) = (Evidence::default(), jwt("one"), jwt("other"));
    let presented = |raw| Presented {
        format: Format::JwtVcJson,
        raw,
        expected: None,
    };
    let needs = |raw| super::needs(&presented(raw), &Policy::default(), &evidence, NOW).is_ok();
    let is_known = |presented: &Presented<'_>| {
        evidence
            .reading::<Arc<dyn Subject>>(presented.text())
            .is_some()
    };
    assert!(!is_known(&presented(&one)));
    assert!(needs(&one) && needs(&one) && needs(&other));
    assert_eq!(evidence.readings(), 2);
    assert!(is_known(&presented(&one)));
    let binding = binding();
    let as_presentation = Presented {
        expected: Some(&binding),
        ..presented(&one)
    };
    assert!(!is_known(&as_presentation));
    let as_other_format = Presented {
        format: Format::VcJwt,
        ..presented(&one)
    };
    assert!(!is_known(&as_other_format));
}

#[test]
fn no_rule_stands_twice_in_a_list_of_laws() {
    let presentation = [w3c::CREDENTIAL_LAWS, w3c::HOLDER_LAWS].concat();
    let integrity = [ldp::CREDENTIAL_LAWS, ldp::HOLDER_LAWS].concat();
    for laws in [sd_jwt_vc::LAWS, cwt::LAWS, &presentation, &integrity] {
        let mut names: Vec<_> = laws.iter().map(|law| law.name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}

#[test]
fn reading_arbitrary_text_in_any_format_never_panics() {
    use proptest::prelude::*;
    let binding = binding();
    let config = ProptestConfig::with_cases(256);
    proptest!(config, |(raw in "\\PC*", parts in prop::collection::vec("[A-Za-z0-9_=~.-]{0,20}", 0..5))| {
        for raw in [&raw, &parts.join(".")] {
            for format in Format::ALL {
                for expected in [None, Some(&binding)] {
                    let presented = Presented { format, raw, expected };
                    let (verdict, claims) = verify(&presented, &policy(), &Evidence::default(), NOW);
                    prop_assert_eq!(verdict.outcome, Outcome::Invalid);
                    prop_assert!(claims.is_none());
                }
            }
        }
    });
}
