//! `selfsame type`: credential types, from their files to their retirement.

mod file;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use selfsame_catalogue::{Language, sentence};
use selfsame_driver::Reason;
use selfsame_terminal::exit::{Answer, End};
use selfsame_terminal::output;
use selfsame_types::file::to_toml;
use selfsame_types::import::import;
use selfsame_types::{TypeSummary, check};
use serde_json::json;

use crate::called::{Instance, segment};
use crate::client::AllItems;

/// Create, check, publish, show and retire credential types.
///
/// A type is a file in TOML or JSON. docs/credential-types.md describes its members.
#[derive(Args)]
#[command(after_help = "Example: selfsame type new membership
         selfsame type check membership.toml
         selfsame type publish membership.toml
         selfsame issue membership --examples")]
pub struct CredentialTypes {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Write a file to begin with.
    New(New),
    /// Check a file; no instance is needed.
    Check(OfFile),
    /// Publish a file as the next version of its type.
    Publish(Publish),
    /// Show the file of a type, and what the registry has of it for AnonCreds.
    Show(OfType),
    /// ListTypes all types.
    List(ListTypes),
    /// Retire a type: nothing more is issued of it, and what was issued stays verifiable.
    Retire(OfType),
    /// Make a file of SD-JWT VC type metadata, a JSON Schema or an OCA bundle; no instance is needed.
    Import(Import),
}

#[derive(Args)]
struct New {
    /// The id of the type: lower-case letters, digits and hyphens.
    id: String,
    /// The file to write; by default the id and `.toml`.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Args)]
struct OfFile {
    /// The file: JSON if its name ends with `.json`, otherwise TOML.
    file: PathBuf,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Publish {
    /// The file. Images can be paths, relative to the file.
    file: PathBuf,
    /// Save the type as a draft, without publishing it.
    #[arg(long)]
    draft: bool,
    #[command(flatten)]
    instance: Instance,
}

#[derive(Args)]
struct OfType {
    /// The id of the type.
    id: String,
    #[command(flatten)]
    instance: Instance,
}

#[derive(Args)]
struct ListTypes {
    #[command(flatten)]
    instance: Instance,
}

#[derive(Args)]
struct Import {
    /// The file to import.
    file: PathBuf,
    /// The id of the type; by default it is made from the name.
    #[arg(long)]
    id: Option<String>,
}

impl CredentialTypes {
    /// Runs the subcommand.
    pub async fn run(self) -> End {
        match self.verb {
            Verb::New(new) => file::write_new(&new.id, new.out),
            Verb::Check(of) => of.check(),
            Verb::Publish(publish) => publish.run().await,
            Verb::Show(of) => of.show().await,
            Verb::List(list) => list.run().await,
            Verb::Retire(of) => of.retire().await,
            Verb::Import(from) => from.run(),
        }
    }
}

impl OfFile {
    fn check(self) -> End {
        let definition = file::read(&self.file)?;
        let found = check(&definition);
        let is_sound = found.refusals.is_empty();
        let told = |reasons: &[Reason]| reasons.iter().map(line).collect::<Vec<_>>();
        let (refusals, advice) = (told(&found.refusals), told(&found.advice));
        let report = json!({"valid": is_sound, "refusals": refusals, "advice": advice});
        output::either(self.json, &report, |_| {
            let refused = refusals.into_iter().map(|line| format!("refused: {line}"));
            let advised = advice.into_iter().map(|line| format!("advice: {line}"));
            let sound = is_sound.then(|| format!("{} can be published", definition.id));
            refused.chain(advised).chain(sound).collect()
        });
        Ok(if is_sound { Answer::Yes } else { Answer::No })
    }
}

impl Publish {
    async fn run(self) -> End {
        let definition = file::read(&self.file)?;
        check(&definition).result()?;
        let operator = self.instance.operator()?;
        let address = format!("/api/types/{}", segment(&definition.id));
        let mut saved: TypeSummary = operator.put(&address, &definition).await?;
        if !self.draft {
            let advice = std::mem::take(&mut saved.advice);
            saved = operator
                .post(&format!("{address}/publish"), &json!({}))
                .await?;
            saved.advice = advice;
        }
        output::either(self.instance.json, &saved, |saved| {
            let mut lines = vec![summary(saved)];
            lines.extend(anoncreds(saved));
            lines.extend(
                saved
                    .advice
                    .iter()
                    .map(|reason| format!("advice: {}", line(reason))),
            );
            lines
        });
        Ok(Answer::Yes)
    }
}

impl OfType {
    async fn show(self) -> End {
        let address = format!("/api/types/{}", segment(&self.id));
        let shown: TypeSummary = self.instance.operator()?.get(&address).await?;
        let definition = shown.draft.as_ref().or(shown.definition.as_ref());
        let text = definition.map(to_toml).transpose()?.unwrap_or_default();
        output::either(self.instance.json, &shown, |shown| {
            let mut lines = vec![format!("# {}", summary(shown))];
            lines.extend(anoncreds(shown));
            lines.extend(text.lines().map(str::to_owned));
            lines
        });
        Ok(Answer::Yes)
    }

    async fn retire(self) -> End {
        let address = format!("/api/types/{}/retire", segment(&self.id));
        let retired: TypeSummary = self.instance.operator()?.post(&address, &json!({})).await?;
        output::either(self.instance.json, &retired, |retired| {
            vec![summary(retired)]
        });
        Ok(Answer::Yes)
    }
}

impl ListTypes {
    async fn run(self) -> End {
        let all: AllItems<TypeSummary> = self.instance.operator()?.all("/api/types").await?;
        output::either(self.instance.json, &all, |all| {
            all.items.iter().map(summary).collect()
        });
        Ok(Answer::Yes)
    }
}

impl Import {
    fn run(self) -> End {
        let imported = import(&file::bytes(&self.file)?, self.id.as_deref())?;
        for reason in &imported.left_out {
            output::complain(&line(reason));
        }
        for reason in check(&imported.definition).refusals {
            output::complain(&format!("to be changed: {}", line(&reason)));
        }
        for text in to_toml(&imported.definition)?.lines() {
            output::say(text);
        }
        Ok(Answer::Yes)
    }
}

/// A type in one line.
fn summary(one: &TypeSummary) -> String {
    let mut line = format!("{} {}", one.id, one.state.as_str());
    if let Some(version) = one.version {
        line.push_str(&format!(", version {version}"));
    }
    if one.has_draft && one.version.is_some() {
        line.push_str(", with a draft");
    }
    if one.sample {
        line.push_str(", sample");
    }
    format!("{line}: {}", one.title)
}

/// What a type has in the registry for AnonCreds, as comments of its file.
fn anoncreds(one: &TypeSummary) -> Vec<String> {
    let Some(objects) = &one.anoncreds else {
        return Vec::new();
    };
    let failed = objects.reason.as_ref().map(line);
    let failed = failed.map_or_else(String::new, |reason| format!(": {reason}"));
    vec![
        format!("# AnonCreds {}{failed}", objects.state.as_str()),
        format!("# schema {}", objects.schema_id),
        format!("# credential definition {}", objects.cred_def_id),
    ]
}

/// A reason in one line, with its hint.
fn line(reason: &Reason) -> String {
    let sentence = sentence(Language::English, reason);
    match sentence.hint {
        Some(hint) => format!("{}; {hint}", sentence.text),
        None => sentence.text,
    }
}
