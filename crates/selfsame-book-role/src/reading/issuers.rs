//! The issuers of a book. The index counts them by their numbers; their names are in its credentials.

use selfsame_book_index::backend::AfterNumber;
use selfsame_book_view::v4::ShownIssuer;
use selfsame_driver::{Error, Result};

use super::{HISTORY_MAX, SETS_MAX, Search};
use crate::books::{Book, failed};

/// Everything, whatever its state, with one result on a page.
const EVERYTHING: [(&str, &str); 3] = [("inactive", "any"), ("revoked", "any"), ("page_size", "1")];
/// The number of reads of the index by which one answer finds names that are not known yet.
const READS_MAX: usize = 60;

/// How many reads of the index an answer has left.
struct ReadsLeft(usize);

impl ReadsLeft {
    /// Takes one; false if none is left.
    fn take(&mut self) -> bool {
        let is_left = self.0 > 0;
        self.0 = self.0.saturating_sub(1);
        is_left
    }
}

impl Book {
    /// The issuers of the credentials that the book has, of those that the facets of all topics name. Those that this answer
    /// does not find in its number of reads are left out; the next ones go on.
    ///
    /// # Errors
    /// As [`Self::search`].
    pub async fn issuers(&self) -> Result<Vec<ShownIssuer>> {
        let everything = Search::of(EVERYTHING.into_iter())?;
        let counted = self.facets(&everything).await?.facets.fields.issuer_id;
        let shapes = self.shapes().await?;
        let (follower, mut reads) = (self.follower(), ReadsLeft(READS_MAX));
        for own in &shapes.standings.own {
            follower.issuers.note(own);
        }
        let mut issuers = Vec::new();
        for number in counted.iter().filter_map(|one| one.value.parse().ok()) {
            let id = match follower.issuers.of(number) {
                Some(known) => Some(known),
                None => self.issuer_sought(number, &mut reads).await?,
            };
            issuers.extend(id.map(|id| shapes.issuer(&id)));
        }
        Ok(issuers)
    }

    /// An issuer of credentials that the book has, by its number.
    ///
    /// # Errors
    /// `NotFound`; as [`Self::search`].
    pub async fn issuer(&self, number: i64) -> Result<ShownIssuer> {
        let mut reads = ReadsLeft(READS_MAX);
        let id = self.issuer_sought(number, &mut reads).await?;
        let id = id.ok_or_else(|| Error::not_found("book-issuer-absent"))?;
        Ok(self.shapes().await?.issuer(&id))
    }

    /// The identifier of an issuer: that of a credential of the first topic that has one of it.
    async fn issuer_sought(&self, number: i64, reads: &mut ReadsLeft) -> Result<Option<String>> {
        if !reads.take() {
            return Ok(None);
        }
        let text = number.to_string();
        let parameters = EVERYTHING.into_iter().chain([("issuer_id", text.as_str())]);
        let found = self.search(&Search::of(parameters)?).await?;
        let Some(topic) = found.results.into_iter().next() else {
            return Ok(None);
        };
        let follower = self.follower();
        follower.issuers.note(&topic.credential_type.issuer.did);
        if let Some(known) = follower.issuers.of(number) {
            return Ok(Some(known));
        }
        let page = AfterNumber {
            after: None,
            limit: SETS_MAX,
        };
        let sets = self.index().sets(&self.name, topic.id, page).await;
        for set in sets.map_err(failed)? {
            if !reads.take() {
                break;
            }
            let of_set = self.index().credentials(&self.name, set.id, HISTORY_MAX);
            for credential in of_set.await.map_err(failed)? {
                follower.issuers.note(&credential.issuer);
            }
            if let Some(found) = follower.issuers.of(number) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_a_bounded_number_of_reads() {
        let mut reads = ReadsLeft(2);
        assert_eq!([(); 4].map(|()| reads.take()), [true, true, false, false]);
    }
}
