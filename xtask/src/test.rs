//! `cargo xtask test`: every check that must pass before a change is accepted, step by step.

mod choice;
mod environment;
mod failures;
mod lanes;

use std::{fs, time::Instant};

use crate::{
    aries, askar, axe,
    changed::{
        self, alone,
        plan::{Part, Scope},
        reach::UNIT,
    },
    clients, collector, didcomm, engine, integrity, machine, mail, mdoc, openssl, oracle, package,
    pebble, peer, second, tidy, webvh,
    workspace::root,
};
use choice::Choice;
use environment::cargo_with;
use failures::Outcome;
use lanes::{Lanes, Lints, Running};

/// What a step does.
enum Task {
    /// One of our own functions.
    Ours(fn(&Scope) -> Result<bool, String>),
    /// Checks and installs what the machine must have.
    Machine,
    /// Cargo with these arguments.
    Cargo(&'static [&'static str]),
    /// The same, and where tests run too, beside them at the lowest priority: they leave the machine idle half of the
    /// time.
    Lint(&'static [&'static str]),
    /// The main test run, by cargo with these arguments.
    Tests(&'static [&'static str]),
}

/// Which changes a step is for.
enum When {
    Always,
    /// Packages, or their tests, may compile differently.
    Linted,
    Documented,
    /// Some tests may give another result.
    Tested,
    /// These suites may; see `changed::readers` for their names.
    Suites(&'static [&'static str]),
}

struct Step {
    name: &'static str,
    purpose: &'static str,
    when: When,
    task: Task,
}

/// Cheap steps come first. Every step that compiles uses one profile.
const STEPS: &[Step] = &[
    Step {
        name: "tidy",
        purpose: "layers, sizes, documents",
        when: When::Always,
        task: Task::Ours(|_| tidy::run("")),
    },
    Step {
        name: "fmt",
        purpose: "formatting",
        when: When::Always,
        task: Task::Cargo(&["fmt", "--all", "--check"]),
    },
    Step {
        name: "machine",
        purpose: "a C compiler, Chromium and its driver, Java, PostgreSQL with Patroni, SoftHSM, OpenSSL with what the TLS bench does with it",
        when: When::Suites(&[
            BROWSER,
            BENCH,
            "selfsame-tls",
            "selfsame-pkcs11",
            "selfsame-postgres",
            "selfsame-terminal",
            "selfsame/clocks",
            "selfsame/e2e",
            "selfsame/patroni",
            "selfsame/sign_in",
        ]),
        task: Task::Machine,
    },
    Step {
        name: "engine",
        purpose: "CometBFT, built with Go where it is missing",
        when: When::Suites(&["selfsame/network", "selfsame-abci", "selfsame-tls"]),
        task: Task::Ours(|_| engine::prepare()),
    },
    Step {
        name: "collector",
        purpose: "the OpenTelemetry Collector, built with Go where it is missing",
        when: When::Suites(&["selfsame/e2e"]),
        task: Task::Ours(|_| collector::prepare()),
    },
    Step {
        name: "pebble",
        purpose: "Pebble, a server of ACME, built with Go where it is missing",
        when: When::Suites(&["selfsame-acme", "selfsame/e2e"]),
        task: Task::Ours(|_| pebble::prepare()),
    },
    Step {
        name: "clippy",
        purpose: "lints, warnings denied, of all targets; the build of the tests denies them for what it compiles",
        when: When::Linted,
        task: Task::Lint(&[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "--deny",
            "warnings",
        ]),
    },
    Step {
        name: "doc",
        purpose: "the documentation builds, warnings denied",
        when: When::Documented,
        task: Task::Lint(&[
            "doc",
            "--workspace",
            "--no-deps",
            "--document-private-items",
        ]),
    },
    Step {
        name: "test",
        purpose: "every test, those that need Chromium too",
        when: When::Tested,
        task: Task::Tests(TEST),
    },
    Step {
        name: "axe",
        purpose: "the pages of a sign-in checked with axe-core in Chromium",
        when: When::Suites(&[BROWSER]),
        task: Task::Ours(|_| axe::check()),
    },
    Step {
        name: "npm",
        purpose: "OpenID4VC crossed with packages of Node.js",
        when: When::Suites(&["selfsame/openid4vc"]),
        task: Task::Ours(|_| peer::cross()),
    },
    Step {
        name: "clients",
        purpose: "clients in TypeScript and Python, made of the OpenAPI document",
        when: When::Suites(&["selfsame/clients"]),
        task: Task::Ours(|_| clients::cross()),
    },
    Step {
        name: "mail",
        purpose: "mail handed to a mail server in Python",
        when: When::Suites(&["selfsame-net/mail"]),
        task: Task::Ours(|_| mail::cross()),
    },
    Step {
        name: "oracle",
        purpose: "AnonCreds, SD-JWT VCs, mdocs, Data Integrity proofs, logs of DIDs, DIDComm and Askar's wallets crossed with published libraries, agents with ACA-Py, TLS with its second implementation",
        when: When::Suites(&[
            "selfsame/aries",
            "selfsame-anoncreds",
            "selfsame-askar",
            "selfsame-credential",
            "selfsame-data-integrity",
            "selfsame-didcomm",
            "selfsame-mdoc",
            "selfsame-moving",
            "selfsame-tls",
            "selfsame-webvh",
        ]),
        task: Task::Ours(cross),
    },
];

/// The names of all steps.
fn step_names() -> impl Iterator<Item = &'static str> {
    STEPS.iter().map(|step| step.name)
}

/// The main test run. Tests that need packages of Python or Node.js have steps of their own, and `wheel::`, `python::`
/// or `npm::` in their names. The siege and the relying parties made by others have their own commands. A vector that
/// the run itself wrote anew would check nothing.
const TEST: &[&str] = &[
    "test",
    "--workspace",
    // One run tells everything that fails.
    "--no-fail-fast",
    "--",
    "--include-ignored",
    "--skip",
    "wheel::",
    "--skip",
    "python::",
    "--skip",
    "npm::",
    "--skip",
    "relying_party::",
    "--skip",
    "siege::",
    "--skip",
    "write_the_vector",
    "--skip",
    "write_the_description",
    "--skip",
    "specification_s_own_tests",
];
/// The folder of the tests that need Chromium. Each has the text below in the attribute that makes plain `cargo test`
/// ignore it.
const BROWSER_TESTS: &str = "crates/selfsame/tests/browser";
const NEEDS_CHROMIUM: &str = "needs Chromium";
const BROWSER: &str = "selfsame/browser";
/// Runs the bench's end with OpenSSL.
const BENCH: &str = "selfsame/bench";

/// Runs the chosen steps and returns whether all passed. A failure before the tests stops the run; the tests, and the
/// steps after them, all run, so that one run tells everything that fails.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let choice = Choice::parse(arguments)?;
    if choice.help {
        print_help();
        return Ok(true);
    }
    let scope = match choice.changed {
        true => changed::scope(choice.since.as_deref())?,
        false => Scope::Everything,
    };
    let chosen: Vec<&Step> = STEPS
        .iter()
        .filter(|step| choice.wants(step.name) && step.is_for(&scope))
        .filter(|step| !choice.leaves_out(step.name))
        .collect();
    if choice.changed {
        let names: Vec<&str> = chosen.iter().map(|step| step.name).collect();
        println!("steps: {}", names.join(" "));
    }
    let (beside, chosen) = beside(chosen);
    for step in &beside {
        println!("==> beside the tests, {}: {}", step.name, step.purpose);
    }
    let begin = clock();
    let mut failed = Vec::new();
    let mut failures = Vec::new();
    let mut tested = false;
    for (number, step) in (1..).zip(&chosen) {
        println!(
            "==> {number}/{} {}: {}",
            chosen.len(),
            step.name,
            step.purpose
        );
        let start = clock();
        let beside = match step.task {
            Task::Tests(_) => &beside[..],
            _ => &[],
        };
        tested |= matches!(step.task, Task::Tests(_));
        let outcome = perform(step, beside, &choice, &scope)?;
        if !outcome.passed {
            failures.extend(outcome.failures);
            println!(
                "==> {} failed after {} s",
                step.name,
                start.elapsed().as_secs()
            );
            println!("    again, alone: {}", choice.again(step.name));
            failed.push(step.name);
            if !tested {
                break;
            }
            continue;
        }
        println!("    {} s", start.elapsed().as_secs());
    }
    if !failed.is_empty() {
        failures::repeat(&failures, &failed);
        return Ok(false);
    }
    println!(
        "==> all {} steps passed in {} s",
        chosen.len() + beside.len(),
        begin.elapsed().as_secs()
    );
    Ok(true)
}

/// The steps that run beside the tests, and the others. Without tests none runs beside them.
fn beside(chosen: Vec<&Step>) -> (Vec<&Step>, Vec<&Step>) {
    let has_tests = chosen
        .iter()
        .any(|step| matches!(step.task, Task::Tests(_)));
    let is_beside = |step: &&Step| has_tests && matches!(step.task, Task::Lint(_));
    chosen.into_iter().partition(is_beside)
}

fn perform(
    step: &Step,
    beside: &[&Step],
    choice: &Choice,
    scope: &Scope,
) -> Result<Outcome, String> {
    let arguments: Vec<String> = match (&step.task, &choice.cargo_test) {
        (Task::Ours(task), _) => return task(scope).map(Outcome::from),
        (Task::Machine, _) => {
            return prepare(!choice.skips("browser"), scope).map(Outcome::from);
        }
        (Task::Tests(_), Some(own)) => ["test".to_owned()].into_iter().chain(own.clone()).collect(),
        (Task::Tests(fixed), None) => return test(fixed, beside, choice, scope),
        (Task::Cargo(arguments) | Task::Lint(arguments), _) => words(arguments),
    };
    Outcome::run(cargo_with(&arguments))
}

fn words(arguments: &[&str]) -> Vec<String> {
    arguments.iter().map(|word| (*word).to_owned()).collect()
}

/// Builds the tests, then runs them in lanes, side by side, with the lints beside them.
fn test(
    fixed: &[&str],
    lints: &[&Step],
    choice: &Choice,
    scope: &Scope,
) -> Result<Outcome, String> {
    let mut build = test_arguments(fixed, choice, scope)?;
    build.truncate(
        build
            .iter()
            .position(|word| word == "--")
            .unwrap_or(build.len()),
    );
    build.push("--no-run".to_owned());
    let built = Outcome::run(cargo_with(&build))?;
    if !built.passed {
        return Ok(built);
    }
    let lints = lints.iter().filter_map(|step| match step.task {
        Task::Lint(arguments) => Some(cargo_with(&words(arguments))),
        _ => None,
    });
    let lints = Lints::start(lints.collect());
    let lanes = Lanes::of(scope);
    let beside = match &lanes.beside {
        Some(beside) => Some(Running::start(cargo_with(&test_arguments(
            fixed, choice, beside,
        )?))?),
        None => None,
    };
    let mut outcome = match &lanes.main {
        Some(main) => Outcome::run(cargo_with(&test_arguments(fixed, choice, main)?))?,
        None => true.into(),
    };
    if let Some(beside) = beside {
        outcome.add(beside.end()?);
    }
    outcome.add(lints.end()?);
    if let Some(last) = &lanes.last {
        outcome.add(Outcome::run(cargo_with(&test_arguments(
            fixed, choice, last,
        )?))?);
    }
    Ok(outcome)
}

/// The arguments for cargo's main test run.
fn test_arguments(fixed: &[&str], choice: &Choice, scope: &Scope) -> Result<Vec<String>, String> {
    let (before, after) = fixed.split_at(fixed.iter().position(|word| *word == "--").unwrap_or(0));
    let mut arguments: Vec<String> = before.iter().map(|word| (*word).to_owned()).collect();
    if let Scope::Part(part) = scope {
        arguments.extend(targets(part));
        arguments.extend(["--config".to_owned(), alone::config(&part.suites)?]);
    }
    arguments.extend(after.iter().map(|word| (*word).to_owned()));
    if choice.skips("browser") {
        let skips = browser_tests()?.into_iter();
        arguments.extend(skips.flat_map(|name| ["--skip".to_owned(), name]));
    }
    Ok(arguments)
}

/// Which targets cargo builds: all, unless the names of those that a change reaches are enough. Features stay those of
/// the whole workspace, so that nothing is built a second time.
fn targets(part: &Part) -> Vec<String> {
    let suites = part.suites.named().unwrap_or_default();
    let mut targets = Vec::new();
    for suite in &suites {
        match *suite {
            UNIT => targets.extend(["--lib".to_owned(), "--bins".to_owned()]),
            suite => targets.extend(["--test".to_owned(), suite.to_owned()]),
        }
    }
    if !targets.is_empty() {
        // The networks' tests start an example.
        targets.push("--examples".to_owned());
    }
    targets
}

fn prepare(with_browser: bool, scope: &Scope) -> Result<bool, String> {
    machine::prepare(with_browser && scope.has(&[BROWSER]))?;
    match scope.has(&[BENCH]) {
        true => openssl::prepare().map(|()| true),
        false => Ok(true),
    }
}

/// Crosses with others those of our implementations that may have changed.
fn cross(scope: &Scope) -> Result<bool, String> {
    let mut passed = true;
    if scope.has(&["selfsame-tls"]) {
        passed &= second::cross()?;
    }
    if scope.has(&["selfsame-credential"]) {
        passed &= package::cross()?;
    }
    if scope.has(&["selfsame-askar", "selfsame-moving"]) {
        passed &= askar::cross()?;
    }
    if scope.has(&["selfsame-didcomm"]) {
        passed &= didcomm::cross()?;
    }
    if scope.has(&["selfsame-mdoc"]) {
        passed &= mdoc::cross()?;
    }
    if scope.has(&["selfsame-data-integrity"]) {
        passed &= integrity::cross()?;
    }
    if scope.has(&["selfsame-webvh"]) {
        passed &= webvh::cross()?;
    }
    if scope.has(&["selfsame/aries"]) {
        passed &= aries::cross_shortly()?;
    }
    if scope.has(&["selfsame-anoncreds"]) {
        passed &= oracle::cross(&oracle::Cross::default())?;
    }
    Ok(passed)
}

/// The names of the tests that need Chromium, each with its module.
fn browser_tests() -> Result<Vec<String>, String> {
    let folder = root().join(BROWSER_TESTS);
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if file.extension().is_none_or(|kind| kind != "rs") {
            continue;
        }
        let module = file.file_stem().and_then(|stem| stem.to_str());
        let module = module.unwrap_or_default();
        let text = fs::read_to_string(&file).map_err(failed)?;
        let tests = text.split(NEEDS_CHROMIUM).skip(1).filter_map(test_name);
        names.extend(tests.map(|name| format!("{module}::{name}")));
    }
    names.sort();
    Ok(names)
}

/// The name of the first function in the text.
fn test_name(text: &str) -> Option<&str> {
    let (_, after) = text.split_once("fn ")?;
    after.split_once('(').map(|(name, _)| name)
}

#[allow(
    clippy::disallowed_methods,
    reason = "how long a step took is for the reader alone"
)]
fn clock() -> Instant {
    Instant::now()
}

fn print_help() {
    println!("{USAGE}\nSteps:");
    for step in STEPS {
        println!("  {:8} {}", step.name, step.purpose);
    }
    println!("\nThe steps clippy and doc run with `--longer`, by name, or for a change.");
    println!("`--skip browser` leaves out Chromium and the tests that need it.");
    println!("\n{CHANGED}");
}

const USAGE: &str = "\
Usage: cargo xtask test [--longer] [--only STEP]... [--skip STEP]... [-- CARGO TEST ARGUMENTS]
       cargo xtask test --changed [--since REVISION] [--only STEP]... [--skip STEP]...
";
const CHANGED: &str = "\
`--changed` runs what a change can have broken: the tests of the packages that it touches and of
those that build on them, and the steps that they need. The change is what differs from the merge
base with main, or with REVISION: commits, files that are not committed, and new files. On main
itself, it is what is not committed, or else the last commit. The plan is printed first.

Example: cargo xtask test --changed
         cargo xtask test --changed --since HEAD~3 --skip browser";

impl Step {
    fn is_for(&self, scope: &Scope) -> bool {
        let Scope::Part(part) = scope else {
            return true;
        };
        match self.when {
            When::Always => true,
            When::Linted => !part.linted.is_empty(),
            When::Documented => !part.documented.is_empty(),
            When::Tested => !part.suites.is_empty(),
            When::Suites(suites) => scope.has(suites),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::changed::reach::Suites;

    use super::*;

    fn parse(line: &str) -> Result<Choice, String> {
        Choice::parse(
            &line
                .split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn all_steps_run_unless_some_are_chosen() {
        let all = parse("").unwrap();
        assert!(STEPS.iter().all(|step| all.wants(step.name)));
        let some = parse("--only tidy --only fmt").unwrap();
        let wanted: Vec<_> = STEPS
            .iter()
            .filter(|step| some.wants(step.name))
            .map(|step| step.name)
            .collect();
        assert_eq!(wanted, ["tidy", "fmt"]);
    }

    #[test]
    fn lints_of_all_targets_and_the_documentation_wait_for_a_longer_run() {
        let left_out = |line: &str| {
            let choice = parse(line).unwrap();
            ["clippy", "doc", "test", "oracle"].map(|step| choice.leaves_out(step))
        };
        assert_eq!(left_out(""), [true, true, false, false]);
        assert_eq!(left_out("--skip test"), [false, true, false, false]);
        for line in ["--longer", "--changed", "--only clippy --only doc"] {
            assert_eq!(left_out(line), [false; 4], "{line}");
        }
    }

    #[test]
    fn without_the_browser_its_tests_alone_are_left_out() {
        let choice = parse("--skip browser").unwrap();
        assert!(choice.wants("machine") && choice.wants("test"));
        let names = browser_tests().unwrap();
        let alone = names
            .iter()
            .find(|name| *name == "rig::the_keyboard_alone_is_enough");
        assert!(alone.is_some(), "{names:?}");
        // A test is skipped by its full name, so that no other test is skipped with it.
        for name in &names {
            let (module, test) = name.split_once("::").unwrap();
            assert!(!module.is_empty() && test.len() > 10, "{name}");
        }
        assert!(names.len() >= 18, "{names:?}");
    }

    #[test]
    fn packages_of_node_and_of_python_are_left_out_one_by_one() {
        let wants = |line: &str| ["npm", "oracle"].map(|step| parse(line).unwrap().wants(step));
        assert_eq!(wants("--skip npm"), [false, true]);
        assert_eq!(wants("--skip oracle"), [true, false]);
    }

    #[test]
    fn arguments_for_cargo_test_pass_through() {
        let choice = parse("--only test -- -p selfsame-did -- --nocapture").unwrap();
        assert_eq!(
            choice.cargo_test.unwrap(),
            ["-p", "selfsame-did", "--", "--nocapture"]
        );
    }

    /// The steps for a change that reaches these suites, and the code of these packages.
    fn steps(suites: &str, code: &[&str]) -> Vec<&'static str> {
        let code: BTreeSet<String> = code.iter().map(|name| (*name).to_owned()).collect();
        let scope = Scope::Part(Part {
            linted: code.clone(),
            documented: code,
            suites: Suites::parse(suites),
        });
        let steps = STEPS.iter().filter(|step| step.is_for(&scope));
        steps.map(|step| step.name).collect()
    }

    #[test]
    fn a_change_of_documents_alone_runs_the_cheap_steps() {
        assert_eq!(steps("", &[]), ["tidy", "fmt"]);
        assert_eq!(steps("selfsame/readme", &[]), ["tidy", "fmt", "test"]);
    }

    #[test]
    fn a_change_runs_the_steps_that_its_tests_need() {
        let code = steps("selfsame-net/* selfsame/*", &["selfsame-net", "selfsame"]);
        let all: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        assert_eq!(code, all);
        assert_eq!(steps("selfsame-store/files", &[]), ["tidy", "fmt", "test"]);
        assert_eq!(
            steps("selfsame-abci/network", &[]),
            ["tidy", "fmt", "engine", "test"]
        );
        assert_eq!(
            steps("selfsame-credential/package", &[]),
            ["tidy", "fmt", "test", "oracle"]
        );
        assert_eq!(
            steps("selfsame/openid4vc", &[]),
            ["tidy", "fmt", "test", "npm"]
        );
        assert_eq!(
            steps("selfsame/clients", &[]),
            ["tidy", "fmt", "test", "clients"]
        );
        assert_eq!(
            steps("selfsame/aries", &[]),
            ["tidy", "fmt", "test", "oracle"]
        );
        assert_eq!(
            steps("selfsame-tls/unit", &[]),
            ["tidy", "fmt", "machine", "engine", "test", "oracle"]
        );
    }

    #[test]
    fn without_a_change_every_step_runs() {
        assert!(STEPS.iter().all(|step| step.is_for(&Scope::Everything)));
    }

    #[test]
    fn a_few_suites_build_their_targets_alone() {
        let targets = |suites: &str| {
            let suites = Suites::parse(suites);
            targets(&Part {
                suites,
                ..Part::default()
            })
            .join(" ")
        };
        assert_eq!(targets("selfsame/readme"), "--test readme --examples");
        let two = targets("selfsame-did/unit selfsame/readme");
        assert_eq!(two, "--lib --bins --test readme --examples");
        assert_eq!(targets("selfsame-did/* selfsame/readme"), "");
        assert_eq!(targets("selfsame-tls-io/doc"), "");
    }

    #[test]
    fn cargo_tests_the_workspace_and_calls_xtask_for_each_executable() {
        let suites = Suites::parse("selfsame/readme");
        let scope = Scope::Part(Part {
            suites,
            ..Part::default()
        });
        let arguments = test_arguments(TEST, &parse("--changed").unwrap(), &scope).unwrap();
        let all = arguments.join(" ");
        let begin = "test --workspace --no-fail-fast --test readme --examples --config target.";
        assert!(all.starts_with(begin), "{all}");
        assert!(all.ends_with("-- --include-ignored --skip wheel:: --skip python:: --skip npm:: --skip relying_party:: --skip siege:: --skip write_the_vector --skip write_the_description --skip specification_s_own_tests"), "{all}");
    }

    #[test]
    fn a_change_is_compared_with_a_revision() {
        let choice = parse("--changed --since HEAD~3 --skip browser").unwrap();
        assert!(choice.changed && choice.skips("browser"));
        assert_eq!(choice.since.as_deref(), Some("HEAD~3"));
        assert_eq!(
            choice.again("clippy"),
            "cargo xtask test --changed --since HEAD~3 --only clippy"
        );
        assert!(parse("--since HEAD~3").is_err());
        assert!(parse("--changed --since").is_err());
        assert!(parse("--changed --since --only fmt").is_err());
        assert!(parse("--changed -- -p selfsame-did").is_err());
    }

    #[test]
    fn an_unknown_step_is_refused() {
        assert!(parse("--only nothing").is_err());
        assert!(parse("--only").is_err());
        assert!(parse("everything").is_err());
    }
}
