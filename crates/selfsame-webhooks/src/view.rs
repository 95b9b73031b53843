//! What the API and the pages show of webhooks, and what they take.

use selfsame_crypto::SecretString;
use selfsame_driver::{Reason, Reasons};
use selfsame_oauth::secret;
use selfsame_store::Record;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::delivery::{Delivery, DeliveryState};
use crate::endpoint::Endpoint;
use crate::event_type::EventType;
use crate::records::FoundEndpoint;

/// An endpoint to create.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewEndpoint {
    /// Where events are sent: an https URL with a public address, or one at an origin of `[trust] origins`.
    pub url: String,
    /// What it is for; at most 500 bytes.
    #[serde(default)]
    pub description: String,
    /// The types of events that it is sent; all if absent.
    #[serde(default)]
    pub types: Option<Vec<EventType>>,
}

/// What changes of an endpoint. What is absent stays.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EndpointChange {
    /// Where events are sent.
    #[serde(default)]
    pub url: Option<String>,
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
    /// The types of events that it is sent.
    #[serde(default)]
    pub types: Option<Vec<EventType>>,
    /// Whether events are sent. While they are not, no deliveries are written; those that wait stay.
    #[serde(default)]
    pub enabled: Option<bool>,
}

/// An endpoint.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct EndpointView {
    /// Its identifier.
    pub id: String,
    /// Where events are sent.
    pub url: String,
    /// What it is for.
    pub description: String,
    /// The types of events that it is sent; all if absent.
    pub types: Option<Vec<EventType>>,
    /// Whether events are sent.
    pub enabled: bool,
    /// Why no events are sent.
    #[schema(value_type = Option<String>)]
    pub disabled_because: Option<Reason>,
    /// When it was created, RFC 3339.
    pub created: String,
}

/// An endpoint with its secret, which is shown once.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct CreatedEndpoint {
    /// The endpoint.
    #[serde(flatten)]
    pub endpoint: EndpointView,
    /// The secret that its messages are signed with: `whsec_` and base64.
    #[serde(with = "secret")]
    #[schema(value_type = String)]
    pub secret: SecretString,
}

/// A delivery that waits or was given up.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct WebhookDelivery {
    /// The id of its message: the header `webhook-id`.
    pub id: String,
    /// The type of the event.
    #[serde(rename = "type")]
    pub event_type: EventType,
    /// The identifier of the record concerned.
    pub subject: String,
    /// When the event happened, RFC 3339.
    pub at: String,
    /// Whether it waits or was given up.
    pub state: DeliveryState,
    /// How often it was sent without success.
    pub attempts: u32,
    /// Why the last attempt failed.
    #[schema(value_type = Option<String>)]
    pub last: Option<Reason>,
    /// The earliest time of the next attempt, RFC 3339; absent if it was given up.
    pub next: Option<String>,
}

/// The events to send again: those after a cursor, or since a time.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum EventReplay {
    /// The `cursor` of the last message that the receiver has.
    After(String),
    /// A time, RFC 3339. Events are kept for seven days.
    Since(String),
}

/// How many events are sent again.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Replayed {
    /// The number of deliveries written.
    pub deliveries: u64,
}

impl EndpointView {
    pub(crate) fn of(found: &FoundEndpoint) -> Self {
        Self::named(&found.id, &found.endpoint)
    }

    pub(crate) fn named(id: &str, endpoint: &Endpoint) -> Self {
        Self {
            id: id.to_owned(),
            url: endpoint.url.to_string(),
            description: endpoint.description.clone(),
            types: endpoint.types.clone(),
            enabled: endpoint.disabled.is_none(),
            disabled_because: endpoint.disabled.clone(),
            created: endpoint.created.rfc3339(),
        }
    }
}

impl CreatedEndpoint {
    pub(crate) fn named(id: &str, endpoint: &Endpoint) -> Self {
        Self {
            endpoint: EndpointView::named(id, endpoint),
            secret: SecretString::new(endpoint.secret.expose().to_owned()),
        }
    }
}

impl WebhookDelivery {
    pub(crate) fn read(record: &Record) -> selfsame_driver::Result<Self> {
        let delivery = selfsame_driver::record::decode(&record.value)?;
        Ok(Self::of(&record.id, &delivery))
    }

    pub(crate) fn of(id: &str, delivery: &Delivery) -> Self {
        let is_pending = delivery.state == DeliveryState::Pending;
        Self {
            id: id.to_owned(),
            event_type: delivery.told.event_type,
            subject: delivery.told.subject.clone(),
            at: delivery.told.at.rfc3339(),
            state: delivery.state,
            attempts: delivery.attempts,
            last: delivery.last.clone(),
            next: is_pending.then(|| delivery.next.rfc3339()),
        }
    }
}

impl Reasons for EndpointView {
    fn reasons(&mut self) -> Vec<&mut Reason> {
        self.disabled_because.iter_mut().collect()
    }
}

impl Reasons for WebhookDelivery {
    fn reasons(&mut self) -> Vec<&mut Reason> {
        self.last.iter_mut().collect()
    }
}
