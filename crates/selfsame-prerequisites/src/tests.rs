//! Tests of declarations: their flaws, how they are judged, what they fill, and paths.

mod flaws;
mod judging;
mod paths;

use selfsame_crypto::time::UnixTime;
use serde_json::{Value, json};

use crate::Prerequisites;
use crate::judge::{ProvenCredential, WalletProof};

/// 2026-01-31, at noon.
const NOW: UnixTime = UnixTime(1_769_860_800);

/// A permit to run a restaurant: its company must exist, and a clearance letter or an exemption must be about it.
fn declared() -> Prerequisites {
    read(json!({
        "options": [["company", "clearance"], ["company", "exemption"]],
        "needs": [
            {"name": "company", "vct_values": ["urn:company"], "issuers": ["did:web:register.example"], "conditions": [
                {"claim": ["status"], "one_of": ["active", "dormant"]},
                {"claim": ["seats"], "at_least": 1, "at_most": 500},
            ]},
            {"name": "clearance", "vct_values": ["urn:clearance"], "days_left": 30, "conditions": [
                {"claim": ["entity"], "same_as": {"need": "company", "claim": ["number"]}},
                {"claim": ["given_on"], "not_before": "today-90", "not_after": "today"},
            ]},
            {"name": "exemption", "vct_values": ["urn:exemption"], "conditions": [
                {"claim": ["entity"], "same_as": {"need": "company", "claim": ["number"]}},
            ]},
        ],
        "fills": [
            {"claim": ["holder", "name"], "proven": {"need": "company", "claim": ["name"]}},
            {"claim": ["city"], "literal": "Surrey"},
            {"claim": ["from"], "helper": "today"},
            {"claim": ["until"], "helper": "end_of_validity", "may_change": true},
            {"claim": ["number"], "helper": "identifier"},
            {"claim": ["reference"], "proven": {"need": "clearance", "claim": ["letter"]}},
            {"claim": ["reference"], "proven": {"need": "exemption", "claim": ["entity"]}},
        ],
    }))
}

fn read(file: Value) -> Prerequisites {
    serde_json::from_value(file).unwrap()
}

fn shown(need: &str, claims: Value) -> ProvenCredential {
    ProvenCredential {
        need: need.to_owned(),
        vct: format!("urn:{need}"),
        issuer: "did:web:register.example".to_owned(),
        valid_until: Some(NOW.plus(60 * 24 * 3600)),
        claims,
    }
}

fn proof() -> WalletProof {
    let company = json!({"status": "active", "seats": 40, "number": "TEST-1", "name": "Invented Noodles Ltd."});
    WalletProof {
        at: NOW.minus(60),
        shown: vec![
            shown("company", company),
            shown(
                "clearance",
                json!({"entity": "TEST-1", "given_on": "2026-01-15", "letter": "L-7"}),
            ),
        ],
    }
}
