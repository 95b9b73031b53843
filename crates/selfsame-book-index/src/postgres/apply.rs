//! Makes changes of a book by its functions, in one transaction.

use selfsame_book::number;
use selfsame_book::query::{Facet, FacetKind};
use selfsame_book::text::normal;
use serde_json::{Value, json};
use tokio_postgres::types::Type;

use super::{OpenedBook, Parameter};
use crate::backend::{IndexChange, IndexedEntry};
use crate::error::IndexResult;

/// Changes that one statement makes.
const AT_ONCE: usize = 500;

/// A change as a function of the book takes it.
pub(super) struct WrittenChange {
    /// The function.
    function: &'static str,
    json: String,
    /// Whether it removes something.
    removes: bool,
}

impl WrittenChange {
    pub(super) fn of(change: &IndexChange) -> Self {
        let (function, json) = match change {
            IndexChange::Enter(entry) => ("enter_all", entered(entry)),
            IndexChange::Revoke { credential_id, at } => {
                let id = number::credential(credential_id);
                ("change_all", json!({"revoke": id, "at": at}))
            }
            IndexChange::Remove { credential_id } => {
                let id = number::credential(credential_id);
                ("change_all", json!({ "remove": id }))
            }
        };
        Self {
            function,
            json: json.to_string(),
            removes: matches!(change, IndexChange::Remove { .. }),
        }
    }
}

pub(super) async fn apply(
    mut opened: OpenedBook,
    changes: &[&WrittenChange],
    cursor: Option<&str>,
) -> IndexResult<()> {
    let schema = opened.schema.clone();
    let transaction = opened.client.transaction().await?;
    let begin = begin(&schema, changes);
    transaction.batch_execute(&begin).await?;
    let runs = changes.chunk_by(|one, next| one.function == next.function);
    let portions: Vec<&[&WrittenChange]> = runs.flat_map(|run| run.chunks(AT_ONCE)).collect();
    for portion in portions {
        let function = portion.first().map_or("enter_all", |first| first.function);
        let statement = format!("SELECT {schema}.{function}($1::text::jsonb)");
        let written: Vec<&str> = portion.iter().map(|one| one.json.as_str()).collect();
        let written = format!("[{}]", written.join(","));
        let parameters: [Parameter<'_>; 1] = [(&written, Type::TEXT)];
        transaction.query_typed(&statement, &parameters).await?;
    }
    if let Some(cursor) = cursor {
        let note = format!(
            "INSERT INTO {schema}.state VALUES (1, $1)
             ON CONFLICT (one) DO UPDATE SET cursor = excluded.cursor"
        );
        let parameters: [Parameter<'_>; 1] = [(&cursor, Type::TEXT)];
        transaction.query_typed(&note, &parameters).await?;
    }
    Ok(transaction.commit().await?)
}

/// What is said at the beginning of the transaction.
fn begin(schema: &str, changes: &[&WrittenChange]) -> String {
    // A crash of the database may take back entries: it then takes back, too, what was written after them, which is
    // that they are indexed. What is erased does not come back.
    let durable = match changes.iter().any(|change| change.removes) {
        true => "",
        false => "SET LOCAL synchronous_commit = off;",
    };
    // One process at a time changes a book. A plan is kept for all sizes of the tables, so it must read no table whole.
    format!(
        "SET LOCAL statement_timeout = '60s'; SET LOCAL enable_seqscan = off;
         SET LOCAL plan_cache_mode = force_generic_plan; {durable}
         SELECT pg_advisory_xact_lock(hashtextextended('{schema}', 0))"
    )
}

fn entered(entry: &IndexedEntry) -> Value {
    let facts = &entry.facts;
    let fact = |kind: &str, label: &str, text: &str, body: String| {
        // Attributes are not searched.
        let words = match kind {
            "t" => String::new(),
            _ => normal(text),
        };
        json!({"kind": kind, "label": label, "text": text, "normal": words, "body": body})
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
    let source = fact("s", "", &facts.topic.source_id, String::new());
    let texts = stated.iter().chain([&source]);
    let words = texts.filter_map(|fact| fact["normal"].as_str());
    let words: Vec<&str> = words.filter(|words| !words.is_empty()).collect();
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
        "source": source,
        "type_id": entry.type_id,
        "issuer": entry.issuer,
        "founds": facts.founds,
        "effective": entry.effective,
        "expires": facts.expires,
        "entered": entry.entered,
        "inactive": facts.inactive,
        "words": words.join(" "),
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
