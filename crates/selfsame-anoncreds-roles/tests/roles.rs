//! Issuer, holder and verifier of one revocable credential, and what each of them refuses.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use selfsame_anoncreds::Error;
use selfsame_anoncreds::cl::revocation::IssuedAtStart as First;
use selfsame_anoncreds::cl::{KeyCorrectnessProof, LinkSecret};
use selfsame_anoncreds::definition::PreparedDefinition;
use selfsame_anoncreds::format::{
    CredentialDefinitionId, IssuerId, Message as _, PresentationRequest, RevocationRegistryId,
    RevocationStatusList, SchemaId,
};
use selfsame_anoncreds::holder::create_link_secret;
use selfsame_anoncreds::issuer::{
    Issuance, Issuer, NewDefinition, NewRegistry, Place, Registry, create_offer, create_schema,
};
use selfsame_anoncreds::verdict::Outcome;
use selfsame_anoncreds::verifier::Encoding;
use selfsame_anoncreds_roles::answer::{AnswerDraft, HoldersChoice};
use selfsame_anoncreds_roles::holder::{Awaited, AwaitedPlace, Requester, accept, request};
use selfsame_anoncreds_roles::issuer::{
    IndexChange, RegistryKeeper, define, issue, open_registry, values_of,
};
use selfsame_anoncreds_roles::verifier::{Judged, Leniency, Remedy, verify};
use selfsame_anoncreds_roles::{HeldCredential, MissingObject, PublishedObjects, RoleError};
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::time::UnixTime;

const SCHEMA: &str = "did:web:issuer.example/schema/1";
const DEFINITION: &str = "did:web:issuer.example/cred-def/1";
const REGISTRY: &str = "did:web:issuer.example/rev-reg/1";
/// The credential's index.
const INDEX: u32 = 1;

/// What one issuer made, and the credential that its holder keeps.
struct World {
    keeper: RegistryKeeper,
    first: RevocationStatusList,
    tails: Vec<u8>,
    secret: LinkSecret,
    /// The JSON of the credential.
    held: Vec<u8>,
}

fn ctx(seed: u8) -> Ctx {
    Ctx::new(UnixTime(1_800_000_000), [seed; 32])
}

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| made().unwrap())
}

/// The issuer's part.
struct Founded {
    keeper: RegistryKeeper,
    first: RevocationStatusList,
    tails: Vec<u8>,
    correctness: KeyCorrectnessProof,
}

fn founded() -> Result<Founded, RoleError> {
    let issuer_id = IssuerId::new("did:web:issuer.example")?;
    let schema = create_schema("donor", "1.0", &issuer_id, &["name", "born"])?;
    let cred_def_id = CredentialDefinitionId::new(DEFINITION)?;
    let new = NewDefinition {
        schema_id: &SchemaId::new(SCHEMA)?,
        schema: &schema,
        issuer_id: &issuer_id,
        tag: "default",
        revocable: true,
    };
    let defined = define(&new, &ctx(1))?;
    let issuer = Issuer::new(defined.definition, &defined.private)?;
    let new = NewRegistry {
        cred_def_id: &cred_def_id,
        tag: "default",
        size: 4,
        tails_location: "tails",
    };
    let opened = open_registry(&issuer, &new, &ctx(2))?;
    let keeper = RegistryKeeper {
        issuer,
        definition: opened.definition,
        private: opened.private,
    };
    let id = RevocationRegistryId::new(REGISTRY)?;
    Ok(Founded {
        first: keeper.first_list(&id, First::ByDefault, 1_000)?,
        tails: opened.tails,
        correctness: defined.correctness,
        keeper,
    })
}

fn made() -> Result<World, RoleError> {
    let Founded {
        keeper,
        first,
        tails,
        correctness,
    } = founded()?;
    let id = RevocationRegistryId::new(REGISTRY)?;
    let (schema_id, cred_def_id) = (
        SchemaId::new(SCHEMA)?,
        CredentialDefinitionId::new(DEFINITION)?,
    );
    let offer = create_offer(&schema_id, &cred_def_id, &correctness, &ctx(3));
    let secret = create_link_secret(&ctx(4));
    let requester = Requester {
        link_secret: &secret,
        did: None,
    };
    let definition = keeper.issuer.prepared();
    let open = request(requester, definition, &offer, &ctx(5))?;
    assert!(open.proofs.key_correctness);
    let values = values_of(named(&[("name", "Alice"), ("born", "19900101")]))?;
    let issuance = Issuance {
        offer: &offer,
        request: &open.request,
        values: &values,
        place: Some(Place {
            registry: Registry {
                definition: &keeper.definition,
                private: &keeper.private,
            },
            list: &first,
            index: INDEX,
        }),
    };
    let issued = issue(&keeper.issuer, &issuance, &ctx(6))?;
    assert!(!issued.is_revoked);
    let place = AwaitedPlace {
        registry: &keeper.definition,
        id: Some(&id),
        tails: Some(&tails),
    };
    place.is_checked()?;
    let awaited = Awaited {
        metadata: &open.metadata,
        link_secret: &secret,
        definition,
        encoding: Encoding::Recommended,
        registry: Some(place),
    };
    let held = accept(&issued.credential, &awaited)?;
    let unchecked = [
        AwaitedPlace { id: None, ..place },
        AwaitedPlace {
            tails: None,
            ..place
        },
    ];
    assert!(unchecked.iter().all(|place| place.is_checked().is_err()));
    Ok(World {
        first,
        tails,
        held: held.json().expose().to_vec(),
        keeper,
        secret,
    })
}

fn named(values: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = values.iter();
    let owned = owned.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    owned.collect()
}

/// A request for the name and an age, not revoked at this time.
fn question(at: u64) -> PresentationRequest {
    let text = format!(
        r#"{{"name":"donor","version":"1.0","nonce":"1234567890","non_revoked":{{"from":{at},"to":{at}}},
           "requested_attributes":{{"who":{{"name":"name"}},"telephone":{{"name":"telephone"}}}},
           "requested_predicates":{{"adult":{{"name":"born","p_type":"<=","p_value":20080101}}}}}}"#
    );
    PresentationRequest::from_json(text.as_bytes()).unwrap()
}

fn published(lists: Vec<RevocationStatusList>) -> PublishedObjects {
    let world = world();
    let issuer = IssuerId::new("did:web:issuer.example").unwrap();
    let schema = create_schema("donor", "1.0", &issuer, &["name", "born"]).unwrap();
    let definition = world.keeper.issuer.prepared().definition().clone();
    let definition = PreparedDefinition::new(definition).unwrap();
    PublishedObjects {
        schemas: BTreeMap::from([(SCHEMA.to_owned(), schema)]),
        schema_numbers: BTreeMap::new(),
        definitions: BTreeMap::from([(DEFINITION.to_owned(), definition)]),
        registries: BTreeMap::from([(REGISTRY.to_owned(), world.keeper.definition.clone())]),
        lists,
    }
}

fn choice() -> HoldersChoice {
    HoldersChoice {
        hidden: Vec::new(),
        attested: BTreeMap::from([("telephone".to_owned(), "555 0100".to_owned())]),
    }
}

/// Presents the held credential for this time, and verifies it as of another list.
fn presented(at: u64, lists: Vec<RevocationStatusList>, leniency: Leniency) -> Judged {
    let world = world();
    let (question, known, choice) = (question(at), published(lists), choice());
    let held = [HeldCredential::from_json(&world.held).unwrap()];
    let mut draft = AnswerDraft::new(&question, &held, &known, &choice).unwrap();
    let need = draft.need().unwrap().unwrap();
    assert!(!draft.prove_state(&need, b"of another registry").unwrap());
    assert!(draft.prove_state(&need, &world.tails).unwrap());
    assert!(draft.need().unwrap().is_none());
    assert!(draft.implausible_bounds().is_empty());
    let presentation = draft.present(&world.secret, &ctx(7)).unwrap();
    let saved = serde_json::to_string(&known).unwrap();
    let read = serde_json::from_str(&saved).unwrap();
    let again = verify(&presentation, &question, read, leniency.clone()).unwrap();
    let judged = verify(&presentation, &question, known, leniency).unwrap();
    assert_eq!(again.presentation, judged.presentation, "the saved objects");
    judged
}

fn next(revoked: &[u32], timestamp: u64) -> Result<RevocationStatusList, RoleError> {
    let change = IndexChange {
        revoked: revoked.iter().copied().collect(),
        issued: BTreeSet::new(),
        timestamp,
    };
    let next = world().keeper.next_list(&world().first, change)?;
    assert_eq!(next.is_changed, !revoked.is_empty());
    Ok(next.list)
}

#[test]
fn a_credential_goes_from_its_offer_to_a_verdict_and_is_kept_as_bytes() {
    let judged = presented(1_000, vec![world().first.clone()], Leniency::default());
    assert!(judged.presentation.verdict.is_valid());
    assert_eq!(judged.remedies, []);
}

#[test]
fn a_list_from_before_the_interval_is_accepted_only_by_who_says_so() {
    let lists = || vec![world().first.clone()];
    let refused = presented(2_000, lists(), Leniency::default());
    assert!(!refused.presentation.verdict.is_valid());
    assert_eq!(refused.remedies, [Remedy::ListInForce]);
    let lenient = Leniency {
        in_force: lists(),
        ..Leniency::default()
    };
    assert!(
        presented(2_000, lists(), lenient)
            .presentation
            .verdict
            .is_valid()
    );
}

#[test]
fn a_revoked_credential_has_no_state_to_prove_from() {
    let world = world();
    let (question, choice) = (question(2_000), choice());
    let known = published(vec![world.first.clone(), next(&[INDEX], 2_000).unwrap()]);
    let held = [HeldCredential::from_json(&world.held).unwrap()];
    let mut draft = AnswerDraft::new(&question, &held, &known, &choice).unwrap();
    let need = draft.need().unwrap().unwrap();
    assert_eq!(need.list.timestamp, Some(2_000), "the newest list counts");
    let revoked = draft.prove_state(&need, &world.tails);
    assert!(matches!(revoked, Err(Error::Registry(_))), "{revoked:?}");
}

#[test]
fn a_list_is_never_older_than_the_one_before_it() {
    assert!(next(&[], 1_000).is_ok());
    assert!(matches!(next(&[INDEX], 999), Err(RoleError::OlderList)));
}

#[test]
fn an_attribute_has_one_value() {
    let twice = values_of(named(&[("name", "Alice"), ("name", "Bob")]));
    assert!(matches!(twice, Err(RoleError::TwoValues(name)) if name == "name"));
}

#[test]
fn what_is_missing_is_named_and_so_is_a_referent_that_was_not_requested() {
    let (question, choice) = (question(1_000), choice());
    let held = [HeldCredential::from_json(&world().held).unwrap()];
    let none = PublishedObjects::default();
    let missing = AnswerDraft::new(&question, &held, &none, &choice).err();
    let schema = MissingObject::Schema(SCHEMA.to_owned());
    assert!(matches!(missing, Some(RoleError::Missing(what)) if what == schema));

    let unlisted = published(Vec::new());
    let draft = AnswerDraft::new(&question, &held, &unlisted, &choice).unwrap();
    let error = draft.need().err().unwrap().to_string();
    let said = format!("a status list as of 1000 or earlier of {REGISTRY} is missing");
    assert_eq!(error, said);

    let other = HoldersChoice {
        hidden: vec!["birthday".to_owned()],
        ..choice
    };
    let refused = AnswerDraft::new(&question, &held, &unlisted, &other).err();
    let requested = vec!["telephone".to_owned(), "who".to_owned()];
    assert!(
        matches!(refused, Some(RoleError::NotRequested { requested: asked, .. }) if asked == requested)
    );
}

#[test]
fn a_presentation_of_another_holders_credential_is_not_sent() {
    let world = world();
    let (question, choice) = (question(1_000), choice());
    let known = published(vec![world.first.clone()]);
    let held = [HeldCredential::from_json(&world.held).unwrap()];
    let mut draft = AnswerDraft::new(&question, &held, &known, &choice).unwrap();
    let need = draft.need().unwrap().unwrap();
    assert!(draft.prove_state(&need, &world.tails).unwrap());
    let refused = draft.present(&create_link_secret(&ctx(9)), &ctx(7));
    assert!(matches!(refused, Err(RoleError::NoProof)));
}

#[test]
fn a_verifier_without_the_published_objects_knows_that_it_needs_them() {
    let world = world();
    let (question, choice) = (question(1_000), choice());
    let known = published(vec![world.first.clone()]);
    let held = [HeldCredential::from_json(&world.held).unwrap()];
    let mut draft = AnswerDraft::new(&question, &held, &known, &choice).unwrap();
    let need = draft.need().unwrap().unwrap();
    assert!(draft.prove_state(&need, &world.tails).unwrap());
    let presentation = draft.present(&world.secret, &ctx(7)).unwrap();
    let none = PublishedObjects::default();
    let judged = verify(&presentation, &question, none, Leniency::default()).unwrap();
    assert_eq!(judged.presentation.verdict.outcome, Outcome::Unverifiable);
    assert_eq!(judged.remedies, [Remedy::MoreObjects]);
}
