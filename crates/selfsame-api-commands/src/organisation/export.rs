//! `selfsame organisation export`: an organisation as lines of JSON.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;
use serde_json::Value;

use super::path;
use crate::called::{Instance, segment};

/// Export an organisation as lines of JSON (docs/organisations.md).
///
/// Without a name, the organisation of --organisation exports itself; so do API keys and people of that organisation.
#[derive(Args)]
#[command(after_help = "Example: selfsame organisation export acme --out acme.ndjson")]
pub(super) struct OrganisationExport {
    /// Its name.
    name: Option<String>,
    /// The file to write; default: standard output.
    #[arg(long)]
    out: Option<PathBuf>,
    #[command(flatten)]
    instance: Instance,
}

/// How a part ends.
enum PartEnd {
    /// The next one begins there.
    More(String),
    /// It was the last.
    Over,
}

impl OrganisationExport {
    pub(super) async fn run(self) -> End {
        let Some(out) = &self.out else {
            self.parts(|text| {
                text.trim_end().lines().for_each(output::say);
                Ok(())
            })
            .await?;
            return Ok(Answer::Yes);
        };
        let unwritable = |error| Failure::environment(format!("{}: {error}", out.display()));
        // Created once there is something to write, so that a refusal leaves no file.
        let mut created: Option<BufWriter<File>> = None;
        self.parts(|text| {
            let file = match &mut created {
                Some(file) => file,
                none => none.insert(BufWriter::new(File::create_new(out).map_err(unwritable)?)),
            };
            file.write_all(text.as_bytes()).map_err(unwritable)
        })
        .await?;
        if let Some(mut file) = created {
            file.flush().map_err(unwritable)?;
            file.get_ref().sync_all().map_err(unwritable)?;
        }
        output::complain(&format!("the export is in {}", out.display()));
        Ok(Answer::Yes)
    }

    /// Gets the export part by part.
    async fn parts(
        &self,
        mut take: impl FnMut(&str) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let operator = self.instance.operator()?.for_long_texts();
        let place = match &self.name {
            Some(name) => format!("{}/export", path(name)),
            None => "/api/export".to_owned(),
        };
        let mut after = String::new();
        loop {
            let from = format!("{place}?after={}", segment(&after));
            let part = operator.text(&from).await?;
            match end(&part) {
                Some((records, PartEnd::More(next))) => {
                    take(records)?;
                    after = next;
                }
                Some((all, PartEnd::Over)) => return take(all),
                None => return Err(Failure::ours("a part of the export was cut off")),
            }
        }
    }
}

/// The lines of a part to keep, and how it ends; `None` for one that was cut off.
fn end(part: &str) -> Option<(&str, PartEnd)> {
    let trimmed = part.strip_suffix('\n')?;
    let from = trimmed.rfind('\n').map_or(0, |before| before + 1);
    let (records, last) = trimmed.split_at_checked(from)?;
    let last: Value = serde_json::from_str(last).ok()?;
    match last.get("kind")?.as_str()? {
        "more" => Some((
            records,
            PartEnd::More(last.get("after")?.as_str()?.to_owned()),
        )),
        "end" => Some((part, PartEnd::Over)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_ends_with_where_to_go_on_or_with_the_end_or_was_cut_off() {
        let more = "{\"kind\":\"header\"}\n{\"kind\":\"more\",\"after\":\"2.5.x\"}\n";
        let Some((records, PartEnd::More(after))) = end(more) else {
            panic!("it goes on");
        };
        assert_eq!(
            (records, after.as_str()),
            ("{\"kind\":\"header\"}\n", "2.5.x")
        );
        let last = "{\"kind\":\"end\",\"lines\":1}\n";
        assert!(matches!(end(last), Some((all, PartEnd::Over)) if all == last));
        for cut in [
            "",
            "{\"kind\":\"header\"}\n",
            "{\"kind\":\"en",
            "{\"kind\":\"end\",\"lines\":1}",
        ] {
            assert!(end(cut).is_none(), "{cut}");
        }
    }
}
