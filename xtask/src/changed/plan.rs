//! What a change can have broken: decided from its files and from the packages' dependencies.

use std::{collections::BTreeSet, fmt};

use crate::workspace::{Package, Workspace};

use super::reach::{Reach, Suites, reach};

/// What has to run.
#[derive(Debug, PartialEq)]
pub enum Scope {
    Everything,
    Part(Part),
}

#[derive(Debug, Default, PartialEq)]
pub struct Part {
    /// Packages that may compile differently, or whose tests may.
    pub linted: BTreeSet<String>,
    /// Packages that may be documented differently.
    pub documented: BTreeSet<String>,
    /// Tests whose result may differ.
    pub suites: Suites,
}

/// What these changed files can have broken.
pub fn plan(files: &[String], workspace: &Workspace) -> Scope {
    let mut part = Part::default();
    let mut changed = BTreeSet::new();
    for file in files {
        match reach(file, workspace) {
            Reach::Everything(_) => return Scope::Everything,
            Reach::These(reached) => {
                changed.extend(reached.code);
                part.suites.join(reached.suites);
                part.linted.extend(reached.linted);
            }
        }
    }
    let (built, tested) = dependents(changed, &workspace.packages);
    for package in &tested {
        part.suites.add_all(package);
    }
    part.linted.extend(tested);
    part.documented = built;
    Scope::Part(part)
}

/// The packages that build on the changed ones, and those of which the tests do as well. No package builds on the tests
/// of another one, so a dependency of tests alone is the last step.
fn dependents(
    changed: BTreeSet<String>,
    packages: &[Package],
) -> (BTreeSet<String>, BTreeSet<String>) {
    let mut built = changed;
    loop {
        let more: Vec<String> = on_any(&built, packages, false)
            .filter(|name| !built.contains(name))
            .collect();
        if more.is_empty() {
            break;
        }
        built.extend(more);
    }
    let tested = on_any(&built, packages, true)
        .chain(built.clone())
        .collect();
    (built, tested)
}

/// The packages that depend on one of these, if asked with dependencies of tests.
fn on_any<'p>(
    these: &'p BTreeSet<String>,
    packages: &'p [Package],
    with_tests: bool,
) -> impl Iterator<Item = String> + 'p {
    let depends = move |package: &&Package| {
        let mut dependencies = package.dependencies.iter();
        dependencies.any(|on| (with_tests || !on.is_dev()) && these.contains(&on.name))
    };
    (packages.iter())
        .filter(depends)
        .map(|package| package.name.clone())
}

impl Scope {
    /// Whether one of these suites may give another result; a package's name stands for any of its suites.
    pub fn has(&self, suites: &[&str]) -> bool {
        match self {
            Self::Everything => true,
            Self::Part(part) => suites.iter().any(|suite| part.suites.has(suite)),
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Part(part) = self else {
            return writeln!(f, "tests: all");
        };
        let list = |names: &BTreeSet<String>| match names.is_empty() {
            true => "none".to_owned(),
            false => names
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(" "),
        };
        writeln!(f, "packages: {}", list(&part.linted))?;
        match part.suites.is_empty() {
            true => writeln!(f, "tests: none"),
            false => writeln!(f, "tests: {}", part.suites),
        }
    }
}

#[cfg(test)]
mod tests;
