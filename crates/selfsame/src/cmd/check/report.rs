//! The report of `selfsame check` for people: a line for each part, and what to do.

use std::path::Path;

use selfsame_network::checkup::{BOTH, CheckedPart, Checkup, DATABASE};

use super::certificates::CERTIFICATES;

/// The report as lines.
pub fn lines(checkup: &Checkup) -> Vec<String> {
    let mut lines = Vec::new();
    let mut file = "";
    for part in &checkup.parts {
        if part.file != file {
            file = part.file;
            lines.push(match file {
                BOTH => "both together".to_owned(),
                DATABASE => "the database".to_owned(),
                CERTIFICATES => "certificates of the listener".to_owned(),
                file => Path::new(&checkup.data).join(file).display().to_string(),
            });
        }
        lines.extend(of_part(part));
    }
    if let Some(kept) = &checkup.damaged_ledger {
        lines.push(format!(
            "The ledger was rebuilt from its log; the damaged file is kept as {kept}."
        ));
    }
    lines.push(match checkup.sound {
        true => "Nothing is damaged.".to_owned(),
        false => "Something is wrong:".to_owned(),
    });
    lines.extend(checkup.next.iter().map(|next| format!("  {next}")));
    lines
}

fn of_part(part: &CheckedPart) -> Vec<String> {
    let name = part.what;
    if part.damage.is_empty() {
        let (mark, said) = match part.note {
            Some(note) if part.seen == 0 => ("–", note.to_owned()),
            _ => ("✓", sound(part)),
        };
        return vec![format!("  {mark} {name:<11} {said}")];
    }
    let mut lines: Vec<String> = part
        .damage
        .iter()
        .map(|wrong| format!("  ✗ {name:<11} {wrong}"))
        .collect();
    if part.untold > 0 {
        lines.push(format!("  ✗ {name:<11} and {} more", part.untold));
    }
    lines
}

fn sound(part: &CheckedPart) -> String {
    let seen = part.seen;
    match part.what {
        "pages" => "SQLite finds no damage".to_owned(),
        "sum" => format!("the sum over {seen} rows is that of the last commit"),
        "records" => format!("{seen} records open with the master key"),
        "outbox" => format!("{seen} entries open with the master key"),
        "tags" => format!("{seen} tags of records are in the index"),
        "indices" => "values and transactions can be found by key and by hash".to_owned(),
        "network" => "the ledger belongs to this registry".to_owned(),
        "log" => format!("{seen} transactions lead to each block's root"),
        "tree" => format!("{seen} nodes have the hashes that their parents name"),
        "objects" => format!("{seen} objects match the leaves of the tree"),
        "signatures" => format!("{seen} signed notes are valid"),
        "replay" => format!("{seen} blocks, replayed, lead to this state"),
        "hosts" => format!("clients accept those of {seen} hosts"),
        "age" => "store and ledger are from the same time".to_owned(),
        _ => format!("{seen} checked"),
    }
}
