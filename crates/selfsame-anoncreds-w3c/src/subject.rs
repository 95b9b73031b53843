//! The subject of a credential: attributes with texts or numbers, and in a presentation `true` where a predicate is proven.

use std::collections::BTreeMap;

use selfsame_anoncreds::Error;
use selfsame_anoncreds::format::{AttributeValue, CredentialValues, normalise_attribute};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The JSON of the subject with these attributes, by their raw values.
#[must_use]
pub fn of_attributes(attributes: &BTreeMap<String, String>) -> Value {
    let members = attributes.iter();
    let members = members.map(|(name, raw)| (name.clone(), json!(SubjectValue::of(raw))));
    Value::Object(members.collect())
}

/// The attributes by the names that the issuer or the request used.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct CredentialSubject(pub BTreeMap<String, SubjectValue>);

/// The value of an attribute. Its `Debug` form does not show it.
#[derive(Clone, Deserialize, Eq, PartialEq, Serialize)]
#[serde(untagged)]
pub enum SubjectValue {
    /// A text.
    Text(String),
    /// A number.
    Number(i32),
    /// That a predicate is proven.
    Proven(bool),
}

impl std::fmt::Debug for SubjectValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SubjectValue(…)")
    }
}

impl SubjectValue {
    /// The value of a raw text: a number if the number has no other text.
    pub fn of(raw: &str) -> Self {
        let number = raw.parse::<i32>().ok();
        let number = number.filter(|number| number.to_string() == raw);
        number.map_or_else(|| Self::Text(raw.to_owned()), Self::Number)
    }

    /// The raw text; `None` for a predicate.
    pub fn raw(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Number(number) => Some(number.to_string()),
            Self::Proven(_) => None,
        }
    }
}

impl CredentialSubject {
    /// The subject of a credential with these values.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if a value has another encoding than the recommended one, which is the only one here.
    pub fn of(values: &CredentialValues) -> Result<Self, Error> {
        if !values.0.values().all(AttributeValue::is_consistent) {
            return Err(Error::Mismatch {
                what: "the credential",
                why: "it has an encoding of its own, which W3C's form can't say",
            });
        }
        let values = values.0.iter();
        let values = values.map(|(name, value)| (name.clone(), SubjectValue::of(&value.raw)));
        Ok(Self(values.collect()))
    }

    /// The values that are signed.
    ///
    /// # Errors
    /// [`Error::Malformed`] if one is of another kind.
    pub fn values(&self) -> Result<CredentialValues, Error> {
        let other = Error::Malformed {
            what: "the credential",
            why: "an attribute is neither a text nor a 32-bit number",
        };
        let mut values = BTreeMap::new();
        for (name, value) in &self.0 {
            let raw = value.raw().ok_or_else(|| other.clone())?;
            values.insert(name.clone(), AttributeValue::of(raw));
        }
        Ok(CredentialValues(values))
    }

    /// The value of an attribute; the spelling of the name does not matter.
    pub fn get(&self, name: &str) -> Option<&SubjectValue> {
        let name = normalise_attribute(name);
        let mut members = self.0.iter();
        members.find_map(|(known, value)| (normalise_attribute(known) == name).then_some(value))
    }
}
