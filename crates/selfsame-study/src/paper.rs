//! The papers: their questions, numbers and limits, as files of this crate.

use serde::Deserialize;

use crate::StudyError;

/// The files, in the order of the report.
const FILES: [(&str, &str); 5] = [
    ("health", include_str!("../papers/health.toml")),
    ("waltid", include_str!("../papers/waltid.toml")),
    ("wallet", include_str!("../papers/wallet.toml")),
    ("esignet", include_str!("../papers/esignet.toml")),
    ("tls", include_str!("../papers/tls.toml")),
];

/// A published study.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Its anchor in the report.
    pub id: String,
    /// The load test that measures the same.
    pub bench: String,
    /// What the report calls it.
    pub short: String,
    /// Its title.
    pub title: String,
    /// Its authors.
    pub authors: String,
    /// Where and when it was published.
    pub published: String,
    /// What it asks.
    pub question: String,
    /// What it measured, and on what.
    pub setup: Vec<String>,
    /// What differs here.
    pub ours: Vec<String>,
    /// Its questions with our answers, where the paper has a table of questions.
    #[serde(default)]
    pub questions: Option<PaperQuestions>,
    /// Its tables.
    pub tables: Vec<PaperTable>,
    /// Its figures.
    #[serde(default)]
    pub charts: Vec<PaperChart>,
    /// The limits and the future work that it states.
    pub limits: Vec<PaperLimit>,
}

/// A table of questions, such as the healthcare study's criteria.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperQuestions {
    /// The caption.
    pub caption: String,
    /// The questions.
    pub rows: Vec<PaperQuestion>,
}

/// A question, and our answer with figures in braces.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperQuestion {
    /// What it is about.
    pub dimension: String,
    /// The question in the paper's words.
    pub question: String,
    /// Our answer; `{expression}` is replaced by a figure.
    pub answer: String,
}

/// A table of numbers in the paper's own shape.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperTable {
    /// What it is called in the paper, such as `Table III`.
    pub name: String,
    /// Its caption, with the unit.
    pub caption: String,
    /// Where the paper has the numbers.
    pub source: String,
    /// What a reader must know to compare.
    #[serde(default)]
    pub note: Option<String>,
    /// The titles of the columns.
    pub columns: Vec<String>,
    /// What stands for a column in the names of figures, where one name serves a whole row.
    #[serde(default)]
    pub keys: Vec<String>,
    /// The unit, for all rows or each column.
    #[serde(default)]
    pub units: Vec<String>,
    /// What is better: `lower`, `higher`, or nothing where a number is not judged. One for all columns, or one each.
    #[serde(default)]
    pub better: Vec<String>,
    /// Its rows.
    pub rows: Vec<PaperRow>,
}

/// A row of such a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperRow {
    /// Its name.
    pub name: String,
    /// Whether it sums up others.
    #[serde(default)]
    pub strong: bool,
    /// Whose numbers stand in place of ours, such as another library's in the same run.
    #[serde(default)]
    pub whose: Option<String>,
    /// The paper's numbers; `nan` where it has none.
    #[serde(default)]
    pub theirs: Vec<f64>,
    /// The least that the paper measured.
    #[serde(default)]
    pub least: Vec<f64>,
    /// The most that it measured.
    #[serde(default)]
    pub most: Vec<f64>,
    /// Our numbers, as expressions.
    #[serde(default)]
    pub ours: OurCells,
    /// The least that we measured.
    #[serde(default)]
    pub ours_least: OurCells,
    /// The most that we measured.
    #[serde(default)]
    pub ours_most: OurCells,
    /// What our numbers are multiplied by to have the paper's unit.
    #[serde(default)]
    pub scale: Option<f64>,
    /// The unit, if it is not the table's.
    #[serde(default)]
    pub unit: Option<String>,
    /// What is better, if it is not what the table says.
    #[serde(default)]
    pub better: Option<String>,
    /// Whether only a whole run is judged, since a short one has another load.
    #[serde(default)]
    pub whole_only: bool,
    /// A remark.
    #[serde(default)]
    pub note: Option<String>,
}

/// The expressions of a row: one for each column, or one in which `{}` stands for the column's key.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(untagged)]
pub enum OurCells {
    /// Nothing was measured for this row.
    #[default]
    Absent,
    /// One expression with a place for the key.
    Keyed(String),
    /// One expression for each column; an empty one where there is none.
    Each(Vec<String>),
}

impl OurCells {
    /// The expression of the column at this place, whose key is `key`.
    #[must_use]
    pub fn at(&self, place: usize, key: Option<&String>) -> Option<String> {
        let text = match self {
            Self::Absent => None,
            Self::Keyed(text) => Some(text.replace("{}", key.map_or("", String::as_str))),
            Self::Each(texts) => texts.get(place).cloned(),
        };
        text.filter(|text| !text.is_empty())
    }
}

/// A figure of the paper, drawn again.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperChart {
    /// Its caption, such as `Fig. 6. …`.
    pub caption: String,
    /// Where the paper has it, and which of its points it prints as numbers.
    pub source: String,
    /// How it is drawn.
    pub kind: ChartKind,
    /// What the horizontal axis is.
    #[serde(default)]
    pub x: String,
    /// What the vertical axis is, with its unit.
    pub y: String,
    /// Whether the axis of the values is logarithmic.
    #[serde(default)]
    pub log: bool,
    /// The lines, or the groups of dots.
    #[serde(default)]
    pub series: Vec<PaperSeries>,
    /// The titles of the load test's own charts that are drawn.
    #[serde(default)]
    pub recorded: Vec<String>,
}

/// How a chart is drawn.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum ChartKind {
    /// Lines over a number.
    Lines,
    /// Names, each with a dot for each series.
    Dots,
    /// What the load test drew, over time or shares.
    Recorded,
}

/// A line, or the dots of one kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperSeries {
    /// Its name.
    pub name: String,
    /// Whose it is: `paper` or `ours`.
    pub whose: SeriesOwner,
    /// Where its points are on the horizontal axis, or their names.
    pub at: Vec<String>,
    /// The paper's values.
    #[serde(default)]
    pub theirs: Vec<f64>,
    /// Our expressions, with `{}` for the place.
    #[serde(default)]
    pub ours: OurCells,
    /// What our numbers are multiplied by.
    #[serde(default)]
    pub scale: Option<f64>,
}

/// Whose numbers a series has.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum SeriesOwner {
    /// The paper's.
    Paper,
    /// Ours.
    Ours,
}

/// A limit or a task that the paper names, and what is done about it here.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperLimit {
    /// What the paper says.
    pub stated: String,
    /// Where it says so.
    pub place: String,
    /// What Selfsame does about it.
    pub answer: String,
    /// The names of the tests that show it.
    pub tests: Vec<String>,
}

/// All papers, in the order of the report.
///
/// # Errors
/// If a file of this crate is malformed, which its tests rule out.
pub fn papers() -> Result<Vec<Paper>, StudyError> {
    let read = |(name, text): (&str, &str)| {
        toml::from_str(text).map_err(|error| StudyError::Paper {
            name: name.to_owned(),
            why: error.to_string(),
        })
    };
    FILES.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn each_paper_is_read_and_its_rows_fit_its_columns() {
        for paper in papers().unwrap() {
            assert!(!paper.limits.is_empty(), "{}", paper.id);
            for table in &paper.tables {
                let columns = table.columns.len();
                let fits = |count: usize| count == 0 || count == columns;
                assert!(fits(table.keys.len()), "{}: keys", table.caption);
                for row in &table.rows {
                    for numbers in [&row.theirs, &row.least, &row.most] {
                        assert!(fits(numbers.len()), "{}: {}", table.caption, row.name);
                    }
                    if let OurCells::Each(cells) = &row.ours {
                        assert!(fits(cells.len()), "{}: {}", table.caption, row.name);
                    }
                }
            }
        }
    }

    #[test]
    fn each_mean_of_a_paper_lies_between_its_least_and_its_most() {
        for paper in papers().unwrap() {
            for row in paper.tables.iter().flat_map(|table| &table.rows) {
                for (least, mean) in row.least.iter().zip(&row.theirs) {
                    assert!(least <= mean, "{}", row.name);
                }
                for (most, mean) in row.most.iter().zip(&row.theirs) {
                    assert!(most >= mean, "{}", row.name);
                }
            }
        }
    }

    #[test]
    fn each_test_that_answers_a_limit_exists_in_the_sources() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut functions = BTreeSet::new();
        collect(&root, &mut functions);
        for paper in papers().unwrap() {
            for limit in &paper.limits {
                assert!(!limit.tests.is_empty(), "{}: {}", paper.id, limit.stated);
                for test in &limit.tests {
                    assert!(functions.contains(test), "{}: no test `{test}`", paper.id);
                }
            }
        }
    }

    /// The names of all functions in the Rust files below a folder.
    fn collect(folder: &Path, functions: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                collect(&path, functions);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let names = text.split("fn ").skip(1).filter_map(|rest| {
                    let end = rest.find(|one: char| !one.is_ascii_alphanumeric() && one != '_');
                    rest.get(..end?)
                });
                functions.extend(names.map(str::to_owned));
            }
        }
    }
}
