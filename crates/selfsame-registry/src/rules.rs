//! A network's rules: who may write, and how much.

use selfsame_proof::cbor::{Item, Malformed, Reader, Writer};

const LIMITS: usize = 18;
/// The newest machine that this program has. A change of what any transaction or block gives is a new one, behind a look at
/// [`Rules::machine_version`]; what an older one gives stays as it is, since every block is applied again by whoever joins.
pub const MACHINE_VERSION: u64 = 1;
/// Most rules in a schedule: those in force and those to come.
const MAX_WAITING: usize = 16;
/// Each author has an operation for each of so many seconds at least, and so can mend the rules before long.
const DAY: u64 = 86_400;
/// Longest window of quotas, in seconds: who has used his up can write again when it is over, and mend the rules.
const MAX_QUOTA_WINDOW: u64 = 366 * 86_400;

/// Who may begin to write.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Mode {
    /// Anybody may register a DID, and every registered DID writes its own objects.
    #[default]
    Open,
    /// DIDs, schemas and definitions are written by members with a role, or endorsed by one.
    Endorsed,
}

/// What a network allows, from a height on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rules {
    /// Who may begin to write.
    pub mode: Mode,
    /// Most bytes of a DID's content.
    pub max_content_bytes: u64,
    /// Most keys of a DID.
    pub max_keys: u64,
    /// Most services of a DID.
    pub max_services: u64,
    /// Most other names of a DID or a resource.
    pub max_also_known_as: u64,
    /// Longest URI.
    pub max_uri_bytes: u64,
    /// Most bytes of a transaction.
    pub max_transaction_bytes: u64,
    /// Most transactions a block accepts.
    pub max_block_transactions: u64,
    /// Most bytes of transactions a block accepts.
    pub max_block_bytes: u64,
    /// Most bytes of the JSON of a schema or a definition.
    pub max_object_bytes: u64,
    /// Most bytes of a resource.
    pub max_resource_bytes: u64,
    /// Most places of a revocation registry.
    pub max_registry_places: u64,
    /// Most credential types of a delegation.
    pub max_scope: u64,
    /// Longest delegation, in seconds.
    pub max_delegation: u64,
    /// Seconds of the window quotas are counted in; at least 1 and at most 366 days.
    pub quota_window: u64,
    /// Most operations of one author in a window.
    pub author_quota: u64,
    /// Most DIDs created in a window.
    pub creation_quota: u64,
    /// Seconds a status list's time of issue may be ahead of the block's.
    pub max_clock_skew: u64,
    /// Which machine judges, from 1. It goes on by one at a time, and never back.
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
    /// Refuses rules under which nobody could write any more, and so nobody could mend them.
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

impl Item for Mode {
    fn write(&self, to: &mut Writer) {
        to.text(self.name());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        match from.text()? {
            "open" => Ok(Self::Open),
            "endorsed" => Ok(Self::Endorsed),
            _ => Err(Malformed("an unknown mode")),
        }
    }
}

impl Item for Rules {
    fn write(&self, to: &mut Writer) {
        to.array(LIMITS.saturating_add(1)).item(&self.mode);
        for (_, limit) in self.named_limits() {
            to.uint(limit);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
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

/// Rules and the heights they hold from, ascending.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Schedule(pub(crate) Vec<(u64, Rules)>);

impl Schedule {
    pub(crate) fn of(rules: Rules) -> Self {
        Self(vec![(1, rules)])
    }

    /// The rules of a height.
    pub(crate) fn at(&self, height: u64) -> Option<Rules> {
        let active = self.0.iter().rev().find(|(from, _)| *from <= height);
        active.map(|(_, rules)| *rules)
    }

    /// With other rules from a height on; rules that have been replaced already are forgotten.
    /// None where too many changes would wait.
    pub(crate) fn changed(mut self, height: u64, from: u64, rules: &Rules) -> Option<Self> {
        self.0.retain(|(later, _)| *later < from);
        self.0.push((from, *rules));
        let active = self.0.iter().rposition(|(from, _)| *from <= height);
        let kept = self.0.split_off(active.unwrap_or(0));
        (kept.len() <= MAX_WAITING).then_some(Self(kept))
    }
}

impl Item for Schedule {
    fn write(&self, to: &mut Writer) {
        to.array(self.0.len());
        for (from, rules) in &self.0 {
            to.array(2).uint(*from).item(rules);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let entry = |from: &mut Reader<'_>| {
            from.tuple(2)?;
            Ok((from.uint()?, Rules::read(from)?))
        };
        (0..from.array()?)
            .map(|_| entry(from))
            .collect::<Result<_, _>>()
            .map(Self)
    }
}
