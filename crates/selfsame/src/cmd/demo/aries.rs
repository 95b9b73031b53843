//! The scenarios over DIDComm: three agents of one temporary instance, driven by their admin APIs.

use selfsame_acapy::AgentSection;
use selfsame_aries_bench::{AriesStory, ForeignAgents, StoryKind, play};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;

use super::publishing::publish;
use crate::instance::{Launch, Running};
use selfsame_api_commands::scenario::Scenario;

/// The agents, and whether each answers offers by itself. The issuer is the organisation that each instance has.
const AGENTS: [(&str, bool); 3] = [("main", false), ("pharmacy", false), ("patient", true)];
/// The issuer's own type, which is as the sample of the scenario.
const OWN_TYPE: &str = "own-record";

/// What a scenario issues and proves.
#[derive(Clone, Copy)]
pub enum AriesScenario {
    /// As the study did.
    Study(StoryKind),
    /// A credential of the type that this sample is.
    Sample(&'static str),
}

/// Runs a scenario and prints its calls.
pub async fn walk(scenario: Scenario, of: AriesScenario, as_json: bool) -> End {
    let mut launch = Launch::ephemeral()?;
    let agent = |(name, offers): (&str, bool)| AgentSection::on_loopback(name, offers);
    launch.agents = AGENTS.map(agent).into();
    let running = launch.start().await?;
    let played = story(&running, of).await;
    running.until(std::future::ready(())).await?;
    let story = played?;
    output::either(as_json, &story, |story| told(scenario, story));
    Ok(answer(&story))
}

async fn story(running: &Running, of: AriesScenario) -> Result<AriesStory, Failure> {
    let kind = match of {
        AriesScenario::Study(kind) => kind,
        AriesScenario::Sample(sample) => {
            publish(&running.operator()?, sample, OWN_TYPE).await?;
            StoryKind::Type(OWN_TYPE)
        }
    };
    let played = play(&apis(running)?, kind).await;
    played.map_err(|error| Failure::ours(error.to_string()))
}

fn apis(running: &Running) -> Result<ForeignAgents, Failure> {
    let mut urls = running
        .agents
        .iter()
        .map(|one| format!("http://{}", one.admin));
    let mut next = || {
        let absent = || Failure::ours("an agent has no admin API");
        urls.next().ok_or_else(absent)
    };
    Ok(ForeignAgents {
        issuer: next()?,
        verifier: next()?,
        holder: next()?,
    })
}

fn told(scenario: Scenario, story: &AriesStory) -> Vec<String> {
    let step =
        |step: &selfsame_aries_bench::StoryStep| format!("  {:<38} {:>8.2} ms", step.name, step.ms);
    let verified = |is: bool| if is { "valid" } else { "not valid" };
    let after = story.verified_after_revocation;
    let after = after.map(|is| format!(" · after revocation: {}", verified(is)));
    std::iter::once(format!("{} over DIDComm", scenario.name()))
        .chain(story.steps.iter().map(step))
        .chain([format!(
            "presented: {}{}",
            verified(story.verified),
            after.unwrap_or_default()
        )])
        .collect()
}

/// Yes if the proof was accepted, and none after a revocation.
fn answer(story: &AriesStory) -> Answer {
    match story.verified && story.verified_after_revocation != Some(true) {
        true => Answer::Yes,
        false => Answer::No,
    }
}
