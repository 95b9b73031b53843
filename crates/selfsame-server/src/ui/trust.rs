//! The issuers that the verifier of an organisation trusts, in addition to those of the instance.

use axum::response::{IntoResponse as _, Redirect, Response};
use selfsame_core::organisation::trust::NewTrustedIssuer;
use selfsame_operators::Area;
use selfsame_pages::WrongField;
use selfsame_pages::organisation::trust::{TrustPage, TypedIssuer};

use super::Frame;
use super::correction::refused;
use crate::error::{Handled, Problem};
use crate::extract::{Form, Path, Working};
use crate::here::Here;

/// The list, and the form to trust another issuer.
pub async fn page(server: Here, working: Working, frame: Frame) -> Handled {
    super::html(&shown(&server, &working, frame).await?)
}

/// Trusts an issuer.
pub async fn add(server: Here, working: Working, frame: Frame, form: Form) -> Handled {
    let typed = typed(&form);
    let new = NewTrustedIssuer {
        issuer: typed.issuer.clone(),
        name: typed.name.clone(),
        types: typed.types.split_whitespace().map(str::to_owned).collect(),
    };
    let Err(error) = server.verifier()?.trust().trust(&new).await else {
        return Ok(again(&server));
    };
    let problem = Problem::from(error);
    let Some(wrong) = wrong(&problem) else {
        return Err(problem);
    };
    let page = shown(&server, &working, frame).await?;
    let page = page.refused(typed, wrong.into());
    Ok(refused(&problem, super::html(&page)?))
}

/// Trusts an issuer no longer.
pub async fn remove(server: Here, Path(id): Path<String>) -> Handled {
    server.verifier()?.trust().distrust(&id).await?;
    Ok(again(&server))
}

fn typed(form: &Form) -> TypedIssuer {
    let text = |name| form.one(name).unwrap_or_default().to_owned();
    TypedIssuer {
        issuer: text("issuer"),
        name: text("name"),
        types: text("types"),
    }
}

fn wrong(problem: &Problem) -> Option<WrongField> {
    let field = match problem.reason().id() {
        "trust-issuer-malformed" | "trust-full" => "issuer",
        "trust-name-malformed" => "name",
        "trust-types-malformed" => "types",
        _ => return None,
    };
    let told = problem.told();
    Some(WrongField {
        field: field.into(),
        told,
    })
}

fn again(server: &Here) -> Response {
    Redirect::to(&format!("{}/trust", server.prefix)).into_response()
}

async fn shown(server: &Here, working: &Working, frame: Frame) -> Handled<TrustPage> {
    let list = server.verifier()?.trust().now().await?;
    let issuers = list.entries.clone();
    let (authority, here) = (&working.authority, &working.organisation);
    let may_change = authority.may(here, Area::Settings.write());
    Ok(TrustPage::of(frame, issuers, may_change))
}
