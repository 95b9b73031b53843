//! The figures that the calculator works with: those of the load test, as it prints them with `--json`.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The figures that come with the program: the report of a run, with its `date`; `null` before the first measurement.
const BUILT_IN: &str = include_str!("../../figures.json");

/// Why figures can't be used.
#[derive(Debug, thiserror::Error)]
pub enum FiguresError {
    /// The text is not what the load test prints.
    #[error("this is not what `selfsame bench signin --json` prints: {0}")]
    Malformed(#[from] serde_json::Error),
    /// The program comes without figures.
    #[error("no figures are built in")]
    NotBuiltIn,
    /// They are of another bench.
    #[error("these are figures of `{0}`, not of `signin`")]
    OtherBench(String),
    /// A figure is missing, or can't be one.
    #[error("the figure `{0}` is missing or can't be right")]
    Absent(&'static str),
}

/// The figures of a run of the load test.
#[derive(Clone, Debug)]
pub struct SizeFigures {
    /// Where they are from, for people.
    pub source: String,
    /// The memory of a provider with few sign-ins under way, in MB.
    pub rss_mb: f64,
    /// Its memory with 5,000 sign-ins under way, in MB.
    pub rss_mb_5000: f64,
    /// The bytes that stay of a first sign-in at a relying party.
    pub stored_bytes: f64,
    /// The bytes of the log of one sign-in.
    pub log_bytes: f64,
    cpu_ms: BTreeMap<&'static str, f64>,
}

/// What is read of the load test's report.
#[derive(Deserialize)]
struct FiguresFile {
    bench: String,
    /// When it was measured. The load test does not say; the built-in figures do.
    #[serde(default)]
    date: Option<String>,
    machine: FiguresMachine,
    quick: bool,
    figures: Vec<FileFigure>,
}

#[derive(Deserialize)]
struct FiguresMachine {
    processor: String,
    cores: usize,
}

#[derive(Deserialize)]
struct FileFigure {
    name: String,
    value: f64,
}

impl SizeFigures {
    /// The figures that come with the program.
    ///
    /// # Errors
    /// If they are missing.
    pub fn built_in() -> Result<Self, FiguresError> {
        match BUILT_IN.trim() {
            "null" => Err(FiguresError::NotBuiltIn),
            report => Self::read(report),
        }
    }

    /// Reads the load test's report, as JSON.
    ///
    /// # Errors
    /// If it is not that, or a figure is missing.
    pub fn read(json: &str) -> Result<Self, FiguresError> {
        let file: FiguresFile = serde_json::from_str(json)?;
        if file.bench != crate::NAME {
            return Err(FiguresError::OtherBench(file.bench));
        }
        let figure = |name| file.figure(name);
        let flows = ["cpu_ms_rsa", "cpu_ms_ec", "cpu_ms_standard"];
        let mut cpu_ms = BTreeMap::new();
        for name in flows {
            cpu_ms.insert(name, figure(name)?);
        }
        Ok(Self {
            source: file.source(),
            rss_mb: figure("rss_mb")?,
            rss_mb_5000: figure("rss_mb_5000")?,
            stored_bytes: file.bytes("stored_bytes")?,
            log_bytes: file.bytes("log_bytes")?,
            cpu_ms,
        })
    }

    /// The processor time of a figure, in milliseconds.
    pub(super) fn cpu_ms(&self, name: &str) -> f64 {
        self.cpu_ms.get(name).copied().unwrap_or_default()
    }
}

impl FiguresFile {
    /// A time or a memory, which is never zero.
    fn figure(&self, name: &'static str) -> Result<f64, FiguresError> {
        let value = self.bytes(name)?;
        let is_usable = value > 0.0;
        is_usable.then_some(value).ok_or(FiguresError::Absent(name))
    }

    /// What is written, which may be nothing.
    fn bytes(&self, name: &'static str) -> Result<f64, FiguresError> {
        let mut figures = self.figures.iter();
        let found = figures.find(|figure| figure.name == name);
        let value = found.map(|figure| figure.value);
        let is_usable = |value: &f64| value.is_finite() && *value >= 0.0;
        value.filter(is_usable).ok_or(FiguresError::Absent(name))
    }

    fn source(&self) -> String {
        let FiguresMachine { processor, cores } = &self.machine;
        let date = self.date.iter().map(|date| format!(", {date}"));
        let date: String = date.collect();
        let quick = if self.quick { ", a short run" } else { "" };
        format!("{processor}, {cores} cores{date}{quick}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"{"bench": "signin", "date": "2026-11-29", "quick": true,
        "machine": {"processor": "P", "cores": 2},
        "figures": [{"name": "cpu_ms_rsa", "value": 2}, {"name": "cpu_ms_ec", "value": 1},
            {"name": "cpu_ms_standard", "value": 0.5}, {"name": "rss_mb", "value": 50},
            {"name": "rss_mb_5000", "value": 150}, {"name": "stored_bytes", "value": 0},
            {"name": "log_bytes", "value": 200}]}"#;

    #[test]
    fn the_figures_of_the_program_can_be_read_if_it_has_any() {
        let built_in = SizeFigures::built_in();
        let is_right = matches!(built_in, Ok(_) | Err(FiguresError::NotBuiltIn));
        assert!(is_right, "{built_in:?}");
    }

    #[test]
    fn figures_tell_where_they_are_from() {
        let figures = SizeFigures::read(REPORT).unwrap();
        assert_eq!(figures.source, "P, 2 cores, 2026-11-29, a short run");
    }

    #[test]
    fn a_report_of_another_bench_or_with_a_figure_that_is_missing_or_wrong_is_refused() {
        let reason = |json: &str| SizeFigures::read(json).unwrap_err().to_string();
        let other = REPORT.replace("\"signin\"", "\"aries\"");
        assert!(reason(&other).contains("`aries`"));
        let lacking = REPORT.replace("rss_mb_5000", "rss");
        assert!(reason(&lacking).contains("`rss_mb_5000`"));
        let without_time = REPORT.replace("0.5", "0");
        assert!(reason(&without_time).contains("`cpu_ms_standard`"));
        assert!(reason("{}").contains("selfsame bench signin --json"));
    }
}
