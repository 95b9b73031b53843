//! Our crate behind the calls of `oracle.py`, with equal arguments: JSON texts in, JSON texts out.

mod kept;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use selfsame_anoncreds::Error;
use selfsame_anoncreds::cl::revocation::{IssuedAtStart as FirstList, TailsFile};
use selfsame_anoncreds::cl::{KeyCorrectnessProof, LinkSecret};
use selfsame_anoncreds::definition::{KeyCache, PreparedDefinition};
use selfsame_anoncreds::format::{
    Credential, CredentialDefinition, CredentialDefinitionId, CredentialOffer, CredentialRequest,
    CredentialRequestMetadata, CredentialValues, Encoding, Holder, IssuerId, Message, Presentation,
    PresentationRequest, RevocationRegistryDefinition, RevocationRegistryId,
    RevocationRegistryPrivate, RevocationState, RevocationStatusList, Schema, SchemaId,
    SelfAttested, Text as _, encode_attribute,
};
use selfsame_anoncreds::holder::{
    Chosen, Expected, NamedSecret, Revocable, create_credential_request, create_link_secret,
    create_presentation, process_credential, update_revocation_state,
};
use selfsame_anoncreds::issuer::{
    Issuance, Issuer, ListUpdate, NewDefinition, NewRegistry, Place, Registry,
    create_credential_definition, create_offer, create_schema, find_safe_primes, first_safe_prime,
};
use selfsame_anoncreds::verifier::{KnownObjects, Policy, generate_nonce, verify_presentation};
use serde_json::{Value, json};

use self::kept::Kept;
use crate::ctx;
use crate::party::Party;

/// Our crate, with caches of what a caller would keep: definitions, issuers, schemas, registries, tails.
#[derive(Default)]
pub struct Ours {
    definitions: Kept<Rc<CredentialDefinition>>,
    keys: KeyCache,
    issuers: Kept<Rc<Issuer>>,
    schemas: Kept<Rc<Schema>>,
    registries: Kept<Rc<RevocationRegistryDefinition>>,
    tails: Kept<&'static TailsFile<'static>>,
}

type Answer = Result<Value, String>;

impl Ours {
    /// Begins with empty caches.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ten definitions in one cache, all tables built: the cached ones here, in turn under ten names.
    #[allow(dead_code, reason = "the bench asks, the tests do not")]
    pub fn ten_definitions(&self) -> Result<KeyCache, Error> {
        let mut cache = KeyCache::default();
        let known: Vec<_> = self.definitions.all().collect();
        for (number, known) in (0..10).zip(known.iter().cycle()) {
            let id = CredentialDefinitionId::new(format!("did:example:issuer/cred-def/{number}"))?;
            cache.definition(&id, known)?.prepare();
        }
        assert_eq!(cache.len(), 10, "the cache has room for all ten");
        Ok(cache)
    }

    fn definition(
        &mut self,
        id: &CredentialDefinitionId,
        text: &Value,
    ) -> Result<PreparedDefinition, String> {
        let definition = self.definitions.get(read(text)?, |text| {
            Ok(Rc::new(Message::from_json(text.as_bytes())?))
        })?;
        self.keys.definition(id, &definition).map_err(self::text)
    }

    /// An issuer and a verifier of one definition share one set of tables.
    fn issuer(
        &mut self,
        id: &CredentialDefinitionId,
        arguments: &Value,
    ) -> Result<Rc<Issuer>, String> {
        let prepared = self.definition(id, &arguments["cred_def"])?;
        let cred_def = read(&arguments["cred_def"])?;
        let private = read(&arguments["cred_def_private"])?;
        self.issuers.get_both((cred_def, private), |_, private| {
            let private = Message::from_json(private.as_bytes())?;
            Ok(Rc::new(Issuer::of(prepared, &private)?))
        })
    }

    fn schema_of(&mut self, text: &Value) -> Result<Rc<Schema>, String> {
        self.schemas.get(read(text)?, |text| {
            Ok(Rc::new(Message::from_json(text.as_bytes())?))
        })
    }

    fn registry_of(&mut self, text: &Value) -> Result<Rc<RevocationRegistryDefinition>, String> {
        self.registries.get(read(text)?, |text| {
            Ok(Rc::new(Message::from_json(text.as_bytes())?))
        })
    }

    /// A tails file, checked once and cached for the whole run.
    fn tails(
        &mut self,
        path: &str,
        registry: &RevocationRegistryDefinition,
    ) -> Result<&'static TailsFile<'static>, String> {
        let value = &registry.value;
        let hash = &value.tails_hash;
        self.tails.get_both((path, hash), |path, hash| {
            let bytes =
                std::fs::read(path).map_err(|_| Error::Registry("there is no such tails file"))?;
            let bytes: &'static [u8] = bytes.leak();
            Ok(Box::leak(Box::new(TailsFile::checked(
                bytes,
                value.max_cred_num,
                hash,
            )?)))
        })
    }

    fn schema(&mut self, a: &Value) -> Answer {
        let attributes: Vec<&str> = list(&a["attributes"])
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let issuer = IssuerId::new(read(&a["issuer_id"])?).map_err(text)?;
        let schema = create_schema(
            read(&a["name"])?,
            read(&a["version"])?,
            &issuer,
            &attributes,
        );
        write(&schema.map_err(text)?)
    }

    fn credential_definition(&mut self, a: &Value) -> Answer {
        let new = NewDefinition {
            schema_id: &SchemaId::new(read(&a["schema_id"])?).map_err(text)?,
            schema: &*self.schema_of(&a["schema"])?,
            issuer_id: &IssuerId::new(read(&a["issuer_id"])?).map_err(text)?,
            tag: read(&a["tag"])?,
            revocable: a["revocation"] == true,
        };
        let ctx = ctx();
        let made =
            create_credential_definition(&new, &find_safe_primes(&ctx), &ctx).map_err(text)?;
        Ok(json!([
            write(&made.definition)?,
            write(&made.private)?,
            write(&made.correctness)?
        ]))
    }

    fn offer(&mut self, a: &Value) -> Answer {
        let proof: KeyCorrectnessProof = message(&a["key_correctness_proof"])?;
        let schema_id = SchemaId::new(read(&a["schema_id"])?).map_err(text)?;
        let cred_def_id = CredentialDefinitionId::new(read(&a["cred_def_id"])?).map_err(text)?;
        write(&create_offer(&schema_id, &cred_def_id, &proof, &ctx()))
    }

    fn request(&mut self, a: &Value) -> Answer {
        let holder = match (a["entropy"].as_str(), a["prover_did"].as_str()) {
            (Some(entropy), None) => Holder::Entropy(entropy),
            (None, Some(did)) => Holder::Did(did),
            _ => return Err("either entropy or a DID".to_owned()),
        };
        let offer: CredentialOffer = message(&a["offer"])?;
        let definition = self.definition(&offer.cred_def_id, &a["cred_def"])?;
        let secret = link_secret(a)?;
        let named = NamedSecret {
            secret: &secret,
            name: read(&a["link_secret_id"])?,
        };
        let made = create_credential_request(holder, named, &definition, &offer, &ctx());
        let (request, metadata) = made.map_err(text)?;
        Ok(json!([write(&request)?, write(&metadata)?]))
    }

    fn registry(&mut self, a: &Value) -> Answer {
        let cred_def_id = CredentialDefinitionId::new(read(&a["cred_def_id"])?).map_err(text)?;
        let issuer = self.issuer(&cred_def_id, a)?;
        let new = NewRegistry {
            cred_def_id: &cred_def_id,
            tag: read(&a["tag"])?,
            size: place(&a["size"])?,
            tails_location: "not yet known",
        };
        let mut tails = Vec::new();
        let made = issuer.create_registry(&new, &ctx(), |bytes| {
            tails.extend_from_slice(bytes);
            Ok(())
        });
        let (mut definition, private) = made.map_err(text)?;
        let path = format!(
            "{}/{}",
            read(&a["tails_directory"])?,
            definition.value.tails_hash
        );
        std::fs::write(&path, tails).map_err(|error| error.to_string())?;
        definition.value.tails_location = path;
        Ok(json!([write(&definition)?, write(&private)?]))
    }

    fn status_list(&mut self, a: &Value) -> Answer {
        let definition = self.registry_of(&a["registry"])?;
        let issuer = self.issuer(&definition.cred_def_id, a)?;
        let private: RevocationRegistryPrivate = message(&a["registry_private"])?;
        let registry = Registry {
            definition: &definition,
            private: &private,
        };
        let id = RevocationRegistryId::new(read(&a["registry_id"])?).map_err(text)?;
        let first = if a["by_default"] == true {
            FirstList::ByDefault
        } else {
            FirstList::OnDemand
        };
        write(
            &issuer
                .create_status_list(&id, &registry, first, a["timestamp"].as_u64())
                .map_err(text)?,
        )
    }

    fn update_status_list(&mut self, a: &Value) -> Answer {
        let definition = self.registry_of(&a["registry"])?;
        let issuer = self.issuer(&definition.cred_def_id, a)?;
        let private: RevocationRegistryPrivate = message(&a["registry_private"])?;
        let registry = Registry {
            definition: &definition,
            private: &private,
        };
        let before: RevocationStatusList = message(&a["list"])?;
        let update = ListUpdate {
            issued: places(&a["issued"])?,
            revoked: places(&a["revoked"])?,
            timestamp: a["timestamp"].as_u64(),
        };
        write(
            &issuer
                .update_status_list(&registry, &before, &update)
                .map_err(text)?,
        )
    }

    fn issue(&mut self, a: &Value) -> Answer {
        let offer: CredentialOffer = message(&a["offer"])?;
        let issuer = self.issuer(&offer.cred_def_id, a)?;
        let request: CredentialRequest = message(&a["request"])?;
        let raw = a["values"].as_object().ok_or("values are missing")?;
        let values = CredentialValues::of(
            raw.iter()
                .map(|(name, raw)| (name.as_str(), raw.as_str().unwrap_or(""))),
        );
        let of = &a["revocation"];
        let (definition, private, list): (_, RevocationRegistryPrivate, RevocationStatusList);
        let mut issued_at = None;
        if !of.is_null() {
            definition = self.registry_of(&of["registry"])?;
            private = message(&of["registry_private"])?;
            list = message(&of["list"])?;
            issued_at = Some(Place {
                registry: Registry {
                    definition: &definition,
                    private: &private,
                },
                list: &list,
                index: place(&of["index"])?,
            });
        }
        let issuance = Issuance {
            offer: &offer,
            request: &request,
            values: &values,
            place: issued_at,
        };
        write(&issuer.create_credential(&issuance, &ctx()).map_err(text)?)
    }

    fn process(&mut self, a: &Value) -> Answer {
        let credential: Credential = message(&a["credential"])?;
        let metadata: CredentialRequestMetadata = message(&a["metadata"])?;
        let registry = some(&a["registry"])
            .map(|text| self.registry_of(text))
            .transpose()?;
        let expected = Expected {
            metadata: &metadata,
            link_secret: &link_secret(a)?,
            definition: &self.definition(&credential.cred_def_id, &a["cred_def"])?,
            registry: credential.rev_reg_id.as_ref().zip(registry.as_deref()),
            encoding: Encoding::Recommended,
        };
        write(&process_credential(&credential, &expected).map_err(text)?)
    }

    fn state(&mut self, a: &Value) -> Answer {
        let credential: Credential = message(&a["credential"])?;
        let definition = self.definition(&credential.cred_def_id, &a["cred_def"])?;
        let registry = self.registry_of(&a["registry"])?;
        let tails = self.tails(read(&a["tails"])?, &registry)?;
        let of = Revocable {
            credential: &credential,
            definition: &definition,
            registry: &registry,
            tails,
        };
        let list: RevocationStatusList = message(&a["list"])?;
        let older: Option<RevocationState> = some(&a["state"]).map(message).transpose()?;
        let older_list: Option<RevocationStatusList> =
            some(&a["old_list"]).map(message).transpose()?;
        let older = older.as_ref().zip(older_list.as_ref());
        write(&update_revocation_state(&of, &list, older).map_err(text)?)
    }

    fn present(&mut self, a: &Value) -> Answer {
        let request: PresentationRequest = message(&a["request"])?;
        let mut cards = Vec::new();
        for choice in list(&a["credentials"]) {
            let credential: Credential = message(&choice["credential"])?;
            let state: Option<RevocationState> = some(&choice["state"]).map(message).transpose()?;
            let text = &a["cred_defs"][credential.cred_def_id.as_str()];
            let definition = self.definition(&credential.cred_def_id, text)?;
            cards.push((credential, state, definition, choice));
        }
        let chosen: Vec<Chosen<'_>> = cards
            .iter()
            .map(|(credential, state, definition, choice)| Chosen {
                credential,
                definition,
                attributes: shown(&choice["attributes"]),
                predicates: list(&choice["predicates"])
                    .iter()
                    .filter_map(Value::as_str)
                    .map(str::to_owned)
                    .collect(),
                state: state.as_ref(),
            })
            .collect();
        let attested = a["self_attested"].as_object().into_iter().flatten();
        let attested = attested.map(|(name, value)| {
            (
                name.clone(),
                SelfAttested(value.as_str().unwrap_or("").to_owned()),
            )
        });
        let (attested, secret) = (attested.collect(), link_secret(a)?);
        let made = create_presentation(&request, &chosen, &attested, &secret, &ctx());
        write(&made.map_err(text)?)
    }

    fn verify(&mut self, a: &Value) -> Answer {
        let request: PresentationRequest = message(&a["request"])?;
        let presentation: Presentation = message(&a["presentation"])?;
        let (mut schemas, mut definitions, mut registries) =
            (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for (id, text) in a["schemas"].as_object().into_iter().flatten() {
            schemas.insert(
                SchemaId::new(id).map_err(self::text)?,
                self.schema_of(text)?,
            );
        }
        for (id, text) in a["cred_defs"].as_object().into_iter().flatten() {
            let id = CredentialDefinitionId::new(id).map_err(self::text)?;
            let definition = self.definition(&id, text)?;
            definitions.insert(id, definition);
        }
        for (id, text) in a["registries"].as_object().into_iter().flatten() {
            registries.insert(
                RevocationRegistryId::new(id).map_err(self::text)?,
                self.registry_of(text)?,
            );
        }
        let lists: Vec<RevocationStatusList> = list(&a["lists"])
            .iter()
            .map(message)
            .collect::<Result<_, _>>()?;
        let known = KnownObjects {
            schemas: schemas
                .iter()
                .map(|(id, schema)| (id.clone(), &**schema))
                .collect(),
            definitions: definitions
                .iter()
                .map(|(id, definition)| (id.clone(), definition))
                .collect(),
            registries: registries
                .iter()
                .map(|(id, registry)| (id.clone(), &**registry))
                .collect(),
            lists: lists.iter().collect(),
            ..KnownObjects::default()
        };
        let verdict = verify_presentation(&presentation, &request, &known, &Policy::default());
        match verdict.verdict.reason() {
            None => Ok(json!(true)),
            Some(rule) => Err(format!("{}: {}", rule.name, rule.detail)),
        }
    }

    fn safe_prime_from(&mut self, a: &Value) -> Answer {
        let digits = read(&a["start"])?;
        let whole = format!("{}{digits}", if digits.len() % 2 == 1 { "0" } else { "" });
        let byte = |pair: &[u8]| {
            let pair = std::str::from_utf8(pair).ok()?;
            u8::from_str_radix(pair, 16).ok()
        };
        let start: Option<Vec<u8>> = whole.as_bytes().chunks(2).map(byte).collect();
        let found = first_safe_prime(&start.ok_or("it is not hexadecimal")?);
        Ok(found.map_or(Value::Null, |prime| {
            let digits: String = prime.iter().map(|byte| format!("{byte:02x}")).collect();
            json!(digits.trim_start_matches('0'))
        }))
    }

    fn encode(&mut self, a: &Value) -> Answer {
        let values = a["values"].as_object().ok_or("values are missing")?;
        let encoded = values.iter().map(|(name, raw)| {
            (
                name.clone(),
                json!(encode_attribute(raw.as_str().unwrap_or(""))),
            )
        });
        Ok(Value::Object(encoded.collect()))
    }
}

impl Party for Ours {
    fn name(&self) -> &'static str {
        "ours"
    }

    fn call(&mut self, call: &str, arguments: &Value) -> Answer {
        match call {
            "schema" => self.schema(arguments),
            "credential_definition" => self.credential_definition(arguments),
            "offer" => self.offer(arguments),
            "link_secret" => Ok(json!(*create_link_secret(&ctx()).to_decimal())),
            "nonce" => Ok(json!(generate_nonce(&ctx()).as_str())),
            "request" => self.request(arguments),
            "registry" => self.registry(arguments),
            "status_list" => self.status_list(arguments),
            "update_status_list" => self.update_status_list(arguments),
            "issue" => self.issue(arguments),
            "process" => self.process(arguments),
            "state" => self.state(arguments),
            "present" => self.present(arguments),
            "verify" => self.verify(arguments),
            "safe_prime_from" => self.safe_prime_from(arguments),
            "encode" => self.encode(arguments),
            _ => panic!("there is no call {call}"),
        }
    }
}

#[allow(
    clippy::needless_pass_by_value,
    reason = "it is what `map_err` hands over"
)]
fn text(error: Error) -> String {
    error.to_string()
}

fn read(text: &Value) -> Result<&str, String> {
    text.as_str()
        .ok_or_else(|| "an argument is missing".to_owned())
}

fn some(value: &Value) -> Option<&Value> {
    (!value.is_null()).then_some(value)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn message<M: Message>(json: &Value) -> Result<M, String> {
    M::from_json(read(json)?.as_bytes()).map_err(text)
}

fn write<M: Message>(message: &M) -> Answer {
    let written = message.to_json().map_err(text)?;
    Ok(Value::String(written.as_json().to_owned()))
}

fn link_secret(a: &Value) -> Result<LinkSecret, String> {
    LinkSecret::from_decimal(read(&a["link_secret"])?).map_err(text)
}

fn place(number: &Value) -> Result<u32, String> {
    number
        .as_u64()
        .and_then(|number| number.try_into().ok())
        .ok_or_else(|| "a place is missing".to_owned())
}

fn places(numbers: &Value) -> Result<BTreeSet<u32>, String> {
    list(numbers).iter().map(place).collect()
}

fn shown(pairs: &Value) -> BTreeMap<String, bool> {
    let pair = |pair: &Value| Some((pair[0].as_str()?.to_owned(), pair[1] == true));
    list(pairs).iter().filter_map(pair).collect()
}
