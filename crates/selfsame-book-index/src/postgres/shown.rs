//! What is shown of topics: their facts, sets, credentials and neighbours.

use std::collections::HashMap;

use selfsame_book::facts::{RelatedTopic, TopicKey};
use selfsame_book::number;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::read::sql;
use super::{OpenedBook, Parameter};
use crate::backend::{
    AfterNumber, FACTS_MAX, IndexedCredential, IndexedFact, IndexedSet, IndexedTopic, Neighbour,
    TextKind,
};
use crate::error::IndexResult;
use crate::numbers::{AskedNumbers, NumberHolders, SetHolder};

const CREDENTIAL: &str =
    "SELECT id, credential_id, topic, credential_set, type_id, issuer, effective,
    expires, entered, inactive, revoked, latest FROM $.credentials";
const SET: &str =
    "SELECT id, topic, latest, created, updated, first_effective, last_effective FROM $.sets";

/// Topics with the credentials that found them, and with the sets of those.
const TOPICS: &str = "SELECT topics.id, topics.kind, topics.source_id, topics.created, topics.updated,
        main.id, main.credential_id, main.topic, main.credential_set, main.type_id, main.issuer, main.effective,
        main.expires, main.entered, main.inactive, main.revoked, main.latest,
        sets.id, sets.topic, sets.latest, sets.created, sets.updated, sets.first_effective, sets.last_effective
    FROM unnest($1) WITH ORDINALITY AS own (id, place) JOIN $.topics ON topics.id = own.id
        JOIN $.credentials AS main ON main.id = topics.main JOIN $.sets ON sets.id = main.credential_set
    ORDER BY own.place";
/// The places in such a row at which the credential and its set begin.
const MAIN_AT: usize = 5;
const SET_AT: usize = 17;

/// The facts of topics, of each kind at most so many.
const FACTS: &str = "SELECT found.topic, found.kind, found.label, found.text, found.body, found.credential,
        coalesce(credentials.type_id, '')
    FROM unnest($1) AS own (id), unnest(array['n', 'a', 't']) AS kinds (kind),
        LATERAL (SELECT topic, kind, label, text, body, credential FROM $.facts
            WHERE topic = own.id AND facts.kind = kinds.kind COLLATE \"C\" ORDER BY label, text LIMIT $2) AS found
        LEFT JOIN $.credentials ON credentials.id = found.credential
    ORDER BY found.topic, found.kind, found.label, found.text";

/// The facts of a topic.
#[derive(Clone, Default)]
struct TopicFacts {
    names: Vec<IndexedFact>,
    addresses: Vec<IndexedFact>,
    attributes: Vec<IndexedFact>,
}

pub(super) async fn topics(opened: &OpenedBook, of: &[i64]) -> IndexResult<Vec<IndexedTopic>> {
    if of.is_empty() {
        return Ok(Vec::new());
    }
    // Both are asked in one exchange.
    let parameters: [Parameter<'_>; 1] = [(&of, Type::INT8_ARRAY)];
    let heads = opened.rows(TOPICS, &parameters);
    let (heads, facts) = tokio::try_join!(heads, facts(opened, of))?;
    let shown = heads.iter().map(|row| {
        let id: i64 = row.get(0);
        let own = facts.get(&id).cloned().unwrap_or_default();
        IndexedTopic {
            id,
            key: TopicKey {
                kind: row.get(1),
                source_id: row.get(2),
            },
            created: row.get(3),
            updated: row.get(4),
            main: credential_of(row, MAIN_AT),
            main_set: set_of(row, SET_AT),
            names: own.names,
            addresses: own.addresses,
            attributes: own.attributes,
        }
    });
    Ok(shown.collect())
}

/// The facts of these topics, by their numbers.
async fn facts(opened: &OpenedBook, of: &[i64]) -> IndexResult<HashMap<i64, TopicFacts>> {
    let mut distinct = of.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let most = sql(FACTS_MAX);
    let parameters: [Parameter<'_>; 2] = [(&distinct, Type::INT8_ARRAY), (&most, Type::INT8)];
    let mut facts: HashMap<i64, TopicFacts> = HashMap::new();
    for row in opened.rows(FACTS, &parameters).await? {
        let own = facts.entry(row.get(0)).or_default();
        let list = match TextKind::of_letter(row.get(1)) {
            Some(TextKind::Name) => &mut own.names,
            Some(TextKind::Address) => &mut own.addresses,
            Some(TextKind::Attribute) => &mut own.attributes,
            Some(TextKind::Source) | None => continue,
        };
        list.push(IndexedFact {
            kind: row.get(2),
            text: row.get(3),
            body: row.get(4),
            credential: row.get(5),
            type_id: row.get(6),
        });
    }
    Ok(facts)
}

pub(super) async fn sets(
    opened: &OpenedBook,
    topic: i64,
    page: AfterNumber,
) -> IndexResult<Vec<IndexedSet>> {
    let most = sql(page.limit);
    let rows = match page.after {
        None => {
            let find =
                format!("{SET} WHERE topic = $1 ORDER BY last_effective DESC, id DESC LIMIT $2");
            let parameters: [Parameter<'_>; 2] = [(&topic, Type::INT8), (&most, Type::INT8)];
            opened.rows(&find, &parameters).await?
        }
        Some(after) => {
            let find = format!(
                "{SET} WHERE topic = $1
                 AND (last_effective, id) < ((SELECT last_effective FROM $.sets WHERE id = $3), $3)
                 ORDER BY last_effective DESC, id DESC LIMIT $2"
            );
            let parameters: [Parameter<'_>; 3] = [
                (&topic, Type::INT8),
                (&most, Type::INT8),
                (&after, Type::INT8),
            ];
            opened.rows(&find, &parameters).await?
        }
    };
    Ok(rows.iter().map(|row| set_of(row, 0)).collect())
}

pub(super) async fn credentials(
    opened: &OpenedBook,
    set: i64,
    limit: usize,
) -> IndexResult<Vec<IndexedCredential>> {
    let find = format!(
        "{CREDENTIAL} WHERE credential_set = $1 ORDER BY effective DESC, entered DESC LIMIT $2"
    );
    let parameters: [Parameter<'_>; 2] = [(&set, Type::INT8), (&sql(limit), Type::INT8)];
    let rows = opened.rows(&find, &parameters).await?;
    Ok(rows.iter().map(|row| credential_of(row, 0)).collect())
}

pub(super) async fn credential(
    opened: &OpenedBook,
    credential_id: &str,
) -> IndexResult<Option<IndexedCredential>> {
    let find = format!("{CREDENTIAL} WHERE id = $1");
    let id = number::credential(credential_id);
    let row = opened.row(&find, &[(&id, Type::INT8)]).await?;
    let found = row.as_ref().map(|row| credential_of(row, 0));
    Ok(found.filter(|one| one.credential_id == credential_id))
}

const CREDENTIAL_HOLDERS: &str = "SELECT id, credential_id FROM $.credentials WHERE id = ANY ($1)";
const TOPIC_HOLDERS: &str = "SELECT id, kind, source_id FROM $.topics WHERE id = ANY ($1)";
const SET_HOLDERS: &str = "SELECT sets.id, sets.topic, credentials.type_id
    FROM $.sets JOIN $.credentials ON credentials.id = sets.latest WHERE sets.id = ANY ($1)";

pub(super) async fn holders(
    opened: &OpenedBook,
    asked: &AskedNumbers,
) -> IndexResult<NumberHolders> {
    // All are asked in one exchange.
    let (credentials, topics, sets) = tokio::try_join!(
        numbered(opened, CREDENTIAL_HOLDERS, &asked.credentials),
        numbered(opened, TOPIC_HOLDERS, &asked.topics),
        numbered(opened, SET_HOLDERS, &asked.sets),
    )?;
    let credentials = credentials.iter().map(|row| (row.get(0), row.get(1)));
    let topics = topics.iter().map(|row| {
        let key = TopicKey {
            kind: row.get(1),
            source_id: row.get(2),
        };
        (row.get(0), key)
    });
    let sets = sets.iter().map(|row| {
        let holder = SetHolder {
            topic: row.get(1),
            type_id: row.get(2),
        };
        (row.get(0), holder)
    });
    Ok(NumberHolders {
        credentials: credentials.collect(),
        topics: topics.collect(),
        sets: sets.collect(),
    })
}

/// The rows of a statement about things with these numbers.
async fn numbered(opened: &OpenedBook, statement: &str, numbers: &[i64]) -> IndexResult<Vec<Row>> {
    opened
        .rows(statement, &[(&numbers, Type::INT8_ARRAY)])
        .await
}

pub(super) async fn neighbours(
    opened: &OpenedBook,
    topic: i64,
    limit: usize,
) -> IndexResult<Vec<Neighbour>> {
    let find = "SELECT own.relation, own.kind, own.source_id, own.other, own.back,
            (SELECT facts.text FROM $.facts JOIN $.topics ON topics.id = facts.topic
            WHERE facts.topic = own.other AND facts.kind = 'n'
                AND topics.kind = own.kind AND topics.source_id = own.source_id
            ORDER BY facts.label, facts.text LIMIT 1)
        FROM (
            SELECT relation, kind, source_id, other, false AS back FROM $.relations WHERE topic = $1
            UNION ALL
            SELECT relations.relation, topics.kind, topics.source_id, topics.id, true
            FROM $.relations JOIN $.topics ON topics.id = relations.topic WHERE relations.other = $1
            ORDER BY back, other, relation LIMIT $2
        ) AS own ORDER BY own.back, own.other, own.relation";
    let parameters: [Parameter<'_>; 2] = [(&topic, Type::INT8), (&sql(limit), Type::INT8)];
    let rows = opened.rows(find, &parameters).await?;
    let neighbours = rows.iter().map(|row| Neighbour {
        relation: RelatedTopic {
            relation: row.get(0),
            topic: TopicKey {
                kind: row.get(1),
                source_id: row.get(2),
            },
        },
        other: row.get(3),
        is_from_other: row.get(4),
        name: row.get(5),
    });
    Ok(neighbours.collect())
}

/// The credential whose columns begin at this place.
fn credential_of(row: &Row, at: usize) -> IndexedCredential {
    IndexedCredential {
        id: row.get(at),
        credential_id: row.get(at + 1),
        topic: row.get(at + 2),
        set: row.get(at + 3),
        type_id: row.get(at + 4),
        issuer: row.get(at + 5),
        effective: row.get(at + 6),
        expires: row.get(at + 7),
        entered: row.get(at + 8),
        inactive: row.get(at + 9),
        revoked: row.get(at + 10),
        latest: row.get(at + 11),
    }
}

/// The set whose columns begin at this place.
fn set_of(row: &Row, at: usize) -> IndexedSet {
    IndexedSet {
        id: row.get(at),
        topic: row.get(at + 1),
        latest: row.get(at + 2),
        created: row.get(at + 3),
        updated: row.get(at + 4),
        first_effective: row.get(at + 5),
        last_effective: row.get(at + 6),
    }
}
