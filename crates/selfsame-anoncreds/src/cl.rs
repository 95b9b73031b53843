//! The Camenisch-Lysyanskaya mathematics.

mod blinding;
mod bounds;
mod challenge;
mod correctness;
mod correctness_data;
mod decimal;
mod definition;
mod equality;
mod issuer_key;
mod key;
mod key_data;
mod link_secret;
mod messages;
mod number;
mod powers;
mod powers_data;
mod predicate;
mod processing;
mod proof_data;
mod prover;
pub mod revocation;
mod safe_primes;
mod signing;
mod squares;
mod verifier;

pub use blinding::Blinded;
pub(crate) use blinding::blind;
pub use challenge::credential_context;
pub(crate) use challenge::fresh_context;
pub use correctness_data::{KeyCorrectnessProof, PublishedKeyProof};
pub use definition::{Definition, PRIME_BITS, SafePrimes};
pub(crate) use definition::{first_safe_prime, generate};
pub use equality::Held;
pub use issuer_key::IssuerKey;
pub use key::CredentialKey;
pub use key_data::{LINK_SECRET, PrimaryPrivateKey, PrimaryPublicKey};
pub use link_secret::LinkSecret;
pub use messages::{
    BlindedCredentialSecrets, BlindedSecretsCorrectnessProof, BlindingFactors, CredentialSignature,
    Nonce, PrimaryCredentialSignature, SignatureCorrectnessProof,
};
pub use processing::Received;
pub(crate) use processing::process;
pub use proof_data::{
    AggregatedProof, EqualityProof, Predicate, PredicateProof, PredicateType, PrimaryProof, Proof,
    SubProof,
};
pub(crate) use prover::ProofBuilder;
pub use prover::SubProofRequest;
pub(crate) use signing::sign;
pub use signing::{SigningRequest, Values};
pub(crate) use verifier::{Expected, verify};

#[cfg(test)]
mod tests;
