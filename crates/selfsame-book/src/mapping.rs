//! How the claims of a credential type become facts of a book: the member `book` of a type's file.

mod anoncreds;
mod apply;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use anoncreds::{AnonCredsMapping, IDS_MAX, NamedObjects, is_id};
pub use apply::{MISFITS, Misfit};

/// The names of the object members that lead to a claim, from the outermost.
pub type ClaimNames = Vec<String>;

/// How a credential of a type appears in a book. docs/book.md explains each member.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct BookMapping {
    /// What the credential is about.
    pub topic: TopicMapping,
    /// Whether credentials that the organisation issues are entered into its own book, without a further call.
    #[serde(default, skip_serializing_if = "is_false")]
    pub automatic: bool,
    /// The names of the topic.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<NameMapping>,
    /// The addresses of the topic.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<AddressMapping>,
    /// Further facts about the topic.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<AttributeMapping>,
    /// Other topics to which the topic is related.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relationships: Vec<RelationshipMapping>,
    /// The claims that tell credentials about one topic apart. Those in which all of them are equal replace one another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cardinality: Vec<ClaimNames>,
    /// The claim with the date from which the credential holds. Default: when it was issued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_date: Option<ClaimNames>,
    /// The claim with the date until which it holds. Default: when the credential expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expiry_date: Option<ClaimNames>,
    /// Which values of a claim say that the topic is no longer active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inactive: Option<InactiveMapping>,
    /// Which AnonCreds credentials are of the type.
    #[serde(default, skip_serializing_if = "AnonCredsMapping::is_default")]
    pub anoncreds: AnonCredsMapping,
}

/// What a credential is about.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TopicMapping {
    /// The type of the topic, such as `registration.registries.ca`: letters, digits, `.`, `_` and `-`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The claim with its number or name in the register that it comes from.
    pub source_id: ClaimNames,
    /// Whether a credential of this type can be the first one about a topic. Others are refused for an unknown topic.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub founds: bool,
}

/// A name of the topic.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct NameMapping {
    /// The type of the name, such as `entity_name`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The claim with the name.
    pub claim: ClaimNames,
}

/// An address of the topic, put together from claims.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct AddressMapping {
    /// The claim with the addressee.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub addressee: Option<ClaimNames>,
    /// The claims with the lines of the address, joined by a comma.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub civic_address: Vec<ClaimNames>,
    /// The claim with the city.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<ClaimNames>,
    /// The claim with the province.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub province: Option<ClaimNames>,
    /// The claim with the postal code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub postal_code: Option<ClaimNames>,
    /// The claim with the country.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<ClaimNames>,
}

/// A further fact about the topic.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AttributeMapping {
    /// The type of the attribute, such as `entity_status`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The claim with its value.
    pub claim: ClaimNames,
    /// Whether topics can be filtered and counted by its value.
    #[serde(default, skip_serializing_if = "is_false")]
    pub facet: bool,
}

/// Another topic to which the topic is related.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RelationshipMapping {
    /// What the topic is to the other one, such as `operates`.
    pub relation: String,
    /// The type of the other topic.
    #[serde(rename = "type")]
    pub kind: String,
    /// The claim with the number or name of the other topic.
    pub source_id: ClaimNames,
}

/// Which values of a claim say that the topic is no longer active.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct InactiveMapping {
    /// The claim.
    pub claim: ClaimNames,
    /// Its values, as texts.
    pub values: Vec<String>,
}

impl BookMapping {
    /// All claims that it names, each with its place in the mapping, such as `names[0].claim`.
    pub fn claims(&self) -> Vec<(String, &ClaimNames)> {
        let mut named = vec![("topic.source_id".to_owned(), &self.topic.source_id)];
        for (number, name) in self.names.iter().enumerate() {
            named.push((format!("names[{number}].claim"), &name.claim));
        }
        for (number, address) in self.addresses.iter().enumerate() {
            let parts = address.parts();
            named.extend(parts.map(|(part, claim)| (format!("addresses[{number}].{part}"), claim)));
        }
        for (number, attribute) in self.attributes.iter().enumerate() {
            named.push((format!("attributes[{number}].claim"), &attribute.claim));
        }
        for (number, related) in self.relationships.iter().enumerate() {
            let place = format!("relationships[{number}].source_id");
            named.push((place, &related.source_id));
        }
        for (number, claim) in self.cardinality.iter().enumerate() {
            named.push((format!("cardinality[{number}]"), claim));
        }
        let dates = [
            ("effective_date", &self.effective_date),
            ("expiry_date", &self.expiry_date),
        ];
        for (place, claim) in dates {
            named.extend(claim.iter().map(|claim| (place.to_owned(), claim)));
        }
        if let Some(inactive) = &self.inactive {
            named.push(("inactive.claim".to_owned(), &inactive.claim));
        }
        named
    }

    /// All names that it gives to kinds, each with its place.
    pub fn kinds(&self) -> Vec<(String, &str)> {
        let mut kinds = vec![("topic.type".to_owned(), self.topic.kind.as_str())];
        for (number, name) in self.names.iter().enumerate() {
            kinds.push((format!("names[{number}].type"), &name.kind));
        }
        for (number, attribute) in self.attributes.iter().enumerate() {
            kinds.push((format!("attributes[{number}].type"), &attribute.kind));
        }
        for (number, related) in self.relationships.iter().enumerate() {
            kinds.push((format!("relationships[{number}].type"), &related.kind));
            let place = format!("relationships[{number}].relation");
            kinds.push((place, &related.relation));
        }
        kinds
    }
}

impl BookMapping {
    /// The claims that it names, which are those that a reader of the book sees: the path of each, joined by full stops,
    /// and its value.
    #[must_use]
    pub fn shown(&self, claims: &Map<String, Value>) -> Map<String, Value> {
        let named = self.claims().into_iter();
        let found = named.filter_map(|(_, path)| Some((path.join("."), apply::at(claims, path)?)));
        found.map(|(name, value)| (name, value.clone())).collect()
    }

    /// These claims without those that it does not name.
    #[must_use]
    pub fn only(&self, claims: &Map<String, Value>) -> Map<String, Value> {
        let mut kept = Map::new();
        for (_, path) in self.claims() {
            if let Some(value) = apply::at(claims, path) {
                put_at(&mut kept, path, value);
            }
        }
        kept
    }

    /// Lets it name claims as they are named now: `now` has the new path for the former one. Claims within them follow.
    pub fn follow(&mut self, now: &BTreeMap<ClaimNames, ClaimNames>) {
        for path in self.claims_mut() {
            let renamed = now.iter().find_map(|(former, new)| {
                let rest = path.strip_prefix(former.as_slice())?;
                Some([new.as_slice(), rest].concat())
            });
            if let Some(renamed) = renamed {
                *path = renamed;
            }
        }
    }

    fn claims_mut(&mut self) -> Vec<&mut ClaimNames> {
        let mut all = vec![&mut self.topic.source_id];
        all.extend(self.names.iter_mut().map(|name| &mut name.claim));
        for address in &mut self.addresses {
            let one = [
                &mut address.addressee,
                &mut address.city,
                &mut address.province,
                &mut address.postal_code,
                &mut address.country,
            ];
            all.extend(one.into_iter().flatten());
            all.extend(&mut address.civic_address);
        }
        all.extend(self.attributes.iter_mut().map(|one| &mut one.claim));
        all.extend(self.relationships.iter_mut().map(|one| &mut one.source_id));
        all.extend(&mut self.cardinality);
        all.extend(&mut self.effective_date);
        all.extend(&mut self.expiry_date);
        all.extend(self.inactive.as_mut().map(|one| &mut one.claim));
        all
    }
}

impl AddressMapping {
    /// The claims of its parts, each with the part's name.
    fn parts(&self) -> impl Iterator<Item = (&'static str, &ClaimNames)> {
        let one = [
            ("addressee", &self.addressee),
            ("city", &self.city),
            ("province", &self.province),
            ("postal_code", &self.postal_code),
            ("country", &self.country),
        ];
        let one = one
            .into_iter()
            .filter_map(|(part, claim)| Some((part, claim.as_ref()?)));
        let lines = self.civic_address.iter();
        one.chain(lines.map(|claim| ("civic_address", claim)))
    }
}

/// Puts a claim at a path. Where a shorter path has put the whole object already, it is there.
pub fn put_at(claims: &mut Map<String, Value>, path: &[String], value: &Value) {
    match path {
        [] => {}
        [last] => {
            claims.insert(last.clone(), value.clone());
        }
        [first, rest @ ..] => {
            let inner = claims
                .entry(first.clone())
                .or_insert_with(|| Value::Object(Map::new()));
            if let Some(inner) = inner.as_object_mut() {
                put_at(inner, rest, value);
            }
        }
    }
}

/// Whether a text can be the name of a kind: it stands in addresses and in filters.
#[must_use]
pub fn is_kind(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=128).contains(&text.len()) && text.bytes().all(fits)
}

fn yes() -> bool {
    true
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "the form that serde asks for"
)]
fn is_true(value: &bool) -> bool {
    *value
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "the form that serde asks for"
)]
fn is_false(value: &bool) -> bool {
    !*value
}

#[cfg(test)]
mod tests;
