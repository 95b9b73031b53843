//! Authenticates the verifier by the prefix of its client identifier (OpenID4VP 1.0 §5.9.3).

use selfsame_credential::evidence::{Evidence, Need, Step};
use selfsame_crypto::{
    PublicKey,
    jws::Compact,
    time::UnixTime,
    x509::{Chain, X509Error},
};
use selfsame_did::{Did, DidUrl, Relationship};

use crate::{
    error::Error,
    transport::Transport,
    wire::{
        request::ClientId, transaction::TransactionType, verifier_attestation::VerifierAttestation,
    },
};

/// Tolerated clock difference, in seconds.
pub(super) const LEEWAY: u64 = 60;

/// What the wallet trusts.
#[derive(Clone, Copy, Debug)]
pub struct WalletTrust<'a> {
    /// The rule for which URLs may be used.
    pub transport: &'a Transport,
    /// Trusted roots for verifiers' certificates, DER.
    pub anchors: &'a [Vec<u8>],
    /// The types of transactions that people can be shown.
    pub transactions: &'a [TransactionType],
}

/// Verifies the signature of a request object by the key that its client identifier leads to.
pub(super) fn authenticate(
    client: &ClientId,
    object: &Compact,
    trust: &WalletTrust<'_>,
    evidence: &Evidence,
    now: UnixTime,
) -> Result<Step<()>, Error> {
    match trusted_key(client, object, trust, &KnownNow { evidence, now })? {
        Step::Needs(needs) => Ok(Step::Needs(needs)),
        Step::Done(key) => object
            .verify(&key)
            .map(Step::Done)
            .map_err(|_| Error::invalid_request("the request object's signature does not verify")),
    }
}

/// What is known when a request is read.
#[derive(Clone, Copy, Debug)]
pub struct KnownNow<'a> {
    /// What was fetched for it.
    pub evidence: &'a Evidence,
    /// The time.
    pub now: UnixTime,
}

/// The key of the verifier with this client identifier, which the header of a request object leads to. The signature is
/// not verified yet.
///
/// # Errors
/// `invalid_request` if the key can't be found, or nobody whom the wallet trusts vouches for it.
pub fn trusted_key(
    client: &ClientId,
    object: &Compact,
    trust: &WalletTrust<'_>,
    known: &KnownNow<'_>,
) -> Result<Step<PublicKey>, Error> {
    let KnownNow { evidence, now } = *known;
    let key = match client {
        ClientId::RedirectUri(_) => {
            let reason = "a request of this client identifier prefix cannot be signed";
            return Err(Error::invalid_request(reason));
        }
        ClientId::DecentralizedIdentifier(did) => match key_of_did(did, object, evidence)? {
            Step::Needs(needs) => return Ok(Step::Needs(needs)),
            Step::Done(key) => key,
        },
        ClientId::X509SanDns(name) => {
            let chain = chain(object, trust, now)?;
            if !chain.has_dns_name(name) {
                let reason = format!("the verifier's certificate is not for the name {name}");
                return Err(Error::invalid_request(reason));
            }
            chain.leaf_public_key().clone()
        }
        ClientId::X509Hash(hash) => {
            let chain = chain(object, trust, now)?;
            if chain.leaf_sha256() != *hash {
                let reason =
                    "the verifier's certificate has another hash than the client identifier";
                return Err(Error::invalid_request(reason));
            }
            chain.leaf_public_key().clone()
        }
        ClientId::VerifierAttestation(name) => {
            VerifierAttestation::of_object(name, object, trust.anchors, now)?.key
        }
    };
    Ok(Step::Done(key))
}

// The key is one of the DID's verification methods; `kid` names it.
fn key_of_did(did: &Did, object: &Compact, evidence: &Evidence) -> Result<Step<PublicKey>, Error> {
    let refuse = Error::invalid_request;
    let kid = object
        .header
        .kid
        .as_deref()
        .ok_or_else(|| refuse("the request object has no kid"))?;
    let url =
        DidUrl::parse(kid).map_err(|_| refuse("the request object's kid is not a DID URL"))?;
    if url.did != *did {
        return Err(refuse(
            "the request object's kid is of another DID than the client's",
        ));
    }
    let Some(fetched) = evidence.did(did) else {
        return Ok(Step::Needs(vec![Need::Did(did.clone())]));
    };
    // A deactivated DID no longer has a document.
    let resolution = fetched.value.as_ref().ok();
    let document = resolution
        .and_then(|resolution| resolution.document_of(did).ok())
        .ok_or_else(|| refuse("the verifier's DID cannot be resolved, or is deactivated"))?;
    document
        .key(&url, Relationship::Authentication)
        .or_else(|_| document.key(&url, Relationship::AssertionMethod))
        .map(Step::Done)
        .map_err(|_| refuse("the request object's kid is not a signing key of the verifier's DID"))
}

/// The DNS name that the certificate of a request object states; the chain was verified.
pub(super) fn certified_name(object: &Compact) -> Option<String> {
    let chain = Chain::parse(object.header.x5c.as_deref()?).ok()?;
    chain.dns_name()
}

// The chain must lead to a trusted root.
fn chain(object: &Compact, trust: &WalletTrust<'_>, now: UnixTime) -> Result<Chain, Error> {
    let refuse = |reason: &str| Error::invalid_request(reason);
    // The reason is shown to the person; in most cases the verifier is the one that can act on it.
    let because = |what: &str, why: X509Error| Error::invalid_request(format!("{what}: {why}"));
    let x5c = object
        .header
        .x5c
        .as_deref()
        .ok_or_else(|| refuse("the request object has no x5c"))?;
    let chain = Chain::parse(x5c)
        .map_err(|error| because("the request object's x5c can't be read", error))?;
    chain
        .verify(trust.anchors, now)
        .map_err(|error| because("the verifier's certificate is not trusted here", error))?;
    Ok(chain)
}
