//! The rules as data.

use std::fmt;

/// A rule of HAIP 1.0 that a program can check.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct HaipRule {
    /// Its name.
    pub name: &'static str,
    /// Its paragraph.
    pub paragraph: &'static str,
    /// What it demands, to be read after "demands".
    pub demand: &'static str,
    /// What those do about it who do not keep it.
    pub remedy: &'static str,
    /// All of it, for those who are refused.
    pub told: &'static str,
}

impl fmt::Display for HaipRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} demands {}", self.paragraph, self.demand)
    }
}

macro_rules! rule {
    ($name:literal, $section:literal, $demand:literal, $remedy:literal) => {
        HaipRule {
            name: $name,
            paragraph: concat!("HAIP 1.0 §", $section),
            demand: $demand,
            remedy: $remedy,
            told: concat!("HAIP 1.0 §", $section, " demands ", $demand, ": ", $remedy),
        }
    };
}

impl HaipRule {
    /// An issuer has the authorization code flow.
    pub const CODE_FLOW: Self = rule!(
        "code_flow",
        "4",
        "the authorization code flow",
        "let people sign in for the credential"
    );
    /// A request for a code is pushed ahead.
    pub const PUSHED_REQUESTS: Self = rule!(
        "pushed_requests",
        "4",
        "requests for codes that are pushed (PAR, RFC 9126)",
        "use pushed_authorization_request_endpoint"
    );
    /// A code is bound to whoever asked for it.
    pub const CODE_CHALLENGE: Self = rule!(
        "code_challenge",
        "4",
        "code challenges with S256 (RFC 7636)",
        "list S256 in code_challenge_methods_supported, and use it"
    );
    /// A response with a code names the server that gives it.
    pub const SERVER_NAMED: Self = rule!(
        "server_named",
        "4",
        "responses that name their authorization server (iss, RFC 9207)",
        "send iss, and say so by authorization_response_iss_parameter_supported"
    );
    /// An access token is bound to a key.
    pub const BOUND_TOKENS: Self = rule!(
        "bound_tokens",
        "4",
        "access tokens that are bound to a key (DPoP, RFC 9449)",
        "use DPoP with ES256"
    );
    /// Each configuration has a scope.
    pub const SCOPES: Self = rule!(
        "scopes",
        "4.1",
        "a scope for each credential configuration",
        "name scope in the issuer's metadata"
    );
    /// Proofs of keys have a nonce.
    pub const NONCE_ENDPOINT: Self = rule!(
        "nonce_endpoint",
        "4.1",
        "a nonce endpoint where credentials are bound to keys",
        "name nonce_endpoint in the issuer's metadata"
    );
    /// The key of signed metadata is certified.
    pub const METADATA_CHAIN: Self = rule!(
        "metadata_chain",
        "4.1",
        "signed metadata with the certificates of their key (x5c), without the trust anchor, and not self-signed",
        "sign them with a certificate of an authority that the wallet trusts"
    );
    /// An offer has the code grant.
    pub const OFFERED_CODE: Self = rule!(
        "offered_code",
        "4.2",
        "offers with the grant authorization_code",
        "offer the credential to somebody who signs in"
    );
    /// A wallet authenticates.
    pub const CLIENT_AUTHENTICATION: Self = rule!(
        "client_authentication",
        "4.4.1",
        "wallets that authenticate where they push requests and redeem codes",
        "use attest_jwt_client_auth"
    );
    /// Who attests a wallet is certified.
    pub const ATTESTATION_CHAIN: Self = rule!(
        "attestation_chain",
        "4.4.1",
        "attestations of wallets with the certificates of their key (x5c), without the trust anchor, and not self-signed",
        "sign them with a certificate of an authority that the issuer trusts"
    );
    /// Keys are attested.
    pub const KEY_ATTESTATIONS: Self = rule!(
        "key_attestations",
        "4.5.1",
        "attested keys",
        "send a key attestation with the proof"
    );
    /// Who attests keys is certified.
    pub const KEY_ATTESTATION_CHAIN: Self = rule!(
        "key_attestation_chain",
        "4.5.1",
        "attestations of keys with the certificates of their key (x5c), without the trust anchor, and not self-signed",
        "sign them with a certificate of an authority that the issuer trusts"
    );
    /// A verifier that signs is known by its certificate's hash.
    pub const SIGNED_BY_HASH: Self = rule!(
        "signed_by_hash",
        "5",
        "signed requests of verifiers with the client identifier prefix x509_hash",
        "sign the request with a certificate, and use x509_hash"
    );
    /// The certificates of a request lead to the anchor and do not contain it.
    pub const REQUEST_CHAIN: Self = rule!(
        "request_chain",
        "5",
        "requests with the certificates of their key (x5c), without the trust anchor, and not self-signed",
        "leave the anchor out of x5c, and sign with a certificate of an authority"
    );
    /// A response is encrypted to a key on P-256.
    pub const RESPONSE_ENCRYPTION: Self = rule!(
        "response_encryption",
        "5",
        "responses that are encrypted with ECDH-ES to a key on P-256",
        "name such a key in client_metadata.jwks"
    );
    /// A verifier takes both encryptions.
    pub const BOTH_ENCRYPTIONS: Self = rule!(
        "both_encryptions",
        "5",
        "verifiers that take A128GCM and A256GCM",
        "list both in encrypted_response_enc_values_supported"
    );
    /// A request is signed, and fetched.
    pub const REQUEST_REFERENCE: Self = rule!(
        "request_reference",
        "5.1",
        "signed requests that the wallet fetches by request_uri",
        "use request_uri in the link"
    );
    /// The answer is posted, encrypted.
    pub const RESPONSE_MODE: Self = rule!(
        "response_mode",
        "5.1",
        "the response mode direct_post.jwt",
        "use response_mode direct_post.jwt"
    );
    /// The answer that a browser takes back to a page is encrypted.
    pub const BROWSER_MODE: Self = rule!(
        "browser_mode",
        "5.2",
        "the response mode dc_api.jwt",
        "use response_mode dc_api.jwt"
    );
    /// A query asks for formats of the profile.
    pub const FORMATS_ASKED: Self = rule!(
        "formats_asked",
        "5.3",
        "queries for the formats dc+sd-jwt and mso_mdoc",
        "ask for one of these formats"
    );
    /// Credentials have formats of the profile.
    pub const FORMATS_ISSUED: Self = rule!(
        "formats_issued",
        "6",
        "credentials of the formats dc+sd-jwt and mso_mdoc",
        "issue one of these formats"
    );
    /// An SD-JWT VC has its holder's key as a JWK.
    pub const BOUND_KEY: Self = rule!(
        "bound_key",
        "6.1",
        "cnf.jwk in an SD-JWT VC that is bound to a key",
        "state the key as a JWK"
    );
    /// The status of an SD-JWT VC is in a Token Status List.
    pub const STATUS_LIST: Self = rule!(
        "status_list",
        "6.1",
        "status_list in the status of an SD-JWT VC",
        "use a Token Status List"
    );
    /// The issuer of an SD-JWT VC is certified.
    pub const ISSUER_CHAIN: Self = rule!(
        "issuer_chain",
        "6.1.1",
        "SD-JWT VCs with the certificates of their issuer (x5c), without the trust anchor, and not self-signed",
        "sign them with a certificate of an authority"
    );

    /// All rules, in the order of their paragraphs.
    pub const ALL: [Self; 25] = [
        Self::CODE_FLOW,
        Self::PUSHED_REQUESTS,
        Self::CODE_CHALLENGE,
        Self::SERVER_NAMED,
        Self::BOUND_TOKENS,
        Self::SCOPES,
        Self::NONCE_ENDPOINT,
        Self::METADATA_CHAIN,
        Self::OFFERED_CODE,
        Self::CLIENT_AUTHENTICATION,
        Self::ATTESTATION_CHAIN,
        Self::KEY_ATTESTATIONS,
        Self::KEY_ATTESTATION_CHAIN,
        Self::SIGNED_BY_HASH,
        Self::REQUEST_CHAIN,
        Self::RESPONSE_ENCRYPTION,
        Self::BOTH_ENCRYPTIONS,
        Self::REQUEST_REFERENCE,
        Self::RESPONSE_MODE,
        Self::BROWSER_MODE,
        Self::FORMATS_ASKED,
        Self::FORMATS_ISSUED,
        Self::BOUND_KEY,
        Self::STATUS_LIST,
        Self::ISSUER_CHAIN,
    ];
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_rule_has_one_name_and_says_all_of_itself() {
        let names: BTreeSet<&str> = HaipRule::ALL.iter().map(|rule| rule.name).collect();
        assert_eq!(names.len(), HaipRule::ALL.len());
        for rule in HaipRule::ALL {
            let HaipRule {
                paragraph,
                demand,
                remedy,
                told,
                ..
            } = rule;
            assert_eq!(told, format!("{paragraph} demands {demand}: {remedy}"));
        }
    }

    #[test]
    fn the_rules_stand_in_the_order_of_their_paragraphs() {
        let paragraphs: Vec<&str> = HaipRule::ALL.iter().map(|rule| rule.paragraph).collect();
        assert!(paragraphs.is_sorted(), "{paragraphs:?}");
        assert!(paragraphs[0].starts_with("HAIP 1.0 §4"));
    }
}
