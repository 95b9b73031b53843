//! Writes CSV that no spreadsheet takes for formulas.

/// A line of CSV with these cells (RFC 4180), with its end.
#[must_use]
pub fn written<'a>(cells: impl IntoIterator<Item = &'a str>) -> String {
    let mut line = String::new();
    for (number, cell) in cells.into_iter().enumerate() {
        if number > 0 {
            line.push(',');
        }
        let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
        if !is_formula && !cell.contains(['"', ',', ';', '\n', '\r', '\t']) {
            line.push_str(cell);
            continue;
        }
        line.push('"');
        if is_formula {
            // Spreadsheets show what follows as text.
            line.push('\'');
        }
        line.push_str(&cell.replace('"', "\"\""));
        line.push('"');
    }
    line.push_str("\r\n");
    line
}
