//! A browser at a door: the sign-in of people with a wallet, or of those who work for an organisation.

use std::net::IpAddr;
use std::sync::Arc;

use async_trait::async_trait;
use selfsame_accounts::{Accounts, NewSession, Person, Whence};
use selfsame_http::error::{Handled, Problem};
use selfsame_identity::totp::Authenticators;

/// What a browser's sign-in needs of the instance.
#[async_trait]
pub trait SignInDoor: Send + Sync {
    /// The accounts behind the door.
    ///
    /// # Errors
    /// If the instance has none.
    fn accounts(&self) -> Handled<&Accounts>;

    /// Where the browser is.
    fn whence(&self) -> Whence;

    /// The address that the browser calls from, if known.
    fn address(&self) -> Option<IpAddr> {
        None
    }

    /// The authenticator apps of the accounts, if sign-ins ask for them.
    fn authenticators(&self) -> Option<Authenticators> {
        None
    }

    /// Takes a new session of the account with this address, and leads on to `next` or to the first page. The browser's
    /// former session ends.
    async fn open(&self, session: &NewSession, email: &str, next: Option<&str>) -> Handled;

    /// Notes that a sign-in was refused, and returns why.
    async fn refused(&self, problem: Problem) -> Handled<Problem>;
}

/// A browser that signs in.
#[derive(Clone)]
pub struct AtDoor {
    /// What its sign-in needs.
    pub door: Arc<dyn SignInDoor>,
    /// What its forms are bound to.
    pub browser: String,
    /// The page at which it signs in, and what leads there.
    pub page: &'static str,
}

/// A person who has signed in.
#[derive(Clone)]
pub struct AtSeat {
    /// The door through which they came.
    pub door: Arc<dyn SignInDoor>,
    /// The person.
    pub person: Person,
    /// What the paths of their pages begin with.
    pub root: &'static str,
}
