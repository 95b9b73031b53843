//! Accepting an invitation to work for an organisation.

use axum::extract::State;
use selfsame_crypto::SecretString;
use selfsame_operators::Acceptance;
use selfsame_pages::operator::{InvitedPage, ShownInvitation};
use serde::Deserialize;

use super::session::Browser;
use crate::error::Handled;
use crate::extract::{Form, Query};
use crate::server::Server;
use crate::ui::correction::{correctable, refused};
use crate::ui::{self, Frame};

/// The token of an invitation link.
#[derive(Deserialize)]
pub struct InvitationLink {
    #[serde(default)]
    token: String,
}

/// What the invitation is for, and the form that accepts it.
pub async fn page(
    State(server): State<Server>,
    frame: Frame,
    Query(link): Query<InvitationLink>,
) -> Handled {
    ui::html(&shown(&server, frame.titled("Invitation"), &link.token).await?)
}

/// Accepts an invitation, and signs the person in.
pub async fn accept(mut browser: Browser, frame: Frame, form: Form) -> Handled {
    let (token, email) = (form.needed("token")?, form.needed("email")?);
    let acceptance = Acceptance {
        token,
        email,
        password: SecretString::from(form.verbatim("password")?),
    };
    match accepted(&mut browser, acceptance).await {
        Ok(response) => Ok(response),
        Err(problem) => {
            let problem = browser.refused(Some(email), problem).await?;
            let (problem, text) = correctable(problem)?;
            let page = shown(&browser.server, frame.failed("Invitation"), token).await?;
            Ok(refused(&problem, ui::html(&page.again(email, text))?))
        }
    }
}

async fn accepted(browser: &mut Browser, acceptance: Acceptance<'_>) -> Handled {
    let (server, email) = (browser.server.clone(), acceptance.email);
    let operators = server.app().operators();
    let invited = operators.invited(acceptance.token).await?;
    browser.joined = Some(invited.organisation);
    let session = operators.accept(acceptance, &browser.whence()).await?;
    browser.open_persons(&session, email, None).await
}

async fn shown(server: &Server, frame: Frame, token: &str) -> Handled<InvitedPage> {
    let invited = server.app().operators().invited(token).await?;
    let invitation = ShownInvitation {
        token: token.to_owned(),
        organisation: ui::title(server, &invited.organisation).await?,
        roles: invited.roles,
    };
    Ok(InvitedPage::of(frame, invitation))
}
