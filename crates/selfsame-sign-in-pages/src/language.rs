//! The languages of the pages, and which of them a person gets.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::plural::PluralForm;

/// A language of the pages, read from its file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageLanguage {
    language: LanguageHead,
    messages: BTreeMap<String, PageMessage>,
}

/// What a file says of its language.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LanguageHead {
    tag: String,
    name: String,
    direction: TextDirection,
}

/// The direction in which a language is written.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum TextDirection {
    /// From left to right.
    Ltr,
    /// From right to left.
    Rtl,
}

/// A message: a text, or a text for each plural form of a number.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum PageMessage {
    /// A text.
    Text(String),
    /// A text for each form.
    Counted(BTreeMap<PluralForm, String>),
}

/// The files, English first. A new language is a line here.
const FILES: [&str; 5] = [
    include_str!("../messages/en.toml"),
    include_str!("../messages/fr.toml"),
    include_str!("../messages/ar.toml"),
    include_str!("../messages/hi.toml"),
    include_str!("../messages/pt.toml"),
];

static LANGUAGES: LazyLock<Vec<PageLanguage>> =
    // A test reads each file, so none is left out.
    LazyLock::new(|| {
        FILES
            .iter()
            .filter_map(|file| toml::from_str(file).ok())
            .collect()
    });

impl PageLanguage {
    /// Every language, English first.
    #[must_use]
    pub fn all() -> &'static [Self] {
        &LANGUAGES
    }

    /// The first language of `ui_locales` that the pages have, else the best one of `Accept-Language`, else English
    /// (OpenID Connect Core §3.1.2.1, RFC 9110 §12.5.4). A tag with a region stands for its language.
    #[must_use]
    pub fn best(ui_locales: &[String], accepted: Option<&str>) -> &'static Self {
        let accepted = accepted.map(by_preference).unwrap_or_default();
        let wanted = ui_locales.iter().map(String::as_str).chain(accepted);
        let mut found = wanted.filter_map(Self::of);
        found.next().unwrap_or_else(|| Self::english())
    }

    /// The language of a tag.
    #[must_use]
    pub fn of(tag: &str) -> Option<&'static Self> {
        let wanted = tag.split(['-', '_']).next()?;
        let mut all = Self::all().iter();
        all.find(|one| one.language.tag.eq_ignore_ascii_case(wanted))
    }

    /// English, which is always there.
    #[must_use]
    pub fn english() -> &'static Self {
        static NONE: LazyLock<PageLanguage> = LazyLock::new(PageLanguage::without_messages);
        Self::all().first().unwrap_or(&NONE)
    }

    fn without_messages() -> Self {
        Self {
            language: LanguageHead {
                tag: "en".to_owned(),
                name: "English".to_owned(),
                direction: TextDirection::Ltr,
            },
            messages: BTreeMap::new(),
        }
    }

    /// Its tag (BCP 47).
    #[must_use]
    pub fn tag(&self) -> &str {
        &self.language.tag
    }

    /// What it calls itself.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.language.name
    }

    /// Its direction, for the attribute `dir`.
    #[must_use]
    pub fn direction(&self) -> &'static str {
        match self.language.direction {
            TextDirection::Ltr => "ltr",
            TextDirection::Rtl => "rtl",
        }
    }

    /// Whether it has a message of its own for this key.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.messages.contains_key(key)
    }

    /// The keys of its messages.
    #[cfg(test)]
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.messages.keys().map(String::as_str)
    }

    pub(crate) fn message(&self, key: &str) -> Option<&PageMessage> {
        self.messages.get(key)
    }
}

/// The tags of `Accept-Language`, the preferred ones first. A weight of 0 means that the language is not wanted.
fn by_preference(accepted: &str) -> Vec<&str> {
    let mut wanted: Vec<(&str, u16)> = accepted.split(',').take(32).filter_map(weighed).collect();
    wanted.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight));
    wanted.into_iter().map(|(tag, _)| tag).collect()
}

/// A tag with its weight in thousandths.
fn weighed(range: &str) -> Option<(&str, u16)> {
    let (tag, parameter) = range.split_once(';').unwrap_or((range, "q=1"));
    let weight: f32 = parameter.trim().strip_prefix("q=")?.parse().ok()?;
    let thousandths = (weight.clamp(0.0, 1.0) * 1_000.0) as u16;
    (thousandths > 0).then_some((tag.trim(), thousandths))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(ui_locales: &[&str], accepted: Option<&str>) -> &'static str {
        let ui_locales: Vec<String> = ui_locales.iter().map(|tag| (*tag).to_owned()).collect();
        PageLanguage::best(&ui_locales, accepted).tag()
    }

    #[test]
    fn the_file_of_each_language_can_be_read() {
        for file in FILES {
            toml::from_str::<PageLanguage>(file).unwrap();
        }
        let tags: Vec<&str> = PageLanguage::all().iter().map(PageLanguage::tag).collect();
        assert_eq!(tags, ["en", "fr", "ar", "hi", "pt"]);
    }

    #[test]
    fn the_service_says_the_language_then_the_browser() {
        assert_eq!(best(&["de", "fr-CA", "ar"], Some("hi")), "fr");
        assert_eq!(best(&["de"], Some("de, pt-BR;q=0.5, hi;q=0.8")), "hi");
        assert_eq!(best(&[], Some("de, ar;q=0, pt_BR")), "pt");
        assert_eq!(best(&[], Some("en-GB,en;q=0.9,fr;q=0.8")), "en");
        for nonsense in ["", ";;;", "fr;q=x", "*", "\u{1F600}"] {
            assert_eq!(best(&[], Some(nonsense)), "en", "{nonsense}");
        }
        assert_eq!(best(&[], None), "en");
    }
}
