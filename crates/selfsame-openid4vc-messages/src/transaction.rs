//! Transaction data (OpenID4VP 1.0 §8.4, B.3.3): what a person agrees to by presenting a credential.
//!
//! A type says which members its transactions have and how people read them. Of a transaction whose type or member is
//! not known is refused, since the wallet could not show what it means.

use std::collections::BTreeMap;

use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use selfsame_crypto::hash::{ct_eq, sha256};
use selfsame_crypto::json::{self, Limits};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::client_metadata::said;
use crate::error::{Error, PresentationCode};

/// The member of a key binding with the hashes of transactions (B.3.3.1).
pub const HASHES: &str = "transaction_data_hashes";
/// The member of a key binding with the hash algorithm, if the request names algorithms (B.3.3.1).
pub const HASHES_ALG: &str = "transaction_data_hashes_alg";
/// The hash algorithm that we have; the default of the specification.
const SHA_256: &str = "sha-256";
/// Maximum number of transactions in a request.
const TRANSACTIONS_MAX: usize = 8;
/// Maximum length of a transaction as it is sent, in bytes.
const TRANSACTION_MAX: usize = 8 * 1024;
/// Maximum length of the text of a member, in characters.
const TEXT_MAX: usize = 300;

/// A type of transactions: its members, and how people read them.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TransactionType {
    /// The value of `type`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What the person agrees to, such as "Payment".
    pub title: String,
    /// The members, in the order in which they are shown.
    pub members: Vec<TransactionMember>,
}

/// A member of a type of transactions.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TransactionMember {
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// Whether a transaction can do without it.
    #[serde(default)]
    pub optional: bool,
}

/// The types that are always known: a payment, and consent to a treatment.
pub fn ready_types() -> Vec<TransactionType> {
    let member = |name: &str, label: &str, optional| TransactionMember {
        name: name.to_owned(),
        label: label.to_owned(),
        optional,
    };
    vec![
        TransactionType {
            kind: "urn:selfsame:transaction:payment".to_owned(),
            title: "Payment".to_owned(),
            members: vec![
                member("payee", "To", false),
                member("amount", "Amount", false),
                member("currency", "Currency", false),
                member("account", "Account of the payee", true),
                member("reference", "Reference", true),
            ],
        },
        TransactionType {
            kind: "urn:selfsame:transaction:treatment-consent".to_owned(),
            title: "Consent to a treatment".to_owned(),
            members: vec![
                member("treatment", "Treatment", false),
                member("provider", "By", false),
                member("date", "On", true),
                member("risks", "Risks explained", true),
            ],
        },
    ]
}

/// The ready types and these.
pub fn known_types(further: &[TransactionType]) -> Vec<TransactionType> {
    let mut all = ready_types();
    all.extend_from_slice(further);
    all
}

/// The transactions of a request that say this; without `credential_ids` each of these credential queries can authorise
/// it.
///
/// # Errors
/// `invalid_transaction_data` for what a wallet with the ready types and these could not show.
pub fn asked(
    said: &[Value],
    ids: &[&str],
    further: &[TransactionType],
) -> Result<Vec<AskedTransaction>, Error> {
    let types = known_types(further);
    let read = |said: &Value| {
        let mut said = said.clone();
        if let Some(members) = said.as_object_mut() {
            let ids = || Value::from(ids.to_vec());
            members.entry("credential_ids").or_insert_with(ids);
        }
        let transaction = AskedTransaction::of(&said)?;
        transaction.lines(&types)?;
        Ok(transaction)
    };
    said.iter().map(read).collect()
}

/// A transaction of a request.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct AskedTransaction {
    /// The text as it was sent, whose hash the presentation states.
    pub raw: String,
    /// What it says.
    pub said: TransactionSaid,
}

/// What a transaction says.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct TransactionSaid {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// The credential queries, one of which authorises it.
    pub credential_ids: Vec<String>,
    /// The hash algorithms that the verifier takes, if it names some.
    #[serde(
        default,
        rename = "transaction_data_hashes_alg",
        skip_serializing_if = "Option::is_none"
    )]
    pub hash_algorithms: Option<Vec<String>>,
    /// The members of its type.
    #[serde(flatten)]
    pub members: BTreeMap<String, Value>,
}

/// A line of a transaction for people.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TransactionLine {
    /// The member's name for people.
    pub label: String,
    /// Its value.
    pub value: String,
}

/// Reads the transactions of a request as they were sent; whether their types are known is for [`AskedTransaction::lines`].
///
/// # Errors
/// `invalid_transaction_data`.
pub fn read(value: &Value) -> Result<Vec<AskedTransaction>, Error> {
    let list = value.as_array();
    let list = list.ok_or_else(|| refuse("transaction_data is not an array"))?;
    if list.is_empty() || list.len() > TRANSACTIONS_MAX {
        return Err(refuse("transaction_data is empty or has too many elements"));
    }
    let text = |one: &Value| {
        let raw = one.as_str();
        AskedTransaction::read(
            raw.ok_or_else(|| refuse("transaction_data has an element that is no text"))?,
        )
    };
    list.iter().map(text).collect()
}

impl AskedTransaction {
    /// The transaction that says this, to be sent.
    ///
    /// # Errors
    /// `invalid_transaction_data` if it breaks a rule.
    pub fn of(said: &Value) -> Result<Self, Error> {
        Self::read(&base64url_encode(said.to_string().as_bytes()))
    }

    fn read(raw: &str) -> Result<Self, Error> {
        let limits = Limits {
            max_bytes: TRANSACTION_MAX,
            ..Limits::default()
        };
        let bytes = Some(raw)
            .filter(|raw| raw.len() <= TRANSACTION_MAX)
            .and_then(|raw| base64url_decode(raw).ok());
        let bytes = bytes.ok_or_else(|| refuse("a transaction is not base64url, or too long"))?;
        let said: TransactionSaid = json::parse_as(&bytes, &limits).map_err(|_| {
            refuse("a transaction is not a JSON object with type and credential_ids")
        })?;
        if said.credential_ids.is_empty() {
            return Err(refuse("a transaction names no credential query"));
        }
        let algorithms = said.hash_algorithms.as_ref();
        if algorithms.is_some_and(|names| !names.iter().any(|name| name == SHA_256)) {
            return Err(refuse(
                "a transaction does not take the hash algorithm sha-256",
            ));
        }
        let raw = raw.to_owned();
        Ok(Self { raw, said })
    }

    /// What a person reads of it, by its type.
    ///
    /// # Errors
    /// `invalid_transaction_data` if its type or a member is not known, or a member is missing or cannot be shown whole.
    pub fn lines(&self, types: &[TransactionType]) -> Result<ShownTransaction, Error> {
        let kind = types.iter().find(|one| one.kind == self.said.kind);
        let kind = kind.ok_or_else(|| refuse("the type of a transaction is not known"))?;
        let is_known = |name: &String| kind.members.iter().any(|member| member.name == *name);
        if !self.said.members.keys().all(is_known) {
            return Err(refuse(
                "a transaction has a member that its type does not have",
            ));
        }
        let mut lines = Vec::new();
        for member in &kind.members {
            match self.said.members.get(&member.name) {
                Some(value) => lines.push(TransactionLine {
                    label: member.label.clone(),
                    value: shown(value)?,
                }),
                None if member.optional => {}
                None => return Err(refuse("a transaction lacks a member of its type")),
            }
        }
        let title = kind.title.clone();
        Ok(ShownTransaction { title, lines })
    }

    /// The hash that a presentation states: over the text as it was sent (B.3.3.1).
    pub fn hash(&self) -> String {
        base64url_encode(&sha256(self.raw.as_bytes()))
    }

    /// Which of these credential queries authorises it: the first that it names.
    pub fn authorised_by<'a>(&'a self, presented: &[&str]) -> Option<&'a str> {
        let mut ids = self.said.credential_ids.iter().map(String::as_str);
        ids.find(|id| presented.contains(id))
    }
}

/// A transaction as people read it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ShownTransaction {
    /// What they agree to.
    pub title: String,
    /// Its members.
    pub lines: Vec<TransactionLine>,
}

/// The members of a key binding for the transactions that it authorises; empty without transactions (B.3.3.1).
pub fn binding(transactions: &[&AskedTransaction]) -> Map<String, Value> {
    let mut members = Map::new();
    if transactions.is_empty() {
        return members;
    }
    let hashes = transactions.iter().map(|one| Value::from(one.hash()));
    members.insert(HASHES.to_owned(), hashes.collect());
    if transactions
        .iter()
        .any(|one| one.said.hash_algorithms.is_some())
    {
        members.insert(HASHES_ALG.to_owned(), Value::from(SHA_256));
    }
    members
}

/// Whether the claims of a key binding authorise a transaction.
pub fn is_bound(transaction: &AskedTransaction, claims: &Map<String, Value>) -> bool {
    // With another algorithm the hashes would be others.
    let is_ours = match claims.get(HASHES_ALG) {
        None => transaction.said.hash_algorithms.is_none(),
        Some(name) => name == SHA_256,
    };
    let hash = transaction.hash();
    let hashes = claims.get(HASHES).and_then(Value::as_array);
    let mut hashes = hashes.into_iter().flatten().filter_map(Value::as_str);
    is_ours && hashes.any(|one| ct_eq(one.as_bytes(), hash.as_bytes()))
}

/// A value as one line. What would be cut would not be agreed to.
fn shown(value: &Value) -> Result<String, Error> {
    let line = match value {
        Value::String(text) => {
            let line = said(value, TEXT_MAX).filter(|line| line == text);
            line.ok_or_else(|| {
                refuse("a text of a transaction is empty, too long, or more than one line")
            })?
        }
        Value::Number(number) => number.to_string(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        _ => {
            return Err(refuse(
                "a member of a transaction is no text, number or truth value",
            ));
        }
    };
    Ok(line)
}

fn refuse(reason: &str) -> Error {
    Error::presentation(PresentationCode::InvalidTransactionData, reason)
}

#[cfg(test)]
mod tests;
