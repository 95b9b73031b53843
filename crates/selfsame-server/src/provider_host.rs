//! The server as the OpenID provider's endpoints see it.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::request::Parts;
use selfsame_endpoints::called::{organisation, prefix};
use selfsame_http::origin::CalledOrigin;
use selfsame_oidc_endpoints::ProviderHere;

use crate::error::Problem;
use crate::here::Here;
use crate::peer::Peer;
use crate::server::Server;

impl FromRequestParts<Server> for ProviderHere {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Self, Problem> {
        let here = Here::from_request_parts(parts, server).await?;
        let extensions = &parts.extensions;
        let called = extensions.get::<CalledOrigin>();
        let origin = called.map(|CalledOrigin(origin)| origin.clone());
        let peer = extensions.get::<Peer>();
        let nobody = || Problem::new(http::StatusCode::INTERNAL_SERVER_ERROR, "internal");
        Ok(Self {
            provider: server.app().sign_ins(&here.roles().organisation)?,
            organisation: organisation(extensions).to_string(),
            origin: origin.unwrap_or_else(|| Arc::new(server.origin().clone())),
            root: format!("{}/oidc/", prefix(extensions)),
            caller: peer.ok_or_else(nobody)?.address(),
        })
    }
}
