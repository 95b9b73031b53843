//! A proof as it stands in a document, and as it is asked for.

use std::collections::BTreeSet;

use selfsame_crypto::encoding::{multibase_base58_encode, multibase_decode};
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Algorithm, KeyType};
use serde_json::{Map, Value};

use crate::error::UnexpectedProof;
use crate::suite::Cryptosuite;
use crate::{IntegrityError, LIST_MAX};

pub(crate) const TYPE: &str = "DataIntegrityProof";

/// What a key is used for (Controlled Identifiers §2.3).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ProofPurpose {
    /// To state something, as an issuer does.
    AssertionMethod,
    /// To show who someone is, as a holder does.
    Authentication,
}

impl ProofPurpose {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AssertionMethod => "assertionMethod",
            Self::Authentication => "authentication",
        }
    }
}

/// The members of a proof that is to be made.
#[derive(Clone, Copy, Debug)]
pub struct ProofOptions<'a> {
    /// The cryptosuite.
    pub suite: Cryptosuite,
    /// The URL of the verification method.
    pub method: &'a str,
    /// What the proof is for.
    pub purpose: ProofPurpose,
    /// When the proof was made.
    pub created: Option<UnixTime>,
    /// When the proof ends.
    pub expires: Option<UnixTime>,
    /// For whom the proof is.
    pub domain: &'a [&'a str],
    /// What the proof answers.
    pub challenge: Option<&'a str>,
    /// The proof's own identifier, by which later proofs name it.
    pub id: Option<&'a str>,
    /// The identifiers of the proofs that this one builds on.
    pub previous: &'a [&'a str],
}

impl<'a> ProofOptions<'a> {
    /// The options of a proof that has neither times nor an audience.
    pub const fn new(suite: Cryptosuite, method: &'a str, purpose: ProofPurpose) -> Self {
        Self {
            suite,
            method,
            purpose,
            created: None,
            expires: None,
            domain: &[],
            challenge: None,
            id: None,
            previous: &[],
        }
    }

    /// The proof without its value.
    pub(crate) fn members(&self) -> Map<String, Value> {
        let mut members = Map::new();
        let mut put = |name: &str, value: Value| {
            members.insert(name.to_owned(), value);
        };
        put("type", TYPE.into());
        put("cryptosuite", self.suite.name().into());
        put("verificationMethod", self.method.into());
        put("proofPurpose", self.purpose.as_str().into());
        let texts = [
            ("id", self.id.map(str::to_owned)),
            ("challenge", self.challenge.map(str::to_owned)),
            ("created", self.created.map(UnixTime::rfc3339)),
            ("expires", self.expires.map(UnixTime::rfc3339)),
        ];
        for (name, text) in texts {
            if let Some(text) = text {
                put(name, text.into());
            }
        }
        for (name, texts) in [("domain", self.domain), ("previousProof", self.previous)] {
            match texts {
                [] => {}
                [one] => put(name, (*one).into()),
                several => put(name, several.into()),
            }
        }
        members
    }
}

/// What a proof must have.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedProof<'a> {
    /// What it is for.
    pub purpose: ProofPurpose,
    /// For whom it is; `None` if that does not matter.
    pub domain: Option<&'a [&'a str]>,
    /// What it answers; `None` if that does not matter.
    pub challenge: Option<&'a str>,
    /// The time.
    pub now: UnixTime,
    /// The tolerated difference of clocks, in seconds.
    pub leeway: u64,
}

/// A proof of a document.
#[derive(Clone, Debug)]
pub struct IntegrityProof {
    /// As it stands in the document, its value included.
    pub(crate) members: Map<String, Value>,
    /// Its identifier.
    pub id: Option<String>,
    /// The cryptosuite; `None` if it is not known here.
    pub suite: Option<Cryptosuite>,
    /// The URL of the verification method.
    pub method: String,
    /// What it is for.
    pub purpose: String,
    /// When it was made.
    pub created: Option<UnixTime>,
    /// When it ends.
    pub expires: Option<UnixTime>,
    /// For whom it is.
    pub domain: Vec<String>,
    /// What it answers.
    pub challenge: Option<String>,
    /// The identifiers of the proofs that it builds on.
    pub previous: Vec<String>,
    /// The signature.
    pub(crate) value: Vec<u8>,
}

impl IntegrityProof {
    pub(crate) fn of(value: &Value) -> Result<Self, IntegrityError> {
        let members = value
            .as_object()
            .ok_or(IntegrityError::Malformed("proof"))?;
        let reader = ProofMembers(members);
        let is_integrity = reader.text("type")? == Some(TYPE);
        let suite = if is_integrity {
            Cryptosuite::named(reader.required("cryptosuite")?)
        } else {
            None
        };
        Ok(Self {
            id: reader.text("id")?.map(str::to_owned),
            suite,
            method: reader.required("verificationMethod")?.to_owned(),
            purpose: reader.required("proofPurpose")?.to_owned(),
            created: reader.time("created")?,
            expires: reader.time("expires")?,
            domain: reader.texts("domain")?,
            challenge: reader.text("challenge")?.map(str::to_owned),
            previous: reader.texts("previousProof")?,
            // Older kinds of proof have their signature elsewhere.
            value: match suite {
                Some(_) => reader.signature()?,
                None => Vec::new(),
            },
            members: members.clone(),
        })
    }

    /// Checks the purpose, the audience and the times (Data Integrity §4.4). The signature is for
    /// [`crate::Secured::verify`].
    ///
    /// # Errors
    /// [`IntegrityError::Unexpected`] with the first member that is not as it was asked for.
    pub fn check(&self, expected: &ExpectedProof<'_>) -> Result<(), IntegrityError> {
        let latest = expected.now.plus(expected.leeway);
        let earliest = expected.now.minus(expected.leeway);
        let wrong = if self.purpose != expected.purpose.as_str() {
            UnexpectedProof::Purpose
        } else if expected.domain.is_some_and(|domain| !self.is_for(domain)) {
            UnexpectedProof::Domain
        } else if expected.challenge.is_some() && expected.challenge != self.challenge.as_deref() {
            UnexpectedProof::Challenge
        } else if self.created.is_some_and(|created| created > latest) {
            UnexpectedProof::Early
        } else if self.expires.is_some_and(|expires| expires <= earliest) {
            UnexpectedProof::Expired
        } else {
            return Ok(());
        };
        Err(IntegrityError::Unexpected(wrong))
    }

    /// The algorithm of its signature, by its suite and its length; `None` if the suite has no such signatures.
    pub fn algorithm(&self) -> Option<Algorithm> {
        let keys = [KeyType::Ed25519, KeyType::P256, KeyType::P384];
        let parts = keys
            .into_iter()
            .filter_map(|key| self.suite?.parts(key).ok());
        let mut fitting = parts.filter(|parts| parts.signature_length == self.value.len());
        fitting.next().map(|parts| parts.algorithm)
    }

    fn is_for(&self, domain: &[&str]) -> bool {
        let own: BTreeSet<&str> = self.domain.iter().map(String::as_str).collect();
        own == domain.iter().copied().collect()
    }

    /// The proof's options: all but its value.
    pub(crate) fn options(&self) -> Map<String, Value> {
        let mut options = self.members.clone();
        options.remove("proofValue");
        options
    }
}

/// The text of a signature: multibase base58 (EdDSA Cryptosuites §3.3.1).
pub(crate) fn proof_value(signature: &[u8]) -> Value {
    multibase_base58_encode(signature).into()
}

struct ProofMembers<'a>(&'a Map<String, Value>);

impl<'a> ProofMembers<'a> {
    fn text(&self, name: &'static str) -> Result<Option<&'a str>, IntegrityError> {
        match self.0.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(IntegrityError::Malformed(name)),
        }
    }

    fn required(&self, name: &'static str) -> Result<&'a str, IntegrityError> {
        self.text(name)?.ok_or(IntegrityError::Malformed(name))
    }

    /// A string, or several.
    fn texts(&self, name: &'static str) -> Result<Vec<String>, IntegrityError> {
        let malformed = IntegrityError::Malformed(name);
        let elements = match self.0.get(name) {
            None => return Ok(Vec::new()),
            Some(Value::String(text)) => return Ok(vec![text.clone()]),
            Some(Value::Array(elements)) => elements,
            Some(_) => return Err(malformed),
        };
        if elements.len() > LIST_MAX {
            return Err(IntegrityError::TooMany(name));
        }
        let texts = elements.iter().map(|one| one.as_str().map(str::to_owned));
        texts.collect::<Option<_>>().ok_or(malformed)
    }

    /// An `xsd:dateTimeStamp`: the zone is required.
    fn time(&self, name: &'static str) -> Result<Option<UnixTime>, IntegrityError> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        // RFC 3339 allows lower case and a space, XML Schema does not.
        let is_stamp = !text.contains(['t', 'z', ' ']);
        let time = is_stamp.then(|| UnixTime::parse_rfc3339(text)).flatten();
        Ok(Some(time.ok_or(IntegrityError::Malformed(name))?))
    }

    fn signature(&self) -> Result<Vec<u8>, IntegrityError> {
        let text = self.required("proofValue")?;
        let malformed = IntegrityError::Malformed("proofValue");
        multibase_decode(text).map_err(|_| malformed)
    }
}
