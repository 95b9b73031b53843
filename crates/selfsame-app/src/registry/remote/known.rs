//! What is known of a registry elsewhere: the machine of its network, and the objects that proved themselves.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use selfsame_crypto::time::UnixTime;
use selfsame_did::{Did, Options, Resolution};
use selfsame_proof::checkpoint::Standing;
use selfsame_proof::client::{Client, Found, Lasting};
use selfsame_proof::read::{Bundle, Policy, Report};
use selfsame_registry::{Genesis, Machine, StateError, StateRead};

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::registry::{Registry, trust_root};

/// A resolution that still lacks something after so many rounds asks in circles.
const ROUNDS_MAX: usize = 16;
/// Seconds that the checkpoint of an answer may be old: a network at rest signs one at each of its heartbeats.
const MAX_AGE: u64 = 120;
/// Seconds for which a thing that may change is not asked for again.
const REUSED_FOR: Option<u64> = Some(5);
/// How long a node may need until it can prove what it has acknowledged.
const PAUSE: Duration = Duration::from_millis(50);
/// Seconds by which clocks may differ.
const SKEW: u64 = 60;
/// So much of what was verified is kept.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// A network as a reader knows it.
pub(super) struct Known {
    machine: Machine,
    client: Mutex<Client>,
    clock: Clock,
    /// The greatest height of a receipt.
    written: AtomicU64,
}

impl Known {
    pub(super) fn new(genesis: Genesis, clock: Clock) -> Result<Self> {
        let policy = Policy {
            max_age: Some(MAX_AGE),
            skew: SKEW,
            witnesses: Vec::new(),
            witnesses_needed: 0,
        };
        let client = Client::new(trust_root(&genesis), policy, MAX_BYTES);
        Ok(Self {
            machine: Machine::new(genesis),
            client: Mutex::new(client),
            clock,
            written: AtomicU64::new(0),
        })
    }

    pub(super) fn genesis(&self) -> &Genesis {
        self.machine.genesis()
    }

    /// The registry acknowledged something at that height: from now on what may change is read as of then or later.
    pub(super) fn written_at(&self, height: u64) {
        self.written.fetch_max(height, Ordering::SeqCst);
    }

    /// Resolves by objects that are verified; asks the registry for those that are not at hand.
    pub(super) async fn resolve(
        &self,
        registry: &dyn Registry,
        did: &Did,
        options: &Options,
    ) -> Result<Resolution> {
        let read = |machine: &Machine, state: &dyn StateRead| machine.resolve(state, did, options);
        let (resolution, _) = self
            .read(registry, View::new(self, REUSED_FOR), read)
            .await?;
        Ok(resolution)
    }

    /// What the state says now, and as of when: what may change is asked for again, however lately it was.
    pub(super) async fn read_now<T>(
        &self,
        registry: &dyn Registry,
        read: impl Fn(&Machine, &dyn StateRead) -> T,
    ) -> Result<(T, UnixTime)> {
        self.read(registry, View::new(self, None), read).await
    }

    /// Runs `read` on what is verified until nothing is missing.
    async fn read<T>(
        &self,
        registry: &dyn Registry,
        mut view: View<'_>,
        read: impl Fn(&Machine, &dyn StateRead) -> T,
    ) -> Result<(T, UnixTime)> {
        for _ in 0..ROUNDS_MAX {
            let result = read(&self.machine, &view);
            let Some(key) = view.missing() else {
                return Ok((result, view.as_of));
            };
            let trusted = self.client().trust().from_height;
            let bundle = registry.read(&key, trusted).await?;
            let as_of = self.accept(&key, &bundle)?;
            // What is not there may come, whatever its name.
            let lasts = Machine::never_changes(&key) && bundle.value.is_some();
            if !lasts {
                view.as_of = view.as_of.min(as_of.time);
            }
            match lasts || as_of.height >= view.height {
                true => drop(view.fetched.insert(key, bundle.value)),
                false => tokio::time::sleep(PAUSE).await,
            }
        }
        Err(Error::upstream("the registry's answers lead in circles"))
    }

    /// Judges an answer; as of when it holds.
    fn accept(&self, key: &[u8], bundle: &Bundle) -> Result<Standing> {
        let lasting = match Machine::never_changes(key) {
            true => Lasting::Forever,
            false => Lasting::Within(MAX_AGE),
        };
        let now = self.clock.now();
        let report = self.client().accept(key, bundle, (lasting, now));
        match (report.is_verified(), report.as_of) {
            (true, Some(as_of)) => Ok(as_of),
            _ => Err(refused(&report)),
        }
    }

    fn client(&self) -> MutexGuard<'_, Client> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The state as far as it is verified. Notes the first thing that is asked for and not there.
struct View<'a> {
    known: &'a Known,
    now: UnixTime,
    /// The oldest of what was fetched and may have changed since.
    as_of: UnixTime,
    /// So many seconds what may change is not asked for again; not even one where it is to be read now.
    reused: Option<u64>,
    /// What may change holds at this height at least.
    height: u64,
    fetched: HashMap<Vec<u8>, Option<Vec<u8>>>,
    missing: Mutex<Option<Vec<u8>>>,
}

impl<'a> View<'a> {
    fn new(known: &'a Known, reused: Option<u64>) -> Self {
        let now = known.clock.now();
        Self {
            known,
            now,
            as_of: now,
            reused,
            height: known.written.load(Ordering::SeqCst),
            fetched: HashMap::new(),
            missing: Mutex::default(),
        }
    }

    fn missing(&self) -> Option<Vec<u8>> {
        self.wanted().take()
    }

    fn wanted(&self) -> MutexGuard<'_, Option<Vec<u8>>> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remembered(&self, key: &[u8]) -> Option<Found> {
        if Machine::never_changes(key) {
            return self.known.client().get(key, Lasting::Forever, self.now);
        }
        let lasting = Lasting::Within(self.reused?);
        let found = self.known.client().get(key, lasting, self.now);
        found.filter(|found| found.as_of.height >= self.height)
    }
}

impl StateRead for View<'_> {
    fn get(&self, key: &[u8]) -> std::result::Result<Option<Vec<u8>>, StateError> {
        if let Some(value) = self.fetched.get(key) {
            return Ok(value.clone());
        }
        if let Some(found) = self.remembered(key) {
            return Ok(found.value.map(|value| value.to_vec()));
        }
        self.wanted().get_or_insert_with(|| key.to_owned());
        Err(StateError("it has not been fetched".to_owned()))
    }
}

/// The rules that do not hold say who is to be suspected.
fn refused(report: &Report) -> Error {
    let broken = report.rules.iter().find(|rule| rule.passed == Some(false));
    let (rule, detail) = broken.map_or(("", ""), |rule| (rule.name, rule.detail.as_str()));
    tracing::warn!(rule, detail, outcome = ?report.outcome, "the registry's read is refused");
    Error::upstream(format!(
        "the registry's read is refused by rule `{rule}`: {detail}"
    ))
}
