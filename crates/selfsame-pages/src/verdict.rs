//! A verdict for people: what it means, rule by rule, and what was shown.

mod groups;

use selfsame_core::view::readable;
use selfsame_credential::single_use;
use selfsame_credential::verdict::Outcome;
use selfsame_openid::view::verifier::{
    CredentialVerdict, NamedCredential, PresentationVerdict, RuleLine, SpendingState,
    SpendingStatus,
};
use selfsame_types::model::{ClaimKind, TypeClaim};
use selfsame_types::{CredentialType, TypeSet};
use selfsame_wallet_view::cards::ClaimLine;
use selfsame_wallet_view::table::MemberLabel;
use serde_json::{Map, Value};

use crate::text::words;

pub use groups::{groups, rule_words};

/// Maximum number of broken rules shown for a refused answer.
const BROKEN_MAX: usize = 8;

/// The outcome's name on the wire.
pub fn word(outcome: &Outcome) -> &'static str {
    outcome.as_str()
}

/// Whether a verifier may rely on the credential.
pub fn holds(outcome: &Outcome) -> bool {
    *outcome == Outcome::Valid
}

/// The outcome for people.
pub fn headline(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Valid => "Valid",
        Outcome::Revoked => "Revoked",
        Outcome::Spent => "Spent",
        Outcome::Suspended => "Suspended",
        Outcome::Expired => "Expired",
        Outcome::NotYetValid => "Not yet valid",
        Outcome::NotAuthorised => "You may not use it up",
        Outcome::Untrusted => "Issuer not trusted",
        Outcome::Unverifiable => "Could not be checked",
        Outcome::Invalid => "Invalid",
    }
}

/// What the outcome means.
pub fn explained(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Valid => {
            "Genuine, current, and shown by its holder. Every rule that applies holds."
        }
        Outcome::Revoked => "Genuine, but revoked by its issuer.",
        Outcome::Spent => "Genuine, but single-use and already used.",
        Outcome::Suspended => "Genuine, but suspended by its issuer.",
        Outcome::Expired => "Genuine, but expired.",
        Outcome::NotYetValid => "Genuine, but not yet valid.",
        Outcome::NotAuthorised => {
            "Genuine, but you may not use it up: ask the issuer to authorise you."
        }
        Outcome::Untrusted => "Genuine, but its issuer is not among those this verifier trusts.",
        Outcome::Unverifiable => {
            "A check could not be completed because something was unavailable. Try again."
        }
        Outcome::Invalid => "Forged, altered, or presented incorrectly. Do not rely on it.",
    }
}

/// The result of using up or revoking the credential.
pub fn use_headline(spending: &SpendingStatus) -> &'static str {
    match (spending.state, spending.action.as_str()) {
        (SpendingState::Pending, _) => "The registry has not answered yet",
        (SpendingState::Done, "revoke") => "Revoked on the issuer’s behalf",
        (SpendingState::Done, _) => "Used up",
        (SpendingState::Refused, "revoke") => "Not revoked",
        (SpendingState::Refused, _) => "Not used up",
    }
}

/// What the credential is: the title of its type, or the type itself.
pub fn title(named: &NamedCredential) -> String {
    readable(named.title.as_ref().unwrap_or(&named.kind))
}

/// The rules, failed ones first.
pub fn failed_first(rules: &[RuleLine]) -> Vec<&RuleLine> {
    let (failed, others): (Vec<_>, Vec<_>) =
        rules.iter().partition(|rule| rule.passed == Some(false));
    failed.into_iter().chain(others).collect()
}

/// The rules that the parts of an answer break, each with its detail; at most `BROKEN_MAX`.
pub fn broken(verdict: &PresentationVerdict) -> Vec<String> {
    let rules = verdict.credentials.iter().flat_map(|one| &one.rules);
    let broken = rules.filter(|rule| rule.passed == Some(false));
    let told = broken.map(|rule| format!("{}: {}", words(&rule.name), rule.detail));
    told.take(BROKEN_MAX).collect()
}

/// The CSS class of a rule's line.
pub fn rule_class(passed: &Option<bool>) -> &'static str {
    match passed {
        Some(true) => "holds",
        Some(false) => "fails",
        None => "open",
    }
}

/// The mark of a rule's line.
pub fn rule_mark(passed: &Option<bool>) -> &'static str {
    match passed {
        Some(true) => "✓",
        Some(false) => "✗",
        None => "–",
    }
}

/// The mark as a word, for screen readers.
pub fn rule_word(passed: &Option<bool>) -> &'static str {
    match passed {
        Some(true) => "holds",
        Some(false) => "fails",
        None => "does not apply",
    }
}

/// How many rules hold, fail and do not apply, in words.
pub fn count(rules: &[RuleLine]) -> String {
    let of = |passed| rules.iter().filter(|rule| rule.passed == passed).count();
    let (held, failed, open) = (of(Some(true)), of(Some(false)), of(None));
    let mut words = vec![match held {
        1 => "1 rule holds".to_owned(),
        more => format!("{more} rules hold"),
    }];
    match failed {
        0 => {}
        1 => words.push("1 fails".to_owned()),
        more => words.push(format!("{more} fail")),
    }
    if open > 0 {
        words.push(format!("{open} not needed"));
    }
    words.join(", ")
}

/// The claims of a presentation as lines, without technical members; in the order of our own types and with their labels.
pub fn shown(verdict: &CredentialVerdict, types: &TypeSet) -> Option<Vec<ClaimLine>> {
    const TECHNICAL: [&str; 18] = [
        "docType",
        "iss",
        "iat",
        "nbf",
        "exp",
        "vct",
        "vct#integrity",
        "cnf",
        "status",
        "sub",
        "jti",
        "aud",
        "aka_vcts",
        "_sd",
        "_sd_alg",
        "id",
        single_use::CLAIM,
        single_use::HANDLE,
    ];
    let Some(Value::Object(all)) = &verdict.claims else {
        return None;
    };
    let claims = all.get("vc").and_then(Value::as_object).unwrap_or(all);
    let of_type = type_of(claims, types);
    let known = of_type.map_or(&[][..], |one| &one.claims);
    let subject = claims.get("credentialSubject").and_then(Value::as_object);
    let is_document = subject.is_none() && claims.contains_key("docType");
    let claims = subject.unwrap_or(claims);
    let mut further = Further {
        known,
        lines: Vec::new(),
    };
    if is_document {
        further.document(claims, of_type);
        let lines = further.lines;
        return (!lines.is_empty()).then_some(lines);
    }
    for claim in known {
        if let Some(value) = at(claims, &claim.path) {
            further.lines.push(line_of(claim, value));
        }
    }
    for (name, value) in claims {
        if !TECHNICAL.contains(&name.as_str()) {
            further.collect(&mut vec![name.clone()], value);
        }
    }
    let lines = further.lines;
    (!lines.is_empty()).then_some(lines)
}

/// The line of a claim, with the labels of its values.
fn line_of(claim: &TypeClaim, value: &Value) -> ClaimLine {
    let members = members(claim);
    let line = ClaimLine::of(&claim.name(), value, &members);
    let mut named = value.clone();
    claim.name_values(&mut named);
    match named == *value {
        true => line,
        false => line.in_words(&named, &members),
    }
}

/// The type that a credential is of, if it is one of ours.
fn type_of<'t>(claims: &Map<String, Value>, types: &'t TypeSet) -> Option<&'t CredentialType> {
    let text = |name| claims.get(name).and_then(Value::as_str);
    let found = match (text("vct"), text("docType")) {
        (Some(vct), _) => types.like_vct(vct),
        (None, Some(doctype)) => types.by_doctype(doctype),
        (None, None) => {
            let names = claims.get("type").and_then(Value::as_array)?;
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            types.by_w3c_types(&names)
        }
    };
    found.map(|one| &**one)
}

fn at<'v>(claims: &'v Map<String, Value>, path: &[String]) -> Option<&'v Value> {
    let (last, around) = path.split_last()?;
    let mut object = claims;
    for name in around {
        object = object.get(name)?.as_object()?;
    }
    object.get(last)
}

/// The labels of the members of an object, or of those in a list, in their order.
fn members(claim: &TypeClaim) -> Vec<MemberLabel> {
    let mut labels = Vec::new();
    for inner in &claim.of.as_deref().unwrap_or(claim).claims {
        let own = MemberLabel {
            path: inner.path.clone(),
            label: inner.name(),
        };
        match inner.kind {
            ClaimKind::Object => {
                labels.extend(members(inner).into_iter().map(|member| MemberLabel {
                    path: [own.path.clone(), member.path].concat(),
                    label: format!("{} · {}", own.label, member.label),
                }))
            }
            _ => labels.push(own),
        }
    }
    labels
}

/// Collects the lines for values that the type does not name.
struct Further<'a> {
    known: &'a [TypeClaim],
    lines: Vec<ClaimLine>,
}

impl Further<'_> {
    /// The elements of a mobile document by namespace: those of a known type in its words, others in their own and with
    /// their namespace.
    fn document(&mut self, claims: &Map<String, Value>, of_type: Option<&CredentialType>) {
        let namespaces = || {
            let all = claims.iter();
            all.filter_map(|(name, value)| Some((name, value.as_object()?)))
        };
        let in_it = |namespace: &str, element: &str| {
            let one = of_type?;
            let mut own = one.claims.iter().filter(|claim| claim.path == [element]);
            own.find(|claim| one.namespace_of(claim) == namespace)
        };
        for claim in self.known {
            let namespace = of_type.map_or("", |one| one.namespace_of(claim));
            let elements = claims.get(namespace).and_then(Value::as_object);
            if let Some(value) = elements.and_then(|elements| at(elements, &claim.path)) {
                self.lines.push(line_of(claim, value));
            }
        }
        for (namespace, elements) in namespaces() {
            let others = elements
                .iter()
                .filter(|(element, _)| in_it(namespace, element).is_none());
            for (element, value) in others {
                let label = format!("{} ({namespace})", words(element));
                self.lines.push(ClaimLine::of(&label, value, &[]));
            }
        }
    }

    fn collect(&mut self, path: &mut Vec<String>, value: &Value) {
        if self.known.iter().any(|claim| claim.path == *path) {
            return;
        }
        match value {
            Value::Object(inner) => {
                for (name, value) in inner {
                    path.push(name.clone());
                    self.collect(path, value);
                    path.pop();
                }
            }
            value => {
                let label: Vec<String> = path.iter().map(words).collect();
                let line = ClaimLine::of(&label.join(" · "), value, &[]);
                self.lines.push(line);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn known() -> TypeSet {
        TypeSet::of_samples("urn:selfsame:credential:")
    }

    #[test]
    fn shown_claims_are_flat_and_leave_out_what_is_technical() {
        let verdict = CredentialVerdict {
            query: String::new(),
            outcome: Outcome::Valid,
            credential: None,
            rules: Vec::new(),
            status_as_of: None,
            claims: Some(
                json!({"iss": "x", "cnf": {}, "patient": {"given_name": "Maja"}, "doses": [{"number": 1}], "done": true}),
            ),
        };
        let lines: Vec<_> = shown(&verdict, &known())
            .unwrap()
            .into_iter()
            .map(|line| (line.label, line.value))
            .collect();
        let line = |label: &str, value: &str| (label.to_owned(), value.to_owned());
        assert_eq!(lines.len(), 3);
        for expected in [
            line("patient · given name", "Maja"),
            line("doses", "number: 1"),
            line("done", "yes"),
        ] {
            assert!(lines.contains(&expected), "{lines:?}");
        }
    }

    #[test]
    fn claims_of_a_type_have_its_labels_and_order() {
        for base in [
            "https://clinic.example/credentials/",
            "urn:selfsame:credential:",
        ] {
            assert_labelled(&format!("{base}immunization"));
        }
    }

    #[track_caller]
    fn assert_labelled(vct: &str) {
        let verdict = CredentialVerdict {
            query: String::new(),
            outcome: Outcome::Valid,
            credential: None,
            rules: Vec::new(),
            status_as_of: None,
            claims: Some(json!({
                "vct": vct,
                "doses": [{"lot": "A", "number": 1}, {"date": "2026-01-01", "number": 2}],
                "disease": {"name": "COVID-19"},
                "patient": {"birth_date": "1990-01-01"},
            })),
        };
        let lines = shown(&verdict, &known()).unwrap();
        let labels: Vec<_> = lines.iter().map(|line| line.label.as_str()).collect();
        assert_eq!(labels, ["Date of birth", "Disease", "Doses"]);
        let doses = lines[2].table.as_ref().unwrap();
        assert_eq!(doses.columns, ["Dose", "Date", "Lot"]);
        assert_eq!(doses.rows, [["1", "", "A"], ["2", "2026-01-01", ""]]);
    }

    #[test]
    fn an_enumeration_has_the_label_of_its_value_and_the_value() {
        let file = json!({
            "id": "card", "title": {"en": "Card"}, "claims": [
                {"path": ["level"], "kind": "enumeration", "label": {"en": "Level", "de": "Stufe"},
                 "values": [{"value": "basic", "label": {"de": "Einfach", "en": "Basic membership"}}, {"value": "full"}]},
            ],
        });
        let claim: TypeClaim = serde_json::from_value(file["claims"][0].clone()).unwrap();
        let line = line_of(&claim, &json!("basic"));
        assert_eq!((&*line.label, &*line.value), ("Level", "basic"));
        assert_eq!(line.words.as_deref(), Some("Basic membership"));
        assert_eq!(line_of(&claim, &json!("full")).words, None);
        let list = TypeClaim {
            kind: ClaimKind::List,
            of: Some(Box::new(claim.clone())),
            ..claim
        };
        let many = line_of(&list, &json!(["full", "basic"]));
        assert_eq!(many.words.as_deref(), Some("full, Basic membership"));
    }

    #[test]
    fn rules_are_counted_in_words() {
        let rule = |passed| RuleLine {
            name: "".into(),
            passed,
            detail: String::new(),
            paragraph: "".into(),
        };
        assert_eq!(
            count(&[rule(Some(true)), rule(Some(false)), rule(None)]),
            "1 rule holds, 1 fails, 1 not needed"
        );
        assert_eq!(count(&[rule(Some(true)), rule(Some(true))]), "2 rules hold");
    }
}
