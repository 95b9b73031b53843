//! What an erasure removes of the people and the keys of an organisation.

use selfsame_core::organisation::OrganisationName;
use selfsame_driver::Result;
use selfsame_store::{Batch, Page};

use crate::invitation::INVITATION;
use crate::key::KEY;
use crate::operators::{Operators, home, of_organisation};
use crate::people::{MEMBER, member};

impl Operators {
    /// Removes at most `limit` of the invitations, the keys and the people of an organisation, in one commit. The account of
    /// a person who works for no other organisation goes too. Returns how many were removed.
    ///
    /// # Errors
    /// The store's.
    pub async fn erase(&self, organisation: &OrganisationName, limit: usize) -> Result<usize> {
        let (home, tag, page) = (home(), of_organisation(organisation), Page::first(limit));
        // Invitations first, so that no person joins the organisation meanwhile.
        for kind in [INVITATION, KEY, MEMBER] {
            let found = self.store.find(&home, kind, &tag, &page).await?;
            let mut batch = Batch::new(home.clone());
            for stored in &found {
                batch = batch.delete(kind, &stored.id);
                if kind == MEMBER {
                    let member = member(stored)?;
                    if self.roles_of(&member.person).await?.len() == 1 {
                        batch = self.accounts.deletion(batch, &member.email).await?;
                    }
                }
            }
            if !found.is_empty() {
                self.store.commit(batch).await?;
                return Ok(found.len());
            }
        }
        Ok(0)
    }
}
