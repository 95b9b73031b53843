//! The shapes of OrgBook's API, versions 2 and 3, where they differ from version 4 (aries-vcr, `server/vcr-server/api/v2`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::v4::{ShownAddress, ShownAttribute, ShownCredential, ShownName, ShownSet};

/// A topic with its facts.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct NamedTopic {
    /// Its number.
    pub id: i64,
    /// When it was entered, RFC 3339.
    pub create_timestamp: String,
    /// When it was changed, RFC 3339.
    pub update_timestamp: String,
    /// Its number or name in the register that it comes from.
    pub source_id: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its names.
    pub names: Vec<ShownName>,
    /// The name under which it is known here.
    pub local_name: Option<ShownName>,
    /// The name under which it is registered elsewhere, if that is another one.
    pub remote_name: Option<ShownName>,
    /// Its addresses.
    pub addresses: Vec<ShownAddress>,
    /// Its attributes.
    pub attributes: Vec<ShownAttribute>,
}

/// A credential with its topic and its set.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ExpandedCredential {
    /// The credential.
    #[serde(flatten)]
    pub credential: ShownCredential,
    /// The name under which its topic is known here.
    pub local_name: Option<ShownName>,
    /// The name under which its topic is registered elsewhere.
    pub remote_name: Option<ShownName>,
    /// Its topic.
    pub topic: NamedTopic,
    /// The topics to which its topic is related.
    pub related_topics: Vec<NamedTopic>,
    /// Its set, without credentials; absent if the topic has very many.
    pub credential_set: Option<ShownSet>,
}

/// The labels of the claims of a type: for each claim its texts by language.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
pub struct TypeLanguage {
    /// The labels of values; none.
    pub category_labels: BTreeMap<String, BTreeMap<String, String>>,
    /// Texts that explain claims.
    pub claim_descriptions: BTreeMap<String, BTreeMap<String, String>>,
    /// The labels of claims.
    pub claim_labels: BTreeMap<String, BTreeMap<String, String>>,
}

/// What the verification of a credential found.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct VerifySuccess {
    /// Whether the credential is valid now.
    pub success: bool,
    /// What was found.
    pub result: crate::VerifiedEntry,
}

/// The name under which a topic is known here, and the one under which it is registered elsewhere: an assumed name comes
/// before the name of the entity.
#[must_use]
pub fn local_and_remote(names: &[ShownName]) -> [Option<ShownName>; 2] {
    let of = |kind: &str| names.iter().find(|name| name.kind == kind).cloned();
    match of("entity_name_assumed") {
        Some(assumed) => [Some(assumed), of("entity_name")],
        None => [of("entity_name").or_else(|| names.first().cloned()), None],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assumed_name_is_the_local_one() {
        let name = |kind: &str| ShownName {
            id: 1,
            text: format!("the {kind}"),
            language: None,
            kind: kind.to_owned(),
            credential_id: 2,
        };
        let told = |kinds: &[&str]| {
            let names: Vec<ShownName> = kinds.iter().map(|kind| name(kind)).collect();
            local_and_remote(&names).map(|name| name.map(|name| name.kind))
        };
        let some = |kind: &str| Some(kind.to_owned());
        assert_eq!(told(&["entity_name"]), [some("entity_name"), None]);
        assert_eq!(
            told(&["entity_name", "entity_name_assumed"]),
            [some("entity_name_assumed"), some("entity_name")]
        );
        assert_eq!(told(&["trade_name"]), [some("trade_name"), None]);
        assert_eq!(told(&[]), [None, None]);
    }
}
