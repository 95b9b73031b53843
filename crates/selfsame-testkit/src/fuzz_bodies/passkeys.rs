//! What browsers and authenticators send of passkeys.

use selfsame_crypto::encoding::hex_decode;
use selfsame_passkeys::{AttestationObject, AuthenticatorData, ClientData};
use serde_json::Value;

/// The answers of the specification.
const VECTORS: &str = include_str!("../../../../vectors/webauthn/level3.json");

/// An attestation object: nothing may follow it, and its data are among its bytes.
pub fn attestation_object(data: &[u8]) -> bool {
    let Ok(object) = AttestationObject::read(data) else {
        return false;
    };
    let format = object.format.as_bytes();
    assert!(holds(data, format) && holds(data, &object.data.rp_id_hash));
    assert!(AttestationObject::read(&[data, &[0]].concat()).is_err());
    checked(&object.data);
    true
}

/// Authenticator data: nothing may follow them or be missing.
pub fn authenticator_data(data: &[u8]) -> bool {
    let Ok(read) = AuthenticatorData::read(data) else {
        return false;
    };
    assert!(data.starts_with(&read.rp_id_hash));
    assert!(AuthenticatorData::read(&[data, &[0]].concat()).is_err());
    assert!(AuthenticatorData::read(&data[..data.len() - 1]).is_err());
    checked(&read);
    true
}

/// Client data: JSON, with the origin that is in it.
pub fn client_data(data: &[u8]) -> bool {
    let Ok(read) = ClientData::read(data) else {
        return false;
    };
    let json: Value = serde_json::from_slice(data).expect("it is JSON");
    assert_eq!(json["origin"], read.origin);
    let framed = json["crossOrigin"] == true || json.get("topOrigin").is_some_and(Value::is_string);
    assert_eq!(framed, read.is_framed);
    true
}

/// Only what may be copied is copied, and an id is bounded.
fn checked(data: &AuthenticatorData) {
    assert!(data.flags.is_backup_eligible() || !data.flags.is_backed_up());
    if let Some(attested) = &data.attested {
        assert!((1..=1023).contains(&attested.id.len()));
    }
}

fn holds(data: &[u8], part: &[u8]) -> bool {
    part.is_empty() || data.windows(part.len()).any(|window| window == part)
}

pub(super) fn object_seeds() -> Vec<Vec<u8>> {
    // The key of one case is of an algorithm that is not offered.
    let all = members("registration", "attestationObject").into_iter();
    all.filter(|object| AttestationObject::read(object).is_ok())
        .collect()
}

pub(super) fn data_seeds() -> Vec<Vec<u8>> {
    members("authentication", "authenticatorData")
}

pub(super) fn client_seeds() -> Vec<Vec<u8>> {
    members("registration", "clientDataJSON")
}

fn members(ceremony: &str, name: &str) -> Vec<Vec<u8>> {
    let vectors: Value = serde_json::from_str(VECTORS).expect("the vectors are JSON");
    let cases = vectors["cases"].as_array().expect("there are cases");
    let texts = cases.iter().map(|case| case[ceremony][name].as_str());
    let bytes = texts.map(|text| hex_decode(text.expect("it is a text")));
    bytes
        .map(|bytes| bytes.expect("it is hexadecimal"))
        .collect()
}
