//! Owns: whose attestations an instance trusts and demands, their judgement at its authorization servers, and the attester
//! of its own wallet.
//! Does not own: the formats (selfsame-attestation), records of what was used, wallets, HTTP.

mod attester;
mod config;
mod gate;

pub use attester::{Attester, AttesterKey};
pub use config::{AttestationConfig, AttesterConfig, WantedAttestation};
pub use gate::{PresentedClient, WalletGate};
pub use selfsame_attestation::ALGORITHMS;
pub use selfsame_attestation::challenge::ChallengeAnswer;
pub use selfsame_attestation::client::AttestedClient;
pub use selfsame_attestation::headers::{self, AttestationHeaders};

#[cfg(test)]
mod tests;
