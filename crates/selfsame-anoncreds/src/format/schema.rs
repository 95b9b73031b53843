//! Schemas: which attributes a credential has.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::encoding::normalise_attribute;
use super::identifier::IssuerId;
use super::limits::{MAX_ATTRIBUTES, MAX_NAME};
use super::message::{Message, why};
use crate::Error;

/// The attribute name of the holder's link secret in every credential; it was once called the master secret.
pub(crate) const LINK_SECRET: &str = "master_secret";

/// A schema (AnonCreds v1.0, "Schema Publisher: Publish Schema Object").
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", try_from = "Written")]
pub struct Schema {
    /// The schema's name.
    pub name: String,
    /// The schema's version, usually numbers and full stops.
    pub version: String,
    /// The attributes, in the publisher's order and spelling.
    pub attr_names: Vec<String>,
    /// The publisher.
    pub issuer_id: IssuerId,
}

/// The current JSON form and that of Indy's time, which names the issuer only within `id`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    name: String,
    version: String,
    #[serde(alias = "attr_names")]
    attr_names: Vec<String>,
    issuer_id: Option<IssuerId>,
    id: Option<String>,
}

impl TryFrom<Written> for Schema {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        let legacy = || written.id.as_deref().and_then(IssuerId::of_legacy);
        let issuer_id = written.issuer_id.clone().or_else(legacy);
        Ok(Self {
            issuer_id: issuer_id.ok_or(why::ISSUER)?,
            name: written.name,
            version: written.version,
            attr_names: written.attr_names,
        })
    }
}

impl Schema {
    /// The normalised names of the attributes, under which they are signed.
    pub fn attributes(&self) -> BTreeSet<String> {
        let names = self.attr_names.iter();
        names.map(|name| normalise_attribute(name)).collect()
    }
}

impl Message for Schema {
    type Text = String;
    const WHAT: &'static str = "the schema";

    fn validate(&self) -> Result<(), Error> {
        check_text(&self.name, "the schema's name")?;
        check_text(&self.version, "the schema's version")?;
        check_attributes(&self.attr_names, Self::WHAT)
    }
}

/// Refuses lists of attributes that are empty or too long, or in which two have one normalised name.
pub(crate) fn check_attributes(names: &[String], what: &'static str) -> Result<(), Error> {
    let malformed = |why| Err(Error::Malformed { what, why });
    if names.is_empty() {
        return malformed("there are no attributes");
    }
    if names.len() > MAX_ATTRIBUTES {
        return Err(Error::TooLarge {
            what: "the number of attributes",
            limit: MAX_ATTRIBUTES,
        });
    }
    let mut seen = BTreeSet::new();
    for name in names {
        check_text(name, "an attribute's name")?;
        let name = normalise_attribute(name);
        if name.is_empty() {
            return malformed("an attribute has no name");
        }
        if name == LINK_SECRET {
            return malformed("an attribute has the name of the link secret");
        }
        if !seen.insert(name) {
            return malformed("two attributes have one name");
        }
    }
    Ok(())
}

/// Refuses a text that is too long for a name.
pub(crate) fn check_text(text: &str, what: &'static str) -> Result<(), Error> {
    if text.len() > MAX_NAME {
        return Err(Error::TooLarge {
            what,
            limit: MAX_NAME,
        });
    }
    Ok(())
}
