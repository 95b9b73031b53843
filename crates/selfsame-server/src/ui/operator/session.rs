//! The sessions of those who work for an organisation: how one opens, and where it leads.

use http::header::SET_COOKIE;
use http::{HeaderMap, HeaderValue};
use selfsame_accounts::{KNOWN_SECONDS, NewSession, Whence};
use selfsame_driver::Error;
use selfsame_endpoints::called::path_at;
use selfsame_operators::{Area, Authority};
use selfsame_pages::InstanceRoles;

use crate::audited;
use crate::auth;
use crate::error::Handled;
use crate::peer::Peer;
use crate::server::Server;
use crate::ui::Frame;
use selfsame_http::cookie::{self, Jar};

/// The page of those who have signed in.
pub const SIGNED_IN: &str = "/operator";

/// A browser that is about to sign in.
pub struct Browser<'a> {
    /// The server.
    pub server: &'a Server,
    headers: &'a HeaderMap,
    /// The instance's roles, which decide what its pages are.
    roles: InstanceRoles,
}

impl<'a> Browser<'a> {
    /// The browser that sent these headers, and is shown this frame.
    pub fn of(server: &'a Server, headers: &'a HeaderMap, frame: &Frame) -> Self {
        Self {
            server,
            headers,
            roles: frame.roles,
        }
    }

    /// Where a sign-in comes from.
    pub fn whence(&self, peer: Peer) -> Whence {
        let devices = cookie::read(self.headers, &self.server.cookies().known_operator);
        Whence::of(peer.address(), devices.as_deref())
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
        let home = authority.and_then(|authority| first_page(&authority, self.roles));
        let home = home.as_deref().unwrap_or(SIGNED_IN);
        let cookie = self.open(&auth::person_session(&session.token)).await?;
        let name = &self.server.cookies().known_operator;
        let before = cookie::read(self.headers, name);
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

    /// Replaces the browser's session by a new one; returns the cookie.
    pub async fn open(&self, session: &str) -> Handled<HeaderValue> {
        audited::signed_in();
        let name = &self.server.cookies().operator;
        if let Some(former) = cookie::read(self.headers, name) {
            auth::end_session(self.server, &former).await?;
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
