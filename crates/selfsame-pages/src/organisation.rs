//! Organisations: the list of an instance's with the form to create one, and the page of each.

pub mod erasure;
pub mod trust;

use askama::Template;
use selfsame_core::config::DidMethod;
use selfsame_core::organisation::look::LookView;
use selfsame_core::organisation::view::{ErasureView, OrganisationState, OrganisationView};
use selfsame_driver::paging::Listing;

use crate::{Frame, WrongFields};

pub use crate::look::OwnLook;

/// The organisations of the instance, with the form to create one.
#[derive(Template)]
#[template(path = "organisations.html")]
pub struct OrganisationsPage {
    frame: Frame,
    rows: Vec<OrganisationShown>,
    next: Option<String>,
    may_create: bool,
    typed: TypedOrganisation,
    wrong: WrongFields,
    place: String,
}

/// What was typed into the form for a new organisation.
#[derive(Default)]
pub struct TypedOrganisation {
    /// Its name for people.
    pub title: String,
    /// Its name in addresses.
    pub name: String,
    /// Its own host; empty for none.
    pub host: String,
    /// Whether it is to issue.
    pub issuer: bool,
    /// Whether it is to verify.
    pub verifier: bool,
    /// Whether it is to issue the samples.
    pub samples: bool,
    /// The method of its DID; empty for the default.
    pub method: String,
    /// Its colour.
    pub colour: String,
}

impl TypedOrganisation {
    /// The form as it is before anything is typed.
    pub fn empty() -> Self {
        Self {
            issuer: true,
            verifier: true,
            samples: true,
            ..Self::default()
        }
    }
}

/// The list, and who looks at it.
pub struct OrganisationList {
    /// The organisation that every instance has, on the first page of the list.
    pub main: Option<OrganisationShown>,
    /// The others.
    pub others: Listing<OrganisationView>,
    /// Whether the visitor may create organisations.
    pub may_create: bool,
    /// What the addresses of organisations begin with.
    pub place: String,
}

impl OrganisationsPage {
    /// The page with this list and an empty form.
    pub fn of(frame: Frame, list: OrganisationList) -> Self {
        let others = list.others.items.into_iter().map(OrganisationShown::from);
        Self {
            frame: frame.titled("Organisations"),
            rows: list.main.into_iter().chain(others).collect(),
            next: list.others.next,
            may_create: list.may_create,
            typed: TypedOrganisation::empty(),
            wrong: WrongFields::default(),
            place: list.place,
        }
    }

    /// The page again, with what was typed and what is wrong.
    pub fn refused(self, typed: TypedOrganisation, wrong: WrongFields) -> Self {
        Self {
            frame: self.frame.failed("Organisations"),
            typed,
            wrong,
            ..self
        }
    }

    fn methods(&self) -> impl Iterator<Item = &'static str> {
        DidMethod::all(self.frame.roles.registry != crate::frame::RegistryPlace::Nowhere)
    }
}

/// What is shown of an organisation.
#[derive(Clone)]
pub struct OrganisationShown {
    /// Its name in addresses.
    pub name: String,
    /// What the paths of its pages begin with.
    pub here: String,
    /// Its own host, if it has one.
    pub host: Option<String>,
    /// Its name for people.
    pub title: String,
    /// How it looks.
    pub look: OwnLook,
    /// Whether it issues credentials.
    pub issuer: bool,
    /// Whether it requests presentations.
    pub verifier: bool,
    /// Whether it issues the samples.
    pub samples: bool,
    /// Its state.
    pub state: OrganisationState,
    /// Its identifier as an issuer.
    pub identifier: String,
    /// Its DIDs, with what each is of if there are more than one.
    pub dids: Vec<(&'static str, String)>,
    /// When it was created; the organisation that every instance has was created with the instance.
    pub created: Option<String>,
    /// Its erasure, if one was ordered.
    pub erasure: Option<ErasureView>,
}

impl From<OrganisationView> for OrganisationShown {
    fn from(view: OrganisationView) -> Self {
        let look = OwnLook::of(&LookView {
            logo: view.logo,
            colour: view.colour,
        });
        Self {
            look,
            here: format!("/o/{}", view.name),
            host: view.host,
            name: view.name,
            title: view.title,
            issuer: view.issuer,
            verifier: view.verifier,
            samples: view.samples,
            state: view.state,
            identifier: view.identifier,
            dids: vec![("DID", view.did)],
            created: Some(view.created),
            erasure: view.erasure,
        }
    }
}

impl OrganisationShown {
    fn is_suspended(&self) -> bool {
        self.state == OrganisationState::Suspended
    }

    fn roles(&self) -> &'static str {
        match (self.issuer, self.verifier) {
            (true, true) => "issuer and verifier",
            (true, false) => "issuer",
            (false, true) => "verifier",
            (false, false) => "none",
        }
    }
}

/// What the visitor may do with an organisation.
#[derive(Clone, Copy, Debug, Default)]
pub struct OrganisationRights {
    /// Change it, suspend and reinstate it.
    pub administer: bool,
    /// Change how it looks.
    pub settle: bool,
    /// See its people.
    pub people: bool,
    /// See its credential types.
    pub types: bool,
    /// Issue credentials.
    pub issue: bool,
    /// Request presentations.
    pub verify: bool,
}

/// A change of an organisation that was refused.
pub struct RefusedChange {
    /// The form: `title`, `roles` or `look`.
    pub form: &'static str,
    /// What was typed.
    pub typed: TypedOrganisation,
    /// What is wrong.
    pub wrong: WrongFields,
}

/// The page of one organisation.
#[derive(Template)]
#[template(path = "organisation.html")]
pub struct OrganisationPage {
    frame: Frame,
    one: OrganisationShown,
    metadata: String,
    metadata_href: String,
    rights: OrganisationRights,
    is_new: bool,
    open: &'static str,
    typed: TypedOrganisation,
    wrong: WrongFields,
}

impl OrganisationPage {
    /// The page of this organisation, whose issuer's metadata are at this address.
    pub fn of(
        frame: Frame,
        one: OrganisationShown,
        metadata: &url::Url,
        rights: OrganisationRights,
    ) -> Self {
        Self {
            frame: frame.titled(one.title.clone()),
            typed: TypedOrganisation {
                title: one.title.clone(),
                issuer: one.issuer,
                verifier: one.verifier,
                samples: one.samples,
                colour: one.look.colour.clone(),
                ..TypedOrganisation::default()
            },
            metadata: metadata.to_string(),
            metadata_href: match one.host {
                Some(_) => metadata.to_string(),
                None => metadata.path().to_owned(),
            },
            one,
            rights,
            is_new: false,
            open: "",
            wrong: WrongFields::default(),
        }
    }

    /// The page just after the organisation was created, with the next steps.
    pub fn new_one(self) -> Self {
        Self {
            is_new: true,
            ..self
        }
    }

    /// The page again, with a change that was refused.
    pub fn refused(self, refused: RefusedChange) -> Self {
        let title = self.one.title.clone();
        Self {
            frame: self.frame.failed(&title),
            open: refused.form,
            typed: refused.typed,
            wrong: refused.wrong,
            ..self
        }
    }

    fn is_main(&self) -> bool {
        self.frame.here.is_empty()
    }
}
