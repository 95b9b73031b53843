//! Instants as whole seconds since 1970, and their RFC 3339 form.

use serde::{Deserialize, Serialize};

/// Seconds since 1970-01-01T00:00:00Z, leap seconds not counted.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(transparent)]
pub struct UnixTime(pub u64);

const DAY: u64 = 86_400;
/// 9999-12-31T23:59:59Z, the last second that RFC 3339 can express.
const LAST: u64 = 253_402_300_799;
/// Seconds from the start of year 1 to 1970.
const EPOCH: u64 = days_before_year(1970).saturating_mul(DAY);

impl UnixTime {
    /// The instant `seconds` later.
    #[must_use]
    pub const fn plus(self, seconds: u64) -> Self {
        Self(self.0.saturating_add(seconds))
    }

    /// The instant `seconds` earlier, not before 1970.
    #[must_use]
    pub const fn minus(self, seconds: u64) -> Self {
        Self(self.0.saturating_sub(seconds))
    }

    /// Seconds from `earlier` to this instant; 0 if this instant is before it.
    pub const fn seconds_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The latest multiple of `to_seconds` that is not after this instant, so that a time in a credential reveals
    /// little.
    #[must_use]
    pub const fn rounded_down(self, to_seconds: u64) -> Self {
        match self.0.checked_rem(to_seconds) {
            Some(rest) => Self(self.0.saturating_sub(rest)),
            None => self,
        }
    }

    /// The instant in UTC in RFC 3339 format. Times past the year 9999 become its last second.
    pub fn rfc3339(self) -> String {
        written(EPOCH.saturating_add(self.0.min(LAST)))
    }

    /// Parses an RFC 3339 date and time of the years 1970 to 9999. Fractions of seconds are dropped.
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        since_year_one(text)?.checked_sub(EPOCH).map(Self)
    }
}

/// Seconds from 1970 to an RFC 3339 date and time of the years 1 to 9999, negative before 1970. For times stated by
/// other parties, which may be before 1970. Fractions of seconds are dropped.
pub fn seconds_of_rfc3339(text: &str) -> Option<i64> {
    i64::try_from(since_year_one(text)?)
        .ok()?
        .checked_sub_unsigned(EPOCH)
}

/// The instant `seconds` from 1970 (negative: before it) in RFC 3339 format. Times outside the years 1 to 9999 become
/// the first or last second of that range.
pub fn rfc3339_of_seconds(seconds: i64) -> String {
    let since_year_one = EPOCH.saturating_add_signed(seconds);
    written(since_year_one.min(EPOCH.saturating_add(LAST)))
}

impl std::fmt::Display for UnixTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.rfc3339())
    }
}

fn written(since_year_one: u64) -> String {
    let (year, month, day) = civil(since_year_one / DAY);
    let of_day = since_year_one % DAY;
    let (hour, minute, second) = (of_day / 3600, of_day % 3600 / 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

fn since_year_one(text: &str) -> Option<u64> {
    let bytes = text.as_bytes();
    let fixed = bytes.get(..19)?;
    let separators = [(4, b"-"), (7, b"-"), (13, b":"), (16, b":")];
    if separators
        .iter()
        .any(|(at, separator)| fixed.get(*at) != separator.first())
    {
        return None;
    }
    if !matches!(fixed.get(10)?, b'T' | b't' | b' ') {
        return None;
    }
    let (year, month, day) = (
        number(fixed, 0, 4)?,
        number(fixed, 5, 2)?,
        number(fixed, 8, 2)?,
    );
    let (hour, minute, second) = (
        number(fixed, 11, 2)?,
        number(fixed, 14, 2)?,
        number(fixed, 17, 2)?,
    );
    // RFC 3339 §5.6 permits a leap second; it is read as the second after.
    if hour > 23 || minute > 59 || second > 60 || (second == 60 && minute != 59) {
        return None;
    }
    let local = days(year, month, day)?
        .checked_mul(DAY)?
        .checked_add(hour.checked_mul(3600)?)?
        .checked_add(minute.checked_mul(60)?)?
        .checked_add(second)?;
    let (later, offset) = offset(after_fraction(bytes.get(19..)?)?)?;
    let utc = if later {
        local.checked_sub(offset)?
    } else {
        local.checked_add(offset)?
    };
    (utc <= EPOCH.checked_add(LAST)?).then_some(utc)
}

fn number(bytes: &[u8], at: usize, len: usize) -> Option<u64> {
    let digits = bytes.get(at..at.checked_add(len)?)?;
    digits.iter().try_fold(0_u64, |value, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit & 0x0f))?;
        value.checked_mul(10)?.checked_add(digit)
    })
}

fn after_fraction(rest: &[u8]) -> Option<&[u8]> {
    let Some(fraction) = rest.strip_prefix(b".") else {
        return Some(rest);
    };
    let digits = fraction
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if digits == 0 {
        None
    } else {
        fraction.get(digits..)
    }
}

/// Whether the local time is ahead of UTC, and the difference in seconds.
fn offset(zone: &[u8]) -> Option<(bool, u64)> {
    match zone {
        b"Z" | b"z" => Some((true, 0)),
        [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
            let (hours, minutes) = (number(zone, 1, 2)?, number(zone, 4, 2)?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            Some((
                *sign == b'+',
                hours
                    .checked_mul(3600)?
                    .checked_add(minutes.checked_mul(60)?)?,
            ))
        }
        _ => None,
    }
}

const fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

const fn month_days(year: u64, month: u64) -> u64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from the start of year 1 to the start of `year`.
const fn days_before_year(year: u64) -> u64 {
    let past = year.saturating_sub(1);
    past.saturating_mul(365)
        .saturating_add(past / 4)
        .saturating_sub(past / 100)
        .saturating_add(past / 400)
}

/// Days from the start of year 1; `None` if the date does not exist.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    if year < 1 || !(1..=12).contains(&month) || day < 1 || day > month_days(year, month) {
        return None;
    }
    let months: u64 = (1..month).map(|month| month_days(year, month)).sum();
    days_before_year(year)
        .checked_add(months)?
        .checked_add(day.checked_sub(1)?)
}

fn civil(since_year_one: u64) -> (u64, u64, u64) {
    // 400 years have 146 097 days. The estimate is never too late and at most one year early.
    let mut year = since_year_one
        .saturating_mul(400)
        .checked_div(146_097)
        .unwrap_or(0)
        .max(1);
    while days_before_year(year.saturating_add(1)) <= since_year_one {
        year = year.saturating_add(1);
    }
    while days_before_year(year) > since_year_one {
        year = year.saturating_sub(1);
    }
    let mut rest = since_year_one.saturating_sub(days_before_year(year));
    let mut month = 1;
    while month < 12 && rest >= month_days(year, month) {
        rest = rest.saturating_sub(month_days(year, month));
        month = month.saturating_add(1);
    }
    (year, month, rest.saturating_add(1))
}

#[cfg(test)]
mod tests;
