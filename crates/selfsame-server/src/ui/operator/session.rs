//! The sessions of those who work for an organisation: how one opens, and where it leads.

use axum::extract::{FromRequestParts, MatchedPath};
use http::header::SET_COOKIE;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode};
use selfsame_accounts::{KNOWN_SECONDS, NewSession, Whence};
use selfsame_app::SeatAct;
use selfsame_core::organisation::OrganisationName;
use selfsame_crypto::SecretString;
use selfsame_driver::Error;
use selfsame_endpoints::called::path_at;
use selfsame_operators::{Area, Authority};
use selfsame_pages::frame::InstanceRoles;

use crate::auth;
use crate::error::{Handled, Problem};
use crate::peer::Peer;
use crate::server::Server;
use crate::ui::roles;
use selfsame_http::cookie::{self, Jar};

/// The page of those who have signed in.
pub const SIGNED_IN: &str = "/operator";

/// A browser that signs in or out.
pub struct Browser {
    /// The server.
    pub server: Server,
    /// The organisation whose invitation it accepts.
    pub joined: Option<OrganisationName>,
    headers: HeaderMap,
    peer: Peer,
    /// The method and the address.
    act: String,
}

impl FromRequestParts<Server> for Browser {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Self, Problem> {
        let peer = parts.extensions.get::<Peer>().copied();
        let route = parts.extensions.get::<MatchedPath>();
        let route = route.map_or("", MatchedPath::as_str);
        Ok(Self {
            server: server.clone(),
            joined: None,
            headers: parts.headers.clone(),
            peer: peer.ok_or_else(|| Error::internal("a request from nowhere"))?,
            act: format!("{} {route}", parts.method),
        })
    }
}

impl Browser {
    /// Where a sign-in comes from.
    pub fn whence(&self) -> Whence {
        let devices = cookie::read(&self.headers, &self.server.cookies().known_operator);
        Whence::of(self.peer.address(), devices.as_deref())
    }

    /// The act for the audit trail.
    pub fn act(&self) -> SeatAct {
        SeatAct {
            act: self.act.clone(),
            from: self.peer.address().to_string(),
        }
    }

    /// Writes into the audit trail that a sign-in was refused because of what was sent.
    pub async fn refused(&self, email: Option<&str>, problem: Problem) -> Handled<Problem> {
        if problem.status() == StatusCode::UNAUTHORIZED {
            let (app, reason) = (self.server.app(), problem.reason().id());
            app.seat_refused(email, self.act(), reason).await?;
        }
        Ok(problem)
    }

    /// Opens a person's session, and leads them on. The browser is now known, so that others' wrong passwords do not
    /// slow it down.
    pub async fn open_persons(
        &self,
        session: &NewSession,
        email: &str,
        next: Option<&str>,
    ) -> Handled {
        let operators = self.server.app().operators();
        let authority = operators.of_session(&session.token).await?;
        self.note(authority.as_ref()).await?;
        let home = authority.and_then(|authority| first_page(&authority, roles(self.server.app())));
        let home = home.as_deref().unwrap_or(SIGNED_IN);
        let cookie = self.open(&auth::person_session(&session.token)).await?;
        let name = &self.server.cookies().known_operator;
        let before = cookie::read(&self.headers, name);
        let accounts = operators.accounts();
        let devices = accounts.know_device(email, before.as_deref()).await?;
        let jar = Jar::strict(name).of_page("/", KNOWN_SECONDS);
        let known = jar.value(&devices, self.server.origin());
        let mut response = auth::back_to(next, home);
        for cookie in [cookie].into_iter().chain(known) {
            response.headers_mut().append(SET_COOKIE, cookie);
        }
        Ok(response)
    }

    /// Writes the sign-in into the audit trail.
    async fn note(&self, authority: Option<&Authority>) -> Handled<()> {
        let Some(authority) = authority else {
            return Ok(());
        };
        let (app, act) = (self.server.app(), self.act());
        match self.joined.clone() {
            Some(joined) => app.invitation_accepted(joined, authority, act).await?,
            None => app.seat_taken(authority, act).await?,
        }
        Ok(())
    }

    /// Opens a session of the holder of the operator token; returns the cookie.
    pub async fn open_operators(&self, session: &SecretString) -> Handled<HeaderValue> {
        self.note(Some(&Authority::token())).await?;
        self.open(session.expose()).await
    }

    /// Replaces the browser's session by a new one; returns the cookie.
    async fn open(&self, session: &str) -> Handled<HeaderValue> {
        let name = &self.server.cookies().operator;
        if let Some(former) = cookie::read(&self.headers, name) {
            auth::end_session(&self.server, &former).await?;
        }
        Jar::strict(name)
            .value(session, self.server.origin())
            .ok_or_else(|| Error::internal("a session that does not fit in a cookie").into())
    }
}

/// The first page that a person may open, if they work for one organisation alone.
pub fn first_page(authority: &Authority, roles: InstanceRoles) -> Option<String> {
    let mut all = authority.organisations();
    let organisation = all.next().filter(|_| all.next().is_none())?;
    let pages = [
        ("/issuer", Area::Issuer.read(), roles.issuer),
        ("/verifier", Area::Verifier.read(), roles.verifier),
        ("/people", Area::People.write(), true),
        ("/audit", Area::Audit.read(), true),
    ];
    let opens =
        |(_, right, is_here): &&(&str, _, bool)| *is_here && authority.may(organisation, *right);
    let (page, ..) = pages.iter().find(opens)?;
    Some(path_at(organisation, page))
}
