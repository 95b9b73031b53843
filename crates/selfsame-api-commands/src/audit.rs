//! `selfsame audit`: the audit trail of an organisation.

use std::fs::File;
use std::io::{BufReader, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use selfsame_audit::{AuditEntry, AuditResult, ChainAnchor, ChainHead, LinkHash, Verified, verify};
use selfsame_driver::paging::Listing;
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;
use serde::Serialize;

use crate::called::{Instance, segment};
use crate::client::{AllItems, Client};

/// Show, export and verify who did what (docs/audit.md).
#[derive(Args)]
#[command(after_help = "Example: selfsame audit verify")]
pub struct Audit {
    #[command(subcommand)]
    verb: AuditVerb,
}

#[derive(Subcommand)]
enum AuditVerb {
    /// List acts, newest first.
    #[command(
        after_help = "Example: selfsame audit list --actor clerk@clinic.example --since 2026-11"
    )]
    List(ListActs),
    /// Write the whole trail as lines of JSON, for an archive or an auditor.
    #[command(after_help = "Example: selfsame audit export --out trail.ndjson")]
    Export(Export),
    /// Verify the trail of the instance, or one that was exported.
    ///
    /// Detects entries that were changed, added, removed or moved. Heads that were seen before, by --head or among the
    /// anchors of the instance, detect a trail that was cut off or written again.
    #[command(
        after_help = "Example: selfsame audit verify trail.ndjson --head 7:47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"
    )]
    Verify(VerifyTrail),
}

#[derive(Args)]
struct ListActs {
    /// Only acts of the person or key with this name or id.
    #[arg(long)]
    actor: Option<String>,
    /// Only acts whose address contains this text.
    #[arg(long)]
    act: Option<String>,
    /// Only acts on an object whose id begins like this, or on a credential of this type or with this number.
    #[arg(long)]
    object: Option<String>,
    /// Only acts from this time on: RFC 3339 or its beginning.
    #[arg(long)]
    since: Option<String>,
    /// Only acts before this time.
    #[arg(long)]
    until: Option<String>,
    /// Maximum number of acts.
    #[arg(long, default_value_t = 50)]
    limit: usize,
    #[command(flatten)]
    instance: Instance,
}

#[derive(Args)]
struct Export {
    /// The file to write; default: standard output.
    #[arg(long)]
    out: Option<PathBuf>,
    #[command(flatten)]
    instance: Instance,
}

#[derive(Args)]
struct VerifyTrail {
    /// A file that was exported; default: the trail of the running instance.
    file: Option<PathBuf>,
    /// A head that was seen before, as the number and the hash of its link; may be repeated.
    #[arg(long = "head", value_name = "NUMBER:HASH")]
    heads: Vec<String>,
    #[command(flatten)]
    instance: Instance,
}

impl Audit {
    /// Does what the verb says.
    pub async fn run(self) -> End {
        match self.verb {
            AuditVerb::List(list) => list.run().await,
            AuditVerb::Export(export) => export.run().await,
            AuditVerb::Verify(verify) => verify.run().await,
        }
    }
}

impl ListActs {
    async fn run(self) -> End {
        let operator = self.instance.operator()?;
        let filters = [
            ("actor", &self.actor),
            ("act", &self.act),
            ("object", &self.object),
            ("since", &self.since),
            ("until", &self.until),
        ];
        let filters: String = filters
            .iter()
            .filter_map(|(name, value)| Some(format!("&{name}={}", segment(value.as_deref()?))))
            .collect();
        let (mut found, mut after) = (Vec::new(), String::new());
        while found.len() < self.limit {
            let limit = (self.limit - found.len()).clamp(1, 200);
            let path = format!("/api/audit?limit={limit}{filters}{after}");
            let page: Listing<AuditEntry> = operator.get(&path).await?;
            found.extend(page.items);
            match page.next {
                Some(next) => after = format!("&after={}", segment(&next)),
                None => break,
            }
        }
        output::either(self.instance.json, &FoundActs { items: found }, |found| {
            found.items.iter().map(line).collect()
        });
        Ok(Answer::Yes)
    }
}

/// The acts that were found.
#[derive(Serialize)]
struct FoundActs {
    items: Vec<AuditEntry>,
}

impl Export {
    async fn run(self) -> End {
        let operator = self.instance.operator()?;
        match &self.out {
            None => {
                for_each_part(&operator, |part| {
                    part.trim_end().lines().for_each(output::say);
                    Ok(())
                })
                .await?;
            }
            Some(path) => {
                let mut file = created(path)?;
                for_each_part(&operator, |part| {
                    let written = file.write_all(part.as_bytes());
                    written.map_err(|error| unwritable(path, &error))
                })
                .await?;
                file.sync_all().map_err(|error| unwritable(path, &error))?;
                output::complain(&format!("the trail is in {}", path.display()));
            }
        }
        Ok(Answer::Yes)
    }
}

fn created(path: &Path) -> Result<File, Failure> {
    File::create_new(path).map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::environment(format!("{}: {error}", path.display()))
}

/// Gets the trail part by part.
async fn for_each_part(
    operator: &Client,
    mut take: impl FnMut(&str) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut after = 0;
    loop {
        let part = operator
            .text(&format!("/api/audit/export?after={after}"))
            .await?;
        take(&part)?;
        match last_link(&part) {
            Some(number) => after = number,
            None => return Ok(()),
        }
    }
}

/// The number of the last link of a part; `None` if the part ends with the head of the trail.
fn last_link(part: &str) -> Option<u64> {
    let lines = part.lines().rev();
    let mut values = lines.map_while(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let last = values.find(|line| line.get("entry").is_none())?;
    last.get("link")?.get("number")?.as_u64()
}

impl VerifyTrail {
    async fn run(self) -> End {
        let mut known = Vec::new();
        let verified = match &self.file {
            Some(path) => {
                let file = File::open(path);
                let file = file.map_err(|error| unwritable(path, &error))?;
                let organisation = self.organisation();
                known.extend(self.heads(&organisation)?);
                verify(BufReader::new(file), &known)
            }
            None => {
                let operator = self.instance.operator()?;
                let anchors: AllItems<ChainAnchor> = operator.all("/api/audit/anchors").await?;
                known.extend(anchors.items.into_iter().map(|anchor| anchor.head));
                known.extend(self.heads(&self.organisation())?);
                let mut trail = Vec::new();
                for_each_part(&operator, |part| {
                    trail.extend_from_slice(part.as_bytes());
                    Ok(())
                })
                .await?;
                verify(&trail[..], &known)
            }
        };
        let verified = verified.map_err(|fault| Failure::no(fault.to_string()))?;
        let report = TrailReport {
            heads_known: known.len(),
            head: verified.head.clone(),
        };
        output::either(self.instance.json, &report, |report| {
            lines(&verified, report)
        });
        Ok(Answer::Yes)
    }

    fn organisation(&self) -> String {
        let named = self.instance.organisation.as_ref();
        named.map_or_else(|| "main".to_owned(), ToString::to_string)
    }

    fn heads(&self, organisation: &str) -> Result<Vec<ChainHead>, Failure> {
        let parse = |text: &String| {
            let (number, hash) = text.split_once(':')?;
            Some(ChainHead {
                organisation: organisation.to_owned(),
                number: number.parse().ok()?,
                hash: LinkHash::try_from(hash.to_owned()).ok()?,
                entries: 0,
            })
        };
        let wrong = |text: &String| {
            Failure::environment(format!("{text} is not a head")).hint(
                "a head is the number and the hash of a link, such as 7:47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU; `selfsame audit verify` prints it",
            )
        };
        let heads = self.heads.iter();
        heads
            .map(|text| parse(text).ok_or_else(|| wrong(text)))
            .collect()
    }
}

/// What a verification found.
#[derive(Serialize)]
struct TrailReport {
    head: ChainHead,
    /// How many heads that were known before the trail contains.
    heads_known: usize,
}

fn lines(verified: &Verified, report: &TrailReport) -> Vec<String> {
    let head = &report.head;
    let span = match &verified.span {
        Some((first, last)) => format!(", from {first} to {last}"),
        None => String::new(),
    };
    vec![
        format!(
            "the trail of {} is complete and unchanged: {} entries{span}",
            head.organisation, head.entries
        ),
        format!("head {}:{}", head.number, head.hash),
        format!(
            "it contains {} heads that were known before",
            report.heads_known
        ),
    ]
}

fn line(entry: &AuditEntry) -> String {
    let object = entry.detail.as_deref().or(entry.object.as_deref());
    let object = object.unwrap_or("-");
    let result = match &entry.result {
        AuditResult::Done => "done".to_owned(),
        AuditResult::Refused(reason) => format!("refused: {reason}"),
    };
    format!(
        "{}  {}  {}  {object}  {result}",
        entry.at, entry.actor.name, entry.act
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_goes_on_after_its_last_link_unless_it_ends_with_the_head() {
        let part = "{\"link\":{\"number\":3}}\n{\"entry\":{}}\n{\"entry\":{}}\n";
        assert_eq!(last_link(part), Some(3));
        assert_eq!(last_link(&format!("{part}{{\"head\":{{}}}}\n")), None);
        assert_eq!(last_link(""), None);
    }
}
