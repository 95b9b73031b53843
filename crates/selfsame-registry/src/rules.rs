//! A network's rules: who may write, and the limits.

use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed};

const LIMITS: usize = 18;
/// The newest machine version of this program. A change to the result of any transaction or block needs a new version,
/// selected by [`Rules::machine_version`]; the results of older versions never change, since a node that joins applies
/// every block again.
pub const MACHINE_VERSION: u64 = 1;
/// Maximum number of rules in a schedule: those in force and those planned.
const MAX_WAITING: usize = 16;
/// An author's quota allows at least one operation per this many seconds of the window, so the rules can be corrected
/// soon.
const DAY: u64 = 86_400;
/// Longest quota window, in seconds: an author with a used-up quota can write again after it, and correct the rules.
const MAX_QUOTA_WINDOW: u64 = 366 * 86_400;

/// Who may write.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Mode {
    /// Anyone may register a DID, and every registered DID writes its own objects.
    #[default]
    Open,
    /// DIDs, schemas and definitions are written by members with a role, or endorsed by one.
    Endorsed,
}

/// The rules of a network, from a height on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rules {
    /// Who may write.
    pub mode: Mode,
    /// Maximum size of a DID's content, in bytes.
    pub max_content_bytes: u64,
    /// Maximum number of keys of a DID.
    pub max_keys: u64,
    /// Maximum number of services of a DID.
    pub max_services: u64,
    /// Maximum number of other names of a DID or a resource.
    pub max_also_known_as: u64,
    /// Maximum length of a URI, in bytes.
    pub max_uri_bytes: u64,
    /// Maximum size of a transaction, in bytes.
    pub max_transaction_bytes: u64,
    /// Maximum number of transactions in a block.
    pub max_block_transactions: u64,
    /// Maximum size of all transactions in a block, in bytes.
    pub max_block_bytes: u64,
    /// Maximum size of the JSON of a schema or a definition, in bytes.
    pub max_object_bytes: u64,
    /// Maximum size of a resource, in bytes.
    pub max_resource_bytes: u64,
    /// Maximum number of places of a revocation registry.
    pub max_registry_places: u64,
    /// Maximum number of credential types of a delegation.
    pub max_scope: u64,
    /// Maximum duration of a delegation, in seconds.
    pub max_delegation: u64,
    /// Length of a quota window, in seconds; at least 1 and at most 366 days.
    pub quota_window: u64,
    /// Maximum number of operations of one author in a window.
    pub author_quota: u64,
    /// Maximum number of DIDs created in a window.
    pub creation_quota: u64,
    /// How far a status list's time of issue may be ahead of the block's time, in seconds.
    pub max_clock_skew: u64,
    /// The machine version, from 1. It increases by one at a time, and never decreases.
    pub machine_version: u64,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            mode: Mode::Open,
            max_content_bytes: 8 * 1024,
            max_keys: 20,
            max_services: 20,
            max_also_known_as: 10,
            max_uri_bytes: 512,
            max_transaction_bytes: 256 * 1024,
            max_block_transactions: 10_000,
            max_block_bytes: 4 * 1024 * 1024,
            max_object_bytes: 128 * 1024,
            max_resource_bytes: 128 * 1024,
            max_registry_places: 32_768,
            max_scope: 16,
            max_delegation: 2 * 366 * 86_400,
            quota_window: 3_600,
            author_quota: 100_000,
            creation_quota: 200_000,
            max_clock_skew: 300,
            machine_version: MACHINE_VERSION,
        }
    }
}

impl Rules {
    /// Refuses rules under which no author could write any more, so that the rules could never be corrected.
    pub(crate) fn check(&self) -> Result<(), Malformed> {
        if !(1..=MAX_QUOTA_WINDOW).contains(&self.quota_window) {
            return Err(Malformed(
                "the window of quotas is at least a second and at most 366 days",
            ));
        }
        if self.machine_version == 0 {
            return Err(Malformed("machines are counted from 1"));
        }
        let least = [
            (self.max_transaction_bytes, 4 * 1024),
            (self.max_block_bytes, self.max_transaction_bytes),
            (self.max_block_transactions, 1),
            (self.author_quota, self.quota_window.div_ceil(DAY)),
        ];
        match least.iter().all(|(limit, least)| limit >= least) {
            true => Ok(()),
            false => Err(Malformed("no rules could be changed under these rules")),
        }
    }

    /// The limits in their order, each with its name.
    pub fn named_limits(&self) -> [(&'static str, u64); LIMITS] {
        [
            ("max_content_bytes", self.max_content_bytes),
            ("max_keys", self.max_keys),
            ("max_services", self.max_services),
            ("max_also_known_as", self.max_also_known_as),
            ("max_uri_bytes", self.max_uri_bytes),
            ("max_transaction_bytes", self.max_transaction_bytes),
            ("max_block_transactions", self.max_block_transactions),
            ("max_block_bytes", self.max_block_bytes),
            ("max_object_bytes", self.max_object_bytes),
            ("max_resource_bytes", self.max_resource_bytes),
            ("max_registry_places", self.max_registry_places),
            ("max_scope", self.max_scope),
            ("max_delegation", self.max_delegation),
            ("quota_window", self.quota_window),
            ("author_quota", self.author_quota),
            ("creation_quota", self.creation_quota),
            ("max_clock_skew", self.max_clock_skew),
            ("machine_version", self.machine_version),
        ]
    }
}

impl Mode {
    /// The mode's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Endorsed => "endorsed",
        }
    }
}

impl CborItem for Mode {
    fn write(&self, to: &mut CborWriter) {
        to.text(self.name());
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        match from.text()? {
            "open" => Ok(Self::Open),
            "endorsed" => Ok(Self::Endorsed),
            _ => Err(Malformed("an unknown mode")),
        }
    }
}

impl CborItem for Rules {
    fn write(&self, to: &mut CborWriter) {
        to.array(LIMITS.saturating_add(1)).item(&self.mode);
        for (_, limit) in self.named_limits() {
            to.uint(limit);
        }
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(LIMITS.saturating_add(1))?;
        let rules = Self {
            mode: Mode::read(from)?,
            max_content_bytes: from.uint()?,
            max_keys: from.uint()?,
            max_services: from.uint()?,
            max_also_known_as: from.uint()?,
            max_uri_bytes: from.uint()?,
            max_transaction_bytes: from.uint()?,
            max_block_transactions: from.uint()?,
            max_block_bytes: from.uint()?,
            max_object_bytes: from.uint()?,
            max_resource_bytes: from.uint()?,
            max_registry_places: from.uint()?,
            max_scope: from.uint()?,
            max_delegation: from.uint()?,
            quota_window: from.uint()?,
            author_quota: from.uint()?,
            creation_quota: from.uint()?,
            max_clock_skew: from.uint()?,
            machine_version: from.uint()?,
        };
        rules.check().map(|()| rules)
    }
}

/// Rules with the heights from which they hold, ascending.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Schedule(pub(crate) Vec<(u64, Rules)>);

impl Schedule {
    pub(crate) fn of(rules: Rules) -> Self {
        Self(vec![(1, rules)])
    }

    /// The rules for a height.
    pub(crate) fn at(&self, height: u64) -> Option<Rules> {
        let active = self.0.iter().rev().find(|(from, _)| *from <= height);
        active.map(|(_, rules)| *rules)
    }

    /// The schedule with other rules from a height on, without rules that have already been replaced. `None` if too
    /// many changes would be planned.
    pub(crate) fn changed(mut self, height: u64, from: u64, rules: &Rules) -> Option<Self> {
        self.0.retain(|(later, _)| *later < from);
        self.0.push((from, *rules));
        let active = self.0.iter().rposition(|(from, _)| *from <= height);
        let kept = self.0.split_off(active.unwrap_or(0));
        (kept.len() <= MAX_WAITING).then_some(Self(kept))
    }
}

impl CborItem for Schedule {
    fn write(&self, to: &mut CborWriter) {
        to.array(self.0.len());
        for (from, rules) in &self.0 {
            to.array(2).uint(*from).item(rules);
        }
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        let entry = |from: &mut CborReader<'_>| {
            from.tuple(2)?;
            Ok((from.uint()?, Rules::read(from)?))
        };
        (0..from.array()?)
            .map(|_| entry(from))
            .collect::<Result<_, _>>()
            .map(Self)
    }
}
