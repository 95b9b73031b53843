//! Helpers for the tests of the operations: the samples' issuers, a holder, a context.

#[path = "../tests/oracle/told.rs"]
pub(crate) mod told;

mod counts;
mod early;

use std::borrow::Cow;
use std::collections::BTreeMap;

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::time::UnixTime;
use serde_json::{Value, json};

use crate::Error;
use crate::cl::revocation::TailsFile;
use crate::cl::{KeyCorrectnessProof, LinkSecret};
use crate::definition::PreparedDefinition;
use crate::format::*;
use crate::holder::{Chosen, create_presentation};
use crate::issuer::{Issuer, Registry};
use crate::verdict::{AnoncredsVerdict, Outcome};
use crate::verifier::{KnownObjects, Policy, verify_presentation};

/// Selects the arithmetic path that a longer run names; the tests against the published mathematics begin with this.
pub(crate) fn take_told_path() {
    told::take_path(crate::force_adx, crate::force_portable);
}

/// A sample as the published library wrote it.
pub(crate) fn sample<T: Message>(name: &str) -> T {
    T::from_json(text(name).as_bytes()).unwrap()
}

pub(crate) fn text(name: &str) -> String {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/anoncreds/");
    std::fs::read_to_string(format!("{root}{name}")).unwrap()
}

pub(crate) fn ctx(seed: u8) -> Ctx {
    Ctx::new(UnixTime(1_800_000_000), [seed; 32])
}

pub(crate) fn link_secret() -> LinkSecret {
    LinkSecret::from_decimal(text("link_secret.txt").trim()).unwrap()
}

/// The issuer of the samples, and everything it has made.
pub(crate) struct World {
    pub schema_id: SchemaId,
    pub schema: Schema,
    pub cred_def_id: CredentialDefinitionId,
    pub issuer: Issuer,
    pub correctness: KeyCorrectnessProof,
    pub registry: Option<RevocationRegistryDefinition>,
    pub registry_private: Option<RevocationRegistryPrivate>,
    pub lists: Vec<RevocationStatusList>,
    pub tails: Vec<u8>,
}

impl World {
    pub fn legacy() -> Self {
        let lists = [
            "status_list",
            "status_list_updated",
            "status_list_reinstated",
        ];
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/anoncreds/");
        Self {
            registry: Some(sample("legacy/rev_reg_def.json")),
            registry_private: Some(sample("legacy/rev_reg_def_private.json")),
            lists: lists
                .map(|name| sample(&format!("legacy/{name}.json")))
                .into(),
            tails: std::fs::read(format!("{root}legacy/tails.bin")).unwrap(),
            ..Self::of("legacy")
        }
    }

    pub fn qualified() -> Self {
        Self::of("qualified")
    }

    fn of(age: &str) -> Self {
        let name = |name: &str| format!("{age}/{name}.json");
        let offer: CredentialOffer = sample(&name("offer"));
        let private: CredentialDefinitionPrivate = sample(&name("cred_def_private"));
        Self {
            schema: sample(&name("schema")),
            issuer: Issuer::new(sample(&name("cred_def")), &private).unwrap(),
            correctness: sample(&name("key_correctness_proof")),
            schema_id: offer.schema_id,
            cred_def_id: offer.cred_def_id,
            registry: None,
            registry_private: None,
            lists: Vec::new(),
            tails: Vec::new(),
        }
    }

    pub fn definition(&self) -> &PreparedDefinition {
        self.issuer.prepared()
    }

    pub fn registry_id(&self) -> RevocationRegistryId {
        self.lists[0].rev_reg_def_id.clone().unwrap()
    }

    /// The published registry, if there is one.
    pub fn published(&self) -> Option<(&RevocationRegistryId, &RevocationRegistryDefinition)> {
        let id = self.lists.first()?.rev_reg_def_id.as_ref();
        id.zip(self.registry.as_ref())
    }

    pub fn registry(&self) -> Registry<'_> {
        Registry {
            definition: self.registry.as_ref().unwrap(),
            private: self.registry_private.as_ref().unwrap(),
        }
    }

    pub fn tails(&self) -> TailsFile<'_> {
        let value = &self.registry.as_ref().unwrap().value;
        TailsFile::checked(&self.tails, value.max_cred_num, &value.tails_hash).unwrap()
    }

    pub fn list_at(&self, timestamp: u64) -> &RevocationStatusList {
        self.lists
            .iter()
            .find(|list| list.timestamp == Some(timestamp))
            .unwrap()
    }
}

/// The objects of a verifier that knows these worlds.
pub(crate) fn known<'a>(worlds: &'a [World]) -> KnownObjects<'a> {
    let mut known = KnownObjects::default();
    for world in worlds {
        known.schemas.insert(world.schema_id.clone(), &world.schema);
        known
            .definitions
            .insert(world.cred_def_id.clone(), world.definition());
        if let Some(registry) = &world.registry {
            known.registries.insert(world.registry_id(), registry);
        }
        known.lists.extend(&world.lists);
    }
    known
}

pub(crate) fn worlds() -> Vec<World> {
    vec![World::legacy(), World::qualified()]
}

pub(crate) fn request(value: Value) -> PresentationRequest {
    let mut whole = json!({ "name": "test", "version": "1.0", "nonce": "1234567890" });
    for (member, value) in value.as_object().unwrap() {
        whole[member] = value.clone();
    }
    PresentationRequest::from_json(whole.to_string().as_bytes()).unwrap()
}

/// A credential chosen to answer: attributes with `+` are revealed, those with `-` are not, the others are predicates.
pub(crate) fn chosen<'a>(
    world: &'a World,
    credential: &'a Credential,
    referents: &[&str],
) -> Chosen<'a> {
    let mut attributes = BTreeMap::new();
    let mut predicates = Vec::new();
    for referent in referents {
        match (referent.strip_prefix('+'), referent.strip_prefix('-')) {
            (Some(shown), _) => drop(attributes.insert(shown.to_owned(), true)),
            (_, Some(hidden)) => drop(attributes.insert(hidden.to_owned(), false)),
            _ => predicates.push((*referent).to_owned()),
        }
    }
    Chosen {
        credential,
        definition: world.definition(),
        attributes,
        predicates,
        state: None,
    }
}

pub(crate) fn present(
    request: &PresentationRequest,
    chosen: &[Chosen<'_>],
) -> Result<Presentation, Error> {
    let secret = link_secret();
    create_presentation(request, chosen, &BTreeMap::new(), &secret, &ctx(9))
}

pub(crate) fn verdict(
    presentation: &Presentation,
    request: &PresentationRequest,
    known: &KnownObjects<'_>,
) -> AnoncredsVerdict {
    verify_presentation(presentation, request, known, &Policy::default())
}

/// The outcome, and the name of the rule that did not hold.
pub(crate) fn reason(judged: &AnoncredsVerdict) -> (Outcome, &'static str) {
    let name = match judged.verdict.reason().map(|rule| rule.name.clone()) {
        None => "",
        Some(Cow::Borrowed(name)) => name,
        Some(Cow::Owned(name)) => panic!("{name} is not the name of a law"),
    };
    (judged.verdict.outcome, name)
}

/// JSON pointers to every value in a message that is neither an object nor an array; in arrays of bytes, to the first
/// byte.
pub(crate) fn leaves(value: &Value) -> Vec<String> {
    fn walk(value: &Value, path: &str, leaves: &mut Vec<String>) {
        let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
        match value {
            Value::Object(members) => {
                for (key, value) in members {
                    walk(value, &format!("{path}/{}", escaped(key)), leaves);
                }
            }
            Value::Array(items) => {
                let bytes = items.iter().all(Value::is_number);
                let some = if bytes { 1 } else { items.len() };
                for (index, value) in items.iter().take(some).enumerate() {
                    walk(value, &format!("{path}/{index}"), leaves);
                }
            }
            _ => leaves.push(path.to_owned()),
        }
    }
    let mut found = Vec::new();
    walk(value, "", &mut found);
    found
}

/// Changes the value at a pointer without changing its kind: the last digit of a number, the last letter of a text.
pub(crate) fn change(value: &mut Value, pointer: &str) {
    let leaf = value.pointer_mut(pointer).unwrap();
    *leaf = match leaf {
        Value::String(text) => {
            let last = text.pop();
            text.push(if last == Some('1') { '2' } else { '1' });
            Value::String(std::mem::take(text))
        }
        Value::Number(number) => json!((number.as_u64().unwrap() + 1) % 256),
        _ => json!("1"),
    };
}
