//! The pages of the documentation that list reasons are kept to the catalogue.

use std::fmt::Write as _;
use std::fs;

use super::ENGLISH;

const HEAD: &str = "\
# Reasons

Each refusal and each failure has a reason. Its id stands in the member `reason` of an answer of the API, in the field
`id` of the log, and in this list. The sentence and the remedy are what people read on pages and on the terminal; names
in braces stand for values. [Troubleshooting](troubleshooting.md) begins with what you see.

This page is made from the catalogue. `cargo test -p selfsame-catalogue -- --ignored` writes it again.

| id | sentence | remedy |
|---|---|---|
";

fn reasons() -> String {
    let mut page = HEAD.to_owned();
    let cell = |text: &str| text.replace('|', "\\|").replace('<', "&lt;");
    for (id, pattern) in ENGLISH.iter() {
        let remedy = pattern.hint.as_ref().or(pattern.fallback_hint.as_ref());
        let remedy = remedy.map_or_else(String::new, |hint| cell(hint));
        let _ = writeln!(page, "| `{id}` | {} | {remedy} |", cell(&pattern.text));
    }
    page
}

#[test]
fn the_page_of_reasons_is_the_catalogue() {
    assert!(
        include_str!("../../../docs/reasons.md") == reasons(),
        "docs/reasons.md is outdated; to write it again: cargo test -p selfsame-catalogue -- --ignored"
    );
}

#[test]
#[ignore = "writes docs/reasons.md"]
fn write_the_description_of_reasons() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reasons.md");
    fs::write(page, reasons()).unwrap();
}

#[test]
fn troubleshooting_names_reasons_that_exist() {
    let written = include_str!("../../../docs/troubleshooting.md");
    let rows = written.lines().filter_map(|line| line.strip_prefix("| `"));
    let ids: Vec<&str> = rows
        .filter_map(|row| Some(row.split_once('`')?.0))
        .collect();
    assert!(ids.len() > 20);
    for id in ids {
        assert!(ENGLISH.contains_key(id), "{id} is no reason");
    }
}
