use proptest::prelude::*;

use super::*;

#[test]
fn the_examples_of_rfc_3339_are_read() {
    let read = |text| UnixTime::parse_rfc3339(text).unwrap().rfc3339();
    // RFC 3339 §5.8. Years before 1970 are replaced by later ones.
    assert_eq!(read("1985-04-12T23:20:50.52Z"), "1985-04-12T23:20:50Z");
    assert_eq!(read("1996-12-19T16:39:57-08:00"), "1996-12-20T00:39:57Z");
    assert_eq!(read("1990-12-31T23:59:60Z"), "1991-01-01T00:00:00Z");
    assert_eq!(read("1990-12-31T15:59:60-08:00"), "1991-01-01T00:00:00Z");
    // The last example of RFC 3339 §5.8 is from 1937, before `UnixTime` begins; other parties may still state it.
    let of_1937 = "1937-01-01T12:00:27.87+00:20";
    assert_eq!(UnixTime::parse_rfc3339(of_1937), None);
    let seconds = seconds_of_rfc3339(of_1937).unwrap();
    assert_eq!(rfc3339_of_seconds(seconds), "1937-01-01T11:40:27Z");
}

#[test]
fn instants_before_1970_are_read_and_written() {
    for (seconds, text) in [
        (-1, "1969-12-31T23:59:59Z"),
        (-677_980_800, "1948-07-08T00:00:00Z"),
        (-62_135_596_800, "0001-01-01T00:00:00Z"),
        (951_782_400, "2000-02-29T00:00:00Z"),
        (253_402_300_799, "9999-12-31T23:59:59Z"),
    ] {
        assert_eq!(seconds_of_rfc3339(text), Some(seconds), "{text}");
        assert_eq!(rfc3339_of_seconds(seconds), text);
    }
    for text in [
        "0000-12-31T00:00:00Z",
        "0001-01-01T00:00:00+00:01",
        "1900-02-29T00:00:00Z",
    ] {
        assert_eq!(seconds_of_rfc3339(text), None, "{text}");
    }
    assert_eq!(rfc3339_of_seconds(i64::MIN), "0001-01-01T00:00:00Z");
    assert_eq!(rfc3339_of_seconds(i64::MAX), "9999-12-31T23:59:59Z");
}

#[test]
fn known_instants_are_written() {
    assert_eq!(UnixTime(0).rfc3339(), "1970-01-01T00:00:00Z");
    assert_eq!(UnixTime(951_782_400).rfc3339(), "2000-02-29T00:00:00Z");
    assert_eq!(UnixTime(4_107_542_399).rfc3339(), "2100-02-28T23:59:59Z");
    assert_eq!(UnixTime(4_107_542_400).rfc3339(), "2100-03-01T00:00:00Z");
    assert_eq!(UnixTime(u64::MAX).rfc3339(), "9999-12-31T23:59:59Z");
}

#[test]
fn texts_that_are_no_instant_are_refused() {
    for text in [
        "",
        "2024-01-01",
        "2024-01-01T00:00:00",
        "2024-13-01T00:00:00Z",
        "2024-02-30T00:00:00Z",
        "2023-02-29T00:00:00Z",
        "2024-01-01T24:00:00Z",
        "2024-01-01T00:60:00Z",
        "2024-01-01T00:00:61Z",
        "2024-01-01T00:30:60Z",
        "2024-01-01T00:00:00.Z",
        "2024-01-01T00:00:00+24:00",
        "2024-01-01T00:00:00+0000",
        "2024-01-01T00:00:00Zx",
        "2024-00-01T00:00:00Z",
        "2024-01-00T00:00:00Z",
        "+024-01-01T00:00:00Z",
        "1970-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        "２024-01-01T00:00:00Z",
    ] {
        assert_eq!(UnixTime::parse_rfc3339(text), None, "{text}");
    }
}

#[test]
fn rounding_goes_down_to_whole_steps() {
    assert_eq!(UnixTime(7250).rounded_down(3600), UnixTime(7200));
    assert_eq!(UnixTime(7250).rounded_down(0), UnixTime(7250));
    assert_eq!(UnixTime(5).minus(9), UnixTime(0));
    assert_eq!(UnixTime(u64::MAX).plus(1), UnixTime(u64::MAX));
    assert_eq!(UnixTime(9).seconds_since(UnixTime(4)), 5);
    assert_eq!(UnixTime(4).seconds_since(UnixTime(9)), 0);
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(seconds in 0..=LAST) {
        prop_assert_eq!(UnixTime::parse_rfc3339(&UnixTime(seconds).rfc3339()), Some(UnixTime(seconds)));
    }

    #[test]
    fn reading_never_panics(text in "\\PC{0,40}", near in "[0-9T:Z.+-]{18,30}") {
        let _ = UnixTime::parse_rfc3339(&text);
        let _ = UnixTime::parse_rfc3339(&near);
    }
}
