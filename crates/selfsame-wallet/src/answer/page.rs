//! Answering a page that asks by a browser: the answer goes back with the browser, and nothing is posted (OpenID4VP 1.0
//! Appendix A.4).

use selfsame_core::events::{Event, EventKind};
use selfsame_driver::{Error, Result};
use selfsame_openid4vc::holder::AwaitingConsent;
use selfsame_store::{Batch, Expect, StoreError};
use serde_json::Value;

use super::{ASKED, Noted, Opened, over};
use crate::Wallet;
use crate::history::{KEPT, NewHistoryEntry};
use crate::view::{Answered, Person, RequestPreview, ReturnedAnswer};

impl Wallet {
    /// Previews a request that a browser has brought from a page.
    ///
    /// # Errors
    /// The store's; `Full` if too many previewed requests wait.
    pub async fn preview_of_page(
        &self,
        person: &Person,
        asked: AwaitingConsent,
    ) -> Result<RequestPreview> {
        let noted = None;
        self.previewed(person, Opened { asked, noted }).await
    }

    /// Writes down what is handed back to a page, then hands it back. This uses up the previewed request.
    pub(super) async fn handed_back(
        &self,
        person: &Person,
        opened: &Opened,
        entry: NewHistoryEntry,
        data: Value,
    ) -> Result<Answered> {
        let page = opened.asked.request.page.clone();
        let page = page.ok_or_else(|| Error::internal("no page asks"))?;
        let is_shared = entry.is("shared");
        let entry = entry.put(&self.shared.clock.ctx())?;
        let history = entry.id.clone();
        let mut batch = self.quotas.room_on(&person.tenant, &KEPT).await?.put(entry);
        if let Some(Noted { id, version }) = &opened.noted {
            batch = batch
                .expect(ASKED, id, Expect::Version(*version))
                .delete(ASKED, id);
        }
        self.written(batch, is_shared.then_some(&*history)).await?;
        let returned = ReturnedAnswer {
            origin: page.origin,
            protocol: page.protocol,
            data,
        };
        Ok(Answered {
            delivered: true,
            redirect_uri: None,
            history,
            returned: Some(returned),
        })
    }

    async fn written(&self, batch: Batch, shared: Option<&str>) -> Result<()> {
        let written = match shared {
            Some(history) => {
                let event = Event::new(EventKind::Presented, history);
                let committed = self.shared.events.commit(batch, event).await;
                committed.map(|_| ())
            }
            None => self.shared.store.commit(batch).await.map(|_| ()),
        };
        match written {
            Err(StoreError::Conflict { kind, .. }) if kind == ASKED => Err(over()),
            written => Ok(written?),
        }
    }
}
