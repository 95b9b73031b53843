//! A message as it stands on a page, with its values filled in.

use std::fmt;

use crate::language::{PageLanguage, PageMessage};
use crate::plural::PluralForm;

/// Marks a value whose direction differs from the text around it (Unicode UAX 9, §2.4).
const ISOLATE: char = '\u{2068}';
const END_OF_ISOLATE: char = '\u{2069}';
/// The name of the number that decides the form.
const COUNT: &str = "count";

/// A message with its values. As text it has each value in its place, kept apart from the direction of the text.
#[derive(Clone, Debug)]
pub struct Saying {
    language: &'static PageLanguage,
    key: String,
    count: u64,
    values: Vec<(&'static str, String)>,
}

impl PageLanguage {
    /// The message with this key. One that the language lacks is said in English, and an unknown one as its key.
    #[must_use]
    pub fn say(&'static self, key: &str) -> Saying {
        Saying {
            language: self,
            key: key.to_owned(),
            count: 0,
            values: Vec::new(),
        }
    }

    /// The text of a message for a number, before its values are filled in.
    pub(crate) fn pattern(&self, key: &str, count: u64) -> Option<&str> {
        match self.message(key)? {
            PageMessage::Text(text) => Some(text),
            PageMessage::Counted(forms) => {
                let form = forms.get(&PluralForm::of(self.tag(), count));
                form.or_else(|| forms.get(&PluralForm::Other))
                    .map(String::as_str)
            }
        }
    }
}

impl Saying {
    /// Fills a value in.
    #[must_use]
    pub fn fill(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        self.values.push((name, value.to_string()));
        self
    }

    /// Fills the number in, which decides the form of the text. Templates give it by reference, so it is taken as text.
    #[must_use]
    pub fn count(mut self, number: impl fmt::Display) -> Self {
        let number = number.to_string();
        self.count = number.parse().unwrap_or_default();
        self.fill(COUNT, number)
    }
}

impl fmt::Display for Saying {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = self.language.pattern(&self.key, self.count);
        let text = own.or_else(|| PageLanguage::english().pattern(&self.key, self.count));
        let mut rest = text.unwrap_or(&self.key);
        while let Some((before, after)) = rest.split_once('{') {
            let Some((name, behind)) = after.split_once('}') else {
                break;
            };
            f.write_str(before)?;
            let value = self.values.iter().find(|(known, _)| *known == name);
            match value {
                Some((_, number)) if name == COUNT => f.write_str(number)?,
                Some((_, value)) => write!(f, "{ISOLATE}{value}{END_OF_ISOLATE}")?,
                None => write!(f, "{{{name}}}")?,
            }
            rest = behind;
        }
        f.write_str(rest)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::Path;

    use super::*;

    fn said(tag: &str, key: &str) -> Saying {
        PageLanguage::of(tag).unwrap().say(key)
    }

    /// The names in braces of a text.
    fn names(text: &str) -> BTreeSet<&str> {
        let parts = text.split('{').skip(1);
        parts
            .filter_map(|part| part.split_once('}'))
            .map(|(name, _)| name)
            .collect()
    }

    /// The texts of a language by key: one, or one for each plural form.
    fn texts<'l>(language: &'l PageLanguage, key: &str) -> BTreeMap<Option<PluralForm>, &'l str> {
        match language.message(key).unwrap() {
            PageMessage::Text(text) => [(None, text.as_str())].into(),
            PageMessage::Counted(forms) => {
                let forms = forms.iter();
                forms
                    .map(|(form, text)| (Some(*form), text.as_str()))
                    .collect()
            }
        }
    }

    #[test]
    fn a_value_is_filled_in_once_and_kept_apart_from_the_direction_of_the_text() {
        let text = said("ar", "sign-in-to")
            .fill("client", "{client} & Co")
            .to_string();
        assert_eq!(text, "تسجيل الدخول إلى \u{2068}{client} & Co\u{2069}");
        assert_eq!(said("en", "sign-in-to").to_string(), "Sign in to {client}");
        assert_eq!(said("en", "no-such-key").to_string(), "no-such-key");
    }

    #[test]
    fn a_number_decides_the_form() {
        let minutes = |tag, number: u32| said(tag, "blocked-minutes").count(number).to_string();
        assert_eq!(minutes("en", 1), "Try again in 1 minute.");
        assert_eq!(minutes("en", 5), "Try again in 5 minutes.");
        assert_eq!(minutes("fr", 0), "Réessayez dans 0 minute.");
        assert!(minutes("ar", 3).contains("دقائق") && minutes("ar", 11).contains("دقيقة"));
    }

    #[test]
    fn every_language_has_every_message_with_the_same_values_and_its_own_plural_forms() {
        let english = PageLanguage::english();
        for language in PageLanguage::all() {
            let keys = |of: &'static PageLanguage| of.keys().collect::<BTreeSet<_>>();
            assert_eq!(keys(language), keys(english), "{}", language.name());
            for key in english.keys() {
                let (own, theirs) = (texts(language, key), texts(english, key));
                let expected: BTreeSet<&str> =
                    theirs.values().flat_map(|text| names(text)).collect();
                for text in own.values() {
                    assert!(!text.trim().is_empty(), "{} {key}", language.name());
                    assert_eq!(names(text), expected, "{} {key}", language.name());
                }
                let forms: Vec<PluralForm> = own.into_keys().flatten().collect();
                let is_counted = theirs.into_keys().all(|form| form.is_some());
                let expected = if is_counted {
                    PluralForm::all(language.tag())
                } else {
                    &[]
                };
                assert_eq!(forms, expected, "{} {key}", language.name());
            }
        }
    }

    /// Every file of a folder, as one text.
    fn files(folder: &str) -> String {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let files = std::fs::read_dir(folder).unwrap();
        let files = files
            .map(|file| file.unwrap().path())
            .filter(|path| path.is_file());
        files
            .map(|file| std::fs::read_to_string(file).unwrap())
            .collect()
    }

    #[test]
    fn every_message_is_said_somewhere_and_every_key_that_is_said_has_one() {
        let all = [files("templates"), files("src")].concat();
        let english = PageLanguage::english();
        for key in english.keys() {
            // These are put together of a fixed part and a name, or said by those who fill the pages.
            let elsewhere = ["claim-", "scope-", "wrong-", "error-"];
            let is_named = elsewhere.iter().any(|prefix| key.starts_with(prefix));
            assert!(
                is_named || all.contains(&format!("\"{key}\"")),
                "{key} is never said"
            );
        }
        let said = all.split("say(\"").skip(1);
        for key in said
            .filter_map(|rest| rest.split_once('"'))
            .map(|(key, _)| key)
        {
            let is_of_the_test = key == "no-such-key";
            assert!(is_of_the_test || english.has(key), "{key} has no message");
        }
    }
}
