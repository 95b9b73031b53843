//! `selfsame saved-request`: what a verifier asks for, from its file to a link that people open.

use std::fs::File;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use selfsame_asked::definition::RequestDefinition;
use selfsame_asked::file;
use selfsame_asked::shown::{AskedCredential, AskedSet, RequestCheck};
use selfsame_openid::view::saved::{RequestOpening, SavedRequest};
use selfsame_openid::view::verifier::VerificationRequest;
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;

use crate::called::{Instance, segment};
use crate::client::{AllItems, handed_in};

const PATH: &str = "/api/verifier/saved-requests";

/// Save what a verifier asks for, and open it.
///
/// A saved request is a file in TOML or JSON. docs/saved-requests.md describes its members.
#[derive(Args)]
#[command(after_help = "Example: selfsame saved-request check check-in.toml
         selfsame saved-request save check-in.toml
         selfsame saved-request open check-in --reference order-17")]
pub struct SavedRequests {
    #[command(subcommand)]
    verb: SavedVerb,
}

#[derive(Subcommand)]
enum SavedVerb {
    /// Check a file without saving it: what the person who is asked is shown, and whether sample cards answer it.
    Check(OfFile),
    /// Save a file, or replace the request that is saved by its name, and print its link.
    Save(OfFile),
    /// List the saved requests.
    List(AllSaved),
    /// Show the file of a saved request.
    Show(OfName),
    /// Create a request from a saved one, and print its link for a wallet.
    Open(OpenedFor),
    /// Delete a saved request. Requests that were opened before stay as they are.
    Delete(OfName),
}

#[derive(Args)]
struct OfFile {
    /// The file, in TOML or JSON.
    file: PathBuf,
    #[command(flatten)]
    instance: Instance,
}

#[derive(Args)]
struct AllSaved {
    #[command(flatten)]
    instance: Instance,
}

#[derive(Args)]
struct OfName {
    /// The name of the saved request.
    name: String,
    #[command(flatten)]
    instance: Instance,
}

#[derive(Args)]
struct OpenedFor {
    /// A text that the status of the request repeats, such as the number of an order.
    #[arg(long)]
    reference: Option<String>,
    #[command(flatten)]
    of: OfName,
}

impl SavedRequests {
    /// Does what the verb says.
    pub async fn run(self) -> End {
        match self.verb {
            SavedVerb::Check(of) => of.check().await,
            SavedVerb::Save(of) => of.save().await,
            SavedVerb::List(all) => all.list().await,
            SavedVerb::Show(of) => of.show().await,
            SavedVerb::Open(opened) => opened.open().await,
            SavedVerb::Delete(of) => of.delete().await,
        }
    }
}

impl OfFile {
    async fn check(self) -> End {
        let definition = read(&self.file)?;
        let operator = self.instance.operator()?;
        let found: RequestCheck = operator.post(&format!("{PATH}/check"), &definition).await?;
        output::either(self.instance.json, &found, findings);
        Ok(match found.answerable {
            true => Answer::Yes,
            false => Answer::No,
        })
    }

    async fn save(self) -> End {
        let definition = read(&self.file)?;
        let path = format!("{PATH}/{}", segment(&definition.name));
        let saved: SavedRequest = self.instance.operator()?.put(&path, &definition).await?;
        output::either(self.instance.json, &saved, |saved| {
            vec![saved.link.clone(), summary(saved)]
        });
        Ok(Answer::Yes)
    }
}

impl AllSaved {
    async fn list(self) -> End {
        let all: AllItems<SavedRequest> = self.instance.operator()?.all(PATH).await?;
        output::either(self.instance.json, &all, |all| {
            all.items.iter().map(summary).collect()
        });
        Ok(Answer::Yes)
    }
}

impl OfName {
    fn path(&self) -> String {
        format!("{PATH}/{}", segment(&self.name))
    }

    async fn show(self) -> End {
        let saved: SavedRequest = self.instance.operator()?.get(&self.path()).await?;
        let text = file::text(&saved.definition)?;
        output::either(self.instance.json, &saved, |saved| {
            let heading = format!("# {}, changed {}", saved.link, saved.changed);
            let lines = text.lines().map(str::to_owned);
            std::iter::once(heading).chain(lines).collect()
        });
        Ok(Answer::Yes)
    }

    async fn delete(self) -> End {
        let operator = self.instance.operator()?;
        let done: serde_json::Value = operator.delete(&self.path()).await?;
        output::either(self.instance.json, &done, |_| {
            vec![format!("{} is deleted", self.name)]
        });
        Ok(Answer::Yes)
    }
}

impl OpenedFor {
    async fn open(self) -> End {
        let opening = RequestOpening {
            reference: self.reference,
        };
        let operator = self.of.instance.operator()?;
        let path = format!("{}/open", self.of.path());
        let opened: VerificationRequest = operator.post(&path, &opening).await?;
        output::either(self.of.instance.json, &opened, |opened| {
            vec![opened.uri.clone(), format!("request  {}", opened.id)]
        });
        Ok(Answer::Yes)
    }
}

fn read(path: &Path) -> Result<RequestDefinition, Failure> {
    let at = |error: &dyn std::fmt::Display| {
        Failure::environment(format!("{}: {error}", path.display()))
    };
    let bytes = File::open(path).and_then(handed_in);
    let text = String::from_utf8(bytes.map_err(|error| at(&error))?);
    Ok(file::read(&text.map_err(|_| at(&"not UTF-8"))?)?)
}

/// A saved request in one line.
fn summary(saved: &SavedRequest) -> String {
    let SavedRequest { definition, .. } = saved;
    let off = if definition.enabled { "" } else { ", off" };
    format!("{}{off}: {}", definition.name, definition.title)
}

fn findings(found: &RequestCheck) -> Vec<String> {
    let mut lines: Vec<String> = found.sets.iter().map(set_line).collect();
    lines.extend(found.credentials.iter().flat_map(credential_lines));
    let advice = found.advice.iter();
    lines.extend(advice.map(|reason| format!("advice: {}", selfsame_catalogue::english(reason))));
    lines.push(match found.answerable {
        true => "sample cards answer it".to_owned(),
        false => "no sample cards answer it".to_owned(),
    });
    lines
}

fn set_line(set: &AskedSet) -> String {
    let options: Vec<String> = set.options.iter().map(|ids| ids.join(" with ")).collect();
    let word = if set.required { "needed" } else { "optional" };
    format!("{word}: {}", options.join(", or "))
}

fn credential_lines(one: &AskedCredential) -> Vec<String> {
    let labels: Vec<&str> = one
        .claims
        .iter()
        .map(|claim| claim.label.as_str())
        .collect();
    let mut lines = vec![format!(
        "{}  {}, {}: {}",
        one.query,
        one.title,
        one.format,
        labels.join(", ")
    )];
    let reason = one.reason.as_ref();
    lines.extend(reason.map(|reason| format!("  {}", selfsame_catalogue::english(reason))));
    lines
}
