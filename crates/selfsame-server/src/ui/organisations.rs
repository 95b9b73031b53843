//! Organisations: the list of the instance's, and the page of each with its changes.

pub mod erasure;

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect};
use selfsame_core::organisation::look::{LookChange, LookView};
use selfsame_core::organisation::view::{NewOrganisation, OrganisationChange, OrganisationState};
use selfsame_core::organisation::{Organisation, OrganisationName};
use selfsame_driver::{Error, ErrorKind};
use selfsame_operators::{Area, Authority};
use selfsame_pages::WrongField;
use selfsame_pages::frame::FrameOrganisation;
use selfsame_pages::organisation::{
    OrganisationList, OrganisationPage, OrganisationRights, OrganisationShown, OrganisationsPage,
    OwnLook, RefusedChange, TypedOrganisation,
};
use selfsame_types::image::logo_uri;
use serde::Deserialize;

use super::correction::refused;
use super::{Frame, ListPosition};
use crate::error::{Handled, Problem};
use crate::extract::{Form, Path, Query, Working};
use crate::here::Here;
use crate::server::Server;

/// Whether the organisation was just created.
#[derive(Deserialize)]
pub struct Arrival {
    created: Option<bool>,
}

/// The list.
pub async fn list(
    State(server): State<Server>,
    working: Working,
    frame: Frame,
    Query(at): Query<ListPosition>,
) -> Handled {
    super::html(&listed(&server, &working, frame, at).await?)
}

/// Creates an organisation. A name that was left empty is made from the title, and shown before it is used.
pub async fn create(
    State(server): State<Server>,
    working: Working,
    frame: Frame,
    form: Form,
) -> Handled {
    let mut typed = typed(&form);
    match created(&server, &mut typed).await {
        Ok(name) => {
            let there = format!("/o/{name}/organisation?created=true");
            Ok(Redirect::to(&there).into_response())
        }
        Err(problem) => {
            let Some(wrong) = wrong(&problem) else {
                return Err(problem);
            };
            let page = listed(&server, &working, frame, ListPosition::first()).await?;
            Ok(refused(
                &problem,
                super::html(&page.refused(typed, wrong.into()))?,
            ))
        }
    }
}

/// Creates the organisation; returns its name. A name that was left empty is filled instead, to be checked.
async fn created(server: &Server, typed: &mut TypedOrganisation) -> Handled<String> {
    if typed.name.is_empty() {
        return Err(suggested(typed).into());
    }
    Ok(server.app().create_organisation(&new(typed)).await?.name)
}

/// The page of the organisation that was called.
pub async fn page(
    State(server): State<Server>,
    working: Working,
    frame: Frame,
    Query(arrival): Query<Arrival>,
) -> Handled {
    let page = shown(&server, &working.authority, &working.organisation, frame).await?;
    match arrival.created {
        Some(true) => super::html(&page.new_one()),
        _ => super::html(&page),
    }
}

/// Renames an organisation, changes its roles, suspends or reinstates it.
pub async fn change(
    State(server): State<Server>,
    working: Working,
    frame: Frame,
    Path(name): Path<String>,
    form: Form,
) -> Handled {
    let organisation = OrganisationName::parse(&name)?;
    let typed = typed(&form);
    let (form, change) = changed(&form, &typed)?;
    let organisations = server.app().organisations();
    let Err(error) = organisations.change(&organisation, &change).await else {
        return Ok(Redirect::to(&format!("/o/{name}/organisation")).into_response());
    };
    let refused = ChangeProblem {
        form,
        typed,
        problem: error.into(),
    };
    refused
        .again(&server, &working.of(organisation), frame)
        .await
}

/// Changes the logo or the colour of the organisation that was called.
pub async fn change_look(server: Here, working: Working, frame: Frame, form: Form) -> Handled {
    let changed = match look(&form) {
        Ok(change) => server.app().change_look(server.roles(), &change).await,
        Err(error) => Err(error),
    };
    let Err(error) = changed else {
        let there = format!("{}/organisation", server.prefix);
        return Ok(Redirect::to(&there).into_response());
    };
    let problem = Problem::from(error);
    let wrong = wrong(&problem).ok_or_else(|| problem.clone())?;
    let page = shown(&server, &working.authority, &working.organisation, frame).await?;
    let again = page.refused(RefusedChange {
        form: "look",
        typed: typed(&form),
        wrong: wrong.into(),
    });
    Ok(refused(&problem, super::html(&again)?))
}

/// The form's change of a look. No file leaves the logo as it is; no colour removes it.
fn look(form: &Form) -> selfsame_driver::Result<LookChange> {
    let file = form.file("logo").map(|file| logo_uri(&file.bytes));
    let removed = form.checked("remove_logo").then(String::new);
    Ok(LookChange {
        logo: file.transpose()?.or(removed),
        colour: Some(form.one("colour").unwrap_or_default().to_owned()),
    })
}

/// A change of an organisation that was refused.
struct ChangeProblem {
    form: &'static str,
    typed: TypedOrganisation,
    problem: Problem,
}

impl ChangeProblem {
    /// The page of the organisation again, if the form can correct the error.
    async fn again(self, server: &Server, working: &Working, frame: Frame) -> Handled {
        let Self {
            form,
            typed,
            problem,
        } = self;
        let Some(wrong) = wrong(&problem) else {
            return Err(problem);
        };
        let (name, authority) = (&working.organisation, &working.authority);
        let own = framed(server, name, Some(authority)).await?;
        let frame = frame.within(format!("/o/{name}"), own);
        let page = shown(server, authority, name, frame).await?;
        let wrong = wrong.into();
        let again = RefusedChange { form, typed, wrong };
        Ok(refused(&problem, super::html(&page.refused(again))?))
    }
}

/// What stands around the pages of an organisation beside the one that every instance has.
pub async fn framed(
    server: &Server,
    name: &OrganisationName,
    authority: Option<&Authority>,
) -> Handled<FrameOrganisation> {
    let hosted = server.app().organisations().find(name).await?;
    let hosted = hosted.ok_or_else(unknown)?;
    let view = server.app().organisations().view(&hosted)?;
    let record = hosted.record;
    Ok(FrameOrganisation {
        title: record.title,
        look: OwnLook::of(&LookView {
            logo: view.logo,
            colour: view.colour,
        }),
        issuer: record.issuer && record.erasure.is_none(),
        verifier: record.verifier && record.erasure.is_none(),
        agent: server.app().has_agent(name) && record.erasure.is_none(),
        may_switch: authority.is_some_and(may_see_all),
    })
}

fn may_see_all(authority: &Authority) -> bool {
    authority.may(&OrganisationName::main(), Area::Organisations.read())
}

fn may_change(authority: &Authority) -> bool {
    authority.may(&OrganisationName::main(), Area::Organisations.write())
}

async fn listed(
    server: &Server,
    working: &Working,
    frame: Frame,
    at: ListPosition,
) -> Handled<OrganisationsPage> {
    let app = server.app();
    let is_first = at.is_first();
    let list = OrganisationList {
        main: match is_first {
            true => Some(main(server).await?),
            false => None,
        },
        others: app.organisations().list(&at.into()).await?,
        may_create: may_change(&working.authority),
        place: format!("{}o/", app.config().origin),
    };
    Ok(OrganisationsPage::of(frame, list))
}

async fn shown(
    server: &Server,
    authority: &Authority,
    name: &OrganisationName,
    frame: Frame,
) -> Handled<OrganisationPage> {
    let one = match name.is_main() {
        true => main(server).await?,
        false => {
            let organisations = server.app().organisations();
            let hosted = organisations.find(name).await?.ok_or_else(unknown)?;
            organisations.view(&hosted)?.into()
        }
    };
    let metadata = Organisation::metadata_address(&one.identifier)?;
    let rights = rights(authority, name);
    Ok(OrganisationPage::of(frame, one, &metadata, rights))
}

fn rights(authority: &Authority, name: &OrganisationName) -> OrganisationRights {
    let may = |right| authority.may(name, right);
    OrganisationRights {
        administer: may_change(authority),
        settle: may(Area::Settings.write()),
        people: may(Area::People.read()),
        types: may(Area::Types.read()),
        issue: may(Area::Issuer.read()),
        verify: may(Area::Verifier.read()),
    }
}

/// The organisation that every instance has, as its settings describe it.
async fn main(server: &Server) -> Handled<OrganisationShown> {
    let (main, config) = (server.app().main(), server.app().config());
    let issuer = main.issuer.as_ref();
    let verifier = main.verifier.as_ref();
    let title = issuer.map_or(&config.verifier.name, |_| &config.issuer.name);
    let issuers = issuer.map(|own| ("Issuer’s DID", own.identity().did().to_string()));
    let verifiers = verifier.map(|own| ("Verifier’s DID", own.identity().did().to_string()));
    Ok(OrganisationShown {
        look: OwnLook::of(&main.look().await?),
        name: main.organisation.name.to_string(),
        here: String::new(),
        host: None,
        title: title.clone(),
        issuer: issuer.is_some(),
        verifier: verifier.is_some(),
        samples: true,
        state: OrganisationState::Active,
        identifier: main.organisation.identifier.clone(),
        dids: issuers.into_iter().chain(verifiers).collect(),
        created: None,
        erasure: None,
    })
}

fn typed(form: &Form) -> TypedOrganisation {
    let text = |name| form.one(name).unwrap_or_default().to_owned();
    TypedOrganisation {
        title: text("title"),
        name: text("name"),
        host: text("host").trim().to_owned(),
        issuer: form.checked("issuer"),
        verifier: form.checked("verifier"),
        samples: form.checked("samples"),
        method: text("did_method"),
        colour: text("colour"),
    }
}

fn new(typed: &TypedOrganisation) -> NewOrganisation {
    NewOrganisation {
        name: typed.name.clone(),
        title: typed.title.clone(),
        issuer: typed.issuer,
        verifier: typed.verifier,
        samples: typed.samples,
        host: Some(typed.host.clone()).filter(|host| !host.is_empty()),
        did_method: Some(typed.method.clone()).filter(|method| !method.is_empty()),
    }
}

/// Fills the name with the one that the title suggests, to be checked.
fn suggested(typed: &mut TypedOrganisation) -> Error {
    match OrganisationName::suggested(&typed.title) {
        Some(name) => {
            typed.name = name.to_string();
            Error::bad_request("organisation-name-suggested")
        }
        None => Error::bad_request("organisation-name-unmade"),
    }
}

/// The form's change, and which of the page's forms it is.
fn changed(form: &Form, typed: &TypedOrganisation) -> Handled<(&'static str, OrganisationChange)> {
    let to = |state| OrganisationChange {
        state: Some(state),
        ..OrganisationChange::default()
    };
    let mut change = OrganisationChange::default();
    let which = match form.needed("change")? {
        "title" => {
            change.title = Some(typed.title.clone());
            "title"
        }
        "roles" => {
            (change.issuer, change.verifier) = (Some(typed.issuer), Some(typed.verifier));
            "roles"
        }
        "samples" => {
            change.samples = Some(typed.samples);
            "samples"
        }
        "suspend" => return Ok(("", to(OrganisationState::Suspended))),
        "reinstate" => return Ok(("", to(OrganisationState::Active))),
        _ => return Err(Problem::bad_request("organisation-change-unknown")),
    };
    Ok((which, change))
}

/// The field that an error is about; `None` for an error that a form can't correct.
fn wrong(problem: &Problem) -> Option<WrongField> {
    let field = match problem.reason().id() {
        "organisation-title-malformed" => "title",
        "organisation-name-malformed"
        | "organisation-name-reserved"
        | "organisation-name-suggested"
        | "organisation-name-taken"
        | "organisation-name-unmade" => "name",
        "organisation-host-malformed"
        | "organisation-host-of-instance"
        | "organisation-host-taken"
        | "organisation-host-unreachable" => "host",
        "organisation-name-not-typed" => "confirm",
        "organisation-without-role" => "roles",
        "logo-refused" => "logo",
        "colour-malformed" => "colour",
        "did-method-unsupported" | "did-web-origin" => "did_method",
        _ => return None,
    };
    let told = problem.told();
    let field = field.into();
    Some(WrongField { field, told })
}

fn unknown() -> Error {
    Error::new(ErrorKind::NotFound, "organisation-unknown")
}
