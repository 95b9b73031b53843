//! Owns: recovery words, from a secret of 128 bits to words and back, and which of them is wrong.
//! Does not own: what the secret opens, randomness, files.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

mod code;
#[cfg(test)]
mod tests;

use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::{SecretString, hash};

use code::{CheckedCode, CodeCheck};

/// The words that there are, in the order of the alphabet. Their first four letters tell them apart.
static LIST: &str = include_str!("words.txt");
/// The number of words of a secret.
pub const COUNT: usize = 15;
/// The letters that tell words apart.
const TELLING: usize = 4;
/// What the key of the words is derived for.
const SEALS: &[u8] = b"selfsame recovery words v1";
/// The longest text that is read, in bytes.
const TEXT_MAX: usize = 1024;

/// A secret as words.
#[derive(Clone)]
pub struct RecoveryWords(CheckedCode);

/// Why words are refused. The words themselves are in no message.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum WordsFault {
    /// There are more or fewer words.
    #[error("there are {COUNT} recovery words, and these are {0}")]
    Count(usize),
    /// This word is not in the list. Words are counted from 1.
    #[error("word {0} is not a recovery word")]
    Unknown(usize),
    /// This word is in the list, and is the wrong one.
    #[error("word {0} is wrong")]
    Wrong(usize),
    /// Several words are wrong, or in another order.
    #[error("several words are wrong, or in another order")]
    Several,
}

impl RecoveryWords {
    /// The words of this secret, which must be random.
    #[must_use]
    pub fn of(secret: [u8; 16]) -> Self {
        Self(CheckedCode::of(secret))
    }

    /// Reads words as people type them: in any case, with any white space between them, each cut after four letters or
    /// whole.
    ///
    /// # Errors
    /// `WordsFault` with the place of the wrong word.
    pub fn parse(text: &str) -> Result<Self, WordsFault> {
        if text.len() > TEXT_MAX {
            return Err(WordsFault::Count(text.split_whitespace().count()));
        }
        let typed: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        let words: [String; COUNT] = typed
            .try_into()
            .map_err(|typed: Vec<String>| WordsFault::Count(typed.len()))?;
        let mut symbols = [0; COUNT];
        for ((place, symbol), word) in (1..).zip(&mut symbols).zip(&words) {
            *symbol = number(word).ok_or(WordsFault::Unknown(place))?;
        }
        match code::check(symbols) {
            CodeCheck::Right(code) => Ok(Self(code)),
            CodeCheck::Wrong(place) => Err(WordsFault::Wrong(place.saturating_add(1))),
            CodeCheck::Several => Err(WordsFault::Several),
        }
    }

    /// The key of what is sealed under the words. The secret is random, so it needs no stretching.
    #[must_use]
    pub fn key(&self) -> SealingKey {
        let digest = hash::sha256(self.text().expose().as_bytes());
        SealingKey::from_bytes(digest).derive(SEALS)
    }

    /// The words, with blanks between them: what people write down.
    #[must_use]
    pub fn text(&self) -> SecretString {
        let mut text = String::new();
        for symbol in self.0.symbols() {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(LIST.lines().nth(usize::from(symbol)).unwrap_or_default());
        }
        SecretString::from(text)
    }
}

/// The number of a word in the list.
fn number(word: &str) -> Option<u16> {
    let telling = |word: &str| -> String { word.chars().take(TELLING).collect() };
    let begin = telling(word);
    let mut numbered = (0_u16..).zip(LIST.lines());
    let (number, _) = numbered.find(|(_, known)| {
        // A shorter or a longer word that merely begins like one is another word.
        *known == word || (word.chars().count() == TELLING && telling(known) == begin)
    })?;
    Some(number)
}
