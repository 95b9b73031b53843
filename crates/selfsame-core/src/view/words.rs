//! Members of the API whose values are words of a set, for its description. The tables that the words come from judge
//! what is sent.

use selfsame_credential::Format;
use selfsame_did::method::METHODS;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// A credential format.
pub struct FormatName;

impl PartialSchema for FormatName {
    fn schema() -> RefOr<Schema> {
        let words = Format::ALL.iter().map(|format| format.as_str());
        one_of("A credential format.", words.collect())
    }
}

impl ToSchema for FormatName {}

/// A DID method by which the instance makes DIDs.
pub struct DidMethodName;

impl PartialSchema for DidMethodName {
    fn schema() -> RefOr<Schema> {
        let names = METHODS.names(|method| method.of_key.is_some() || method.origin.can_change());
        let words = names.split(", ").collect();
        one_of("A DID method by which the instance makes DIDs.", words)
    }
}

impl ToSchema for DidMethodName {}

/// The type of a key.
#[derive(ToSchema)]
pub enum KeyKind {
    /// ECDSA with the curve P-256; the default.
    #[schema(rename = "P-256")]
    P256,
    /// EdDSA with the curve Ed25519.
    Ed25519,
}

/// The state of a DID of the instance.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum DidState {
    /// The registry does not have it yet.
    Pending,
    /// It can be used.
    Active,
    /// It is deactivated permanently.
    Deactivated,
}

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

fn one_of(what: &str, words: Vec<&str>) -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(what))
        .enum_values(Some(words))
        .build()
        .into()
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
