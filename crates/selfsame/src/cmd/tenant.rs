//! `selfsame tenant`: moves an organisation with all its records and keys to another instance, and to another back end.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use selfsame_audit::Trail;
use selfsame_core::organisation::OrganisationName;
use selfsame_crypto::SecretString;
use selfsame_driver::clock::Clock;
use selfsame_driver::{Reason, private_file};
use selfsame_moving::{
    Arrived, ExportTerms, Exported, FaultyLine, ImportTerms, KindTally, Leaving, LineFault,
    MoveError, TenantExport, TenantImport, discard,
};
use selfsame_store::{StoreError, TenantId};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;
use serde::Serialize;

use crate::kept::{KeptOptions, KeptRecords};
use selfsame_terminal::progress::Progress;

const WHAT_IT_IS: &str =
    "the file contains the passphrase for the move, and nothing else: openssl rand -hex 32";
const STOP: &str = "stop the process that has the records open, then run the command again";

/// Move an organisation, with all its records and keys, to another instance or another back end.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame tenant export acme --to acme.tenant --key-file move.key
         selfsame tenant import acme.tenant --key-file move.key --data other

What moves, what stays, and in which order to do it: docs/moving.md"
)]
pub struct Tenant {
    #[command(subcommand)]
    verb: TenantVerb,
}

#[derive(Subcommand)]
enum TenantVerb {
    /// Write all records and keys of a suspended organisation into a sealed file.
    Export(ExportTenant),
    /// Take such a file into an instance that does not have the organisation. It can be run again.
    ///
    /// Lines that are wrong are named, and the others go in. The organisation is known once all of the file is in. Exit
    /// codes: 0 all is in, 1 a part is missing, 2 the import is not possible.
    Import(ImportTenant),
    /// Remove what an unfinished import has left.
    Discard(DiscardTenant),
}

#[derive(Args)]
#[command(
    after_help = "Example: selfsame tenant export acme --to acme.tenant --key-file move.key --data data
         selfsame tenant export acme --to acme.tenant --key-file move.key --database postgres://selfsame@localhost/selfsame"
)]
struct ExportTenant {
    /// The organisation.
    organisation: String,
    /// The file to write, which must not exist.
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
#[command(
    after_help = "Example: selfsame tenant import acme.tenant --key-file move.key --data data
         selfsame tenant import acme.tenant --key-file move.key --database postgres://selfsame@localhost/selfsame"
)]
struct ImportTenant {
    /// The file that `selfsame tenant export` wrote.
    file: PathBuf,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
#[command(after_help = "Example: selfsame tenant discard o-0123456789abcdef0123456789abcdef")]
struct DiscardTenant {
    /// The tenant, as the import printed it.
    tenant: String,
    #[command(flatten)]
    kept: KeptOptions,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Common {
    /// The file with the passphrase that seals the moved file. Only its owner may be able to read it.
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
    #[command(flatten)]
    kept: KeptOptions,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

impl Common {
    fn passphrase(&self) -> Result<SecretString, Failure> {
        Ok(private_file::read(
            &self.key_file,
            Reason::text(WHAT_IT_IS),
        )?)
    }
}

impl Tenant {
    /// Runs the subcommand.
    pub async fn run(self) -> End {
        match self.verb {
            TenantVerb::Export(export) => export.run().await,
            TenantVerb::Import(import) => import.run().await,
            TenantVerb::Discard(discard) => discard.run().await,
        }
    }
}

impl ExportTenant {
    async fn run(self) -> End {
        let name = OrganisationName::parse(&self.organisation)?;
        let (passphrase, kept) = (self.common.passphrase()?, self.common.kept.kept()?);
        let clock = Clock::default();
        let leaving = {
            let store = kept.open().await?;
            let leaving = Leaving::prepare(&store, &name).await;
            let leaving = leaving.map_err(failed)?;
            let trail = Trail::new(store.clone(), clock.clone());
            leaving.note(&store, &trail).await.map_err(failed)?;
            leaving
        };
        let mut out = new_file(&self.to)?;
        let progress = Progress::new(self.common.json);
        let terms = ExportTerms {
            passphrase: &passphrase,
            now: clock.now(),
            tell: &|what, seen| progress.at(what, seen),
        };
        let written = written(&leaving, &kept, &mut out, &terms).await;
        let written = written.and_then(|exported| {
            out.flush()?;
            out.get_ref().sync_all()?;
            Ok(exported)
        });
        drop(progress);
        if written.is_err() {
            // A part of a file is worth nothing.
            std::fs::remove_file(&self.to)?;
        }
        output::either(self.common.json, &written?, |exported| {
            exported_lines(exported, &self.to)
        });
        Ok(Answer::Yes)
    }
}

/// Writes the rows, which are read as they are in the file or the database, and then what is read from the records.
async fn written(
    leaving: &Leaving,
    kept: &KeptRecords,
    out: &mut BufWriter<File>,
    terms: &ExportTerms<'_>,
) -> Result<Exported, Failure> {
    let export = TenantExport::of_rows(leaving, &kept.source, out, terms).await;
    let export = export.map_err(failed)?;
    let store = kept.open().await?;
    export.finish(&store).await.map_err(failed)
}

impl ImportTenant {
    async fn run(self) -> End {
        let (passphrase, kept) = (self.common.passphrase()?, self.common.kept.kept()?);
        let shown = self.file.display().to_string();
        let opened = File::open(&self.file).map_err(|error| Failure::from(error).at(&shown))?;
        let import = TenantImport::open(BufReader::new(opened), &passphrase);
        let mut import = import.map_err(|error| failed(error).at(&shown))?;
        let progress = Progress::new(self.common.json);
        let arrived = arrive(&mut import, &kept, &progress).await;
        drop(progress);
        let arrived = arrived?;
        output::either(self.common.json, &arrived, arrived_lines);
        Ok(match arrived.complete {
            true => Answer::Yes,
            false => Answer::No,
        })
    }
}

/// Takes the lines in, compares the rows, and makes the organisation known.
async fn arrive(
    import: &mut TenantImport<BufReader<File>>,
    kept: &KeptRecords,
    progress: &Progress,
) -> Result<Arrived, Failure> {
    let clock = Clock::default();
    let terms = ImportTerms {
        source: &kept.source,
        now: clock.now(),
        tell: &|what, seen| progress.at(what, seen),
    };
    // The rows are compared as they are in the file or the database, which is closed for that.
    let filled = {
        let store = kept.open().await?;
        import.fill(&store, &terms).await.map_err(failed)?
    };
    if filled.is_whole() {
        progress.at("comparing", 0);
        let compared = import.compare(&kept.source, &filled).await;
        compared.map_err(failed)?;
    }
    let store = kept.open().await?;
    let trail = Trail::new(store.clone(), clock);
    import.finish(&store, &trail, filled).await.map_err(failed)
}

#[derive(Serialize)]
struct Discarded {
    tenant: String,
    rows: u64,
}

impl DiscardTenant {
    async fn run(self) -> End {
        let tenant = TenantId::parse(&self.tenant).map_err(|error| failed(error.into()))?;
        let store = self.kept.kept()?.open().await?;
        let progress = Progress::new(self.json);
        let rows = discard(&store, &tenant, &|what, seen| progress.at(what, seen)).await;
        drop(progress);
        let discarded = Discarded {
            tenant: tenant.to_string(),
            rows: rows.map_err(failed)?,
        };
        output::either(self.json, &discarded, |discarded| {
            let Discarded { tenant, rows } = discarded;
            vec![format!("{rows} rows of {tenant} removed")]
        });
        Ok(Answer::Yes)
    }
}

fn new_file(path: &Path) -> Result<BufWriter<File>, Failure> {
    let mut options = OpenOptions::new();
    let made = options.write(true).create_new(true).mode(0o600).open(path);
    let made = made.map_err(|error| {
        Failure::environment(format!("{}: {error}", path.display()))
            .hint("name a file that does not exist (--to), on a disk with room for all records")
    })?;
    Ok(BufWriter::new(made))
}

fn failed(error: MoveError) -> Failure {
    let hint = match &error {
        MoveError::Foreign(_) => "name the file that `selfsame tenant export` wrote",
        MoveError::OtherVersion(_) => "use the release that wrote the file",
        MoveError::KeyWrong => {
            "name the file with the passphrase that the export was given (--key-file)"
        }
        MoveError::Key(_) => WHAT_IT_IS,
        MoveError::There => {
            "nothing was changed; an organisation is moved to an instance that does not have it"
        }
        MoveError::Unfinished => {
            "run that import again with its file, or remove what it left: selfsame tenant discard TENANT"
        }
        MoveError::NothingBegun => "name the tenant as the import printed it",
        MoveError::Calls(_) => {
            "start the instance, wait until its calls are made, then export again"
        }
        MoveError::Different(_) => {
            "the organisation is not known here; discard what arrived (selfsame tenant discard TENANT), and export it again"
        }
        MoveError::Store(StoreError::InUse(_)) => STOP,
        MoveError::Io(_) => "check the file and the disk, then run the command again",
        MoveError::Refused(_) | MoveError::Store(_) => "",
    };
    let failure = match error {
        MoveError::Refused(error) => return Failure::from(error),
        MoveError::Store(StoreError::InUse(_)) => Failure::environment(error.to_string()),
        MoveError::Store(error) => return Failure::from(selfsame_driver::Error::from(error)),
        MoveError::Different(_) => Failure::no(error.to_string()),
        error => Failure::environment(error.to_string()),
    };
    failure.hint(hint)
}

fn exported_lines(exported: &Exported, to: &Path) -> Vec<String> {
    let Exported {
        organisation,
        tenant,
        records,
        hash,
        ..
    } = exported;
    let mut lines = vec![format!(
        "{organisation} ({tenant}): {records} records, hash {hash}"
    )];
    lines.extend(kind_lines(&exported.kinds));
    lines.push(format!(
        "  {:>9}  counters, {} calls to be made, {} tails files",
        exported.counters, exported.calls, exported.tails
    ));
    if exported.given_up > 0 || exported.expired > 0 {
        lines.push(format!(
            "  stay behind: {} calls that were given up, {} records that have expired",
            exported.given_up, exported.expired
        ));
    }
    let to = to.display();
    lines.push(format!(
        "{to} has all keys of the organisation, sealed with the passphrase: keep both apart, and delete the file after the import."
    ));
    lines
}

fn kind_lines(kinds: &[KindTally]) -> impl Iterator<Item = String> + '_ {
    kinds.iter().map(|tally| {
        let hash = tally.hash.get(..16).unwrap_or_default();
        format!("  {:>9}  {hash}  {}", tally.records, tally.kind)
    })
}

fn arrived_lines(arrived: &Arrived) -> Vec<String> {
    let Arrived {
        organisation,
        tenant,
        ..
    } = arrived;
    let mut lines = vec![format!(
        "{organisation} ({tenant}): {} records are new, {} were there, {} have expired",
        arrived.new, arrived.already, arrived.expired
    )];
    lines.extend(kind_lines(&arrived.kinds));
    lines.extend(arrived.faults.iter().map(fault_line));
    let named = u64::try_from(arrived.faults.len()).unwrap_or(u64::MAX);
    if let Some(more) = arrived.faulty.checked_sub(named).filter(|more| *more > 0) {
        lines.push(format!("  and {more} more lines"));
    }
    lines.push(match arrived.complete {
        true => format!(
            "All of it is in, and its rows are those of the file: hash {}. {organisation} is suspended: start the instance, then selfsame organisation reinstate {organisation}",
            arrived.hash
        ),
        false => format!(
            "A part is missing ({} lines are not in the file), so {organisation} is not known here yet. Run the import again with the whole file, or remove what is in: selfsame tenant discard {tenant}",
            arrived.missing
        ),
    });
    lines
}

fn fault_line(faulty: &FaultyLine) -> String {
    let FaultyLine { line, fault } = faulty;
    let what = match fault {
        LineFault::TooLong => "is longer than any line can be",
        LineFault::Malformed => "is not a sealed line, or is cut off",
        LineFault::Changed => "was changed, or belongs to another file",
        LineFault::Again => "was there before, or stands at another place than it was written at",
        LineFault::Unknown => "says what no line says here",
        LineFault::Different => "has a record that is here with another content",
        LineFault::OtherTails => {
            "ends a tails file whose hash no revocation registry of the organisation has"
        }
    };
    format!("  line {line} {what}")
}
