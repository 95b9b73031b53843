//! `/api/v2`: what OrgBook's API, version 2, answers where version 4 has another address or shape.

use axum::extract::RawQuery;
use http::HeaderMap;
use selfsame_book_role::Book;
use selfsame_book_view::v2::{ExpandedCredential, NamedTopic, TypeLanguage, VerifySuccess};
use selfsame_book_view::v4::{
    FacetedSearch, FoundTopic, ResultPage, ShownCredential, ShownIssuer, ShownSchema, ShownSet,
    ShownTopic, ShownType, Suggestions,
};
use selfsame_http::error::Handled;
use selfsame_http::extract::Path;
use selfsame_http::response::revisited;

use crate::here::BookHere;
use crate::v4::{SearchParameters, asked, whole};

/// Topics by words and filters.
#[utoipa::path(get, path = "/api/v2/search/credential/topic", tag = "book", operation_id = "book_v2_search_topics", params(SearchParameters), responses((status = 200, body = ResultPage<FoundTopic>)))]
pub async fn search(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Handled {
    revisited(&headers, &book.search(&asked(query.as_ref())?).await?)
}

/// Topics by words and filters, with the values by which they can be filtered further.
#[utoipa::path(get, path = "/api/v2/search/credential/topic/facets", tag = "book", operation_id = "book_v2_count_facets", params(SearchParameters), responses((status = 200, body = FacetedSearch)))]
pub async fn facets(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Handled {
    revisited(&headers, &book.facets(&asked(query.as_ref())?).await?)
}

/// Names, addresses and numbers that complete what is typed.
#[utoipa::path(get, path = "/api/v2/search/autocomplete", tag = "book", operation_id = "book_v2_autocomplete", params(SearchParameters), responses((status = 200, body = Suggestions)))]
pub async fn autocomplete(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Handled {
    revisited(&headers, &book.autocomplete(&asked(query.as_ref())?).await?)
}

/// A topic.
#[utoipa::path(get, path = "/api/v2/topic/{id}", tag = "book", operation_id = "book_v2_get_topic", params(("id" = i64, Path)), responses((status = 200, body = ShownTopic)))]
pub async fn topic(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<i64>,
) -> Handled {
    revisited(&headers, &book.topic(id).await?)
}

/// A topic with its names, addresses and attributes.
#[utoipa::path(get, path = "/api/v2/topic/{id}/formatted", tag = "book", operation_id = "book_v2_get_formatted_topic", params(("id" = i64, Path)), responses((status = 200, body = NamedTopic)))]
pub async fn formatted_topic(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<i64>,
) -> Handled {
    revisited(&headers, &book.named_topic(id).await?)
}

/// A topic by its type and its number or name.
#[utoipa::path(get, path = "/api/v2/topic/ident/{type}/{source_id}", tag = "book", operation_id = "book_v2_find_topic", params(("type" = String, Path), ("source_id" = String, Path)), responses((status = 200, body = ShownTopic)))]
pub async fn topic_named(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path([kind, source_id]): Path<[String; 2]>,
) -> Handled {
    revisited(
        &headers,
        &book.topic(Book::number_of(&kind, &source_id)).await?,
    )
}

/// A topic with its names, addresses and attributes, by its type and its number or name.
#[utoipa::path(get, path = "/api/v2/topic/ident/{type}/{source_id}/formatted", tag = "book", operation_id = "book_v2_find_formatted_topic", params(("type" = String, Path), ("source_id" = String, Path)), responses((status = 200, body = NamedTopic)))]
pub async fn formatted_topic_named(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path([kind, source_id]): Path<[String; 2]>,
) -> Handled {
    let topic = book.named_topic(Book::number_of(&kind, &source_id)).await?;
    revisited(&headers, &topic)
}

/// The credentials of a topic.
#[utoipa::path(get, path = "/api/v2/topic/{id}/credential", tag = "book", operation_id = "book_v2_list_credentials", params(("id" = i64, Path)), responses((status = 200, body = Vec<ExpandedCredential>)))]
pub async fn credentials(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<i64>,
) -> Handled {
    revisited(&headers, &book.expanded_of(id).await?)
}

/// The credentials of a topic that are neither revoked nor say that it is inactive.
#[utoipa::path(get, path = "/api/v2/topic/{id}/credential/active", tag = "book", operation_id = "book_v2_list_active_credentials", params(("id" = i64, Path)), responses((status = 200, body = Vec<ExpandedCredential>)))]
pub async fn active_credentials(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<i64>,
) -> Handled {
    let mut all = book.expanded_of(id).await?;
    all.retain(|one| !is_past(one));
    revisited(&headers, &all)
}

/// The credentials of a topic that are revoked or say that it is inactive.
#[utoipa::path(get, path = "/api/v2/topic/{id}/credential/historical", tag = "book", operation_id = "book_v2_list_historical_credentials", params(("id" = i64, Path)), responses((status = 200, body = Vec<ExpandedCredential>)))]
pub async fn historical_credentials(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<i64>,
) -> Handled {
    let mut all = book.expanded_of(id).await?;
    all.retain(is_past);
    revisited(&headers, &all)
}

fn is_past(one: &ExpandedCredential) -> bool {
    one.credential.revoked || one.credential.inactive
}

/// The credentials of a topic by set; at most 100 sets, the newest first.
#[utoipa::path(get, path = "/api/v2/topic/{id}/credentialset", tag = "book", operation_id = "book_v2_list_sets", params(("id" = i64, Path)), responses((status = 200, body = Vec<ShownSet>)))]
pub async fn sets(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<i64>,
) -> Handled {
    revisited(&headers, &book.sets(id, None).await?)
}

/// A credential, by its number or its identifier.
#[utoipa::path(get, path = "/api/v2/credential/{id}", tag = "book", operation_id = "book_v2_get_credential", params(("id" = String, Path)), responses((status = 200, body = ShownCredential)))]
pub async fn credential(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Handled {
    let id = book.credential_named(&id).await?;
    revisited(&headers, &book.credential(&id).await?)
}

/// A credential with its topic and its set.
#[utoipa::path(get, path = "/api/v2/credential/{id}/formatted", tag = "book", operation_id = "book_v2_get_formatted_credential", params(("id" = String, Path)), responses((status = 200, body = ExpandedCredential)))]
pub async fn formatted_credential(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Handled {
    let id = book.credential_named(&id).await?;
    revisited(&headers, &book.expanded(&id).await?)
}

/// The credential in force of the set of a credential.
#[utoipa::path(get, path = "/api/v2/credential/{id}/latest", tag = "book", operation_id = "book_v2_get_latest_credential", params(("id" = String, Path)), responses((status = 200, body = ShownCredential)))]
pub async fn latest(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Handled {
    let id = book.credential_named(&id).await?;
    revisited(&headers, &book.latest(&id).await?)
}

/// Verifies a credential now.
#[utoipa::path(get, path = "/api/v2/credential/{id}/verify", tag = "book", operation_id = "book_v2_verify_credential", params(("id" = String, Path)), responses((status = 200, body = VerifySuccess)))]
pub async fn verify(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Handled {
    let id = book.credential_named(&id).await?;
    revisited(&headers, &book.verified(&id).await?)
}

/// The types of the credentials that appear in the book.
#[utoipa::path(get, path = "/api/v2/credentialtype", tag = "book", operation_id = "book_v2_list_types", responses((status = 200, body = ResultPage<ShownType>)))]
pub async fn credential_types(BookHere { book, .. }: BookHere, headers: HeaderMap) -> Handled {
    revisited(&headers, &whole(book.credential_types().await?))
}

/// The credentials that found the topics of a search, with their topics.
#[utoipa::path(get, path = "/api/v2/search/credential", tag = "book", operation_id = "book_v2_search_credentials", params(SearchParameters), responses((status = 200, body = ResultPage<ExpandedCredential>)))]
pub async fn search_credentials(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Handled {
    let found = book.credentials_found(&asked(query.as_ref())?).await?;
    revisited(&headers, &found)
}

/// The issuers of the credentials that the book has.
#[utoipa::path(get, path = "/api/v2/issuer", tag = "book", operation_id = "book_v2_list_issuers", responses((status = 200, body = ResultPage<ShownIssuer>)))]
pub async fn issuers(BookHere { book, .. }: BookHere, headers: HeaderMap) -> Handled {
    revisited(&headers, &whole(book.issuers().await?))
}

/// An issuer, by its number.
#[utoipa::path(get, path = "/api/v2/issuer/{id}", tag = "book", operation_id = "book_v2_get_issuer", params(("id" = i64, Path)), responses((status = 200, body = ShownIssuer)))]
pub async fn issuer(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<i64>,
) -> Handled {
    revisited(&headers, &book.issuer(id).await?)
}

/// The schemas of the types that appear in the book.
#[utoipa::path(get, path = "/api/v2/schema", tag = "book", operation_id = "book_v2_list_schemas", responses((status = 200, body = ResultPage<ShownSchema>)))]
pub async fn schemas(BookHere { book, .. }: BookHere, headers: HeaderMap) -> Handled {
    revisited(&headers, &whole(book.schemas().await?))
}

/// A schema, by the number of its type.
#[utoipa::path(get, path = "/api/v2/schema/{id}", tag = "book", operation_id = "book_v2_get_schema", params(("id" = i64, Path)), responses((status = 200, body = ShownSchema)))]
pub async fn schema(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<i64>,
) -> Handled {
    revisited(&headers, &book.schema(id).await?)
}

/// A type, by its number.
#[utoipa::path(get, path = "/api/v2/credentialtype/{id}", tag = "book", operation_id = "book_v2_get_type", params(("id" = i64, Path)), responses((status = 200, body = ShownType)))]
pub async fn credential_type(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<i64>,
) -> Handled {
    revisited(&headers, &book.credential_type(id).await?)
}

/// The labels of the claims of a type, by its number.
#[utoipa::path(get, path = "/api/v2/credentialtype/{id}/language", tag = "book", operation_id = "book_v2_get_language", params(("id" = i64, Path)), responses((status = 200, body = TypeLanguage)))]
pub async fn language(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<i64>,
) -> Handled {
    revisited(&headers, &book.language(id).await?)
}
