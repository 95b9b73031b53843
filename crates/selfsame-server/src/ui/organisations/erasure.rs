//! The page that erases an organisation, once its name is typed again.

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect};
use selfsame_core::organisation::OrganisationName;
use selfsame_core::organisation::view::ErasureOrder;
use selfsame_pages::organisation::erasure::ErasurePage;

use super::{framed, unknown, wrong};
use crate::error::{Handled, Problem};
use crate::extract::{Form, Path, Working};
use crate::server::Server;
use crate::ui::correction::refused;
use crate::ui::{Frame, html};

/// What the erasure would make unverifiable, and the form.
pub async fn page(
    State(server): State<Server>,
    work: Working,
    frame: Frame,
    Path(name): Path<String>,
) -> Handled {
    html(&shown(&server, &work, frame, &OrganisationName::parse(&name)?).await?)
}

/// Erases an organisation, or destroys at once what an erased one still serves.
pub async fn erase(
    State(server): State<Server>,
    work: Working,
    frame: Frame,
    Path(name): Path<String>,
    form: Form,
) -> Handled {
    let name = OrganisationName::parse(&name)?;
    let order = ErasureOrder {
        confirm: form.one("confirm").unwrap_or_default().to_owned(),
        now: form.checked("now"),
    };
    let Err(error) = server.app().erase_organisation(&name, &order).await else {
        return Ok(Redirect::to(&format!("/o/{name}/organisation")).into_response());
    };
    let problem = Problem::from(error);
    let Some(wrong) = wrong(&problem) else {
        return Err(problem);
    };
    let page = shown(&server, &work, frame, &name).await?;
    Ok(refused(
        &problem,
        html(&page.refused(order.now, wrong.into()))?,
    ))
}

async fn shown(
    server: &Server,
    work: &Working,
    frame: Frame,
    name: &OrganisationName,
) -> Handled<ErasurePage> {
    let organisations = server.app().organisations();
    let hosted = organisations.find(name).await?.ok_or_else(unknown)?;
    let one = organisations.view(&hosted)?;
    let forecast = server.app().erasure_forecast(name).await?;
    let own = framed(server, name, Some(&work.authority)).await?;
    let frame = frame.within(format!("/o/{name}"), own);
    Ok(ErasurePage::of(frame, one, forecast))
}
