//! The value under a key of the state, verified as a reader would who knows the genesis and trusts no node.

use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, Result};
use selfsame_proof::cbor::{Any, CborItem as _};
use selfsame_proof::read::{Bundle, Question, ReadOutcome, ReadPolicy, judge};
use selfsame_proof::tree::{MAX_KEY_BYTES, Proof};
use selfsame_registry::anoncreds::ObjectName;
use serde_json::{Value, json};

use super::Browser;
use crate::network::trust_root;
use crate::view::browse::{ObjectView, RuleView, VersionView};

/// Maximum number of versions shown.
const VERSIONS_MAX: u64 = 50;
/// Tolerated difference between the clocks of the reader and of the validators, in seconds.
const SKEW: u64 = 60;

impl Browser<'_> {
    /// The value under a key, or its absence, with the verification of its proof.
    ///
    /// # Errors
    /// `BadRequest` for an invalid key, and the registry's errors.
    pub async fn object(&self, key: &str, now: UnixTime) -> Result<ObjectView> {
        if key.is_empty() || key.len() > MAX_KEY_BYTES {
            return Err(Error::bad_request("key-length"));
        }
        let bundle = self.registry.read(key.as_bytes(), 0).await?;
        let policy = ReadPolicy::genuine(SKEW);
        let question = Question {
            key: key.as_bytes(),
            policy: &policy,
            now,
        };
        let report = judge(&bundle, &question, &trust_root(self.ledger.genesis()));
        let value = bundle.value.as_deref().map(readable);
        let rules = report.rules.into_iter().map(|rule| RuleView {
            name: rule.name.to_owned(),
            passed: rule.passed,
            detail: rule.detail,
            paragraph: rule.paragraph.to_owned(),
        });
        Ok(ObjectView {
            key: key.to_owned(),
            versions: self.versions(key, value.as_ref())?,
            value,
            bytes: bundle.value.as_ref().map_or(0, Vec::len),
            holds: report.outcome == ReadOutcome::Verified,
            rules: rules.collect(),
            signers: report.signers,
            height: report.as_of.map(|standing| standing.height),
            time: report.as_of.map(|standing| standing.time.rfc3339()),
            path: path(&bundle),
            handovers: bundle.handovers.len(),
            bundle_bytes: bundle.to_bytes().len(),
        })
    }

    /// The state's key for a name: a DID, an AnonCreds object, a resource, or a key itself.
    #[must_use]
    pub fn key_of(&self, name: &str) -> Option<String> {
        state_key(name, self.ledger.machine().network().as_str())
    }

    /// The last versions of a versioned value: it consists of the present number and whether that is the last.
    fn versions(&self, key: &str, value: Option<&Value>) -> Result<Vec<VersionView>> {
        let present = match value.and_then(Value::as_array).map(Vec::as_slice) {
            Some([Value::Number(present), Value::Bool(_)]) => present.as_u64().unwrap_or(0),
            _ => return Ok(Vec::new()),
        };
        let first = present.saturating_sub(VERSIONS_MAX).saturating_add(1);
        let mut versions = Vec::new();
        for number in (first..=present).rev() {
            let stored = self
                .ledger
                .store()
                .get(version_key(key, number).as_bytes())?;
            let receipt = stored
                .and_then(|bytes| Any::from_cbor(&bytes).ok())
                .and_then(|version| receipt(&version));
            if let Some((seq_no, height, time)) = receipt {
                versions.push(VersionView {
                    number,
                    seq_no,
                    height,
                    time: UnixTime(time).rfc3339(),
                });
            }
        }
        Ok(versions)
    }
}

fn version_key(key: &str, number: u64) -> String {
    format!("{key}/v/{number}")
}

/// The state's key for a name in this network. A text that is not a DID is itself a key.
#[must_use]
pub fn state_key(name: &str, network: &str) -> Option<String> {
    if !name.starts_with("did:") {
        let plain = !name.is_empty() && name.len() <= MAX_KEY_BYTES && name.is_ascii();
        return plain.then(|| name.to_owned());
    }
    let own = selfsame_did::selfsame::prefix(network);
    let rest = name.strip_prefix(&own)?;
    match rest.split_once('/') {
        None => Some(format!("did/{rest}")),
        Some((id, path)) => match path.strip_prefix("anoncreds/v0/") {
            Some(path) => {
                ObjectName::parse(name, network)?;
                Some(format!("anoncreds/{id}/{path}"))
            }
            None => {
                let uuid = path.strip_prefix("resources/")?;
                Some(format!("resource/{id}/{uuid}"))
            }
        },
    }
}

/// The hashes on the path to the object, or to the neighbour that proves its absence.
fn path(bundle: &Bundle) -> Vec<String> {
    let hashes = match &bundle.proof {
        Proof::Present(path) => path.hashes().to_vec(),
        Proof::Absent { left, right } => {
            let neighbour = left.as_ref().or(right.as_ref());
            neighbour.map_or_else(Vec::new, |neighbour| neighbour.path.hashes().to_vec())
        }
    };
    hashes.iter().map(|hash| hex_encode(hash)).collect()
}

/// CBOR as JSON for people: byte strings in hexadecimal.
fn readable(bytes: &[u8]) -> Value {
    fn of(any: &Any) -> Value {
        match any {
            Any::Uint(value) => json!(value),
            Any::Bool(value) => json!(value),
            Any::Text(value) => json!(value),
            Any::Bytes(value) => json!(hex_encode(value)),
            Any::Array(items) => items.iter().map(of).collect(),
        }
    }
    match Any::from_cbor(bytes) {
        Ok(any) => of(&any),
        Err(_) => json!(hex_encode(bytes)),
    }
}

/// The number, height and time of the transaction that made a version, from the receipt in it.
fn receipt(any: &Any) -> Option<(u64, u64, u64)> {
    let Any::Array(items) = any else { return None };
    match items.as_slice() {
        [
            Any::Uint(seq_no),
            Any::Uint(height),
            Any::Uint(time),
            Any::Bytes(hash),
        ] if hash.len() == 32 => Some((*seq_no, *height, *time)),
        items => items.iter().find_map(receipt),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_name_has_its_key_in_the_state() {
        let network = "abcdefghijkl";
        let did = format!("did:selfsame:{network}:WgWxqztrNooG92RXvxSTWv");
        let key = |name: &str| state_key(name, network);
        assert_eq!(key(&did).unwrap(), "did/WgWxqztrNooG92RXvxSTWv");
        assert_eq!(key("rules").unwrap(), "rules");
        let resource = format!("{did}/resources/9cc97dc8-ab3a-4a2e-9d5d-0a5f3f8a0a52");
        assert_eq!(
            key(&resource).unwrap(),
            "resource/WgWxqztrNooG92RXvxSTWv/9cc97dc8-ab3a-4a2e-9d5d-0a5f3f8a0a52"
        );
        for no_key in [
            "",
            "did:web:example.org",
            "did:selfsame:other:x",
            &format!("{did}/else"),
        ] {
            assert_eq!(key(no_key), None, "{no_key}");
        }
    }

    #[test]
    fn a_receipt_is_found_wherever_it_stands_in_a_version() {
        let receipt_of = vec![
            Any::Uint(7),
            Any::Uint(3),
            Any::Uint(99),
            Any::Bytes(vec![0; 32]),
        ];
        let version = Any::Array(vec![Any::Text("x".to_owned()), Any::Array(receipt_of)]);
        assert_eq!(receipt(&version), Some((7, 3, 99)));
        assert_eq!(receipt(&Any::Array(vec![Any::Uint(1)])), None);
    }
}
