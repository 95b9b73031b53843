//! The record layer (RFC 8446 §5): splits bytes into records and back, with protection once there are keys.

use std::fmt;

use crate::alert::{Alert, Refusal};
use crate::codec::{ContentType, MAX_PLAINTEXT, RECORD_HEADER, RecordHeader};
use crate::provider::{Opener, Sealer};
use crate::schedule::Traffic;

/// A record's content.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) content: ContentType,
    pub(crate) bytes: Vec<u8>,
}

/// Both directions of a connection.
#[derive(Default)]
pub(crate) struct RecordLayer {
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
    read: Option<Keyed<Opener>>,
    write: Option<Keyed<Sealer>>,
    /// Bytes of early data that may still be skipped, counted by [`skipped`].
    early: usize,
    /// Records are padded to a multiple of this many bytes; 0 for no padding.
    block: usize,
}

impl fmt::Debug for RecordLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RecordLayer")
    }
}

struct Keyed<T> {
    key: T,
    traffic: Traffic,
    sequence: u64,
}

impl<T> Keyed<T> {
    /// The number of the next record; a key never protects enough records for it to wrap (§5.3).
    fn next(&mut self) -> Result<u64, Refusal> {
        let now = self.sequence;
        let next = now.checked_add(1);
        self.sequence = next.ok_or(Refusal::internal("a key has protected too many records"))?;
        Ok(now)
    }
}

/// What was read.
enum TakenRecord {
    Record(Record),
    Skipped,
    Incomplete,
}

impl Keyed<Opener> {
    fn open(&mut self, bytes: &mut [u8]) -> Result<Record, Refusal> {
        let (content, bytes) = self.key.open(bytes, self.sequence)?;
        self.next()?;
        Ok(Record { content, bytes })
    }
}

/// A position in the buffered bytes; passed bytes are removed at the end.
pub(crate) struct Cursor {
    read: usize,
}

impl RecordLayer {
    /// Takes bytes from the peer.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.incoming.extend_from_slice(bytes);
    }

    /// Bytes waiting to be read.
    pub(crate) fn waiting(&self) -> usize {
        self.incoming.len()
    }

    pub(crate) fn cursor(&self) -> Cursor {
        Cursor { read: 0 }
    }

    /// Removes the bytes that the cursor has passed.
    pub(crate) fn forget(&mut self, cursor: Cursor) {
        self.incoming.drain(..cursor.read.min(self.incoming.len()));
    }

    /// The next record, if it is complete.
    pub(crate) fn next(&mut self, cursor: &mut Cursor) -> Result<Option<Record>, Refusal> {
        loop {
            match self.take(cursor)? {
                TakenRecord::Record(record) => return Ok(Some(record)),
                TakenRecord::Incomplete => return Ok(None),
                TakenRecord::Skipped => {}
            }
        }
    }

    fn take(&mut self, cursor: &mut Cursor) -> Result<TakenRecord, Refusal> {
        let rest = self.incoming.get_mut(cursor.read..).unwrap_or_default();
        let Some((header, rest)) = rest.split_first_chunk_mut::<RECORD_HEADER>() else {
            return Ok(TakenRecord::Incomplete);
        };
        let header = RecordHeader::parse(*header)?;
        let Some(bytes) = rest.get_mut(..header.length) else {
            return Ok(TakenRecord::Incomplete);
        };
        let whole = RECORD_HEADER.saturating_add(header.length);
        cursor.read = cursor.read.saturating_add(whole);
        let record = match (&mut self.read, header.content) {
            (Some(read), ContentType::ApplicationData) => match read.open(bytes) {
                Err(refusal)
                    if refusal.alert == Alert::BadRecordMac
                        && self.early >= skipped(header.length) =>
                {
                    self.early = self.early.saturating_sub(skipped(header.length));
                    return Ok(TakenRecord::Skipped);
                }
                opened => {
                    // The first record that decrypts is of the client's second flight.
                    self.early = 0;
                    opened?
                }
            },
            (_, ContentType::ChangeCipherSpec) => {
                return compatible(bytes).map(TakenRecord::Record);
            }
            (Some(_), _) => {
                return Err(Refusal::unexpected(
                    "a record without protection after keys were set",
                ));
            }
            (None, ContentType::ApplicationData) if self.early >= skipped(header.length) => {
                self.early = self.early.saturating_sub(skipped(header.length));
                return Ok(TakenRecord::Skipped);
            }
            (None, ContentType::ApplicationData) => {
                return Err(Refusal::unexpected(
                    "a protected record before keys were set",
                ));
            }
            (None, content) => Record {
                content,
                bytes: bytes.to_vec(),
            },
        };
        check(record).map(TakenRecord::Record)
    }

    /// Skips up to this many bytes of early data: records that do not decrypt, up to the first that does, or protected
    /// records before there are keys (§4.2.10).
    pub(crate) fn skip_early(&mut self, bytes: usize) {
        self.early = bytes;
    }

    /// Sends content in as many records as necessary.
    pub(crate) fn send(&mut self, content: ContentType, bytes: &[u8]) -> Result<(), Refusal> {
        for part in bytes.chunks(MAX_PLAINTEXT) {
            match &mut self.write {
                Some(write) => {
                    let sequence = write.next()?;
                    let padding = padding(part.len(), self.block);
                    let record = write.key.seal(content, padding, part, sequence)?;
                    self.outgoing.extend_from_slice(&record);
                }
                None => self.send_plain(content, 0x0303, part)?,
            }
        }
        Ok(())
    }

    /// Sends one record without protection.
    pub(crate) fn send_plain(
        &mut self,
        content: ContentType,
        version: u16,
        bytes: &[u8],
    ) -> Result<(), Refusal> {
        let header = RecordHeader {
            content,
            version,
            length: bytes.len(),
        };
        self.outgoing.extend_from_slice(&header.write()?);
        self.outgoing.extend_from_slice(bytes);
        Ok(())
    }

    /// Pads records to a multiple of `block` bytes.
    pub(crate) fn pad_to(&mut self, block: u16) {
        self.block = usize::from(block);
    }

    /// Returns the bytes to be sent to the peer.
    pub(crate) fn take_outgoing(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.outgoing)
    }

    pub(crate) fn set_read(&mut self, traffic: Traffic) {
        self.read = Some(Keyed {
            key: traffic.opener(),
            traffic,
            sequence: 0,
        });
    }

    /// Sends without protection again, after early data that was not accepted.
    pub(crate) fn clear_write(&mut self) {
        self.write = None;
    }

    pub(crate) fn set_write(&mut self, traffic: Traffic) {
        self.write = Some(Keyed {
            key: traffic.sealer(),
            traffic,
            sequence: 0,
        });
    }

    /// Updates the key for receiving (§7.2).
    pub(crate) fn update_read(&mut self) -> Result<(), Refusal> {
        if let Some(read) = &self.read {
            let next = read.traffic.next()?;
            self.set_read(next);
        }
        Ok(())
    }

    /// Updates the key for sending.
    pub(crate) fn update_write(&mut self) -> Result<(), Refusal> {
        if let Some(write) = &self.write {
            let next = write.traffic.next()?;
            self.set_write(next);
        }
        Ok(())
    }

    /// Whether the sending key is nearly at its limit of records (§5.5).
    pub(crate) fn is_worn(&self) -> bool {
        self.write.as_ref().is_some_and(|write| {
            write.sequence >= write.traffic.cipher().limit().saturating_sub(1024)
        })
    }
}

/// The number of padding zeros after `length` bytes and their type, up to a multiple of `block` or the maximum of a
/// record (§5.4).
fn padding(length: usize, block: usize) -> usize {
    let used = length.saturating_add(1);
    let full = used.checked_next_multiple_of(block).unwrap_or(used);
    full.min(MAX_PLAINTEXT.saturating_add(1))
        .saturating_sub(used)
}

/// How much a skipped record of early data counts: the plaintext it may contain, without type and tag, since tickets
/// limit plaintext (§4.2.10, §5.2); at least the size of type and tag, so that empty records are limited too.
fn skipped(length: usize) -> usize {
    const PROTECTION: usize = 17;
    length.saturating_sub(PROTECTION).max(PROTECTION)
}

/// Only application data may have empty fragments (§5.1).
fn check(record: Record) -> Result<Record, Refusal> {
    match record.content {
        ContentType::ChangeCipherSpec => Err(Refusal::unexpected("a protected change_cipher_spec")),
        ContentType::Alert | ContentType::Handshake if record.bytes.is_empty() => {
            Err(Refusal::unexpected("an empty record"))
        }
        _ => Ok(record),
    }
}

/// The compatibility message for middleboxes, without meaning (appendix D.4).
fn compatible(bytes: &[u8]) -> Result<Record, Refusal> {
    match bytes {
        [1] => Ok(Record {
            content: ContentType::ChangeCipherSpec,
            bytes: vec![1],
        }),
        _ => Err(Refusal::unexpected(
            "a change_cipher_spec with invalid content",
        )),
    }
}

#[cfg(test)]
mod tests;
