//! What is known of a registry elsewhere: the machine of its network, and the objects that proved themselves.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use selfsame_crypto::time::UnixTime;
use selfsame_did::{AsOf, Did, Options, Resolution};
use selfsame_proof::checkpoint::Standing;
use selfsame_proof::client::{Client, Found, Lasting};
use selfsame_proof::note::{SignedNote, VerifierKey};
use selfsame_proof::read::{Bundle, Outcome, Policy, Question, Report, TrustRoot, judge};
use selfsame_proof::reads::Read;
use selfsame_registry::{Genesis, Machine, StateError, StateRead};
use selfsame_tls::identity::Ledger as Reader;

use crate::clock::Clock;
use crate::config::WitnessQuorum;
use crate::error::{Error, ErrorKind, Result};
use crate::registry::{MAX_AGE, READER_BYTES, SKEW, read_policy};

/// A resolution that still lacks something after so many rounds asks in circles.
const ROUNDS_MAX: usize = 16;
/// Seconds for which a thing that may change is not asked for again.
const REUSED_FOR: Option<u64> = Some(5);
/// How long a node may need until it can prove what it has acknowledged.
const PAUSE: Duration = Duration::from_millis(50);

/// A network as a reader knows it.
pub(super) struct Known {
    machine: Machine,
    /// Shared with whoever else verifies reads of the network.
    client: Arc<Mutex<Client>>,
    clock: Clock,
    witnesses: WitnessQuorum,
    /// The greatest height of a receipt.
    written: AtomicU64,
}

/// Whoever fetches an object, verified and as of when.
pub(super) trait Fetch: Sync {
    fn fetch<'a>(&'a self, known: &'a Known, key: &'a [u8]) -> Fetching<'a>;
}

/// An object on its way.
pub(super) type Fetching<'a> = Pin<Box<dyn Future<Output = Result<Answer<Fetched>>> + Send + 'a>>;

/// What the nodes say.
pub(super) enum Answer<T> {
    /// One of them proves it.
    Proven(T),
    /// They are a moment behind: to be asked again, and the error if that does not help.
    Later(Error),
}

/// An object, or that there is none, and as of when.
pub(super) struct Fetched {
    pub(super) value: Option<Vec<u8>>,
    pub(super) as_of: Standing,
    /// Others of the same state, which it leads to.
    pub(super) further: Vec<Read>,
}

/// Why an answer is not believed.
pub(super) struct Refused {
    pub(super) error: Box<Error>,
    pub(super) why: Why,
}

pub(super) enum Why {
    /// It is forged, or too old to be believed.
    Lie,
    /// It is genuine and older than what was seen already.
    Behind,
    /// It is genuine, and fewer witnesses cosigned it than are asked for: the others may still do.
    Uncosigned,
    /// It is genuine, the newest that was seen, and older than that of a network which goes on.
    Old(Standing),
    /// It is genuine, and of a time that this machine's clock has not reached: that clock may be wrong.
    Ahead,
    /// Validators signed it, at this height, and another history before: both notes.
    Fork(u64, Box<[String; 2]>),
    /// It has room for some of the changes of validators only; now that those are known, the next ones can be asked for.
    Further,
}

impl Known {
    /// A network as its genesis, a pin or the last start of this instance leave it to be trusted.
    pub(super) fn new(
        genesis: Genesis,
        trust: (TrustRoot, String),
        (clock, witnesses): (Clock, WitnessQuorum),
    ) -> Self {
        let (root, note) = trust;
        let policy = read_policy(&witnesses);
        let client = Client::new(root, policy, READER_BYTES).with_note(note);
        Self {
            machine: Machine::new(genesis),
            client: Arc::new(Mutex::new(client)),
            clock,
            witnesses,
            written: AtomicU64::new(0),
        }
    }

    /// The same memory, for what peers staple of the network.
    pub(super) fn reader(&self) -> Reader {
        Reader::new(self.genesis().clone(), Arc::clone(&self.client))
    }

    /// Whom it trusts at this moment.
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

    /// Whether enough witnesses cosigned a checkpoint, where any are asked for.
    ///
    /// # Errors
    /// `Upstream`, naming those who did not.
    pub(super) fn cosigned(&self, note: &str) -> Result<()> {
        let latest = self.clock.now().plus(SKEW);
        let refused =
            |error| Error::upstream(format!("a cosignature of a witness is refused: {error}"));
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
        let reason = format!(
            "{} witnesses cosigned the registry's checkpoint, and {} must have; missing: {}",
            signed.len(),
            self.witnesses.needed(),
            missing.join(", ")
        );
        Error::new(ErrorKind::Unavailable { retry_after: 2 }, reason).with_hint(
            "the registry must show its checkpoints to the witnesses: set [registry] witnesses there; its log says how each one answers",
        )
    }

    /// The checkpoint of an answer, if those who are trusted signed it, whatever was seen before.
    pub(super) fn signed(&self, key: &[u8], bundle: &Bundle) -> Option<Standing> {
        let policy = Policy::genuine(u64::MAX);
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
    pub(super) fn machine(&self) -> &Machine {
        &self.machine
    }

    pub(super) fn genesis(&self) -> &Genesis {
        self.machine.genesis()
    }

    /// The registry acknowledged something at that height: from now on what may change is read as of then or later.
    pub(super) fn written_at(&self, height: u64) {
        self.written.fetch_max(height, Ordering::SeqCst);
    }

    /// Resolves by objects that are verified; asks the registry for those that are not at hand. The answer says as of
    /// when it holds.
    pub(super) async fn resolve(
        &self,
        nodes: &dyn Fetch,
        did: &Did,
        options: &Options,
    ) -> Result<Resolution> {
        let read = |machine: &Machine, state: &dyn StateRead| machine.resolve(state, did, options);
        let view = View::new(self, REUSED_FOR);
        let (mut resolution, as_of) = self.read(nodes, view, read).await?;
        resolution.metadata.as_of = as_of;
        Ok(resolution)
    }

    /// What the state says now, and as of when: what may change is asked for again, however lately it was.
    pub(super) async fn read_now<T>(
        &self,
        nodes: &dyn Fetch,
        read: impl Fn(&Machine, &dyn StateRead) -> T,
    ) -> Result<(T, UnixTime)> {
        let view = View::new(self, None);
        let now = view.now;
        let (result, as_of) = self.read(nodes, view, read).await?;
        Ok((result, as_of.map_or(now, |as_of| as_of.time)))
    }

    /// Runs `read` on what is verified until nothing is missing.
    async fn read<T>(
        &self,
        nodes: &dyn Fetch,
        mut view: View<'_>,
        read: impl Fn(&Machine, &dyn StateRead) -> T,
    ) -> Result<(T, Option<AsOf>)> {
        let mut behind = None;
        for _ in 0..ROUNDS_MAX {
            let result = read(&self.machine, &view);
            let Some(key) = view.missing() else {
                return Ok((result, *view.as_of()));
            };
            let Fetched {
                value,
                as_of,
                further,
            } = match nodes.fetch(self, &key).await? {
                Answer::Proven(fetched) => fetched,
                Answer::Later(error) => {
                    behind = Some(error);
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            behind = None;
            // What is not there may come, whatever its name.
            let lasts = Machine::never_changes(&key) && value.is_some();
            if !lasts {
                view.holds(&as_of);
            }
            match lasts || as_of.height >= view.height {
                true => drop(view.fetched.insert(key, value)),
                false => tokio::time::sleep(PAUSE).await,
            }
            // Of what may change, the first of all is read by itself.
            let lasting = further
                .into_iter()
                .filter(|read| Machine::never_changes(&read.key) && read.value.is_some());
            view.fetched
                .extend(lasting.map(|read| (read.key, read.value)));
        }
        let circles = || Error::upstream("the registry's answers lead to no result");
        Err(behind.unwrap_or_else(circles))
    }

    /// Judges an answer; as of when it holds.
    pub(super) fn accept(
        &self,
        key: &[u8],
        bundle: &Bundle,
    ) -> std::result::Result<Standing, Refused> {
        let lasting = match Machine::never_changes(key) {
            true => Lasting::Forever,
            false => Lasting::Within(MAX_AGE),
        };
        self.accept_as(key, bundle, lasting)
    }

    /// Judges what came along with an object that was accepted.
    ///
    /// # Errors
    /// `Upstream` if one does not stand in the same state, or is known to have changed since.
    pub(super) fn accept_further(&self, further: &[Read], as_of: Standing) -> Result<()> {
        let objects: Vec<_> = further.iter().map(Read::object).collect();
        let accepted = self.client().accept_further(&objects, as_of);
        accepted.map_err(|_| {
            Error::upstream("the registry's read is refused: a further object is not in its state")
        })
    }

    /// Judges the newest answer there is while the network stands still: it may be older.
    pub(super) fn accept_old(
        &self,
        key: &[u8],
        bundle: &Bundle,
        max_age: u64,
    ) -> std::result::Result<Standing, Refused> {
        self.accept_as(key, bundle, Lasting::Within(max_age.max(MAX_AGE)))
    }

    fn accept_as(
        &self,
        key: &[u8],
        bundle: &Bundle,
        lasting: Lasting,
    ) -> std::result::Result<Standing, Refused> {
        let now = self.clock.now();
        let mut client = self.client();
        let known_from = client.trust().from_height;
        let report = client.accept(key, bundle, (lasting, now));
        match (report.is_verified(), report.as_of) {
            (true, Some(as_of)) => Ok(as_of),
            _ => {
                let mut refused = refused(&report, (bundle, client.newest()));
                if is_to_be_cosigned(&report) {
                    let signed = report.witnesses.iter().map(|(name, _)| name.as_str());
                    refused = Refused {
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

/// The state as far as it is verified. Notes the first thing that is asked for and not there.
struct View<'a> {
    known: &'a Known,
    now: UnixTime,
    /// The oldest of what may have changed since.
    as_of: Mutex<Option<AsOf>>,
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
            as_of: Mutex::default(),
            reused,
            height: known.written.load(Ordering::SeqCst),
            fetched: HashMap::new(),
            missing: Mutex::default(),
        }
    }

    fn missing(&self) -> Option<Vec<u8>> {
        self.wanted().take()
    }

    fn as_of(&self) -> MutexGuard<'_, Option<AsOf>> {
        self.as_of.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something that may have changed since holds as of then.
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

    fn remembered(&self, key: &[u8]) -> Option<Found> {
        if Machine::never_changes(key) {
            return self.known.client().get(key, Lasting::Forever, self.now);
        }
        let lasting = Lasting::Within(self.reused?);
        let found = self.known.client().get(key, lasting, self.now);
        let found = found.filter(|found| found.as_of.height >= self.height)?;
        self.holds(&found.as_of);
        Some(found)
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

/// Nobody has what was seen already.
pub(super) fn all_behind() -> Error {
    let kind = ErrorKind::Unavailable { retry_after: 2 };
    let reason = "every node of the registry is behind the newest state seen";
    Error::new(kind, reason)
}

/// Whether enough validators signed the checkpoint, and too few witnesses did.
fn is_to_be_cosigned(report: &Report) -> bool {
    let mut rules = report.rules.iter();
    report.outcome == Outcome::Untrusted
        && report.as_of.is_some()
        && rules.any(|rule| rule.name == "witnesses" && rule.passed == Some(false))
}

/// The rules that do not hold say who is to be suspected.
fn refused(report: &Report, (bundle, newest): (&Bundle, Option<&(Standing, String)>)) -> Refused {
    let broken = |name: &str| {
        let mut rules = report.rules.iter();
        rules.any(|rule| rule.name == name && rule.passed == Some(false))
    };
    let first = report.rules.iter().find(|rule| rule.passed == Some(false));
    let (rule, detail) = first.map_or(("", ""), |rule| (rule.name, rule.detail.as_str()));
    let mut error = Error::upstream(format!(
        "the registry's read is refused by rule `{rule}`: {detail}"
    ));
    let why = match (report.as_of, newest) {
        (Some(as_of), Some((_, seen))) if broken("fork") => {
            Why::Fork(as_of.height, Box::new([seen.clone(), bundle.note.clone()]))
        }
        // Enough validators signed the time, so no single node makes it up.
        (Some(_), _) if report.outcome == Outcome::Untimely && broken("future") => {
            error = error
                .with_hint("check this machine's clock: the validators' clocks are ahead of it");
            Why::Ahead
        }
        (Some(as_of), _) if report.outcome == Outcome::Untimely => {
            match (broken("rollback"), broken("age")) {
                (true, _) => Why::Behind,
                (false, true) => Why::Old(as_of),
                (false, false) => Why::Lie,
            }
        }
        _ => Why::Lie,
    };
    Refused {
        error: Box::new(error),
        why,
    }
}
