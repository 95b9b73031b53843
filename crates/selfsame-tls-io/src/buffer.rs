//! A byte queue that frees its memory once it is empty.

/// Bytes in transit.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    taken: usize,
}

impl Buffer {
    pub(crate) fn is_empty(&self) -> bool {
        self.rest().is_empty()
    }

    /// The bytes not taken yet.
    pub(crate) fn rest(&self) -> &[u8] {
        self.bytes.get(self.taken..).unwrap_or_default()
    }

    /// Appends bytes.
    pub(crate) fn push(&mut self, bytes: Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        if self.is_empty() {
            self.bytes = bytes;
        } else {
            self.bytes.drain(..self.taken.min(self.bytes.len()));
            self.bytes.extend_from_slice(&bytes);
        }
        self.taken = 0;
    }

    /// Marks the first `count` bytes as taken.
    pub(crate) fn advance(&mut self, count: usize) {
        self.taken = self.taken.saturating_add(count);
        if self.is_empty() {
            self.clear();
        }
    }

    /// Copies and takes as many bytes as fit, and returns the count.
    pub(crate) fn take_into(&mut self, to: &mut [u8]) -> usize {
        let count = self.rest().len().min(to.len());
        if let (Some(to), Some(from)) = (to.get_mut(..count), self.rest().get(..count)) {
            to.copy_from_slice(from);
        }
        self.advance(count);
        count
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_out_in_their_order_and_leave_no_memory() {
        let mut buffer = Buffer::default();
        buffer.push(b"abc".to_vec());
        let mut two = [0; 2];
        assert_eq!(buffer.take_into(&mut two), 2);
        assert_eq!(&two, b"ab");
        buffer.push(b"de".to_vec());
        assert_eq!(buffer.rest(), b"cde");
        buffer.advance(3);
        assert!(buffer.is_empty());
        assert_eq!(buffer.bytes.capacity(), 0);
        assert_eq!(buffer.take_into(&mut two), 0);
    }
}
