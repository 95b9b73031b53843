//! Days as conditions name them: a date, or a number of days from today.

use selfsame_crypto::time::{UnixTime, seconds_of_rfc3339};
use serde::{Deserialize, Serialize};

const SECONDS: i64 = 24 * 3600;
/// Maximum distance from today, in days: a hundred years.
const DISTANCE_MAX: i64 = 36_525;

/// A day. In files: `2026-01-31`, `today`, `today+30` or `today-365`.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub enum Day {
    /// A date, as days since 1970-01-01.
    Date(i64),
    /// A number of days after today; negative for the past.
    FromToday(i64),
}

impl Day {
    /// The days since 1970-01-01 that it means on this day.
    #[must_use]
    pub const fn on(self, today: i64) -> i64 {
        match self {
            Self::Date(day) => day,
            Self::FromToday(days) => today.saturating_add(days),
        }
    }

    /// The day of this time (UTC), as days since 1970-01-01.
    #[must_use]
    pub fn of(now: UnixTime) -> i64 {
        i64::try_from(now.0).unwrap_or(i64::MAX).div_euclid(SECONDS)
    }
}

impl TryFrom<String> for Day {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        const WANTED: &str = "a day is `2026-01-31`, `today`, `today+30` or `today-30`";
        let Some(distance) = text.strip_prefix("today") else {
            return of_date(&text).map(Self::Date).ok_or(WANTED);
        };
        if distance.is_empty() {
            return Ok(Self::FromToday(0));
        }
        let digits = distance.strip_prefix(['+', '-']).unwrap_or_default();
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let days = distance.parse::<i64>().ok().filter(|_| is_number);
        let is_near = |days: &i64| (-DISTANCE_MAX..=DISTANCE_MAX).contains(days);
        days.filter(is_near).map(Self::FromToday).ok_or(WANTED)
    }
}

impl From<Day> for String {
    fn from(day: Day) -> Self {
        match day {
            Day::Date(day) => date(day),
            Day::FromToday(0) => "today".to_owned(),
            Day::FromToday(days) => format!("today{days:+}"),
        }
    }
}

/// The days since 1970-01-01 of a `full-date` (RFC 3339 §5.6), or of the day of a `date-time`.
pub fn of_date(text: &str) -> Option<i64> {
    let seconds = match text.len() {
        10 => seconds_of_rfc3339(&format!("{text}T00:00:00Z")),
        _ => seconds_of_rfc3339(text),
    };
    Some(seconds?.div_euclid(SECONDS))
}

/// The `full-date` of this number of days since 1970-01-01.
#[must_use]
pub fn date(day: i64) -> String {
    let text = selfsame_crypto::time::rfc3339_of_seconds(day.saturating_mul(SECONDS));
    text.split('T').next().unwrap_or_default().to_owned()
}
