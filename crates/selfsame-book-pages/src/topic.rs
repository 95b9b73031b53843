//! A topic: what is attested about it, how it is related, and since when.

use askama::Template;
use selfsame_book_view::ShownNeighbour;
use selfsame_book_view::v4::{FoundTopic, ShownAddress, ShownSet};

use crate::search::name;
use crate::{linked, picture};

/// A topic with its credentials.
#[derive(Template)]
#[template(path = "topic.html")]
pub struct TopicContent {
    /// What the paths of the organisation's pages begin with.
    pub here: String,
    /// The address of the page.
    pub url: String,
    /// The topic.
    pub topic: FoundTopic,
    /// Topics to which it is related.
    pub neighbours: Vec<ShownNeighbour>,
    /// Its credentials by set, the newest first.
    pub sets: Vec<ShownSet>,
    /// The number of the last set, if there are more.
    pub more: Option<i64>,
}

impl TopicContent {
    fn picture(&self) -> String {
        picture::relationships(name(&self.topic), &self.neighbours)
    }

    fn linked(&self) -> String {
        linked::organisation(&self.topic, &self.url)
    }

    fn line(&self, address: &ShownAddress) -> String {
        line(address)
    }
}

/// An address in one line.
pub(crate) fn line(address: &ShownAddress) -> String {
    let parts = [
        &address.addressee,
        &address.civic_address,
        &address.city,
        &address.province,
        &address.postal_code,
        &address.country,
    ];
    let parts: Vec<&str> = parts
        .into_iter()
        .filter_map(|part| part.as_deref())
        .collect();
    parts.join(", ")
}

#[cfg(test)]
pub(crate) mod tests {
    use selfsame_book_view::v4::{
        IssuerStanding, ShownAttribute, ShownIssuer, ShownName, ShownSchema, ShownType,
    };

    use super::*;

    /// A topic whose texts try to be HTML.
    pub fn topic() -> FoundTopic {
        FoundTopic {
            id: 7,
            source_id: "BC0001".to_owned(),
            kind: "registration".to_owned(),
            names: vec![ShownName {
                id: 1,
                text: "Blue <img src=x onerror=alert(1)> Whale & Co \"</script>".to_owned(),
                language: None,
                kind: "entity_name".to_owned(),
                credential_id: 3,
            }],
            addresses: vec![ShownAddress {
                id: 2,
                addressee: None,
                civic_address: Some("1 Main Street".to_owned()),
                city: Some("Victoria".to_owned()),
                province: None,
                postal_code: None,
                country: Some("CA".to_owned()),
                credential_id: 3,
            }],
            attributes: vec![ShownAttribute {
                id: 4,
                kind: "entity_type".to_owned(),
                format: Some("category".to_owned()),
                value: "BC".to_owned(),
                credential_id: 3,
                credential_type_id: 5,
            }],
            credential_set: set(),
            credential_type: kind(),
            inactive: false,
            revoked: false,
            effective_date: "1998-04-01T00:00:00Z".to_owned(),
            revoked_date: None,
        }
    }

    pub fn kind() -> ShownType {
        ShownType {
            id: 5,
            schema: ShownSchema {
                id: 5,
                name: "registration".to_owned(),
                version: "1".to_owned(),
                origin_did: "did:example:1".to_owned(),
            },
            issuer: ShownIssuer {
                id: 6,
                did: "did:example:1".to_owned(),
                name: "Registry".to_owned(),
                abbreviation: None,
                email: None,
                url: None,
                endpoint: None,
                has_logo: false,
                standing: IssuerStanding::Suspended,
            },
            has_logo: false,
            description: "Registration".to_owned(),
            credential_title: None,
            url: None,
            credential_def_id: None,
            highlighted_attributes: Vec::new(),
            format: None,
        }
    }

    fn set() -> ShownSet {
        ShownSet {
            id: 8,
            create_timestamp: "2026-01-01T00:00:00Z".to_owned(),
            update_timestamp: "2026-01-01T00:00:00Z".to_owned(),
            latest_credential_id: 3,
            topic_id: 7,
            first_effective_date: "1998-04-01T00:00:00Z".to_owned(),
            last_effective_date: "1998-04-01T00:00:00Z".to_owned(),
            credentials: Some(Vec::new()),
        }
    }

    #[test]
    fn a_topic_is_shown_with_its_neighbours_and_no_text_becomes_html() {
        let neighbour = |id: i64, is_from_other: bool, name: Option<&str>| ShownNeighbour {
            id,
            relation: "owned by".to_owned(),
            is_from_other,
            name: name.map(str::to_owned),
            source_id: "BC<2>".to_owned(),
        };
        let page = TopicContent {
            here: String::new(),
            url: "https://book.example/book/topic/7".to_owned(),
            topic: topic(),
            neighbours: vec![
                neighbour(9, false, Some("<Grey> Seal")),
                neighbour(10, true, None),
            ],
            sets: vec![set()],
            more: Some(8),
        };
        let page = page.render().unwrap();
        assert!(page.contains("1 Main Street, Victoria, CA"), "{page}");
        assert!(
            page.contains("/book/topic/9") && page.contains("&#60;Grey&#62; Seal"),
            "{page}"
        );
        assert!(page.contains("after=8"), "{page}");
        assert!(!page.contains("<img") && !page.contains("<Grey>"), "{page}");
        assert_eq!(page.matches("</script>").count(), 1, "{page}");
    }
}
