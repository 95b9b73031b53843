//! What is kept of a person's sign-ins: sessions, and what they agreed to.

use askama::Template;

use crate::account::ListedPasskey;
use crate::frame::SignInFrame;
use crate::said::Saying;
use crate::ways::WayKind;

/// The page of a person's sessions.
#[derive(Template)]
#[template(path = "sessions.html")]
pub struct SessionsPage {
    /// What stands around it.
    pub frame: SignInFrame,
    /// What the paths of these pages begin with.
    pub root: String,
    /// The sessions, the browser's own first.
    pub sessions: Vec<ListedSession>,
    /// Whether the person has an account here, which can have passkeys.
    pub has_account: bool,
}

/// A session in the list.
#[derive(Clone, Debug)]
pub struct ListedSession {
    /// Its id.
    pub id: String,
    /// How the person proved who they are.
    pub ways: Vec<WayKind>,
    /// When the person signed in, as RFC 3339.
    pub since: String,
    /// Whether it is the browser's own.
    pub is_here: bool,
}

/// The page of what a person agreed to.
#[derive(Template)]
#[template(path = "agreements.html")]
pub struct AgreementsPage {
    /// What stands around it.
    pub frame: SignInFrame,
    /// What the paths of these pages begin with.
    pub root: String,
    /// What the person agreed to, by client.
    pub agreements: Vec<ListedAgreement>,
    /// Whether the person has an account here, which can have passkeys.
    pub has_account: bool,
}

/// What a person agreed to for a client.
#[derive(Clone, Debug)]
pub struct ListedAgreement {
    /// Its id.
    pub id: String,
    /// The client's name.
    pub client: String,
    /// The names of the claims.
    pub claims: Vec<String>,
    /// The scopes.
    pub scopes: Vec<String>,
    /// When they agreed, as RFC 3339.
    pub since: String,
    /// When it ends.
    pub until: Option<String>,
}

/// The page of a person's passkeys.
#[derive(Template)]
#[template(path = "passkeys.html")]
pub struct PasskeysPage {
    /// What stands around it.
    pub frame: SignInFrame,
    /// What the paths of these pages begin with.
    pub root: String,
    /// The address of the account.
    pub account: String,
    /// The passkeys, in the order in which they were added.
    pub passkeys: Vec<ListedPasskey>,
    /// Whether browsers can create passkeys at this address.
    pub can_add: bool,
    /// The name that was typed.
    pub name: String,
    /// What the person can correct.
    pub problem: Option<Saying>,
}

/// The page on which a browser creates a passkey.
#[derive(Template)]
#[template(path = "create_passkey.html")]
pub struct CreatePasskeyPage {
    /// What stands around it.
    pub frame: SignInFrame,
    /// What the paths of these pages begin with.
    pub root: String,
    /// The name of the passkey.
    pub name: String,
    /// What the browser is asked, as JSON.
    pub options: String,
}

impl SessionsPage {
    /// How the person proved in a session who they are.
    fn ways(&self, session: &ListedSession) -> String {
        let ways = session.ways.iter();
        let said = ways.map(|way| self.frame.say(way.key()).to_string());
        said.collect::<Vec<_>>().join(" · ")
    }

    /// Whether there are sessions of other browsers.
    fn has_others(&self) -> bool {
        self.sessions.iter().any(|session| !session.is_here)
    }
}
