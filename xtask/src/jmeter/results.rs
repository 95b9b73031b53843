//! What JMeter has written of a run: a line for each request (.jtl, as CSV), and the table of all of them.

use std::{collections::BTreeMap, fmt::Write as _};

/// The columns that are read, by their names in the first line.
const COLUMNS: [&str; 6] = [
    "label",
    "elapsed",
    "success",
    "responseCode",
    "responseMessage",
    "failureMessage",
];
/// The failures that are shown, with the first reason of each.
const SHOWN: usize = 10;

/// The results of a run.
#[derive(Debug, Default)]
pub struct Results {
    steps: BTreeMap<String, Step>,
    /// How often each reason was given, by the step that failed.
    reasons: BTreeMap<String, usize>,
}

/// The requests of one step.
#[derive(Debug, Default)]
struct Step {
    /// Milliseconds, in ascending order.
    elapsed: Vec<u64>,
    errors: usize,
}

impl Results {
    /// Reads the lines.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut rows = rows(text).into_iter();
        let header = rows.next().unwrap_or_default();
        let place = |wanted: &str| {
            let found = header.iter().position(|name| name == wanted);
            found.ok_or_else(|| format!("the results have no column {wanted}"))
        };
        let mut columns = Vec::new();
        for wanted in COLUMNS {
            columns.push(place(wanted)?);
        }
        let mut results = Self::default();
        for (row, line) in rows.zip(2..) {
            let cells = columns.iter().map(|at| row.get(*at).map(String::as_str));
            let cells = cells.collect::<Option<Vec<&str>>>();
            // The last line is not complete if JMeter was ended while it wrote.
            let Some([label, elapsed, success, code, message, failure]) = cells.as_deref() else {
                return Err(format!("line {line} of the results is not complete"));
            };
            let elapsed = elapsed.parse::<u64>();
            let elapsed = elapsed.map_err(|_| format!("line {line}: the time is no number"))?;
            let step = results.steps.entry((*label).to_owned()).or_default();
            step.elapsed.push(elapsed);
            if *success != "true" {
                step.errors += 1;
                let why = format!("{label}: {code} {message} {failure}");
                *results
                    .reasons
                    .entry(why.trim_end().to_owned())
                    .or_default() += 1;
            }
        }
        for step in results.steps.values_mut() {
            step.elapsed.sort_unstable();
        }
        Ok(results)
    }

    /// The number of requests.
    pub fn count(&self) -> usize {
        self.steps.values().map(|step| step.elapsed.len()).sum()
    }

    /// The number of requests that failed.
    pub fn errors(&self) -> usize {
        self.steps.values().map(|step| step.errors).sum()
    }

    /// How often this step was done.
    pub fn count_of(&self, step: &str) -> usize {
        self.steps.get(step).map_or(0, |step| step.elapsed.len())
    }

    /// A line for each of these steps, with times in milliseconds.
    pub fn table(&self, steps: &[String]) -> String {
        let width = steps.iter().map(|one| one.chars().count()).max();
        let width = width.unwrap_or_default();
        let mut table = format!(
            "{:width$} {:>7} {:>8} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}\n",
            "step, ms", "count", "mean", "median", "p95", "p99", "min", "max", "errors"
        );
        let none = Step::default();
        for name in steps {
            let step = self.steps.get(name).unwrap_or(&none);
            // Writing to a string does not fail.
            let _written = writeln!(
                table,
                "{name:width$} {:>7} {:>8.1} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}",
                step.elapsed.len(),
                step.mean(),
                step.quantile(50),
                step.quantile(95),
                step.quantile(99),
                step.quantile(0),
                step.quantile(100),
                step.errors
            );
        }
        table
    }

    /// Why requests failed, the most frequent reasons first.
    pub fn failures(&self) -> Vec<String> {
        let mut reasons: Vec<(&String, &usize)> = self.reasons.iter().collect();
        reasons.sort_by_key(|(_, times)| std::cmp::Reverse(**times));
        let shown = reasons.iter().take(SHOWN);
        shown
            .map(|(why, times)| format!("{times} × {why}"))
            .collect()
    }
}

impl Step {
    fn mean(&self) -> f64 {
        let count = self.elapsed.len().max(1);
        self.elapsed.iter().sum::<u64>() as f64 / count as f64
    }

    /// The smallest time that this share of the requests, in percent, does not exceed.
    fn quantile(&self, percent: usize) -> u64 {
        let rank = (self.elapsed.len() * percent).div_ceil(100);
        let at = rank.saturating_sub(1);
        self.elapsed.get(at).copied().unwrap_or_default()
    }
}

/// The rows of a CSV text (RFC 4180 §2): a cell in quotes may have commas, line breaks and doubled quotes.
fn rows(text: &str) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut row = Vec::new();
    let mut cell = String::new();
    let mut is_quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(one) = characters.next() {
        match (one, is_quoted) {
            ('"', true) if characters.next_if_eq(&'"').is_some() => cell.push('"'),
            ('"', _) => is_quoted = !is_quoted,
            (',', false) => row.push(std::mem::take(&mut cell)),
            ('\n', false) => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            ('\r', false) => {}
            (one, _) => cell.push(one),
        }
    }
    if !row.is_empty() || !cell.is_empty() {
        row.push(cell);
        rows.push(row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str =
        "timeStamp,elapsed,label,responseCode,responseMessage,success,failureMessage\n";

    fn steps(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_cell_in_quotes_has_commas_quotes_and_line_breaks() {
        let rows = rows("a,\"b,\"\"c\"\"\nd\",\r\n,x\nlast");
        let expected: [&[&str]; 3] = [&["a", "b,\"c\"\nd", ""], &["", "x"], &["last"]];
        assert_eq!(rows, expected);
        assert!(super::rows("").is_empty());
    }

    #[test]
    fn each_step_has_its_times_and_its_errors() {
        let mut text = HEADER.to_owned();
        for elapsed in (1..=100).rev() {
            text.push_str(&format!("0,{elapsed},ask,200,OK,true,\n"));
        }
        text.push_str("0,7,send,403,Forbidden,false,\"not ready, yet\"\n");
        text.push_str("0,9,send,403,Forbidden,false,\"not ready, yet\"\n");
        let results = Results::read(&text).unwrap();
        assert_eq!((results.count(), results.errors()), (102, 2));
        assert_eq!(results.count_of("ask"), 100);
        let table = results.table(&steps(&["send", "ask", "keep"]));
        let lines: Vec<Vec<&str>> = table
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        let expected = [
            &["send", "2", "8.0", "7", "9", "9", "7", "9", "2"],
            &["ask", "100", "50.5", "50", "95", "99", "1", "100", "0"],
            &["keep", "0", "0.0", "0", "0", "0", "0", "0", "0"],
        ];
        assert_eq!(lines[1..], expected);
        assert_eq!(
            results.failures(),
            ["2 × send: 403 Forbidden not ready, yet"]
        );
    }

    #[test]
    fn results_that_are_cut_off_or_of_another_kind_are_refused() {
        let text = format!("{HEADER}0,1,ask,200,OK,true,\n0,1,as");
        assert!(Results::read(&text).unwrap_err().contains("line 3"));
        let text = format!("{HEADER}0,soon,ask,200,OK,true,\n");
        assert!(Results::read(&text).unwrap_err().contains("no number"));
        assert!(Results::read("a,b\n").unwrap_err().contains("label"));
        assert!(Results::read("").is_err());
        assert_eq!(Results::read(HEADER).unwrap().count(), 0);
    }
}
