//! An endpoint: where a tenant's events are sent, which of them, and with which secrets they are signed.

use selfsame_book::news::{BookNews, NewsWanted};
use selfsame_crypto::SecretString;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, Reason, Result};
use selfsame_net::guard::Reach;
use selfsame_oauth::secret;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::event_type::EventType;
use crate::signature::WebhookSecret;

/// How long a secret signs after it was replaced, in seconds: a day.
pub(crate) const OVERLAP_SECONDS: u64 = 86_400;
/// The longest description, in bytes.
const DESCRIPTION_MAX: usize = 500;
/// The longest URL, in bytes.
const URL_MAX: usize = 2_048;

/// The record of an endpoint.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Endpoint {
    pub url: Url,
    pub description: String,
    /// The types that it is sent; `None` for all.
    pub types: Option<Vec<EventType>>,
    /// Why nothing is sent to it now.
    pub disabled: Option<Reason>,
    pub created: UnixTime,
    pub secret: WebhookSecret,
    /// The secret before, which signs too until its end.
    pub previous: Option<EndingSecret>,
    /// The form of its messages.
    #[serde(default)]
    pub form: EndpointForm,
}

/// The form of an endpoint's messages.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) enum EndpointForm {
    /// Standard Webhooks.
    #[default]
    Standard,
    /// ACA-Py's: the record of an agent, posted to its topic.
    Agent(ControllerAt),
    /// Those of a credential book's subscribers.
    Book(NewsReader),
}

/// What a subscriber of a credential book wants to hear of.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct NewsReader {
    /// The name of the subscriber.
    pub subscriber: String,
    pub wanted: NewsWanted,
    /// What each message has, so that the receiver knows its sender, as OrgBook's have; empty if it wants none.
    #[serde(with = "secret")]
    pub token: SecretString,
    /// The only one of the instance's own and trusted origins that it may name; `None` for none of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

/// Why a subscriber is not called at one of the instance's own and trusted origins.
pub(crate) const INWARD: &str =
    "subscribers may not name an origin of this instance or one that it trusts";

/// Whether a subscriber may be called at a URL that the instance reaches so. `origin` is the one of the instance's own and
/// trusted origins at which those who keep the book registered it. It chooses all others itself, so they are outside.
pub(crate) fn is_outside(url: &Url, reach: Reach, origin: Option<&str>) -> bool {
    reach != Reach::Own || origin == Some(url.origin().ascii_serialization().as_str())
}

/// The controller of an agent.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct ControllerAt {
    /// The key that it is sent; empty if it wants none.
    #[serde(with = "secret")]
    pub key: SecretString,
    /// The sub-wallet whose records these are.
    pub wallet: Option<String>,
    /// Whether the settings of the instance name it.
    pub is_configured: bool,
}

/// A secret that was replaced.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct EndingSecret {
    secret: WebhookSecret,
    until: UnixTime,
}

impl Endpoint {
    /// A new endpoint, enabled.
    pub fn new(url: Url, ctx: &Ctx) -> Self {
        Self {
            url,
            description: String::new(),
            types: None,
            disabled: None,
            created: ctx.now(),
            secret: WebhookSecret::generate(ctx),
            previous: None,
            form: EndpointForm::default(),
        }
    }

    /// Whether it is sent events of this type; of a book's news, whether it may be: [`Self::wants_news`].
    pub fn wants(&self, event_type: EventType) -> bool {
        let listed = |types: &Vec<EventType>| types.contains(&event_type);
        let is_wanted = match (&self.form, event_type) {
            (EndpointForm::Agent(_), _) => event_type == EventType::AgentNotice,
            (EndpointForm::Book(_), EventType::BookEntered) => true,
            (EndpointForm::Book(_), _) => event_type.is_about_webhook(),
            (EndpointForm::Standard, EventType::AgentNotice | EventType::BookEntered) => false,
            (EndpointForm::Standard, _) => {
                event_type.is_about_webhook() || self.types.as_ref().is_none_or(listed)
            }
        };
        is_wanted && self.disabled.is_none()
    }

    /// Whether it is sent this news of a book.
    pub fn wants_news(&self, news: &BookNews) -> bool {
        matches!(&self.form, EndpointForm::Book(reader) if reader.wanted.wants(news))
    }

    /// The subscriber of a credential book whose endpoint it is.
    pub fn subscriber(&self) -> Option<&str> {
        match &self.form {
            EndpointForm::Book(reader) => Some(&reader.subscriber),
            EndpointForm::Standard | EndpointForm::Agent(_) => None,
        }
    }

    /// The only one of the instance's own and trusted origins that its subscriber may name.
    pub fn origin(&self) -> Option<&str> {
        match &self.form {
            EndpointForm::Book(reader) => reader.origin.as_deref(),
            EndpointForm::Standard | EndpointForm::Agent(_) => None,
        }
    }

    /// Replaces the secret. The former one signs too for a day.
    pub fn rotate(&mut self, ctx: &Ctx) {
        let secret = std::mem::replace(&mut self.secret, WebhookSecret::generate(ctx));
        let until = ctx.now().plus(OVERLAP_SECONDS);
        self.previous = Some(EndingSecret { secret, until });
    }

    /// The secrets that sign now.
    pub fn secrets(&self, now: UnixTime) -> impl Iterator<Item = &WebhookSecret> {
        let previous = self.previous.as_ref().filter(|ending| now < ending.until);
        let previous = previous.map(|ending| &ending.secret);
        [&self.secret].into_iter().chain(previous)
    }

    /// Checks the lengths of what the operator wrote.
    ///
    /// # Errors
    /// `BadRequest`, with what is too long or empty.
    pub fn check(&self) -> Result<()> {
        if self.description.len() > DESCRIPTION_MAX {
            return Err(
                Error::bad_request("webhook-description-long").with("most", &DESCRIPTION_MAX)
            );
        }
        if self.url.as_str().len() > URL_MAX {
            return Err(Error::bad_request("webhook-url-long").with("most", &URL_MAX));
        }
        if self.types.as_ref().is_some_and(Vec::is_empty) {
            return Err(Error::bad_request("webhook-types-empty"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_secret_signs_for_a_day_beside_the_new_one() {
        let ctx = |now| Ctx::new(UnixTime(now), [u8::try_from(now % 251).unwrap(); 32]);
        let mut endpoint = Endpoint::new("https://receiver.example/".parse().unwrap(), &ctx(100));
        let first = endpoint.secret.expose().to_owned();
        endpoint.rotate(&ctx(200));
        let signing = |now| -> Vec<String> {
            let secrets = endpoint.secrets(UnixTime(now));
            secrets.map(|secret| secret.expose().to_owned()).collect()
        };
        let second = endpoint.secret.expose().to_owned();
        assert_ne!(first, second);
        assert_eq!(signing(200), [second.clone(), first]);
        assert_eq!(signing(200 + OVERLAP_SECONDS), [second]);
    }
}
