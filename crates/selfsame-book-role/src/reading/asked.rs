//! The parameters of a search, as OrgBook's API names them.

use selfsame_book::query::{
    FILTERS_MAX, FOUND_MAX, FacetKind, Ordering, PAGE_MAX, SearchQuery, TEXT_MAX,
};
use selfsame_driver::{Error, Result};
use url::Url;

use selfsame_book_view::v4::ResultPage;

/// Number of results on a page, unless the search says otherwise.
const PAGE: usize = 10;
/// Maximum number of parameters of a search.
const PARAMETERS_MAX: usize = 50;

/// A search with the page that is wanted of its results.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Search {
    /// What is searched for.
    pub query: SearchQuery,
    /// The number of the page, from 1.
    page: usize,
    /// The number of results on a page.
    page_size: usize,
    /// The parameters, without that of the page.
    parameters: Vec<(String, String)>,
}

impl Search {
    /// The search that a query string asks for. Parameters that it does not know are left out, as OrgBook's clients
    /// expect.
    ///
    /// # Errors
    /// `BadRequest` for a text, a page or an order that is not possible.
    pub fn of(
        parameters: impl Iterator<Item = (impl AsRef<str>, impl AsRef<str>)>,
    ) -> Result<Self> {
        let mut asked = AskedSearch::default();
        for (number, (name, value)) in parameters.enumerate() {
            if number >= PARAMETERS_MAX {
                return Err(Error::bad_request("book-search-wide").with("maximum", &PARAMETERS_MAX));
            }
            asked.take(name.as_ref(), value.as_ref())?;
        }
        asked.search()
    }

    /// The numbers of the topics on the page.
    pub(super) fn window<'a>(&self, ids: &'a [i64]) -> &'a [i64] {
        let from = self.page.saturating_sub(1).saturating_mul(self.page_size);
        let to = from.saturating_add(self.page_size).min(ids.len());
        ids.get(from..to).unwrap_or_default()
    }

    /// The page of results.
    pub(super) fn page<T>(&self, path: &Url, ids: &[i64], results: Vec<T>) -> ResultPage<T> {
        let from = self.page.saturating_sub(1).saturating_mul(self.page_size);
        let last = from.saturating_add(results.len());
        let is_there = !results.is_empty();
        ResultPage {
            total: ids.len(),
            page_size: self.page_size,
            page: self.page,
            first_index: if is_there { from.saturating_add(1) } else { 0 },
            last_index: if is_there { last } else { 0 },
            next: (last < ids.len() && is_there)
                .then(|| self.link(path, self.page.saturating_add(1))),
            previous: (self.page > 1).then(|| self.link(path, self.page.saturating_sub(1))),
            results,
        }
    }

    fn link(&self, path: &Url, page: usize) -> String {
        let mut link = path.clone();
        let mut pairs = link.query_pairs_mut();
        for (name, value) in &self.parameters {
            pairs.append_pair(name, value);
        }
        pairs.append_pair("page", &page.to_string());
        drop(pairs);
        link.into()
    }
}

/// What was asked so far.
#[derive(Default)]
struct AskedSearch {
    text: String,
    ordering: Ordering,
    filters: Vec<(FacetKind, String)>,
    inactive: Option<String>,
    revoked: Option<String>,
    page: Option<usize>,
    page_size: Option<usize>,
    parameters: Vec<(String, String)>,
}

impl AskedSearch {
    fn take(&mut self, name: &str, value: &str) -> Result<()> {
        let number = || {
            let number = value.parse::<usize>().ok().filter(|number| *number > 0);
            number.ok_or_else(|| Error::bad_request("book-parameter").with("name", name))
        };
        match name {
            "page" => {
                self.page = Some(number()?);
                return Ok(());
            }
            "q" | "name" => value.clone_into(&mut self.text),
            "ordering" => {
                let ordering = Ordering::named(value);
                self.ordering = ordering
                    .ok_or_else(|| Error::bad_request("book-parameter").with("name", name))?;
            }
            "page_size" => self.page_size = Some(number()?.min(PAGE_MAX)),
            "inactive" => self.inactive = Some(value.to_owned()),
            "revoked" => self.revoked = Some(value.to_owned()),
            "category" | "issuer_id" | "type_id" | "credential_type_id" if value.is_empty() => {}
            "category" => self.filters.push((FacetKind::Category, value.to_owned())),
            "issuer_id" => self.filters.push((FacetKind::Issuer, value.to_owned())),
            "type_id" => self.filters.push((FacetKind::Type, value.to_owned())),
            "credential_type_id" => {
                self.filters
                    .push((FacetKind::CredentialType, value.to_owned()));
            }
            // A category by its name: `category:entity_status=ACT`.
            other => match other.split_once(':') {
                Some(("category", of)) if !value.is_empty() => {
                    self.filters
                        .push((FacetKind::Category, format!("{of}::{value}")));
                }
                _ => return Ok(()),
            },
        }
        self.parameters.push((name.to_owned(), value.to_owned()));
        Ok(())
    }

    fn search(self) -> Result<Search> {
        let long = |_| Error::bad_request("book-search-long").with("maximum", &TEXT_MAX);
        let mut query = SearchQuery::of(&self.text).map_err(long)?;
        if self.filters.len() > FILTERS_MAX {
            return Err(Error::bad_request("book-search-wide").with("maximum", &FILTERS_MAX));
        }
        query.ordering = self.ordering;
        for (kind, value) in self.filters {
            query = query.filtered(kind, value);
        }
        // Both are false unless the search says otherwise; an empty value or `any` asks for both.
        for (kind, value) in [
            (FacetKind::Inactive, self.inactive),
            (FacetKind::Revoked, self.revoked),
        ] {
            match value.as_deref().unwrap_or("false") {
                "" | "any" => {}
                value => query = query.filtered(kind, value),
            }
        }
        let (page, page_size) = (self.page.unwrap_or(1), self.page_size.unwrap_or(PAGE));
        if page.saturating_sub(1).saturating_mul(page_size) >= FOUND_MAX {
            return Err(Error::bad_request("book-page-far").with("maximum", &FOUND_MAX));
        }
        Ok(Search {
            query,
            page,
            page_size,
            parameters: self.parameters,
        })
    }
}

#[cfg(test)]
mod tests {
    use selfsame_book::query::Facet;

    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Result<Search> {
        Search::of(pairs.iter().copied())
    }

    fn facets(search: &Search) -> Vec<String> {
        search.query.filters.iter().map(Facet::to_string).collect()
    }

    #[test]
    fn revoked_and_inactive_topics_are_left_out_unless_they_are_asked_for() {
        let search = of(&[
            ("q", "whale"),
            ("unknown", "x"),
            ("category", "kind::BC"),
            ("category:status", "ACT"),
        ]);
        let found = ["c:kind::BC", "c:status::ACT", "x:false", "r:false"];
        assert_eq!(facets(&search.unwrap()), found);
        let all = of(&[("inactive", ""), ("revoked", "any")]).unwrap();
        assert_eq!(facets(&all), [""; 0]);
    }

    #[test]
    fn pages_link_to_their_neighbours_with_the_same_search() {
        let search = of(&[("q", "a & b"), ("page", "2"), ("page_size", "3")]).unwrap();
        let ids: Vec<i64> = (0..8).collect();
        assert_eq!(search.window(&ids), [3, 4, 5]);
        let path = "https://book.example/api/v4/search/topic".parse().unwrap();
        let page = search.page(&path, &ids, vec![(); 3]);
        assert_eq!((page.first_index, page.last_index, page.total), (4, 6, 8));
        let next = "https://book.example/api/v4/search/topic?q=a+%26+b&page_size=3&page=3";
        assert_eq!(page.next.as_deref(), Some(next));
        assert!(page.previous.is_some());
        let last = of(&[("page", "3"), ("page_size", "3")]).unwrap();
        assert_eq!(last.page(&path, &ids, vec![(); 2]).next, None);
        let beyond = of(&[("page", "9")]).unwrap();
        assert!(beyond.window(&ids).is_empty());
        assert_eq!(beyond.page::<()>(&path, &ids, Vec::new()).next, None);
    }

    #[test]
    fn what_is_not_possible_is_refused() {
        for (name, value) in [
            ("page", "0"),
            ("page", "-1"),
            ("page", "x"),
            ("page", "2000"),
            ("page", "18446744073709551615"),
            ("page_size", "0"),
            ("ordering", "name; DROP"),
        ] {
            assert!(of(&[(name, value)]).is_err(), "{name}={value}");
        }
        assert!(of(&[("q", &"x".repeat(300))]).is_err());
        assert!(of(&[("category", "a::b"); 21]).is_err());
        assert!(of(&[("unknown", "x"); 51]).is_err());
        let sized = of(&[("page_size", "100000")]).unwrap();
        assert_eq!(sized.page_size, PAGE_MAX);
    }
}
