//! What a network begins with: its name, the key of its checkpoints, its rules by height.

use selfsame_crypto::PublicKey;
use selfsame_crypto::time::UnixTime;
use selfsame_did::selfsame::Network;

use crate::cbor::{Item, Malformed, Reader, Writer};

const DOMAIN: &str = "selfsame/genesis/1";
const OPEN: &str = "open";
const MAX_NAME_BYTES: usize = 64;
const MAX_RULE_CHANGES: usize = 16;

/// The first bytes of a network. Their digest is the network's identifier, so whoever knows a DID
/// can check the genesis he is given.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Genesis {
    name: String,
    time: UnixTime,
    checkpoint_key: PublicKey,
    rules: Vec<(u64, Rules)>,
}

/// What a network allows, from a height on. Anybody may register a DID (`open`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rules {
    /// Most bytes of a DID's content.
    pub max_content_bytes: u64,
    /// Most keys of a DID.
    pub max_keys: u64,
    /// Most services of a DID.
    pub max_services: u64,
    /// Most other names of a DID.
    pub max_also_known_as: u64,
    /// Longest URI.
    pub max_uri_bytes: u64,
    /// Most transactions a block accepts.
    pub max_block_transactions: u64,
    /// Most bytes of transactions a block accepts.
    pub max_block_bytes: u64,
    /// Seconds of the window quotas are counted in; at least 1.
    pub quota_window: u64,
    /// Most transactions of one author in a window.
    pub author_quota: u64,
    /// Most DIDs created in a window.
    pub creation_quota: u64,
    /// Seconds a status list's time of issue may be ahead of the block's.
    pub max_clock_skew: u64,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            max_content_bytes: 8 * 1024,
            max_keys: 20,
            max_services: 20,
            max_also_known_as: 10,
            max_uri_bytes: 512,
            max_block_transactions: 10_000,
            max_block_bytes: 4 * 1024 * 1024,
            quota_window: 3_600,
            author_quota: 20_000,
            creation_quota: 200_000,
            max_clock_skew: 300,
        }
    }
}

impl Genesis {
    /// A network with the same rules at every height.
    pub fn new(
        name: &str,
        time: UnixTime,
        checkpoint_key: PublicKey,
        rules: Rules,
    ) -> Result<Self, Malformed> {
        Self::with_rules(name, time, checkpoint_key, vec![(1, rules)])
    }

    /// A network whose rules change at known heights, the first at height 1.
    pub fn with_rules(
        name: &str,
        time: UnixTime,
        checkpoint_key: PublicKey,
        rules: Vec<(u64, Rules)>,
    ) -> Result<Self, Malformed> {
        let genesis = Self {
            name: name.to_owned(),
            time,
            checkpoint_key,
            rules,
        };
        genesis.check().map(|()| genesis)
    }

    /// The genesis as published.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_cbor()
    }

    /// Reads a published genesis.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        Self::from_cbor(bytes)
    }

    /// The identifier of the network: the digest of these bytes.
    pub fn network(&self) -> Network {
        Network::of_genesis(&self.to_bytes())
    }

    /// The network's name, for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// When the network began; no block is earlier.
    pub fn time(&self) -> UnixTime {
        self.time
    }

    /// The Ed25519 key that signs the network's checkpoints.
    pub fn checkpoint_key(&self) -> &PublicKey {
        &self.checkpoint_key
    }

    /// The rules a block of that height is judged by.
    pub fn rules(&self, height: u64) -> Rules {
        let active = self.rules.iter().rev().find(|(from, _)| *from <= height);
        active.map(|(_, rules)| *rules).unwrap_or_default()
    }

    fn check(&self) -> Result<(), Malformed> {
        let printable = self
            .name
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'+');
        if !(1..=MAX_NAME_BYTES).contains(&self.name.len()) || !printable {
            return Err(Malformed(
                "a network's name is 1 to 64 printable characters without spaces and plus",
            ));
        }
        if self.checkpoint_key.key_type() != selfsame_crypto::KeyType::Ed25519 {
            return Err(Malformed("checkpoints are signed by an Ed25519 key"));
        }
        let heights: Vec<u64> = self.rules.iter().map(|(from, _)| *from).collect();
        if heights.first() != Some(&1)
            || heights.len() > MAX_RULE_CHANGES
            || !heights.is_sorted_by(|a, b| a < b)
        {
            return Err(Malformed("rules begin at height 1 and follow each other"));
        }
        if self.rules.iter().any(|(_, rules)| rules.quota_window == 0) {
            return Err(Malformed("the window of quotas is at least a second"));
        }
        Ok(())
    }
}

impl Item for Genesis {
    fn write(&self, to: &mut Writer) {
        to.array(5).text(DOMAIN).text(&self.name).uint(self.time.0);
        to.bytes(&self.checkpoint_key.to_multicodec())
            .array(self.rules.len());
        for (from, rules) in &self.rules {
            to.array(2).uint(*from).item(rules);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(5)?;
        from.domain(DOMAIN)?;
        let name = from.text()?.to_owned();
        let time = UnixTime(from.uint()?);
        let checkpoint_key = PublicKey::from_multicodec(from.bytes()?)
            .map_err(|_| Malformed("the checkpoint key is none"))?;
        let mut rules = Vec::new();
        for _ in 0..from.array()? {
            from.tuple(2)?;
            rules.push((from.uint()?, Rules::read(from)?));
        }
        let genesis = Self {
            name,
            time,
            checkpoint_key,
            rules,
        };
        genesis.check().map(|()| genesis)
    }
}

impl Item for Rules {
    fn write(&self, to: &mut Writer) {
        to.array(12).text(OPEN);
        to.uint(self.max_content_bytes)
            .uint(self.max_keys)
            .uint(self.max_services);
        to.uint(self.max_also_known_as).uint(self.max_uri_bytes);
        to.uint(self.max_block_transactions)
            .uint(self.max_block_bytes);
        to.uint(self.quota_window)
            .uint(self.author_quota)
            .uint(self.creation_quota);
        to.uint(self.max_clock_skew);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(12)?;
        from.domain(OPEN)?;
        Ok(Self {
            max_content_bytes: from.uint()?,
            max_keys: from.uint()?,
            max_services: from.uint()?,
            max_also_known_as: from.uint()?,
            max_uri_bytes: from.uint()?,
            max_block_transactions: from.uint()?,
            max_block_bytes: from.uint()?,
            quota_window: from.uint()?,
            author_quota: from.uint()?,
            creation_quota: from.uint()?,
            max_clock_skew: from.uint()?,
        })
    }
}
