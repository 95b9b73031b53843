//! Makes facts of the claims of a credential.

use selfsame_crypto::time::seconds_of_rfc3339;
use serde_json::{Map, Value};

use super::{AddressMapping, BookMapping, ClaimNames};
use crate::facts::{AddressFact, AttributeFact, BookFacts, NameFact, RelatedTopic, TopicKey};

/// Maximum number of bytes of the number or name of a topic.
const SOURCE_ID_MAX: usize = 200;
/// Maximum number of characters of a fact. A longer one is cut.
const FACT_MAX: usize = 500;

/// All misfits.
pub const MISFITS: [Misfit; 3] = [Misfit::SourceId, Misfit::Date, Misfit::Text];

/// Why a credential cannot be an entry of a book.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Misfit {
    /// The number or name of its topic is absent, empty, too long, or neither a text nor a whole number.
    SourceId,
    /// A date is not one.
    Date,
    /// A claim that is to be a fact is an object or a list.
    Text,
}

impl BookMapping {
    /// The facts of a credential with these claims.
    ///
    /// # Errors
    /// If the claims do not say what it is about, or a fact has another form.
    pub fn facts(&self, claims: &Map<String, Value>) -> Result<BookFacts, Misfit> {
        let source_id = source_id(claims, &self.topic.source_id)?.ok_or(Misfit::SourceId)?;
        let mut facts = BookFacts::about(TopicKey {
            kind: self.topic.kind.clone(),
            source_id,
        });
        facts.founds = self.topic.founds;
        for name in &self.names {
            if let Some(text) = text(claims, &name.claim)? {
                let kind = name.kind.clone();
                facts.names.push(NameFact { kind, text });
            }
        }
        for address in &self.addresses {
            facts.addresses.extend(address.fact(claims)?);
        }
        for attribute in &self.attributes {
            if let Some(value) = text(claims, &attribute.claim)? {
                facts.attributes.push(AttributeFact {
                    kind: attribute.kind.clone(),
                    is_facet: attribute.facet,
                    value,
                });
            }
        }
        for related in &self.relationships {
            if let Some(source_id) = self::source_id(claims, &related.source_id)? {
                let kind = related.kind.clone();
                facts.related.push(RelatedTopic {
                    relation: related.relation.clone(),
                    topic: TopicKey { kind, source_id },
                });
            }
        }
        facts.cardinality = self.cardinality(claims)?;
        facts.effective = date(claims, self.effective_date.as_ref())?;
        facts.expires = date(claims, self.expiry_date.as_ref())?;
        if let Some(inactive) = &self.inactive {
            let value = text(claims, &inactive.claim)?;
            facts.inactive = value.is_some_and(|value| inactive.values.contains(&value));
        }
        Ok(facts)
    }

    /// What tells credentials of one type about one topic apart. JSON, so that no two lists of values look alike.
    fn cardinality(&self, claims: &Map<String, Value>) -> Result<String, Misfit> {
        let values = self.cardinality.iter().map(|claim| text(claims, claim));
        let values: Vec<Option<String>> = values.collect::<Result<_, _>>()?;
        Ok(Value::from_iter(values).to_string())
    }
}

impl AddressMapping {
    /// The address; `None` if the claims have no part of it.
    fn fact(&self, claims: &Map<String, Value>) -> Result<Option<AddressFact>, Misfit> {
        let part = |claim: &Option<ClaimNames>| match claim {
            Some(claim) => text(claims, claim),
            None => Ok(None),
        };
        let lines = self.civic_address.iter().map(|claim| text(claims, claim));
        let lines: Vec<Option<String>> = lines.collect::<Result<_, _>>()?;
        let lines: Vec<String> = lines.into_iter().flatten().collect();
        let fact = AddressFact {
            addressee: part(&self.addressee)?,
            civic_address: (!lines.is_empty()).then(|| lines.join(", ")),
            city: part(&self.city)?,
            province: part(&self.province)?,
            postal_code: part(&self.postal_code)?,
            country: part(&self.country)?,
        };
        Ok((fact != AddressFact::default()).then_some(fact))
    }
}

/// The claim at a path, unless it is absent or null.
pub(super) fn at<'a>(claims: &'a Map<String, Value>, path: &[String]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    let value = claims.get(first).filter(|value| !value.is_null())?;
    match rest {
        [] => Some(value),
        rest => at(value.as_object()?, rest),
    }
}

/// A claim as one line of text, trimmed; `None` if it is absent or empty.
fn text(claims: &Map<String, Value>, path: &[String]) -> Result<Option<String>, Misfit> {
    let text = match at(claims, path) {
        None => return Ok(None),
        Some(Value::String(text)) => one_line(text),
        Some(Value::Bool(truth)) => truth.to_string(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Array(_) | Value::Object(_) | Value::Null) => return Err(Misfit::Text),
    };
    Ok(Some(text).filter(|text| !text.is_empty()))
}

/// A text with its white space and control characters as single blanks, cut to the length of a fact.
fn one_line(text: &str) -> String {
    let parts = text.split(|one: char| one.is_whitespace() || one.is_control());
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    parts.join(" ").chars().take(FACT_MAX).collect()
}

/// The number or name of a topic: a text without blanks at its ends and control characters, or a whole number.
fn source_id(claims: &Map<String, Value>, path: &[String]) -> Result<Option<String>, Misfit> {
    let id = match at(claims, path) {
        None => return Ok(None),
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(Value::Number(number)) if !number.is_f64() => number.to_string(),
        Some(_) => return Err(Misfit::SourceId),
    };
    match id.len() {
        0 => Ok(None),
        length if length > SOURCE_ID_MAX || id.chars().any(char::is_control) => {
            Err(Misfit::SourceId)
        }
        _ => Ok(Some(id)),
    }
}

/// The seconds from 1970 to a date or a time.
fn date(claims: &Map<String, Value>, path: Option<&ClaimNames>) -> Result<Option<i64>, Misfit> {
    let Some(text) = path.map_or(Ok(None), |path| text(claims, path))? else {
        return Ok(None);
    };
    let midnight = || seconds_of_rfc3339(&format!("{text}T00:00:00Z"));
    let seconds = seconds_of_rfc3339(&text).or_else(midnight);
    seconds.map(Some).ok_or(Misfit::Date)
}
