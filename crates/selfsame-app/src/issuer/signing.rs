//! In whose name, and with which key, the issuer signs: its credentials and their status lists alike.

use selfsame_credential::{Format, Signer};
use selfsame_crypto::{Jwk, encoding};
use serde_json::{Map, Value};

use super::metadata;
use crate::config::IdentifyBy;
use crate::identity::Identity;
use crate::shared::Shared;

/// Who signs.
pub(super) struct Signatory {
    /// The issuer's identifier in what is signed.
    pub issuer: String,
    /// The key, and how verifiers find it.
    pub signer: Signer,
}

/// Who signs credentials of this format, and the lists that they refer to. SD-JWT VCs go by the configuration; the
/// W3C formats always by DID, since VC-JOSE-COSE §4 knows neither certificates nor the metadata of SD-JWT VC.
pub(super) fn signatory(shared: &Shared, identity: &Identity, format: Format) -> Signatory {
    let by_did = || Signatory {
        issuer: identity.did().as_str().to_owned(),
        signer: Signer::with_kid(identity.key().clone(), identity.algorithm(), identity.kid()),
    };
    match (
        format,
        shared.config.issuer.identify_by,
        &shared.issuer_certificate,
    ) {
        (Format::SdJwtVc, IdentifyBy::X5c, Some(certificate)) => Signatory {
            issuer: certificate.name.clone(),
            signer: certificate.signer.clone(),
        },
        (Format::SdJwtVc, IdentifyBy::Metadata, _) => Signatory {
            issuer: metadata::identifier(&shared.config.origin),
            signer: Signer::with_kid(
                identity.key().clone(),
                identity.algorithm(),
                published_kid(identity),
            ),
        },
        // An instance whose SD-JWT VCs go by certificate does not start without one.
        (Format::SdJwtVc, IdentifyBy::Did | IdentifyBy::X5c, _)
        | (Format::JwtVcJson | Format::VcJwt, ..) => by_did(),
    }
}

/// The key that the issuer's metadata publishes: the one that signs its SD-JWT VCs.
pub(super) fn published_key(shared: &Shared, identity: &Identity) -> Jwk {
    match &shared.issuer_certificate {
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

/// What the header of a status list says of its key.
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
