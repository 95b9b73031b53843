//! A hash over a configuration, so that tickets of another policy or identity are neither offered nor accepted.

use selfsame_crypto::hash::Sha256;

/// Hashes parts of a configuration, each with its length, so that different configurations have different inputs.
pub(crate) struct Digest(Sha256);

impl Digest {
    pub(crate) fn new(purpose: &str) -> Self {
        let mut digest = Self(Sha256::new());
        digest.part(purpose.as_bytes());
        digest
    }

    pub(crate) fn part(&mut self, bytes: &[u8]) {
        self.number(bytes.len());
        self.0.update(bytes);
    }

    pub(crate) fn number(&mut self, number: impl TryInto<u64>) {
        let number = number.try_into().unwrap_or(u64::MAX);
        self.0.update(&number.to_be_bytes());
    }

    /// Adds a list, its length first.
    pub(crate) fn list<T>(
        &mut self,
        items: impl ExactSizeIterator<Item = T>,
        mut each: impl FnMut(&mut Self, T),
    ) {
        self.number(items.len());
        items.for_each(|item| each(self, item));
    }

    /// Adds an optional part.
    pub(crate) fn option<T>(&mut self, item: Option<T>, each: impl FnMut(&mut Self, T)) {
        self.list(item.into_iter(), each);
    }

    pub(crate) fn finish(self) -> [u8; 32] {
        self.0.finish()
    }
}
