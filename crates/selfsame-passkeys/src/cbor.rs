//! CBOR as authenticators write it: definite lengths, shortest forms, no map key twice (CTAP 2 §8, RFC 8949 §4.2.1).
//!
//! The order of a map's keys is left open, since programs that act as authenticators differ in it.

use minicbor::data::{Int, Type};
use minicbor::{Decoder, Encoder};

use crate::error::PasskeyError;

/// CTAP 2 §8 allows four levels.
const DEPTH_MAX: usize = 4;
/// Entries of one array or map.
const ENTRIES_MAX: u64 = 64;

/// An item.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Item<'b> {
    /// A number.
    Int(Int),
    /// A byte string.
    Bytes(&'b [u8]),
    /// A text.
    Text(&'b str),
    /// A boolean.
    Bool(bool),
    /// Nothing.
    Null,
    /// An array.
    Array(Vec<Item<'b>>),
    /// A map, in the order in which it was written.
    Map(Vec<(Item<'b>, Item<'b>)>),
}

impl<'b> Item<'b> {
    /// The first item of these bytes, and the bytes after it.
    pub fn first(bytes: &'b [u8]) -> Result<(Self, &'b [u8]), PasskeyError> {
        let mut decoder = Decoder::new(bytes);
        let item = read(&mut decoder, DEPTH_MAX)?;
        let (own, rest) = bytes
            .split_at_checked(decoder.position())
            .ok_or(MALFORMED)?;
        let mut again = Encoder::new(Vec::with_capacity(own.len()));
        item.write(&mut again);
        match again.into_writer() == own {
            true => Ok((item, rest)),
            false => Err(PasskeyError::Malformed(
                "CBOR that is not in its short form",
            )),
        }
    }

    /// The item that fills these bytes.
    pub fn only(bytes: &'b [u8]) -> Result<Self, PasskeyError> {
        match Self::first(bytes)? {
            (item, []) => Ok(item),
            _ => Err(PasskeyError::Malformed("bytes after the CBOR")),
        }
    }

    /// The entries of a map.
    pub fn entries(&self) -> Result<&[(Item<'b>, Item<'b>)], PasskeyError> {
        match self {
            Self::Map(entries) => Ok(entries),
            _ => Err(MALFORMED),
        }
    }

    /// The value of a map under a text.
    pub fn named(&self, name: &str) -> Result<&Item<'b>, PasskeyError> {
        self.value(|key| matches!(key, Item::Text(text) if *text == name))
    }

    /// The value of a map under a number.
    pub fn labelled(&self, label: i64) -> Result<&Item<'b>, PasskeyError> {
        self.value(|key| key.number() == Some(label))
    }

    fn value(&self, is_it: impl Fn(&Item<'b>) -> bool) -> Result<&Item<'b>, PasskeyError> {
        let found = self.entries()?.iter().find(|(key, _)| is_it(key));
        found.map(|(_, value)| value).ok_or(MALFORMED)
    }

    /// The number, if it is one of 64 bits.
    pub fn number(&self) -> Option<i64> {
        match self {
            Self::Int(number) => i64::try_from(*number).ok(),
            _ => None,
        }
    }

    /// The bytes of a byte string.
    pub fn bytes(&self) -> Result<&'b [u8], PasskeyError> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            _ => Err(MALFORMED),
        }
    }

    /// The text of a text string.
    pub fn text(&self) -> Result<&'b str, PasskeyError> {
        match self {
            Self::Text(text) => Ok(text),
            _ => Err(MALFORMED),
        }
    }

    fn write(&self, to: &mut Encoder<Vec<u8>>) {
        // Writing to memory cannot fail.
        let _ = match self {
            Self::Int(number) => to.int(*number),
            Self::Bytes(bytes) => to.bytes(bytes),
            Self::Text(text) => to.str(text),
            Self::Bool(value) => to.bool(*value),
            Self::Null => to.null(),
            Self::Array(items) => to.array(length(items.len())),
            Self::Map(entries) => to.map(length(entries.len())),
        };
        match self {
            Self::Array(items) => items.iter().for_each(|item| item.write(to)),
            Self::Map(entries) => entries.iter().for_each(|(key, value)| {
                key.write(to);
                value.write(to);
            }),
            _ => {}
        }
    }
}

const MALFORMED: PasskeyError = PasskeyError::Malformed("CBOR");

fn length(entries: usize) -> u64 {
    u64::try_from(entries).unwrap_or(u64::MAX)
}

fn read<'b>(from: &mut Decoder<'b>, depth: usize) -> Result<Item<'b>, PasskeyError> {
    let wrong = |_| MALFORMED;
    let below = || depth.checked_sub(1).ok_or(MALFORMED);
    Ok(match from.datatype().map_err(wrong)? {
        Type::U8
        | Type::U16
        | Type::U32
        | Type::U64
        | Type::I8
        | Type::I16
        | Type::I32
        | Type::I64
        | Type::Int => Item::Int(from.int().map_err(wrong)?),
        Type::Bytes => Item::Bytes(from.bytes().map_err(wrong)?),
        Type::String => Item::Text(from.str().map_err(wrong)?),
        Type::Bool => Item::Bool(from.bool().map_err(wrong)?),
        Type::Null => {
            from.null().map_err(wrong)?;
            Item::Null
        }
        Type::Array => {
            let (depth, entries) = (below()?, bounded(from.array().map_err(wrong)?)?);
            let items = (0..entries).map(|_| read(from, depth));
            Item::Array(items.collect::<Result<_, _>>()?)
        }
        Type::Map => {
            let (depth, entries) = (below()?, bounded(from.map().map_err(wrong)?)?);
            let mut map: Vec<(Item<'_>, Item<'_>)> = Vec::new();
            for _ in 0..entries {
                let key = read(from, depth)?;
                if map.iter().any(|(other, _)| *other == key) {
                    return Err(PasskeyError::Malformed("a CBOR map with a key twice"));
                }
                map.push((key, read(from, depth)?));
            }
            Item::Map(map)
        }
        _ => return Err(MALFORMED),
    })
}

fn bounded(entries: Option<u64>) -> Result<u64, PasskeyError> {
    entries
        .filter(|entries| *entries <= ENTRIES_MAX)
        .ok_or(PasskeyError::Malformed(
            "CBOR of an unknown or great length",
        ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_read_in_its_short_form_alone() {
        let map = [0xa2, 0x01, 0x26, 0x61, b'a', 0x41, 7];
        let item = Item::only(&map).unwrap();
        assert_eq!(item.labelled(1).unwrap().number(), Some(-7));
        assert_eq!(item.named("a").unwrap().bytes(), Ok(&[7][..]));
        assert!(item.named("b").is_err() && item.labelled(2).is_err());
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
            assert!(Item::only(bad).is_err(), "{bad:02x?}");
        }
        assert!(Item::only(&[0x81, 0x81, 0x81, 0x80]).is_ok());
        assert_eq!(Item::first(&[0xf5, 9]), Ok((Item::Bool(true), &[9][..])));
    }
}
