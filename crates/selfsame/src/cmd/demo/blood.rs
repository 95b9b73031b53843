//! A question that is answered with yes or no, over DIDComm: may this person give blood to A+?

use selfsame_acapy::AgentSection;
use selfsame_aries_bench::{DONOR_TYPE, Donor, DonorAgents, DonorAnswer, DonorStory, ask_donors};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;

use super::publishing::publish;
use crate::instance::{Launch, Running};

/// The agents, and whether each answers offers by itself. The laboratory is the organisation that each instance has.
const AGENTS: [(&str, bool); 4] = [
    ("main", false),
    ("hospital", false),
    ("anna", true),
    ("berta", true),
];
/// The people, with what the laboratory finds.
const PEOPLE: [(&str, &str); 2] = [("Anna", "A Rh positive"), ("Berta", "B Rh positive")];
/// The sample type that has the question's answer.
const SAMPLE: &str = "laboratory-results";
/// Runs the story and prints the answers.
pub async fn walk(as_json: bool) -> End {
    let mut launch = Launch::ephemeral()?;
    let agent = |(name, offers): (&str, bool)| AgentSection::on_loopback(name, offers);
    launch.agents = AGENTS.map(agent).into();
    let running = launch.start().await?;
    let told = story(&running).await;
    running.until(std::future::ready(())).await?;
    let story = told?;
    output::either(as_json, &story, told_to_people);
    Ok(answer(&story))
}

async fn story(running: &Running) -> Result<DonorStory, Failure> {
    publish(&running.operator()?, SAMPLE, DONOR_TYPE).await?;
    let mut urls = running
        .agents
        .iter()
        .map(|one| format!("http://{}", one.admin));
    let mut next = || {
        let absent = || Failure::ours("an agent has no admin API");
        urls.next().ok_or_else(absent)
    };
    let (laboratory, hospital) = (next()?, next()?);
    let mut donors = Vec::new();
    for (name, blood_group) in PEOPLE {
        let admin = next()?;
        donors.push(Donor {
            name,
            blood_group,
            admin,
        });
    }
    let agents = DonorAgents {
        laboratory,
        hospital,
        donors,
    };
    let asked = ask_donors(&agents).await;
    asked.map_err(|error| Failure::ours(error.to_string()))
}

fn told_to_people(story: &DonorStory) -> Vec<String> {
    let line = |one: &DonorAnswer| {
        let said = if one.may_give { "yes" } else { "no" };
        let (name, group) = (one.name, one.blood_group);
        let seen = match one.revealed {
            0 => "the hospital saw no value".to_owned(),
            many => format!("the hospital saw {many} values"),
        };
        format!(
            "  {name:<8} {said:<4} {:>8.2} ms   {seen} ({group})",
            one.ms
        )
    };
    std::iter::once(story.question.to_owned())
        .chain(story.answers.iter().map(line))
        .collect()
}

/// Yes if each answer is right, and none shows a value.
fn answer(story: &DonorStory) -> Answer {
    let is_right = |one: &DonorAnswer| {
        let may_give = one.blood_group.starts_with("A ");
        one.may_give == may_give && one.revealed == 0
    };
    match story.answers.iter().all(is_right) {
        true => Answer::Yes,
        false => Answer::No,
    }
}
