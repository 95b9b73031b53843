//! The issuers that the verifier of an organisation trusts, in addition to those of the instance.

use askama::Template;
use selfsame_core::organisation::trust::TrustedIssuer;

use crate::{Frame, WrongFields};

/// The list, with the form to trust another issuer.
#[derive(Template)]
#[template(path = "trust.html")]
pub struct TrustPage {
    frame: Frame,
    issuers: Vec<TrustedIssuer>,
    may_change: bool,
    typed: TypedIssuer,
    wrong: WrongFields,
}

/// What was typed into the form.
#[derive(Default)]
pub struct TypedIssuer {
    /// The identifier.
    pub issuer: String,
    /// The name.
    pub name: String,
    /// The types, between spaces.
    pub types: String,
}

impl TrustPage {
    /// The page of this list.
    pub fn of(frame: Frame, issuers: Vec<TrustedIssuer>, may_change: bool) -> Self {
        Self {
            frame: frame.titled("Trusted issuers"),
            issuers,
            may_change,
            typed: TypedIssuer::default(),
            wrong: WrongFields::default(),
        }
    }

    /// The page again, with what was typed and what is wrong.
    pub fn refused(self, typed: TypedIssuer, wrong: WrongFields) -> Self {
        Self {
            frame: self.frame.failed("Trusted issuers"),
            typed,
            wrong,
            ..self
        }
    }
}
