//! The issuer's public documents, built once at the start.

use std::collections::BTreeMap;
use std::sync::Arc;

use selfsame_credential::path::Segment;
use selfsame_credential::{ClaimPath, Format};
use selfsame_crypto::{Algorithm, Jwk};
use selfsame_did::method::{METHODS, Method};
use selfsame_driver::record::encode;
use selfsame_driver::{Error, Result};
use selfsame_oauth::ServerMetadata;
use selfsame_openid4vc::issuer::metadata::{IssuerDescription, Offering, build, server};
use selfsame_openid4vc::wire::metadata::{
    ClaimDescription, CredentialMetadata, Display, IssuerMetadata,
};
use serde_json::{Value, json};

use crate::config::IssuerConfig;
use crate::context::Context;
use crate::refusal::refusal;
use selfsame_core::templates::claim_path;
use selfsame_core::templates::{ClaimField, Template};

/// The documents that the issuer publishes.
pub struct Published {
    /// OpenID4VCI 1.0 §12.2.
    pub issuer: IssuerMetadata,
    /// RFC 8414.
    pub server: ServerMetadata,
    /// SD-JWT VC §5: the key of credentials that name their issuer by URL.
    pub jwt_vc_issuer: Value,
    /// These three documents as they are served.
    pub documents: Documents,
}

/// The issuer's documents as JSON, encoded once.
pub struct Documents {
    /// OpenID4VCI 1.0 §12.2.
    pub issuer: Arc<[u8]>,
    /// RFC 8414.
    pub server: Arc<[u8]>,
    /// SD-JWT VC §5.
    pub jwt_vc_issuer: Arc<[u8]>,
}

impl Published {
    /// The documents of this configuration.
    ///
    /// # Errors
    /// If they break a rule of the specification.
    pub fn new(context: &Context, key: &Jwk) -> Result<Self> {
        let config = &context.config.issuer;
        let identifier = context.organisation.identifier.clone();
        let endpoint = |path: &str| context.organisation.url(path);
        let description = IssuerDescription {
            identifier: identifier.clone(),
            token_endpoint: endpoint("issuer/token")?,
            nonce_endpoint: endpoint("issuer/nonce")?,
            credential_endpoint: endpoint("issuer/credential")?,
            batch_size: u32::try_from(config.batch_size).unwrap_or(1),
            display: vec![Display {
                name: Some(config.name.clone()),
                ..Display::default()
            }],
            credentials: offerings(config)?,
        };
        let issuer = build(&description).map_err(refusal)?;
        let server = server(&description);
        let jwt_vc_issuer = json!({"issuer": identifier, "jwks": {"keys": [key.to_value()]}});
        Ok(Self {
            documents: Documents {
                issuer: encode(&issuer)?.into(),
                server: encode(&server)?.into(),
                jwt_vc_issuer: encode(&jwt_vc_issuer)?.into(),
            },
            issuer,
            server,
            jwt_vc_issuer,
        })
    }
}

/// The ID of a template's configuration in one format.
pub(crate) fn configuration_id(template: &str, format: Format) -> String {
    format!("{template}_{}", format.describe().label)
}

fn offerings(config: &IssuerConfig) -> Result<BTreeMap<String, Offering>> {
    let mut offerings = BTreeMap::new();
    for template in selfsame_core::templates::all() {
        for format in &config.formats {
            offerings.insert(
                configuration_id(&template.id, *format),
                offering(config, template, *format)?,
            );
        }
    }
    Ok(offerings)
}

fn offering(config: &IssuerConfig, template: &Template, format: Format) -> Result<Offering> {
    let algorithms = vec![Algorithm::Es256, Algorithm::EdDsa];
    // A W3C credential names its subject by a DID, so these come first: some wallets use the first they know.
    let dids = METHODS
        .iter()
        .filter(|method| format.describe().binds_to_did && method.origin.is_resolved_here());
    let mut binding_methods: Vec<String> = dids.map(Method::scheme).collect();
    binding_methods.push("jwk".to_owned());
    let claims = template
        .claims
        .iter()
        .map(|field| {
            Ok(ClaimDescription {
                path: claim_path(&field.path, format)?,
                mandatory: field.mandatory,
                display: field
                    .label
                    .iter()
                    .map(|(locale, name)| Display {
                        name: Some(name.clone()),
                        locale: Some(locale.clone()),
                        ..Display::default()
                    })
                    .collect(),
            })
        })
        .collect::<Result<_>>()?;
    Ok(Offering {
        format,
        vct: Some(template.vct(&config.vct_base)),
        types: template.types.clone(),
        signing_algorithms: algorithms.clone(),
        binding_methods,
        proof_algorithms: algorithms,
        metadata: CredentialMetadata {
            display: vec![Display {
                name: Some(format!("{} {}", template.icon, template.title)),
                locale: Some("en".to_owned()),
                description: Some(template.description.clone()),
                background_color: Some(template.color.clone()),
                ..Display::default()
            }],
            claims,
        },
    })
}

/// What a holder may withhold of a template's claim: the claim, and each element of a list with independent elements. A
/// path to a claim that a credential does not have hides nothing.
pub(super) fn disclosable(field: &ClaimField) -> Result<Vec<ClaimPath>> {
    // Where claims are disclosed one by one, they stand at the top of the credential.
    let names = field.path.iter().map(String::as_str);
    let path = ClaimPath::of_names(names).map_err(Error::internal)?;
    let mut paths = Vec::new();
    if field.each {
        let elements = path.segments().iter().cloned().chain([Segment::All]);
        paths.push(ClaimPath::new(elements.collect()).map_err(Error::internal)?);
    }
    if field.disclosable {
        paths.push(path);
    }
    Ok(paths)
}
