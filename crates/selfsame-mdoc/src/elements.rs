//! The elements of known documents, and their values from JSON to CBOR: driving licences (ISO/IEC 18013-5 §7.2),
//! identification data (EU PID rulebook §3), immunization records (ISO/IEC 23220-2 style `org.micov`).

mod encode;
mod models;

pub use encode::{encode_as, encode_element, generic};
pub use models::{IMMUNIZATION, MDL, PID};

/// The namespace of driving licences.
pub const MDL_NAMESPACE: &str = "org.iso.18013.5.1";

/// A kind of document, its namespaces and their elements.
#[derive(Clone, Copy, Debug)]
pub struct DocumentModel {
    /// The type of the document.
    pub doc_type: &'static str,
    /// Its namespaces.
    pub namespaces: &'static [NamespaceModel],
}

/// A namespace and its elements.
#[derive(Clone, Copy, Debug)]
pub struct NamespaceModel {
    /// The namespace.
    pub name: &'static str,
    /// Its elements.
    pub elements: &'static [ElementModel],
}

/// An element.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ElementModel {
    /// Its name.
    pub name: &'static str,
    /// What its values are.
    pub kind: ElementKind,
    /// Whether each document of the kind has it.
    pub mandatory: bool,
}

/// What the values of an element are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ElementKind {
    /// A text of at most 150 characters.
    Text,
    /// A text of any length.
    LongText,
    /// A day.
    Day,
    /// A day, or a time in UTC.
    DayOrTime,
    /// A truth.
    Bool,
    /// A number from 0.
    Number,
    /// An image, or other bytes; in JSON base64, base64url, or a `data:` URL.
    Bytes,
    /// A country (ISO 3166-1 alpha-2).
    Country,
    /// Countries.
    Countries,
    /// A list or a map of others, whose days are named as such.
    Nested,
}

impl ElementKind {
    /// The kind, for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "a text of at most 150 characters",
            Self::LongText => "a text",
            Self::Day => "a day (YYYY-MM-DD)",
            Self::DayOrTime => "a day (YYYY-MM-DD) or a time in UTC",
            Self::Bool => "true or false",
            Self::Number => "a number from 0",
            Self::Bytes => "bytes in base64, or a data: URL",
            Self::Country => "a country of two letters",
            Self::Countries => "a list of countries of two letters",
            Self::Nested => "a list or an object",
        }
    }
}

/// The kinds of documents that are known.
pub const KNOWN: [&DocumentModel; 3] = [&MDL, &PID, &IMMUNIZATION];

/// The kind of document with this type.
pub fn model(doc_type: &str) -> Option<&'static DocumentModel> {
    KNOWN.into_iter().find(|model| model.doc_type == doc_type)
}

impl DocumentModel {
    /// The element of a namespace; of the form `age_over_NN` as well.
    pub fn element(&self, namespace: &str, element: &str) -> Option<ElementModel> {
        let namespace = self.namespaces.iter().find(|one| one.name == namespace)?;
        let mut elements = namespace.elements.iter();
        let named = elements.find(|one| one.name == element).copied();
        named.or_else(|| is_age(element).then_some(AGE_OVER))
    }

    /// The mandatory elements that are not among these of a namespace.
    pub fn missing(&self, namespace: &str, names: &[&str]) -> Vec<&'static str> {
        let namespaces = self.namespaces.iter().filter(|one| one.name == namespace);
        let elements = namespaces.flat_map(|one| one.elements);
        let missing = elements.filter(|one| one.mandatory && !names.contains(&one.name));
        missing.map(|one| one.name).collect()
    }
}

const AGE_OVER: ElementModel = ElementModel {
    name: "age_over_NN",
    kind: ElementKind::Bool,
    mandatory: false,
};

/// ISO/IEC 18013-5 §7.2.5.
fn is_age(element: &str) -> bool {
    let digits = element.strip_prefix("age_over_").unwrap_or_default();
    digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests;
