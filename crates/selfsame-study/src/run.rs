//! The load tests of a study as processes of this program, each of which leaves its figures in a folder.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use tokio::process::{Child, Command};

use crate::part::BenchPart;
use crate::{PARTS, StudyError};

/// A program or service that some load tests need, and whether it is on this machine.
#[derive(Clone, Debug, Serialize)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it is needed for.
    pub gives: String,
    /// How to get it.
    pub get: String,
    /// Whether it is here.
    pub found: bool,
}

/// What the command has found out about this machine, and what it was asked for.
#[derive(Clone, Debug, Default)]
pub struct StudyPlan {
    /// Whether to make short runs.
    pub quick: bool,
    /// Whether a PostgreSQL database was named.
    pub has_database: bool,
    /// CometBFT's program, if it was found.
    pub engine: Option<PathBuf>,
    /// The program that plays an end of TLS with OpenSSL.
    pub openssl: Option<PathBuf>,
    /// Further arguments of a load test, such as the addresses of agents of others.
    pub more: Vec<String>,
}

/// How a load test is run, or why it is not.
#[derive(Clone, Debug, Default)]
pub struct PartOrder {
    /// The arguments after `bench`.
    pub arguments: Vec<String>,
    /// Whether the database is passed on.
    pub wants_database: bool,
    /// CometBFT's program, for the part that needs it.
    pub engine: Option<PathBuf>,
    /// What is left out.
    pub left_out: Option<String>,
}

/// What a load test measured, and how it ran.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct PartRecord {
    /// The commit of the program that ran it, as far as it is known.
    pub commit: Option<String>,
    /// When it began, as RFC 3339.
    pub began: String,
    /// How long it took.
    pub seconds: f64,
    /// What was left out of it.
    pub left_out: Option<String>,
    /// Its figures.
    pub report: BenchPart,
}

const NGINX: &str = "/usr/sbin/nginx";
const SOFTHSM: &str = "/usr/lib/softhsm/libsofthsm2.so";

/// What is on this machine of the programs that some parts need.
#[must_use]
pub fn tools(plan: &StudyPlan) -> Vec<Tool> {
    let tool = |name: &str, gives: &str, get: &str, found: bool| Tool {
        name: name.to_owned(),
        gives: gives.to_owned(),
        get: get.to_owned(),
        found,
    };
    let exists = |path: &str| Path::new(path).exists();
    vec![
        tool(
            "PostgreSQL database",
            "two agents of each kind on one database, and eSignet’s layout",
            "Name one with `--database postgres://USER@HOST/DATABASE`",
            plan.has_database,
        ),
        tool(
            "nginx",
            "the balancer before them",
            "Debian’s package `nginx-light`",
            exists(NGINX),
        ),
        tool(
            "SoftHSM",
            "sign-ins with the provider’s keys in a token",
            "Debian’s package `softhsm2`",
            exists(SOFTHSM),
        ),
        tool(
            "CometBFT",
            "the registry on four validators",
            "`cargo xtask cometbft` builds it",
            plan.engine.is_some(),
        ),
        tool(
            "OpenSSL’s end of TLS",
            "OpenSSL’s handshakes beside ours in the same run",
            "`cargo xtask bench tls` builds it; then name it with `--openssl`",
            plan.openssl.is_some(),
        ),
    ]
}

/// How a load test is run on this machine. `accepts` says whether it has an option of this name.
#[must_use]
pub fn order(name: &str, plan: &StudyPlan, accepts: &dyn Fn(&str) -> bool) -> PartOrder {
    let mut order = PartOrder {
        arguments: vec![name.to_owned()],
        ..PartOrder::default()
    };
    if plan.quick {
        order.arguments.push("--quick".to_owned());
    }
    if accepts("database") {
        let balances = name != "wallet";
        order.wants_database = plan.has_database && (!balances || Path::new(NGINX).exists());
        if !order.wants_database && balances {
            order.left_out = Some("Left out: what needs PostgreSQL and nginx.".to_owned());
        }
    }
    order.engine = plan.engine.clone().filter(|_| name == "registry");
    if name == "registry" && order.engine.is_none() {
        order
            .arguments
            .extend(["--only", "embedded"].map(str::to_owned));
        order.left_out = Some("Left out: four validators, which need CometBFT.".to_owned());
    }
    if let Some(openssl) = plan.openssl.as_ref().filter(|_| accepts("openssl")) {
        let program = openssl.display().to_string();
        order.arguments.extend(["--openssl".to_owned(), program]);
    }
    order.arguments.extend(plan.more.iter().cloned());
    order
}

/// The folder in which the parts of a study leave what they measured.
#[derive(Clone, Debug)]
pub struct StudyFolder(PathBuf);

impl StudyFolder {
    /// This folder, which is made if it is missing.
    ///
    /// # Errors
    /// If it can't be made.
    pub fn at(path: &Path) -> Result<Self, StudyError> {
        std::fs::create_dir_all(path).map_err(failed(path))?;
        Ok(Self(path.to_owned()))
    }

    /// What a part measured before, if it is of the same length.
    #[must_use]
    pub fn finished(&self, name: &str, quick: bool) -> Option<PartRecord> {
        let text = std::fs::read_to_string(self.record(name)).ok()?;
        let record: PartRecord = serde_json::from_str(&text).ok()?;
        Some(record).filter(|record| record.report.quick == quick)
    }

    /// Runs a load test of this program, and keeps what it measured.
    ///
    /// # Errors
    /// If the process can't be started, or ends without figures.
    #[expect(clippy::disallowed_methods, reason = "how long a part takes is told")]
    pub async fn run(
        &self,
        program: &Path,
        part: StartedPart<'_>,
    ) -> Result<PartRecord, StudyError> {
        let folder = self.0.join(part.name);
        std::fs::create_dir_all(&folder).map_err(failed(&folder))?;
        let wrote = folder.join(format!("{}.json", part.name));
        let _ = std::fs::remove_file(&wrote);
        let _ = std::fs::remove_file(self.record(part.name));
        let printed = folder.join("printed.txt");
        let output = File::create(&printed).map_err(failed(&printed))?;
        let mut command = Command::new(program);
        command.arg("bench").args(&part.order.arguments);
        command.arg("--out").arg(&folder);
        command.stdin(Stdio::null()).stdout(output);
        command.env_remove(DATABASE);
        if let Some(database) = part.database.filter(|_| part.order.wants_database) {
            command.env(DATABASE, database);
        }
        if let Some(engine) = &part.order.engine {
            command.env(ENGINE, engine);
        }
        let began = Instant::now();
        let child = command.spawn().map_err(failed(program))?;
        let ended = RunningPart(child).end().await.map_err(failed(program))?;
        let text = std::fs::read_to_string(&wrote).map_err(|why| StudyError::Machine {
            what: format!(
                "`selfsame bench {}` ended with {ended} and left no figures",
                part.name
            ),
            why,
        })?;
        let record = PartRecord {
            commit: part.commit.map(str::to_owned),
            began: part.began,
            seconds: began.elapsed().as_secs_f64(),
            left_out: part.order.left_out.clone(),
            report: BenchPart::read(&text)?,
        };
        self.keep(part.name, &record)?;
        Ok(record)
    }

    /// Writes the record beside its place and moves it there, so that a part is finished or it is not.
    fn keep(&self, name: &str, record: &PartRecord) -> Result<(), StudyError> {
        let text = serde_json::to_string(record);
        let text = text.map_err(|error| StudyError::Part(error.to_string()))?;
        let (file, beside) = (self.record(name), self.0.join(format!("{name}.part")));
        std::fs::write(&beside, text).map_err(failed(&beside))?;
        std::fs::rename(&beside, &file).map_err(failed(&file))
    }

    fn record(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}.json"))
    }
}

/// A load test that is about to run.
pub struct StartedPart<'a> {
    /// Its name.
    pub name: &'a str,
    /// How it is run.
    pub order: &'a PartOrder,
    /// The database, if one was named.
    pub database: Option<&'a str>,
    /// The commit of the program.
    pub commit: Option<&'a str>,
    /// The time, as RFC 3339.
    pub began: String,
}

/// The variables by which a load test is told the database, so that its password is on no command line, and CometBFT.
const DATABASE: &str = "SELFSAME_DATABASE";
const ENGINE: &str = "SELFSAME_COMETBFT";

/// A load test that runs. One that is not awaited to its end is asked to end, since it has servers to stop.
struct RunningPart(Child);

impl RunningPart {
    async fn end(mut self) -> std::io::Result<std::process::ExitStatus> {
        self.0.wait().await
    }
}

impl Drop for RunningPart {
    fn drop(&mut self) {
        if let Some(id) = self.0.id().and_then(|id| i32::try_from(id).ok()) {
            let id = rustix::process::Pid::from_raw(id);
            let _ = id.map(|id| rustix::process::kill_process(id, rustix::process::Signal::TERM));
        }
    }
}

/// The commit around a program: what `git describe` says where the program lies in a checkout.
#[must_use]
pub fn commit_around(program: &Path) -> Option<String> {
    if let Some(built) = option_env!("SELFSAME_COMMIT") {
        return Some(built.to_owned());
    }
    let folder = program.parent()?;
    let mut git = std::process::Command::new("git");
    git.arg("-C").arg(folder);
    git.args([
        "describe",
        "--always",
        "--dirty",
        "--abbrev=12",
        "--exclude=*",
    ]);
    let output = git
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let said = String::from_utf8(output.stdout).ok()?;
    let said = said.trim();
    (output.status.success() && !said.is_empty()).then(|| said.to_owned())
}

/// The names of parts in a list of theirs, in the order in which they run.
///
/// # Errors
/// The first name that no part has.
pub fn chosen(names: &[String]) -> Result<Vec<&'static str>, String> {
    if let Some(wrong) = names.iter().find(|name| !PARTS.contains(&name.as_str())) {
        return Err(wrong.clone());
    }
    let is_chosen = |part: &&str| names.is_empty() || names.iter().any(|name| name == part);
    Ok(PARTS.into_iter().filter(is_chosen).collect())
}

fn failed(path: &Path) -> impl Fn(std::io::Error) -> StudyError {
    let what = path.display().to_string();
    move |why| StudyError::Machine {
        what: what.clone(),
        why,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::part::tests::part;

    fn plan(quick: bool) -> StudyPlan {
        StudyPlan {
            quick,
            ..StudyPlan::default()
        }
    }

    #[test]
    fn a_registry_without_its_engine_is_measured_in_one_process_and_says_so() {
        let order = order("registry", &plan(true), &|_| false);
        let arguments = ["registry", "--quick", "--only", "embedded"];
        assert_eq!(order.arguments, arguments);
        assert!(order.left_out.unwrap().contains("CometBFT"));
    }

    #[test]
    fn the_parts_that_are_chosen_run_in_the_order_of_the_study() {
        let names = ["tls", "oid4vc"].map(str::to_owned);
        assert_eq!(chosen(&names), Ok(vec!["oid4vc", "tls"]));
        assert_eq!(chosen(&[]).unwrap().len(), PARTS.len());
        assert_eq!(chosen(&["gone".to_owned()]), Err("gone".to_owned()));
        assert!(PARTS.contains(&crate::LIFE));
    }

    /// A program that leaves figures where `--out` says, and its environment.
    fn fake(folder: &Path, writes: bool) -> PathBuf {
        let program = folder.join("fake");
        let figures = serde_json::to_string(&part("tls", &[("a", 1.0)])).unwrap();
        let write = if writes {
            format!("echo '{figures}' > \"$4/tls.json\"")
        } else {
            "exit 3".to_owned()
        };
        std::fs::write(
            &program,
            format!("#!/bin/sh\necho \"$@ $SELFSAME_DATABASE\"\n{write}\n"),
        )
        .unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        program
    }

    async fn run(folder: &Path, writes: bool) -> Result<PartRecord, StudyError> {
        let kept = StudyFolder::at(&folder.join("parts")).unwrap();
        let order = order("tls", &plan(false), &|_| false);
        let part = StartedPart {
            name: "tls",
            order: &order,
            database: Some("postgres://secret"),
            commit: Some("abc"),
            began: "2026-01-01T00:00:00Z".to_owned(),
        };
        kept.run(&fake(folder, writes), part).await
    }

    #[tokio::test]
    async fn a_part_that_ran_is_kept_and_found_again_if_its_length_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let record = run(folder.path(), true).await.unwrap();
        assert_eq!(record.report.figures.len(), 1);
        let kept = StudyFolder::at(&folder.path().join("parts")).unwrap();
        // The figures of the test are those of a short run.
        assert!(kept.finished("tls", true).is_some());
        assert!(kept.finished("tls", false).is_none());
        assert!(kept.finished("aries", true).is_none());
        let printed = folder.path().join("parts/tls/printed.txt");
        let printed = std::fs::read_to_string(printed).unwrap();
        assert!(printed.starts_with("bench tls --out"), "{printed}");
        assert!(!printed.contains("secret"), "{printed}");
    }

    #[tokio::test]
    async fn a_part_that_fails_says_how_it_ended_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let error = run(folder.path(), false).await.unwrap_err().to_string();
        assert!(error.contains("exit status: 3"), "{error}");
        let kept = StudyFolder::at(&folder.path().join("parts")).unwrap();
        assert!(kept.finished("tls", true).is_none());
    }
}
