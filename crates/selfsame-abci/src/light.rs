//! The calls that a light client may make to the engine through this node's HTTP: headers, validators and limits only.

use std::collections::BTreeMap;

use selfsame_crypto::json::{self, Limits};
use selfsame_driver::{Error, Result};
use serde::Deserialize;
use serde_json::{Value, json};

/// The methods of the engine's RPC that are passed on. Each returns what validators have signed, or what a hash in it
/// covers.
const METHODS: [&str; 3] = ["commit", "validators", "consensus_params"];
/// The parameters of these methods; all are numbers.
const NUMBERS: [&str; 3] = ["height", "page", "per_page"];
/// The maximum length of a number, in digits.
const DIGITS_MAX: usize = 19;
const LIMITS: Limits = Limits {
    max_bytes: 1_024,
    max_depth: 3,
    max_members: 16,
};

/// A call that may be passed on to the engine.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct LightCall {
    id: i64,
    method: &'static str,
    numbers: BTreeMap<&'static str, String>,
}

#[derive(Deserialize)]
struct Wire {
    #[serde(default)]
    id: i64,
    method: String,
    #[serde(default)]
    params: BTreeMap<String, Value>,
}

impl LightCall {
    /// Parses a call.
    ///
    /// # Errors
    /// `BadRequest` for anything but a light client's call.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self> {
        let wire: Wire =
            json::parse_as(bytes, &LIMITS).map_err(|_| Error::bad_request("rpc-call-malformed"))?;
        let method = METHODS.into_iter().find(|method| *method == wire.method);
        let method = method.ok_or_else(|| {
            Error::bad_request("rpc-method-refused").with("known", &METHODS.join(", "))
        })?;
        let numbers = wire.params.iter().map(|(name, value)| {
            let known = NUMBERS.into_iter().find(|known| known == name)?;
            Some((known, number(value)?))
        });
        let numbers = numbers
            .collect::<Option<_>>()
            .ok_or_else(|| Error::bad_request("rpc-parameter-malformed"))?;
        Ok(Self {
            id: wire.id,
            method,
            numbers,
        })
    }

    /// The call's body for the engine. It contains only the parsed values, so that nothing else of the request is
    /// passed on.
    pub(crate) fn body(&self) -> Vec<u8> {
        json!({
            "jsonrpc": "2.0",
            "id": self.id,
            "method": self.method,
            "params": self.numbers,
        })
        .to_string()
        .into_bytes()
    }
}

/// A number as the engine's clients write it: as a string or plain.
fn number(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let digits = (1..=DIGITS_MAX).contains(&text.len());
    (digits && text.bytes().all(|byte| byte.is_ascii_digit())).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_light_client_asks_is_let_through_as_it_is() {
        let call = r#"{"jsonrpc":"2.0","id":7,"method":"validators","params":{"height":"5","page":"1","per_page":100}}"#;
        let body = LightCall::read(call.as_bytes()).unwrap().body();
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(
            body,
            json!({"jsonrpc": "2.0", "id": 7, "method": "validators",
                "params": {"height": "5", "page": "1", "per_page": "100"}})
        );
        assert!(LightCall::read(br#"{"method":"commit"}"#).is_ok());
    }

    #[test]
    fn nothing_else_reaches_the_engine() {
        for refused in [
            r#"{"method":"broadcast_tx_sync","params":{"tx":"AA=="}}"#,
            r#"{"method":"commit","params":{"height":"-1"}}"#,
            r#"{"method":"commit","params":{"height":""}}"#,
            r#"{"method":"commit","params":{"height":"1e3"}}"#,
            r#"{"method":"commit","params":{"height":"99999999999999999999"}}"#,
            r#"{"method":"commit","params":{"tx":"1"}}"#,
            r#"{"method":"commit","params":["1"]}"#,
            r#"[{"method":"commit"}]"#,
            "",
        ] {
            assert!(LightCall::read(refused.as_bytes()).is_err(), "{refused}");
        }
    }
}
