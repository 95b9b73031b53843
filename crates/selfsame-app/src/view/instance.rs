//! The instance's types: its status, its own DIDs.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The status of an instance.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct InstanceStatus {
    /// Its version.
    pub version: String,
    /// Its public base URL.
    pub origin: String,
    /// Its roles: `issuer`, `wallet`, `verifier`, `registry`.
    pub roles: Vec<String>,
    /// Seconds since it was ready.
    pub uptime_s: u64,
    /// The issuer's identifier in OpenID4VCI, if this instance is an issuer.
    pub issuer: Option<String>,
    /// The DID that signs, if this instance is an issuer or a verifier.
    pub did: Option<String>,
    /// The DIDs that its credentials name, if it is an issuer; a verifier that trusts it lists each of them.
    #[serde(default)]
    pub issuer_dids: Vec<String>,
    /// Whether only few verifiers can check some of its credentials, because they must know its registry.
    #[serde(default)]
    pub issues_to_few: bool,
    /// The registry's network, if it has one.
    pub network: Option<String>,
    /// Durable commits since the start.
    pub commits: u64,
    /// The time these took together, in milliseconds.
    pub commits_took_ms: f64,
    /// The median time of recent durable commits, in milliseconds.
    pub commit_ms: Option<f64>,
    /// Outbound requests since the start.
    pub outbound_requests: u64,
    /// Calls waiting to be delivered.
    pub outbox_waiting: u64,
    /// Calls that were given up.
    pub outbox_dead: u64,
}

/// A backup of the instance.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct CopyMade {
    /// The directory that holds it, on the instance's machine.
    pub directory: String,
}

/// Under which master key the records of an instance are, and how far a rotation is. A key is named by its check value, a
/// keyed hash that reveals nothing of it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct MasterKeyStatus {
    /// `settled`, `begun` (all records open with the present key) or `ending` (all open with the new one).
    pub stage: String,
    /// The check value of the key that all records open with.
    pub present: Option<String>,
    /// The check value of the key that a rotation leads to, once it has begun.
    pub next: Option<String>,
    /// The number of processes that a rotation waits for, because they do not have the next key yet.
    pub waits_for: u64,
}

/// A link that signs the operator's browser in.
#[derive(Clone, Deserialize, Serialize, ToSchema)]
pub struct SignInLink {
    /// The link: a secret until it is used.
    pub url: String,
    /// Seconds for which it is valid; it works once.
    pub seconds: u64,
}
