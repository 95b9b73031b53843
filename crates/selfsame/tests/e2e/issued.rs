//! The times in credentials do not tell people apart.

use selfsame_crypto::encoding::base64url_decode;
use serde_json::{Value, json};

use crate::foreign::holder;
use crate::rig::World;

/// The payload that the issuer signed.
fn payload(credential: &str) -> Value {
    let jwt = credential.split('~').next().unwrap();
    let part = jwt.split('.').nth(1).unwrap();
    serde_json::from_slice(&base64url_decode(part).unwrap()).unwrap()
}

/// Every time in it: numbers in the range of present Unix times, and texts that are times.
fn instants(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Number(number) if number.as_u64().is_some_and(|at| at > 1_000_000_000) => {
            found.push(number.to_string());
        }
        Value::String(text)
            if text.len() > 19 && text.as_bytes()[10] == b'T' && text.ends_with('Z') =>
        {
            found.push(text.clone());
        }
        Value::Array(items) => items.iter().for_each(|item| instants(item, found)),
        Value::Object(members) => members.values().for_each(|item| instants(item, found)),
        _ => {}
    }
}

#[test]
fn times_in_credentials_of_every_format_are_whole_hours() {
    let world = World::start(&[]);
    for format in ["dc+sd-jwt", "jwt_vc_json", "vc+jwt"] {
        let credential = holder(&world, &json!({"format": format})).credential();
        let payload = payload(&credential);
        let mut found = Vec::new();
        instants(&payload, &mut found);
        assert!(!found.is_empty(), "{format}: {payload}");
        for instant in &found {
            let whole = match instant.parse::<u64>() {
                Ok(seconds) => seconds % 3600 == 0,
                Err(_) => instant.ends_with(":00:00Z"),
            };
            assert!(whole, "{format} tells {instant}: {payload}");
        }
    }
}
