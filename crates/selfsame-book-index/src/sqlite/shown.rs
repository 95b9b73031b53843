//! What is shown of topics: their facts, sets, credentials and neighbours.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use selfsame_book::facts::{RelatedTopic, TopicKey};

use super::read::sql;
use crate::backend::{
    AfterNumber, FACTS_MAX, IndexedCredential, IndexedFact, IndexedSet, IndexedTopic, Neighbour,
    TextKind,
};
use crate::error::IndexResult;
use crate::numbers::{AskedNumbers, NumberHolders, SetHolder};

const CREDENTIAL: &str =
    "SELECT id, credential_id, topic, credential_set, type_id, issuer, effective,
    expires, entered, inactive, revoked, latest FROM credentials";
const SET: &str =
    "SELECT id, topic, latest, created, updated, first_effective, last_effective FROM sets";

pub(super) fn topics(connection: &Connection, of: &[i64]) -> IndexResult<Vec<IndexedTopic>> {
    let mut shown = Vec::new();
    for topic in of {
        shown.extend(self::topic(connection, *topic)?);
    }
    Ok(shown)
}

fn topic(connection: &Connection, id: i64) -> IndexResult<Option<IndexedTopic>> {
    let mut read = connection.prepare_cached(
        "SELECT kind, source_id, main, created, updated FROM topics WHERE id = ?1",
    )?;
    let found = read.query_row([id], |row| {
        let key = TopicKey {
            kind: row.get(0)?,
            source_id: row.get(1)?,
        };
        Ok((key, row.get::<_, i64>(2)?, row.get(3)?, row.get(4)?))
    });
    let Some((key, main, created, updated)) = found.optional()? else {
        return Ok(None);
    };
    let mut read = connection.prepare_cached(&format!("{CREDENTIAL} WHERE id = ?1"))?;
    let main = read.query_row([main], credential_of).optional()?;
    let Some(main) = main else {
        return Ok(None);
    };
    let mut read = connection.prepare_cached(&format!("{SET} WHERE id = ?1"))?;
    let main_set = read.query_row([main.set], set_of)?;
    Ok(Some(IndexedTopic {
        id,
        key,
        created,
        updated,
        names: facts(connection, id, TextKind::Name)?,
        addresses: facts(connection, id, TextKind::Address)?,
        attributes: facts(connection, id, TextKind::Attribute)?,
        main,
        main_set,
    }))
}

fn facts(connection: &Connection, topic: i64, kind: TextKind) -> IndexResult<Vec<IndexedFact>> {
    let mut read = connection.prepare_cached(
        "SELECT facts.label, facts.text, facts.body, facts.credential, coalesce(credentials.type_id, '')
         FROM facts LEFT JOIN credentials ON credentials.id = facts.credential
         WHERE facts.topic = ?1 AND facts.kind = ?2 LIMIT ?3",
    )?;
    let facts = read.query_map(params![topic, kind.letter(), sql(FACTS_MAX)], |row| {
        Ok(IndexedFact {
            kind: row.get(0)?,
            text: row.get(1)?,
            body: row.get(2)?,
            credential: row.get(3)?,
            type_id: row.get(4)?,
        })
    })?;
    Ok(facts.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn sets(
    connection: &Connection,
    topic: i64,
    page: AfterNumber,
) -> IndexResult<Vec<IndexedSet>> {
    let sets = match page.after {
        None => {
            let query =
                format!("{SET} WHERE topic = ?1 ORDER BY last_effective DESC, id DESC LIMIT ?2");
            let mut read = connection.prepare_cached(&query)?;
            let sets = read.query_map([topic, sql(page.limit)], set_of)?;
            sets.collect::<rusqlite::Result<_>>()?
        }
        Some(after) => {
            let query = format!(
                "{SET} WHERE topic = ?1
                 AND (last_effective, id) < ((SELECT last_effective FROM sets WHERE id = ?3), ?3)
                 ORDER BY last_effective DESC, id DESC LIMIT ?2"
            );
            let mut read = connection.prepare_cached(&query)?;
            let sets = read.query_map([topic, sql(page.limit), after], set_of)?;
            sets.collect::<rusqlite::Result<_>>()?
        }
    };
    Ok(sets)
}

pub(super) fn credentials(
    connection: &Connection,
    set: i64,
    limit: usize,
) -> IndexResult<Vec<IndexedCredential>> {
    let query = format!(
        "{CREDENTIAL} WHERE credential_set = ?1 ORDER BY effective DESC, entered DESC LIMIT ?2"
    );
    let mut read = connection.prepare_cached(&query)?;
    let credentials = read.query_map([set, sql(limit)], credential_of)?;
    Ok(credentials.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn credential(
    connection: &Connection,
    credential_id: &str,
) -> IndexResult<Option<IndexedCredential>> {
    let mut read = connection.prepare_cached(&format!("{CREDENTIAL} WHERE id = ?1"))?;
    let id = selfsame_book::number::credential(credential_id);
    let found = read.query_row([id], credential_of).optional()?;
    Ok(found.filter(|one| one.credential_id == credential_id))
}

pub(super) fn holders(connection: &Connection, asked: &AskedNumbers) -> IndexResult<NumberHolders> {
    let mut holders = NumberHolders::default();
    let numbers = |of: &[i64]| serde_json::to_string(of);
    let mut read = connection.prepare_cached(
        "SELECT credentials.id, credential_id FROM json_each(?1) AS own
         CROSS JOIN credentials ON credentials.id = own.value",
    )?;
    let mut rows = read.query([numbers(&asked.credentials)?])?;
    while let Some(row) = rows.next()? {
        holders.credentials.insert(row.get(0)?, row.get(1)?);
    }
    let mut read = connection.prepare_cached(
        "SELECT topics.id, kind, source_id FROM json_each(?1) AS own
         CROSS JOIN topics ON topics.id = own.value",
    )?;
    let mut rows = read.query([numbers(&asked.topics)?])?;
    while let Some(row) = rows.next()? {
        let key = TopicKey {
            kind: row.get(1)?,
            source_id: row.get(2)?,
        };
        holders.topics.insert(row.get(0)?, key);
    }
    let mut read = connection.prepare_cached(
        "SELECT sets.id, sets.topic, credentials.type_id FROM json_each(?1) AS own
         CROSS JOIN sets ON sets.id = own.value JOIN credentials ON credentials.id = sets.latest",
    )?;
    let mut rows = read.query([numbers(&asked.sets)?])?;
    while let Some(row) = rows.next()? {
        let holder = SetHolder {
            topic: row.get(1)?,
            type_id: row.get(2)?,
        };
        holders.sets.insert(row.get(0)?, holder);
    }
    Ok(holders)
}

pub(super) fn neighbours(
    connection: &Connection,
    topic: i64,
    limit: usize,
) -> IndexResult<Vec<Neighbour>> {
    let mut read = connection.prepare_cached(
        "SELECT own.relation, own.kind, own.source_id, own.other, own.back, (
            SELECT facts.text FROM facts JOIN topics ON topics.id = facts.topic
            WHERE facts.topic = own.other AND facts.kind = 'n'
                AND topics.kind = own.kind AND topics.source_id = own.source_id
            ORDER BY facts.label, facts.text LIMIT 1)
         FROM (
            SELECT relation, kind, source_id, other, 0 AS back FROM relations WHERE topic = ?1
            UNION ALL
            SELECT relations.relation, topics.kind, topics.source_id, topics.id, 1
            FROM relations JOIN topics ON topics.id = relations.topic WHERE relations.other = ?1
            ORDER BY 5, 4, 1 LIMIT ?2
         ) AS own ORDER BY own.back, own.other, own.relation",
    )?;
    let found = read.query_map([topic, sql(limit)], |row| {
        Ok(Neighbour {
            relation: RelatedTopic {
                relation: row.get(0)?,
                topic: TopicKey {
                    kind: row.get(1)?,
                    source_id: row.get(2)?,
                },
            },
            other: row.get(3)?,
            is_from_other: row.get(4)?,
            name: row.get(5)?,
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

fn credential_of(row: &Row<'_>) -> rusqlite::Result<IndexedCredential> {
    Ok(IndexedCredential {
        id: row.get(0)?,
        credential_id: row.get(1)?,
        topic: row.get(2)?,
        set: row.get(3)?,
        type_id: row.get(4)?,
        issuer: row.get(5)?,
        effective: row.get(6)?,
        expires: row.get(7)?,
        entered: row.get(8)?,
        inactive: row.get(9)?,
        revoked: row.get(10)?,
        latest: row.get(11)?,
    })
}

fn set_of(row: &Row<'_>) -> rusqlite::Result<IndexedSet> {
    Ok(IndexedSet {
        id: row.get(0)?,
        topic: row.get(1)?,
        latest: row.get(2)?,
        created: row.get(3)?,
        updated: row.get(4)?,
        first_effective: row.get(5)?,
        last_effective: row.get(6)?,
    })
}
