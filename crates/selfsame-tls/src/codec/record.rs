//! Record headers (RFC 8446 §5.1).

use super::{CodecReader, Writer};
use crate::alert::{Alert, Refusal};

/// Maximum bytes of plaintext in a record (RFC 8446 §5.1).
pub const MAX_PLAINTEXT: usize = 1 << 14;
/// Maximum bytes of ciphertext in a record (RFC 8446 §5.2).
pub const MAX_CIPHERTEXT: usize = MAX_PLAINTEXT + 256;
/// Bytes of a header.
pub(crate) const HEADER: usize = 5;

/// The content type of a record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ContentType {
    /// A compatibility message without meaning.
    ChangeCipherSpec,
    /// An alert.
    Alert,
    /// Fragments of handshake messages.
    Handshake,
    /// Application data, or any protected record.
    ApplicationData,
}

impl ContentType {
    /// The number on the wire.
    pub const fn code(self) -> u8 {
        match self {
            Self::ChangeCipherSpec => 20,
            Self::Alert => 21,
            Self::Handshake => 22,
            Self::ApplicationData => 23,
        }
    }

    /// The type with this number.
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            20 => Some(Self::ChangeCipherSpec),
            21 => Some(Self::Alert),
            22 => Some(Self::Handshake),
            23 => Some(Self::ApplicationData),
            _ => None,
        }
    }
}

/// The five bytes before a record's content.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RecordHeader {
    /// The content type on the outside.
    pub content: ContentType,
    /// `legacy_record_version`, which is ignored.
    pub version: u16,
    /// The number of bytes that follow.
    pub length: usize,
}

impl RecordHeader {
    /// Reads a header. Refuses a length that no record may have, without waiting for its bytes.
    pub fn parse(bytes: [u8; HEADER]) -> Result<Self, Refusal> {
        let mut reader = CodecReader::new(&bytes);
        let content = ContentType::from_code(reader.u8()?)
            .ok_or(Refusal::unexpected("a record of an unknown type"))?;
        let version = reader.u16()?;
        // TLS records have a version whose first byte is 3; the second is ignored (§5.1, appendix D).
        if version >> 8 != 3 {
            return Err(Refusal::new(Alert::ProtocolVersion, "not a record of TLS"));
        }
        let length = usize::from(reader.u16()?);
        let most = match content {
            ContentType::ApplicationData => MAX_CIPHERTEXT,
            _ => MAX_PLAINTEXT,
        };
        if length > most {
            return Err(Refusal::new(Alert::RecordOverflow, "a record is too long"));
        }
        Ok(Self {
            content,
            version,
            length,
        })
    }

    /// Writes a header.
    pub fn write(&self) -> Result<Vec<u8>, Refusal> {
        let mut writer = Writer::default();
        writer.u8(self.content.code());
        writer.u16(self.version);
        let length = u16::try_from(self.length);
        writer.u16(length.map_err(|_| Refusal::internal("a record is too long to send"))?);
        writer.finish()
    }
}
