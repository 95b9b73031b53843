//! Passkeys: the relying party's side of Web Authentication (WebAuthn Level 3).
//!
//! Owns: the options of both ceremonies, sealed challenges, and the checks of what browsers and authenticators answer.
//! Does not own: accounts, the record that a challenge was used, pages, HTTP, and any kind of I/O. Attestation is not
//! believed: each authenticator counts as unknown, whatever it says of its make.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

mod answer;
mod assertion;
mod attestation;
mod authenticator;
mod cbor;
mod challenge;
mod client;
mod cose;
mod error;
mod options;
mod party;
mod passkey;
mod registration;
mod signature;

pub use answer::{AssertionResponse, RegistrationResponse};
pub use assertion::Assertion;
pub use attestation::AttestationObject;
pub use authenticator::{AttestedCredential, AuthenticatorData, AuthenticatorFlags};
pub use challenge::{CHALLENGE_SECONDS, PasskeyChallenge};
pub use client::{CeremonyKind, ClientData};
pub use cose::PasskeyAlgorithm;
pub use error::PasskeyError;
pub use options::{CreationOptions, NewPasskey, RequestOptions};
pub use party::RelyingParty;
pub use passkey::Passkey;
pub use registration::Creation;
