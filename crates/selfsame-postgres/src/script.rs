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
        self.add_all(column, statement, parameters.to_vec());
    }

    /// Adds a statement whose parameters are of two lists.
    pub(crate) fn add_both<T, const N: usize, const M: usize>(
        &mut self,
        column: &[T],
        statement: &'static str,
        first: [&'a (dyn ToSql + Sync); N],
        last: [&'a (dyn ToSql + Sync); M],
    ) {
        self.add_all(column, statement, [&first[..], &last].concat());
    }

    fn add_all<T>(
        &mut self,
        column: &[T],
        statement: &'static str,
        parameters: Vec<&'a (dyn ToSql + Sync)>,
    ) {
        if !column.is_empty() {
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
        let sealed: [&(dyn ToSql + Sync); 2] = [&new.sealed, process];
        self.add_both(&new.id, schema::INSERT_ENTRIES, new.open_columns(), sealed);
    }

    pub(crate) fn statements(&self) -> Vec<(&'static str, Parameters<'_>)> {
        self.0
            .iter()
            .map(|line| (line.statement, &line.parameters[..]))
            .collect()
    }
}
