//! The names of this stack's delegations in a registry.

use selfsame_crypto::time::UnixTime;
use selfsame_did::{Did, selfsame};
use selfsame_driver::Result;
use selfsame_registry::single_use::Action;

use super::RegistryClient;

/// Maximum number of delegations of one action to one delegate, when giving and when searching them.
pub const DELEGATIONS_MAX: u32 = 64;

/// The name of the `number`th delegation of this action to this delegate. Names follow from what is delegated, so that
/// delegates find their delegations by reads of single keys, each of which can be proven. `None` for a delegate without
/// a `did:selfsame`.
#[must_use]
pub fn delegation_name(to: &Did, action: Action, number: u32) -> Option<String> {
    let (_, id) = selfsame::parts(to)?;
    Some(format!("{}-{id}-{number}", action.name()))
}

/// A delegation that an action needs.
pub struct WantedDelegation<'a> {
    /// The issuer that gave it.
    pub issuer: &'a Did,
    /// The DID that acts.
    pub by: &'a Did,
    /// The action.
    pub action: Action,
    /// The credential's type.
    pub kind: &'a str,
    /// The time of the action.
    pub now: UnixTime,
}

/// The name of the issuer's newest delegation that covers the action.
///
/// # Errors
/// The registry's.
pub async fn newest_delegation(
    registry: &dyn RegistryClient,
    wanted: &WantedDelegation<'_>,
) -> Result<Option<String>> {
    let mut newest = None;
    for number in 1..=DELEGATIONS_MAX {
        let Some(name) = delegation_name(wanted.by, wanted.action, number) else {
            break;
        };
        match registry.delegation(wanted.issuer, &name).await? {
            None => break,
            Some(given) if given.covers(wanted.kind, wanted.now) => newest = Some(name),
            Some(_) => {}
        }
    }
    Ok(newest)
}
