//! The issuer's pages of applications for credentials that need others.

use std::sync::Arc;

use axum::response::{IntoResponse as _, Redirect};
use http::HeaderMap;
use selfsame_applications::view::{
    ApplicationState, FilledApplication, NewApplication, ShownApplication,
};
use selfsame_driver::Error;
use selfsame_http::correction::{correctable, refused};
use selfsame_http::error::{Handled, Problem};
use selfsame_http::extract::{Form, Path};
use selfsame_http::negotiation::takes_json_alone;
use selfsame_http::response::open_to_all;
use selfsame_openid::view::issuer::Offer;
use selfsame_pages::Frame;
use selfsame_pages::issuer::{ApplicationPage, GetPage, NewOfferPage, applied_claims};
use selfsame_pages::organisation::OwnLook;
use selfsame_types::CredentialType;
use selfsame_types::form::FormContent;

use crate::here::IssuerHere;
use crate::html;
use crate::offers::Values;

/// What a credential needs: a page for people, a document for wallets.
pub async fn get(
    here: IssuerHere,
    frame: Frame,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Handled {
    let document = here.applications.path_document(&id).await?;
    if takes_json_alone(&headers) {
        return Ok(open_to_all(axum::Json(document).into_response()));
    }
    let look = OwnLook::of(&here.roles.look().await?);
    let address = here.roles.organisation.url(&format!("get/{id}"))?;
    html(&GetPage::of(frame, document, &look, address.as_str()))
}

/// Begins an application.
pub async fn begin(here: IssuerHere, form: Form) -> Handled {
    let new = NewApplication {
        type_id: form.needed("type")?.to_owned(),
        label: None,
    };
    let begun = here.applications.begin(&new).await?;
    Ok(Redirect::to(&address(&begun.id)).into_response())
}

/// An application: the code for the wallet, and what came of it.
pub async fn page(here: IssuerHere, frame: Frame, Path(id): Path<String>) -> Handled {
    let shown = here.applications.one(&id).await?;
    let title = the_type(&here, &shown).await?.name().to_owned();
    html(&ApplicationPage::of(frame, &title, shown))
}

/// The form of an application that was proven.
pub async fn form(here: IssuerHere, frame: Frame, Path(id): Path<String>) -> Handled {
    let shown = here.applications.one(&id).await?;
    if shown.state != ApplicationState::Proven {
        return Ok(Redirect::to(&address(&id)).into_response());
    }
    let one = the_type(&here, &shown).await?;
    let content = FormContent::Claims(&shown.claims);
    html(&NewOfferPage::applied(frame, one, &shown, content)?)
}

/// Makes the offer. What can be corrected is said beside what was typed.
pub async fn offer(here: IssuerHere, frame: Frame, Path(id): Path<String>, form: Form) -> Handled {
    let shown = here.applications.one(&id).await?;
    let one = the_type(&here, &shown).await?;
    match made(&here, &one, &shown, &form).await {
        Ok(offer) => Ok(Redirect::to(&format!("/issuer/view/{}", offer.id)).into_response()),
        Err(problem) => {
            let (problem, _) = correctable(problem)?;
            let values = Values(&form);
            let content = FormContent::Sent(&values);
            let page = NewOfferPage::applied(frame, one, &shown, content)?;
            let page = page.refused(problem.reason());
            Ok(refused(&problem, html(&page)?))
        }
    }
}

async fn made(
    here: &IssuerHere,
    one: &CredentialType,
    shown: &ShownApplication,
    form: &Form,
) -> Handled<Offer> {
    let filled = FilledApplication {
        claims: applied_claims(one, shown, &Values(form))?,
        by_reference: true,
        ..FilledApplication::default()
    };
    Ok(here.applications.offer(&shown.id, &filled).await?)
}

async fn the_type(here: &IssuerHere, shown: &ShownApplication) -> Handled<Arc<CredentialType>> {
    let types = here.issuer()?.types().all().await?;
    let unknown = || Problem::from(Error::not_found("application-outdated"));
    Ok(types
        .at(&shown.type_id, shown.version)
        .ok_or_else(unknown)?
        .clone())
}

fn address(id: &str) -> String {
    format!("/issuer/applications/{id}")
}
