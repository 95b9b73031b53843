//! Names of organisations in addresses.

use std::fmt;

use selfsame_driver::{Error, Result};
use serde::{Deserialize, Serialize};

/// Maximum number of characters: that of a label of a host name, so that a name can become one.
const MAX: usize = 63;
/// The name of the organisation that every instance has.
const MAIN: &str = "main";
/// Names that addresses use for something else.
const RESERVED: [&str; 8] = [
    MAIN, "new", "api", "all", "issuer", "verifier", "wallet", "instance",
];

/// The name of an organisation in addresses: lower-case letters, digits and single hyphens between them.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct OrganisationName(String);

impl OrganisationName {
    /// The name of the organisation that every instance has.
    #[must_use]
    pub fn main() -> Self {
        Self(MAIN.to_owned())
    }

    /// Parses a name.
    ///
    /// # Errors
    /// `BadRequest` for other characters, and for a name that is too long.
    pub fn parse(text: &str) -> Result<Self> {
        let fits = (1..=MAX).contains(&text.len())
            && text
                .bytes()
                .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
            && text.split('-').all(|part| !part.is_empty());
        if !fits {
            return Err(Error::bad_request("organisation-name-malformed").with("maximum", &MAX));
        }
        Ok(Self(text.to_owned()))
    }

    /// Parses the name of an organisation that is to be created.
    ///
    /// # Errors
    /// As [`Self::parse`], and `BadRequest` for a reserved name.
    pub fn for_new(text: &str) -> Result<Self> {
        let name = Self::parse(text)?;
        if RESERVED.contains(&name.as_str()) {
            return Err(Error::bad_request("organisation-name-reserved").with("name", &name));
        }
        Ok(name)
    }

    /// The name that a title suggests: its letters and digits without their marks, and hyphens between the words.
    #[must_use]
    pub fn suggested(title: &str) -> Option<Self> {
        let mut name = String::new();
        for letter in title.trim().to_lowercase().chars() {
            match letter {
                'a'..='z' | '0'..='9' => name.push(letter),
                'ä' | 'æ' => name.push_str("ae"),
                'ö' | 'œ' | 'ø' => name.push_str("oe"),
                'ü' => name.push_str("ue"),
                'ß' => name.push_str("ss"),
                'à'..='å' => name.push('a'),
                'ç' => name.push('c'),
                'è'..='ë' => name.push('e'),
                'ì'..='ï' => name.push('i'),
                'ñ' => name.push('n'),
                'ò'..='õ' => name.push('o'),
                'ù'..='û' => name.push('u'),
                'ý' | 'ÿ' => name.push('y'),
                '\'' | '’' => {}
                _ if name.is_empty() || name.ends_with('-') => {}
                _ => name.push('-'),
            }
        }
        name.truncate(MAX);
        Self::for_new(name.trim_end_matches('-')).ok()
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it names the organisation that every instance has.
    #[must_use]
    pub fn is_main(&self) -> bool {
        self.0 == MAIN
    }

    /// What two names have in common that people can take for each other: hyphens are left out, and characters that
    /// look alike are one.
    #[must_use]
    pub fn skeleton(&self) -> String {
        skeleton(&self.0)
    }
}

impl fmt::Display for OrganisationName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl TryFrom<String> for OrganisationName {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        Self::parse(&text)
    }
}

impl From<OrganisationName> for String {
    fn from(name: OrganisationName) -> Self {
        name.0
    }
}

/// What a label looks like: hyphens are left out, and characters that look alike are one.
pub(super) fn skeleton(label: &str) -> String {
    let joined = label.replace('-', "").replace("rn", "m").replace("vv", "w");
    let alike = |letter| match letter {
        '0' => 'o',
        '1' | 'i' => 'l',
        '5' => 's',
        '8' => 'b',
        other => other,
    };
    joined.chars().map(alike).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_label_of_a_host_name() {
        for right in ["a", "acme", "ministry-of-health", "7-eleven", "main"] {
            assert!(OrganisationName::parse(right).is_ok(), "{right}");
        }
        let long = "a".repeat(MAX + 1);
        for wrong in [
            "", "-a", "a-", "a--b", "Acme", "a.b", "a/b", "ácme", "a b", &long,
        ] {
            let refused = OrganisationName::parse(wrong).unwrap_err();
            assert_eq!(
                refused.reason.id(),
                "organisation-name-malformed",
                "{wrong}"
            );
        }
    }

    #[test]
    fn a_title_suggests_a_name() {
        for (title, name) in [
            ("Acme Corporation", "acme-corporation"),
            ("Bürgeramt Straße (Mitte)", "buergeramt-strasse-mitte"),
            ("  L’Hôpital d'Été, 3 ", "lhopital-dete-3"),
            (
                &"long ".repeat(20),
                "long-long-long-long-long-long-long-long-long-long-long-long-lon",
            ),
        ] {
            let suggested = OrganisationName::suggested(title).unwrap();
            assert_eq!(suggested.as_str(), name);
        }
        for title in ["", "東京都", "Main", "!"] {
            assert_eq!(OrganisationName::suggested(title), None, "{title}");
        }
    }

    #[test]
    fn a_reserved_name_is_refused_for_a_new_organisation() {
        for reserved in RESERVED {
            let refused = OrganisationName::for_new(reserved).unwrap_err();
            assert_eq!(refused.reason.id(), "organisation-name-reserved");
        }
        assert!(OrganisationName::for_new("acme").is_ok());
    }

    #[test]
    fn names_that_look_alike_have_one_skeleton() {
        let skeleton = |name| OrganisationName::parse(name).unwrap().skeleton();
        for (one, other) in [
            ("acme", "ac-me"),
            ("google", "g00gle"),
            ("modern", "modem"),
            ("illinois", "1ll1n0l5"),
        ] {
            assert_eq!(skeleton(one), skeleton(other));
        }
        assert_ne!(skeleton("acme"), skeleton("acne"));
    }
}
