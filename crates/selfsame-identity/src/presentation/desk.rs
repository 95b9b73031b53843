//! What sign-in needs of a verifier.

use async_trait::async_trait;
use selfsame_crypto::SecretString;
use selfsame_driver::Result;
use selfsame_store::TenantId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The verifiers of organisations, by the tenants of their providers.
#[async_trait]
pub trait PresentationDesk: Send + Sync {
    /// Checks whether a presentation can be asked for.
    ///
    /// # Errors
    /// `BadRequest` if it can't be; `NotFound` if the organisation has no verifier.
    async fn check(&self, tenant: &TenantId, wanted: &WantedPresentation) -> Result<()>;

    /// Asks for a presentation, for a browser at this place.
    ///
    /// # Errors
    /// Those of [`Self::check`]; `Unavailable` while too many are asked for.
    async fn open(
        &self,
        tenant: &TenantId,
        wanted: &WantedPresentation,
        place: &AnswerPlace,
    ) -> Result<OpenedPresentation>;

    /// What became of a presentation that was asked for.
    ///
    /// # Errors
    /// The store's.
    async fn answer(&self, tenant: &TenantId, id: &str) -> Result<PresentationAnswer>;

    /// What became of a presentation, for the browser that a wallet sent back with this code (OpenID4VP 1.0 §14.2).
    ///
    /// # Errors
    /// `Forbidden` for another code or another browser, and the store's.
    async fn returned(
        &self,
        tenant: &TenantId,
        browser: &ReturnedBrowser<'_>,
    ) -> Result<PresentationAnswer>;
}

/// A presentation that is to be asked for.
#[derive(Clone, Debug)]
pub struct WantedPresentation {
    /// What it is for, as the wallet shows it.
    pub purpose: String,
    /// The credentials, of which one suffices. No type is named twice.
    pub credentials: Vec<WantedCredential>,
}

/// A credential that is to be asked for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WantedCredential {
    /// The id by which the answer names it.
    pub id: String,
    /// The `vct`, or the most specific W3C type.
    pub kind: String,
    /// The format; the usual one if absent.
    pub format: Option<String>,
    /// The issuers to accept it from.
    pub issuers: Vec<String>,
    /// The paths of claims.
    pub paths: Vec<Vec<String>>,
    /// The choices of paths with which it will do, by their numbers, the best first.
    pub choices: Vec<Vec<usize>>,
}

/// Where a presentation is awaited.
#[derive(Clone, Debug)]
pub struct AnswerPlace {
    /// Whether the wallet is on the device of the browser, and sends it back.
    pub is_here: bool,
    /// The path, below the organisation's base, that the wallet sends the browser to; the id of the presentation is
    /// appended.
    pub page: String,
    /// The secret that the browser is known by.
    pub browser: SecretString,
}

/// A presentation that was asked for.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct OpenedPresentation {
    /// Its id.
    pub id: String,
    /// The link for the wallet.
    pub uri: String,
}

/// A browser that a wallet sent back.
#[derive(Clone, Copy, Debug)]
pub struct ReturnedBrowser<'a> {
    /// The id of the presentation.
    pub id: &'a str,
    /// The code that the wallet got.
    pub code: &'a str,
    /// The secret that the browser is known by.
    pub browser: &'a SecretString,
}

/// What became of a presentation.
#[derive(Clone, Debug, PartialEq)]
pub enum PresentationAnswer {
    /// It can still be given.
    Awaited,
    /// A credential was shown that is valid.
    Shown(Box<ShownCredential>),
    /// What was shown is not accepted.
    Refused,
    /// It was declined, or its time is over.
    Over,
}

/// A valid credential that was shown.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownCredential {
    /// The id of the credential query that it answers.
    pub query: String,
    /// Its issuer; absent if only a certificate names it.
    pub issuer: Option<String>,
    /// The claims that it shows, as its issuer signed them.
    pub claims: Value,
}
