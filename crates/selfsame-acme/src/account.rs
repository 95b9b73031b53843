//! The account with an authority: made once for a directory, and kept.

use instant_acme::{Account, ExternalAccountKey, NewAccount};
use selfsame_store::Store;

use crate::call::DirectoryCalls;
use crate::failure::AcmeFailure;
use crate::records::AccountRecord;

/// Where the account is, and what it is made with.
pub(crate) struct AccountTerms {
    /// The authority's directory.
    pub directory: String,
    /// Whom the authority writes to (RFC 8555 §7.3).
    pub contact: Vec<String>,
    /// The account that the operator has with the authority already (RFC 8555 §7.3.4).
    pub external: Option<ExternalAccountKey>,
}

impl AccountTerms {
    /// The kept account, or a new one.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn open(
        &self,
        store: &Store,
        calls: &DirectoryCalls,
    ) -> Result<Account, AcmeFailure> {
        let builder = Account::builder_with_http(Box::new(calls.clone()));
        let Some(kept) = AccountRecord::read(store, &self.directory).await? else {
            return self.make(store, calls).await;
        };
        let is_reached_there = kept.contact == self.contact;
        let account = builder.from_credentials(kept.credentials).await?;
        if !is_reached_there {
            account.update_contacts(&self.contact()).await?;
            self.keep_contact(store).await?;
        }
        Ok(account)
    }

    async fn make(&self, store: &Store, calls: &DirectoryCalls) -> Result<Account, AcmeFailure> {
        let builder = Account::builder_with_http(Box::new(calls.clone()));
        let contact = self.contact();
        let wanted = NewAccount {
            contact: &contact,
            // `AcmeSettings::check` lets no other through.
            terms_of_service_agreed: true,
            only_return_existing: false,
        };
        let external = self.external.as_ref();
        let made = builder.create(&wanted, self.directory.clone(), external);
        let (account, credentials) = made.await?;
        let record = AccountRecord::new(&self.directory, &self.contact, credentials);
        record.keep(store).await?;
        tracing::info!(
            directory = self.directory,
            account = account.id(),
            "an account was made with an authority"
        );
        Ok(account)
    }

    async fn keep_contact(&self, store: &Store) -> Result<(), AcmeFailure> {
        if let Some(mut kept) = AccountRecord::read(store, &self.directory).await? {
            kept.contact.clone_from(&self.contact);
            kept.keep(store).await?;
        }
        Ok(())
    }

    fn contact(&self) -> Vec<&str> {
        self.contact.iter().map(String::as_str).collect()
    }
}
