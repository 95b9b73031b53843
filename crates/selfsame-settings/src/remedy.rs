//! What to do about a wrong line.

/// Where each setting is explained.
const PAGE: &str = "docs/settings.md";

/// What to do about a message of the parser that concerns this section.
pub fn remedy(message: &str, section: &str) -> String {
    let section = if section.is_empty() {
        "settings"
    } else {
        section
    };
    if let Some((wrong, known)) = unknown(message) {
        return match nearest(wrong, &known) {
            Some(meant) => format!("write `{meant}`, or remove the line"),
            None => format!(
                "remove the line; the settings here are: {}",
                known.join(", ")
            ),
        };
    }
    match message.split_once(", expected ") {
        Some((_, expected)) => format!("write {expected} ({PAGE}, {section})"),
        None => format!("{PAGE}, {section}, has the form"),
    }
}

/// The unknown name in a message, and the names that there are.
fn unknown(message: &str) -> Option<(&str, Vec<&str>)> {
    let is_of_names =
        message.starts_with("unknown field") || message.starts_with("unknown variant");
    let mut names = message.split('`').skip(1).step_by(2);
    let wrong = names.next().filter(|_| is_of_names)?;
    Some((wrong, names.collect()))
}

/// The name that was probably meant: at most two letters differ, or a third of them in a long one.
fn nearest<'a>(wrong: &str, known: &[&'a str]) -> Option<&'a str> {
    let close = (wrong.chars().count() / 3).max(2);
    let distances = known.iter().map(|name| (distance(wrong, name), *name));
    let (least, name) = distances.min()?;
    (least <= close && least < wrong.chars().count()).then_some(name)
}

/// How many letters must be changed, added or removed (Levenshtein). A name is at most as long as a line of the file, of
/// which the first 64 letters count.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().take(64).enumerate() {
        let mut diagonal = at;
        let mut left = at.saturating_add(1);
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cell, beside) in row.iter_mut().skip(1).zip(&other) {
            let changed = diagonal.saturating_add(usize::from(letter != *beside));
            diagonal = *cell;
            left = changed
                .min(left.saturating_add(1))
                .min(diagonal.saturating_add(1));
            *cell = left;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remedy_of_a_misspelt_setting_is_the_setting_that_was_meant() {
        let message = "unknown field `isuers`, expected one of `issuers`, `types`, `verifiers`";
        assert_eq!(
            remedy(message, "[trust]"),
            "write `issuers`, or remove the line"
        );
        let message = "unknown field `colour`, expected `issuers` or `types`";
        assert_eq!(
            remedy(message, "[trust]"),
            "remove the line; the settings here are: issuers, types"
        );
    }

    #[test]
    fn the_remedy_of_a_wrong_value_is_what_is_expected_and_where_it_is_explained() {
        let message = "invalid type: string \"ten\", expected u64";
        assert_eq!(
            remedy(message, "[limits]"),
            "write u64 (docs/settings.md, [limits])"
        );
        assert!(remedy("missing field `url`", "[database]").contains("[database]"));
    }

    #[test]
    fn the_distance_of_two_names_is_the_number_of_changed_letters() {
        for (one, other, expected) in [
            ("", "", 0),
            ("listen", "listen", 0),
            ("lisen", "listen", 1),
            ("listne", "listen", 2),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(one, other), expected, "{one} {other}");
        }
    }
}
