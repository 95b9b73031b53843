//! A trial of each benchmark prints exactly the figures that docs/benchmarks.md names: those of the short run, each
//! measured once and as short as it can be.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

use crate::postgres_server::Server;

#[path = "../../selfsame-postgres/tests/server/server.rs"]
mod postgres_server;

#[test]
fn a_trial_prints_every_figure_that_the_documentation_names() {
    let printed = printed("oid4vc");
    let mut documented = documented("oid4vc");
    // Without control groups the small device is not measured, and its figure says so.
    if printed.contains("small_device_cores") && !printed.contains("rss_mb_small") {
        documented.retain(|name| !name.ends_with("_small"));
    }
    assert_eq!(printed, documented);
}

#[test]
fn so_does_that_of_life() {
    assert_eq!(printed("life"), documented("life"));
}

#[test]
fn so_does_that_of_organisations() {
    assert_eq!(printed("organisations"), documented("organisations"));
}

#[test]
fn so_does_that_of_the_store_and_leaves_nothing_in_the_database() {
    let server = Server::start(&[]);
    let database = server.fresh();
    let arguments = ["--database", &database].map(OsStr::new);
    assert_eq!(printed_with("store", &arguments), documented("store"));
    server.execute(&database, NOTHING_LEFT);
}

#[test]
fn so_does_that_of_aries_with_two_of_each_agent_behind_nginx() {
    let server = Server::start(&[]);
    let database = server.fresh();
    let arguments = ["--database", &database].map(OsStr::new);
    assert_eq!(printed_with("aries", &arguments), documented("aries"));
    server.execute(&database, NOTHING_LEFT);
}

#[test]
fn so_does_that_of_sign_ins_and_sizes_follow_from_its_figures() {
    let server = Server::start(&["max_connections=200"]);
    let database = server.fresh();
    let arguments = ["--database", &database].map(OsStr::new);
    let report = report("signin", &arguments);
    assert_eq!(names(&report), documented("signin"));
    server.execute(&database, NOTHING_LEFT);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), report.to_string()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_selfsame"))
        .args(["size", "--people", "4000000", "--json", "--figures"])
        .arg(file.path())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(plan["sign_ins_s"], 111.1);
    assert!(plan["providers"]["cores"].as_u64() > Some(1), "{plan}");
}

#[test]
fn so_does_that_of_the_wallet_with_files_and_with_postgresql() {
    assert_eq!(printed("wallet"), documented("wallet"));
    let server = Server::start(&[]);
    let database = server.fresh();
    let arguments = ["--database", &database].map(OsStr::new);
    assert_eq!(printed_with("wallet", &arguments), documented("wallet"));
    server.execute(&database, NOTHING_LEFT);
}

#[test]
fn so_does_that_of_the_registry() {
    assert_eq!(printed("registry"), documented("registry"));
}

#[test]
#[expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "the test is told by its environment, and tells who runs it what it leaves out"
)]
fn so_does_that_of_tls() {
    let mut documented = documented("tls");
    // `cargo xtask test` builds the program; without it the benchmark has no figures for OpenSSL.
    let openssl = std::env::var_os("SELFSAME_OPENSSL_END");
    let arguments = match &openssl {
        Some(program) => vec![OsStr::new("--openssl"), program],
        None => {
            eprintln!("OpenSSL takes no part: SELFSAME_OPENSSL_END names no program");
            documented.retain(|name| !name.contains("openssl"));
            Vec::new()
        }
    };
    assert_eq!(printed_with("tls", &arguments), documented);
}

#[test]
fn what_is_interrupted_leaves_nothing_behind_and_ends_as_shells_count() {
    for (arguments, signal, code) in [
        (&["demo", "immunization"][..], "TERM", 143),
        (
            &["bench", "registry", "--quick", "--only", "embedded"][..],
            "INT",
            130,
        ),
    ] {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let scratch = tempfile::tempdir().unwrap();
        let is_empty = || scratch.path().read_dir().unwrap().next().is_none();
        let mut command = Command::new(env!("CARGO_BIN_EXE_selfsame"));
        command.args(arguments).env("TMPDIR", scratch.path());
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        while is_empty() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let told = Command::new("kill")
            .args(["-s", signal, &child.id().to_string()])
            .status();
        assert!(told.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(code), "{arguments:?}");
        assert!(is_empty(), "{arguments:?}");
    }
}

#[test]
fn where_no_page_can_be_written_nothing_is_measured() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("file");
    std::fs::write(&file, "").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_selfsame"))
        .args(["bench", "tls", "--quick", "--out"])
        .arg(file.join("report"))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(
        errors.contains("file/report") && errors.contains("--out"),
        "{errors}"
    );
}

/// Divides by zero if a schema of a benchmark is left.
const NOTHING_LEFT: &str = "SELECT 1 / (count(*) = 0)::int FROM information_schema.schemata
    WHERE schema_name LIKE 'bench%'";

/// Each benchmark needs the whole machine, or its servers time out.
static TURN: Mutex<()> = Mutex::new(());

fn printed(bench: &str) -> BTreeSet<String> {
    printed_with(bench, &[])
}

fn printed_with(bench: &str, arguments: &[&OsStr]) -> BTreeSet<String> {
    names(&report(bench, arguments))
}

fn report(bench: &str, arguments: &[&OsStr]) -> Value {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let output = Command::new(env!("CARGO_BIN_EXE_selfsame"))
        .args(["bench", bench, "--trial", "--json"])
        .args(arguments)
        .output()
        .unwrap();
    // Code 1 says that a bar was not kept, which is expected: the bars are for another build.
    let code = output.status.code();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(code, Some(0 | 1)), "{code:?}: {errors}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["bench"], bench);
    report
}

fn names(report: &Value) -> BTreeSet<String> {
    report["figures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|figure| figure["name"].as_str().unwrap().to_owned())
        .collect()
}

/// The parts of a credential's life in `life`, and the processes that are killed.
const LIVES: [&str; 4] = ["issuance", "presentations", "revocation", "whole"];
const ROLES: [&str; 4] = ["registry", "issuer", "wallet", "verifier"];

/// The calls of the scenario of `aries`.
const STEPS: [&str; 14] = [
    "01_issuer_invitation",
    "02_holder_receives_invitation",
    "03_holder_accepts",
    "04_issuer_issues",
    "05_holder_queries_credential",
    "06_holder_stores",
    "07_verifier_invitation",
    "08_holder_receives_invitation",
    "09_holder_accepts",
    "10_verifier_requests_proof",
    "11_holder_queries_requests",
    "12_holder_queries_credentials",
    "13_holder_sends_proof",
    "14_verifier_validates",
];

/// The names in the first column of the benchmark's tables, with `N` and `STEP` replaced as the row says.
fn documented(bench: &str) -> BTreeSet<String> {
    let page = include_str!("../../../docs/benchmarks.md");
    let section = page
        .split("\n## ")
        .find(|section| section.starts_with(bench))
        .unwrap();
    let is_row = |line: &&str| line.starts_with("| `") && !line.starts_with("| `--");
    let rows = section.lines().filter(is_row);
    rows.flat_map(|row| {
        let mut cells = row.split('|').skip(1);
        let (names, meaning) = (cells.next().unwrap(), cells.next().unwrap());
        let names = names.split('`').skip(1).step_by(2);
        names
            .flat_map(|name| {
                numbers(meaning)
                    .iter()
                    .map(move |count| numbered(name, count))
            })
            .flat_map(|name| stepped(&name))
            .collect::<Vec<_>>()
    })
    .collect()
}

/// The numbers that a row has for `N`, in the short run and so in a trial.
fn numbers(meaning: &str) -> &'static [&'static str] {
    match meaning {
        meaning if meaning.contains("N = 100, 400, 1,000") => &["100", "400", "1000"],
        meaning if meaning.contains("N = 20, 50, 100") => &["20", "50", "100"],
        meaning if meaning.contains("(with `--quick` 20, 120)") => &["20", "120"],
        _ => &["1", "10", "20", "30", "40"],
    }
}

fn numbered(name: &str, count: &str) -> String {
    let name = match name.strip_suffix("_N") {
        Some(before) => format!("{before}_{count}"),
        None => name.to_owned(),
    };
    name.replace("_N_", &format!("_{count}_"))
}

fn stepped(name: &str) -> Vec<String> {
    let ends: [(&str, &[&str]); 3] = [("_STEP", &STEPS), ("_PART", &LIVES), ("_PROCESS", &ROLES)];
    for (place, ends) in ends {
        if let Some(before) = name.strip_suffix(place) {
            return ends.iter().map(|end| format!("{before}_{end}")).collect();
        }
    }
    vec![name.to_owned()]
}
