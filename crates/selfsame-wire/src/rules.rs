//! Which members of a message are kept, by their names. Whatever is not named here is hidden.

use serde_json::Value;

/// Which members of a message are kept.
#[derive(Clone, Copy)]
pub(crate) enum WireRules {
    /// A message of a protocol: its parameters.
    Protocol,
    /// The header of a token.
    Header,
    /// What a token or a credential says: what every one of them has, and no claim of its own.
    Claims,
    /// Claims of a person: their names alone.
    Person,
}

/// Parameters of protocols that are kept as they are.
const PROTOCOL: &[&str] = &[
    "acr_values",
    "active",
    "alg",
    "alg_values_supported",
    "authorization_server",
    "client_id",
    "client_id_scheme",
    "client_name",
    "code_challenge_method",
    "credential_configuration_id",
    "credential_configuration_ids",
    "credential_set",
    "crv",
    "credential_signing_alg_values",
    "deferred_credential_endpoint",
    "description",
    "display",
    "doctype_value",
    "enc",
    "encrypted_response_enc_values_supported",
    "error",
    "error_description",
    "event",
    "exp",
    "expires_in",
    "c_nonce_expires_in",
    "factor",
    "factors",
    "format",
    "grant_type",
    "iat",
    "id",
    "input_mode",
    "interval",
    "intent_to_retain",
    "kb-jwt_alg_values",
    "kty",
    "length",
    "locale",
    "max_age",
    "mode",
    "multiple",
    "nbf",
    "options",
    "path",
    "prompt",
    "proof_type",
    "purpose",
    "reason",
    "required",
    "response_mode",
    "response_type",
    "sd-jwt_alg_values",
    "scope",
    "scopes",
    "step",
    "subject_syntax_types_supported",
    "token_type",
    "token_type_hint",
    "transaction_data_hashes_alg",
    "type",
    "type_values",
    "typ",
    "ui_locales",
    "use",
    "vct_values",
    "version",
    "zip",
];
/// Members of the header of a token that are kept.
const HEADER: &[&str] = &[
    "alg", "crit", "crv", "cty", "enc", "kty", "typ", "use", "zip",
];
/// What tokens and credentials have that says nothing about a person.
const CLAIMS: &[&str] = &[
    "_sd_alg",
    "alg",
    "aud",
    "auth_time",
    "client_id",
    "crv",
    "docType",
    "exp",
    "htm",
    "iat",
    "iss",
    "kty",
    "nbf",
    "scope",
    "ttl",
    "vct",
];
/// Addresses: kept without their parameters.
const ADDRESSES: &[&str] = &[
    "aud",
    "credential_issuer",
    "credential_offer_uri",
    "htu",
    "iss",
    "issuer",
    "location",
    "logo_uri",
    "policy_uri",
    "redirect_uri",
    "response_uri",
    "tos_uri",
    "uri",
];
/// Secrets, and identifiers that lead to something: kept as digests.
const DIGESTS: &[&str] = &[
    "access_token",
    "acr",
    "ath",
    "auth_req_id",
    "auth_session",
    "c_hash",
    "at_hash",
    "c_nonce",
    "client_secret_digest",
    "code",
    "code_challenge",
    "code_verifier",
    "device_code",
    "dpop_jkt",
    "jkt",
    "jti",
    "kid",
    "nonce",
    "notification_id",
    "pre-authorized_code",
    "refresh_token",
    "request_uri",
    "sd_hash",
    "sid",
    "state",
    "token",
    "transaction_id",
];
/// The same of tokens: what no credential says of a person.
const TOKEN_DIGESTS: &[&str] = &[
    "at_hash", "ath", "c_hash", "jkt", "jti", "kid", "nonce", "sd_hash", "sid",
];
/// Tokens and credentials: decoded.
const TOKENS: &[&str] = &[
    "assertion",
    "attestation",
    "client_assertion",
    "credential",
    "id_token",
    "id_token_hint",
    "jwt",
    "request",
    "response",
    "subject_token",
    "vp_token",
];
/// The member with a key (RFC 7800 §3.2).
const JWK: &str = "jwk";
/// Members whose own members are looked at by the same rules.
const CONTAINERS: &[&str] = &[
    "authorization_code",
    "authorization_details",
    "batch_credential_issuance",
    "challenges",
    "claim_sets",
    "claims",
    "client_metadata",
    "cnf",
    "credential_request_encryption",
    "credential_response_encryption",
    "credential_sets",
    "credentials",
    "dc+sd-jwt",
    "dcql_query",
    "di_vp",
    "grants",
    JWK,
    "jwks",
    "jwt_vc_json",
    "keys",
    "meta",
    "mso_mdoc",
    "parameters",
    "proof",
    "proofs",
    "status",
    "status_list",
    "trusted_authorities",
    "tx_code",
    "urn:ietf:params:oauth:grant-type:pre-authorized_code",
    "vc+jwt",
    "vp_formats_supported",
];
/// The containers of what every token has.
const TOKEN_CONTAINERS: &[&str] = &["cnf", JWK, "status", "status_list"];

/// The times of a token, which are numbers.
const TIMES: &[&str] = &["auth_time", "exp", "iat", "nbf", "ttl"];

impl WireRules {
    /// Whether a value may be kept, by the name of its member.
    pub fn may_keep(self, name: &str, value: &Value) -> bool {
        self.keeps(name) && (value.is_number() || !TIMES.contains(&name))
    }

    fn keeps(self, name: &str) -> bool {
        match self {
            Self::Protocol => PROTOCOL.contains(&name),
            Self::Header => HEADER.contains(&name),
            Self::Claims => CLAIMS.contains(&name),
            Self::Person => false,
        }
    }

    /// Whether the members below a member are looked at.
    pub fn enters(self, name: &str) -> bool {
        match self {
            Self::Protocol => CONTAINERS.contains(&name),
            Self::Header => name == JWK,
            Self::Claims => TOKEN_CONTAINERS.contains(&name),
            Self::Person => false,
        }
    }

    /// Whether a member is an address.
    pub fn is_address(self, name: &str) -> bool {
        match self {
            Self::Protocol | Self::Claims => ADDRESSES.contains(&name),
            Self::Header | Self::Person => false,
        }
    }

    /// Whether a member becomes a digest.
    pub fn digests(self, name: &str) -> bool {
        match self {
            Self::Protocol => DIGESTS.contains(&name),
            // A credential may have a claim that is called `state` or `code`.
            Self::Header | Self::Claims => TOKEN_DIGESTS.contains(&name),
            Self::Person => false,
        }
    }

    /// Whether a member is a token, or has some.
    pub fn decodes(self, name: &str) -> bool {
        matches!(self, Self::Protocol) && TOKENS.contains(&name)
    }
}
