//! Authorization server metadata (RFC 8414), and well-known URLs built by the rule of RFC 8414.

use selfsame_crypto::json::{self, JsonError, Limits};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::grant::GrantType;
use crate::token::PRE_AUTHORIZED_CODE;

/// The method of clients that somebody attests.
pub const ATTESTED: &str = "attest_jwt_client_auth";

/// The metadata that an authorization server publishes about itself.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ServerMetadata {
    /// The server's identifier.
    pub issuer: String,
    /// The URL of the authorization endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorization_endpoint: Option<Url>,
    /// The URL of the token endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_endpoint: Option<Url>,
    /// The URL that requests are pushed to (RFC 9126 §5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pushed_authorization_request_endpoint: Option<Url>,
    /// The supported grant types. The default of RFC 8414 §2 does not contain the pre-authorized code.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grant_types_supported: Vec<String>,
    /// The supported client authentication methods at the token endpoint.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub token_endpoint_auth_methods_supported: Vec<String>,
    /// The supported types of authorization details.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub authorization_details_types_supported: Vec<String>,
    /// The supported methods of code challenges (RFC 8414 §2).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub code_challenge_methods_supported: Vec<String>,
    /// Whether each authorization response names the server (RFC 9207 §3).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub authorization_response_iss_parameter_supported: bool,
    /// The algorithms of proofs of possession; without any, the server binds no tokens to keys (RFC 9449 §5.1).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dpop_signing_alg_values_supported: Vec<String>,
    /// The algorithms of client attestations (attestation-based client authentication, draft -07 §10.1).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub client_attestation_signing_alg_values_supported: Vec<String>,
    /// The algorithms of the proofs of possession beside them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub client_attestation_pop_signing_alg_values_supported: Vec<String>,
    /// Where challenges for these proofs are given; if there is one, each proof needs a challenge (draft -07 §8).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub challenge_endpoint: Option<Url>,
    /// Whether a pre-authorized code may be redeemed without a `client_id` (OpenID4VCI 1.0 §12.3).
    #[serde(
        rename = "pre-authorized_grant_anonymous_access_supported",
        default,
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub anonymous_access_supported: bool,
}

impl ServerMetadata {
    /// The metadata of a server that supports only the pre-authorized code grant and anonymous clients.
    pub fn pre_authorized(issuer: &str, token_endpoint: Url) -> Self {
        Self {
            issuer: issuer.to_owned(),
            authorization_endpoint: None,
            token_endpoint: Some(token_endpoint),
            pushed_authorization_request_endpoint: None,
            grant_types_supported: vec![PRE_AUTHORIZED_CODE.to_owned()],
            token_endpoint_auth_methods_supported: vec!["none".to_owned()],
            authorization_details_types_supported: vec![
                crate::details::OPENID_CREDENTIAL.to_owned(),
            ],
            code_challenge_methods_supported: Vec::new(),
            authorization_response_iss_parameter_supported: false,
            dpop_signing_alg_values_supported: Vec::new(),
            client_attestation_signing_alg_values_supported: Vec::new(),
            client_attestation_pop_signing_alg_values_supported: Vec::new(),
            challenge_endpoint: None,
            anonymous_access_supported: true,
        }
    }

    /// Whether wallets are to attest themselves: the server lists that method, and admits no client without a name.
    pub fn wants_attestation(&self) -> bool {
        let mut listed = self.token_endpoint_auth_methods_supported.iter();
        listed.any(|name| name == ATTESTED) && !self.anonymous_access_supported
    }

    /// Parses the document fetched for `issuer`. A document that names another issuer is refused (RFC 8414 §3.3).
    pub fn parse(body: &[u8], issuer: &str) -> Result<Self, MetadataError> {
        let metadata: Self = json::parse_as(body, &Limits::default())?;
        if metadata.issuer != issuer {
            return Err(MetadataError::Issuer);
        }
        Ok(metadata)
    }

    /// Whether the server accepts the pre-authorized code.
    pub fn supports_pre_authorized_code(&self) -> bool {
        self.grant_types_supported
            .iter()
            .any(|grant| grant == PRE_AUTHORIZED_CODE)
    }

    /// Whether the server signs people in and gives codes. Without a list of grants it does (RFC 8414 §2).
    pub fn supports_authorization_code(&self) -> bool {
        let grants = &self.grant_types_supported;
        let code = GrantType::AuthorizationCode.as_str();
        self.authorization_endpoint.is_some()
            && (grants.is_empty() || grants.iter().any(|grant| grant == code))
    }
}

/// The URL of the metadata of the authorization server `issuer`. A trailing slash of its path is dropped (RFC 8414
/// §3.1).
pub fn location(issuer: &str) -> Option<Url> {
    well_known(
        issuer.strip_suffix('/').unwrap_or(issuer),
        "oauth-authorization-server",
    )
}

/// The URL of a well-known document: `/.well-known/<name>` inserted between host and path (RFC 8414 §3.1).
///
/// Returns `None` for an identifier that is not an http or https URL, or has a query or a fragment. Also returns `None`
/// if the identifier has characters that a URL cannot have (RFC 3986 §2): people are shown the identifier, and such
/// characters can make it read like another.
pub fn well_known(identifier: &str, name: &str) -> Option<Url> {
    if !identifier.bytes().all(|byte| byte.is_ascii_graphic()) {
        return None;
    }
    let mut url = Url::parse(identifier).ok()?;
    let web = matches!(url.scheme(), "https" | "http");
    if !web || url.query().is_some() || url.fragment().is_some() || url.host().is_none() {
        return None;
    }
    let path = match url.path() {
        "/" => format!("/.well-known/{name}"),
        path => format!("/.well-known/{name}{path}"),
    };
    url.set_path(&path);
    Some(url)
}

/// Why server metadata is refused.
#[derive(Debug, thiserror::Error)]
pub enum MetadataError {
    /// The document is not the expected JSON.
    #[error("the authorization server's metadata is malformed")]
    Json(#[from] JsonError),
    /// The document names another issuer.
    #[error("the authorization server's metadata names another issuer")]
    Issuer,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_well_known_part_is_inserted_between_host_and_path() {
        let url = |identifier| well_known(identifier, "x").map(String::from);
        assert_eq!(
            url("https://a.example").as_deref(),
            Some("https://a.example/.well-known/x")
        );
        assert_eq!(
            url("https://a.example:8443/tenant").as_deref(),
            Some("https://a.example:8443/.well-known/x/tenant")
        );
        assert_eq!(
            url("https://a.example/tenant/").as_deref(),
            Some("https://a.example/.well-known/x/tenant/")
        );
    }

    #[test]
    fn the_final_slash_of_a_servers_identifier_is_dropped() {
        let url = location("https://a.example/tenant/").map(String::from);
        let wanted = "https://a.example/.well-known/oauth-authorization-server/tenant";
        assert_eq!(url.as_deref(), Some(wanted));
    }

    #[test]
    fn an_identifier_with_a_query_or_fragment_has_no_metadata() {
        for bad in [
            "https://a.example?x",
            "https://a.example#x",
            "did:web:a.example",
            "a",
        ] {
            assert_eq!(well_known(bad, "x"), None, "{bad}");
        }
    }

    #[test]
    fn an_identifier_that_reads_otherwise_than_it_is_has_no_metadata() {
        for bad in [
            "https://a.example/\u{202e}moc.knab//:sptth",
            "https://b\u{e4}nk.example",
            "https://a.example/\nx",
            " https://a.example",
        ] {
            assert_eq!(well_known(bad, "x"), None, "{bad:?}");
        }
    }

    #[test]
    fn metadata_reads_back_as_it_was_written() {
        let endpoint = Url::parse("https://a.example/token").unwrap();
        let metadata = ServerMetadata::pre_authorized("https://a.example", endpoint);
        let text = serde_json::to_vec(&metadata).unwrap();
        let again = ServerMetadata::parse(&text, "https://a.example").unwrap();
        assert_eq!(again, metadata);
        assert!(again.supports_pre_authorized_code());
    }

    #[test]
    fn a_wallet_attests_itself_where_that_is_listed_and_nobody_is_nameless() {
        let wants = |methods: &[&str], anonymous_access_supported| {
            let endpoint = Url::parse("https://a.example/token").unwrap();
            let methods = methods.iter().map(|one| (*one).to_owned()).collect();
            let metadata = ServerMetadata {
                token_endpoint_auth_methods_supported: methods,
                anonymous_access_supported,
                ..ServerMetadata::pre_authorized("https://a.example", endpoint)
            };
            metadata.wants_attestation()
        };
        assert!(wants(&["attest_jwt_client_auth"], false));
        assert!(wants(&["none", "attest_jwt_client_auth"], false));
        assert!(!wants(&["none", "attest_jwt_client_auth"], true));
        assert!(!wants(&["none", "private_key_jwt"], false) && !wants(&[], false));
    }

    #[test]
    fn metadata_of_another_issuer_is_refused() {
        let text = br#"{"issuer":"https://b.example","token_endpoint":"https://b.example/token"}"#;
        assert!(matches!(
            ServerMetadata::parse(text, "https://a.example"),
            Err(MetadataError::Issuer)
        ));
    }

    #[test]
    fn anonymous_access_is_not_assumed() {
        let text = br#"{"issuer":"https://a.example","token_endpoint":"https://a.example/token"}"#;
        let metadata = ServerMetadata::parse(text, "https://a.example").unwrap();
        assert!(!metadata.anonymous_access_supported);
        assert!(!metadata.supports_pre_authorized_code());
    }
}
