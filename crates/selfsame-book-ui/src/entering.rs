//! `/api/book`: subscribers, and issued credentials that could not be entered, for those who keep the book.

use selfsame_book_role::LoadedEntry;
use selfsame_book_view::hooks::{
    RefusedEntry, ShownSubscriber, ShownSubscription, SubscriptionPatch,
};
use selfsame_driver::paging::{Listing, Paging, part};
use selfsame_http::error::Handled;
use selfsame_http::extract::{Json, Path, Query};
use selfsame_http::listing::Page;
use selfsame_http::response::{created, done, told};

use crate::here::BookHere;

/// The subscribers of the book, with their subscriptions.
#[utoipa::path(get, path = "/api/book/subscribers", tag = "book", operation_id = "book_list_subscribers", params(Page), responses((status = 200, body = Listing<ShownSubscriber>)))]
pub async fn subscribers(BookHere { book, .. }: BookHere, Query(paging): Query<Paging>) -> Handled {
    let all = book.subscribers().await?;
    told(part(all, &paging, |one| one.credentials.username.clone())?)
}

/// Removes a subscriber with its subscriptions.
#[utoipa::path(delete, path = "/api/book/subscribers/{username}", tag = "book", operation_id = "book_remove_subscriber", params(("username" = String, Path)), responses((status = 204)))]
pub async fn remove_subscriber(
    BookHere { book, .. }: BookHere,
    Path(name): Path<String>,
) -> Handled {
    let subscriber = book.subscriber_named(&name).await?;
    book.remove_subscriber(&subscriber).await?;
    done()
}

/// Changes a subscription: pauses it, or lets it go on.
#[utoipa::path(patch, path = "/api/book/subscribers/{username}/subscriptions/{id}", tag = "book", operation_id = "book_change_subscription", params(("username" = String, Path), ("id" = String, Path)), request_body = SubscriptionPatch, responses((status = 200, body = ShownSubscription)))]
pub async fn change_subscription(
    BookHere { book, .. }: BookHere,
    Path([name, id]): Path<[String; 2]>,
    Json(patch): Json<SubscriptionPatch>,
) -> Handled {
    let subscriber = book.subscriber_named(&name).await?;
    told(book.patch_subscription(&subscriber, &id, patch).await?)
}

/// Ends a subscription.
#[utoipa::path(delete, path = "/api/book/subscribers/{username}/subscriptions/{id}", tag = "book", operation_id = "book_end_subscription", params(("username" = String, Path), ("id" = String, Path)), responses((status = 204)))]
pub async fn end_subscription(
    BookHere { book, .. }: BookHere,
    Path([name, id]): Path<[String; 2]>,
) -> Handled {
    let subscriber = book.subscriber_named(&name).await?;
    book.unsubscribe(&subscriber, &id).await?;
    done()
}

/// The credentials that the book should have entered when they were issued, and could not, newest first.
#[utoipa::path(get, path = "/api/book/refused", tag = "book", operation_id = "book_list_refused", params(Page), responses((status = 200, body = Listing<RefusedEntry>)))]
pub async fn refused(BookHere { book, .. }: BookHere, Query(paging): Query<Paging>) -> Handled {
    told(book.refused(&paging).await?)
}

/// Tries once more to enter such a credential.
#[utoipa::path(post, path = "/api/book/refused/{credential_id}/enter", tag = "book", operation_id = "book_enter_refused", params(("credential_id" = String, Path)), responses((status = 201, body = LoadedEntry)))]
pub async fn enter_refused(BookHere { book, .. }: BookHere, Path(id): Path<String>) -> Handled {
    created(&book.enter_refused(&id).await?)
}

/// Forgets such a credential.
#[utoipa::path(delete, path = "/api/book/refused/{credential_id}", tag = "book", operation_id = "book_drop_refused", params(("credential_id" = String, Path)), responses((status = 204)))]
pub async fn drop_refused(BookHere { book, .. }: BookHere, Path(id): Path<String>) -> Handled {
    book.drop_refused(&id).await?;
    done()
}
