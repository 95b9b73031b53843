//! The credential books of an instance.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use selfsame_agent::Agents;
use selfsame_anoncreds_wallet::ChosenCredentials;
use selfsame_anoncreds_wallet::show::{KeptCredential, Showcase};
use selfsame_book_index::{BookIndex, SqliteIndex};
use selfsame_book_role::{Book, BookRegistry, Books, LeftWork, UnindexedNote};
use selfsame_crypto::time::UnixTime;
use selfsame_driver::{ErrorKind, Result};
use selfsame_openid::OrganisationRoles;
use selfsame_store::{Batch, TenantId};
use selfsame_webhooks::Webhooks;
use tokio::sync::watch;

use super::App;
use super::book_agents::OwnAgents;
use super::own_roles::OwnRoles;
use super::wallets;

/// How often notes of other processes are looked for.
const LOOKED_EVERY: Duration = Duration::from_secs(2);
/// The pause after a commit told something, so that one look follows many of them.
const GATHERED_FOR: Duration = Duration::from_millis(20);
/// How long the commit of a credential that came takes.
const KEPT_WITHIN: Duration = Duration::from_millis(15);
/// How often it is looked whether AnonCreds credentials of books were revoked.
const REVOKED_EVERY: Duration = Duration::from_secs(20);
/// Seconds after which it is tried again what could not be done in a book.
const RETRIED_AFTER: u64 = 10;
/// The age in seconds from which a note is one of a process that ended: no request takes longer.
const LEFT_AFTER: u64 = 30;

/// The notes of what could not be done in a book, and when each is tried again.
type WaitingNotes = HashMap<String, UnixTime>;

/// The books in this index; without one, in memory.
pub(super) fn books(
    agents: &Agents,
    index: Option<Arc<dyn BookIndex>>,
    webhooks: Arc<Webhooks>,
) -> Books {
    let index = index.unwrap_or_else(|| Arc::new(SqliteIndex::in_memory()));
    let anoncreds = agents.anoncreds().clone();
    Books::new(
        Arc::new(OwnAgents(agents.clone())),
        anoncreds,
        index,
        webhooks,
    )
}

/// What the books show of the credentials that agents hold.
struct BookShowcase(Weak<App>);

impl BookShowcase {
    /// Has the notes looked at once the commit that is under way has most likely ended. If it takes longer, they are found by
    /// the look that comes anyway.
    fn look_soon(&self) {
        let app = self.0.clone();
        tokio::spawn(async move {
            tokio::time::sleep(KEPT_WITHIN).await;
            if let Some(app) = app.upgrade() {
                app.events().wake();
            }
        });
    }

    /// The book of a tenant; `None` if the instance has ended, or the tenant is no organisation with one. A wallet of an
    /// agent keeps none: its identity must not be made, and registered, because it got a credential.
    async fn book(&self, tenant: &TenantId) -> Result<Option<Book>> {
        let Some(app) = self.0.upgrade().filter(|app| app.config.roles.issuer) else {
            return Ok(None);
        };
        if app.main().organisation.issuer != *tenant {
            let hosted = app.organisations().of_tenant(tenant).await?;
            if hosted.is_some_and(|hosted| wallets::id_of(&hosted.name.to_string()).is_some()) {
                return Ok(None);
            }
        }
        // Without a role there are no types, and what the agent keeps is not entered.
        let has_types =
            |roles: &Arc<OrganisationRoles>| roles.publisher().is_ok() || roles.verifier().is_ok();
        let roles = app.roles_of_book(tenant).await?.filter(has_types);
        Ok(roles.map(|roles| app.book_of(roles)))
    }
}

#[async_trait]
impl Showcase for BookShowcase {
    async fn kept(&self, tenant: &TenantId, came: &KeptCredential) -> Result<Option<Batch>> {
        let Some(book) = self.book(tenant).await? else {
            return Ok(None);
        };
        let left = book.received(came).await?;
        if left.is_some() {
            self.look_soon();
        }
        Ok(left)
    }

    async fn choice(&self, tenant: &TenantId, request: &[u8]) -> Result<Option<ChosenCredentials>> {
        match self.book(tenant).await? {
            Some(book) => book.public_choice(request).await,
            None => Ok(None),
        }
    }
}

/// Looks what the issuers of AnonCreds have revoked, until the instance stops.
async fn look_at_registries(app: Arc<App>, mut stopping: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(REVOKED_EVERY) => {}
            _ = stopping.changed() => return,
        }
        if let Err(error) = app.note_revoked().await {
            tracing::warn!(%error, "the revocation registries of books can't be looked at now");
        }
    }
}

/// Does what issuers leave to their books, until the instance stops.
async fn take_up(app: Arc<App>, mut stopping: watch::Receiver<bool>) {
    let mut wakings = app.events().wakings();
    let mut waiting = WaitingNotes::new();
    loop {
        wakings.borrow_and_update();
        if let Err(error) = app.take_up_what_is_left(&mut waiting).await {
            tracing::warn!(%error, "what issuers leave to their books can't be read now");
        }
        tokio::select! {
            _ = tokio::time::timeout(LOOKED_EVERY, wakings.changed()) => {}
            _ = stopping.changed() => return,
        }
        tokio::time::sleep(GATHERED_FOR).await;
    }
}

/// Indexes what processes that ended left unindexed, until the instance stops: first what is there at the start, since
/// this process may be the next one of the one that left it.
pub(super) async fn follow(app: Arc<App>, mut stopping: watch::Receiver<bool>) {
    let mut age = 0;
    loop {
        if let Err(error) = app.index_what_is_left(age).await {
            tracing::warn!(%error, "what other processes left can't be indexed now");
        }
        age = LEFT_AFTER;
        tokio::select! {
            () = tokio::time::sleep(LOOKED_EVERY) => {}
            _ = stopping.changed() => return,
        }
    }
}

impl App {
    /// Has what is committed and not indexed found, if other processes commit too.
    pub(super) fn follow_books(self: &Arc<Self>) {
        if !self.config.roles.issuer {
            return;
        }
        tokio::spawn(take_up(self.clone(), self.stopping.subscribe()));
        tokio::spawn(look_at_registries(self.clone(), self.stopping.subscribe()));
        if self.books.are_shared() {
            tokio::spawn(follow(self.clone(), self.stopping.subscribe()));
        }
    }

    /// Does what issuers left to their books. What can't be done now is tried again after a while: each event wakes this.
    async fn take_up_what_is_left(&self, waiting: &mut WaitingNotes) -> Result<()> {
        let now = self.shared.clock.now();
        waiting.retain(|_, until| now < *until);
        let mut cursor = None;
        loop {
            let left = self.books.left(cursor.as_deref()).await?;
            for one in &left.notes {
                if waiting.contains_key(one.id()) {
                    continue;
                }
                if let Err(error) = self.take_up_one(one).await {
                    tracing::warn!(%error, tenant = %one.tenant, "what an issuer left to its book waits");
                    // Who has lost a race may try at once.
                    if error.kind != ErrorKind::Conflict {
                        waiting.insert(one.id().to_owned(), now.plus(RETRIED_AFTER));
                    }
                }
            }
            match left.next {
                Some(next) => cursor = Some(next),
                None => return Ok(()),
            }
        }
    }

    async fn take_up_one(&self, left: &LeftWork) -> Result<()> {
        if let Some(roles) = self.roles_of_book(&left.tenant).await? {
            self.book_of(roles).take_up(left).await?;
        }
        self.books.forget_left(left).await
    }

    /// The roles of the organisation whose book this tenant has, unless it is no more.
    async fn roles_of_book(&self, tenant: &TenantId) -> Result<Option<Arc<OrganisationRoles>>> {
        let main = self.main();
        if main.organisation.issuer == *tenant {
            return Ok(Some(main.clone()));
        }
        match self.organisations().of_tenant(tenant).await? {
            Some(hosted) => Ok(Some(self.roles.of(&hosted).await?)),
            None => Ok(None),
        }
    }

    /// Lets the books show what agents hold, and enter what they receive.
    pub(super) fn let_books_show(self: &Arc<Self>) {
        let showcase = BookShowcase(Arc::downgrade(self));
        self.anoncreds().set_showcase(Arc::new(showcase));
    }

    /// Looks what the issuers of AnonCreds have revoked of what the books have, and notes it there.
    ///
    /// # Errors
    /// The store's. A registry that can't be read now is looked at again.
    pub async fn note_revoked(&self) -> Result<()> {
        let mut cursor = None;
        loop {
            let page = self.books.registries(cursor.as_deref()).await?;
            for one in &page.items {
                if let Err(error) = self.note_revoked_in(one).await {
                    tracing::warn!(%error, tenant = %one.tenant, "a revocation registry of a book can't be read now");
                }
            }
            match page.next {
                Some(next) => cursor = Some(next),
                None => return Ok(()),
            }
        }
    }

    async fn note_revoked_in(&self, registry: &BookRegistry) -> Result<()> {
        match self.roles_of_book(&registry.tenant).await? {
            Some(roles) => self.book_of(roles).look_at(registry).await,
            None => self.books.forget_registry(registry).await,
        }
    }

    async fn index_what_is_left(&self, age: u64) -> Result<()> {
        for note in self.books.unindexed(age).await? {
            self.index_note(&note).await?;
        }
        Ok(())
    }

    async fn index_note(&self, note: &UnindexedNote) -> Result<()> {
        if let Some(roles) = self.roles_of_book(&note.tenant).await? {
            self.book_of(roles).index_noted(note).await?;
        }
        self.books.forget_note(note).await
    }

    /// The credential books of its organisations.
    #[must_use]
    pub fn books(&self) -> &Books {
        &self.books
    }

    /// The credential book of an organisation.
    #[must_use]
    pub fn book_of(&self, roles: Arc<OrganisationRoles>) -> Book {
        self.books.of(Arc::new(OwnRoles(roles)))
    }
}
