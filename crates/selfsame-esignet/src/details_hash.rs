//! The hash of a sign-in's details, by which a user interface proves that it has seen them.

use selfsame_crypto::{encoding, hash};

/// The hash of the JSON text of the details: base64url of its SHA-256.
///
/// A user interface reads the response and writes `response` again with `JSON.stringify`, so the text must be what that
/// writes: [`is_stable`].
#[must_use]
pub fn of(details: &str) -> String {
    encoding::base64url_encode(&hash::sha256(details.as_bytes()))
}

/// Whether `name` stays in its place as a member's name: JavaScript moves array indexes to the front (ECMA-262
/// §10.1.11.1).
#[must_use]
pub fn is_stable(name: &str) -> bool {
    let is_index = |number: u32| number < u32::MAX && number.to_string() == name;
    !name.parse().is_ok_and(is_index)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::prelude::*;

    use super::*;

    /// A text as `JSON.stringify` writes it (ECMA-262 §25.5.2.4).
    fn stringified(text: &str) -> String {
        let mut quoted = "\"".to_owned();
        for c in text.chars() {
            match c {
                '"' => quoted.push_str("\\\""),
                '\\' => quoted.push_str("\\\\"),
                '\u{8}' => quoted.push_str("\\b"),
                '\t' => quoted.push_str("\\t"),
                '\n' => quoted.push_str("\\n"),
                '\u{c}' => quoted.push_str("\\f"),
                '\r' => quoted.push_str("\\r"),
                c if c < ' ' => write!(quoted, "\\u{:04x}", u32::from(c)).unwrap(),
                c => quoted.push(c),
            }
        }
        quoted + "\""
    }

    proptest! {
        #[test]
        fn texts_are_written_as_a_user_interface_writes_them_again(
            text in proptest::collection::vec(any::<char>(), 0..32)
        ) {
            let text: String = text.into_iter().collect();
            prop_assert_eq!(serde_json::to_string(&text).unwrap(), stringified(&text));
        }

        #[test]
        fn whole_numbers_of_the_settings_too(number in 0..(1_u64 << 53)) {
            prop_assert_eq!(serde_json::to_string(&number).unwrap(), number.to_string());
        }
    }

    #[test]
    fn texts_with_control_characters_and_separators_are_written_alike() {
        let all: String = (0..0x3000).filter_map(char::from_u32).collect();
        assert_eq!(serde_json::to_string(&all).unwrap(), stringified(&all));
    }

    #[test]
    fn the_hash_is_that_of_the_text() {
        let hash = of("{\"transactionId\":\"a\"}");
        assert_eq!(hash, "vTbRVY5HVSY84Cc7E-wBfW_Q66120z-xczIKcNhUDFc");
    }

    #[test]
    fn names_that_look_like_array_indexes_do_not_stay_in_their_places() {
        for moved in ["0", "7", "4294967294"] {
            assert!(!is_stable(moved), "{moved}");
        }
        for stays in [
            "eng",
            "@none",
            "",
            "01",
            "-1",
            "1.0",
            "4294967295",
            "sbi.env",
        ] {
            assert!(is_stable(stays), "{stays}");
        }
    }
}
