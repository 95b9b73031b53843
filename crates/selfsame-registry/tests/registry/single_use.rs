//! Single use and delegated revocation: a doctor, a pharmacy, and attempts to cheat.

use selfsame_crypto::KeyType;
use selfsame_did::Did;
use selfsame_registry::refusal::{AuthorFault, DelegationFault};
use selfsame_registry::single_use::{Action, Consume, Consumption, Delegation, use_digest};
use selfsame_registry::{Operation, Receipt, Refusal, Rules};

use crate::world::{Actor, Answer, World};

const PRESCRIPTION: &str = "https://credentials.example/prescription";
const HANDLE: [u8; 32] = [7; 32];

struct Scene {
    world: World,
    doctor: Actor,
    pharmacy: Actor,
    stranger: Actor,
}

impl Scene {
    fn new() -> Self {
        Self::with_rules(Rules::default())
    }

    fn with_rules(rules: Rules) -> Self {
        let mut world = World::with_rules(rules);
        let [doctor, pharmacy, stranger] = [(); 3].map(|()| world.registered(KeyType::Ed25519));
        Self {
            world,
            doctor,
            pharmacy,
            stranger,
        }
    }

    fn delegation(&self, action: Action) -> Delegation {
        Delegation {
            name: action.name().to_owned(),
            to: self.pharmacy.id,
            scope: vec![PRESCRIPTION.to_owned()],
            action,
            until: self.world.time.plus(1_000),
        }
    }

    fn delegate(&mut self, delegation: Delegation) -> Answer {
        let operation = Operation::Delegate(delegation);
        self.world.act(&mut self.doctor, vec![operation])
    }

    fn with_delegation(action: Action) -> Self {
        let mut scene = Self::new();
        scene.delegate(scene.delegation(action)).unwrap();
        scene
    }

    fn consume(&self, action: Action) -> Consume {
        Consume {
            issuer: self.doctor.id,
            kind: PRESCRIPTION.to_owned(),
            handle: HANDLE,
            action,
            delegation: Some(action.name().to_owned()),
        }
    }

    fn by_pharmacy(&mut self, consume: Consume) -> Answer {
        self.world
            .act(&mut self.pharmacy, vec![Operation::Consume(consume)])
    }

    fn by_doctor(&mut self, consume: Consume) -> Answer {
        self.world
            .act(&mut self.doctor, vec![Operation::Consume(consume)])
    }

    fn doctor(&self) -> Did {
        self.world.did(&self.doctor)
    }

    fn found(&self) -> Option<Consumption> {
        let digest = use_digest(PRESCRIPTION, &HANDLE);
        let (machine, state) = (&self.world.machine, &self.world.state);
        machine.consumption(state, &self.doctor(), &digest).unwrap()
    }
}

fn refused(fault: DelegationFault) -> Answer {
    Err(Refusal::Delegation(fault))
}

fn used(receipt: Receipt) -> Answer {
    Err(Refusal::Used { receipt })
}

#[test]
fn a_pharmacy_spends_a_prescription_once_and_everybody_sees_who_did_it_and_when() {
    let mut scene = Scene::with_delegation(Action::Consume);
    assert_eq!(scene.found(), None);
    let consume = scene.consume(Action::Consume);
    let first = scene.by_pharmacy(consume.clone()).unwrap();
    let found = scene.found().unwrap();
    assert_eq!(
        found,
        Consumption {
            action: Action::Consume,
            kind: PRESCRIPTION.to_owned(),
            by: scene.pharmacy.id,
            delegation: Some("consume".to_owned()),
            receipt: first,
        }
    );
    // A second use, anywhere and by anyone, gets only the first receipt.
    assert_eq!(scene.by_pharmacy(consume.clone()), used(first));
    let own = Consume {
        delegation: None,
        ..consume
    };
    assert_eq!(scene.by_doctor(own), used(first));
    assert_eq!(scene.found(), Some(found));
}

#[test]
fn of_two_pharmacies_in_one_block_the_first_wins() {
    let mut scene = Scene::with_delegation(Action::Consume);
    let mut other = scene.world.registered(KeyType::P256);
    let second = Delegation {
        name: "other".to_owned(),
        to: other.id,
        ..scene.delegation(Action::Consume)
    };
    scene.delegate(second).unwrap();
    let network = scene.world.network().clone();
    let consume = scene.consume(Action::Consume);
    let theirs = Consume {
        delegation: Some("other".to_owned()),
        ..consume.clone()
    };
    let both = [
        other.sign(&network, Operation::Consume(theirs)),
        scene.pharmacy.sign(&network, Operation::Consume(consume)),
    ];
    let results = scene.world.block(&both).results;
    let first = results[0].unwrap();
    assert_eq!(results[1], used(first));
    assert_eq!(scene.found().unwrap().by, other.id);
}

#[test]
fn a_delegate_revokes_within_what_was_delegated_and_the_issuer_without_delegation() {
    let mut scene = Scene::with_delegation(Action::Revoke);
    let revoke = scene.consume(Action::Revoke);
    let receipt = scene.by_pharmacy(revoke.clone()).unwrap();
    let found = scene.found().unwrap();
    assert_eq!((found.action, found.receipt), (Action::Revoke, receipt));
    // A revoked credential can't be used.
    scene.delegate(scene.delegation(Action::Consume)).unwrap();
    let spend = scene.consume(Action::Consume);
    assert_eq!(scene.by_pharmacy(spend), used(receipt));

    let mut scene = Scene::new();
    let own = Consume {
        delegation: None,
        ..scene.consume(Action::Revoke)
    };
    scene.by_doctor(own).unwrap();
    assert_eq!(scene.found().unwrap().by, scene.doctor.id);
}

#[test]
fn a_delegate_spends_only_what_was_delegated() {
    let mut scene = Scene::with_delegation(Action::Consume);
    let consume = scene.consume(Action::Consume);
    let (mut stranger, kind) = (Actor::new(KeyType::Ed25519), "another".to_owned());
    std::mem::swap(&mut stranger, &mut scene.stranger);
    let by_stranger = scene
        .world
        .act(&mut stranger, vec![Operation::Consume(consume.clone())]);
    assert_eq!(by_stranger, refused(DelegationFault::Delegate));
    let revoke = Consume {
        action: Action::Revoke,
        ..consume.clone()
    };
    assert_eq!(scene.by_pharmacy(revoke), refused(DelegationFault::Action));
    let other = Consume {
        kind,
        ..consume.clone()
    };
    assert_eq!(scene.by_pharmacy(other), refused(DelegationFault::Scope));
    let nameless = |name: Option<&str>| Consume {
        delegation: name.map(str::to_owned),
        ..consume.clone()
    };
    for name in [None, Some("nothing"), Some(""), Some("a/b"), Some("v/1")] {
        let answer = scene.by_pharmacy(nameless(name));
        assert_eq!(answer, refused(DelegationFault::Unknown), "{name:?}");
    }
    let needless = consume.clone();
    assert_eq!(
        scene.by_doctor(needless),
        refused(DelegationFault::Needless)
    );
    assert_eq!(scene.found(), None);
}

#[test]
fn stating_another_type_to_stay_in_scope_spends_nothing() {
    let mut scene = Scene::with_delegation(Action::Consume);
    // The credential is a sick note. The pharmacy may only use up prescriptions, and states a false type.
    let lie = scene.consume(Action::Consume);
    scene.by_pharmacy(lie).unwrap();
    let digest = use_digest("https://credentials.example/sick-note", &HANDLE);
    let (machine, state) = (&scene.world.machine, &scene.world.state);
    let note = machine.consumption(state, &scene.doctor(), &digest);
    assert_eq!(note, Ok(None));
}

#[test]
fn types_and_handles_do_not_run_into_each_other() {
    let mut handle = HANDLE;
    handle[0] = b'b';
    assert_ne!(use_digest("a", &handle), use_digest("ab", &handle));
    assert_ne!(use_digest("a", &handle), use_digest("a", &HANDLE));
}

#[test]
fn a_delegation_ends_when_it_says() {
    let mut scene = Scene::with_delegation(Action::Consume);
    scene.world.time = scene.world.time.plus(1_000);
    let consume = scene.consume(Action::Consume);
    assert_eq!(
        scene.by_pharmacy(consume.clone()),
        refused(DelegationFault::Expired)
    );
    let mut scene = Scene::with_delegation(Action::Consume);
    scene.world.time = scene.world.time.plus(999);
    let consume = scene.consume(Action::Consume);
    assert!(scene.by_pharmacy(consume).is_ok());
}

#[test]
fn a_delegation_ends_when_it_is_withdrawn_and_what_was_done_before_stays() {
    let mut scene = Scene::with_delegation(Action::Consume);
    let consume = scene.consume(Action::Consume);
    scene.by_pharmacy(consume.clone()).unwrap();
    let name = "consume".to_owned();
    let withdraw = vec![Operation::WithdrawDelegation { name }];
    let receipt = scene
        .world
        .act(&mut scene.doctor, withdraw.clone())
        .unwrap();
    let next = Consume {
        handle: [8; 32],
        ..consume
    };
    assert_eq!(scene.by_pharmacy(next), refused(DelegationFault::Withdrawn));
    assert!(scene.found().is_some());
    let (machine, state) = (&scene.world.machine, &scene.world.state);
    let given = machine.delegation(state, &scene.doctor(), "consume");
    assert_eq!(given.unwrap().unwrap().withdrawn, Some(receipt));
    assert_eq!(
        scene.world.act(&mut scene.doctor, withdraw.clone()),
        refused(DelegationFault::Withdrawn)
    );
    // A delegation belongs to its delegator: no other author can address it by its name.
    assert_eq!(
        scene.world.act(&mut scene.pharmacy, withdraw),
        refused(DelegationFault::Unknown)
    );
    let again = scene.delegation(Action::Consume);
    assert_eq!(scene.delegate(again), refused(DelegationFault::NameUsed));
}

#[test]
fn a_delegation_ends_with_the_did_of_its_issuer_or_of_its_delegate() {
    let mut scene = Scene::with_delegation(Action::Consume);
    let consume = scene.consume(Action::Consume);
    let end = vec![Operation::DeactivateDid { version: 2 }];
    scene.world.act(&mut scene.doctor, end.clone()).unwrap();
    let gone = Err(Refusal::Author(AuthorFault::Deactivated));
    assert_eq!(scene.by_pharmacy(consume), gone);
    let mut scene = Scene::with_delegation(Action::Consume);
    let consume = scene.consume(Action::Consume);
    scene.world.act(&mut scene.pharmacy, end).unwrap();
    assert_eq!(scene.by_pharmacy(consume), gone);
}

#[test]
fn delegations_that_are_malformed_or_without_bounds_are_refused() {
    let mut scene = Scene::with_rules(Rules {
        max_scope: 2,
        max_delegation: 500,
        ..Rules::default()
    });
    let now = scene.world.time;
    let good = Delegation {
        until: now.plus(500),
        ..scene.delegation(Action::Consume)
    };
    let named = |name: &str| Delegation {
        name: name.to_owned(),
        ..good.clone()
    };
    let scoped = |scope: &[&str]| Delegation {
        scope: scope.iter().map(|kind| (*kind).to_owned()).collect(),
        ..good.clone()
    };
    let until = |until| Delegation {
        until,
        ..good.clone()
    };
    let stranger = Delegation {
        to: Actor::new(KeyType::Ed25519).id,
        ..good.clone()
    };
    let long = "a".repeat(257);
    for (bad, fault) in [
        (named(""), DelegationFault::Malformed),
        (named("a/b"), DelegationFault::Malformed),
        (scoped(&[]), DelegationFault::Malformed),
        (scoped(&["a", "b", "c"]), DelegationFault::Malformed),
        (scoped(&[""]), DelegationFault::Malformed),
        (scoped(&["a b"]), DelegationFault::Malformed),
        (scoped(&[long.as_str()]), DelegationFault::Malformed),
        (until(now), DelegationFault::Until),
        (until(now.plus(501)), DelegationFault::Until),
        (stranger, DelegationFault::Delegate),
    ] {
        assert_eq!(scene.delegate(bad.clone()), refused(fault), "{bad:?}");
    }
    assert!(scene.delegate(good).is_ok());
}
