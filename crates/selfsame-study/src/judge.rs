//! The paper's numbers beside ours: each cell, and who is ahead.

use serde::Serialize;

use crate::paper::{OurCells, Paper, PaperRow, PaperTable};
use crate::part::{BenchPart, Measured};

/// A number of a paper beside ours.
#[derive(Clone, Debug, Serialize)]
pub struct PaperComparison {
    /// The paper's anchor.
    pub paper: String,
    /// The paper's table.
    pub table: String,
    /// The row.
    pub row: String,
    /// The column.
    pub column: String,
    /// The unit.
    pub unit: String,
    /// The paper's number.
    pub theirs: f64,
    /// Ours.
    pub ours: Option<f64>,
    /// How many times better ours is: below 1, it is worse.
    pub ratio: Option<f64>,
    /// Who is ahead.
    pub standing: ComparisonStanding,
}

/// Who is ahead.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ComparisonStanding {
    /// Ours is better.
    Ahead,
    /// Both are the same.
    Level,
    /// Ours is worse.
    Behind,
    /// Ours was not measured.
    NotMeasured,
    /// Both are shown and not judged.
    NotJudged,
}

/// A table with all its numbers.
#[derive(Clone, Debug)]
pub struct JudgedTable<'a> {
    /// The paper's table.
    pub table: &'a PaperTable,
    /// Its rows.
    pub rows: Vec<JudgedRow<'a>>,
}

/// A row with all its numbers.
#[derive(Clone, Debug)]
pub struct JudgedRow<'a> {
    /// The paper's row.
    pub row: &'a PaperRow,
    /// Its cells, one for each column.
    pub cells: Vec<JudgedCell>,
}

/// The paper's number, ours and a peer's.
#[derive(Clone, Debug)]
pub struct JudgedCell {
    /// Whether a load test measures this.
    pub is_asked: bool,
    /// The paper's number.
    pub theirs: Option<f64>,
    /// The paper's least and most.
    pub their_range: Option<[f64; 2]>,
    /// Our number.
    pub ours: Option<f64>,
    /// Our least and most.
    pub our_range: Option<[f64; 2]>,
    /// A peer's number of the same run.
    pub peer: Option<f64>,
    /// How many times better ours is than the paper's.
    pub ratio: Option<f64>,
    /// Who is ahead.
    pub standing: ComparisonStanding,
    /// The unit.
    pub unit: String,
}

/// Which of two numbers is better.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum BetterSide {
    Lower,
    Higher,
    Neither,
}

/// The tables of a paper beside what its load test measured.
#[must_use]
pub fn judged<'a>(paper: &'a Paper, part: Option<&BenchPart>) -> Vec<JudgedTable<'a>> {
    let tables = paper.tables.iter();
    tables
        .map(|table| JudgedTable {
            table,
            rows: table
                .rows
                .iter()
                .map(|row| judged_row(table, row, part))
                .collect(),
        })
        .collect()
}

/// All comparisons of a paper's tables.
#[must_use]
pub fn comparisons(paper: &Paper, tables: &[JudgedTable<'_>]) -> Vec<PaperComparison> {
    let mut all = Vec::new();
    for table in tables {
        for row in &table.rows {
            let columns = table.table.columns.iter().zip(&row.cells);
            for (column, cell) in columns {
                let Some(theirs) = cell.theirs.filter(|_| cell.is_asked) else {
                    continue;
                };
                all.push(PaperComparison {
                    paper: paper.id.clone(),
                    table: table.table.name.clone(),
                    row: row.row.name.clone(),
                    column: column.clone(),
                    unit: cell.unit.clone(),
                    theirs,
                    ours: cell.ours,
                    ratio: cell.ratio,
                    standing: cell.standing,
                });
            }
        }
    }
    all
}

fn judged_row<'a>(
    table: &PaperTable,
    row: &'a PaperRow,
    part: Option<&BenchPart>,
) -> JudgedRow<'a> {
    let places = (0..table.columns.len()).map(|column| CellPlace { part, column });
    JudgedRow {
        row,
        cells: places.map(|at| judged_cell(table, row, at)).collect(),
    }
}

/// A column of a part.
struct CellPlace<'a> {
    part: Option<&'a BenchPart>,
    column: usize,
}

fn judged_cell(table: &PaperTable, row: &PaperRow, at: CellPlace<'_>) -> JudgedCell {
    let CellPlace { part, column } = at;
    let key = table.keys.get(column);
    let scale = row.scale.unwrap_or(1.0);
    let value = |cells: &OurCells, whose: Measured| {
        let expression = cells.at(column, key)?;
        Some(part?.value(&expression, whose)? * scale)
    };
    let range = |least: Option<f64>, most: Option<f64>| Some([least?, most?]);
    let theirs = known(&row.theirs, column);
    let ours = value(&row.ours, Measured::Own);
    let wanted = wanted(table, row, column);
    let is_short = part.is_some_and(|part| part.quick);
    let standing = match wanted {
        _ if theirs.is_none() => ComparisonStanding::NotJudged,
        _ if ours.is_none() => ComparisonStanding::NotMeasured,
        BetterSide::Neither => ComparisonStanding::NotJudged,
        _ if row.whole_only && is_short => ComparisonStanding::NotJudged,
        wanted => standing(wanted, theirs.unwrap_or_default(), ours.unwrap_or_default()),
    };
    let is_judged = !matches!(
        standing,
        ComparisonStanding::NotJudged | ComparisonStanding::NotMeasured
    );
    JudgedCell {
        is_asked: row.ours.at(column, key).is_some(),
        theirs,
        their_range: range(known(&row.least, column), known(&row.most, column)),
        ours,
        our_range: range(
            value(&row.ours_least, Measured::Own),
            value(&row.ours_most, Measured::Own),
        ),
        peer: value(&row.ours, Measured::Peer),
        ratio: ours
            .zip(theirs)
            .filter(|_| is_judged)
            .and_then(|(ours, theirs)| match wanted {
                BetterSide::Lower => quotient(theirs, ours),
                BetterSide::Higher => quotient(ours, theirs),
                BetterSide::Neither => None,
            }),
        standing,
        unit: unit(table, row, column),
    }
}

fn wanted(table: &PaperTable, row: &PaperRow, column: usize) -> BetterSide {
    let word = row
        .better
        .as_ref()
        .or_else(|| one_or_each(&table.better, column));
    match word.map(String::as_str) {
        Some("lower") => BetterSide::Lower,
        Some("higher") => BetterSide::Higher,
        _ => BetterSide::Neither,
    }
}

fn unit(table: &PaperTable, row: &PaperRow, column: usize) -> String {
    let unit = row
        .unit
        .as_ref()
        .or_else(|| one_or_each(&table.units, column));
    unit.cloned().unwrap_or_default()
}

/// The only one, or the one of this column.
fn one_or_each(all: &[String], column: usize) -> Option<&String> {
    match all {
        [one] => Some(one),
        each => each.get(column),
    }
}

fn standing(wanted: BetterSide, theirs: f64, ours: f64) -> ComparisonStanding {
    let (better, worse) = match wanted {
        BetterSide::Higher => (ours > theirs, ours < theirs),
        BetterSide::Lower | BetterSide::Neither => (ours < theirs, ours > theirs),
    };
    match (better, worse) {
        (true, _) => ComparisonStanding::Ahead,
        (_, true) => ComparisonStanding::Behind,
        _ => ComparisonStanding::Level,
    }
}

/// Without an infinite ratio: a number without errors has none.
fn quotient(above: f64, below: f64) -> Option<f64> {
    (above > 0.0 && below > 0.0).then(|| above / below)
}

fn known(numbers: &[f64], column: usize) -> Option<f64> {
    numbers
        .get(column)
        .copied()
        .filter(|number| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::papers;
    use crate::part::tests::part;

    const TABLE: &str = r#"
        name = "Table I"
        caption = "Table I"
        source = "page 1"
        columns = ["20 users", "40 users"]
        keys = ["20", "40"]
        units = ["ms"]
        better = ["lower"]
        [[rows]]
        name = "issue"
        theirs = [10, nan]
        ours = "issue_{}"
        [[rows]]
        name = "rate"
        theirs = [2, 4]
        ours = ["rate", ""]
        better = "higher"
        whole_only = true
        [[rows]]
        name = "errors"
        theirs = [0, 1]
        ours = "errors_{}"
    "#;

    fn rows(figures: &[(&str, f64)], quick: bool) -> Vec<Vec<JudgedCell>> {
        let table: PaperTable = toml::from_str(TABLE).unwrap();
        let part = BenchPart {
            quick,
            ..part("x", figures)
        };
        let rows = table.rows.iter();
        rows.map(|row| judged_row(&table, row, Some(&part)).cells)
            .collect()
    }

    #[test]
    fn a_lower_time_is_ahead_and_a_number_without_ours_is_not_measured() {
        let rows = rows(&[("issue_20", 2.0), ("errors_20", 0.0)], false);
        let [issue, _, errors] = &rows[..] else {
            panic!()
        };
        assert_eq!(issue[0].standing, ComparisonStanding::Ahead);
        assert_eq!(issue[0].ratio, Some(5.0));
        assert_eq!(issue[1].standing, ComparisonStanding::NotJudged);
        assert_eq!(errors[0].standing, ComparisonStanding::Level);
        assert_eq!(errors[1].standing, ComparisonStanding::NotMeasured);
    }

    #[test]
    fn a_number_worse_than_the_papers_is_behind() {
        let rows = rows(&[("issue_20", 20.0), ("errors_20", 1.0)], false);
        assert_eq!(rows[0][0].standing, ComparisonStanding::Behind);
        assert_eq!(rows[0][0].ratio, Some(0.5));
        assert_eq!(rows[2][0].standing, ComparisonStanding::Behind);
        assert_eq!(rows[2][0].ratio, None);
    }

    #[test]
    fn a_rate_that_only_a_whole_run_can_show_is_not_judged_in_a_short_one() {
        let of = |quick| rows(&[("rate", 3.0)], quick)[1][0].standing;
        assert_eq!(of(true), ComparisonStanding::NotJudged);
        assert_eq!(of(false), ComparisonStanding::Ahead);
    }

    #[test]
    fn without_its_load_test_nothing_of_a_paper_is_measured() {
        for paper in papers().unwrap() {
            let tables = judged(&paper, None);
            let all = comparisons(&paper, &tables);
            assert!(!all.is_empty(), "{}", paper.id);
            for one in all {
                assert_eq!(one.standing, ComparisonStanding::NotMeasured, "{}", one.row);
            }
        }
    }
}
