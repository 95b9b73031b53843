//! Questions, what they disclose, and who answers them.

use proptest::prelude::*;

use super::*;
use crate::format::{CredentialDefinitionId, IssuerId, Message, SchemaId};
use crate::verdict::{Answered, Outcome};

const TODAY: &str = "2026-11-21T12:00:00Z";

fn today() -> UnixTime {
    UnixTime::parse_rfc3339(TODAY).unwrap()
}

fn nonce() -> Nonce {
    Nonce::new("7").unwrap()
}

/// Whether all comparisons hold for these attributes.
fn yes(question: &Question, attributes: &[(&str, i32)]) -> bool {
    question.parts.iter().all(|part| {
        let (_, value) = attributes
            .iter()
            .find(|(name, _)| *name == part.attribute)
            .unwrap();
        part.comparison.holds((*value).into(), part.bound.into())
    })
}

#[test]
fn an_adult_was_born_eighteen_years_ago_or_earlier() {
    let question = Question::at_least_years(18, "birth_dateint", today()).unwrap();
    for (born, adult) in [(20081120, true), (20081121, true), (20081122, false)] {
        assert_eq!(yes(&question, &[("birth_dateint", born)]), adult, "{born}");
    }
    let minor = Question::younger_than_years(18, "birth_dateint", today()).unwrap();
    for (born, young) in [(20081121, false), (20081122, true)] {
        assert_eq!(yes(&minor, &[("birth_dateint", born)]), young, "{born}");
    }
    assert!(question.discloses().answer_only);
    assert_eq!(question.discloses().proven, ["birth_dateint <= 20081121"]);
    assert!(Question::at_least_years(3000, "birth_dateint", today()).is_err());
}

/// The table of compatible red cells, recipient by recipient.
#[test]
fn blood_may_be_given_to_who_has_all_antigens_of_the_donor() {
    let types: Vec<BloodType> = (0..8)
        .map(|i| BloodType {
            a: i & 1 != 0,
            b: i & 2 != 0,
            d: i & 4 != 0,
        })
        .collect();
    let names = Antigens {
        a: "a",
        b: "b",
        d: "d",
    };
    let table = [
        ("O-", "O-"),
        ("A-", "O- A-"),
        ("B-", "O- B-"),
        ("AB-", "O- A- B- AB-"),
        ("O+", "O- O+"),
        ("A+", "O- A- O+ A+"),
        ("B+", "O- B- O+ B+"),
    ];
    for (recipient, (name, donors)) in types.iter().zip(table) {
        assert_eq!(recipient.to_string(), name);
        let question = Question::may_give_blood_to(*recipient, names).unwrap();
        let may: Vec<_> = types
            .iter()
            .filter(|donor| {
                let flags = [
                    ("a", donor.a.into()),
                    ("b", donor.b.into()),
                    ("d", donor.d.into()),
                ];
                yes(&question, &flags)
            })
            .map(ToString::to_string)
            .collect();
        assert_eq!(may.join(" "), donors, "{name}");
    }
    let everybody = types.last().unwrap();
    assert!(Question::may_give_blood_to(*everybody, names).is_err());
}

#[test]
fn a_set_with_gaps_takes_a_flag() {
    assert!(
        Question::one_of("code", &[3, 1, 2, 2])
            .unwrap()
            .discloses()
            .answer_only
    );
    assert!(Question::one_of("code", &[1, 3]).is_err());
    assert!(Question::one_of("code", &[]).is_err());
    assert!(Question::one_of("code", &[i32::MIN, i32::MAX]).is_err());
    let reversed = RangeInclusive::new(3, 1);
    assert!(Question::between("code", reversed).is_err());
    assert!(Question::flag("adult").discloses().answer_only);
}

#[test]
fn what_tells_the_value_says_so() {
    let equal = Question::one_of("code", &[5]).unwrap();
    assert!(!equal.discloses().answer_only);
    assert_eq!(equal.fixed_value(), Some("code"));
    let apart = Question::at_least("a", 5).and(Question::at_most("b", 5));
    assert!(apart.discloses().answer_only);
    let spelt = Question::at_least("Age", 5).and(Question::compared("a ge", Comparison::Below, 6));
    assert_eq!(spelt.fixed_value(), Some("Age"));
    let shown = Question::shown_value("city", &["Oslo", "Rome"]).discloses();
    assert!(!shown.answer_only);
    assert_eq!(shown.shown, ["city"]);
    let two =
        Question::shown_value("city", &["Oslo"]).and(Question::shown_value("job", &["nurse"]));
    assert_eq!(two.discloses().shown, ["city", "job"]);
    let asked = two.request("two", nonce(), &Asking::default());
    let asked = asked.requested_attributes.values();
    let names: Vec<_> = asked.map(|asked| asked.name.as_deref()).collect();
    assert_eq!(names, [Some("city"), Some("job")]);
}

#[test]
fn a_question_becomes_a_request_that_can_be_sent() {
    let asking = Asking {
        restrictions: Some(Query::Eq("schema_id".into(), "did:example:schema".into())),
        non_revoked: Some(Interval {
            from: None,
            to: Some(5),
        }),
        prefix: "age-".into(),
    };
    let question = Question::between("age", 18..=25).unwrap();
    let request = question.request("young adult", nonce(), &asking);
    request.validate().unwrap();
    assert_eq!(request.ver, RequestVersion::V2);
    assert!(request.requested_attributes.is_empty());
    let predicates = request.requested_predicates.values();
    assert!(
        predicates
            .clone()
            .all(|p| p.restrictions == asking.restrictions)
    );
    assert_eq!(
        predicates
            .map(|p| (p.p_type.as_str(), p.p_value))
            .collect::<Vec<_>>(),
        [(">=", 18), ("<=", 25)]
    );
    let shown = Question::shown_value("city", &["Oslo"]).request("city", nonce(), &asking);
    shown.validate().unwrap();
    assert!(!shown.requested_attributes["age-shown0"].may_be_self_attested());
}

/// A verdict in which the parts are answered by these credentials.
fn verdict(question: &Question, asking: &Asking, by: &[usize]) -> Verdict {
    let answers = question
        .referents(asking)
        .zip(by)
        .map(|((referent, part), index)| Answered {
            referent,
            attributes: vec![part.attribute.clone()],
            answer: AnswerKind::Predicate {
                comparison: part.comparison,
                bound: part.bound,
            },
            credential: Some(Source {
                index: *index,
                issuer_id: IssuerId::new("did:example:issuer").unwrap(),
                schema_id: SchemaId::new("did:example:schema").unwrap(),
                cred_def_id: CredentialDefinitionId::new("did:example:definition").unwrap(),
                not_revoked: None,
            }),
        });
    Verdict {
        outcome: Outcome::Valid,
        rules: Vec::new(),
        answers: answers.collect(),
    }
}

#[test]
fn two_credentials_do_not_answer_one_question() {
    let asking = Asking::default();
    let question = Question::between("age", 18..=25).unwrap();
    let one = verdict(&question, &asking, &[0, 0]);
    assert_eq!(question.answered(&one, &asking).unwrap().index, 0);
    let two = verdict(&question, &asking, &[0, 1]);
    assert!(question.answered(&two, &asking).is_err());
    let half = verdict(&question, &asking, &[0]);
    assert!(question.answered(&half, &asking).is_err());
    let invalid = Verdict {
        outcome: Outcome::Invalid,
        ..one.clone()
    };
    assert!(question.answered(&invalid, &asking).is_err());
    let other = Question::between("age", 18..=26).unwrap();
    assert!(other.answered(&one, &asking).is_err());
}

/// From the question to the answer, with a proof.
#[test]
fn a_question_is_answered_by_a_credential_that_shows_nothing() {
    let worlds = crate::testing::worlds();
    let credential: crate::format::Credential =
        crate::testing::sample("legacy/credential_processed.json");
    let asking = Asking {
        restrictions: Some(Query::Eq("schema_name".into(), "degree".into())),
        ..Asking::default()
    };
    for (range, yes) in [(18..=30, true), (28..=28, true), (29..=40, false)] {
        let question = Question::between("age", range).unwrap();
        let request = question.request("age", nonce(), &asking);
        let chosen = [crate::testing::chosen(&worlds[0], &credential, &["0", "1"])];
        let presentation = crate::testing::present(&request, &chosen);
        assert_eq!(presentation.is_ok(), yes);
        let Ok(presentation) = presentation else {
            continue;
        };
        let known = crate::testing::evidence(&worlds);
        let verdict = crate::testing::verdict(&presentation, &request, &known);
        let source = question.answered(&verdict, &asking).unwrap();
        assert_eq!(source.cred_def_id, worlds[0].cred_def_id);
        let shown = &presentation.requested_proof;
        assert!(shown.revealed_attrs.is_empty() && shown.revealed_attr_groups.is_empty());
    }
}

proptest! {
    #[test]
    fn a_range_is_answered_by_its_members_alone(low in -50..50_i32, length in 0..20_i32, value in -80..80_i32) {
        let high = low + length;
        let question = Question::between("n", low..=high).unwrap();
        prop_assert_eq!(yes(&question, &[("n", value)]), (low..=high).contains(&value));
        let members: Vec<_> = (low..=high).collect();
        prop_assert_eq!(Question::one_of("n", &members).unwrap(), question);
    }
}
