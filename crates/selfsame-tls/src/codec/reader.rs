//! Reads numbers and vectors of the presentation language (RFC 8446 §3) from a slice.

use crate::alert::Refusal;

const TRUNCATED: Refusal = Refusal::decode("a message or field ends too early");

/// The unread rest.
pub(crate) struct CodecReader<'a>(&'a [u8]);

impl<'a> CodecReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], Refusal> {
        let (head, rest) = self.0.split_at_checked(count).ok_or(TRUNCATED)?;
        self.0 = rest;
        Ok(head)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Refusal> {
        let (head, rest) = self.0.split_first_chunk::<N>().ok_or(TRUNCATED)?;
        self.0 = rest;
        Ok(*head)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Refusal> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Refusal> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u24(&mut self) -> Result<usize, Refusal> {
        let [high, middle, low] = self.array()?;
        usize::try_from(u32::from_be_bytes([0, high, middle, low])).map_err(|_| TRUNCATED)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Refusal> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Refusal> {
        self.array().map(u64::from_be_bytes)
    }

    pub(crate) fn vector8(&mut self) -> Result<&'a [u8], Refusal> {
        let length = self.u8()?;
        self.take(usize::from(length))
    }

    pub(crate) fn vector16(&mut self) -> Result<&'a [u8], Refusal> {
        let length = self.u16()?;
        self.take(usize::from(length))
    }

    pub(crate) fn vector24(&mut self) -> Result<&'a [u8], Refusal> {
        let length = self.u24()?;
        self.take(length)
    }

    pub(crate) fn rest(self) -> &'a [u8] {
        self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Fails if anything is left.
    pub(crate) fn finish(self) -> Result<(), Refusal> {
        match self.0 {
            [] => Ok(()),
            _ => Err(Refusal::decode("extra bytes after a message or field")),
        }
    }
}

/// Reads all elements of a vector.
pub(crate) fn list<'a, T>(
    bytes: &'a [u8],
    mut element: impl FnMut(&mut CodecReader<'a>) -> Result<T, Refusal>,
) -> Result<Vec<T>, Refusal> {
    let mut reader = CodecReader::new(bytes);
    let mut elements = Vec::new();
    while !reader.is_empty() {
        elements.push(element(&mut reader)?);
    }
    Ok(elements)
}

/// Fails if the list is empty.
pub(crate) fn some<T>(list: Vec<T>) -> Result<Vec<T>, Refusal> {
    match list.is_empty() {
        true => Err(Refusal::decode("a list is empty that must not be")),
        false => Ok(list),
    }
}
