//! Days of the calendar as claims state them: of any year, since people are older than clocks.

/// Whether a text is a `full-date` (RFC 3339 §5.6) of the years 1 to 9999.
#[must_use]
pub fn is_full_date(text: &str) -> bool {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else {
        return false;
    };
    match (
        number(&[y1, y2, y3, y4]),
        number(&[m1, m2]),
        number(&[d1, d2]),
    ) {
        (Some(year), Some(month), Some(day)) => {
            year >= 1 && (1..=12).contains(&month) && (1..=days(year, month)).contains(&day)
        }
        _ => false,
    }
}

/// Digits alone: `parse` would take a sign.
fn number(digits: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(digits).ok()?;
    let alone = digits.bytes().all(|byte| byte.is_ascii_digit());
    alone.then(|| digits.parse().ok())?
}

/// How many days a month has (RFC 3339 §5.7).
const fn days(year: u32, month: u32) -> u32 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// RFC 3339, Appendix C.
const fn is_leap(year: u32) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
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
