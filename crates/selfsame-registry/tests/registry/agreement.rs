//! Tests of the author agreement.

use selfsame_crypto::KeyType;
use selfsame_registry::network::{Acceptance, Agreement, Mode};
use selfsame_registry::refusal::AgreementFault;
use selfsame_registry::{Operation, Refusal};

use crate::world::{Actor, Answer, START, World};

pub fn agreement(version: &str) -> Agreement {
    Agreement {
        version: version.to_owned(),
        digest: [9; 32],
        mechanisms: vec!["on_file".to_owned(), "click".to_owned()],
    }
}

fn acceptance(version: &str) -> Acceptance {
    Acceptance {
        version: version.to_owned(),
        digest: [9; 32],
        mechanism: "click".to_owned(),
        day: START.0 / 86_400,
    }
}

/// Creates a DID with this acceptance.
fn create(world: &mut World, accepted: Option<Acceptance>) -> Answer {
    let network = world.network().clone();
    let mut actor = Actor::new(KeyType::Ed25519);
    let content = actor.content();
    let mut body = actor.body(&network, vec![Operation::CreateDid(content)]);
    body.agreement = accepted;
    let tx = actor.transaction(body, None);
    world.submit(tx)
}

fn refused(fault: AgreementFault) -> Answer {
    Err(Refusal::Agreement(fault))
}

#[test]
fn once_an_agreement_is_in_force_authors_have_to_accept_it() {
    let (mut world, [mut trustee, ..]) = World::governed(Mode::Open);
    assert!(create(&mut world, None).is_ok());
    assert_eq!(
        create(&mut world, Some(acceptance("1"))),
        refused(AgreementFault::NoneInForce)
    );
    let set = vec![Operation::SetAgreement(Some(agreement("1")))];
    world.act(&mut trustee, set).unwrap();
    assert_eq!(create(&mut world, None), refused(AgreementFault::Missing));
    assert!(create(&mut world, Some(acceptance("1"))).is_ok());
    let good = acceptance("1");
    for (bad, fault) in [
        (acceptance("2"), AgreementFault::Other),
        (
            Acceptance {
                digest: [8; 32],
                ..good.clone()
            },
            AgreementFault::Other,
        ),
        (
            Acceptance {
                mechanism: "nod".to_owned(),
                ..good.clone()
            },
            AgreementFault::Mechanism,
        ),
        (
            Acceptance {
                day: good.day - 1,
                ..good.clone()
            },
            AgreementFault::Day,
        ),
        (
            Acceptance {
                day: good.day + 1,
                ..good
            },
            AgreementFault::Day,
        ),
    ] {
        assert_eq!(create(&mut world, Some(bad)), refused(fault));
    }
}

#[test]
fn a_new_agreement_takes_the_place_of_the_old_and_both_stay_readable() {
    let (mut world, [mut trustee, ..]) = World::governed(Mode::Open);
    for set in [Some(agreement("1")), Some(agreement("2")), None] {
        // Governance needs no acceptance; otherwise a bad agreement could not be replaced.
        world
            .act(&mut trustee, vec![Operation::SetAgreement(set.clone())])
            .unwrap();
        let in_force = world.machine.agreement(&world.state).unwrap();
        assert_eq!(in_force.and_then(|in_force| in_force.agreement), set);
    }
    assert!(create(&mut world, None).is_ok());
    let all = world.machine.agreements(&world.state, 9).unwrap();
    let versions: Vec<_> = all
        .into_iter()
        .map(|set| set.agreement.map(|agreement| agreement.version))
        .collect();
    assert_eq!(versions, [Some("1".to_owned()), Some("2".to_owned()), None]);
}

#[test]
fn agreements_that_no_author_could_accept_are_refused() {
    let (mut world, [mut trustee, ..]) = World::governed(Mode::Open);
    let bad = |version: &str, mechanisms: Vec<String>| Agreement {
        mechanisms,
        ..agreement(version)
    };
    let some = || vec!["click".to_owned()];
    for agreement in [
        bad("", some()),
        bad("a b", some()),
        bad("1", vec![]),
        bad("1", vec![String::new()]),
        bad("1", vec!["m".to_owned(); 17]),
    ] {
        let set = vec![Operation::SetAgreement(Some(agreement))];
        assert_eq!(
            world.act(&mut trustee, set),
            refused(AgreementFault::Malformed)
        );
    }
    let none = vec![Operation::SetAgreement(None)];
    assert_eq!(
        world.act(&mut trustee, none),
        refused(AgreementFault::NoneInForce)
    );
    let set = vec![Operation::SetAgreement(Some(agreement("1")))];
    world.act(&mut trustee, set.clone()).unwrap();
    assert_eq!(
        world.act(&mut trustee, set),
        refused(AgreementFault::VersionUsed)
    );
}
