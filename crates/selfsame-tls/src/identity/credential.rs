//! A credential of any format: its content, once a trusted issuer's signature is verified.

use selfsame_credential::status::Reference;
use selfsame_credential::validity::Validity;
use selfsame_crypto::time::UnixTime;
use selfsame_did::Did;
use serde_json::{Map, Value};

use super::cose::CoseVc;
use super::jose;
use super::policy::{IdentityPolicy, TrustedIssuer};
use super::vc::PaperVc;
use crate::alert::{Alert, Refusal};
use crate::codec::Vc;
use crate::named::VcFormat;

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

impl Credential {
    /// Parses a credential of an accepted format, and judges all of it except its status and its subject.
    pub(crate) fn accept(vc: Vc, policy: &IdentityPolicy, now: UnixTime) -> Result<Self, Refusal> {
        if vc.bytes.len() > policy.max_vc {
            return Err(MALFORMED);
        }
        let mut credential = match vc.format {
            format if !policy.formats.contains(&format) => return Err(UNKNOWN_FORMAT),
            VcFormat::PAPER => PaperVc::accept(vc, policy)?,
            VcFormat::COSE => CoseVc::accept(vc, policy)?,
            format => match jose::format_of(format) {
                Some(format) => jose::accept(vc, format, policy, now)?,
                None => return Err(UNKNOWN_FORMAT),
            },
        };
        credential.restrict(policy)?;
        let validity = credential.validity;
        if !validity.has_begun(now, policy.skew) || !validity.lasts(now, policy.skew) {
            let reason = "the credential has expired or is not yet valid";
            return Err(Refusal::new(Alert::CertificateExpired, reason));
        }
        Ok(credential)
    }

    /// Refuses a credential without a type that the issuer may issue, and removes claims that the issuer may not make.
    fn restrict(&mut self, policy: &IdentityPolicy) -> Result<(), Refusal> {
        let issuer = issuer(policy, self.issuer.as_str())?;
        if !self.types.iter().any(|name| issuer.types.contains(name)) {
            let reason = "a credential of a type that its issuer is not trusted to issue";
            return Err(Refusal::new(Alert::AccessDenied, reason));
        }
        self.claims.retain(|name, _| issuer.claims.contains(name));
        Ok(())
    }
}

/// The rules that every accepted credential has passed.
pub(super) const RULES: [(&str, &str); 4] = [
    ("issuer_trusted", "the policy trusts the issuer"),
    ("issuer_signature", "valid, by a key of the issuer"),
    (
        "credential_type",
        "a type that the issuer is trusted to issue",
    ),
    ("validity", "the credential is currently valid"),
];

/// Refuses a credential that names an issuer which is not trusted, before anything is looked up or verified for it.
pub(super) fn check_issuer(vc: &Vc, policy: &IdentityPolicy) -> Result<(), Refusal> {
    if vc.bytes.len() > policy.max_vc {
        return Err(MALFORMED);
    }
    match jose::format_of(vc.format) {
        Some(format) => issuer(policy, &jose::named_issuer(vc, format)?).map(drop),
        None => Ok(()),
    }
}

/// The trusted issuer with this DID.
pub(super) fn issuer<'a>(
    policy: &'a IdentityPolicy,
    did: &str,
) -> Result<&'a TrustedIssuer, Refusal> {
    let mut issuers = policy.issuers.iter();
    let issuer = issuers.find(|issuer| issuer.did.as_str() == did);
    issuer.ok_or(UNTRUSTED)
}

pub(super) const MALFORMED: Refusal =
    Refusal::new(Alert::BadCertificate, "a credential is malformed");
pub(super) const UNTRUSTED: Refusal = Refusal::new(Alert::UnknownCa, "the issuer is not trusted");
pub(super) const UNSIGNED: Refusal = Refusal::new(
    Alert::BadCertificate,
    "the issuer did not sign this credential",
);
pub(super) const BAD_SUBJECT: Refusal = Refusal::illegal("a DID is malformed");
const UNKNOWN_FORMAT: Refusal = Refusal::new(
    Alert::UnsupportedCertificate,
    "a credential of a format that was not offered",
);
