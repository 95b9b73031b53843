//! The messages.

use selfsame_didcomm::Message;
use selfsame_didcomm::message::Semver;
use serde::{Deserialize, Serialize};

use crate::key::VerKey;
use crate::notification::ProblemReport;
use crate::wire::{self, Unreadable, Vocabulary};

/// Keys of one message, at most.
const KEYS_MAX: usize = 1_000;

/// A message of the protocol.
#[derive(Clone, Debug, PartialEq)]
pub enum MediationMessage {
    /// `mediate-request`.
    Request,
    /// `mediate-grant`.
    Grant {
        /// Where the mediator takes messages.
        endpoint: String,
        /// The mediator's keys, in the order in which they wrap a message.
        routing_keys: Vec<VerKey>,
    },
    /// `mediate-deny`.
    Deny,
    /// `keylist-update`.
    Update(Vec<KeyUpdate>),
    /// `keylist-update-response`.
    Updated(Vec<KeyUpdated>),
    /// `keylist-query`.
    Query(Option<KeyPage>),
    /// `keylist`.
    Keys {
        /// The keys.
        keys: Vec<VerKey>,
        /// What is left.
        left: Option<PageLeft>,
    },
    /// `problem-report`.
    Report(ProblemReport),
}

/// A change of the keys.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeyUpdate {
    /// The key.
    pub key: VerKey,
    /// What becomes of it.
    pub action: KeyAction,
}

/// What becomes of a key.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyAction {
    /// Messages for it are taken.
    Add,
    /// They are taken no more.
    Remove,
}

/// What became of a change.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeyUpdated {
    /// The change.
    pub update: KeyUpdate,
    /// Its result.
    pub result: KeyResult,
}

/// The result of a change.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyResult {
    /// The client's change is wrong.
    ClientError,
    /// The mediator failed.
    ServerError,
    /// The key was so already.
    NoChange,
    /// It is done.
    Success,
}

/// Which keys are asked for.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct KeyPage {
    /// How many.
    pub limit: u32,
    /// How many come before.
    pub offset: u32,
}

/// Which keys a list has.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct PageLeft {
    /// How many.
    pub count: u32,
    /// How many come before.
    pub offset: u32,
    /// How many come after.
    pub remaining: u32,
}

#[derive(Deserialize, Serialize)]
struct GrantBody {
    endpoint: String,
    #[serde(default, deserialize_with = "wire::or_default")]
    routing_keys: Vec<KeyText>,
}

/// A key, read in each form, and written as `did:key` (RFC 0211, "Encoding of keys").
#[derive(Clone, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
struct KeyText(VerKey);

#[derive(Deserialize, Serialize)]
struct KeyBody {
    recipient_key: KeyText,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    action: Option<KeyAction>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result: Option<KeyResult>,
}

#[derive(Deserialize, Serialize)]
struct UpdateBody {
    updates: Vec<KeyBody>,
}

#[derive(Deserialize, Serialize)]
struct UpdatedBody {
    updated: Vec<KeyBody>,
}

#[derive(Deserialize, Serialize)]
struct KeyQueryBody {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    paginate: Option<KeyPage>,
}

#[derive(Deserialize, Serialize)]
struct KeysBody {
    keys: Vec<KeyBody>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pagination: Option<PageLeft>,
}

impl TryFrom<String> for KeyText {
    type Error = selfsame_crypto::KeyError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        VerKey::parse(&text).map(Self)
    }
}

impl From<KeyText> for String {
    fn from(key: KeyText) -> Self {
        key.0.to_did().to_string()
    }
}

impl KeyBody {
    fn update(self) -> Result<KeyUpdate, Unreadable> {
        let action = self.action.ok_or(Unreadable::Rule("a key has no action"))?;
        let key = self.recipient_key.0;
        Ok(KeyUpdate { key, action })
    }

    fn updated(self) -> Result<KeyUpdated, Unreadable> {
        let result = self.result.ok_or(Unreadable::Rule("a key has no result"))?;
        let update = self.update()?;
        Ok(KeyUpdated { update, result })
    }

    fn of(key: &VerKey, action: Option<KeyAction>, result: Option<KeyResult>) -> Self {
        let recipient_key = KeyText(key.clone());
        Self {
            recipient_key,
            action,
            result,
        }
    }
}

fn bounded<T>(list: Vec<T>) -> Result<std::vec::IntoIter<T>, Unreadable> {
    match list.len() > KEYS_MAX {
        true => Err(Unreadable::Rule("the message has too many keys")),
        false => Ok(list.into_iter()),
    }
}

impl Vocabulary for MediationMessage {
    const PROTOCOL: &'static str = "coordinate-mediation";
    const VERSIONS: &'static [Semver] = &[Semver::new(1, 0)];

    fn read(message: &Message) -> Result<Self, Unreadable> {
        Ok(match message.kind.name.as_str() {
            "mediate-request" => Self::Request,
            "mediate-grant" => {
                let body: GrantBody = wire::body(message)?;
                let keys = bounded(body.routing_keys)?.map(|key| key.0);
                Self::Grant {
                    endpoint: body.endpoint,
                    routing_keys: keys.collect(),
                }
            }
            "mediate-deny" => Self::Deny,
            "keylist-update" => {
                let updates = bounded(wire::body::<UpdateBody>(message)?.updates)?;
                Self::Update(updates.map(KeyBody::update).collect::<Result<_, _>>()?)
            }
            "keylist-update-response" => {
                let updated = bounded(wire::body::<UpdatedBody>(message)?.updated)?;
                Self::Updated(updated.map(KeyBody::updated).collect::<Result<_, _>>()?)
            }
            "keylist-query" => Self::Query(wire::body::<KeyQueryBody>(message)?.paginate),
            "keylist" => {
                let body: KeysBody = wire::body(message)?;
                let keys = bounded(body.keys)?.map(|key| key.recipient_key.0);
                Self::Keys {
                    keys: keys.collect(),
                    left: body.pagination,
                }
            }
            _ if wire::is_report(&message.kind) => Self::Report(ProblemReport::read(message)),
            _ => return Err(Unreadable::Name),
        })
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Request => "mediate-request",
            Self::Grant { .. } => "mediate-grant",
            Self::Deny => "mediate-deny",
            Self::Update(_) => "keylist-update",
            Self::Updated(_) => "keylist-update-response",
            Self::Query(_) => "keylist-query",
            Self::Keys { .. } => "keylist",
            Self::Report(_) => "problem-report",
        }
    }

    fn write(&self, message: &mut Message) {
        match self {
            Self::Request | Self::Deny => {}
            Self::Grant {
                endpoint,
                routing_keys,
            } => {
                let keys = routing_keys.iter().cloned().map(KeyText);
                let body = GrantBody {
                    endpoint: endpoint.clone(),
                    routing_keys: keys.collect(),
                };
                wire::put_body(message, &body);
            }
            Self::Update(updates) => {
                let updates = updates
                    .iter()
                    .map(|one| KeyBody::of(&one.key, Some(one.action), None));
                let updates = updates.collect();
                wire::put_body(message, &UpdateBody { updates });
            }
            Self::Updated(updated) => {
                let updated = updated.iter().map(|one| {
                    let action = Some(one.update.action);
                    KeyBody::of(&one.update.key, action, Some(one.result))
                });
                let updated = updated.collect();
                wire::put_body(message, &UpdatedBody { updated });
            }
            Self::Query(page) => wire::put_body(message, &KeyQueryBody { paginate: *page }),
            Self::Keys { keys, left } => {
                let keys = keys
                    .iter()
                    .map(|key| KeyBody::of(key, None, None))
                    .collect();
                let pagination = *left;
                wire::put_body(message, &KeysBody { keys, pagination });
            }
            Self::Report(report) => report.write(message),
        }
    }
}
