//! Registry reads in a staple: their encoding, their verification, and why they are not accepted.

use std::collections::BTreeMap;

use selfsame_crypto::time::UnixTime;
use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed};
use selfsame_proof::client::{Client, Handed};
use selfsame_proof::read::{Bundle, Handover, ReadOutcome};
pub use selfsame_proof::reads::Read;

use crate::alert::{Alert, Refusal};
use crate::codec::Staple;

/// The kind of a staple that holds [`Reads`].
pub const READS: u8 = 1;

/// Maximum reads in one staple: a DID takes two or three, a status list's anchor two.
const MAX_READS: usize = 16;
/// Maximum changes of validators in one staple; a verifier that is further behind resolves the DID instead.
const MAX_HANDOVERS: usize = 8;
const DOMAIN: &str = "selfsame/staple/1";

/// Objects of a state by their keys; `None` for a key that is proved absent.
pub(super) type Objects = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

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

/// The registry reads among a peer's staples.
pub(super) fn reads(staples: &[Staple]) -> Result<Vec<Reads>, Fault> {
    let mine = staples.iter().filter(|staple| staple.kind == READS);
    mine.map(|staple| Reads::from_cbor(&staple.body).map_err(|_| Fault::Malformed))
        .collect()
}
