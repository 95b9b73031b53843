//! The attesters that are trusted: by their keys, or by certificates that lead to an anchor.

use selfsame_crypto::time::UnixTime;
use selfsame_crypto::x509::{Chain, X509Error};
use selfsame_oauth::jwt::{Jwt, VerificationKeys};

use crate::ALGORITHMS;
use crate::fault::AttestationFault;

/// An attester that is known by its keys.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KnownAttester {
    /// Its name: `iss` of its attestations, compared character by character.
    pub issuer: String,
    /// Its keys.
    pub keys: VerificationKeys,
}

/// The attesters that are trusted.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TrustedAttesters {
    known: Vec<KnownAttester>,
    anchors: Vec<Vec<u8>>,
    needs_certificates: bool,
}

impl TrustedAttesters {
    /// Those that are known by their keys, and those with certificates of these anchors (DER).
    #[must_use]
    pub fn new(known: Vec<KnownAttester>, anchors: Vec<Vec<u8>>) -> Self {
        Self {
            known,
            anchors,
            needs_certificates: false,
        }
    }

    /// Those of them that are trusted by certificates (HAIP 1.0 §4.4.1, §4.5.1).
    #[must_use]
    pub fn by_certificates_alone(&self) -> Self {
        Self {
            known: Vec::new(),
            anchors: self.anchors.clone(),
            needs_certificates: true,
        }
    }

    /// Whether nobody is trusted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty() && self.anchors.is_empty()
    }

    /// Verifies that one of them signed an attestation.
    ///
    /// # Errors
    /// The algorithm, the certificates, or that nobody who is trusted signed it.
    pub fn verify(&self, jwt: &Jwt, now: UnixTime) -> Result<(), AttestationFault> {
        if !ALGORITHMS.contains(&jwt.header().alg) {
            return Err(AttestationFault::Algorithm);
        }
        if self.needs_certificates && jwt.header().x5c.is_none() {
            return Err(AttestationFault::Certificates);
        }
        let by_keys = self.by_keys(jwt);
        match &jwt.header().x5c {
            Some(x5c) if by_keys.is_err() && !self.anchors.is_empty() => {
                self.by_certificates(jwt, x5c, now)
            }
            _ => by_keys,
        }
    }

    /// HAIP 1.0 §4.4.1: the anchor is not in the chain. So a certificate that signed itself leads nowhere, even if it is
    /// an anchor.
    fn by_certificates(
        &self,
        jwt: &Jwt,
        x5c: &[Vec<u8>],
        now: UnixTime,
    ) -> Result<(), AttestationFault> {
        if x5c.iter().any(|sent| self.anchors.contains(sent)) {
            return Err(AttestationFault::Anchor);
        }
        let chain = Chain::parse(x5c).map_err(|_| AttestationFault::Form)?;
        chain.verify(&self.anchors, now).map_err(|why| match why {
            X509Error::Expired => AttestationFault::Stale,
            X509Error::NotYetValid => AttestationFault::Early,
            _ => AttestationFault::Untrusted,
        })?;
        jwt.verify(chain.leaf_public_key())
            .map_err(|_| AttestationFault::Untrusted)
    }

    /// An attestation that names its attester is by the keys of that one alone.
    fn by_keys(&self, jwt: &Jwt) -> Result<(), AttestationFault> {
        let named = jwt.text("iss");
        let mut fitting = self
            .known
            .iter()
            .filter(|one| named.is_none_or(|named| named == one.issuer));
        match fitting.any(|one| jwt.verify_with(&one.keys, &ALGORITHMS).is_ok()) {
            true => Ok(()),
            false => Err(AttestationFault::Untrusted),
        }
    }
}
