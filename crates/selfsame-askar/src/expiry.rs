//! When a record expires.

use selfsame_crypto::time::{rfc3339_of_seconds, seconds_of_rfc3339};

/// The instant after which Askar does not show a record any more.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Expiry {
    /// Whole seconds from 1970, negative before it.
    pub seconds: i64,
    /// Nanoseconds after that second. PostgreSQL stores whole microseconds.
    pub nanoseconds: u32,
}

/// Microseconds from 1970 to 2000, from where PostgreSQL counts.
const YEAR_2000: i64 = 946_684_800_000_000;

impl Expiry {
    /// Reads what SQLite stores: RFC 3339 with up to nine digits after the second.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > 40 {
            return None;
        }
        let seconds = seconds_of_rfc3339(text)?;
        let digits = text.get(19..)?.strip_prefix('.').unwrap_or_default();
        let digits = digits.split(|c: char| !c.is_ascii_digit()).next()?;
        if digits.len() > 9 {
            return None;
        }
        let nanoseconds = format!("{digits:0<9}").parse().ok()?;
        Some(Self {
            seconds,
            nanoseconds,
        })
    }

    /// From what PostgreSQL stores: microseconds from 2000. Its two infinities are no instants.
    pub(crate) fn of_postgres(since_2000: i64) -> Option<Self> {
        if since_2000 == i64::MAX || since_2000 == i64::MIN {
            return None;
        }
        let since_1970 = since_2000.checked_add(YEAR_2000)?;
        let below = u32::try_from(since_1970.rem_euclid(1_000_000)).ok()?;
        Some(Self {
            seconds: since_1970.div_euclid(1_000_000),
            nanoseconds: below.checked_mul(1000)?,
        })
    }

    /// The instant to the second, in RFC 3339.
    pub fn rfc3339(self) -> String {
        rfc3339_of_seconds(self.seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sqlite_and_postgresql_store_is_the_same_instant() {
        let read = |text| Expiry::parse(text);
        let at = |seconds, nanoseconds| {
            Some(Expiry {
                seconds,
                nanoseconds,
            })
        };
        assert_eq!(read("1970-01-01T00:00:00+00:00"), at(0, 0));
        assert_eq!(
            read("2027-03-23T11:14:48.111168304+00:00"),
            at(1_805_800_488, 111_168_304)
        );
        assert_eq!(
            read("2027-03-23T11:14:48.5Z"),
            at(1_805_800_488, 500_000_000)
        );
        assert_eq!(read("1969-12-31T23:59:59.999999Z"), at(-1, 999_999_000));
        assert_eq!(Expiry::of_postgres(-YEAR_2000 - 1), at(-1, 999_999_000));
        assert_eq!(Expiry::of_postgres(0), at(946_684_800, 0));
    }

    #[test]
    fn other_texts_and_infinity_are_no_instants() {
        for text in [
            "",
            "tomorrow",
            "2027-03-23",
            "2027-13-23T11:14:48Z",
            "2027-03-23T11:14:48.1234567890Z",
            "2461488.5",
        ] {
            assert_eq!(Expiry::parse(text), None, "{text}");
        }
        for infinity in [i64::MAX, i64::MIN] {
            assert_eq!(Expiry::of_postgres(infinity), None);
        }
    }
}
