//! The verified part of a remote registry: the machine of its network, and the objects that were proven.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use selfsame_crypto::time::UnixTime;
use selfsame_did::{AsOf, Did, Options, Resolution};
use selfsame_driver::clock::Clock;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_proof::checkpoint::Standing;
use selfsame_proof::client::{Client, Lasting, ProvenObject};
use selfsame_proof::note::{SignedNote, VerifierKey};
use selfsame_proof::read::{
    Bundle, Question, ReadOutcome, ReadPolicy, ReadReport, TrustRoot, judge,
};
use selfsame_proof::reads::Read;
use selfsame_registry::{Genesis, StateError, StateMachine, StateRead};
use selfsame_tls::identity::Ledger as Reader;

use crate::config::WitnessQuorum;
use crate::policy::{MAX_AGE, READER_BYTES, SKEW, read_policy};
use crate::rules::MachineRules;

/// Maximum number of rounds of a resolution. One that still lacks something then would never end.
const ROUNDS_MAX: usize = 16;
/// Maximum number of rounds of a read that goes back entry by entry.
const HISTORY_ROUNDS_MAX: usize = 2_048;
/// Seconds for which an object that may change is reused.
const REUSED_FOR: Option<u64> = Some(5);
/// Pause before asking a node again that can't prove yet what it has acknowledged.
const PAUSE: Duration = Duration::from_millis(50);

/// A network as a reader knows it.
pub(super) struct NetView {
    machine: Arc<StateMachine>,
    /// Shared with all else that verifies reads of the network.
    client: Arc<Mutex<Client>>,
    clock: Clock,
    witnesses: WitnessQuorum,
    /// The greatest height of a receipt.
    written: AtomicU64,
}

/// Fetches an object: verified, and as of when.
pub(super) trait Fetch: Sync {
    fn fetch<'a>(&'a self, known: &'a NetView, key: &'a [u8]) -> Fetching<'a>;
}

/// The future of an object.
pub(super) type Fetching<'a> = Pin<Box<dyn Future<Output = Result<Polled<Obtained>>> + Send + 'a>>;

/// The answer of the nodes.
pub(super) enum Polled<T> {
    /// One node proves it.
    Proven(T),
    /// The nodes are a moment behind: ask again. The error is for a caller that has asked often enough.
    Later(Error),
}

/// An object or its absence, and as of when.
pub(super) struct Obtained {
    pub(super) value: Option<Vec<u8>>,
    pub(super) as_of: Standing,
    /// Other objects of the same state that it refers to.
    pub(super) further: Vec<Read>,
}

/// Why an answer is not accepted.
pub(super) struct Rejected {
    pub(super) error: Box<Error>,
    pub(super) why: Why,
}

pub(super) enum Why {
    /// It is forged, or too old to be accepted.
    Lie,
    /// It is genuine but older than what was seen already.
    Behind,
    /// It is genuine, but too few witnesses cosigned it. The others may still do so.
    Uncosigned,
    /// It is genuine and the newest seen, but too old for a running network.
    Old(Standing),
    /// It is genuine, but its time is ahead of this machine's clock, which may be wrong.
    Ahead,
    /// Validators signed it, at this height, and another history before. The notes of both.
    Fork(u64, Box<[String; 2]>),
    /// It contains only some of the changes of validators. They are known now, so the next ones can be asked for.
    Further,
}

impl NetView {
    /// A network with the trust root of its genesis, a pin or the last start of this instance.
    pub(super) fn new(
        genesis: Genesis,
        root: TrustRoot,
        note: String,
        clock: Clock,
        witnesses: WitnessQuorum,
    ) -> Self {
        let policy = read_policy(&witnesses);
        let client = Client::new(root, policy, READER_BYTES).with_note(note);
        Self {
            machine: Arc::new(StateMachine::new(genesis)),
            client: Arc::new(Mutex::new(client)),
            clock,
            witnesses,
            written: AtomicU64::new(0),
        }
    }

    /// A reader for what peers staple of the network. It shares this client.
    pub(super) fn reader(&self) -> Reader {
        let rules = MachineRules(Arc::clone(&self.machine));
        Reader::new(Arc::new(rules), Arc::clone(&self.client))
    }

    /// The present trust root.
    pub(super) fn trust(&self) -> TrustRoot {
        self.client().trust().clone()
    }

    /// The height of the newest checkpoint seen.
    pub(super) fn height(&self) -> u64 {
        self.newest().map_or(0, |(seen, _)| seen.height)
    }

    /// The newest checkpoint seen, with its note.
    pub(super) fn newest(&self) -> Option<(Standing, String)> {
        self.client().newest().cloned()
    }

    /// Checks that enough witnesses cosigned a checkpoint, if any are required.
    ///
    /// # Errors
    /// `Unavailable`, naming the missing witnesses; `Upstream` if a cosignature is invalid.
    pub(super) fn cosigned(&self, note: &str) -> Result<()> {
        let latest = self.clock.now().plus(SKEW);
        let refused = |error| Error::upstream("cosignature-refused").with("detail", &error);
        let note = SignedNote::parse(note).map_err(refused)?;
        let cosigners = note
            .cosigners(self.witnesses.keys(), latest)
            .map_err(refused)?;
        let signed: Vec<&str> = cosigners.iter().map(|(key, _)| key.name()).collect();
        match signed.len() >= self.witnesses.needed() {
            true => Ok(()),
            false => Err(self.too_few(&signed)),
        }
    }

    fn too_few(&self, signed: &[&str]) -> Error {
        let names = self.witnesses.keys().iter().map(VerifierKey::name);
        let missing: Vec<&str> = names.filter(|name| !signed.contains(name)).collect();
        Error::new(
            ErrorKind::Unavailable { retry_after: 2 },
            "cosignatures-missing",
        )
        .with("signed", &signed.len())
        .with("needed", &self.witnesses.needed())
        .with("missing", &missing.join(", "))
    }

    /// The checkpoint of an answer, if trusted validators signed it. It is not compared with what was seen before.
    pub(super) fn signed(&self, key: &[u8], bundle: &Bundle) -> Option<Standing> {
        let policy = ReadPolicy::genuine(u64::MAX);
        let question = Question {
            key,
            policy: &policy,
            now: self.clock.now(),
        };
        let trust = TrustRoot {
            seen: None,
            ..self.trust()
        };
        let report = judge(bundle, &question, &trust);
        report.as_of.filter(|_| report.is_verified())
    }

    /// The machine of its network.
    pub(super) fn machine(&self) -> &StateMachine {
        &self.machine
    }

    pub(super) fn genesis(&self) -> &Genesis {
        self.machine.genesis()
    }

    /// Notes that the registry acknowledged a write at that height: what may change is now read as of then or later.
    pub(super) fn written_at(&self, height: u64) {
        self.written.fetch_max(height, Ordering::SeqCst);
    }

    /// Resolves a DID from verified objects, and asks the registry for the missing ones. The answer states as of when
    /// it holds.
    pub(super) async fn resolve(
        &self,
        nodes: &dyn Fetch,
        did: &Did,
        options: &Options,
    ) -> Result<Resolution> {
        let read =
            |machine: &StateMachine, state: &dyn StateRead| machine.resolve(state, did, options);
        let view = VerifiedState::new(self, REUSED_FOR);
        let (mut resolution, as_of) = self.read(nodes, view, read).await?;
        resolution.metadata.as_of = as_of;
        Ok(resolution)
    }

    /// The result of reading the state now, and as of when. What may change is always asked for again.
    pub(super) async fn read_now<T>(
        &self,
        nodes: &dyn Fetch,
        read: impl Fn(&StateMachine, &dyn StateRead) -> T,
    ) -> Result<(T, UnixTime)> {
        let view = VerifiedState::new(self, None);
        let now = view.now;
        let (result, as_of) = self.read(nodes, view, read).await?;
        Ok((result, as_of.map_or(now, |as_of| as_of.time)))
    }

    /// As [`Self::read_now`], for a read that goes back entry by entry. Entries never change, so that each is fetched once.
    pub(super) async fn read_back<T>(
        &self,
        nodes: &dyn Fetch,
        read: impl Fn(&StateMachine, &dyn StateRead) -> T,
    ) -> Result<T> {
        let view = VerifiedState {
            rounds: HISTORY_ROUNDS_MAX,
            ..VerifiedState::new(self, None)
        };
        Ok(self.read(nodes, view, read).await?.0)
    }

    /// Runs `read` on verified objects until none is missing.
    async fn read<T>(
        &self,
        nodes: &dyn Fetch,
        mut view: VerifiedState<'_>,
        read: impl Fn(&StateMachine, &dyn StateRead) -> T,
    ) -> Result<(T, Option<AsOf>)> {
        let mut behind = None;
        for _ in 0..view.rounds {
            let result = read(&self.machine, &view);
            let Some(key) = view.missing() else {
                return Ok((result, *view.as_of()));
            };
            let Obtained {
                value,
                as_of,
                further,
            } = match nodes.fetch(self, &key).await? {
                Polled::Proven(fetched) => fetched,
                Polled::Later(error) => {
                    behind = Some(error);
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            behind = None;
            // An absent object may be added later, whatever its name.
            let lasts = StateMachine::never_changes(&key) && value.is_some();
            if !lasts {
                view.holds(&as_of);
            }
            match lasts || as_of.height >= view.height {
                true => drop(view.fetched.insert(key, value)),
                false => tokio::time::sleep(PAUSE).await,
            }
            // Further objects that may change are not used: each of these is read by itself first.
            let lasting = further
                .into_iter()
                .filter(|read| StateMachine::never_changes(&read.key) && read.value.is_some());
            view.fetched
                .extend(lasting.map(|read| (read.key, read.value)));
        }
        let circles = || Error::upstream("registry-answers-endless");
        Err(behind.unwrap_or_else(circles))
    }

    /// Verifies an answer. Returns the standing as of which it holds.
    pub(super) fn accept(
        &self,
        key: &[u8],
        bundle: &Bundle,
    ) -> std::result::Result<Standing, Rejected> {
        let lasting = match StateMachine::never_changes(key) {
            true => Lasting::Forever,
            false => Lasting::Within(MAX_AGE),
        };
        self.accept_as(key, bundle, lasting)
    }

    /// Verifies the objects that came with an accepted object.
    ///
    /// # Errors
    /// `Upstream` if an object is not in the same state, or is known to have changed since.
    pub(super) fn accept_further(&self, further: &[Read], as_of: Standing) -> Result<()> {
        let objects: Vec<_> = further.iter().map(Read::object).collect();
        let accepted = self.client().accept_further(&objects, as_of);
        accepted.map_err(|_| Error::upstream("read-object-absent"))
    }

    /// Verifies the newest answer that is available while the network stands still. It may be older.
    pub(super) fn accept_old(
        &self,
        key: &[u8],
        bundle: &Bundle,
        max_age: u64,
    ) -> std::result::Result<Standing, Rejected> {
        self.accept_as(key, bundle, Lasting::Within(max_age.max(MAX_AGE)))
    }

    fn accept_as(
        &self,
        key: &[u8],
        bundle: &Bundle,
        lasting: Lasting,
    ) -> std::result::Result<Standing, Rejected> {
        let now = self.clock.now();
        let mut client = self.client();
        let known_from = client.trust().from_height;
        let report = client.accept(key, bundle, lasting, now);
        match (report.is_verified(), report.as_of) {
            (true, Some(as_of)) => Ok(as_of),
            _ => {
                let mut refused = refused(&report, bundle, client.newest());
                if is_to_be_cosigned(&report) {
                    let signed = report.witnesses.iter().map(|(name, _)| name.as_str());
                    refused = Rejected {
                        error: Box::new(self.too_few(&signed.collect::<Vec<_>>())),
                        why: Why::Uncosigned,
                    };
                }
                if client.trust().from_height > known_from {
                    refused.why = Why::Further;
                }
                Err(refused)
            }
        }
    }

    fn client(&self) -> MutexGuard<'_, Client> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The state as far as it is verified. Notes the first key that is read and missing.
struct VerifiedState<'a> {
    known: &'a NetView,
    now: UnixTime,
    /// The oldest standing of an object that may have changed since.
    as_of: Mutex<Option<AsOf>>,
    /// Seconds for which an object that may change is reused; `None` if it must be read now.
    reused: Option<u64>,
    /// What may change must hold at this height or later.
    height: u64,
    fetched: HashMap<Vec<u8>, Option<Vec<u8>>>,
    missing: Mutex<Option<Vec<u8>>>,
    rounds: usize,
}

impl<'a> VerifiedState<'a> {
    fn new(known: &'a NetView, reused: Option<u64>) -> Self {
        let now = known.clock.now();
        Self {
            known,
            now,
            as_of: Mutex::default(),
            reused,
            height: known.written.load(Ordering::SeqCst),
            fetched: HashMap::new(),
            missing: Mutex::default(),
            rounds: ROUNDS_MAX,
        }
    }

    fn missing(&self) -> Option<Vec<u8>> {
        self.wanted().take()
    }

    fn as_of(&self) -> MutexGuard<'_, Option<AsOf>> {
        self.as_of.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes as of when an object holds that may have changed since.
    fn holds(&self, standing: &Standing) {
        let this = AsOf {
            time: standing.time,
            height: standing.height,
        };
        let mut as_of = self.as_of();
        if as_of.is_none_or(|oldest| this.time < oldest.time) {
            *as_of = Some(this);
        }
    }

    fn wanted(&self) -> MutexGuard<'_, Option<Vec<u8>>> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remembered(&self, key: &[u8]) -> Option<ProvenObject> {
        if StateMachine::never_changes(key) {
            return self.known.client().get(key, Lasting::Forever, self.now);
        }
        let lasting = Lasting::Within(self.reused?);
        let found = self.known.client().get(key, lasting, self.now);
        let found = found.filter(|found| found.as_of.height >= self.height)?;
        self.holds(&found.as_of);
        Some(found)
    }
}

impl StateRead for VerifiedState<'_> {
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

/// The error if every node is behind what was seen already.
pub(super) fn all_behind() -> Error {
    let kind = ErrorKind::Unavailable { retry_after: 2 };
    Error::new(kind, "nodes-behind")
}

/// Whether enough validators signed the checkpoint, but too few witnesses cosigned it.
fn is_to_be_cosigned(report: &ReadReport) -> bool {
    let mut rules = report.rules.iter();
    report.outcome == ReadOutcome::Untrusted
        && report.as_of.is_some()
        && rules.any(|rule| rule.name == "witnesses" && rule.passed == Some(false))
}

/// Derives from the rules that failed why an answer is refused, and what to suspect.
fn refused(report: &ReadReport, bundle: &Bundle, newest: Option<&(Standing, String)>) -> Rejected {
    let broken = |name: &str| {
        let mut rules = report.rules.iter();
        rules.any(|rule| rule.name == name && rule.passed == Some(false))
    };
    let first = report.rules.iter().find(|rule| rule.passed == Some(false));
    let (rule, detail) = first.map_or(("", ""), |rule| (rule.name, rule.detail.as_str()));
    let mut error = Error::upstream("read-refused")
        .with("rule", &rule)
        .with("detail", &detail);
    let why = match (report.as_of, newest) {
        (Some(as_of), Some((_, seen))) if broken("fork") => {
            Why::Fork(as_of.height, Box::new([seen.clone(), bundle.note.clone()]))
        }
        // Enough validators signed the time, so no single node has invented it.
        (Some(_), _) if report.outcome == ReadOutcome::Untimely && broken("future") => {
            error = Error::upstream("read-ahead-of-clock")
                .with("rule", rule)
                .with("detail", detail);
            Why::Ahead
        }
        (Some(as_of), _) if report.outcome == ReadOutcome::Untimely => {
            match (broken("rollback"), broken("age")) {
                (true, _) => Why::Behind,
                (false, true) => Why::Old(as_of),
                (false, false) => Why::Lie,
            }
        }
        _ => Why::Lie,
    };
    Rejected {
        error: Box::new(error),
        why,
    }
}
