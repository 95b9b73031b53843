//! Questions with yes or no for an answer, and what asking them gives away.
//!
//! What AnonCreds can prove of a value without showing it is that it compares with a number (`>=`, `>`, `<=`, `<`).
//! Every question here is a conjunction of such comparisons, so the verifier learns that all of them hold, and nothing
//! else of the values. What it learns besides, in every presentation, is said by [`Question::discloses`].
//!
//! Membership in a set can be asked where the members are neighbours among the numbers ([`Question::one_of`]). For any
//! other set there are two honest ways: the issuer signs an attribute that answers (a flag, 0 or 1; [`Question::flag`]),
//! or the holder shows the value ([`Question::shown_value`]), which tells more than the answer and says so. A clever
//! choice of flags goes far: with one flag for each antigen of a donor's blood, "may give to A+" is "does not have B"
//! ([`Question::may_give_blood_to`]), for every recipient.
//!
//! A request cannot force a holder to answer all comparisons of one question from one credential. The proofs may be
//! right and the answer wrong: `age >= 18` from one credential, `age <= 25` from another. [`Question::answered`] looks
//! for that in the verdict.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use selfsame_crypto::time::UnixTime;
use serde::Serialize;

use crate::Error;
use crate::format::{
    Comparison, Interval, Nonce, PresentationRequest, Query, RequestVersion, RequestedAttribute,
    RequestedPredicate, normalise_attribute,
};
use crate::verdict::{AnswerKind, Source, Verdict};

/// A question with yes or no for an answer, about one credential.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Question {
    text: String,
    parts: Vec<Part>,
    shown: Vec<(String, Vec<String>)>,
}

/// One comparison.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Part {
    attribute: String,
    comparison: Comparison,
    bound: i32,
}

/// What a verifier learns from the answer to a question.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Disclosure {
    /// What is asked.
    pub question: String,
    /// Whether the verifier learns nothing of the values but that the answer is yes.
    pub answer_only: bool,
    /// The attributes whose values are shown.
    pub shown: Vec<String>,
    /// What is said of values that stay hidden.
    pub proven: Vec<String>,
    /// What every presentation gives away.
    pub always: &'static [&'static str],
}

/// What every presentation gives away, whatever is asked.
const ALWAYS: [&str; 5] = [
    "which issuer, schema and credential definition the credential is of",
    "where the issuer does not prove its key's bases: perhaps which credential it is",
    "that the holder has it, and answers at this moment",
    "where revocation is asked for: which registry it is in, and as of when it is not revoked",
    "a holder who does not answer may be taken for one whose answer is no",
];

/// The antigens that decide about red cells.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BloodType {
    /// Has the antigen A.
    pub a: bool,
    /// Has the antigen B.
    pub b: bool,
    /// Has the antigen D (Rhesus positive).
    pub d: bool,
}

/// The names of a donor's attributes that hold 1 if the antigen is there, and 0 if not.
#[derive(Clone, Copy, Debug)]
pub struct Antigens<'a> {
    /// Of the antigen A.
    pub a: &'a str,
    /// Of the antigen B.
    pub b: &'a str,
    /// Of the antigen D.
    pub d: &'a str,
}

/// Whose credentials count for a question, and how a request names it.
#[derive(Clone, Debug, Default)]
pub struct Asking {
    /// What the credential must be. Without it any issuer's word counts, the holder's own included.
    pub restrictions: Option<Query>,
    /// When it must not have been revoked.
    pub non_revoked: Option<Interval>,
    /// What the referents begin with.
    pub prefix: String,
}

impl Question {
    /// Whether the number in `attribute` is at least `bound`.
    pub fn at_least(attribute: &str, bound: i32) -> Self {
        Self::compared(attribute, Comparison::AtLeast, bound)
    }

    /// Whether the number in `attribute` is at most `bound`.
    pub fn at_most(attribute: &str, bound: i32) -> Self {
        Self::compared(attribute, Comparison::AtMost, bound)
    }

    /// Whether the number in `attribute` lies in `range`. A range of one number is equality, and tells the value.
    pub fn between(attribute: &str, range: RangeInclusive<i32>) -> Result<Self, Error> {
        if range.is_empty() {
            return unanswerable("no number lies in the range");
        }
        let both = Self::at_least(attribute, *range.start());
        let mut both = both.and(Self::at_most(attribute, *range.end()));
        both.text = format!(
            "{attribute} is between {} and {}",
            range.start(),
            range.end()
        );
        Ok(both)
    }

    /// Whether the number in `attribute` is one of `members`, which must be neighbours.
    ///
    /// # Errors
    /// [`Error::Unsatisfied`] if there are gaps between them: a proof for one part of the set would tell which part,
    /// so the issuer must sign a flag for such a question.
    pub fn one_of(attribute: &str, members: &[i32]) -> Result<Self, Error> {
        let members: BTreeSet<i64> = members.iter().map(|member| (*member).into()).collect();
        let ends = members.first().zip(members.last());
        let Some((first, last)) = ends else {
            return unanswerable("the set has no members");
        };
        let length = u64::try_from(last.saturating_sub(*first)).unwrap_or(u64::MAX);
        if u64::try_from(members.len()).ok() != length.checked_add(1) {
            return unanswerable("the set has gaps; its issuer must sign a flag for it");
        }
        let end = |end: &i64| i32::try_from(*end).unwrap_or_default();
        Self::between(attribute, end(first)..=end(last))
    }

    /// Whether the flag in `attribute`, 0 or 1, is 1.
    pub fn flag(attribute: &str) -> Self {
        let mut question = Self::at_least(attribute, 1);
        question.text = format!("{attribute} is set");
        question
    }

    /// Whether somebody born on the day in `attribute`, written as the number YYYYMMDD (Aries RFC 0441), is at least
    /// `years` old on the day of `today` in UTC. Who was born on 29 February is a year older on 1 March.
    pub fn at_least_years(years: u16, attribute: &str, today: UnixTime) -> Result<Self, Error> {
        let mut question = Self::at_most(attribute, birthday(years, today)?);
        question.text = format!("at least {years} years old, by {attribute}");
        Ok(question)
    }

    /// Whether somebody born on the day in `attribute` is not yet `years` old; else as [`Question::at_least_years`].
    pub fn younger_than_years(years: u16, attribute: &str, today: UnixTime) -> Result<Self, Error> {
        let bound = birthday(years, today)?;
        let mut question = Self::compared(attribute, Comparison::Above, bound);
        question.text = format!("younger than {years} years, by {attribute}");
        Ok(question)
    }

    /// Whether a donor may give red cells to `recipient`: has no antigen that the recipient does not have.
    ///
    /// # Errors
    /// [`Error::Unsatisfied`] for a recipient who has all antigens: everybody may give, so there is nothing to ask.
    pub fn may_give_blood_to(recipient: BloodType, donor: Antigens<'_>) -> Result<Self, Error> {
        let antigens = [
            (recipient.a, donor.a),
            (recipient.b, donor.b),
            (recipient.d, donor.d),
        ];
        let lacking = antigens.into_iter().filter(|(has, _)| !has);
        let absent = lacking.map(|(_, attribute)| Self::at_most(attribute, 0));
        let Some(mut question) = absent.reduce(Self::and) else {
            return unanswerable("everybody may give to this recipient");
        };
        question.text = format!("may give blood to {recipient}");
        Ok(question)
    }

    /// Whether the text in `attribute` is one of `values`, by showing it: the verifier learns which one.
    pub fn shown_value(attribute: &str, values: &[&str]) -> Self {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        Self {
            text: format!("{attribute} is one of a set, and shown"),
            parts: Vec::new(),
            shown: vec![(attribute.to_owned(), values)],
        }
    }

    /// Whether both hold, for one credential.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.text = format!("{} and {}", self.text, other.text);
        self.parts.extend(other.parts);
        self.shown.extend(other.shown);
        self
    }

    /// What the verifier learns from the answer.
    pub fn discloses(&self) -> Disclosure {
        let proven = self.parts.iter().map(|part| {
            let sign = part.comparison.as_str();
            format!("{} {sign} {}", part.attribute, part.bound)
        });
        let shown: Vec<_> = self.shown.iter().map(|(name, _)| name.clone()).collect();
        Disclosure {
            question: self.text.clone(),
            answer_only: shown.is_empty() && self.fixed_value().is_none(),
            shown,
            proven: proven.collect(),
            always: &ALWAYS,
        }
    }

    /// The attribute whose value the comparisons leave no choice for, if there is one.
    pub fn fixed_value(&self) -> Option<&str> {
        self.parts
            .iter()
            .map(|part| part.attribute.as_str())
            .find(|attribute| {
                let name = normalise_attribute(attribute);
                let of_it = self
                    .parts
                    .iter()
                    .filter(|p| normalise_attribute(&p.attribute) == name);
                let (low, high) = of_it.fold((i64::MIN, i64::MAX), |(low, high), part| {
                    let bound = i64::from(part.bound);
                    match part.comparison {
                        Comparison::AtLeast => (low.max(bound), high),
                        Comparison::Above => (low.max(bound.saturating_add(1)), high),
                        Comparison::AtMost => (low, high.min(bound)),
                        Comparison::Below => (low, high.min(bound.saturating_sub(1))),
                    }
                });
                low >= high
            })
    }

    /// A request that asks this question and nothing else.
    pub fn request(&self, name: &str, nonce: Nonce, asking: &Asking) -> PresentationRequest {
        let mut request = PresentationRequest {
            nonce,
            name: name.to_owned(),
            version: "1.0".to_owned(),
            requested_attributes: Default::default(),
            requested_predicates: Default::default(),
            non_revoked: None,
            ver: RequestVersion::V1,
        };
        self.ask(&mut request, asking);
        if request.check_version().is_err() {
            request.ver = RequestVersion::V2;
        }
        request
    }

    /// Adds the question to a request.
    pub fn ask(&self, request: &mut PresentationRequest, asking: &Asking) {
        for (referent, part) in self.referents(asking) {
            let predicate = RequestedPredicate {
                name: part.attribute.clone(),
                p_type: part.comparison,
                p_value: part.bound,
                restrictions: asking.restrictions.clone(),
                non_revoked: asking.non_revoked,
            };
            request.requested_predicates.insert(referent, predicate);
        }
        for (number, (name, values)) in self.shown.iter().enumerate() {
            let value = Query::In(format!("attr::{name}::value"), values.clone());
            let restrictions = asking.restrictions.clone().into_iter().chain([value]);
            let attribute = RequestedAttribute {
                name: Some(name.clone()),
                names: None,
                restrictions: Some(Query::And(restrictions.collect())),
                non_revoked: asking.non_revoked,
            };
            let referent = shown_referent(asking, number);
            request.requested_attributes.insert(referent, attribute);
        }
    }

    /// The one credential that answers yes, if the verdict says so.
    ///
    /// # Errors
    /// [`Error::Proof`] if the verdict is not valid, or the parts of the question are answered by different
    /// credentials; [`Error::Unsatisfied`] for a part that is not answered as asked.
    pub fn answered<'v>(&self, verdict: &'v Verdict, asking: &Asking) -> Result<&'v Source, Error> {
        if !verdict.is_valid() {
            return Err(Error::Proof("the presentation is not valid"));
        }
        let mut sources = Vec::new();
        for (referent, part) in self.referents(asking) {
            let kind = AnswerKind::Predicate {
                comparison: part.comparison,
                bound: part.bound,
            };
            sources.push(source(verdict, (referent, &part.attribute), kind)?);
        }
        for (number, (name, _)) in self.shown.iter().enumerate() {
            let referent = shown_referent(asking, number);
            sources.push(source(verdict, (referent, name), AnswerKind::Revealed)?);
        }
        match sources.split_first() {
            Some((first, others)) if others.iter().all(|o| o.index == first.index) => Ok(first),
            Some(_) => Err(Error::Proof("one question is answered by two credentials")),
            None => unanswerable("it asks for nothing"),
        }
    }

    fn compared(attribute: &str, comparison: Comparison, bound: i32) -> Self {
        Self {
            text: format!("{attribute} {} {bound}", comparison.as_str()),
            parts: vec![Part {
                attribute: attribute.to_owned(),
                comparison,
                bound,
            }],
            shown: Vec::new(),
        }
    }

    fn referents(&self, asking: &Asking) -> impl Iterator<Item = (String, &Part)> {
        let prefix = asking.prefix.clone();
        let numbered = self.parts.iter().enumerate();
        numbered.map(move |(number, part)| (format!("{prefix}{number}"), part))
    }
}

fn shown_referent(asking: &Asking, number: usize) -> String {
    format!("{}shown{number}", asking.prefix)
}

fn source<'v>(
    verdict: &'v Verdict,
    (referent, attribute): (String, &str),
    kind: AnswerKind,
) -> Result<&'v Source, Error> {
    let mut answers = verdict.answers.iter();
    let answer = answers.find(|answer| {
        answer.referent == referent && answer.answer == kind && answer.attributes == [attribute]
    });
    answer
        .and_then(|answer| answer.credential.as_ref())
        .ok_or(Error::Unsatisfied {
            referent,
            why: "it is not answered as the question asks",
        })
}

/// The last day on which somebody was born who is `years` old on the day of `today`, as YYYYMMDD.
fn birthday(years: u16, today: UnixTime) -> Result<i32, Error> {
    let date = today.rfc3339().get(..10).map(|date| date.replace('-', ""));
    let date = date.and_then(|date| date.parse::<i32>().ok());
    let years = i32::from(years).checked_mul(10_000);
    match date
        .zip(years)
        .and_then(|(date, years)| date.checked_sub(years))
    {
        Some(date) if date > 0 => Ok(date),
        _ => unanswerable("nobody is as old as that"),
    }
}

fn unanswerable<T>(why: &'static str) -> Result<T, Error> {
    Err(Error::Unsatisfied {
        referent: "the question".to_owned(),
        why,
    })
}

impl std::fmt::Display for BloodType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let letters = match (self.a, self.b) {
            (true, true) => "AB",
            (true, false) => "A",
            (false, true) => "B",
            (false, false) => "O",
        };
        write!(f, "{letters}{}", if self.d { '+' } else { '-' })
    }
}

#[cfg(test)]
mod tests;
