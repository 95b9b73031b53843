//! Who a peer is: what it claims, what it must prove, and who is let in.

mod certificate;
mod claim;
mod cose;
mod credential;
mod jose;
mod members;
mod own;
mod policy;
mod vc;

pub use crate::codec::{Staple, Vc};
pub use certificate::CertificatePolicy;
pub use claim::{Peer, PeerKind};
pub use cose::{CoseDraft, CoseStatus, CoseSubject, CoseVc, KEY_ID_BYTES, short_key_id};
pub use credential::Credential;
pub use members::{MEMBERSHIP, Members};
pub use own::{CertificateIdentity, Identities, SsiIdentity};
pub use policy::{Expected, IdentityPolicy, PeerPolicy, TrustedIssuer};
pub use vc::PaperVc;

pub(crate) use claim::{Claim, Side, Standing, to_sign};
