//! `/api/v4`: what OrgBook's API, version 4, answers about topics, credentials and types.

use axum::extract::RawQuery;
use http::HeaderMap;
use selfsame_book_role::Search;
use selfsame_book_view::v2::{ExpandedCredential, TypeLanguage};
use selfsame_book_view::v4::{
    FacetedSearch, FoundTopic, FuzzyTopic, ResultPage, ShownCredential, ShownIssuer, ShownSchema,
    ShownSet, ShownTopic, ShownType, Suggestions,
};
use selfsame_book_view::{EntryProof, ProvenEntry, VerifiedEntry};
use selfsame_driver::Error;
use selfsame_http::error::Handled;
use selfsame_http::extract::{Json, Path, Query};
use selfsame_http::response::{json, revisited};
use serde::Deserialize;
use url::form_urlencoded;
use utoipa::IntoParams;

use crate::here::BookHere;

/// What is searched for. Filters may be repeated.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(
    dead_code,
    reason = "describes the parameters, which are read one by one because they may be repeated"
)]
pub struct SearchParameters {
    /// Words of a name, an address, or the number of the topic. The last one may be the beginning of a word.
    q: Option<String>,
    /// `-score`, `effective_date` or `revoked_date`; with `-` before it, the latest first.
    ordering: Option<String>,
    /// The number of the type of the credential that founds the topic.
    type_id: Option<i64>,
    /// The number of the type of one of its credentials.
    credential_type_id: Option<i64>,
    /// The number of an issuer of one of its credentials.
    issuer_id: Option<i64>,
    /// A value of an attribute, as `name::value`.
    category: Option<String>,
    /// `true` or `false`; default `false`. An empty value and `any` ask for both.
    inactive: Option<String>,
    /// `true` or `false`; default `false`. An empty value and `any` ask for both.
    revoked: Option<String>,
    /// The number of the page, from 1.
    page: Option<u32>,
    /// The number of results on a page, at most 100.
    page_size: Option<u32>,
}

/// Where a list goes on.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AfterSet {
    /// The number of the last set of the previous answer.
    after: Option<i64>,
}

pub(crate) fn asked(query: Option<&String>) -> Result<Search, Error> {
    let query = query.map_or("", String::as_str);
    Search::of(form_urlencoded::parse(query.as_bytes()))
}

/// Topics by words and filters.
#[utoipa::path(get, path = "/api/v4/search/topic", tag = "book", operation_id = "book_search_topics", params(SearchParameters), responses((status = 200, body = ResultPage<FoundTopic>)))]
pub async fn search(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Handled {
    revisited(&headers, &book.search(&asked(query.as_ref())?).await?)
}

/// Topics by words and filters, with the values by which they can be filtered further.
#[utoipa::path(get, path = "/api/v4/search/topic/facets", tag = "book", operation_id = "book_count_facets", params(SearchParameters), responses((status = 200, body = FacetedSearch)))]
pub async fn facets(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Handled {
    revisited(&headers, &book.facets(&asked(query.as_ref())?).await?)
}

/// Names, addresses and numbers that complete what is typed.
#[utoipa::path(get, path = "/api/v4/search/autocomplete", tag = "book", operation_id = "book_autocomplete", params(SearchParameters), responses((status = 200, body = Suggestions)))]
pub async fn autocomplete(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Handled {
    revisited(&headers, &book.autocomplete(&asked(query.as_ref())?).await?)
}

/// Topics by words in which typing errors are forgiven, also where topics fit without.
#[utoipa::path(get, path = "/api/v4/search/fuzzy", tag = "book", operation_id = "book_search_fuzzily", params(SearchParameters), responses((status = 200, body = Vec<FuzzyTopic>)))]
pub async fn fuzzy(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Handled {
    revisited(&headers, &book.fuzzy(&asked(query.as_ref())?).await?)
}

/// A topic.
#[utoipa::path(get, path = "/api/v4/topic/{id}", tag = "book", operation_id = "book_get_topic", params(("id" = i64, Path)), responses((status = 200, body = ShownTopic)))]
pub async fn topic(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<i64>,
) -> Handled {
    revisited(&headers, &book.topic(id).await?)
}

/// The credentials of a topic, those that replace one another together; at most 100 sets, the newest first.
#[utoipa::path(get, path = "/api/v4/topic/{id}/credential-set", tag = "book", operation_id = "book_list_sets", params(("id" = i64, Path), AfterSet), responses((status = 200, body = Vec<ShownSet>)))]
pub async fn sets(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<i64>,
    Query(AfterSet { after }): Query<AfterSet>,
) -> Handled {
    revisited(&headers, &book.sets(id, after).await?)
}

/// A credential. 410 if it was erased.
#[utoipa::path(get, path = "/api/v4/credential/{credential_id}", tag = "book", operation_id = "book_get_credential", params(("credential_id" = String, Path)), responses((status = 200, body = ShownCredential)))]
pub async fn credential(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Handled {
    revisited(&headers, &book.credential(&id).await?)
}

/// Verifies the credential of an entry now: its signature, its issuer, its status.
#[utoipa::path(get, path = "/api/v4/credential/{credential_id}/verify", tag = "book", operation_id = "book_verify_credential", params(("credential_id" = String, Path)), responses((status = 200, body = VerifiedEntry)))]
pub async fn verify(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Handled {
    revisited(&headers, &book.verify(&id).await?)
}

/// Answers a verifier's request (OpenID4VP) with the credential of an entry. The verifier gets claims that the book shows,
/// and no others.
#[utoipa::path(post, path = "/api/v4/credential/{credential_id}/prove", tag = "book", operation_id = "book_prove_credential", params(("credential_id" = String, Path)), request_body = EntryProof, responses((status = 200, body = ProvenEntry)))]
pub async fn prove(
    BookHere { book, .. }: BookHere,
    Path(id): Path<String>,
    Json(proof): Json<EntryProof>,
) -> Handled {
    json(&book.prove(&id, &proof.request).await?)
}

/// The types of the credentials that appear in the book.
#[utoipa::path(get, path = "/api/v4/credential-type", tag = "book", operation_id = "book_list_types", responses((status = 200, body = ResultPage<ShownType>)))]
pub async fn credential_types(BookHere { book, .. }: BookHere, headers: HeaderMap) -> Handled {
    revisited(&headers, &whole(book.credential_types().await?))
}

/// All results as one page.
pub(crate) fn whole<T>(results: Vec<T>) -> ResultPage<T> {
    ResultPage {
        total: results.len(),
        page_size: results.len(),
        page: 1,
        first_index: usize::from(!results.is_empty()),
        last_index: results.len(),
        next: None,
        previous: None,
        results,
    }
}

/// The credentials that found the topics of a search, with their topics.
#[utoipa::path(get, path = "/api/v4/search/credential", tag = "book", operation_id = "book_search_credentials", params(SearchParameters), responses((status = 200, body = ResultPage<ExpandedCredential>)))]
pub async fn search_credentials(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Handled {
    let found = book.credentials_found(&asked(query.as_ref())?).await?;
    revisited(&headers, &found)
}

/// The issuers of the credentials that the book has.
#[utoipa::path(get, path = "/api/v4/issuer", tag = "book", operation_id = "book_list_issuers", responses((status = 200, body = ResultPage<ShownIssuer>)))]
pub async fn issuers(BookHere { book, .. }: BookHere, headers: HeaderMap) -> Handled {
    revisited(&headers, &whole(book.issuers().await?))
}

/// An issuer, by its number.
#[utoipa::path(get, path = "/api/v4/issuer/{id}", tag = "book", operation_id = "book_get_issuer", params(("id" = i64, Path)), responses((status = 200, body = ShownIssuer)))]
pub async fn issuer(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<i64>,
) -> Handled {
    revisited(&headers, &book.issuer(id).await?)
}

/// The schemas of the types that appear in the book.
#[utoipa::path(get, path = "/api/v4/schema", tag = "book", operation_id = "book_list_schemas", responses((status = 200, body = ResultPage<ShownSchema>)))]
pub async fn schemas(BookHere { book, .. }: BookHere, headers: HeaderMap) -> Handled {
    revisited(&headers, &whole(book.schemas().await?))
}

/// A schema, by the number of its type.
#[utoipa::path(get, path = "/api/v4/schema/{id}", tag = "book", operation_id = "book_get_schema", params(("id" = i64, Path)), responses((status = 200, body = ShownSchema)))]
pub async fn schema(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<i64>,
) -> Handled {
    revisited(&headers, &book.schema(id).await?)
}

/// A type, by its number.
#[utoipa::path(get, path = "/api/v4/credential-type/{id}", tag = "book", operation_id = "book_get_type", params(("id" = i64, Path)), responses((status = 200, body = ShownType)))]
pub async fn credential_type(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<i64>,
) -> Handled {
    revisited(&headers, &book.credential_type(id).await?)
}

/// The labels of the claims of a type, by its number.
#[utoipa::path(get, path = "/api/v4/credential-type/{id}/language", tag = "book", operation_id = "book_get_language", params(("id" = i64, Path)), responses((status = 200, body = TypeLanguage)))]
pub async fn language(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<i64>,
) -> Handled {
    revisited(&headers, &book.language(id).await?)
}
