//! Staples, which a peer adds to its identity so that no other party has to be asked: registry reads and status lists.

use std::collections::BTreeMap;

use selfsame_crypto::time::UnixTime;
use selfsame_did::Did;
use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed};
use selfsame_proof::client::{Client, Handed};
use selfsame_proof::read::{Bundle, Handover, ReadOutcome};
pub use selfsame_proof::reads::Read;

use super::ledger::{KnownState, NetworkRules, Objects, StaplePolicy};
use crate::alert::{Alert, Refusal};
use crate::codec::Staple;

/// The kind of a staple that holds [`Reads`].
pub const READS: u8 = 1;
/// The kind of a staple that holds a status list.
pub const STATUS_LIST: u8 = 2;

/// Maximum reads in one staple: a DID takes two or three, a status list's anchor two.
const MAX_READS: usize = 16;
/// Maximum changes of validators in one staple; a verifier that is further behind resolves the DID instead.
const MAX_HANDOVERS: usize = 8;
const DOMAIN: &str = "selfsame/staple/1";

/// Registry reads under one checkpoint.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reads {
    /// The signed checkpoint.
    pub note: String,
    /// Changes of validators that lead to the signers of the checkpoint.
    pub handovers: Vec<Handover>,
    /// The reads.
    pub reads: Vec<Read>,
}

/// Why a staple is not accepted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Fault {
    /// It is malformed.
    Malformed,
    /// The registry did not say this.
    Forged,
    /// It does not belong to this peer.
    Foreign,
    /// It is too old, or behind the newest checkpoint seen.
    Untimely,
    /// It is signed by unknown validators.
    Untrusted,
}

impl Fault {
    /// Whether an honest peer's staple may have this fault, so that the registry may be asked instead.
    pub(super) fn is_excusable(self) -> bool {
        matches!(self, Self::Untimely | Self::Untrusted)
    }

    /// The refusal for the peer.
    pub(super) fn refusal(self) -> Refusal {
        let (alert, reason) = match self {
            Self::Malformed => (Alert::BadCertificateStatusResponse, "a staple is malformed"),
            Self::Forged => (Alert::BadCertificateStatusResponse, "a staple is forged"),
            Self::Foreign => (
                Alert::BadCertificateStatusResponse,
                "a staple belongs to another peer",
            ),
            Self::Untimely => (
                Alert::CertificateUnknown,
                "a staple is too old, or older than one seen before",
            ),
            Self::Untrusted => (
                Alert::CertificateUnknown,
                "a staple is not signed by the known validators",
            ),
        };
        Refusal::new(alert, reason)
    }
}

impl Reads {
    /// Groups bundles by their checkpoint.
    pub fn of(bundles: impl IntoIterator<Item = Bundle>) -> Vec<Self> {
        let mut of: BTreeMap<String, Self> = BTreeMap::new();
        for bundle in bundles {
            let reads = of.entry(bundle.note.clone()).or_insert_with(|| {
                // A verifier that is behind all of them resolves the DID instead.
                let mut handovers = bundle.handovers;
                let first = handovers.len().saturating_sub(MAX_HANDOVERS);
                Self {
                    note: bundle.note,
                    handovers: handovers.split_off(first),
                    reads: Vec::new(),
                }
            });
            reads.reads.push(Read {
                key: bundle.key,
                value: bundle.value,
                proof: bundle.proof,
            });
        }
        of.into_values().collect()
    }

    /// The first read with the checkpoint, and the other reads; `None` if there are no reads.
    fn parts(self) -> Option<(Bundle, Vec<Read>)> {
        let mut reads = self.reads.into_iter();
        let Read { key, value, proof } = reads.next()?;
        let first = Bundle {
            note: self.note,
            key,
            value,
            proof,
            handovers: self.handovers,
        };
        Some((first, reads.collect()))
    }

    /// Verifies the reads with the client `reader`; returns the objects read, and as of when they hold.
    pub(super) fn judge(
        self,
        reader: &mut Client,
        handed: Handed,
        now: UnixTime,
    ) -> Result<(Objects, UnixTime), Fault> {
        let (first, further) = self.parts().ok_or(Fault::Malformed)?;
        let proven: Vec<_> = further.iter().map(Read::object).collect();
        let as_of = reader.accept_all_handed(&first, &proven, handed, now);
        let as_of = as_of.map_err(|outcome| match outcome {
            ReadOutcome::Untimely => Fault::Untimely,
            ReadOutcome::Untrusted => Fault::Untrusted,
            ReadOutcome::Verified | ReadOutcome::Forged => Fault::Forged,
        })?;
        let further = further.into_iter().map(|read| (read.key, read.value));
        let objects = std::iter::once((first.key, first.value)).chain(further);
        Ok((objects.collect(), as_of.time))
    }

    /// The staple; `None` if it would be too long.
    pub fn staple(&self) -> Option<Staple> {
        let body = self.to_cbor();
        let fits = u16::try_from(body.len()).is_ok();
        fits.then_some(Staple { kind: READS, body })
    }
}

impl CborItem for Reads {
    fn write(&self, to: &mut CborWriter) {
        to.array(4).text(DOMAIN).text(&self.note);
        to.items(&self.handovers).items(&self.reads);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(4)?;
        from.domain(DOMAIN)?;
        let reads = Self {
            note: from.text()?.to_owned(),
            handovers: from.items()?,
            reads: from.items()?,
        };
        if reads.handovers.len() > MAX_HANDOVERS || reads.reads.len() > MAX_READS {
            return Err(Malformed("a staple has at most 16 reads and 8 handovers"));
        }
        Ok(reads)
    }
}

/// A staple of a status list: its URI, then the list as its issuer serves it; `None` if it would be too long.
pub fn status_list(uri: &str, token: &[u8]) -> Option<Staple> {
    let length = u16::try_from(uri.len()).ok()?;
    let body = [&length.to_be_bytes()[..], uri.as_bytes(), token].concat();
    let fits = u16::try_from(body.len()).is_ok();
    fits.then_some(Staple {
        kind: STATUS_LIST,
        body,
    })
}

/// The registry reads among a peer's staples.
pub(super) fn reads(staples: &[Staple]) -> Result<Vec<Reads>, Fault> {
    let mine = staples.iter().filter(|staple| staple.kind == READS);
    mine.map(|staple| Reads::from_cbor(&staple.body).map_err(|_| Fault::Malformed))
        .collect()
}

/// The status list with this URI among a peer's staples, as its issuer serves it.
pub(super) fn list_at<'s>(staples: &'s [Staple], uri: &str) -> Option<&'s [u8]> {
    let lists = staples.iter().filter(|staple| staple.kind == STATUS_LIST);
    let mut lists = lists.filter_map(|staple| {
        let (length, rest) = staple.body.split_first_chunk::<2>()?;
        rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))
    });
    let list = lists.find(|(of, _)| *of == uri.as_bytes());
    list.map(|(_, token)| token)
}

/// Collects registry reads for our own staples: the current state of DIDs, and issuers' anchors.
pub struct Stapling<'r> {
    rules: &'r dyn NetworkRules,
    dids: Vec<Did>,
    anchors: Vec<(Did, String)>,
    bundles: BTreeMap<Vec<u8>, Bundle>,
}

impl<'r> Stapling<'r> {
    /// For DIDs of the network with these rules (our own and perhaps our issuer's), and for issuers' status lists (by URI).
    pub fn new(rules: &'r dyn NetworkRules, dids: Vec<Did>, anchors: Vec<(Did, String)>) -> Self {
        Self {
            rules,
            dids,
            anchors,
            bundles: BTreeMap::new(),
        }
    }

    /// The key to be read next; `None` if nothing is missing. Reads need not be verified here: the receiver of the
    /// staples verifies them.
    pub fn missing(&self) -> Option<Vec<u8>> {
        let view = StapleView {
            bundles: &self.bundles,
            missing: std::cell::RefCell::default(),
        };
        // The results are not used, only the first missing key, which the view records.
        for did in &self.dids {
            let _ = self.rules.resolve(&view, did);
        }
        for (issuer, list) in &self.anchors {
            let _ = self.rules.anchor(&view, issuer, list);
        }
        view.missing.take()
    }

    /// Adds a read.
    pub fn add(&mut self, bundle: Bundle) {
        self.bundles.insert(bundle.key.clone(), bundle);
    }

    /// The keys that were read.
    pub fn keys(&self) -> Vec<Vec<u8>> {
        self.bundles.keys().cloned().collect()
    }

    /// Whether all reads have the same checkpoint.
    pub fn is_of_one_checkpoint(&self) -> bool {
        let mut notes = self.bundles.values().map(|bundle| &bundle.note);
        notes
            .next()
            .is_none_or(|first| notes.all(|note| note == first))
    }

    /// The staples, one for each checkpoint.
    pub fn staples(self) -> Vec<Staple> {
        let reads = Reads::of(self.bundles.into_values());
        reads.iter().filter_map(Reads::staple).collect()
    }
}

/// Judges whether a staple proves that a DID of the registry is active.
///
/// # Errors
/// The refusal that a peer which sends it would get.
pub fn judge(
    stapled: &StaplePolicy,
    staple: &Staple,
    did: &Did,
    now: UnixTime,
) -> Result<(), Refusal> {
    let reads = reads(std::slice::from_ref(staple)).map_err(Fault::refusal)?;
    let proved = stapled.ledger.judge(reads, stapled.handed(), now);
    let resolution = proved.and_then(|proved| proved.resolve(did));
    let resolution = resolution.map_err(Fault::refusal)?;
    let gone = Refusal::new(Alert::CertificateUnknown, "the DID is not in use");
    resolution.document_of(did).map(|_| ()).map_err(|_| gone)
}

struct StapleView<'a> {
    bundles: &'a BTreeMap<Vec<u8>, Bundle>,
    missing: std::cell::RefCell<Option<Vec<u8>>>,
}

impl KnownState for StapleView<'_> {
    fn get(&self, key: &[u8]) -> Option<Option<Vec<u8>>> {
        if let Some(bundle) = self.bundles.get(key) {
            return Some(bundle.value.clone());
        }
        self.missing
            .borrow_mut()
            .get_or_insert_with(|| key.to_owned());
        None
    }
}
