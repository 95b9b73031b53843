//! Accepts credentials of every format.

use selfsame_crypto::time::UnixTime;

use super::cose;
use super::credential::{Credential, EXPIRED, MALFORMED};
use super::jose;
use super::policy::IdentityPolicy;
use super::vc::PaperVc;
use crate::alert::{Alert, Refusal};
use crate::codec::Vc;
use crate::named::VcFormat;

impl Credential {
    /// Parses a credential of an accepted format, and judges all of it except its status and its subject.
    pub(crate) fn accept(vc: Vc, policy: &IdentityPolicy, now: UnixTime) -> Result<Self, Refusal> {
        if vc.bytes.len() > policy.max_vc {
            return Err(MALFORMED);
        }
        let mut credential = match vc.format {
            format if !policy.formats.contains(&format) => return Err(UNKNOWN_FORMAT),
            VcFormat::PAPER => PaperVc::accept(vc, policy)?,
            VcFormat::COSE => cose::accept(vc, policy)?,
            format => match jose::format_of(format) {
                Some(format) => jose::accept(vc, format, policy, now)?,
                None => return Err(UNKNOWN_FORMAT),
            },
        };
        credential.restrict(policy)?;
        let validity = credential.validity;
        if !validity.has_begun(now, policy.skew) || !validity.lasts(now, policy.skew) {
            return Err(EXPIRED);
        }
        Ok(credential)
    }

    /// Refuses a credential without a type that the issuer may issue, and removes claims that the issuer may not make.
    fn restrict(&mut self, policy: &IdentityPolicy) -> Result<(), Refusal> {
        let issuer = policy.issuer(self.issuer.as_str())?;
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
        Some(format) => policy.issuer(&jose::named_issuer(vc, format)?).map(drop),
        None => Ok(()),
    }
}

const UNKNOWN_FORMAT: Refusal = Refusal::new(
    Alert::UnsupportedCertificate,
    "a credential of a format that was not offered",
);
