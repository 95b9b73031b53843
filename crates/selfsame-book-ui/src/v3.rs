//! `/api/v3`: what OrgBook's API, version 3, answers where version 4 has another address or shape.

use axum::extract::RawQuery;
use http::HeaderMap;
use selfsame_book_role::{Book, Search};
use selfsame_book_view::v2::{ExpandedCredential, VerifySuccess};
use selfsame_book_view::v4::{
    FoundTopic, ResultPage, ShownCredential, ShownIssuer, ShownSchema, ShownTopic, ShownType,
    Suggestions,
};
use selfsame_http::error::Handled;
use selfsame_http::extract::Path;
use selfsame_http::response::revisited;

use crate::here::BookHere;
use crate::v4::{SearchParameters, asked, whole};

/// Topics by words and filters.
#[utoipa::path(get, path = "/api/v3/search/topic", tag = "book", operation_id = "book_v3_search_topics", params(SearchParameters), responses((status = 200, body = ResultPage<FoundTopic>)))]
pub async fn search(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Handled {
    revisited(&headers, &book.search(&asked(query.as_ref())?).await?)
}

/// Topics by words and filters, at the address that clients of version 3 use beside the other.
#[utoipa::path(get, path = "/api/v3/new/search/topic", tag = "book", operation_id = "book_v3_search_topics_new", params(SearchParameters), responses((status = 200, body = ResultPage<FoundTopic>)))]
pub async fn search_new(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Handled {
    revisited(&headers, &book.search(&asked(query.as_ref())?).await?)
}

/// Names, addresses and numbers that complete what is typed.
#[utoipa::path(get, path = "/api/v3/search/autocomplete", tag = "book", operation_id = "book_v3_autocomplete", params(SearchParameters), responses((status = 200, body = Suggestions)))]
pub async fn autocomplete(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Handled {
    revisited(&headers, &book.autocomplete(&asked(query.as_ref())?).await?)
}

/// The first topics with an attribute, as `name::value`. The attribute must be a facet.
#[utoipa::path(get, path = "/api/v3/search/topic/attribute/{attribute}", tag = "book", operation_id = "book_v3_find_by_attribute", params(("attribute" = String, Path)), responses((status = 200, body = Vec<ShownTopic>)))]
pub async fn by_attribute(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(attribute): Path<String>,
) -> Handled {
    let parameters = [
        ("category", attribute.as_str()),
        ("inactive", "any"),
        ("revoked", "any"),
        ("page_size", "100"),
    ];
    let search = Search::of(parameters.into_iter())?;
    revisited(&headers, &book.topics_found(&search).await?)
}

/// A topic by its type and its number or name.
#[utoipa::path(get, path = "/api/v3/topic/{type}/{source_id}", tag = "book", operation_id = "book_v3_find_topic", params(("type" = String, Path), ("source_id" = String, Path)), responses((status = 200, body = ShownTopic)))]
pub async fn topic(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path([kind, source_id]): Path<[String; 2]>,
) -> Handled {
    revisited(
        &headers,
        &book.topic(Book::number_of(&kind, &source_id)).await?,
    )
}

/// A credential, by its identifier or its number.
#[utoipa::path(get, path = "/api/v3/credential/{id}", tag = "book", operation_id = "book_v3_get_credential", params(("id" = String, Path)), responses((status = 200, body = ShownCredential)))]
pub async fn credential(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Handled {
    let id = book.credential_named(&id).await?;
    revisited(&headers, &book.credential(&id).await?)
}

/// The credential in force of the set of a credential.
#[utoipa::path(get, path = "/api/v3/credential/{id}/latest", tag = "book", operation_id = "book_v3_get_latest_credential", params(("id" = String, Path)), responses((status = 200, body = ShownCredential)))]
pub async fn latest(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Handled {
    let id = book.credential_named(&id).await?;
    revisited(&headers, &book.latest(&id).await?)
}

/// Verifies a credential now.
#[utoipa::path(get, path = "/api/v3/credential/{id}/verify", tag = "book", operation_id = "book_v3_verify_credential", params(("id" = String, Path)), responses((status = 200, body = VerifySuccess)))]
pub async fn verify(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Handled {
    let id = book.credential_named(&id).await?;
    revisited(&headers, &book.verified(&id).await?)
}

/// The types of the credentials that appear in the book.
#[utoipa::path(get, path = "/api/v3/credentialtype", tag = "book", operation_id = "book_v3_list_types", responses((status = 200, body = ResultPage<ShownType>)))]
pub async fn credential_types(BookHere { book, .. }: BookHere, headers: HeaderMap) -> Handled {
    revisited(&headers, &whole(book.credential_types().await?))
}

/// The credentials that found the topics of a search, with their topics.
#[utoipa::path(get, path = "/api/v3/search/credential", tag = "book", operation_id = "book_v3_search_credentials", params(SearchParameters), responses((status = 200, body = ResultPage<ExpandedCredential>)))]
pub async fn search_credentials(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Handled {
    let found = book.credentials_found(&asked(query.as_ref())?).await?;
    revisited(&headers, &found)
}

/// The issuers of the credentials that the book has.
#[utoipa::path(get, path = "/api/v3/issuer", tag = "book", operation_id = "book_v3_list_issuers", responses((status = 200, body = ResultPage<ShownIssuer>)))]
pub async fn issuers(BookHere { book, .. }: BookHere, headers: HeaderMap) -> Handled {
    revisited(&headers, &whole(book.issuers().await?))
}

/// An issuer, by its number.
#[utoipa::path(get, path = "/api/v3/issuer/{id}", tag = "book", operation_id = "book_v3_get_issuer", params(("id" = i64, Path)), responses((status = 200, body = ShownIssuer)))]
pub async fn issuer(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<i64>,
) -> Handled {
    revisited(&headers, &book.issuer(id).await?)
}

/// The schemas of the types that appear in the book.
#[utoipa::path(get, path = "/api/v3/schema", tag = "book", operation_id = "book_v3_list_schemas", responses((status = 200, body = ResultPage<ShownSchema>)))]
pub async fn schemas(BookHere { book, .. }: BookHere, headers: HeaderMap) -> Handled {
    revisited(&headers, &whole(book.schemas().await?))
}

/// A schema, by the number of its type.
#[utoipa::path(get, path = "/api/v3/schema/{id}", tag = "book", operation_id = "book_v3_get_schema", params(("id" = i64, Path)), responses((status = 200, body = ShownSchema)))]
pub async fn schema(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<i64>,
) -> Handled {
    revisited(&headers, &book.schema(id).await?)
}

/// A type, by its number.
#[utoipa::path(get, path = "/api/v3/credentialtype/{id}", tag = "book", operation_id = "book_v3_get_type", params(("id" = i64, Path)), responses((status = 200, body = ShownType)))]
pub async fn credential_type(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<i64>,
) -> Handled {
    revisited(&headers, &book.credential_type(id).await?)
}
