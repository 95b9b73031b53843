//! A person of the mock identity system.

use selfsame_crypto::{encoding, hash};
use selfsame_driver::{Error, Result};
use serde_json::{Map, Value};

use super::MockFault;

const ID_MAX: usize = 64;

/// A person: the members as they were sent, the password as its digest.
#[derive(Clone)]
pub struct MockPerson(Map<String, Value>);

/// A value in one language.
pub(super) struct Localised<'a> {
    pub language: &'a str,
    pub value: &'a str,
}

impl MockPerson {
    /// A person with these members, as `POST /identity` takes them.
    pub(super) fn new(mut members: Map<String, Value>) -> std::result::Result<Self, MockFault> {
        let id = members.get("individualId").and_then(Value::as_str);
        let is_id = |id: &str| {
            (1..=ID_MAX).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())
        };
        if !id.is_some_and(is_id) {
            return Err(MockFault::UNKNOWN_PERSON);
        }
        if let Some(Value::String(password)) = members.get_mut("password") {
            *password = password_digest(password);
        }
        Ok(Self(members))
    }

    pub(super) fn decode(value: &[u8]) -> Result<Self> {
        selfsame_driver::record::decode(value).map(Self)
    }

    pub(super) fn encoded(&self) -> Result<Vec<u8>> {
        serde_json::to_vec(&self.0).map_err(Error::internal)
    }

    /// This person with the members of another that are not null.
    pub(super) fn with(mut self, changes: &Self) -> Self {
        let given = changes.0.iter().filter(|(_, value)| !value.is_null());
        let given = given.map(|(name, value)| (name.clone(), value.clone()));
        self.0.extend(given);
        self
    }

    /// The members.
    #[must_use]
    pub fn members(&self) -> &Map<String, Value> {
        &self.0
    }

    /// The identifier.
    #[must_use]
    pub fn individual_id(&self) -> &str {
        self.text("individualId").unwrap_or_default()
    }

    /// A member that is one text in all languages.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str().filter(|text| !text.is_empty())
    }

    /// The values of a member that has one for each language.
    pub(super) fn localised(&self, name: &str) -> Vec<Localised<'_>> {
        let values = self.0.get(name).and_then(Value::as_array);
        let one = |value| {
            let text = |name| Value::get(value, name).and_then(Value::as_str);
            Some(Localised {
                language: text("language")?,
                value: text("value")?,
            })
        };
        values.into_iter().flatten().filter_map(one).collect()
    }

    /// A member in a language, whatever its form.
    pub(super) fn in_language(&self, name: &str, language: &str) -> Option<&str> {
        let mut values = self.localised(name).into_iter();
        let localised = values.find(|value| value.language == language);
        self.text(name).or(localised.map(|value| value.value))
    }
}

/// The digest that MOSIP's keeps of a password. It is for people who are made up.
pub(super) fn password_digest(password: &str) -> String {
    encoding::hex_encode(&hash::sha256(password.as_bytes())).to_ascii_uppercase()
}
