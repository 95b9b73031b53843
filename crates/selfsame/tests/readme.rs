//! The README's terminal session, executed: the commands must print what it shows.

use std::process::Command;

const README: &str = include_str!("../../../README.md");

/// A command and the lines it should print.
#[derive(Debug, Eq, PartialEq)]
struct Exchange<'a> {
    command: &'a str,
    output: Vec<&'a str>,
}

/// The exchanges of the first `console` block of a text.
fn session(text: &str) -> Vec<Exchange<'_>> {
    let block = text
        .lines()
        .skip_while(|line| *line != "```console")
        .skip(1);
    let mut exchanges: Vec<Exchange<'_>> = Vec::new();
    for line in block.take_while(|line| *line != "```") {
        match (line.strip_prefix("$ "), exchanges.last_mut()) {
            (Some(command), _) => exchanges.push(Exchange {
                command,
                output: Vec::new(),
            }),
            (None, Some(exchange)) => exchange.output.push(line),
            (None, None) => panic!("a session begins with a command, not with {line:?}"),
        }
    }
    exchanges
}

/// Whether the lines are as expected; a line of `...` stands for any lines.
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

/// Whether the line is as expected; `[..]` stands for any text, and runs of spaces count as one.
fn line_matches(expected: &str, actual: &str) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (expected, actual) = (words(expected), words(actual));
    let Some((head, tail)) = expected.split_once("[..]") else {
        return expected == actual;
    };
    assert!(!tail.contains("[..]"), "one `[..]` a line is enough");
    actual.len() >= head.len() + tail.len() && actual.starts_with(head) && actual.ends_with(tail)
}

#[test]
fn the_session_of_the_readme_runs_as_it_is_written() {
    let exchanges = session(README);
    let length: usize = exchanges
        .iter()
        .map(|exchange| 1 + exchange.output.len())
        .sum();
    assert!(
        (2..=8).contains(&length),
        "{length} lines: a session of two to eight is read"
    );
    for Exchange {
        command,
        output: expected,
    } in exchanges
    {
        let mut words = command.split_whitespace();
        assert_eq!(words.next(), Some("selfsame"), "{command}");
        let run = Command::new(env!("CARGO_BIN_EXE_selfsame"))
            .args(words)
            .output()
            .expect("the binary");
        let printed = String::from_utf8_lossy(&run.stdout);
        let errors = String::from_utf8_lossy(&run.stderr);
        assert!(
            run.status.success(),
            "{command}: {}\n{printed}{errors}",
            run.status
        );
        let actual: Vec<&str> = printed.lines().collect();
        assert!(
            lines_match(&expected, &actual),
            "{command} printed\n{printed}\nnot\n{}",
            expected.join("\n")
        );
    }
}

#[test]
fn a_session_is_read_command_by_command() {
    let text = "text\n```console\n$ a b\none\ntwo\n$ c\n```\n```console\n$ d\n```\n";
    let first = Exchange {
        command: "a b",
        output: vec!["one", "two"],
    };
    assert_eq!(
        session(text),
        [
            first,
            Exchange {
                command: "c",
                output: vec![]
            }
        ]
    );
}

#[test]
fn wildcards_stand_for_what_they_say_and_no_more() {
    assert!(lines_match(&["a", "...", "z"], &["a", "b", "c", "z"]));
    assert!(lines_match(&["a", "...", "z"], &["a", "z"]));
    assert!(!lines_match(&["a", "...", "z"], &["a", "b"]));
    assert!(!lines_match(&["a"], &["a", "b"]));
    assert!(line_matches("  step [..] ms", "  step       0.12 ms"));
    assert!(!line_matches("  step [..] ms", "  other 0.12 ms"));
    assert!(!line_matches("aXa [..] aXa", "aXa"));
}
