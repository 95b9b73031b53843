//! People, invitations and keys, in a store in memory.

use std::net::IpAddr;
use std::sync::Arc;

use selfsame_accounts::Whence;
use selfsame_core::organisation::OrganisationName;
use selfsame_crypto::SecretString;
use selfsame_crypto::seal::SealingKey;
use selfsame_driver::clock::Clock;
use selfsame_driver::paging::Paging;
use selfsame_driver::{CpuPool, ErrorKind, Result};
use selfsame_store::{Memory, Store, Vault};

use crate::view::{CreatedKey, NewKey, OperatorInvitation};
use crate::{
    Acceptance, Area, Authority, OperatorRole, Operators, OperatorsParts, PersonAt, Right,
};

const PASSWORD: &str = "correct horse battery staple";
const DAY: u64 = 86_400;

struct World {
    operators: Operators,
    clock: Clock,
}

impl World {
    async fn new() -> Self {
        let clock = Clock::default();
        let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
        let now = clock.clone();
        let store =
            Store::open_with_clock(Arc::new(Memory::new()), vault, Arc::new(move || now.now()));
        let operators = Operators::new(OperatorsParts {
            store: store.await.unwrap(),
            clock: clock.clone(),
            work: CpuPool::new("test").unwrap(),
            origin: "https://host.example/".parse().unwrap(),
        });
        Self { operators, clock }
    }

    /// Invites a person by the operator token.
    async fn invitation(&self, organisation: &OrganisationName, role: OperatorRole) -> String {
        let invited = self
            .operators
            .invite(&Authority::token(), organisation, &[role])
            .await
            .unwrap();
        let (_, token) = invited.link.split_once("token=").unwrap();
        token.to_owned()
    }

    async fn accept(&self, token: &str, email: &str) -> Result<Authority> {
        let form = Acceptance {
            token,
            email,
            password: SecretString::new(PASSWORD.to_owned()),
        };
        let session = self.operators.accept(form, &whence()).await?;
        Ok(self.operators.of_session(&session.token).await?.unwrap())
    }

    async fn invite(
        &self,
        by: &Authority,
        organisation: &OrganisationName,
        role: OperatorRole,
    ) -> Result<OperatorInvitation> {
        self.operators.invite(by, organisation, &[role]).await
    }

    async fn key(
        &self,
        by: &Authority,
        organisation: &OrganisationName,
        scopes: &[Right],
    ) -> Result<CreatedKey> {
        let new = NewKey {
            name: "admissions".to_owned(),
            scopes: scopes.to_vec(),
            days: None,
        };
        self.operators.create_key(by, organisation, &new).await
    }

    /// A person with a role in an organisation.
    async fn person(&self, organisation: &OrganisationName, role: OperatorRole) -> Authority {
        let token = self.invitation(organisation, role).await;
        let email = format!("{}@{organisation}.example", role.as_str());
        self.accept(&token, &email).await.unwrap()
    }
}

fn whence() -> Whence {
    Whence::of(IpAddr::from([127, 0, 0, 1]), None)
}

fn acme() -> OrganisationName {
    OrganisationName::parse("acme").unwrap()
}

fn other() -> OrganisationName {
    OrganisationName::parse("other").unwrap()
}

#[tokio::test]
async fn a_person_has_the_rights_of_their_role_in_their_organisation_alone() {
    let world = World::new().await;
    let issuer = world.person(&acme(), OperatorRole::Issuer).await;
    assert!(issuer.may(&acme(), Area::Issuer.write()));
    assert!(!issuer.may(&acme(), Area::Verifier.read()));
    assert!(issuer.rights(&other()).is_empty());
    assert!(issuer.rights(&OrganisationName::main()).is_empty());
}

#[tokio::test]
async fn an_administrator_appoints_in_every_organisation_and_issues_in_none() {
    let world = World::new().await;
    let main = OrganisationName::main();
    let administrator = world.person(&main, OperatorRole::Administrator).await;
    assert!(administrator.may(&main, Area::Organisations.write()));
    assert!(administrator.may(&acme(), Area::People.write()));
    assert!(!administrator.may(&acme(), Area::Organisations.write()));
    assert!(!administrator.may(&main, Area::Issuer.write()));
    let invited = world
        .invite(&administrator, &acme(), OperatorRole::Owner)
        .await;
    assert!(invited.is_ok());
}

#[tokio::test]
async fn an_invitation_works_once_and_within_a_week() {
    let world = World::new().await;
    let token = world.invitation(&acme(), OperatorRole::Issuer).await;
    assert!(world.operators.invited(&token).await.is_ok());
    world.accept(&token, "a@acme.example").await.unwrap();
    let again = world.accept(&token, "b@acme.example").await.unwrap_err();
    assert_eq!(again.kind, ErrorKind::Gone);
    let late = world.invitation(&acme(), OperatorRole::Issuer).await;
    world.clock.advance(7 * DAY);
    let late = world.accept(&late, "c@acme.example").await.unwrap_err();
    assert_eq!(late.reason.id(), "operator-invitation-over");
    let never = world.operators.invited("never").await.unwrap_err();
    assert_eq!(never.kind, ErrorKind::Gone);
}

#[tokio::test]
async fn a_weak_password_leaves_the_invitation_as_it_was() {
    let world = World::new().await;
    let token = world.invitation(&acme(), OperatorRole::Issuer).await;
    let form = Acceptance {
        token: &token,
        email: "a@acme.example",
        password: SecretString::new("short".to_owned()),
    };
    let weak = world.operators.accept(form, &whence()).await;
    assert_eq!(weak.err().unwrap().kind, ErrorKind::BadRequest);
    assert!(world.accept(&token, "a@acme.example").await.is_ok());
}

#[tokio::test]
async fn a_person_with_an_account_joins_a_second_organisation_by_their_password() {
    let world = World::new().await;
    let first = world.invitation(&acme(), OperatorRole::Issuer).await;
    world.accept(&first, "a@acme.example").await.unwrap();
    let second = world.invitation(&other(), OperatorRole::Auditor).await;
    let wrong = Acceptance {
        token: &second,
        email: "A@acme.example",
        password: SecretString::new("another horse battery".to_owned()),
    };
    let refused = world.operators.accept(wrong, &whence()).await;
    assert_eq!(refused.err().unwrap().kind, ErrorKind::Unauthenticated);
    let both = world.accept(&second, "A@acme.example").await.unwrap();
    assert!(both.may(&acme(), Area::Issuer.write()));
    assert!(both.may(&other(), Area::Audit.read()));
    assert!(!both.may(&other(), Area::Issuer.read()));
}

#[tokio::test]
async fn people_give_and_take_only_rights_that_they_have() {
    let world = World::new().await;
    let main = OrganisationName::main();
    let owner = world.person(&main, OperatorRole::Owner).await;
    let auditor = world.person(&main, OperatorRole::Auditor).await;
    let administrator = world.person(&main, OperatorRole::Administrator).await;
    let raised = world
        .invite(&owner, &main, OperatorRole::Administrator)
        .await;
    assert_eq!(raised.unwrap_err().kind, ErrorKind::Forbidden);
    let invited = world.invite(&auditor, &main, OperatorRole::Owner).await;
    assert_eq!(invited.unwrap_err().kind, ErrorKind::Forbidden);
    let crate::Actor::Person { id, .. } = &administrator.actor else {
        panic!("a person");
    };
    let place = PersonAt {
        organisation: &main,
        person: id,
    };
    let removed = world.operators.remove_person(&owner, place).await;
    assert_eq!(removed.unwrap_err().kind, ErrorKind::Forbidden);
    let elsewhere = world
        .invite(&administrator, &acme(), OperatorRole::Administrator)
        .await;
    assert_eq!(elsewhere.unwrap_err().reason.id(), "role-elsewhere");
}

#[tokio::test]
async fn a_removed_person_has_no_rights_from_then_on() {
    let world = World::new().await;
    let token = world.invitation(&acme(), OperatorRole::Owner).await;
    let form = Acceptance {
        token: &token,
        email: "a@acme.example",
        password: SecretString::new(PASSWORD.to_owned()),
    };
    let session = world.operators.accept(form, &whence()).await.unwrap();
    let people = world
        .operators
        .people(&acme(), &Paging::default())
        .await
        .unwrap();
    let organisation = acme();
    let place = PersonAt {
        organisation: &organisation,
        person: &people.items[0].id,
    };
    let token = Authority::token();
    let changed = world
        .operators
        .set_roles(&token, place, &[OperatorRole::Auditor])
        .await;
    assert_eq!(changed.unwrap().roles, [OperatorRole::Auditor]);
    let held = world
        .operators
        .of_session(&session.token)
        .await
        .unwrap()
        .unwrap();
    assert!(!held.may(&acme(), Area::Issuer.write()));
    world.operators.remove_person(&token, place).await.unwrap();
    let held = world
        .operators
        .of_session(&session.token)
        .await
        .unwrap()
        .unwrap();
    assert!(held.rights(&acme()).is_empty());
}

#[tokio::test]
async fn a_key_has_its_scopes_until_it_expires_or_is_revoked() {
    let world = World::new().await;
    let owner = world.person(&acme(), OperatorRole::Owner).await;
    let scopes = [Area::Issuer.write()];
    let made = world.key(&owner, &acme(), &scopes).await.unwrap();
    let held = world.operators.of_key(&made.key).await.unwrap().unwrap();
    assert!(held.may(&acme(), Area::Issuer.write()));
    assert!(!held.may(&acme(), Area::Issuer.read()));
    assert!(held.rights(&other()).is_empty());
    let listed = world
        .operators
        .keys(&acme(), &Paging::default())
        .await
        .unwrap();
    assert!(listed.items[0].used.is_some());
    let elsewhere = world
        .operators
        .revoke_key(&owner, &other(), &made.kept.id)
        .await;
    assert_eq!(elsewhere.unwrap_err().kind, ErrorKind::NotFound);
    world
        .operators
        .revoke_key(&owner, &acme(), &made.kept.id)
        .await
        .unwrap();
    assert!(world.operators.of_key(&made.key).await.unwrap().is_none());
    let made = world.key(&owner, &acme(), &scopes).await.unwrap();
    world.clock.advance(90 * DAY);
    assert!(world.operators.of_key(&made.key).await.unwrap().is_none());
}

#[tokio::test]
async fn a_key_that_differs_in_one_character_is_refused() {
    let world = World::new().await;
    let owner = world.person(&acme(), OperatorRole::Owner).await;
    let made = world.key(&owner, &acme(), &[Area::Types.read()]).await;
    let mut wrong = made.unwrap().key;
    let last = if wrong.pop() == Some('A') { 'B' } else { 'A' };
    wrong.push(last);
    assert!(world.operators.of_key(&wrong).await.unwrap().is_none());
    for none in [
        "",
        "selfsame_",
        "selfsame_0123",
        "selfsame_0123_x",
        "Bearer",
    ] {
        assert!(
            world.operators.of_key(none).await.unwrap().is_none(),
            "{none}"
        );
    }
}

#[tokio::test]
async fn a_key_is_never_wider_than_its_creator() {
    let world = World::new().await;
    let issuer = world.person(&acme(), OperatorRole::Issuer).await;
    let wide = world.key(&issuer, &acme(), &[Area::Verifier.read()]).await;
    let refused = wide.err().unwrap();
    assert_eq!(refused.reason.id(), "right-missing");
    let token = Authority::token();
    let none = world.key(&token, &acme(), &[]).await;
    assert_eq!(none.err().unwrap().reason.id(), "key-scopes-needed");
    let of_instance = world.key(&token, &acme(), &[Area::Instance.read()]).await;
    assert_eq!(of_instance.err().unwrap().reason.id(), "right-elsewhere");
}
