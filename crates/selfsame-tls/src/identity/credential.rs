//! A credential of any format: its content, once a trusted issuer's signature is verified, and why one is refused.

use selfsame_credential::status::Reference;
use selfsame_credential::validity::Validity;
use selfsame_did::Did;
use serde_json::{Map, Value};

use crate::alert::{Alert, Refusal};
use crate::codec::Vc;

/// The content of a credential of any format. A trusted issuer has signed it, and it contains only what that issuer may
/// vouch for. Whether it is revoked is not known yet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Credential {
    /// The credential as presented.
    pub vc: Vc,
    /// The issuer.
    pub issuer: Did,
    /// The DID URL of the key that signed it.
    pub key_id: String,
    /// The subject. If the credential confirms a key (`cnf`) and names no subject, it is the did:key of that key.
    pub subject: Did,
    /// When it may be accepted.
    pub validity: Validity,
    /// Its types.
    pub types: Vec<String>,
    /// Its claims about the subject, limited to those that the issuer may make.
    pub claims: Map<String, Value>,
    /// Where its status is published; empty if it has none.
    pub statuses: Vec<Reference>,
}

pub(super) const MALFORMED: Refusal =
    Refusal::new(Alert::BadCertificate, "a credential is malformed");
pub(super) const UNTRUSTED: Refusal = Refusal::new(Alert::UnknownCa, "the issuer is not trusted");
pub(super) const UNSIGNED: Refusal = Refusal::new(
    Alert::BadCertificate,
    "the issuer did not sign this credential",
);
pub(super) const BAD_SUBJECT: Refusal = Refusal::illegal("a DID is malformed");
pub(super) const EXPIRED: Refusal = Refusal::new(
    Alert::CertificateExpired,
    "the credential has expired or is not yet valid",
);
