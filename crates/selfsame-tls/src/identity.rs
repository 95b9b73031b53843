//! Identities: what a peer claims and must prove, and which peers are accepted.

mod acceptance;
mod again;
mod certificate;
mod claim;
mod cose;
mod credential;
mod jose;
mod ledger;
mod members;
mod own;
mod peer;
mod policy;
mod revocation_checks;
mod signature;
pub mod staple;
mod staple_reads;
mod status;
mod vc;

pub use crate::codec::{Staple, Vc};
pub use certificate::{CertificatePolicy, CrlPolicy};
pub use credential::Credential;
pub use ledger::{KnownState, Ledger, ListAnchor, NetworkRules, StaplePolicy};
pub use members::{MEMBERSHIP, Members};
pub use own::{CertificateIdentity, Crls, Identities, SsiIdentity, Staples};
pub use peer::{Again, Ground, Peer, PeerKind};
pub use policy::{ExpectedPeer, IdentityPolicy, PeerPolicy, StatusPolicy, TrustedIssuer};
pub use selfsame_credential::format::cwt::{
    CoseDraft, CoseStatus, CoseSubject, CoseVc, KEY_ID_BYTES, short_key_id,
};
pub use staple::Stapling;
pub use vc::{PaperContent, PaperVc};

pub(crate) use claim::{Claim, ClaimStanding, to_sign};
pub(crate) use peer::Side;
pub(crate) use policy::NOT_EXPECTED;
