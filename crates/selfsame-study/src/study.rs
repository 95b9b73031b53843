//! A study: what was measured, with the labels that a reader needs to judge it.

use serde::Serialize;

use crate::judge::{ComparisonStanding, JudgedTable, PaperComparison, comparisons, judged};
use crate::paper::{Paper, papers};
use crate::part::{BenchPart, PartMachine};
use crate::run::{PartRecord, Tool};
use crate::{StudyError, csv};

/// When, by what and how a study was made.
#[derive(Clone, Debug, Serialize)]
pub struct StudyHead {
    /// When the report was drawn, as RFC 3339.
    pub drawn: String,
    /// The program's version.
    pub version: String,
    /// The commit that the program was built from, as far as it is known.
    pub commit: Option<String>,
    /// Whether the program was built without optimisation.
    pub is_development_build: bool,
    /// Whether the runs are short ones.
    pub quick: bool,
    /// The programs that some parts need, and whether they are here.
    pub tools: Vec<Tool>,
}

/// A part of a study: a load test that ran, or why it did not.
#[derive(Clone, Debug, Serialize)]
pub struct StudyPart {
    /// The load test's name.
    pub name: String,
    /// What it measured, with how it ran.
    pub record: Option<PartRecord>,
    /// Why there is nothing, or what was left out.
    pub missing: Option<String>,
}

/// All of a study.
#[derive(Clone, Debug)]
pub struct Study {
    /// Its labels.
    pub head: StudyHead,
    /// Its parts.
    pub parts: Vec<StudyPart>,
    papers: Vec<Paper>,
}

/// The numbers of a study, for programs.
#[derive(Serialize)]
struct StudyNumbers<'a> {
    #[serde(flatten)]
    head: &'a StudyHead,
    comparisons: Vec<PaperComparison>,
    parts: &'a [StudyPart],
}

/// How many comparisons there are of each standing.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct StandingCounts {
    pub(crate) ahead: usize,
    pub(crate) level: usize,
    pub(crate) behind: usize,
    pub(crate) not_measured: usize,
    pub(crate) not_judged: usize,
}

/// A paper with its tables beside ours.
pub(crate) struct JudgedPaper<'a> {
    pub(crate) paper: &'a Paper,
    pub(crate) part: Option<&'a BenchPart>,
    pub(crate) missing: Option<&'a str>,
    pub(crate) tables: Vec<JudgedTable<'a>>,
    pub(crate) comparisons: Vec<PaperComparison>,
}

impl StudyPart {
    /// A part that was measured.
    #[must_use]
    pub fn measured(name: &str, record: PartRecord) -> Self {
        Self {
            name: name.to_owned(),
            missing: record.left_out.clone(),
            record: Some(record),
        }
    }

    /// A part that was not measured, and why.
    #[must_use]
    pub fn missing(name: &str, why: &str) -> Self {
        Self {
            name: name.to_owned(),
            record: None,
            missing: Some(why.to_owned()),
        }
    }

    /// What came of it, in a line.
    #[must_use]
    pub fn told(&self) -> String {
        let missing = self.missing.as_deref().unwrap_or_default();
        let told = match &self.record {
            Some(record) => format!("measured in {:.0} s. {missing}", record.seconds),
            None => format!("not measured: {missing}"),
        };
        format!("{:9} {}", self.name, told.trim_end())
    }
}

impl Study {
    /// Whether each of these parts was measured.
    #[must_use]
    pub fn has_measured(&self, names: &[&str]) -> bool {
        let mut asked = self.parts.iter();
        asked.all(|part| part.record.is_some() || !names.contains(&part.name.as_str()))
    }

    /// A study with these labels and parts.
    ///
    /// # Errors
    /// If the papers' numbers are malformed, which the tests of this crate rule out.
    pub fn new(head: StudyHead, parts: Vec<StudyPart>) -> Result<Self, StudyError> {
        Ok(Self {
            head,
            parts,
            papers: papers()?,
        })
    }

    /// All numbers as JSON.
    ///
    /// # Errors
    /// If they can't be written as JSON.
    pub fn json(&self) -> Result<String, StudyError> {
        let numbers = StudyNumbers {
            head: &self.head,
            comparisons: self.comparisons(),
            parts: &self.parts,
        };
        serde_json::to_string_pretty(&numbers).map_err(|error| StudyError::Part(error.to_string()))
    }

    /// All comparisons and figures as CSV.
    #[must_use]
    pub fn csv(&self) -> String {
        csv::table(&self.comparisons(), self.measured())
    }

    /// How each paper's comparison stands, in a line each.
    #[must_use]
    pub fn outline(&self) -> Vec<String> {
        let papers = self.judged();
        let line = |judged: &JudgedPaper<'_>| {
            let counts = StandingCounts::of(&judged.comparisons);
            format!(
                "{}: {} numbers compared, {} ahead, {} level, {} behind; {} not measured",
                judged.paper.short,
                counts.judged(),
                counts.ahead,
                counts.level,
                counts.behind,
                counts.not_measured
            )
        };
        papers.iter().map(line).collect()
    }

    /// All comparisons, paper by paper.
    #[must_use]
    pub fn comparisons(&self) -> Vec<PaperComparison> {
        let papers = self.judged().into_iter();
        papers.flat_map(|paper| paper.comparisons).collect()
    }

    /// The papers with their tables beside ours.
    pub(crate) fn judged(&self) -> Vec<JudgedPaper<'_>> {
        let papers = self.papers.iter().map(|paper| {
            let part = self.find(&paper.bench);
            let measured = self.measured_part(&paper.bench);
            let tables = judged(paper, measured);
            JudgedPaper {
                paper,
                part: measured,
                missing: part.and_then(|part| part.missing.as_deref()),
                comparisons: comparisons(paper, &tables),
                tables,
            }
        });
        papers.collect()
    }

    /// What this load test measured, if it did.
    pub(crate) fn measured_part(&self, name: &str) -> Option<&BenchPart> {
        Some(&self.find(name)?.record.as_ref()?.report)
    }

    /// The parts that were measured.
    pub(crate) fn measured(&self) -> impl Iterator<Item = &BenchPart> {
        let records = self.parts.iter().filter_map(|part| part.record.as_ref());
        records.map(|record| &record.report)
    }

    /// The machines of all parts, each once.
    pub(crate) fn machines(&self) -> Vec<&PartMachine> {
        let mut machines: Vec<&PartMachine> = Vec::new();
        for part in self.measured() {
            if !machines.contains(&&part.machine) {
                machines.push(&part.machine);
            }
        }
        machines
    }

    /// The commits of all parts, each once, if they are others than the report's.
    pub(crate) fn other_commits(&self) -> Vec<&str> {
        let records = self.parts.iter().filter_map(|part| part.record.as_ref());
        let mut commits: Vec<&str> = Vec::new();
        for commit in records.filter_map(|record| record.commit.as_deref()) {
            if Some(commit) != self.head.commit.as_deref() && !commits.contains(&commit) {
                commits.push(commit);
            }
        }
        commits
    }

    fn find(&self, name: &str) -> Option<&StudyPart> {
        self.parts.iter().find(|part| part.name == name)
    }
}

impl StandingCounts {
    /// Counts.
    pub(crate) fn of(comparisons: &[PaperComparison]) -> Self {
        let mut counts = Self::default();
        for one in comparisons {
            match one.standing {
                ComparisonStanding::Ahead => counts.ahead += 1,
                ComparisonStanding::Level => counts.level += 1,
                ComparisonStanding::Behind => counts.behind += 1,
                ComparisonStanding::NotMeasured => counts.not_measured += 1,
                ComparisonStanding::NotJudged => counts.not_judged += 1,
            }
        }
        counts
    }

    /// How many were judged.
    pub(crate) fn judged(&self) -> usize {
        self.ahead + self.level + self.behind
    }
}
