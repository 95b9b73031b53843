//! What pages and programs see of a sign-in.

use std::collections::BTreeMap;

use selfsame_crypto::SecretString;
use selfsame_crypto::time::UnixTime;
use selfsame_oidc::FactorKind;
use serde::Serialize;
use url::Url;

/// A sign-in on its way.
#[derive(Clone, Debug, Serialize)]
pub struct SignInView {
    /// Its identifier. It is a secret: with it the sign-in can be continued.
    pub id: String,
    /// The client that asks.
    pub client: AskingClientView,
    /// What comes next.
    pub stage: SignInStage,
    /// The combinations of factors that suffice, best first.
    pub factors: Vec<Vec<FactorKind>>,
    /// The scopes that the person may permit or not.
    pub scopes: Vec<String>,
    /// The claims without which the client can't do what was asked for.
    pub essential: Vec<String>,
    /// The other claims that the client asks for.
    pub voluntary: Vec<String>,
    /// The languages for pages, best first.
    pub ui_locales: Vec<String>,
    /// What the client knows of the person's identifier.
    pub login_hint: Option<String>,
    /// Where the person is sent in the end.
    pub redirect_uri: String,
    /// The end of the sign-in.
    pub expires: UnixTime,
}

/// The client that asks for a sign-in.
#[derive(Clone, Debug, Serialize)]
pub struct AskingClientView {
    /// Its identifier.
    pub client_id: String,
    /// Its name by language; the key of the default is empty.
    pub names: BTreeMap<String, String>,
    /// The address of its logo, as it is registered.
    pub logo_uri: Option<Url>,
    /// The logo that pages show, as a `data:` URI.
    #[serde(skip)]
    pub logo: Option<String>,
    /// Its privacy policy.
    pub policy_uri: Option<Url>,
    /// Its terms of service.
    pub tos_uri: Option<Url>,
}

/// What comes next in a sign-in.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SignInStage {
    /// The person proves who they are.
    Authentication,
    /// The person agrees to scopes and claims.
    Consent,
    /// The person agreed before to all that is asked for. The operation `agree` ends the sign-in without asking.
    Agreed,
}

/// What a person agrees to.
#[derive(Clone, Debug, Default)]
pub struct PersonsAgreement {
    /// The claims: all essential ones, and any of the voluntary ones.
    pub claims: Vec<String>,
    /// The scopes.
    pub scopes: Vec<String>,
}

/// The end of a sign-in: where the person's browser goes, and with what.
#[derive(Clone, Debug)]
pub struct Landing {
    /// The client's address.
    pub redirect_uri: String,
    /// How the parameters get there.
    pub mode: selfsame_oidc::ResponseMode,
    /// The parameters of the response, `code`, `state` and `iss` or `error` among them.
    pub parameters: Vec<(&'static str, String)>,
    /// The code, if the sign-in succeeded.
    pub code: Option<SecretString>,
    /// The client's `nonce`.
    pub nonce: Option<String>,
    /// The client's `state`.
    pub state: Option<String>,
}

impl Landing {
    /// The address that a browser is sent to, for the mode `query`.
    #[must_use]
    pub fn address(&self) -> String {
        let query = selfsame_oauth::form::encode(&self.parameters);
        let joint = match self.redirect_uri.contains('?') {
            true => "&",
            false => "?",
        };
        format!("{}{joint}{query}", self.redirect_uri)
    }
}

/// A person who was authenticated in a sign-in.
#[derive(Clone, Debug)]
pub struct SignedInView {
    /// The sign-in, at its next stage.
    pub sign_in: SignInView,
    /// The session that the browser now has, for a cookie; `None` if the identity system keeps no sessions and the
    /// client is not told of sign-outs.
    pub session: Option<SecretString>,
}

/// What begins when a client sends a person here.
#[derive(Clone, Debug)]
pub enum BegunSignIn {
    /// The person must do something.
    Asking(Box<SignInView>),
    /// The response is ready; the person sees nothing.
    Landed(Box<Landing>),
}

/// A session of a person.
#[derive(Clone, Debug)]
pub struct SessionView {
    /// Its identifier for clients.
    pub sid: String,
    /// Whether it is the one of this browser.
    pub is_this: bool,
    /// When it began.
    pub at: UnixTime,
    /// The factors that were checked.
    pub factors: Vec<FactorKind>,
}

/// The account of the person of a session.
#[derive(Clone, Debug)]
pub struct SessionAccount {
    /// Its e-mail address.
    pub email: String,
    /// The identity system's handle of the person who signed in. The account may have passed to another person since.
    pub handle: String,
    /// The name of the session, which is no secret.
    pub session: String,
}

/// What a person agreed to with a client.
#[derive(Clone, Debug)]
pub struct AgreementView {
    /// The client.
    pub client_id: String,
    /// Its name by language; the key of the default is empty.
    pub names: BTreeMap<String, String>,
    /// The claims.
    pub claims: Vec<String>,
    /// The scopes.
    pub scopes: Vec<String>,
    /// When.
    pub at: UnixTime,
}
