//! What is wrong with a field of a form, to stand beside it.

use std::borrow::Cow;

use selfsame_catalogue::Sentence;

use crate::text;

/// A field that has to be corrected, and why.
pub struct WrongField {
    /// The field's name in the form.
    pub field: Cow<'static, str>,
    /// What is wrong, and what to do.
    pub told: Sentence,
}

/// The fields of a form that have to be corrected; the first one is enough to go on.
#[derive(Default)]
pub struct WrongFields(pub Option<WrongField>);

impl WrongFields {
    /// What is wrong with this field.
    pub(crate) fn at(&self, field: &str) -> Option<String> {
        let wrong = self.0.as_ref().filter(|wrong| wrong.field == field)?;
        let text = text::sentence(&wrong.told.text);
        Some(match &wrong.told.hint {
            Some(hint) => format!("{text} {}", text::sentence(hint)),
            None => text,
        })
    }

    /// What is wrong without being about one field.
    pub(crate) fn elsewhere(&self) -> Option<String> {
        self.at("")
    }

    /// Whether this field has to be corrected.
    pub(crate) fn is_at(&self, field: &str) -> bool {
        self.0.as_ref().is_some_and(|wrong| wrong.field == field)
    }
}

impl From<WrongField> for WrongFields {
    fn from(wrong: WrongField) -> Self {
        Self(Some(wrong))
    }
}
