//! The issuer's public documents.

use std::collections::BTreeMap;
use std::sync::Arc;

use selfsame_core::identity::Identity;
use selfsame_core::organisation::look::OrganisationLook;
use selfsame_credential::Format;
use selfsame_credential::format::Profile;
use selfsame_crypto::{Algorithm, json};
use selfsame_did::method::{METHODS, Method};
use selfsame_driver::record::encode;
use selfsame_driver::{Error, Result};
use selfsame_oauth::{ServerMetadata, dpop};
use selfsame_openid4vc::issuer::metadata::{IssuerDescription, Offering, build, server};
use selfsame_openid4vc::wire::credential::EndpointEncryption;
use selfsame_openid4vc::wire::metadata::{COSE_KEY, Display, Image, IssuerMetadata, JWK};
use selfsame_types::CredentialType;
use selfsame_types::color::readable_on;
use selfsame_types::project::credential_metadata;
use serde_json::{Value, json as object};

use super::signing::{CredentialKind, published_key, signatory};
use crate::config::{IssuerConfig, WantedApproval};
use crate::context::Context;
use crate::refusal::refusal;
use crate::view::documents::Published;

/// How an issuer shows itself, and how its credential endpoint encrypts messages.
pub(super) struct IssuerFace {
    pub display: Display,
    pub encryption: Option<EndpointEncryption>,
}

/// The documents before they are encoded.
pub(super) struct MadeDocuments {
    pub issuer: IssuerMetadata,
    server: ServerMetadata,
    jwt_vc_issuer: Value,
}

impl MadeDocuments {
    /// The documents of this configuration, this face of the issuer, and these types.
    ///
    /// # Errors
    /// If they break a rule of the specification.
    pub fn new(
        context: &Context,
        face: IssuerFace,
        identity: &Identity,
        types: &[Arc<CredentialType>],
    ) -> Result<Self> {
        let config = &context.config.issuer;
        let identifier = context.organisation.identifier.clone();
        let endpoint = |path: &str| context.organisation.url(path);
        let description = IssuerDescription {
            identifier: identifier.clone(),
            sign_in: context.sign_in()?,
            token_endpoint: endpoint("issuer/token")?,
            nonce_endpoint: endpoint("issuer/nonce")?,
            credential_endpoint: endpoint("issuer/credential")?,
            deferred_credential_endpoint: match config.approval {
                WantedApproval::Off => None,
                _ => Some(endpoint("issuer/deferred")?),
            },
            notification_endpoint: match config.notifications {
                true => Some(endpoint("issuer/notification")?),
                false => None,
            },
            batch_size: u32::try_from(config.batch_size).unwrap_or(1),
            encryption: face.encryption,
            display: vec![face.display],
            credentials: offerings(context, identity, types)?,
        };
        let key = published_key(context, identity);
        let challenge = endpoint("issuer/challenge")?;
        Ok(Self {
            issuer: build(&description).map_err(refusal)?,
            server: context
                .gate
                .described(server_of(config, &description), challenge),
            jwt_vc_issuer: object!({"issuer": identifier, "jwks": {"keys": [key.to_value()]}}),
        })
    }

    /// The documents as they are published.
    ///
    /// # Errors
    /// `Internal` if one cannot be JSON.
    pub fn published(&self) -> Result<Published> {
        Ok(Published {
            issuer: encode(&self.issuer)?.into(),
            server: encode(&self.server)?.into(),
            jwt_vc_issuer: encode(&self.jwt_vc_issuer)?.into(),
        })
    }
}

/// The metadata of the issuer's own authorization server.
fn server_of(config: &IssuerConfig, description: &IssuerDescription) -> ServerMetadata {
    let names = dpop::ALGORITHMS.iter();
    let names = names.map(|algorithm| algorithm.as_str().to_owned());
    ServerMetadata {
        dpop_signing_alg_values_supported: match config.binds_tokens() {
            true => names.collect(),
            false => Vec::new(),
        },
        ..server(description)
    }
}

/// An issuer's display in its metadata (OpenID4VCI 1.0 §12.2.4: `name` and `logo`; the list of members is open, so that
/// its colours have the names that those of credentials have).
pub(super) fn display(context: &Context, title: &str, look: &OrganisationLook) -> Result<Display> {
    let logo = look.logo_url(&context.organisation)?;
    let text = look.colour.as_deref().and_then(readable_on);
    Ok(Display {
        name: Some(title.to_owned()),
        logo: logo.map(|uri| Image {
            uri: uri.into(),
            alt_text: Some(title.to_owned()),
        }),
        background_color: look.colour.clone(),
        text_color: text.map(str::to_owned),
        ..Display::default()
    })
}

fn offerings(
    context: &Context,
    identity: &Identity,
    types: &[Arc<CredentialType>],
) -> Result<BTreeMap<String, Offering>> {
    let mut offerings = BTreeMap::new();
    for one in types.iter().filter(|one| context.issues(one)) {
        let formats = context.formats();
        for format in formats.filter(|format| one.is_issued_as(*format)) {
            let kind = CredentialKind::of(format);
            let names_none = format.describe().is_for_machines;
            let issuer = names_none.then(|| signatory(context, identity, kind).issuer);
            let offering = Offering {
                issuer,
                ..offering(context, one, format)?
            };
            offerings.insert(one.configuration_id(format), offering);
        }
    }
    Ok(offerings)
}

fn offering(context: &Context, one: &CredentialType, format: Format) -> Result<Offering> {
    let addresses = one.addresses(&context.organisation.base)?;
    let is_mdoc = format.describe().profile == Profile::Mdoc;
    let mut algorithms = vec![Algorithm::Es256];
    // Document signers and devices have keys on P-256.
    algorithms.extend((!is_mdoc).then_some(Algorithm::EdDsa));
    // A W3C credential names its subject by a DID, so these come first: some wallets use the first they know.
    let dids = METHODS
        .iter()
        .filter(|method| format.describe().binds_to_did && method.origin.is_resolved_here());
    let mut binding_methods: Vec<String> = dids.map(Method::scheme).collect();
    let bare = if is_mdoc { COSE_KEY } else { JWK };
    binding_methods.push(bare.to_owned());
    Ok(Offering {
        format,
        scope: context.is_by_sign_in(one).then(|| one.id.clone()),
        doctype: one.doctype.clone(),
        vct: Some(one.vct.clone()),
        types: one.w3c_types(),
        contexts: match format.describe().profile {
            Profile::DataIntegrity => one.linked_contexts().into(),
            _ => Vec::new(),
        },
        issuer: None,
        signing_algorithms: algorithms.clone(),
        binding_methods,
        proof_algorithms: algorithms,
        key_attestations: context.config.issuer.attestation.keys_of(&one.id),
        metadata: json::value_as(credential_metadata(one, format, &addresses)?)
            .map_err(Error::internal)?,
    })
}
