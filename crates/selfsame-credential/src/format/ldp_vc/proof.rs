//! The proof that counts for a document: the one of its issuer or holder.

use selfsame_crypto::hash::sha256_parts;
use selfsame_crypto::{Algorithm, PublicKey, jws};
use selfsame_data_integrity::{Contexts, IntegrityError, IntegrityProof, ProofPurpose, Secured};
use selfsame_did::Relationship;
use selfsame_verdict::Law;
use serde_json::Map;

use crate::evidence::Evidence;
use crate::issuer_key::{self, Claimed, Finding};
use crate::rules::{SignatureLaws, SignedToken, issuer};

pub(super) const ISSUER_KEY: Law =
    issuer::ISSUER_KEY.resting_on("Data Integrity §2.1, VCDM 2.0 §4.7");
pub(super) const ISSUER_SIGNATURE: Law =
    issuer::ISSUER_SIGNATURE.resting_on("Data Integrity §4.4, §4.5");

/// The member of the header that names the suite.
pub(crate) const CRYPTOSUITE: &str = "cryptosuite";

/// A document, and the proof in it by its issuer or holder.
#[derive(Debug)]
pub(super) struct OwnProof {
    pub secured: Secured,
    /// SHA-256 of the document with its proofs.
    pub digest: [u8; 32],
    /// The proof in the words of JOSE: its algorithm, the URL of its verification method, its suite.
    pub header: jws::Header,
    at: usize,
}

impl OwnProof {
    /// The first proof by a verification method of this DID for this purpose, or else for another one; `None` if no proof
    /// is by this DID in a suite that is known here.
    pub fn find(secured: Secured, digest: [u8; 32], by: OwnerOfProof<'_>) -> Option<Self> {
        let proofs = secured.proofs();
        let is_own =
            |proof: &IntegrityProof| controller(proof) == Some(by.did) && header(proof).is_some();
        let is_for = |proof: &IntegrityProof| proof.purpose == by.purpose.as_str();
        let fitting = proofs.iter().position(|one| is_own(one) && is_for(one));
        let at = fitting.or_else(|| proofs.iter().position(is_own))?;
        let header = header(proofs.get(at)?)?;
        Some(Self {
            secured,
            digest,
            header,
            at,
        })
    }

    pub fn proof(&self) -> Option<&IntegrityProof> {
        self.secured.proofs().get(self.at)
    }

    /// The keys of all proofs, as far as they are known: this one's, and those of DIDs whose documents are at hand.
    fn keys(&self, own: &PublicKey, evidence: &Evidence) -> Vec<Option<PublicKey>> {
        let proofs = self.secured.proofs().iter().enumerate();
        let key = |(at, proof): (usize, &IntegrityProof)| match at == self.at {
            true => Some(own.clone()),
            false => key_of(proof, evidence),
        };
        proofs.map(key).collect()
    }

    /// Whether this proof holds, with those that it builds on, and the others whose keys are known (Data Integrity §4.5).
    fn holds(&self, keys: &[Option<PublicKey>]) -> bool {
        let results = self.secured.verify(keys, &Contexts::known());
        let own = results.get(self.at).is_some_and(Result::is_ok);
        let is_wrong = |(result, key): (&Result<(), IntegrityError>, &Option<PublicKey>)| {
            let is_unsupported = matches!(result, Err(IntegrityError::Unsupported(_)));
            key.is_some() && result.is_err() && !is_unsupported
        };
        own && !results.iter().zip(keys).any(is_wrong)
    }
}

/// Whose proof is looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnerOfProof<'a> {
    /// The DID of the issuer or the holder.
    pub did: &'a str,
    pub purpose: ProofPurpose,
}

impl SignedToken for OwnProof {
    fn algorithm(&self) -> Algorithm {
        self.header.alg
    }

    fn is_signed(&self, key: &PublicKey, evidence: &Evidence) -> bool {
        let keys = self.keys(key, evidence);
        let digests = keys
            .iter()
            .map(|key| key.as_ref().map_or([0; 32], PublicKey::digest));
        let all: Vec<u8> = digests.flatten().collect();
        let at = u8::try_from(self.at).unwrap_or(u8::MAX);
        let digest = sha256_parts(&[b"data-integrity", &self.digest, &[at], &all]);
        evidence.is_genuine(digest, || self.holds(&keys))
    }

    fn laws(&self) -> SignatureLaws {
        SignatureLaws {
            key: &ISSUER_KEY,
            signature: &ISSUER_SIGNATURE,
        }
    }
}

/// The DID whose document has the proof's verification method.
fn controller(proof: &IntegrityProof) -> Option<&str> {
    let (did, _) = proof.method.split_once('#')?;
    did.starts_with("did:").then_some(did)
}

fn header(proof: &IntegrityProof) -> Option<jws::Header> {
    let mut other = Map::new();
    other.insert(CRYPTOSUITE.to_owned(), proof.suite?.name().into());
    Some(jws::Header {
        alg: proof.algorithm()?,
        typ: None,
        kid: Some(proof.method.clone()),
        jwk: None,
        x5c: None,
        other,
    })
}

/// The key of another proof of a document, if it needs no fetch.
fn key_of(proof: &IntegrityProof, evidence: &Evidence) -> Option<PublicKey> {
    let relationship = match proof.purpose.as_str() {
        "assertionMethod" => Relationship::AssertionMethod,
        "authentication" => Relationship::Authentication,
        _ => return None,
    };
    let header = header(proof)?;
    match issuer_key::find(
        &Claimed::of_did(&header, controller(proof)?, relationship),
        evidence,
    ) {
        Finding::Key(key) => Some(*key),
        _ => None,
    }
}
