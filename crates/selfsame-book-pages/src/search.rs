//! The search of a book.

use askama::Template;
use selfsame_book_view::v4::{CountedFacet, FacetLists, FoundTopic, ResultPage};

/// A search with what it found.
#[derive(Template)]
#[template(path = "search.html")]
pub struct SearchContent {
    /// What the paths of the organisation's pages begin with.
    pub here: String,
    /// What is searched for.
    pub text: String,
    /// The categories that filter, as `name::value`.
    pub categories: Vec<String>,
    /// The results; none before the first search.
    pub found: Option<ResultPage<FoundTopic>>,
    /// What can filter the results further.
    pub facets: FacetLists,
    /// Whether words were read as similar ones.
    pub corrected: bool,
}

impl SearchContent {
    /// The query string of this search on a page, in a form that an attribute can have.
    fn query(&self, page: usize) -> String {
        let mut query = format!("q={}", encoded(&self.text));
        for category in &self.categories {
            query.push_str("&category=");
            query.push_str(&encoded(category));
        }
        if page > 1 {
            query.push_str(&format!("&page={page}"));
        }
        query
    }

    /// The query string with one more filter.
    fn with(&self, facet: &CountedFacet) -> String {
        format!("{}&category={}", self.query(1), encoded(&facet.value))
    }

    /// The query string without a filter.
    fn without(&self, category: &str) -> String {
        let mut query = format!("q={}", encoded(&self.text));
        for other in self.categories.iter().filter(|other| *other != category) {
            query.push_str("&category=");
            query.push_str(&encoded(other));
        }
        query
    }

    /// The filters that are not set yet.
    fn further(&self) -> impl Iterator<Item = &CountedFacet> {
        let is_set = |facet: &&CountedFacet| !self.categories.contains(&facet.value);
        self.facets.category.iter().filter(is_set).take(12)
    }
}

/// A category in words: `entity_type::BC` is `entity type: BC`.
pub(crate) fn category(value: &str) -> String {
    match value.split_once("::") {
        Some((name, value)) => format!("{}: {value}", name.replace('_', " ")),
        None => value.to_owned(),
    }
}

/// The first name of a topic, or else its number.
pub(crate) fn name(topic: &FoundTopic) -> &str {
    topic
        .names
        .first()
        .map_or(&topic.source_id, |name| &name.text)
}

/// A text as a part of a query string: everything but letters and digits as bytes.
pub(crate) fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                encoded.push(char::from(byte));
            }
            other => encoded.push_str(&format!("%{other:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topic::tests::topic;

    fn content() -> SearchContent {
        SearchContent {
            here: "/o/acme".to_owned(),
            text: "<b> & whale".to_owned(),
            categories: vec!["entity_type::BC".to_owned()],
            found: Some(ResultPage {
                total: 11,
                page_size: 10,
                page: 1,
                first_index: 1,
                last_index: 10,
                next: Some("next".to_owned()),
                previous: None,
                results: vec![topic()],
            }),
            facets: FacetLists {
                category: vec![CountedFacet {
                    value: "status::\"><script>".to_owned(),
                    count: 3,
                    text: None,
                }],
                ..FacetLists::default()
            },
            corrected: true,
        }
    }

    #[test]
    fn results_lead_to_topics_and_filters_keep_the_search() {
        let page = content().render().unwrap();
        assert!(page.contains("/o/acme/book/topic/7"), "{page}");
        assert!(page.contains("Nothing fits exactly"), "{page}");
        assert!(page.contains("page=2"), "{page}");
        assert!(page.contains("q=%3Cb%3E%20%26%20whale"), "{page}");
        assert!(page.contains("entity type: BC"), "{page}");
    }

    #[test]
    fn nothing_that_is_typed_or_entered_becomes_html() {
        let page = content().render().unwrap();
        assert!(
            !page.contains("<script>") && !page.contains("<b> &"),
            "{page}"
        );
        assert!(!page.contains("<img src=x"), "{page}");
    }
}
