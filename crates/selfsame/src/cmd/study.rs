//! `selfsame study`: the five published studies, run again on this machine and drawn as one report.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use selfsame_driver::clock::Clock;
use selfsame_study::{
    PARTS, StartedPart, Study, StudyError, StudyFolder, StudyHead, StudyPart, StudyPlan, chosen,
    commit_around, order, tools, write_report,
};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::interrupt::or_interrupted;
use selfsame_terminal::output;

use super::registry::EngineAt;

/// Run the published studies again on this machine, and draw one report with their numbers beside ours.
#[derive(Args)]
#[command(after_help = "Example: selfsame study --quick --out study.html
         selfsame study --database postgres://selfsame@localhost/bench --out study.html
         selfsame study --resume --out study.html        runs what is missing, and draws the report again

Beside the page there are the numbers as JSON and CSV, and what each part measured in a folder.
docs/study.md says what each part needs. Exit code 0 if every part that was asked for was measured, 1 if not.")]
pub struct StudyCommand {
    /// Make short runs, about ten minutes together.
    #[arg(long)]
    quick: bool,
    /// Only these parts; the others keep what they measured before.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,
    /// The report's file.
    #[arg(long, value_name = "FILE", default_value = "selfsame-study.html")]
    out: PathBuf,
    /// Do not run again what was measured before with the same length.
    #[arg(long)]
    resume: bool,
    /// A PostgreSQL database on this machine, as postgres://USER@HOST/DATABASE, for what needs one. Schemas are made in it
    /// and dropped at the end.
    #[arg(
        long,
        value_name = "URL",
        env = "SELFSAME_DATABASE",
        hide_env_values = true
    )]
    database: Option<String>,
    /// A program that plays one end of TLS with OpenSSL; `cargo xtask bench tls` builds it.
    #[arg(long, value_name = "PROGRAM")]
    openssl: Option<PathBuf>,
    #[command(flatten)]
    peers: StudyPeers,
    #[command(flatten)]
    engine: EngineAt,
}

/// Other implementations, which are measured in the same runs.
#[derive(Args)]
struct StudyPeers {
    /// The admin API of another issuing agent, which is measured beside ours.
    #[arg(long, value_name = "URL", requires_all = ["peer_verifier", "peer_holder"])]
    peer_issuer: Option<String>,
    /// The admin API of another verifying agent.
    #[arg(long, value_name = "URL", requires = "peer_issuer")]
    peer_verifier: Option<String>,
    /// The admin API of another holding agent.
    #[arg(long, value_name = "URL", requires = "peer_issuer")]
    peer_holder: Option<String>,
    /// Another provider with eSignet's interface, which is measured beside ours.
    #[arg(long, value_name = "URL")]
    peer_provider: Option<String>,
    /// The mock identity system behind it.
    #[arg(long, value_name = "URL", requires = "peer_provider")]
    peer_identities: Option<String>,
}

/// What is the same for all parts of a run.
struct StudyRun<'a> {
    command: &'a StudyCommand,
    program: PathBuf,
    commit: Option<String>,
    folder: StudyFolder,
    plan: StudyPlan,
    chosen: Vec<&'static str>,
}

impl StudyCommand {
    /// Measures what is to be measured, and writes the report.
    pub async fn run(self) -> End {
        or_interrupted(self.measured()).await
    }

    async fn measured(self) -> End {
        let chosen = chosen(&self.only).map_err(|wrong| {
            let names = PARTS.join(", ");
            Failure::environment(format!("--only: there is no part `{wrong}`"))
                .hint(format!("the parts are {names}"))
        })?;
        let program = std::env::current_exe()?;
        let run = StudyRun {
            commit: commit_around(&program),
            folder: StudyFolder::at(&self.out.with_extension("parts")).map_err(failed)?,
            plan: StudyPlan {
                quick: self.quick,
                has_database: self.database.is_some(),
                engine: self
                    .engine
                    .find()
                    .await
                    .ok()
                    .map(|one| one.program().to_owned()),
                openssl: self.openssl.clone(),
                more: Vec::new(),
            },
            command: &self,
            program,
            chosen,
        };
        // A report that can't be written is told before hours of measuring.
        self.write(&run.study(Vec::new())?)?;
        let mut parts = Vec::new();
        for name in PARTS {
            parts.push(run.part(name).await);
            self.write(&run.study(parts.clone())?)?;
        }
        let study = run.study(parts)?;
        self.tell(&study);
        Ok(match study.has_measured(&run.chosen) {
            true => Answer::Yes,
            false => Answer::No,
        })
    }

    /// Writes the page, the JSON and the CSV.
    fn write(&self, study: &Study) -> Result<(), Failure> {
        let hint = "--out must name a file in a writable directory";
        write_report(study, &self.out).map_err(|error| failed(error).hint(hint))
    }

    fn tell(&self, study: &Study) {
        let told = study.parts.iter().map(StudyPart::told);
        told.chain(study.outline())
            .for_each(|line| output::say(&line));
        output::say(&format!("The report is {}", self.out.display()));
    }
}

impl StudyRun<'_> {
    fn study(&self, parts: Vec<StudyPart>) -> Result<Study, Failure> {
        let head = StudyHead {
            drawn: Clock::default().now().rfc3339(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: self.commit.clone(),
            is_development_build: cfg!(debug_assertions),
            quick: self.command.quick,
            tools: tools(&self.plan),
        };
        Study::new(head, parts).map_err(failed)
    }

    /// Runs a part, or takes what it measured before.
    async fn part(&self, name: &'static str) -> StudyPart {
        let missing = |why: &str| StudyPart::missing(name, why);
        let is_chosen = self.chosen.contains(&name);
        if (self.command.resume || !is_chosen)
            && let Some(record) = self.folder.finished(name, self.command.quick)
        {
            output::complain(&format!("{name}: measured before, at {}", record.began));
            return StudyPart::measured(name, record);
        }
        if !is_chosen {
            return missing("It was not asked for.");
        }
        let command = super::Cli::command();
        let Some(bench) = command
            .find_subcommand("bench")
            .and_then(|bench| bench.find_subcommand(name))
        else {
            return missing("This program has no such load test.");
        };
        let accepts = |option: &str| {
            let mut arguments = bench.get_arguments();
            arguments.any(|argument| argument.get_long() == Some(option))
        };
        let plan = StudyPlan {
            more: self.command.peers.of(name),
            ..self.plan.clone()
        };
        let order = order(name, &plan, &accepts);
        output::complain(&format!("{name}: of {}", self.chosen.join(", ")));
        let part = StartedPart {
            name,
            order: &order,
            database: self.command.database.as_deref(),
            commit: self.commit.as_deref(),
            began: Clock::default().now().rfc3339(),
        };
        match self.folder.run(&self.program, part).await {
            Ok(record) => StudyPart::measured(name, record),
            Err(error) => {
                output::complain(&format!("{name}: {error}"));
                missing(&format!("{error}."))
            }
        }
    }
}

impl StudyPeers {
    /// The arguments by which a part measures the others too.
    fn of(&self, name: &str) -> Vec<String> {
        let mut arguments = Vec::new();
        let mut add = |option: &str, value: &Option<String>| {
            if let Some(value) = value {
                arguments.extend([option.to_owned(), value.clone()]);
            }
        };
        match name {
            "aries" => {
                add("--issuer", &self.peer_issuer);
                add("--verifier", &self.peer_verifier);
                add("--holder", &self.peer_holder);
                if self.peer_issuer.is_some() {
                    arguments.push("--both".to_owned());
                }
            }
            "signin" => {
                add("--provider", &self.peer_provider);
                add("--identities", &self.peer_identities);
            }
            _ => {}
        }
        arguments
    }
}

fn failed(error: StudyError) -> Failure {
    match error {
        StudyError::Machine { .. } => Failure::environment(error.to_string()),
        StudyError::Paper { .. } | StudyError::Part(_) => Failure::ours(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        study: StudyCommand,
    }

    fn study(arguments: &[&str]) -> Result<StudyCommand, clap::Error> {
        let all = ["study"].iter().chain(arguments);
        Command::try_parse_from(all).map(|command| command.study)
    }

    #[test]
    fn each_part_of_the_study_is_a_load_test_of_this_program() {
        let command = super::super::Cli::command();
        let bench = command.find_subcommand("bench").unwrap();
        for part in PARTS {
            let part = bench.find_subcommand(part).unwrap();
            for option in ["quick", "out"] {
                let mut arguments = part.get_arguments();
                assert!(arguments.any(|one| one.get_long() == Some(option)));
            }
        }
    }

    #[test]
    fn agents_of_others_are_measured_beside_ours_and_need_all_three_addresses() {
        let peers = [
            "--peer-issuer",
            "http://a/",
            "--peer-verifier",
            "http://b/",
            "--peer-holder",
            "http://c/",
        ];
        let command = study(&peers).unwrap();
        let arguments = command.peers.of("aries");
        let end = ["--holder", "http://c/", "--both"];
        assert!(
            arguments.ends_with(&end.map(str::to_owned)),
            "{arguments:?}"
        );
        assert!(command.peers.of("tls").is_empty());
        assert!(study(&peers[..2]).is_err());
    }

    #[test]
    fn parts_are_named_with_commas_between_them() {
        assert_eq!(study(&["--only", "tls,oid4vc"]).unwrap().only.len(), 2);
    }
}
