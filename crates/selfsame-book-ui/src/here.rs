//! The book of the organisation that was called.

use axum::extract::{FromRef, FromRequestParts};
use http::request::Parts;
use selfsame_book_role::{Book, Books};
use selfsame_endpoints::ActiveRolesHere;
use selfsame_endpoints::called::prefix;

/// The book of the organisation whose address was called.
#[derive(Clone)]
pub struct BookHere {
    /// The book.
    pub book: Book,
    /// What the paths of the organisation's pages begin with.
    pub prefix: String,
}

impl<S> FromRequestParts<S> for BookHere
where
    S: Send + Sync,
    Books: FromRef<S>,
    ActiveRolesHere: FromRequestParts<S>,
{
    type Rejection = <ActiveRolesHere as FromRequestParts<S>>::Rejection;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        let ActiveRolesHere(roles) = ActiveRolesHere::from_request_parts(parts, state).await?;
        Ok(Self {
            book: Books::from_ref(state).of(roles),
            prefix: prefix(&parts.extensions),
        })
    }
}
