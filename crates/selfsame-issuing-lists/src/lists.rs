//! What an organisation does with its lists.

use std::sync::{Arc, OnceLock};

use selfsame_core::Shared;
use selfsame_crypto::encoding::base64url_encode;
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::decode;
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_openid::issuer::OfferDrafts;
use selfsame_openid::view::issuer::NewOffer;
use selfsame_openid::{OrganisationRoles, Roles};
use selfsame_store::{Batch, Page, StoreError, TenantId};
use serde_json::Map;
use tokio::sync::Notify;
use url::Url;

use crate::mail::ListMail;
use crate::record::{LIST, ListRecord, NotedList, ReferenceDigests, list_record};
use crate::view::{IssuingList, ListFault, ListState, NewIssuingList};

/// The most lists of an organisation that are not over.
const OPEN_MAX: usize = 10;
/// How many of the newest lists are looked at to count those.
const LOOKED_AT: usize = 100;
/// The longest name of a file, in characters.
const NAME_MAX: usize = 200;

/// The issuing lists of one process. Clones are the same.
#[derive(Clone)]
pub struct IssuingLists {
    pub(crate) shared: Arc<Shared>,
    pub(crate) roles: Arc<Roles>,
    /// The mail server, if the settings name one; set before the instance starts.
    pub(crate) mail: Arc<OnceLock<Arc<dyn ListMail>>>,
    /// The wallet of this instance, if it has one.
    pub(crate) wallet: Option<Url>,
    /// Wakes the worker of this process.
    pub(crate) given: Arc<Notify>,
}

impl IssuingLists {
    /// The lists of these organisations. [`Self::work`] works on them.
    #[must_use]
    pub fn new(shared: Arc<Shared>, roles: Arc<Roles>) -> Self {
        Self {
            shared,
            roles,
            mail: Arc::default(),
            wallet: None,
            given: Arc::default(),
        }
    }

    /// Has offers mailed by this server.
    pub fn mail_by(&self, mail: Arc<dyn ListMail>) {
        // The first one stays.
        let _ = self.mail.set(mail);
    }

    /// These lists with the wallet whose links people can open in a browser.
    #[must_use]
    pub fn with_wallet(self, wallet: Option<Url>) -> Self {
        Self { wallet, ..self }
    }

    /// Whether offers can be mailed.
    #[must_use]
    pub fn has_mail(&self) -> bool {
        self.mail.get().is_some()
    }

    /// Begins a list. Its file is received next.
    ///
    /// # Errors
    /// As `Issuer::create_offer` for a type that cannot be offered; `Conflict` while too many others are not over.
    pub async fn create(
        &self,
        roles: &OrganisationRoles,
        new: &NewIssuingList,
    ) -> Result<IssuingList> {
        if new.mail && !self.has_mail() {
            return Err(Error::bad_request("list-mail-absent"));
        }
        let texts = [&new.name, &new.digest].into_iter().flatten();
        if { texts }.any(|text| text.chars().count() > NAME_MAX) {
            return Err(Error::bad_request("list-name-long").with("most", &NAME_MAX));
        }
        let list = ListRecord::begun(new, self.shared.clock.now());
        let sample = NewOffer {
            type_id: new.type_id.clone(),
            format: new.format.clone(),
            claims: Map::new(),
            examples: true,
            uses: None,
            tx_code: new.tx_code,
            by_sign_in: false,
            needs_approval: None,
            by_reference: true,
            expires_in: Some(list.lifetime()),
            label: None,
        };
        let desk = roles.issuer()?.desk().await?;
        desk.draft(&sample, &mut OfferDrafts::default())?;
        let tenant = &roles.organisation.issuer;
        self.check_others(tenant).await?;
        let ctx = self.shared.clock.ctx();
        let id = base64url_encode(&ctx.random::<16>("list/id"));
        let batch = Batch::new(tenant.clone()).put(list.put(&id)?);
        self.shared.store.commit(batch).await?;
        Ok(list.view(&id))
    }

    /// Refuses a list of an organisation that has enough others.
    async fn check_others(&self, tenant: &TenantId) -> Result<()> {
        let newest = Page::newest(LOOKED_AT);
        let found = self.shared.store.list(tenant, LIST, &newest).await?;
        let mut open = 0;
        for read in found {
            let list: ListRecord = decode(&read.value)?;
            open += usize::from(!list.state.is_over());
        }
        match open < OPEN_MAX {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::Conflict, "lists-many").with("most", &OPEN_MAX)),
        }
    }

    /// Judges a list whose file was received whole. Nothing is offered yet.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` for a list that was judged already.
    pub async fn check(&self, roles: &OrganisationRoles, id: &str) -> Result<IssuingList> {
        let at = self.at(roles, id);
        let mut received = self.received(roles, &at).await?;
        let mut digests = ReferenceDigests(std::mem::take(&mut received.digests.0));
        let list = &mut received.stored.list;
        for portion in 0..list.portions {
            digests.read(&self.shared.store, &at, portion).await?;
        }
        for fault in digests.repeated() {
            list.note(fault);
        }
        list.first.sort_by_key(|fault| fault.line);
        if list.rows == 0 && list.faults == 0 {
            let why = Reason::new("list-empty");
            let (line, column) = (1, 1);
            list.note(ListFault { line, column, why });
        }
        list.reader = None;
        list.state = ListState::Checked;
        if list.faults > 0 {
            list.state = ListState::Refused;
            list.ended = Some(self.shared.clock.now());
        }
        let batch = received.puts(Batch::new(at.tenant.clone()), &at)?;
        let batch = received.stored.written_in(batch, id)?;
        self.committed(batch).await?;
        let list = &received.stored.list;
        let (rows, faults) = (list.rows, list.faults);
        tracing::info!(list = id, rows, faults, "an issuing list was judged");
        Ok(list.view(id))
    }

    /// Makes the offers of a list from now on. A list that was not judged is judged first, and one with a fault is not
    /// offered.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` for a list that was issued already.
    pub async fn issue(&self, roles: &OrganisationRoles, id: &str) -> Result<IssuingList> {
        let at = self.at(roles, id);
        let mut stored = list_record(&self.shared.store, &at).await?;
        if stored.list.state == ListState::Receiving {
            let judged = self.check(roles, id).await?;
            if judged.state == ListState::Refused {
                return Ok(judged);
            }
            stored = list_record(&self.shared.store, &at).await?;
        }
        if stored.list.state != ListState::Checked {
            return Err(Error::new(ErrorKind::Conflict, "list-received"));
        }
        stored.list.state = ListState::Offering;
        let batch = stored.written_in(Batch::new(at.tenant.clone()), id)?;
        self.committed(at.noted(batch)).await?;
        self.given.notify_one();
        Ok(stored.list.view(id))
    }

    /// A list.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn one(&self, roles: &OrganisationRoles, id: &str) -> Result<IssuingList> {
        let stored = list_record(&self.shared.store, &self.at(roles, id)).await?;
        Ok(stored.list.view(id))
    }

    /// The lists, newest first.
    ///
    /// # Errors
    /// `BadRequest` for a cursor that was made up; the store's.
    pub async fn list(
        &self,
        roles: &OrganisationRoles,
        paging: &Paging,
    ) -> Result<Listing<IssuingList>> {
        let tenant = &roles.organisation.issuer;
        let found = self.shared.store.list(tenant, LIST, &page(paging)).await?;
        listing(&found, paging, |read| {
            let list: ListRecord = decode(&read.value)?;
            Ok(list.view(&read.id))
        })
    }

    /// Ends a list: no further offer is made or mailed. What was offered stands.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` for a list that is over.
    pub async fn cancel(&self, roles: &OrganisationRoles, id: &str) -> Result<IssuingList> {
        let at = self.at(roles, id);
        loop {
            let mut stored = list_record(&self.shared.store, &at).await?;
            if stored.list.state.is_over() {
                return Err(Error::new(ErrorKind::Conflict, "list-over"));
            }
            stored.list.state = ListState::Cancelled;
            stored.list.reader = None;
            stored.list.ended = Some(self.shared.clock.now());
            let batch = stored.written_in(Batch::new(at.tenant.clone()), id)?;
            match self.shared.store.commit(at.forgotten(batch)).await {
                Ok(_) => return Ok(stored.list.view(id)),
                // Some offers were made in between.
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    pub(crate) fn at(&self, roles: &OrganisationRoles, id: &str) -> NotedList {
        NotedList {
            tenant: roles.organisation.issuer.clone(),
            id: id.to_owned(),
        }
    }

    /// Commits what is for a list as it was read.
    pub(crate) async fn committed(&self, batch: Batch) -> Result<()> {
        match self.shared.store.commit(batch).await {
            Ok(_) => Ok(()),
            Err(StoreError::Conflict { .. }) => {
                Err(Error::new(ErrorKind::Conflict, "list-changing"))
            }
            Err(error) => Err(error.into()),
        }
    }
}
