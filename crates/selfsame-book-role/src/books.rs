//! The books of an instance.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use selfsame_book_index::{BookIndex, BookName, IndexError};
use selfsame_core::Shared;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_openid::OrganisationRoles;
use selfsame_store::{Store, TenantId};
use selfsame_types::TypeSet;
use tokio::time::timeout;
use url::Url;

use crate::inactive::InactiveIssuers;

/// The kind of the records of a book.
pub(crate) const BOOK: &str = "book";
/// How long the first question to a book waits for its index.
const SETTLED_WITHIN: Duration = Duration::from_secs(2);

/// The books of an instance. Clones are the same.
#[derive(Clone)]
pub struct Books(Arc<BooksParts>);

struct BooksParts {
    shared: Arc<Shared>,
    index: Arc<dyn BookIndex>,
    followers: Mutex<HashMap<TenantId, Arc<Follower>>>,
    inactive: InactiveIssuers,
}

/// How far the index of a book follows its records.
#[derive(Default)]
pub(crate) struct Follower {
    /// One at a time brings the index up to the records.
    pub turn: tokio::sync::Mutex<()>,
    /// The number of records that were read this time.
    pub read: AtomicU64,
    /// Whether that has been begun since the process started.
    begun: AtomicBool,
}

/// The book of one organisation.
#[derive(Clone)]
pub struct Book {
    pub(crate) books: Books,
    pub(crate) roles: Arc<OrganisationRoles>,
    pub(crate) name: BookName,
}

impl Books {
    /// The books in this index.
    #[must_use]
    pub fn new(shared: Arc<Shared>, index: Arc<dyn BookIndex>) -> Self {
        Self(Arc::new(BooksParts {
            shared,
            index,
            followers: Mutex::default(),
            inactive: InactiveIssuers::default(),
        }))
    }

    /// The book of an organisation.
    #[must_use]
    pub fn of(&self, roles: Arc<OrganisationRoles>) -> Book {
        Book {
            books: self.clone(),
            name: BookName::of(roles.organisation.issuer.as_str()),
            roles,
        }
    }

    /// Whether records that are committed are noted until they are indexed.
    #[must_use]
    pub fn are_shared(&self) -> bool {
        self.0.index.is_shared()
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.0.shared
    }

    /// The identifiers of organisations of this instance that are not active.
    pub(crate) async fn inactive_issuers(&self) -> Result<Arc<HashSet<String>>> {
        self.0.inactive.now(&self.0.shared).await
    }

    /// Removes the index of an organisation that is erased.
    ///
    /// # Errors
    /// The index's.
    pub async fn forget(&self, tenant: &TenantId) -> Result<()> {
        let book = BookName::of(tenant.as_str());
        self.0.index.clear(&book).await.map_err(failed)
    }
}

impl Book {
    /// What the addresses of its organisation begin with.
    #[must_use]
    pub fn base(&self) -> &Url {
        &self.roles.organisation.base
    }

    pub(crate) fn shared(&self) -> &Shared {
        self.books.shared()
    }

    pub(crate) fn store(&self) -> &Store {
        &self.shared().store
    }

    pub(crate) fn index(&self) -> &dyn BookIndex {
        &*self.books.0.index
    }

    /// The tenant of its records.
    pub(crate) fn tenant(&self) -> &TenantId {
        &self.roles.organisation.issuer
    }

    /// How far its index follows its records.
    pub(crate) fn follower(&self) -> Arc<Follower> {
        let followers = self.books.0.followers.lock();
        let mut followers = followers.unwrap_or_else(PoisonError::into_inner);
        followers.entry(self.tenant().clone()).or_default().clone()
    }

    /// Before the first question since the start: lets the index follow records that it may not have, after a crash or
    /// because it was lost. What takes longer goes on beside the answers.
    pub(crate) async fn settle(&self) -> Result<()> {
        let follower = self.follower();
        if follower.begun.load(Ordering::Relaxed) {
            return Ok(());
        }
        let book = self.clone();
        let following = tokio::spawn(async move { book.follow().await });
        match timeout(SETTLED_WITHIN, following).await {
            Ok(Ok(followed)) => {
                followed?;
                follower.begun.store(true, Ordering::Relaxed);
                Ok(())
            }
            Ok(Err(cut)) => Err(Error::internal(cut)),
            Err(_) => {
                follower.begun.store(true, Ordering::Relaxed);
                Ok(())
            }
        }
    }

    /// The credential types of the organisation.
    pub(crate) async fn types(&self) -> Result<Arc<TypeSet>> {
        match self.roles.publisher() {
            Ok(issuer) => issuer.types().all().await,
            Err(_) => self.roles.verifier()?.types().await,
        }
    }
}

/// An error of the index, for those who must act.
pub(crate) fn failed(error: IndexError) -> Error {
    match error {
        IndexError::Busy | IndexError::TooSlow => {
            tracing::warn!(%error, "a search was given up");
            Error::new(
                ErrorKind::Unavailable { retry_after: 1 },
                "overloaded-briefly",
            )
        }
        IndexError::Full => Error::new(ErrorKind::Full, "storage-full"),
        IndexError::Storage(_) => Error::internal(error),
    }
}
