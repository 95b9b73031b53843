//! Why an attestation is refused.

use std::fmt;

use selfsame_oauth::{Code, Error};

/// Why an attestation is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AttestationFault {
    /// There is none, and one is needed.
    Missing,
    /// It is no signed token with JSON claims, or a header is missing or repeated.
    Form,
    /// `typ` is another one.
    Type,
    /// The algorithm is not accepted.
    Algorithm,
    /// Nobody who is trusted signed it.
    Untrusted,
    /// The certificates contain the trust anchor (HAIP 1.0 §4.4.1).
    Anchor,
    /// There are no certificates, and there must be (HAIP 1.0 §4.4.1, §4.5.1).
    Certificates,
    /// The proof of possession is not signed by the attested key.
    Signature,
    /// A claim is missing or malformed.
    Claim,
    /// The attestation has expired.
    Stale,
    /// It is not valid yet, or was made in the future.
    Early,
    /// An attested key can't be used, is private, or is named twice.
    Key,
    /// It is for another client.
    OtherClient,
    /// It is for another server.
    Audience,
    /// The proof of possession is too old.
    Old,
    /// The challenge is missing, not ours, or too old.
    Challenge,
    /// The keys are not protected as the issuer demands.
    Protection,
    /// A proof has no attestation of its key, and needs one.
    Absent,
    /// The nonce is not that of the proof.
    Nonce,
    /// A proof is by a key that is not attested.
    Unattested,
}

impl AttestationFault {
    /// The code that a server answers with (draft -07 §6.2).
    pub const fn code(self) -> Code {
        match self {
            Self::Missing => Code::InvalidClient,
            Self::Challenge => Code::UseAttestationChallenge,
            Self::Stale => Code::UseFreshAttestation,
            _ => Code::InvalidClientAttestation,
        }
    }

    /// The explanation.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Missing => "this server wants an attestation of the client",
            Self::Form => {
                "the attestation is malformed, or one of its headers is missing or repeated"
            }
            Self::Type => "the attestation has the wrong type",
            Self::Algorithm => "the algorithm of the attestation is not accepted",
            Self::Untrusted => "the attestation is not signed by an attester that is trusted here",
            Self::Anchor => "the certificates of the attestation contain the trust anchor",
            Self::Certificates => {
                "HAIP 1.0 §4.4.1 and §4.5.1 demand the certificates of an attester's key in its attestations: send x5c"
            }
            Self::Signature => "the proof of possession is not signed by the attested key",
            Self::Claim => "a claim of the attestation is missing or malformed",
            Self::Stale => "the attestation has expired",
            Self::Early => "the attestation is not valid yet",
            Self::Key => "a key of the attestation can't be used, or is named twice",
            Self::OtherClient => "the attestation is for another client",
            Self::Audience => "the proof of possession is for another server",
            Self::Old => "the proof of possession is too old",
            Self::Challenge => "the proof of possession needs a challenge of this server",
            Self::Protection => "the keys are not protected as the issuer demands",
            Self::Absent => "a proof has no key_attestation, which is required",
            Self::Nonce => "the nonce of a key attestation is not that of its proof",
            Self::Unattested => "a proof is by a key that is not attested",
        }
    }
}

impl fmt::Display for AttestationFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.reason())
    }
}

impl std::error::Error for AttestationFault {}

impl From<AttestationFault> for Error {
    fn from(fault: AttestationFault) -> Self {
        Self::new(fault.code(), fault.reason())
    }
}
