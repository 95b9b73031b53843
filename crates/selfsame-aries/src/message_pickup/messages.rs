//! The messages.

use selfsame_didcomm::Message;
use selfsame_didcomm::message::{Attachment, Position, ReturnRoute, Semver};
use serde::{Deserialize, Serialize};

use crate::notification::ProblemReport;
use crate::wire::{self, Unreadable, Vocabulary};

/// Messages of one delivery, at most.
pub(super) const DELIVERY_MAX: usize = 100;
/// Identifiers in one confirmation, at most.
const IDS_MAX: usize = 1_000;
/// The maximum length of a delivered message.
const MESSAGE_MAX: usize = 1024 * 1024;

/// A message of the protocol. Keys are as the mediator knows them.
#[derive(Clone, Debug, PartialEq)]
pub enum PickupMessage {
    /// `status-request`.
    StatusRequest {
        /// The key that is asked about; without it, all.
        recipient_key: Option<String>,
    },
    /// `status`.
    Status(QueueStatus),
    /// `delivery-request`.
    DeliveryRequest {
        /// How many messages.
        limit: u32,
        /// The key whose messages are wanted; without it, all.
        recipient_key: Option<String>,
    },
    /// `delivery`.
    Delivery {
        /// The key that was asked about.
        recipient_key: Option<String>,
        /// The messages.
        messages: Vec<Delivered>,
    },
    /// `messages-received`.
    MessagesReceived(Vec<String>),
    /// `live-delivery-change`.
    LiveDelivery(bool),
    /// `problem-report`.
    Report(ProblemReport),
}

/// How many messages wait.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct QueueStatus {
    /// The key that was asked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipient_key: Option<String>,
    /// How many there are.
    pub message_count: u64,
    /// For how many seconds the oldest has waited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_waited_seconds: Option<u64>,
    /// When the newest came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest_received_time: Option<String>,
    /// When the oldest came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest_received_time: Option<String>,
    /// Their length in bytes, in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_bytes: Option<u64>,
    /// Whether new ones are delivered at once.
    #[serde(default, deserialize_with = "wire::or_default")]
    pub live_delivery: bool,
}

/// A message from the queue, in its envelope.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Delivered {
    /// Its identifier in the queue.
    pub id: String,
    /// The envelope.
    pub envelope: Vec<u8>,
}

#[derive(Deserialize, Serialize)]
struct StatusRequestBody {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    recipient_key: Option<String>,
}

#[derive(Deserialize, Serialize)]
struct DeliveryRequestBody {
    limit: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    recipient_key: Option<String>,
}

#[derive(Deserialize, Serialize)]
struct MessagesReceivedBody {
    message_id_list: Vec<String>,
}

#[derive(Deserialize, Serialize)]
struct LiveDeliveryBody {
    live_delivery: bool,
}

/// RFC 0685, "Message Delivery": the messages are attached to the message itself, in encrypted form.
fn delivered(attachment: &Attachment) -> Result<Delivered, Unreadable> {
    let id = attachment.id.clone();
    let id = id.ok_or(Unreadable::Rule("a delivered message has no identifier"))?;
    let envelope = attachment.bytes(MESSAGE_MAX)?;
    Ok(Delivered { id, envelope })
}

impl Vocabulary for PickupMessage {
    const PROTOCOL: &'static str = "messagepickup";
    const VERSIONS: &'static [Semver] = &[Semver::new(2, 0)];

    fn read(message: &Message) -> Result<Self, Unreadable> {
        Ok(match message.kind.name.as_str() {
            "status-request" => {
                let StatusRequestBody { recipient_key } = wire::body(message)?;
                Self::StatusRequest { recipient_key }
            }
            "status" => Self::Status(wire::body(message)?),
            "delivery-request" => {
                let DeliveryRequestBody {
                    limit,
                    recipient_key,
                } = wire::body(message)?;
                Self::DeliveryRequest {
                    limit,
                    recipient_key,
                }
            }
            "delivery" => {
                let StatusRequestBody { recipient_key } = wire::body(message)?;
                let all = message.attachments.iter();
                let appended = all.filter(|one| one.position == Position::Appended);
                let messages: Vec<Delivered> = appended.map(delivered).collect::<Result<_, _>>()?;
                if messages.len() > DELIVERY_MAX {
                    return Err(Unreadable::Rule("the delivery has too many messages"));
                }
                Self::Delivery {
                    recipient_key,
                    messages,
                }
            }
            "messages-received" => {
                let ids = wire::body::<MessagesReceivedBody>(message)?.message_id_list;
                if ids.len() > IDS_MAX {
                    return Err(Unreadable::Rule("the confirmation has too many messages"));
                }
                Self::MessagesReceived(ids)
            }
            // The RFC's text writes it with underscores, too.
            "live-delivery-change" | "live_delivery_change" => {
                Self::LiveDelivery(wire::body::<LiveDeliveryBody>(message)?.live_delivery)
            }
            _ if wire::is_report(&message.kind) => Self::Report(ProblemReport::read(message)),
            _ => return Err(Unreadable::Name),
        })
    }

    fn name(&self) -> &'static str {
        match self {
            Self::StatusRequest { .. } => "status-request",
            Self::Status(_) => "status",
            Self::DeliveryRequest { .. } => "delivery-request",
            Self::Delivery { .. } => "delivery",
            Self::MessagesReceived(_) => "messages-received",
            Self::LiveDelivery(_) => "live-delivery-change",
            Self::Report(_) => "problem-report",
        }
    }

    fn write(&self, message: &mut Message) {
        // RFC 0685, "Reference": each message MUST use the decorator.
        message.return_route = Some(ReturnRoute::All);
        match self {
            Self::StatusRequest { recipient_key } => {
                let recipient_key = recipient_key.clone();
                wire::put_body(message, &StatusRequestBody { recipient_key });
            }
            Self::Status(status) => wire::put_body(message, status),
            Self::DeliveryRequest {
                limit,
                recipient_key,
            } => {
                let (limit, recipient_key) = (*limit, recipient_key.clone());
                wire::put_body(
                    message,
                    &DeliveryRequestBody {
                        limit,
                        recipient_key,
                    },
                );
            }
            Self::Delivery {
                recipient_key,
                messages,
            } => {
                let recipient_key = recipient_key.clone();
                wire::put_body(message, &StatusRequestBody { recipient_key });
                let each = messages.iter();
                let each = each.map(|one| Attachment::of_bytes(one.id.clone(), &one.envelope));
                message.attachments.extend(each);
            }
            Self::MessagesReceived(ids) => {
                let message_id_list = ids.clone();
                wire::put_body(message, &MessagesReceivedBody { message_id_list });
            }
            Self::LiveDelivery(live_delivery) => {
                let live_delivery = *live_delivery;
                wire::put_body(message, &LiveDeliveryBody { live_delivery });
            }
            Self::Report(report) => report.write(message),
        }
    }
}
