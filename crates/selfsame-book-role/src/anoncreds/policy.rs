//! What the organisation's agent does for anybody on behalf of the book. Nothing, unless those who keep the book say so.

use selfsame_book_view::BookPolicy;
use selfsame_driver::Result;
use selfsame_driver::record::{decode, encode};
use selfsame_store::{Batch, Put};

use crate::books::Book;

/// The kind and the identifier of the record.
const POLICY: &str = "book-policy";
const LATEST: &str = "latest";

impl Book {
    /// What the agent does for anybody.
    ///
    /// # Errors
    /// The store's.
    pub async fn policy(&self) -> Result<BookPolicy> {
        let read = self.store().read(self.tenant(), POLICY, LATEST);
        match read.await? {
            Some(record) => decode(&record.value),
            None => Ok(BookPolicy::default()),
        }
    }

    /// Sets what the agent does for anybody.
    ///
    /// # Errors
    /// The store's.
    pub async fn set_policy(&self, policy: BookPolicy) -> Result<()> {
        let put = Put::new(POLICY, LATEST, encode(&policy)?);
        let batch = Batch::new(self.tenant().clone()).put(put);
        self.store().commit(batch).await?;
        let BookPolicy { proofs_by_agent } = policy;
        tracing::info!(proofs_by_agent, "the policy of a credential book is set");
        Ok(())
    }
}
