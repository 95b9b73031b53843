//! Writes numbers and vectors of the presentation language; what cannot be written is remembered.

use crate::alert::Refusal;

/// What was written so far.
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

    /// One that writes after these bytes.
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

    /// Something has no form here.
    pub(crate) fn refuse(&mut self) {
        self.is_refused = true;
    }

    /// The bytes, unless a vector was too long to write or something has no form.
    pub(crate) fn finish(self) -> Result<Vec<u8>, Refusal> {
        match self.is_refused {
            true => Err(Refusal::internal("a field cannot be written")),
            false => Ok(self.bytes),
        }
    }

    /// A vector whose length takes `N` bytes: first the place for it, then the body, then the length.
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
