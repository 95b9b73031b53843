//! A delivery: one event for one endpoint, until the endpoint has confirmed it.

use selfsame_book::news::NEWS;
use selfsame_core::events::EventKind;
use selfsame_core::notice;
use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash::sha256_parts;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::Reason;
use selfsame_store::backend::StoredEvent;
use selfsame_traces::TraceContext;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::event_type::EventType;

/// The state of a delivery that is kept. One that was confirmed is removed.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// It is sent, or sent again later.
    Pending,
    /// It was given up. It can be sent again.
    Failed,
}

/// The event of a delivery, equal for each endpoint.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct ToldEvent {
    pub event_type: EventType,
    /// The identifier of the record concerned; events of one subject are sent in order.
    pub subject: String,
    /// When it happened.
    pub at: UnixTime,
    /// The cursor of the event, if it is one of the sequence.
    pub cursor: Option<String>,
    /// The record of what is told: an agent's notice, or a book's news.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<NoticeAt>,
    /// The span in which it was told, if its trace is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceContext>,
}

/// Where the record of what is told is.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct NoticeAt {
    pub tenant: String,
    pub id: String,
}

/// The record of a delivery.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Delivery {
    pub endpoint: String,
    pub told: ToldEvent,
    pub state: DeliveryState,
    /// When it was written, or sent again by the operator.
    pub since: UnixTime,
    pub attempts: u32,
    /// Why the last attempt failed.
    pub last: Option<Reason>,
    /// The earliest time of the next attempt.
    pub next: UnixTime,
}

impl ToldEvent {
    /// What a stored event tells; `None` if no webhook is sent events of this kind.
    pub fn of(event: &StoredEvent) -> Option<Self> {
        let id = &event.place.id;
        let event_type = match event.place.kind.as_str() {
            NEWS => EventType::BookEntered,
            kind => EventType::of(EventKind::named(kind)?)?,
        };
        let notice = event_type.has_record().then(|| NoticeAt {
            tenant: event.place.tenant.to_string(),
            id: id.clone(),
        });
        let subject = match event_type {
            EventType::AgentNotice => notice::subject(id),
            _ => id,
        };
        Some(Self {
            event_type,
            subject: subject.to_owned(),
            at: event.at,
            cursor: Some(event.cursor()),
            notice,
            trace: None,
        })
    }

    /// Whether it is a new entry of a credential book.
    pub fn is_news(&self) -> bool {
        self.event_type == EventType::BookEntered
    }

    /// The id of the message: the same whenever this is sent to the same endpoint. It has no full stop.
    pub fn message_id(&self, endpoint: &str) -> String {
        let cursor = self.cursor.as_deref().unwrap_or(&self.subject);
        let hash = sha256_parts(&[endpoint.as_bytes(), b" ", cursor.as_bytes()]);
        let (half, _) = hash.split_at(16);
        format!("msg_{}", base64url_encode(half))
    }

    /// The body of the message (Standard Webhooks, "Payload structure"). It has no claim and no person's name.
    pub fn body(&self) -> Vec<u8> {
        self.message().to_string().into_bytes()
    }

    /// The body as JSON.
    pub fn message(&self) -> Value {
        let mut data = Map::new();
        if !self.event_type.is_about_webhook() {
            data.insert("id".to_owned(), Value::from(self.subject.as_str()));
        }
        let mut body = serde_json::json!({
            "type": self.event_type,
            "timestamp": self.at.rfc3339(),
            "data": data,
        });
        if let (Some(cursor), Some(object)) = (&self.cursor, body.as_object_mut()) {
            object.insert("cursor".to_owned(), Value::from(cursor.as_str()));
        }
        body
    }

    /// A delivery of this to an endpoint.
    pub fn to(self, endpoint: &str, now: UnixTime) -> Delivery {
        Delivery {
            endpoint: endpoint.to_owned(),
            told: self,
            state: DeliveryState::Pending,
            since: now,
            attempts: 0,
            last: None,
            next: now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(cursor: &str) -> ToldEvent {
        ToldEvent {
            event_type: EventType::CredentialIssued,
            subject: "c1".to_owned(),
            at: UnixTime(1_700_000_000),
            cursor: Some(cursor.to_owned()),
            notice: None,
            trace: None,
        }
    }

    #[test]
    fn the_body_tells_type_time_and_identifier() {
        let body: Value = serde_json::from_slice(&told("7-1").body()).unwrap();
        let expected = serde_json::json!({
            "type": "credential.issued",
            "timestamp": "2023-11-14T22:13:20Z",
            "data": { "id": "c1" },
            "cursor": "7-1",
        });
        assert_eq!(body, expected);
    }

    #[test]
    fn the_id_of_a_message_differs_by_event_and_by_endpoint_and_has_no_full_stop() {
        let id = told("7-1").message_id("a");
        assert_eq!(id, told("7-1").message_id("a"));
        assert_ne!(id, told("7-2").message_id("a"));
        assert_ne!(id, told("7-1").message_id("b"));
        assert!(!id.contains('.'));
    }
}
