//! Calendar dates in claims, of any year, since people were born before 1970.

use selfsame_crypto::time::seconds_of_rfc3339;

/// Whether a text is a `full-date` (RFC 3339 §5.6) of the years 1 to 9999.
#[must_use]
pub fn is_full_date(text: &str) -> bool {
    text.len() == 10 && seconds_of_rfc3339(&format!("{text}T00:00:00Z")).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_before_the_clock_begins_is_a_day() {
        for day in [
            "0001-01-01",
            "1896-02-29",
            "1931-12-31",
            "1948-07-09",
            "1969-12-31",
            "1970-01-01",
            "2000-02-29",
            "2026-01-31",
            "9999-12-31",
        ] {
            assert!(is_full_date(day), "{day}");
        }
    }

    #[test]
    fn what_stands_in_no_calendar_is_no_day() {
        for text in [
            "",
            "0000-01-01",
            "1900-02-29",
            "1948-00-09",
            "1948-13-09",
            "1948-07-00",
            "1948-07-32",
            "1948-06-31",
            "2023-02-29",
            "1948-7-9",
            "1948/07/09",
            "1948-07-09T00:00:00Z",
            "+948-07-09",
            "-948-07-09",
            "1948-+7-09",
            " 948-07-09",
            "09-07-1948",
            "yesterday",
            "１948-07-0",
            "19480709",
        ] {
            assert!(!is_full_date(text), "{text}");
        }
    }
}
