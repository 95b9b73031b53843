//! Names of businesses of which there are as many as there are businesses. The same number gives the same name.

use crate::business::Business;

/// The seed of the businesses that are loaded.
const SEED: u64 = 2;
/// Invented words; the first ones are much more frequent than the later ones.
const WORDS: u64 = 200_000;

/// Numbers that look random and are the same in each run (SplitMix64, Steele, Lea and Flood 2014).
pub(super) struct Draw(u64);

impl Draw {
    /// The numbers of a seed.
    pub const fn of(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// One of these, if there are any.
    pub fn one<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        let place = self.below(of.len() as u64);
        of.get(usize::try_from(place).ok()?)
    }

    /// An invented word.
    pub fn word(&mut self) -> String {
        let ranks = [self.below(WORDS), self.below(WORDS), self.below(WORDS)];
        word(ranks.into_iter().min().unwrap_or_default())
    }
}

/// The word of a rank, of two to four syllables.
fn word(rank: u64) -> String {
    const FIRST: [&str; 12] = ["B", "K", "D", "F", "Gr", "L", "M", "N", "St", "R", "T", "V"];
    const THEN: [&str; 10] = ["a", "e", "i", "o", "u", "ai", "on", "er", "an", "el"];
    let mut draw = Draw(rank);
    let mut word = String::new();
    for syllable in 0..2 + draw.below(3) {
        let first = draw.one(&FIRST).copied().unwrap_or_default();
        match syllable {
            0 => word.push_str(first),
            _ => word.push_str(&first.to_lowercase()),
        }
        word.push_str(draw.one(&THEN).copied().unwrap_or_default());
    }
    word
}

/// Business number `number` of those that are loaded.
pub(super) fn business(number: u64) -> Business {
    let mut business = Business::of(SEED, number);
    let mut draw = Draw(number.wrapping_mul(7_919));
    let own = match draw.below(2) {
        0 => draw.word(),
        _ => format!("{} {}", draw.word(), draw.word()),
    };
    business.legal_name = format!("{own} {}", business.legal_name);
    business
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_number_gives_the_same_name_again_and_most_names_are_there_once() {
        let names = || (0..2_000).map(|number| business(number).legal_name);
        assert!(names().eq(names()));
        assert!(names().collect::<BTreeSet<_>>().len() > 1_950);
    }

    #[test]
    fn some_words_are_much_more_frequent_than_others() {
        let mut draw = Draw::of(1);
        let words: Vec<String> = (0..20_000).map(|_| draw.word()).collect();
        let different = words.iter().collect::<BTreeSet<_>>().len();
        assert!((2_000..19_000).contains(&different), "{different}");
    }
}
