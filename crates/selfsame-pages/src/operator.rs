//! The pages of those who work for an organisation: signing in, accepting an invitation, and what follows.

use askama::Template;
use selfsame_operators::OperatorRole;

use crate::Frame;
use crate::operator_role::RoleWords;

/// The page that asks a person for their password, or for the operator token.
#[derive(Template)]
#[template(path = "operator.html")]
pub struct OperatorPage {
    /// What stands around it.
    pub frame: Frame,
    /// The page to open after the sign-in; if empty, the start page of the person or the operator opens.
    pub next: String,
    /// The e-mail address that was typed.
    pub email: String,
    /// What was refused, and why.
    pub refused: Option<SignInRefused>,
}

/// Why a sign-in was refused.
pub struct SignInRefused {
    /// Whether the operator token was refused, rather than a password.
    pub is_token: bool,
    /// The reason.
    pub problem: String,
}

impl OperatorPage {
    /// The page with empty forms.
    pub fn of(frame: Frame, next: String) -> Self {
        Self {
            frame,
            next,
            email: String::new(),
            refused: None,
        }
    }

    fn is_refused(&self, is_token: bool) -> bool {
        let refused = self.refused.as_ref();
        refused.is_some_and(|refused| refused.is_token == is_token)
    }
}

/// The page of someone who has signed in.
#[derive(Template)]
#[template(path = "operator_signed_in.html")]
pub struct SignedInPage {
    /// What stands around it.
    pub frame: Frame,
    /// The form token, if a session exists already.
    pub token: Option<String>,
    /// Whether wallets are made by invitation on this instance.
    pub invites: bool,
    /// The link of a new invitation.
    pub invitation: Option<String>,
    /// The person; `None` for the holder of the operator token.
    pub person: Option<SignedInPerson>,
    /// The page to continue at.
    pub home: String,
}

/// A person who has signed in.
pub struct SignedInPerson {
    /// Their e-mail address.
    pub email: String,
    /// The organisations that they work for.
    pub organisations: Vec<OrganisationLink>,
}

/// An organisation that a person works for.
pub struct OrganisationLink {
    /// Its title.
    pub title: String,
    /// Its page.
    pub href: String,
}

/// The page on which a person accepts an invitation.
#[derive(Template)]
#[template(path = "operator_invited.html")]
pub struct InvitedPage {
    frame: Frame,
    token: String,
    organisation: String,
    roles: Vec<RoleWords>,
    email: String,
    problem: Option<String>,
}

/// An invitation to work for an organisation.
pub struct ShownInvitation {
    /// Its token.
    pub token: String,
    /// The title of the organisation.
    pub organisation: String,
    /// The roles that the person gets.
    pub roles: Vec<OperatorRole>,
}

impl InvitedPage {
    /// The page of this invitation, with an empty form.
    pub fn of(frame: Frame, invitation: ShownInvitation) -> Self {
        let ShownInvitation {
            token,
            organisation,
            roles,
        } = invitation;
        Self {
            frame,
            token,
            organisation,
            roles: roles.into_iter().map(RoleWords::from).collect(),
            email: String::new(),
            problem: None,
        }
    }

    /// The page shown again with the e-mail address that was typed, and what the person can correct.
    pub fn again(self, email: &str, problem: String) -> Self {
        Self {
            email: email.to_owned(),
            problem: Some(problem),
            ..self
        }
    }
}
