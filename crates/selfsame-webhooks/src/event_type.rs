//! The types of events that a webhook can be sent.

use selfsame_core::events::EventKind;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The type of an event, as the message names it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize, ToSchema)]
pub enum EventType {
    /// An offer was created; `id` is the offer's.
    #[serde(rename = "offer.created")]
    OfferCreated,
    /// A credential was issued; `id` is the issued credential's.
    #[serde(rename = "credential.issued")]
    CredentialIssued,
    /// A credential was suspended, reinstated or revoked; `id` is the issued credential's.
    #[serde(rename = "credential.status_changed")]
    CredentialStatusChanged,
    /// A wallet said that it keeps a credential; `id` is the issued credential's.
    #[serde(rename = "credential.accepted")]
    CredentialAccepted,
    /// A wallet said that the person did not want a credential; `id` is the issued credential's.
    #[serde(rename = "credential.deleted")]
    CredentialDeleted,
    /// A wallet said that it could not keep a credential; `id` is the issued credential's.
    #[serde(rename = "credential.failed")]
    CredentialFailed,
    /// A wallet asked for a credential that needs an approval; `id` is the request's.
    #[serde(rename = "approval.needed")]
    ApprovalNeeded,
    /// A request for a credential was approved; `id` is the request's.
    #[serde(rename = "approval.given")]
    ApprovalGiven,
    /// A request for a credential was refused; `id` is the request's.
    #[serde(rename = "approval.refused")]
    ApprovalRefused,
    /// The state of a verifier's request changed; `id` is the request's.
    #[serde(rename = "verification.changed")]
    VerificationChanged,
    /// The registry accepted a transaction; `id` is its sequence number.
    #[serde(rename = "registry.anchored")]
    RegistryAnchored,
    /// A subscription of the credential book is paused, because its receiver took nothing; `id` is the subscription's.
    #[serde(rename = "book.subscription_paused")]
    SubscriptionPaused,
    /// A credential was entered into the credential book; its subscribers alone are sent it, in a form of its own.
    #[serde(rename = "book.entered")]
    BookEntered,
    /// A record of an agent changed; its controllers alone are sent it, in ACA-Py's form.
    #[serde(rename = "agent.notice")]
    AgentNotice,
    /// Events were removed before they became deliveries. Read the current state of what you follow.
    #[serde(rename = "events.missed")]
    EventsMissed,
    /// A test that the operator asked for.
    #[serde(rename = "webhook.test")]
    WebhookTest,
}

impl EventType {
    /// The types that an endpoint can ask for.
    pub const ASKED_FOR: [Self; 12] = [
        Self::OfferCreated,
        Self::CredentialIssued,
        Self::CredentialStatusChanged,
        Self::CredentialAccepted,
        Self::CredentialDeleted,
        Self::CredentialFailed,
        Self::ApprovalNeeded,
        Self::ApprovalGiven,
        Self::ApprovalRefused,
        Self::VerificationChanged,
        Self::RegistryAnchored,
        Self::SubscriptionPaused,
    ];

    /// Its name in a message.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OfferCreated => "offer.created",
            Self::CredentialIssued => "credential.issued",
            Self::CredentialStatusChanged => "credential.status_changed",
            Self::CredentialAccepted => "credential.accepted",
            Self::CredentialDeleted => "credential.deleted",
            Self::CredentialFailed => "credential.failed",
            Self::ApprovalNeeded => "approval.needed",
            Self::ApprovalGiven => "approval.given",
            Self::ApprovalRefused => "approval.refused",
            Self::VerificationChanged => "verification.changed",
            Self::RegistryAnchored => "registry.anchored",
            Self::SubscriptionPaused => "book.subscription_paused",
            Self::BookEntered => "book.entered",
            Self::AgentNotice => "agent.notice",
            Self::EventsMissed => "events.missed",
            Self::WebhookTest => "webhook.test",
        }
    }

    /// The type of this name, if an endpoint can ask for it.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ASKED_FOR
            .into_iter()
            .find(|known| known.as_str() == name)
    }

    /// The type of an event of this kind. `None` for what happens in a person's wallet, which is that person's alone, and
    /// for what wakes other processes.
    #[must_use]
    pub fn of(kind: EventKind) -> Option<Self> {
        Some(match kind {
            EventKind::Offered => Self::OfferCreated,
            EventKind::Issued => Self::CredentialIssued,
            EventKind::StatusChanged => Self::CredentialStatusChanged,
            EventKind::Verification => Self::VerificationChanged,
            EventKind::Anchored => Self::RegistryAnchored,
            EventKind::AgentNotice => Self::AgentNotice,
            EventKind::WalletAccepted => Self::CredentialAccepted,
            EventKind::WalletDeleted => Self::CredentialDeleted,
            EventKind::WalletFailed => Self::CredentialFailed,
            EventKind::ApprovalNeeded => Self::ApprovalNeeded,
            EventKind::ApprovalGiven => Self::ApprovalGiven,
            EventKind::ApprovalRefused => Self::ApprovalRefused,
            EventKind::Received | EventKind::Presented | EventKind::EnvelopeQueued => return None,
        })
    }

    /// Whether a record says what is told.
    pub(crate) fn has_record(self) -> bool {
        matches!(self, Self::AgentNotice | Self::BookEntered)
    }

    /// Whether every endpoint gets it, whatever types it asks for.
    pub(crate) fn is_about_webhook(self) -> bool {
        matches!(self, Self::EventsMissed | Self::WebhookTest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_has_one_name() {
        let others = [
            EventType::AgentNotice,
            EventType::BookEntered,
            EventType::EventsMissed,
            EventType::WebhookTest,
        ];
        for one in EventType::ASKED_FOR.into_iter().chain(others) {
            assert_eq!(serde_json::to_value(one).unwrap(), one.as_str());
            let asked_for = Some(one).filter(|one| !others.contains(one));
            assert_eq!(EventType::named(one.as_str()), asked_for);
        }
    }
}
