//! Lanes: groups of test suites that run side by side. The suites beside the main lane mostly wait for other processes,
//! for blocks and for clocks, and leave the machine idle.

use std::{
    fs::{self, File},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use crate::{
    changed::{
        plan::{Part, Scope},
        reach::{DOC, Suites, UNIT},
    },
    workspace::{Workspace, root},
};

/// The suites of each lane beside the main one. All other suites are in the main lane, one after the other.
/// Suites that start networks share a lane: several networks at once would wait longer for blocks than their tests do.
const BESIDE: &[&[&str]] = &[&["selfsame/network", "selfsame-abci/network"]];
/// The suites that measure. They run when all others have ended, since a busy machine makes their servers time out.
const LAST: &[&str] = &["selfsame/bench"];

/// The suites of a run, in lanes. A lane without suites is left out.
pub struct Lanes {
    /// Runs in the foreground.
    pub main: Option<Scope>,
    pub beside: Vec<Scope>,
    /// Runs alone, after the others.
    pub last: Option<Scope>,
}

impl Lanes {
    /// Every suite of the scope, in its lane.
    pub fn of(scope: &Scope, workspace: &Workspace) -> Self {
        let mut wanted = suites(workspace);
        wanted.retain(|suite| scope.has(&[suite]));
        let lane = |has: &dyn Fn(&str) -> bool| {
            let suites = wanted.iter().map(String::as_str).filter(|suite| has(suite));
            let suites = Suites::parse(&suites.collect::<Vec<_>>().join(" "));
            let part = Part {
                suites,
                ..Part::default()
            };
            (!part.suites.is_empty()).then_some(Scope::Part(part))
        };
        let beside = BESIDE.iter();
        Self {
            main: lane(&|suite| {
                !LAST.contains(&suite) && !BESIDE.iter().any(|names| names.contains(&suite))
            }),
            beside: beside
                .filter_map(|names| lane(&|suite| names.contains(&suite)))
                .collect(),
            last: lane(&|suite| LAST.contains(&suite)),
        }
    }
}

/// All suites of the workspace, each as `PACKAGE/SUITE`.
fn suites(workspace: &Workspace) -> Vec<String> {
    let suites_of = |package: &crate::workspace::Package| {
        let tests = format!("{}/tests/", package.folder);
        let sources = workspace.sources.iter();
        let names = sources.filter_map(move |source| {
            let name = source.path.strip_prefix(&tests)?.strip_suffix(".rs")?;
            let name = name.strip_suffix("/main").unwrap_or(name);
            (!name.contains('/')).then(|| name.to_owned())
        });
        let fixed = [UNIT, DOC].map(str::to_owned);
        let all: Vec<String> = fixed.into_iter().chain(names).collect();
        let package = package.name.clone();
        all.into_iter().map(move |name| format!("{package}/{name}"))
    };
    workspace.packages.iter().flat_map(suites_of).collect()
}

/// A lane that runs beside the main one.
pub struct Running {
    child: Child,
    /// The file that gets what the lane prints.
    log: PathBuf,
}

impl Running {
    /// Starts the command. What it prints goes to a file, so that the lanes' lines do not mix.
    pub fn start(mut command: Command, number: usize) -> Result<Self, String> {
        let folder = root().join("target/lanes");
        let log = folder.join(format!("{number}.log"));
        let failed = |error: std::io::Error| format!("{}: {error}", log.display());
        fs::create_dir_all(&folder).map_err(failed)?;
        let file = File::create(&log).map_err(failed)?;
        let child = command
            .stdin(Stdio::null())
            .stdout(file.try_clone().map_err(failed)?)
            .stderr(file)
            .spawn()
            .map_err(|error| format!("cargo: {error}"))?;
        Ok(Self { child, log })
    }

    /// Waits for its end, prints what it printed, and returns whether it passed.
    pub fn end(mut self) -> Result<bool, String> {
        println!("    waiting for the lane in {}", self.log.display());
        let status = self
            .child
            .wait()
            .map_err(|error| format!("cargo: {error}"))?;
        let told =
            fs::read(&self.log).map_err(|error| format!("{}: {error}", self.log.display()))?;
        print!("{}", String::from_utf8_lossy(&told));
        Ok(status.success())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(scope: &Scope) -> (String, Vec<String>) {
        let lanes = Lanes::of(scope, &Workspace::load().unwrap());
        let names = |scope: &Scope| match scope {
            Scope::Part(part) => part.suites.to_string(),
            Scope::Everything => panic!("a lane names its suites"),
        };
        let main = lanes.main.as_ref().map(names).unwrap_or_default();
        (main, lanes.beside.iter().map(names).collect())
    }

    #[test]
    fn each_suite_runs_in_one_lane() {
        let (main, beside) = lanes(&Scope::Everything);
        assert_eq!(beside, ["selfsame-abci/network selfsame/network"]);
        let main = Suites::parse(&main);
        for suite in [
            "selfsame/e2e",
            "selfsame-did/unit",
            "selfsame-did/doc",
            "selfsame/crash",
        ] {
            assert!(main.iter().any(|name| name == suite), "{suite}");
        }
        for suite in beside.iter().flat_map(|lane| lane.split(' ')) {
            assert!(main.iter().all(|name| name != suite), "{suite}");
        }
        let measured = Lanes::of(&Scope::Everything, &Workspace::load().unwrap()).last;
        assert!(measured.is_some_and(|last| last.has(&["selfsame/bench"])));
        assert!(main.iter().all(|name| name != "selfsame/bench"));
    }

    #[test]
    fn a_part_has_no_lane_without_suites() {
        let part = |suites: &str| {
            Scope::Part(Part {
                suites: Suites::parse(suites),
                ..Part::default()
            })
        };
        let (main, beside) = lanes(&part("selfsame/readme"));
        assert_eq!((main.as_str(), beside.len()), ("selfsame/readme", 0));
        let (main, beside) = lanes(&part("selfsame/network"));
        assert_eq!((main.as_str(), beside.len()), ("", 1));
        let (main, beside) = lanes(&part("selfsame-abci/*"));
        assert_eq!(main, "selfsame-abci/doc selfsame-abci/unit");
        assert_eq!(beside, ["selfsame-abci/network"]);
    }
}
