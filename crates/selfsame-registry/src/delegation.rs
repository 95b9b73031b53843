//! Delegations: who may use up or revoke an issuer's credentials in his place, which, until when.

use selfsame_crypto::time::UnixTime;
use selfsame_did::Did;
use selfsame_proof::cbor::{Item, Malformed, Reader, Writer};

use crate::authority::{Act, Whose};
use crate::content::is_fragment;
use crate::encoding::{optional, write_optional};
use crate::identifier::Identifier;
use crate::judge::{Step, active};
use crate::machine::Machine;
use crate::refusal::{CheckError, DelegationFault, Refusal};
use crate::state::{Key, Receipt, StateError, StateRead, read};

const MAX_TYPE_BYTES: usize = 256;

/// What becomes of a credential by its handle.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Action {
    /// It is used up.
    Consume,
    /// It is revoked.
    Revoke,
}

/// A delegation as its issuer writes it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Delegation {
    /// The name it has among the issuer's delegations, a plain fragment, never used again.
    pub name: String,
    /// Who may.
    pub to: Identifier,
    /// The types of the credentials, as the issuer writes them into the credentials.
    pub scope: Vec<String>,
    /// What he may.
    pub action: Action,
    /// Until when, exclusively.
    pub until: UnixTime,
}

/// A delegation as it stands in the registry.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GivenDelegation {
    /// What was delegated.
    pub delegation: Delegation,
    /// When.
    pub receipt: Receipt,
    /// When it was withdrawn.
    pub withdrawn: Option<Receipt>,
}

impl Step<'_> {
    pub(crate) fn delegate(&mut self, delegation: &Delegation) -> Result<(), CheckError> {
        self.active_author()?;
        self.authorise(Act::Delegate, Whose::Own)?;
        self.is_well_formed(delegation)?;
        active(&self.to, delegation.to).map_err(|error| match error {
            CheckError::Refused(_) => Refusal::Delegation(DelegationFault::Delegate).into(),
            error @ CheckError::State(_) => error,
        })?;
        let key = Key::Delegation(self.author, &delegation.name);
        if self.to.has(&key)? {
            return Err(Refusal::Delegation(DelegationFault::NameUsed).into());
        }
        let given = GivenDelegation {
            delegation: delegation.clone(),
            receipt: self.receipt,
            withdrawn: None,
        };
        self.to.put(&key, &given);
        Ok(())
    }

    pub(crate) fn withdraw_delegation(&mut self, name: &str) -> Result<(), CheckError> {
        self.active_author()?;
        self.authorise(Act::Delegate, Whose::Own)?;
        let given = self.delegation_of(self.author, name)?;
        if given.withdrawn.is_some() {
            return Err(Refusal::Delegation(DelegationFault::Withdrawn).into());
        }
        let withdrawn = GivenDelegation {
            withdrawn: Some(self.receipt),
            ..given
        };
        self.to.put(&Key::Delegation(self.author, name), &withdrawn);
        Ok(())
    }

    pub(crate) fn delegation_of(
        &self,
        issuer: Identifier,
        name: &str,
    ) -> Result<GivenDelegation, CheckError> {
        // The name becomes part of a key of the state.
        let given = match is_fragment(name) {
            true => read(&self.to, &Key::Delegation(issuer, name))?,
            false => None,
        };
        given.ok_or_else(|| Refusal::Delegation(DelegationFault::Unknown).into())
    }

    fn is_well_formed(&self, delegation: &Delegation) -> Result<(), Refusal> {
        let rules = &self.at.rules;
        let many = u64::try_from(delegation.scope.len()).is_ok_and(|many| many > rules.max_scope);
        let typed = delegation.scope.iter().all(|kind| is_type(kind));
        if !is_fragment(&delegation.name) || delegation.scope.is_empty() || many || !typed {
            return Err(Refusal::Delegation(DelegationFault::Malformed));
        }
        let latest = self.at.time.plus(rules.max_delegation);
        match delegation.until > self.at.time && delegation.until <= latest {
            true => Ok(()),
            false => Err(Refusal::Delegation(DelegationFault::Until)),
        }
    }
}

/// The type of a credential: anything printable without spaces.
pub(crate) fn is_type(kind: &str) -> bool {
    let plain = kind.bytes().all(|byte| byte.is_ascii_graphic());
    (1..=MAX_TYPE_BYTES).contains(&kind.len()) && plain
}

impl GivenDelegation {
    /// Why `by` may not do it at that time, if he may not.
    pub(crate) fn fault(
        &self,
        by: Identifier,
        (action, kind): (Action, &str),
        time: UnixTime,
    ) -> Option<DelegationFault> {
        let Self {
            delegation,
            withdrawn,
            ..
        } = self;
        let fault = if delegation.to != by {
            DelegationFault::Delegate
        } else if withdrawn.is_some() {
            DelegationFault::Withdrawn
        } else if time >= delegation.until {
            DelegationFault::Expired
        } else if delegation.action != action {
            DelegationFault::Action
        } else if !delegation.scope.iter().any(|covered| covered == kind) {
            DelegationFault::Scope
        } else {
            return None;
        };
        Some(fault)
    }
}

impl Machine {
    /// A delegation of an issuer, also once it has ended.
    pub fn delegation(
        &self,
        state: &dyn StateRead,
        issuer: &Did,
        name: &str,
    ) -> Result<Option<GivenDelegation>, StateError> {
        match Identifier::of_did(issuer, self.network()) {
            Some(issuer) if is_fragment(name) => {
                read(&self.begun(state), &Key::Delegation(issuer, name))
            }
            _ => Ok(None),
        }
    }
}

impl Item for Action {
    fn write(&self, to: &mut Writer) {
        to.text(self.name());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        match from.text()? {
            "consume" => Ok(Self::Consume),
            "revoke" => Ok(Self::Revoke),
            _ => Err(Malformed("an unknown action")),
        }
    }
}

impl Action {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Consume => "consume",
            Self::Revoke => "revoke",
        }
    }
}

impl Item for Delegation {
    fn write(&self, to: &mut Writer) {
        to.array(5).text(&self.name).item(&self.to);
        to.items(&self.scope).item(&self.action).uint(self.until.0);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(5)?;
        Ok(Self {
            name: from.text()?.to_owned(),
            to: Identifier::read(from)?,
            scope: from.items()?,
            action: Action::read(from)?,
            until: UnixTime(from.uint()?),
        })
    }
}

impl Item for GivenDelegation {
    fn write(&self, to: &mut Writer) {
        to.array(3).item(&self.delegation).item(&self.receipt);
        write_optional(to, self.withdrawn.as_ref());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(3)?;
        Ok(Self {
            delegation: Delegation::read(from)?,
            receipt: Receipt::read(from)?,
            withdrawn: optional(from)?,
        })
    }
}
