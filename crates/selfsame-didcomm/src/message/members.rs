//! Taking members out of an object, each with its form.

use serde_json::{Map, Value};

use crate::error::Error;

/// The maximum length of an identifier in bytes. UUIDs are usual; the identifier of a thread may be a DID.
const MAX_ID: usize = 1024;

/// The members that have not been taken yet. `null` counts as absent.
pub(super) struct Fields(pub(super) Map<String, Value>);

impl Fields {
    /// Takes a text. `what` names it in an error.
    pub(super) fn text(&mut self, name: &str, what: &'static str) -> Result<Option<String>, Error> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Error::Malformed(what)),
        }
    }

    /// Takes an identifier: printable, without spaces.
    pub(super) fn id(&mut self, name: &str, what: &'static str) -> Result<Option<String>, Error> {
        match self.text(name, what)? {
            Some(id) if !is_id(&id) => Err(Error::Malformed(what)),
            id => Ok(id),
        }
    }

    /// Takes an array.
    pub(super) fn array(&mut self, name: &str, what: &'static str) -> Result<Vec<Value>, Error> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(elements)) => Ok(elements),
            Some(_) => Err(Error::Malformed(what)),
        }
    }

    /// Takes an object.
    pub(super) fn object(
        &mut self,
        name: &str,
        what: &'static str,
    ) -> Result<Option<Map<String, Value>>, Error> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(members)) => Ok(Some(members)),
            Some(_) => Err(Error::Malformed(what)),
        }
    }

    /// Takes a whole number that is not negative.
    pub(super) fn number(&mut self, name: &str, what: &'static str) -> Result<Option<u64>, Error> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_u64().map(Some).ok_or(Error::Malformed(what)),
        }
    }
}

/// Whether a text may be an identifier of a message, a thread or an attachment.
pub(super) fn is_id(text: &str) -> bool {
    (1..=MAX_ID).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Adds a member, if there is one.
pub(super) fn put(to: &mut Map<String, Value>, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        to.insert(name.to_owned(), value.into());
    }
}
