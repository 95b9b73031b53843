//! The subscribers of a book, and what they subscribed to.

use selfsame_book::mapping::is_kind;
use selfsame_book::news::{NewsWanted, WantedTopic};
use selfsame_book_view::hooks::{
    AskedSubscription, NewSubscriber, ShownSubscriber, ShownSubscription, SubscriberChange,
    SubscriberCredentials, SubscriptionPatch, SubscriptionType,
};
use selfsame_crypto::SecretString;
use selfsame_crypto::hash::{ct_eq, sha256_parts};
use selfsame_crypto::time::UnixTime;
use selfsame_driver::record::{all, decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_oauth::secret;
use selfsame_store::{Batch, Expect, Put, StoreError};
use selfsame_webhooks::{NewSubscription, SubscriptionChange, SubscriptionView};
use serde::{Deserialize, Serialize};

use crate::books::Book;

/// The kind of the records of subscribers.
const SUBSCRIBER: &str = "book_subscriber";
/// The maximum number of subscribers of a book.
const SUBSCRIBERS_MAX: u64 = 200;
/// The longest name, in bytes.
const USERNAME_MAX: usize = 64;
/// The shortest and the longest password, in characters: it is compared by a fast hash, so it must be as hard to guess as a
/// key.
const PASSWORD_LENGTH: std::ops::RangeInclusive<usize> = 24..=128;
/// The longest text of a subscriber, in characters.
const TEXT_MAX: usize = 254;
/// The longest token, and the longest number or name of a topic, in characters.
const TOKEN_MAX: usize = 200;

/// A subscriber.
#[derive(Clone, Deserialize, Serialize)]
struct SubscriberRecord {
    email: String,
    org_name: String,
    target_url: String,
    #[serde(with = "secret")]
    hook_token: SecretString,
    /// The only one of the instance's own and trusted origins that it may name: those who keep the book registered it there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
    /// The hash of the password.
    password: [u8; 32],
    registered: UnixTime,
}

/// A subscriber that has shown its password, or for whom somebody acts who keeps the book.
#[derive(Clone, Debug)]
pub struct KnownSubscriber(String);

impl Book {
    /// Registers a subscriber. The answer alone has its password.
    ///
    /// # Errors
    /// `BadRequest` with the field that is wrong; `Conflict` if the name is taken, or there are too many.
    pub async fn register_subscriber(&self, new: &NewSubscriber) -> Result<ShownSubscriber> {
        let name = &new.credentials.username;
        if name.is_empty() || name.len() > USERNAME_MAX || !is_kind(name) {
            return Err(Error::bad_request("book-subscriber-name").with("maximum", &USERNAME_MAX));
        }
        let ctx = self.shared().clock.ctx();
        let password = match &new.credentials.password {
            None => ctx.token("book/subscriber"),
            Some(chosen) if PASSWORD_LENGTH.contains(&chosen.chars().count()) => chosen.clone(),
            Some(_) => {
                return Err(Error::bad_request("book-subscriber-password")
                    .with("minimum", PASSWORD_LENGTH.start())
                    .with("maximum", PASSWORD_LENGTH.end()));
            }
        };
        let subscriber = SubscriberRecord {
            email: new.email.clone(),
            org_name: new.org_name.clone(),
            target_url: new.target_url.clone(),
            origin: self.webhooks().own_origin(&new.target_url),
            hook_token: SecretString::from(new.hook_token.clone().unwrap_or_default()),
            password: hash(name, &password),
            registered: ctx.now(),
        };
        self.check_subscriber(&subscriber)?;
        let (store, tenant) = (self.store(), self.tenant());
        if store.count(tenant, SUBSCRIBER, SUBSCRIBERS_MAX).await? >= SUBSCRIBERS_MAX {
            return Err(Error::new(ErrorKind::Conflict, "book-subscribers-many")
                .with("most", &SUBSCRIBERS_MAX));
        }
        let batch = Batch::new(tenant.clone())
            .expect(SUBSCRIBER, name, Expect::Absent)
            .put(Put::new(SUBSCRIBER, name, encode(&subscriber)?));
        match store.commit(batch).await {
            Ok(_) => {}
            Err(StoreError::Conflict { .. }) => {
                return Err(Error::new(ErrorKind::Conflict, "book-subscriber-taken"));
            }
            Err(error) => return Err(error.into()),
        }
        tracing::info!(
            subscriber = name,
            "a subscriber of a credential book was registered"
        );
        let mut shown = shown(name, subscriber, &[]);
        shown.credentials.password = Some(password);
        Ok(shown)
    }

    /// The subscriber with this name and password.
    ///
    /// # Errors
    /// `Unauthenticated` for an unknown name and for another password, without a difference.
    pub async fn subscriber(&self, name: &str, password: &str) -> Result<KnownSubscriber> {
        let record = self.subscriber_record(name).await;
        let known = match record {
            Ok((_, known)) => known.password,
            Err(error) if error.kind == ErrorKind::NotFound => [0; 32],
            Err(error) => return Err(error),
        };
        match ct_eq(&known, &hash(name, password)) {
            true => Ok(KnownSubscriber(name.to_owned())),
            false => Err(Error::new(
                ErrorKind::Unauthenticated,
                "book-subscriber-denied",
            )),
        }
    }

    /// The subscriber with this name, for those who keep the book.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn subscriber_named(&self, name: &str) -> Result<KnownSubscriber> {
        self.subscriber_record(name).await?;
        Ok(KnownSubscriber(name.to_owned()))
    }

    /// All subscribers with their subscriptions.
    ///
    /// # Errors
    /// The store's.
    pub async fn subscribers(&self) -> Result<Vec<ShownSubscriber>> {
        let subscriptions = self.all_subscriptions().await?;
        all(self.store(), self.tenant(), SUBSCRIBER, |record| {
            Ok(shown(&record.id, decode(&record.value)?, &subscriptions))
        })
        .await
    }

    /// A subscriber with its subscriptions.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn shown_subscriber(&self, of: &KnownSubscriber) -> Result<ShownSubscriber> {
        let (_, record) = self.subscriber_record(&of.0).await?;
        Ok(shown(&of.0, record, &self.all_subscriptions().await?))
    }

    /// Changes a subscriber.
    ///
    /// # Errors
    /// `BadRequest` with the field that is wrong; `NotFound`; `Conflict` if it was changed meanwhile.
    pub async fn change_subscriber(
        &self,
        of: &KnownSubscriber,
        change: SubscriberChange,
    ) -> Result<ShownSubscriber> {
        let (version, mut record) = self.subscriber_record(&of.0).await?;
        if let Some(email) = change.email {
            record.email = email;
        }
        if let Some(org_name) = change.org_name {
            record.org_name = org_name;
        }
        if let Some(target_url) = change.target_url {
            record.target_url = target_url;
        }
        if let Some(token) = change.hook_token {
            record.hook_token = SecretString::from(token);
        }
        self.check_subscriber(&record)?;
        let batch = Batch::new(self.tenant().clone());
        let batch = batch.update_version(SUBSCRIBER, &of.0, version, encode(&record)?);
        self.store().commit(batch).await?;
        self.shown_subscriber(of).await
    }

    /// Removes a subscriber with its subscriptions.
    ///
    /// # Errors
    /// The store's.
    pub async fn remove_subscriber(&self, of: &KnownSubscriber) -> Result<()> {
        // The record stays until then: after an interruption, it can be removed again.
        let owner = self.subscriptions_owner();
        self.webhooks().unsubscribe(&owner, Some(&of.0)).await?;
        let batch = Batch::new(self.tenant().clone()).delete(SUBSCRIBER, &of.0);
        self.store().commit(batch).await?;
        // What it subscribed to meanwhile.
        self.webhooks().unsubscribe(&owner, Some(&of.0)).await?;
        tracing::info!(
            subscriber = of.0,
            "a subscriber of a credential book was removed"
        );
        Ok(())
    }

    /// Subscribes. The answer alone has the secret that messages are signed with.
    ///
    /// # Errors
    /// `BadRequest` with the field that is wrong; `Conflict` if the subscriber, or the book, has too many subscriptions.
    pub async fn subscribe(
        &self,
        of: &KnownSubscriber,
        asked: &AskedSubscription,
    ) -> Result<ShownSubscription> {
        let (_, subscriber) = self.subscriber_record(&of.0).await?;
        let token = match &asked.hook_token {
            Some(token) => SecretString::from(bounded("hook_token", token, TOKEN_MAX)?),
            None => subscriber.hook_token,
        };
        let new = NewSubscription {
            subscriber: of.0.clone(),
            url: asked.target_url.clone().unwrap_or(subscriber.target_url),
            wanted: self.wanted(asked).await?,
            token,
            origin: subscriber.origin,
        };
        let owner = self.subscriptions_owner();
        let created = self.webhooks().subscribe(&owner, &new).await?;
        if let Err(error) = self.subscriber_record(&of.0).await {
            // It was removed meanwhile. Whoever gets its name next must not find what it subscribed to.
            let id = &created.subscription.id;
            self.webhooks().remove(&owner, id).await?;
            return Err(error);
        }
        let secret = created.secret.expose().to_owned();
        Ok(ShownSubscription {
            secret: Some(secret),
            ..subscription(created.subscription)
        })
    }

    /// A subscription of a subscriber.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn subscription(&self, of: &KnownSubscriber, id: &str) -> Result<ShownSubscription> {
        let owner = self.subscriptions_owner();
        let found = self.webhooks().subscription(&owner, &of.0, id).await?;
        Ok(subscription(found))
    }

    /// Makes a subscription another one. Its secret stays, and so does whether it is paused.
    ///
    /// # Errors
    /// As [`Self::subscribe`]; `NotFound`.
    pub async fn replace_subscription(
        &self,
        of: &KnownSubscriber,
        id: &str,
        asked: &AskedSubscription,
    ) -> Result<ShownSubscription> {
        let (_, subscriber) = self.subscriber_record(&of.0).await?;
        let token = match &asked.hook_token {
            Some(token) => SecretString::from(bounded("hook_token", token, TOKEN_MAX)?),
            None => subscriber.hook_token,
        };
        let change = SubscriptionChange {
            url: Some(asked.target_url.clone().unwrap_or(subscriber.target_url)),
            wanted: Some(self.wanted(asked).await?),
            token: Some(token),
            enabled: None,
        };
        self.change(of, id, change).await
    }

    /// Changes where a subscription is sent, its token, and whether it is.
    ///
    /// # Errors
    /// `BadRequest` with the field that is wrong; `NotFound`.
    pub async fn patch_subscription(
        &self,
        of: &KnownSubscriber,
        id: &str,
        patch: SubscriptionPatch,
    ) -> Result<ShownSubscription> {
        let token = patch.hook_token.as_deref();
        let token = token.map(|token| bounded("hook_token", token, TOKEN_MAX));
        let change = SubscriptionChange {
            url: patch.target_url,
            wanted: None,
            token: token.transpose()?.map(SecretString::from),
            enabled: patch.enabled,
        };
        self.change(of, id, change).await
    }

    /// Ends a subscription. What waits for it is not sent.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn unsubscribe(&self, of: &KnownSubscriber, id: &str) -> Result<()> {
        self.subscription(of, id).await?;
        let owner = self.subscriptions_owner();
        self.webhooks().remove(&owner, id).await
    }

    async fn change(
        &self,
        of: &KnownSubscriber,
        id: &str,
        change: SubscriptionChange,
    ) -> Result<ShownSubscription> {
        self.subscription(of, id).await?;
        let (owner, webhooks) = (self.subscriptions_owner(), self.webhooks());
        let changed = webhooks.change_subscription(&owner, id, change).await?;
        Ok(subscription(changed))
    }

    async fn all_subscriptions(&self) -> Result<Vec<SubscriptionView>> {
        let owner = self.subscriptions_owner();
        self.webhooks().subscriptions(&owner).await
    }

    async fn subscriber_record(&self, name: &str) -> Result<(u64, SubscriberRecord)> {
        let unknown = || Error::not_found("book-subscriber-absent");
        if name.is_empty() || name.len() > USERNAME_MAX || !is_kind(name) {
            return Err(unknown());
        }
        let record = self.store().read(self.tenant(), SUBSCRIBER, name);
        let record = record.await?.ok_or_else(unknown)?;
        Ok((record.version, decode(&record.value)?))
    }

    fn check_subscriber(&self, subscriber: &SubscriberRecord) -> Result<()> {
        let email = bounded("email", &subscriber.email, TEXT_MAX)?;
        if !email.contains('@') {
            return Err(Error::bad_request("address-malformed"));
        }
        if bounded("org_name", &subscriber.org_name, TEXT_MAX)?.is_empty() {
            return Err(Error::bad_request("field-missing").with("field", "org_name"));
        }
        bounded("hook_token", subscriber.hook_token.expose(), TOKEN_MAX)?;
        // Its subscriptions are checked again, and so is each call.
        let (url, origin) = (&subscriber.target_url, subscriber.origin.as_deref());
        self.webhooks().news_url(url, origin).map(drop)
    }

    /// What a subscription asks for, with all that its kind needs and nothing else.
    async fn wanted(&self, asked: &AskedSubscription) -> Result<NewsWanted> {
        let kind = asked.subscription_type;
        let given = |text: &Option<String>| {
            let text = text.as_deref().map(str::trim);
            text.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let needless = |field: &str| {
            Err(Error::bad_request("book-subscription-needless")
                .with("kind", kind.as_str())
                .with("field", field))
        };
        let needed = |field: &str| {
            Error::bad_request("book-subscription-needs")
                .with("kind", kind.as_str())
                .with("field", field)
        };
        let source_id = given(&asked.topic_source_id);
        let (topic_type, type_id) = (given(&asked.topic_type), given(&asked.credential_type));
        if kind == SubscriptionType::New {
            return match (source_id, topic_type, type_id) {
                (None, None, None) => Ok(NewsWanted::NewTopics),
                (Some(_), ..) => needless("topic_source_id"),
                (_, Some(_), _) => needless("topic_type"),
                (.., Some(_)) => needless("credential_type"),
            };
        }
        let source_id = source_id.ok_or_else(|| needed("topic_source_id"))?;
        let topic = WantedTopic {
            source_id: bounded("topic_source_id", &source_id, TOKEN_MAX)?,
            kind: topic_type
                .map(|kind| bounded("topic_type", &kind, TOKEN_MAX))
                .transpose()?,
        };
        match (kind, type_id) {
            (SubscriptionType::Stream, None) => Err(needed("credential_type")),
            (SubscriptionType::Stream, Some(type_id)) => {
                let types = self.types().await?;
                let one = types.newest(&type_id).filter(|one| one.book.is_some());
                one.ok_or_else(|| Error::bad_request("book-type-unmapped").with("type", &type_id))?;
                Ok(NewsWanted::Stream { topic, type_id })
            }
            (_, Some(_)) => needless("credential_type"),
            (_, None) => Ok(NewsWanted::Topic(topic)),
        }
    }
}

/// The hash of a password, which differs from subscriber to subscriber.
fn hash(name: &str, password: &str) -> [u8; 32] {
    let name_length = (name.len() as u64).to_be_bytes();
    sha256_parts(&[
        b"selfsame-book/subscriber",
        &name_length,
        name.as_bytes(),
        password.as_bytes(),
    ])
}

/// A text without control characters, of at most this many characters.
fn bounded(field: &str, text: &str, maximum: usize) -> Result<String> {
    if text.chars().count() > maximum || text.chars().any(char::is_control) {
        return Err(Error::bad_request("book-subscriber-field")
            .with("field", field)
            .with("maximum", &maximum));
    }
    Ok(text.to_owned())
}

fn shown(name: &str, record: SubscriberRecord, all: &[SubscriptionView]) -> ShownSubscriber {
    let own = all.iter().filter(|one| one.subscriber == name).cloned();
    ShownSubscriber {
        credentials: SubscriberCredentials {
            username: name.to_owned(),
            password: None,
        },
        email: record.email,
        org_name: record.org_name,
        target_url: record.target_url,
        registered: record.registered.rfc3339(),
        subscriptions: own.map(subscription).collect(),
    }
}

fn subscription(one: SubscriptionView) -> ShownSubscription {
    let topic = one.wanted.topic().cloned();
    ShownSubscription {
        id: one.id,
        owner: one.subscriber,
        subscription_type: match one.wanted {
            NewsWanted::NewTopics => SubscriptionType::New,
            NewsWanted::Topic(_) => SubscriptionType::Topic,
            NewsWanted::Stream { .. } => SubscriptionType::Stream,
        },
        topic_source_id: topic.as_ref().map(|topic| topic.source_id.clone()),
        topic_type: topic.and_then(|topic| topic.kind),
        credential_type: one.wanted.type_id().map(str::to_owned),
        target_url: one.url,
        enabled: one.paused.is_none(),
        paused_because: one.paused,
        created: one.created.rfc3339(),
        secret: None,
    }
}
