//! What is shown of topics: their facts, sets, credentials and neighbours.

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

pub(super) async fn topics(opened: &OpenedBook, of: &[i64]) -> IndexResult<Vec<IndexedTopic>> {
    let mut shown = Vec::new();
    for topic in of {
        shown.extend(self::topic(opened, *topic).await?);
    }
    Ok(shown)
}

async fn topic(opened: &OpenedBook, id: i64) -> IndexResult<Option<IndexedTopic>> {
    let find = "SELECT kind, source_id, main, created, updated FROM $.topics WHERE id = $1";
    let Some(found) = opened.row(find, &[(&id, Type::INT8)]).await? else {
        return Ok(None);
    };
    let main: i64 = found.get(2);
    let find = format!("{CREDENTIAL} WHERE id = $1");
    let Some(main) = opened.row(&find, &[(&main, Type::INT8)]).await? else {
        return Ok(None);
    };
    let main = credential_of(&main);
    let find = format!("{SET} WHERE id = $1");
    let Some(set) = opened.row(&find, &[(&main.set, Type::INT8)]).await? else {
        return Ok(None);
    };
    Ok(Some(IndexedTopic {
        id,
        key: TopicKey {
            kind: found.get(0),
            source_id: found.get(1),
        },
        created: found.get(3),
        updated: found.get(4),
        main_set: set_of(&set),
        main,
        names: facts(opened, id, TextKind::Name).await?,
        addresses: facts(opened, id, TextKind::Address).await?,
        attributes: facts(opened, id, TextKind::Attribute).await?,
    }))
}

async fn facts(opened: &OpenedBook, topic: i64, kind: TextKind) -> IndexResult<Vec<IndexedFact>> {
    let find = "SELECT facts.label, facts.text, facts.body, facts.credential, coalesce(credentials.type_id, '')
        FROM $.facts LEFT JOIN $.credentials ON credentials.id = facts.credential
        WHERE facts.topic = $1 AND facts.kind = $2 ORDER BY facts.label, facts.text LIMIT $3";
    let (letter, most) = (kind.letter(), sql(FACTS_MAX));
    let parameters: [Parameter<'_>; 3] = [
        (&topic, Type::INT8),
        (&letter, Type::TEXT),
        (&most, Type::INT8),
    ];
    let rows = opened.rows(find, &parameters).await?;
    let facts = rows.iter().map(|row| IndexedFact {
        kind: row.get(0),
        text: row.get(1),
        body: row.get(2),
        credential: row.get(3),
        type_id: row.get(4),
    });
    Ok(facts.collect())
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
    Ok(rows.iter().map(set_of).collect())
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
    Ok(rows.iter().map(credential_of).collect())
}

pub(super) async fn credential(
    opened: &OpenedBook,
    credential_id: &str,
) -> IndexResult<Option<IndexedCredential>> {
    let find = format!("{CREDENTIAL} WHERE id = $1");
    let id = number::credential(credential_id);
    let row = opened.row(&find, &[(&id, Type::INT8)]).await?;
    let found = row.as_ref().map(credential_of);
    Ok(found.filter(|one| one.credential_id == credential_id))
}

pub(super) async fn holders(
    opened: &OpenedBook,
    asked: &AskedNumbers,
) -> IndexResult<NumberHolders> {
    let mut holders = NumberHolders::default();
    let find = "SELECT id, credential_id FROM $.credentials WHERE id = ANY($1)";
    for row in opened
        .rows(find, &[(&asked.credentials, Type::INT8_ARRAY)])
        .await?
    {
        holders.credentials.insert(row.get(0), row.get(1));
    }
    let find = "SELECT id, kind, source_id FROM $.topics WHERE id = ANY($1)";
    for row in opened
        .rows(find, &[(&asked.topics, Type::INT8_ARRAY)])
        .await?
    {
        let key = TopicKey {
            kind: row.get(1),
            source_id: row.get(2),
        };
        holders.topics.insert(row.get(0), key);
    }
    let find = "SELECT sets.id, sets.topic, credentials.type_id
        FROM $.sets JOIN $.credentials ON credentials.id = sets.latest WHERE sets.id = ANY($1)";
    for row in opened
        .rows(find, &[(&asked.sets, Type::INT8_ARRAY)])
        .await?
    {
        let holder = SetHolder {
            topic: row.get(1),
            type_id: row.get(2),
        };
        holders.sets.insert(row.get(0), holder);
    }
    Ok(holders)
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

fn credential_of(row: &Row) -> IndexedCredential {
    IndexedCredential {
        id: row.get(0),
        credential_id: row.get(1),
        topic: row.get(2),
        set: row.get(3),
        type_id: row.get(4),
        issuer: row.get(5),
        effective: row.get(6),
        expires: row.get(7),
        entered: row.get(8),
        inactive: row.get(9),
        revoked: row.get(10),
        latest: row.get(11),
    }
}

fn set_of(row: &Row) -> IndexedSet {
    IndexedSet {
        id: row.get(0),
        topic: row.get(1),
        latest: row.get(2),
        created: row.get(3),
        updated: row.get(4),
        first_effective: row.get(5),
        last_effective: row.get(6),
    }
}
