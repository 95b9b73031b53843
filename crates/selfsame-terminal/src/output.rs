//! What a command prints: the only place of the product that writes to the terminal.

use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

/// Whether some output was lost.
static LOST: AtomicBool = AtomicBool::new(false);

/// Prints a line on standard output. A closed pipe is not an error; any other error is reported once, and
/// [`is_complete`] remembers it.
pub fn say(line: &str) {
    if let Err(error) = written(writeln!(io::stdout(), "{line}"))
        && !LOST.swap(true, Ordering::Relaxed)
    {
        complain(&format!("selfsame: standard output: {error}"));
    }
}

/// Whether all output could be written.
pub fn is_complete() -> bool {
    !LOST.load(Ordering::Relaxed)
}

fn written(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Whether lines on standard error are for programs.
static IN_JSON: AtomicBool = AtomicBool::new(false);

/// Switches standard error to one JSON object a line, as in the log.
pub fn complain_in_json() {
    IN_JSON.store(true, Ordering::Relaxed);
}

/// Prints a line on standard error.
pub fn complain(line: &str) {
    let _ = match IN_JSON.load(Ordering::Relaxed) {
        true => writeln!(io::stderr(), "{}", serde_json::json!({ "message": line })),
        false => writeln!(io::stderr(), "{line}"),
    };
}

/// Standard output for bytes that a command relays unchanged.
pub fn relayed() -> tokio::io::Stdout {
    tokio::io::stdout()
}

/// Standard error for the lines of the log.
pub(crate) fn logged() -> io::Stderr {
    io::stderr()
}

/// Prints a value as one JSON object.
pub fn json<T: Serialize>(value: &T) {
    match serde_json::to_string(value) {
        Ok(text) => say(&text),
        Err(error) => complain(&format!("selfsame: can't write this as JSON: {error}")),
    }
}

/// Prints a value as JSON if asked to, otherwise these lines.
pub fn either<T: Serialize>(as_json: bool, value: &T, lines: impl FnOnce(&T) -> Vec<String>) {
    if as_json {
        json(value);
    } else {
        for line in lines(value) {
            say(&line);
        }
    }
}

/// One rule of a verdict.
pub struct RuleLine<'a> {
    /// The rule's name.
    pub name: &'a str,
    /// Whether it is met; `None` if it was not checked.
    pub passed: Option<bool>,
    /// What was found.
    pub detail: &'a str,
    /// The paragraph of the specification.
    pub paragraph: &'a str,
}

/// The lines of a table: each rule, its result, its detail, and its paragraph.
pub fn rule_lines<'a>(rules: impl Iterator<Item = RuleLine<'a>> + Clone) -> Vec<String> {
    let name = width(rules.clone().map(|rule| rule.name));
    let paragraph = width(rules.clone().map(|rule| rule.paragraph));
    let line = |rule: RuleLine<'_>| {
        let mark = rule
            .passed
            .map_or("–", |passed| if passed { "✓" } else { "✗" });
        let line = format!(
            "  {mark} {:name$}  {:paragraph$}  {}",
            rule.name, rule.paragraph, rule.detail
        );
        line.trim_end().to_owned()
    };
    rules.map(line).collect()
}

fn width<'a>(texts: impl Iterator<Item = &'a str>) -> usize {
    texts.map(|text| text.chars().count()).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_has_gone_is_no_error_and_a_full_disk_is() {
        assert!(written(Err(ErrorKind::BrokenPipe.into())).is_ok());
        assert!(written(Err(ErrorKind::StorageFull.into())).is_err());
    }
}
