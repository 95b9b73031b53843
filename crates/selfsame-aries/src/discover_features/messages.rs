//! The messages of both versions.

use selfsame_didcomm::Message;
use selfsame_didcomm::message::Semver;
use serde::{Deserialize, Serialize};

use crate::wire::{self, Unreadable, Vocabulary};

/// Questions and answers of one message, at most.
const LIST_MAX: usize = 256;
/// The type of a feature that is a protocol; version 1 knows no other.
pub(super) const PROTOCOL: &str = "protocol";

/// A message of the protocol.
#[derive(Clone, Debug, PartialEq)]
pub enum FeatureMessage {
    /// `query` of version 1, `queries` of version 2.
    Queries(Vec<FeatureQuery>),
    /// `disclose` of version 1, `disclosures` of version 2.
    Disclosures(Vec<Feature>),
}

/// A question.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct FeatureQuery {
    /// The type of the features: `protocol`, `goal-code`.
    #[serde(rename = "feature-type")]
    pub feature_type: String,
    /// Which features: their identifier, in which `*` stands for any text.
    #[serde(rename = "match")]
    pub pattern: String,
}

/// Something that an agent can do.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Feature {
    /// Its type.
    #[serde(rename = "feature-type")]
    pub feature_type: String,
    /// Its identifier: of a protocol, such as `https://didcomm.org/trust_ping/1.0`.
    pub id: String,
    /// The roles that the agent has in it.
    #[serde(
        default,
        deserialize_with = "wire::or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub roles: Vec<String>,
}

#[derive(Deserialize, Serialize)]
struct QueryBody {
    query: String,
}

#[derive(Deserialize, Serialize)]
struct DiscloseBody {
    protocols: Vec<SpokenProtocol>,
}

#[derive(Deserialize, Serialize)]
struct SpokenProtocol {
    pid: String,
    #[serde(
        default,
        deserialize_with = "wire::or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    roles: Vec<String>,
}

#[derive(Deserialize, Serialize)]
struct QueriesBody {
    queries: Vec<FeatureQuery>,
}

#[derive(Deserialize, Serialize)]
struct DisclosuresBody {
    disclosures: Vec<Feature>,
}

impl FeatureQuery {
    /// Whether it asks for this feature.
    pub fn matches(&self, feature: &Feature) -> bool {
        self.feature_type == feature.feature_type && matches(&self.pattern, &feature.id)
    }
}

/// Whether the text fits the pattern, in which `*` stands for any text. The parts between are found from left to right,
/// so it takes time linear in the text for each part.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut left) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts = rest.split('*').collect::<Vec<_>>();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match left.split_once(part) {
            Some((_, after)) => left = after,
            None => return false,
        }
    }
    left.ends_with(last)
}

impl Vocabulary for FeatureMessage {
    const PROTOCOL: &'static str = "discover-features";
    const VERSIONS: &'static [Semver] = &[Semver::new(2, 0), Semver::new(1, 0)];
    const ADOPTS: bool = false;

    fn read(message: &Message) -> Result<Self, Unreadable> {
        let feature_type = || PROTOCOL.to_owned();
        let read = match (message.kind.version.major, message.kind.name.as_str()) {
            (1, "query") => {
                let pattern = wire::body::<QueryBody>(message)?.query;
                let feature_type = feature_type();
                Self::Queries(vec![FeatureQuery {
                    feature_type,
                    pattern,
                }])
            }
            (1, "disclose") => {
                let body: DiscloseBody = wire::body(message)?;
                let each = body.protocols.into_iter().map(|protocol| Feature {
                    feature_type: feature_type(),
                    id: protocol.pid,
                    roles: protocol.roles,
                });
                Self::Disclosures(each.collect())
            }
            (2, "queries") => Self::Queries(wire::body::<QueriesBody>(message)?.queries),
            (2, "disclosures") => {
                Self::Disclosures(wire::body::<DisclosuresBody>(message)?.disclosures)
            }
            _ => return Err(Unreadable::Name),
        };
        let length = match &read {
            Self::Queries(queries) => queries.len(),
            Self::Disclosures(features) => features.len(),
        };
        match length > LIST_MAX {
            true => Err(Unreadable::Rule("the message has too many features")),
            false => Ok(read),
        }
    }

    /// The name in version 2. Writing in version 1 gives the message the name that it has there.
    fn name(&self) -> &'static str {
        match self {
            Self::Queries(_) => "queries",
            Self::Disclosures(_) => "disclosures",
        }
    }

    fn write(&self, message: &mut Message) {
        if message.kind.version.major > 1 {
            return match self.clone() {
                Self::Queries(queries) => wire::put_body(message, &QueriesBody { queries }),
                Self::Disclosures(disclosures) => {
                    wire::put_body(message, &DisclosuresBody { disclosures })
                }
            };
        }
        message.kind = message.kind.sibling(self.first_name());
        match self {
            Self::Queries(queries) => {
                let query = queries.first().map(|query| query.pattern.clone());
                let query = query.unwrap_or_default();
                wire::put_body(message, &QueryBody { query });
            }
            Self::Disclosures(features) => {
                let protocols = features
                    .iter()
                    .filter(|feature| feature.feature_type == PROTOCOL);
                let protocols = protocols.map(|feature| SpokenProtocol {
                    pid: feature.id.clone(),
                    roles: feature.roles.clone(),
                });
                let protocols = protocols.collect();
                wire::put_body(message, &DiscloseBody { protocols });
            }
        }
    }
}

impl FeatureMessage {
    fn first_name(&self) -> &'static str {
        match self {
            Self::Queries(_) => "query",
            Self::Disclosures(_) => "disclose",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        let id = "https://didcomm.org/tictactoe/1.0";
        for pattern in [
            "*",
            id,
            "https://didcomm.org/tictactoe/1.*",
            "*tictactoe*",
            "https://*/1.0",
            "**",
        ] {
            assert!(matches(pattern, id), "{pattern}");
        }
        for pattern in [
            "",
            "https://didcomm.org/tictactoe",
            "*2.0",
            "tictactoe*",
            "*1.0*1.0",
        ] {
            assert!(!matches(pattern, id), "{pattern}");
        }
    }
}
