//! A transaction of the log with its inclusion proof.

use selfsame_crypto::time::UnixTime;

use super::Hash;
use crate::cbor::{CborItem, CborReader, CborWriter, Malformed};

/// The maximum number of hashes in a path: a log of 2⁶⁴ entries needs no more.
const PATH_MAX: usize = 64;

/// A transaction with its inclusion proof.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProvenEntry {
    /// The sequence number. The proof covers it.
    pub seq_no: u64,
    /// The height of its block. The proof does not cover it.
    pub height: u64,
    /// The time of its block. The proof does not cover it.
    pub time: UnixTime,
    /// The transaction.
    pub transaction: Vec<u8>,
    /// The inclusion proof (RFC 9162 §2.1.3).
    pub path: Vec<Hash>,
}

impl CborItem for ProvenEntry {
    fn write(&self, to: &mut CborWriter) {
        to.array(5).uint(self.seq_no).uint(self.height);
        to.uint(self.time.0).bytes(&self.transaction);
        to.bytes(&self.path.concat());
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(5)?;
        let (seq_no, height, time) = (from.uint()?, from.uint()?, UnixTime(from.uint()?));
        let (transaction, path) = (from.bytes()?.to_vec(), from.bytes()?);
        let (path, rest) = path.as_chunks::<32>();
        match rest.is_empty() && path.len() <= PATH_MAX {
            true => Ok(Self {
                seq_no,
                height,
                time,
                transaction,
                path: path.to_vec(),
            }),
            false => Err(Malformed("a proof of inclusion is malformed")),
        }
    }
}
