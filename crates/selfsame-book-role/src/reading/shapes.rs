//! Makes the shapes of OrgBook's API of what the index has.

use std::sync::Arc;

use selfsame_book::EntryRecord;
use selfsame_book::facts::AddressFact;
use selfsame_book::number;
use selfsame_book_index::{IndexedCredential, IndexedFact, IndexedSet, IndexedTopic};
use selfsame_crypto::time::rfc3339_of_seconds;
use selfsame_types::{CredentialType, TypeSet};

use crate::standing::Standings;
use selfsame_book_view::v4::{
    FoundTopic, ShownAddress, ShownAttribute, ShownCredential, ShownIssuer, ShownName, ShownSchema,
    ShownSet, ShownType,
};

/// What the shapes need beside the index.
pub(super) struct Shapes {
    pub types: Arc<TypeSet>,
    /// What is known of issuers, and the name of the organisation for people.
    pub standings: Standings,
    pub title: String,
}

impl Shapes {
    pub fn found(&self, topic: &IndexedTopic) -> FoundTopic {
        let numbered = |kind: &'static str, fact: &IndexedFact, place: usize| {
            number::fact(&fact.credential.to_string(), kind, place)
        };
        let names = topic.names.iter().enumerate();
        let addresses = topic.addresses.iter().enumerate();
        let attributes = topic.attributes.iter().enumerate();
        FoundTopic {
            id: topic.id,
            source_id: topic.key.source_id.clone(),
            kind: topic.key.kind.clone(),
            names: names
                .map(|(place, fact)| ShownName {
                    id: numbered("name", fact, place),
                    text: fact.text.clone(),
                    language: None,
                    kind: fact.kind.clone(),
                    credential_id: fact.credential,
                })
                .collect(),
            addresses: addresses
                .map(|(place, fact)| address(fact, numbered("address", fact, place)))
                .collect(),
            attributes: attributes
                .map(|(place, fact)| ShownAttribute {
                    id: numbered("attribute", fact, place),
                    kind: fact.kind.clone(),
                    format: (fact.body == "true").then(|| "category".to_owned()),
                    value: fact.text.clone(),
                    credential_id: fact.credential,
                    credential_type_id: number::credential_type(&fact.type_id),
                })
                .collect(),
            credential_set: set(&topic.main_set),
            credential_type: self.shown_type(&topic.main.type_id, &topic.main.issuer),
            inactive: topic.main.inactive,
            revoked: topic.main.revoked.is_some(),
            effective_date: time(topic.main.effective),
            revoked_date: topic.main.revoked.map(time),
        }
    }

    pub fn credential(&self, indexed: &IndexedCredential, entry: &EntryRecord) -> ShownCredential {
        let one = self.types.newest(&indexed.type_id);
        let mapping = one.and_then(|one| one.book.as_deref());
        let facts = mapping.and_then(|mapping| mapping.facts(&entry.claims).ok());
        let (names, attributes) = facts
            .map(|facts| (facts.names, facts.attributes))
            .unwrap_or_default();
        let numbered = |kind, place| number::fact(&entry.credential_id, kind, place);
        let names = names.into_iter().enumerate();
        let attributes = attributes.into_iter().enumerate();
        ShownCredential {
            id: indexed.id,
            credential_type: self.shown_type(&indexed.type_id, &indexed.issuer),
            credential_id: indexed.credential_id.clone(),
            credential_def_id: entry.held.as_ref().map(|held| held.cred_def_id.clone()),
            effective_date: time(indexed.effective),
            inactive: indexed.inactive,
            latest: indexed.latest,
            revoked: indexed.revoked.is_some(),
            revoked_date: indexed.revoked.map(time),
            revoked_by: None,
            names: names
                .map(|(place, name)| ShownName {
                    id: numbered("name", place),
                    text: name.text,
                    language: None,
                    kind: name.kind,
                    credential_id: indexed.id,
                })
                .collect(),
            attributes: attributes
                .map(|(place, one)| ShownAttribute {
                    id: numbered("attribute", place),
                    kind: one.kind,
                    format: one.is_facet.then(|| "category".to_owned()),
                    value: one.value,
                    credential_id: indexed.id,
                    credential_type_id: number::credential_type(&indexed.type_id),
                })
                .collect(),
            raw_data: mapping
                .map(|mapping| mapping.shown(&entry.claims))
                .unwrap_or_default(),
        }
    }

    /// The types that appear in the book.
    pub fn types(&self) -> Vec<ShownType> {
        let own = self.standings.own.first().map_or("", String::as_str);
        let mapped = self.types.newest_of_each().filter(|one| one.book.is_some());
        mapped.map(|one| self.shown_type(&one.id, own)).collect()
    }

    /// The title of a type; its id if it is not known.
    pub fn title(&self, type_id: &str) -> String {
        self.types.title(type_id).to_owned()
    }

    /// The title of the type with this number.
    pub fn title_of_number(&self, value: &str) -> Option<String> {
        let of_number =
            |one: &&Arc<CredentialType>| number::credential_type(&one.id).to_string() == value;
        let one = self.types.newest_of_each().find(of_number)?;
        Some(one.name().to_owned())
    }

    fn shown_type(&self, type_id: &str, issuer: &str) -> ShownType {
        let one = self.types.newest(type_id);
        let id = number::credential_type(type_id);
        let facets = one.and_then(|one| one.book.as_ref()).map(|book| {
            let facets = book.attributes.iter().filter(|one| one.facet);
            facets.map(|one| one.kind.clone()).collect()
        });
        ShownType {
            id,
            schema: ShownSchema {
                id,
                name: type_id.to_owned(),
                version: one.map_or_else(String::new, |one| one.version.to_string()),
                origin_did: self.standings.own.first().cloned().unwrap_or_default(),
            },
            issuer: self.issuer(issuer),
            has_logo: one.is_some_and(|one| one.card.logo.is_some()),
            description: self.title(type_id),
            credential_title: one
                .map(|one| one.summary().to_owned())
                .filter(|text| !text.is_empty()),
            url: one.map(|one| one.vct.clone()),
            credential_def_id: None,
            highlighted_attributes: facets.unwrap_or_default(),
            format: None,
        }
    }

    pub fn issuer(&self, id: &str) -> ShownIssuer {
        let is_own = self.standings.own.iter().any(|name| name == id);
        ShownIssuer {
            id: number::issuer(id),
            did: id.to_owned(),
            name: if is_own {
                self.title.clone()
            } else {
                id.to_owned()
            },
            abbreviation: None,
            email: None,
            url: None,
            endpoint: None,
            has_logo: false,
            standing: self.standings.of(id),
        }
    }
}

/// A set without its credentials.
pub(super) fn set(set: &IndexedSet) -> ShownSet {
    ShownSet {
        id: set.id,
        create_timestamp: time(set.created),
        update_timestamp: time(set.updated),
        latest_credential_id: set.latest,
        topic_id: set.topic,
        first_effective_date: time(set.first_effective),
        last_effective_date: time(set.last_effective),
        credentials: None,
    }
}

/// A time as OrgBook writes it.
pub(super) fn time(seconds: i64) -> String {
    rfc3339_of_seconds(seconds)
}

fn address(fact: &IndexedFact, id: i64) -> ShownAddress {
    let parts: AddressFact = serde_json::from_str(&fact.body).unwrap_or_default();
    ShownAddress {
        id,
        addressee: parts.addressee,
        civic_address: parts.civic_address,
        city: parts.city,
        province: parts.province,
        postal_code: parts.postal_code,
        country: parts.country,
        credential_id: fact.credential,
    }
}
