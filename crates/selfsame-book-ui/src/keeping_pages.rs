//! The page of those who keep the book.

use axum::response::{IntoResponse as _, Redirect};
use selfsame_book_pages::keeping::{KeepingContent, TypedSubscriber};
use selfsame_book_view::BookPolicy;
use selfsame_book_view::hooks::{NewSubscriber, SubscriberCredentials, SubscriptionPatch};
use selfsame_http::correction::{correctable, refused};
use selfsame_http::error::Handled;
use selfsame_http::extract::{Form, Path, Query};
use selfsame_http::listing::ListPosition;
use selfsame_pages::Frame;

use crate::here::BookHere;
use crate::pages::page;

const TITLE: &str = "Keeping the credential book";
const ADDRESS: &str = "/issuer/book";

/// The subscribers, and what could not be entered.
pub async fn shown(here: BookHere, frame: Frame, Query(at): Query<ListPosition>) -> Handled {
    let content = content(&here, &frame, at).await?;
    page(frame, TITLE, &content)
}

async fn content(here: &BookHere, frame: &Frame, at: ListPosition) -> Handled<KeepingContent> {
    let refused = here.book.refused(&at.into()).await?;
    Ok(KeepingContent {
        here: here.prefix.clone(),
        form: frame.form.clone(),
        subscribers: here.book.subscribers().await?,
        refused: refused.items,
        proofs_by_agent: here.book.policy().await?.proofs_by_agent,
        next: refused.next,
        ..KeepingContent::default()
    })
}

/// Sets what the agent does for anybody.
pub async fn set_policy(BookHere { book, .. }: BookHere, form: Form) -> Handled {
    let proofs_by_agent = form.checked("proofs_by_agent");
    book.set_policy(BookPolicy { proofs_by_agent }).await?;
    back()
}

/// Registers a subscriber, and shows its password once.
pub async fn register(here: BookHere, frame: Frame, form: Form) -> Handled {
    let typed = typed(&form);
    let registered = here.book.register_subscriber(&new(&typed)).await;
    let mut content = content(&here, &frame, ListPosition::first()).await?;
    match registered {
        Ok(registered) => {
            content.registered = Some(registered);
            page(frame, TITLE, &content)
        }
        Err(error) => {
            let (problem, _) = correctable(error)?;
            content.wrong = Some(problem.reason().clone());
            content.typed = typed;
            Ok(refused(&problem, page(frame, TITLE, &content)?))
        }
    }
}

fn typed(form: &Form) -> TypedSubscriber {
    let text = |name: &str| form.one(name).unwrap_or_default().to_owned();
    TypedSubscriber {
        username: text("username"),
        org_name: text("org_name"),
        email: text("email"),
        target_url: text("target_url"),
    }
}

fn new(typed: &TypedSubscriber) -> NewSubscriber {
    NewSubscriber {
        email: typed.email.clone(),
        org_name: typed.org_name.clone(),
        target_url: typed.target_url.clone(),
        hook_token: None,
        credentials: SubscriberCredentials {
            username: typed.username.clone(),
            password: None,
        },
    }
}

/// Removes a subscriber with its subscriptions.
pub async fn remove(BookHere { book, .. }: BookHere, Path(name): Path<String>) -> Handled {
    let subscriber = book.subscriber_named(&name).await?;
    book.remove_subscriber(&subscriber).await?;
    back()
}

/// Pauses a subscription, or lets it go on.
pub async fn set_enabled(
    BookHere { book, .. }: BookHere,
    Path([name, id]): Path<[String; 2]>,
    form: Form,
) -> Handled {
    let subscriber = book.subscriber_named(&name).await?;
    let patch = SubscriptionPatch {
        enabled: Some(form.checked("enabled")),
        ..SubscriptionPatch::default()
    };
    book.patch_subscription(&subscriber, &id, patch).await?;
    back()
}

/// Ends a subscription.
pub async fn end(BookHere { book, .. }: BookHere, Path([name, id]): Path<[String; 2]>) -> Handled {
    let subscriber = book.subscriber_named(&name).await?;
    book.unsubscribe(&subscriber, &id).await?;
    back()
}

/// Tries once more to enter a credential.
pub async fn enter(here: BookHere, frame: Frame, Path(id): Path<String>) -> Handled {
    match here.book.enter_refused(&id).await {
        Ok(entered) => {
            let entry = format!("/book/entry/{}", entered.credential_id);
            Ok(Redirect::to(&entry).into_response())
        }
        Err(error) => {
            let (problem, _) = correctable(error)?;
            let mut content = content(&here, &frame, ListPosition::first()).await?;
            content.wrong = Some(problem.reason().clone());
            Ok(refused(&problem, page(frame, TITLE, &content)?))
        }
    }
}

/// Leaves a credential out of the book.
pub async fn leave_out(BookHere { book, .. }: BookHere, Path(id): Path<String>) -> Handled {
    book.drop_refused(&id).await?;
    back()
}

fn back() -> Handled {
    Ok(Redirect::to(ADDRESS).into_response())
}
