//! The head: everything besides the state that is needed to continue with the next block.

use selfsame_crypto::time::UnixTime;
use selfsame_proof::checkpoint::{Checkpoint, Standing};
use selfsame_proof::log::Frontier;
use selfsame_proof::tree::Root;

use crate::genesis::Genesis;
use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed};

const DOMAIN: &str = "selfsame/head/1";

/// A registry after a block.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Head {
    /// Its height; 0 before the first block.
    pub height: u64,
    /// Its time.
    pub time: UnixTime,
    /// The log of all accepted transactions.
    pub log: Frontier,
    /// The tree over the state's objects.
    pub tree: Root,
}

impl Head {
    /// The head of a network without blocks. What the genesis puts into the state comes with the
    /// first block.
    pub fn of_genesis(genesis: &Genesis) -> Self {
        Self {
            height: 0,
            time: genesis.time(),
            log: Frontier::new(),
            tree: Root::EMPTY,
        }
    }

    /// What its checkpoint says.
    pub fn standing(&self) -> Standing {
        Standing {
            height: self.height,
            time: self.time,
            size: self.log.size(),
            log: self.log.root(),
            state: self.tree.hash,
        }
    }

    /// The digest of log and state: two machines that agree on it agree on everything.
    pub fn app_hash(&self) -> [u8; 32] {
        self.standing().app_hash()
    }

    /// The head as others see it, to be signed.
    pub fn checkpoint(&self, origin: &str) -> Checkpoint {
        Checkpoint::of_block(origin, &self.standing())
    }

    /// The head as it is kept.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_cbor()
    }

    /// Reads a kept head.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        Self::from_cbor(bytes)
    }
}

impl CborItem for Head {
    fn write(&self, to: &mut CborWriter) {
        to.array(6).text(DOMAIN).uint(self.height).uint(self.time.0);
        to.bytes(&self.log.to_bytes());
        to.uint(self.tree.version).bytes(&self.tree.hash);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(6)?;
        from.domain(DOMAIN)?;
        Ok(Self {
            height: from.uint()?,
            time: UnixTime(from.uint()?),
            log: Frontier::from_bytes(from.bytes()?)
                .map_err(|_| Malformed("the log frontier is malformed"))?,
            tree: Root {
                version: from.uint()?,
                hash: from.array_of()?,
            },
        })
    }
}
