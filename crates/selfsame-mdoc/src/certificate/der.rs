//! What certificates are written with: DER elements of definite length (X.690 §10).

use selfsame_crypto::time::UnixTime;

pub const BOOLEAN_TRUE: &[u8] = &[0x01, 0x01, 0xff];
pub const INTEGER: u8 = 0x02;
pub const BIT_STRING: u8 = 0x03;
pub const OCTET_STRING: u8 = 0x04;
pub const OBJECT_IDENTIFIER: u8 = 0x06;
pub const UTF8_STRING: u8 = 0x0c;
pub const PRINTABLE_STRING: u8 = 0x13;
pub const SEQUENCE: u8 = 0x30;
pub const SET: u8 = 0x31;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// An element with this content.
pub fn element(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let mut written = vec![tag];
    let length = content.len().to_be_bytes();
    let first = length.iter().position(|byte| *byte != 0);
    let length = first.and_then(|first| length.get(first..)).unwrap_or(&[0]);
    match length {
        [short @ ..=0x7f] => written.push(*short),
        long => {
            let count = u8::try_from(long.len()).unwrap_or(u8::MAX);
            written.push(0x80 | count);
            written.extend(long);
        }
    }
    written.extend(content);
    written
}

/// A positive INTEGER; `magnitude` may have leading zeros.
pub fn positive(magnitude: &[u8]) -> Vec<u8> {
    let first = magnitude.iter().position(|byte| *byte != 0);
    let magnitude = first
        .and_then(|first| magnitude.get(first..))
        .unwrap_or(&[0]);
    match magnitude.first() {
        Some(0x80..) => element(INTEGER, &[&[0], magnitude]),
        _ => element(INTEGER, &[magnitude]),
    }
}

/// A time (RFC 5280 §4.1.2.5): UTCTime up to the year 2049.
pub fn time(at: UnixTime) -> Vec<u8> {
    let text: String = at.rfc3339().chars().filter(char::is_ascii_digit).collect();
    let text = text.get(..14).unwrap_or_default();
    match text.get(2..).filter(|_| text < "2050") {
        Some(short) => element(UTC_TIME, &[short.as_bytes(), b"Z"]),
        None => element(GENERALIZED_TIME, &[text.as_bytes(), b"Z"]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_numbers_and_times_have_their_shortest_form() {
        assert_eq!(element(SEQUENCE, &[]), [0x30, 0]);
        assert_eq!(element(SEQUENCE, &[&[7; 200]])[..3], [0x30, 0x81, 200]);
        assert_eq!(element(SEQUENCE, &[&[7; 300]])[..4], [0x30, 0x82, 1, 44]);
        assert_eq!(positive(&[0, 0, 0x80]), [2, 2, 0, 0x80]);
        assert_eq!(positive(&[0, 0x7f]), [2, 1, 0x7f]);
        assert_eq!(
            time(UnixTime(1_780_272_000)),
            [&[0x17, 13][..], b"260601000000Z"].concat()
        );
        let late = time(UnixTime(2_556_144_000));
        assert_eq!(late, [&[0x18, 15][..], b"20510101000000Z"].concat());
    }
}
