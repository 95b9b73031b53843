//! What several tests share: vectors.

use std::collections::HashMap;

use selfsame_crypto::encoding::hex_decode;

/// The values of a vector file, by name.
pub(crate) struct Vectors(HashMap<String, Vec<u8>>);

impl Vectors {
    /// Reads lines of `name: hex`; lines that begin with a space continue a value, those with `#` say something.
    pub(crate) fn parse(text: &str) -> Self {
        let mut values: HashMap<String, String> = HashMap::new();
        let mut name = "";
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let mut value = line.trim();
            if !line.starts_with(' ') {
                (name, value) = line.split_once(':').unwrap();
                assert!(!values.contains_key(name), "{name} stands twice");
            }
            values
                .entry(name.to_owned())
                .or_default()
                .push_str(value.trim());
        }
        let decode = |(name, hex): (String, String)| (name, hex_decode(&hex).unwrap());
        Self(values.into_iter().map(decode).collect())
    }

    pub(crate) fn get(&self, name: &str) -> &[u8] {
        self.0
            .get(name)
            .unwrap_or_else(|| panic!("no vector named {name}"))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

pub(crate) fn rfc8448() -> Vectors {
    Vectors::parse(include_str!("../../../vectors/tls/rfc8448-simple-1rtt.txt"))
}
