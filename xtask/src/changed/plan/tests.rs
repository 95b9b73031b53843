use std::path::PathBuf;

use crate::{source::Source, workspace::Dependency};

use super::*;

fn package(name: &str, on: &[&str], tests_on: &[&str]) -> Package {
    let dependency = |name: &&str, kind: Option<&str>| Dependency {
        name: (*name).to_owned(),
        kind: kind.map(str::to_owned),
    };
    let on = on.iter().map(|name| dependency(name, None));
    let tests_on = tests_on.iter().map(|name| dependency(name, Some("dev")));
    Package {
        name: name.to_owned(),
        manifest_path: PathBuf::from("Cargo.toml"),
        dependencies: on.chain(tests_on).collect(),
        folder: format!("crates/{name}"),
    }
}

fn source(package: &str, inside: &str, text: &str) -> Source {
    let folder = format!("crates/{package}");
    Source::parse(package, &folder, &format!("{folder}/{inside}"), text).unwrap()
}

/// Three packages: the app builds on the base, and the base's tests use the kit, which builds on the base.
fn workspace() -> Workspace {
    let mut sources = vec![
        source("base", "src/lib.rs", "#[cfg(test)] mod tests;"),
        source("base", "src/tests.rs", ""),
        source("app", "src/lib.rs", ""),
        source("app", "tests/flows/main.rs", ""),
        source("app", "tests/files.rs", ""),
    ];
    crate::source::mark_tests(&mut sources);
    Workspace {
        root: PathBuf::new(),
        packages: vec![
            package("base", &[], &[]),
            package("app", &["base"], &["kit"]),
            package("kit", &[], &[]),
            package("top", &["app"], &[]),
        ],
        shared: Vec::new(),
        texts: Vec::new(),
        sources,
    }
}

fn part(files: &[&str]) -> Part {
    let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
    match plan(&files, &workspace()) {
        Scope::Part(part) => part,
        Scope::Everything => panic!("{files:?}: everything"),
    }
}

fn runs_everything(file: &str) -> bool {
    plan(&[file.to_owned()], &workspace()) == Scope::Everything
}

fn suites(files: &[&str]) -> String {
    part(files).suites.to_string()
}

fn names(names: &BTreeSet<String>) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

#[test]
fn who_builds_on_a_changed_package_is_tested_too() {
    let part = part(&["crates/base/src/lib.rs"]);
    assert_eq!(part.suites.to_string(), "app/* base/* top/*");
    assert_eq!(names(&part.linted), ["app", "base", "top"]);
    assert_eq!(names(&part.documented), ["app", "base", "top"]);
}

#[test]
fn a_package_that_uses_a_changed_one_in_tests_alone_is_tested_and_no_package_above_it() {
    let part = part(&["crates/kit/src/lib.rs"]);
    assert_eq!(part.suites.to_string(), "app/* kit/*");
    assert_eq!(names(&part.linted), ["app", "kit"]);
    assert_eq!(names(&part.documented), ["kit"]);
}

#[test]
fn tests_of_a_package_reach_no_package_above_it() {
    let part = part(&["crates/base/src/tests.rs"]);
    assert_eq!(part.suites.to_string(), "base/unit");
    assert_eq!(names(&part.linted), ["base"]);
    assert!(part.documented.is_empty());
}

#[test]
fn a_file_of_one_integration_test_runs_this_test_alone() {
    assert_eq!(suites(&["crates/app/tests/files.rs"]), "app/files");
    assert_eq!(suites(&["crates/app/tests/flows/more.rs"]), "app/flows");
}

#[test]
fn a_file_beside_integration_tests_runs_all_of_them() {
    assert_eq!(suites(&["crates/app/tests/support/http.rs"]), "app/*");
    assert_eq!(suites(&["crates/app/tests/files.transcript"]), "app/*");
}

#[test]
fn examples_and_benches_are_linted_and_run_no_test() {
    let part = part(&["crates/base/examples/one.rs", "crates/base/benches/two.rs"]);
    assert!(part.suites.is_empty());
    assert_eq!(names(&part.linted), ["base"]);
}

#[test]
fn a_manifest_and_a_template_count_as_code() {
    for file in [
        "Cargo.toml",
        "build.rs",
        "templates/home.html",
        "src/gone.rs",
    ] {
        assert_eq!(suites(&[&format!("crates/app/{file}")]), "app/* top/*");
    }
}

#[test]
fn documents_run_no_test_and_no_lint() {
    let files = [
        "docs/tls.md",
        "CHANGELOG.md",
        "crates/base/README.md",
        "fuzz/Cargo.toml",
    ];
    assert_eq!(part(&files), Part::default());
}

#[test]
fn the_readme_runs_the_test_that_executes_it() {
    let part = part(&["README.md"]);
    assert_eq!(part.suites.to_string(), "selfsame/readme");
    assert!(part.linted.is_empty());
    assert_eq!(part.suites.named(), Some(vec!["readme"]));
}

#[test]
fn vectors_run_the_tests_that_read_them() {
    let suites = suites(&["vectors/jose/jws.json"]);
    assert_eq!(suites, "selfsame-crypto/jws selfsame-crypto/keys");
}

#[test]
fn several_files_run_the_tests_of_each() {
    let files = ["README.md", "docs/tls.md", "crates/app/tests/files.rs"];
    assert_eq!(suites(&files), "app/files selfsame/readme");
    assert_eq!(suites(&[]), "");
}

#[test]
fn what_all_packages_are_built_with_runs_everything() {
    for file in [
        "Cargo.toml",
        "Cargo.lock",
        "rust-toolchain.toml",
        "xtask/src/test.rs",
    ] {
        assert!(runs_everything(file), "{file}");
    }
}

#[test]
fn a_file_that_no_rule_knows_runs_everything() {
    for file in [
        "new.txt",
        ".ci/run",
        "crates/new/src/lib.rs",
        "vectors/new/one.json",
    ] {
        assert!(runs_everything(file), "{file}");
    }
}

#[test]
fn a_step_is_for_the_suites_that_need_it() {
    let scope = |file: &str| plan(&[file.to_owned()], &workspace());
    let flows = scope("crates/app/tests/flows/main.rs");
    assert!(flows.has(&["app/flows"]) && flows.has(&["app"]));
    assert!(!flows.has(&["app/files"]) && !flows.has(&["base"]));
    let code = scope("crates/app/src/lib.rs");
    assert!(code.has(&["app/files"]) && code.has(&["other", "top"]));
    assert!(scope("Cargo.lock").has(&["whatever"]));
}
