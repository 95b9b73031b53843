//! The author agreement: its acceptance by authors, and its changes.

use selfsame_crypto::time::UnixTime;

use crate::agreement::{Acceptance, Agreement, AgreementInForce};
use crate::authority::{Act, Whose};
use crate::history::{History, PresentVersion};
use crate::refusal::{AgreementFault, CheckError, Refusal};
use crate::state::{StateError, StateKey};

use super::{JudgedStep, Situation};

const DAY: u64 = 86_400;
const MAX_NAME_BYTES: usize = 64;
const MAX_MECHANISMS: usize = 16;

impl Situation<'_> {
    /// Whether the author accepts the agreement that is in force.
    pub(super) fn judge_acceptance(
        &self,
        acceptance: Option<&Acceptance>,
    ) -> Result<Result<(), Refusal>, StateError> {
        let last = History::<AgreementInForce>::new(self.state, StateKey::Agreement).last()?;
        let in_force = last.and_then(|(_, set)| Some((set.agreement?, set.receipt.time)));
        let fault = match (&in_force, acceptance) {
            (None, None) => return Ok(Ok(())),
            (None, Some(_)) => AgreementFault::NoneInForce,
            (Some(_), None) => AgreementFault::Missing,
            (Some((agreement, since)), Some(acceptance)) => {
                match self.fault_of(acceptance, agreement, *since) {
                    None => return Ok(Ok(())),
                    Some(fault) => fault,
                }
            }
        };
        Ok(Err(Refusal::Agreement(fault)))
    }

    fn fault_of(
        &self,
        acceptance: &Acceptance,
        agreement: &Agreement,
        since: UnixTime,
    ) -> Option<AgreementFault> {
        let day = |time: UnixTime| time.0.checked_div(DAY).unwrap_or(0);
        let latest = day(self.time.plus(self.rules.max_clock_skew));
        if acceptance.version != agreement.version || acceptance.digest != agreement.digest {
            return Some(AgreementFault::Other);
        }
        if !agreement.mechanisms.contains(&acceptance.mechanism) {
            return Some(AgreementFault::Mechanism);
        }
        let accepted = day(since)..=latest;
        (!accepted.contains(&acceptance.day)).then_some(AgreementFault::Day)
    }
}

impl JudgedStep<'_> {
    /// Puts a new agreement in force, or puts the present one out of force.
    pub(super) fn set_agreement(
        &mut self,
        agreement: Option<&Agreement>,
    ) -> Result<(), CheckError> {
        self.active_author()?;
        self.authorise(Act::SetAgreement, Whose::Other)?;
        let history = History::<AgreementInForce>::new(&self.to, StateKey::Agreement);
        let last = history.last()?;
        let number = last.as_ref().map_or(0, |(number, _)| *number);
        let in_force = last.and_then(|(_, set)| set.agreement);
        match (agreement, &in_force) {
            (Some(agreement), _) => check(agreement)?,
            (None, Some(_)) => {}
            (None, None) => return Err(Refusal::Agreement(AgreementFault::NoneInForce).into()),
        }
        if let (Some(new), Some(old)) = (agreement, &in_force)
            && new.version == old.version
        {
            return Err(Refusal::Agreement(AgreementFault::VersionUsed).into());
        }
        let set = AgreementInForce {
            agreement: agreement.cloned(),
            receipt: self.receipt,
        };
        let present = PresentVersion::open(number.saturating_add(1));
        self.to.put_version(&StateKey::Agreement, present, &set);
        Ok(())
    }
}

fn check(agreement: &Agreement) -> Result<(), Refusal> {
    let name = |name: &String| {
        let plain = name.bytes().all(|byte| byte.is_ascii_graphic());
        (1..=MAX_NAME_BYTES).contains(&name.len()) && plain
    };
    let some = (1..=MAX_MECHANISMS).contains(&agreement.mechanisms.len());
    match name(&agreement.version) && some && agreement.mechanisms.iter().all(name) {
        true => Ok(()),
        false => Err(Refusal::Agreement(AgreementFault::Malformed)),
    }
}
