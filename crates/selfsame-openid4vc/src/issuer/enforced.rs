//! What an issuer enforces of the metadata that it publishes.

use std::sync::Arc;

use selfsame_attestation::key::KeyRequirements;
use selfsame_attestation::trust::TrustedAttesters;
use selfsame_credential::Format;
use selfsame_crypto::Algorithm;
use serde_json::Value;

use crate::wire::metadata::{Configuration, ConfigurationEntry, IssuerMetadata, JWT};

/// The part of an issuer's metadata that it enforces itself. A process may hold it for thousands of issuers, so it
/// takes little memory, and what is equal is held once.
#[derive(Clone, Debug)]
pub struct EnforcedMetadata {
    /// The issuer's identifier.
    pub credential_issuer: Box<str>,
    /// Whether proofs need a nonce.
    pub needs_nonces: bool,
    /// Maximum number of proofs in one request.
    pub batch_size: usize,
    /// Those who may attest keys; nobody, unless [`Self::trusting`] says who.
    pub attesters: Arc<TrustedAttesters>,
    /// In the order of their identifiers.
    configurations: Box<[EnforcedConfiguration]>,
}

/// A credential configuration that is enforced.
#[derive(Clone, Debug)]
pub struct EnforcedConfiguration {
    id: Box<str>,
    /// The credential format.
    pub format: Format,
    /// The type of an SD-JWT VC.
    pub vct: Option<Arc<str>>,
    /// The types of a W3C credential, or the document type of an mdoc.
    pub types: Arc<[String]>,
    /// How a key must be proven; `None` for a credential without holder binding.
    pub proofs: Option<Arc<EnforcedProofs>>,
}

/// The requirements for proofs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EnforcedProofs {
    /// The accepted algorithms.
    pub algorithms: Box<[Algorithm]>,
    /// The binding methods: `jwk`, or `did:` with a method name.
    pub methods: Box<[Box<str>]>,
    /// How keys must be attested; `None` if they need not be.
    pub attestation: Option<KeyRequirements>,
}

impl EnforcedMetadata {
    /// What is enforced of this metadata. Configurations in formats that we don't issue are left out.
    #[must_use]
    pub fn of(metadata: &IssuerMetadata) -> Self {
        let mut configurations: Vec<EnforcedConfiguration> = Vec::new();
        for (id, entry) in &metadata.credential_configurations_supported {
            if let ConfigurationEntry::Known(known) = entry
                && let Some(enforced) = EnforcedConfiguration::of(id, known)
            {
                configurations.push(enforced.sharing(&configurations));
            }
        }
        Self {
            credential_issuer: metadata.credential_issuer.as_str().into(),
            needs_nonces: metadata.nonce_endpoint.is_some(),
            batch_size: metadata.batch_size(),
            attesters: Arc::default(),
            configurations: configurations.into(),
        }
    }

    /// With these as those who may attest keys.
    #[must_use]
    pub fn trusting(self, attesters: Arc<TrustedAttesters>) -> Self {
        Self { attesters, ..self }
    }

    /// The configuration with this identifier.
    #[must_use]
    pub fn configuration(&self, id: &str) -> Option<&EnforcedConfiguration> {
        self.configurations.iter().find(|one| &*one.id == id)
    }
}

impl EnforcedConfiguration {
    fn of(id: &str, configuration: &Configuration) -> Option<Self> {
        let format = configuration.known_format()?;
        let definition = configuration.credential_definition.as_ref();
        let types = match (definition, &configuration.doctype) {
            (Some(definition), _) => definition.types.as_slice().into(),
            (None, Some(doctype)) => [doctype.clone()].into(),
            (None, None) => Arc::default(),
        };
        Some(Self {
            id: id.into(),
            format,
            vct: configuration.vct.as_deref().map(Arc::from),
            types,
            proofs: EnforcedProofs::of(configuration).map(Arc::new),
        })
    }

    /// The configuration, which holds what it has in common with others together with them.
    fn sharing(mut self, others: &[Self]) -> Self {
        for other in others {
            share(&mut self.vct, &other.vct);
            share(&mut self.types, &other.types);
            share(&mut self.proofs, &other.proofs);
        }
        self
    }
}

fn share<T: Clone + PartialEq>(own: &mut T, other: &T) {
    if own == other {
        own.clone_from(other);
    }
}

impl EnforcedProofs {
    fn of(configuration: &Configuration) -> Option<Self> {
        let accepted = configuration.proof_types_supported.as_ref()?.get(JWT);
        let named = accepted.map(|proof| &proof.proof_signing_alg_values_supported);
        let named = named.into_iter().flatten().filter_map(Value::as_str);
        let mut algorithms: Vec<Algorithm> = named.filter_map(|name| name.parse().ok()).collect();
        // An algorithm has several names.
        algorithms.dedup();
        let methods = configuration.cryptographic_binding_methods_supported.iter();
        let methods = methods.flatten().map(|method| method.as_str().into());
        let (algorithms, methods) = (algorithms.into(), methods.collect());
        let required = accepted.and_then(|proof| proof.key_attestations_required.as_ref());
        Some(Self {
            algorithms,
            methods,
            attestation: required.map(|one| KeyRequirements::read(one).unwrap_or_default()),
        })
    }
}
