//! What a wallet has shown: judged, and filled into the form.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{NOW, declared, proof, read, shown};
use crate::check::check;
use crate::fill::{FormFacts, filled, locked};
use crate::judge::{Unmet, WalletProof, judge};
use crate::query::query;

const APPLICATION: FormFacts = FormFacts {
    began: NOW,
    validity_days: 365,
    identifier: [7; 8],
};

fn unmet(proof: &WalletProof) -> Vec<Unmet> {
    judge(&declared(), proof, NOW).map(drop).unwrap_err()
}

fn claim(need: &str, claim: &str) -> Unmet {
    Unmet::Claim {
        need: need.to_owned(),
        claim: claim.to_owned(),
    }
}

#[test]
fn one_set_that_is_proven_as_a_whole_is_enough() {
    let proof = proof();
    let met = judge(&declared(), &proof, NOW).unwrap();
    let needs: Vec<&str> = met.0.iter().map(|one| one.need.as_str()).collect();
    assert_eq!(needs, ["company", "clearance"]);
    let mut other = proof.clone();
    other.shown[1] = shown("exemption", json!({"entity": "TEST-1"}));
    assert!(judge(&declared(), &other, NOW).is_ok());
    other.shown.remove(0);
    assert_eq!(
        unmet(&other).len(),
        2,
        "the company is missing, and nothing is the same as its number"
    );
}

#[test]
fn a_proof_counts_for_its_time_and_not_before() {
    let proof = proof();
    let at = |now| judge(&declared(), &proof, now).is_ok();
    assert!(at(proof.at) && at(proof.at.plus(3599)));
    assert!(!at(proof.at.plus(3600)) && !at(proof.at.minus(1)));
}

#[test]
fn each_condition_that_does_not_hold_is_named() {
    let change = |need: usize, name: &str, value: Value| {
        let mut proof = proof();
        proof.shown[need].claims[name] = value;
        unmet(&proof)
    };
    assert_eq!(
        change(0, "status", json!("dissolved")),
        [claim("company", "status")]
    );
    assert_eq!(change(0, "seats", json!(0)), [claim("company", "seats")]);
    assert_eq!(change(0, "seats", json!("40")), [claim("company", "seats")]);
    assert_eq!(change(0, "seats", json!(null)), [claim("company", "seats")]);
    assert_eq!(
        change(1, "entity", json!("TEST-2")),
        [claim("clearance", "entity")]
    );
    assert_eq!(
        change(1, "given_on", json!("2025-11-01")),
        [claim("clearance", "given_on")]
    );
    assert_eq!(
        change(1, "given_on", json!("2026-02-01")),
        [claim("clearance", "given_on")]
    );
    assert_eq!(
        change(1, "given_on", json!("soon")),
        [claim("clearance", "given_on")]
    );
}

#[test]
fn a_credential_of_another_issuer_or_type_or_that_ends_too_early_counts_for_nothing() {
    let need = || "company".to_owned();
    let mut proof = proof();
    proof.shown[0].issuer = "did:web:forger.example".to_owned();
    assert_eq!(unmet(&proof), [Unmet::Issuer { need: need() }]);
    proof.shown[0].vct = "urn:club".to_owned();
    assert_eq!(unmet(&proof).len(), 2);
    let mut proof = super::proof();
    proof.shown[1].valid_until = Some(NOW.plus(30 * 24 * 3600));
    let need = "clearance".to_owned();
    assert_eq!(unmet(&proof), [Unmet::Ends { need }]);
    proof.shown[1].valid_until = None;
    assert!(judge(&declared(), &proof, NOW).is_ok());
}

#[test]
fn two_credentials_for_one_need_are_none() {
    let mut proof = proof();
    let second = proof.shown[0].clone();
    proof.shown.push(second);
    let need = "company".to_owned();
    assert!(unmet(&proof).contains(&Unmet::Missing { need }));
}

#[test]
fn the_form_is_filled_from_what_was_proven_and_only_that_can_be_submitted() {
    let proof = proof();
    let met = judge(&declared(), &proof, NOW).unwrap();
    let filled = filled(&declared(), &met, &APPLICATION);
    let told: Vec<String> = filled
        .iter()
        .map(|one| format!("{}={} {}", one.claim.join("."), one.value, one.is_locked))
        .collect();
    assert_eq!(
        told,
        [
            "holder.name=\"Invented Noodles Ltd.\" true",
            "city=\"Surrey\" true",
            "from=\"2026-01-31\" true",
            "until=\"2027-01-31\" false",
            "number=\"0707070707070707\" true",
            "reference=\"L-7\" true",
        ]
    );
    assert_eq!(locked(&filled, &json!({})).unwrap().len(), 5);
    let same = json!({"city": "Surrey", "until": "2026-12-31", "more": 1});
    assert_eq!(locked(&filled, &same).unwrap().len(), 5);
    let other = json!({"holder": {"name": "Somebody Else Ltd."}});
    assert_eq!(locked(&filled, &other).unwrap_err(), ["holder", "name"]);
    for replaced in [
        json!({"city": null}),
        json!({"city": ["Surrey"]}),
        json!({"city": {"a": "Surrey"}}),
    ] {
        assert!(locked(&filled, &replaced).is_err(), "{replaced}");
    }
}

#[test]
fn whole_numbers_are_the_same_only_if_every_digit_is() {
    let file = read(json!({
        "needs": [{"name": "a", "vct_values": ["urn:a"], "conditions": [{"claim": ["n"], "equals": 9_007_199_254_740_993_u64}]}],
    }));
    let with = |number: Value| WalletProof {
        at: NOW,
        shown: vec![shown("a", json!({"n": number}))],
    };
    assert!(judge(&file, &with(json!(9_007_199_254_740_993_u64)), NOW).is_ok());
    assert!(judge(&file, &with(json!(9_007_199_254_740_992_u64)), NOW).is_err());
}

#[test]
fn the_query_asks_for_what_is_judged_or_taken_and_for_nothing_else() {
    let query = query(&declared(), "dc+sd-jwt");
    assert_eq!(
        query["credentials"][0],
        json!({"id": "company", "format": "dc+sd-jwt", "meta": {"vct_values": ["urn:company"]},
               "claims": [{"path": ["name"]}, {"path": ["number"]}, {"path": ["seats"]}, {"path": ["status"]}]})
    );
    assert_eq!(
        query["credential_sets"],
        json!([{"options": [["company", "clearance"], ["company", "exemption"]]}])
    );
    let bare = read(json!({"needs": [{"name": "a", "vct_values": ["urn:a"]}]}));
    let bare = super::judging::query(&bare, "dc+sd-jwt");
    assert!(
        bare.get("credential_sets").is_none() && bare["credentials"][0].get("claims").is_none()
    );
}

#[test]
fn a_claim_that_was_withheld_cannot_be_made_up() {
    let mut file = declared();
    file.fills[0].optional = true;
    let asked = query(&file, "dc+sd-jwt");
    assert_eq!(
        asked["credentials"][0]["claim_sets"],
        json!([["c0", "c1", "c2", "c3"], ["c1", "c2", "c3"]])
    );
    let mut proof = proof();
    proof.shown[0]
        .claims
        .as_object_mut()
        .unwrap()
        .remove("name");
    let met = judge(&file, &proof, NOW).unwrap();
    let filled = filled(&file, &met, &APPLICATION);
    assert_eq!(
        (&filled[0].value, filled[0].is_locked),
        (&Value::Null, true)
    );
    assert!(locked(&filled, &json!({})).is_ok());
    assert!(locked(&filled, &json!({"holder": {"name": "Anything Ltd."}})).is_err());
}

proptest! {
    /// A declaration in which a value is found that meets it is never said to be one that cannot be met.
    #[test]
    fn what_is_met_can_be_met(
        least in -5_i64..5, most in -5_i64..5, values in proptest::collection::vec(-5_i64..5, 0..4),
        first in -3_i64..3, last in -3_i64..3, fixed in -3_i64..3, number in -5_i64..5, day in -6_i64..6,
    ) {
        let today = 20_484_i64;
        let date = |days: i64| String::from(crate::Day::Date(today + days));
        let from_today = |days: i64| String::from(crate::Day::FromToday(days));
        let file = read(json!({"needs": [{"name": "a", "vct_values": ["urn:a"], "conditions": [
            {"claim": ["n"], "at_least": least, "at_most": most, "one_of": values},
            {"claim": ["d"], "not_before": from_today(first), "not_after": from_today(last)},
            {"claim": ["d"], "not_after": date(fixed)},
        ]}]}));
        let proof = WalletProof { at: NOW, shown: vec![shown("a", json!({"n": number, "d": date(day)}))] };
        let is_met = judge(&file, &proof, NOW).is_ok();
        prop_assert!(!is_met || check(&file, &[], Some(today)).is_empty());
    }

    /// Whatever a wallet shows, the claims that come out are those it has proven.
    #[test]
    fn a_locked_claim_never_comes_out_with_another_value(name in "[a-c]{1,2}", given in "[a-c]{1,2}") {
        let mut proof = proof();
        proof.shown[0].claims["name"] = json!(name);
        let met = judge(&declared(), &proof, NOW).unwrap();
        let filled = filled(&declared(), &met, &APPLICATION);
        let form = json!({"holder": {"name": given}});
        prop_assert_eq!(locked(&filled, &form).is_ok(), name == given);
    }
}
