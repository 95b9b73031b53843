//! The seam to identity systems: who knows people, checks that somebody is one of them, and gives their claims.
//!
//! A sign-in calls [`IdentitySystem::send_otp`] or [`IdentitySystem::ask`] as often as the person asks for it, then
//! [`IdentitySystem::authenticate`] until it succeeds, then [`IdentitySystem::exchange`] once, when the code is redeemed.

use std::net::IpAddr;

use async_trait::async_trait;
use selfsame_crypto::SecretString;
use selfsame_oidc::FactorKind;
use selfsame_store::TenantId;
use serde_json::{Map, Value};
use url::Url;

/// A system that knows people. It keeps its own records; a sign-in keeps what it returns.
#[async_trait]
pub trait IdentitySystem: Send + Sync {
    /// Its name in settings and in the log.
    fn name(&self) -> &str;

    /// The factors that it can check, as far as it knows without the person.
    fn factors(&self) -> Vec<FactorKind>;

    /// The factors that it can check for the people of an organisation.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn factors_at(&self, _tenant: &TenantId) -> Result<Vec<FactorKind>, IdentityFault> {
        Ok(self.factors())
    }

    /// Whether this token of an authentication may be exchanged for claims again, for other clients, as long as the
    /// person's session lasts. Otherwise people prove who they are for each client.
    fn keeps_sessions(&self, _token: &SecretString) -> bool {
        false
    }

    /// The address of the account of this instance that a token of an authentication stands for; `None` if others keep
    /// the person's account.
    fn account(&self, _token: &SecretString) -> Option<String> {
        None
    }

    /// Asks for a factor that the person gives elsewhere than on a page. Nothing is asked anew while the person can still
    /// answer.
    ///
    /// # Errors
    /// `Unsupported`, `Blocked`, `Unavailable`, `TooLate`.
    async fn ask(
        &self,
        _asking: &AskingClient,
        _order: &ElsewhereOrder,
    ) -> Result<AskedElsewhere, IdentityFault> {
        Err(IdentityFault::new(IdentityFaultKind::Unsupported))
    }

    /// The address of the page that waits for the person whom another provider sends back with this query.
    ///
    /// # Errors
    /// `WrongChallenge` if no page does; `Unsupported`, `Unavailable`.
    async fn awaiting(&self, _query: &str) -> Result<Url, IdentityFault> {
        Err(IdentityFault::new(IdentityFaultKind::Unsupported))
    }

    /// Sends a one-time password to the addresses of a person.
    ///
    /// # Errors
    /// `UnknownPerson`, `NoAddress`, `Blocked`, `Unavailable`, `TooLate`, `Unsupported`.
    async fn send_otp(
        &self,
        asking: &AskingClient,
        order: &OtpOrder,
    ) -> Result<OtpSent, IdentityFault>;

    /// The code that was sent last in a sign-in, if the system shows codes on the screen of the person who asks. It does
    /// so for trying out alone: such codes protect nothing.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn code_on_screen(
        &self,
        _asking: &AskingClient,
    ) -> Result<Option<SecretString>, IdentityFault> {
        Ok(None)
    }

    /// Checks the challenges of a person; all of them must be right.
    ///
    /// # Errors
    /// `UnknownPerson`, `WrongChallenge`, `Malformed`, `Blocked`, `Unavailable`, `TooLate`, `Unsupported`.
    async fn authenticate(
        &self,
        asking: &AskingClient,
        attempt: &SignInAttempt,
    ) -> Result<ProvenPerson, IdentityFault>;

    /// The claims of a person who was authenticated, as far as they agreed. The token is used up, unless
    /// the system keeps sessions.
    ///
    /// # Errors
    /// `WrongChallenge` for a token that is unknown, used or over; `Unavailable`, `TooLate`.
    async fn exchange(
        &self,
        asking: &AskingClient,
        order: &ClaimsOrder,
    ) -> Result<PersonClaims, IdentityFault>;
}

/// The settings of a way to sign in, which each organisation decides for itself.
#[async_trait]
pub trait WaySettings: Send + Sync {
    /// The settings of the organisation with this tenant, if it has any.
    ///
    /// # Errors
    /// The store's.
    async fn settings(&self, tenant: &TenantId) -> selfsame_driver::Result<Option<Value>>;

    /// Sets them; returns them as they are kept.
    ///
    /// # Errors
    /// `BadRequest` for settings that can't work; the store's.
    async fn set(&self, tenant: &TenantId, settings: Value) -> selfsame_driver::Result<Value>;

    /// Removes them; sign-in by this way ends.
    ///
    /// # Errors
    /// The store's.
    async fn remove(&self, tenant: &TenantId) -> selfsame_driver::Result<()>;
}

/// For whom an identity system is asked.
#[derive(Clone, Debug)]
pub struct AskingClient {
    /// The organisation's tenant, for systems that have people of their own for each.
    pub tenant: TenantId,
    /// The client's identifier.
    pub client_id: String,
    /// The party that runs the client; pairwise subjects are equal for all clients of one party.
    pub relying_party: String,
    /// The sign-in, 10 characters. The same in all three calls.
    pub transaction: String,
    /// Where the person's browser calls from, if known.
    pub from: Option<PersonsDevice>,
}

/// Where a person's browser calls from.
#[derive(Clone, Debug)]
pub struct PersonsDevice {
    /// Its address.
    pub address: IpAddr,
    /// The tokens of devices that the browser holds, as `selfsame-accounts` gave them.
    pub known: Option<String>,
}

/// A one-time password that is to be sent.
#[derive(Clone, Debug)]
pub struct OtpOrder {
    /// The identifier that the person typed in. It is personal data.
    pub identifier: SecretString,
    /// The kinds of addresses to send it to; not empty.
    pub channels: Vec<OtpChannel>,
    /// The languages that the person prefers, best first, as BCP 47 tags.
    pub locales: Vec<String>,
}

/// A kind of address for one-time passwords.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OtpChannel {
    /// An e-mail address.
    Email,
    /// A telephone number.
    Phone,
}

/// Where a one-time password was sent.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct OtpSent {
    /// The e-mail address, all but a few characters masked.
    pub masked_email: Option<String>,
    /// The telephone number, all but a few digits masked.
    pub masked_phone: Option<String>,
}

/// A factor that a person is to give elsewhere.
#[derive(Clone, Debug)]
pub struct ElsewhereOrder {
    /// The factor.
    pub factor: FactorKind,
    /// The path, below the organisation's base, of the page that waits for it. It has no slash at its beginning and end.
    pub page: String,
    /// The address of that page.
    pub address: Url,
}

/// What a person is asked for elsewhere.
#[derive(Clone, Debug)]
pub enum AskedElsewhere {
    /// A credential, by their wallet.
    Presentation(AskedPresentation),
    /// A passkey, by their browser: the options of the ceremony as JSON (WebAuthn §5.5).
    Passkey(String),
    /// An account at another provider, whose page is at this address.
    Provider(Url),
}

/// A credential that a wallet is asked for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AskedPresentation {
    /// The titles of the credentials, of which one suffices.
    pub credentials: Vec<String>,
    /// The request for a wallet on this device, which sends the browser back below the page.
    pub here: String,
    /// The request for a wallet on another device, if that is allowed.
    pub elsewhere: Option<String>,
    /// The id by which an answer from another device is a challenge.
    pub id: String,
    /// Whether the wallet on another device has answered.
    pub is_answered: bool,
}

/// What a person gives whose wallet has answered, as a challenge.
#[derive(Clone, Debug)]
pub struct PresentedChallenge {
    /// The id of what was asked for.
    pub id: String,
    /// The code that the wallet sent the browser back with, if it is on the same device (OpenID4VP 1.0 §8.2).
    pub code: Option<String>,
}

impl PresentedChallenge {
    /// Between the id and the code; neither has it.
    const PART: char = '.';

    /// It as the value of a challenge.
    #[must_use]
    pub fn value(&self) -> SecretString {
        match &self.code {
            Some(code) => format!("{}{}{code}", self.id, Self::PART).into(),
            None => self.id.clone().into(),
        }
    }

    /// The value of a challenge as it is.
    #[must_use]
    pub fn read(value: &SecretString) -> Self {
        let (id, code) = match value.expose().split_once(Self::PART) {
            Some((id, code)) => (id, Some(code.to_owned())),
            None => (value.expose(), None),
        };
        Self {
            id: id.to_owned(),
            code,
        }
    }
}

/// What a person gives to prove who they are.
#[derive(Clone, Debug)]
pub struct SignInAttempt {
    /// The identifier that the person typed in; empty if a challenge identifies them (a passkey, a presentation).
    pub identifier: SecretString,
    /// The challenges, at least one.
    pub challenges: Vec<Challenge>,
}

/// One factor with what the person gave.
#[derive(Clone, Debug)]
pub struct Challenge {
    /// The factor.
    pub factor: FactorKind,
    /// The form of the value, where a factor has several.
    pub format: Option<String>,
    /// What the person typed in or their device signed.
    pub value: SecretString,
}

/// A person who was authenticated.
#[derive(Clone, Debug)]
pub struct ProvenPerson {
    /// The identity system's own handle of the person. It does not change, and no client ever sees it.
    pub handle: String,
    /// The subject for this relying party, if the identity system makes pairwise subjects itself.
    pub subject: Option<String>,
    /// The token for [`IdentitySystem::exchange`].
    pub token: SecretString,
    /// The factors that were checked.
    pub factors: Vec<FactorKind>,
}

/// Claims that a person agreed to.
#[derive(Clone, Debug)]
pub struct ClaimsOrder {
    /// The handle of the person.
    pub handle: String,
    /// The subject that the client gets, for systems that sign the claims themselves.
    pub subject: String,
    /// The token of the authentication.
    pub token: SecretString,
    /// The names of the claims.
    pub claims: Vec<String>,
    /// The languages of the claims, best first; empty for whatever there is.
    pub locales: Vec<String>,
}

/// The claims of a person. A claim that the person does not have is absent.
#[derive(Clone)]
pub enum PersonClaims {
    /// The claims by name; with a language, `name#tag` (OpenID Connect Core §5.2).
    Plain(Map<String, Value>),
    /// A JWS by the identity system, which the client gets as it is.
    Signed(String),
}

/// Why an identity system did not do what it was asked for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IdentityFault {
    /// The kind.
    pub kind: IdentityFaultKind,
    /// The system's own error code, for interfaces that pass it on.
    pub code: Option<String>,
}

/// The kinds of faults.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum IdentityFaultKind {
    /// The identifier is unknown. People are told the same as for `WrongChallenge`.
    UnknownPerson,
    /// A challenge or a token is wrong.
    WrongChallenge,
    /// A challenge has a form that can never be right.
    Malformed,
    /// The person has no address of the kinds asked for.
    NoAddress,
    /// The person or the caller must wait this number of seconds.
    Blocked {
        /// Seconds to wait.
        retry_after: u64,
    },
    /// The system has no such factor.
    Unsupported,
    /// The system does not answer, or answers against its specification.
    Unavailable,
    /// The system answered after the time-out.
    TooLate,
}

impl IdentityFault {
    /// A fault of this kind, without a code of the system.
    #[must_use]
    pub const fn new(kind: IdentityFaultKind) -> Self {
        Self { kind, code: None }
    }

    /// Whether the system did not answer, so that nothing was tried.
    #[must_use]
    pub const fn is_away(&self) -> bool {
        matches!(
            self.kind,
            IdentityFaultKind::Unavailable | IdentityFaultKind::TooLate
        )
    }

    /// The same fault with the system's own error code.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }
}
