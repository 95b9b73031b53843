//! Reads the metadata of the issuer and its authorization server (OpenID4VCI 1.0 §12.2, RFC 8414).

use selfsame_crypto::json;
use selfsame_oauth::{
    ServerMetadata,
    metadata::{location, well_known},
};
use url::Url;

use crate::{
    error::Error,
    transport::Transport,
    wire::{
        limits, media_type,
        metadata::{IssuerMetadata, WELL_KNOWN},
        offer::CredentialOffer,
    },
};

/// Maximum number of an issuer's authorization servers to query for one offer.
const MAX_SERVERS: usize = 4;
const ADVICE: &str = "Tell the issuer; nothing was sent to it.";

/// An authorization server and the URL of its metadata.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AuthorizationServer {
    /// The server's issuer identifier.
    pub issuer: String,
    /// The URL of its metadata.
    pub url: Url,
}

/// The metadata URL of the issuer of an offer.
pub fn issuer_location(offer: &CredentialOffer, transport: &Transport) -> Result<Url, Error> {
    well_known(&offer.credential_issuer, WELL_KNOWN)
        .filter(|url| transport.allows(url))
        .ok_or_else(|| {
            bad(
                "the offer's issuer is neither an https address without query and fragment nor at an origin \
                 trusted without TLS",
            )
        })
}

/// Reads the issuer's metadata, fetched for the identifier in the offer.
pub fn read_issuer(
    body: &[u8],
    content_type: Option<&str>,
    offer: &CredentialOffer,
    transport: &Transport,
) -> Result<IssuerMetadata, Error> {
    if content_type.map(media_type).as_deref() != Some("application/json") {
        return Err(bad(
            "the media type of the issuer's metadata is not application/json",
        ));
    }
    let metadata: IssuerMetadata = json::parse_as(body, &limits())
        .map_err(|error| bad(format!("the issuer's metadata cannot be read: {error}")))?;
    // §12.2.4: the identifiers are compared as strings, without normalisation.
    if metadata.credential_issuer != offer.credential_issuer {
        return Err(bad("the issuer's metadata names another issuer"));
    }
    metadata
        .check()
        .map_err(|problem| bad(format!("the issuer's metadata is invalid: {problem}")))?;
    let endpoints = [
        Some(&metadata.credential_endpoint),
        metadata.nonce_endpoint.as_ref(),
        metadata.deferred_credential_endpoint.as_ref(),
        metadata.notification_endpoint.as_ref(),
    ];
    if endpoints
        .into_iter()
        .flatten()
        .any(|url| !transport.allows(url))
    {
        return Err(bad("an endpoint of the issuer is not an https address"));
    }
    metadata.encryption().map_err(bad)?;
    Ok(metadata)
}

/// Checks that the issuer's metadata describes every offered credential (§4.1.1). Needed for each offer, even if the
/// metadata was read earlier.
pub fn check_offered(metadata: &IssuerMetadata, offer: &CredentialOffer) -> Result<(), Error> {
    for id in &offer.credential_configuration_ids {
        let configuration = metadata
            .configuration(id)
            .ok_or_else(|| bad("the offer names a credential that the issuer does not describe"))?;
        configuration.check().map_err(|problem| {
            bad(format!(
                "the credential's description is invalid: {problem}"
            ))
        })?;
    }
    Ok(())
}

/// The authorization servers that may redeem the offer's code, in the issuer's order: the one that the offer names,
/// otherwise the first few. Their metadata says which of them supports the grant (§12.2.4).
pub fn servers(
    metadata: &IssuerMetadata,
    offer: &CredentialOffer,
    transport: &Transport,
) -> Result<Vec<AuthorizationServer>, Error> {
    let hint = offer.authorization_server();
    let listed = metadata.authorization_servers.as_deref();
    let issuers: Vec<&String> = match (listed, hint) {
        (None, None) => vec![&metadata.credential_issuer],
        // §4.1.1: an offer names a server only if the issuer has several, and the server must be one of them.
        (listed, Some(hint)) => {
            let servers = listed.unwrap_or_default().iter();
            servers.filter(|server| *server == hint).take(1).collect()
        }
        (Some(servers), None) => servers.iter().take(MAX_SERVERS).collect(),
    };
    if issuers.is_empty() {
        return Err(match hint {
            Some(_) => bad("the offer names an authorization server that the issuer does not name"),
            None => bad("the issuer has no authorization server"),
        });
    }
    let located = |issuer: &String| {
        let url = location(issuer).filter(|url| transport.allows(url))?;
        let issuer = issuer.clone();
        Some(AuthorizationServer { issuer, url })
    };
    let servers: Vec<AuthorizationServer> = issuers.into_iter().filter_map(located).collect();
    if servers.is_empty() {
        return Err(bad("the authorization server is not an https address"));
    }
    Ok(servers)
}

/// Reads an authorization server's metadata.
pub fn read_server(
    body: &[u8],
    server: &AuthorizationServer,
    transport: &Transport,
) -> Result<ServerMetadata, Error> {
    let metadata =
        ServerMetadata::parse(body, &server.issuer).map_err(|error| bad(error.to_string()))?;
    match &metadata.token_endpoint {
        Some(url) if transport.allows(url) => Ok(metadata),
        _ => Err(bad(
            "the authorization server has no token endpoint at an https address",
        )),
    }
}

fn bad(reason: impl Into<String>) -> Error {
    Error::counterpart(reason, ADVICE)
}
