//! Files of people who all get an offer.

use selfsame_sheets::{FaultKind, ROW_MAX, TableItem, TableKind, TableReader, written};

/// A table: its first byte chooses between CSV and NDJSON, and how it is cut into portions.
pub fn table(data: &[u8]) -> bool {
    let Some((first, file)) = data.split_first() else {
        return false;
    };
    let kind = match first % 2 {
        0 => TableKind::Csv,
        _ => TableKind::Ndjson,
    };
    let whole = read(kind, file, file.len().max(1));
    let portion = usize::from(first / 2).max(1);
    assert_eq!(read(kind, file, portion), whole, "portions of {portion}");
    let mut count = None;
    for item in &whole {
        match item {
            TableItem::Header(cells) => count = Some(cells.len()),
            TableItem::Cells(cells) => {
                assert_eq!(count, Some(cells.len()));
                let texts: Vec<&str> = cells.iter().map(|cell| &*cell.text).collect();
                assert_read_back(&texts);
            }
            TableItem::Object(row) => assert!(row.line > 0),
            TableItem::Fault(fault) => assert!(fault.line > 0 && fault.column > 0),
        }
    }
    let is_fault = |item: &TableItem| matches!(item, TableItem::Fault(_));
    !whole.iter().any(is_fault)
}

/// What the reader gives, with a portion of at most this size at a time.
fn read(kind: TableKind, file: &[u8], portion: usize) -> Vec<TableItem> {
    let mut reader = TableReader::new(kind);
    let mut items = Vec::new();
    for bytes in file.chunks(portion) {
        items.extend(reader.feed(bytes));
    }
    items.extend(reader.end());
    items
}

/// Cells that were written have the texts that they had, but for formulas, which are none any more.
fn assert_read_back(texts: &[&str]) {
    let line = written(texts.iter().copied());
    if line.len() > ROW_MAX || texts.iter().all(|text| text.is_empty()) {
        return;
    }
    let header = written(texts.iter().map(|_| "x"));
    let items = read(TableKind::Csv, format!("{header}{line}").as_bytes(), 1_000);
    let Some(TableItem::Cells(cells)) = items.get(1) else {
        // A column alone has no separator, by which another one is found in it.
        let is_alone = texts.len() == 1;
        let is_cut = |item: &TableItem| matches!(item, TableItem::Fault(fault) if fault.kind == FaultKind::CellCount);
        assert!(is_alone && items.iter().any(is_cut), "{items:?}");
        return;
    };
    for (text, cell) in texts.iter().zip(cells) {
        let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
        match is_formula {
            true => assert_eq!(cell.text, format!("'{text}")),
            false => assert_eq!(cell.text, *text),
        }
    }
}
