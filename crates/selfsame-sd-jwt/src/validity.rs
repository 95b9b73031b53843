//! The validity period of a token or credential.

use selfsame_crypto::time::{UnixTime, seconds_of_rfc3339};
use serde_json::{Map, Value};

/// A span of time; an end that is not stated is open.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Validity {
    /// Not valid before.
    pub not_before: Option<UnixTime>,
    /// Not valid from then on.
    pub expires: Option<UnixTime>,
}

/// A time is malformed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a time is malformed")]
pub struct BadTime;

impl Validity {
    /// Parses `nbf` and `exp` (RFC 7519 §4.1.4, §4.1.5). An `iat` limits nothing, but must be a time (§4.1.6).
    pub fn of_jwt(claims: &Map<String, Value>) -> Result<Self, BadTime> {
        numeric_date(claims.get("iat"))?;
        Ok(Self {
            not_before: numeric_seconds(claims.get("nbf"))?.map(clocked),
            expires: numeric_seconds(claims.get("exp"))?.map(clocked),
        })
    }

    /// Parses two members with dates as text (XML Schema `dateTime`).
    pub fn of_dates(
        members: &Map<String, Value>,
        not_before: &str,
        expires: &str,
    ) -> Result<Self, BadTime> {
        Ok(Self {
            not_before: date_time(members.get(not_before))?,
            expires: date_time(members.get(expires))?,
        })
    }

    /// The intersection of both spans.
    pub fn and(self, other: Self) -> Self {
        Self {
            not_before: self.not_before.max(other.not_before),
            expires: match (self.expires, other.expires) {
                (Some(one), Some(two)) => Some(one.min(two)),
                (one, two) => one.or(two),
            },
        }
    }

    /// Whether the span has begun, with a tolerance of `leeway` seconds.
    pub fn has_begun(&self, now: UnixTime, leeway: u64) -> bool {
        self.not_before.is_none_or(|from| from <= now.plus(leeway))
    }

    /// Whether the span has not ended, with a tolerance of `leeway` seconds (RFC 7519 §4.1.4: before `exp`).
    pub fn lasts(&self, now: UnixTime, leeway: u64) -> bool {
        self.expires.is_none_or(|until| now < until.plus(leeway))
    }
}

/// Parses a NumericDate (RFC 7519 §2) of a recent event: never before 1970.
pub fn numeric_date(value: Option<&Value>) -> Result<Option<UnixTime>, BadTime> {
    let timed = |seconds| u64::try_from(seconds).map(UnixTime).map_err(|_| BadTime);
    numeric_seconds(value)?.map(timed).transpose()
}

/// The seconds of a NumericDate, negative before 1970; fractions of a second are dropped.
///
/// # Errors
/// [`BadTime`] for anything but a number.
pub fn numeric_seconds(value: Option<&Value>) -> Result<Option<i64>, BadTime> {
    match value {
        None => Ok(None),
        // A float cast saturates, and NaN cannot be written in JSON.
        Some(Value::Number(number)) => number
            .as_i64()
            .or_else(|| Some(number.as_f64()?.floor() as i64))
            .map(Some)
            .ok_or(BadTime),
        Some(_) => Err(BadTime),
    }
}

fn date_time(value: Option<&Value>) -> Result<Option<UnixTime>, BadTime> {
    match value {
        None => Ok(None),
        Some(value) => {
            let seconds = value.as_str().and_then(seconds_of_rfc3339);
            seconds.map(clocked).map(Some).ok_or(BadTime)
        }
    }
}

/// Times before 1970, as in the certificate of a birth in 1948, count as 1970, since `now` is never earlier.
fn clocked(seconds: i64) -> UnixTime {
    UnixTime(u64::try_from(seconds).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_span_is_judged_at_its_edges_with_leeway() {
        let claims = json!({"iat": 300, "nbf": 100, "exp": 200.9});
        let span = Validity::of_jwt(claims.as_object().unwrap()).unwrap();
        assert!(!span.has_begun(UnixTime(99), 0) && span.has_begun(UnixTime(99), 1));
        assert!(span.has_begun(UnixTime(100), 0));
        assert!(span.lasts(UnixTime(199), 0) && !span.lasts(UnixTime(200), 0));
        assert!(span.lasts(UnixTime(204), 5) && !span.lasts(UnixTime(205), 5));
    }

    #[test]
    fn times_of_the_wrong_kind_are_refused() {
        for bad in [
            json!({"exp": "200"}),
            json!({"nbf": null}),
            json!({"iat": "100"}),
            json!({"iat": -1}),
        ] {
            assert_eq!(
                Validity::of_jwt(bad.as_object().unwrap()),
                Err(BadTime),
                "{bad}"
            );
        }
        let bad = json!({"validFrom": "yesterday"});
        let read = Validity::of_dates(bad.as_object().unwrap(), "validFrom", "validUntil");
        assert_eq!(read, Err(BadTime));
    }

    #[test]
    fn what_began_before_1970_has_begun_and_what_ended_then_has_ended() {
        let of_jwt = json!({"iat": 300, "nbf": -677_894_400.5, "exp": -1});
        let of_jwt = Validity::of_jwt(of_jwt.as_object().unwrap()).unwrap();
        let dates =
            json!({"validFrom": "1948-07-09T00:00:00Z", "validUntil": "1969-12-31T23:59:59Z"});
        let dates = dates.as_object().unwrap();
        let of_dates = Validity::of_dates(dates, "validFrom", "validUntil").unwrap();
        for span in [of_jwt, of_dates] {
            assert!(span.has_begun(UnixTime(0), 0) && !span.lasts(UnixTime(0), 0));
        }
    }

    #[test]
    fn two_spans_allow_what_both_allow() {
        let early = Validity {
            not_before: Some(UnixTime(1)),
            expires: Some(UnixTime(5)),
        };
        let late = Validity {
            not_before: Some(UnixTime(3)),
            expires: None,
        };
        let both = early.and(late);
        assert_eq!(both.not_before, Some(UnixTime(3)));
        assert_eq!(both.expires, Some(UnixTime(5)));
    }
}
