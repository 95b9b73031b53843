//! Writes numbers and vectors of the presentation language; a value that cannot be written makes `finish` fail.

use crate::alert::Refusal;

/// The bytes written so far.
#[derive(Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
    is_refused: bool,
}

impl Writer {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(bytes),
            is_refused: false,
        }
    }

    /// A writer that appends to these bytes.
    pub(crate) fn after(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            is_refused: false,
        }
    }

    pub(crate) fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub(crate) fn u16(&mut self, value: u16) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    pub(crate) fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    pub(crate) fn u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn vector8(&mut self, body: impl FnOnce(&mut Self)) {
        self.vector::<1>(body);
    }

    pub(crate) fn vector16(&mut self, body: impl FnOnce(&mut Self)) {
        self.vector::<2>(body);
    }

    pub(crate) fn vector24(&mut self, body: impl FnOnce(&mut Self)) {
        self.vector::<3>(body);
    }

    /// Makes `finish` fail, because a value cannot be encoded.
    pub(crate) fn refuse(&mut self) {
        self.is_refused = true;
    }

    /// The bytes. Fails if a vector was too long or a value could not be encoded.
    pub(crate) fn finish(self) -> Result<Vec<u8>, Refusal> {
        match self.is_refused {
            true => Err(Refusal::internal("a field can't be written")),
            false => Ok(self.bytes),
        }
    }

    /// Writes a vector with a length of `N` bytes: reserves the length, writes the body, then fills in the length.
    fn vector<const N: usize>(&mut self, body: impl FnOnce(&mut Self)) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[0; N]);
        body(self);
        let length = self.bytes.len().saturating_sub(start).saturating_sub(N);
        let wide = u64::try_from(length).unwrap_or(u64::MAX).to_be_bytes();
        let split = wide.len().saturating_sub(N);
        let (high, low) = wide.split_at_checked(split).unwrap_or((&wide, &[]));
        self.is_refused |= high.iter().any(|byte| *byte != 0);
        let place = self.bytes.get_mut(start..).unwrap_or_default();
        for (to, from) in place.iter_mut().zip(low) {
            *to = *from;
        }
    }
}
