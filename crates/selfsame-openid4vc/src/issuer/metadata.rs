//! Builds the issuer's metadata documents and checks them before they are published (OpenID4VCI 1.0 §12.2).

use std::collections::BTreeMap;

use selfsame_attestation::key::{KeyRequirements, PROOF_TYPE as ATTESTATION};
use selfsame_credential::Format;
use selfsame_credential::format::{Profile, cwt, ldp_vc};
use selfsame_crypto::Algorithm;
use selfsame_oauth::ServerMetadata;
use serde_json::{Value, json};
use url::Url;

use crate::{
    error::Error,
    wire::{
        credential::EndpointEncryption,
        encryption::{ALG, enc_values},
        metadata::{
            Batch, Configuration, ConfigurationEntry, CredentialDefinition, CredentialMetadata,
            Display, IssuerMetadata, JWT, ProofType, RequestEncryption, ResponseEncryption,
        },
    },
};

/// The issuer's identifier, its endpoints and the credentials it issues.
#[derive(Clone, Debug)]
pub struct IssuerDescription {
    /// The credential issuer identifier.
    pub identifier: String,
    /// The authorization server that people sign in at, beside the issuer's own.
    pub sign_in: Option<String>,
    /// The token endpoint.
    pub token_endpoint: Url,
    /// The nonce endpoint.
    pub nonce_endpoint: Url,
    /// The credential endpoint.
    pub credential_endpoint: Url,
    /// The deferred credential endpoint, if a credential may take its time.
    pub deferred_credential_endpoint: Option<Url>,
    /// The notification endpoint, if wallets are to say what became of credentials.
    pub notification_endpoint: Option<Url>,
    /// How the credential endpoint encrypts messages; `None` if it does not.
    pub encryption: Option<EndpointEncryption>,
    /// Maximum number of proofs in one request.
    pub batch_size: u32,
    /// The issuer's name and appearance, one entry per language.
    pub display: Vec<Display>,
    /// The credentials, by configuration identifier.
    pub credentials: BTreeMap<String, Offering>,
}

/// A credential that the issuer issues.
#[derive(Clone, Debug)]
pub struct Offering {
    /// The credential format.
    pub format: Format,
    /// The scope by which people who signed in get it.
    pub scope: Option<String>,
    /// The type of an SD-JWT VC.
    pub vct: Option<String>,
    /// The document type of an mdoc.
    pub doctype: Option<String>,
    /// The types of a W3C or compact credential.
    pub types: Vec<String>,
    /// The contexts of a W3C credential, where they expand its types.
    pub contexts: Vec<Value>,
    /// The DID of the issuer, for a format whose credentials do not name it.
    pub issuer: Option<String>,
    /// The algorithms that the credential may be signed with.
    pub signing_algorithms: Vec<Algorithm>,
    /// The binding methods; empty for a credential without holder binding.
    pub binding_methods: Vec<String>,
    /// The algorithms that key proofs may be signed with.
    pub proof_algorithms: Vec<Algorithm>,
    /// How keys must be attested; `None` if they need not be.
    pub key_attestations: Option<KeyRequirements>,
    /// Display metadata.
    pub metadata: CredentialMetadata,
}

/// Builds the metadata. Metadata that breaks a rule of the specification is refused here, before wallets read it.
pub fn build(description: &IssuerDescription) -> Result<IssuerMetadata, Error> {
    let entries = description.credentials.iter().map(|(id, offering)| {
        let configuration = configuration(offering);
        configuration
            .check()
            .map_err(|problem| Error::Setup(format!("{id}: {problem}")))?;
        Ok((
            id.clone(),
            ConfigurationEntry::Known(Box::new(configuration)),
        ))
    });
    let metadata = IssuerMetadata {
        credential_issuer: description.identifier.clone(),
        // The issuer's own first: some wallets use no other.
        authorization_servers: description
            .sign_in
            .as_ref()
            .map(|server| vec![description.identifier.clone(), server.clone()]),
        credential_endpoint: description.credential_endpoint.clone(),
        nonce_endpoint: Some(description.nonce_endpoint.clone()),
        deferred_credential_endpoint: description.deferred_credential_endpoint.clone(),
        notification_endpoint: description.notification_endpoint.clone(),
        credential_request_encryption: description
            .encryption
            .as_ref()
            .map(request_encryption)
            .transpose()?,
        credential_response_encryption: description.encryption.as_ref().map(response_encryption),
        batch_credential_issuance: (description.batch_size > 1).then_some(Batch {
            batch_size: description.batch_size,
        }),
        display: description.display.clone(),
        credential_configurations_supported: entries.collect::<Result<_, Error>>()?,
    };
    metadata
        .check()
        .map_err(|problem| Error::Setup(problem.to_string()))?;
    Ok(metadata)
}

fn request_encryption(encryption: &EndpointEncryption) -> Result<Box<RequestEncryption>, Error> {
    Ok(Box::new(RequestEncryption {
        jwks: json!({"keys": [encryption.key.jwk()?]}),
        enc_values_supported: enc_values(),
        encryption_required: encryption.required,
    }))
}

fn response_encryption(encryption: &EndpointEncryption) -> Box<ResponseEncryption> {
    Box::new(ResponseEncryption {
        alg_values_supported: vec![ALG.to_owned()],
        enc_values_supported: enc_values(),
        encryption_required: encryption.required,
    })
}

/// The metadata of the authorization server that is part of the issuer.
pub fn server(description: &IssuerDescription) -> ServerMetadata {
    ServerMetadata::pre_authorized(&description.identifier, description.token_endpoint.clone())
}

fn configuration(offering: &Offering) -> Configuration {
    let profile = offering.format.describe().profile;
    // Credentials use one name per algorithm in their headers, so that name is listed. Proofs may use any name of their
    // algorithm, so every name is listed.
    let signed = match profile {
        Profile::Mdoc => {
            let numbers = offering.signing_algorithms.iter();
            listed(numbers.flat_map(|one| one.cose_numbers()).copied())
        }
        Profile::Compact => listed(cwt::numbers(&offering.signing_algorithms)),
        // §A.1.2: the cryptosuites.
        Profile::DataIntegrity => {
            let algorithms = offering.signing_algorithms.iter();
            let suites = algorithms.filter_map(|one| ldp_vc::suite_for(*one, None));
            listed(suites.map(|suite| suite.name()))
        }
        Profile::SdJwtVc | Profile::W3c => {
            listed(offering.signing_algorithms.iter().map(|one| one.as_str()))
        }
    };
    let taken = offering.proof_algorithms.iter();
    let taken = taken.flat_map(|algorithm| algorithm.names().map(Value::from));
    let bound = !offering.binding_methods.is_empty();
    let proof = ProofType {
        proof_signing_alg_values_supported: taken.collect(),
        key_attestations_required: offering.key_attestations.as_ref().map(|one| json!(one)),
    };
    // An attestation alone is a proof where one is required (Appendix F.3).
    let alone = offering.key_attestations.as_ref().map(|_| ATTESTATION);
    let kinds = [JWT].into_iter().chain(alone);
    let proofs: BTreeMap<_, _> = kinds.map(|kind| (kind.to_owned(), proof.clone())).collect();
    let has_vct = profile == Profile::SdJwtVc;
    let is_mdoc = profile == Profile::Mdoc;
    Configuration {
        format: offering.format.as_str().to_owned(),
        scope: offering.scope.clone(),
        credential_signing_alg_values_supported: Some(signed),
        cryptographic_binding_methods_supported: bound.then(|| offering.binding_methods.clone()),
        proof_types_supported: bound.then_some(proofs),
        doctype: offering.doctype.clone().filter(|_| is_mdoc),
        vct: offering.vct.clone().filter(|_| has_vct),
        credential_definition: (!has_vct && !is_mdoc).then(|| CredentialDefinition {
            contexts: (profile == Profile::DataIntegrity).then(|| offering.contexts.clone()),
            types: offering.types.clone(),
        }),
        credential_metadata: (offering.metadata != CredentialMetadata::default())
            .then(|| offering.metadata.clone()),
        issuer: offering.issuer.clone(),
    }
}

fn listed(names: impl IntoIterator<Item = impl Into<Value>>) -> Vec<Value> {
    names.into_iter().map(Into::into).collect()
}
