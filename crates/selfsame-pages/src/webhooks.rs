//! Webhooks: the list with the form to create one, the page of each, and a secret that is shown once.

use askama::Template;
use selfsame_catalogue::{Language, sentence};
use selfsame_driver::Reason;
use selfsame_driver::paging::Listing;
use selfsame_webhooks::{
    COUNTED_MAX, CreatedEndpoint, DeliveryCounts, EndpointView, EventType, WebhookDelivery,
};

use crate::{Frame, WrongFields, text};

/// What was typed into the form of a webhook.
#[derive(Default)]
pub struct TypedWebhook {
    /// Where events are sent.
    pub url: String,
    /// What it is for.
    pub description: String,
    /// The types that are ticked.
    pub types: Vec<EventType>,
}

impl TypedWebhook {
    /// The form of a new webhook, for all types.
    pub fn empty() -> Self {
        Self {
            types: EventType::ASKED_FOR.to_vec(),
            ..Self::default()
        }
    }

    fn of(endpoint: &EndpointView) -> Self {
        let all = || EventType::ASKED_FOR.to_vec();
        Self {
            url: endpoint.url.clone(),
            description: endpoint.description.clone(),
            types: endpoint.types.clone().unwrap_or_else(all),
        }
    }

    /// The types as check boxes: name, sentence, and whether it is ticked.
    fn boxes(&self) -> impl Iterator<Item = (&'static str, &'static str, bool)> {
        let known = EventType::ASKED_FOR.into_iter();
        known.map(|one| (one.as_str(), describe(one), self.types.contains(&one)))
    }
}

fn describe(event_type: EventType) -> &'static str {
    match event_type {
        EventType::OfferCreated => "An offer was created.",
        EventType::CredentialIssued => "A holder accepted an offer, and the credential was issued.",
        EventType::CredentialAccepted => "A wallet said that it keeps a credential.",
        EventType::CredentialDeleted => "A wallet said that the person did not want a credential.",
        EventType::CredentialFailed => "A wallet said that it could not keep a credential.",
        EventType::ApprovalNeeded => "A wallet asked for a credential that needs an approval.",
        EventType::ApprovalGiven => "A request for a credential was approved.",
        EventType::ApprovalRefused => "A request for a credential was refused.",
        EventType::CredentialStatusChanged => "A credential was suspended, reinstated or revoked.",
        EventType::VerificationChanged => "A request was opened, answered or judged.",
        EventType::RegistryAnchored => "The registry accepted a transaction.",
        EventType::SubscriptionPaused => {
            "A subscription of the credential book was paused, because its receiver takes nothing."
        }
        EventType::BookEntered => "A credential was entered into the credential book.",
        EventType::AgentNotice => "A record of the agent changed.",
        EventType::EventsMissed => "Events were removed before they could be sent.",
        EventType::WebhookTest => "An operator asked for a test.",
    }
}

/// A line of the list.
pub struct WebhookLine {
    /// The webhook.
    pub endpoint: EndpointView,
    /// How many of its deliveries wait, and how many were given up.
    pub counts: DeliveryCounts,
}

impl WebhookLine {
    fn pending(&self) -> String {
        counted(self.counts.pending)
    }

    fn failed(&self) -> String {
        counted(self.counts.failed)
    }
}

/// The webhooks, and the form to create one.
#[derive(Template)]
#[template(path = "webhooks.html")]
pub struct WebhooksPage {
    frame: Frame,
    lines: Vec<WebhookLine>,
    typed: TypedWebhook,
    wrong: WrongFields,
}

impl WebhooksPage {
    /// The page with these webhooks and an empty form.
    pub fn of(frame: Frame, lines: Vec<WebhookLine>) -> Self {
        Self {
            frame: frame.titled("Webhooks"),
            lines,
            typed: TypedWebhook::empty(),
            wrong: WrongFields::default(),
        }
    }

    /// The page again, with what was typed and what is wrong.
    pub fn refused(self, typed: TypedWebhook, wrong: WrongFields) -> Self {
        Self {
            frame: self.frame.failed("Webhooks"),
            typed,
            wrong,
            ..self
        }
    }
}

/// A webhook with its deliveries.
pub struct WebhookShown {
    /// The webhook.
    pub endpoint: EndpointView,
    /// The deliveries that wait.
    pub pending: Listing<WebhookDelivery>,
    /// The deliveries that were given up.
    pub failed: Listing<WebhookDelivery>,
    /// How many events are sent again, just after that was asked for.
    pub replayed: Option<u64>,
}

/// A form of a webhook's page that was refused.
pub struct RefusedForm {
    /// The form: `change` or `replay`.
    pub form: &'static str,
    /// What was typed into the form that changes it.
    pub typed: Option<TypedWebhook>,
    /// The time that was typed.
    pub since: String,
    /// What is wrong.
    pub wrong: WrongFields,
}

/// The page of one webhook.
#[derive(Template)]
#[template(path = "webhook.html")]
pub struct WebhookPage {
    frame: Frame,
    one: EndpointView,
    pending: Vec<WebhookDelivery>,
    more_pending: Option<String>,
    failed: Vec<WebhookDelivery>,
    more_failed: Option<String>,
    replayed: Option<u64>,
    open: &'static str,
    typed: TypedWebhook,
    since: String,
    wrong: WrongFields,
}

impl WebhookPage {
    /// The page of this webhook.
    pub fn of(frame: Frame, shown: WebhookShown) -> Self {
        Self {
            frame: frame.titled("Webhook"),
            typed: TypedWebhook::of(&shown.endpoint),
            one: shown.endpoint,
            pending: shown.pending.items,
            more_pending: shown.pending.next,
            failed: shown.failed.items,
            more_failed: shown.failed.next,
            replayed: shown.replayed,
            open: "",
            since: String::new(),
            wrong: WrongFields::default(),
        }
    }

    /// The page again, with a form that was refused.
    pub fn refused(self, refused: RefusedForm) -> Self {
        Self {
            frame: self.frame.failed("Webhook"),
            open: refused.form,
            typed: refused.typed.unwrap_or(self.typed),
            since: refused.since,
            wrong: refused.wrong,
            ..self
        }
    }

    fn types(&self) -> String {
        match &self.one.types {
            None => "all".to_owned(),
            Some(types) => {
                let names: Vec<&str> = types.iter().map(|one| one.as_str()).collect();
                names.join(", ")
            }
        }
    }
}

/// A secret, which is shown once.
#[derive(Template)]
#[template(path = "webhook_secret.html")]
pub struct WebhookSecretPage {
    frame: Frame,
    id: String,
    url: String,
    secret: String,
    is_new: bool,
}

impl WebhookSecretPage {
    /// The page of a webhook that was created.
    pub fn created(frame: Frame, created: &CreatedEndpoint) -> Self {
        Self {
            frame: frame.titled("The webhook’s secret"),
            id: created.endpoint.id.clone(),
            url: created.endpoint.url.clone(),
            secret: created.secret.expose().to_owned(),
            is_new: true,
        }
    }

    /// The page of a webhook whose secret was replaced.
    pub fn rotated(frame: Frame, created: &CreatedEndpoint) -> Self {
        Self {
            is_new: false,
            ..Self::created(frame, created)
        }
    }
}

/// A reason as a sentence.
fn told(reason: &Reason) -> String {
    text::sentence(&sentence(Language::English, reason).text)
}

/// A number of deliveries, as far as they are counted.
fn counted(number: usize) -> String {
    match number {
        COUNTED_MAX => format!("{number} or more"),
        number => number.to_string(),
    }
}
