//! The rules of a verdict in six groups, each with a sentence; a group is folded if nothing in it is wrong.

use selfsame_credential::verdict::Outcome;
use selfsame_openid::view::verifier::{CredentialVerdict, RuleLine};

use super::failed_first;
use crate::text::words;

/// What a rule is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum RuleSubject {
    Form,
    Issuer,
    Holder,
    Time,
    Status,
    Question,
}

use RuleSubject::{Form, Holder, Issuer, Question, Status, Time};

/// A rule, its subject, and what it says in words.
type RuleWords = (&'static str, RuleSubject, &'static str);

const RULES: [RuleWords; 58] = [
    ("well_formed", Form, "It can be read"),
    ("readable", Form, "It can be read"),
    (
        "security_object",
        Form,
        "What its issuer signed can be read",
    ),
    ("digests", Form, "No element was changed"),
    ("type_header", Form, "Its header says what it is"),
    ("digest_algorithm", Form, "Its digests are of a known kind"),
    ("digests_unique", Form, "No digest occurs twice"),
    (
        "disclosures_referenced",
        Form,
        "Its issuer has signed each claim shown",
    ),
    ("disclosures_fit", Form, "Each claim shown is in its place"),
    ("claim_names", Form, "No claim has a reserved name"),
    ("no_collision", Form, "No claim replaces another one"),
    ("vct", Form, "It names its type"),
    ("aka_vcts", Form, "It names its further types"),
    (
        "never_disclosed",
        Form,
        "Nothing is withheld that must be shown",
    ),
    ("context", Form, "It has the context of its data model"),
    ("credential_type", Form, "It says that it is a credential"),
    ("identifier", Form, "Its identifier is an address"),
    (
        "required_members",
        Form,
        "It has an issuer, a subject and a date",
    ),
    ("claims_agree", Form, "What it says twice agrees"),
    (
        "single_use_reference",
        Form,
        "Its mark for one use is readable",
    ),
    ("issuer_claim", Issuer, "It names its issuer"),
    ("algorithm", Issuer, "It is signed in an accepted way"),
    (
        "signer_certificate",
        Issuer,
        "Its signer is one of a trusted authority",
    ),
    (
        "algorithm_accepted",
        Issuer,
        "It is signed in an accepted way",
    ),
    (
        "signed_while_certificate_valid",
        Issuer,
        "It was signed while its signer’s certificate was valid",
    ),
    (
        "issuing_country",
        Issuer,
        "Its country is that of its signer",
    ),
    ("issuer_key", Issuer, "The key is its issuer’s"),
    (
        "keys_as_of",
        Issuer,
        "The issuer’s keys are known recently enough",
    ),
    (
        "certificate_chain",
        Issuer,
        "The issuer’s certificate leads to a trusted one",
    ),
    (
        "proof_purpose",
        Issuer,
        "The issuer’s proof is for this purpose and this time",
    ),
    ("issuer_signature", Issuer, "Its issuer signed it"),
    ("issuer_trusted", Issuer, "This verifier trusts its issuer"),
    (
        "issuer_trusted_for_request",
        Issuer,
        "Its issuer is one of those that the request names",
    ),
    (
        "device_algorithm_accepted",
        Holder,
        "The proof is made in an accepted way",
    ),
    (
        "device_proof",
        Holder,
        "Its holder proves that it is theirs, for this request",
    ),
    (
        "device_authorized",
        Holder,
        "The holder may state what the holder adds",
    ),
    ("doc_type", Question, "It is of one type throughout"),
    (
        "elements_presented",
        Question,
        "What was asked for is there",
    ),
    ("key_binding", Holder, "Its holder proves that it is theirs"),
    (
        "presentation_type",
        Holder,
        "The proof says that it is a presentation",
    ),
    ("holder_type", Holder, "The proof says what it is"),
    (
        "holder_algorithm",
        Holder,
        "The proof is signed in an accepted way",
    ),
    ("holder_key", Holder, "The key is the holder’s"),
    (
        "holder_proof_purpose",
        Holder,
        "The proof shows who the holder is",
    ),
    ("holder_signature", Holder, "The holder signed the proof"),
    ("holder_audience", Holder, "The proof is for this verifier"),
    ("holder_nonce", Holder, "The proof is for this request"),
    ("holder_proof_time", Holder, "The proof was made just now"),
    ("sd_hash", Holder, "The proof is for exactly these claims"),
    ("times_well_formed", Time, "Its times are readable"),
    ("not_before", Time, "It is valid already"),
    ("expiry", Time, "It has not expired"),
    ("status_reference", Status, "It says where its status is"),
    ("status_list", Status, "The status list can be read"),
    (
        "status_list_signature",
        Status,
        "Its issuer signed the status list",
    ),
    (
        "status_list_fresh",
        Status,
        "The status list is recent enough",
    ),
    ("status", Status, "It is neither revoked nor suspended"),
    ("single_use", Status, "It has not been used"),
];
/// The rule about the request, which has no law of a credential.
const QUERY_MATCH: RuleWords = ("query_match", Question, "It is what was asked for");

/// A group of rules.
pub struct RuleGroup<'a> {
    /// Its name.
    pub name: &'static str,
    /// What holds, or what does not.
    pub sentence: &'static str,
    /// Whether its rules hold; `None` if none of them applies.
    pub passed: Option<bool>,
    /// Whether something in it is wrong or could not be checked.
    pub open: bool,
    /// Its rules, failed ones first.
    pub rules: Vec<&'a RuleLine>,
}

/// The groups that a verdict has rules of.
pub fn groups(verdict: &CredentialVerdict) -> Vec<RuleGroup<'_>> {
    let all = [Form, Issuer, Holder, Time, Status, Question];
    let some = all.into_iter().map(|subject| group(verdict, subject));
    some.filter(|group| !group.rules.is_empty()).collect()
}

/// What a rule says, in words.
pub fn rule_words(name: &str) -> String {
    match of(name) {
        Some((_, _, told)) => (*told).to_owned(),
        None => words(name),
    }
}

fn of(name: &str) -> Option<&'static RuleWords> {
    let mut all = RULES.iter().chain([&QUERY_MATCH]);
    all.find(|(known, ..)| *known == name)
}

fn group(verdict: &CredentialVerdict, subject: RuleSubject) -> RuleGroup<'_> {
    let is_here = |rule: &&RuleLine| of(&rule.name).map_or(Form, |one| one.1) == subject;
    let rules = failed_first(&verdict.rules).into_iter().filter(is_here);
    let rules: Vec<&RuleLine> = rules.collect();
    let has = |passed| rules.iter().any(|rule| rule.passed == passed);
    // What is missing for a verdict is told by a rule that was not checked.
    let is_missing = |rule: &&RuleLine| rule.passed.is_none() && !rule.detail.is_empty();
    let lacks = verdict.outcome == Outcome::Unverifiable && rules.iter().any(is_missing);
    let passed = match (has(Some(false)), has(Some(true))) {
        (true, _) => Some(false),
        (false, true) if !lacks => Some(true),
        _ => None,
    };
    RuleGroup {
        name: subject.name(),
        sentence: match (passed, lacks) {
            (Some(true), _) => subject.holds(),
            (Some(false), _) => subject.fails(),
            (None, true) => "Something could not be checked.",
            (None, false) => "Nothing to check.",
        },
        passed,
        open: passed == Some(false) || lacks,
        rules,
    }
}

impl RuleSubject {
    const fn name(self) -> &'static str {
        match self {
            Form => "Form",
            Issuer => "Issuer",
            Holder => "Holder",
            Time => "Time",
            Status => "Status",
            Question => "Question",
        }
    }

    const fn holds(self) -> &'static str {
        match self {
            Form => "It is written as specified.",
            Issuer => "Its issuer signed it, and this verifier trusts the issuer.",
            Holder => "The person who showed it is its holder.",
            Time => "It is valid now.",
            Status => "It is neither revoked, nor suspended, nor used up.",
            Question => "It is what was asked for.",
        }
    }

    const fn fails(self) -> &'static str {
        match self {
            Form => "It is not written as specified.",
            Issuer => "Who issued it is not proven, or not trusted.",
            Holder => "It is not proven that its holder showed it.",
            Time => "It is not valid now.",
            Status => "It is revoked, suspended, used up, or its status is unknown.",
            Question => "It is not what was asked for.",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(name: &'static str, passed: Option<bool>) -> RuleLine {
        RuleLine {
            name: name.into(),
            passed,
            detail: "a detail".to_owned(),
            paragraph: "".into(),
        }
    }

    fn verdict(outcome: Outcome, rules: Vec<RuleLine>) -> CredentialVerdict {
        CredentialVerdict {
            query: String::new(),
            outcome,
            credential: None,
            rules,
            status_as_of: None,
            claims: None,
        }
    }

    #[test]
    fn a_group_is_open_only_if_something_in_it_is_wrong_or_missing() {
        let rules = || {
            vec![
                rule("well_formed", Some(true)),
                rule("aka_vcts", None),
                rule("expiry", Some(false)),
                rule("times_well_formed", Some(true)),
                rule("status_list", None),
                rule("query_match", Some(true)),
            ]
        };
        let told = |verdict: &CredentialVerdict| -> Vec<_> {
            let all = groups(verdict).into_iter();
            all.map(|group| (group.name, group.passed, group.open))
                .collect()
        };
        let expired = told(&verdict(Outcome::Expired, rules()));
        assert_eq!(
            expired,
            [
                ("Form", Some(true), false),
                ("Time", Some(false), true),
                ("Status", None, false),
                ("Question", Some(true), false),
            ]
        );
        let unverifiable = told(&verdict(Outcome::Unverifiable, rules()));
        assert_eq!(unverifiable[2], ("Status", None, true));
        let time = verdict(Outcome::Expired, rules());
        assert_eq!(groups(&time)[1].rules[0].name, "expiry", "failed first");
    }

    /// The names of all laws of a crate.
    fn laws(crate_name: &str) -> Vec<String> {
        let mut folders = vec![format!(
            "{}/../{crate_name}/src",
            env!("CARGO_MANIFEST_DIR")
        )];
        let mut names = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let text = path.to_str().unwrap().to_owned();
                match path.is_dir() {
                    true if !text.ends_with("tests") => folders.push(text),
                    false if text.ends_with(".rs") => {
                        let source = std::fs::read_to_string(&path).unwrap();
                        let laws = source.split("Law::new(").skip(1);
                        names.extend(
                            laws.filter_map(|law| law.split('"').nth(1).map(str::to_owned)),
                        );
                    }
                    _ => {}
                }
            }
        }
        names
    }

    #[test]
    fn each_rule_of_a_credential_has_its_words_and_each_word_its_rule() {
        let laws = [laws("selfsame-credential"), laws("selfsame-mdoc")].concat();
        assert!(laws.len() > 40, "{laws:?}");
        for law in &laws {
            assert!(of(law).is_some(), "{law} has no words");
        }
        for (name, _, told) in RULES {
            assert!(laws.iter().any(|law| law == name), "{name} is no rule");
            assert!(!told.ends_with('.') && told.starts_with(char::is_uppercase));
        }
    }
}
