//! Presenting and verifying, as ACA-Py's controllers do.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use crate::admin::{AdminApi, text};
use crate::connecting::Connected;
use crate::issuing::{FormatName, Published};

/// What a verifier asks for.
pub struct Asked<'a> {
    pub published: &'a Published,
    pub attributes: &'a [&'static str],
    /// An attribute, and the least number that it may be.
    pub at_least: (&'static str, i64),
    /// Whether it must not have been revoked by now.
    pub unrevoked: bool,
    pub format: FormatName,
}

impl Asked<'_> {
    fn request(&self) -> Value {
        let by_schema = json!([{ "schema_id": self.published.schema }]);
        let mut attributes = Map::new();
        for (number, name) in (1..).zip(self.attributes) {
            let asked = json!({"name": name, "restrictions": by_schema});
            attributes.insert(format!("attr{number}"), asked);
        }
        let (name, least) = self.at_least;
        let mut request = json!({
            "name": "crossed",
            "nonce": "1234567890",
            "version": "1.0",
            "requested_attributes": attributes,
            "requested_predicates": {"pred1": {
                "name": name, "p_type": ">=", "p_value": least, "restrictions": by_schema,
            }},
        });
        if self.unrevoked {
            request["non_revoked"] = json!({"to": now()});
        }
        request
    }

    fn answer(&self, credential: &str) -> Value {
        let shown = json!({"cred_id": credential, "revealed": true});
        let mut attributes = Map::new();
        for (number, _) in (1..).zip(self.attributes) {
            attributes.insert(format!("attr{number}"), shown.clone());
        }
        json!({
            "requested_attributes": attributes,
            "requested_predicates": {"pred1": {"cred_id": credential}},
            "self_attested_attributes": {},
        })
    }
}

/// Seconds since 1970.
pub fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap().as_secs()
}

/// Calls 10 to 14 of the study's plans: whether the proof was made and accepted.
#[track_caller]
pub fn proves(
    verifier: &AdminApi,
    prover: &AdminApi,
    connected: &Connected,
    asked: &Asked<'_>,
) -> bool {
    let sent = verifier.post(
        "/present-proof-2.0/send-request",
        &json!({
            "comment": "crossed",
            "connection_id": connected.inviters,
            "presentation_request": {asked.format: asked.request()},
            "trace": false,
        }),
    );
    let thread = text(&sent["thread_id"]);
    let records = format!(
        "/present-proof-2.0/records?connection_id={}",
        connected.invitees
    );
    let found = prover.awaited(&records, |one| one["thread_id"] == thread.as_str());
    let path = format!("/present-proof-2.0/records/{}", text(&found["pres_ex_id"]));
    let fit = prover.get(&format!("{path}/credentials?count=5"));
    let Some(referent) = fit[0]["cred_info"]["referent"].as_str() else {
        return false;
    };
    let answer = json!({asked.format: asked.answer(referent), "trace": false});
    let path = format!("{path}/send-presentation");
    let presented = prover.send("POST", &path, &answer).unwrap();
    if presented.status != 200 {
        // A holder may refuse to prove with what was revoked.
        let why = String::from_utf8_lossy(&presented.body).into_owned();
        assert!(
            asked.unrevoked && why.to_lowercase().contains("revo"),
            "{why}"
        );
        return false;
    }
    let path = format!("/present-proof-2.0/records/{}", text(&sent["pres_ex_id"]));
    verifier.until(&path, |one| one["state"] == "presentation-received");
    let verified = verifier.post(&format!("{path}/verify-presentation"), &Value::Null);
    match verified["verified"].as_str() {
        Some("true") => true,
        Some("false") if asked.unrevoked => false,
        _ => panic!("{verified}"),
    }
}
