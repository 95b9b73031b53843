//! `/hooks`: subscribers and their subscriptions, at the addresses of OrgBook's web hooks. A subscriber shows its name and
//! password (RFC 7617).

use axum::extract::FromRequestParts;
use http::header::AUTHORIZATION;
use http::request::Parts;
use selfsame_book_role::{Book, KnownSubscriber};
use selfsame_book_view::hooks::{
    AskedSubscription, NewSubscriber, ShownSubscriber, ShownSubscription, SubscriberChange,
    SubscriptionPatch,
};
use selfsame_crypto::encoding::base64_decode;
use selfsame_driver::{Error, ErrorKind};
use selfsame_http::error::{Handled, SUBSCRIBER_DENIED};
use selfsame_http::extract::{Json, Path, after};
use selfsame_http::listing::Items;
use selfsame_http::response::{created, done, json, told};

use crate::here::BookHere;

/// The book that was called, and who says to be its subscriber.
pub struct HooksHere {
    book: Book,
    shown: Option<ShownPassword>,
}

/// A name and a password as they were sent.
struct ShownPassword {
    name: String,
    password: String,
}

impl<S> FromRequestParts<S> for HooksHere
where
    S: Send + Sync,
    BookHere: FromRequestParts<S>,
{
    type Rejection = <BookHere as FromRequestParts<S>>::Rejection;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        let shown = parts.headers.get(AUTHORIZATION);
        let shown = shown.and_then(|header| ShownPassword::read(after(header, "basic")?));
        let BookHere { book, .. } = BookHere::from_request_parts(parts, state).await?;
        Ok(Self { book, shown })
    }
}

impl ShownPassword {
    fn read(encoded: &str) -> Option<Self> {
        let text = String::from_utf8(base64_decode(encoded).ok()?).ok()?;
        let (name, password) = text.split_once(':')?;
        Some(Self {
            name: name.to_owned(),
            password: password.to_owned(),
        })
    }
}

impl HooksHere {
    /// The subscriber of this name, who has shown its password.
    async fn subscriber(&self, name: &str) -> Handled<KnownSubscriber> {
        let denied = || Error::new(ErrorKind::Unauthenticated, "book-subscriber-denied");
        let known = match self.shown.as_ref().filter(|shown| shown.name == name) {
            Some(shown) => self.book.subscriber(name, &shown.password).await,
            None => Err(denied()),
        };
        known.map_err(|error| match error.kind {
            ErrorKind::Unauthenticated => error.with_code(SUBSCRIBER_DENIED).into(),
            _ => error.into(),
        })
    }
}

/// Registers a subscriber. Those who keep the book do so; the subscriber then shows its name and password.
#[utoipa::path(post, path = "/hooks/register", tag = "book", operation_id = "book_hooks_register", request_body = NewSubscriber, responses((status = 201, body = ShownSubscriber)))]
pub async fn register(BookHere { book, .. }: BookHere, Json(new): Json<NewSubscriber>) -> Handled {
    created(&book.register_subscriber(&new).await?)
}

/// A subscriber with its subscriptions.
#[utoipa::path(get, path = "/hooks/registration/{username}", tag = "book", operation_id = "book_hooks_get_registration", params(("username" = String, Path)), responses((status = 200, body = ShownSubscriber)))]
pub async fn registration(here: HooksHere, Path(name): Path<String>) -> Handled {
    let subscriber = here.subscriber(&name).await?;
    told(here.book.shown_subscriber(&subscriber).await?)
}

/// Changes a subscriber.
#[utoipa::path(patch, path = "/hooks/registration/{username}", tag = "book", operation_id = "book_hooks_change_registration", params(("username" = String, Path)), request_body = SubscriberChange, responses((status = 200, body = ShownSubscriber)))]
pub async fn change(
    here: HooksHere,
    Path(name): Path<String>,
    Json(change): Json<SubscriberChange>,
) -> Handled {
    let subscriber = here.subscriber(&name).await?;
    let changed = here.book.change_subscriber(&subscriber, change);
    told(changed.await?)
}

/// Removes a subscriber with its subscriptions.
#[utoipa::path(delete, path = "/hooks/registration/{username}", tag = "book", operation_id = "book_hooks_remove_registration", params(("username" = String, Path)), responses((status = 204)))]
pub async fn remove(here: HooksHere, Path(name): Path<String>) -> Handled {
    let subscriber = here.subscriber(&name).await?;
    here.book.remove_subscriber(&subscriber).await?;
    done()
}

/// The subscriptions of a subscriber.
#[utoipa::path(get, path = "/hooks/registration/{username}/subscriptions", tag = "book", operation_id = "book_hooks_list_subscriptions", params(("username" = String, Path)), responses((status = 200, body = Items<ShownSubscription>)))]
pub async fn subscriptions(here: HooksHere, Path(name): Path<String>) -> Handled {
    let subscriber = here.subscriber(&name).await?;
    let shown = here.book.shown_subscriber(&subscriber).await?;
    json(&Items {
        items: sentences(shown.subscriptions),
    })
}

/// Subscribes. The answer alone has the secret that messages are signed with.
#[utoipa::path(post, path = "/hooks/registration/{username}/subscriptions", tag = "book", operation_id = "book_hooks_subscribe", params(("username" = String, Path)), request_body = AskedSubscription, responses((status = 201, body = ShownSubscription)))]
pub async fn subscribe(
    here: HooksHere,
    Path(name): Path<String>,
    Json(asked): Json<AskedSubscription>,
) -> Handled {
    let subscriber = here.subscriber(&name).await?;
    created(&here.book.subscribe(&subscriber, &asked).await?)
}

/// A subscription.
#[utoipa::path(get, path = "/hooks/registration/{username}/subscriptions/{id}", tag = "book", operation_id = "book_hooks_get_subscription", params(("username" = String, Path), ("id" = String, Path)), responses((status = 200, body = ShownSubscription)))]
pub async fn subscription(here: HooksHere, Path([name, id]): Path<[String; 2]>) -> Handled {
    let subscriber = here.subscriber(&name).await?;
    told(here.book.subscription(&subscriber, &id).await?)
}

/// Makes a subscription another one. Its secret stays, and so does whether it is paused.
#[utoipa::path(put, path = "/hooks/registration/{username}/subscriptions/{id}", tag = "book", operation_id = "book_hooks_replace_subscription", params(("username" = String, Path), ("id" = String, Path)), request_body = AskedSubscription, responses((status = 200, body = ShownSubscription)))]
pub async fn replace(
    here: HooksHere,
    Path([name, id]): Path<[String; 2]>,
    Json(asked): Json<AskedSubscription>,
) -> Handled {
    let subscriber = here.subscriber(&name).await?;
    let book = &here.book;
    told(book.replace_subscription(&subscriber, &id, &asked).await?)
}

/// Changes where a subscription is sent, its token, and whether it is: one that was paused goes on.
#[utoipa::path(patch, path = "/hooks/registration/{username}/subscriptions/{id}", tag = "book", operation_id = "book_hooks_change_subscription", params(("username" = String, Path), ("id" = String, Path)), request_body = SubscriptionPatch, responses((status = 200, body = ShownSubscription)))]
pub async fn patch(
    here: HooksHere,
    Path([name, id]): Path<[String; 2]>,
    Json(patch): Json<SubscriptionPatch>,
) -> Handled {
    let subscriber = here.subscriber(&name).await?;
    let book = &here.book;
    told(book.patch_subscription(&subscriber, &id, patch).await?)
}

/// Ends a subscription. What waits for it is not sent.
#[utoipa::path(delete, path = "/hooks/registration/{username}/subscriptions/{id}", tag = "book", operation_id = "book_hooks_unsubscribe", params(("username" = String, Path), ("id" = String, Path)), responses((status = 204)))]
pub async fn unsubscribe(here: HooksHere, Path([name, id]): Path<[String; 2]>) -> Handled {
    let subscriber = here.subscriber(&name).await?;
    here.book.unsubscribe(&subscriber, &id).await?;
    done()
}

/// What is shown, with sentences in the places of reasons.
fn sentences<T: selfsame_driver::Reasons>(mut shown: Vec<T>) -> Vec<T> {
    for reason in shown.iter_mut().flat_map(T::reasons) {
        selfsame_catalogue::tell(selfsame_catalogue::Language::English, reason);
    }
    shown
}
