//! What a judgement needs from outside, and what was gathered for it: as of when, by whose word, or why it is not there.

use std::fmt::{self, Debug};
use std::sync::Arc;

use selfsame_credential::status::List;
use selfsame_crypto::time::UnixTime;
use selfsame_did::{Did, Resolution};
use webpki::{CertRevocationList, OwnedCertRevocationList};

/// The longest certificate revocation list that is read, in bytes.
pub const MAX_CRL_BYTES: usize = 4 * 1024 * 1024;

/// What is known of others without asking anybody: documents, lists and checkpoints that were fetched before, never what
/// was concluded from them.
pub trait AtHand: Debug + Send + Sync {
    /// The answer to `need`, with the age that it has; nothing if it is not at hand, or not fresh enough to be used.
    fn at_hand(&self, need: &Need, now: UnixTime) -> Option<Answer>;
}

/// Exactly what is wanted. To fetch it again does no harm.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Need {
    /// The resolution of a DID: the peer's, or that of an issuer whose keys are not configured.
    Did(Did),
    /// The status list at a URI.
    StatusList(String),
    /// The certificate revocation list at a URI (RFC 5280 §5).
    Crl(String),
}

/// What came of one need.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Answer {
    /// To [`Need::Did`].
    Did(Did, Found<Arc<Resolution>>),
    /// To [`Need::StatusList`].
    StatusList(String, Found<Arc<List>>),
    /// To [`Need::Crl`].
    Crl(String, Found<Arc<Crl>>),
}

/// What was found, or that nothing was.
#[derive(Clone, Debug)]
pub struct Found<T> {
    /// The thing, or why it could not be had.
    pub value: Result<T, Failure>,
    /// As of when it holds: the time of the checkpoint that proves it, else that of the fetch (of a cached thing, when
    /// it entered the cache).
    pub as_of: UnixTime,
    /// What makes it authentic.
    pub source: Source,
}

/// Why something could not be had. A failure is an answer: it refuses the peer.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Failure {
    /// Nobody gave it, or what was given is not one.
    #[error("it could not be had")]
    Unavailable,
    /// It was not there in time.
    #[error("it was not there in time")]
    TimedOut,
}

/// What makes a thing that was found authentic.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Source {
    /// It follows from its own name.
    Itself,
    /// A registry's state, proved up to a checkpoint its validators signed.
    Registry,
    /// Its issuer's signature, which is judged here.
    Signature,
    /// The host that the name names, over TLS.
    Host,
    /// A resolver that was asked over TLS and taken at its word.
    Word,
}

/// All that was gathered so far. What is given again for the same need takes the former's place.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    answers: Vec<Answer>,
}

/// A certificate revocation list, read and not yet trusted: its signature is judged with the chain.
pub struct Crl(CertRevocationList<'static>);

impl Answer {
    /// The need this answers.
    pub fn need(&self) -> Need {
        match self {
            Self::Did(did, _) => Need::Did(did.clone()),
            Self::StatusList(uri, _) => Need::StatusList(uri.clone()),
            Self::Crl(uri, _) => Need::Crl(uri.clone()),
        }
    }

    /// That what was needed could not be had.
    pub fn failed(need: Need, failure: Failure, now: UnixTime) -> Self {
        match need {
            Need::Did(did) => Self::Did(did, Found::failed(failure, now)),
            Need::StatusList(uri) => Self::StatusList(uri, Found::failed(failure, now)),
            Need::Crl(uri) => Self::Crl(uri, Found::failed(failure, now)),
        }
    }

    fn is_to(&self, need: &Need) -> bool {
        match (self, need) {
            (Self::Did(did, _), Need::Did(wanted)) => did == wanted,
            (Self::StatusList(uri, _), Need::StatusList(wanted))
            | (Self::Crl(uri, _), Need::Crl(wanted)) => uri == wanted,
            _ => false,
        }
    }
}

impl<T> Found<T> {
    /// Something that is authentic by `source` and holds as of then.
    pub fn new(value: T, as_of: UnixTime, source: Source) -> Self {
        let value = Ok(value);
        Self {
            value,
            as_of,
            source,
        }
    }

    /// Nothing.
    pub fn failed(failure: Failure, now: UnixTime) -> Self {
        Self {
            value: Err(failure),
            as_of: now,
            source: Source::Word,
        }
    }

    /// How many seconds ago it held for sure.
    pub fn age(&self, now: UnixTime) -> u64 {
        now.seconds_since(self.as_of)
    }
}

impl Source {
    /// How it reads in a verdict.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Itself => "from its own name",
            Self::Registry => "proved by its registry",
            Self::Signature => "signed by its issuer",
            Self::Host => "from its own host",
            Self::Word => "by a resolver's word",
        }
    }
}

impl Evidence {
    /// Adds an answer.
    pub fn add(&mut self, answer: Answer) {
        let need = answer.need();
        self.answers.retain(|known| !known.is_to(&need));
        self.answers.push(answer);
    }

    /// The answer, good or bad, to `need`.
    pub fn answer(&self, need: &Need) -> Option<&Answer> {
        self.answers.iter().find(|answer| answer.is_to(need))
    }

    /// The resolution of `did`, if it was asked for.
    pub fn did(&self, did: &Did) -> Option<&Found<Arc<Resolution>>> {
        self.answers.iter().find_map(|answer| match answer {
            Answer::Did(of, found) if of == did => Some(found),
            _ => None,
        })
    }

    /// The status list at `uri`, if it was asked for.
    pub fn status_list(&self, uri: &str) -> Option<&Found<Arc<List>>> {
        self.answers.iter().find_map(|answer| match answer {
            Answer::StatusList(of, found) if of == uri => Some(found),
            _ => None,
        })
    }

    /// The revocation list at `uri`, if it was asked for.
    pub fn crl(&self, uri: &str) -> Option<&Found<Arc<Crl>>> {
        self.answers.iter().find_map(|answer| match answer {
            Answer::Crl(of, found) if of == uri => Some(found),
            _ => None,
        })
    }
}

impl From<Answer> for Evidence {
    fn from(answer: Answer) -> Self {
        let answers = vec![answer];
        Self { answers }
    }
}

impl Extend<Answer> for Evidence {
    fn extend<I: IntoIterator<Item = Answer>>(&mut self, answers: I) {
        answers.into_iter().for_each(|answer| self.add(answer));
    }
}

impl FromIterator<Answer> for Evidence {
    fn from_iter<I: IntoIterator<Item = Answer>>(answers: I) -> Self {
        let mut evidence = Self::default();
        evidence.extend(answers);
        evidence
    }
}

impl IntoIterator for Evidence {
    type Item = Answer;
    type IntoIter = std::vec::IntoIter<Answer>;

    fn into_iter(self) -> Self::IntoIter {
        self.answers.into_iter()
    }
}

impl Crl {
    /// Reads a list in DER; none if it is not one that can be judged (RFC 5280 §5, no delta, not indirect).
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
