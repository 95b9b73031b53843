//! `cargo xtask cross sign-in-plan`: a load plan that was written for eSignet and its mock identity system, run by JMeter
//! against a provider of ours with both.
//!
//! Of a copy, the place of the provider, the length of the run and how much is made before it are replaced, and listeners of
//! plug-ins are left out.

use std::{
    collections::BTreeMap,
    fs::{self, DirBuilder, File},
    io::{Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::Duration,
};

use plan::{Plan, Wanted};

use super::{agents::OurProgram, load::Load, program, renewed, results::Results};

mod plan;

/// How to call it.
pub const USAGE: &str = "cargo xtask cross sign-in-plan PLAN.jmx [--minutes N] [--users N]";
/// The longest run in minutes, and the most users.
const LONGEST: u32 = 120;
const MOST: u32 = 5000;
/// How long the clients and the people of a minute may take to be made, and what begins and ends a run.
const SET_UP: Duration = Duration::from_secs(60);
const MARGIN: Duration = Duration::from_secs(180);
/// How long the instance may take until it is ready, in tries and the pause between two.
const TRIES: u32 = 600;
const PAUSE: Duration = Duration::from_millis(200);
/// The settings of the instance: the preset for such plans, and calls without number from this machine.
const SETTINGS: &str = "[sign_in]\npeople = \"mock\"\nesignet = true\npreset = \"legacy-esignet\"\ncalls_per_address = 1000000000\n";
/// The call by which it is known to be ready.
const READY: &str = "/v1/esignet/csrf/token";

/// Options of a run.
#[derive(Debug, PartialEq)]
struct Run<'a> {
    plan: &'a Path,
    minutes: u32,
    /// The number of users, in place of the plan's.
    users: Option<u32>,
}

impl<'a> Run<'a> {
    /// Parses the arguments after `sign-in-plan`; `None` if they are not valid.
    fn parse(words: &[&'a str]) -> Option<Self> {
        let (plan, flags) = words.split_first()?;
        let mut run = Self {
            plan: Path::new(*plan),
            minutes: 1,
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

    fn time(&self) -> Duration {
        SET_UP * self.minutes + Duration::from_secs(u64::from(self.minutes) * 60) + MARGIN
    }
}

/// Runs a plan, and returns whether every request succeeded.
pub fn cross(words: &[&str]) -> Result<bool, String> {
    let run = Run::parse(words).ok_or_else(|| format!("usage: {USAGE}"))?;
    let shown = run.plan.display();
    let text = fs::read_to_string(run.plan).map_err(|error| format!("{shown}: {error}"))?;
    let plan = Plan::read(&text).map_err(|why| format!("{shown}: {why}"))?;
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
    println!("    starting the provider and the mock identity system");
    let mut provider = Provider::start(&program, &folder.join("instance"))?;
    let made = folder.join("made");
    fs::create_dir(&made).map_err(|error| format!("{}: {error}", made.display()))?;
    let wanted = Wanted {
        port: provider.port,
        minutes: run.minutes,
        users: run.users,
        made: &made,
        beside: run.plan,
    };
    let copy = folder.join("plan.jmx");
    let rewritten = plan.rewritten(&wanted);
    for line in &rewritten.told {
        println!("    {line}");
    }
    fs::write(&copy, rewritten.text).map_err(|error| format!("{}: {error}", copy.display()))?;
    println!(
        "    {} minutes of sign-ins; what is written is in {}",
        run.minutes,
        folder.display()
    );
    let load = Load {
        program: &jmeter,
        plan: &copy,
        folder: &folder,
        hosts: &BTreeMap::new(),
    };
    let results = load.run(run.time(), || provider.runs())?;
    let results = fs::read_to_string(&results).map_err(|error| format!("the results: {error}"))?;
    Ok(told(&plan, &Results::read(&results)?))
}

/// Prints the table, and returns whether every request succeeded and a sign-in came to its end.
fn told(plan: &Plan, results: &Results) -> bool {
    println!("\n{}", results.table(&plan.steps));
    let last = plan.steps.last().map(String::as_str).unwrap_or_default();
    let (rounds, errors) = (results.count_of(last), results.errors());
    println!(
        "{} samples, {rounds} of them the last of a sign-in; {errors} failed",
        results.count()
    );
    for failure in results.failures() {
        println!("    {failure}");
    }
    if rounds == 0 {
        println!("    no sign-in came to its end: --minutes gives it more time");
    }
    errors == 0 && rounds > 0
}

/// The instance, until it is dropped.
struct Provider {
    process: Child,
    log: PathBuf,
    port: u16,
}

impl Provider {
    /// Starts it with its data in this folder, and waits until it answers.
    fn start(program: &OurProgram, folder: &Path) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        // Only this user may access it, as the instance requires of a folder with its data.
        let made = DirBuilder::new().mode(0o700).create(folder);
        made.map_err(failed)?;
        let (settings, log) = (folder.join("settings.toml"), folder.join("log"));
        fs::write(&settings, SETTINGS).map_err(failed)?;
        let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|one| one.local_addr());
        let at = bound.map_err(failed)?;
        let process = Command::new(&program.path)
            .args(["up", "--no-demo", "--listen", &at.to_string(), "--data"])
            .arg(folder.join("data"))
            .arg("--config")
            .arg(&settings)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log).map_err(failed)?)
            .spawn()
            .map_err(|error| format!("{}: {error}", program.path.display()))?;
        let mut provider = Self {
            process,
            log,
            port: at.port(),
        };
        provider.wait(at)?;
        Ok(provider)
    }

    fn wait(&mut self, at: SocketAddr) -> Result<(), String> {
        for _ in 0..TRIES {
            if !self.runs() {
                let log = fs::read_to_string(&self.log).unwrap_or_default();
                let last = log.lines().last().unwrap_or("it said nothing");
                return Err(format!(
                    "the instance ended before it was ready: {last}\nhint: {} has the rest",
                    self.log.display()
                ));
            }
            if answers(at).unwrap_or(false) {
                return Ok(());
            }
            sleep(PAUSE);
        }
        Err(format!(
            "the provider is not ready\nhint: {} says why",
            self.log.display()
        ))
    }

    /// Whether the instance still runs.
    fn runs(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Whether the first call of a sign-in is answered.
#[allow(
    clippy::disallowed_methods,
    reason = "the provider is on loopback, and this tool has no other way to call it"
)]
fn answers(at: SocketAddr) -> std::io::Result<bool> {
    let mut stream = TcpStream::connect(at)?;
    stream.set_read_timeout(Some(PAUSE * 10))?;
    let host = format!("localhost:{}", at.port());
    let head = format!("GET {READY} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.split_whitespace().nth(1) == Some("200"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_a_time_and_users_are_read() {
        let run = Run::parse(&["a b.jmx"]).unwrap();
        assert_eq!(
            (run.plan, run.minutes, run.users),
            (Path::new("a b.jmx"), 1, None)
        );
        let run = Run::parse(&["a.jmx", "--users", "20", "--minutes", "3"]).unwrap();
        assert_eq!((run.minutes, run.users), (3, Some(20)));
        for wrong in [
            &[][..],
            &["--users", "3"],
            &["a.jmx", "--users"],
            &["a.jmx", "--users", "5001"],
            &["a.jmx", "--minutes", "121"],
            &["a.jmx", "b.jmx"],
        ] {
            assert_eq!(Run::parse(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_run_succeeds_if_no_sample_failed_and_a_sign_in_came_to_its_end() {
        let plan = Plan::read(include_str!("sign_in/small.jmx")).unwrap();
        let read = |lines: &str| {
            let header = "elapsed,label,responseCode,responseMessage,success,failureMessage\n";
            Results::read(&format!("{header}{lines}")).unwrap()
        };
        let (good, last) = ("3,Token,200,OK,true,\n", "4,Userinfo,200,OK,true,\n");
        assert!(told(&plan, &read(&format!("{good}{last}"))));
        assert!(!told(&plan, &read(good)));
        let bad = "3,Token,400,Bad Request,false,\n";
        assert!(!told(&plan, &read(&format!("{bad}{last}"))));
    }
}
