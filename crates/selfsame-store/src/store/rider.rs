//! Riders: a batch that is written together with the next commit of a task, whatever that commit is.

use std::cell::RefCell;
use std::future::Future;

use super::Store;
use crate::batch::Batch;

tokio::task_local! {
    static RIDER: RefCell<Option<Batch>>;
}

impl Store {
    /// Runs `work`. Its first commit that succeeds also writes `rider`, all or nothing. Returns whether one did. Commits
    /// of tasks that `work` starts do not count.
    pub async fn accompanied<F: Future>(rider: Batch, work: F) -> (F::Output, bool) {
        let work = async {
            let output = work.await;
            let is_written = RIDER.with(|waiting| waiting.borrow().is_none());
            (output, is_written)
        };
        RIDER.scope(RefCell::new(Some(rider)), work).await
    }
}

/// Takes the rider that waits for a commit of this task.
pub(super) fn take() -> Option<Batch> {
    let taken = RIDER.try_with(|waiting| waiting.borrow_mut().take());
    taken.ok().flatten()
}

/// Lets a rider wait again, after a commit that failed.
pub(super) fn put_back(rider: Option<Batch>) {
    if rider.is_some() {
        // Fails only outside of `accompanied`, where nothing was taken.
        let _ = RIDER.try_with(|waiting| *waiting.borrow_mut() = rider);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use selfsame_crypto::seal::SealingKey;

    use super::*;
    use crate::{Expect, Memory, Put, TenantId, Vault};

    async fn store() -> Store {
        let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
        Store::open(Arc::new(Memory::new()), vault).await.unwrap()
    }

    fn put(kind: &'static str) -> Batch {
        Batch::new(TenantId::instance()).put(Put::new(kind, "1", Vec::new()))
    }

    async fn has(store: &Store, kind: &str) -> bool {
        let version = store.version(&TenantId::instance(), kind, "1").await;
        version.unwrap().is_some()
    }

    #[tokio::test]
    async fn a_rider_is_written_by_the_first_commit_alone() {
        let store = store().await;
        let before = store.meter().commits();
        let ((), is_written) = Store::accompanied(put("rider"), async {
            store.commit(put("act")).await.unwrap();
            assert!(has(&store, "rider").await);
            let gone = Batch::new(TenantId::instance()).delete("rider", "1");
            store.commit(gone).await.unwrap();
        })
        .await;
        assert!(is_written);
        assert!(!has(&store, "rider").await, "it is not written again");
        assert_eq!(store.meter().commits(), before + 2);
    }

    #[tokio::test]
    async fn a_rider_waits_for_a_commit_that_succeeds() {
        let store = store().await;
        let ((), is_written) = Store::accompanied(put("rider"), async {
            let refused = put("act").expect("other", "1", Expect::Version(7));
            assert!(store.commit(refused).await.is_err());
            assert!(!has(&store, "rider").await);
            store.commit(put("act")).await.unwrap();
            assert!(has(&store, "rider").await);
        })
        .await;
        assert!(is_written);
    }

    #[tokio::test]
    async fn work_without_a_commit_leaves_the_rider_unwritten() {
        let store = store().await;
        let ((), is_written) = Store::accompanied(put("rider"), async {}).await;
        assert!(!is_written);
        assert!(!has(&store, "rider").await);
    }
}
