//! `cargo xtask cross jmeter`: a load plan that was written for another agent's admin API, run by JMeter against ours.
//!
//! The plans of the healthcare study are of this kind. Of a copy, only what was published before the run is replaced.

use std::{
    fs,
    path::Path,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use agents::{Agents, OurProgram};
use load::Load;
use plan::{Plan, Published};
use results::Results;

mod agents;
mod load;
mod plan;
mod program;
mod results;
pub mod sign_in;
mod xml;

/// How to call it.
pub const USAGE: &str = "cargo xtask cross jmeter PLAN.jmx [--minutes N] [--users N]";
/// The longest run, in minutes.
const LONGEST: u32 = 1440;
/// The most users: each is a thread of JMeter.
const MOST: u32 = 5000;

/// How long a run may take beside the time that is given: what begins and ends it.
const MARGIN: Duration = Duration::from_secs(300);

/// Options of a run.
#[derive(Debug, PartialEq)]
struct Run<'a> {
    plan: &'a Path,
    minutes: u32,
    /// The number of users, in place of the plan's.
    users: Option<u32>,
}

impl<'a> Run<'a> {
    /// Parses the arguments after `jmeter`; `None` if they are not valid.
    fn parse(words: &[&'a str]) -> Option<Self> {
        let (plan, flags) = words.split_first()?;
        let mut run = Self {
            plan: Path::new(*plan),
            minutes: 5,
            users: None,
        };
        if plan.starts_with('-') {
            return None;
        }
        for pair in flags.chunks(2) {
            let [flag, number] = pair else { return None };
            let number: u32 = number.parse().ok().filter(|number| *number > 0)?;
            match *flag {
                "--minutes" if number <= LONGEST => run.minutes = number,
                "--users" if number <= MOST => run.users = Some(number),
                _ => return None,
            }
        }
        Some(run)
    }
}

/// Runs a plan, and returns whether every request succeeded.
pub fn cross(words: &[&str]) -> Result<bool, String> {
    let run = Run::parse(words).ok_or_else(|| format!("usage: {USAGE}"))?;
    let shown = run.plan.display();
    let text = fs::read_to_string(run.plan).map_err(|error| format!("{shown}: {error}"))?;
    let plan = Plan::read(&text).map_err(|why| format!("{shown}: {why}"))?;
    let time = Duration::from_secs(u64::from(run.minutes) * 60);
    let folder = program::folder().join("run");
    let jmeter = program::prepare()?;
    let program = OurProgram::find()?;
    if !program.is_release {
        println!(
            "    {} is a debug build: its times say nothing",
            program.path.display()
        );
    }
    renewed(&folder)?;

    println!("    starting {} agents", plan.places().len());
    let mut agents = Agents::start(&program, &plan, &folder.join("instance"))?;
    println!("    publishing a schema and a credential definition");
    let published = agents.publish(&plan, after(time + MARGIN))?;
    let copy = folder.join("plan.jmx");
    write_copy(&run, &plan, &published, &copy)?;
    println!(
        "    {} users for {} minutes at most; what is written is in {}",
        run.users.unwrap_or(plan.users),
        run.minutes,
        folder.display()
    );
    let hosts = agents::addresses(&plan)?;
    let load = Load {
        program: &jmeter,
        plan: &copy,
        folder: &folder,
        hosts: &hosts,
    };
    let results = load.run(time, || agents.run())?;
    let results = fs::read_to_string(&results).map_err(|error| format!("the results: {error}"))?;
    Ok(told(&plan, &Results::read(&results)?))
}

/// The plan of the run, and what in it is new.
fn write_copy(run: &Run, plan: &Plan, published: &Published, copy: &Path) -> Result<(), String> {
    let (text, replaced) = plan.rewritten(published, run.users);
    for one in replaced {
        println!("    {}: {} in place of {}", one.name, one.to, one.from);
    }
    fs::write(copy, text).map_err(|error| format!("{}: {error}", copy.display()))
}

/// Prints the table, and returns whether every request succeeded and a user came to the end of the plan.
fn told(plan: &Plan, results: &Results) -> bool {
    println!("\n{}", results.table(&plan.steps));
    let last = plan.steps.last().map(String::as_str).unwrap_or_default();
    let (rounds, errors) = (results.count_of(last), results.errors());
    println!(
        "{} requests, {rounds} of them the last of the plan; {errors} failed",
        results.count()
    );
    for failure in results.failures() {
        println!("    {failure}");
    }
    if rounds == 0 {
        println!("    no user came to the end of the plan: --minutes gives it more time");
    }
    errors == 0 && rounds > 0
}

/// An empty folder.
fn renewed(folder: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(failed)?;
    }
    fs::create_dir_all(folder).map_err(failed)
}

/// The time after this one, in seconds since 1970. A revocation registry that is made during the run has a state then.
#[allow(
    clippy::disallowed_methods,
    reason = "a proof of non-revocation is about this run"
)]
fn after(time: Duration) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| (now + time).as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_a_time_and_users_are_read() {
        let run = Run {
            plan: Path::new("a b.jmx"),
            minutes: 5,
            users: None,
        };
        assert_eq!(Run::parse(&["a b.jmx"]), Some(run));
        let run = Run::parse(&["a.jmx", "--users", "20", "--minutes", "3"]).unwrap();
        assert_eq!((run.minutes, run.users), (3, Some(20)));
        for wrong in [
            &[][..],
            &["--users", "3"],
            &["a.jmx", "--users"],
            &["a.jmx", "--users", "0"],
            &["a.jmx", "--users", "5001"],
            &["a.jmx", "--minutes", "soon"],
            &["a.jmx", "--seconds", "3"],
            &["a.jmx", "b.jmx"],
        ] {
            assert_eq!(Run::parse(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_run_succeeds_if_no_request_failed_and_the_plan_was_done_once() {
        let plan = Plan::read(include_str!("jmeter/plan/small.jmx")).unwrap();
        let read = |lines: &str| {
            let header = "elapsed,label,responseCode,responseMessage,success,failureMessage\n";
            Results::read(&format!("{header}{lines}")).unwrap()
        };
        let (good, last) = (
            "3,Library issues,200,OK,true,\n",
            "4,Café asks,200,OK,true,\n",
        );
        assert!(told(&plan, &read(&format!("{good}{last}"))));
        assert!(!told(&plan, &read(good)));
        let bad = "3,Library issues,403,Forbidden,false,\n";
        assert!(!told(&plan, &read(&format!("{bad}{last}"))));
    }
}
