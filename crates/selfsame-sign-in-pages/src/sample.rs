//! The sample service: what a relying party learns.

use askama::Template;

use crate::frame::SignInFrame;

/// The page of the sample service.
#[derive(Template)]
#[template(path = "sample.html")]
pub struct SampleServicePage {
    /// What stands around it.
    pub frame: SignInFrame,
    /// Where the sign-in begins.
    pub begin: String,
    /// What the service learned.
    pub learned: Option<LearnedPerson>,
}

/// What the sample service learned of a person.
#[derive(Clone, Debug)]
pub struct LearnedPerson {
    /// The subject.
    pub subject: String,
    /// The claims.
    pub claims: Vec<LearnedClaim>,
    /// The contents of the ID token, as JSON.
    pub token: String,
    /// Where the form goes that signs out.
    pub sign_out: String,
}

/// A claim that the sample service learned.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LearnedClaim {
    /// Its name.
    pub name: String,
    /// Its value as text.
    pub value: String,
}
