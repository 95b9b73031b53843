//! The server as eSignet's interface and that of the mock identity system see it.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::header::AUTHORIZATION;
use http::request::Parts;
use selfsame_esignet::{BASE, EsignetDoor, EsignetHere, EsignetSettings, MockDoor};
use selfsame_http::extract::bearer;
use selfsame_oidc::Preset;

use crate::error::Problem;
use crate::here::Here;
use crate::peer::Peer;
use crate::server::Server;

impl FromRequestParts<Server> for EsignetHere {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Self, Problem> {
        let here = Here::from_request_parts(parts, server).await?;
        let organisation = &here.roles().organisation;
        let behind = server.app().esignet(organisation)?;
        let base = organisation.url(&format!("{}/", BASE.trim_start_matches('/')))?;
        let token = parts.headers.get(AUTHORIZATION).and_then(bearer);
        let is_operator = token.is_some_and(|token| server.app().operator().is_token(token));
        Ok(Self {
            door: EsignetDoor {
                sign_ins: behind.sign_ins,
                blocked: behind.blocked,
                links: behind.links,
                mock: behind.mock,
                clock: server.app().clock().clone(),
                settings: Arc::new(EsignetSettings::new(base, behind.preset)),
            },
            from: parts.extensions.get::<Peer>().map(|peer| peer.address()),
            may_manage: is_operator || behind.preset == Preset::LegacyEsignet,
        })
    }
}

impl FromRequestParts<Server> for MockDoor {
    type Rejection = Problem;

    async fn from_request_parts(_: &mut Parts, server: &Server) -> Result<Self, Problem> {
        Ok(Self {
            mock: server.app().mock_identities()?.clone(),
            clock: server.app().clock().clone(),
        })
    }
}
