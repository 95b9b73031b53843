//! Where a DID takes messages of DIDComm v2 (DIDComm v2.1, "Service Endpoint").

use selfsame_did::{Did, DidUrl, Document};
use serde_json::{Map, Value, json};
use url::Url;

/// The profile that says that DIDComm v2 is taken.
pub const PROFILE: &str = "didcomm/v2";
/// The type of such a service.
const TYPE: &str = "DIDCommMessaging";
/// Mediators and endpoints of one service, at most.
const LIST_MAX: usize = 6;
/// The schemes of endpoints.
const SCHEMES: [&str; 4] = ["https", "http", "wss", "ws"];

/// Where messages go.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct V2Service {
    /// A URL, or the DID of a mediator.
    pub to: V2Endpoint,
    /// The mediators, the one that gets the message first at first: each a DID, or a key of it.
    pub through: Vec<DidUrl>,
}

/// What an endpoint is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum V2Endpoint {
    /// Where messages are posted.
    Url(Url),
    /// A mediator, whose own endpoint counts; it is the first of those on the way.
    Mediator(Did),
}

impl V2Service {
    /// The first endpoint of a document that takes DIDComm v2 and can be used; `None` if it does not exist.
    pub fn of(document: &Document) -> Option<Self> {
        let mut services = document.service.iter();
        services.find_map(|service| {
            if !service.type_.iter().any(|one| one == TYPE) {
                return None;
            }
            let endpoints = match &service.endpoint {
                Value::Array(all) => all.as_slice(),
                one => std::slice::from_ref(one),
            };
            let mut endpoints = endpoints.iter().take(LIST_MAX);
            // Some agents write the members of the endpoint beside its URL.
            endpoints.find_map(|one| match one {
                Value::Object(members) => Self::read(members),
                Value::String(uri) => {
                    let mut members = service.other.clone();
                    members.insert("uri".to_owned(), json!(uri));
                    Self::read(&members)
                }
                _ => None,
            })
        })
    }

    fn read(members: &Map<String, Value>) -> Option<Self> {
        if let Some(accept) = members.get("accept").and_then(Value::as_array) {
            let mut profiles = accept.iter().filter_map(Value::as_str);
            let takes = accept.is_empty() || profiles.any(is_profile);
            takes.then_some(())?;
        }
        let keys = members.get("routingKeys").and_then(Value::as_array);
        let keys = keys.map_or(&[][..], Vec::as_slice);
        if keys.len() >= LIST_MAX {
            return None;
        }
        let through = keys.iter().map(|key| DidUrl::parse(key.as_str()?).ok());
        let through = through.collect::<Option<Vec<_>>>()?;
        let uri = members.get("uri")?.as_str()?;
        let to = match uri.starts_with("did:") {
            true => V2Endpoint::Mediator(uri.parse().ok()?),
            false => V2Endpoint::Url(posted(uri)?),
        };
        Some(Self { to, through })
    }
}

/// Whether a profile is of DIDComm v2, with whatever parameters.
pub fn is_profile(profile: &str) -> bool {
    let name = profile.split(';').next().unwrap_or_default();
    name.trim() == PROFILE
}

/// A URL that messages can be posted to.
fn posted(uri: &str) -> Option<Url> {
    let url = Url::parse(uri).ok()?;
    SCHEMES.contains(&url.scheme()).then_some(url)
}

/// The services of an agent at these endpoints, the preferred one first, without identifiers.
pub fn services(endpoints: &[&Url]) -> Vec<Map<String, Value>> {
    let each = endpoints.iter().map(|endpoint| {
        let service = json!({
            "type": TYPE,
            "serviceEndpoint": { "uri": endpoint, "accept": [PROFILE] },
        });
        match service {
            Value::Object(members) => members,
            _ => Map::new(),
        }
    });
    each.collect()
}

#[cfg(test)]
mod tests;
