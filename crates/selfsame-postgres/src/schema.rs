//! The layout of the tables, and every statement.
//!
//! They use what every database has that speaks PostgreSQL's protocol, distributed ones included; `docs/postgres.md`
//! lists the rules, and a test holds the statements to them.

use crate::census::CensusRows;

/// The number of this layout.
pub(crate) const LAYOUT: i32 = 3;

/// Makes each layout from the one before; the first makes layout 2 from layout 1. Processes of the release before go on
/// beside: nothing that they use is changed. What they wait with, a lock on the table of processes, is not waited for.
pub(crate) const MIGRATIONS: [&str; 2] = [
    "
ALTER TABLE outbox ADD COLUMN holder uuid;
ALTER TABLE processes ADD COLUMN alone boolean NOT NULL DEFAULT true;
",
    "
CREATE INDEX records_of_keys ON records (tenant) WHERE kind = 'selfsame.key';
CREATE TABLE readers (
    process uuid PRIMARY KEY,
    master bytea NOT NULL
);
",
];

/// The table that tells the layout. It exists before the others, so that one starter at a time makes them.
pub(crate) const LAYOUTS: &str = "
CREATE TABLE IF NOT EXISTS layout (
    one integer PRIMARY KEY CHECK (one = 1),
    application text NOT NULL,
    layout integer NOT NULL
);
INSERT INTO layout (one, application, layout) VALUES (1, 'selfsame store', 0) ON CONFLICT DO NOTHING;
";

/// Layout 1. `place` is a hash of tenant, kind and identifier: short, and spread over all of its values. `seq` is the time of
/// insertion. Each record lists its own tag keys, which saves an index of tags by record.
pub(crate) const TABLES: &str = "
CREATE TABLE records (
    place uuid PRIMARY KEY,
    tenant text NOT NULL,
    kind text NOT NULL,
    id text NOT NULL,
    seq bigint NOT NULL,
    version bigint NOT NULL,
    expires bigint,
    tags bytea NOT NULL,
    value bytea NOT NULL
);
CREATE INDEX records_by_kind ON records (tenant, kind, seq);
CREATE INDEX records_by_expiry ON records (expires) WHERE expires IS NOT NULL;
CREATE TABLE tags (
    tag bytea NOT NULL,
    seq bigint NOT NULL,
    place uuid NOT NULL,
    PRIMARY KEY (tag, seq, place)
);
CREATE TABLE counters (
    tenant text NOT NULL,
    counter text NOT NULL,
    next bigint NOT NULL,
    PRIMARY KEY (tenant, counter)
);
CREATE TABLE outbox (
    id bigint PRIMARY KEY,
    seq bigint NOT NULL,
    tenant text NOT NULL,
    lane bytea NOT NULL,
    head boolean NOT NULL,
    not_before bigint NOT NULL,
    attempts integer NOT NULL,
    created bigint NOT NULL,
    buried bigint,
    reason text,
    sealed bytea NOT NULL
);
CREATE INDEX outbox_due ON outbox (not_before) WHERE head;
CREATE UNIQUE INDEX outbox_heads ON outbox (lane) WHERE head;
CREATE INDEX outbox_lanes ON outbox (lane, seq) WHERE buried IS NULL;
CREATE INDEX outbox_dead ON outbox (seq) WHERE buried IS NOT NULL;
CREATE INDEX outbox_by_tenant ON outbox (tenant);
CREATE TABLE events (
    seq bigint PRIMARY KEY,
    stamp bigint NOT NULL,
    at bigint NOT NULL,
    tenant text NOT NULL,
    kind text NOT NULL,
    id text NOT NULL
);
CREATE TABLE positions (
    one integer PRIMARY KEY CHECK (one = 1),
    newest bigint NOT NULL
);
INSERT INTO positions (one, newest) VALUES (1, 0);
CREATE TABLE processes (
    process uuid PRIMARY KEY,
    sum bytea NOT NULL,
    rows bigint NOT NULL,
    generation bigint NOT NULL,
    mac bytea NOT NULL,
    seen timestamptz NOT NULL
);
";

/// Whether the schema has our table of layouts, and how many tables it has.
pub(crate) const FOUND_TABLES: &str = "SELECT
    EXISTS (SELECT 1 FROM information_schema.columns
        WHERE table_schema = current_schema() AND table_name = 'layout' AND column_name = 'application'),
    (SELECT count(*) FROM information_schema.tables WHERE table_schema = current_schema())";
pub(crate) const HAS_ROWS: &str = "SELECT EXISTS (SELECT 1 FROM records) OR EXISTS (SELECT 1 FROM counters)
    OR EXISTS (SELECT 1 FROM outbox) OR EXISTS (SELECT 1 FROM events) OR EXISTS (SELECT 1 FROM processes)";

pub(crate) const LOCK_LAYOUT: &str =
    "SELECT application, layout FROM layout WHERE one = 1 FOR UPDATE";
pub(crate) const FOUND_LAYOUT: &str = "SELECT application, layout FROM layout WHERE one = 1";
pub(crate) const SET_LAYOUT: &str = "UPDATE layout SET layout = $1 WHERE one = 1";

// Reading.

pub(crate) const READ: &str = "SELECT id, seq, version, expires, value FROM records
    WHERE place = $1 AND (expires IS NULL OR expires > $2)";

pub(crate) const VERSION: &str = "SELECT version FROM records
    WHERE place = $1 AND (expires IS NULL OR expires > $2)";

pub(crate) const KEYS: &str = "SELECT id, seq, version, expires, value, tenant FROM records
    WHERE kind = 'selfsame.key' AND tenant > $1 ORDER BY tenant LIMIT $2";

pub(crate) const FIND: [&str; 2] = [
    "SELECT r.id, r.seq, r.version, r.expires, r.value FROM tags t JOIN records r ON r.place = t.place
    WHERE t.tag = $1 AND t.seq > $2 AND (r.expires IS NULL OR r.expires > $3) ORDER BY t.seq LIMIT $4",
    "SELECT r.id, r.seq, r.version, r.expires, r.value FROM tags t JOIN records r ON r.place = t.place
    WHERE t.tag = $1 AND t.seq < $2 AND (r.expires IS NULL OR r.expires > $3) ORDER BY t.seq DESC LIMIT $4",
];

pub(crate) const LIST: [&str; 2] = [
    "SELECT id, seq, version, expires, value FROM records
    WHERE tenant = $1 AND kind = $2 AND seq > $3 AND (expires IS NULL OR expires > $4) ORDER BY seq LIMIT $5",
    "SELECT id, seq, version, expires, value FROM records
    WHERE tenant = $1 AND kind = $2 AND seq < $3 AND (expires IS NULL OR expires > $4) ORDER BY seq DESC LIMIT $5",
];

pub(crate) const WEIGHT: &str = "SELECT count(*), coalesce(sum(bytes), 0)::bigint FROM (
    SELECT octet_length(value) AS bytes FROM records
    WHERE tenant = $1 AND kind = $2 ORDER BY seq LIMIT $3) AS oldest";

pub(crate) const COUNT: &str = "SELECT count(*) FROM (
    SELECT 1 FROM records WHERE tenant = $1 AND kind = $2 LIMIT $3) AS counted";

/// Entries that no other live process holds.
pub(crate) const DUE: &str =
    "SELECT id FROM outbox WHERE head AND not_before <= $1 AND (holder IS NULL OR holder = $3
        OR NOT EXISTS (SELECT 1 FROM processes AS p
            WHERE p.process = outbox.holder AND p.seen > now() - interval '10 seconds'))
    ORDER BY not_before, seq LIMIT $2";

/// Takes an entry that no other live process holds.
pub(crate) const HOLD: &str = "UPDATE outbox SET holder = $2
    WHERE id = $1 AND head AND (holder IS NULL OR holder = $2
        OR NOT EXISTS (SELECT 1 FROM processes AS p
            WHERE p.process = outbox.holder AND p.seen > now() - interval '10 seconds'))
    RETURNING id";

pub(crate) const ENTRY: &str =
    "SELECT id, tenant, lane, not_before, attempts, created, sealed FROM outbox
    WHERE id = $1 AND head AND not_before <= $2";

pub(crate) const LETTERS: [&str; 2] = [
    "SELECT id, tenant, lane, not_before, attempts, created, sealed, seq, reason, buried FROM outbox
    WHERE buried IS NOT NULL AND seq > $1 ORDER BY seq LIMIT $2",
    "SELECT id, tenant, lane, not_before, attempts, created, sealed, seq, reason, buried FROM outbox
    WHERE buried IS NOT NULL AND seq < $1 ORDER BY seq DESC LIMIT $2",
];

pub(crate) const BACKLOG: &str = "SELECT
    (SELECT count(*) FROM outbox WHERE buried IS NULL), (SELECT count(*) FROM outbox WHERE buried IS NOT NULL),
    (SELECT min(created) FROM outbox WHERE head)";

pub(crate) const EVENTS: [&str; 2] = [
    "SELECT seq, stamp, at, tenant, kind, id FROM events WHERE seq > $1 ORDER BY seq LIMIT $2",
    "SELECT seq, stamp, at, tenant, kind, id FROM events WHERE seq < $1 ORDER BY seq DESC LIMIT $2",
];

pub(crate) const HAS_EXPIRED: &str = "SELECT EXISTS (SELECT 1 FROM records WHERE expires <= $1)
    OR EXISTS (SELECT 1 FROM outbox WHERE buried < $2)
    OR coalesce((SELECT at < $3 AND seq < (SELECT newest FROM positions WHERE one = 1)
        FROM events ORDER BY seq LIMIT 1), false)";

// The first half of a commit: what its batches touch is read and locked.

pub(crate) const LOCK_PROCESS: &str =
    "SELECT generation FROM processes WHERE process = $1 FOR UPDATE";

pub(crate) const LOCK_RECORDS: &str = "SELECT place, seq, version, expires, tags FROM records
    WHERE place = ANY($1) ORDER BY place FOR UPDATE";

/// The keys of tenants: a tenant that is being destroyed by another process gets no more records.
pub(crate) const LOCK_KEYS: &str =
    "SELECT place FROM records WHERE place = ANY($1) ORDER BY place FOR KEY SHARE";

pub(crate) const LOCK_ENTRIES: &str =
    "SELECT id, seq, tenant, lane, not_before, attempts, created, buried, reason, holder FROM outbox
    WHERE id = ANY($1) ORDER BY id FOR UPDATE";

pub(crate) const LOCK_HEADS: &str =
    "SELECT lane FROM outbox WHERE lane = ANY($1) AND head ORDER BY lane FOR UPDATE";

/// Sent after the heads are locked, so that it sees what those committed who held them before.
pub(crate) const NEWEST_IN_LANES: &str =
    "SELECT max(seq) FROM outbox WHERE lane = ANY($1) AND buried IS NULL";

pub(crate) const LOCK_COUNTERS: &str = "SELECT tenant, counter, next FROM counters
    WHERE (tenant, counter) IN (SELECT * FROM unnest($1::text[], $2::text[])) ORDER BY tenant, counter FOR UPDATE";

// The second half: what has changed is written.

pub(crate) const INSERT_RECORDS: &str =
    "INSERT INTO records (place, tenant, kind, id, seq, version, expires, tags, value)
    SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[],
        $8::bytea[], $9::bytea[])";

pub(crate) const UPDATE_RECORDS: &str = "UPDATE records AS r
    SET seq = n.seq, version = n.version, expires = n.expires, tags = n.tags, value = n.value
    FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[], $6::bytea[])
        AS n (place, seq, version, expires, tags, value)
    WHERE r.place = n.place";

pub(crate) const DELETE_RECORDS: &str = "DELETE FROM records WHERE place = ANY($1)";

pub(crate) const INSERT_TAGS: &str = "INSERT INTO tags (tag, seq, place)
    SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::uuid[])";

pub(crate) const DELETE_TAGS: &str = "DELETE FROM tags
    WHERE (tag, seq, place) IN (SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::uuid[]))";

pub(crate) const INSERT_ENTRIES: &str =
    "INSERT INTO outbox (id, seq, tenant, lane, head, not_before, attempts, created, sealed, holder)
    SELECT *, $10::uuid FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bytea[], $5::boolean[], $6::bigint[],
        $7::integer[], $8::bigint[], $9::bytea[])";

pub(crate) const UPDATE_ENTRIES: &str = "UPDATE outbox AS o
    SET seq = n.seq, head = o.head AND n.buried IS NULL, not_before = n.not_before, attempts = n.attempts,
        buried = n.buried, reason = n.reason, holder = NULL
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::integer[], $5::bigint[], $6::text[])
        AS n (id, seq, not_before, attempts, buried, reason)
    WHERE o.id = n.id";

pub(crate) const DELETE_ENTRIES: &str = "DELETE FROM outbox WHERE id = ANY($1)";

/// Makes the first pending entry of each lane its head, which this process then holds.
pub(crate) const PROMOTE: &str = "UPDATE outbox SET head = true, holder = $2
    WHERE NOT head AND id IN (SELECT (SELECT o.id FROM outbox AS o WHERE o.lane = l.lane AND o.buried IS NULL
        ORDER BY o.seq LIMIT 1) FROM unnest($1::bytea[]) AS l (lane)) RETURNING id";

/// A counter that another process has added meanwhile is found by doing the transaction again.
pub(crate) const ADD_COUNTERS: &str = "INSERT INTO counters (tenant, counter, next)
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])";

pub(crate) const SET_COUNTERS: &str = "INSERT INTO counters (tenant, counter, next)
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])
    ON CONFLICT (tenant, counter) DO UPDATE SET next = excluded.next";

pub(crate) const DELETE_COUNTERS: &str = "DELETE FROM counters
    WHERE (tenant, counter) IN (SELECT * FROM unnest($1::text[], $2::text[]))";

/// Positions follow each other without a gap, over all processes: the row of the newest one is locked until the commit,
/// and this is the last but one statement before it.
pub(crate) const INSERT_EVENTS: &str = "WITH newest AS (
        UPDATE positions SET newest = newest + $1 WHERE one = 1 RETURNING newest)
    INSERT INTO events (seq, stamp, at, tenant, kind, id)
    SELECT newest.newest - $1 + n.place, n.stamp, n.at, n.tenant, n.kind, n.id FROM newest,
        unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[])
        AS n (place, stamp, at, tenant, kind, id)";

// Checking.

pub(crate) const ROW: &str =
    "SELECT id, seq, version, expires, value FROM records WHERE place = $1";

/// Each record with the row of its tenant's key.
pub(crate) const RECORDS_AND_KEYS: &str =
    "SELECT r.tenant, r.kind, r.id, r.seq, r.version, r.expires, r.value, r.tags, r.place,
        k.id, k.seq, k.version, k.expires, k.value
    FROM records AS r LEFT JOIN records AS k ON k.tenant = r.tenant AND k.kind = 'selfsame.key' AND k.id = ''
    ORDER BY r.tenant, r.kind, r.seq";

/// Each entry with the row of its tenant's key.
pub(crate) const ENTRIES_AND_KEYS: &str =
    "SELECT o.id, o.tenant, o.lane, o.not_before, o.attempts, o.created, o.sealed,
        k.id, k.seq, k.version, k.expires, k.value
    FROM outbox AS o LEFT JOIN records AS k ON k.tenant = o.tenant AND k.kind = 'selfsame.key' AND k.id = ''
    ORDER BY o.tenant, o.seq";

/// The lanes with pending entries none of which is the first.
pub(crate) const HEADLESS: &str = "SELECT count(DISTINCT lane) FROM outbox
    WHERE buried IS NULL AND lane NOT IN (SELECT lane FROM outbox WHERE head)";

// Restoring.

pub(crate) const LOAD_ENTRIES: &str =
    "INSERT INTO outbox (id, seq, tenant, lane, head, not_before, attempts, created, buried, reason, sealed)
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bytea[], $5::boolean[], $6::bigint[],
        $7::integer[], $8::bigint[], $9::bigint[], $10::text[], $11::bytea[])";

pub(crate) const LOAD_EVENTS: &str = "INSERT INTO events (seq, stamp, at, tenant, kind, id)
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[])";

pub(crate) const SET_NEWEST: &str =
    "UPDATE positions SET newest = (SELECT coalesce(max(seq), 0) FROM events) WHERE one = 1";

pub(crate) const DELETE_EVENTS: &str = "DELETE FROM events WHERE seq = ANY($1)";

pub(crate) const SET_PROCESS: &str = "UPDATE processes
    SET sum = $2, rows = $3, generation = $4, mac = $5, seen = now() WHERE process = $1";

// Sweeps: what is to be removed is looked for first.

pub(crate) const EXPIRED: &str =
    "SELECT tenant, kind, id FROM records WHERE expires <= $1 ORDER BY expires LIMIT $2";

pub(crate) const OLD_LETTERS: &str =
    "SELECT id FROM outbox WHERE buried < $1 ORDER BY seq LIMIT $2";

/// Removes no event between two that stay, even if a clock was set back; and the newest one stays.
pub(crate) const OLD_EVENTS: &str = "SELECT seq, stamp, at, tenant, kind, id FROM events
    WHERE seq <= (SELECT max(seq) FROM (SELECT seq, at FROM events ORDER BY seq LIMIT $2) AS oldest WHERE at < $1)
    AND seq < (SELECT newest FROM positions WHERE one = 1) ORDER BY seq FOR UPDATE";

/// Events beyond the number kept.
pub(crate) const EXCESS_EVENTS: &str = "SELECT seq, stamp, at, tenant, kind, id FROM events
    WHERE seq <= (SELECT newest FROM positions WHERE one = 1) - $1 ORDER BY seq LIMIT $2 FOR UPDATE";

/// Kind by kind, so that no portion of an erasure passes over all rows that stay.
pub(crate) const NEXT_KIND: &str =
    "SELECT kind FROM records WHERE tenant = $1 AND kind > $2 ORDER BY kind LIMIT 1";

pub(crate) const OF_KINDS: &str = "SELECT tenant, kind, id FROM records
    WHERE tenant = $1 AND kind = ANY($2) LIMIT $3";

pub(crate) const COUNTERS_OF: &str = "SELECT tenant, counter FROM counters WHERE tenant = $1";
pub(crate) const ALL_COUNTERS: &str = "SELECT tenant, counter FROM counters";
pub(crate) const ENTRIES_OF: &str = "SELECT id FROM outbox WHERE tenant = $1 ORDER BY seq LIMIT $2";

// The processes and their sums.

pub(crate) const PROCESSES: &str = "SELECT process, sum, rows, generation, mac FROM processes";
/// The processes that are gone. A row that is locked belongs to one that is writing.
pub(crate) const LOCK_GONE_PROCESSES: &str = "SELECT process, sum, rows, generation, mac FROM processes
    WHERE process = $1 OR seen <= now() - interval '10 seconds' ORDER BY process FOR UPDATE SKIP LOCKED";
/// The others: their number, whether one of them wants to be alone, and how many commits they have made.
pub(crate) const LIVE_PROCESSES: &str =
    "SELECT count(*), coalesce(bool_or(alone), false), coalesce(sum(generation), 0)::bigint
    FROM processes WHERE process <> $1 AND seen > now() - interval '10 seconds'";
pub(crate) const DELETE_PROCESSES: &str = "DELETE FROM processes WHERE process = ANY($1)";
pub(crate) const ADD_PROCESS: &str =
    "INSERT INTO processes (process, sum, rows, generation, mac, alone, seen)
    VALUES ($1, $2, $3, $4, $5, $6, now())";
pub(crate) const BEAT: &str = "UPDATE processes SET seen = now() WHERE process = $1";
pub(crate) const LEAVE: &str =
    "UPDATE processes SET seen = now() - interval '1 day' WHERE process = $1";

// The master keys that the processes read under.

pub(crate) const READS_UNDER: &str = "INSERT INTO readers (process, master) VALUES ($1, $2)
    ON CONFLICT (process) DO UPDATE SET master = excluded.master";
/// The live processes that do not read under a master key. One of a release before has no row.
pub(crate) const UNREADY: &str = "SELECT count(*) FROM processes AS p
    WHERE p.seen > now() - interval '10 seconds'
        AND NOT EXISTS (SELECT 1 FROM readers AS r WHERE r.process = p.process AND r.master = $1)";
pub(crate) const FORGET_READERS: &str = "DELETE FROM readers AS r
    WHERE NOT EXISTS (SELECT 1 FROM processes AS p WHERE p.process = r.process)";

pub(crate) const CLOCK: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

/// Each commit of a process begins by locking its row.
pub(crate) const LOCK_PROCESSES: &str = "SELECT process FROM processes ORDER BY process FOR UPDATE";

/// The rows that the index of tags has.
pub(crate) const TAG_ROWS: CensusRows = CensusRows {
    table: "tags",
    statement: "SELECT '', tag, seq, place FROM tags",
};

/// The rows that an instance cannot do without, by kind: what a census counts.
pub(crate) const KEPT_ROWS: [CensusRows; 5] = [
    CensusRows {
        table: "records",
        statement: "SELECT kind, tenant, id, seq, version, expires, tags, value FROM records",
    },
    TAG_ROWS,
    CensusRows {
        table: "counters",
        statement: "SELECT '', tenant, counter, next FROM counters",
    },
    CensusRows {
        table: "outbox",
        statement: "SELECT '', id, seq, tenant, lane, head, not_before, attempts, created, buried, reason, sealed
            FROM outbox",
    },
    CensusRows {
        table: "events",
        statement: "SELECT '', seq, stamp, at, tenant, kind, id FROM events",
    },
];
/// The rows that every layout has beside those.
pub(crate) const OWN_ROWS: [CensusRows; 2] = [
    CensusRows {
        table: "positions",
        statement: "SELECT '', one, newest FROM positions",
    },
    CensusRows {
        table: "processes",
        statement: "SELECT '', process, sum, rows, generation, mac FROM processes",
    },
];

/// The rows that are summed, as [`crate::sums`] takes them.
pub(crate) const ALL_RECORDS: &str =
    "SELECT tenant, kind, id, seq, version, expires, tags FROM records";
/// In the order of insertion within each kind of a tenant, which is that of an index.
pub(crate) const COPIED_RECORDS: &str =
    "SELECT tenant, kind, id, seq, version, expires, tags, value FROM records
    ORDER BY tenant, kind, seq";
pub(crate) const ALL_COUNTER_ROWS: &str = "SELECT tenant, counter, next FROM counters";
pub(crate) const IDS: &str = "SELECT id FROM records WHERE tenant = $1 AND kind = $2 ORDER BY seq";

pub(crate) const ALL_ENTRIES: &str = "SELECT id, seq, tenant, lane, not_before, attempts, created, buried, reason, holder FROM outbox";
/// The dead letters come first.
pub(crate) const COPIED_ENTRIES: &str =
    "SELECT id, tenant, lane, not_before, attempts, created, sealed, seq, reason, buried FROM outbox
    ORDER BY buried IS NULL, seq";
pub(crate) const RECORDS_OF: &str =
    "SELECT tenant, kind, id, seq, version, expires, tags, value FROM records WHERE tenant = $1
    ORDER BY kind, seq";
pub(crate) const COUNTER_ROWS_OF: &str =
    "SELECT tenant, counter, next FROM counters WHERE tenant = $1 ORDER BY counter";
pub(crate) const ENTRY_ROWS_OF: &str =
    "SELECT id, tenant, lane, not_before, attempts, created, sealed, seq, reason, buried, head FROM outbox
    WHERE tenant = $1 ORDER BY seq";
pub(crate) const COPIED_EVENTS: &str =
    "SELECT seq, stamp, at, tenant, kind, id FROM events ORDER BY seq";
pub(crate) const ALL_EVENTS: &str = "SELECT seq, stamp, at, tenant, kind, id FROM events";

#[cfg(test)]
mod tests {
    /// What some databases lack that speak PostgreSQL's protocol, or where all processes would wait for each other.
    const NOT_USED: [&str; 14] = [
        "advisory",
        "listen",
        "notify",
        "serial",
        "nextval",
        "generated",
        "create trigger",
        "create function",
        "create extension",
        "create type",
        "unlogged",
        "lock table",
        "with hold",
        "ctid",
    ];

    #[test]
    fn the_statements_use_what_every_database_has_that_speaks_this_protocol() {
        let source = include_str!("schema.rs");
        let statements = source.split("#[cfg(test)]").next().unwrap();
        let code = statements
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let code = code.collect::<Vec<_>>().join("\n").to_lowercase();
        assert!(code.contains("for update") && code.contains("insert into"));
        for word in NOT_USED {
            assert!(!code.contains(word), "{word}");
        }
    }
}
