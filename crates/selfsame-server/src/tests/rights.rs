//! Roles and API keys: each address admits exactly those who have the right that it states.

use http::{Method, StatusCode};
use selfsame_accounts::Whence;
use selfsame_app::config::Roles;
use selfsame_core::organisation::OrganisationName;
use selfsame_crypto::SecretString;
use selfsame_operators::view::NewKey;
use selfsame_operators::{Acceptance, Area, Authority, Needed, OperatorRole, Right, Rights};

use super::instance::{Answered, Call, Instance, call};
use super::organisations::with_acme;
use crate::audience::Audience;
use crate::auth::person_session;
use crate::router::group::Routes;
use crate::router::groups;

const OPERATORS: [Audience; 4] = [
    Audience::Operator,
    Audience::OperatorApi,
    Audience::OperatorStream,
    Audience::OperatorWait,
];

/// The addresses of operators: the method, the address, and what it needs.
fn addresses(of_organisations: bool) -> Vec<(Method, String, Option<Needed>)> {
    let mut all = Vec::new();
    for group in groups(&Roles::ALL) {
        if !OPERATORS.contains(&group.audience) || of_organisations && !group.is_of_organisations()
        {
            continue;
        }
        for route in &group.routes {
            let places = route.path.split('/');
            let places = places.map(|place| if place.starts_with('{') { "1" } else { place });
            let path = places.collect::<Vec<_>>().join("/");
            all.push((route.method.clone(), path, group.needed(&route.method)));
        }
    }
    assert!(all.len() > 25, "only {} addresses", all.len());
    all
}

fn is_refused_for_its_rights(answer: &Answered) -> bool {
    let told = [
        "his needs the right",
        "ou have no right in the organisation",
    ];
    answer.status == StatusCode::FORBIDDEN && told.iter().any(|told| answer.body.contains(told))
}

/// Whether these rights are not enough.
fn lacks(rights: Rights, needed: Option<Needed>) -> bool {
    match needed {
        Some(Needed::Right(right)) => !rights.has(right),
        Some(Needed::Any) => rights.is_empty(),
        None => false,
    }
}

impl Instance {
    /// A key with one right in an organisation.
    async fn key(&self, organisation: &OrganisationName, right: Right) -> String {
        let new = NewKey {
            name: right.to_string(),
            scopes: vec![right],
            days: None,
        };
        let operators = self.app.operators();
        let token = Authority::token();
        let made = operators.create_key(&token, organisation, &new).await;
        made.unwrap().key
    }

    /// The cookie of a person with a role in an organisation.
    pub async fn person_with(&self, organisation: &OrganisationName, role: OperatorRole) -> String {
        let operators = self.app.operators();
        let token = Authority::token();
        let invited = operators.invite(&token, organisation, &[role]).await;
        let link = invited.unwrap().link;
        let email = format!("{}@{organisation}.example", role.as_str());
        let form = Acceptance {
            token: link.split_once("token=").unwrap().1,
            email: &email,
            password: SecretString::new("a long password".to_owned()),
        };
        let whence = Whence::of([127, 0, 0, 1].into(), None);
        let session = operators.accept(form, &whence).await.unwrap();
        let cookie = person_session(&session.token);
        format!("selfsame-operator-7380={cookie}")
    }

    /// Calls every address of operators, and says which refused the caller for its rights.
    async fn tries(&self, prefix: &str, as_caller: impl Fn(Call) -> Call) -> Vec<String> {
        let mut wrong = Vec::new();
        for (method, path, needed) in addresses(!prefix.is_empty()) {
            let asked = call(method.clone(), &format!("{prefix}{path}"));
            let answer = self.call(as_caller(asked)).await;
            assert_ne!(answer.status, StatusCode::UNAUTHORIZED, "{method} {path}");
            let right = match needed {
                Some(Needed::Right(right)) => right.to_string(),
                Some(Needed::Any) => "any".to_owned(),
                None => "none".to_owned(),
            };
            if is_refused_for_its_rights(&answer) {
                wrong.push(format!("{method} {path} {right}"));
            }
        }
        wrong
    }
}

fn rights_of(refused: &[String]) -> Vec<&str> {
    let rights = refused.iter().filter_map(|line| line.rsplit(' ').next());
    rights.collect()
}

#[test]
fn each_address_of_operators_states_a_right_but_those_about_oneself() {
    let without: Vec<_> = addresses(false)
        .into_iter()
        .filter(|(_, _, needed)| needed.is_none())
        .map(|(method, path, _)| format!("{method} {path}"))
        .collect();
    let about_oneself = [
        "POST /operator/sign-out",
        "GET /operator/account",
        "POST /operator/account/passkeys",
        "POST /operator/account/passkeys/add",
        "POST /operator/account/passkeys/1/name",
        "POST /operator/account/passkeys/1/remove",
        "GET /api/me",
    ];
    assert_eq!(without, about_oneself);
}

#[test]
fn what_any_right_opens_is_only_read_and_is_the_page_of_an_organisation_and_its_export() {
    let of_any: Vec<_> = addresses(false)
        .into_iter()
        .filter(|(_, _, needed)| matches!(needed, Some(Needed::Any)))
        .map(|(method, path, _)| format!("{method} {path}"))
        .collect();
    let read = [
        "GET /organisation",
        "GET /api/export",
        "GET /organisation/export",
    ];
    assert_eq!(of_any, read);
    let open = Routes::of(Audience::Operator, Vec::new());
    let open = open
        .needing(Area::Organisations)
        .read_by_all_who_work_here();
    for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
        let needed = open.needed(&method);
        let write = Area::Organisations.write();
        assert!(matches!(needed, Some(Needed::Right(right)) if right == write));
    }
}

#[tokio::test]
async fn a_key_opens_the_addresses_of_its_scope_and_no_other() {
    let instance = Instance::start().await;
    let main = OrganisationName::main();
    for right in Right::all() {
        let key = instance.key(&main, right).await;
        let refused = instance.tries("", |asked| asked.bearer(&key)).await;
        let own = right.to_string();
        let rights = Rights::of(&[right]);
        let all = addresses(false).into_iter();
        let expected = all.filter(|(_, _, needed)| lacks(rights, *needed));
        assert!(!rights_of(&refused).contains(&own.as_str()), "{refused:?}");
        assert_eq!(refused.len(), expected.count(), "{own}");
    }
}

#[tokio::test]
async fn a_person_opens_the_addresses_of_their_role_and_no_other() {
    let instance = Instance::start().await;
    let main = OrganisationName::main();
    for role in OperatorRole::ALL {
        let cookie = instance.person_with(&main, role).await;
        let refused = instance.tries("", |asked| asked.cookie(&cookie)).await;
        let all = addresses(false).into_iter();
        let expected = all.filter(|(_, _, needed)| lacks(role.rights(), *needed));
        assert_eq!(refused.len(), expected.count(), "{role:?}: {refused:?}");
    }
}

#[tokio::test]
async fn people_and_keys_of_one_organisation_have_no_rights_in_another() {
    let instance = with_acme().await;
    let acme = OrganisationName::parse("acme").unwrap();
    let main = OrganisationName::main();
    for (own, prefix, other) in [(&acme, "/o/acme", ""), (&main, "", "/o/acme")] {
        let owner = instance.person_with(own, OperatorRole::Owner).await;
        let here = instance.tries(prefix, |asked| asked.cookie(&owner)).await;
        let here = rights_of(&here);
        assert!(!here.contains(&"issuer:write") && !here.contains(&"people:write"));
        let there = instance.tries(other, |asked| asked.cookie(&owner)).await;
        let all = addresses(!other.is_empty());
        let needing = all.iter().filter(|(_, _, needed)| needed.is_some());
        assert_eq!(there.len(), needing.count());
    }
}

#[tokio::test]
async fn a_key_creates_no_key_that_is_wider_than_itself() {
    let instance = Instance::start().await;
    let main = OrganisationName::main();
    let right = Right::parse("people:write").unwrap();
    let key = instance.key(&main, right).await;
    let wider = r#"{"name": "wider", "scopes": ["issuer:write"]}"#;
    let asked = call(Method::POST, "/api/keys").bearer(&key).json(wider);
    assert!(is_refused_for_its_rights(&instance.call(asked).await));
    let own = r#"{"name": "own", "scopes": ["people:write"]}"#;
    let asked = call(Method::POST, "/api/keys").bearer(&key).json(own);
    assert_eq!(instance.call(asked).await.status, StatusCode::CREATED);
    let unknown = r#"{"name": "own", "scopes": ["people:all"]}"#;
    let asked = call(Method::POST, "/api/keys").bearer(&key).json(unknown);
    let answer = instance.call(asked).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.body.contains("scopes[0]"), "{}", answer.body);
}
