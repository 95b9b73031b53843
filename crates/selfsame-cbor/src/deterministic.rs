//! Deterministic CBOR (RFC 8949 §4.2.1): only definite lengths and shortest forms are accepted.

use std::convert::Infallible;

use minicbor::data::{Int, Tag, Type};
use minicbor::decode::Error as DecodeError;
use minicbor::{Decoder, Encoder};

/// The tag of an encoded item within a byte string (RFC 8949 §3.4.5.1).
pub const EMBEDDED: u64 = 24;

/// The bytes are not the deterministic encoding of the expected item.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("malformed: {0}")]
pub struct Malformed(pub &'static str);

/// A type with exactly one encoding.
pub trait CborItem: Sized {
    /// Writes the item.
    fn write(&self, to: &mut CborWriter);

    /// Reads an item and leaves the bytes after it.
    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed>;

    /// The item's encoding.
    fn to_cbor(&self) -> Vec<u8> {
        let mut writer = CborWriter::new();
        self.write(&mut writer);
        writer.finish()
    }

    /// Reads an item from all of `bytes`. Refuses any other encoding of the item: longer forms of lengths and numbers,
    /// indefinite lengths, trailing bytes.
    fn from_cbor(bytes: &[u8]) -> Result<Self, Malformed> {
        let item = Self::read(&mut CborReader(Decoder::new(bytes)))?;
        let mut again = CborWriter::with_capacity(bytes.len());
        item.write(&mut again);
        if again.finish() == bytes {
            Ok(item)
        } else {
            Err(Malformed("not in deterministic form"))
        }
    }
}

/// Encodes the output of `write`, for data that are never read back.
pub fn encode(write: impl FnOnce(&mut CborWriter)) -> Vec<u8> {
    let mut writer = CborWriter::new();
    write(&mut writer);
    writer.finish()
}

/// Writes deterministic CBOR.
#[derive(Debug)]
pub struct CborWriter(Encoder<Vec<u8>>);

impl CborWriter {
    fn new() -> Self {
        Self::with_capacity(0)
    }

    fn with_capacity(bytes: usize) -> Self {
        Self(Encoder::new(Vec::with_capacity(bytes)))
    }

    fn finish(self) -> Vec<u8> {
        self.0.into_writer()
    }

    /// Begins an array of `length` items.
    pub fn array(&mut self, length: usize) -> &mut Self {
        // A length in memory fits 64 bits.
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        written(self.0.array(length));
        self
    }

    /// Begins a map of `length` pairs. The keys must follow in the order of their encodings.
    pub fn map(&mut self, length: usize) -> &mut Self {
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        written(self.0.map(length));
        self
    }

    /// A signed number.
    pub fn int(&mut self, value: i64) -> &mut Self {
        written(self.0.i64(value));
        self
    }

    /// An unsigned number.
    pub fn uint(&mut self, value: u64) -> &mut Self {
        written(self.0.u64(value));
        self
    }

    /// A boolean.
    pub fn bool(&mut self, value: bool) -> &mut Self {
        written(self.0.bool(value));
        self
    }

    /// A text string.
    pub fn text(&mut self, value: &str) -> &mut Self {
        written(self.0.str(value));
        self
    }

    /// A byte string.
    pub fn bytes(&mut self, value: &[u8]) -> &mut Self {
        written(self.0.bytes(value));
        self
    }

    /// An optional byte string: an array of one byte string, or an empty array.
    pub fn option(&mut self, value: Option<&[u8]>) -> &mut Self {
        match value {
            Some(value) => self.array(1).bytes(value),
            None => self.array(0),
        }
    }

    /// A number from -2^64 to 2^64 - 1; one beyond that is written as the nearest.
    pub fn wide_int(&mut self, value: i128) -> &mut Self {
        let (least, greatest) = (-(1_i128 << 64), (1_i128 << 64).saturating_sub(1));
        if let Ok(value) = Int::try_from(value.clamp(least, greatest)) {
            written(self.0.int(value));
        }
        self
    }

    /// Null.
    pub fn null(&mut self) -> &mut Self {
        written(self.0.null());
        self
    }

    /// A simple value (RFC 8949 §3.3).
    pub fn simple(&mut self, value: u8) -> &mut Self {
        written(self.0.simple(value));
        self
    }

    /// A tag. Its content must follow.
    pub fn tag(&mut self, tag: u64) -> &mut Self {
        written(self.0.tag(Tag::new(tag)));
        self
    }

    /// An item that is encoded already.
    pub fn raw(&mut self, item: &[u8]) -> &mut Self {
        self.0.writer_mut().extend_from_slice(item);
        self
    }

    /// An item that is encoded already, as a byte string of tag 24 (RFC 8949 §3.4.5.1).
    pub fn embedded(&mut self, item: &[u8]) -> &mut Self {
        self.tag(EMBEDDED).bytes(item)
    }

    /// A map of encoded keys and values, in the order of the keys.
    pub fn sorted(&mut self, pairs: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>) -> &mut Self {
        let mut pairs: Vec<_> = pairs.into_iter().collect();
        pairs.sort_unstable();
        self.map(pairs.len());
        for (key, value) in &pairs {
            self.raw(key).raw(value);
        }
        self
    }

    /// An array of items.
    pub fn items<T: CborItem>(&mut self, items: &[T]) -> &mut Self {
        self.array(items.len());
        for item in items {
            item.write(self);
        }
        self
    }

    /// An item.
    pub fn item<T: CborItem>(&mut self, item: &T) -> &mut Self {
        item.write(self);
        self
    }
}

/// Writing to memory cannot fail.
fn written<T>(result: Result<T, minicbor::encode::Error<Infallible>>) {
    debug_assert!(result.is_ok());
}

/// Reads the output of a [`CborWriter`]. Only [`CborItem::from_cbor`], which encodes the item again, ensures that the encoding
/// is the deterministic one.
#[derive(Debug)]
pub struct CborReader<'b>(Decoder<'b>);

impl<'b> CborReader<'b> {
    /// An array of a given length.
    pub fn tuple(&mut self, length: usize) -> Result<(), Malformed> {
        match self.array()? == length {
            true => Ok(()),
            false => Err(Malformed("an array has another length")),
        }
    }

    /// An array of any length that fits in the remaining bytes.
    pub fn array(&mut self) -> Result<usize, Malformed> {
        let length = self.0.array().map_err(wrong)?;
        self.length(length)
    }

    /// A map of any number of pairs that fits in the remaining bytes.
    pub fn map(&mut self) -> Result<usize, Malformed> {
        let length = self.0.map().map_err(wrong)?;
        self.length(length)
    }

    fn length(&self, stated: Option<u64>) -> Result<usize, Malformed> {
        let stated = stated.ok_or(Malformed("an array or map of indefinite length"))?;
        let left = self.0.input().len().saturating_sub(self.0.position());
        match usize::try_from(stated) {
            Ok(length) if length <= left => Ok(length),
            _ => Err(Malformed("an array or map is longer than what follows")),
        }
    }

    /// A signed number.
    pub fn int(&mut self) -> Result<i64, Malformed> {
        self.0.i64().map_err(wrong)
    }

    /// An unsigned number.
    pub fn uint(&mut self) -> Result<u64, Malformed> {
        self.0.u64().map_err(wrong)
    }

    /// A boolean.
    pub fn bool(&mut self) -> Result<bool, Malformed> {
        self.0.bool().map_err(wrong)
    }

    /// A text string.
    pub fn text(&mut self) -> Result<&'b str, Malformed> {
        self.0.str().map_err(wrong)
    }

    /// A byte string.
    pub fn bytes(&mut self) -> Result<&'b [u8], Malformed> {
        self.0.bytes().map_err(wrong)
    }

    /// A byte string of a given length.
    pub fn array_of<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        <[u8; N]>::try_from(self.bytes()?)
            .map_err(|_| Malformed("a byte string has another length"))
    }

    /// An optional byte string: an array of one byte string, or an empty array.
    pub fn option(&mut self) -> Result<Option<&'b [u8]>, Malformed> {
        match self.array()? {
            0 => Ok(None),
            1 => self.bytes().map(Some),
            _ => Err(Malformed("there is one byte string or none")),
        }
    }

    /// An array of items.
    pub fn items<T: CborItem>(&mut self) -> Result<Vec<T>, Malformed> {
        (0..self.array()?).map(|_| T::read(self)).collect()
    }

    /// A fixed text that identifies the purpose of the bytes.
    pub fn domain(&mut self, domain: &str) -> Result<(), Malformed> {
        match self.text()? == domain {
            true => Ok(()),
            false => Err(Malformed("of another kind or version")),
        }
    }
}

fn wrong(_: DecodeError) -> Malformed {
    Malformed("a value is missing or of another type")
}

impl CborItem for String {
    fn write(&self, to: &mut CborWriter) {
        to.text(self);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.text().map(str::to_owned)
    }
}

/// The maximum nesting depth of [`Any`].
const DEPTH_MAX: usize = 16;

/// Any item that a state may contain, for display.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Any {
    /// An unsigned number.
    Uint(u64),
    /// A boolean.
    Bool(bool),
    /// A text string.
    Text(String),
    /// A byte string.
    Bytes(Vec<u8>),
    /// An array.
    Array(Vec<Any>),
}

impl Any {
    fn read_at(from: &mut CborReader<'_>, depth: usize) -> Result<Self, Malformed> {
        if depth > DEPTH_MAX {
            return Err(Malformed("arrays are too deep"));
        }
        match from.0.datatype().map_err(wrong)? {
            Type::U8 | Type::U16 | Type::U32 | Type::U64 => from.uint().map(Self::Uint),
            Type::Bool => from.bool().map(Self::Bool),
            Type::String => Ok(Self::Text(from.text()?.to_owned())),
            Type::Bytes => Ok(Self::Bytes(from.bytes()?.to_vec())),
            Type::Array => {
                let below = depth.saturating_add(1);
                let items = (0..from.array()?).map(|_| Self::read_at(from, below));
                items.collect::<Result<_, _>>().map(Self::Array)
            }
            _ => Err(Malformed("a value of a type that is not used")),
        }
    }
}

impl CborItem for Any {
    fn write(&self, to: &mut CborWriter) {
        match self {
            Self::Uint(value) => to.uint(*value),
            Self::Bool(value) => to.bool(*value),
            Self::Text(value) => to.text(value),
            Self::Bytes(value) => to.bytes(value),
            Self::Array(items) => to.items(items),
        };
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        Self::read_at(from, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anything_of_the_state_is_read_and_written_the_same_and_nothing_too_deep() {
        let bytes = [0x85, 0x18, 0x2a, 0xf5, 0x61, b'a', 0x42, 1, 2, 0x81, 0x80];
        let any = Any::from_cbor(&bytes).unwrap();
        let Any::Array(items) = &any else {
            panic!("{any:?}")
        };
        assert_eq!(items.len(), 5);
        assert_eq!(items[4], Any::Array(vec![Any::Array(vec![])]));
        assert_eq!(any.to_cbor(), bytes);
        for bad in [&[0xf6][..], &[0x20], &[0xa0], &[0x18, 0x01], &[0x81]] {
            assert!(Any::from_cbor(bad).is_err(), "{bad:x?}");
        }
        let mut deep = vec![0x81; DEPTH_MAX + 1];
        deep.push(0x80);
        assert!(Any::from_cbor(&deep).is_err());
        assert!(Any::from_cbor(&deep[1..]).is_ok());
    }

    /// A map from numbers to texts.
    #[derive(Debug, Eq, PartialEq)]
    struct Names(std::collections::BTreeMap<i64, String>);

    impl CborItem for Names {
        fn write(&self, to: &mut CborWriter) {
            to.map(self.0.len());
            let (negative, positive) = (self.0.range(..0).rev(), self.0.range(0..));
            for (key, name) in positive.chain(negative) {
                to.int(*key).text(name);
            }
        }

        fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
            let mut names = Self(std::collections::BTreeMap::new());
            for _ in 0..from.map()? {
                names.0.insert(from.int()?, from.text()?.to_owned());
            }
            Ok(names)
        }
    }

    #[test]
    fn a_map_is_read_in_the_order_of_its_keys_alone() {
        let bytes = [0xa3, 0x01, 0x61, b'a', 0x20, 0x61, b'b', 0x21, 0x60];
        let names = Names::from_cbor(&bytes).unwrap();
        assert_eq!(names.0[&-1], "b");
        assert_eq!(names.to_cbor(), bytes);
        assert_eq!(encode(|to| names.write(to)), bytes);
        for bad in [
            &[0xa2, 0x20, 0x60, 0x01, 0x60][..], // in another order
            &[0xa2, 0x01, 0x60, 0x01, 0x60],     // a key twice
            &[0xa1, 0x18, 0x01, 0x60],           // a key in a longer form
            &[0xa1, 0x38, 0x00, 0x60],           // likewise below zero
            &[0xb8, 0x01, 0x01, 0x60],           // length in a longer form
            &[0xbf, 0x01, 0x60, 0xff],           // of indefinite length
            &[0xbb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], // no memory is taken for this
            &[0xa1, 0x01],
        ] {
            assert!(Names::from_cbor(bad).is_err(), "{bad:02x?}");
        }
    }

    fn strings(bytes: &[u8]) -> Result<Vec<String>, Malformed> {
        struct Strings(Vec<String>);
        impl CborItem for Strings {
            fn write(&self, to: &mut CborWriter) {
                to.items(&self.0);
            }
            fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
                from.items().map(Self)
            }
        }
        Strings::from_cbor(bytes).map(|strings| strings.0)
    }

    #[test]
    fn only_the_shortest_definite_form_is_read() {
        assert_eq!(strings(&[0x81, 0x61, b'a']), Ok(vec!["a".to_owned()]));
        for bad in [
            &[0x98, 0x01, 0x61, b'a'][..],   // length in a longer form
            &[0x81, 0x78, 0x01, b'a'],       // likewise of the text
            &[0x9f, 0x61, b'a', 0xff],       // array of indefinite length
            &[0x81, 0x7f, 0x61, b'a', 0xff], // text of indefinite length
            &[0x81, 0x61, b'a', 0x00],       // bytes left over
            &[0x82, 0x61, b'a'],             // too short
            &[0x81, 0x41, b'a'],             // byte string
            &[0x81, 0x61, 0xff],             // not UTF-8
            &[0xc1, 0x81, 0x61, b'a'],       // tagged
            &[0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], // no memory is taken for this
            &[],
        ] {
            assert!(strings(bad).is_err(), "{bad:02x?}");
        }
    }
}
