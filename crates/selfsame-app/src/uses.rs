//! Single use in a registry for the verification of credentials, and the names of this stack's delegations.

use selfsame_credential::single_use::{Action as Became, Use};
use selfsame_crypto::time::UnixTime;
use selfsame_did::{Did, selfsame};
use selfsame_driver::{Error, Result};
use selfsame_ledger::Registry;
use selfsame_ledger::view::RegistryUse;
use selfsame_registry::single_use::Action;

use crate::view::CredentialUse;

/// Maximum number of delegations of one action to one delegate, when giving and when searching them.
pub(crate) const DELEGATIONS_MAX: u32 = 64;

/// An issuer, and the digest under which a handle is registered.
pub(crate) type Place = (Did, [u8; 32]);

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

/// Converts a recorded use for the verification of a credential.
///
/// # Errors
/// `Upstream` if another process wrote what can't be read.
pub(crate) fn judged(used: &RegistryUse) -> Result<Use> {
    let unread = || Error::upstream("the registry's answer about a use can't be read");
    Ok(Use {
        action: match used.action.as_str() {
            "consume" => Became::Spent,
            "revoke" => Became::Revoked,
            _ => return Err(unread()),
        },
        by: Did::parse(&used.by).map_err(|_| unread())?,
        at: UnixTime::parse_rfc3339(&used.at).ok_or_else(unread)?,
        seq_no: used.seq_no,
    })
}

/// The name of the `number`th delegation of this action to this delegate. Names follow from what is delegated, so that
/// delegates find their delegations by reads of single keys, each of which can be proven.
pub(crate) fn delegation_name(to: &Did, action: Action, number: u32) -> Option<String> {
    let (_, id) = selfsame::parts(to)?;
    Some(format!("{}-{id}-{number}", action.name()))
}

/// A delegation that an action needs.
pub(crate) struct WantedDelegation<'a> {
    pub issuer: &'a Did,
    /// The DID that acts.
    pub by: &'a Did,
    pub action: Action,
    /// The credential's type.
    pub kind: &'a str,
    pub now: UnixTime,
}

/// The name of the issuer's newest delegation of this kind.
pub(crate) async fn newest_delegation(
    registry: &dyn Registry,
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
