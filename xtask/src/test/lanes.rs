//! Lanes: groups of test suites that run side by side. The suites beside the main lane mostly wait for other processes,
//! for blocks and for clocks, and leave the machine idle.

use std::{
    fs::{self, File},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::mpsc::{Sender, channel},
    thread::{JoinHandle, spawn},
    time::Duration,
};

use super::failures::Outcome;
use crate::{
    changed::{
        plan::{Part, Scope},
        reach::Suites,
    },
    workspace::root,
};

/// The suites that start networks run beside the main lane. They share one lane: several networks at once would wait
/// longer for blocks than their tests do.
const BESIDE: &[&str] = &["selfsame/network", "selfsame-abci/network"];
/// The suites that measure, and the one that compares rates before and after a fail-over, run when all others have ended:
/// a busy machine makes servers time out and rates differ.
const LAST: &[&str] = &["selfsame/bench", "selfsame/patroni"];

/// How long the lints wait for the lanes to begin.
const HEAD_START: Duration = Duration::from_secs(60);

/// The suites of a run, in lanes; `None` for a lane without suites.
pub struct Lanes {
    /// Runs in the foreground.
    pub main: Option<Scope>,
    pub beside: Option<Scope>,
    /// Runs alone, after the others.
    pub last: Option<Scope>,
}

impl Lanes {
    /// The suites of the scope, in their lanes.
    pub fn of(scope: &Scope) -> Self {
        let suites = match scope {
            Scope::Everything => Suites::every(),
            Scope::Part(part) => part.suites.clone(),
        };
        let lane = |suites: Suites| {
            let part = Part {
                suites,
                ..Part::default()
            };
            (!part.suites.is_empty()).then_some(Scope::Part(part))
        };
        Self {
            beside: lane(suites.only(BESIDE)),
            last: lane(suites.only(LAST)),
            main: lane(suites.without(BESIDE).without(LAST)),
        }
    }
}

/// The lane that runs beside the main one.
pub struct Running {
    child: Child,
    /// The file that gets what the lane prints.
    log: PathBuf,
}

impl Running {
    /// Starts the command. What it prints goes to a file, so that the lanes' lines do not mix.
    pub fn start(command: Command) -> Result<Self, String> {
        Self::start_as("beside.log", command)
    }

    fn start_as(name: &str, mut command: Command) -> Result<Self, String> {
        let folder = root().join("target");
        let log = folder.join(name);
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

    /// Waits for its end, and prints what it printed.
    pub fn end(mut self) -> Result<Outcome, String> {
        println!("    waiting for the lane in {}", self.log.display());
        let status = self
            .child
            .wait()
            .map_err(|error| format!("cargo: {error}"))?;
        let told =
            fs::read(&self.log).map_err(|error| format!("{}: {error}", self.log.display()))?;
        let told = String::from_utf8_lossy(&told);
        print!("{told}");
        Ok(Outcome::of(status.success(), &told))
    }
}

/// Commands that run one after another at the lowest priority, beside the lanes.
pub struct Lints {
    /// Tells them not to wait any more.
    hurry: Sender<()>,
    thread: JoinHandle<Result<Outcome, String>>,
}

impl Lints {
    /// Starts the commands after a while: the lanes' cargo looks at what is built first, and another cargo would lock
    /// that out.
    pub fn start(commands: Vec<Command>) -> Self {
        let (hurry, hurried) = channel();
        let thread = spawn(move || {
            let _ = hurried.recv_timeout(HEAD_START);
            let mut outcome = Outcome::from(true);
            for command in commands {
                outcome.add(Running::start_as("lints.log", gently(&command))?.end()?);
            }
            Ok(outcome)
        });
        Self { hurry, thread }
    }

    /// Waits for their end.
    pub fn end(self) -> Result<Outcome, String> {
        let _ = self.hurry.send(());
        let joined = self.thread.join();
        joined.map_err(|_| "the thread of the lints panicked".to_owned())?
    }
}

/// The command at the lowest priority.
fn gently(command: &Command) -> Command {
    let mut gentle = Command::new("nice");
    gentle
        .args(["-n", "19"])
        .arg(command.get_program())
        .args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => gentle.env(name, value),
            None => gentle.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        gentle.current_dir(folder);
    }
    gentle
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lints_run_to_their_end_and_one_that_fails_is_told() {
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            command
        };
        assert!(Lints::start(Vec::new()).end().unwrap().passed);
        assert!(Lints::start(vec![shell("exit 0")]).end().unwrap().passed);
        let mut told = shell("test \"$LINT\" = 1 && test $(nice) = 19");
        told.env("LINT", "1");
        assert!(Lints::start(vec![told]).end().unwrap().passed);
        let both = vec![shell("exit 1"), shell("exit 0")];
        assert!(!Lints::start(both).end().unwrap().passed);
    }

    /// The suites of the main lane, of the one beside it, and of the last one.
    fn lanes(scope: &Scope) -> [Suites; 3] {
        let Lanes { main, beside, last } = Lanes::of(scope);
        [main, beside, last].map(|lane| match lane {
            Some(Scope::Part(part)) => part.suites,
            Some(Scope::Everything) => panic!("a lane names its suites"),
            None => Suites::default(),
        })
    }

    #[test]
    fn each_suite_runs_in_one_lane() {
        let [main, beside, last] = lanes(&Scope::Everything);
        let written = [&beside, &last].map(ToString::to_string);
        assert_eq!(
            written,
            [
                "selfsame-abci/network selfsame/network",
                "selfsame/bench selfsame/patroni"
            ]
        );
        for suite in [
            "selfsame/e2e",
            "selfsame-did/unit",
            "selfsame-did/doc",
            "selfsame/crash",
        ] {
            assert!(main.has(suite), "{suite}");
        }
        for suite in beside.iter().chain(last.iter()) {
            assert!(!main.has(suite), "{suite}");
        }
        assert_eq!(main.named(), None);
        assert_eq!(Suites::parse(&main.to_string()), main);
    }

    #[test]
    fn a_part_has_no_lane_without_suites() {
        let part = |suites: &str| {
            let suites = Suites::parse(suites);
            let part = Part {
                suites,
                ..Part::default()
            };
            lanes(&Scope::Part(part)).map(|lane| lane.to_string())
        };
        assert_eq!(part("selfsame/readme"), ["selfsame/readme", "", ""]);
        assert_eq!(part("selfsame/network"), ["", "selfsame/network", ""]);
        let [main, beside, last] = lanes(&Scope::Part(Part {
            suites: Suites::parse("selfsame-abci/*"),
            ..Part::default()
        }));
        assert!(main.has("selfsame-abci/doc") && main.has("selfsame-abci/unit"));
        assert!(!main.has("selfsame-abci/network") && last.is_empty());
        assert_eq!(beside.to_string(), "selfsame-abci/network");
    }
}
