//! What a mapping makes of the claims of one credential.

use serde::{Deserialize, Serialize};

/// What tells a topic from all others of its book.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct TopicKey {
    /// The type of the topic.
    pub kind: String,
    /// Its number or name in the register that it comes from.
    pub source_id: String,
}

/// The facts of one credential.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BookFacts {
    /// What it is about.
    pub topic: TopicKey,
    /// Whether it can be the first one about its topic.
    pub founds: bool,
    /// Names of the topic.
    pub names: Vec<NameFact>,
    /// Addresses of the topic.
    pub addresses: Vec<AddressFact>,
    /// Further facts.
    pub attributes: Vec<AttributeFact>,
    /// Other topics to which the topic is related.
    pub related: Vec<RelatedTopic>,
    /// What tells it from other credentials of its type about the topic; JSON.
    pub cardinality: String,
    /// From when it holds, in seconds from 1970, if a claim says so.
    pub effective: Option<i64>,
    /// Until when it holds, in seconds from 1970, if a claim says so.
    pub expires: Option<i64>,
    /// Whether it says that the topic is no longer active.
    pub inactive: bool,
}

/// A name of a topic.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct NameFact {
    /// The type of the name.
    #[serde(rename = "type")]
    pub kind: String,
    /// The name.
    pub text: String,
}

/// An address of a topic.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct AddressFact {
    /// The addressee.
    pub addressee: Option<String>,
    /// The lines of the address.
    pub civic_address: Option<String>,
    /// The city.
    pub city: Option<String>,
    /// The province.
    pub province: Option<String>,
    /// The postal code.
    pub postal_code: Option<String>,
    /// The country.
    pub country: Option<String>,
}

/// A further fact about a topic.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct AttributeFact {
    /// The type of the attribute.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether topics can be filtered by it.
    #[serde(default)]
    pub is_facet: bool,
    /// Its value, as a text.
    pub value: String,
}

/// Another topic to which a topic is related.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct RelatedTopic {
    /// What the topic is to the other one.
    pub relation: String,
    /// The other one.
    pub topic: TopicKey,
}

impl BookFacts {
    /// No fact about this topic yet.
    #[must_use]
    pub const fn about(topic: TopicKey) -> Self {
        Self {
            topic,
            founds: true,
            names: Vec::new(),
            addresses: Vec::new(),
            attributes: Vec::new(),
            related: Vec::new(),
            cardinality: String::new(),
            effective: None,
            expires: None,
            inactive: false,
        }
    }
}

impl AddressFact {
    /// The address in one line.
    #[must_use]
    pub fn line(&self) -> String {
        let parts = [
            &self.addressee,
            &self.civic_address,
            &self.city,
            &self.province,
            &self.postal_code,
            &self.country,
        ];
        let parts: Vec<&str> = parts
            .into_iter()
            .filter_map(|part| part.as_deref())
            .collect();
        parts.join(", ")
    }
}
