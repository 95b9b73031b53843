//! The pages of an organisation's people, their roles, and API keys.

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect};
use selfsame_driver::Result;
use selfsame_driver::paging::Paging;
use selfsame_operators::view::{CreatedKey, NewKey};
use selfsame_operators::{Area, OperatorRole, PersonAt, Right};
use selfsame_pages::people::{
    Giving, InvitationPage, KeyPage, PeopleLists, PeoplePage, PeopleTyped, PersonPage,
};
use serde::Deserialize;

use super::Frame;
use super::correction::{correctable, refused};
use crate::error::Handled;
use crate::extract::{Form, Path, Query, Working};
use crate::server::Server;

/// Pagination of both lists.
#[derive(Default, Deserialize)]
pub struct PeoplePosition {
    after: Option<String>,
    keys: Option<String>,
}

/// The people and the API keys.
pub async fn page(
    State(server): State<Server>,
    work: Working,
    frame: Frame,
    Query(at): Query<PeoplePosition>,
) -> Handled {
    let lists = lists(&server, &work, at).await?;
    let giving = giving(&work);
    let page = PeoplePage::of(frame, lists, giving.as_ref(), PeopleTyped::Nothing);
    super::html(&page)
}

/// Makes an invitation, and shows its link once.
pub async fn invite(
    State(server): State<Server>,
    work: Working,
    frame: Frame,
    form: Form,
) -> Handled {
    let roles = roles(&form);
    let operators = server.app().operators();
    let made = operators.invite(&work.authority, &work.organisation, &roles);
    match made.await {
        Ok(mut invitation) => {
            invitation.link = server.administered(invitation.link);
            let title = super::title(&server, &work.organisation).await?;
            super::html(&InvitationPage::of(frame, title, &roles, invitation))
        }
        Err(error) => {
            let (problem, text) = correctable(error)?;
            let typed = PeopleTyped::Invitation { problem: text };
            let page = again(&server, &work, frame, typed).await?;
            Ok(refused(&problem, page))
        }
    }
}

/// One person, and what may be changed about them.
pub async fn person(
    State(server): State<Server>,
    work: Working,
    frame: Frame,
    Path(id): Path<String>,
) -> Handled {
    super::html(&persons(&server, &work, frame, &id).await?)
}

/// Gives a person other roles.
pub async fn set_roles(
    State(server): State<Server>,
    work: Working,
    frame: Frame,
    Path(id): Path<String>,
    form: Form,
) -> Handled {
    let operators = server.app().operators();
    let place = place(&work, &id);
    let roles = roles(&form);
    let changed = operators.set_roles(&work.authority, place, &roles);
    match changed.await {
        Ok(_) => Ok(Redirect::to("/people").into_response()),
        Err(error) => {
            let (problem, text) = correctable(error)?;
            let page = persons(&server, &work, frame, &id).await?;
            Ok(refused(&problem, super::html(&page.refused(text))?))
        }
    }
}

/// Ends a person's work for the organisation.
pub async fn remove(
    State(server): State<Server>,
    work: Working,
    Path(id): Path<String>,
) -> Handled {
    let operators = server.app().operators();
    operators
        .remove_person(&work.authority, place(&work, &id))
        .await?;
    Ok(Redirect::to("/people").into_response())
}

/// Creates an API key, and shows it once.
pub async fn create_key(
    State(server): State<Server>,
    work: Working,
    frame: Frame,
    form: Form,
) -> Handled {
    let made = make_key(&server, &work, &form).await;
    match made {
        Ok(created) => super::html(&KeyPage::of(frame, created)),
        Err(error) => {
            let (problem, text) = correctable(error)?;
            let page = again(&server, &work, frame, typed_key(&form, text)).await?;
            Ok(refused(&problem, page))
        }
    }
}

/// Revokes an API key.
pub async fn revoke_key(
    State(server): State<Server>,
    work: Working,
    Path(id): Path<String>,
) -> Handled {
    let operators = server.app().operators();
    operators
        .revoke_key(&work.authority, &work.organisation, &id)
        .await?;
    Ok(Redirect::to("/people#keys").into_response())
}

/// The roles and rights that the caller may give to others; `None` for a caller who may only read.
fn giving(work: &Working) -> Option<Giving> {
    let Working {
        authority,
        organisation,
    } = work;
    let rights = authority.rights(organisation);
    if !rights.has(Area::People.write()) {
        return None;
    }
    let may = |role: &OperatorRole| {
        role.fits(organisation) && role.may_be_given_by(rights, authority.is_administrator())
    };
    Some(Giving {
        roles: OperatorRole::ALL.into_iter().filter(may).collect(),
        scopes: rights
            .iter()
            .filter(|right| right.fits(organisation))
            .collect(),
    })
}

async fn lists(server: &Server, work: &Working, at: PeoplePosition) -> Handled<PeopleLists> {
    let operators = server.app().operators();
    let from = |after| Paging { after, limit: None };
    Ok(PeopleLists {
        people: operators
            .people(&work.organisation, &from(at.after))
            .await?,
        keys: operators.keys(&work.organisation, &from(at.keys)).await?,
        now: server.app().clock().now().rfc3339(),
    })
}

/// The page shown again, because what was typed was refused.
async fn again(server: &Server, work: &Working, frame: Frame, typed: PeopleTyped) -> Handled {
    let lists = lists(server, work, PeoplePosition::default()).await?;
    super::html(&PeoplePage::of(frame, lists, giving(work).as_ref(), typed))
}

async fn persons(server: &Server, work: &Working, frame: Frame, id: &str) -> Handled<PersonPage> {
    let person = server.app().operators().person(place(work, id)).await?;
    Ok(PersonPage::of(frame, person, giving(work).as_ref()))
}

fn place<'a>(work: &'a Working, person: &'a str) -> PersonAt<'a> {
    PersonAt {
        organisation: &work.organisation,
        person,
    }
}

/// The roles that were chosen.
fn roles(form: &Form) -> Vec<OperatorRole> {
    let chosen = form.all("role");
    let is_chosen = |role: &OperatorRole| chosen.iter().any(|name| name == role.as_str());
    OperatorRole::ALL.into_iter().filter(is_chosen).collect()
}

async fn make_key(server: &Server, work: &Working, form: &Form) -> Result<CreatedKey> {
    let scopes = form.all("scope").iter().map(|text| Right::parse(text));
    let days = form.one("days").map(|days| {
        // A number that does not fit is refused with the limits of those that do.
        days.parse().unwrap_or_default()
    });
    let new = NewKey {
        name: form.one("name").unwrap_or_default().to_owned(),
        scopes: scopes.collect::<Result<_>>()?,
        days,
    };
    let operators = server.app().operators();
    operators
        .create_key(&work.authority, &work.organisation, &new)
        .await
}

fn typed_key(form: &Form, problem: String) -> PeopleTyped {
    PeopleTyped::Key {
        problem,
        name: form.one("name").unwrap_or_default().to_owned(),
        scopes: form.all("scope").to_vec(),
        days: form.one("days").unwrap_or_default().to_owned(),
    }
}
