//! The subscriptions of a credential book: endpoints that are sent news of entries.

use selfsame_book::news::NewsWanted;
use selfsame_crypto::SecretString;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_net::guard::Reach;
use selfsame_store::TenantId;
use url::Url;

use crate::endpoint::{Endpoint, EndpointForm, INWARD, NewsReader, is_outside};
use crate::records::{self, FoundEndpoint, OwnedCount, READERS_EACH};
use crate::webhooks::Webhooks;

/// A subscription to create.
#[derive(Clone, Debug)]
pub struct NewSubscription {
    /// The name of the subscriber.
    pub subscriber: String,
    /// Where the news is sent.
    pub url: String,
    /// Which news it wants.
    pub wanted: NewsWanted,
    /// What each message has; empty for nothing.
    pub token: SecretString,
    /// The only one of the instance's own and trusted origins that the subscriber may name, such as
    /// `http://receiver.internal:8080`; `None` for none of them.
    pub origin: Option<String>,
}

/// What changes of a subscription. What is absent stays.
#[derive(Clone, Debug, Default)]
pub struct SubscriptionChange {
    /// Where the news is sent.
    pub url: Option<String>,
    /// Which news it wants.
    pub wanted: Option<NewsWanted>,
    /// What each message has; empty for nothing.
    pub token: Option<SecretString>,
    /// Whether news is sent.
    pub enabled: Option<bool>,
}

/// A subscription.
#[derive(Clone, Debug)]
pub struct SubscriptionView {
    /// Its identifier.
    pub id: String,
    /// The name of the subscriber.
    pub subscriber: String,
    /// Where the news is sent.
    pub url: String,
    /// Which news it wants.
    pub wanted: NewsWanted,
    /// Why no news is sent now.
    pub paused: Option<Reason>,
    /// When it was created.
    pub created: UnixTime,
}

/// A subscription with its secret, which is shown once.
#[derive(Clone, Debug)]
pub struct CreatedSubscription {
    /// The subscription.
    pub subscription: SubscriptionView,
    /// The secret that its messages are signed with: `whsec_` and base64.
    pub secret: SecretString,
}

impl Webhooks {
    /// The tenant to which the subscriptions of this tenant's credential book belong; `None` if its events are never
    /// sent.
    #[must_use]
    pub fn owner_of(&self, tenant: &TenantId) -> Option<TenantId> {
        (self.owner_of)(tenant)
    }

    /// Whether anybody subscribed to the credential book of this owner.
    ///
    /// # Errors
    /// The store's.
    pub async fn has_subscriptions(&self, owner: &TenantId) -> Result<bool> {
        let owned = OwnedCount::read(&self.shared.store, owner).await?;
        Ok(owned.has_readers())
    }

    /// The URL of this text, if news may be sent there to a subscriber who may name this one of the instance's own and
    /// trusted origins, and no other of them. The address is checked again at each call.
    ///
    /// # Errors
    /// `BadRequest` for a URL that is not called.
    pub fn news_url(&self, url: &str, origin: Option<&str>) -> Result<Url> {
        let url = self.called(url)?;
        let reach = self.shared.net.check(&url);
        match reach.is_ok_and(|reach| is_outside(&url, reach, origin)) {
            true => Ok(url),
            false => Err(Error::bad_request("webhook-url-refused").with("detail", INWARD)),
        }
    }

    /// The origin of a URL, if it is one of the instance's own and trusted ones.
    #[must_use]
    pub fn own_origin(&self, url: &str) -> Option<String> {
        let url = Url::parse(url).ok()?;
        let reach = self.shared.net.check(&url).ok()?;
        (reach == Reach::Own).then(|| url.origin().ascii_serialization())
    }

    /// Creates a subscription. It is sent the news from now on.
    ///
    /// # Errors
    /// `BadRequest` for a URL that is not called; `Conflict` if the subscriber, or the book, has too many.
    pub async fn subscribe(
        &self,
        owner: &TenantId,
        new: &NewSubscription,
    ) -> Result<CreatedSubscription> {
        let ctx = self.shared.clock.ctx();
        let endpoint = Endpoint {
            form: EndpointForm::Book(NewsReader {
                subscriber: new.subscriber.clone(),
                wanted: new.wanted.clone(),
                token: new.token.clone(),
                origin: new.origin.clone(),
            }),
            ..Endpoint::new(self.news_url(&new.url, new.origin.as_deref())?, &ctx)
        };
        endpoint.check()?;
        let id = ctx.token("webhook/subscription");
        self.insert(owner, &id, &endpoint).await?;
        Ok(CreatedSubscription {
            subscription: view(&id, &endpoint).ok_or_else(unknown)?,
            secret: SecretString::new(endpoint.secret.expose().to_owned()),
        })
    }

    /// The subscriptions of an owner's credential book, the oldest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn subscriptions(&self, owner: &TenantId) -> Result<Vec<SubscriptionView>> {
        let found = records::endpoints(&self.shared.store, owner).await?;
        let shown = |one: &FoundEndpoint| view(&one.id, &one.endpoint);
        Ok(found.iter().filter_map(shown).collect())
    }

    /// A subscription of this subscriber.
    ///
    /// # Errors
    /// `NotFound` if the subscriber has no such subscription.
    pub async fn subscription(
        &self,
        owner: &TenantId,
        subscriber: &str,
        id: &str,
    ) -> Result<SubscriptionView> {
        let found = self
            .found(owner, id)
            .await
            .map_err(|error| match error.kind {
                ErrorKind::NotFound => unknown(),
                _ => error,
            })?;
        let shown = view(id, &found.endpoint).filter(|one| one.subscriber == subscriber);
        shown.ok_or_else(unknown)
    }

    /// Changes a subscription. One that was paused is sent what waits, and the news from now on.
    ///
    /// # Errors
    /// As [`Self::subscribe`]; `NotFound` if the owner's book has no such subscription.
    pub async fn change_subscription(
        &self,
        owner: &TenantId,
        id: &str,
        change: SubscriptionChange,
    ) -> Result<SubscriptionView> {
        let url = match &change.url {
            Some(url) => {
                let found = self.found(owner, id).await?;
                Some(self.news_url(url, found.endpoint.origin())?)
            }
            None => None,
        };
        let apply = |endpoint: &mut Endpoint| {
            let EndpointForm::Book(reader) = &mut endpoint.form else {
                return;
            };
            if let Some(wanted) = &change.wanted {
                reader.wanted = wanted.clone();
            }
            if let Some(token) = &change.token {
                reader.token = token.clone();
            }
            if let Some(url) = &url {
                endpoint.url = url.clone();
            }
            match change.enabled {
                Some(true) => endpoint.disabled = None,
                Some(false) => endpoint.disabled = Some(Reason::new("book-subscription-off")),
                None => {}
            }
        };
        let changed = self.changed(owner, id, apply).await?;
        self.wake(owner, id);
        view(id, &changed).ok_or_else(unknown)
    }

    /// Removes the subscriptions of a subscriber, or of all.
    ///
    /// # Errors
    /// The store's.
    pub async fn unsubscribe(&self, owner: &TenantId, subscriber: Option<&str>) -> Result<()> {
        for one in self.subscriptions(owner).await? {
            if subscriber.is_none_or(|subscriber| subscriber == one.subscriber) {
                match self.remove(owner, &one.id).await {
                    // Somebody else has just removed it.
                    Err(error) if error.kind != ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Refuses one subscription too many of a subscriber.
    pub(super) async fn is_within(&self, owner: &TenantId, endpoint: &Endpoint) -> Result<()> {
        let Some(subscriber) = endpoint.subscriber() else {
            return Ok(());
        };
        let all = records::endpoints(&self.shared.store, owner).await?;
        let own = |one: &&FoundEndpoint| one.endpoint.subscriber() == Some(subscriber);
        match all.iter().filter(own).count() < READERS_EACH {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::Conflict, "book-subscriptions-many")
                .with("most", &READERS_EACH)),
        }
    }
}

fn view(id: &str, endpoint: &Endpoint) -> Option<SubscriptionView> {
    let EndpointForm::Book(reader) = &endpoint.form else {
        return None;
    };
    Some(SubscriptionView {
        id: id.to_owned(),
        subscriber: reader.subscriber.clone(),
        url: endpoint.url.to_string(),
        wanted: reader.wanted.clone(),
        paused: endpoint.disabled.clone(),
        created: endpoint.created,
    })
}

fn unknown() -> Error {
    Error::not_found("book-subscription-absent")
}
