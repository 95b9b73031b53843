//! Words: members of the API whose values are words of a set, for its description, and options that settings and requests
//! name by a word.

use selfsame_credential::Format;
use serde::{Deserialize, Serialize};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// How a verifier identifies itself (OpenID4VP 1.0 §5.9.3).
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClientIdPrefix {
    /// By the address that the answer is sent to.
    RedirectUri,
    /// By its DID.
    DecentralizedIdentifier,
    /// By the host of its certificate.
    X509SanDns,
    /// By the hash of its certificate.
    X509Hash,
}

/// How wallets post their answers (OpenID4VP 1.0 §8.2, §8.3.1).
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub enum ResponseMode {
    /// Protected by TLS alone.
    #[serde(rename = "direct_post")]
    DirectPost,
    /// Encrypted to a key that is made for the request.
    #[serde(rename = "direct_post.jwt")]
    DirectPostJwt,
}

/// A credential format.
pub struct FormatName;

impl PartialSchema for FormatName {
    fn schema() -> RefOr<Schema> {
        let words = Format::ALL.iter().map(|format| format.as_str());
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("A credential format."))
            .enum_values(Some(words))
            .build()
            .into()
    }
}

impl ToSchema for FormatName {}

/// What happened to a single-use credential.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum UseKind {
    /// It was used up.
    Spent,
    /// It was revoked on the issuer's behalf.
    Revoked,
}

/// What a delegate may do with a single-use credential.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum DelegatedAction {
    /// Use it up.
    Consume,
    /// Revoke it.
    Revoke,
}

/// The outcome of a verification, from most to least useful to a verifier.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum VerdictOutcome {
    /// Every rule that applies holds.
    Valid,
    /// Genuine, but revoked by its issuer.
    Revoked,
    /// Genuine, but a single-use credential that is used up.
    Spent,
    /// Genuine, but suspended by its issuer.
    Suspended,
    /// Genuine, but expired.
    Expired,
    /// Genuine, but not yet valid.
    NotYetValid,
    /// Genuine and valid, but its issuer does not let this verifier use it up.
    NotAuthorised,
    /// Genuine, but its issuer is not trusted by the policy.
    Untrusted,
    /// Verification is incomplete: evidence is missing.
    Unverifiable,
    /// Forged, tampered with, malformed, or presented wrongly.
    Invalid,
}

#[cfg(test)]
mod tests {
    use selfsame_credential::verdict::Outcome;

    use super::*;

    fn words<T: PartialSchema>() -> Vec<String> {
        let schema = serde_json::to_value(T::schema()).unwrap();
        serde_json::from_value(schema["enum"].clone()).unwrap()
    }

    #[test]
    fn the_outcomes_of_the_description_are_those_of_verdicts() {
        let outcomes = [
            Outcome::Valid,
            Outcome::Revoked,
            Outcome::Spent,
            Outcome::Suspended,
            Outcome::Expired,
            Outcome::NotYetValid,
            Outcome::NotAuthorised,
            Outcome::Untrusted,
            Outcome::Unverifiable,
            Outcome::Invalid,
        ];
        assert_eq!(words::<VerdictOutcome>(), outcomes.map(Outcome::as_str));
    }
}
