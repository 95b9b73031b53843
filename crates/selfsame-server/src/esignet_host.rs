//! The server as eSignet's interface and that of the mock identity system see it.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::request::Parts;
use selfsame_esignet::{BASE, EsignetDoor, EsignetHere, EsignetSettings, MockDoor, managers_token};

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
        let manager = managers_token(parts);
        let base = organisation.url(&format!("{}/", BASE.trim_start_matches('/')))?;
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
            may_manage: server
                .app()
                .may_manage_clients(organisation, manager)
                .await?,
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
