//! `selfsame backup`: backs up a running instance.

use clap::Args;
use selfsame_app::view::instance::CopyMade;
use selfsame_terminal::exit::{Answer, End};
use selfsame_terminal::output;
use serde_json::json;

use crate::called::Instance;

/// Back up a running instance.
///
/// The copy is a directory inside the instance's data directory, sealed like the data. It does not contain the master
/// key: keep the key elsewhere.
#[derive(Args)]
#[command(after_help = "Example: selfsame backup --json
See docs/backup.md for what to do with the copy.")]
pub struct Backup {
    #[command(flatten)]
    instance: Instance,
}

impl Backup {
    /// Requests the backup and prints where it is.
    ///
    /// # Errors
    /// What the instance refuses, and what keeps the command from calling it.
    pub async fn run(self) -> End {
        let made: CopyMade = self
            .instance
            .operator()?
            .post("/api/copies", &json!({}))
            .await?;
        output::either(self.instance.json, &made, lines);
        Ok(Answer::Yes)
    }
}

fn lines(made: &CopyMade) -> Vec<String> {
    vec![
        made.directory.clone(),
        "Move it to another machine. It does not contain the master key: keep a copy of the key elsewhere.".to_owned(),
        "To restore it: selfsame restore COPY --data DIRECTORY".to_owned(),
    ]
}
