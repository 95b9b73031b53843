//! Makes changes of a book by its function `apply`, in one exchange.

use selfsame_book::number;
use selfsame_book::query::{Facet, FacetKind};
use selfsame_book::text::normal;
use serde_json::{Value, json};
use tokio_postgres::types::Type;

use super::OpenedBook;
use crate::backend::{IndexChange, IndexedEntry};
use crate::error::IndexResult;

/// Changes that one statement makes.
const AT_ONCE: usize = 500;

pub(super) async fn apply(
    mut opened: OpenedBook,
    changes: &[IndexChange],
    cursor: Option<&str>,
) -> IndexResult<()> {
    let schema = opened.schema.clone();
    let transaction = opened.client.transaction().await?;
    // One process at a time changes a book. Plans are kept that were made while the tables were empty.
    let begin = format!(
        "SET LOCAL statement_timeout = '60s'; SET LOCAL enable_seqscan = off;
         SELECT pg_advisory_xact_lock(hashtextextended('{schema}', 0))"
    );
    transaction.batch_execute(&begin).await?;
    let apply = format!("SELECT {schema}.apply($1::text::jsonb, $2)");
    let none: [&[IndexChange]; 1] = [&[]];
    let portions = changes.chunks(AT_ONCE);
    for portion in portions.chain(none.into_iter().filter(|_| changes.is_empty())) {
        let written: Vec<Value> = portion.iter().map(change).collect();
        let written = Value::from(written).to_string();
        let parameters: [super::Parameter<'_>; 2] = [(&written, Type::TEXT), (&cursor, Type::TEXT)];
        transaction.query_typed(&apply, &parameters).await?;
    }
    Ok(transaction.commit().await?)
}

fn change(change: &IndexChange) -> Value {
    match change {
        IndexChange::Enter(entry) => json!({"enter": entered(entry)}),
        IndexChange::Revoke { credential_id, at } => {
            json!({"revoke": number::credential(credential_id), "at": at})
        }
        IndexChange::Remove { credential_id } => {
            json!({"remove": number::credential(credential_id)})
        }
    }
}

fn entered(entry: &IndexedEntry) -> Value {
    let facts = &entry.facts;
    let fact = |kind: &str, label: &str, text: &str, body: String| {
        json!({
            "kind": kind, "label": label, "text": text, "normal": normal(text),
            "searched": kind != "t", "body": body,
        })
    };
    let names = facts.names.iter();
    let names = names.map(|name| fact("n", &name.kind, &name.text, String::new()));
    let addresses = facts.addresses.iter().map(|address| {
        let body = serde_json::to_string(address).unwrap_or_default();
        fact("a", "", &address.line(), body)
    });
    let attributes = facts.attributes.iter();
    let attributes =
        attributes.map(|one| fact("t", &one.kind, &one.value, one.is_facet.to_string()));
    let stated: Vec<Value> = names.chain(addresses).chain(attributes).collect();
    let related = facts.related.iter().map(|related| {
        json!({
            "other": number::topic(&related.topic), "relation": related.relation,
            "kind": related.topic.kind, "source_id": related.topic.source_id,
        })
    });
    json!({
        "id": number::credential(&entry.credential_id),
        "credential_id": entry.credential_id,
        "topic": number::topic(&facts.topic),
        "set": number::credential_set(&facts.topic, &entry.type_id, &facts.cardinality),
        "kind": facts.topic.kind,
        "source_id": facts.topic.source_id,
        "source": fact("s", "", &facts.topic.source_id, String::new()),
        "type_id": entry.type_id,
        "issuer": entry.issuer,
        "founds": facts.founds,
        "effective": entry.effective,
        "expires": facts.expires,
        "entered": entry.entered,
        "inactive": facts.inactive,
        "body": {
            "facts": stated,
            "facets": facets(entry),
            "relations": related.collect::<Vec<Value>>(),
            "number_of_type": number::credential_type(&entry.type_id).to_string(),
        },
    })
}

/// The facets that a credential gives its topic.
fn facets(entry: &IndexedEntry) -> Vec<String> {
    let categories = entry.facts.attributes.iter().filter(|one| one.is_facet);
    let categories =
        categories.map(|one| (FacetKind::Category, format!("{}::{}", one.kind, one.value)));
    let own = [
        (FacetKind::Issuer, number::issuer(&entry.issuer).to_string()),
        (
            FacetKind::CredentialType,
            number::credential_type(&entry.type_id).to_string(),
        ),
    ];
    let all = categories.chain(own);
    all.map(|(kind, value)| Facet { kind, value }.to_string())
        .collect()
}
