//! The schemas and types of a book, and its credentials as searches of all versions find them.

use std::collections::BTreeMap;

use selfsame_book_view::v2::{ExpandedCredential, TypeLanguage};
use selfsame_book_view::v4::{ResultPage, ShownSchema, ShownType};
use selfsame_driver::{Error, Result};

use super::Search;
use crate::books::Book;

impl Book {
    /// The schemas of the types that appear in the book.
    ///
    /// # Errors
    /// The store's.
    pub async fn schemas(&self) -> Result<Vec<ShownSchema>> {
        let types = self.credential_types().await?.into_iter();
        Ok(types.map(|one| one.schema).collect())
    }

    /// A schema, by the number of its type.
    ///
    /// # Errors
    /// `NotFound`; the store's.
    pub async fn schema(&self, number: i64) -> Result<ShownSchema> {
        Ok(self.credential_type(number).await?.schema)
    }

    /// A type that appears in the book, by its number.
    ///
    /// # Errors
    /// `NotFound`; the store's.
    pub async fn credential_type(&self, number: i64) -> Result<ShownType> {
        let mut types = self.credential_types().await?.into_iter();
        let found = types.find(|one| one.id == number);
        found.ok_or_else(|| Error::not_found("book-type-absent"))
    }

    /// The labels of the claims of a type that the book shows, by its number.
    ///
    /// # Errors
    /// `NotFound`; the store's.
    pub async fn language(&self, number: i64) -> Result<TypeLanguage> {
        let known = self.credential_type(number).await?.schema.name;
        let types = self.types().await?;
        let absent = || Error::not_found("book-type-absent");
        let one = types.newest(&known).ok_or_else(absent)?;
        let mapping = one.book.as_ref().ok_or_else(absent)?;
        let mut language = TypeLanguage::default();
        for (_, path) in mapping.claims() {
            let mut claims = one.claims.iter();
            if let Some(claim) = claims.find(|claim| claim.path == *path) {
                let name = path.join(".");
                let (label, help) = (texts(claim.label.clone()), texts(claim.help.clone()));
                language.claim_labels.insert(name.clone(), label);
                language.claim_descriptions.insert(name, help);
            }
        }
        Ok(language)
    }

    /// The credentials that found the topics of a search, with their topics.
    ///
    /// # Errors
    /// As [`Self::search`].
    pub async fn credentials_found(
        &self,
        search: &Search,
    ) -> Result<ResultPage<ExpandedCredential>> {
        let found = self.search(search).await?;
        let ids: Vec<i64> = found.results.iter().map(|topic| topic.id).collect();
        let mut results = Vec::with_capacity(ids.len());
        for topic in self.topics(&ids).await? {
            results.push(self.expanded(&topic.main.credential_id).await?);
        }
        // Links lead on at the address that was called, whose parameters they have.
        let query = |link: Option<String>| {
            link.and_then(|link| link.split_once('?').map(|(_, query)| format!("?{query}")))
        };
        Ok(ResultPage {
            total: found.total,
            page_size: found.page_size,
            page: found.page,
            first_index: found.first_index,
            last_index: found.last_index,
            next: query(found.next),
            previous: query(found.previous),
            results,
        })
    }
}

/// Texts by language.
fn texts(labels: impl Into<BTreeMap<Box<str>, Box<str>>>) -> BTreeMap<String, String> {
    let texts = labels.into().into_iter();
    texts
        .map(|(language, text)| (language.into(), text.into()))
        .collect()
}
