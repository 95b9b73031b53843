//! `selfsame revoke --file`: revokes, suspends or reinstates the credentials whose ids a file lists.

use std::path::Path;

use selfsame_openid::view::issuer::{IssuedCredential, NewStatuses};
use selfsame_terminal::exit::{Answer, Failure};
use selfsame_terminal::output;
use selfsame_terminal::progress::Progress;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::client::{Client, RefusedRow};
use crate::lines::{lines_of, unreadable};

/// Maximum number of bytes of an id.
const ID_MAX: usize = 128;

/// A list without pages.
#[derive(Deserialize)]
struct ChangedCredentials {
    items: Vec<IssuedCredential>,
}

/// What came of the lines of a file.
#[derive(Default, Serialize)]
struct Outcome {
    /// Credentials that have the status now.
    done: usize,
    /// The lines that were refused.
    refused: Vec<RefusedLine>,
}

/// A line that was refused.
#[derive(Serialize)]
struct RefusedLine {
    line: u64,
    why: String,
}

/// An id, and the line that it stands on.
struct ListedId {
    line: u64,
    id: String,
}

/// Gives the credentials of a file a new status, by portions of as many as one request takes.
pub struct StatusFile<'a> {
    /// The client of the issuer's instance.
    pub client: &'a Client,
    /// The new status.
    pub status: &'a str,
    /// Whether the result is printed as JSON.
    pub json: bool,
}

impl StatusFile<'_> {
    /// Sends the ids. Each line that is refused is reported; all others get their status.
    ///
    /// # Errors
    /// If the file can't be read, or the instance does not answer. A second run completes what the first one began.
    pub async fn run(&self, path: &Path) -> Result<Answer, Failure> {
        let progress = Progress::new(self.json);
        let mut outcome = Outcome::default();
        let mut portion = Vec::new();
        let mut lines = lines_of(path, ID_MAX)?;
        let failed = |error: std::io::Error| unreadable(path, &error);
        while let Some(line) = lines.next_line().map_err(failed)? {
            match line.text {
                Ok(id) if id.trim().is_empty() => {}
                Ok(id) => portion.push(ListedId {
                    line: line.number,
                    id: id.trim().to_owned(),
                }),
                Err(fault) => {
                    let refused = RefusedLine {
                        line: line.number,
                        why: fault.to_string(),
                    };
                    self.refuse(&mut outcome, &progress, refused);
                }
            }
            if portion.len() == NewStatuses::IDS_MAX {
                self.send(std::mem::take(&mut portion), &mut outcome, &progress)
                    .await?;
            }
        }
        if !portion.is_empty() {
            self.send(portion, &mut outcome, &progress).await?;
        }
        drop(progress);
        let status = self.status;
        output::either(self.json, &outcome, |outcome| {
            vec![format!("{} credentials are {status}", outcome.done)]
        });
        Ok(match outcome.refused.is_empty() {
            true => Answer::Yes,
            false => Answer::No,
        })
    }

    /// Sends a portion, without the lines that are refused.
    async fn send(
        &self,
        mut portion: Vec<ListedId>,
        outcome: &mut Outcome,
        progress: &Progress,
    ) -> Result<(), Failure> {
        while !portion.is_empty() {
            let ids: Vec<&str> = portion.iter().map(|one| one.id.as_str()).collect();
            let body = json!({ "status": self.status, "ids": ids });
            let path = "/api/issuer/credentials/status";
            match self
                .client
                .post_rows::<ChangedCredentials>(path, &body)
                .await?
            {
                Ok(listed) => {
                    outcome.done = outcome.done.saturating_add(listed.items.len());
                    let done = u64::try_from(outcome.done).unwrap_or(u64::MAX);
                    progress.at("credentials", done);
                    return Ok(());
                }
                Err(RefusedRow { index, why }) if index < portion.len() => {
                    let refused = portion.remove(index);
                    self.refuse(outcome, progress, refused.because(&why));
                }
                Err(RefusedRow { why, .. }) => return Err(why),
            }
        }
        Ok(())
    }

    fn refuse(&self, outcome: &mut Outcome, progress: &Progress, refused: RefusedLine) {
        if !self.json {
            progress.complain(&format!("line {}: {}", refused.line, refused.why));
        }
        outcome.refused.push(refused);
    }
}

impl ListedId {
    fn because(&self, why: &Failure) -> RefusedLine {
        // The instance counts the ids of its request; the person counts lines.
        let told = why.message();
        let why = match told.split_once(": ") {
            Some((place, why)) if place.starts_with("id ") => why,
            _ => told,
        };
        RefusedLine {
            line: self.line,
            why: format!("{}: {why}", self.id),
        }
    }
}
