//! The author agreement: which text an author has to accept before he writes.

use selfsame_crypto::time::UnixTime;
use selfsame_proof::cbor::{Item, Malformed, Reader, Writer};

use crate::authority::{Act, Whose};
use crate::encoding::{optional, write_optional};
use crate::history::{History, Version};
use crate::judge::{Situation, Step};
use crate::machine::Machine;
use crate::refusal::{AgreementFault, CheckError, Refusal};
use crate::state::{Key, Receipt, StateError, StateRead};

const DAY: u64 = 86_400;
const MAX_NAME_BYTES: usize = 64;
const MAX_MECHANISMS: usize = 16;

/// An author agreement. Its text is kept elsewhere; who has it can check the digest.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Agreement {
    /// Its version, a name that was not used before.
    pub version: String,
    /// SHA-256 of its text.
    pub digest: [u8; 32],
    /// The ways to accept it.
    pub mechanisms: Vec<String>,
}

/// That an author accepts the agreement.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Acceptance {
    /// The version of the agreement.
    pub version: String,
    /// SHA-256 of its text.
    pub digest: [u8; 32],
    /// How he accepted it, one of the agreement's mechanisms.
    pub mechanism: String,
    /// The day he did, in days since 1970: no more precise than needed.
    pub day: u64,
}

/// An agreement as it came into force, or none as it was put out of force.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AgreementInForce {
    /// The agreement; none once it is put out of force.
    pub agreement: Option<Agreement>,
    /// When.
    pub receipt: Receipt,
}

impl Situation<'_> {
    /// Whether what the author accepts is what is in force.
    pub(crate) fn judge_acceptance(
        &self,
        acceptance: Option<&Acceptance>,
    ) -> Result<Result<(), Refusal>, StateError> {
        let last = History::<AgreementInForce>::new(self.state, Key::Agreement).last()?;
        let in_force = last.and_then(|(_, set)| Some((set.agreement?, set.receipt.time)));
        let fault = match (&in_force, acceptance) {
            (None, None) => return Ok(Ok(())),
            (None, Some(_)) => AgreementFault::NoneInForce,
            (Some(_), None) => AgreementFault::Missing,
            (Some((agreement, since)), Some(acceptance)) => {
                match self.fault_of(acceptance, (agreement, *since)) {
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
        (agreement, since): (&Agreement, UnixTime),
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

impl Step<'_> {
    /// Puts an agreement in force in place of the one before, or puts that one out of force.
    pub(crate) fn set_agreement(
        &mut self,
        agreement: Option<&Agreement>,
    ) -> Result<(), CheckError> {
        self.active_author()?;
        self.authorise(Act::SetAgreement, Whose::Other)?;
        let history = History::<AgreementInForce>::new(&self.to, Key::Agreement);
        let last = history.last()?;
        let number = last.as_ref().map_or(0, |(number, _)| *number);
        let in_force = last.and_then(|(_, set)| set.agreement);
        match (agreement, &in_force) {
            (Some(agreement), _) => agreement.check()?,
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
        let number = number.saturating_add(1);
        self.to.put_version(&Key::Agreement, (number, false), &set);
        Ok(())
    }
}

impl Agreement {
    fn check(&self) -> Result<(), Refusal> {
        let name = |name: &String| {
            let plain = name.bytes().all(|byte| byte.is_ascii_graphic());
            (1..=MAX_NAME_BYTES).contains(&name.len()) && plain
        };
        let some = (1..=MAX_MECHANISMS).contains(&self.mechanisms.len());
        match name(&self.version) && some && self.mechanisms.iter().all(name) {
            true => Ok(()),
            false => Err(Refusal::Agreement(AgreementFault::Malformed)),
        }
    }
}

impl Machine {
    /// The author agreement in force.
    pub fn agreement(&self, state: &dyn StateRead) -> Result<Option<AgreementInForce>, StateError> {
        let state = self.begun(state);
        let last = History::<AgreementInForce>::new(&state, Key::Agreement).last()?;
        Ok(last
            .map(|(_, set)| set)
            .filter(|set| set.agreement.is_some()))
    }

    /// The last `count` changes of the author agreement, oldest first.
    pub fn agreements(
        &self,
        state: &dyn StateRead,
        count: usize,
    ) -> Result<Vec<AgreementInForce>, StateError> {
        History::new(&self.begun(state), Key::Agreement).latest(count)
    }
}

impl Version for AgreementInForce {
    fn receipt(&self) -> &Receipt {
        &self.receipt
    }
}

impl Item for AgreementInForce {
    fn write(&self, to: &mut Writer) {
        to.array(2).item(&self.receipt);
        write_optional(to, self.agreement.as_ref());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(2)?;
        Ok(Self {
            receipt: Receipt::read(from)?,
            agreement: optional(from)?,
        })
    }
}

impl Item for Agreement {
    fn write(&self, to: &mut Writer) {
        to.array(3).text(&self.version).bytes(&self.digest);
        to.items(&self.mechanisms);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(3)?;
        Ok(Self {
            version: from.text()?.to_owned(),
            digest: from.array_of()?,
            mechanisms: from.items()?,
        })
    }
}

impl Item for Acceptance {
    fn write(&self, to: &mut Writer) {
        to.array(4).text(&self.version).bytes(&self.digest);
        to.text(&self.mechanism).uint(self.day);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(4)?;
        Ok(Self {
            version: from.text()?.to_owned(),
            digest: from.array_of()?,
            mechanism: from.text()?.to_owned(),
            day: from.uint()?,
        })
    }
}
