//! Steps of a sign-in that need nothing gathered: each is a function of the record and an input.

use selfsame_core::machine::{FlowResult, FlowStage, Machine, Next, Round};
use selfsame_credential::evidence::Step;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::record::RecordCache;
use selfsame_driver::{Error, Result};
use selfsame_store::Tag;

use crate::record::{SIGN_IN, SignInRecord};

/// A step of a sign-in, as a machine.
pub(crate) struct SignInStep<'a, I, R> {
    /// The records written last.
    pub records: &'a RecordCache<SignInRecord>,
    /// The step.
    pub step: fn(&mut SignInRecord, &I, &Round<'_>) -> Result<Next<R>>,
}

impl<I: Send + Sync, R: Send> Machine for SignInStep<'_, I, R> {
    const KIND: &'static str = SIGN_IN;
    type Record = SignInRecord;
    type Input = I;
    type Reply = R;

    fn records(&self) -> &RecordCache<SignInRecord> {
        self.records
    }

    fn step(
        &self,
        record: &mut SignInRecord,
        input: &I,
        round: &Round<'_>,
    ) -> Result<Step<Next<R>>> {
        (self.step)(record, input, round).map(Step::Done)
    }

    fn tags(&self, record: &SignInRecord) -> Option<Vec<Tag>> {
        Some(record.tags())
    }

    fn expires(&self, record: &SignInRecord) -> Option<UnixTime> {
        Some(record.expires)
    }

    fn flow(&self, record: &SignInRecord) -> Option<FlowStage> {
        Some(record.stage())
    }

    fn result(&self, record: &SignInRecord) -> Option<FlowResult> {
        record.result()
    }

    fn absent(&self, _: &I) -> Result<R> {
        Err(over())
    }
}

/// The refusal of a call for a sign-in that does not exist any more.
pub(crate) fn over() -> Error {
    Error::not_found("sign-in-over")
}
