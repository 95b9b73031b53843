//! Whether a credential is revoked or suspended: its place in its issuer's status list, and how fresh the list is.

use selfsame_credential::status::{List, Reference, Value};
use selfsame_crypto::time::UnixTime;

use super::ledger::Proved;
use super::peer::Peer;
use super::policy::{IdentityPolicy, TrustedIssuer};
use super::staple;
use super::staple_reads::Fault;
use crate::alert::{Alert, Refusal};
use crate::codec::Staple;
use crate::evidence::{Found, HandshakeEvidence, Source};

/// A credential's place in a list, and the issuer that must have signed the list.
pub(super) struct ListEntry<'a> {
    pub(super) reference: &'a Reference,
    pub(super) issuer: &'a TrustedIssuer,
    pub(super) policy: &'a IdentityPolicy,
    pub(super) now: UnixTime,
}

impl ListEntry<'_> {
    /// Whether a stapled list says that the credential is valid. False if no stapled list is fresh enough.
    pub(super) fn is_stapled(
        &self,
        staples: &[Staple],
        proved: Option<&Proved>,
        peer: &mut Peer,
    ) -> Result<bool, Refusal> {
        let uri = self.reference.uri.as_str();
        let Some(token) = staple::list_at(staples, uri) else {
            return Ok(false);
        };
        let Ok(list) = List::parse(uri, None, token, self.now) else {
            return Ok(false);
        };
        if !self.is_signed(&list) {
            return Err(Fault::Forged.refusal());
        }
        let anchor = proved.and_then(|proved| {
            let anchor = proved.anchor(&self.issuer.did, uri)?;
            Some((anchor, proved.as_of))
        });
        let (as_of, source) = match (anchor, list.issued_at()) {
            (Some((anchor, as_of)), _) if list.digest() == Some(anchor.digest) => {
                (as_of, Source::Registry)
            }
            // The issuer has anchored another list, which may say something else about this credential.
            (Some(_), _) | (None, None) => return Ok(false),
            (None, Some(issued)) => (issued, Source::Signature),
        };
        if self.now.seconds_since(as_of) > self.policy.status.max_age {
            return Ok(false);
        }
        self.judge(&list)?;
        peer.ground("status", as_of, source, self.now);
        peer.ends(as_of.plus(self.policy.status.max_age));
        Ok(true)
    }

    /// Whether a fetched list says that the credential is valid. False if none was fetched yet.
    pub(super) fn is_gathered(
        &self,
        evidence: &HandshakeEvidence,
        peer: &mut Peer,
    ) -> Result<bool, Refusal> {
        let Some(found) = evidence.status_list(&self.reference.uri) else {
            return Ok(false);
        };
        let list = found.value.as_ref().map_err(|_| UNKNOWN)?;
        if !self.is_signed(list) {
            let reason = "the status list is not signed by the credential's issuer";
            return Err(Refusal::new(Alert::CertificateUnknown, reason));
        }
        let leeway = self.policy.skew;
        let allowed = |limit: u64| found.age(self.now) <= limit.saturating_add(leeway);
        let is_current = list.is_current(self.now, leeway).is_ok();
        if !is_current
            || found.age(self.now) > self.policy.status.max_age
            || !list.ttl().is_none_or(allowed)
        {
            return Err(UNKNOWN);
        }
        self.judge(list)?;
        let Found { as_of, .. } = *found;
        peer.ground("status", as_of, Source::Signature, self.now);
        peer.ends(as_of.plus(self.policy.status.max_age));
        Ok(true)
    }

    /// Whether the credential's own issuer signed the list, and is the one that it names, if it names one.
    fn is_signed(&self, list: &List) -> bool {
        let own = self.issuer.did.as_str();
        let mut keys = self.issuer.keys.iter();
        list.issuer().is_none_or(|issuer| issuer == own)
            && keys.any(|(_, key)| list.verify(key).is_ok())
    }

    fn judge(&self, list: &List) -> Result<(), Refusal> {
        let revoked = |reason| Err(Refusal::new(Alert::CertificateRevoked, reason));
        match list.status(self.reference).map_err(|_| UNKNOWN)? {
            Value::Valid => Ok(()),
            Value::Invalid => revoked("the credential is revoked"),
            Value::Suspended => revoked("the credential is suspended"),
            Value::Other(_) => Err(UNKNOWN),
        }
    }
}

pub(super) const UNKNOWN: Refusal = Refusal::new(
    Alert::CertificateUnknown,
    "it is unknown whether the credential was revoked",
);
