//! Why something was refused or failed: a code with parameters. The catalogue at the edge has the sentence.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize};

/// The id of a reason that is an English text already, under the parameter of the same name.
const TEXT: &str = "text";
/// The parameter that is the reason behind a reason.
const CAUSE: &str = "cause";

/// A reason: the id of its sentence in the catalogue, and the values that belong into the sentence.
///
/// As JSON, a reason that is a text already is that text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reason {
    id: Cow<'static, str>,
    parameters: BTreeMap<Cow<'static, str>, Value>,
}

/// The value of a parameter.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A plain text, the same in every language.
    Text(String),
    /// Another reason, which has a sentence of its own.
    Reason(Reason),
}

/// A view that carries reasons. An edge puts sentences in their places before it writes the view.
pub trait Reasons {
    /// All reasons in it.
    fn reasons(&mut self) -> Vec<&mut Reason>;
}

impl Reason {
    /// The reason with this id: kebab-case, named by the thing, such as `offer-expired`.
    #[must_use]
    pub const fn new(id: &'static str) -> Self {
        Self {
            id: Cow::Borrowed(id),
            parameters: BTreeMap::new(),
        }
    }

    /// A reason that is an English text already, as earlier versions stored it.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(TEXT).with(TEXT, &text.into())
    }

    /// The reason that a rule is broken: what is wrong, as the rule says it, and what can be done about it.
    #[must_use]
    pub fn rule_broken(detail: &str, advice: Option<&str>) -> Self {
        match advice {
            Some(advice) => Reason::new("rule-broken-advised")
                .with("detail", detail)
                .with("advice", advice),
            None => Reason::new("rule-broken").with("detail", detail),
        }
    }

    /// This reason with a parameter.
    #[must_use]
    pub fn with<T: fmt::Display + ?Sized>(mut self, name: &'static str, value: &T) -> Self {
        let value = Value::Text(value.to_string());
        self.parameters.insert(Cow::Borrowed(name), value);
        self
    }

    /// This reason with the reason behind it, as the parameter `cause`.
    #[must_use]
    pub fn because(self, cause: Reason) -> Self {
        self.with_reason(CAUSE, cause)
    }

    /// This reason with a parameter that is another reason.
    #[must_use]
    pub fn with_reason(mut self, name: &'static str, value: Reason) -> Self {
        let value = Value::Reason(value);
        self.parameters.insert(Cow::Borrowed(name), value);
        self
    }

    /// The id of the sentence.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The value of a parameter.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&Value> {
        self.parameters.get(name)
    }

    /// The reason behind this one.
    #[must_use]
    pub fn cause(&self) -> Option<&Reason> {
        match self.parameter(CAUSE)? {
            Value::Reason(cause) => Some(cause),
            Value::Text(_) => None,
        }
    }

    /// This reason as a text that [`Self::read`] reads, for places that store texts.
    #[must_use]
    pub fn stored(&self) -> String {
        match self.as_text() {
            Some(text) => text.to_owned(),
            None => serde_json::to_string(self).unwrap_or_else(|_| self.to_string()),
        }
    }

    /// As [`Self::stored`], in at most `most` bytes: the values of parameters are shortened until they fit.
    #[must_use]
    pub fn stored_within(&self, most: usize) -> String {
        let mut longest = most;
        loop {
            let stored = self.shortened(longest).stored();
            if stored.len() <= most || longest == 0 {
                return stored;
            }
            longest /= 2;
        }
    }

    /// This reason with texts of at most `longest` bytes.
    fn shortened(&self, longest: usize) -> Self {
        let values = self.parameters.iter().map(|(name, value)| {
            let value = match value {
                Value::Text(text) => {
                    let end = text.floor_char_boundary(longest);
                    Value::Text(text.get(..end).unwrap_or_default().to_owned())
                }
                Value::Reason(reason) => Value::Reason(reason.shortened(longest)),
            };
            (name.clone(), value)
        });
        Self {
            id: self.id.clone(),
            parameters: values.collect(),
        }
    }

    /// The reason in a stored text. An earlier version stored sentences.
    #[must_use]
    pub fn read(stored: &str) -> Self {
        let coded = stored
            .starts_with("{\"id\":")
            .then(|| serde_json::from_str(stored).ok());
        coded.flatten().unwrap_or_else(|| Self::text(stored))
    }

    fn as_text(&self) -> Option<&str> {
        match self.parameter(TEXT)? {
            Value::Text(text) if self.id == TEXT => Some(text),
            _ => None,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = self.as_text() {
            return f.write_str(text);
        }
        f.write_str(&self.id)?;
        let mut before = " (";
        for (name, value) in &self.parameters {
            write!(f, "{before}{name}: {value}")?;
            before = ", ";
        }
        match self.parameters.is_empty() {
            true => Ok(()),
            false => f.write_str(")"),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Reason(reason) => reason.fmt(f),
        }
    }
}

impl Serialize for Reason {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if let Some(text) = self.as_text() {
            return to.serialize_str(text);
        }
        let members = if self.parameters.is_empty() { 1 } else { 2 };
        let mut written = to.serialize_struct("Reason", members)?;
        written.serialize_field("id", &self.id)?;
        if !self.parameters.is_empty() {
            written.serialize_field("parameters", &self.parameters)?;
        }
        written.end()
    }
}

impl<'de> Deserialize<'de> for Reason {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        /// What was stored: a reason, or a sentence of an earlier version.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Stored {
            Sentence(String),
            Reason {
                id: String,
                #[serde(default)]
                parameters: BTreeMap<String, Value>,
            },
        }
        Ok(match Stored::deserialize(from)? {
            Stored::Sentence(text) => Self::text(text),
            Stored::Reason { id, parameters } => Self {
                id: Cow::Owned(id),
                parameters: (parameters.into_iter())
                    .map(|(name, value)| (Cow::Owned(name), value))
                    .collect(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn late() -> Reason {
        Reason::new("node-late")
            .with("node", "one")
            .with("after", &3)
            .because(Reason::new("node-silent"))
    }

    #[test]
    fn a_reason_is_shown_as_its_id_with_its_parameters() {
        assert_eq!(Reason::new("offer-expired").to_string(), "offer-expired");
        assert_eq!(
            late().to_string(),
            "node-late (after: 3, cause: node-silent, node: one)"
        );
    }

    #[test]
    fn a_reason_is_read_as_it_was_stored() {
        let stored = r#"{"id":"node-late","parameters":{"after":"3","cause":{"id":"node-silent"},"node":"one"}}"#;
        assert_eq!(late().stored(), stored);
        assert_eq!(Reason::read(stored), late());
        assert_eq!(serde_json::from_str::<Reason>(stored).unwrap(), late());
    }

    #[test]
    fn a_reason_stored_in_a_small_place_keeps_its_id_and_the_beginning_of_its_values() {
        let long = Reason::new("rule-broken").with("detail", &"ö".repeat(400));
        let long = Reason::new("node-said").with("node", "one").because(long);
        let stored = long.stored_within(500);
        assert!(stored.len() <= 500, "{stored}");
        let read = Reason::read(&stored);
        assert_eq!(
            (read.id(), read.parameter("node")),
            ("node-said", long.parameter("node"))
        );
        let detail = read.cause().unwrap().parameter("detail").unwrap();
        assert!(detail.to_string().starts_with("öööö"));
        assert_eq!(late().stored_within(500), late().stored());
    }

    #[test]
    fn a_sentence_of_an_earlier_version_is_read_as_a_text() {
        let text = Reason::text("it is late");
        assert_eq!(Reason::read("it is late"), text);
        assert_eq!(text.to_string(), "it is late");
        let read: Reason = serde_json::from_str("\"it is late\"").unwrap();
        assert_eq!(read, text);
        assert_eq!(text.stored(), "it is late");
        assert_eq!(serde_json::to_string(&text).unwrap(), "\"it is late\"");
    }
}
