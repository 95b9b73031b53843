//! Reads JSON members by type, and reports the position of an error but never the value there.

use std::fmt;

use serde_json::{Map, Value};

use super::fault::{DcqlError, Fault};

/// Maximum length of a string in a query, in bytes.
const MAX_STRING: usize = 2_048;

/// A JSON value and its position in the query.
#[derive(Clone)]
pub(super) struct QueryReader<'a> {
    value: &'a Value,
    at: String,
}

impl<'a> QueryReader<'a> {
    pub(super) fn root(value: &'a Value) -> Self {
        Self {
            value,
            at: String::from("dcql_query"),
        }
    }

    pub(super) fn value(&self) -> &'a Value {
        self.value
    }

    pub(super) fn fault(&self, fault: Fault) -> DcqlError {
        DcqlError {
            at: self.at.clone(),
            fault,
        }
    }

    /// The member of this name, if it is present.
    pub(super) fn member(&self, name: &str) -> Result<Option<Self>, DcqlError> {
        let found = self.object()?.get(name);
        Ok(found.map(|value| self.below(value, format_args!(".{name}"))))
    }

    /// The member of this name, which must be present.
    pub(super) fn required(&self, name: &'static str) -> Result<Self, DcqlError> {
        self.member(name)?
            .ok_or_else(|| self.fault(Fault::Missing(name)))
    }

    /// The elements of a non-empty array with at most `most` elements.
    pub(super) fn elements(&self, most: usize) -> Result<Vec<Self>, DcqlError> {
        let wrong = || self.fault(Fault::Wanted("a non-empty array"));
        let elements = self.value.as_array().ok_or_else(wrong)?;
        if elements.is_empty() {
            return Err(wrong());
        }
        if elements.len() > most {
            return Err(self.fault(Fault::TooMany(most)));
        }
        let below = |(index, value)| self.below(value, format_args!("[{index}]"));
        Ok(elements.iter().enumerate().map(below).collect())
    }

    pub(super) fn object(&self) -> Result<&'a Map<String, Value>, DcqlError> {
        self.value
            .as_object()
            .ok_or_else(|| self.fault(Fault::Wanted("an object")))
    }

    pub(super) fn boolean(&self) -> Result<bool, DcqlError> {
        self.value
            .as_bool()
            .ok_or_else(|| self.fault(Fault::Wanted("a boolean")))
    }

    pub(super) fn string(&self) -> Result<String, DcqlError> {
        let text = self.value.as_str().filter(|text| !text.is_empty());
        let text = text.ok_or_else(|| self.fault(Fault::Wanted("a non-empty string")))?;
        if text.len() > MAX_STRING {
            return Err(self.fault(Fault::TooLong(MAX_STRING)));
        }
        Ok(text.to_owned())
    }

    pub(super) fn strings(&self, most: usize) -> Result<Vec<String>, DcqlError> {
        self.elements(most)?.iter().map(Self::string).collect()
    }

    fn below(&self, value: &'a Value, step: fmt::Arguments<'_>) -> Self {
        Self {
            value,
            at: format!("{}{step}", self.at),
        }
    }
}
