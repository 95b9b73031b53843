//! A browser at the door of the wallets, and the cookies that it gets.

use std::net::IpAddr;
use std::sync::Arc;

use async_trait::async_trait;
use http::HeaderMap;
use http::header::SET_COOKIE;
use selfsame_accounts::{Accounts, KNOWN_SECONDS, NewSession, Registration, Whence};
use selfsame_driver::Error;
use selfsame_http::cookie::{self, Jar, Names};
use selfsame_http::error::{Handled, Problem};
use selfsame_http::origin::Origin;
use selfsame_http::peer::Peer;
use selfsame_http::redirect::back_to;
use selfsame_identity::totp::Authenticators;

use crate::door::SignInDoor;

/// The first page of a wallet.
const HOME: &str = "/wallet";

/// What the door of the wallets needs of the instance.
pub trait WalletDoor: Send + Sync {
    /// The accounts of people with a wallet.
    ///
    /// # Errors
    /// If the instance has no wallets.
    fn accounts(&self) -> Handled<&Accounts>;

    /// The authenticator apps of these people, if they sign in with them at the OpenID provider.
    fn authenticators(&self) -> Option<Authenticators>;

    /// Who may create a wallet.
    fn registration(&self) -> Registration;

    /// Counts one more wallet that `peer` creates.
    ///
    /// # Errors
    /// If its network has reached the maximum for now.
    fn count_registration(&self, peer: Peer) -> Handled<()>;
}

/// A browser at the door of the wallets.
#[derive(Clone)]
pub struct WalletBrowser {
    /// The instance.
    pub instance: Arc<dyn WalletDoor>,
    /// The names of the cookies.
    pub cookies: Names,
    /// The origin of the pages.
    pub origin: Origin,
    /// What the browser sent.
    pub headers: HeaderMap,
    /// Where it is.
    pub peer: Peer,
}

#[async_trait]
impl SignInDoor for WalletBrowser {
    fn accounts(&self) -> Handled<&Accounts> {
        self.instance.accounts()
    }

    fn whence(&self) -> Whence {
        let devices = cookie::read(&self.headers, &self.cookies.known);
        Whence::of(self.peer.address(), devices.as_deref())
    }

    fn address(&self) -> Option<IpAddr> {
        Some(self.peer.address())
    }

    fn authenticators(&self) -> Option<Authenticators> {
        self.instance.authenticators()
    }

    /// The session cookie is `Lax`, so that a person who follows a scanned link from another site is signed in. The
    /// browser is now known, and others' wrong passwords do not slow it down.
    async fn open(&self, session: &NewSession, email: &str, next: Option<&str>) -> Handled {
        let (accounts, name) = (self.accounts()?, &self.cookies.person);
        if let Some(former) = cookie::read(&self.headers, name) {
            accounts.sign_out(&former).await?;
        }
        let cookie = Jar::lax(name).value(&session.token, &self.origin);
        let cookie =
            cookie.ok_or_else(|| Error::internal("a session that does not fit in a cookie"))?;
        let before = cookie::read(&self.headers, &self.cookies.known);
        let devices = accounts.know_device(email, before.as_deref()).await?;
        let jar = Jar::lax(&self.cookies.known).of_page("/", KNOWN_SECONDS);
        let known = jar.value(&devices, &self.origin);
        let mut response = back_to(next, HOME);
        for cookie in [cookie].into_iter().chain(known) {
            response.headers_mut().append(SET_COOKIE, cookie);
        }
        Ok(response)
    }

    async fn refused(&self, problem: Problem) -> Handled<Problem> {
        Ok(problem)
    }
}

impl WalletBrowser {
    /// Ends the browser's session.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn close(&self) -> Handled {
        let name = &self.cookies.person;
        if let Some(session) = cookie::read(&self.headers, name) {
            self.accounts()?.sign_out(&session).await?;
        }
        let mut response = back_to(None, "/");
        if let Some(gone) = Jar::lax(name).gone(&self.origin) {
            response.headers_mut().append(SET_COOKIE, gone);
        }
        Ok(response)
    }
}
