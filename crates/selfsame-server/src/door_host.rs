//! The server as the addresses see it at which people sign in.

use std::sync::Arc;

use async_trait::async_trait;
use axum::extract::FromRequestParts;
use http::StatusCode;
use http::request::Parts;
use selfsame_accounts::{Accounts, NewSession, Person, Registration, Whence};
use selfsame_driver::Error;
use selfsame_identity::totp::Authenticators;
use selfsame_sign_in_ui::{AtDoor, AtSeat, OwnWallet, SignInDoor, WalletBrowser, WalletDoor};

use crate::auth::{self, Seat};
use crate::error::{Handled, Problem};
use crate::extract::Owner;
use crate::peer::Peer;
use crate::server::Server;
use crate::ui::operator::Browser;

/// What the paths of the pages of those who work for an organisation begin with.
const OPERATOR: &str = "/operator";

impl WalletDoor for Server {
    fn accounts(&self) -> Handled<&Accounts> {
        Ok(self.wallet()?.accounts())
    }

    fn authenticators(&self) -> Option<Authenticators> {
        self.app().authenticators().ok().cloned()
    }

    fn registration(&self) -> Registration {
        self.app().config().wallet.registration
    }

    fn count_registration(&self, peer: Peer) -> Handled<()> {
        self.count_wallet(peer)
    }
}

impl FromRequestParts<Server> for WalletBrowser {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Self, Problem> {
        let peer = parts.extensions.get::<Peer>().copied();
        Ok(Self {
            instance: Arc::new(server.clone()),
            cookies: server.cookies().clone(),
            origin: server.origin().clone(),
            headers: parts.headers.clone(),
            peer: peer.ok_or_else(|| Error::internal("a request from nowhere"))?,
        })
    }
}

#[async_trait]
impl SignInDoor for Browser {
    fn accounts(&self) -> Handled<&Accounts> {
        Ok(self.server.app().operators().accounts())
    }

    fn whence(&self) -> Whence {
        self.whence()
    }

    async fn open(&self, session: &NewSession, email: &str, next: Option<&str>) -> Handled {
        self.open_persons(session, email, next).await
    }

    async fn refused(&self, problem: Problem) -> Handled<Problem> {
        self.refused(None, problem).await
    }
}

impl FromRequestParts<Server> for AtDoor {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Self, Problem> {
        let browser = parts.extensions.get::<Seat>().map(Seat::form);
        let browser = browser.unwrap_or_default().to_owned();
        Ok(Self {
            door: door(parts, server).await?,
            browser,
            page: match is_operators(parts) {
                true => OPERATOR,
                false => "/wallet/sign-in",
            },
        })
    }
}

impl FromRequestParts<Server> for AtSeat {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Self, Problem> {
        Ok(Self {
            person: person(parts, server).await?,
            door: door(parts, server).await?,
            root: match is_operators(parts) {
                true => OPERATOR,
                false => "/wallet",
            },
        })
    }
}

impl FromRequestParts<Server> for OwnWallet {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Self, Problem> {
        let wallet = server.wallet()?.clone();
        let Owner(person) = Owner::from_request_parts(parts, server).await?;
        let origin = server.app().config().origin.clone();
        Ok(Self {
            wallet,
            person,
            origin,
        })
    }
}

async fn door(parts: &mut Parts, server: &Server) -> Handled<Arc<dyn SignInDoor>> {
    Ok(match is_operators(parts) {
        true => Arc::new(Browser::from_request_parts(parts, server).await?),
        false => Arc::new(WalletBrowser::from_request_parts(parts, server).await?),
    })
}

/// The person who has signed in. The holder of the operator token has no account.
async fn person(parts: &Parts, server: &Server) -> Handled<Person> {
    match parts.extensions.get::<Seat>() {
        Some(Seat::Person { person, .. }) => Ok(person.clone()),
        Some(Seat::Operator {
            session: Some(session),
            ..
        }) => {
            let token = auth::persons_token(session).ok_or_else(no_account)?;
            Ok(server.app().operators().accounts().person(token).await?)
        }
        _ => Err(no_account()),
    }
}

fn no_account() -> Problem {
    Problem::new(StatusCode::FORBIDDEN, "operator-token-no-account")
}

fn is_operators(parts: &Parts) -> bool {
    parts.uri.path().starts_with(OPERATOR)
}
