//! Words of a text as they are searched, and how far apart two words are.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Maximum number of words that are taken of a text.
pub const WORDS_MAX: usize = 64;
/// Maximum number of characters of a word. A longer one is cut.
pub const WORD_MAX: usize = 40;

/// The words of a text: without case, without accents, at most [`WORDS_MAX`]. A character of a script that does not
/// separate words is a word by itself. They have letters and digits only, so no index can take one for its syntax.
#[must_use]
pub fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut length = 0_usize;
    let folded = text.nfkd().filter(|one| !is_combining_mark(*one));
    for one in folded.flat_map(char::to_lowercase).nfc() {
        if words.len() >= WORDS_MAX {
            return words;
        }
        let alone = stands_alone(one);
        if alone || !one.is_alphanumeric() {
            if !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            length = 0;
        }
        if alone {
            words.push(one.to_string());
        } else if one.is_alphanumeric() && length < WORD_MAX {
            word.push(one);
            length = length.saturating_add(1);
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words.truncate(WORDS_MAX);
    words
}

/// The words of a text, joined by blanks: equal for texts that differ in case, accents and punctuation only.
#[must_use]
pub fn normal(text: &str) -> String {
    words(text).join(" ")
}

/// Whether a character is of a script that does not separate words: kana, Han characters, Thai and its neighbours.
fn stands_alone(one: char) -> bool {
    let script = matches!(one,
        '\u{0e00}'..='\u{0eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{20000}'..='\u{3ffff}'
    );
    script && one.is_alphanumeric()
}

/// The groups of three neighbouring characters of a word, with its beginning and its end marked by blanks.
#[must_use]
pub fn trigrams(word: &str) -> Vec<String> {
    let mut characters = vec![' ', ' '];
    characters.extend(word.chars().take(WORD_MAX));
    characters.push(' ');
    let mut groups: Vec<String> = characters
        .windows(3)
        .map(|group| group.iter().collect())
        .collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}

/// The number of typing errors that are forgiven in a word: none in a short one, two in a long one.
#[must_use]
pub fn errors_forgiven(word: &str) -> usize {
    match word.chars().count() {
        0..=3 => 0,
        4..=7 => 1,
        _ => 2,
    }
}

/// The number of characters to add, leave out, replace or exchange with their neighbour to make one word of the other
/// (Damerau–Levenshtein distance without overlaps); `None` if it is greater than `most`.
#[must_use]
pub fn distance(one: &str, other: &str, most: usize) -> Option<usize> {
    let one: Vec<char> = one.chars().take(WORD_MAX).collect();
    let other: Vec<char> = other.chars().take(WORD_MAX).collect();
    if one.len().abs_diff(other.len()) > most {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=other.len()).collect();
    for (row, left) in one.iter().enumerate() {
        let mut now = vec![row.saturating_add(1)];
        for (column, right) in other.iter().enumerate() {
            let of = |cells: &[usize], at: usize| cells.get(at).copied().unwrap_or(usize::MAX);
            let next = column.saturating_add(1);
            let changed = of(&above, column).saturating_add(usize::from(left != right));
            let added = of(&now, column).saturating_add(1);
            let left_out = of(&above, next).saturating_add(1);
            let mut least = changed.min(added).min(left_out);
            let is_exchange = row > 0
                && column > 0
                && one.get(row.saturating_sub(1)) == Some(right)
                && other.get(column.saturating_sub(1)) == Some(left);
            if is_exchange {
                least = least.min(of(&before, column.saturating_sub(1)).saturating_add(1));
            }
            now.push(least);
        }
        before = std::mem::replace(&mut above, now);
    }
    above.last().copied().filter(|found| *found <= most)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn case_accents_and_punctuation_do_not_matter() {
        for text in [
            "Café Ångström, LTD.",
            "cafe angstrom ltd",
            "CAFÉ  ÅNGSTRÖM (Ltd)",
        ] {
            assert_eq!(normal(text), "cafe angstrom ltd", "{text}");
        }
        assert_eq!(words("O'Neil & Söhne GmbH"), ["o", "neil", "sohne", "gmbh"]);
        assert_eq!(words("株式会社A"), ["株", "式", "会", "社", "a"]);
        assert_eq!(words("ﬁrm ½"), ["firm", "1", "2"]);
        assert_eq!(words(" \"*) OR name:x -- "), ["or", "name", "x"]);
    }

    #[test]
    fn exchanged_left_out_and_added_characters_are_counted() {
        for (one, other, expected) in [
            ("safe", "sfae", Some(1)),
            ("mcdonalds", "mcdonadls", Some(1)),
            ("vancouver", "vancover", Some(1)),
            ("vancouver", "vancoveer", Some(2)),
            ("a", "b", Some(1)),
            ("same", "same", Some(0)),
            ("short", "quitelong", None),
            ("abcd", "wxyz", None),
        ] {
            assert_eq!(distance(one, other, 2), expected, "{one} {other}");
        }
    }

    proptest! {
        #[test]
        fn words_are_letters_and_digits_and_few(text in any::<String>()) {
            let words = words(&text);
            prop_assert!(words.len() <= WORDS_MAX);
            for word in &words {
                prop_assert!(!word.is_empty() && word.chars().count() <= WORD_MAX);
                prop_assert!(word.chars().all(char::is_alphanumeric), "{word}");
            }
        }

        #[test]
        fn words_of_words_are_the_same(text in any::<String>()) {
            let once = normal(&text);
            prop_assert_eq!(normal(&once), once);
        }

        #[test]
        fn one_error_is_at_distance_one(word in "[a-z]{4,20}", at in any::<prop::sample::Index>()) {
            let mut other: Vec<char> = word.chars().collect();
            other.remove(at.index(word.len()));
            let other: String = other.into_iter().collect();
            prop_assert_eq!(distance(&word, &other, 2), Some(1));
            prop_assert_eq!(distance(&other, &word, 2), Some(1));
        }
    }
}
