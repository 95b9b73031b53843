//! Presentation requests: what a verifier asks for.

use std::collections::{BTreeMap, BTreeSet};

use selfsame_crypto::json::Limits;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::encoding::normalise_attribute;
use super::interval::Interval;
use super::limits::{MAX_ATTRIBUTES, MAX_REFERENTS};
use super::message::{Message, SMALL, why};
use super::nonce::Nonce;
use super::query::Query;
use super::schema::check_text;
use crate::Error;
use crate::cl::{Predicate, PredicateType};

/// A presentation request (AnonCreds v1.0, "Create Presentation Request").
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct PresentationRequest {
    /// The nonce that the presentation must answer.
    pub nonce: Nonce,
    /// A name, chosen by the verifier.
    pub name: String,
    /// A version, chosen by the verifier.
    pub version: String,
    /// Attributes, by referent.
    #[serde(default)]
    pub requested_attributes: BTreeMap<String, RequestedAttribute>,
    /// Predicates, by referent.
    #[serde(default)]
    pub requested_predicates: BTreeMap<String, RequestedPredicate>,
    /// The non-revocation interval of all referents that have none of their own.
    pub non_revoked: Option<Interval>,
    /// The version of the format.
    #[serde(default)]
    pub ver: RequestVersion,
}

/// The version of a request's format, which decides the kind of identifiers in its restrictions.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum RequestVersion {
    /// `1.0`, with legacy identifiers; the default.
    #[default]
    V1,
    /// `2.0`, with qualified identifiers.
    V2,
}

/// One attribute, or a group of attributes of one credential.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct RequestedAttribute {
    /// The attribute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The attributes of a group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
    /// The restrictions that the credential must meet.
    pub restrictions: Option<Query>,
    /// The interval within which the credential must not have been revoked.
    pub non_revoked: Option<Interval>,
}

/// One comparison of an attribute with a number.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct RequestedPredicate {
    /// The attribute.
    pub name: String,
    /// The comparison operator.
    pub p_type: Comparison,
    /// The number that the attribute is compared with.
    pub p_value: i32,
    /// The restrictions that the credential must meet.
    pub restrictions: Option<Query>,
    /// The interval within which the credential must not have been revoked.
    pub non_revoked: Option<Interval>,
}

/// How an attribute is compared with a number.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub enum Comparison {
    /// `>=`
    #[serde(rename = ">=")]
    AtLeast,
    /// `<=`
    #[serde(rename = "<=")]
    AtMost,
    /// `>`
    #[serde(rename = ">")]
    Above,
    /// `<`
    #[serde(rename = "<")]
    Below,
}

impl Comparison {
    /// The operator in the JSON form.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AtLeast => ">=",
            Self::AtMost => "<=",
            Self::Above => ">",
            Self::Below => "<",
        }
    }

    /// Whether `value` compares with `bound` as this operator says.
    pub const fn holds(self, value: i64, bound: i64) -> bool {
        match self {
            Self::AtLeast => value >= bound,
            Self::AtMost => value <= bound,
            Self::Above => value > bound,
            Self::Below => value < bound,
        }
    }
}

impl RequestedPredicate {
    /// The predicate in its mathematical form.
    pub(crate) fn predicate(&self) -> Predicate {
        Predicate {
            attr_name: normalise_attribute(&self.name),
            p_type: match self.p_type {
                Comparison::AtLeast => PredicateType::AtLeast,
                Comparison::AtMost => PredicateType::AtMost,
                Comparison::Above => PredicateType::Above,
                Comparison::Below => PredicateType::Below,
            },
            value: self.p_value,
        }
    }
}

impl RequestedAttribute {
    /// The requested names: one, or those of a group.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let group = self.names.iter().flatten().map(String::as_str);
        self.name.as_deref().into_iter().chain(group)
    }

    /// Whether the holder may answer with a self-attested value, which is so if nothing restricts it.
    pub fn may_be_self_attested(&self) -> bool {
        self.name.is_some() && self.restrictions.as_ref().is_none_or(Query::is_empty)
    }

    fn validate(&self) -> Result<(), Error> {
        let name = self.name.as_deref().filter(|name| !name.is_empty());
        let names = self.names.as_deref().filter(|names| !names.is_empty());
        match (name, names) {
            (Some(_), None) | (None, Some(_)) => {}
            (None, None) => return malformed("a requested attribute names none"),
            (Some(_), Some(_)) => {
                return malformed("a requested attribute has a name and a group of names");
            }
        }
        if self.names().count() > MAX_ATTRIBUTES {
            return Err(Error::TooLarge {
                what: "a group of attributes",
                limit: MAX_ATTRIBUTES,
            });
        }
        let mut names = BTreeSet::new();
        if !self
            .names()
            .all(|name| names.insert(normalise_attribute(name)))
        {
            return malformed("a group names one attribute twice");
        }
        self.names().try_for_each(check_name)
    }
}

impl Message for PresentationRequest {
    type Text = String;
    const WHAT: &'static str = "the presentation request";
    const LIMITS: Limits = SMALL;

    fn validate(&self) -> Result<(), Error> {
        let attributes = self.requested_attributes.len();
        let referents = attributes.saturating_add(self.requested_predicates.len());
        if referents == 0 {
            return malformed("it asks for nothing");
        }
        if referents > MAX_REFERENTS {
            return Err(Error::TooLarge {
                what: "the number of referents",
                limit: MAX_REFERENTS,
            });
        }
        check_text(&self.name, "the request's name")?;
        check_text(&self.version, "the request's version")?;
        for referent in self
            .requested_attributes
            .keys()
            .chain(self.requested_predicates.keys())
        {
            check_text(referent, "a referent")?;
        }
        for attribute in self.requested_attributes.values() {
            attribute.validate()?;
        }
        for predicate in self.requested_predicates.values() {
            check_name(&predicate.name)?;
        }
        self.check_tags()
    }
}

impl PresentationRequest {
    /// All restrictions in the request.
    pub(crate) fn restrictions(&self) -> impl Iterator<Item = &Query> {
        let attributes = self.requested_attributes.values();
        let predicates = self.requested_predicates.values();
        let attributes = attributes.filter_map(|a| a.restrictions.as_ref());
        attributes.chain(predicates.filter_map(|p| p.restrictions.as_ref()))
    }

    /// Checks a further rule for a verifier's own requests: in version 1.0, no restriction uses a qualified identifier
    /// (AnonCreds v1.0, "Create Presentation Request", `ver`). Published verifiers do not insist on it, so
    /// [`Message::from_json`] does not either.
    pub fn check_version(&self) -> Result<(), Error> {
        const TAGS: [&str; 5] = [
            "issuer_did",
            "cred_def_id",
            "schema_id",
            "schema_issuer_did",
            "rev_reg_id",
        ];
        let mut qualified = false;
        for query in self.restrictions() {
            query.visit(&mut |tag, value| {
                qualified |= TAGS.contains(&tag) && value.starts_with("did:");
            });
        }
        if qualified && self.ver == RequestVersion::V1 {
            return malformed("a restriction has a qualified identifier, which takes version 2.0");
        }
        Ok(())
    }

    fn check_tags(&self) -> Result<(), Error> {
        if super::restriction::mixes_tags(self.restrictions()) {
            return malformed("its restrictions mix an issuer's old tag with the new one");
        }
        Ok(())
    }
}

impl Serialize for RequestVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Self::V1 => "1.0",
            Self::V2 => "2.0",
        })
    }
}

impl<'de> Deserialize<'de> for RequestVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Option::<String>::deserialize(deserializer)?.as_deref() {
            None | Some("1.0") => Ok(Self::V1),
            Some("2.0") => Ok(Self::V2),
            Some(_) => Err(serde::de::Error::custom(why::VERSION)),
        }
    }
}

fn check_name(name: &str) -> Result<(), Error> {
    check_text(name, "a requested attribute's name")?;
    if normalise_attribute(name).is_empty() {
        return malformed("a requested attribute has no name");
    }
    Ok(())
}

fn malformed<T>(why: &'static str) -> Result<T, Error> {
    Err(Error::Malformed {
        what: PresentationRequest::WHAT,
        why,
    })
}
