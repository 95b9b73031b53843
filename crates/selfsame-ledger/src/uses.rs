//! Single use and delegations in a machine's state, as use cases read them.

use selfsame_did::Did;
use selfsame_registry::single_use::GivenDelegation;
use selfsame_registry::{StateError, StateMachine, StateRead};

use crate::view::{RegistryDelegation, RegistryUse};

/// The recorded use of an issuer's credential in a machine's state. The error is not logged: it may mean that a part of
/// the state is not fetched yet, and the caller then fetches it and asks again.
pub(crate) fn used(
    machine: &StateMachine,
    state: &dyn StateRead,
    issuer: &Did,
    digest: &[u8; 32],
) -> Result<Option<RegistryUse>, StateError> {
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
pub(crate) fn delegation(
    machine: &StateMachine,
    state: &dyn StateRead,
    issuer: &Did,
    name: &str,
) -> Result<Option<RegistryDelegation>, StateError> {
    let given = machine.delegation(state, issuer, name)?;
    given.map(|given| shown(machine, &given)).transpose()
}

fn shown(
    machine: &StateMachine,
    given: &GivenDelegation,
) -> Result<RegistryDelegation, StateError> {
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
