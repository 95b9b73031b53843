//! A text for people in each of some languages.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

// An instance holds those of many organisations, so they take no more memory than their texts need.
/// A text for people by language: the key is a language tag (BCP 47), such as `en` or `de-AT`.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[schema(value_type = BTreeMap<String, String>)]
#[serde(
    from = "BTreeMap<Box<str>, Box<str>>",
    into = "BTreeMap<Box<str>, Box<str>>"
)]
pub struct Labels(
    /// In the order of the languages.
    Box<[LabelEntry]>,
);

#[derive(Clone, Debug, Eq, PartialEq)]
struct LabelEntry {
    language: Box<str>,
    text: Box<str>,
}

impl Labels {
    /// No text.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The text in a language.
    #[must_use]
    pub fn get(&self, language: &str) -> Option<&str> {
        let place = self.place(language).ok()?;
        Some(&self.0.get(place)?.text)
    }

    /// The languages.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|entry| &*entry.language)
    }

    /// The languages, each with its text.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let entries = self.0.iter();
        entries.map(|entry| (&*entry.language, &*entry.text))
    }

    /// The number of languages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sets the text in a language.
    pub fn insert(&mut self, language: &str, text: &str) {
        let text = text.into();
        let mut entries = std::mem::take(&mut self.0).into_vec();
        match entries.binary_search_by(|entry| (*entry.language).cmp(language)) {
            Ok(place) => entries[place].text = text,
            Err(place) => {
                let language = language.into();
                entries.insert(place, LabelEntry { language, text });
            }
        }
        self.0 = entries.into();
    }

    /// Keeps the texts in some languages.
    pub fn retain(&mut self, mut is_kept: impl FnMut(&str) -> bool) {
        let mut entries = std::mem::take(&mut self.0).into_vec();
        entries.retain(|entry| is_kept(&entry.language));
        self.0 = entries.into();
    }

    /// Removes all texts.
    pub fn clear(&mut self) {
        self.0 = Box::default();
    }

    fn place(&self, language: &str) -> Result<usize, usize> {
        let entries = &self.0;
        entries.binary_search_by(|entry| (*entry.language).cmp(language))
    }
}

/// The text in English, or else the first one.
#[must_use]
pub fn text_of(labels: &Labels) -> &str {
    let first = || labels.iter().next().map(|(_, text)| text);
    labels.get("en").or_else(first).unwrap_or_default()
}

impl From<BTreeMap<Box<str>, Box<str>>> for Labels {
    fn from(texts: BTreeMap<Box<str>, Box<str>>) -> Self {
        let entry = |(language, text)| LabelEntry { language, text };
        Self(texts.into_iter().map(entry).collect())
    }
}

impl From<Labels> for BTreeMap<Box<str>, Box<str>> {
    fn from(labels: Labels) -> Self {
        let entries = labels.0.into_iter();
        entries.map(|entry| (entry.language, entry.text)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay_in_the_order_of_their_languages_and_the_later_one_counts() {
        let mut labels: Labels = serde_json::from_str(r#"{"fr": "Nom", "en": "Name"}"#).unwrap();
        labels.insert("de", "Name");
        labels.insert("en", "Full name");
        assert_eq!(labels.keys().collect::<Vec<_>>(), ["de", "en", "fr"]);
        assert_eq!(text_of(&labels), "Full name");
        labels.retain(|language| language != "en");
        assert_eq!((labels.get("en"), text_of(&labels)), (None, "Name"));
        let json = serde_json::to_string(&labels).unwrap();
        assert_eq!(json, r#"{"de":"Name","fr":"Nom"}"#);
    }

    #[test]
    fn a_text_takes_no_more_memory_than_it_needs() {
        assert_eq!(size_of::<Labels>(), 2 * size_of::<usize>());
        assert_eq!(size_of::<LabelEntry>(), 4 * size_of::<usize>());
    }
}
