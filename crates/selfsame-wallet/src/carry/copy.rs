//! Recovery by words: a copy of all cards, sealed under recovery words, and the cards that are restored from it.

use selfsame_accounts::Whence;
use selfsame_crypto::SecretString;
use selfsame_driver::paging::Paging;
use selfsame_driver::{Error, Reason, Result};
use selfsame_recovery::RecoveryWords;

use crate::Wallet;
use crate::view::Person;
use crate::view::carried::{CarriedCredential, CarriedCredentials, NewWalletExport, TakenState};
use crate::view::export_file::{ExportHead, ExportLine, ExportSecret, LINE_MAX, NewHead};

/// Credentials of one part.
const PORTION: usize = 100;

/// A copy that was begun.
pub struct BegunCopy {
    /// The first line.
    pub head: String,
    /// The id of the export that its parts are read from.
    pub export: String,
}

/// A part of a copy.
pub struct CopyPart {
    /// Its lines.
    pub lines: String,
    /// The number of credentials in it.
    pub count: u64,
    /// Where the next part begins; `None` after the last one.
    pub next: Option<String>,
}

/// What came of a copy that was restored.
#[derive(Debug, Default)]
pub struct RestoredCopy {
    /// The credentials that were taken in.
    pub stored: usize,
    /// Those that were there before.
    pub known: usize,
    /// The lines that were refused, and why.
    pub refused: Vec<RefusedLine>,
    /// Whether the file has its end.
    pub is_complete: bool,
}

/// A line that was refused.
#[derive(Debug)]
pub struct RefusedLine {
    /// Its number, from 1.
    pub line: usize,
    /// Why.
    pub why: Reason,
}

/// A credential and the number of its line.
struct NumberedRow {
    line: usize,
    row: CarriedCredential,
}

impl Wallet {
    /// New recovery words. They are kept nowhere.
    pub fn new_recovery_words(&self) -> RecoveryWords {
        let ctx = self.shared.clock.ctx();
        RecoveryWords::of(ctx.random::<16>("wallet/recovery-words"))
    }

    /// Begins a copy of a person's cards under recovery words.
    ///
    /// # Errors
    /// `Unauthenticated` for a wrong password, `TooMany` after many of them; the store's.
    pub async fn begin_copy(
        &self,
        person: &Person,
        words: RecoveryWords,
        password: SecretString,
        whence: &Whence,
    ) -> Result<BegunCopy> {
        let NewHead { head, sealing_key } = ExportHead::under(&ExportSecret::Words(words))?;
        let sealing_key = Some(sealing_key);
        let new = NewWalletExport {
            password,
            sealing_key,
        };
        let begun = self.begin_export(person, new, whence).await?;
        let head = serde_json::to_string(&head).map_err(Error::internal)?;
        Ok(BegunCopy {
            head,
            export: begun.id,
        })
    }

    /// A part of a copy.
    ///
    /// # Errors
    /// `Gone` for an export that can't be read any more; the store's.
    pub async fn copy_part(
        &self,
        person: &Person,
        export: &str,
        after: Option<String>,
    ) -> Result<CopyPart> {
        let paging = Paging {
            after,
            limit: Some(PORTION),
        };
        let page = self.exported(person, export, &paging).await?;
        let mut part = CopyPart {
            lines: String::new(),
            count: 0,
            next: page.next,
        };
        for one in page.items {
            part.lines += &serde_json::to_string(&one).map_err(Error::internal)?;
            part.lines.push('\n');
            part.count = part.count.saturating_add(1);
        }
        Ok(part)
    }

    /// Takes the cards of a copy into a wallet. What is there already stays as it is, so a second run completes the first.
    ///
    /// # Errors
    /// `BadRequest` if the file is no copy or the words do not open it; `Full` if the wallet has no room for all cards of
    /// a portion. The portions before it are in the wallet then.
    pub async fn restore(
        &self,
        person: &Person,
        words: RecoveryWords,
        file: &[u8],
    ) -> Result<RestoredCopy> {
        let mut lines = (1..).zip(file.split(|byte| *byte == b'\n'));
        let first = lines.next().map(|(_, line)| line).unwrap_or_default();
        let head = ExportHead::read(&String::from_utf8_lossy(first))?;
        let key = match head.has_keys() {
            true => Some(head.sealing_key(&ExportSecret::Words(words))?),
            false => None,
        };
        let mut restored = RestoredCopy::default();
        let mut rows = Vec::new();
        for (line, bytes) in lines {
            match row(bytes) {
                Ok(Some(ExportLine::Credential(row))) => {
                    rows.push(NumberedRow { line, row: *row });
                }
                Ok(Some(ExportLine::End)) => restored.is_complete = true,
                Ok(None) => {}
                Err(why) => restored.refused.push(RefusedLine { line, why }),
            }
            if rows.len() >= PORTION {
                let portion = std::mem::take(&mut rows);
                self.take_portion(person, portion, key.as_ref(), &mut restored)
                    .await?;
            }
        }
        self.take_portion(person, rows, key.as_ref(), &mut restored)
            .await?;
        restored.refused.sort_by_key(|one| one.line);
        tracing::info!(
            stored = restored.stored,
            known = restored.known,
            refused = restored.refused.len(),
            "a copy is restored"
        );
        Ok(restored)
    }

    async fn take_portion(
        &self,
        person: &Person,
        rows: Vec<NumberedRow>,
        sealing_key: Option<&SecretString>,
        restored: &mut RestoredCopy,
    ) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let numbers: Vec<usize> = rows.iter().map(|one| one.line).collect();
        let carried = CarriedCredentials {
            sealing_key: sealing_key.cloned(),
            credentials: rows.into_iter().map(|one| one.row).collect(),
        };
        let taken = self.take_in(person, carried).await?;
        for (line, one) in numbers.into_iter().zip(taken.items) {
            match (one.state, one.why) {
                (TakenState::Stored, _) => restored.stored = restored.stored.saturating_add(1),
                (TakenState::Known, _) => restored.known = restored.known.saturating_add(1),
                (TakenState::Refused, why) => {
                    let why = why.unwrap_or_else(|| Reason::new("export-line-malformed"));
                    restored.refused.push(RefusedLine { line, why });
                }
            }
        }
        Ok(())
    }
}

/// Reads a line; `None` for an empty one.
fn row(bytes: &[u8]) -> std::result::Result<Option<ExportLine>, Reason> {
    if bytes.trim_ascii().is_empty() {
        return Ok(None);
    }
    if bytes.len() > LINE_MAX {
        return Err(Reason::new("export-line-long").with("maximum", &LINE_MAX));
    }
    let line = ExportLine::read(bytes);
    line.map(Some)
        .map_err(|_| Reason::new("export-line-malformed"))
}
