//! The scenarios over DIDComm: three agents of one temporary instance, driven by their admin APIs.

use selfsame_acapy::AgentSection;
use selfsame_aries_bench::{AriesStory, ForeignAgents, StoryKind, play};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;

use crate::instance::{Launch, Running};
use crate::scenario::Scenario;

/// The agents, and whether each answers offers by itself.
const AGENTS: [(&str, bool); 3] = [("clinic", false), ("pharmacy", false), ("patient", true)];

/// Runs a scenario and prints its calls.
pub async fn walk(scenario: Scenario, kind: StoryKind, as_json: bool) -> End {
    let mut launch = Launch::ephemeral()?;
    let agent = |(name, offers): (&str, bool)| AgentSection::on_loopback(name, offers);
    launch.agents = AGENTS.map(agent).into();
    let running = launch.start().await?;
    let played = play(&apis(&running)?, kind).await;
    running.until(std::future::ready(())).await?;
    let story = played.map_err(|error| Failure::ours(error.to_string()))?;
    output::either(as_json, &story, |story| told(scenario, story));
    Ok(answer(&story))
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
