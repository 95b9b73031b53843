//! What a wallet keeps: SD-JWT VCs that their issuers signed.

use serde_json::Value;

use crate::HaipRule;
use crate::certified::is_chain;

/// An SD-JWT VC.
#[derive(Clone, Copy, Debug)]
pub struct SdJwtVcFacts<'a> {
    /// The certificates of its issuer (DER), from its header.
    pub x5c: &'a [Vec<u8>],
    /// The anchors that are trusted for them (DER).
    pub anchors: &'a [Vec<u8>],
    /// What the issuer signed.
    pub claims: &'a Value,
}

impl SdJwtVcFacts<'_> {
    /// The first rule that the credential breaks.
    #[must_use]
    pub fn broken(&self) -> Option<HaipRule> {
        let lacks = |member: &str, inner: &str| {
            let found = self.claims.get(member);
            found.is_some_and(|found| found.get(inner).is_none())
        };
        if !is_chain(self.x5c, self.anchors) {
            return Some(HaipRule::ISSUER_CHAIN);
        }
        if lacks("cnf", "jwk") {
            return Some(HaipRule::BOUND_KEY);
        }
        lacks("status", "status_list").then_some(HaipRule::STATUS_LIST)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::sample::Authority;

    #[test]
    fn an_sd_jwt_vc_has_its_issuers_certificates_its_holders_key_and_a_status_list() {
        let authority = Authority::new("An authority");
        let (x5c, anchors) = (
            [authority.leaf("An issuer")],
            [authority.certificate.clone()],
        );
        let broken = |x5c: &[Vec<u8>], claims: Value| {
            let facts = SdJwtVcFacts {
                x5c,
                anchors: &anchors,
                claims: &claims,
            };
            facts.broken()
        };
        let whole = json!({"cnf": {"jwk": {}}, "status": {"status_list": {}}});
        assert_eq!(broken(&x5c, whole.clone()), None);
        assert_eq!(broken(&x5c, json!({})), None);
        assert_eq!(broken(&[], whole.clone()), Some(HaipRule::ISSUER_CHAIN));
        assert_eq!(broken(&anchors, whole), Some(HaipRule::ISSUER_CHAIN));
        let by_kid = json!({"cnf": {"kid": "did:example:1#k"}});
        assert_eq!(broken(&x5c, by_kid), Some(HaipRule::BOUND_KEY));
        let other = json!({"status": {"other": {}}});
        assert_eq!(broken(&x5c, other), Some(HaipRule::STATUS_LIST));
    }
}
