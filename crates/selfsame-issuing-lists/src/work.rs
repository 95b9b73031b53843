//! The work on lists: which process works on one, its offers chunk by chunk, then its mail.

mod mailing;
mod offering;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use selfsame_core::organisation::view::OrganisationState;
use selfsame_driver::record::all;
use selfsame_driver::turn::{Shift, WorkTurn};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_openid::OrganisationRoles;
use selfsame_store::{Batch, TenantId};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::lists::IssuingLists;
use crate::record::{NotedList, RUNNING, StoredList, TURN, list_record};
use crate::view::ListState;

/// How often a process looks for lists that others were given, or left.
const LOOKED_EVERY: Duration = Duration::from_secs(2);
/// The most lists that a process works on at once.
const LISTS_AT_ONCE: usize = 4;
/// How long a list that can't be worked on now waits.
const PAUSE: Duration = Duration::from_secs(1);
/// How long the stop waits for the work to end.
const ENDED_WITHIN: Duration = Duration::from_secs(2);

/// What a piece of work leads to.
enum Onward {
    /// There is more to do at once.
    More,
    /// Nothing can be done now.
    Later,
    /// The list is over.
    Over,
}

impl IssuingLists {
    /// Works on the lists of all organisations until the instance stops.
    pub async fn work(self, mut stopping: watch::Receiver<bool>) {
        let process = self.shared.clock.ctx().token("list/process");
        let (mut tasks, mut running) = (JoinSet::new(), HashSet::new());
        while !*stopping.borrow() {
            let noted = self.noted().await.unwrap_or_else(|error| {
                tracing::warn!(%error, "issuing lists can't be read");
                Vec::new()
            });
            for at in noted {
                if running.len() < LISTS_AT_ONCE && running.insert(at.clone()) {
                    let work = ListWork {
                        lists: self.clone(),
                        at,
                        stopping: stopping.clone(),
                    };
                    tasks.spawn(work.run(process.clone()));
                }
            }
            tokio::select! {
                _ = stopping.changed() => break,
                () = self.given.notified() => {}
                Some(ended) = tasks.join_next() => match ended {
                    Ok(at) => drop(running.remove(&at)),
                    Err(error) => {
                        tracing::error!(%error, "the work on an issuing list panicked");
                        running.clear();
                    }
                },
                () = sleep(LOOKED_EVERY) => {}
            }
        }
        // Each gives its turn back, so that another process goes on at once.
        let ended = async { while tasks.join_next().await.is_some() {} };
        drop(timeout(ENDED_WITHIN, ended).await);
    }

    /// The lists that are worked on.
    async fn noted(&self) -> Result<Vec<NotedList>> {
        let (store, instance) = (&self.shared.store, TenantId::instance());
        let found = all(store, &instance, RUNNING, |note| {
            Ok(NotedList::read(&note.id))
        });
        Ok(found.await?.into_iter().flatten().collect())
    }

    /// The roles of the organisation with this tenant.
    async fn roles_of(&self, tenant: &TenantId) -> Result<Arc<OrganisationRoles>> {
        if *tenant == self.roles.main.organisation.issuer {
            return Ok(self.roles.main.clone());
        }
        let hosted = self.roles.organisations().of_tenant(tenant).await?;
        let hosted = hosted.ok_or_else(|| Error::not_found("organisation-unknown"))?;
        match hosted.record.state {
            OrganisationState::Active => self.roles.of(&hosted).await,
            _ => Err(Error::new(ErrorKind::Forbidden, "organisation-suspended")),
        }
    }
}

/// The work on one list.
struct ListWork {
    lists: IssuingLists,
    at: NotedList,
    stopping: watch::Receiver<bool>,
}

impl ListWork {
    /// Works while this process has the turn.
    async fn run(mut self, process: String) -> NotedList {
        let mut turn = WorkTurn::of(TURN, &self.at.id, &process);
        if let Err(error) = self.worked(&mut turn).await {
            tracing::warn!(list = self.at.id, %error, "an issuing list waits");
            self.pause().await;
        }
        turn.release(self.shift()).await;
        self.at
    }

    async fn worked(&mut self, turn: &mut WorkTurn) -> Result<()> {
        while !*self.stopping.borrow() && turn.hold(self.shift()).await? {
            match self.step().await? {
                Onward::More => {}
                Onward::Later => self.pause().await,
                Onward::Over => return self.forget().await,
            }
        }
        Ok(())
    }

    /// Does the next piece.
    async fn step(&self) -> Result<Onward> {
        let stored = match list_record(&self.lists.shared.store, &self.at).await {
            Err(error) if error.kind == ErrorKind::NotFound => return Ok(Onward::Over),
            read => read?,
        };
        match stored.list.state {
            ListState::Offering => self.offer(stored).await,
            ListState::Mailing => self.mail(stored).await,
            _ => Ok(Onward::Over),
        }
    }

    /// Waits for a moment, not longer than the instance runs.
    async fn pause(&mut self) {
        tokio::select! {
            _ = self.stopping.changed() => {}
            () = sleep(PAUSE) => {}
        }
    }

    fn shift(&self) -> Shift<'_> {
        let shared = &self.lists.shared;
        Shift {
            store: &shared.store,
            clock: &shared.clock,
            owner: &self.at.tenant,
        }
    }

    /// Removes the note about a list that is over or gone.
    async fn forget(&self) -> Result<()> {
        let batch = self.at.forgotten(Batch::new(self.at.tenant.clone()));
        self.lists.shared.store.commit(batch).await?;
        Ok(())
    }

    /// A batch with the list as it is now.
    fn batch(&self, stored: &StoredList) -> Result<Batch> {
        stored.written_in(Batch::new(self.at.tenant.clone()), &self.at.id)
    }

    /// Goes on to a state in which the chunks are worked on from the first, or in which the list is over.
    async fn turned(&self, mut stored: StoredList, state: ListState) -> Result<Onward> {
        stored.list.state = state;
        stored.list.next = 0;
        if state.is_over() {
            stored.list.ended = Some(self.lists.shared.clock.now());
        }
        self.lists.committed(self.batch(&stored)?).await?;
        Ok(match state.is_over() {
            true => Onward::Over,
            false => Onward::More,
        })
    }
}
