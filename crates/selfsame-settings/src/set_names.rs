//! Which settings a file names: the others may get their values from a profile.

use std::collections::BTreeSet;

use crate::document::SettingsDocument;

/// The settings that a file names.
#[derive(Debug)]
pub struct SetNames(BTreeSet<String>);

impl SetNames {
    /// Those of a file with this content.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let settings = SettingsDocument::of(text).settings();
        Self(settings.into_iter().map(|named| named.path).collect())
    }

    /// Whether the file names a setting of a section; one of a section below it as `attestation.keys`.
    #[must_use]
    pub fn has(&self, section: &str, name: &str) -> bool {
        self.0.contains(&format!("{section}.{name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_named_in_its_section_whatever_its_value_is() {
        let text = "[issuer]\nprofile = \"haip\"\nformats = []\n[issuer.attestation]\nkeys = false\n\
                    [verifier]\nname = \"A\"\n";
        let set = SetNames::of(text);
        for (section, name) in [
            ("issuer", "formats"),
            ("issuer", "attestation.keys"),
            ("verifier", "name"),
        ] {
            assert!(set.has(section, name), "{section} {name}");
        }
        for (section, name) in [
            ("issuer", "identify_by"),
            ("issuer", "attestation.wallets"),
            ("verifier", "formats"),
        ] {
            assert!(!set.has(section, name), "{section} {name}");
        }
    }
}
