//! The requirements on addresses and passwords.

use selfsame_crypto::SecretString;
use selfsame_driver::{Error, Result};

/// RFC 5321 §4.5.3.1.3, without the angle brackets.
pub(super) const ADDRESS_MAX: usize = 254;
/// Words that attackers try first.
const GUESSED_FIRST: [&str; 20] = [
    "admin",
    "administrator",
    "changeme",
    "football",
    "iloveyou",
    "kennwort",
    "letmein",
    "monkey",
    "passwd",
    "password",
    "passwort",
    "princess",
    "qwerty",
    "qwertz",
    "secret",
    "selfsame",
    "sunshine",
    "superman",
    "wallet",
    "welcome",
];
/// Rows of characters that are typed in sequence.
const ROWS: [&str; 7] = [
    "abcdefghijklmnopqrstuvwxyz",
    "01234567890123456789",
    "12345678901234567890",
    "qwertyuiopasdfghjklzxcvbnm",
    "qwertzuiopasdfghjklyxcvbnm",
    "azertyuiopqsdfghjklmwxcvbn",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm",
];
/// Minimum number of different characters.
const DIFFERENT_MIN: usize = 3;

/// The address in the form it is stored in.
///
/// # Errors
/// `BadRequest` for text that is not an address, or that looks like another address.
pub(super) fn address(email: &str) -> Result<String> {
    let email = email.trim().to_lowercase();
    let fits = email.len() <= ADDRESS_MAX
        && !email.chars().any(|c| c.is_whitespace() || c.is_control())
        && email.split_once('@').is_some_and(|(local, host)| {
            !local.is_empty() && !host.is_empty() && !host.contains('@')
        });
    if !fits {
        return Err(no_address());
    }
    if email.chars().any(is_unseen) {
        return Err(Error::bad_request("address-invisible-characters"));
    }
    let mut words = email.split(|c: char| !c.is_alphabetic());
    match words.any(mixes_scripts) {
        true => Err(Error::bad_request("address-mixed-scripts")),
        false => Ok(email),
    }
}

/// The error for text that is not an address.
pub(super) fn no_address() -> Error {
    Error::bad_request("address-malformed")
}

/// Checks a password for the person with this address.
///
/// # Errors
/// `BadRequest`, with what to do.
pub(super) fn password(password: &SecretString, email: &str) -> Result<()> {
    match password.expose().chars().count() {
        0..=9 => Err(Error::bad_request("password-short")),
        10..=256 if is_guessed_first(password.expose(), email) => {
            Err(Error::bad_request("password-common"))
        }
        10..=256 => Ok(()),
        _ => Err(Error::bad_request("password-long")),
    }
}

fn is_guessed_first(password: &str, email: &str) -> bool {
    let password = password.to_lowercase();
    let mut different: Vec<char> = password.chars().collect();
    different.sort_unstable();
    different.dedup();
    if different.len() < DIFFERENT_MIN || is_typed_along(&password) {
        return true;
    }
    let (local, _) = email.split_once('@').unwrap_or((email, ""));
    if password == email {
        return true;
    }
    // A word with other characters around it.
    let around = |c: char| !c.is_alphabetic();
    let bare = password.trim_matches(around);
    let plain: String = bare.chars().map(unmasked).collect();
    let is_word =
        |word: &str| !word.is_empty() && (bare == word || plain == word || plain == word.repeat(2));
    GUESSED_FIRST.iter().any(|word| is_word(word)) || is_word(local.trim_matches(around))
}

fn is_typed_along(password: &str) -> bool {
    let reversed: String = password.chars().rev().collect();
    let goes_along = |text: &str| ROWS.iter().any(|row| row.contains(text));
    goes_along(password) || goes_along(&reversed)
}

/// The letter that a character stands for in a word.
fn unmasked(c: char) -> char {
    match c {
        '0' => 'o',
        '1' | '!' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        other => other,
    }
}

/// Marks of direction and format, and characters without width (Unicode general category Cf, and fillers).
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{115f}' | '\u{1160}'
        | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Scripts with letters that look like those of another script.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Alike {
    Latin,
    Greek,
    Cyrillic,
    Armenian,
    Cherokee,
}

/// Whether one word mixes letters of several look-alike scripts (Unicode TR 39 §5.2).
fn mixes_scripts(word: &str) -> bool {
    let mut scripts = word.chars().filter_map(script);
    match scripts.next() {
        Some(first) => scripts.any(|other| other != first),
        None => false,
    }
}

fn script(c: char) -> Option<Alike> {
    Some(match c {
        'a'..='z'
        | 'A'..='Z'
        | '\u{aa}'
        | '\u{ba}'
        | '\u{c0}'..='\u{24f}'
        | '\u{250}'..='\u{2af}'
        | '\u{1d00}'..='\u{1d25}'
        | '\u{1e00}'..='\u{1eff}'
        | '\u{2c60}'..='\u{2c7f}'
        | '\u{a722}'..='\u{a7ff}'
        | '\u{ab30}'..='\u{ab64}'
        | '\u{ff21}'..='\u{ff5a}' => Alike::Latin,
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Alike::Greek,
        '\u{400}'..='\u{52f}'
        | '\u{1c80}'..='\u{1c8f}'
        | '\u{2de0}'..='\u{2dff}'
        | '\u{a640}'..='\u{a69f}' => Alike::Cyrillic,
        '\u{531}'..='\u{58f}' => Alike::Armenian,
        '\u{13a0}'..='\u{13ff}' | '\u{ab70}'..='\u{abbf}' => Alike::Cherokee,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(password: &str) -> bool {
        let secret = SecretString::from(password.to_owned());
        super::password(&secret, "maja.keller@example.org").is_ok()
    }

    #[test]
    fn passwords_that_are_guessed_first_are_refused() {
        for guessed in [
            "aaaaaaaaaa",
            "abababababab",
            "password12",
            "Password2024!",
            "P@ssw0rd123",
            "passwordpassword",
            "1234567890",
            "0987654321",
            "abcdefghij",
            "qwertyuiop",
            "1qaz2wsx3edc",
            "welcome1234",
            "maja.keller@example.org",
            "maja.keller1",
        ] {
            assert!(!takes(guessed), "{guessed}");
        }
    }

    #[test]
    fn passwords_of_some_words_or_of_chance_are_taken() {
        for taken in [
            "a long password",
            "correct horse battery",
            "ÄÖÜäöüßéèê",
            "x7Kq!pT2mz",
            "my welcome mat is red",
            "8305172946",
        ] {
            assert!(takes(taken), "{taken}");
        }
    }

    #[test]
    fn an_address_holds_nothing_unseen_and_no_letters_that_look_like_others() {
        for taken in [
            "maja@example.org",
            "zoë.müller+card@exämple.org",
            "мария@пример.рф",
            "мария@example.org",
            "田中@例え.jp",
        ] {
            assert_eq!(address(taken).unwrap(), taken);
        }
        for refused in [
            "m\u{430}ja@example.org",
            "maja@ex\u{430}mple.org",
            "maj\u{3b1}@example.org",
            "maja\u{202e}@example.org",
            "ma\u{200b}ja@example.org",
            "maja@example.org\u{2069}",
            "ma\u{ad}ja@example.org",
        ] {
            assert!(address(refused).is_err(), "{}", refused.escape_unicode());
        }
    }
}
