//! What is erased is in no file of an index.

use std::path::Path;

// The conformance suite draws changes at random, and starts a server.
use proptest as _;
use selfsame_book::facts::{AttributeFact, BookFacts, NameFact, TopicKey};
use selfsame_book_index::{BookIndex as _, BookName, IndexChange, IndexedEntry, SqliteIndex};

fn entry(number: usize, name: &str) -> IndexedEntry {
    let mut facts = BookFacts::about(TopicKey {
        kind: "registration".to_owned(),
        source_id: format!("{name}-{number}"),
    });
    facts.names = vec![NameFact {
        kind: "entity_name".to_owned(),
        text: format!("{name} number {number}"),
    }];
    facts.attributes = vec![AttributeFact {
        kind: "nickname".to_owned(),
        is_facet: true,
        value: format!("{name} the first"),
    }];
    IndexedEntry {
        credential_id: format!("of {name} {number}"),
        type_id: "registration".to_owned(),
        issuer: "did:web:registry.example".to_owned(),
        facts,
        effective: 1,
        entered: 1,
    }
}

/// The files that contain this text.
fn containing(folder: &Path, text: &str) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let has = |file: &std::path::PathBuf| {
        let bytes = std::fs::read(file).unwrap().to_ascii_lowercase();
        let mut parts = bytes.windows(text.len());
        parts.any(|part| part == text.as_bytes())
    };
    let found = files.filter(has);
    found.map(|file| file.display().to_string()).collect()
}

#[tokio::test]
async fn an_erased_entry_is_overwritten_in_the_files_while_they_are_open() {
    let folder = tempfile::tempdir().unwrap();
    let index = SqliteIndex::new(folder.path());
    let book = BookName::of("organisation/acme");
    for round in 0..5 {
        let changes = (0..50).map(|number| {
            let name = if number == 25 { "lovelace" } else { "ordinary" };
            IndexChange::Enter(Box::new(entry(round * 50 + number, name)))
        });
        let changes = changes.collect();
        index.apply(&book, changes, Some("1")).await.unwrap();
    }
    assert!(!containing(folder.path(), "lovelace").is_empty());
    let erased = (0..5).map(|round| IndexChange::Remove {
        credential_id: entry(round * 50 + 25, "lovelace").credential_id,
    });
    let erased = erased.collect();
    index.apply(&book, erased, Some("2")).await.unwrap();
    assert_eq!(containing(folder.path(), "lovelace"), [""; 0]);
    assert!(!containing(folder.path(), "ordinary").is_empty());
}
