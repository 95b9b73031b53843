//! `selfsame book`: what those who keep a credential book do with its index.

mod load;

use std::time::Duration;

use clap::{Args, Subcommand};
use selfsame_book_view::{IndexRebuild, RebuildState};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;
use serde_json::json;
use tokio::time::sleep;

use crate::called::Instance;

/// How often the progress is asked for.
const EVERY: Duration = Duration::from_millis(500);
const PATH: &str = "/api/book/rebuild";

/// Load a credential book, or build its search index anew.
#[derive(Args)]
#[command(after_help = "Example: selfsame book rebuild
         selfsame book load registration --from rows.ndjson

What a credential book is: docs/book.md")]
pub struct BookCommand {
    #[command(subcommand)]
    verb: BookVerb,
}

#[derive(Subcommand)]
enum BookVerb {
    /// Build the search index anew from the records, while the instance runs.
    ///
    /// Searches find what is indexed so far. If the command is interrupted, the instance goes on by itself; run it again to
    /// watch it.
    #[command(after_help = "Example: selfsame book rebuild
         selfsame book rebuild --organisation acme")]
    Rebuild {
        #[command(flatten)]
        instance: Instance,
    },
    /// Load claims that the organisation vouches for itself, a thousand at a time.
    ///
    /// Each line of the file is a row, `{"claims": {…}}`. With an `id`, a UUID, it can be loaded again without being entered
    /// twice, for example after an interruption.
    #[command(
        after_help = "Example: selfsame book load registration --from rows.ndjson
         selfsame book load permit --from permits.ndjson --organisation acme"
    )]
    Load(load::BookLoad),
}

impl BookCommand {
    /// Does what the verb says.
    pub async fn run(self) -> End {
        match self.verb {
            BookVerb::Rebuild { instance } => rebuild(&instance).await,
            BookVerb::Load(load) => load.run().await,
        }
    }
}

async fn rebuild(instance: &Instance) -> End {
    let operator = instance.operator()?;
    let mut now: IndexRebuild = operator.post(PATH, &json!({})).await?;
    let mut said = None;
    while now.state == RebuildState::Running {
        if said != Some(now.records) && !instance.json {
            output::say(&line(&now));
            said = Some(now.records);
        }
        sleep(EVERY).await;
        now = operator.get(PATH).await?;
    }
    if now.state == RebuildState::Failed {
        let failed = "the index could not be built; the log of the instance says why";
        return Err(Failure::environment(failed).hint("run the command again to begin again"));
    }
    output::either(instance.json, &now, |now| vec![line(now)]);
    Ok(Answer::Yes)
}

fn line(rebuild: &IndexRebuild) -> String {
    match rebuild.state {
        RebuildState::Done => format!("The index is built anew from {} records.", rebuild.records),
        _ => format!("{} of {} records", rebuild.records, rebuild.of),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_progress_and_the_end_are_said() {
        let said = |state| {
            line(&IndexRebuild {
                state,
                records: 3,
                of: 7,
            })
        };
        assert_eq!(said(RebuildState::Running), "3 of 7 records");
        assert_eq!(
            said(RebuildState::Done),
            "The index is built anew from 3 records."
        );
    }
}
