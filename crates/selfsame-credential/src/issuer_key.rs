//! The key that an issuer (or a holder with a DID) signs with: a pure decision from evidence.

mod did;
mod metadata;
mod x509;

use selfsame_crypto::{PublicKey, jws, time::UnixTime};
use selfsame_did::{Did, Relationship};

pub(crate) use self::x509::Leaf;
use crate::{
    evidence::{Evidence, Need},
    verdict::{Policy, Trust},
};

/// The stated signer of a token, and what its header says about the key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claimed<'a> {
    /// The token's header.
    pub header: &'a jws::Header,
    /// The signer's identifier, if it is stated.
    pub id: Option<&'a str>,
    /// The purpose that the key must have, if it is in a DID document.
    pub relationship: Relationship,
    /// Whether a DID document may name the key.
    pub dids_allowed: bool,
    /// Whether nothing but a certificate in the header may name the key.
    pub certificates_alone: bool,
    /// The trust anchors for certificate chains.
    pub roots: Roots<'a>,
}

impl<'a> Claimed<'a> {
    /// A signer whose keys come from the document of its DID, never from certificates.
    pub fn of_did(header: &'a jws::Header, did: &'a str, relationship: Relationship) -> Self {
        Self {
            header,
            id: Some(did),
            relationship,
            dids_allowed: true,
            certificates_alone: false,
            roots: Roots {
                anchors: &[],
                now: UnixTime(0),
            },
        }
    }
}

/// The trust anchors of certificate chains, and the time at which chains are verified.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Roots<'a> {
    /// Certificates, DER.
    pub anchors: &'a [Vec<u8>],
    /// The time of the verification.
    pub now: UnixTime,
}

/// The result of looking for a key.
#[derive(Debug)]
pub(crate) enum Finding {
    /// The key, named by the signer's DID document or metadata.
    Key(Box<PublicKey>),
    /// A certificate chain, not yet verified up to an anchor.
    Chain(Box<Leaf>),
    /// Evidence that is still needed.
    Missing(Need),
    /// Evidence that is unavailable.
    Unavailable(String),
    /// The evidence contradicts the signer.
    Refused(&'static str),
}

impl Finding {
    fn is_anchored(&self, roots: Roots<'_>) -> bool {
        matches!(self, Self::Chain(leaf) if leaf.anchored(roots.anchors, roots.now).is_ok())
    }

    /// The fetched evidence does not name the key. It is fetched again if it may be outdated, since issuers add keys.
    fn or_ask_again(self, need: Need, fetched_at: UnixTime, evidence: &Evidence) -> Self {
        match self {
            Self::Refused(_) if evidence.is_to_be_asked_again(&need, fetched_at) => {
                Self::Missing(need)
            }
            finding => finding,
        }
    }
}

/// Looks for the key that `claimed` names. The keys of a DID are those in its document, so no certificate authority can
/// certify a key for one. Otherwise the certificate chain in the header is tried first: it can't be there by accident
/// (SD-JWT VC §2.5).
pub(crate) fn find(claimed: &Claimed<'_>, evidence: &Evidence) -> Finding {
    let header = claimed.header;
    let is_did = claimed.id.is_some_and(|id| id.starts_with("did:"));
    if is_did && (header.x5c.is_some() || header.jwk.is_some()) {
        return Finding::Refused("a DID's key must be in its document, not in the header");
    }
    if header.x5c.is_some() {
        return certified(claimed, evidence);
    }
    match claimed.id {
        None => Finding::Refused("the token names neither its issuer nor a certificate chain"),
        Some(_) if claimed.certificates_alone => {
            Finding::Refused("the policy wants a certificate of the issuer in the header (x5c)")
        }
        Some(id) if is_did => match Did::parse(id) {
            Ok(_) if !claimed.dids_allowed => {
                Finding::Refused("the policy accepts no issuer keys from DID documents here")
            }
            Ok(did) => did::find(claimed, &did, evidence),
            Err(_) => Finding::Refused("the issuer is not a valid DID"),
        },
        Some(id) => metadata::find(claimed, id, evidence),
    }
}

/// One permitted mechanism is enough (SD-JWT VC §2.5). If the chain leads to no anchor or names another issuer, the
/// issuer's metadata may have the key that `kid` names, and is then used as if there were no chain. If the metadata has
/// no such key, the chain is verified.
fn certified(claimed: &Claimed<'_>, evidence: &Evidence) -> Finding {
    let by_chain = x509::find(claimed);
    let is_elsewhere = claimed.header.kid.is_some() && !claimed.certificates_alone;
    let named = claimed.id.filter(|_| is_elsewhere);
    let Some(id) = named.filter(|_| !by_chain.is_anchored(claimed.roots)) else {
        return by_chain;
    };
    match (metadata::find(claimed, id, evidence), by_chain) {
        (found @ (Finding::Key(_) | Finding::Missing(_)), _)
        | (found @ Finding::Unavailable(_), Finding::Refused(_)) => found,
        (_, by_chain) => by_chain,
    }
}

/// Why the certificate in the header was ignored, if there is one.
pub(crate) fn passed_over(claimed: &Claimed<'_>) -> Option<&'static str> {
    claimed.header.x5c.as_ref()?;
    Some(match x509::find(claimed) {
        Finding::Refused(reason) => reason,
        _ => "the certificate leads to no trust anchor",
    })
}

/// The issuer of a token, as far as it was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IssuerIdentity<'a> {
    /// The identifier that it states.
    pub id: Option<&'a str>,
    /// The certificate that its key comes from.
    pub leaf: Option<&'a Leaf>,
}

impl IssuerIdentity<'_> {
    /// Whether the policy trusts this issuer. One that states no identifier is the subject of its
    /// certificate (SD-JWT VC §2.5) and listed by `x509_hash:` or `x509_san_dns:`.
    pub fn is_trusted(&self, policy: &Policy) -> bool {
        policy.trusted_issuers == Trust::Any || self.is_listed(policy)
    }

    /// Whether the policy names this issuer.
    pub fn is_listed(&self, policy: &Policy) -> bool {
        match &policy.trusted_issuers {
            Trust::Listed(listed) => self.is_among(listed),
            Trust::Any => false,
        }
    }

    /// Whether one of these names is its name.
    pub fn is_among(&self, listed: &[String]) -> bool {
        match (self.id, self.leaf) {
            (Some(id), _) => listed.iter().any(|entry| entry == id),
            (None, Some(leaf)) => listed.iter().any(|entry| leaf.is_named(entry)),
            (None, None) => false,
        }
    }

    /// Whether its certificate, if its key comes from one, leads to an anchor of the policy: otherwise anyone may have
    /// made it.
    pub fn is_anchored(&self, policy: &Policy, now: UnixTime) -> bool {
        let anchors = &policy.trust_anchors;
        self.leaf
            .is_none_or(|leaf| leaf.anchored(anchors, now).is_ok())
    }

    /// Whether both are one issuer.
    pub fn is(&self, other: &IssuerIdentity<'_>) -> bool {
        match (self.id, other.id) {
            (Some(one), Some(two)) => one == two,
            (None, None) => match (self.leaf, other.leaf) {
                (Some(one), Some(two)) => one.is_same(two),
                _ => false,
            },
            _ => false,
        }
    }
}
