//! The organisation that was called.

use axum::extract::{FromRef, FromRequestParts};
use http::request::Parts;
use selfsame_endpoints::{ActiveRolesHere, Instance};
use selfsame_w3c::W3cDesk;

/// The desk of the organisation that was called. Every call acts in its name.
pub struct VcApiHere(pub(crate) W3cDesk);

impl<S> FromRequestParts<S> for VcApiHere
where
    S: Send + Sync,
    ActiveRolesHere: FromRequestParts<S>,
    Instance: FromRef<S>,
{
    type Rejection = <ActiveRolesHere as FromRequestParts<S>>::Rejection;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        let ActiveRolesHere(roles) = ActiveRolesHere::from_request_parts(parts, state).await?;
        let instance = Instance::from_ref(state);
        let shared = instance.anoncreds().shared().clone();
        Ok(Self(W3cDesk::new(shared, roles)))
    }
}
