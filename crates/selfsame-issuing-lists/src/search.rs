//! The search of what was issued: by the words of a reference, which are an index, and by status and type.

use selfsame_book::text::words;
use selfsame_driver::Result;
use selfsame_driver::paging::{Listing, Paging};
use selfsame_openid::OrganisationRoles;
use selfsame_openid::view::issuer::{IssuedCredential, WhichCredentials};

use crate::lists::IssuingLists;

/// The credentials that one request looks through at most; a next page goes on after them.
const LOOKED_AT: usize = 2_000;
/// The fewest credentials that are read at a time.
const READ_MIN: usize = 20;

impl IssuingLists {
    /// The issued credentials that fit, newest first. A page can have fewer entries than asked for, and a next page.
    ///
    /// # Errors
    /// `BadRequest` for a cursor that was made up; the store's.
    pub async fn issued(
        &self,
        roles: &OrganisationRoles,
        which: &WhichCredentials,
    ) -> Result<Listing<IssuedCredential>> {
        let issuer = roles.issuer()?;
        let sought = words(which.q.as_deref().unwrap_or_default());
        // The longest word is that of the fewest credentials, as a rule.
        let rarest = sought.iter().max_by_key(|word| word.chars().count());
        let mut paging = Paging {
            after: which.after.clone(),
            limit: which.limit,
        };
        let room = paging.limit();
        let (mut items, mut looked) = (Vec::new(), 0_usize);
        loop {
            paging.limit = Some(room.saturating_sub(items.len()));
            let listed = match (&which.offer, rarest) {
                (Some(offer), _) => issuer.issued(Some(offer), &paging).await?,
                (None, Some(word)) => issuer.issued_by_word(word, &paging).await?,
                (None, None) => issuer.issued(None, &paging).await?,
            };
            looked = looked.saturating_add(listed.items.len());
            let fitting = listed.items.into_iter();
            items.extend(fitting.filter(|one| fits(one, which, &sought)));
            let is_full = room.saturating_sub(items.len()) < READ_MIN.min(room);
            if listed.next.is_none() || is_full || looked >= LOOKED_AT {
                let next = listed.next;
                return Ok(Listing { items, next });
            }
            paging.after = listed.next;
        }
    }
}

fn fits(one: &IssuedCredential, which: &WhichCredentials, sought: &[String]) -> bool {
    let has = words(one.label.as_deref().unwrap_or_default());
    sought.iter().all(|word| has.contains(word))
        && which.status.is_none_or(|status| one.status == status)
        && which
            .type_id
            .as_deref()
            .is_none_or(|type_id| one.type_id == type_id)
}
