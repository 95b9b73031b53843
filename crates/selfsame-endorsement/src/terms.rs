//! What an agent does with endorsements by itself. The settings have the names of ACA-Py's options.

use serde::{Deserialize, Serialize};

/// What an agent does with endorsements by itself.
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a setting of its own"
)]
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct EndorsementTerms {
    /// Which side it is on all connections, unless a connection says otherwise.
    pub role: EndorsementRole,
    /// The DID of the endorser that an author has.
    pub public_did: Option<String>,
    /// The alias of the connection to it.
    pub alias: Option<String>,
    /// The link of an invitation to that connection, which is made at the start if it does not exist.
    pub invitation: Option<String>,
    /// An author asks for the endorsement of each transaction.
    pub auto_request: bool,
    /// An endorser endorses what it is asked to.
    pub auto_endorse: bool,
    /// An author writes what was endorsed.
    pub auto_write: bool,
    /// An author begins the revocation registries of a definition once the registry has it.
    pub auto_create_revocation: bool,
}

/// Which side an agent is.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EndorsementRole {
    /// It writes alone.
    #[default]
    None,
    /// It has its transactions endorsed.
    Author,
    /// It endorses the transactions of others.
    Endorser,
}
