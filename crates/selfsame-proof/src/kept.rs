//! What a reader keeps of a network: whom he trusts, and the evidence of a fork.

use selfsame_crypto::time::UnixTime;

use crate::cbor::{Item, Malformed, Reader, Writer};
use crate::read::TrustRoot;

const DOMAIN: &str = "selfsame/fork/1";

/// That validators signed two histories: both notes, so that anybody can judge it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fork {
    /// When it was found.
    pub found: UnixTime,
    /// The greater of both heights.
    pub height: u64,
    /// The signed checkpoints; the first is empty where a pinned trust root came with what was seen.
    pub notes: [String; 2],
    /// Where the notes are of logs of different length and do not contradict each other by themselves: the transaction
    /// that the longer one has next, with the proof of its place. It goes on from another log than the shorter one.
    pub entry: Vec<u8>,
    /// The nodes they came from.
    pub nodes: [String; 2],
}

/// The newest trust, and the note of the newest checkpoint seen.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Trusted {
    /// Whom the reader trusts.
    pub root: TrustRoot,
    /// The note.
    pub note: String,
}

impl Item for Trusted {
    fn write(&self, to: &mut Writer) {
        to.array(2).bytes(&self.root.to_bytes()).text(&self.note);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(2)?;
        Ok(Self {
            root: TrustRoot::from_bytes(from.bytes()?)?,
            note: from.text()?.to_owned(),
        })
    }
}

impl Item for Fork {
    fn write(&self, to: &mut Writer) {
        to.array(8)
            .text(DOMAIN)
            .uint(self.found.0)
            .uint(self.height);
        to.bytes(&self.entry);
        for text in self.notes.iter().chain(&self.nodes) {
            to.text(text);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(8)?;
        from.domain(DOMAIN)?;
        let (found, height) = (UnixTime(from.uint()?), from.uint()?);
        let entry = from.bytes()?.to_vec();
        let mut text = || from.text().map(str::to_owned);
        Ok(Self {
            found,
            height,
            entry,
            notes: [text()?, text()?],
            nodes: [text()?, text()?],
        })
    }
}
