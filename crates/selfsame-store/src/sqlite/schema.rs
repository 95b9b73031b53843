//! The layout of the tables, and the look-up queries.

use rusqlite::Connection;

use super::file::Format;
use crate::error;

pub(super) static FORMAT: Format = Format {
    application: 0x5353_7374,
    version: 6,
    former: &[UNSUMMED, ROUTED, WITHOUT_EVENTS, UNLISTED],
    schema: &[SCHEMA, TOTALS, EVENTS, KEYS_INDEX],
    shrinks: false,
};

/// `seq` orders records by insertion. Each record lists its own tag keys, which saves an index of tags by record.
const SCHEMA: &str = "
CREATE TABLE records (
    seq INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    expires INTEGER,
    tags BLOB NOT NULL,
    value BLOB NOT NULL,
    UNIQUE (tenant, kind, id)
) STRICT;
CREATE INDEX records_by_kind ON records (tenant, kind);
CREATE INDEX records_by_expiry ON records (expires) WHERE expires IS NOT NULL;
CREATE TABLE tags (
    tag BLOB NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (tag, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE counters (
    tenant TEXT NOT NULL,
    counter TEXT NOT NULL,
    next INTEGER NOT NULL,
    PRIMARY KEY (tenant, counter)
) STRICT, WITHOUT ROWID;
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    lane BLOB NOT NULL,
    head INTEGER NOT NULL,
    not_before INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    created INTEGER NOT NULL,
    buried INTEGER,
    reason TEXT,
    sealed BLOB NOT NULL
) STRICT;
CREATE INDEX outbox_due ON outbox (not_before) WHERE head = 1;
CREATE INDEX outbox_lanes ON outbox (lane, seq) WHERE buried IS NULL;
CREATE INDEX outbox_dead ON outbox (seq, buried) WHERE buried IS NOT NULL;
";

/// A former layout, without a sum over its rows.
const UNSUMMED: u32 = 2;
/// A former layout. This and the one before it had an unused table of routes.
const ROUTED: u32 = 3;
/// A former layout. This and the ones before it had no events.
const WITHOUT_EVENTS: u32 = 4;
/// A former layout. This and the ones before it had no list of master keys, which is a record, and no index of keys.
pub(super) const UNLISTED: u32 = 5;
/// Finds the tenants' keys, to wrap them again.
const KEYS_INDEX: &str =
    "CREATE INDEX IF NOT EXISTS records_of_keys ON records (tenant) WHERE kind = 'selfsame.key';";
/// `seq` is the position: one more than the largest, since the newest row is never removed.
const EVENTS: &str = "
CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    stamp INTEGER NOT NULL,
    at INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL
) STRICT;
";
/// The sum over all rows of the other tables, except tables derived from them.
const TOTALS: &str = "
CREATE TABLE totals (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    sum BLOB NOT NULL,
    rows INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    mac BLOB NOT NULL
) STRICT;
";

/// Whether the file has a layout without a sum.
pub(super) fn lacks_sum(connection: &Connection) -> error::Result<bool> {
    Ok(version(connection)? == UNSUMMED)
}

/// Whether the file has a layout without events.
pub(super) fn lacks_events(connection: &Connection) -> error::Result<bool> {
    Ok(version(connection)? <= WITHOUT_EVENTS)
}

/// Converts a file of a former layout: adds missing tables and drops unused ones.
pub(super) fn take_over(connection: &Connection) -> error::Result<()> {
    let found = version(connection)?;
    if found == UNSUMMED {
        connection.execute_batch(TOTALS)?;
    }
    if found != FORMAT.version {
        connection.execute_batch("DROP TABLE IF EXISTS routes")?;
        if found <= WITHOUT_EVENTS {
            connection.execute_batch(EVENTS)?;
        }
        connection.execute_batch(KEYS_INDEX)?;
        connection.pragma_update(None, "user_version", FORMAT.version)?;
    }
    Ok(())
}

pub(super) fn version(connection: &Connection) -> error::Result<u32> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

pub(super) const READ: &str = "SELECT id, seq, version, expires, value FROM records
    WHERE tenant = ?1 AND kind = ?2 AND id = ?3 AND (expires IS NULL OR expires > ?4)";

pub(super) const VERSION: &str = "SELECT version FROM records
    WHERE tenant = ?1 AND kind = ?2 AND id = ?3 AND (expires IS NULL OR expires > ?4)";

pub(super) const KEYS: &str = "SELECT id, seq, version, expires, value, tenant FROM records
    INDEXED BY records_of_keys WHERE kind = 'selfsame.key' AND tenant > ?1 ORDER BY tenant LIMIT ?2";

pub(super) const FIND: [&str; 2] = [
    "SELECT r.id, r.seq, r.version, r.expires, r.value FROM tags t CROSS JOIN records r ON r.seq = t.seq
    WHERE t.tag = ?1 AND t.seq > ?2 AND (r.expires IS NULL OR r.expires > ?3) ORDER BY t.seq LIMIT ?4",
    "SELECT r.id, r.seq, r.version, r.expires, r.value FROM tags t CROSS JOIN records r ON r.seq = t.seq
    WHERE t.tag = ?1 AND t.seq < ?2 AND (r.expires IS NULL OR r.expires > ?3) ORDER BY t.seq DESC LIMIT ?4",
];

pub(super) const LIST: [&str; 2] = [
    "SELECT id, seq, version, expires, value FROM records INDEXED BY records_by_kind
    WHERE tenant = ?1 AND kind = ?2 AND seq > ?3 AND (expires IS NULL OR expires > ?4) ORDER BY seq LIMIT ?5",
    "SELECT id, seq, version, expires, value FROM records INDEXED BY records_by_kind
    WHERE tenant = ?1 AND kind = ?2 AND seq < ?3 AND (expires IS NULL OR expires > ?4) ORDER BY seq DESC LIMIT ?5",
];

/// Row headers contain the lengths, so no values are read.
pub(super) const WEIGHT: &str = "SELECT COUNT(*), COALESCE(SUM(bytes), 0) FROM (
    SELECT LENGTH(value) AS bytes FROM records INDEXED BY records_by_kind
    WHERE tenant = ?1 AND kind = ?2 ORDER BY seq LIMIT ?3)";

/// The index alone answers it.
pub(super) const COUNT: &str = "SELECT COUNT(*) FROM (
    SELECT 1 FROM records INDEXED BY records_by_kind WHERE tenant = ?1 AND kind = ?2 LIMIT ?3)";

pub(super) const DUE: &str =
    "SELECT id FROM outbox WHERE head = 1 AND not_before <= ?1 ORDER BY not_before, seq LIMIT ?2";

pub(super) const ENTRY: &str =
    "SELECT id, tenant, lane, not_before, attempts, created, sealed FROM outbox
    WHERE id = ?1 AND head = 1 AND not_before <= ?2";

pub(super) const LETTERS: [&str; 2] = [
    "SELECT id, tenant, lane, not_before, attempts, created, sealed, seq, reason, buried FROM outbox
    WHERE buried IS NOT NULL AND seq > ?1 ORDER BY seq LIMIT ?2",
    "SELECT id, tenant, lane, not_before, attempts, created, sealed, seq, reason, buried FROM outbox
    WHERE buried IS NOT NULL AND seq < ?1 ORDER BY seq DESC LIMIT ?2",
];

pub(super) const BACKLOG: &str = "SELECT
    (SELECT count(*) FROM outbox WHERE buried IS NULL), (SELECT count(*) FROM outbox WHERE buried IS NOT NULL),
    (SELECT min(created) FROM outbox WHERE head = 1)";

pub(super) const EXPIRED: &str =
    "SELECT seq, tags FROM records WHERE expires <= ?1 ORDER BY expires LIMIT ?2";

pub(super) const HAS_EXPIRED: &str = "SELECT EXISTS (SELECT 1 FROM records WHERE expires <= ?1)
    OR EXISTS (SELECT 1 FROM outbox WHERE buried < ?2)
    OR (SELECT at < ?3 AND seq < (SELECT max(seq) FROM events) FROM events ORDER BY seq LIMIT 1)";

pub(super) const EVENTS_AFTER: [&str; 2] = [
    "SELECT seq, stamp, at, tenant, kind, id FROM events WHERE seq > ?1 ORDER BY seq LIMIT ?2",
    "SELECT seq, stamp, at, tenant, kind, id FROM events WHERE seq < ?1 ORDER BY seq DESC LIMIT ?2",
];

/// Removes no event between two that stay, even if the clock was set back.
pub(super) const PURGE_EVENTS: &str = "DELETE FROM events
    WHERE seq <= (SELECT max(seq) FROM (SELECT seq, at FROM events ORDER BY seq LIMIT ?2) WHERE at < ?1)
    AND seq < (SELECT max(seq) FROM events)";

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    fn plan(query: &str) -> String {
        let connection = Connection::open_in_memory().unwrap();
        crate::sqlite::file::set_up(&connection).unwrap();
        connection.execute_batch(SCHEMA).unwrap();
        connection.execute_batch(EVENTS).unwrap();
        connection.execute_batch(KEYS_INDEX).unwrap();
        let mut statement = connection
            .prepare(&format!("EXPLAIN QUERY PLAN {query}"))
            .unwrap();
        let nulls = vec![None::<i64>; statement.parameter_count()];
        let steps = statement
            .query_map(rusqlite::params_from_iter(nulls), |row| {
                row.get::<_, String>("detail")
            })
            .unwrap();
        steps
            .map(|step| step.unwrap())
            .collect::<Vec<_>>()
            .join("; ")
    }

    #[test]
    fn every_look_up_on_the_way_of_a_request_is_driven_by_an_index() {
        for query in [
            READ,
            KEYS,
            FIND[0],
            FIND[1],
            LIST[0],
            LIST[1],
            DUE,
            ENTRY,
            EXPIRED,
            WEIGHT,
            COUNT,
            EVENTS_AFTER[0],
            EVENTS_AFTER[1],
        ] {
            // Scanning a subquery's result is not a table scan.
            let plan = plan(query).replace("SCAN (subquery", "(subquery");
            assert!(!plan.contains("SCAN"), "{query}\n{plan}");
        }
        // The index gives the order of insertion: a page never sorts all records of a tag or kind.
        for query in [KEYS, FIND[0], FIND[1], LIST[0], LIST[1]] {
            assert!(
                !plan(query).contains("TEMP B-TREE"),
                "{query}\n{}",
                plan(query)
            );
        }
    }

    #[test]
    fn look_ups_by_tag_begin_at_the_tag() {
        let plan = plan(FIND[0]);
        assert!(
            plan.starts_with("SEARCH t USING PRIMARY KEY (tag=? AND seq>?)"),
            "{plan}"
        );
        assert!(
            plan.contains("SEARCH r USING INTEGER PRIMARY KEY (rowid=?)"),
            "{plan}"
        );
    }
}
