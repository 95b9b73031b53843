//! The form that registers a DID, on networks where anyone may register.

use askama::Template;
use axum::extract::State;
use http::HeaderMap;
use selfsame_app::newcomer::InForce;
use selfsame_crypto::encoding::base58_encode;

use super::Frame;
use crate::error::{Handled, Problem};
use crate::extract::Form;
use crate::protocol::von_network::register::{self, Registration};
use crate::server::Server;

#[derive(Template)]
#[template(path = "registry_register.html")]
struct RegisterPage {
    frame: Frame,
    part: &'static str,
    open: bool,
    agreement: Option<InForce>,
    /// What was typed, except the seed, which a page never repeats.
    did: String,
    verkey: String,
    no_role: bool,
    problem: Option<(String, Option<String>)>,
    made: Option<MadeRegistration>,
}

struct MadeRegistration {
    did: String,
    href: Option<String>,
    verkey: String,
    existed: bool,
}

/// The form.
pub async fn page(State(server): State<Server>, frame: Frame) -> Handled {
    super::super::html(&RegisterPage::of(&server, frame)?)
}

/// Registers the DID, and shows the result.
pub async fn register(
    State(server): State<Server>,
    headers: HeaderMap,
    frame: Frame,
    form: Form,
) -> Handled {
    let page = RegisterPage::of(&server, frame)?;
    match Registration::of_form(&form)
        .carried_out(&server, &headers)
        .await
    {
        Ok(made) => super::super::html(&page.made(&made)),
        Err(problem) => page.refused(&form, &problem),
    }
}

impl RegisterPage {
    fn of(server: &Server, frame: Frame) -> Handled<Self> {
        Ok(Self {
            frame: frame.titled("Register a DID"),
            part: "register",
            open: server.open_registration(),
            agreement: server.app().agreement_in_force()?,
            did: String::new(),
            verkey: String::new(),
            no_role: false,
            problem: None,
            made: None,
        })
    }

    fn made(mut self, made: &register::Enrolled) -> Self {
        let did = made.registered.did.to_string();
        self.made = Some(MadeRegistration {
            href: super::link(&did),
            did,
            verkey: base58_encode(made.key.bytes()),
            existed: made.registered.existed,
        });
        self
    }

    /// The form again, with what was typed and the error.
    fn refused(mut self, form: &Form, problem: &Problem) -> Handled {
        let typed = |name| form.one(name).unwrap_or_default().to_owned();
        (self.did, self.verkey) = (typed("did"), typed("verkey"));
        self.no_role = form.one("role").is_none();
        self.frame = self.frame.failed("Register a DID");
        let told = problem.told();
        self.problem = Some((told.text, told.hint));
        let mut answer = super::super::html(&self)?;
        *answer.status_mut() = problem.status();
        Ok(answer)
    }
}
