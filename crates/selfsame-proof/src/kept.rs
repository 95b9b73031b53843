//! Data that a reader stores about a network: its trust root, and evidence of a fork.

use selfsame_crypto::time::UnixTime;

use crate::cbor::{CborItem, CborReader, CborWriter, Malformed};
use crate::read::TrustRoot;

const DOMAIN: &str = "selfsame/fork/1";

/// Evidence that validators signed two histories: both notes, so that anyone can verify it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fork {
    /// When the fork was found.
    pub found: UnixTime,
    /// The greater of the two heights.
    pub height: u64,
    /// The signed checkpoints. The first is empty if a pinned trust root included the checkpoint seen.
    pub notes: [String; 2],
    /// The next transaction of the longer log, with its inclusion proof, which shows that this log does not extend the
    /// shorter one. Used if the notes state different log sizes and do not contradict each other by themselves.
    pub entry: Vec<u8>,
    /// The nodes that sent the notes.
    pub nodes: [String; 2],
}

/// The newest trust root, and the note of the newest checkpoint seen.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TrustedRoot {
    /// The trust root.
    pub root: TrustRoot,
    /// The note.
    pub note: String,
}

impl CborItem for TrustedRoot {
    fn write(&self, to: &mut CborWriter) {
        to.array(2).bytes(&self.root.to_bytes()).text(&self.note);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(2)?;
        Ok(Self {
            root: TrustRoot::from_bytes(from.bytes()?)?,
            note: from.text()?.to_owned(),
        })
    }
}

impl CborItem for Fork {
    fn write(&self, to: &mut CborWriter) {
        to.array(8)
            .text(DOMAIN)
            .uint(self.found.0)
            .uint(self.height);
        to.bytes(&self.entry);
        for text in self.notes.iter().chain(&self.nodes) {
            to.text(text);
        }
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
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
