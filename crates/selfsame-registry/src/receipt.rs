//! Receipts: the number, block and time at which a transaction was accepted.

use selfsame_crypto::time::UnixTime;
use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed};
use serde::{Deserialize, Serialize};

/// The record that a transaction was accepted, and its place in the log.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Receipt {
    /// Its number in the log, from 1.
    pub seq_no: u64,
    /// The height of its block.
    pub height: u64,
    /// The time of its block.
    pub time: UnixTime,
    /// The transaction's identity; lower-case hex in JSON.
    #[serde(with = "hex")]
    pub tx_hash: [u8; 32],
}

/// A numbered record that never changes.
pub(crate) trait Version: CborItem {
    /// The transaction that made it.
    fn receipt(&self) -> &Receipt;
}

impl CborItem for Receipt {
    fn write(&self, to: &mut CborWriter) {
        to.array(4)
            .uint(self.seq_no)
            .uint(self.height)
            .uint(self.time.0)
            .bytes(&self.tx_hash);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(4)?;
        Ok(Self {
            seq_no: from.uint()?,
            height: from.uint()?,
            time: UnixTime(from.uint()?),
            tx_hash: from.array_of()?,
        })
    }
}

mod hex {
    use selfsame_crypto::encoding::{hex_decode, hex_encode};
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(hash: &[u8; 32], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&hex_encode(hash))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<[u8; 32], D::Error> {
        let hash = hex_decode(&String::deserialize(from)?).ok();
        hash.and_then(|hash| hash.try_into().ok())
            .ok_or_else(|| D::Error::custom("not 32 bytes in hex"))
    }
}
