//! `selfsame book load`: rows of a file into a credential book.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::Args;
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;
use selfsame_terminal::progress::Progress;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::called::Instance;
use crate::client::Client;

const PATH: &str = "/api/book/quick-load";
/// Rows of a request at most, and their size.
const ROWS: usize = 1_000;
const BYTES: usize = 3 << 20;
/// Requests under way together: while one is indexed, others are stored.
const AT_ONCE: usize = 4;

/// What is loaded, and where.
#[derive(Args)]
pub(super) struct BookLoad {
    /// The id of the credential type.
    #[arg(value_name = "TYPE")]
    type_id: String,
    /// The file: a JSON object a line.
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
    #[command(flatten)]
    instance: Instance,
}

/// What a load did.
#[derive(Default, Serialize)]
struct LoadedRows {
    /// The number of rows.
    rows: usize,
    /// The number of those that are new.
    new: usize,
}

/// The answer to a request.
#[derive(Deserialize)]
struct LoadAnswer {
    items: Vec<LoadedRow>,
}

#[derive(Deserialize)]
struct LoadedRow {
    new: bool,
}

/// Rows of one request.
#[derive(Default)]
struct Portion {
    rows: Vec<Value>,
    bytes: usize,
    /// The lines that they stand in, counted from 1.
    lines: Range<usize>,
}

impl BookLoad {
    /// Sends all rows.
    pub async fn run(self) -> End {
        let operator = self.instance.operator()?;
        let mut portions = Portions::open(&self.from)?;
        let progress = Progress::new(self.instance.json);
        let mut sending = JoinSet::new();
        let mut loaded = LoadedRows::default();
        loop {
            let next = portions.read_next()?;
            let is_last = next.is_none();
            if let Some(portion) = next {
                sending.spawn(send(operator.clone(), self.type_id.clone(), portion));
            }
            while sending.len() >= AT_ONCE || is_last && !sending.is_empty() {
                loaded.add(ended(&mut sending).await?);
                progress.at("rows", loaded.rows as u64);
            }
            if is_last {
                break;
            }
        }
        output::either(self.instance.json, &loaded, |loaded| vec![loaded.line()]);
        Ok(Answer::Yes)
    }
}

impl LoadedRows {
    fn add(&mut self, answer: LoadAnswer) {
        self.rows += answer.items.len();
        self.new += answer.items.iter().filter(|row| row.new).count();
    }

    fn line(&self) -> String {
        format!(
            "{} rows are in the book, {} of them new.",
            self.rows, self.new
        )
    }
}

async fn ended(sending: &mut JoinSet<Result<LoadAnswer, Failure>>) -> Result<LoadAnswer, Failure> {
    match sending.join_next().await {
        Some(joined) => joined.map_err(|error| Failure::ours(error.to_string()))?,
        None => Ok(LoadAnswer { items: Vec::new() }),
    }
}

async fn send(operator: Client, type_id: String, portion: Portion) -> Result<LoadAnswer, Failure> {
    let load = json!({"type": type_id, "rows": portion.rows});
    let sent = operator.for_long_texts().post(PATH, &load).await;
    sent.map_err(|failure: Failure| {
        let Range { start, end } = portion.lines;
        failure.at(&format!("lines {start} to {}", end.saturating_sub(1)))
    })
}

/// The rows of a file, in portions.
struct Portions {
    file: BufReader<File>,
    path: PathBuf,
    /// The number of lines that were read.
    read: usize,
}

impl Portions {
    fn open(path: &Path) -> Result<Self, Failure> {
        let unread = |error: std::io::Error| unread(path, &error);
        Ok(Self {
            file: BufReader::new(File::open(path).map_err(unread)?),
            path: path.to_owned(),
            read: 0,
        })
    }

    /// The next rows; `None` at the end of the file.
    fn read_next(&mut self) -> Result<Option<Portion>, Failure> {
        let mut portion = Portion {
            lines: self.read + 1..self.read + 1,
            ..Portion::default()
        };
        let mut line = String::new();
        while portion.rows.len() < ROWS && portion.bytes < BYTES {
            line.clear();
            let read = self.file.read_line(&mut line);
            if read.map_err(|error| unread(&self.path, &error))? == 0 {
                break;
            }
            self.read += 1;
            portion.lines.end = self.read + 1;
            if line.trim().is_empty() {
                continue;
            }
            let row = serde_json::from_str(&line).map_err(|error| {
                let place = format!("{}, line {}", self.path.display(), self.read);
                Failure::environment(format!("{place}: {error}"))
            })?;
            portion.bytes += line.len();
            portion.rows.push(row);
        }
        Ok((!portion.rows.is_empty()).then_some(portion))
    }
}

fn unread(path: &Path, error: &std::io::Error) -> Failure {
    Failure::environment(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn portions(text: &str) -> Portions {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        Portions::open(file.path()).unwrap()
    }

    #[test]
    fn a_file_is_sent_in_portions_of_a_thousand_rows() {
        let mut all = portions(&"{\"claims\": {}}\n\n".repeat(2_500));
        let mut sizes = Vec::new();
        while let Some(portion) = all.read_next().unwrap() {
            sizes.push((portion.rows.len(), portion.lines));
        }
        let sizes: Vec<usize> = sizes.iter().map(|(rows, _)| *rows).collect();
        assert_eq!(sizes, [1_000, 1_000, 500]);
    }

    #[test]
    fn rows_of_many_bytes_are_sent_in_smaller_portions() {
        let row = format!(
            "{{\"claims\": {{\"name\": \"{}\"}}}}\n",
            "x".repeat(1 << 20)
        );
        let mut all = portions(&row.repeat(4));
        assert_eq!(all.read_next().unwrap().unwrap().rows.len(), 3);
        assert_eq!(all.read_next().unwrap().unwrap().lines, 4..5);
        assert!(all.read_next().unwrap().is_none());
    }

    #[test]
    fn a_line_that_is_no_json_is_named() {
        let mut all = portions("{}\n{\n");
        let failure = all.read_next().err().unwrap();
        assert!(
            failure.message().contains("line 2"),
            "{}",
            failure.message()
        );
    }
}
