use serde::Deserialize;

use super::*;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Sample {
    limits: Limits,
    trust: Trust,
    database: Option<Database>,
    nodes: Vec<Database>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Limits {
    connections: usize,
    streams: usize,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Trust {
    issuers: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only what can be read counts here")]
struct Database {
    url: String,
    connections: Option<usize>,
}

fn faults(text: &str) -> Vec<(Option<usize>, String)> {
    let faults = SettingsDocument::of(text).faults::<Sample>();
    let faults = faults.into_iter();
    faults.map(|fault| (fault.line, fault.setting)).collect()
}

fn at(line: usize, setting: &str) -> (Option<usize>, String) {
    (Some(line), setting.to_owned())
}

#[test]
fn a_file_without_fault_has_none_and_tells_its_settings_with_their_lines() {
    let text = "[limits]\nstreams = 1\n\n[trust]\nissuers = [\n  \"did:web:a\",\n]\n[[nodes]]\nurl = \"https://a\"\n";
    let document = SettingsDocument::of(text);
    assert_eq!(document.faults::<Sample>(), []);
    let told: Vec<_> = document
        .settings()
        .into_iter()
        .map(|named| (named.line, named.setting, named.path))
        .collect();
    let named = |line, setting: &str, path: &str| (line, setting.to_owned(), path.to_owned());
    assert_eq!(
        told,
        [
            named(2, "[limits] streams", "limits.streams"),
            named(5, "[trust] issuers", "trust.issuers"),
            named(9, "[[nodes]] url", "nodes.url"),
        ]
    );
}

#[test]
fn every_wrong_line_is_found_not_only_the_first() {
    let text = "[limits]\nconnections = \"many\"\nsteams = 2\nstreams = 3\n\
                [trust]\nissuers = \"did:web:a\"\n[colours]\nsky = \"blue\"\n\
                [[nodes]]\nurl = \"https://a\"\n[[nodes]]\nurl = 5\nport = 1\n";
    assert_eq!(
        faults(text),
        [
            at(2, "[limits] connections"),
            at(3, "[limits] steams"),
            at(6, "[trust] issuers"),
            at(7, "[colours]"),
            at(12, "[[nodes]] url"),
            at(13, "[[nodes]] port"),
        ]
    );
}

#[test]
fn a_section_that_lacks_a_setting_is_named_and_a_wrong_setting_is_not_missed_too() {
    assert_eq!(
        faults("[database]\nconnections = 1\n"),
        [at(1, "[database]")]
    );
    assert_eq!(faults("\n[database]\nurl = 1\n"), [at(3, "[database] url")]);
}

#[test]
fn lines_that_are_no_toml_are_found_and_bound() {
    let told = faults("[limits]\nstreams = \n[trust\n");
    assert!(told.len() >= 2, "{told:?}");
    let lines = told.iter().map(|(line, _)| *line);
    assert!(
        lines.clone().all(|line| line == Some(2) || line == Some(3)),
        "{told:?}"
    );
    let many = "= 1\n".repeat(10_000);
    assert!(faults(&many).len() <= 100);
    let many: String = (0..1_000)
        .map(|number| format!("a{number} = 1\n"))
        .collect();
    assert!(faults(&many).len() <= 100);
}

#[test]
fn a_message_of_a_use_case_is_found_by_its_setting_or_by_the_value_that_it_shows() {
    let text = "[limits]\nstreams = 0\n[trust]\nissuers = [\n \"did:web:a.example\",\n \"http:b.example\"]\n";
    let document = SettingsDocument::of(text);
    let told = document.located("[limits] streams: 0", Some("from 1 to 9"));
    assert_eq!((told.line, told.message.as_str()), (Some(2), "0"));
    assert_eq!(told.remedy, "from 1 to 9");
    let told = document.located("/etc/selfsame/http:b.example: no such file", None);
    assert_eq!(told.setting, "[trust] issuers");
    let told = document.located("the machine is out of paper", None);
    assert_eq!((told.line, told.setting.as_str()), (None, ""));
}
