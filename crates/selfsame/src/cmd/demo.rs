//! `selfsame demo`: runs a scenario on an instance of its own, or on running ones.

mod aries;
mod blood;
mod permits;
mod publishing;
mod sign_in;

use std::path::PathBuf;

use aries::AriesScenario;
use clap::{Args, Subcommand};
use selfsame_aries_bench::StoryKind;
use selfsame_credential::verdict::Outcome;
use selfsame_driver::data_directory::token_from;
use selfsame_terminal::address;
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::interrupt::or_interrupted;
use selfsame_terminal::output;
use url::Url;

use crate::instance::{Launch, Running};
use selfsame_api_commands::Client;
use selfsame_api_commands::Roots;
use selfsame_api_commands::scenario::{self, Cast, Scenario, Story};
use selfsame_api_commands::verdict_table;

/// Run a scenario from issuance to refusal and print its verdicts, or serve a sample service.
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Example: selfsame demo immunization --json
         selfsame demo prescription --aries        over DIDComm, by the admin APIs of three Aries agents
         selfsame demo licence                     a driving licence as a mobile document (ISO mdoc)
         selfsame demo blood --aries               a question that is answered with yes or no
         selfsame demo permits                     six issuers whose credentials need each other
         selfsame demo sign-in                     a sample service at which people sign in with an instance"
)]
pub struct Demo {
    #[command(subcommand)]
    service: Option<DemoService>,
    /// The scenario.
    #[arg(required = true)]
    scenario: Option<Scenario>,
    /// The issuer's base URL; without it, a temporary instance is started for the scenario.
    #[arg(long, requires = "issuer_token_file", value_parser = address::parse)]
    issuer: Option<Url>,
    /// The file that holds the issuer's operator token.
    #[arg(long)]
    issuer_token_file: Option<PathBuf>,
    /// The wallet's base URL; default: the issuer's.
    #[arg(long, requires = "issuer", value_parser = address::parse)]
    wallet: Option<Url>,
    /// The verifier's base URL; default: the issuer's.
    #[arg(long, requires = "issuer", value_parser = address::parse)]
    verifier: Option<Url>,
    /// The file that holds the verifier's operator token; default: the issuer's.
    #[arg(long, requires = "verifier")]
    verifier_token_file: Option<PathBuf>,
    /// Run the scenario as Aries agents do: over DIDComm, with AnonCreds; all but `blood` by the 14 calls of the healthcare
    /// study's plans.
    #[arg(long, conflicts_with = "issuer")]
    aries: bool,
    #[command(flatten)]
    roots: Roots,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

/// Something that is served for trying out.
#[derive(Subcommand)]
enum DemoService {
    /// Let a business get six permits from six issuers, each of which asks for earlier ones.
    Permits(permits::PermitsDemo),
    /// Serve a sample service at which people sign in with an instance's OpenID provider.
    SignIn(Box<sign_in::SampleSignIn>),
}

impl Demo {
    /// Runs the scenario.
    pub async fn run(mut self) -> End {
        match (self.service.take(), self.scenario) {
            (Some(DemoService::SignIn(sample)), _) => sample.run().await,
            (Some(DemoService::Permits(permits)), _) => or_interrupted(permits.run()).await,
            (None, Some(scenario)) => or_interrupted(self.walk(scenario)).await,
            (None, None) => Err(Failure::environment("name a scenario")),
        }
    }

    async fn walk(self, scenario: Scenario) -> End {
        if self.aries {
            return self.walk_over_didcomm(scenario).await;
        }
        let (cast, own) = self.cast().await?;
        let as_json = self.json;
        let mut tell = |step: &scenario::StepTime| {
            if !as_json {
                output::say(&format!("  {:<22} {:>8.2} ms", step.name, step.ms));
            }
        };
        if !as_json {
            output::say(scenario.name());
        }
        let story = scenario::play(scenario, &cast, &mut tell).await;
        if let Some(running) = own {
            running.until(std::future::ready(())).await?;
        }
        let story = story?;
        if as_json {
            output::json(&story);
        } else {
            tell_people(&story);
        }
        Ok(answer(&story))
    }

    async fn walk_over_didcomm(self, scenario: Scenario) -> End {
        let of = match scenario {
            Scenario::Blood => return blood::walk(self.json).await,
            Scenario::Immunization => AriesScenario::Study(StoryKind::Vaccination),
            Scenario::Prescription => AriesScenario::Study(StoryKind::Prescription),
            Scenario::Licence => {
                return Err(
                    Failure::environment("Aries agents present no mobile documents")
                        .hint("leave out --aries"),
                );
            }
            Scenario::Allergies
            | Scenario::ClinicalNotes
            | Scenario::LaboratoryResults
            | Scenario::Procedures => AriesScenario::Sample(scenario.name()),
        };
        aries::walk(scenario, of, self.json).await
    }

    async fn cast(&self) -> Result<(Cast, Option<Running>), Failure> {
        let Some(issuer) = &self.issuer else {
            let running = Launch::ephemeral()?.start().await?;
            let operator = running.operator()?;
            let cast = Cast {
                issuer: operator.clone(),
                wallet: operator.clone(),
                verifier: operator,
            };
            return Ok((cast, Some(running)));
        };
        let token_file = self
            .issuer_token_file
            .as_deref()
            .ok_or_else(|| Failure::environment("--issuer needs --issuer-token-file"))?;
        let wallet = self.wallet.as_ref().unwrap_or(issuer);
        let verifier = self.verifier.as_ref().unwrap_or(issuer);
        let verifier_token = self.verifier_token_file.as_deref().unwrap_or(token_file);
        let roots = self.roots.read()?;
        let client = |origin: &Url, token| Client::new(origin.clone(), token, roots.clone());
        let cast = Cast {
            issuer: client(issuer, Some(token_from(token_file)?))?,
            wallet: client(wallet, None)?,
            verifier: client(verifier, Some(token_from(verifier_token)?))?,
        };
        Ok((cast, None))
    }
}

/// The verdicts in words.
pub fn tell_people(story: &Story) {
    if let Some(verdict) = story
        .first
        .verdict
        .as_ref()
        .and_then(|verdict| verdict.credentials.first())
    {
        for line in verdict_table(verdict) {
            output::say(&line);
        }
    }
    let spent = story
        .after_spending
        .map(|outcome| format!(" · after spending: {}", outcome.as_str()));
    output::say(&format!(
        "presented: {}{} · after revocation: {}",
        story.verdict.as_str(),
        spent.unwrap_or_default(),
        story.after_revocation.as_str()
    ));
}

/// Yes if the scenario ended as expected.
pub fn answer(story: &Story) -> Answer {
    let spent = story
        .after_spending
        .is_none_or(|outcome| outcome == Outcome::Spent);
    if story.verdict == Outcome::Valid && spent && story.after_revocation == Outcome::Revoked {
        Answer::Yes
    } else {
        Answer::No
    }
}
