//! The page on which a person agrees to what a client gets.

use askama::Template;

use crate::frame::SignInFrame;

/// The page on which a person agrees.
#[derive(Template)]
#[template(path = "consent.html")]
pub struct ConsentPage {
    /// What stands around it.
    pub frame: SignInFrame,
    /// The client.
    pub client: ConsentClient,
    /// The names of the claims that the client needs.
    pub essential: Vec<String>,
    /// The names of the claims that the person may leave out.
    pub voluntary: Vec<OfferedChoice>,
    /// The scopes.
    pub scopes: Vec<OfferedChoice>,
    /// Where the form goes.
    pub action: String,
}

/// The client that asks.
#[derive(Clone, Debug, Default)]
pub struct ConsentClient {
    /// Its name.
    pub name: String,
    /// Its logo, as an image in an address of its own (RFC 2397): pages load nothing from elsewhere.
    pub logo: Option<String>,
    /// What it needs this for.
    pub purpose: Option<String>,
    /// The host at which the person continues.
    pub site: String,
    /// The address of its privacy policy.
    pub policy: Option<String>,
    /// The address of its terms of service.
    pub terms: Option<String>,
}

/// Something that a person may tick.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OfferedChoice {
    /// The name of the claim or scope.
    pub name: String,
    /// Whether it is ticked already.
    pub is_ticked: bool,
}

impl ConsentPage {
    /// Whether the client learns nothing but that the person signed in.
    fn is_nothing(&self) -> bool {
        self.essential.is_empty() && self.voluntary.is_empty() && self.scopes.is_empty()
    }
}
