//! The mathematical content of offer, request and credential.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use dashu_int::UBig;
use selfsame_bignum::pairing::G1;
use serde::{Deserialize, Serialize};
use zeroize::Zeroize as _;

use super::decimal;
use super::revocation::{NonRevocationCredentialSignature, RevocationBlinding};

/// A number that is used once, in an offer, a request, or a presentation request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nonce(#[serde(with = "decimal")] pub(crate) UBig);

/// The `blinded_ms` of a credential request: the link secret, blinded. (AnonCreds v1.0, "Credential Request".)
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlindedCredentialSecrets {
    /// U = S^v' · R^ms mod n.
    #[serde(with = "decimal")]
    pub(crate) u: UBig,
    /// The blinded secret of the non-revocation part.
    pub(crate) ur: Option<G1>,
    /// The names of the attributes in U.
    #[serde(with = "decimal::names")]
    pub(crate) hidden_attributes: BTreeSet<String>,
    /// Commitments to values that are not signed: AnonCreds does not use them, and they are refused unless empty.
    #[serde(with = "decimal::map")]
    pub(crate) committed_attributes: BTreeMap<String, UBig>,
}

/// The `blinded_ms_correctness_proof` of a credential request: that the holder knows the exponents in U.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlindedSecretsCorrectnessProof {
    #[serde(with = "decimal")]
    pub(crate) c: UBig,
    #[serde(with = "decimal")]
    pub(crate) v_dash_cap: UBig,
    #[serde(with = "decimal::map")]
    pub(crate) m_caps: BTreeMap<String, UBig>,
    #[serde(with = "decimal::map")]
    pub(crate) r_caps: BTreeMap<String, UBig>,
}

/// The data that the holder keeps between request and credential (`link_secret_blinding_data`). Secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlindingFactors {
    #[serde(with = "decimal")]
    pub(crate) v_prime: UBig,
    pub(crate) vr_prime: Option<RevocationBlinding>,
}

impl Drop for BlindingFactors {
    fn drop(&mut self) {
        self.v_prime.zeroize();
    }
}

impl fmt::Debug for BlindingFactors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BlindingFactors(..)")
    }
}

/// The `signature` of a credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CredentialSignature {
    /// The signature over the attributes.
    pub(crate) p_credential: PrimaryCredentialSignature,
    /// The signature over the revocation index.
    pub(crate) r_credential: Option<NonRevocationCredentialSignature>,
}

/// A CL signature over the attributes: A^e · S^v · Rctxt^m₂ · ∏ R^m = Z. It suffices to make proofs.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrimaryCredentialSignature {
    /// The credential context: a hash of the holder's identifier, the revocation index and, here, fresh random bits.
    #[serde(with = "decimal")]
    pub(crate) m_2: UBig,
    #[serde(with = "decimal")]
    pub(crate) a: UBig,
    #[serde(with = "decimal")]
    pub(crate) e: UBig,
    /// v″ from the issuer; v' + v″ once the holder has processed it.
    #[serde(with = "decimal")]
    pub(crate) v: UBig,
}

impl PrimaryCredentialSignature {
    /// The credential context, which the non-revocation part repeats.
    pub fn context(&self) -> &UBig {
        &self.m_2
    }
}

impl Drop for PrimaryCredentialSignature {
    fn drop(&mut self) {
        self.m_2.zeroize();
        self.a.zeroize();
        self.e.zeroize();
        self.v.zeroize();
    }
}

impl fmt::Debug for PrimaryCredentialSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrimaryCredentialSignature(..)")
    }
}

/// The `signature_correctness_proof` of a credential: that A was made with the private key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignatureCorrectnessProof {
    #[serde(with = "decimal")]
    pub(crate) se: UBig,
    #[serde(with = "decimal")]
    pub(crate) c: UBig,
}
