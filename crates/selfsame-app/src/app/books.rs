//! The credential books of an instance.

use std::sync::Arc;
use std::time::Duration;

use selfsame_book_index::{BookIndex, SqliteIndex};
use selfsame_book_role::{Books, UnindexedNote};
use selfsame_core::Shared;
use selfsame_driver::Result;
use tokio::sync::watch;

use super::App;

/// How often notes of other processes are looked for.
const LOOKED_EVERY: Duration = Duration::from_secs(2);
/// The age in seconds from which a note is one of a process that ended: no request takes longer.
const LEFT_AFTER: u64 = 30;

/// The books in this index; without one, in memory.
pub(super) fn books(shared: &Arc<Shared>, index: Option<Arc<dyn BookIndex>>) -> Books {
    let index = index.unwrap_or_else(|| Arc::new(SqliteIndex::in_memory()));
    Books::new(shared.clone(), index)
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
        if self.config.roles.issuer && self.books.are_shared() {
            tokio::spawn(follow(self.clone(), self.stopping.subscribe()));
        }
    }

    async fn index_what_is_left(&self, age: u64) -> Result<()> {
        for note in self.books.unindexed(age).await? {
            self.index_note(&note).await?;
        }
        Ok(())
    }

    async fn index_note(&self, note: &UnindexedNote) -> Result<()> {
        let main = self.main();
        let roles = match main.organisation.issuer == note.tenant {
            true => Some(main.clone()),
            false => match self.organisations().of_tenant(&note.tenant).await? {
                Some(hosted) => Some(self.roles.of(&hosted).await?),
                None => None,
            },
        };
        if let Some(roles) = roles {
            self.books.of(roles).index_noted(note).await?;
        }
        self.books.forget_note(note).await
    }

    /// The credential books of its organisations.
    #[must_use]
    pub fn books(&self) -> &Books {
        &self.books
    }
}
