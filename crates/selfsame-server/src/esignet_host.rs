//! The server as eSignet's interface and that of the mock identity system see it.

use std::sync::Arc;

use axum::extract::{FromRequestParts, MatchedPath};
use http::header::AUTHORIZATION;
use http::request::Parts;
use selfsame_app::ManagerOfClients;
use selfsame_audit::{Act, AuditedActor};
use selfsame_core::organisation::Organisation;
use selfsame_esignet::{
    BASE, ClientManager, EsignetDoor, EsignetHere, EsignetSettings, MockDoor, is_managing,
};
use selfsame_http::extract::bearer;

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
        let manager = match is_managing(parts) {
            true => Some(manager(parts, server, organisation).await?),
            false => None,
        };
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
            manager,
        })
    }
}

/// The sender of a call that manages clients.
async fn manager(
    parts: &Parts,
    server: &Server,
    organisation: &Organisation,
) -> Result<ClientManager, Problem> {
    let token = parts.headers.get(AUTHORIZATION).and_then(bearer);
    let app = server.app();
    let ManagerOfClients { actor, may } = app.manager_of_clients(organisation, token).await?;
    let route = parts.extensions.get::<MatchedPath>();
    Ok(ClientManager {
        may,
        is_known: actor.is_some(),
        act: Act {
            organisation: organisation.name.clone(),
            actor: actor.unwrap_or_else(AuditedActor::unknown),
            act: format!("{} {}", parts.method, route.map_or("", MatchedPath::as_str)),
            object: None,
            detail: None,
            from: parts
                .extensions
                .get::<Peer>()
                .map(|peer| peer.address().to_string()),
        },
        trail: app.trail().clone(),
    })
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
