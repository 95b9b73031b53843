//! The numbers as CSV (RFC 4180): the comparisons, then every figure that was measured.

use crate::judge::{ComparisonStanding, PaperComparison};
use crate::part::BenchPart;

const HEAD: &str = "kind,study,table,row,column,unit,paper,selfsame,times better,standing,note";

/// All numbers.
pub fn table<'a>(
    comparisons: &[PaperComparison],
    parts: impl Iterator<Item = &'a BenchPart>,
) -> String {
    let mut text = format!("{HEAD}\r\n");
    for one in comparisons {
        line(&mut text, &cells(one));
    }
    for part in parts {
        for figure in &part.figures {
            let [kind, none] = ["figure", ""];
            let value = optional(figure.value);
            let note = figure.note.as_deref().unwrap_or_default();
            let cells = [
                kind,
                &part.bench,
                none,
                &figure.name,
                none,
                &figure.unit,
                none,
                &value,
                none,
                none,
                note,
            ];
            line(&mut text, &cells.map(str::to_owned));
        }
    }
    text
}

fn cells(one: &PaperComparison) -> [String; 11] {
    let standing = match one.standing {
        ComparisonStanding::Ahead => "ahead",
        ComparisonStanding::Level => "level",
        ComparisonStanding::Behind => "behind",
        ComparisonStanding::NotMeasured => "not measured",
        ComparisonStanding::NotJudged => "not judged",
    };
    [
        "comparison".to_owned(),
        one.paper.clone(),
        one.table.clone(),
        one.row.clone(),
        one.column.clone(),
        one.unit.clone(),
        one.theirs.to_string(),
        optional(one.ours),
        optional(one.ratio),
        standing.to_owned(),
        String::new(),
    ]
}

fn line(text: &mut String, cells: &[String]) {
    let cells: Vec<String> = cells.iter().map(|cell| quoted(cell)).collect();
    text.push_str(&cells.join(","));
    text.push_str("\r\n");
}

/// In quotes where it must be. A cell that a spreadsheet would work out is made text by a quote before it.
fn quoted(cell: &str) -> String {
    let is_formula = cell.starts_with(['=', '+', '@', '\t']);
    let cell = match is_formula {
        true => format!("'{cell}"),
        false => cell.to_owned(),
    };
    match cell.contains(['"', ',', '\r', '\n']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    }
}

fn optional(number: Option<f64>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::part::tests::part;

    #[test]
    fn a_note_with_commas_and_quotes_stays_one_cell() {
        let mut part = part("tls", &[("a_ms", 1.5)]);
        part.figures[0].note = Some("1,000 \"users\"\nand =more".to_owned());
        let text = table(&[], [&part].into_iter());
        let expected =
            "figure,tls,,a_ms,,ms,,1.5,,,\"1,000 \"\"users\"\"\nand =more\"\r\n".to_owned();
        assert_eq!(text, format!("{HEAD}\r\n{expected}"));
    }

    #[test]
    fn nothing_is_worked_out_by_a_spreadsheet() {
        assert_eq!(quoted("=1+1"), "'=1+1");
    }
}
