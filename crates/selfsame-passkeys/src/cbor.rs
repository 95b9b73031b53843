//! CBOR as authenticators write it: shortest forms, four levels, neither tags nor fractions (CTAP 2 §8).
//!
//! The order of a map's keys is left open, since programs that act as authenticators differ in it.

use selfsame_cbor::deterministic::encode;
use selfsame_cbor::{Cbor, CborKind, CborLimits, CborPair};

use crate::error::PasskeyError;

const MALFORMED: PasskeyError = PasskeyError::Malformed("CBOR");

/// Of one object.
const LIMITS: CborLimits = CborLimits {
    bytes: 64 * 1024,
    depth: 4,
    items: 256,
};

/// The first item of these bytes, and the bytes after it.
pub fn first(bytes: &[u8]) -> Result<(Cbor<'_>, &[u8]), PasskeyError> {
    let (item, rest) = Cbor::first(bytes, &LIMITS).map_err(|_| MALFORMED)?;
    // A longer form anywhere makes the whole longer, and the order of keys does not.
    let shortest = encode(|to| item.write(to)).len();
    match is_plain(&item) && item.raw().len() == shortest {
        true => Ok((item, rest)),
        false => Err(PasskeyError::Malformed(
            "CBOR that is not in its short form",
        )),
    }
}

/// The item that fills these bytes.
pub fn only(bytes: &[u8]) -> Result<Cbor<'_>, PasskeyError> {
    match first(bytes)? {
        (item, []) => Ok(item),
        _ => Err(PasskeyError::Malformed("bytes after the CBOR")),
    }
}

/// The pairs of a map.
pub fn pairs<'i, 'b>(item: &'i Cbor<'b>) -> Result<&'i [CborPair<'b>], PasskeyError> {
    item.map().ok_or(MALFORMED)
}

/// The value of a map under a text.
pub fn named<'i, 'b>(map: &'i Cbor<'b>, name: &str) -> Result<&'i Cbor<'b>, PasskeyError> {
    map.named(name).ok_or(MALFORMED)
}

/// The bytes of a byte string.
pub fn bytes<'b>(item: &Cbor<'b>) -> Result<&'b [u8], PasskeyError> {
    item.bytes().ok_or(MALFORMED)
}

fn is_plain(item: &Cbor<'_>) -> bool {
    match item.kind() {
        CborKind::Int(_)
        | CborKind::Bytes(_)
        | CborKind::Text(_)
        | CborKind::Bool(_)
        | CborKind::Null => true,
        CborKind::Array(items) => items.iter().all(is_plain),
        CborKind::Map(pairs) => {
            let mut pairs = pairs.iter();
            pairs.all(|pair| is_plain(&pair.key) && is_plain(&pair.value))
        }
        CborKind::Tag(..) | CborKind::Undefined | CborKind::Simple(_) | CborKind::Float(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_read_in_its_short_form_alone() {
        let map = [0xa2, 0x01, 0x26, 0x61, b'a', 0x41, 7];
        let item = only(&map).unwrap();
        assert_eq!(item.labelled(1).unwrap().int(), Some(-7));
        assert_eq!(bytes(named(&item, "a").unwrap()), Ok(&[7][..]));
        assert!(named(&item, "b").is_err() && item.labelled(2).is_none());
        for bad in [
            &[0xa1, 0x18, 0x01, 0x26][..],         // a number in a longer form
            &[0xb8, 0x01, 0x01, 0x26],             // a length in a longer form
            &[0xbf, 0x01, 0x26, 0xff],             // a map of indefinite length
            &[0x5f, 0x41, 1, 0xff],                // bytes of indefinite length
            &[0xa2, 0x01, 0x26, 0x01, 0x26],       // a key twice
            &[0xa1, 0x01, 0x26, 0x00],             // bytes left over
            &[0xa1, 0x01],                         // too short
            &[0xc1, 0x01],                         // a tag
            &[0xfb, 0, 0, 0, 0, 0, 0, 0, 0],       // a fraction
            &[0xf7],                               // undefined
            &[0x81, 0x81, 0x81, 0x81, 0x81, 0x80], // too deep
            &[0xbb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], // no memory is taken for this
            &[],
        ] {
            assert!(only(bad).is_err(), "{bad:02x?}");
        }
        assert!(only(&[0x81, 0x81, 0x81, 0x80]).is_ok());
        let (first, rest) = first(&[0xf5, 9]).unwrap();
        assert_eq!((first.kind(), rest), (&CborKind::Bool(true), &[9][..]));
    }
}
