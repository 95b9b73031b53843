//! `selfsame issue TYPE --from FILE`: an offer for each row of a file, which is checked whole before the first one.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use selfsame_catalogue::english;
use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash::Sha256;
use selfsame_driver::paging::Listing;
use selfsame_issuing_view::{IssuingList, ListKind, ListResult, ListState, NewIssuingList};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;
use selfsame_terminal::progress::Progress;
use serde_json::json;

use crate::client::{Client, segment};
use crate::lines::unreadable;

/// The bytes of a portion.
const PORTION: u64 = 512 * 1024;
/// How often a list is looked at while its offers are made.
const LOOKED_EVERY: Duration = Duration::from_millis(500);
/// The faults after which no more of a file is sent: no more are named.
const FAULTS_MAX: u64 = 100;
/// A file to issue.
pub struct IssuedFile<'a> {
    /// The client of the issuer's instance.
    pub client: &'a Client,
    /// The file.
    pub path: &'a Path,
    /// The list to begin; its digest is that of the file.
    pub new: NewIssuingList,
    /// Where the results go; standard output without it.
    pub results: Option<&'a Path>,
    /// Whether the file is checked and no more.
    pub check_only: bool,
    /// Whether a file that was issued already is issued again.
    pub again: bool,
    /// Whether what is printed is JSON.
    pub json: bool,
}

/// How a file is written, by the end of its name.
pub fn kind_of(path: &Path) -> ListKind {
    let end = path.extension().and_then(|end| end.to_str());
    match end.map(str::to_ascii_lowercase).as_deref() {
        Some("ndjson" | "jsonl") => ListKind::Ndjson,
        _ => ListKind::Csv,
    }
}

impl IssuedFile<'_> {
    /// Sends the file, has it checked and issued, and writes what came of its rows.
    ///
    /// # Errors
    /// If the file can't be read, the results can't be written, or the instance does not answer. A second run with the
    /// same file completes what the first one began.
    pub async fn run(mut self) -> End {
        let mut file = File::open(self.path).map_err(|error| unreadable(self.path, &error))?;
        let length = self.digest(&mut file)?;
        let mut list = match self.begun().await? {
            Some(list) => {
                self.say(&format!("list {} is continued", list.id));
                list
            }
            None => self.client.post("/api/issuer/lists", &self.new).await?,
        };
        if list.state == ListState::Receiving {
            list = self.send(&mut file, list, length).await?;
        }
        if list.state == ListState::Receiving {
            list = self.act(&list, "check").await?;
        }
        if list.state == ListState::Refused {
            return Ok(self.refused(&list));
        }
        if self.check_only {
            output::either(self.json, &list, |list| {
                vec![format!(
                    "{} rows have no fault; nothing was offered",
                    list.rows
                )]
            });
            return Ok(Answer::Yes);
        }
        if list.state == ListState::Checked {
            list = self.act(&list, "issue").await?;
        }
        let list = self.followed(list).await?;
        self.write_results(&list).await?;
        self.told(&list)
    }

    /// Reads the file once for its digest; returns its length.
    fn digest(&mut self, file: &mut File) -> Result<u64, Failure> {
        let wrong = |error| unreadable(self.path, &error);
        let (mut digest, mut length) = (Sha256::new(), 0_u64);
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = file.read(&mut buffer).map_err(wrong)?;
            if read == 0 {
                break;
            }
            digest.update(&buffer[..read]);
            length += read as u64;
        }
        self.new.digest = Some(base64url_encode(&digest.finish()));
        Ok(length)
    }

    /// The list that an earlier run began with this file.
    async fn begun(&self) -> Result<Option<IssuingList>, Failure> {
        if self.again {
            return Ok(None);
        }
        let newest: Listing<IssuingList> = self.client.get("/api/issuer/lists?limit=200").await?;
        let is_same = |list: &IssuingList| {
            list.digest == self.new.digest
                && list.type_id == self.new.type_id
                && !matches!(list.state, ListState::Refused | ListState::Cancelled)
        };
        Ok(newest.items.into_iter().find(is_same))
    }

    /// Sends what the instance does not have yet.
    async fn send(
        &self,
        file: &mut File,
        mut list: IssuingList,
        length: u64,
    ) -> Result<IssuingList, Failure> {
        let wrong = |error| unreadable(self.path, &error);
        let progress = Progress::of(self.json, length).named("checking the file");
        while list.received < length && list.faults < FAULTS_MAX {
            file.seek(SeekFrom::Start(list.received)).map_err(wrong)?;
            let mut bytes = Vec::new();
            let mut portion = file.take(PORTION);
            portion.read_to_end(&mut bytes).map_err(wrong)?;
            if bytes.is_empty() {
                return Err(Failure::environment(format!(
                    "{}: the file has changed while it was read",
                    self.path.display()
                )));
            }
            let path = format!("{}/file?from={}", address(&list), list.received);
            list = self.client.post_bytes(&path, bytes).await?;
            progress.seen(list.received);
        }
        Ok(list)
    }

    async fn act(&self, list: &IssuingList, act: &str) -> Result<IssuingList, Failure> {
        let path = format!("{}/{act}", address(list));
        self.client.post(&path, &json!({})).await
    }

    /// Waits until every row has its result.
    async fn followed(&self, mut list: IssuingList) -> Result<IssuingList, Failure> {
        let progress = Progress::of(self.json, list.rows).named("making offers");
        while !list.state.is_over() {
            match list.state {
                ListState::Mailing => progress.at("sending mail", list.mailed + list.mail_failed),
                _ => progress.seen(list.offered + list.refused),
            }
            tokio::time::sleep(LOOKED_EVERY).await;
            list = self.client.get(&address(&list)).await?;
        }
        Ok(list)
    }

    fn refused(&self, list: &IssuingList) -> Answer {
        output::either(self.json, list, |list| {
            let faults = list.first_faults.iter().map(|fault| {
                let why = english(&fault.why);
                format!("line {}, column {}: {why}", fault.line, fault.column)
            });
            let mut lines: Vec<String> = faults.collect();
            let what = if list.faults == 1 { "fault" } else { "faults" };
            lines.push(format!(
                "{} {what} in {} rows; nothing was offered",
                list.faults, list.rows
            ));
            lines
        });
        Answer::No
    }

    /// Writes the results, one a row.
    async fn write_results(&self, list: &IssuingList) -> Result<(), Failure> {
        let mut out: Option<File> = self.results.map(created).transpose()?;
        let is_csv = !self.json
            && self
                .results
                .is_none_or(|path| kind_of(path) == ListKind::Csv);
        if self.json && self.results.is_none() {
            return Ok(());
        }
        let mut put = |text: &str| match (&mut out, self.results) {
            (Some(file), Some(path)) => file
                .write_all(text.as_bytes())
                .map_err(|error| unreadable(path, &error)),
            _ => {
                output::say(text.trim_end());
                Ok(())
            }
        };
        if is_csv {
            put(&ListResult::csv_header())?;
        }
        let mut after = Some(String::new());
        while let Some(cursor) = after {
            let path = format!(
                "{}/results?limit=200&after={}",
                address(list),
                segment(&cursor)
            );
            let page: Listing<ListResult> = self.client.get(&path).await?;
            let text: String = page.items.iter().map(|row| line(row, is_csv)).collect();
            if !text.is_empty() {
                put(&text)?;
            }
            after = page.next;
        }
        Ok(())
    }

    fn told(&self, list: &IssuingList) -> End {
        if self.json {
            output::either(true, list, |_| Vec::new());
        } else {
            let mut told = format!("{} offers", list.offered);
            if self.new.mail {
                told.push_str(&format!(", {} mailed", list.mailed));
            }
            if list.refused + list.mail_failed > 0 {
                told.push_str(&format!(
                    "; {} rows not offered, {} not mailed",
                    list.refused, list.mail_failed
                ));
            }
            self.say(&told);
        }
        let is_whole = list.state == ListState::Done && list.refused + list.mail_failed == 0;
        Ok(match is_whole {
            true => Answer::Yes,
            false => Answer::No,
        })
    }

    /// Says something on standard error, where it does not mix with results.
    fn say(&self, text: &str) {
        if !self.json {
            output::complain(text);
        }
    }
}

fn address(list: &IssuingList) -> String {
    format!("/api/issuer/lists/{}", segment(&list.id))
}

/// A new file that its owner alone can read: links of offers are in it.
fn created(path: &Path) -> Result<File, Failure> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(path).map_err(|error| unreadable(path, &error))
}

fn line(row: &ListResult, is_csv: bool) -> String {
    match is_csv {
        true => row.csv(&row.why.as_ref().map(english).unwrap_or_default()),
        false => row.ndjson(),
    }
}
