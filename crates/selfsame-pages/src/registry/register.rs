//! The form that registers a DID, on networks where anyone may register.

use askama::Template;
use selfsame_catalogue::Sentence;

use crate::Frame;

/// The form, and what became of it.
#[derive(Template)]
#[template(path = "registry_register.html")]
pub struct RegisterPage {
    frame: Frame,
    open: bool,
    agreement: Option<AgreementShown>,
    did: String,
    verkey: String,
    no_role: bool,
    problem: Option<Sentence>,
    made: Option<MadeRegistration>,
}

/// The author agreement in force.
pub struct AgreementShown {
    /// Its version.
    pub version: String,
    /// SHA-256 of its text, hexadecimal.
    pub digest: String,
}

/// What was typed, except the seed, which a page never repeats.
pub struct TypedRegistration {
    /// The DID, or its last part.
    pub did: String,
    /// The key.
    pub verkey: String,
    /// Whether no role was chosen.
    pub no_role: bool,
}

/// A DID that was registered, now or before.
pub struct MadeRegistration {
    did: String,
    href: Option<String>,
    verkey: String,
    existed: bool,
}

impl RegisterPage {
    /// The empty form, if anyone may register, with the agreement that they must accept.
    pub fn of(frame: Frame, open: bool, agreement: Option<AgreementShown>) -> Self {
        Self {
            frame: frame.titled("Register a DID"),
            open,
            agreement,
            did: String::new(),
            verkey: String::new(),
            no_role: false,
            problem: None,
            made: None,
        }
    }

    /// The form with the DID that was registered.
    pub fn made(self, made: MadeRegistration) -> Self {
        Self {
            made: Some(made),
            ..self
        }
    }

    /// The form again, with what was typed and the error.
    pub fn refused(self, typed: TypedRegistration, problem: Sentence) -> Self {
        Self {
            frame: self.frame.failed("Register a DID"),
            did: typed.did,
            verkey: typed.verkey,
            no_role: typed.no_role,
            problem: Some(problem),
            ..self
        }
    }
}

impl MadeRegistration {
    /// The registration of this DID with this key, and whether it existed before.
    pub fn of(did: String, verkey: String, existed: bool) -> Self {
        Self {
            href: super::link(&did),
            did,
            verkey,
            existed,
        }
    }
}
