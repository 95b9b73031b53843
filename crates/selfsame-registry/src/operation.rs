//! Operations: the things a transaction can ask.

use selfsame_crypto::time::UnixTime;

use crate::cbor::{Item, Malformed, Reader, Writer};
use crate::content::Content;

/// What is asked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Operation {
    /// Registers the author, whose identifier belongs to the first key.
    CreateDid(Content),
    /// Puts new content in place of the author's; the old stays readable.
    UpdateDid {
        /// The version this makes, one above the present one.
        version: u64,
        /// The new content.
        content: Content,
    },
    /// Ends the author's DID for good.
    DeactivateDid {
        /// The version this makes, one above the present one.
        version: u64,
    },
    /// Says which status list the author has issued under a URI.
    AnchorStatus {
        /// The list's URI.
        list: String,
        /// SHA-256 of the list as served.
        digest: [u8; 32],
        /// When the list was issued; later than the one anchored before.
        issued: UnixTime,
    },
}

impl Item for Operation {
    fn write(&self, to: &mut Writer) {
        match self {
            Self::CreateDid(content) => to.array(2).uint(1).item(content),
            Self::UpdateDid { version, content } => {
                to.array(3).uint(2).uint(*version).item(content)
            }
            Self::DeactivateDid { version } => to.array(2).uint(3).uint(*version),
            Self::AnchorStatus {
                list,
                digest,
                issued,
            } => to.array(4).uint(4).text(list).bytes(digest).uint(issued.0),
        };
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        match (from.array()?, from.uint()?) {
            (2, 1) => Ok(Self::CreateDid(Content::read(from)?)),
            (3, 2) => Ok(Self::UpdateDid {
                version: from.uint()?,
                content: Content::read(from)?,
            }),
            (2, 3) => Ok(Self::DeactivateDid {
                version: from.uint()?,
            }),
            (4, 4) => Ok(Self::AnchorStatus {
                list: from.text()?.to_owned(),
                digest: from.array_of()?,
                issued: UnixTime(from.uint()?),
            }),
            _ => Err(Malformed("an unknown operation")),
        }
    }
}
