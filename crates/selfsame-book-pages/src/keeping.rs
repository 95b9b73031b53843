//! The page of those who keep the book: subscribers, what the agent does for anybody, and credentials that could not be
//! entered.

use askama::Template;
use selfsame_book_view::hooks::{RefusedEntry, ShownSubscriber, ShownSubscription};
use selfsame_driver::Reason;

/// Who is sent news of the book, and what could not be entered.
#[derive(Default, Template)]
#[template(path = "keeping.html")]
pub struct KeepingContent {
    /// What the paths of the organisation's pages begin with.
    pub here: String,
    /// The token of the session's forms.
    pub form: String,
    /// The subscribers with their subscriptions.
    pub subscribers: Vec<ShownSubscriber>,
    /// The subscriber that was registered just now, with its password.
    pub registered: Option<ShownSubscriber>,
    /// What was typed of a subscriber that was refused.
    pub typed: TypedSubscriber,
    /// Why something was refused.
    pub wrong: Option<Reason>,
    /// Whether the agent proves what the book shows to anybody.
    pub proofs_by_agent: bool,
    /// Credentials that could not be entered, newest first.
    pub refused: Vec<RefusedEntry>,
    /// The cursor of further ones.
    pub next: Option<String>,
}

/// A subscriber as it was typed.
#[derive(Clone, Debug, Default)]
pub struct TypedSubscriber {
    /// The name.
    pub username: String,
    /// The name of its organisation.
    pub org_name: String,
    /// The e-mail address.
    pub email: String,
    /// Where news is sent.
    pub target_url: String,
}

impl KeepingContent {
    fn told(&self) -> Option<String> {
        self.wrong.as_ref().map(selfsame_catalogue::english)
    }
}

/// What a subscription is about, in words.
fn about(one: &ShownSubscription) -> String {
    let topic = one.topic_source_id.as_deref().unwrap_or_default();
    let of_kind = match &one.topic_type {
        Some(kind) => format!("{topic} ({kind})"),
        None => topic.to_owned(),
    };
    match (&one.credential_type, one.topic_source_id.is_some()) {
        (Some(kind), _) => format!("{kind} about {of_kind}"),
        (None, true) => format!("all about {of_kind}"),
        (None, false) => "new topics".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use selfsame_book_view::hooks::{SubscriberCredentials, SubscriptionType};

    use super::*;

    fn subscription(paused: Option<Reason>) -> ShownSubscription {
        ShownSubscription {
            id: "s1".to_owned(),
            owner: "anon".to_owned(),
            subscription_type: SubscriptionType::Stream,
            topic_source_id: Some("BC<1>".to_owned()),
            topic_type: None,
            credential_type: Some("permit".to_owned()),
            target_url: "https://receiver.example/hook".to_owned(),
            enabled: paused.is_none(),
            paused_because: paused,
            created: "2026-01-01T00:00:00Z".to_owned(),
            secret: None,
        }
    }

    #[test]
    fn a_paused_subscription_says_why_and_can_go_on_or_end() {
        let failing = Reason::new("book-subscription-failing").because(Reason::new("webhook-gone"));
        let content = KeepingContent {
            here: "/o/acme".to_owned(),
            form: "token".to_owned(),
            subscribers: vec![ShownSubscriber {
                credentials: SubscriberCredentials {
                    username: "anon".to_owned(),
                    password: None,
                },
                email: "ops@receiver.example".to_owned(),
                org_name: "<b>Anon</b>".to_owned(),
                target_url: "https://receiver.example/hook".to_owned(),
                registered: "2026-01-01T00:00:00Z".to_owned(),
                subscriptions: vec![subscription(Some(failing)), subscription(None)],
            }],
            ..KeepingContent::default()
        };
        let page = content.render().unwrap();
        assert!(page.contains("permit about BC&#60;1&#62;"), "{page}");
        assert!(!page.contains("<b>Anon"), "{page}");
        assert!(
            page.contains("Let it go on") && page.contains("Pause"),
            "{page}"
        );
        assert!(
            page.contains("/o/acme/issuer/book/subscribers/anon/subscriptions/s1/end"),
            "{page}"
        );
        assert!(!page.contains("book-subscription-failing"), "{page}");
    }
}
