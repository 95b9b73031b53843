//! The registration of a client: its members as they are sent and kept (RFC 7591 §2, OpenID Connect Dynamic Client
//! Registration §2).

use selfsame_oauth::grant::GrantType;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;

use crate::redirect::ApplicationType;

/// The members of a registration. Members that are not known are kept, and mean nothing.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct ClientRegistration {
    /// Where responses may be sent.
    pub redirect_uris: Vec<String>,
    /// How the client authenticates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_endpoint_auth_method: Option<String>,
    /// The grants that it uses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub grant_types: Vec<String>,
    /// The response types that it uses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub response_types: Vec<String>,
    /// `web` or `native`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application_type: Option<ApplicationType>,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_name: Option<String>,
    /// Its home page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_uri: Option<Url>,
    /// Its logo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logo_uri: Option<Url>,
    /// Its privacy policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_uri: Option<Url>,
    /// Its terms of service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tos_uri: Option<Url>,
    /// The scopes that it may ask for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// The address of its keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jwks_uri: Option<Url>,
    /// Its keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jwks: Option<Value>,
    /// `public` or `pairwise`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject_type: Option<String>,
    /// Whose subjects it shares (OpenID Connect Core §8.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sector_identifier_uri: Option<Url>,
    /// The algorithm of ID tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id_token_signed_response_alg: Option<String>,
    /// The algorithm of userinfo as a JWT; without it userinfo is JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub userinfo_signed_response_alg: Option<String>,
    /// The key management of encrypted userinfo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub userinfo_encrypted_response_alg: Option<String>,
    /// The encryption of userinfo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub userinfo_encrypted_response_enc: Option<String>,
    /// The algorithm of request objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_object_signing_alg: Option<String>,
    /// Whether all requests come as request objects (RFC 9101 §10.5).
    pub require_signed_request_object: bool,
    /// Whether all requests are pushed (RFC 9126 §6).
    pub require_pushed_authorization_requests: bool,
    /// Whether tokens are bound to a key (RFC 9449 §5.2).
    pub dpop_bound_access_tokens: bool,
    /// How old a sign-in may be, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_max_age: Option<u64>,
    /// The classes that are demanded where a request names none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub default_acr_values: Vec<String>,
    /// Where people are sent after they signed out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub post_logout_redirect_uris: Vec<String>,
    /// Where the client is told that somebody signed out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backchannel_logout_uri: Option<Url>,
    /// Whether it must be told which session ended.
    pub backchannel_logout_session_required: bool,
    /// The claims that it may ask for; all, if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claims: Option<Vec<String>>,
    /// The party that runs it, for systems that name parties.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relying_party_id: Option<String>,
    /// Everything else, such as `client_name#fr`.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl ClientRegistration {
    /// A web client with this redirect URI.
    #[must_use]
    pub fn web(redirect_uri: &str) -> Self {
        Self {
            redirect_uris: vec![redirect_uri.to_owned()],
            ..Self::default()
        }
    }

    /// Whether the client is switched off for now, by the member `status` of eSignet's registrations.
    #[must_use]
    pub fn is_inactive(&self) -> bool {
        let status = self.other.get("status");
        status.is_some_and(|status| status == "INACTIVE")
    }

    /// The names of the grants, with the default of RFC 7591 §2.
    pub(crate) fn grants(&self) -> Vec<&str> {
        match &self.grant_types[..] {
            [] => vec![GrantType::AuthorizationCode.as_str()],
            several => several.iter().map(String::as_str).collect(),
        }
    }
}
