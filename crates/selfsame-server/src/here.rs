//! The server, on behalf of the organisation whose address was called.

use std::ops::Deref;
use std::sync::Arc;

use async_trait::async_trait;
use axum::extract::{FromRequestParts, MatchedPath};
use http::request::Parts;
use http::{Extensions, Method};
use selfsame_app::{Access, App, OrganisationRoles, StatusActor};
use selfsame_book_ui::BookHere;
use selfsame_dc_api_ui::{BrowserHere, WindowHere};
use selfsame_endpoints::called::{Called, prefix};
use selfsame_endpoints::{ActiveRolesHere, RolesHere};
use selfsame_issuer_ui::{IssuerHere, StatusDesk};
use selfsame_oidc_endpoints::ProviderHere;
use selfsame_openid::issuer::Issuer;
use selfsame_openid::verifier::Verifier;
use selfsame_openid::view::issuer::NewStatuses;
use selfsame_saved_requests::SavedRequests;
use selfsame_webhooks_ui::WebhooksHere;
use selfsame_wire_ui::WireHere;

use crate::error::{Handled, Problem};
use crate::extract::{Owner, Working};
use crate::peer::Peer;
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

    /// The saved requests of its verifier.
    pub fn saved(&self) -> Handled<SavedRequests<'_>> {
        Ok(SavedRequests::of(self.verifier()?))
    }

    /// Its roles.
    pub fn roles(&self) -> &OrganisationRoles {
        &self.roles
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

impl FromRequestParts<Server> for ActiveRolesHere {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Self, Problem> {
        // Whatever the method is, what is asked for is to act.
        let here = Here::of(server, &parts.extensions, &Method::POST).await?;
        Ok(Self(here.roles))
    }
}

impl FromRequestParts<Server> for IssuerHere {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Self, Problem> {
        let roles = Here::from_request_parts(parts, server).await?.roles;
        let work = Working::from_request_parts(parts, server).await.ok();
        let from = parts.extensions.get::<Peer>().map(|peer| peer.address());
        let desk = work.map(|work| -> Arc<dyn StatusDesk> {
            Arc::new(StatusWork {
                server: server.clone(),
                work,
                from: from.map(|from| from.to_string()).unwrap_or_default(),
            })
        });
        let issuing = &server.app().config().issuer;
        Ok(Self {
            applications: server.app().applications(&roles),
            lists: server.app().issuing_lists().clone(),
            statuses: desk,
            formats: issuing.formats.clone(),
            has_samples: issuing.samples,
            by_sign_in: issuing.by_sign_in.keys().cloned().collect(),
            roles,
        })
    }
}

impl FromRequestParts<Server> for WireHere {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Self, Problem> {
        let here = Here::from_request_parts(parts, server).await?;
        let switch = here.roles.organisation.issuer.clone();
        let is_wallet = parts.extensions.get::<MatchedPath>().is_some_and(|path| {
            let path = path.as_str();
            path.starts_with("/wallet/") || path.starts_with("/api/wallet/")
        });
        let tenant = match is_wallet {
            true => Owner::from_request_parts(parts, server).await?.0.tenant,
            false => switch.clone(),
        };
        // What stands behind a recorder needs it too.
        parts.extensions.insert(here);
        Ok(Self {
            wires: server.app().wires().clone(),
            tenant,
            switch,
        })
    }
}

impl FromRequestParts<Server> for BrowserHere {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Self, Problem> {
        let here = Here::from_request_parts(parts, server).await?;
        let verifier = here.verifier()?.clone();
        Ok(Self { verifier })
    }
}

impl FromRequestParts<Server> for WindowHere {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Self, Problem> {
        let Owner(person) = Owner::from_request_parts(parts, server).await?;
        let wallet = server.wallet()?.clone();
        Ok(Self { wallet, person })
    }
}

impl FromRequestParts<Server> for BookHere {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Self, Problem> {
        let ActiveRolesHere(roles) = ActiveRolesHere::from_request_parts(parts, server).await?;
        Ok(Self {
            book: server.app().book_of(roles),
            prefix: prefix(&parts.extensions),
        })
    }
}

impl FromRequestParts<Server> for WebhooksHere {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Self, Problem> {
        let here = Here::from_request_parts(parts, server).await?;
        Ok(Self {
            webhooks: server.app().webhooks().clone(),
            owner: App::webhook_owner(&here.roles.organisation),
        })
    }
}

/// Changes statuses for the sender of a request.
struct StatusWork {
    server: Server,
    work: Working,
    from: String,
}

#[async_trait]
impl StatusDesk for StatusWork {
    async fn change(&self, issuer: &Issuer, new: &NewStatuses) -> Handled<()> {
        let by = StatusActor {
            authority: &self.work.authority,
            organisation: &self.work.organisation,
            from: &self.from,
        };
        self.server.app().change_statuses(issuer, by, new).await?;
        Ok(())
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
