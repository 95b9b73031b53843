//! Single use and delegations as use cases read them from a registry, and the names of this stack's delegations.

use selfsame_credential::single_use::{Action as Became, Use};
use selfsame_crypto::time::UnixTime;
use selfsame_did::{Did, selfsame};
use selfsame_registry::single_use::{Action, GivenDelegation};
use selfsame_registry::{Machine, StateError, StateRead};

use super::Registry;
use crate::error::{Error, Result};
use crate::view::CredentialUse;
use crate::view::registry::{RegistryDelegation, RegistryUse};

/// Maximum number of delegations of one action to one delegate, when giving and when searching them.
pub(crate) const DELEGATIONS_MAX: u32 = 64;

/// An issuer, and the digest under which a handle is registered.
pub(crate) type Place = (Did, [u8; 32]);

/// The recorded use of an issuer's credential in a machine's state. The error is not logged: it may mean that a part of
/// the state is not fetched yet, and the caller then fetches it and asks again.
pub(super) fn used(
    machine: &Machine,
    state: &dyn StateRead,
    (issuer, digest): (&Did, &[u8; 32]),
) -> std::result::Result<Option<RegistryUse>, StateError> {
    let Some(found) = machine.consumption(state, issuer, digest)? else {
        return Ok(None);
    };
    let by = machine.did(found.by).ok_or_else(no_did)?;
    Ok(Some(RegistryUse {
        action: found.action.name().to_owned(),
        by: by.to_string(),
        at: found.receipt.time.rfc3339(),
        seq_no: found.receipt.seq_no,
        delegation: found.delegation,
    }))
}

/// A delegation in a machine's state.
pub(super) fn delegation(
    machine: &Machine,
    state: &dyn StateRead,
    (issuer, name): (&Did, &str),
) -> std::result::Result<Option<RegistryDelegation>, StateError> {
    let given = machine.delegation(state, issuer, name)?;
    given.map(|given| shown(machine, &given)).transpose()
}

fn shown(
    machine: &Machine,
    given: &GivenDelegation,
) -> std::result::Result<RegistryDelegation, StateError> {
    let delegation = &given.delegation;
    let to = machine.did(delegation.to).ok_or_else(no_did)?;
    Ok(RegistryDelegation {
        name: delegation.name.clone(),
        to: to.to_string(),
        scope: delegation.scope.clone(),
        action: delegation.action.name().to_owned(),
        until: delegation.until.rfc3339(),
        seq_no: given.receipt.seq_no,
        withdrawn: given.withdrawn.map(|receipt| receipt.seq_no),
    })
}

fn no_did() -> StateError {
    StateError("an identifier does not form a DID".to_owned())
}

impl CredentialUse {
    pub(crate) fn of(used: &Use) -> Self {
        Self {
            action: used.action.as_str().to_owned(),
            by: used.by.to_string(),
            at: used.at.rfc3339(),
            seq_no: used.seq_no,
        }
    }
}

impl RegistryUse {
    /// Converts the use for the verification of a credential.
    ///
    /// # Errors
    /// `Upstream` if another process wrote what can't be read.
    pub fn judged(&self) -> Result<Use> {
        let unread = || Error::upstream("the registry's answer about a use can't be read");
        Ok(Use {
            action: match self.action.as_str() {
                "consume" => Became::Spent,
                "revoke" => Became::Revoked,
                _ => return Err(unread()),
            },
            by: Did::parse(&self.by).map_err(|_| unread())?,
            at: UnixTime::parse_rfc3339(&self.at).ok_or_else(unread)?,
            seq_no: self.seq_no,
        })
    }
}

impl RegistryDelegation {
    /// Whether this delegation covers a credential of type `kind` at `now`.
    #[must_use]
    pub fn covers(&self, kind: &str, now: UnixTime) -> bool {
        self.withdrawn.is_none()
            && UnixTime::parse_rfc3339(&self.until).is_some_and(|until| now < until)
            && self.scope.iter().any(|covered| covered == kind)
    }
}

/// The name of the `number`th delegation of this action to this delegate. Names follow from what is delegated, so that
/// delegates find their delegations by reads of single keys, each of which can be proven.
pub(crate) fn delegation_name(to: &Did, action: Action, number: u32) -> Option<String> {
    let (_, id) = selfsame::parts(to)?;
    Some(format!("{}-{id}-{number}", action.name()))
}

/// The name of the issuer's newest delegation that allows `by` this action on a credential of this type at `now`.
pub(crate) async fn newest_delegation(
    registry: &dyn Registry,
    issuer: &Did,
    by: &Did,
    (action, kind, now): (Action, &str, UnixTime),
) -> Result<Option<String>> {
    let mut newest = None;
    for number in 1..=DELEGATIONS_MAX {
        let Some(name) = delegation_name(by, action, number) else {
            break;
        };
        match registry.delegation(issuer, &name).await? {
            None => break,
            Some(given) if given.covers(kind, now) => newest = Some(name),
            Some(_) => {}
        }
    }
    Ok(newest)
}

#[cfg(test)]
mod tests {
    use selfsame_credential::single_use::digest;
    use selfsame_registry::single_use::use_digest;

    #[test]
    fn credentials_and_machine_compute_the_same_digest() {
        for kind in ["v", "urn:selfsame:credential:prescription"] {
            assert_eq!(digest(kind, &[3; 32]), use_digest(kind, &[3; 32]));
        }
    }
}
