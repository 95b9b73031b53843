//! MessagePack, as far as proof values need it: nil, booleans, integers, texts, lists, and maps with names. Bytes are lists
//! of small integers, since the published library writes them so.

use std::collections::BTreeMap;

use selfsame_anoncreds::Error;

const WHAT: &str = "the proof value";
/// The deepest nesting.
const DEPTH_MAX: usize = 16;
/// The most elements in all: a byte is one too.
const ELEMENTS_MAX: usize = 400_000;
/// The greatest positive integer of one byte, and of a negative one the first byte.
const SMALL_MAX: u8 = 0x7F;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Packed {
    Nil,
    Bool(bool),
    Integer(i64),
    Text(String),
    /// A list of integers from 0 to 255; an empty list too.
    Bytes(Vec<u8>),
    List(Vec<Packed>),
    Map(BTreeMap<String, Packed>),
}

impl Packed {
    /// Reads one value, which takes all bytes.
    ///
    /// # Errors
    /// [`Error::Malformed`] for other bytes; [`Error::TooLarge`] past a limit.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let mut reader = PackedReader {
            rest: bytes,
            elements: ELEMENTS_MAX,
        };
        let value = reader.value(DEPTH_MAX)?;
        match reader.rest.is_empty() {
            true => Ok(value),
            false => malformed("something follows it"),
        }
    }

    /// Writes the value in its shortest form.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Nil => out.push(0xC0),
            Self::Bool(value) => out.push(if *value { 0xC3 } else { 0xC2 }),
            Self::Integer(number) => write_integer(*number, out),
            Self::Text(text) => write_text(text, out),
            Self::Bytes(bytes) => {
                write_length(bytes.len(), &LIST, out);
                for byte in bytes {
                    write_integer(i64::from(*byte), out);
                }
            }
            Self::List(items) => {
                write_length(items.len(), &LIST, out);
                items.iter().for_each(|item| item.write(out));
            }
            Self::Map(members) => {
                write_length(members.len(), &MAP, out);
                for (name, value) in members {
                    write_text(name, out);
                    value.write(out);
                }
            }
        }
    }
}

/// How the length of a kind of value is written: the first byte of a short one, with the bits for the length, and the
/// first bytes before one, two and four bytes of length.
struct LengthForm {
    short: u8,
    short_max: usize,
    one: Option<u8>,
    two: u8,
    four: u8,
}

const TEXT: LengthForm = LengthForm {
    short: 0xA0,
    short_max: 31,
    one: Some(0xD9),
    two: 0xDA,
    four: 0xDB,
};
const LIST: LengthForm = LengthForm {
    short: 0x90,
    short_max: 15,
    one: None,
    two: 0xDC,
    four: 0xDD,
};
const MAP: LengthForm = LengthForm {
    short: 0x80,
    short_max: 15,
    one: None,
    two: 0xDE,
    four: 0xDF,
};

fn write_length(length: usize, form: &LengthForm, out: &mut Vec<u8>) {
    match (u8::try_from(length), form.one) {
        (Ok(short), _) if length <= form.short_max => out.push(form.short | short),
        (Ok(one), Some(first)) => out.extend([first, one]),
        _ => match u16::try_from(length) {
            Ok(two) => {
                out.push(form.two);
                out.extend(two.to_be_bytes());
            }
            Err(_) => {
                out.push(form.four);
                out.extend(u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes());
            }
        },
    }
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    write_length(text.len(), &TEXT, out);
    out.extend(text.as_bytes());
}

fn write_integer(number: i64, out: &mut Vec<u8>) {
    if let Ok(small) = i8::try_from(number).map(i8::to_be_bytes)
        && number >= -32
    {
        out.extend(small);
    } else if let Ok(one) = u8::try_from(number) {
        out.extend([0xCC, one]);
    } else if let Ok(four) = i32::try_from(number) {
        out.push(0xD2);
        out.extend(four.to_be_bytes());
    } else {
        out.push(0xD3);
        out.extend(number.to_be_bytes());
    }
}

struct PackedReader<'a> {
    rest: &'a [u8],
    elements: usize,
}

impl<'a> PackedReader<'a> {
    fn value(&mut self, depth: usize) -> Result<Packed, Error> {
        let too_many = Error::TooLarge {
            what: "the number of elements of the proof value",
            limit: ELEMENTS_MAX,
        };
        self.elements = self.elements.checked_sub(1).ok_or(too_many)?;
        let [first] = self.array()?;
        match first {
            0xC0 => Ok(Packed::Nil),
            0xC2 | 0xC3 => Ok(Packed::Bool(first == 0xC3)),
            0x90..=0x9F | 0xDC | 0xDD => {
                let length = self.length(first, &LIST)?;
                self.list(length, depth)
            }
            0x80..=0x8F | 0xDE | 0xDF => {
                let length = self.length(first, &MAP)?;
                self.map(length, depth)
            }
            0xA0..=0xBF | 0xD9..=0xDB => {
                let length = self.length(first, &TEXT)?;
                self.text(length).map(Packed::Text)
            }
            _ => self.integer(first).map(Packed::Integer),
        }
    }

    fn integer(&mut self, first: u8) -> Result<i64, Error> {
        match first {
            0..=SMALL_MAX | 0xE0..=0xFF => Ok(i64::from(i8::from_be_bytes([first]))),
            0xCC => Ok(i64::from(u8::from_be_bytes(self.array()?))),
            0xCD => Ok(i64::from(u16::from_be_bytes(self.array()?))),
            0xCE => Ok(i64::from(u32::from_be_bytes(self.array()?))),
            0xD0 => Ok(i64::from(i8::from_be_bytes(self.array()?))),
            0xD1 => Ok(i64::from(i16::from_be_bytes(self.array()?))),
            0xD2 => Ok(i64::from(i32::from_be_bytes(self.array()?))),
            0xD3 => Ok(i64::from_be_bytes(self.array()?)),
            0xCF => match i64::try_from(u64::from_be_bytes(self.array()?)) {
                Ok(number) => Ok(number),
                Err(_) => malformed("an integer is too great"),
            },
            _ => malformed("it has a value of a kind that is not known there"),
        }
    }

    fn length(&mut self, first: u8, form: &LengthForm) -> Result<usize, Error> {
        let length = if Some(first) == form.one {
            u32::from(u8::from_be_bytes(self.array()?))
        } else if first == form.two {
            u32::from(u16::from_be_bytes(self.array()?))
        } else if first == form.four {
            u32::from_be_bytes(self.array()?)
        } else {
            u32::from(first ^ form.short)
        };
        match usize::try_from(length) {
            // Each element takes a byte at least.
            Ok(length) if length <= self.rest.len() => Ok(length),
            _ => malformed("it ends too early"),
        }
    }

    fn list(&mut self, length: usize, depth: usize) -> Result<Packed, Error> {
        let depth = deeper(depth)?;
        let (mut bytes, mut items) = (Vec::new(), Vec::new());
        for _ in 0..length {
            let item = self.value(depth)?;
            match item {
                Packed::Integer(number) if items.is_empty() && (0..=255).contains(&number) => {
                    bytes.extend(u8::try_from(number));
                }
                item => {
                    let before = bytes.drain(..).map(|byte| Packed::Integer(i64::from(byte)));
                    items.extend(before);
                    items.push(item);
                }
            }
        }
        Ok(match items.is_empty() {
            true => Packed::Bytes(bytes),
            false => Packed::List(items),
        })
    }

    fn map(&mut self, length: usize, depth: usize) -> Result<Packed, Error> {
        let depth = deeper(depth)?;
        let mut members = BTreeMap::new();
        for _ in 0..length {
            let Packed::Text(name) = self.value(depth)? else {
                return malformed("a member has no name");
            };
            if members.insert(name, self.value(depth)?).is_some() {
                return malformed("a map names a member twice");
            }
        }
        Ok(Packed::Map(members))
    }

    fn text(&mut self, length: usize) -> Result<String, Error> {
        let text = self.take(length)?;
        match std::str::from_utf8(text) {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => malformed("a text is not UTF-8"),
        }
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Error> {
        let Some((taken, rest)) = self.rest.split_at_checked(length) else {
            return malformed("it ends too early");
        };
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let Some((taken, rest)) = self.rest.split_first_chunk() else {
            return malformed("it ends too early");
        };
        self.rest = rest;
        Ok(*taken)
    }
}

fn deeper(depth: usize) -> Result<usize, Error> {
    match depth.checked_sub(1) {
        Some(depth) => Ok(depth),
        None => malformed("it is nested too deeply"),
    }
}

fn malformed<T>(why: &'static str) -> Result<T, Error> {
    Err(Error::Malformed { what: WHAT, why })
}

#[cfg(test)]
mod tests;
