//! Subscriptions to news of a book, as OrgBook's web hooks have them.

use std::fmt;

use selfsame_driver::{Reason, Reasons};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A subscriber to register.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSubscriber {
    /// The e-mail address of the people who run the receiver.
    pub email: String,
    /// The name of their organisation.
    pub org_name: String,
    /// Where news is sent, unless a subscription says otherwise: an https URL with a public address, or one at an origin
    /// of `[trust] origins`.
    pub target_url: String,
    /// What each message has, so that the receiver knows its sender.
    #[serde(default)]
    pub hook_token: Option<String>,
    /// The name and the password of further calls.
    pub credentials: SubscriberCredentials,
}

/// The name and the password of a subscriber.
#[derive(Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SubscriberCredentials {
    /// The name: letters, digits, `.`, `_` and `-`.
    pub username: String,
    /// The password, of 24 to 128 characters; made if absent. The answer to the registration alone shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
}

/// What changes of a subscriber. What is absent stays.
#[derive(Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SubscriberChange {
    /// The e-mail address.
    #[serde(default)]
    pub email: Option<String>,
    /// The name of the organisation.
    #[serde(default)]
    pub org_name: Option<String>,
    /// Where the news of subscriptions to come is sent.
    #[serde(default)]
    pub target_url: Option<String>,
    /// What each message of subscriptions to come has; empty for nothing.
    #[serde(default)]
    pub hook_token: Option<String>,
}

/// A subscriber.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ShownSubscriber {
    /// Its name and, in the answer to its registration, its password.
    pub credentials: SubscriberCredentials,
    /// The e-mail address of the people who run the receiver.
    pub email: String,
    /// The name of their organisation.
    pub org_name: String,
    /// Where news is sent, unless a subscription says otherwise.
    pub target_url: String,
    /// When it was registered, RFC 3339.
    pub registered: String,
    /// Its subscriptions, the oldest first.
    pub subscriptions: Vec<ShownSubscription>,
}

/// The kind of a subscription.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub enum SubscriptionType {
    /// The first credential about each topic.
    New,
    /// All credentials about a topic.
    Topic,
    /// The credentials about a topic that are of one type.
    Stream,
}

impl SubscriptionType {
    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::New => "New",
            Self::Topic => "Topic",
            Self::Stream => "Stream",
        }
    }
}

/// A subscription to create, or what one becomes.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AskedSubscription {
    /// Its kind.
    pub subscription_type: SubscriptionType,
    /// The number or name of the topic, for `Topic` and `Stream`. The book need not have it yet.
    #[serde(default)]
    pub topic_source_id: Option<String>,
    /// The type of the topic; any if absent.
    #[serde(default)]
    pub topic_type: Option<String>,
    /// The id of the credential type, for `Stream`.
    #[serde(default)]
    pub credential_type: Option<String>,
    /// Where the news is sent. Default: the URL of the subscriber.
    #[serde(default)]
    pub target_url: Option<String>,
    /// What each message has. Default: the token of the subscriber.
    #[serde(default)]
    pub hook_token: Option<String>,
}

/// What changes of a subscription. What is absent stays.
#[derive(Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SubscriptionPatch {
    /// Where the news is sent.
    #[serde(default)]
    pub target_url: Option<String>,
    /// What each message has; empty for nothing.
    #[serde(default)]
    pub hook_token: Option<String>,
    /// Whether news is sent. While it is not, none is kept for later; what waits stays.
    #[serde(default)]
    pub enabled: Option<bool>,
}

/// A subscription.
#[derive(Clone, Deserialize, Serialize, ToSchema)]
pub struct ShownSubscription {
    /// Its identifier.
    pub id: String,
    /// The name of its subscriber.
    pub owner: String,
    /// Its kind.
    pub subscription_type: SubscriptionType,
    /// The number or name of the topic.
    pub topic_source_id: Option<String>,
    /// The type of the topic.
    pub topic_type: Option<String>,
    /// The id of the credential type.
    pub credential_type: Option<String>,
    /// Where the news is sent.
    pub target_url: String,
    /// Whether news is sent.
    pub enabled: bool,
    /// Why no news is sent.
    #[schema(value_type = Option<String>)]
    pub paused_because: Option<Reason>,
    /// When it was created, RFC 3339.
    pub created: String,
    /// The secret that its messages are signed with, `whsec_…`; in the answer to its creation alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// A credential that could not be entered into the book when it was issued.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct RefusedEntry {
    /// The identifier that its entry would have.
    pub credential_id: String,
    /// The id of its type.
    #[serde(rename = "type")]
    pub type_id: String,
    /// When it was issued, RFC 3339.
    pub issued: String,
    /// Why it was refused.
    #[schema(value_type = String)]
    pub because: Reason,
}

impl Reasons for ShownSubscription {
    fn reasons(&mut self) -> Vec<&mut Reason> {
        self.paused_because.iter_mut().collect()
    }
}

impl Reasons for ShownSubscriber {
    fn reasons(&mut self) -> Vec<&mut Reason> {
        let all = self.subscriptions.iter_mut();
        all.filter_map(|one| one.paused_because.as_mut()).collect()
    }
}

impl Reasons for RefusedEntry {
    fn reasons(&mut self) -> Vec<&mut Reason> {
        vec![&mut self.because]
    }
}

/// Formats without passwords, tokens and secrets: only these fields.
macro_rules! debug_of {
    ($($name:ident: $($field:ident),+;)+) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut told = formatter.debug_struct(stringify!($name));
                $(told.field(stringify!($field), &self.$field);)+
                told.finish_non_exhaustive()
            }
        }
    )+};
}

debug_of! {
    AskedSubscription: subscription_type, topic_source_id, topic_type, credential_type, target_url;
    NewSubscriber: email, org_name, target_url, credentials;
    ShownSubscription: id, owner, subscription_type, target_url, enabled, paused_because, created;
    SubscriberChange: email, org_name, target_url;
    SubscriberCredentials: username;
    SubscriptionPatch: target_url, enabled;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_of_a_subscriber_has_no_password_and_no_token() {
        let new = NewSubscriber {
            email: "ops@receiver.example".to_owned(),
            org_name: "Anon".to_owned(),
            target_url: "https://receiver.example/".to_owned(),
            hook_token: Some("the token".to_owned()),
            credentials: SubscriberCredentials {
                username: "anon".to_owned(),
                password: Some("the password".to_owned()),
            },
        };
        let printed = format!("{new:?}");
        assert!(printed.contains("anon"), "{printed}");
        assert!(!printed.contains("the token"), "{printed}");
        assert!(!printed.contains("the password"), "{printed}");
    }
}
