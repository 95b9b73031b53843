//! Permissions: every role, act, owner and mode against a handwritten table; and again through the machine for each
//! cell whose act can be put into a transaction.

use selfsame_crypto::{KeyType, PrivateKey, PublicKey};
use selfsame_registry::content::ContentFault;
use selfsame_registry::network::{Act, Mode, Role, Whose};
use selfsame_registry::refusal::{AuthorFault, DelegationFault, SignatureFault};
use selfsame_registry::resource::{Resource, ResourceData, ResourceId};
use selfsame_registry::single_use::{Action, Consume, Delegation};
use selfsame_registry::{Content, Identifier, Operation, Refusal, Rules};

use crate::anoncreds::Published;
use crate::world::{Actor, Answer, World, no_point, validator};

/// For trustee, steward, endorser, no role: `y` allowed, `.` not allowed, `e` allowed if a member endorses it.
/// Columns: own object in mode open, other's in mode open, own in mode endorsed, other's in mode endorsed.
const EXPECTED: &str = "
    CreateDid         yyyy yyy. yyye yyy.
    ChangeDid         yyyy .... yyyy ....
    AnchorStatus      yyyy .... yyyy ....
    AddTrustee        y... y... y... y...
    AddSteward        y... y... y... y...
    AddEndorser       yy.. yy.. yy.. yy..
    TakeRole          y... y... y... y...
    PublishSchema     yyyy .... yyye ....
    PublishDefinition yyyy .... yyye ....
    PublishRegistry   yyyy .... yyye ....
    ChangeRegistry    yyyy .... yyyy ....
    PublishResource   yyyy .... yyye ....
    Delegate          yyyy .... yyyy ....
    Consume           yyyy yyyy yyyy yyyy
    SetAgreement      y... y... y... y...
    AddValidator      yy.. y... yy.. y...
    RemoveValidator   yy.. y... yy.. y...
    ChangeRules       y... y... y... y...
";

const ROLES: [Option<Role>; 4] = [
    Some(Role::Trustee),
    Some(Role::Steward),
    Some(Role::Endorser),
    None,
];
const COLUMNS: [(Mode, Whose); 4] = [
    (Mode::Open, Whose::Own),
    (Mode::Open, Whose::Other),
    (Mode::Endorsed, Whose::Own),
    (Mode::Endorsed, Whose::Other),
];

struct Cell {
    act: Act,
    role: Option<Role>,
    mode: Mode,
    whose: Whose,
    alone: bool,
    endorsed: bool,
}

fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    let lines: Vec<&str> = EXPECTED
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    assert_eq!(lines.len(), Act::all().count(), "a line for each act");
    for (line, act) in lines.into_iter().zip(Act::all()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[0], format!("{act:?}"));
        for ((mode, whose), column) in COLUMNS.into_iter().zip(&words[1..]) {
            assert_eq!(column.len(), ROLES.len());
            for (role, answer) in ROLES.into_iter().zip(column.chars()) {
                cells.push(Cell {
                    act,
                    role,
                    mode,
                    whose,
                    alone: answer == 'y',
                    endorsed: answer != '.',
                });
            }
        }
    }
    cells
}

#[test]
fn the_table_answers_every_cell_as_written_here() {
    let cells = cells();
    assert_eq!(cells.len(), 18 * 4 * 4);
    for cell in cells {
        let Cell {
            act,
            role,
            mode,
            whose,
            ..
        } = cell;
        let may = |endorsed| act.is_allowed(role, whose, mode, endorsed);
        let name = format!("{act:?} {role:?} {mode:?} {whose:?}");
        assert_eq!(may(false), cell.alone, "{name}");
        assert_eq!(may(true), cell.endorsed, "{name}, endorsed");
    }
}

#[test]
fn governing_acts_alone_need_no_author_agreement() {
    for act in Act::all() {
        let governing = matches!(
            act,
            Act::SetAgreement | Act::AddValidator | Act::RemoveValidator | Act::ChangeRules
        );
        assert_eq!(act.needs_agreement(), !governing, "{act:?}");
    }
}

/// A network in which a cell's author and an object's owner are set up to act.
struct Stage {
    world: World,
    trustee: Actor,
    endorser: Actor,
    author: Actor,
    other: Actor,
}

impl Stage {
    fn new(role: Option<Role>, mode: Mode) -> Self {
        let (mut world, [mut trustee, _, endorser]) = World::governed(mode);
        let mut people = [(); 2].map(|()| Actor::new(KeyType::Ed25519));
        for actor in &mut people {
            let create = vec![Operation::CreateDid(actor.content())];
            world.act_endorsed(actor, &endorser, create).unwrap();
        }
        let [author, other] = people;
        if role.is_some() {
            let subject = author.id;
            let give = Operation::SetRole { subject, role };
            world.act(&mut trustee, vec![give]).unwrap();
        }
        Self {
            world,
            trustee,
            endorser,
            author,
            other,
        }
    }

    /// The objects that the author or the other must have published before the act.
    fn published(&mut self, whose: Whose) -> Published {
        let owner = match whose {
            Whose::Own => &mut self.author,
            Whose::Other => &mut self.other,
        };
        Published::by(owner.id, &self.world)
    }

    fn prepare(&mut self, whose: Whose, operations: Vec<Operation>) {
        let owner = match whose {
            Whose::Own => &mut self.author,
            Whose::Other => &mut self.other,
        };
        self.world
            .act_endorsed(owner, &self.endorser, operations)
            .unwrap();
    }

    fn subject(&self, whose: Whose) -> Identifier {
        match whose {
            Whose::Own => self.author.id,
            Whose::Other => self.other.id,
        }
    }

    /// An operation for this act. For some acts the author decides whose object it is; then `whose` has no effect.
    fn operation(&mut self, act: Act, whose: Whose) -> Operation {
        match act {
            Act::CreateDid | Act::ChangeDid | Act::AnchorStatus => self.identity(act),
            Act::AddTrustee | Act::AddSteward | Act::AddEndorser | Act::TakeRole => {
                self.role(act, whose)
            }
            Act::PublishSchema
            | Act::PublishDefinition
            | Act::PublishRegistry
            | Act::ChangeRegistry => self.anoncreds(act, whose),
            Act::PublishResource => Operation::Resource(Resource {
                id: ResourceId([7; 16]),
                name: "n".to_owned(),
                kind: "t".to_owned(),
                version: None,
                media_type: "text/plain".to_owned(),
                also_known_as: Vec::new(),
                data: ResourceData::Bytes(b"x".to_vec()),
            }),
            Act::Delegate => Operation::Delegate(self.delegation()),
            Act::Consume => self.consumption(whose),
            Act::SetAgreement => Operation::SetAgreement(Some(crate::agreement::agreement("1"))),
            Act::AddValidator => Operation::ChangeValidators {
                add: vec![validator("new", 1)],
                remove: Vec::new(),
            },
            Act::RemoveValidator => self.removal(whose),
            Act::ChangeRules => Operation::ChangeRules {
                from_height: self.world.head.height + 9,
                rules: Rules::default(),
            },
        }
    }

    fn identity(&self, act: Act) -> Operation {
        match act {
            Act::CreateDid => {
                let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
                let subject = Identifier::of_key(key.public()).unwrap();
                let key = key.public().clone();
                let consent = None;
                Operation::RegisterDid {
                    subject,
                    key,
                    consent,
                }
            }
            Act::ChangeDid => Operation::UpdateDid {
                version: 2,
                content: self.author.content(),
            },
            _ => Operation::AnchorStatus {
                list: "https://a.example/1".to_owned(),
                digest: [1; 32],
                issued: self.world.time,
            },
        }
    }

    fn role(&mut self, act: Act, whose: Whose) -> Operation {
        let subject = self.subject(whose);
        let set_role = |role| Operation::SetRole { subject, role };
        match act {
            Act::AddTrustee => set_role(Some(Role::Trustee)),
            Act::AddSteward => set_role(Some(Role::Steward)),
            Act::AddEndorser => set_role(Some(Role::Endorser)),
            _ => {
                if whose == Whose::Other {
                    let give = set_role(Some(Role::Endorser));
                    self.world.act(&mut self.trustee, vec![give]).unwrap();
                }
                set_role(None)
            }
        }
    }

    fn anoncreds(&mut self, act: Act, whose: Whose) -> Operation {
        let published = self.published(whose);
        match act {
            Act::PublishSchema => published.schema(),
            Act::PublishDefinition => {
                self.prepare(whose, vec![published.schema()]);
                published.definition()
            }
            Act::PublishRegistry => {
                self.prepare(whose, vec![published.schema(), published.definition()]);
                published.registry()
            }
            _ => {
                self.prepare(whose, published.all());
                Operation::RevocationEntry(published.first_entry())
            }
        }
    }

    fn consumption(&mut self, whose: Whose) -> Operation {
        let delegation = (whose == Whose::Other).then(|| "d".to_owned());
        if delegation.is_some() {
            let given = Operation::Delegate(self.delegation());
            self.prepare(Whose::Other, vec![given]);
        }
        Operation::Consume(Consume {
            issuer: self.subject(whose),
            kind: "T".to_owned(),
            handle: [1; 32],
            action: Action::Consume,
            delegation,
        })
    }

    /// Removes a validator, which was added by the author if permitted, and otherwise by a trustee.
    fn removal(&mut self, whose: Whose) -> Operation {
        let add = || {
            let add = vec![validator("mine", 1)];
            let remove = Vec::new();
            vec![Operation::ChangeValidators { add, remove }]
        };
        let own = whose == Whose::Own && self.world.act(&mut self.author, add()).is_ok();
        if !own {
            self.world.act(&mut self.trustee, add()).unwrap();
        }
        Operation::ChangeValidators {
            add: Vec::new(),
            remove: vec!["mine".to_owned()],
        }
    }

    fn delegation(&self) -> Delegation {
        Delegation {
            name: "d".to_owned(),
            to: self.author.id,
            scope: vec!["T".to_owned()],
            action: Action::Consume,
            until: self.world.time.plus(60),
        }
    }

    fn submit(&mut self, operation: Operation, endorsed: bool) -> Answer {
        match endorsed {
            true => {
                let operations = vec![operation];
                self.world
                    .act_endorsed(&mut self.author, &self.endorser, operations)
            }
            false => self.world.act(&mut self.author, vec![operation]),
        }
    }
}

/// Acts whose object always belongs to the author, by the format: acting for another DID would need that DID's
/// signature.
fn is_always_own(act: Act) -> bool {
    matches!(
        act,
        Act::ChangeDid | Act::AnchorStatus | Act::PublishResource | Act::Delegate
    )
}

/// Whether a cell can be tested in a transaction without further preparation.
fn is_staged(cell: &Cell) -> bool {
    // An actor that creates its own DID has no role yet; tested separately below.
    let created = cell.act == Act::CreateDid && cell.whose == Whose::Own;
    // An actor that has a role loses it first, which is a separate act; tested separately below.
    let own_role = matches!(
        cell.act,
        Act::AddTrustee | Act::AddSteward | Act::AddEndorser | Act::TakeRole
    ) && cell.whose == Whose::Own
        && cell.role.is_some();
    // A validator that a steward adds belongs to that steward.
    let added = cell.act == Act::AddValidator && cell.whose == Whose::Other;
    !(created || own_role || added)
}

#[test]
fn the_machine_asks_the_table_for_every_cell_that_a_transaction_can_have() {
    let mut staged = 0;
    for cell in cells().iter().filter(|cell| is_staged(cell)) {
        for endorsed in [false, true] {
            let mut stage = Stage::new(cell.role, cell.mode);
            let operation = stage.operation(cell.act, cell.whose);
            if is_always_own(cell.act) && cell.whose == Whose::Other {
                stage.author.id = stage.other.id;
                stage.author.nonce = 50;
            }
            let answer = stage.submit(operation, endorsed);
            let wanted = match endorsed {
                true => cell.endorsed,
                false => cell.alone,
            };
            let refused = match (is_always_own(cell.act), cell.whose) {
                (true, Whose::Other) => Refusal::Signature(SignatureFault::Bad),
                _ => Refusal::NotAllowed { act: cell.act },
            };
            let name = format!(
                "{:?} {:?} {:?} {:?} endorsed: {endorsed}",
                cell.act, cell.role, cell.mode, cell.whose
            );
            match wanted {
                true => assert!(answer.is_ok(), "{name}: {answer:?}"),
                false => assert_eq!(answer, Err(refused), "{name}"),
            }
            staged += 1;
        }
    }
    assert!(staged > 350, "{staged}");
}

#[test]
fn in_endorsed_mode_a_did_is_created_with_an_endorsers_signature_or_not_at_all() {
    for mode in [Mode::Open, Mode::Endorsed] {
        let (mut world, members) = World::governed(mode);
        let mut alone = Actor::new(KeyType::P256);
        let create = vec![Operation::CreateDid(alone.content())];
        let refused = Refusal::NotAllowed {
            act: Act::CreateDid,
        };
        let answer = world.act(&mut alone, create.clone());
        match mode {
            Mode::Open => assert!(answer.is_ok()),
            Mode::Endorsed => {
                assert_eq!(answer, Err(refused));
                assert!(world.act_endorsed(&mut alone, &members[2], create).is_ok());
            }
        }
        // A trustee or a steward can endorse as well.
        for member in &members {
            let mut actor = Actor::new(KeyType::Ed25519);
            let create = vec![Operation::CreateDid(actor.content())];
            assert!(world.act_endorsed(&mut actor, member, create).is_ok());
        }
        let stranger = alone;
        let mut actor = Actor::new(KeyType::Ed25519);
        let create = vec![Operation::CreateDid(actor.content())];
        assert_eq!(
            world.act_endorsed(&mut actor, &stranger, create),
            Err(Refusal::Endorser)
        );
    }
}

#[test]
fn an_endorsers_signature_is_judged_by_his_keys() {
    let (mut world, [_, _, mut endorser]) = World::governed(Mode::Endorsed);
    let mut actor = Actor::new(KeyType::Ed25519);
    endorser.key = PrivateKey::generate(KeyType::Ed25519).unwrap();
    let create = vec![Operation::CreateDid(actor.content())];
    assert_eq!(
        world.act_endorsed(&mut actor, &endorser, create.clone()),
        Err(Refusal::Signature(SignatureFault::Bad))
    );
    endorser.key_id = "key-9".to_owned();
    assert_eq!(
        world.act_endorsed(&mut actor, &endorser, create),
        Err(Refusal::Signature(SignatureFault::UnknownKey))
    );
}

#[test]
fn roles_change_as_indys_rules_say() {
    let (mut world, [mut trustee, mut steward, endorser]) = World::governed(Mode::Open);
    let someone = world.registered(KeyType::Ed25519);
    let set = |subject: &Actor, role| {
        vec![Operation::SetRole {
            subject: subject.id,
            role,
        }]
    };
    let may_not = |act| Err(Refusal::NotAllowed { act });
    // A steward can appoint endorsers, but cannot take roles away.
    assert!(
        world
            .act(&mut steward, set(&someone, Some(Role::Endorser)))
            .is_ok()
    );
    assert_eq!(
        world.act(&mut steward, set(&someone, None)),
        may_not(Act::TakeRole)
    );
    assert_eq!(
        world.act(&mut steward, set(&endorser, Some(Role::Steward))),
        may_not(Act::TakeRole)
    );
    assert_eq!(
        world.act(&mut steward, set(&someone, Some(Role::Endorser))),
        may_not(Act::TakeRole)
    );
    // A trustee may do everything, including taking roles away.
    for role in [Some(Role::Steward), Some(Role::Trustee), None] {
        assert!(world.act(&mut trustee, set(&someone, role)).is_ok());
        let did = world.did(&someone);
        assert_eq!(world.machine.role(&world.state, &did).unwrap(), role);
    }
    let did = world.did(&someone);
    let history = world.machine.memberships(&world.state, &did, 9).unwrap();
    let roles: Vec<_> = history.iter().map(|membership| membership.role).collect();
    assert_eq!(
        roles,
        [
            Some(Role::Endorser),
            Some(Role::Steward),
            Some(Role::Trustee),
            None
        ]
    );
    assert_eq!(history[0].by, Some(steward.id));
}

#[test]
fn the_last_trustee_stays_whichever_way_he_goes() {
    use selfsame_registry::refusal::GovernanceFault;
    let (mut world, [mut trustee, steward, _]) = World::governed(Mode::Open);
    let last = Err(Refusal::Governance(GovernanceFault::LastTrustee));
    let own = trustee.id;
    let set = |subject, role| vec![Operation::SetRole { subject, role }];
    assert_eq!(world.act(&mut trustee, set(own, None)), last);
    assert_eq!(world.act(&mut trustee, set(own, Some(Role::Steward))), last);
    let end = vec![Operation::DeactivateDid { version: 2 }];
    assert_eq!(world.act(&mut trustee, end.clone()), last);
    // Once there is a second trustee, the first may leave; the role ends with the DID.
    world
        .act(&mut trustee, set(steward.id, Some(Role::Trustee)))
        .unwrap();
    world.act(&mut trustee, end).unwrap();
    let did = world.did(&trustee);
    assert_eq!(world.machine.role(&world.state, &did).unwrap(), None);
    let mut steward = steward;
    let own = steward.id;
    assert_eq!(world.act(&mut steward, set(own, None)), last);
}

#[test]
fn a_role_is_given_to_somebody_who_is_there_and_does_not_have_it() {
    use selfsame_registry::refusal::GovernanceFault;
    let (mut world, [mut trustee, steward, _]) = World::governed(Mode::Open);
    let stranger = Actor::new(KeyType::Ed25519);
    let set = |subject: &Actor, role| {
        vec![Operation::SetRole {
            subject: subject.id,
            role,
        }]
    };
    let refused = |fault| Err(Refusal::Governance(fault));
    assert_eq!(
        world.act(&mut trustee, set(&stranger, Some(Role::Steward))),
        refused(GovernanceFault::NotRegistered)
    );
    assert_eq!(
        world.act(&mut trustee, set(&steward, Some(Role::Steward))),
        refused(GovernanceFault::Unchanged)
    );
    let none = world.registered(KeyType::Ed25519);
    assert_eq!(
        world.act(&mut trustee, set(&none, None)),
        refused(GovernanceFault::Unchanged)
    );
}

#[test]
fn a_role_holds_from_the_time_it_was_given() {
    let (mut world, [mut trustee, ..]) = World::governed(Mode::Open);
    let someone = world.registered(KeyType::Ed25519);
    let did = world.did(&someone);
    let start = world.time;
    for role in [Some(Role::Endorser), None] {
        world.time = world.time.plus(100);
        let subject = someone.id;
        world
            .act(&mut trustee, vec![Operation::SetRole { subject, role }])
            .unwrap();
    }
    for (after, role) in [
        (0, None),
        (99, None),
        (100, Some(Role::Endorser)),
        (199, Some(Role::Endorser)),
        (200, None),
    ] {
        let at = world
            .machine
            .role_at(&world.state, &did, start.plus(after))
            .unwrap();
        assert_eq!(at, role, "{after}");
    }
}

#[test]
fn a_did_registered_by_a_member_has_the_key_of_its_owner_and_nothing_else() {
    let (mut world, [_, _, mut endorser]) = World::governed(Mode::Endorsed);
    let mut owner = Actor::new(KeyType::P256);
    let register = |subject, key: &Actor| {
        vec![Operation::RegisterDid {
            subject,
            key: key.key.public().clone(),
            consent: None,
        }]
    };
    let thief = Actor::new(KeyType::P256);
    assert_eq!(
        world.act(&mut endorser, register(owner.id, &thief)),
        Err(Refusal::Identifier)
    );
    world
        .act(&mut endorser, register(owner.id, &owner))
        .unwrap();
    let did = world.did(&owner);
    let present = world.machine.present(&world.state, &did).unwrap();
    assert_eq!(present, Some((1, Some(owner.content()))));
    assert_eq!(
        world.act(&mut endorser, register(owner.id, &owner)),
        Err(Refusal::Author(AuthorFault::Exists))
    );
    // The owner can update the DID afterwards, the endorser cannot.
    let network = world.network().clone();
    assert!(world.submit(owner.rotate(&network, 2)).is_ok());
}

#[test]
fn a_delegate_is_judged_besides_by_the_delegation() {
    let mut stage = Stage::new(None, Mode::Open);
    let consume = Operation::Consume(Consume {
        issuer: stage.other.id,
        kind: "T".to_owned(),
        handle: [1; 32],
        action: Action::Consume,
        delegation: None,
    });
    assert_eq!(
        stage.submit(consume, false),
        Err(Refusal::Delegation(DelegationFault::Unknown))
    );
}

#[test]
fn an_identifier_of_half_a_key_is_registered_with_the_signature_of_that_key_alone() {
    let (mut world, [_, _, mut endorser]) = World::governed(Mode::Open);
    let owner = Actor::new(KeyType::Ed25519);
    let subject = Identifier::of_seed_key(owner.key.public()).unwrap();
    let network = world.network().as_str().to_owned();
    let signed = |network: &str, subject: Identifier| {
        let signature = owner.key.sign(&subject.consent_bytes(network)).unwrap();
        Some(<[u8; 64]>::try_from(signature).unwrap())
    };
    let own = owner.key.public().clone();
    // The victim's half of the key, combined with another half chosen so that the whole is a point of the curve.
    let stolen = (0..=u8::MAX).find_map(|n| {
        let bytes = [&own.bytes()[..16], &[n; 16]].concat();
        let key = PublicKey::from_raw(KeyType::Ed25519, &bytes).ok()?;
        key.is_point().then_some(key)
    });
    let stolen = stolen.unwrap();
    assert_eq!(Identifier::of_seed_key(&stolen), Some(subject));
    let missing = Err(Refusal::Signature(SignatureFault::OwnerMissing));
    let bad = Err(Refusal::Signature(SignatureFault::Bad));
    let here = signed(&network, subject);
    for (key, consent, answer) in [
        (&stolen, None, missing),
        (&stolen, here, bad),
        (&own, None, missing),
        (&own, signed("another", subject), bad),
        (&own, signed(&network, owner.id), bad),
    ] {
        let key = key.clone();
        let register = Operation::RegisterDid {
            subject,
            key,
            consent,
        };
        assert_eq!(world.act(&mut endorser, vec![register]), answer);
    }
    let register = Operation::RegisterDid {
        subject,
        key: own,
        consent: here,
    };
    world.act(&mut endorser, vec![register]).unwrap();
}

#[test]
fn a_key_that_is_not_a_point_of_the_curve_is_in_no_did() {
    let (mut world, [_, _, mut endorser]) = World::governed(Mode::Open);
    let none = no_point();
    let subject = Identifier::of_key(&none).unwrap();
    let refused = Err(Refusal::Content(ContentFault::NoPoint));
    let register = Operation::RegisterDid {
        subject,
        key: none.clone(),
        consent: None,
    };
    assert_eq!(world.act(&mut endorser, vec![register]), refused);
    let mut content = endorser.content();
    content.keys.extend(Content::of_key("key-2", none).keys);
    let update = Operation::UpdateDid {
        version: 2,
        content,
    };
    assert_eq!(world.act(&mut endorser, vec![update]), refused);
}
