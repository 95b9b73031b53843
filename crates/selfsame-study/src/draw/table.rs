//! A table of a paper in its own shape: its columns, and below each of its numbers ours.

use crate::judge::{ComparisonStanding, JudgedCell, JudgedRow, JudgedTable};
use crate::number::{number, printed, times};

use super::markup::Markup;

/// The whole table.
pub fn table(judged: &JudgedTable<'_>, is_measured: bool, out: &mut Markup) {
    let table = judged.table;
    if !judged.rows.iter().any(is_shown) {
        return;
    }
    out.raw("<div class=scroll tabindex=0 role=region aria-label=\"")
        .text(&table.caption)
        .raw(match table.columns.len() {
            ..=4 => "\"><table class=narrow><caption><span>",
            _ => "\"><table><caption><span>",
        })
        .prose(&table.caption);
    out.element(" <small>Paper: ", &table.source, "</small>");
    out.raw("</span></caption><thead><tr><th scope=col class=l>");
    out.raw("</th><th scope=col class=l>Whose</th>");
    for column in &table.columns {
        out.element("<th scope=col>", column, "</th>");
    }
    out.raw("</tr></thead>");
    for row in &judged.rows {
        body(row, is_measured, out);
    }
    out.raw("</table></div>");
    if let Some(note) = &table.note {
        out.raw("<p class=cite>").prose(note).raw("</p>");
    }
    for row in judged.rows.iter().filter_map(|row| row.row.note.as_ref()) {
        out.raw("<p class=cite>").prose(row).raw("</p>");
    }
}

/// One row of the paper: its own line, ours, and a peer's.
fn body(row: &JudgedRow<'_>, is_measured: bool, out: &mut Markup) {
    let has_theirs = row.cells.iter().any(|cell| cell.theirs.is_some());
    let has_ours = is_shown(row) && row.cells.iter().any(|cell| cell.is_asked);
    let has_peer = row.cells.iter().any(|cell| cell.peer.is_some());
    let lines = [has_theirs, has_ours, has_peer];
    let count = lines.into_iter().filter(|line| *line).count();
    if count == 0 {
        return;
    }
    out.raw(match row.row.strong {
        true => "<tbody class=\"row strong\">",
        false => "<tbody class=row>",
    });
    let mut first = Some(count);
    if has_theirs {
        begin(row, "<tr>", first.take(), out);
        out.raw("<th scope=row class=whose>paper</th>");
        for cell in &row.cells {
            out.raw("<td>");
            match cell.theirs {
                Some(value) => {
                    out.text(&printed(value));
                    range(cell.their_range, printed, out);
                }
                None => {
                    out.raw("<span class=none>–</span>");
                }
            }
            out.raw("</td>");
        }
        out.raw("</tr>");
    }
    if has_ours {
        let whose = row.row.whose.as_deref();
        let open = whose.map_or("<tr class=ours>", |_| "<tr class=peer>");
        begin(row, open, first.take(), out);
        out.element(
            "<th scope=row class=whose>",
            whose.unwrap_or("Selfsame"),
            "</th>",
        );
        for cell in &row.cells {
            out.raw("<td>");
            our_cell(cell, is_measured, out);
            out.raw("</td>");
        }
        out.raw("</tr>");
    }
    if has_peer {
        begin(row, "<tr class=peer>", first.take(), out);
        out.raw("<th scope=row class=whose>peer</th>");
        for cell in &row.cells {
            let text = cell.peer.map_or_else(|| "–".to_owned(), number);
            out.element("<td>", &text, "</td>");
        }
        out.raw("</tr>");
    }
    out.raw("</tbody>");
}

/// A row that the paper does not have is there if it was measured.
fn is_shown(row: &JudgedRow<'_>) -> bool {
    let mut cells = row.cells.iter();
    cells.any(|cell| cell.theirs.is_some() || cell.ours.is_some())
}

/// Opens a line; the first one has the row's name.
fn begin(row: &JudgedRow<'_>, open: &'static str, first: Option<usize>, out: &mut Markup) {
    out.raw(open);
    if let Some(lines) = first {
        out.shape(format_args!(
            "<th scope=rowgroup class=item rowspan={lines}>"
        ));
        out.text(&row.row.name).raw("</th>");
    }
}

fn our_cell(cell: &JudgedCell, is_measured: bool, out: &mut Markup) {
    let Some(value) = cell.ours else {
        out.raw(match (is_measured, cell.is_asked) {
            (false, true) => "<span class=none>not measured</span>",
            _ => "<span class=none>–</span>",
        });
        return;
    };
    out.text(&number(value));
    range(cell.our_range, number, out);
    let (class, mark) = match cell.standing {
        ComparisonStanding::Ahead => ("<span class=\"by ahead\">", "▲"),
        ComparisonStanding::Behind => ("<span class=\"by behind\">", "▼"),
        ComparisonStanding::Level => ("<span class=\"by none\">", "="),
        ComparisonStanding::NotMeasured | ComparisonStanding::NotJudged => return,
    };
    out.raw(class).text(mark);
    match cell
        .ratio
        .filter(|_| cell.standing != ComparisonStanding::Level)
    {
        Some(ratio) => out.raw(" ").text(&times(ratio)),
        None => out,
    };
    out.raw("</span>");
}

fn range(range: Option<[f64; 2]>, written: fn(f64) -> String, out: &mut Markup) {
    if let Some([least, most]) = range {
        let text = format!("({}–{})", written(least), written(most));
        out.element(" <span class=range>", &text, "</span>");
    }
}
