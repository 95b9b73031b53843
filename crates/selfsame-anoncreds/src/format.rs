//! The messages of AnonCreds: their data types, and their JSON as the published implementations write and read it.
//!
//! Reading accepts the members of anoncreds-rs 0.2.3, and those of Indy's time where they differ. Writing follows
//! anoncreds-rs 0.2.3, except for the order of maps, which is arbitrary there and sorted here.

mod credential;
mod definition;
mod encoding;
mod identifier;
mod interval;
mod issuance;
pub mod limits;
mod lower_case;
mod message;
mod nonce;
mod presentation;
mod query;
mod registry;
mod request;
mod requested_proof;
mod restriction;
mod schema;
#[cfg(test)]
mod tests;
mod written;

pub use credential::{Credential, CredentialValues};
pub use definition::{
    CredentialDefinition, CredentialDefinitionPrivate, CredentialPrivateKeys, CredentialPublicKeys,
    SignatureType,
};
pub use encoding::{
    AttributeValue, Encoding, encode_attribute, encode_missing, normalise_attribute,
};
pub use identifier::{CredentialDefinitionId, IssuerId, RevocationRegistryId, SchemaId};
pub use interval::{Interval, Overrides};
pub use issuance::{CredentialOffer, CredentialRequest, CredentialRequestMetadata, Holder};
pub use message::{Message, Text};
pub use nonce::Nonce;
pub use presentation::Presentation;
pub use query::Query;
pub use registry::{
    LegacyDelta, LegacyRegistry, RegistryKeys, RegistryType, RegistryValue,
    RevocationRegistryDefinition, RevocationRegistryPrivate, RevocationState, RevocationStatusList,
};
pub use request::{
    Comparison, PresentationRequest, RequestVersion, RequestedAttribute, RequestedPredicate,
};
pub use requested_proof::{
    CredentialIdentifiers, RequestedProof, RevealedAttribute, RevealedGroup, SelfAttested,
    SubProofReferent,
};
pub use restriction::{Known, QueryAnswer};
pub use schema::Schema;
