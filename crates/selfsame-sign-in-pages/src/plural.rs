//! The plural forms of numbers (CLDR, Language Plural Rules).

use serde::Deserialize;

/// A form that a language has for some numbers.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PluralForm {
    Zero,
    One,
    Two,
    Few,
    Many,
    Other,
}

impl PluralForm {
    /// The forms that a language has for whole numbers. A language that is not named here has one form for 1.
    #[cfg(test)]
    pub(crate) fn all(tag: &str) -> &'static [Self] {
        match tag {
            "ar" => &[
                Self::Zero,
                Self::One,
                Self::Two,
                Self::Few,
                Self::Many,
                Self::Other,
            ],
            "fr" | "pt" => &[Self::One, Self::Many, Self::Other],
            _ => &[Self::One, Self::Other],
        }
    }

    /// The form of a number in a language.
    pub(crate) fn of(tag: &str, number: u64) -> Self {
        match (tag, number) {
            ("ar", 0) => Self::Zero,
            ("ar", 2) => Self::Two,
            ("ar", _) if (3..=10).contains(&(number % 100)) => Self::Few,
            ("ar", _) if (11..=99).contains(&(number % 100)) => Self::Many,
            ("fr" | "pt" | "hi", 0) | (_, 1) => Self::One,
            ("fr" | "pt", _) if number != 0 && number.is_multiple_of(1_000_000) => Self::Many,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_has_its_own_forms() {
        use PluralForm::{Few, Many, One, Other, Two, Zero};
        let forms = |tag, numbers: &[u64]| -> Vec<PluralForm> {
            let forms = numbers.iter().map(|number| PluralForm::of(tag, *number));
            forms.collect()
        };
        assert_eq!(forms("en", &[0, 1, 2, 101]), [Other, One, Other, Other]);
        assert_eq!(forms("hi", &[0, 1, 2]), [One, One, Other]);
        assert_eq!(forms("fr", &[0, 1, 2, 2_000_000]), [One, One, Other, Many]);
        let expected = [Zero, One, Two, Few, Few, Many, Many, Other, Other, Few];
        assert_eq!(
            forms("ar", &[0, 1, 2, 3, 10, 11, 99, 100, 102, 103]),
            expected
        );
        for tag in ["en", "fr", "ar", "hi", "pt"] {
            let all = PluralForm::all(tag);
            assert!((0..2_000).all(|number| all.contains(&PluralForm::of(tag, number))));
        }
    }
}
