//! The head: all that has to be kept besides the state to go on with the next block.

use selfsame_crypto::hash::{sha256, sha256_parts};
use selfsame_crypto::time::UnixTime;
use selfsame_proof::checkpoint::Checkpoint;
use selfsame_proof::log::Frontier;

use crate::genesis::Genesis;
use crate::state::Writes;
use selfsame_proof::cbor::{Item, Malformed, Reader, Writer};

const DOMAIN: &str = "selfsame/head/1";
const STATE_DOMAIN: &[u8] = b"selfsame/state/1";
const APP_DOMAIN: &[u8] = b"selfsame/app/1";

/// Where a registry stands after a block.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Head {
    /// Its height; 0 before the first block.
    pub height: u64,
    /// Its time.
    pub time: UnixTime,
    /// The log of all accepted transactions.
    pub log: Frontier,
    /// The digest of all changes of the state, in their order.
    pub state_digest: [u8; 32],
}

impl Head {
    /// The head of a network without blocks.
    pub fn of_genesis(genesis: &Genesis) -> Self {
        Self {
            height: 0,
            time: genesis.time(),
            log: Frontier::new(),
            state_digest: sha256_parts(&[STATE_DOMAIN, &sha256(&genesis.to_bytes())]),
        }
    }

    /// The digest of log and state: two machines that agree on it agree on everything.
    pub fn app_hash(&self) -> [u8; 32] {
        sha256_parts(&[APP_DOMAIN, &self.log.root(), &self.state_digest])
    }

    /// The head as others see it, to be signed.
    pub fn checkpoint(&self, origin: &str) -> Checkpoint {
        let log = (self.log.size(), self.log.root());
        Checkpoint::of_registry(origin, log, &self.app_hash(), self.time)
    }

    /// The head as it is kept.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_cbor()
    }

    /// Reads a kept head.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        Self::from_cbor(bytes)
    }

    /// The digest after further changes; unchanged where there are none.
    pub(crate) fn digest_after(&self, writes: &Writes) -> [u8; 32] {
        if writes.is_empty() {
            return self.state_digest;
        }
        let mut changes = Vec::new();
        for part in writes.iter().flat_map(|(key, value)| [key, value]) {
            // A length in memory fits 64 bits.
            let length = u64::try_from(part.len()).unwrap_or(u64::MAX);
            changes.extend(length.to_be_bytes());
            changes.extend(part);
        }
        sha256_parts(&[STATE_DOMAIN, &self.state_digest, &changes])
    }
}

impl Item for Head {
    fn write(&self, to: &mut Writer) {
        to.array(5).text(DOMAIN).uint(self.height).uint(self.time.0);
        to.bytes(&self.log.to_bytes()).bytes(&self.state_digest);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(5)?;
        from.domain(DOMAIN)?;
        Ok(Self {
            height: from.uint()?,
            time: UnixTime(from.uint()?),
            log: Frontier::from_bytes(from.bytes()?)
                .map_err(|_| Malformed("a log frontier is none"))?,
            state_digest: from.array_of()?,
        })
    }
}
