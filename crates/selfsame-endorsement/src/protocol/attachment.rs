//! A transaction as a text: its bytes, and in JSON what it does, for controllers. The bytes alone count, so a text whose
//! other members say something else is refused.

use selfsame_aries::advance::{Problem, ProblemKind};
use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use selfsame_crypto::json::{self, Limits};
use selfsame_did::selfsame;
use selfsame_registry::transaction::{AuthoredTransaction, Body};
use selfsame_registry::{Identifier, Operation, Transaction};
use serde_json::{Map, Value, json};

/// The member with the bytes.
const BYTES: &str = "transaction";

/// The text of a transaction that its author has signed.
///
/// # Errors
/// If it does something that is not endorsed.
pub fn authored_text(authored: &AuthoredTransaction) -> Result<String, Problem> {
    text(authored.body(), &authored.to_bytes())
}

/// The text of a transaction that its endorser has signed too.
///
/// # Errors
/// If it does something that is not endorsed.
pub fn endorsed_text(endorsed: &Transaction) -> Result<String, Problem> {
    text(endorsed.body(), &endorsed.to_bytes())
}

/// The transaction of a text that an author has sent.
///
/// # Errors
/// If it is malformed, or the text says something else of it.
pub fn authored_of(text: &str) -> Result<AuthoredTransaction, Problem> {
    let members = members(text)?;
    let read = AuthoredTransaction::from_bytes(&bytes(&members)?).map_err(|_| malformed())?;
    is_described(&members, &authored_text(&read)?)?;
    Ok(read)
}

/// The transaction of a text that an endorser has sent back.
///
/// # Errors
/// If it is malformed, or the text says something else of it.
pub fn endorsed_of(text: &str) -> Result<Transaction, Problem> {
    let members = members(text)?;
    let read = Transaction::from_bytes(&bytes(&members)?).map_err(|_| malformed())?;
    is_described(&members, &endorsed_text(&read)?)?;
    Ok(read)
}

fn text(body: &Body, bytes: &[u8]) -> Result<String, Problem> {
    let did = |id: &Identifier| selfsame::prefix(&body.network) + &id.to_string();
    let operations = body.operations.iter();
    let operations: Result<Vec<Value>, Problem> = operations.map(described).collect();
    let text = json!({
        "identifier": did(&body.author),
        "endorser": body.endorser.as_ref().map(did),
        "reqId": body.nonce.to_string(),
        "operations": operations?,
        BYTES: base64url_encode(bytes),
    });
    Ok(text.to_string())
}

/// An operation with the type that Indy's ledgers give it. Others than these need no endorser.
fn described(operation: &Operation) -> Result<Value, Problem> {
    let published = |text: &str| {
        let read = json::parse(text.as_bytes(), &Limits::default());
        read.map_err(|_| malformed())
    };
    match operation {
        Operation::Schema { json } => Ok(json!({ "type": "101", "data": published(json)? })),
        Operation::CredentialDefinition(definition) => {
            let before = definition.successor_of.as_ref();
            let until = before.map(|before| before.until.0);
            Ok(json!({
                "type": "102",
                "data": published(&definition.json)?,
                "succeeds": before.map(|before| &before.definition),
                "succeeds_at": until,
                "valid_until": definition.valid_until.map(|until| until.0),
            }))
        }
        Operation::RevocationRegistry { json } => {
            Ok(json!({ "type": "113", "data": published(json)? }))
        }
        Operation::RevocationEntry(entry) => {
            let value = json!({
                "prevAccum": entry.before,
                "accum": entry.after,
                "issued": entry.issued,
                "revoked": entry.revoked,
            });
            let data = json!({ "revocRegDefId": entry.registry, "value": value });
            Ok(json!({ "type": "114", "data": data }))
        }
        _ => Err(Problem::new(
            ProblemKind::Content,
            "not-endorsed",
            "the transaction does something that needs no endorser",
        )),
    }
}

fn members(text: &str) -> Result<Map<String, Value>, Problem> {
    let limits = Limits {
        max_bytes: text.len(),
        ..Limits::default()
    };
    match json::parse(text.as_bytes(), &limits) {
        Ok(Value::Object(members)) => Ok(members),
        _ => Err(malformed()),
    }
}

fn bytes(members: &Map<String, Value>) -> Result<Vec<u8>, Problem> {
    let text = members.get(BYTES).and_then(Value::as_str);
    let bytes = text.and_then(|text| base64url_decode(text).ok());
    bytes.ok_or_else(malformed)
}

/// Who endorses goes by what the text says, so it says what the bytes do.
fn is_described(members: &Map<String, Value>, canonical: &str) -> Result<(), Problem> {
    let canonical: Option<Map<String, Value>> = serde_json::from_str(canonical).ok();
    match canonical.as_ref() == Some(members) {
        true => Ok(()),
        false => Err(Problem::new(
            ProblemKind::Content,
            "text-differs",
            "the text of the transaction says something else than its bytes",
        )),
    }
}

fn malformed() -> Problem {
    Problem::new(
        ProblemKind::Content,
        "transaction-malformed",
        "the attachment is no transaction of this registry",
    )
}
