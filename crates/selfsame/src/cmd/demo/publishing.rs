//! Types of the instance's own organisation, as its agent issues them.

use std::time::Duration;

use selfsame_api_commands::Client;
use selfsame_terminal::exit::Failure;
use selfsame_types::TypeSummary;
use selfsame_types::model::PublishingState;

/// How often the instance is asked whether the type is published, and how many times.
const PAUSE: Duration = Duration::from_millis(50);
const LOOKS: usize = 1_200;

/// Publishes a type that is as this sample, and that is issued over DIDComm too, under this identifier.
pub async fn publish(operator: &Client, sample: &str, id: &str) -> Result<(), Failure> {
    let sample: TypeSummary = operator.get(&format!("/api/types/{sample}")).await?;
    let absent = || Failure::ours("the sample type has no definition");
    let mut definition = sample.definition.ok_or_else(absent)?;
    definition.id = id.to_owned();
    definition.w3c_types.clear();
    definition.formats.issued = definition.formats.offered().collect();
    definition.formats.anoncreds = true;
    let path = format!("/api/types/{id}");
    let _: TypeSummary = operator.put(&path, &definition).await?;
    let nothing = serde_json::json!({});
    let _: TypeSummary = operator.post(&format!("{path}/publish"), &nothing).await?;
    for _ in 0..LOOKS {
        let shown: TypeSummary = operator.get(&path).await?;
        match shown.anoncreds.map(|objects| objects.state) {
            Some(PublishingState::Published) => return Ok(()),
            Some(PublishingState::Publishing) => tokio::time::sleep(PAUSE).await,
            Some(PublishingState::Failed) | None => break,
        }
    }
    Err(Failure::ours("the type was not published to the registry"))
}
