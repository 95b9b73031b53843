//! Items as others encode them, read strictly (RFC 8949 §5.2): lengths are definite, no map has a key twice, nothing
//! follows, and bytes, depth and items are bounded. Longer forms of numbers and any order of keys are accepted: what is
//! signed stays as it was received.

use std::cmp::Ordering;

use minicbor::Decoder;
use minicbor::data::Type;
use minicbor::decode::Error as DecodeError;

use crate::deterministic::{self, CborWriter, EMBEDDED};
use crate::float;

/// Bounds on what is read.
#[derive(Clone, Debug)]
pub struct CborLimits {
    /// The length of the input, in bytes.
    pub bytes: usize,
    /// How deep arrays, maps and tags may be nested.
    pub depth: usize,
    /// The number of items, keys and values counted apart.
    pub items: usize,
}

impl Default for CborLimits {
    /// For a credential: 256 KiB, 16 levels, 8,192 items.
    fn default() -> Self {
        Self {
            bytes: 256 * 1024,
            depth: 16,
            items: 8_192,
        }
    }
}

/// Why an input is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CborError {
    /// The input is longer than the limit.
    #[error("the CBOR is longer than the limit")]
    TooLong,
    /// The items are nested deeper than the limit.
    #[error("the CBOR is nested too deeply")]
    TooDeep,
    /// There are more items than the limit.
    #[error("the CBOR has too many items")]
    TooMany,
    /// A length is indefinite.
    #[error("the CBOR has an item of indefinite length")]
    Indefinite,
    /// A map has a key twice.
    #[error("the CBOR has a map with a key twice")]
    KeyTwice,
    /// Bytes follow the item.
    #[error("bytes follow the CBOR")]
    Trailing,
    /// The input ends early, or is not CBOR.
    #[error("the CBOR is malformed")]
    Malformed,
}

/// An item, and the bytes that encode it. Two items are equal if their values are, however they are encoded.
#[derive(Clone, Debug)]
pub struct Cbor<'b> {
    raw: &'b [u8],
    kind: CborKind<'b>,
}

/// The value of an item.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum CborKind<'b> {
    /// A number from -2^64 to 2^64 - 1.
    Int(i128),
    /// A byte string.
    Bytes(&'b [u8]),
    /// A text string.
    Text(&'b str),
    /// An array.
    Array(Vec<Cbor<'b>>),
    /// A map, in the order of its keys' values.
    Map(Vec<CborPair<'b>>),
    /// A tag and its content.
    Tag(u64, Box<Cbor<'b>>),
    /// A boolean.
    Bool(bool),
    /// Null.
    Null,
    /// Undefined.
    Undefined,
    /// Another simple value.
    Simple(u8),
    /// The bits of a number of double precision, to which shorter ones are widened. All that are not a number are one.
    Float(u64),
}

/// A key of a map with its value.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct CborPair<'b> {
    /// The key.
    pub key: Cbor<'b>,
    /// The value.
    pub value: Cbor<'b>,
}

impl PartialEq for Cbor<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl Eq for Cbor<'_> {}

impl PartialOrd for Cbor<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Cbor<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.kind.cmp(&other.kind)
    }
}

impl<'b> Cbor<'b> {
    /// Reads the item that fills `bytes`.
    ///
    /// # Errors
    /// The first of the module's rules that the input breaks.
    pub fn parse(bytes: &'b [u8], limits: &CborLimits) -> Result<Self, CborError> {
        Self::parse_counted(bytes, &mut limits.clone())
    }

    /// Reads the item that fills `bytes`, and takes its items from `limits`: what is read with the same limits has no
    /// more items together.
    ///
    /// # Errors
    /// As [`Cbor::parse`].
    pub fn parse_counted(bytes: &'b [u8], limits: &mut CborLimits) -> Result<Self, CborError> {
        match Self::first_counted(bytes, limits)? {
            (item, []) => Ok(item),
            _ => Err(CborError::Trailing),
        }
    }

    /// Reads the item with which `bytes` begin, and returns it with the bytes after it.
    ///
    /// # Errors
    /// As [`Cbor::parse`], but for `Trailing`.
    pub fn first(bytes: &'b [u8], limits: &CborLimits) -> Result<(Self, &'b [u8]), CborError> {
        Self::first_counted(bytes, &mut limits.clone())
    }

    fn first_counted(
        bytes: &'b [u8],
        limits: &mut CborLimits,
    ) -> Result<(Self, &'b [u8]), CborError> {
        if bytes.len() > limits.bytes {
            return Err(CborError::TooLong);
        }
        let mut reading = CborReading {
            decoder: Decoder::new(bytes),
            items: limits.items,
        };
        let item = reading.item(limits.depth)?;
        limits.items = reading.items;
        let rest = bytes.get(reading.decoder.position()..);
        Ok((item, rest.ok_or(CborError::Malformed)?))
    }

    /// The item within this one, if this is a byte string of tag 24.
    ///
    /// # Errors
    /// `Malformed` if this is something else, and as [`Cbor::parse`].
    pub fn embedded(&self, limits: &CborLimits) -> Result<Self, CborError> {
        self.embedded_counted(&mut limits.clone())
    }

    /// The item within this one, as [`Cbor::parse_counted`] reads it.
    ///
    /// # Errors
    /// As [`Cbor::embedded`].
    pub fn embedded_counted(&self, limits: &mut CborLimits) -> Result<Self, CborError> {
        let within = self.tagged(EMBEDDED).and_then(Self::bytes);
        Cbor::parse_counted(within.ok_or(CborError::Malformed)?, limits)
    }

    /// The encoding of the item, as it was received.
    pub fn raw(&self) -> &'b [u8] {
        self.raw
    }

    /// The value.
    pub fn kind(&self) -> &CborKind<'b> {
        &self.kind
    }

    /// The number, if it is one of 64 bits with a sign.
    pub fn int(&self) -> Option<i64> {
        match self.kind {
            CborKind::Int(number) => i64::try_from(number).ok(),
            _ => None,
        }
    }

    /// The number, if it is not negative.
    pub fn uint(&self) -> Option<u64> {
        match self.kind {
            CborKind::Int(number) => u64::try_from(number).ok(),
            _ => None,
        }
    }

    /// The bytes of a byte string.
    pub fn bytes(&self) -> Option<&'b [u8]> {
        match self.kind {
            CborKind::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The text of a text string.
    pub fn text(&self) -> Option<&'b str> {
        match self.kind {
            CborKind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The items of an array.
    pub fn array(&self) -> Option<&[Cbor<'b>]> {
        match &self.kind {
            CborKind::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The pairs of a map.
    pub fn map(&self) -> Option<&[CborPair<'b>]> {
        match &self.kind {
            CborKind::Map(pairs) => Some(pairs),
            _ => None,
        }
    }

    /// The content under this tag.
    pub fn tagged(&self, tag: u64) -> Option<&Cbor<'b>> {
        match &self.kind {
            CborKind::Tag(found, content) if *found == tag => Some(content),
            _ => None,
        }
    }

    /// The value of a map under a text.
    pub fn named(&self, name: &str) -> Option<&Cbor<'b>> {
        let mut pairs = self.map()?.iter();
        let found = pairs.find(|pair| pair.key.text() == Some(name));
        found.map(|pair| &pair.value)
    }

    /// The value of a map under a number.
    pub fn labelled(&self, label: i64) -> Option<&Cbor<'b>> {
        let mut pairs = self.map()?.iter();
        let found = pairs.find(|pair| pair.key.int() == Some(label));
        found.map(|pair| &pair.value)
    }

    /// Writes the item in its deterministic form.
    pub fn write(&self, to: &mut CborWriter) {
        match &self.kind {
            CborKind::Int(number) => {
                to.wide_int(*number);
            }
            CborKind::Bytes(bytes) => {
                to.bytes(bytes);
            }
            CborKind::Text(text) => {
                to.text(text);
            }
            CborKind::Array(items) => {
                to.array(items.len());
                items.iter().for_each(|item| item.write(to));
            }
            CborKind::Map(pairs) => {
                let encoded = |item: &Cbor<'_>| deterministic::encode(|to| item.write(to));
                let pairs = pairs.iter();
                to.sorted(pairs.map(|pair| (encoded(&pair.key), encoded(&pair.value))));
            }
            CborKind::Tag(tag, content) => content.write(to.tag(*tag)),
            CborKind::Bool(value) => {
                to.bool(*value);
            }
            CborKind::Null => {
                to.null();
            }
            CborKind::Undefined => {
                to.raw(&[0xf7]);
            }
            CborKind::Simple(value) => {
                to.simple(*value);
            }
            CborKind::Float(bits) => {
                to.raw(&float::shortest(f64::from_bits(*bits)));
            }
        }
    }
}

struct CborReading<'b> {
    decoder: Decoder<'b>,
    items: usize,
}

impl<'b> CborReading<'b> {
    fn left(&self) -> usize {
        let input = self.decoder.input();
        input.len().saturating_sub(self.decoder.position())
    }

    fn item(&mut self, depth: usize) -> Result<Cbor<'b>, CborError> {
        self.items = self.items.checked_sub(1).ok_or(CborError::TooMany)?;
        let begin = self.decoder.position();
        let kind = self.kind(depth)?;
        let raw = self.decoder.input().get(begin..self.decoder.position());
        Ok(Cbor {
            raw: raw.ok_or(CborError::Malformed)?,
            kind,
        })
    }

    fn kind(&mut self, depth: usize) -> Result<CborKind<'b>, CborError> {
        let below = || depth.checked_sub(1).ok_or(CborError::TooDeep);
        let from = &mut self.decoder;
        Ok(match from.datatype().map_err(wrong)? {
            Type::U8
            | Type::U16
            | Type::U32
            | Type::U64
            | Type::I8
            | Type::I16
            | Type::I32
            | Type::I64
            | Type::Int => CborKind::Int(from.int().map(i128::from).map_err(wrong)?),
            Type::Bytes => CborKind::Bytes(from.bytes().map_err(wrong)?),
            Type::String => CborKind::Text(from.str().map_err(wrong)?),
            Type::Bool => CborKind::Bool(from.bool().map_err(wrong)?),
            Type::Null => from.null().map(|()| CborKind::Null).map_err(wrong)?,
            Type::Undefined => {
                from.undefined().map_err(wrong)?;
                CborKind::Undefined
            }
            Type::F16 => self.half()?,
            Type::F32 => float_of(f64::from(from.f32().map_err(wrong)?)),
            Type::F64 => float_of(from.f64().map_err(wrong)?),
            Type::Simple => self.simple()?,
            Type::Tag => {
                let tag = from.tag().map_err(wrong)?.as_u64();
                CborKind::Tag(tag, Box::new(self.item(below()?)?))
            }
            Type::Array => {
                let length = from.array().map_err(wrong)?;
                self.array(length, below()?)?
            }
            Type::Map => {
                let length = from.map().map_err(wrong)?;
                self.map(length, below()?)?
            }
            Type::BytesIndef | Type::StringIndef | Type::ArrayIndef | Type::MapIndef => {
                return Err(CborError::Indefinite);
            }
            Type::Break | Type::Unknown(_) => return Err(CborError::Malformed),
        })
    }

    fn array(&mut self, length: Option<u64>, depth: usize) -> Result<CborKind<'b>, CborError> {
        let length = self.length(length, 1)?;
        let mut items = Vec::with_capacity(length);
        for _ in 0..length {
            items.push(self.item(depth)?);
        }
        Ok(CborKind::Array(items))
    }

    fn map(&mut self, length: Option<u64>, depth: usize) -> Result<CborKind<'b>, CborError> {
        let length = self.length(length, 2)?;
        let mut pairs: Vec<CborPair<'b>> = Vec::with_capacity(length);
        for _ in 0..length {
            let key = self.item(depth)?;
            let value = self.item(depth)?;
            pairs.push(CborPair { key, value });
        }
        pairs.sort_unstable();
        match has_key_twice(&pairs) {
            true => Err(CborError::KeyTwice),
            false => Ok(CborKind::Map(pairs)),
        }
    }

    /// The stated length, if as many items can follow and may be read.
    fn length(&self, stated: Option<u64>, items_each: usize) -> Result<usize, CborError> {
        let stated = stated.ok_or(CborError::Indefinite)?;
        let length = usize::try_from(stated).map_err(|_| CborError::Malformed)?;
        let items = length.saturating_mul(items_each);
        if items > self.left() {
            return Err(CborError::Malformed);
        }
        match items > self.items {
            true => Err(CborError::TooMany),
            false => Ok(length),
        }
    }

    fn half(&mut self) -> Result<CborKind<'b>, CborError> {
        let at = self.decoder.position();
        let rest = self.decoder.input().get(at..).unwrap_or_default();
        let [_, high, low] = *rest.first_chunk::<3>().ok_or(CborError::Malformed)?;
        self.decoder.set_position(at.saturating_add(3));
        Ok(float_of(float::from_half(u16::from_be_bytes([high, low]))))
    }

    /// A value below 32 in two bytes is malformed (RFC 8949 §3.3).
    fn simple(&mut self) -> Result<CborKind<'b>, CborError> {
        let at = self.decoder.position();
        let is_long = self.decoder.input().get(at) == Some(&0xf8);
        let value = self.decoder.simple().map_err(wrong)?;
        match is_long && value < 32 {
            true => Err(CborError::Malformed),
            false => Ok(CborKind::Simple(value)),
        }
    }
}

fn float_of(number: f64) -> CborKind<'static> {
    let number = if number.is_nan() { f64::NAN } else { number };
    CborKind::Float(number.to_bits())
}

fn has_key_twice(sorted: &[CborPair<'_>]) -> bool {
    let keys = sorted.iter().map(|pair| &pair.key);
    let next = keys.clone().skip(1);
    keys.zip(next).any(|(one, other)| one == other)
}

fn wrong(_: DecodeError) -> CborError {
    CborError::Malformed
}

#[cfg(test)]
mod tests;
