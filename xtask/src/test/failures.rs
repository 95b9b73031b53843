//! What test executables print about failures, kept so that the end of a long run repeats it.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

/// How much of one block is repeated; the whole stands where the executable printed it.
const BLOCK_LINES: usize = 80;
/// How much is repeated of a command that printed no block of failures.
const TAIL_LINES: usize = 40;

/// Whether a step passed, and what it told about its failures.
#[derive(Debug, PartialEq)]
pub struct Outcome {
    pub passed: bool,
    pub failures: Vec<String>,
}

impl From<bool> for Outcome {
    fn from(passed: bool) -> Self {
        Self {
            passed,
            failures: Vec::new(),
        }
    }
}

impl Outcome {
    /// The outcome of a command that printed this text.
    pub fn of(passed: bool, text: &str) -> Self {
        let mut reader = Reader::default();
        text.lines().for_each(|line| reader.read(line));
        reader.end(passed)
    }

    /// Runs the command, prints what it prints, and keeps what it tells about failures.
    pub fn run(mut command: Command) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("cargo: {error}");
        let mut child = command.stdout(Stdio::piped()).spawn().map_err(failed)?;
        let mut reader = Reader::default();
        let mut printed = BufReader::new(child.stdout.take().ok_or("cargo: no standard output")?);
        let mut line = Vec::new();
        while printed.read_until(b'\n', &mut line).map_err(failed)? > 0 {
            let text = String::from_utf8_lossy(&line);
            print!("{text}");
            reader.read(text.trim_end_matches('\n'));
            line.clear();
        }
        let status = child.wait().map_err(failed)?;
        Ok(reader.end(status.success()))
    }

    /// Adds the outcome of another lane of the same step.
    pub fn add(&mut self, other: Self) {
        self.passed &= other.passed;
        self.failures.extend(other.failures);
    }
}

/// Prints what the steps told about failures, and the steps' names: the last lines of a long log are read first.
pub fn repeat(failures: &[String], steps: &[&str]) {
    for told in failures {
        println!("==> what failed\n{told}");
    }
    println!("==> failed: {}", steps.join(", "));
}

/// Reads what test executables print, line by line.
#[derive(Default)]
struct Reader {
    blocks: Vec<Vec<String>>,
    in_block: bool,
    tail: VecDeque<String>,
}

impl Reader {
    fn read(&mut self, line: &str) {
        if self.tail.len() == TAIL_LINES {
            self.tail.pop_front();
        }
        self.tail.push_back(line.to_owned());
        if line == "failures:" && !self.in_block {
            self.in_block = true;
            self.blocks.push(Vec::new());
        }
        if let (true, Some(block)) = (self.in_block, self.blocks.last_mut()) {
            block.push(line.to_owned());
            self.in_block = !line.starts_with("test result: ");
        }
    }

    fn end(self, passed: bool) -> Outcome {
        let mut failures: Vec<String> = self.blocks.iter().map(|block| shortened(block)).collect();
        if !passed && failures.is_empty() {
            failures.push(Vec::from(self.tail).join("\n"));
        }
        Outcome { passed, failures }
    }
}

/// The first and the last lines of the block.
fn shortened(block: &[String]) -> String {
    if block.len() <= BLOCK_LINES {
        return block.join("\n");
    }
    let (first, last) = (
        &block[..BLOCK_LINES / 2],
        &block[block.len() - BLOCK_LINES / 2..],
    );
    format!("{}\n…\n{}", first.join("\n"), last.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\
running 2 tests
test a ... ok
test b ... FAILED

failures:

---- b stdout ----
thread 'b' panicked at src/lib.rs:1:1:
1 is not 2

failures:
    b

test result: FAILED. 1 passed; 1 failed

running 1 test
test c ... ok

test result: ok. 1 passed; 0 failed
";

    #[test]
    fn the_block_of_failures_of_each_executable_is_kept() {
        let twice = format!("{PRINTED}{PRINTED}");
        let outcome = Outcome::of(false, &twice);
        assert!(!outcome.passed);
        assert_eq!(outcome.failures.len(), 2);
        for block in &outcome.failures {
            assert!(block.contains("1 is not 2"), "{block}");
            assert!(block.ends_with("1 passed; 1 failed"), "{block}");
            assert!(!block.contains("test c"), "{block}");
        }
    }

    #[test]
    fn a_command_that_fails_without_tests_shows_its_last_lines() {
        let lines: String = (0..100).map(|line| format!("line {line}\n")).collect();
        let outcome = Outcome::of(false, &lines);
        assert_eq!(outcome.failures.len(), 1);
        assert!(outcome.failures[0].starts_with("line 60\n"));
        assert!(outcome.failures[0].ends_with("line 99"));
        assert_eq!(Outcome::of(true, &lines), true.into());
    }

    #[test]
    fn a_command_s_output_is_read_while_it_runs() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo failures:; echo why; echo; exit 1"]);
        let outcome = Outcome::run(command).unwrap();
        assert!(!outcome.passed);
        assert_eq!(outcome.failures, ["failures:\nwhy\n"]);
    }

    #[test]
    fn a_long_block_is_shortened_in_its_middle() {
        let lines: Vec<String> = (0..200).map(|line| format!("line {line}")).collect();
        let text = shortened(&lines);
        assert!(text.contains("line 39\n…\nline 160"), "{text}");
    }
}
