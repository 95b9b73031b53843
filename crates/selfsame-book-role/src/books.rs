//! The books of an instance.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use selfsame_anoncreds_wallet::AnonCreds;
use selfsame_book_index::{BookIndex, BookName, IndexError};
use selfsame_core::Shared;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Store, TenantId};
use selfsame_types::TypeSet;
use selfsame_webhooks::Webhooks;
use tokio::time::timeout;
use url::Url;

use crate::agents::BookAgents;
use crate::inactive::InactiveIssuers;
use crate::issuer_names::IssuerNames;
use crate::roles::BookRoles;
use crate::unread::UnreadRecords;

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
    webhooks: Arc<Webhooks>,
    agents: Arc<dyn BookAgents>,
    anoncreds: AnonCreds,
    named: NamedRequests,
    followers: Mutex<HashMap<TenantId, Arc<Follower>>>,
    inactive: InactiveIssuers,
    /// The notes of records that are indexed, which are removed soon.
    indexed: Mutex<Vec<String>>,
    unread: UnreadRecords,
}

/// Requests for proofs of which somebody has said which credential is to answer them: the hash of each with its tenant, and
/// the identifier of the credential in the wallet of the agent.
pub(crate) type NamedRequests = Mutex<HashMap<[u8; 32], String>>;

/// How far the index of a book follows its records, and what was read of it.
#[derive(Default)]
pub(crate) struct Follower {
    /// One at a time brings the index up to the records.
    pub turn: tokio::sync::Mutex<()>,
    /// The number of records that were read this time.
    pub read: AtomicU64,
    /// The names of its issuers.
    pub issuers: IssuerNames,
    /// Whether that has been begun since the process started.
    begun: AtomicBool,
}

/// The book of one organisation.
#[derive(Clone)]
pub struct Book {
    pub(crate) books: Books,
    pub(crate) roles: Arc<dyn BookRoles>,
    pub(crate) name: BookName,
}

impl Books {
    /// The books in this index, whose subscribers are sent news by these webhooks. These agents hold their AnonCreds
    /// credentials and prove them.
    #[must_use]
    pub fn new(
        agents: Arc<dyn BookAgents>,
        anoncreds: AnonCreds,
        index: Arc<dyn BookIndex>,
        webhooks: Arc<Webhooks>,
    ) -> Self {
        Self(Arc::new(BooksParts {
            shared: anoncreds.shared().clone(),
            index,
            webhooks,
            agents,
            anoncreds,
            named: NamedRequests::default(),
            followers: Mutex::default(),
            inactive: InactiveIssuers::default(),
            indexed: Mutex::default(),
            unread: UnreadRecords::default(),
        }))
    }

    /// The book of an organisation.
    #[must_use]
    pub fn of(&self, roles: Arc<dyn BookRoles>) -> Book {
        Book {
            books: self.clone(),
            name: BookName::of(roles.organisation().issuer.as_str()),
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

    pub(crate) fn indexed_notes(&self) -> MutexGuard<'_, Vec<String>> {
        let noted = self.0.indexed.lock();
        noted.unwrap_or_else(PoisonError::into_inner)
    }

    /// Which records of books can't be read.
    pub(crate) fn unread(&self) -> &UnreadRecords {
        &self.0.unread
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
        &self.roles.organisation().base
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
        &self.roles.organisation().issuer
    }

    /// What sends news to its subscribers.
    pub(crate) fn webhooks(&self) -> &Webhooks {
        &self.books.0.webhooks
    }

    /// The agents, of which that of its organisation proves its AnonCreds credentials.
    pub(crate) fn agents(&self) -> &dyn BookAgents {
        &*self.books.0.agents
    }

    /// The AnonCreds of its organisation's agent.
    pub(crate) fn anoncreds(&self) -> &AnonCreds {
        &self.books.0.anoncreds
    }

    pub(crate) fn named_requests(&self) -> &NamedRequests {
        &self.books.0.named
    }

    /// The names under which its organisation issues, or did.
    pub(crate) fn own_names(&self) -> Vec<String> {
        self.roles.names().unwrap_or_default()
    }

    /// The tenant to which its subscriptions belong.
    pub(crate) fn subscriptions_owner(&self) -> TenantId {
        let owner = self.webhooks().owner_of(self.tenant());
        owner.unwrap_or_else(TenantId::instance)
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
        self.roles.types().await
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
