//! Transactions in readable form: kind, author, subject and content.

mod sentence;

use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::time::UnixTime;
use selfsame_proof::validators::Validator;
use serde_json::{Map, Value, json};

use crate::anoncreds::{Definition, RevocationEntry};
use crate::content::{Key, Service, Uses};
use crate::network::{Agreement, Role};
use crate::resource::{Resource, ResourceData};
use crate::single_use::{Consume, Delegation, use_digest};
use crate::transaction::Signature;
use crate::{Content, Identifier, Operation, Rules, StateError, StateMachine, Transaction};

pub use sentence::sentence;

const USES: [(Uses, &str); 5] = [
    (Uses::AUTHENTICATION, "authentication"),
    (Uses::ASSERTION, "assertionMethod"),
    (Uses::AGREEMENT, "keyAgreement"),
    (Uses::INVOCATION, "capabilityInvocation"),
    (Uses::DELEGATION, "capabilityDelegation"),
];

/// A transaction in readable form.
pub struct Described {
    /// For example `create_did` or `anchor_status`; `batch` if it has several operations.
    pub kind: String,
    /// The DID that signed it.
    pub author: String,
    /// What it changes: a DID, or the name of an object.
    pub subject: String,
    /// Its parts.
    pub content: Map<String, Value>,
}

impl StateMachine {
    /// Describes a transaction for people.
    ///
    /// # Errors
    /// If an identifier in it does not form a DID, which accepting it rules out.
    pub fn describe(&self, transaction: &Transaction) -> Result<Described, StateError> {
        let body = transaction.body();
        let author = named(self, body.author)?;
        let Operated {
            kind,
            subject,
            mut content,
        } = Describer {
            machine: self,
            author: &author,
        }
        .all(&body.operations);
        content.insert("nonce".to_owned(), json!(body.nonce));
        content.insert("signed_by".to_owned(), keys(transaction.signatures()));
        if let Some(endorser) = body.endorser {
            content.insert("endorser".to_owned(), json!(named(self, endorser)?));
            content.insert("endorsed_by".to_owned(), keys(transaction.endorsements()));
        }
        if let Some(accepted) = &body.agreement {
            let accepted = json!({ "version": accepted.version, "day": day(accepted.day) });
            content.insert("accepted_agreement".to_owned(), accepted);
        }
        Ok(Described {
            kind,
            author,
            subject,
            content,
        })
    }
}

fn named(machine: &StateMachine, identifier: Identifier) -> Result<String, StateError> {
    let did = machine.did(identifier).map(|did| did.to_string());
    did.ok_or_else(|| StateError("an identifier does not form a DID".to_owned()))
}

fn keys(signatures: &[Signature]) -> Value {
    signatures
        .iter()
        .map(|signature| signature.key.as_str())
        .collect()
}

/// The kind, subject and content of one operation or a batch of them.
struct Operated {
    kind: String,
    subject: String,
    content: Map<String, Value>,
}

/// Describes the operations of one author.
struct Describer<'a> {
    machine: &'a StateMachine,
    author: &'a str,
}

type Named = (&'static str, String, Value);

impl Describer<'_> {
    /// Describes one operation as itself, several as a batch of them.
    fn all(&self, operations: &[Operation]) -> Operated {
        if let [one] = operations {
            return self.one(one);
        }
        let each = operations.iter().map(|one| {
            let mut described = self.one(one);
            let name = [("kind", described.kind), ("subject", described.subject)];
            let name = name.map(|(member, value)| (member.to_owned(), Value::String(value)));
            described.content.extend(name);
            Value::Object(described.content)
        });
        Operated {
            kind: "batch".to_owned(),
            subject: self.author.to_owned(),
            content: Map::from_iter([("operations".to_owned(), each.collect())]),
        }
    }

    fn one(&self, operation: &Operation) -> Operated {
        let (kind, subject, content) = self.named(operation);
        let content = match content {
            Value::Object(members) => members,
            _ => Map::new(),
        };
        Operated {
            kind: kind.to_owned(),
            subject,
            content,
        }
    }

    fn named(&self, operation: &Operation) -> Named {
        let own = self.author.to_owned();
        let network = || self.machine.network().to_string();
        match operation {
            Operation::CreateDid(content) => ("create_did", own, document(1, content)),
            Operation::UpdateDid { version, content } => {
                ("update_did", own, document(*version, content))
            }
            Operation::DeactivateDid { version } => {
                ("deactivate_did", own, json!({ "version": version }))
            }
            Operation::AnchorStatus {
                list,
                digest,
                issued,
            } => ("anchor_status", list.clone(), anchored(digest, *issued)),
            Operation::RegisterDid { subject, key, .. } => {
                let content = json!({ "public_key": key.to_multikey() });
                ("register_did", self.did(*subject), content)
            }
            Operation::SetRole { subject, role } => {
                let content = json!({ "role": role.map(Role::name) });
                ("set_role", self.did(*subject), content)
            }
            Operation::Schema { json } => ("schema", own, published(json)),
            Operation::CredentialDefinition(new) => ("credential_definition", own, definition(new)),
            Operation::RevocationRegistry { json } => ("revocation_registry", own, published(json)),
            Operation::RevocationEntry(entry) => {
                ("revocation_entry", entry.registry.clone(), revoked(entry))
            }
            Operation::Resource(new) => {
                let subject = format!("{own}/resources/{}", new.id);
                ("resource", subject, resource(new))
            }
            Operation::Delegate(given) => ("delegate", own, self.delegation(given)),
            Operation::WithdrawDelegation { name } => {
                ("withdraw_delegation", own, json!({ "name": name }))
            }
            Operation::Consume(consume) => {
                let kind = consume.action.name();
                (kind, self.did(consume.issuer), used(consume))
            }
            Operation::SetAgreement(set) => {
                let content = json!({ "agreement": set.as_ref().map(agreement) });
                ("set_agreement", network(), content)
            }
            Operation::ChangeValidators { add, remove } => {
                let add: Vec<Value> = add.iter().map(validator).collect();
                let content = json!({ "add": add, "remove": remove });
                ("change_validators", network(), content)
            }
            Operation::ChangeRules { from_height, rules } => {
                let content = json!({ "from_height": from_height, "rules": limits(rules) });
                ("change_rules", network(), content)
            }
        }
    }

    fn did(&self, id: Identifier) -> String {
        let did = self.machine.did(id);
        did.map_or_else(|| id.to_string(), |did| did.to_string())
    }

    fn delegation(&self, delegation: &Delegation) -> Value {
        json!({
            "name": delegation.name,
            "to": self.did(delegation.to),
            "scope": delegation.scope,
            "action": delegation.action.name(),
            "until": delegation.until.rfc3339(),
        })
    }
}

fn document(version: u64, content: &Content) -> Value {
    let mut members = Map::from_iter([
        ("version".to_owned(), json!(version)),
        ("keys".to_owned(), content.keys.iter().map(key).collect()),
    ]);
    if !content.services.is_empty() {
        members.insert(
            "services".to_owned(),
            content.services.iter().map(service).collect(),
        );
    }
    if !content.also_known_as.is_empty() {
        members.insert("also_known_as".to_owned(), json!(content.also_known_as));
    }
    Value::Object(members)
}

fn key(key: &Key) -> Value {
    let uses: Vec<&str> = USES
        .iter()
        .filter(|(uses, _)| key.uses.include(*uses))
        .map(|(_, name)| *name)
        .collect();
    json!({ "id": key.id, "public_key": key.public.to_multikey(), "uses": uses })
}

fn service(service: &Service) -> Value {
    json!({ "id": service.id, "type": service.kind, "endpoint": service.endpoint })
}

fn anchored(digest: &[u8; 32], issued: UnixTime) -> Value {
    json!({ "digest": hex_encode(digest), "issued": issued.rfc3339() })
}

/// Parses published JSON; what was accepted is well-formed.
fn published(json: &str) -> Value {
    json!({ "value": value(json) })
}

fn value(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or(Value::Null)
}

fn definition(definition: &Definition) -> Value {
    let mut content = Map::from_iter([("value".to_owned(), value(&definition.json))]);
    let mut insert = |member: &str, value| content.insert(member.to_owned(), value);
    if let Some(before) = &definition.successor_of {
        insert("successor_of", json!(before.definition));
        insert("predecessor_valid_until", json!(before.until.rfc3339()));
    }
    if let Some(until) = definition.valid_until {
        insert("valid_until", json!(until.rfc3339()));
    }
    Value::Object(content)
}

fn revoked(entry: &RevocationEntry) -> Value {
    json!({
        "before": entry.before,
        "after": entry.after,
        "issued": entry.issued,
        "revoked": entry.revoked,
    })
}

fn resource(resource: &Resource) -> Value {
    let bytes = match &resource.data {
        ResourceData::Bytes(bytes) => Some(bytes.len()),
        ResourceData::Digest(_) => None,
    };
    json!({
        "name": resource.name,
        "type": resource.kind,
        "version": resource.version,
        "media_type": resource.media_type,
        "also_known_as": resource.also_known_as,
        "digest": hex_encode(&resource.data.digest()),
        "bytes": bytes,
    })
}

fn used(consume: &Consume) -> Value {
    json!({
        "type": consume.kind,
        "use": hex_encode(&use_digest(&consume.kind, &consume.handle)),
        "delegation": consume.delegation,
    })
}

fn agreement(agreement: &Agreement) -> Value {
    json!({
        "version": agreement.version,
        "digest": hex_encode(&agreement.digest),
        "mechanisms": agreement.mechanisms,
    })
}

fn validator(validator: &Validator) -> Value {
    json!({
        "name": validator.name,
        "key": validator.key.to_multikey(),
        "power": validator.power,
        "consensus_key": validator.consensus.as_ref().map(|key| key.to_multikey()),
    })
}

/// The rules of a network, each by its name.
#[must_use]
pub fn limits(rules: &Rules) -> Value {
    let limits = rules.named_limits().into_iter();
    let limits = limits.map(|(name, limit)| (name.to_owned(), json!(limit)));
    let mut members: Map<String, Value> = limits.collect();
    members.insert("mode".to_owned(), json!(rules.mode.name()));
    Value::Object(members)
}

/// A day since the epoch as a date.
fn day(day: u64) -> String {
    let time = UnixTime(day.saturating_mul(86_400)).rfc3339();
    time.chars().take(10).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use selfsame_crypto::encoding::hex_decode;
    use selfsame_crypto::{KeyType, PrivateKey};
    use selfsame_proof::cbor::CborItem as _;
    use selfsame_proof::validators::ValidatorSet;

    use super::*;
    use crate::Genesis;

    const VECTORS: &str = include_str!("../vectors/operations.txt");

    fn machine() -> StateMachine {
        let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
        let validator = Validator {
            name: "one".to_owned(),
            key: key.public().clone(),
            power: 1,
            consensus: None,
        };
        let validators = ValidatorSet::new(vec![validator]).unwrap();
        let genesis = Genesis::new("test", UnixTime(0), validators, Rules::default());
        StateMachine::new(genesis.unwrap())
    }

    fn operations() -> Vec<Operation> {
        let lines = VECTORS.split_once("----\n").unwrap().1.lines();
        let bytes = lines.map(|line| hex_decode(line.split_once(": ").unwrap().1).unwrap());
        bytes
            .filter_map(|bytes| Operation::from_cbor(&bytes).ok())
            .collect()
    }

    #[test]
    fn every_operation_has_a_name_a_subject_and_something_to_say() {
        let machine = machine();
        let describer = Describer {
            machine: &machine,
            author: "did:example:author",
        };
        let operations = operations();
        let mut kinds = BTreeSet::new();
        for operation in &operations {
            let described = describer.all(std::slice::from_ref(operation));
            assert!(!described.subject.is_empty(), "{operation:?}");
            assert!(!described.content.is_empty(), "{operation:?}");
            kinds.insert(described.kind);
        }
        // Using up and revoking are one operation with two names.
        assert_eq!(kinds.len(), 18, "{kinds:?}");
        let batch = describer.all(&operations);
        assert_eq!(batch.kind, "batch");
        let each = batch.content["operations"].as_array().unwrap();
        assert_eq!(each.len(), operations.len());
        assert!(
            each.iter()
                .all(|one| kinds.contains(one["kind"].as_str().unwrap()))
        );
    }

    #[test]
    fn the_handle_of_a_used_credential_is_not_shown_but_what_it_is_kept_under() {
        let machine = machine();
        let describer = Describer {
            machine: &machine,
            author: "did:example:author",
        };
        for operation in operations() {
            if let Operation::Consume(consume) = &operation {
                let described = describer.all(std::slice::from_ref(&operation));
                let text = Value::Object(described.content).to_string();
                assert!(!text.contains(&hex_encode(&consume.handle)));
                let digest = use_digest(&consume.kind, &consume.handle);
                assert!(text.contains(&hex_encode(&digest)));
            }
        }
    }
}
