//! Members of the API whose values are words of a set, for its description. The tables that the words come from judge
//! what is sent.

use selfsame_did::method::METHODS;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

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

fn one_of(what: &str, words: Vec<&str>) -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(what))
        .enum_values(Some(words))
        .build()
        .into()
}
