//! What many messages say beside their body: thread, return route, wish for acknowledgements.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::members::{Fields, is_id};
use crate::error::Error;

/// The maximum number of entries in `received_orders`.
const MAX_ORDERS: usize = 256;

/// Where a message belongs among others (RFC 0008). The default says nothing: the message begins a thread.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Thread {
    /// The identifier of the thread: that of its first message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thid: Option<String>,
    /// The identifier of the thread, or of the invitation, that this thread comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pthid: Option<String>,
    /// Which message of its sender in this thread it is, counted from 0. v1 alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_order: Option<u64>,
    /// The highest `sender_order` seen of each other sender; -1 for none. v1 alone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub received_orders: BTreeMap<String, i64>,
    /// What the thread is for (RFC 0519). v1 alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal_code: Option<String>,
}

/// Which messages may come back on the connection that a message came on (RFC 0092).
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ReturnRoute {
    /// None.
    None,
    /// All for the sender's key or DID.
    All,
    /// Those of this thread.
    Thread(String),
}

/// The wish for acknowledgements (RFC 0317; DIDComm v2.1, "ACKs").
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PleaseAck {
    /// When to acknowledge. v1 alone.
    pub on: Vec<AckOn>,
    /// The identifiers of the messages to acknowledge; an empty one is this message's. v2 alone.
    pub ids: Vec<String>,
}

/// When an acknowledgement is wanted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AckOn {
    /// When the message has arrived.
    Receipt,
    /// When it has been acted on.
    Outcome,
}

impl Thread {
    /// The decorator of v1, if it says anything.
    pub(super) fn to_v1(&self) -> Option<Value> {
        let value = serde_json::to_value(self).ok()?;
        (*self != Self::default()).then_some(value)
    }

    /// Reads the decorator of v1. An empty one must be handled (RFC 0008). What is not an identifier is refused; orders
    /// that are not numbers are left out, since they are hints.
    pub(super) fn of_v1(value: Value) -> Result<Self, Error> {
        let Value::Object(object) = value else {
            return Err(Error::Malformed("thread"));
        };
        let mut members = Fields(object);
        let received = members.0.remove("received_orders");
        let received = received.as_ref().and_then(Value::as_object);
        let orders = received.into_iter().flatten();
        let orders = orders.filter_map(|(actor, order)| Some((actor.clone(), order.as_i64()?)));
        Ok(Self {
            thid: members.id("thid", "thread")?,
            pthid: members.id("pthid", "parent thread")?,
            sender_order: members.0.get("sender_order").and_then(Value::as_u64),
            received_orders: orders.take(MAX_ORDERS).collect(),
            goal_code: members.0.remove("goal_code").and_then(text),
        })
    }
}

impl ReturnRoute {
    /// Adds it to the members of v2, or to the decorator of v1.
    pub(super) fn write(&self, to: &mut Map<String, Value>) {
        let name = match self {
            Self::None => "none",
            Self::All => "all",
            Self::Thread(id) => {
                to.insert("return_route_thread".to_owned(), json!(id));
                "thread"
            }
        };
        to.insert("return_route".to_owned(), json!(name));
    }

    /// Takes it from such members. Values that are unknown count as none (RFC 0092: compliance is optional).
    pub(super) fn take(members: &mut Map<String, Value>) -> Option<Self> {
        let route = members.remove("return_route");
        let thread = members.remove("return_route_thread").and_then(text);
        match route?.as_str()? {
            "none" => Some(Self::None),
            "all" => Some(Self::All),
            "thread" => thread.filter(|id| is_id(id)).map(Self::Thread),
            _ => None,
        }
    }
}

impl PleaseAck {
    pub(super) fn to_v1(&self) -> Value {
        let names = self.on.iter().map(|on| match on {
            AckOn::Receipt => "RECEIPT",
            AckOn::Outcome => "OUTCOME",
        });
        json!({ "on": names.collect::<Vec<_>>() })
    }

    /// Reads the decorator of v1. Values that are unknown are left out.
    pub(super) fn of_v1(value: &Value) -> Self {
        let on = value.get("on").and_then(Value::as_array);
        let on = on
            .into_iter()
            .flatten()
            .filter_map(|on| match on.as_str()? {
                "RECEIPT" => Some(AckOn::Receipt),
                "OUTCOME" => Some(AckOn::Outcome),
                _ => None,
            });
        let ids = Vec::new();
        let mut on: Vec<AckOn> = on.take(MAX_ORDERS).collect();
        on.dedup();
        Self { on, ids }
    }
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}
