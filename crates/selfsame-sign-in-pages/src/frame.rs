//! What stands around every page of a sign-in: the organisation, and the languages.

use std::fmt::Display;

use crate::language::PageLanguage;
use crate::said::Saying;

/// What stands around every page of a sign-in.
#[derive(Clone, Debug)]
pub struct SignInFrame {
    /// The language of the page.
    pub language: &'static PageLanguage,
    /// The files that the page loads.
    pub files: PageFiles,
    /// The organisation at which people sign in.
    pub organisation: PageOrganisation,
    /// The form token.
    pub form: String,
    /// The address of this page with its query, but for `ui_locales`; empty if it cannot be opened again.
    pub address: String,
}

/// The addresses of the files that a page loads.
#[derive(Clone, Debug, Default)]
pub struct PageFiles {
    /// The style sheet.
    pub style: String,
    /// The style sheet of the organisation's colours.
    pub colours: Option<String>,
    /// The script.
    pub script: String,
    /// The icon.
    pub icon: String,
}

/// The organisation at which people sign in.
#[derive(Clone, Debug, Default)]
pub struct PageOrganisation {
    /// Its name for people.
    pub title: String,
    /// The address of its logo; empty without one.
    pub logo: String,
    /// The class of its colours; empty without any.
    pub class: String,
}

/// A language that the page can be read in.
pub struct LanguageLink {
    /// Its tag.
    pub tag: &'static str,
    /// What it calls itself.
    pub name: &'static str,
    /// The address of the page in it.
    pub href: String,
    /// Whether the page is in it.
    pub is_current: bool,
}

impl SignInFrame {
    /// The message with this key.
    #[must_use]
    pub fn say(&self, key: &str) -> Saying {
        self.language.say(key)
    }

    /// The languages that the page can be read in.
    #[must_use]
    pub fn languages(&self) -> Vec<LanguageLink> {
        if self.address.is_empty() {
            return Vec::new();
        }
        let separator = match self.address.contains('?') {
            true => '&',
            false => '?',
        };
        let link = |language: &'static PageLanguage| LanguageLink {
            tag: language.tag(),
            name: language.name(),
            href: format!("{}{separator}ui_locales={}", self.address, language.tag()),
            is_current: language.tag() == self.language.tag(),
        };
        PageLanguage::all().iter().map(link).collect()
    }

    /// What a claim is called; its own name if the pages do not know it. A language after `#` is left out (OpenID
    /// Connect Core §5.2).
    pub(crate) fn claim(&self, name: &str) -> String {
        let plain = name.split('#').next().unwrap_or(name);
        self.known("claim", plain)
    }

    /// What a scope permits; its own name if the pages do not know it.
    pub(crate) fn scope(&self, name: &str) -> String {
        self.known("scope", name)
    }

    fn known(&self, kind: &str, name: &str) -> String {
        let key = format!("{kind}-{name}");
        match PageLanguage::english().has(&key) {
            true => self.say(&key).to_string(),
            false => name.to_owned(),
        }
    }
}

/// A time in figures that every language reads alike: RFC 3339 to the minute.
pub(crate) fn minute(time: impl Display) -> String {
    let text = time.to_string();
    match (text.get(..10), text.get(11..16)) {
        (Some(day), Some(minute)) => format!("{day} {minute} UTC"),
        _ => text,
    }
}
