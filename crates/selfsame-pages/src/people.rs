//! The pages of an organisation's people, their roles, and API keys.

use askama::Template;
use selfsame_driver::paging::Listing;
use selfsame_operators::view::{CreatedKey, KeyView, OperatorInvitation, PersonView};
use selfsame_operators::{Area, OperatorRole, Right};

use crate::Frame;
use crate::operator_role::{RoleWords, names};

/// The people and the API keys of an organisation.
#[derive(Template)]
#[template(path = "people.html")]
pub struct PeoplePage {
    frame: Frame,
    people: Vec<PersonRow>,
    more_people: Option<String>,
    keys: Vec<KeyRow>,
    more_keys: Option<String>,
    forms: Option<PeopleForms>,
}

/// The lists of that page.
pub struct PeopleLists {
    /// Who works for the organisation.
    pub people: Listing<PersonView>,
    /// Its API keys.
    pub keys: Listing<KeyView>,
    /// The present time, RFC 3339.
    pub now: String,
}

/// The roles and rights that the viewer of the page may give to others.
pub struct Giving {
    /// Roles.
    pub roles: Vec<OperatorRole>,
    /// Rights of API keys.
    pub scopes: Vec<Right>,
}

/// What was typed, if it was refused.
#[derive(Default)]
pub enum PeopleTyped {
    /// Nothing.
    #[default]
    Nothing,
    /// An invitation without a role that fits.
    Invitation {
        /// What the person can correct.
        problem: String,
    },
    /// An API key.
    Key {
        /// What the person can correct.
        problem: String,
        /// Its name.
        name: String,
        /// Its rights.
        scopes: Vec<String>,
        /// Days until it expires.
        days: String,
    },
}

struct PersonRow {
    id: String,
    email: String,
    roles: String,
    since: String,
}

struct KeyRow {
    key: KeyView,
    scopes: String,
    is_expired: bool,
}

struct PeopleForms {
    roles: Vec<RoleChoice>,
    areas: Vec<ScopesOfArea>,
    invitation_problem: Option<String>,
    key_problem: Option<String>,
    name: String,
    days: String,
}

/// A role that can be chosen.
struct RoleChoice {
    words: RoleWords,
    chosen: bool,
}

/// The rights in an area that can be chosen.
struct ScopesOfArea {
    title: &'static str,
    scopes: Vec<ScopeChoice>,
}

struct ScopeChoice {
    id: String,
    words: &'static str,
    chosen: bool,
}

impl PeoplePage {
    /// The page with these lists, and with forms for those who may give something.
    pub fn of(
        frame: Frame,
        lists: PeopleLists,
        giving: Option<&Giving>,
        typed: PeopleTyped,
    ) -> Self {
        let PeopleLists { people, keys, now } = lists;
        let frame = match typed {
            PeopleTyped::Nothing => frame.titled("People and keys"),
            _ => frame.failed("People and keys"),
        };
        let row = |key: KeyView| KeyRow {
            scopes: joined(&key.scopes),
            is_expired: key.expires <= now,
            key,
        };
        Self {
            frame,
            people: people.items.into_iter().map(PersonRow::from).collect(),
            more_people: people.next,
            keys: keys.items.into_iter().map(row).collect(),
            more_keys: keys.next,
            forms: giving.map(|giving| PeopleForms::of(giving, typed)),
        }
    }
}

impl From<PersonView> for PersonRow {
    fn from(person: PersonView) -> Self {
        Self {
            roles: names(&person.roles),
            id: person.id,
            email: person.email,
            since: person.since,
        }
    }
}

impl PeopleForms {
    fn of(giving: &Giving, typed: PeopleTyped) -> Self {
        let mut forms = Self {
            roles: choices(&giving.roles, &[]),
            areas: Vec::new(),
            invitation_problem: None,
            key_problem: None,
            name: String::new(),
            days: "90".to_owned(),
        };
        let mut chosen = Vec::new();
        match typed {
            PeopleTyped::Nothing => {}
            PeopleTyped::Invitation { problem } => forms.invitation_problem = Some(problem),
            PeopleTyped::Key {
                problem,
                name,
                scopes,
                days,
            } => {
                forms.key_problem = Some(problem);
                forms.name = name;
                forms.days = days;
                chosen = scopes;
            }
        }
        forms.areas = areas(&giving.scopes, &chosen);
        forms
    }
}

/// These roles as choices, with those of `held` chosen.
fn choices(roles: &[OperatorRole], held: &[OperatorRole]) -> Vec<RoleChoice> {
    let choice = |role: &OperatorRole| RoleChoice {
        words: RoleWords::from(*role),
        chosen: held.contains(role),
    };
    roles.iter().map(choice).collect()
}

/// The rights that are of use to a program, by their areas.
fn areas(rights: &[Right], chosen: &[String]) -> Vec<ScopesOfArea> {
    let of = |area: Area| {
        let (title, reads, writes) = described(area);
        let both = [(area.read(), reads), (area.write(), writes)];
        let offered = both.into_iter().filter(|(right, _)| rights.contains(right));
        let scopes = offered.filter_map(|(right, words)| {
            let id = right.to_string();
            Some(ScopeChoice {
                words: words?,
                chosen: chosen.contains(&id),
                id,
            })
        });
        let scopes: Vec<ScopeChoice> = scopes.collect();
        (!scopes.is_empty()).then_some(ScopesOfArea { title, scopes })
    };
    Area::ALL.into_iter().filter_map(of).collect()
}

/// The title of an area, and what can be read and changed in it; `None` where there is nothing.
fn described(area: Area) -> (&'static str, Option<&'static str>, Option<&'static str>) {
    match area {
        Area::Issuer => (
            "Issuer",
            Some("See offers and issued credentials"),
            Some("Make offers, suspend and revoke credentials"),
        ),
        Area::Verifier => (
            "Verifier",
            Some("See requests and the claims that people have shown"),
            Some("Request and check presentations"),
        ),
        Area::Types => (
            "Credential types",
            Some("See credential types"),
            Some("Draft, publish and retire credential types"),
        ),
        Area::Agent => (
            "Agent",
            Some("See the agent’s connections and invitations"),
            Some("Invite other agents, accept invitations, send messages, remove connections"),
        ),
        Area::Webhooks => (
            "Webhooks",
            Some("See webhooks and their deliveries"),
            Some("Create, change and test webhooks"),
        ),
        Area::People => (
            "People and keys",
            Some("See people, their roles and API keys"),
            Some("Invite people, change roles, create and revoke API keys"),
        ),
        Area::Audit => ("Audit trail", Some("Read the audit trail"), None),
        Area::Settings => (
            "Settings of the organisation",
            Some("See its logo, its colour and its trusted issuers"),
            Some("Change its logo, its colour and its trusted issuers"),
        ),
        Area::Organisations => (
            "Organisations",
            Some("See the organisations"),
            Some("Create, change and suspend organisations"),
        ),
        Area::Dids => (
            "DIDs",
            Some("See the DIDs of the instance"),
            Some("Create, rotate and deactivate DIDs"),
        ),
        Area::Wallets => ("Wallets", None, Some("Invite people to create a wallet")),
        Area::Registry => (
            "Registry",
            Some("See the state of the registry"),
            Some("Write to the registry"),
        ),
        Area::Instance => (
            "Instance",
            Some("See the state of the instance"),
            Some("Make backups"),
        ),
    }
}

fn joined(rights: &[Right]) -> String {
    let names: Vec<String> = rights.iter().map(Right::to_string).collect();
    names.join(", ")
}

/// One person, with the forms that change their roles and end their work.
#[derive(Template)]
#[template(path = "people_person.html")]
pub struct PersonPage {
    frame: Frame,
    id: String,
    email: String,
    roles: String,
    since: String,
    choices: Option<Vec<RoleChoice>>,
    is_writer: bool,
    problem: Option<String>,
}

impl PersonPage {
    /// The page of a person. It has forms only for a viewer who may give each of the person's roles.
    pub fn of(frame: Frame, person: PersonView, giving: Option<&Giving>) -> Self {
        let held = &person.roles;
        let changing = giving.filter(|giving| held.iter().all(|role| giving.roles.contains(role)));
        Self {
            frame: frame.titled(person.email.clone()),
            roles: names(held),
            choices: changing.map(|giving| choices(&giving.roles, held)),
            is_writer: giving.is_some(),
            id: person.id,
            email: person.email,
            since: person.since,
            problem: None,
        }
    }

    /// The page shown again, because what was chosen was refused.
    pub fn refused(mut self, problem: String) -> Self {
        self.frame = self.frame.failed(&self.email);
        self.problem = Some(problem);
        self
    }
}

/// A new invitation, whose link is shown once.
#[derive(Template)]
#[template(path = "people_invitation.html")]
pub struct InvitationPage {
    frame: Frame,
    organisation: String,
    roles: String,
    link: String,
}

impl InvitationPage {
    /// The page of an invitation to have these roles in the organisation with this title.
    pub fn of(
        frame: Frame,
        organisation: String,
        roles: &[OperatorRole],
        invitation: OperatorInvitation,
    ) -> Self {
        Self {
            frame: frame.titled("Invitation"),
            organisation,
            roles: names(roles),
            link: invitation.link,
        }
    }
}

/// A new API key, which is shown once.
#[derive(Template)]
#[template(path = "people_key.html")]
pub struct KeyPage {
    frame: Frame,
    created: CreatedKey,
    scopes: String,
}

impl KeyPage {
    /// The page of a key.
    pub fn of(frame: Frame, created: CreatedKey) -> Self {
        Self {
            frame: frame.titled("API key"),
            scopes: joined(&created.kept.scopes),
            created,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_right_that_someone_can_have_is_described() {
        let all: Vec<Right> = Right::all().collect();
        let offered: Vec<String> = areas(&all, &[])
            .into_iter()
            .flat_map(|area| area.scopes)
            .map(|scope| scope.id)
            .collect();
        let missing: Vec<String> = all
            .iter()
            .map(Right::to_string)
            .filter(|right| !offered.contains(right))
            .collect();
        assert_eq!(missing, ["audit:write", "wallets:read"]);
    }

    #[test]
    fn only_what_the_viewer_has_is_offered() {
        let offered = areas(&[Area::Issuer.write()], &["issuer:write".to_owned()]);
        assert_eq!(offered.len(), 1);
        assert_eq!(offered[0].scopes.len(), 1);
        assert!(offered[0].scopes[0].chosen);
    }
}
