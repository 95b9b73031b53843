//! Identities: what a peer claims and must prove, and which peers are accepted.

mod again;
mod certificate;
mod claim;
mod cose;
mod credential;
mod jose;
mod ledger;
mod members;
mod own;
mod policy;
mod revocation_checks;
pub mod staple;
mod staple_reads;
mod status;
mod vc;

pub use crate::codec::{Staple, Vc};
pub use again::Again;
pub use certificate::{CertificatePolicy, CrlPolicy};
pub use claim::{Ground, Peer, PeerKind};
pub use cose::{CoseDraft, CoseStatus, CoseSubject, CoseVc, KEY_ID_BYTES, short_key_id};
pub use credential::Credential;
pub use ledger::{KnownState, Ledger, ListAnchor, NetworkRules, StaplePolicy};
pub use members::{MEMBERSHIP, Members};
pub use own::{CertificateIdentity, Crls, Identities, SsiIdentity, Staples};
pub use policy::{ExpectedPeer, IdentityPolicy, PeerPolicy, TrustedIssuer};
pub use staple::Stapling;
pub use status::StatusPolicy;
pub use vc::{PaperContent, PaperVc};

pub(crate) use again::again;
pub(crate) use claim::{Claim, ClaimStanding, NOT_EXPECTED, Side, to_sign};
