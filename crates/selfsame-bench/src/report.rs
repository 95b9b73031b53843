//! The results of a bench: figures with their bars, as JSON, as a table, as a page.

use serde::Serialize;

use crate::machine::BenchMachine;
use crate::statistics::Sample;

/// The result of one bench, in the format that all benches share.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The bench's name.
    pub bench: &'static str,
    /// The machine on which it ran.
    pub machine: BenchMachine,
    /// Whether it was a short run, with fewer and shorter measurements.
    pub quick: bool,
    /// The bench's figures.
    pub figures: Vec<Figure>,
    /// Tables of more numbers beside them, for example as a study has them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<FigureTable>,
}

/// A table of numbers.
#[derive(Clone, Debug, Serialize)]
pub struct FigureTable {
    /// Its title, with the unit.
    pub title: String,
    /// The titles of its columns, without the one of the rows' names.
    pub columns: Vec<&'static str>,
    /// Its rows.
    pub rows: Vec<FigureRow>,
}

/// A row of a table.
#[derive(Clone, Debug, Serialize)]
pub struct FigureRow {
    /// Its name.
    pub name: String,
    /// Its numbers, one for each column; `None` where a row lacks one.
    pub cells: Vec<Option<f64>>,
}

/// One figure.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// Its name, as in `docs/benchmarks.md`.
    pub name: String,
    /// The median over repetitions, unless the name says otherwise.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// The standard deviation or range over repetitions, in the same unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
    /// The project's own requirement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bar: Option<Bar>,
    /// The study's value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub study: Option<f64>,
    /// Whether the figure meets its bar; absent without a bar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<bool>,
    /// A remark for readers, for example that a rate is scaled up from a shorter run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A requirement for a figure.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bar {
    /// The figure must not be larger.
    AtMost(f64),
    /// The figure must not be smaller.
    AtLeast(f64),
}

impl Figure {
    /// Creates a figure without a bar.
    #[must_use]
    pub fn new(name: impl Into<String>, value: f64, unit: &'static str) -> Self {
        Self {
            name: name.into(),
            value: rounded(value),
            unit,
            spread: None,
            bar: None,
            study: None,
            holds: None,
            note: None,
        }
    }

    /// Creates a figure of a sample: its median, with its range as the spread.
    #[must_use]
    pub fn of(name: impl Into<String>, sample: &Sample, unit: &'static str) -> Self {
        Self::new(name, sample.median(), unit).spread(sample.range())
    }

    /// Sets the spread.
    #[must_use]
    pub fn spread(mut self, spread: f64) -> Self {
        self.spread = Some(rounded(spread));
        self
    }

    /// Sets the bar, and whether the figure meets it.
    #[must_use]
    pub fn bar(mut self, bar: Bar) -> Self {
        self.holds = Some(match bar {
            Bar::AtMost(most) => self.value <= most,
            Bar::AtLeast(least) => self.value >= least,
        });
        self.bar = Some(bar);
        self
    }

    /// Sets the study's value.
    #[must_use]
    pub fn study(mut self, study: f64) -> Self {
        self.study = Some(study);
        self
    }

    /// Sets the note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}

impl Report {
    /// Whether all bars are met.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.figures
            .iter()
            .all(|figure| figure.holds != Some(false))
    }

    /// The figures as lines for people.
    #[must_use]
    pub fn table(&self) -> Vec<String> {
        let width = self
            .figures
            .iter()
            .map(|figure| figure.name.len())
            .max()
            .unwrap_or(0);
        let mut lines = vec![
            format!("{} on {}", self.bench, self.machine),
            format!(
                "  {:width$} {:>12} {:>10} {:<8} {:>12} {:>10}",
                "", "value", "spread", "unit", "bar", "study"
            ),
        ];
        for figure in &self.figures {
            let mark = match figure.holds {
                Some(true) => "✓",
                Some(false) => "✗",
                None => " ",
            };
            let bar = match figure.bar {
                Some(Bar::AtMost(most)) => format!("≤ {most}"),
                Some(Bar::AtLeast(least)) => format!("≥ {least}"),
                None => String::new(),
            };
            let spread = figure
                .spread
                .map(|spread| format!("± {spread}"))
                .unwrap_or_default();
            let study = figure
                .study
                .map(|study| study.to_string())
                .unwrap_or_default();
            let note = figure.note.as_deref().unwrap_or("");
            lines.push(format!(
                "{mark} {:width$} {:>12} {spread:>10} {:<8} {bar:>12} {study:>10} {note}",
                figure.name, figure.value, figure.unit
            ));
        }
        lines.extend(self.tables.iter().flat_map(FigureTable::lines));
        lines
    }
}

impl FigureTable {
    /// Creates a table without rows.
    #[must_use]
    pub fn new(title: impl Into<String>, columns: &[&'static str]) -> Self {
        Self {
            title: title.into(),
            columns: columns.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn row(&mut self, name: impl Into<String>, cells: &[Option<f64>]) {
        self.rows.push(FigureRow {
            name: name.into(),
            cells: cells.iter().map(|cell| cell.map(rounded)).collect(),
        });
    }

    /// The table as lines for people.
    fn lines(&self) -> Vec<String> {
        let names = self.rows.iter().map(|row| row.name.len());
        let width = names.max().unwrap_or(0);
        let line = |name: &str, cells: Vec<String>| {
            let cells = cells.iter().map(|cell| format!(" {cell:>12}"));
            format!("  {name:width$}{}", cells.collect::<String>())
        };
        let columns = self.columns.iter().map(|title| (*title).to_owned());
        let head = line("", columns.collect());
        let rows = self.rows.iter().map(|row| line(&row.name, row.texts()));
        [String::new(), self.title.clone(), head]
            .into_iter()
            .chain(rows)
            .collect()
    }
}

impl FigureRow {
    /// The numbers as texts, empty where a row lacks one.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        let text = |cell: &Option<f64>| cell.map(|number| number.to_string());
        let texts = self.cells.iter().map(text);
        texts.map(Option::unwrap_or_default).collect()
    }
}

/// Rounds to three decimals, which is more than any of these measurements can resolve.
fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_beyond_its_bar_does_not_hold() {
        assert_eq!(
            Figure::new("a", 3.0, "ms").bar(Bar::AtMost(2.5)).holds,
            Some(false)
        );
        assert_eq!(
            Figure::new("a", 3.0, "").bar(Bar::AtLeast(3.0)).holds,
            Some(true)
        );
        assert_eq!(Figure::new("a", 3.0, "").holds, None);
    }

    #[test]
    fn a_table_stands_below_the_figures_with_gaps_where_it_has_no_number() {
        let mut table = FigureTable::new("Calls, ms", &["mean", "study"]);
        table.row("issue", &[Some(1.234_56), None]);
        let report = Report {
            bench: "aries",
            machine: BenchMachine::this(),
            quick: true,
            figures: Vec::new(),
            tables: vec![table],
        };
        let lines = report.table();
        let [.., title, head, row] = &lines[..] else {
            panic!("{lines:?}");
        };
        assert_eq!(title, "Calls, ms");
        assert!(head.ends_with("mean        study"), "{head}");
        assert!(row.starts_with("  issue") && row.contains("1.235"), "{row}");
    }
}
