//! Our operations in the shape of Indy's transactions (indy-node, `docs/source/transactions.md`).

use selfsame_crypto::encoding::{base58_encode, hex_decode};
use selfsame_crypto::{KeyType, PublicKey};
use selfsame_ledger::browse::{Type, ViewPage};
use selfsame_ledger::view::browse::{
    FoundView, InclusionView, OperationView, ValidatorView, ValidatorsView,
};
use serde_json::{Map, Value, json};

/// The type of an operation.
pub(super) fn kind(operation: &OperationView) -> Type {
    Type::of_operation(operation)
}

/// A page of a ledger.
pub(super) fn page(found: &FoundView, page: &ViewPage<'_>) -> Value {
    let before = page.page.saturating_sub(1).saturating_mul(page.size);
    let results = found.items.iter().map(|one| transaction(one, None));
    let results: Vec<Value> = results.collect();
    json!({
        "total": found.total,
        "page_size": page.size,
        "page": page.page,
        "first_index": before.saturating_add(1),
        "last_index": before.saturating_add(results.len() as u64),
        "results": results,
    })
}

/// An operation as one of Indy's transactions, with the proof of the transaction that contains it. `selfsame` holds
/// what Indy has no member for.
pub(super) fn transaction(operation: &OperationView, proof: Option<&InclusionView>) -> Value {
    let mut metadata = json!({
        "digest": operation.hash,
        "from": operation.author,
        "reqId": operation.nonce,
    });
    if let Some(endorser) = &operation.endorser {
        metadata["endorser"] = json!(endorser);
    }
    let signed = operation.signatures.iter();
    let signed = signed.map(|one| json!({ "from": one.key, "value": base58_encode(&one.bytes) }));
    let mut shaped = json!({
        "reqSignature": { "type": "selfsame/transaction/1", "values": signed.collect::<Vec<_>>() },
        "txn": {
            "data": data(operation),
            "metadata": metadata,
            "protocolVersion": 2,
            "type": kind(operation).code(),
        },
        "txnMetadata": {
            "seqNo": operation.seq_no,
            "txnId": operation.hash,
            "txnTime": operation.unix_time,
        },
        "ver": "1",
        "selfsame": {
            "kind": operation.kind,
            "subject": operation.subject,
            "said": operation.said,
            "height": operation.height,
            "operation": operation.place,
            "operations": operation.of,
        },
    });
    if let Some(proof) = proof {
        shaped["auditPath"] = proof.path.iter().map(|hash| base58(hash)).collect();
        shaped["rootHash"] = json!(base58(&proof.root));
        shaped["ledgerSize"] = json!(proof.size);
    }
    shaped
}

fn base58(hash: &str) -> String {
    base58_encode(&hex_decode(hash).unwrap_or_default())
}

/// The `data` of a transaction of that type.
fn data(operation: &OperationView) -> Value {
    let content = &operation.content;
    let value = &content["value"];
    match kind(operation) {
        Type::Nym => nym(operation),
        Type::Schema => json!({ "data": {
            "name": value["name"],
            "version": value["version"],
            "attr_names": value["attrNames"],
        } }),
        Type::ClaimDef => json!({
            "data": value["value"],
            "ref": value["schemaId"],
            "signature_type": value["type"],
            "tag": value["tag"],
        }),
        Type::RevocRegDef => json!({
            "credDefId": value["credDefId"],
            "revocDefType": value["revocDefType"],
            "tag": value["tag"],
            "value": value["value"],
        }),
        Type::RevocRegEntry => json!({
            "revocDefType": "CL_ACCUM",
            "revocRegDefId": operation.subject,
            "value": {
                "prevAccum": content["before"],
                "accum": content["after"],
                "issued": content["issued"],
                "revoked": content["revoked"],
            },
        }),
        Type::Node => node(operation),
        // Indy writes the attribute as JSON within a string.
        Type::Attrib => json!({ "dest": operation.author, "raw": content.to_string() }),
        Type::Agreement | Type::AuthRule => json!({ "data": content }),
    }
}

fn nym(operation: &OperationView) -> Value {
    let content = &operation.content;
    let mut data = Map::from_iter([("dest".to_owned(), json!(operation.subject))]);
    let key = content["public_key"].as_str();
    let key = key.or_else(|| content["keys"][0]["public_key"].as_str());
    if let Some(key) = key {
        data.insert("verkey".to_owned(), json!(verkey(key)));
    }
    if let Some(role) = content.get("role") {
        let code = match role.as_str() {
            Some("trustee") => json!("0"),
            Some("steward") => json!("2"),
            Some("endorser") => json!("101"),
            _ => Value::Null,
        };
        data.insert("role".to_owned(), code);
    }
    Value::Object(data)
}

/// An Ed25519 key as Indy writes it; any other key as multikey.
fn verkey(multikey: &str) -> String {
    match PublicKey::from_multikey(multikey) {
        Ok(key) if key.key_type() == KeyType::Ed25519 => base58_encode(key.bytes()),
        _ => multikey.to_owned(),
    }
}

fn node(operation: &OperationView) -> Value {
    let content = &operation.content;
    if operation.kind != "validator" {
        return json!({ "data": content });
    }
    json!({
        "data": {
            "alias": content["name"],
            "power": content["power"],
            "consensus_key": content["consensus_key"],
            "services": ["VALIDATOR"],
        },
        "dest": content["key"].as_str().map(verkey),
    })
}

/// A validator in von-network's form of a node. Values that are not measured here are null.
pub(super) fn validator(one: &ValidatorView, view: &ValidatorsView, counts: &Value) -> Value {
    if view.height.is_some() && !one.signed {
        let error = "it has not signed the newest checkpoint";
        return json!({ "Node_info": { "Name": one.name }, "error": error });
    }
    let names = |signed: bool| -> Vec<&str> {
        let named = view
            .validators
            .iter()
            .filter(|other| other.signed == signed);
        named.map(|other| other.name.as_str()).collect()
    };
    let (there, missing) = (names(true), names(false));
    json!({
        "Node_info": {
            "Name": one.name,
            "did": one.steward,
            "verkey": verkey(&one.key),
            "Metrics": {
                "uptime": null,
                "average-per-second": { "read-transactions": null, "write-transactions": null },
                "transaction-count": counts,
            },
        },
        "Pool_info": {
            "Total_nodes_count": view.validators.len(),
            "Reachable_nodes_count": there.len(),
            "Reachable_nodes": there,
            "Unreachable_nodes_count": missing.len(),
            "Unreachable_nodes": missing,
            "f_value": view.tolerates,
        },
        "Software": { "selfsame": env!("CARGO_PKG_VERSION") },
        "enabled": true,
        "state": if one.signed { "signs" } else { "unknown" },
        "power": one.power,
        "checkpoint": { "height": view.height, "time": view.time },
    })
}

/// A transaction as text.
pub(super) fn text(operation: &OperationView) -> String {
    let kind = kind(operation);
    let data = data(operation);
    let mut lines = vec![format!("[{}]  TYPE: {}", operation.seq_no, kind.name())];
    let mut line = |name: &str, value: Option<&str>| {
        lines.extend(value.map(|value| format!("{name}: {value}")));
    };
    line(
        "FROM",
        Some(operation.author.as_str()).filter(|author| !author.is_empty()),
    );
    line("DEST", data["dest"].as_str());
    line(
        "ROLE",
        operation.content["role"]
            .as_str()
            .map(str::to_uppercase)
            .as_deref(),
    );
    line("VERKEY", data["verkey"].as_str());
    line("TIME", Some(&operation.time));
    line("REQ ID", Some(&operation.nonce.to_string()));
    line("TXN ID", Some(&operation.hash));
    line("SAYS", Some(&operation.said));
    if kind != Type::Nym {
        let data = serde_json::to_string_pretty(&data).unwrap_or_default();
        line("DATA", Some(&data));
    }
    lines.push(String::new());
    lines.join("\n")
}
