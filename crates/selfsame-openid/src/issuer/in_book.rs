//! Credentials that the organisation's own credential book has, because their type says so: what is left to the book in
//! the commit that issues or revokes them.

use selfsame_book::due::{DUE, DueNote, DueWork, ISSUED_ENTRY, IssuedEntry, entry_of};
use selfsame_crypto::ctx::Ctx;
use selfsame_driver::Result;
use selfsame_driver::record::{decode, encode};
use selfsame_openid4vc::issuer::Issuance;
use selfsame_openid4vc::issuer::credential::CredentialContent;
use selfsame_store::{Batch, MAX_PAGE, Page, Put, TenantId};
use selfsame_types::TypeSet;

use super::register::{ISSUED, IssuedCopies, IssuedRecord, of_entry};
use super::{CredentialSubject, Issuer};
use crate::view::issuer::CredentialStatus;

impl<'a> IssuedCopies<'a> {
    /// What is issued, with an entry if the newest version of its type says that its credentials are entered.
    pub fn of(
        subject: &'a CredentialSubject,
        content: &'a CredentialContent,
        types: &TypeSet,
        ctx: &Ctx,
    ) -> Self {
        let newest = types.newest(&subject.type_id);
        let mapping = newest.and_then(|one| one.book.as_ref());
        let is_entered = mapping.is_some_and(|mapping| mapping.automatic);
        Self {
            subject,
            content,
            entry: is_entered.then(|| entry_of(&ctx.token("issued/entry"))),
        }
    }
}

impl Issuer {
    /// What is left to the book when a credential is issued; nothing if its type says nothing of it.
    pub(super) fn left_to_book(
        &self,
        one: &IssuedCopies<'_>,
        issuance: &Issuance,
        types: &TypeSet,
    ) -> Result<Batch> {
        let batch = Batch::new(self.tenant().clone());
        let newest = types.newest(&one.subject.type_id);
        let mapping = newest.and_then(|newest| newest.book.as_ref());
        let first = issuance.response.credentials.first();
        let (Some(entry), Some(mapping), Some(first)) = (&one.entry, mapping, first) else {
            return Ok(batch);
        };
        let now = self.shared.clock.now();
        let issued = IssuedEntry {
            type_id: one.subject.type_id.clone(),
            issuer: one.content.issuer.clone(),
            claims: mapping.only(&one.subject.claims),
            credential: first.credential.clone(),
            issued: now.rounded_down(self.context.config.issuer.round_times_to),
        };
        let batch = batch.put(Put::new(ISSUED_ENTRY, entry, encode(&issued)?));
        Ok(batch.and(self.due(DueWork::Enter, entry, entry)?))
    }

    /// Tells the book of a status that is about to be committed.
    pub(super) fn told_to_book(
        &self,
        batch: Batch,
        id: &str,
        issued: &IssuedRecord,
    ) -> Result<Batch> {
        match &issued.entry {
            Some(entry) if issued.status == CredentialStatus::Revoked => {
                Ok(batch.and(self.due(DueWork::Revoke, entry, id)?))
            }
            _ => Ok(batch),
        }
    }

    fn due(&self, what: DueWork, entry: &str, of: &str) -> Result<Batch> {
        let note = DueNote {
            tenant: self.tenant().as_str().to_owned(),
            entry: entry.to_owned(),
            what,
        };
        let put = Put::new(DUE, what.note_id(of), encode(&note)?);
        Ok(Batch::new(TenantId::instance()).put(put))
    }

    /// Whether all copies of the credential that an entry has are revoked.
    ///
    /// # Errors
    /// The store's.
    pub async fn is_entry_revoked(&self, entry: &str) -> Result<bool> {
        let (tag, page) = (of_entry(entry), Page::first(MAX_PAGE));
        let copies = self.shared.store.find(self.tenant(), ISSUED, &tag, &page);
        let copies = copies.await?;
        for copy in &copies {
            let copy: IssuedRecord = decode(&copy.value)?;
            if copy.status != CredentialStatus::Revoked {
                return Ok(false);
            }
        }
        Ok(!copies.is_empty())
    }
}
