//! What goes on by itself on an author's side: the request of a transaction that begins, and the writing of one that was
//! endorsed. Each is an entry of the outbox, so that it goes on after a restart.

use std::sync::Arc;

use async_trait::async_trait;
use selfsame_anoncreds_wallet::endorse::AuthoredWrite;
use selfsame_core::Correspondent;
use selfsame_core::events::EventKind;
use selfsame_core::machine::{At, CallAnswer, Calling, Machine, Next, Round};
use selfsame_credential::evidence::Step;
use selfsame_crypto::encoding::hex_encode;
use selfsame_driver::record::RecordCache;
use selfsame_driver::record::encode;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_mediation::error::refused;
use selfsame_store::{Batch, Put, TenantId};

use crate::endorsements::Endorsements;
use crate::entry::{AwaitedObject, ENDORSEMENT, TransactionEntry, authored_id, call};
use crate::protocol::{AuthoredTerms, TransactionState, authored};

/// The machine of the work that goes on by itself.
struct EndorsementMachine {
    endorsements: Endorsements,
    records: RecordCache<TransactionEntry>,
}

impl Endorsements {
    /// Has authors' transactions wait for their endorsers. Returns the machine of what goes on by itself.
    #[must_use]
    pub fn connect(&self) -> Arc<dyn Correspondent> {
        let weak = self.weak();
        let waiting = move |write: &AuthoredWrite<'_>, round: &Round<'_>| {
            weak.strong()?.waiting(write, round)
        };
        self.anoncreds().set_endorsing(Arc::new(waiting));
        Arc::new(EndorsementMachine {
            endorsements: self.clone(),
            records: RecordCache::default(),
        })
    }

    /// The writes by which an author's transaction begins to wait.
    fn waiting(&self, write: &AuthoredWrite<'_>, round: &Round<'_>) -> Result<Batch> {
        let (tenant, id) = (round.at.tenant, authored_id(write.transaction));
        let terms = AuthoredTerms {
            transaction: write.transaction,
            connection_id: &write.endorser.connection_id,
        };
        let record = authored(terms, round.ctx).map_err(|problem| refused(&problem))?;
        let entry = TransactionEntry {
            record,
            publishes: Some(AwaitedObject {
                object: write.object,
                record: write.record.to_owned(),
            }),
        };
        let put = Put::new(ENDORSEMENT, &id, encode(&entry)?);
        let mut batch = Batch::new(tenant.clone()).put(put);
        if self.connections().is_heard(tenant) {
            let notice = hex_encode(&round.ctx.random::<16>("endorsement/notice"));
            let notice = format!("{id}.{notice}");
            let told = entry.told(&id).put(&notice, round.ctx.now())?;
            batch = batch.put(told);
            batch = batch.event(EventKind::AgentNotice.into(), &notice);
        }
        match self.terms(tenant).auto_request {
            true => Ok(batch.enqueue(call(tenant, &id, round.ctx.now())?)),
            false => Ok(batch),
        }
    }

    /// Goes on with an author's transaction as the settings say.
    async fn go_on(&self, tenant: &TenantId, id: &str) -> Result<()> {
        let (entry, _) = match self.entry(tenant, id).await {
            Err(error) if error.kind == ErrorKind::NotFound => return Ok(()),
            found => found?,
        };
        let terms = self.terms(tenant);
        match entry.record.state {
            TransactionState::Created if terms.auto_request => {
                self.request(tenant, id, None).await.map(drop)
            }
            TransactionState::Endorsed if entry.is_author() && terms.auto_write => {
                self.write(tenant, id).await.map(drop)
            }
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl Machine for EndorsementMachine {
    const KIND: &'static str = ENDORSEMENT;
    type Record = TransactionEntry;
    type Input = CallAnswer;
    type Reply = ();

    fn records(&self) -> &RecordCache<TransactionEntry> {
        &self.records
    }

    /// What follows from the call was stored by the call.
    fn step(
        &self,
        _: &mut TransactionEntry,
        _: &CallAnswer,
        round: &Round<'_>,
    ) -> Result<Step<Next<()>>> {
        Ok(Step::Done(Next::unchanged(round, ())))
    }
}

#[async_trait]
impl Calling for EndorsementMachine {
    /// The transaction stays as it is, for its controller.
    fn given_up(
        &self,
        _: Option<&mut TransactionEntry>,
        error: Option<&Error>,
        round: &Round<'_>,
    ) -> Result<Next<()>> {
        if let Some(error) = error {
            tracing::warn!(%error, transaction = round.at.id, "a transaction waits for its controller");
        }
        Ok(Next::unchanged(round, ()))
    }

    async fn converse(&self, at: At<'_>) -> Result<CallAnswer> {
        self.endorsements.go_on(at.tenant, at.id).await?;
        Ok(CallAnswer::Finished)
    }
}
