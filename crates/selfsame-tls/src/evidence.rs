//! Evidence for judging a peer: what is needed, and what was gathered, with its time, its source, or why it is missing.

use std::fmt::{self, Debug};
use std::sync::Arc;

use selfsame_credential::status::List;
use selfsame_crypto::time::UnixTime;
use selfsame_did::{Did, Resolution};
use webpki::{CertRevocationList, OwnedCertRevocationList};

/// Maximum bytes of a certificate revocation list.
pub const MAX_CRL_BYTES: usize = 4 * 1024 * 1024;

/// Evidence that is available without a network request: documents, lists and checkpoints fetched earlier, never
/// conclusions drawn from them.
pub trait AtHand: Debug + Send + Sync {
    /// The answer to `need`, with its true age; `None` if it is not available or not fresh enough.
    fn at_hand(&self, need: &HandshakeNeed, now: UnixTime) -> Option<NeedAnswer>;
}

/// A piece of evidence that a handshake needs to judge the peer. Fetching it again does no harm.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum HandshakeNeed {
    /// The resolution of a DID: the peer's, or that of an issuer whose keys are not configured.
    Did(Did),
    /// The status list at a URI.
    StatusList(String),
    /// The certificate revocation list at a URI (RFC 5280 §5).
    Crl(String),
}

/// The answer to a need.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum NeedAnswer {
    /// To [`HandshakeNeed::Did`].
    Did(Did, Found<Arc<Resolution>>),
    /// To [`HandshakeNeed::StatusList`].
    StatusList(String, Found<Arc<List>>),
    /// To [`HandshakeNeed::Crl`].
    Crl(String, Found<Arc<Crl>>),
}

/// The evidence, or why it could not be fetched.
#[derive(Clone, Debug)]
pub struct Found<T> {
    /// The evidence, or why it could not be fetched.
    pub value: Result<T, Failure>,
    /// The time for which it holds: that of the checkpoint that proves it, otherwise that of the fetch (for cached
    /// evidence, when it entered the cache).
    pub as_of: UnixTime,
    /// Why it is authentic.
    pub source: Source,
}

/// Why evidence could not be fetched. A failure is an answer: the peer is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Failure {
    /// No source returned it, or what was returned is invalid.
    #[error("the evidence is unavailable")]
    Unavailable,
    /// It did not arrive in time.
    #[error("the evidence did not arrive in time")]
    TimedOut,
}

/// Why evidence is authentic.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Source {
    /// It follows from the identifier itself.
    Itself,
    /// A registry's state, proved by a checkpoint that its validators signed.
    Registry,
    /// Its issuer's signature, which this crate verifies.
    Signature,
    /// The host in the identifier, over TLS.
    Host,
    /// A resolver's answer over TLS, without proof.
    Word,
}

/// All evidence gathered so far. A later answer to the same need replaces the earlier one.
#[derive(Clone, Debug, Default)]
pub struct HandshakeEvidence {
    answers: Vec<NeedAnswer>,
}

/// A certificate revocation list, parsed but not yet trusted: its signature is verified together with the chain.
pub struct Crl(CertRevocationList<'static>);

impl NeedAnswer {
    /// The need that this answers.
    pub fn need(&self) -> HandshakeNeed {
        match self {
            Self::Did(did, _) => HandshakeNeed::Did(did.clone()),
            Self::StatusList(uri, _) => HandshakeNeed::StatusList(uri.clone()),
            Self::Crl(uri, _) => HandshakeNeed::Crl(uri.clone()),
        }
    }

    /// An answer that the evidence could not be fetched.
    pub fn failed(need: HandshakeNeed, failure: Failure, now: UnixTime) -> Self {
        match need {
            HandshakeNeed::Did(did) => Self::Did(did, Found::failed(failure, now)),
            HandshakeNeed::StatusList(uri) => Self::StatusList(uri, Found::failed(failure, now)),
            HandshakeNeed::Crl(uri) => Self::Crl(uri, Found::failed(failure, now)),
        }
    }

    fn is_to(&self, need: &HandshakeNeed) -> bool {
        match (self, need) {
            (Self::Did(did, _), HandshakeNeed::Did(wanted)) => did == wanted,
            (Self::StatusList(uri, _), HandshakeNeed::StatusList(wanted))
            | (Self::Crl(uri, _), HandshakeNeed::Crl(wanted)) => uri == wanted,
            _ => false,
        }
    }
}

impl<T> Found<T> {
    /// Evidence that is authentic because of `source`, as of `as_of`.
    pub fn new(value: T, as_of: UnixTime, source: Source) -> Self {
        let value = Ok(value);
        Self {
            value,
            as_of,
            source,
        }
    }

    /// A failure to fetch, at `now`.
    pub fn failed(failure: Failure, now: UnixTime) -> Self {
        Self {
            value: Err(failure),
            as_of: now,
            source: Source::Word,
        }
    }

    /// Its age in seconds at `now`.
    pub fn age(&self, now: UnixTime) -> u64 {
        now.seconds_since(self.as_of)
    }
}

impl Source {
    /// Its description in a verdict.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Itself => "from its own name",
            Self::Registry => "proved by its registry",
            Self::Signature => "signed by its issuer",
            Self::Host => "from its own host",
            Self::Word => "from a resolver, without proof",
        }
    }
}

impl HandshakeEvidence {
    /// Adds an answer.
    pub fn add(&mut self, answer: NeedAnswer) {
        let need = answer.need();
        self.answers.retain(|known| !known.is_to(&need));
        self.answers.push(answer);
    }

    /// The answer to `need`, good or bad.
    pub fn answer(&self, need: &HandshakeNeed) -> Option<&NeedAnswer> {
        self.answers.iter().find(|answer| answer.is_to(need))
    }

    /// The resolution of `did`, if there is an answer.
    pub fn did(&self, did: &Did) -> Option<&Found<Arc<Resolution>>> {
        self.answers.iter().find_map(|answer| match answer {
            NeedAnswer::Did(of, found) if of == did => Some(found),
            _ => None,
        })
    }

    /// The status list at `uri`, if there is an answer.
    pub fn status_list(&self, uri: &str) -> Option<&Found<Arc<List>>> {
        self.answers.iter().find_map(|answer| match answer {
            NeedAnswer::StatusList(of, found) if of == uri => Some(found),
            _ => None,
        })
    }

    /// The revocation list at `uri`, if there is an answer.
    pub fn crl(&self, uri: &str) -> Option<&Found<Arc<Crl>>> {
        self.answers.iter().find_map(|answer| match answer {
            NeedAnswer::Crl(of, found) if of == uri => Some(found),
            _ => None,
        })
    }
}

impl From<NeedAnswer> for HandshakeEvidence {
    fn from(answer: NeedAnswer) -> Self {
        let answers = vec![answer];
        Self { answers }
    }
}

impl Extend<NeedAnswer> for HandshakeEvidence {
    fn extend<I: IntoIterator<Item = NeedAnswer>>(&mut self, answers: I) {
        answers.into_iter().for_each(|answer| self.add(answer));
    }
}

impl FromIterator<NeedAnswer> for HandshakeEvidence {
    fn from_iter<I: IntoIterator<Item = NeedAnswer>>(answers: I) -> Self {
        let mut evidence = Self::default();
        evidence.extend(answers);
        evidence
    }
}

impl IntoIterator for HandshakeEvidence {
    type Item = NeedAnswer;
    type IntoIter = std::vec::IntoIter<NeedAnswer>;

    fn into_iter(self) -> Self::IntoIter {
        self.answers.into_iter()
    }
}

impl Crl {
    /// Parses a list in DER; `None` if it is malformed or of an unsupported kind (RFC 5280 §5; delta and indirect lists
    /// are not supported).
    pub fn parse(der: &[u8]) -> Option<Self> {
        if der.len() > MAX_CRL_BYTES {
            return None;
        }
        let list = OwnedCertRevocationList::from_der(der).ok()?;
        Some(Self(list.into()))
    }

    pub(crate) fn list(&self) -> &CertRevocationList<'static> {
        &self.0
    }
}

impl Debug for Crl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crl").finish_non_exhaustive()
    }
}
