use super::*;

/// What a table contains, however its bytes are cut into portions.
fn read(kind: TableKind, bytes: &[u8]) -> Vec<TableItem> {
    let mut whole = TableReader::new(kind);
    let mut items = whole.feed(bytes);
    items.extend(whole.end());
    for size in [1, 2, 3, 7] {
        let mut reader = TableReader::new(kind);
        let mut parts = Vec::new();
        for portion in bytes.chunks(size) {
            parts.extend(reader.feed(portion));
            // It goes on after it was stored.
            let stored = serde_json::to_vec(&reader).unwrap();
            reader = serde_json::from_slice(&stored).unwrap();
        }
        parts.extend(reader.end());
        assert_eq!(parts, items, "portions of {size}");
    }
    items
}

fn csv(text: &str) -> Vec<TableItem> {
    read(TableKind::Csv, text.as_bytes())
}

fn texts(item: &TableItem) -> Vec<&str> {
    match item {
        TableItem::Header(cells) | TableItem::Cells(cells) => {
            cells.iter().map(|cell| &*cell.text).collect()
        }
        other => panic!("{other:?}"),
    }
}

/// The only fault, by its line, column and kind.
fn fault(items: &[TableItem]) -> [String; 3] {
    let mut faults = items.iter().filter_map(|item| match item {
        TableItem::Fault(fault) => Some(*fault),
        _ => None,
    });
    let fault = faults.next().unwrap();
    assert_eq!(faults.next(), None);
    let TableFault { line, column, kind } = fault;
    [line.to_string(), column.to_string(), format!("{kind:?}")]
}

#[test]
fn cells_are_read_as_rfc_4180_says() {
    let items = csv("\u{feff}name,note\r\nMaja,\"one, \"\"two\"\"\r\nthree\"\n\n\"\",=1+1\n");
    assert_eq!(items.len(), 3);
    assert_eq!(texts(&items[0]), ["name", "note"]);
    assert_eq!(texts(&items[1]), ["Maja", "one, \"two\"\r\nthree"]);
    assert_eq!(texts(&items[2]), ["", "=1+1"]);
    let TableItem::Cells(cells) = &items[2] else {
        panic!()
    };
    assert_eq!((cells[1].line, cells[1].column), (5, 4));
}

#[test]
fn semicolons_and_tabs_separate_too_and_the_last_line_needs_no_end() {
    for separator in [';', '\t'] {
        let items = csv(&format!("a{separator}\"b,c\"\n1{separator}2"));
        assert_eq!(texts(&items[0]), ["a", "b,c"]);
        assert_eq!(texts(&items[1]), ["1", "2"]);
    }
}

#[test]
fn each_fault_has_its_line_and_column_and_the_rows_after_it_are_read() {
    for (text, line, column, id) in [
        ("a,b\nü,x\"y\n3,4\n", 2, 4, "QuoteInside"),
        ("a,b\n\"x\"y,2\n3,4\n", 2, 4, "QuoteFollowed"),
        ("a,b\n1,2,3\n3,4\n", 2, 5, "CellCount"),
        ("a,b\n1\n3,4\n", 2, 1, "CellCount"),
        ("a,b\n1,2\rx\n3,4\n", 2, 4, "LineEnd"),
    ] {
        let items = csv(text);
        let expected = [line.to_string(), column.to_string(), id.to_owned()];
        assert_eq!(fault(&items), expected, "{text:?}");
        assert_eq!(texts(items.last().unwrap()), ["3", "4"], "{text:?}");
    }
}

#[test]
fn what_makes_the_rest_unreadable_ends_the_table() {
    let utf16: Vec<u8> = "a,b\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let utf16 = [&[0xFF, 0xFE], &utf16[..]].concat();
    for (bytes, line, column, id) in [
        (&utf16[..], 1, 1, "Utf16"),
        (b"a,b\n1,\"2\n3,4\n5,6", 2, 3, "QuoteOpen"),
        (b"a,b\n1,\x002\n3,4\n", 2, 3, "Control"),
        (b"", 1, 1, "NoHeader"),
        (b"\n\n", 3, 1, "NoHeader"),
    ] {
        let items = read(TableKind::Csv, bytes);
        let expected = [line.to_string(), column.to_string(), id.to_owned()];
        assert_eq!(fault(&items), expected, "{bytes:?}");
        assert!(matches!(items.last(), Some(TableItem::Fault(_))));
    }
}

#[test]
fn a_text_of_another_encoding_is_named_by_its_place() {
    let items = read(TableKind::Csv, b"a,b\n1,M\xFCller\n3,4\n");
    assert_eq!(fault(&items), ["2", "3", "NotUtf8"]);
    let items = read(TableKind::Ndjson, b"{}\n{\"a\": \"M\xFCller\"}\n");
    assert_eq!(fault(&items), ["2", "9", "NotUtf8"]);
}

#[test]
fn a_row_of_any_length_takes_bounded_memory() {
    for kind in [TableKind::Csv, TableKind::Ndjson] {
        let mut reader = TableReader::new(kind);
        reader.feed(b"\"a\"\n");
        let mut items = Vec::new();
        for _ in 0..40 {
            items.extend(reader.feed(&[b'x'; 4_096]));
            let held = serde_json::to_vec(&reader).unwrap().len();
            assert!(held < 2 * ROW_MAX, "{held}");
        }
        items.retain(
            |item| matches!(item, TableItem::Fault(fault) if fault.kind == FaultKind::RowLong),
        );
        assert_eq!(items.len(), 1, "{kind:?}");
    }
}

#[test]
fn a_line_of_ndjson_is_an_object_without_repeated_members() {
    let items = read(TableKind::Ndjson, b"{\"a\": 1}\r\n\n{\"b\": [2]}");
    let lines: Vec<u64> = items
        .iter()
        .map(|item| match item {
            TableItem::Object(row) => row.line,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(lines, [1, 3]);
    for (text, column, id) in [
        ("{\"a\": 1, \"a\": 2}", "1", "DuplicateMember"),
        ("{\"a\" 1}", "6", "NotJson"),
        ("[1]", "1", "NotJson"),
    ] {
        let items = read(TableKind::Ndjson, format!("{{}}\n{text}\n").as_bytes());
        assert_eq!(fault(&items), ["2", column, id], "{text}");
    }
}

#[test]
fn a_cell_that_is_written_is_read_back_and_is_no_formula() {
    let line = written(["a,b", "say \"x\"", "two\nlines", "plain", ""]);
    let items = csv(&format!("1,2,3,4,5\n{line}"));
    let back = texts(&items[1]);
    assert_eq!(back, ["a,b", "say \"x\"", "two\nlines", "plain", ""]);
    for formula in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1"] {
        let line = written([formula]);
        assert_eq!(line, format!("\"'{formula}\"\r\n"));
    }
}

fn card<'a>(name: &'a str, link: &'a str) -> SheetCard<'a> {
    SheetCard {
        title: "Staff badge",
        name,
        link,
        help: "Scan it with your wallet.",
    }
}

#[test]
fn a_sheet_is_a_pdf_whose_table_points_at_its_objects() {
    let cards = vec![card("Zoë (Łódź) 山", "https://clinic.example/offer"); 9];
    let file = sheet(&cards);
    assert!(file.starts_with(b"%PDF-1.7\n") && file.ends_with(b"%%EOF\n"));
    let text = String::from_utf8_lossy(&file).into_owned();
    assert!(text.contains("/Count 2 "), "nine cards are on two pages");
    let start = text.rfind("startxref\n").unwrap();
    let at: usize = text[start..].lines().nth(1).unwrap().parse().unwrap();
    assert!(file[at..].starts_with(b"xref\n0 9\n"));
    let table = String::from_utf8(file[at..].to_vec()).unwrap();
    for (number, line) in (1..).zip(table.lines().skip(3).take(8)) {
        let place: usize = line[..10].parse().unwrap();
        assert!(file[place..].starts_with(format!("{number} 0 obj\n").as_bytes()));
    }
    let name = [b"Zo\xEB ".as_slice(), b"\\(L\xF3dz\\) ?"].concat();
    assert!(file.windows(name.len()).any(|part| part == name));
}

#[test]
fn a_link_that_is_too_long_for_a_code_is_told_on_its_card() {
    let long = "x".repeat(5_000);
    let file = sheet(&[card("Maja", &long)]);
    let text = String::from_utf8_lossy(&file).into_owned();
    assert!(text.contains("long for a QR"));
    assert!(!String::from_utf8_lossy(&sheet(&[card("Maja", "x")])).contains("long for a QR"));
}
