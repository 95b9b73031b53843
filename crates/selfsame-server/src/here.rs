//! The server, on behalf of the organisation whose address was called.

use std::ops::Deref;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::request::Parts;
use http::{Extensions, Method};
use selfsame_app::{Access, App, OrganisationRoles};
use selfsame_endpoints::RolesHere;
use selfsame_endpoints::called::{Called, prefix};
use selfsame_oidc_endpoints::ProviderHere;
use selfsame_openid::issuer::Issuer;
use selfsame_openid::verifier::Verifier;
use selfsame_webhooks::WebhookOwner;

use crate::error::{Handled, Problem};
use crate::server::Server;

/// The server, on behalf of the organisation whose address was called.
#[derive(Clone)]
pub struct Here {
    server: Server,
    roles: Arc<OrganisationRoles>,
    /// What the paths of its pages begin with.
    pub prefix: String,
}

impl Here {
    /// Its issuer.
    pub fn issuer(&self) -> Handled<&Arc<Issuer>> {
        self.roles.issuer().map_err(Problem::from)
    }

    /// Its verifier.
    pub fn verifier(&self) -> Handled<&Arc<Verifier>> {
        self.roles.verifier().map_err(Problem::from)
    }

    /// Its roles.
    pub fn roles(&self) -> &OrganisationRoles {
        &self.roles
    }

    /// The tenant whose webhooks are sent its events.
    pub fn webhook_owner(&self) -> WebhookOwner {
        App::webhook_owner(&self.roles.organisation)
    }

    /// The organisation called by a request with these parts.
    pub async fn of(server: &Server, extensions: &Extensions, method: &Method) -> Handled<Self> {
        let app = server.app();
        let roles = match Called::of(extensions) {
            None => app.main().clone(),
            Some(called) => {
                let access = match *method {
                    Method::GET | Method::HEAD => Access::Reading,
                    _ => Access::Acting,
                };
                app.roles_of(called.name(), access).await?
            }
        };
        Ok(Self {
            server: server.clone(),
            roles,
            prefix: prefix(extensions),
        })
    }
}

impl Deref for Here {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl FromRequestParts<Server> for Here {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Self, Problem> {
        // A request that may wait for other hosts has it already.
        match parts.extensions.get::<Self>() {
            Some(here) => Ok(here.clone()),
            None => Self::of(server, &parts.extensions, &parts.method).await,
        }
    }
}

impl FromRequestParts<Server> for RolesHere {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Self, Problem> {
        let here = Here::from_request_parts(parts, server).await?;
        Ok(Self(here.roles))
    }
}

impl FromRequestParts<Server> for ProviderHere {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Self, Problem> {
        let here = Here::from_request_parts(parts, server).await?;
        let provider = server.app().sign_ins(&here.roles.organisation)?;
        Self::of(provider, here.prefix, &parts.extensions, server.origin())
    }
}
