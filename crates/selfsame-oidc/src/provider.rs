//! What a provider publishes about itself (OpenID Connect Discovery §3, RFC 8414 §2).

use selfsame_crypto::Algorithm;
use selfsame_oauth::client::AuthenticationMethod;
use selfsame_oauth::details::OPENID_CREDENTIAL;
use selfsame_oauth::grant::GrantType;
use selfsame_oauth::{dpop, pkce};
use serde::Serialize;
use url::Url;

use crate::acr::AcrTable;
use crate::claims;
use crate::rules::ProviderRules;
use crate::userinfo::{ENCRYPTIONS, KEY_MANAGEMENT};

/// The addresses of a provider.
#[derive(Clone, Debug)]
pub struct ProviderAddresses {
    /// Its identifier, of which the others are below.
    pub issuer: String,
    /// The base of the endpoints; ends with a slash.
    pub base: Url,
}

/// The provider's metadata.
#[derive(Clone, Debug, Serialize)]
pub struct ProviderMetadata {
    issuer: String,
    authorization_endpoint: Url,
    token_endpoint: Url,
    userinfo_endpoint: Url,
    jwks_uri: Url,
    registration_endpoint: Url,
    pushed_authorization_request_endpoint: Url,
    introspection_endpoint: Url,
    revocation_endpoint: Url,
    end_session_endpoint: Url,
    scopes_supported: Vec<String>,
    response_types_supported: [&'static str; 1],
    response_modes_supported: [&'static str; 2],
    grant_types_supported: [&'static str; 2],
    acr_values_supported: Vec<String>,
    subject_types_supported: [&'static str; 2],
    id_token_signing_alg_values_supported: Vec<&'static str>,
    userinfo_signing_alg_values_supported: Vec<&'static str>,
    userinfo_encryption_alg_values_supported: Vec<&'static str>,
    userinfo_encryption_enc_values_supported: Vec<&'static str>,
    request_object_signing_alg_values_supported: Vec<&'static str>,
    token_endpoint_auth_methods_supported: Vec<&'static str>,
    token_endpoint_auth_signing_alg_values_supported: Vec<&'static str>,
    introspection_endpoint_auth_methods_supported: Vec<&'static str>,
    revocation_endpoint_auth_methods_supported: Vec<&'static str>,
    claim_types_supported: [&'static str; 1],
    claims_supported: Vec<&'static str>,
    claims_parameter_supported: bool,
    request_parameter_supported: bool,
    request_uri_parameter_supported: bool,
    require_request_uri_registration: bool,
    require_pushed_authorization_requests: bool,
    code_challenge_methods_supported: [&'static str; 1],
    dpop_signing_alg_values_supported: Vec<&'static str>,
    authorization_response_iss_parameter_supported: bool,
    backchannel_logout_supported: bool,
    backchannel_logout_session_supported: bool,
    ui_locales_supported: Vec<&'static str>,
    prompt_values_supported: [&'static str; 4],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    authorization_details_types_supported: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    client_attestation_signing_alg_values_supported: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    client_attestation_pop_signing_alg_values_supported: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    challenge_endpoint: Option<Url>,
}

impl ProviderAddresses {
    /// An endpoint below the base.
    ///
    /// # Errors
    /// If the base is no base.
    pub fn endpoint(&self, name: &str) -> Result<Url, url::ParseError> {
        self.base.join(name)
    }
}

/// The methods of authentication. Attestations are listed by those who trust an attester.
fn methods(rules: &ProviderRules) -> Vec<&'static str> {
    let attested = AuthenticationMethod::AttestJwtClientAuth;
    let methods = rules.methods.iter().filter(|method| **method != attested);
    methods.map(|method| method.as_str()).collect()
}

impl ProviderMetadata {
    /// The metadata of a provider with these rules. `locales` are the languages of its pages.
    ///
    /// # Errors
    /// If the base of the addresses is no base.
    pub fn of(
        addresses: &ProviderAddresses,
        rules: &ProviderRules,
        acr: &AcrTable,
        locales: &[&'static str],
    ) -> Result<Self, url::ParseError> {
        let at = |name| addresses.endpoint(name);
        let algorithms: Vec<_> = rules.algorithms.iter().map(|alg| alg.as_str()).collect();
        let methods = methods(rules);
        let is_secret = |name: &&str| *name != AuthenticationMethod::None.as_str();
        let scopes = ["openid", "offline_access"].into_iter();
        Ok(Self {
            issuer: addresses.issuer.clone(),
            authorization_endpoint: at("authorize")?,
            token_endpoint: at("token")?,
            userinfo_endpoint: at("userinfo")?,
            jwks_uri: at("jwks")?,
            registration_endpoint: at("register")?,
            pushed_authorization_request_endpoint: at("par")?,
            introspection_endpoint: at("introspect")?,
            revocation_endpoint: at("revoke")?,
            end_session_endpoint: at("logout")?,
            scopes_supported: scopes
                .chain(claims::claim_scopes())
                .map(str::to_owned)
                .collect(),
            response_types_supported: ["code"],
            response_modes_supported: ["query", "form_post"],
            grant_types_supported: [
                GrantType::AuthorizationCode.as_str(),
                GrantType::RefreshToken.as_str(),
            ],
            acr_values_supported: acr.names().map(str::to_owned).collect(),
            subject_types_supported: ["public", "pairwise"],
            id_token_signing_alg_values_supported: algorithms.clone(),
            userinfo_signing_alg_values_supported: algorithms.clone(),
            userinfo_encryption_alg_values_supported: KEY_MANAGEMENT.map(|alg| alg.as_str()).into(),
            userinfo_encryption_enc_values_supported: ENCRYPTIONS.map(|enc| enc.as_str()).into(),
            request_object_signing_alg_values_supported: algorithms.clone(),
            introspection_endpoint_auth_methods_supported: methods
                .iter()
                .copied()
                .filter(is_secret)
                .collect(),
            revocation_endpoint_auth_methods_supported: methods.clone(),
            token_endpoint_auth_methods_supported: methods,
            token_endpoint_auth_signing_alg_values_supported: algorithms,
            claim_types_supported: ["normal"],
            claims_supported: ["sub", "acr", "amr", "auth_time"]
                .into_iter()
                .chain(claims::standard())
                .collect(),
            claims_parameter_supported: true,
            request_parameter_supported: true,
            // A reference is one to a pushed request.
            request_uri_parameter_supported: false,
            require_request_uri_registration: false,
            require_pushed_authorization_requests: rules.requires_par,
            code_challenge_methods_supported: [pkce::S256],
            dpop_signing_alg_values_supported: dpop::ALGORITHMS.map(|alg| alg.as_str()).into(),
            authorization_response_iss_parameter_supported: true,
            backchannel_logout_supported: true,
            backchannel_logout_session_supported: true,
            ui_locales_supported: locales.to_vec(),
            prompt_values_supported: ["none", "login", "consent", "select_account"],
            authorization_details_types_supported: Vec::new(),
            client_attestation_signing_alg_values_supported: Vec::new(),
            client_attestation_pop_signing_alg_values_supported: Vec::new(),
            challenge_endpoint: None,
        })
    }

    /// The metadata of a provider where wallets authenticate by attestations of these algorithms, with challenges of this
    /// endpoint (attestation-based client authentication, draft -07 §8, §10.1).
    #[must_use]
    pub fn with_attestations(self, algorithms: &[Algorithm], challenge_endpoint: Url) -> Self {
        let algorithms: Vec<_> = algorithms.iter().map(|one| one.as_str()).collect();
        let mut methods = self.token_endpoint_auth_methods_supported;
        methods.push(AuthenticationMethod::AttestJwtClientAuth.as_str());
        Self {
            token_endpoint_auth_methods_supported: methods,
            client_attestation_signing_alg_values_supported: algorithms.clone(),
            client_attestation_pop_signing_alg_values_supported: algorithms,
            challenge_endpoint: Some(challenge_endpoint),
            ..self
        }
    }

    /// The metadata of a provider whose access tokens get credentials, with the scopes that stand for them (OpenID4VCI
    /// 1.0 §5.1).
    #[must_use]
    pub fn with_credentials<'a>(mut self, scopes: impl Iterator<Item = &'a str>) -> Self {
        let before = self.scopes_supported.len();
        self.scopes_supported.extend(scopes.map(str::to_owned));
        if self.scopes_supported.len() > before {
            self.authorization_details_types_supported = vec![OPENID_CREDENTIAL];
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Preset;

    #[test]
    fn the_metadata_tell_what_the_rules_demand() {
        let addresses = ProviderAddresses {
            issuer: "https://op.example/oidc".to_owned(),
            base: "https://op.example/oidc/".parse().unwrap(),
        };
        let of = |preset| {
            let rules = ProviderRules::of(preset);
            let metadata = ProviderMetadata::of(&addresses, &rules, &AcrTable::default(), &["en"]);
            serde_json::to_value(metadata.unwrap()).unwrap()
        };
        let strict = of(Preset::Strict);
        assert_eq!(strict["token_endpoint"], "https://op.example/oidc/token");
        assert_eq!(strict["require_pushed_authorization_requests"], false);
        let fapi = of(Preset::Fapi2);
        assert_eq!(fapi["require_pushed_authorization_requests"], true);
        let methods = &fapi["token_endpoint_auth_methods_supported"];
        assert_eq!(*methods, serde_json::json!(["private_key_jwt"]));
        let methods = strict["token_endpoint_auth_methods_supported"].to_string();
        assert!(!methods.contains("attest"), "{methods}");
        assert!(strict.get("challenge_endpoint").is_none());
    }

    #[test]
    fn the_metadata_tell_how_wallets_are_attested_and_where_challenges_are() {
        let addresses = ProviderAddresses {
            issuer: "https://op.example/oidc".to_owned(),
            base: "https://op.example/oidc/".parse().unwrap(),
        };
        let rules = ProviderRules::of(Preset::Strict);
        let metadata = ProviderMetadata::of(&addresses, &rules, &AcrTable::default(), &["en"]);
        let endpoint = addresses.endpoint("challenge").unwrap();
        let metadata = metadata
            .unwrap()
            .with_attestations(&[Algorithm::Es256], endpoint);
        let told = serde_json::to_value(metadata).unwrap();
        let methods = told["token_endpoint_auth_methods_supported"].to_string();
        assert!(methods.contains("attest_jwt_client_auth"), "{methods}");
        for algorithms in [
            "client_attestation_signing_alg_values_supported",
            "client_attestation_pop_signing_alg_values_supported",
        ] {
            assert_eq!(told[algorithms], serde_json::json!(["ES256"]));
        }
        assert_eq!(
            told["challenge_endpoint"],
            "https://op.example/oidc/challenge"
        );
    }
}
