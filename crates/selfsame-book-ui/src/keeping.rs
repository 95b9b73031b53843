//! `/api/book`: entries and the index, for those who keep the book.

use selfsame_book_role::{HeldCredentials, LoadedEntry, NewCredentials, QuickLoad};
use selfsame_book_view::{BookPolicy, EntryErasure, IndexRebuild, Tombstone};
use selfsame_http::error::Handled;
use selfsame_http::extract::{Json, Path};
use selfsame_http::listing::Items;
use selfsame_http::response::{created, done, json};

use crate::here::BookHere;
use crate::loaded::Loaded;

/// Enters credentials after verifying them, all or none. One that the book has already stays as it is.
#[utoipa::path(post, path = "/api/book/credentials", tag = "book", operation_id = "book_enter_credentials", request_body = NewCredentials, responses((status = 201, body = Items<LoadedEntry>)))]
pub async fn enter(
    BookHere { book, .. }: BookHere,
    Loaded(new): Loaded<NewCredentials>,
) -> Handled {
    let items = book.enter(&new).await?;
    created(&Items { items })
}

/// Enters AnonCreds credentials that the organisation's agent holds, all or none.
#[utoipa::path(post, path = "/api/book/held", tag = "book", operation_id = "book_enter_held", request_body = HeldCredentials, responses((status = 201, body = Items<LoadedEntry>)))]
pub async fn enter_held(
    BookHere { book, .. }: BookHere,
    Json(new): Json<HeldCredentials>,
) -> Handled {
    let items = book.enter_held(&new).await?;
    created(&Items { items })
}

/// What the organisation's agent does for anybody.
#[utoipa::path(get, path = "/api/book/policy", tag = "book", operation_id = "book_show_policy", responses((status = 200, body = BookPolicy)))]
pub async fn policy(BookHere { book, .. }: BookHere) -> Handled {
    json(&book.policy().await?)
}

/// Sets what the organisation's agent does for anybody.
#[utoipa::path(put, path = "/api/book/policy", tag = "book", operation_id = "book_set_policy", request_body = BookPolicy, responses((status = 200, body = BookPolicy)))]
pub async fn set_policy(
    BookHere { book, .. }: BookHere,
    Json(policy): Json<BookPolicy>,
) -> Handled {
    book.set_policy(policy).await?;
    json(&policy)
}

/// Enters claims that the organisation vouches for itself, all or none. Such an entry has no credential.
#[utoipa::path(post, path = "/api/book/quick-load", tag = "book", operation_id = "book_quick_load", request_body = QuickLoad, responses((status = 201, body = Items<LoadedEntry>)))]
pub async fn quick_load(
    BookHere { book, .. }: BookHere,
    Loaded(load): Loaded<QuickLoad>,
) -> Handled {
    let items = book.quick_load(&load).await?;
    created(&Items { items })
}

/// Notes that an entry is revoked. The book shows it as such.
#[utoipa::path(post, path = "/api/book/credentials/{credential_id}/revoke", tag = "book", operation_id = "book_revoke_entry", params(("credential_id" = String, Path)), responses((status = 204)))]
pub async fn revoke(BookHere { book, .. }: BookHere, Path(id): Path<String>) -> Handled {
    book.revoke(&id).await?;
    done()
}

/// Erases an entry: nothing of it stays but a tombstone with the ground. It can't be undone.
#[utoipa::path(post, path = "/api/book/credentials/{credential_id}/erase", tag = "book", operation_id = "book_erase_entry", params(("credential_id" = String, Path)), request_body = EntryErasure, responses((status = 200, body = Tombstone)))]
pub async fn erase(
    BookHere { book, .. }: BookHere,
    Path(id): Path<String>,
    Json(erasure): Json<EntryErasure>,
) -> Handled {
    let erased = book.erase(&id, &erasure.ground).await?;
    json(&Tombstone {
        credential_id: erased.credential_id,
        erased: erased.at.rfc3339(),
        ground: erased.ground,
    })
}

/// Begins to build the search index anew from the records, with the types as they are now, unless that is under way.
#[utoipa::path(post, path = "/api/book/rebuild", tag = "book", operation_id = "book_rebuild_index", responses((status = 200, body = IndexRebuild)))]
pub async fn rebuild(BookHere { book, .. }: BookHere) -> Handled {
    json(&book.rebuild().await?)
}

/// How far the index is that is built anew, or was last.
#[utoipa::path(get, path = "/api/book/rebuild", tag = "book", operation_id = "book_show_rebuild", responses((status = 200, body = IndexRebuild)))]
pub async fn rebuilding(BookHere { book, .. }: BookHere) -> Handled {
    json(&book.rebuilding().await?)
}
