//! The statements of one exchange with the database, with their parameters.

use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::parameters::{EntryParameters, RecordParameters};
use crate::schema;

/// The parameters of a statement.
pub(crate) type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Statements that write.
#[derive(Default)]
pub(crate) struct Script<'a>(Vec<ScriptLine<'a>>);

struct ScriptLine<'a> {
    statement: &'static str,
    parameters: Vec<&'a (dyn ToSql + Sync)>,
}

impl<'a> Script<'a> {
    /// Adds a statement, unless its column is empty.
    pub(crate) fn add<T, const N: usize>(
        &mut self,
        column: &[T],
        statement: &'static str,
        parameters: [&'a (dyn ToSql + Sync); N],
    ) {
        if !column.is_empty() {
            let parameters = parameters.to_vec();
            self.0.push(ScriptLine {
                statement,
                parameters,
            });
        }
    }

    pub(crate) fn records(&mut self, records: &'a RecordParameters<'a>) {
        let (untagged, tagged) = (&records.untagged, &records.tagged);
        self.add(
            &untagged.tag,
            schema::DELETE_TAGS,
            [&untagged.tag, &untagged.seq, &untagged.place],
        );
        let new = &records.added;
        self.add(
            &new.place,
            schema::INSERT_RECORDS,
            [
                &new.place,
                &new.tenant,
                &new.kind,
                &new.id,
                &new.seq,
                &new.version,
                &new.expires,
                &new.tags,
                &new.value,
            ],
        );
        let new = &records.changed;
        self.add(
            &new.place,
            schema::UPDATE_RECORDS,
            [
                &new.place,
                &new.seq,
                &new.version,
                &new.expires,
                &new.tags,
                &new.value,
            ],
        );
        self.add(&records.removed, schema::DELETE_RECORDS, [&records.removed]);
        self.add(
            &tagged.tag,
            schema::INSERT_TAGS,
            [&tagged.tag, &tagged.seq, &tagged.place],
        );
    }

    /// `process` holds the new entries.
    pub(crate) fn entries(&mut self, entries: &'a EntryParameters<'a>, process: &'a Uuid) {
        self.add(&entries.removed, schema::DELETE_ENTRIES, [&entries.removed]);
        let new = &entries.changed;
        self.add(
            &new.id,
            schema::UPDATE_ENTRIES,
            [
                &new.id,
                &new.seq,
                &new.not_before,
                &new.attempts,
                &new.buried,
                &new.reason,
            ],
        );
        let new = &entries.added;
        self.add(
            &new.id,
            schema::INSERT_ENTRIES,
            [
                &new.id,
                &new.seq,
                &new.tenant,
                &new.lane,
                &new.head,
                &new.not_before,
                &new.attempts,
                &new.created,
                &new.sealed,
                process,
            ],
        );
    }

    pub(crate) fn statements(&self) -> Vec<(&'static str, Parameters<'_>)> {
        self.0
            .iter()
            .map(|line| (line.statement, &line.parameters[..]))
            .collect()
    }
}
