//! What a load test measured, as `selfsame bench NAME --out` writes it.

use serde::{Deserialize, Deserializer, Serialize};

use crate::StudyError;

/// The JSON of a load test.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct BenchPart {
    /// The load test's name.
    pub bench: String,
    /// The machine on which it ran.
    pub machine: PartMachine,
    /// Whether it was a short run.
    pub quick: bool,
    /// Its figures.
    pub figures: Vec<PartFigure>,
    /// Its tables.
    #[serde(default)]
    pub tables: Vec<PartTable>,
    /// Its charts.
    #[serde(default)]
    pub charts: Vec<PartChart>,
}

/// The machine of a part.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct PartMachine {
    /// The processor's name.
    pub processor: String,
    /// The number of cores.
    pub cores: usize,
    /// The memory, in MB.
    pub memory_mb: u64,
    /// The kernel's version.
    pub kernel: String,
}

/// A figure of a part.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct PartFigure {
    /// Its name.
    pub name: String,
    /// Its value; absent where it could not be worked out.
    pub value: Option<f64>,
    /// Its unit.
    pub unit: String,
    /// Its spread over repetitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
    /// Whether it meets the project's own bar, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<bool>,
    /// A remark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A table of a part.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct PartTable {
    /// Its title.
    pub title: String,
    /// The titles of its columns.
    pub columns: Vec<String>,
    /// Its rows.
    pub rows: Vec<PartRow>,
}

/// A row of such a table.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct PartRow {
    /// Its name.
    pub name: String,
    /// Its numbers.
    pub cells: Vec<Option<f64>>,
}

/// A chart of a part.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct PartChart {
    /// Its title, with the unit.
    pub title: String,
    /// The label of the horizontal axis.
    pub x: String,
    /// Its lines.
    pub lines: Vec<PartLine>,
}

/// A line of such a chart.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct PartLine {
    /// Its name.
    pub name: String,
    /// Its points.
    #[serde(deserialize_with = "known_points")]
    pub points: Vec<(f64, f64)>,
}

/// The points that are numbers: JSON has `null` for what could not be worked out.
fn known_points<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(f64, f64)>, D::Error> {
    let all = Vec::<(Option<f64>, Option<f64>)>::deserialize(from)?;
    Ok(all.into_iter().filter_map(|(x, y)| x.zip(y)).collect())
}

/// Whose figures are looked up.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Measured {
    /// This program's.
    Own,
    /// Those of another implementation that took part in the same run.
    Peer,
}

/// What the names of a peer's figures begin with, and the titles of its tables.
const PEER_FIGURE: &str = "foreign_";
const PEER_TABLES: [&str; 2] = ["Foreign agents, ", "Foreign provider, "];

impl BenchPart {
    /// Reads what a load test wrote.
    ///
    /// # Errors
    /// If it is not that.
    pub fn read(json: &str) -> Result<Self, StudyError> {
        serde_json::from_str(json).map_err(|error| StudyError::Part(error.to_string()))
    }

    /// The value of an expression: numbers, names of figures, or `TITLE | ROW | COLUMN` for a cell of a table, joined by ` + `,
    /// ` - ` or ` / `, worked out from left to right. `None` if any of them was not measured.
    #[must_use]
    pub fn value(&self, expression: &str, whose: Measured) -> Option<f64> {
        let mut words = Vec::new();
        let mut rest = expression;
        while let Some((at, operator)) = next_operator(rest) {
            words.push((rest.get(..at)?, operator));
            rest = rest.get(at + 3..)?;
        }
        let mut value: Option<f64> = None;
        let mut pending = '+';
        for (name, operator) in words.into_iter().chain([(rest, '+')]) {
            let next = self.one(name.trim(), whose)?;
            value = Some(match (value, pending) {
                (None, _) => next,
                (Some(value), '+') => value + next,
                (Some(value), '-') => value - next,
                (Some(value), _) => value / next,
            });
            pending = operator;
        }
        value.filter(|value| value.is_finite())
    }

    /// The chart with this title.
    #[must_use]
    pub fn chart(&self, title: &str) -> Option<&PartChart> {
        self.charts.iter().find(|chart| chart.title == title)
    }

    /// The figure with this name.
    #[must_use]
    pub fn figure(&self, name: &str) -> Option<&PartFigure> {
        self.figures.iter().find(|figure| figure.name == name)
    }

    fn one(&self, name: &str, whose: Measured) -> Option<f64> {
        if name.starts_with(|first: char| first.is_ascii_digit())
            && let Ok(number) = name.parse()
        {
            return Some(number);
        }
        if let Some((title, cell)) = name.split_once(" | ") {
            let (row, column) = cell.split_once(" | ")?;
            return self.cell(title, row, column, whose);
        }
        match whose {
            Measured::Own => self.figure(name)?.value,
            Measured::Peer => self.figure(&format!("{PEER_FIGURE}{name}"))?.value,
        }
    }

    fn cell(&self, title: &str, row: &str, column: &str, whose: Measured) -> Option<f64> {
        let is_asked = |table: &&PartTable| match whose {
            Measured::Own => table.title == title,
            Measured::Peer => PEER_TABLES
                .iter()
                .any(|begin| table.title.strip_prefix(begin) == Some(title)),
        };
        let table = self.tables.iter().find(is_asked)?;
        let place = table.columns.iter().position(|one| one == column)?;
        let row = table.rows.iter().find(|one| one.name == row)?;
        row.cells.get(place).copied().flatten()
    }
}

/// The first operator with its place.
fn next_operator(text: &str) -> Option<(usize, char)> {
    [" + ", " - ", " / "]
        .into_iter()
        .filter_map(|operator| Some((text.find(operator)?, operator.chars().nth(1)?)))
        .min()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A part with these figures.
    pub fn part(bench: &str, figures: &[(&str, f64)]) -> BenchPart {
        let figure = |(name, value): &(&str, f64)| PartFigure {
            name: (*name).to_owned(),
            value: Some(*value),
            unit: "ms".to_owned(),
            spread: None,
            holds: None,
            note: None,
        };
        BenchPart {
            bench: bench.to_owned(),
            machine: PartMachine {
                processor: "Test".to_owned(),
                cores: 2,
                memory_mb: 4_096,
                kernel: "6".to_owned(),
            },
            quick: true,
            figures: figures.iter().map(figure).collect(),
            tables: Vec::new(),
            charts: Vec::new(),
        }
    }

    #[test]
    fn figures_are_added_and_divided_from_left_to_right() {
        let part = part("tls", &[("a", 6.0), ("b", 2.0), ("zero", 0.0)]);
        let own = |text| part.value(text, Measured::Own);
        assert_eq!(own("a + b"), Some(8.0));
        assert_eq!(own("a / b + b"), Some(5.0));
        assert_eq!(own("a - b"), Some(4.0));
        assert_eq!(own("1 / b"), Some(0.5));
        assert_eq!(own("a + gone"), None);
        assert_eq!(own("a / zero"), None);
    }

    #[test]
    fn a_point_without_a_number_is_left_out() {
        let line = r#"{"name": "a", "points": [[0, 1.5], [1, null], [2, 3]]}"#;
        let line: PartLine = serde_json::from_str(line).unwrap();
        assert_eq!(line.points, [(0.0, 1.5), (2.0, 3.0)]);
    }

    #[test]
    fn a_cell_is_found_by_title_row_and_column_for_us_and_for_a_peer() {
        let mut part = part("aries", &[("foreign_calls_s_20", 3.0)]);
        for title in ["20 users: calls, ms", "Foreign agents, 20 users: calls, ms"] {
            part.tables.push(PartTable {
                title: title.to_owned(),
                columns: vec!["mean".to_owned(), "min".to_owned()],
                rows: vec![PartRow {
                    name: "issue".to_owned(),
                    cells: vec![Some(title.len() as f64), None],
                }],
            });
        }
        let cell = "20 users: calls, ms | issue | mean";
        assert_eq!(part.value(cell, Measured::Own), Some(19.0));
        assert_eq!(part.value(cell, Measured::Peer), Some(35.0));
        let empty = "20 users: calls, ms | issue | min";
        assert_eq!(part.value(empty, Measured::Own), None);
        assert_eq!(part.value("calls_s_20", Measured::Peer), Some(3.0));
    }
}
