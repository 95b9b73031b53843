//! The small part of DER that keys need: strict reading and writing of definite-length elements.

pub(crate) const INTEGER: u8 = 0x02;
pub(crate) const BIT_STRING: u8 = 0x03;
pub(crate) const SEQUENCE: u8 = 0x30;

/// Takes one element with this tag from the front of `input`: returns its content and the rest of the input.
pub(crate) fn take(input: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (found, rest) = input.split_first()?;
    if *found != tag {
        return None;
    }
    let (first, rest) = rest.split_first()?;
    match *first {
        short @ 0..=0x7f => rest.split_at_checked(usize::from(short)),
        0x81 => {
            let (len, rest) = rest.split_first()?;
            if *len < 0x80 {
                None
            } else {
                rest.split_at_checked(usize::from(*len))
            }
        }
        0x82 => {
            let (len, rest) = rest.split_first_chunk::<2>()?;
            let len = u16::from_be_bytes(*len);
            if len < 0x100 {
                None
            } else {
                rest.split_at_checked(usize::from(len))
            }
        }
        _ => None,
    }
}

/// Takes one element that must fill the whole `input`.
pub(crate) fn only(input: &[u8], tag: u8) -> Option<&[u8]> {
    take(input, tag)
        .filter(|(_, rest)| rest.is_empty())
        .map(|(content, _)| content)
}

/// The magnitude of a positive INTEGER, without the leading zero that marks it as positive.
pub(crate) fn positive(content: &[u8]) -> Option<&[u8]> {
    match content {
        [0, 0x80..=0xff, ..] => content.get(1..),
        [0x01..=0x7f, ..] => Some(content),
        _ => None,
    }
}

/// An element of up to 65,535 bytes of content; `None` if there is more.
pub(crate) fn element(tag: u8, parts: &[&[u8]]) -> Option<Vec<u8>> {
    let content = parts.concat();
    let len = u16::try_from(content.len()).ok()?;
    let [high, low] = len.to_be_bytes();
    let mut out = vec![tag];
    match (high, low) {
        (0, 0..=0x7f) => out.push(low),
        (0, _) => out.extend([0x81, low]),
        _ => out.extend([0x82, high, low]),
    }
    out.extend(content);
    Some(out)
}

/// A positive INTEGER from its magnitude without leading zeros.
pub(crate) fn integer(magnitude: &[u8]) -> Option<Vec<u8>> {
    match magnitude {
        [0x80..=0xff, ..] => element(INTEGER, &[&[0], magnitude]),
        [0x01..=0x7f, ..] => element(INTEGER, &[magnitude]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_every_length_form_are_read_back() {
        for len in [0, 1, 127, 128, 255, 256, 65_535] {
            let content = vec![7; len];
            let element = element(SEQUENCE, &[&content]).unwrap();
            assert_eq!(only(&element, SEQUENCE), Some(content.as_slice()));
        }
        assert_eq!(element(SEQUENCE, &[&vec![0; 65_536]]), None);
    }

    #[test]
    fn lengths_longer_than_needed_are_refused() {
        assert_eq!(only(&[SEQUENCE, 0x81, 1, 0], SEQUENCE), None);
        assert_eq!(only(&[SEQUENCE, 0x82, 0, 1, 0], SEQUENCE), None);
        assert_eq!(only(&[SEQUENCE, 0x80, 0, 0], SEQUENCE), None);
    }

    #[test]
    fn integers_that_are_negative_zero_or_padded_are_refused() {
        assert_eq!(positive(&[0x80]), None);
        assert_eq!(positive(&[0]), None);
        assert_eq!(positive(&[]), None);
        assert_eq!(positive(&[0, 1]), None);
        assert_eq!(positive(&[0, 0x80]), Some([0x80].as_slice()));
    }
}
