//! What a verification found, in the W3C's words.

use selfsame_credential::verdict::Outcome;
use selfsame_openid::view::verifier::{CredentialVerdict, RuleLine};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::problem::{VcProblem, code};

/// What was found of a credential.
#[derive(Clone, Debug, Default)]
pub struct CredentialCheck {
    /// Whether every rule that applies holds: of proofs, validity, status and trust.
    pub verified: bool,
    /// What is wrong.
    pub problems: Vec<VcProblem>,
    /// What was found of its parts.
    pub findings: CredentialFindings,
    /// The credential, as it was given.
    pub credential: Value,
}

/// What was found of the parts of a credential.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CredentialFindings {
    /// The beginning of its validity, if it states one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<CheckedValue>,
    /// The end of its validity, if it states one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<CheckedValue>,
    /// Its statuses.
    pub credential_status: Vec<CheckedValue>,
    /// Its proofs; none for a JWT.
    pub proof: Vec<CheckedValue>,
}

/// A value of a document, and whether the rules about it hold.
#[derive(Clone, Debug, Serialize)]
pub struct CheckedValue {
    /// Whether they hold.
    pub verified: bool,
    /// The value.
    pub input: Value,
}

/// What was found of a presentation.
#[derive(Clone, Debug, Default)]
pub struct PresentationCheck {
    /// Whether the presentation and every credential in it are verified.
    pub verified: bool,
    /// What is wrong with the presentation itself.
    pub problems: Vec<VcProblem>,
    /// What was found of its parts.
    pub findings: PresentationFindings,
    /// What was found of its credentials.
    pub credentials: Vec<CredentialCheck>,
}

/// What was found of the parts of a presentation.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PresentationFindings {
    /// The challenge that it had to answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub challenge: Option<CheckedValue>,
    /// The domain that it had to be for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<CheckedValue>,
    /// The holder that it names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<CheckedValue>,
    /// Its proofs.
    pub proof: Vec<CheckedValue>,
}

impl CheckedValue {
    pub(crate) fn new(verified: bool, input: impl Into<Value>) -> Self {
        Self {
            verified,
            input: input.into(),
        }
    }
}

impl CredentialCheck {
    /// The check of a credential that can't be judged.
    pub(crate) fn refused(credential: &Value, problem: VcProblem) -> Self {
        Self {
            problems: vec![problem],
            credential: credential.clone(),
            ..Self::default()
        }
    }

    /// The check of a credential that was judged. Its parts are those of `members`.
    pub(crate) fn of(
        credential: &Value,
        members: &Map<String, Value>,
        verdict: &CredentialVerdict,
    ) -> Self {
        let verified = verdict.outcome == Outcome::Valid;
        let problems = match verified {
            true => Vec::new(),
            false => problems(&verdict.rules),
        };
        Self {
            verified,
            problems,
            findings: CredentialFindings::of(members, &verdict.rules),
            credential: credential.clone(),
        }
    }

    /// Adds a problem.
    pub(crate) fn with(mut self, problem: VcProblem) -> Self {
        self.verified = false;
        self.problems.push(problem);
        self
    }
}

impl CredentialFindings {
    fn of(members: &Map<String, Value>, rules: &[RuleLine]) -> Self {
        let holds = |name: &str| passed(rules, name) == Some(true);
        let date = |names: [&str; 2], rule: &str| {
            let value = names.iter().find_map(|name| members.get(*name))?;
            Some(CheckedValue::new(holds(rule), value.clone()))
        };
        let each = |name: &str, verified: bool| {
            let values = match members.get(name) {
                None => &[],
                Some(Value::Array(several)) => several.as_slice(),
                Some(one) => std::slice::from_ref(one),
            };
            let values = values.iter().cloned();
            values.map(|one| CheckedValue::new(verified, one)).collect()
        };
        Self {
            valid_from: date(["validFrom", "issuanceDate"], "not_before"),
            valid_until: date(["validUntil", "expirationDate"], "expiry"),
            credential_status: each("credentialStatus", holds("status")),
            proof: each("proof", holds("issuer_key") && holds("issuer_signature")),
        }
    }
}

fn passed(rules: &[RuleLine], name: &str) -> Option<bool> {
    rules.iter().find(|rule| rule.name == name)?.passed
}

/// The rules that do not hold. Without one, those that were not judged.
pub(crate) fn problems(rules: &[RuleLine]) -> Vec<VcProblem> {
    let told = |rule: &RuleLine| {
        let detail = format!("{} ({}): {}", rule.name, rule.paragraph, rule.detail);
        VcProblem::new(kind_of(&rule.name), detail)
    };
    let broken = rules.iter().filter(|rule| rule.passed == Some(false));
    let broken: Vec<VcProblem> = broken.map(told).collect();
    if !broken.is_empty() {
        return broken;
    }
    let open = rules.iter().filter(|rule| rule.passed.is_none());
    open.map(told).collect()
}

/// The type of the problem if a rule does not hold.
fn kind_of(rule: &str) -> &'static str {
    match rule {
        "well_formed" | "readable" => code::PARSING,
        "context" | "type" | "credential_type" | "presentation_type" | "required_members"
        | "times" | "times_well_formed" | "status_reference" => code::MALFORMED,
        "not_before" | "expiry" => code::RANGE,
        "status_list" | "status_list_fresh" | "keys_as_of" => code::STATUS_RETRIEVAL,
        "status" | "status_list_signature" | "single_use" | "single_use_reference" => {
            code::STATUS_VERIFICATION
        }
        "issuer_trusted" | "issuer_trusted_for_request" => code::UNTRUSTED,
        "proof" | "proof_asked" => code::PROOF_VERIFICATION,
        _ => code::CRYPTOGRAPHY,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rule(name: &'static str, passed: Option<bool>) -> RuleLine {
        RuleLine {
            name: name.into(),
            passed,
            detail: "a detail".to_owned(),
            paragraph: "VCDM 2.0 §4".into(),
        }
    }

    #[test]
    fn each_broken_rule_is_a_problem_with_its_code() {
        let rules = [
            rule("well_formed", Some(true)),
            rule("issuer_signature", Some(false)),
            rule("expiry", Some(false)),
            rule("status", None),
        ];
        let titles: Vec<_> = problems(&rules).iter().map(VcProblem::title).collect();
        assert_eq!(titles, ["CRYPTOGRAPHIC_SECURITY_ERROR", "RANGE_ERROR"]);
        let open = problems(&[rule("well_formed", Some(true)), rule("status_list", None)]);
        assert_eq!(open[0].title(), "STATUS_RETRIEVAL_ERROR");
    }

    #[test]
    fn the_parts_of_a_credential_say_whether_their_rules_hold() {
        let members = json!({
            "validFrom": "2026-01-01T00:00:00Z",
            "credentialStatus": [{"id": "a"}, {"id": "b"}],
            "proof": {"type": "DataIntegrityProof"},
        });
        let rules = [
            rule("not_before", Some(true)),
            rule("issuer_key", Some(true)),
            rule("issuer_signature", Some(true)),
            rule("status", Some(false)),
        ];
        let found = CredentialFindings::of(members.as_object().unwrap(), &rules);
        let found = serde_json::to_value(found).unwrap();
        let expected = json!({
            "validFrom": {"verified": true, "input": "2026-01-01T00:00:00Z"},
            "credentialStatus": [
                {"verified": false, "input": {"id": "a"}},
                {"verified": false, "input": {"id": "b"}},
            ],
            "proof": [{"verified": true, "input": {"type": "DataIntegrityProof"}}],
        });
        assert_eq!(found, expected);
    }
}
