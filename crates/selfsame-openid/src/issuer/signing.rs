//! The identifier and key that the issuer signs with: both its credentials and their status lists.

use selfsame_credential::{Format, Signer};
use selfsame_crypto::{Jwk, encoding};
use serde_json::{Map, Value};

use crate::config::IdentifyBy;
use crate::context::Context;
use selfsame_core::identity::{Identity, kid_of};

/// The signer of a credential.
pub(super) struct Signatory {
    /// The issuer's identifier in the signed credential or list.
    pub issuer: String,
    /// The key, and how verifiers find it.
    pub signer: Signer,
}

/// The kind of credential to sign.
#[derive(Clone, Copy, Debug)]
pub struct CredentialKind {
    /// The credential's format.
    pub format: Format,
    /// Whether it carries a handle for a single use.
    pub has_handle: bool,
}

impl CredentialKind {
    /// A credential of this format without a handle.
    #[must_use]
    pub fn of(format: Format) -> Self {
        Self {
            format,
            has_handle: false,
        }
    }

    /// A credential of this format, with a handle where possible: the format must be able to hide the handle until it
    /// is used, and the issuer's name must lead to the registry.
    pub(super) fn for_one_use(context: &Context, identity: &Identity, format: Format) -> Self {
        Self {
            format,
            has_handle: format.describe().discloses_selectively
                && context.config.issuer.identify_by == IdentifyBy::Did
                && identity.did().origin().is_registry(),
        }
    }
}

/// The signatory of credentials of this kind and of the lists they refer to. For SD-JWT VCs the configuration decides;
/// the other formats always use the DID, since VC-JOSE-COSE §4 knows neither certificates nor the metadata of SD-JWT VC.
pub(super) fn signatory(context: &Context, identity: &Identity, kind: CredentialKind) -> Signatory {
    let by_did = || match identity.portable() {
        Some(portable) if !kind.has_handle => Signatory {
            issuer: portable.as_str().to_owned(),
            signer: Signer::with_kid(
                identity.key().clone(),
                identity.algorithm(),
                kid_of(portable),
            ),
        },
        _ => by_own_did(identity),
    };
    match (
        kind.format.describe().issuer_needs_did,
        context.config.issuer.identify_by,
        &context.issuer_certificate,
    ) {
        (false, IdentifyBy::X5c, Some(certificate)) => Signatory {
            issuer: certificate.name.clone(),
            signer: certificate.signer.clone(),
        },
        (false, IdentifyBy::Metadata, _) => Signatory {
            issuer: context.organisation.identifier.clone(),
            signer: Signer::with_kid(
                identity.key().clone(),
                identity.algorithm(),
                published_kid(identity),
            ),
        },
        // An instance configured to sign SD-JWT VCs by certificate does not start without one.
        (false, IdentifyBy::Did | IdentifyBy::X5c, _) | (true, ..) => by_did(),
    }
}

/// The signatory that the registry knows: the issuer's own DID.
pub(super) fn by_own_did(identity: &Identity) -> Signatory {
    Signatory {
        issuer: identity.did().as_str().to_owned(),
        signer: Signer::with_kid(identity.key().clone(), identity.algorithm(), identity.kid()),
    }
}

/// The key that the issuer's metadata publishes: the one that signs its SD-JWT VCs.
pub(super) fn published_key(context: &Context, identity: &Identity) -> Jwk {
    match &context.issuer_certificate {
        Some(certificate) => certificate
            .public
            .to_jwk()
            .with_kid(certificate.signer.key.as_str()),
        None => identity.public().to_jwk().with_kid(published_kid(identity)),
    }
}

fn published_kid(identity: &Identity) -> &str {
    identity.kid().rsplit('#').next().unwrap_or_default()
}

/// The header members that identify the key of a status list.
pub(super) fn header(signer: &Signer) -> Map<String, Value> {
    let mut header = Map::new();
    header.insert("alg".to_owned(), signer.algorithm.as_str().into());
    if let Some(kid) = &signer.kid {
        header.insert("kid".to_owned(), kid.as_str().into());
    }
    if !signer.x5c.is_empty() {
        let chain = signer
            .x5c
            .iter()
            .map(|der| Value::from(encoding::base64_encode(der)));
        header.insert("x5c".to_owned(), chain.collect());
    }
    header
}
