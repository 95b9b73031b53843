//! The contents of the fake network: versions of documents, resources, and the registrar's jobs.

use std::collections::BTreeMap;

use selfsame_bench::fake_server::Reply;
use selfsame_crypto::encoding::{base64_decode, base64_encode, hex_encode};
use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Algorithm, PublicKey};
use serde_json::{Map, Value, json};

use super::{ENVELOPE, FakeFault, answered};

/// The time of the first version; each further version is one minute later.
const BEGINNING: u64 = 1_700_000_000;
const STEP: u64 = 60;

/// Everything that the fake network stores.
#[derive(Default)]
pub struct FakeLedger {
    dids: BTreeMap<String, Vec<FakeVersion>>,
    resources: BTreeMap<(String, String), FakeResource>,
    jobs: BTreeMap<String, FakeJob>,
    jobs_made: u64,
    waited: u64,
    clock: u64,
}

/// A version of a document.
#[derive(Clone, Debug)]
pub struct FakeVersion {
    /// The version's identifier.
    pub id: String,
    /// The document.
    pub document: Value,
    /// The time at which it was written.
    pub time: UnixTime,
    /// Whether this version deactivates the DID.
    pub deactivated: bool,
}

struct FakeResource {
    media_type: &'static str,
    bytes: Vec<u8>,
}

#[derive(Clone)]
struct FakeJob {
    operation: String,
    did: String,
    version: String,
    document: Value,
    is_done: bool,
}

impl FakeLedger {
    /// Writes a version of a document without checking any authority.
    pub fn write(&mut self, did: &str, id: &str, document: Value) {
        self.push(did, id, document, false);
    }

    /// Deactivates a DID without checking any authority.
    pub fn deactivate(&mut self, did: &str, id: &str) {
        let document = self.latest(did).map(|version| version.document.clone());
        self.push(did, id, document.unwrap_or_default(), true);
    }

    /// Writes a DID-linked resource.
    pub fn write_resource(&mut self, did: &str, id: &str, media_type: &'static str, bytes: &[u8]) {
        let bytes = bytes.to_vec();
        let at = (did.to_owned(), id.to_owned());
        self.resources
            .insert(at, FakeResource { media_type, bytes });
    }

    /// Forgets the registrar's jobs, as a registrar does after some minutes.
    pub fn forget_jobs(&mut self) {
        self.jobs.clear();
    }

    /// The versions of a DID, oldest first.
    pub fn versions(&self, did: &str) -> &[FakeVersion] {
        self.dids.get(did).map_or(&[], Vec::as_slice)
    }

    fn latest(&self, did: &str) -> Option<&FakeVersion> {
        self.versions(did).last()
    }

    fn push(&mut self, did: &str, id: &str, document: Value, deactivated: bool) {
        let time = UnixTime(BEGINNING.saturating_add(self.clock.saturating_mul(STEP)));
        self.clock = self.clock.saturating_add(1);
        self.dids
            .entry(did.to_owned())
            .or_default()
            .push(FakeVersion {
                id: id.to_owned(),
                document,
                time,
                deactivated,
            });
    }

    /// The resolver's HTTP status and answer.
    pub(super) fn resolve(
        &self,
        did: &str,
        query: Option<&str>,
        other_version: Option<&str>,
    ) -> (u16, Value) {
        let versions = self.versions(did);
        let asked: BTreeMap<_, _> =
            url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()).collect();
        let time = asked
            .get("versionTime")
            .map(|text| UnixTime::parse_rfc3339(text));
        let found = match (asked.get("versionId"), time) {
            _ if other_version.is_some() => versions.first(),
            (Some(id), _) => versions.iter().find(|version| version.id == **id),
            (None, Some(None)) => return (400, failure("invalidDidUrl")),
            (None, Some(Some(then))) => versions.iter().rfind(|version| version.time <= then),
            (None, None) => versions.last(),
        };
        let Some(version) = found else {
            return (404, failure("notFound"));
        };
        let first = versions.first().map_or(version.time, |first| first.time);
        let mut metadata = json!({
            "created": first.rfc3339(),
            "versionId": other_version.unwrap_or(&version.id),
            "linkedResourceMetadata": self.linked(did),
        });
        if version.time > first {
            metadata["updated"] = json!(version.time.rfc3339());
        }
        if version.deactivated {
            metadata["deactivated"] = json!(true);
        }
        let result = json!({
            "@context": "https://w3id.org/did-resolution/v1",
            "didResolutionMetadata": {
                "contentType": "application/did+ld+json",
                "retrieved": version.time.rfc3339(),
                "did": {"didString": did, "method": "cheqd"},
            },
            "didDocument": version.document,
            "didDocumentMetadata": metadata,
        });
        (200, result)
    }

    fn linked(&self, did: &str) -> Vec<Value> {
        let of_did = self.resources.iter().filter(|((of, _), _)| of == did);
        of_did
            .map(|((_, id), resource)| {
                json!({
                    "resourceURI": format!("{did}/resources/{id}"),
                    "resourceCollectionId": did.rsplit(':').next(),
                    "resourceId": id,
                    "resourceName": "Demo",
                    "resourceType": "String",
                    "mediaType": resource.media_type,
                    "checksum": hex_encode(&sha256(&resource.bytes)),
                })
            })
            .collect()
    }

    pub(super) fn resource(&self, did: &str, id: &str, is_altered: bool) -> Reply {
        match self.resources.get(&(did.to_owned(), id.to_owned())) {
            None => answered(404, ENVELOPE, &dereferencing_failure("notFound")),
            Some(resource) => {
                let mut body = resource.bytes.clone();
                if is_altered {
                    body.push(b' ');
                }
                Reply {
                    status: 200,
                    content_type: resource.media_type,
                    body,
                    ..Reply::default()
                }
            }
        }
    }

    pub(super) fn resource_metadata(&self, did: &str, id: &str) -> Reply {
        let mut linked = self.linked(did);
        linked.retain(|linked| linked["resourceId"] == id);
        if linked.is_empty() {
            return answered(404, ENVELOPE, &dereferencing_failure("notFound"));
        }
        let result = json!({
            "@context": "https://w3id.org/did-resolution/v1",
            "dereferencingMetadata": {"contentType": "application/ld+json"},
            "contentStream": null,
            "contentMetadata": {"linkedResourceMetadata": linked},
        });
        answered(200, ENVELOPE, &result)
    }

    /// The registrar's HTTP status and answer.
    pub(super) fn register(
        &mut self,
        operation: &str,
        body: &Value,
        fault: &FakeFault,
    ) -> (u16, Value) {
        if !matches!(operation, "create" | "update" | "deactivate") {
            return (404, json!({}));
        }
        let (name, job) = match body["jobId"].as_str() {
            None => match self.begin(operation, body) {
                Ok(begun) => begun,
                Err(reason) => return (400, failed(reason)),
            },
            Some(name) => match self.jobs.get(name) {
                Some(job) => (name.to_owned(), job.clone()),
                None => return (400, failed("The jobId is either expired or not found")),
            },
        };
        if job.is_done {
            return (200, finished(&name, &job.did));
        }
        if let FakeFault::Waits(times) = fault
            && body["jobId"].is_string()
            && self.waited < *times
        {
            self.waited = self.waited.saturating_add(1);
            self.keep_signatures(&name, body);
            let state = json!({"state": "wait", "wait": "Please wait", "waitTime": 10});
            return (200, json!({"jobId": name, "didState": state}));
        }
        let given = match body["secret"]["signingResponse"].as_object() {
            Some(given) => given.clone(),
            None => match self.jobs.get(&name).and_then(FakeJob::signatures) {
                Some(kept) => kept,
                None => return (200, self.wants_signatures(&name, &job, fault)),
            },
        };
        self.carry_out(&name, &job, &given, fault)
    }

    fn keep_signatures(&mut self, name: &str, body: &Value) {
        let given = &body["secret"]["signingResponse"];
        if let (Some(job), true) = (self.jobs.get_mut(name), given.is_object()) {
            job.document["kept"] = given.clone();
        }
    }

    fn begin(&mut self, operation: &str, body: &Value) -> Result<(String, FakeJob), &'static str> {
        let document = match operation {
            "create" => body["didDocument"].clone(),
            "update" => body["didDocument"][0].clone(),
            _ => Value::Null,
        };
        let did = body["did"].as_str().or(document["id"].as_str());
        let did = did.ok_or("Invalid payload")?.to_owned();
        let is_mode = body["options"]["clientSecretMode"] == true;
        let version = body["options"]["versionId"].as_str();
        let version = version.filter(|_| is_mode).ok_or("Invalid options")?;
        let is_there = self
            .latest(&did)
            .is_some_and(|version| !version.deactivated);
        if operation != "create" && !is_there {
            return Err("The DID does not exist or is Deactivated");
        }
        self.jobs_made = self.jobs_made.saturating_add(1);
        let name = format!("job-{}", self.jobs_made);
        let job = FakeJob {
            operation: operation.to_owned(),
            did,
            version: version.to_owned(),
            document,
            is_done: false,
        };
        self.jobs.insert(name.clone(), job.clone());
        Ok((name, job))
    }

    /// The keys that must sign: those of the current document and those of the new one.
    fn signers(&self, job: &FakeJob) -> BTreeMap<String, PublicKey> {
        let before = self.latest(&job.did).map(|version| &version.document);
        let mut keys = BTreeMap::new();
        for document in before.into_iter().chain([&job.document]) {
            let names = document["authentication"].as_array().into_iter().flatten();
            let names: Vec<&str> = names.filter_map(Value::as_str).collect();
            let methods = document["verificationMethod"].as_array();
            for method in methods.into_iter().flatten() {
                let (id, key) = (method["id"].as_str(), method["publicKeyMultibase"].as_str());
                let key = key.and_then(|key| PublicKey::from_multikey(key).ok());
                if let (Some(id), Some(key)) = (id.filter(|id| names.contains(id)), key) {
                    keys.insert(id.to_owned(), key);
                }
            }
        }
        keys
    }

    fn wants_signatures(&self, name: &str, job: &FakeJob, fault: &FakeFault) -> Value {
        let mut changed = job.clone();
        if fault == &FakeFault::AddsItsKey {
            let method = json!({"id": format!("{}#evil", job.did), "type": "Ed25519VerificationKey2020",
                "controller": job.did, "publicKeyMultibase": "z6Mkjhidm3FJxUo4FekqyhXGMqrDLnrw9NtuzfmGQ61UXW1e"});
            match changed.document["verificationMethod"].as_array_mut() {
                Some(methods) => methods.push(method),
                None => changed.version.push('0'),
            }
        }
        let payload = base64_encode(&payload(&changed));
        let signers = self.signers(job);
        let requests: Map<String, Value> = signers
            .keys()
            .enumerate()
            .map(|(n, kid)| {
                let kid = match fault {
                    FakeFault::NamesOtherKey => "did:cheqd:testnet:other#key-1",
                    _ => kid,
                };
                let request = json!({"kid": kid, "alg": "EdDSA", "serializedPayload": payload});
                (format!("signingRequest{n}"), request)
            })
            .collect();
        json!({
            "jobId": name,
            "didState": {
                "did": job.did, "state": "action", "action": "signPayload",
                "description": "Please sign", "signingRequest": requests, "secret": {},
            },
        })
    }

    fn carry_out(
        &mut self,
        name: &str,
        job: &FakeJob,
        given: &Map<String, Value>,
        fault: &FakeFault,
    ) -> (u16, Value) {
        let payload = payload(job);
        let is_signed = self.signers(job).iter().all(|(kid, key)| {
            given.values().any(|answer| {
                let signature = answer["signature"].as_str().unwrap_or_default();
                let signature = base64_decode(signature).unwrap_or_default();
                answer["kid"] == kid.as_str()
                    && key.verify(Algorithm::EdDsa, &payload, &signature).is_ok()
            })
        });
        if !is_signed {
            return (
                400,
                failed("Invalid payload: a signature is missing or wrong"),
            );
        }
        let versions = self.versions(&job.did);
        let is_taken = versions.iter().any(|version| version.id == job.version);
        if fault == &FakeFault::Refuses
            || is_taken
            || (job.operation == "create" && !versions.is_empty())
        {
            return (400, failed("Invalid payload: the network refuses"));
        }
        match job.operation.as_str() {
            "deactivate" => self.deactivate(&job.did, &job.version),
            _ => self.write(&job.did, &job.version, job.plain_document()),
        }
        if let Some(kept) = self.jobs.get_mut(name) {
            kept.is_done = true;
        }
        (201, finished(name, &job.did))
    }
}

impl FakeJob {
    fn signatures(&self) -> Option<Map<String, Value>> {
        self.document["kept"].as_object().cloned()
    }

    fn plain_document(&self) -> Value {
        let mut document = self.document.clone();
        if let Some(members) = document.as_object_mut() {
            members.remove("kept");
        }
        document
    }
}

fn finished(job: &str, did: &str) -> Value {
    json!({"jobId": job, "didState": {"did": did, "state": "finished", "secret": {}}})
}

fn failed(reason: &str) -> Value {
    json!({"jobId": null, "didState": {"did": "", "state": "failed", "reason": reason}})
}

fn failure(error: &str) -> Value {
    json!({
        "@context": "https://w3id.org/did-resolution/v1",
        "didResolutionMetadata": {"error": error},
        "didDocument": null,
        "didDocumentMetadata": {},
    })
}

fn dereferencing_failure(error: &str) -> Value {
    json!({"dereferencingMetadata": {"error": error}, "contentStream": null, "contentMetadata": {}})
}

/// The bytes to sign, as a registrar encodes them from the JSON it received (`cheqd/did/v2/tx.proto`).
fn payload(job: &FakeJob) -> Vec<u8> {
    let mut out = Vec::new();
    if job.operation == "deactivate" {
        field(&mut out, 1, job.did.as_bytes());
        field(&mut out, 2, job.version.as_bytes());
        return out;
    }
    let document = &job.document;
    let list = |name: &str| document[name].as_array().cloned().unwrap_or_default();
    for (number, name) in [(1, "@context"), (2, "id"), (3, "controller")] {
        texts(&mut out, number, &document[name]);
    }
    for method in list("verificationMethod") {
        let mut inner = Vec::new();
        for (number, name) in [
            (1, "id"),
            (2, "type"),
            (3, "controller"),
            (4, "publicKeyMultibase"),
        ] {
            texts(&mut inner, number, &method[name]);
        }
        field(&mut out, 4, &inner);
    }
    for (number, name) in [
        (5, "authentication"),
        (6, "assertionMethod"),
        (7, "capabilityInvocation"),
        (8, "capabilityDelegation"),
        (9, "keyAgreement"),
        (11, "alsoKnownAs"),
    ] {
        texts(&mut out, number, &document[name]);
    }
    field(&mut out, 12, job.version.as_bytes());
    out
}

fn texts(out: &mut Vec<u8>, number: u8, value: &Value) {
    match value {
        Value::String(text) => field(out, number, text.as_bytes()),
        Value::Array(all) => all.iter().for_each(|one| texts(out, number, one)),
        _ => {}
    }
}

/// A length-delimited field with a length below 16,384.
fn field(out: &mut Vec<u8>, number: u8, bytes: &[u8]) {
    out.push(number.saturating_mul(8) | 2);
    let length = u16::try_from(bytes.len()).expect("a short text");
    let [_, low] = (length & 0x7f).to_be_bytes();
    let [_, high] = (length >> 7).to_be_bytes();
    match high {
        0 => out.push(low),
        _ => out.extend([low | 0x80, high]),
    }
    out.extend_from_slice(bytes);
}
