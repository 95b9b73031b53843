//! The resolver's page: an identifier in, its document and metadata out.

use axum::extract::State;
use selfsame_endpoints::Instance;
use selfsame_endpoints::resolver::{AskedVersion, resolution};
use selfsame_pages::resolver::{ResolverPage, ShownResolution};
use serde::Deserialize;

use super::Frame;
use crate::error::Handled;
use crate::extract::Query;

/// What to resolve.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Which {
    did: String,
}

/// The form, with the result if something was resolved.
pub async fn page(
    State(instance): State<Instance>,
    frame: Frame,
    Query(Which { did }): Query<Which>,
    Query(asked): Query<AskedVersion>,
) -> Handled {
    let did = did.trim().to_owned();
    let asked = asked.without_empty();
    let result = match did.as_str() {
        "" => None,
        did => Some(ShownResolution::of(
            resolution(&instance, did, &asked).await.as_ref(),
        )),
    };
    super::html(&ResolverPage {
        frame: frame.titled("Resolver"),
        did,
        version_id: asked.version_id.unwrap_or_default(),
        version_time: asked.version_time.unwrap_or_default(),
        result,
    })
}
