//! The sentences for the reasons of use cases: what people read on pages, in the API and on the terminal.
//!
//! Owns: the sentence and the hint of each reason's id, and how values are put into them. Does not own: which reason
//! applies, who must act, and how an error becomes a response or an exit code.

mod refused;
pub mod when;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use selfsame_driver::{Reason, Value};
use serde::Deserialize;

pub use refused::Refused;

/// The sentences in English.
static ENGLISH: LazyLock<BTreeMap<String, Pattern>> =
    // A test reads the file, so this can't fail; without it, each sentence would be the id.
    LazyLock::new(|| toml::from_str(include_str!("../en.toml")).unwrap_or_default());

/// A language that the catalogue has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Language {
    /// English.
    English,
}

/// What a person reads.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Sentence {
    /// What is wrong.
    pub text: String,
    /// What they can do about it.
    pub hint: Option<String>,
}

/// The sentence for an id, with its parameters in braces.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pattern {
    text: String,
    hint: Option<String>,
    /// The hint if the cause has none.
    fallback_hint: Option<String>,
}

/// The sentence for a reason. A reason that the catalogue does not know, or that lacks a parameter, is shown as its id
/// with its parameters. A sentence without a hint has the hint of the cause that it shows.
#[must_use]
pub fn sentence(language: Language, reason: &Reason) -> Sentence {
    let Language::English = language;
    written(language, reason).unwrap_or_else(|| Sentence {
        text: reason.to_string(),
        hint: None,
    })
}

/// Puts the sentence in the place of a reason, for answers that people and programs read as a text.
pub fn tell(language: Language, reason: &mut Reason) {
    *reason = Reason::text(sentence(language, reason).text);
}

/// The sentence in English, for texts that are English everywhere: logs, and what an engine shows.
#[must_use]
pub fn english(reason: &Reason) -> String {
    sentence(Language::English, reason).text
}

fn written(language: Language, reason: &Reason) -> Option<Sentence> {
    let entry = ENGLISH.get(reason.id())?;
    let value = |name: &str| {
        Some(match reason.parameter(name)? {
            Value::Text(text) => text.clone(),
            Value::Reason(cause) => sentence(language, cause).text,
        })
    };
    let of_cause = || sentence(language, reason.cause()?).hint;
    let hint = match (&entry.hint, &entry.fallback_hint) {
        (Some(hint), _) => Some(filled(hint, value)?),
        (None, Some(fallback)) => of_cause().or_else(|| filled(fallback, value)),
        (None, None) => of_cause(),
    };
    Some(Sentence {
        text: filled(&entry.text, value)?,
        hint,
    })
}

/// The text with each `{name}` replaced by its value, or none if a value is missing. A value is not filled again.
fn filled(text: &str, value: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, behind) = after.split_once('}')?;
        whole.push_str(before);
        whole.push_str(&value(name)?);
        rest = behind;
    }
    whole.push_str(rest);
    Some(whole)
}

#[cfg(test)]
mod documented;

#[cfg(test)]
mod tests {
    use super::*;

    fn told(reason: &Reason) -> Sentence {
        sentence(Language::English, reason)
    }

    #[test]
    fn the_file_of_the_language_can_be_read() {
        let read = toml::from_str::<BTreeMap<String, Pattern>>(include_str!("../en.toml"));
        assert!(!read.unwrap().is_empty());
        assert!(!ENGLISH.is_empty());
    }

    #[test]
    fn a_reason_has_its_sentence_and_its_hint() {
        let full = told(&Reason::new("storage-full"));
        assert_eq!(full.text, "this server has no storage space left");
        assert!(full.hint.unwrap().starts_with("operator: free space"));
    }

    #[test]
    fn values_stand_in_their_places_and_are_not_filled_again() {
        let text = Reason::text("the claim {text} and {other} {");
        assert_eq!(told(&text).text, "the claim {text} and {other} {");
        let lost = Reason::new("certificate-chain-wrong").with("section", "{detail}");
        let lost = told(&lost.with("detail", "{section}"));
        assert_eq!(lost.text, "[{detail}] {section}");
    }

    #[test]
    fn an_unknown_id_and_a_missing_parameter_give_the_id_with_its_parameters() {
        let unknown = Reason::new("no-such-id").with("node", "one");
        assert_eq!(told(&unknown).text, "no-such-id (node: one)");
        let lacking = told(&Reason::new("text"));
        assert_eq!((lacking.text.as_str(), lacking.hint), ("text", None));
    }

    #[test]
    fn a_cause_is_told_in_its_own_sentence_and_lends_its_hint() {
        let cause = Reason::new("storage-full");
        let named = Reason::new("node-said").with("node", "a.example");
        let told_all = told(&named.because(cause.clone()));
        assert_eq!(
            told_all.text,
            "this server has no storage space left (a.example)"
        );
        assert_eq!(told_all.hint, told(&cause).hint);
    }
}
