//! The AnonCreds command line, run as in its transcript, revocation included.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// Files first, each after `-- NAME --`; then `-- session --`: commands after `$ `, the lines they print, and `? CODE`
/// for an exit code other than 0. `< FILE` and `> FILE` redirect; `...` stands for any lines, `[..]` for any text.
const TRANSCRIPT: &str = include_str!("anoncreds.transcript");
/// A transcript of typical mistakes, with the samples of `vectors/anoncreds` as files, by their paths there.
const WRONG: &str = include_str!("anoncreds-wrong.transcript");
const GUIDE: &str = include_str!("../../../docs/anoncreds.md");

struct Exchange<'a> {
    command: &'a str,
    output: Vec<&'a str>,
    code: i32,
}

#[test]
fn the_command_line_goes_from_a_schema_to_a_refused_credential() {
    walk(TRANSCRIPT, tempfile::tempdir().unwrap().path());
}

#[test]
fn whatever_is_wrong_is_named_with_what_to_do_about_it() {
    let folder = tempfile::tempdir().unwrap();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/anoncreds");
    for kind in [".", "legacy", "presentations", "qualified"] {
        std::fs::create_dir_all(folder.path().join(kind)).unwrap();
        for sample in std::fs::read_dir(samples.join(kind)).unwrap() {
            let sample = sample.unwrap();
            if sample.file_type().unwrap().is_file() {
                let place = folder.path().join(kind).join(sample.file_name());
                std::fs::copy(sample.path(), place).unwrap();
            }
        }
    }
    let legacy = folder.path().join("legacy");
    let credential = std::fs::read(legacy.join("credential.json")).unwrap();
    let mut moved: serde_json::Value = serde_json::from_slice(&credential).unwrap();
    let place = &mut moved["signature"]["r_credential"]["i"];
    *place = (place.as_u64().unwrap() + 1).into();
    std::fs::write(legacy.join("credential.moved.json"), moved.to_string()).unwrap();
    walk(WRONG, folder.path());
}

#[test]
fn the_guide_shows_the_commands_of_the_transcript() {
    let shown: Vec<&str> = GUIDE
        .lines()
        .filter_map(|line| line.strip_prefix("    selfsame anoncreds "))
        .collect();
    assert!(shown.len() > 10, "{shown:?}");
    for command in shown {
        let line = format!("$ selfsame anoncreds {command}");
        assert!(TRANSCRIPT.lines().any(|other| other == line), "{command}");
    }
}

/// Writes the transcript's files into the folder and runs each of its steps there.
fn walk(transcript: &str, folder: &Path) {
    let mut files = files(transcript);
    let session = files.remove("session").expect("a session");
    for (name, text) in files {
        std::fs::write(folder.join(name), text).unwrap();
    }
    for exchange in exchanges(&session) {
        let (code, printed, complaints) = run(exchange.command, folder);
        let lines: Vec<&str> = printed.lines().chain(complaints.lines()).collect();
        assert_eq!(
            code, exchange.code,
            "{}\n{printed}{complaints}",
            exchange.command
        );
        assert!(
            lines_match(&exchange.output, &lines),
            "{}\nexpected:\n{}\nprinted:\n{}",
            exchange.command,
            exchange.output.join("\n"),
            lines.join("\n")
        );
    }
}

/// The texts of the transcript by name.
fn files(transcript: &str) -> BTreeMap<&str, String> {
    let mut files: BTreeMap<&str, String> = BTreeMap::new();
    let mut name = None;
    for line in transcript.lines() {
        let header = line
            .strip_prefix("-- ")
            .and_then(|rest| rest.strip_suffix(" --"));
        if let Some(header) = header {
            name = Some(header);
        } else if let Some(name) = name {
            let text = files.entry(name).or_default();
            text.push_str(line);
            text.push('\n');
        }
    }
    files
}

fn exchanges(session: &str) -> Vec<Exchange<'_>> {
    let mut exchanges: Vec<Exchange<'_>> = Vec::new();
    for line in session.lines().filter(|line| !line.starts_with('#')) {
        if let Some(command) = line.strip_prefix("$ ") {
            exchanges.push(Exchange {
                command,
                output: Vec::new(),
                code: 0,
            });
            continue;
        }
        let exchange = exchanges
            .last_mut()
            .expect("a session begins with a command");
        match line.strip_prefix("? ") {
            Some(code) => exchange.code = code.parse().expect("an exit code"),
            None => exchange.output.push(line),
        }
    }
    exchanges
}

/// Runs a command in this folder; returns its exit code, standard output and standard error.
fn run(line: &str, folder: &Path) -> (i32, String, String) {
    let words = words(line);
    let (mut arguments, mut input, mut output) = (Vec::new(), None, None);
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "<" => input = words.next(),
            ">" => output = words.next(),
            _ => arguments.push(word),
        }
    }
    assert_eq!(arguments.remove(0), "selfsame", "{line}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_selfsame"));
    command
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null());
    if let Some(file) = input {
        command.stdin(std::fs::File::open(folder.join(file)).unwrap());
    }
    let done = command.output().unwrap();
    let mut printed = String::from_utf8(done.stdout).unwrap();
    if let Some(file) = output {
        std::fs::write(folder.join(file), &printed).unwrap();
        printed.clear();
    }
    (
        done.status.code().unwrap_or(-1),
        printed,
        String::from_utf8(done.stderr).unwrap(),
    )
}

/// Words between spaces; single quotes group words.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (number, part) in line.split('\'').enumerate() {
        if number % 2 == 1 {
            words.last_mut().unwrap().push_str(part);
            continue;
        }
        let mut pieces = part.split(' ');
        words
            .last_mut()
            .unwrap()
            .push_str(pieces.next().unwrap_or(""));
        words.extend(pieces.map(str::to_owned));
    }
    words.retain(|word| !word.is_empty());
    words
}

fn lines_match(expected: &[&str], actual: &[&str]) -> bool {
    match (expected.split_first(), actual.split_first()) {
        (None, None) => true,
        (Some((&"...", rest)), None) => lines_match(rest, actual),
        (Some((&"...", rest)), Some((_, later))) => {
            lines_match(rest, actual) || lines_match(expected, later)
        }
        (Some((line, rest)), Some((first, later))) => {
            line_matches(line, first) && lines_match(rest, later)
        }
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// Runs of spaces count as one.
fn line_matches(expected: &str, actual: &str) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (expected, actual) = (words(expected), words(actual));
    match expected.split_once("[..]") {
        None => expected == actual,
        Some((head, tail)) => {
            actual.len() >= head.len() + tail.len()
                && actual.starts_with(head)
                && actual.ends_with(tail)
        }
    }
}
