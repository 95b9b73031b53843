//! `/api/v1`: what TheOrgBook's API of 2018 answers about organisations and their claims.

use axum::extract::RawQuery;
use http::HeaderMap;
use selfsame_book_view::v1::{DoingBusinessAs, OrgLocation, VerifiableClaim, VerifiableOrg};
use selfsame_book_view::v2::VerifySuccess;
use selfsame_http::error::Handled;
use selfsame_http::extract::Path;
use selfsame_http::response::revisited;

use crate::here::BookHere;
use crate::v4::{SearchParameters, asked};

/// Topics as organisations, page by page; `q` and the filters of a search choose some.
#[utoipa::path(get, path = "/api/v1/verifiableorgs", tag = "book", operation_id = "book_v1_list_organisations", params(SearchParameters), responses((status = 200, body = Vec<VerifiableOrg>)))]
pub async fn organisations(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Handled {
    revisited(
        &headers,
        &book.organisations(&asked(query.as_ref())?).await?,
    )
}

/// A topic as an organisation.
#[utoipa::path(get, path = "/api/v1/verifiableorgs/{id}", tag = "book", operation_id = "book_v1_get_organisation", params(("id" = i64, Path)), responses((status = 200, body = VerifiableOrg)))]
pub async fn organisation(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<i64>,
) -> Handled {
    revisited(&headers, &book.organisation(id).await?)
}

/// The credentials of an organisation as claims.
#[utoipa::path(get, path = "/api/v1/verifiableorgs/{id}/verifiableclaims", tag = "book", operation_id = "book_v1_list_claims", params(("id" = i64, Path)), responses((status = 200, body = Vec<VerifiableClaim>)))]
pub async fn claims(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<i64>,
) -> Handled {
    revisited(&headers, &book.claims_of(id).await?)
}

/// The addresses of an organisation.
#[utoipa::path(get, path = "/api/v1/verifiableorgs/{id}/locations", tag = "book", operation_id = "book_v1_list_locations", params(("id" = i64, Path)), responses((status = 200, body = Vec<OrgLocation>)))]
pub async fn locations(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<i64>,
) -> Handled {
    revisited(&headers, &book.locations_of(id).await?)
}

/// The assumed names of an organisation.
#[utoipa::path(get, path = "/api/v1/verifiableorgs/{id}/doingbusinessas", tag = "book", operation_id = "book_v1_list_assumed_names", params(("id" = i64, Path)), responses((status = 200, body = Vec<DoingBusinessAs>)))]
pub async fn assumed_names(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<i64>,
) -> Handled {
    revisited(&headers, &book.assumed_names_of(id).await?)
}

/// Verifies a claim now, by its number.
#[utoipa::path(get, path = "/api/v1/verifiableclaims/{id}/verify", tag = "book", operation_id = "book_v1_verify_claim", params(("id" = String, Path)), responses((status = 200, body = VerifySuccess)))]
pub async fn verify(
    BookHere { book, .. }: BookHere,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Handled {
    let id = book.credential_named(&id).await?;
    revisited(&headers, &book.verified(&id).await?)
}
