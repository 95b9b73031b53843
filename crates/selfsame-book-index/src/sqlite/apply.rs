//! Makes changes of a book in one transaction.

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};
use selfsame_book::number;
use selfsame_book::text::normal;

use super::changed::{Changed, facet_number};
use super::facts::{CredentialBody, FactRow, facets, rows};
use crate::backend::{IndexChange, IndexedEntry, TextKind};
use crate::error::IndexResult;

/// A credential of the book.
struct StoredCredential {
    id: i64,
    topic: i64,
    set: i64,
    type_id: String,
    issuer: String,
    latest: bool,
    body: CredentialBody,
}

/// Makes the changes and notes the cursor.
pub(super) fn apply(
    connection: &mut Connection,
    changes: &[IndexChange],
    cursor: Option<&str>,
) -> IndexResult<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut changed = Changed::new(&transaction);
    for change in changes {
        match change {
            IndexChange::Enter(entry) => enter(&mut changed, entry)?,
            IndexChange::Revoke { credential_id, at } => revoke(&mut changed, credential_id, *at)?,
            IndexChange::Remove { credential_id } => remove(&mut changed, credential_id)?,
        }
    }
    changed.finish()?;
    if let Some(cursor) = cursor {
        transaction
            .prepare_cached(
                "INSERT INTO state (one, cursor) VALUES (1, ?1) ON CONFLICT DO UPDATE SET cursor = ?1",
            )?
            .execute([cursor])?;
    }
    transaction.commit()?;
    let is_removal = |change: &IndexChange| matches!(change, IndexChange::Remove { .. });
    if changes.iter().any(is_removal) {
        // The log still has the pages as they were.
        connection.query_row("PRAGMA wal_checkpoint (TRUNCATE)", [], |_| Ok(()))?;
    }
    Ok(())
}

fn enter(changed: &mut Changed<'_>, entry: &IndexedEntry) -> IndexResult<()> {
    let id = number::credential(&entry.credential_id);
    if let Some(known) = stored(changed, id)? {
        if credential_id(changed, known.id)? != entry.credential_id {
            not_shown(entry, id);
        }
        return Ok(());
    }
    let topic = number::topic(&entry.facts.topic);
    let set = number::credential_set(&entry.facts.topic, &entry.type_id, &entry.facts.cardinality);
    let replaced = in_force(changed, set)?;
    let is_other =
        |before: &StoredCredential| before.topic != topic || before.type_id != entry.type_id;
    if replaced.as_ref().is_some_and(is_other) {
        not_shown(entry, set);
        return Ok(());
    }
    if !topic_of(changed, topic, entry)? {
        not_shown(entry, topic);
        return Ok(());
    }
    let is_latest = match &replaced {
        None => true,
        Some(before) => effective(changed, before.id)? <= entry.effective,
    };
    let facts = &entry.facts;
    let body = CredentialBody {
        names: facts.names.clone(),
        addresses: facts.addresses.clone(),
        attributes: facts.attributes.clone(),
        related: facts.related.clone(),
    };
    let new = StoredCredential {
        id,
        topic,
        set,
        type_id: entry.type_id.clone(),
        issuer: entry.issuer.clone(),
        latest: is_latest,
        body,
    };
    insert(changed, &new, entry)?;
    if is_latest {
        if let Some(before) = replaced {
            put_out_of_force(changed, &before)?;
        }
        state(changed, &new)?;
    }
    note_in_set(changed, &new, entry)?;
    choose_main(changed, topic)
}

/// Adds the row of a credential.
fn insert(changed: &Changed<'_>, new: &StoredCredential, entry: &IndexedEntry) -> IndexResult<()> {
    changed
        .transaction
        .prepare_cached(
            "INSERT INTO credentials (id, credential_id, topic, credential_set, type_id, issuer, founds,
                effective, expires, entered, inactive, latest, body)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?
        .execute(params![
            new.id,
            entry.credential_id,
            new.topic,
            new.set,
            entry.type_id,
            entry.issuer,
            entry.facts.founds,
            entry.effective,
            entry.facts.expires,
            entry.entered,
            entry.facts.inactive,
            new.latest,
            serde_json::to_string(&new.body)?,
        ])?;
    Ok(())
}

/// Logs that an entry is left out, because another name has a number of it.
fn not_shown(entry: &IndexedEntry, number: i64) {
    let credential = &entry.credential_id;
    tracing::warn!(
        entry = credential,
        number,
        "not shown in the book: another name has its number"
    );
}

/// The row of the topic, new if there was none; false if the row is that of another topic.
fn topic_of(changed: &mut Changed<'_>, topic: i64, entry: &IndexedEntry) -> IndexResult<bool> {
    let mut known = changed
        .transaction
        .prepare_cached("SELECT kind, source_id FROM topics WHERE id = ?1")?;
    let known = known
        .query_row([topic], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        })
        .optional()?;
    let key = &entry.facts.topic;
    match known {
        Some((kind, source_id)) if kind == key.kind && source_id == key.source_id => {
            changed
                .transaction
                .prepare_cached("UPDATE topics SET updated = max(updated, ?2) WHERE id = ?1")?
                .execute([topic, entry.entered])?;
            Ok(true)
        }
        Some(_) => Ok(false),
        None => {
            changed
                .transaction
                .prepare_cached(
                    "INSERT INTO topics (id, kind, source_id, main, effective, created, updated)
                     VALUES (?1, ?2, ?3, 0, 0, ?4, ?4)",
                )?
                .execute(params![topic, key.kind, key.source_id, entry.entered])?;
            let source = FactRow {
                kind: TextKind::Source,
                label: String::new(),
                text: key.source_id.clone(),
                body: String::new(),
            };
            let id = number::credential(&entry.credential_id);
            state_fact(changed, topic, &source, id)?;
            Ok(true)
        }
    }
}

/// Notes a credential in its set.
fn note_in_set(
    changed: &Changed<'_>,
    new: &StoredCredential,
    entry: &IndexedEntry,
) -> IndexResult<()> {
    changed
        .transaction
        .prepare_cached(
            "INSERT INTO sets (id, topic, latest, created, updated, first_effective, last_effective)
             VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?5)
             ON CONFLICT DO UPDATE SET
                latest = CASE WHEN ?6 THEN ?3 ELSE latest END,
                updated = max(updated, ?4),
                first_effective = min(first_effective, ?5),
                last_effective = max(last_effective, ?5)",
        )?
        .execute(params![
            new.set,
            new.topic,
            new.id,
            entry.entered,
            entry.effective,
            new.latest
        ])?;
    Ok(())
}

fn revoke(changed: &mut Changed<'_>, credential_id: &str, at: i64) -> IndexResult<()> {
    let Some(stored) = stored(changed, number::credential(credential_id))? else {
        return Ok(());
    };
    changed
        .transaction
        .prepare_cached("UPDATE credentials SET revoked = coalesce(revoked, ?2) WHERE id = ?1")?
        .execute([stored.id, at])?;
    choose_main(changed, stored.topic)
}

fn remove(changed: &mut Changed<'_>, credential_id: &str) -> IndexResult<()> {
    let Some(stored) = stored(changed, number::credential(credential_id))? else {
        return Ok(());
    };
    if stored.latest {
        take_back(changed, &stored)?;
    }
    changed
        .transaction
        .prepare_cached("DELETE FROM credentials WHERE id = ?1")?
        .execute([stored.id])?;
    follow_in_set(changed, &stored)?;
    choose_main(changed, stored.topic)
}

/// Puts the next credential of a set into force, or removes the set with its last one.
fn follow_in_set(changed: &mut Changed<'_>, removed: &StoredCredential) -> IndexResult<()> {
    let mut next = changed.transaction.prepare_cached(
        "SELECT id FROM credentials WHERE credential_set = ?1 ORDER BY effective DESC, entered DESC LIMIT 1",
    )?;
    let next: Option<i64> = next.query_row([removed.set], |row| row.get(0)).optional()?;
    let Some(next) = next else {
        changed
            .transaction
            .prepare_cached("DELETE FROM sets WHERE id = ?1")?
            .execute([removed.set])?;
        return Ok(());
    };
    changed
        .transaction
        .prepare_cached(
            "UPDATE sets SET latest = ?2,
                first_effective = (SELECT min(effective) FROM credentials WHERE credential_set = ?1),
                last_effective = (SELECT max(effective) FROM credentials WHERE credential_set = ?1)
             WHERE id = ?1",
        )?
        .execute([removed.set, next])?;
    if removed.latest
        && let Some(next) = stored(changed, next)?
    {
        changed
            .transaction
            .prepare_cached("UPDATE credentials SET latest = 1 WHERE id = ?1")?
            .execute([next.id])?;
        state(changed, &next)?;
    }
    Ok(())
}

/// Chooses the credential that founds a topic, or removes a topic without credentials.
fn choose_main(changed: &mut Changed<'_>, topic: i64) -> IndexResult<()> {
    changed.topics.insert(topic);
    let mut main = changed.transaction.prepare_cached(
        "SELECT id, effective, revoked FROM credentials WHERE topic = ?1 AND latest = 1
         ORDER BY founds DESC, effective, id LIMIT 1",
    )?;
    let main = main
        .query_row([topic], |row| {
            Ok((
                row.get::<_, i64>(0)?,
                row.get::<_, i64>(1)?,
                row.get::<_, Option<i64>>(2)?,
            ))
        })
        .optional()?;
    match main {
        Some((main, effective, revoked)) => {
            changed
                .transaction
                .prepare_cached(
                    "UPDATE topics SET main = ?2, effective = ?3, revoked = ?4 WHERE id = ?1",
                )?
                .execute(params![topic, main, effective, revoked])?;
        }
        None => {
            let mut source = changed
                .transaction
                .prepare_cached("SELECT source_id FROM topics WHERE id = ?1")?;
            let source: String = source.query_row([topic], |row| row.get(0))?;
            changed.count_words(&source, -1);
            for statement in [
                "DELETE FROM facts WHERE topic = ?1",
                "DELETE FROM topics WHERE id = ?1",
            ] {
                changed
                    .transaction
                    .prepare_cached(statement)?
                    .execute([topic])?;
            }
        }
    }
    Ok(())
}

fn put_out_of_force(changed: &mut Changed<'_>, before: &StoredCredential) -> IndexResult<()> {
    changed
        .transaction
        .prepare_cached("UPDATE credentials SET latest = 0 WHERE id = ?1")?
        .execute([before.id])?;
    take_back(changed, before)
}

/// Adds the facts of a credential that comes into force.
fn state(changed: &mut Changed<'_>, stored: &StoredCredential) -> IndexResult<()> {
    for fact in rows(&stored.body)? {
        state_fact(changed, stored.topic, &fact, stored.id)?;
    }
    for facet in facets(&stored.type_id, &stored.issuer, &stored.body) {
        if let Some(facet) = facet_number(changed.transaction, &facet)? {
            changed
                .transaction
                .prepare_cached(
                    "INSERT INTO tokens (topic, facet, uses) VALUES (?1, ?2, 1)
                     ON CONFLICT DO UPDATE SET uses = uses + 1",
                )?
                .execute([stored.topic, facet])?;
        }
    }
    for related in &stored.body.related {
        changed
            .transaction
            .prepare_cached(
                "INSERT INTO relations (topic, other, relation, kind, source_id, uses)
                 VALUES (?1, ?2, ?3, ?4, ?5, 1)
                 ON CONFLICT DO UPDATE SET uses = uses + 1",
            )?
            .execute(params![
                stored.topic,
                number::topic(&related.topic),
                related.relation,
                related.topic.kind,
                related.topic.source_id
            ])?;
    }
    Ok(())
}

/// Takes the facts of a credential back that is no longer in force.
fn take_back(changed: &mut Changed<'_>, stored: &StoredCredential) -> IndexResult<()> {
    for fact in rows(&stored.body)? {
        take_back_fact(changed, stored, &fact)?;
    }
    for facet in facets(&stored.type_id, &stored.issuer, &stored.body) {
        if let Some(facet) = facet_number(changed.transaction, &facet)? {
            changed.facets.insert(facet);
            for statement in [
                "UPDATE tokens SET uses = uses - 1 WHERE topic = ?1 AND facet = ?2",
                "DELETE FROM tokens WHERE topic = ?1 AND facet = ?2 AND uses <= 0",
            ] {
                changed
                    .transaction
                    .prepare_cached(statement)?
                    .execute([stored.topic, facet])?;
            }
        }
    }
    for related in &stored.body.related {
        let key = params![
            stored.topic,
            number::topic(&related.topic),
            related.relation
        ];
        for statement in [
            "UPDATE relations SET uses = uses - 1 WHERE topic = ?1 AND other = ?2 AND relation = ?3",
            "DELETE FROM relations WHERE topic = ?1 AND other = ?2 AND relation = ?3 AND uses <= 0",
        ] {
            changed
                .transaction
                .prepare_cached(statement)?
                .execute(key)?;
        }
    }
    Ok(())
}

fn state_fact(
    changed: &mut Changed<'_>,
    topic: i64,
    fact: &FactRow,
    credential: i64,
) -> IndexResult<()> {
    let key = params![topic, fact.kind.letter(), fact.label, fact.text];
    let known = changed
        .transaction
        .prepare_cached(
            "UPDATE facts SET uses = uses + 1 WHERE topic = ?1 AND kind = ?2 AND label = ?3 AND text = ?4",
        )?
        .execute(key)?;
    if known > 0 {
        return Ok(());
    }
    let searched = fact.kind != TextKind::Attribute;
    changed
        .transaction
        .prepare_cached(
            "INSERT INTO facts (topic, kind, label, text, normal, searched, body, credential, uses)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 1)",
        )?
        .execute(params![
            topic,
            fact.kind.letter(),
            fact.label,
            fact.text,
            normal(&fact.text),
            searched,
            fact.body,
            credential
        ])?;
    if searched {
        changed.count_words(&fact.text, 1);
    }
    Ok(())
}

fn take_back_fact(
    changed: &mut Changed<'_>,
    stored: &StoredCredential,
    fact: &FactRow,
) -> IndexResult<()> {
    let key = params![stored.topic, fact.kind.letter(), fact.label, fact.text];
    let mut less = changed.transaction.prepare_cached(
        "UPDATE facts SET uses = uses - 1
         WHERE topic = ?1 AND kind = ?2 AND label = ?3 AND text = ?4 RETURNING uses, credential",
    )?;
    let left = less
        .query_row(key, |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
        })
        .optional()?;
    drop(less);
    match left {
        Some((..=0, _)) => {
            changed
                .transaction
                .prepare_cached(
                    "DELETE FROM facts WHERE topic = ?1 AND kind = ?2 AND label = ?3 AND text = ?4",
                )?
                .execute(key)?;
            if fact.kind != TextKind::Attribute {
                changed.count_words(&fact.text, -1);
            }
        }
        Some((_, credential)) if credential == stored.id => {
            let other = other_that_says(changed, stored, fact)?;
            changed
                .transaction
                .prepare_cached(
                    "UPDATE facts SET credential = ?5
                     WHERE topic = ?1 AND kind = ?2 AND label = ?3 AND text = ?4",
                )?
                .execute(params![
                    stored.topic,
                    fact.kind.letter(),
                    fact.label,
                    fact.text,
                    other
                ])?;
        }
        _ => {}
    }
    Ok(())
}

/// Another credential in force that says the same; 0 if no other does.
fn other_that_says(
    changed: &Changed<'_>,
    stored: &StoredCredential,
    fact: &FactRow,
) -> IndexResult<i64> {
    let mut others = changed.transaction.prepare_cached(
        "SELECT id, body FROM credentials WHERE topic = ?1 AND latest = 1 AND id <> ?2",
    )?;
    let mut others = others.query([stored.topic, stored.id])?;
    while let Some(row) = others.next()? {
        let body: CredentialBody =
            serde_json::from_str(row.get_ref(1)?.as_str().unwrap_or_default())?;
        let says = |own: &FactRow| {
            own.kind == fact.kind && own.label == fact.label && own.text == fact.text
        };
        if rows(&body)?.iter().any(says) {
            return Ok(row.get(0)?);
        }
    }
    Ok(0)
}

fn in_force(changed: &Changed<'_>, set: i64) -> IndexResult<Option<StoredCredential>> {
    let mut latest = changed
        .transaction
        .prepare_cached("SELECT latest FROM sets WHERE id = ?1")?;
    let latest: Option<i64> = latest.query_row([set], |row| row.get(0)).optional()?;
    latest.map_or(Ok(None), |id| stored(changed, id))
}

fn effective(changed: &Changed<'_>, id: i64) -> IndexResult<i64> {
    let mut read = changed
        .transaction
        .prepare_cached("SELECT effective FROM credentials WHERE id = ?1")?;
    Ok(read.query_row([id], |row| row.get(0))?)
}

fn credential_id(changed: &Changed<'_>, id: i64) -> IndexResult<String> {
    let mut read = changed
        .transaction
        .prepare_cached("SELECT credential_id FROM credentials WHERE id = ?1")?;
    Ok(read.query_row([id], |row| row.get(0))?)
}

fn stored(changed: &Changed<'_>, id: i64) -> IndexResult<Option<StoredCredential>> {
    let mut read = changed.transaction.prepare_cached(
        "SELECT id, topic, credential_set, type_id, issuer, latest, body FROM credentials WHERE id = ?1",
    )?;
    let mut rows = read.query([id])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    Ok(Some(StoredCredential {
        id: row.get(0)?,
        topic: row.get(1)?,
        set: row.get(2)?,
        type_id: row.get(3)?,
        issuer: row.get(4)?,
        latest: row.get(5)?,
        body: serde_json::from_str(row.get_ref(6)?.as_str().unwrap_or_default())?,
    }))
}
