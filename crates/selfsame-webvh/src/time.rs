//! Times of versions, to the nanosecond: entries of the same second have an order.

use selfsame_crypto::time::UnixTime;

use crate::fault::TimeFault;

/// The time by which a versionTime may be ahead (did:webvh v1.0, "Read (Resolve)" step 4), in seconds.
const AHEAD: u64 = 300;
/// The digits of a second's fraction that are told apart.
const DIGITS: usize = 9;

/// The time of a version.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct VersionTime {
    /// Whole seconds.
    pub second: UnixTime,
    nanosecond: u32,
}

impl VersionTime {
    /// Parses a time in UTC, whose zone is `Z` or `+00:00`.
    pub(crate) fn parse(text: &str) -> Result<Self, TimeFault> {
        let local = text.strip_suffix('Z').or(text.strip_suffix("+00:00"));
        let local = local.ok_or(TimeFault::Form)?;
        let second = UnixTime::parse_rfc3339(text).ok_or(TimeFault::Form)?;
        let fraction = local.split_once('.').map_or("", |(_, fraction)| fraction);
        let is_date_and_time = local.as_bytes().get(10) == Some(&b'T');
        if !is_date_and_time || fraction.len() > DIGITS {
            return Err(TimeFault::Form);
        }
        let nanosecond = format!("{fraction:0<DIGITS$}").parse();
        Ok(Self {
            second,
            nanosecond: nanosecond.map_err(|_| TimeFault::Form)?,
        })
    }

    /// Refuses a time that is too far ahead.
    pub(crate) fn not_ahead(self, now: UnixTime) -> Result<(), TimeFault> {
        match self.second <= now.plus(AHEAD) {
            true => Ok(()),
            false => Err(TimeFault::Future),
        }
    }

    /// The time of an entry that is written now, after an entry with the time `last`.
    pub(crate) fn after(last: Option<Self>, now: UnixTime) -> Self {
        const MILLISECOND: u32 = 1_000_000;
        const LAST: u32 = 999 * MILLISECOND;
        let present = Self {
            second: now,
            nanosecond: 0,
        };
        match last {
            Some(last) if last >= present && last.nanosecond < LAST => Self {
                second: last.second,
                nanosecond: last.nanosecond.saturating_add(MILLISECOND),
            },
            Some(last) if last >= present => Self {
                second: last.second.plus(1),
                nanosecond: 0,
            },
            _ => present,
        }
    }

    /// In RFC 3339 with zone `Z`; a fraction of the second in milliseconds.
    pub(crate) fn written(self) -> String {
        let second = self.second.rfc3339();
        match (self.nanosecond / 1_000_000, second.strip_suffix('Z')) {
            (millisecond @ 1.., Some(second)) => format!("{second}.{millisecond:03}Z"),
            _ => second,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_in_utc_and_its_zone_is_stated() {
        let parsed = |text| VersionTime::parse(text);
        let noon = parsed("2026-01-02T12:00:00Z").unwrap();
        assert_eq!(parsed("2026-01-02T12:00:00+00:00"), Ok(noon));
        assert_eq!(parsed("2026-01-02T12:00:00.000Z"), Ok(noon));
        assert!(noon < parsed("2026-01-02T12:00:00.001Z").unwrap());
        let tenths = parsed("2026-01-02T12:00:00.9Z").unwrap();
        assert!(tenths > parsed("2026-01-02T12:00:00.10Z").unwrap());
        for text in [
            "2026-01-02T12:00:00",
            "2026-01-02T12:00:00z",
            "2026-01-02 12:00:00Z",
            "2026-01-02T12:00:00-00:00",
            "2026-01-02T13:00:00+01:00",
            "2026-01-02T12:00:00.Z",
            "2026-01-02T12:00:00.0000000000Z",
            "2026-13-02T12:00:00Z",
            "",
        ] {
            assert_eq!(parsed(text), Err(TimeFault::Form), "{text}");
        }
    }

    #[test]
    fn the_next_entry_of_the_same_second_is_a_millisecond_later() {
        let now = UnixTime::parse_rfc3339("2026-01-02T12:00:00Z").unwrap();
        let first = VersionTime::after(None, now);
        let second = VersionTime::after(Some(first), now);
        assert_eq!(first.written(), "2026-01-02T12:00:00Z");
        assert_eq!(second.written(), "2026-01-02T12:00:00.001Z");
        let full = VersionTime::parse("2026-01-02T12:00:00.9995Z").unwrap();
        let next = VersionTime::after(Some(full), now);
        assert_eq!(next.written(), "2026-01-02T12:00:01Z");
        assert!(next > full);
        assert_eq!(VersionTime::parse(&next.written()), Ok(next));
        assert_eq!(
            VersionTime::after(Some(next), now.plus(60)).second,
            now.plus(60)
        );
    }
}
