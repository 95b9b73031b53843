//! What a peer adds to its identity so that nobody has to be asked: reads of a registry, and status lists.

use std::collections::BTreeMap;

use selfsame_crypto::time::UnixTime;
use selfsame_did::{Did, Options};
use selfsame_proof::cbor::{Item, Malformed, Reader, Writer};
use selfsame_proof::client::{Client, Handed};
use selfsame_proof::read::{Bundle, Handover, Outcome};
pub use selfsame_proof::reads::Read;
use selfsame_registry::{Machine, StateError, StateRead};

use super::ledger::{Objects, StaplePolicy};
use crate::alert::{Alert, Refusal};
use crate::codec::Staple;

/// The kind of a staple that holds [`Reads`].
pub const READS: u8 = 1;
/// The kind of a staple that holds a status list.
pub const STATUS_LIST: u8 = 2;

/// Reads in one staple: a DID takes two or three, a status list's anchor two.
const MAX_READS: usize = 16;
/// Changes of validators in one staple; whoever is further behind resolves.
const MAX_HANDOVERS: usize = 8;
const DOMAIN: &str = "selfsame/staple/1";

/// Reads of a registry under one checkpoint.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reads {
    /// The signed checkpoint.
    pub note: String,
    /// Changes of validators that lead to those who signed it.
    pub handovers: Vec<Handover>,
    /// What is read.
    pub reads: Vec<Read>,
}

/// Why a staple is of no use.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Fault {
    /// It cannot be read.
    Malformed,
    /// It is not what the registry said.
    Forged,
    /// It is not of whom it should be.
    Foreign,
    /// It is too old, or behind what was seen.
    Untimely,
    /// It is signed by others than the validators that are known.
    Untrusted,
}

impl Fault {
    /// Whether an honest peer's staple may have it, so that it does no harm to ask the registry instead.
    pub(super) fn is_excusable(self) -> bool {
        matches!(self, Self::Untimely | Self::Untrusted)
    }

    /// How the peer is refused.
    pub(super) fn refusal(self) -> Refusal {
        let (alert, reason) = match self {
            Self::Malformed => (Alert::BadCertificateStatusResponse, "a staple is malformed"),
            Self::Forged => (Alert::BadCertificateStatusResponse, "a staple is forged"),
            Self::Foreign => (
                Alert::BadCertificateStatusResponse,
                "a staple is not of the peer",
            ),
            Self::Untimely => (
                Alert::CertificateUnknown,
                "a staple is too old or behind what was seen",
            ),
            Self::Untrusted => (
                Alert::CertificateUnknown,
                "a staple is not signed by the validators that are known",
            ),
        };
        Refusal::new(alert, reason)
    }
}

impl Reads {
    /// Bundles of the same checkpoint together, one of these for each checkpoint.
    pub fn of(bundles: impl IntoIterator<Item = Bundle>) -> Vec<Self> {
        let mut of: BTreeMap<String, Self> = BTreeMap::new();
        for bundle in bundles {
            let reads = of.entry(bundle.note.clone()).or_insert_with(|| {
                // Who is further behind than the last of them resolves.
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

    /// The first read with the checkpoint, and the others under it; none where nothing is read.
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

    /// Judges what is read by a reader's memory: what holds, and as of when.
    pub(super) fn judge(
        self,
        reader: &mut Client,
        at: (Handed, UnixTime),
    ) -> Result<(Objects, UnixTime), Fault> {
        let (first, further) = self.parts().ok_or(Fault::Malformed)?;
        let proven: Vec<_> = further.iter().map(Read::object).collect();
        let as_of = reader.accept_all_handed((&first, &proven), at);
        let as_of = as_of.map_err(|outcome| match outcome {
            Outcome::Untimely => Fault::Untimely,
            Outcome::Untrusted => Fault::Untrusted,
            Outcome::Verified | Outcome::Forged => Fault::Forged,
        })?;
        let further = further.into_iter().map(|read| (read.key, read.value));
        let objects = std::iter::once((first.key, first.value)).chain(further);
        Ok((objects.collect(), as_of.time))
    }

    /// The staple; none if it is longer than one can be.
    pub fn staple(&self) -> Option<Staple> {
        let body = self.to_cbor();
        let fits = u16::try_from(body.len()).is_ok();
        fits.then_some(Staple { kind: READS, body })
    }
}

impl Item for Reads {
    fn write(&self, to: &mut Writer) {
        to.array(4).text(DOMAIN).text(&self.note);
        to.items(&self.handovers).items(&self.reads);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
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

/// A status list as its issuer serves it, with its URI before it; none if it is longer than a staple can be.
pub fn status_list(uri: &str, token: &[u8]) -> Option<Staple> {
    let length = u16::try_from(uri.len()).ok()?;
    let body = [&length.to_be_bytes()[..], uri.as_bytes(), token].concat();
    let fits = u16::try_from(body.len()).is_ok();
    fits.then_some(Staple {
        kind: STATUS_LIST,
        body,
    })
}

/// The registry's reads among a peer's staples.
pub(super) fn reads(staples: &[Staple]) -> Result<Vec<Reads>, Fault> {
    let mine = staples.iter().filter(|staple| staple.kind == READS);
    mine.map(|staple| Reads::from_cbor(&staple.body).map_err(|_| Fault::Malformed))
        .collect()
}

/// The status list of this URI among a peer's staples, as its issuer serves it.
pub(super) fn list_at<'s>(staples: &'s [Staple], uri: &str) -> Option<&'s [u8]> {
    let lists = staples.iter().filter(|staple| staple.kind == STATUS_LIST);
    let mut lists = lists.filter_map(|staple| {
        let (length, rest) = staple.body.split_first_chunk::<2>()?;
        rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))
    });
    let list = lists.find(|(of, _)| *of == uri.as_bytes());
    list.map(|(_, token)| token)
}

/// What is to be read of a registry for one's own staples: a DID as it is now, and what issuers anchored.
pub struct Stapling<'m> {
    machine: &'m Machine,
    dids: Vec<Did>,
    anchors: Vec<(Did, String)>,
    bundles: BTreeMap<Vec<u8>, Bundle>,
}

impl<'m> Stapling<'m> {
    /// For DIDs of the machine's network, our own and perhaps our issuer's, and issuers' status lists (by URI).
    pub fn new(machine: &'m Machine, dids: Vec<Did>, anchors: Vec<(Did, String)>) -> Self {
        Self {
            machine,
            dids,
            anchors,
            bundles: BTreeMap::new(),
        }
    }

    /// The key that is to be read next; none if nothing is missing. What was read does not have to be verified: who
    /// gets the staples will.
    pub fn missing(&self) -> Option<Vec<u8>> {
        let view = View {
            bundles: &self.bundles,
            missing: std::cell::RefCell::default(),
        };
        // What comes of it does not matter here, only what was asked for: the first thing that is missing is noted.
        for did in &self.dids {
            let _ = self.machine.resolve(&view, did, &Options::default());
        }
        for (issuer, list) in &self.anchors {
            let _ = self.machine.status_anchor(&view, issuer, list);
        }
        view.missing.take()
    }

    /// Takes what was read.
    pub fn add(&mut self, bundle: Bundle) {
        self.bundles.insert(bundle.key.clone(), bundle);
    }

    /// The keys of what was read.
    pub fn keys(&self) -> Vec<Vec<u8>> {
        self.bundles.keys().cloned().collect()
    }

    /// Whether all that was read is of the same checkpoint.
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

/// Whether a staple says that a DID of the registry is in use.
///
/// # Errors
/// How a peer that sends it would be refused.
pub fn judge(
    stapled: &StaplePolicy,
    staple: &Staple,
    (did, now): (&Did, UnixTime),
) -> Result<(), Refusal> {
    let reads = reads(std::slice::from_ref(staple)).map_err(Fault::refusal)?;
    let proved = stapled.ledger.judge(reads, (stapled.handed(), now));
    let resolution = proved.and_then(|proved| proved.resolve(did));
    let resolution = resolution.map_err(Fault::refusal)?;
    let gone = Refusal::new(Alert::CertificateUnknown, "the DID is not in use");
    resolution.document_of(did).map(|_| ()).map_err(|_| gone)
}

struct View<'a> {
    bundles: &'a BTreeMap<Vec<u8>, Bundle>,
    missing: std::cell::RefCell<Option<Vec<u8>>>,
}

impl StateRead for View<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        if let Some(bundle) = self.bundles.get(key) {
            return Ok(bundle.value.clone());
        }
        self.missing
            .borrow_mut()
            .get_or_insert_with(|| key.to_owned());
        Err(StateError("it was not read yet".to_owned()))
    }
}
