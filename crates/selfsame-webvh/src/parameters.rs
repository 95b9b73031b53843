//! The parameters of entries: what an entry states, and what is in force after it (did:webvh v1.0, "`did:webvh` DID
//! Method Parameters").

use std::collections::BTreeSet;

use selfsame_crypto::{KeyType, PublicKey};
use selfsame_did::Did;
use selfsame_did::method::key;
use selfsame_did::method::webvh::{is_multihash, multihash};
use serde_json::{Map, Value, json};
use url::Url;

use crate::fault::{EntryFault, PreRotationFault};

/// The version of the specification, the only one that is supported.
pub(crate) const METHOD: &str = "did:webvh:1.0";
/// The time for which a resolver may cache the DID if the log does not state one, in seconds.
const TTL: u64 = 3600;
/// The longest time for which a resolver may cache the DID, in seconds.
const TTL_MAX: u64 = 1 << 31;
/// The maximum number of keys, hashes, witnesses or watchers.
pub(crate) const MAX_LIST: usize = 64;
/// The maximum length of a key, hash or address, in bytes.
const MAX_TEXT: usize = 2048;

/// The parameters that an entry states. A member that is absent keeps its value.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct EntryParameters {
    /// Whether the version of the specification is stated.
    pub(crate) method: bool,
    pub(crate) scid: Option<String>,
    pub(crate) update_keys: Option<Vec<String>>,
    pub(crate) next_key_hashes: Option<Vec<String>>,
    pub(crate) witness: Option<Witnesses>,
    pub(crate) watchers: Option<Vec<String>>,
    pub(crate) portable: Option<bool>,
    pub(crate) deactivated: Option<bool>,
    pub(crate) ttl: Option<u64>,
}

/// Witnesses and how many of them must approve.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Witnesses {
    /// How many of them must approve; 0 without witnesses.
    pub threshold: usize,
    /// Their DIDs.
    pub ids: Vec<Did>,
}

/// The parameters in force after an entry.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Active {
    /// The keys that may sign the next entry, unless pre-rotation is on.
    pub update_keys: Vec<String>,
    /// The hashes of the keys of the next entry; pre-rotation is on unless it is empty.
    pub next_key_hashes: Vec<String>,
    /// The witnesses of the next entry.
    pub witness: Witnesses,
    /// Those who watch the DID.
    pub watchers: Vec<String>,
    /// Whether the DID may move to another place.
    pub portable: bool,
    /// Whether the DID has ended.
    pub deactivated: bool,
    /// The time for which a resolver may cache the DID, in seconds.
    pub ttl: u64,
}

impl Default for Active {
    fn default() -> Self {
        Self {
            update_keys: Vec::new(),
            next_key_hashes: Vec::new(),
            witness: Witnesses::default(),
            watchers: Vec::new(),
            portable: false,
            deactivated: false,
            ttl: TTL,
        }
    }
}

impl EntryParameters {
    /// Reads the parameters of an entry. `null` counts as the default: some wrote it before version 1.0.
    pub(crate) fn read(members: &Map<String, Value>) -> Result<Self, EntryFault> {
        let mut read = Self::default();
        for (name, value) in members {
            read.take(name, value)?;
        }
        Ok(read)
    }

    fn take(&mut self, name: &str, value: &Value) -> Result<(), EntryFault> {
        let is_null = value.is_null();
        match name {
            "method" if value == METHOD => self.method = true,
            "method" => return Err(EntryFault::Parameter("method")),
            "scid" => {
                let scid = value.as_str().filter(|scid| is_multihash(scid));
                self.scid = Some(scid.ok_or(EntryFault::Parameter("scid"))?.to_owned());
            }
            "updateKeys" => self.update_keys = Some(texts(value, "updateKeys")?),
            "nextKeyHashes" => self.next_key_hashes = Some(texts(value, "nextKeyHashes")?),
            "witness" => self.witness = Some(Witnesses::read(value)?),
            "watchers" => {
                let watchers = texts(value, "watchers")?;
                let is_url = |text: &String| Url::parse(text).is_ok();
                if !watchers.iter().all(is_url) {
                    return Err(EntryFault::Parameter("watchers"));
                }
                self.watchers = Some(watchers);
            }
            "portable" => self.portable = Some(boolean(value, "portable")?),
            "deactivated" => self.deactivated = Some(boolean(value, "deactivated")?),
            "ttl" if is_null => self.ttl = Some(TTL),
            "ttl" => {
                let ttl = value.as_u64().filter(|ttl| *ttl <= TTL_MAX);
                self.ttl = Some(ttl.ok_or(EntryFault::Parameter("ttl"))?);
            }
            _ => return Err(EntryFault::Parameter("of another name")),
        }
        Ok(())
    }

    /// As an entry has them.
    pub(crate) fn to_value(&self) -> Value {
        let mut members = Map::new();
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                members.insert(name.to_owned(), value);
            }
        };
        put("method", self.method.then(|| Value::from(METHOD)));
        put("scid", self.scid.clone().map(Value::from));
        put("updateKeys", self.update_keys.clone().map(Value::from));
        put(
            "nextKeyHashes",
            self.next_key_hashes.clone().map(Value::from),
        );
        put("witness", self.witness.as_ref().map(Witnesses::to_value));
        put("watchers", self.watchers.clone().map(Value::from));
        put("portable", self.portable.map(Value::from));
        put("deactivated", self.deactivated.map(Value::from));
        put("ttl", self.ttl.map(Value::from));
        Value::Object(members)
    }

    /// What is in force after the first entry.
    pub(crate) fn first(&self) -> Result<Active, EntryFault> {
        if !self.method {
            return Err(EntryFault::Parameter("method"));
        }
        if self.scid.is_none() {
            return Err(EntryFault::Parameter("scid"));
        }
        if self.update_keys.is_none() {
            return Err(EntryFault::Parameter("updateKeys"));
        }
        Ok(self.over(&Active::default()))
    }

    /// What is in force after a later entry.
    pub(crate) fn after(&self, before: &Active) -> Result<Active, EntryFault> {
        if self.scid.is_some() {
            return Err(EntryFault::Parameter("scid"));
        }
        if self.portable == Some(true) {
            return Err(EntryFault::Parameter("portable"));
        }
        self.keeps_commitment(before)?;
        Ok(self.over(before))
    }

    /// did:webvh v1.0, "Read (Resolve)" step 7: with pre-rotation on, the entry states its keys, and all of them are
    /// keys to which the entry before committed.
    fn keeps_commitment(&self, before: &Active) -> Result<(), PreRotationFault> {
        if before.next_key_hashes.is_empty() {
            return Ok(());
        }
        let keys = self.update_keys.as_ref();
        let keys = keys.ok_or(PreRotationFault::Missing("updateKeys"))?;
        if self.next_key_hashes.is_none() {
            return Err(PreRotationFault::Missing("nextKeyHashes"));
        }
        let is_committed =
            |key: &String| before.next_key_hashes.contains(&multihash(key.as_bytes()));
        match keys.iter().all(is_committed) {
            true => Ok(()),
            false => Err(PreRotationFault::Uncommitted),
        }
    }

    fn over(&self, before: &Active) -> Active {
        fn or<T: Clone>(stated: &Option<T>, before: &T) -> T {
            stated.as_ref().unwrap_or(before).clone()
        }
        Active {
            update_keys: or(&self.update_keys, &before.update_keys),
            next_key_hashes: or(&self.next_key_hashes, &before.next_key_hashes),
            witness: or(&self.witness, &before.witness),
            watchers: or(&self.watchers, &before.watchers),
            portable: self.portable.unwrap_or(before.portable),
            deactivated: self.deactivated.unwrap_or(before.deactivated),
            ttl: self.ttl.unwrap_or(before.ttl),
        }
    }
}

impl Witnesses {
    /// Reads the parameter. `{}` is no witnesses; anything else is complete.
    fn read(value: &Value) -> Result<Self, EntryFault> {
        let malformed = || EntryFault::Parameter("witness");
        let members = match value {
            Value::Null => return Ok(Self::default()),
            Value::Object(members) if members.is_empty() => return Ok(Self::default()),
            Value::Object(members) => members,
            _ => return Err(malformed()),
        };
        let listed = members.get("witnesses").and_then(Value::as_array);
        let listed = listed.filter(|listed| listed.len() <= MAX_LIST);
        let ids: Option<Vec<Did>> = listed.ok_or_else(malformed)?.iter().map(witness).collect();
        let ids = ids.ok_or_else(malformed)?;
        let distinct: BTreeSet<&Did> = ids.iter().collect();
        let threshold = members.get("threshold").and_then(Value::as_u64);
        let threshold = threshold.and_then(|threshold| usize::try_from(threshold).ok());
        let threshold = threshold.filter(|threshold| (1..=ids.len()).contains(threshold));
        match threshold {
            Some(threshold) if members.len() == 2 && distinct.len() == ids.len() => {
                Ok(Self { threshold, ids })
            }
            _ => Err(malformed()),
        }
    }

    pub(crate) fn to_value(&self) -> Value {
        if self.ids.is_empty() {
            return json!({});
        }
        let ids: Vec<Value> = self.ids.iter().map(|id| json!({ "id": id })).collect();
        json!({ "threshold": self.threshold, "witnesses": ids })
    }

    /// Whether entries need no approval.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

/// The DID of a witness: the did:key of an Ed25519 key.
fn witness(value: &Value) -> Option<Did> {
    let members = value.as_object().filter(|members| members.len() == 1)?;
    let did = Did::parse(members.get("id")?.as_str()?).ok()?;
    ed25519_of(&did).map(|_| did)
}

/// The key of a did:key, if it is an Ed25519 key.
pub(crate) fn ed25519_of(did: &Did) -> Option<PublicKey> {
    let is_key = did.method() == key::METHOD.name;
    let key = is_key.then(|| PublicKey::from_multikey(did.method_id()));
    let key = key?.ok()?;
    // Each key has one multikey in base58: another base would be a second name of the same witness.
    let is_only = key.key_type() == KeyType::Ed25519 && key.to_multikey() == did.method_id();
    is_only.then_some(key)
}

fn texts(value: &Value, name: &'static str) -> Result<Vec<String>, EntryFault> {
    let malformed = EntryFault::Parameter(name);
    let all = match value {
        Value::Null => return Ok(Vec::new()),
        Value::Array(all) if all.len() <= MAX_LIST => all,
        _ => return Err(malformed),
    };
    let text = |one: &Value| {
        let text = one.as_str().filter(|text| text.len() <= MAX_TEXT);
        text.map(str::to_owned)
    };
    all.iter().map(text).collect::<Option<_>>().ok_or(malformed)
}

fn boolean(value: &Value, name: &'static str) -> Result<bool, EntryFault> {
    match value {
        Value::Null => Ok(false),
        Value::Bool(value) => Ok(*value),
        _ => Err(EntryFault::Parameter(name)),
    }
}
