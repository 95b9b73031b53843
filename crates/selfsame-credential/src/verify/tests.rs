//! Verdicts, rule by rule: what is genuine passes, and each way of being wrong fails the rule made for it.

mod issuer_key;
mod sd_jwt;
mod single_use;
mod status;
mod vc_jwt;

use std::slice;

use selfsame_crypto::{KeyType, time::UnixTime};
use serde_json::{Value, json};

use super::*;
use crate::{
    evidence::{Fetched, Unavailable},
    format::{sd_jwt_vc::verify as sd_jwt_vc, w3c::verify as w3c},
    testing::NOW,
    verdict::{Outcome, Rule, Trust},
};

const AUDIENCE: &str = "redirect_uri:https://verifier.example/cb";
const NONCE: &str = "nonce-1";

fn binding() -> Binding {
    Binding {
        audience: AUDIENCE.to_owned(),
        nonce: NONCE.to_owned(),
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
    for laws in [sd_jwt_vc::LAWS, &presentation] {
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
