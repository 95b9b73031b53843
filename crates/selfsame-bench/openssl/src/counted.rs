//! A stream that counts the bytes sent through it.

use std::io::{Read, Result, Write};

/// A stream and the number of bytes written to it.
#[derive(Debug)]
pub struct Counted<S> {
    stream: S,
    sent: usize,
}

impl<S> Counted<S> {
    /// Starts counting at zero.
    pub fn new(stream: S) -> Self {
        Self { stream, sent: 0 }
    }

    /// The number of bytes sent.
    pub fn sent(&self) -> usize {
        self.sent
    }
}

impl<S: Read> Read for Counted<S> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.stream.read(buffer)
    }
}

impl<S: Write> Write for Counted<S> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let written = self.stream.write(bytes)?;
        self.sent += written;
        Ok(written)
    }

    fn flush(&mut self) -> Result<()> {
        self.stream.flush()
    }
}
