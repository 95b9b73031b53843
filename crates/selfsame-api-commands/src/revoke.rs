//! `selfsame revoke`: revokes, suspends or reinstates a credential, or those that a file lists.

mod many;

use std::io::{self, BufRead, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use clap::Args;
use selfsame_openid::view::issuer::IssuedCredential;
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;
use serde_json::json;

use crate::called::{Instance, segment};
use many::StatusFile;

/// Maximum length of an answer.
const ANSWER_MAX: u64 = 64;

/// Revoke, suspend or reinstate a credential, or all credentials that a file lists. On a terminal the command asks first.
///
/// A file has one id a line. Each line that is refused is reported with its number, and all others get their status; then
/// the exit code is 1. A second run with the same file completes what the first one began.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame revoke 5Zr…   (the issuer's list of credentials shows the id)
         selfsame revoke --file ids.txt
         selfsame revoke --file ids.txt --suspend --yes"
)]
pub struct Revoke {
    /// The credential's id in the issuer's list.
    // Base64url (RFC 4648 §5) has a hyphen, which an id may begin with.
    #[arg(allow_hyphen_values = true, required_unless_present = "file")]
    id: Option<String>,
    /// The file that lists the ids of credentials, one a line; `-` for standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "id")]
    file: Option<PathBuf>,
    /// Suspend the credential; this can be undone.
    #[arg(long, conflicts_with = "reinstate")]
    suspend: bool,
    /// End a suspension.
    #[arg(long)]
    reinstate: bool,
    /// Do not ask first. Without a terminal the command never asks.
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    instance: Instance,
}

impl Revoke {
    /// Sets the status.
    pub async fn run(self) -> End {
        match (&self.file, &self.id) {
            (Some(file), _) => self.set_all(file).await,
            (None, id) => self.set(id.as_deref().unwrap_or_default()).await,
        }
    }

    fn status(&self) -> &'static str {
        match (self.suspend, self.reinstate) {
            (true, _) => "suspended",
            (_, true) => "valid",
            _ => "revoked",
        }
    }

    async fn set_all(&self, file: &Path) -> End {
        let status = self.status();
        if self.asks() && file.as_os_str() != "-" {
            let act = match status {
                "revoked" => "revoke",
                "suspended" => "suspend",
                _ => "reinstate",
            };
            let asked = format!("{act} all credentials that {} lists? [y/N]", file.display());
            if !confirmed(&asked)? {
                return Ok(Answer::No);
            }
        }
        let client = &self.instance.operator()?;
        let json = self.instance.json;
        let statuses = StatusFile {
            client,
            status,
            json,
        };
        statuses.run(file).await
    }

    /// Whether it asks before it changes something.
    fn asks(&self) -> bool {
        !self.yes && io::stdin().is_terminal()
    }

    async fn set(&self, id: &str) -> End {
        let status = self.status();
        let operator = self.instance.operator()?;
        let path = format!("/api/issuer/credentials/{}", segment(id));
        if self.asks() {
            let issued: IssuedCredential = operator.get(&path).await?;
            if !confirmed(&question(&issued, status))? {
                return Ok(Answer::No);
            }
        }
        let path = format!("{path}/status");
        let issued: IssuedCredential = operator.put(&path, &json!({"status": status})).await?;
        output::either(self.instance.json, &issued, |issued| {
            vec![format!("{} {} is {status}", issued.type_id, issued.id)]
        });
        Ok(Answer::Yes)
    }
}

/// Asks a question on the terminal; returns whether the answer is yes.
fn confirmed(question: &str) -> Result<bool, Failure> {
    output::complain(question);
    let is_agreed = agreed(&mut io::stdin().lock())?;
    if !is_agreed {
        output::complain("nothing was changed");
    }
    Ok(is_agreed)
}

/// The question before a change: which credential it is, whose, and what follows.
fn question(issued: &IssuedCredential, status: &str) -> String {
    let type_id = &issued.type_id;
    let whose = match &issued.label {
        Some(label) => format!("of {label}"),
        None => format!("number {}", issued.status_index),
    };
    let day = issued.issued.split('T').next().unwrap_or_default();
    // A change is published within a second, and then served lists grow old.
    let within = issued.status_ttl.saturating_add(1);
    let (act, follows) = match status {
        "revoked" => (
            "revoke",
            "verifiers will refuse it within SECONDS; it can't be undone",
        ),
        "suspended" => (
            "suspend",
            "verifiers will refuse it within SECONDS, until you reinstate it",
        ),
        _ => ("reinstate", "verifiers will accept it again within SECONDS"),
    };
    let follows = follows.replace("SECONDS", &format!("{within} seconds"));
    format!("{act} '{type_id}' {whose}, issued {day}? {follows} [y/N]")
}

/// Whether the answer is yes; anything else is no.
fn agreed(input: &mut impl BufRead) -> Result<bool, Failure> {
    let mut line = String::new();
    let read = input.take(ANSWER_MAX).read_line(&mut line);
    read.map_err(|error| Failure::environment(format!("standard input: {error}")))?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issued(label: Option<&str>) -> IssuedCredential {
        let one = json!({
            "id": "one", "type": "hospital-badge", "format": "dc+sd-jwt", "offer": "offer",
            "issued": "2026-11-20T10:00:00Z", "expires": "2027-11-20T10:00:00Z",
            "status": "valid", "published": true, "status_list": "https://clinic.example/status/0",
            "status_index": 27841, "status_ttl": 60, "label": label,
        });
        serde_json::from_value(one).unwrap()
    }

    #[test]
    fn the_question_names_the_person_the_type_and_what_follows() {
        assert_eq!(
            question(&issued(Some("Ada Lovelace")), "revoked"),
            "revoke 'hospital-badge' of Ada Lovelace, issued 2026-11-20? verifiers will refuse it within 61 seconds; it can't be undone [y/N]"
        );
        let suspend = question(&issued(None), "suspended");
        assert!(suspend.starts_with("suspend 'hospital-badge' number 27841"));
        assert!(question(&issued(None), "valid").contains("accept it again"));
    }

    #[test]
    fn only_a_yes_is_a_yes() {
        for (typed, is_yes) in [
            ("y\n", true),
            (" Yes \n", true),
            ("n\n", false),
            ("", false),
            ("\n", false),
        ] {
            assert_eq!(agreed(&mut typed.as_bytes()).unwrap(), is_yes, "{typed:?}");
        }
    }
}
