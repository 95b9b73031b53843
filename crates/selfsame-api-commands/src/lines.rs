//! The lines of a file that a command takes one by one: numbered, and bounded in their length.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::Path;

use selfsame_terminal::exit::Failure;

/// Reads the lines of a file. A line that is too long or no text is an item of its own, and the next line follows.
pub struct Lines<R> {
    reader: R,
    number: u64,
    /// Maximum number of bytes of a line, without its end.
    most: usize,
    /// Bytes read so far.
    read: u64,
}

/// A line of a file.
#[derive(Debug, Eq, PartialEq)]
pub struct NumberedLine {
    /// Its number, counted from 1.
    pub number: u64,
    /// Its text without its end.
    pub text: Result<String, LineFault>,
}

/// Why a line can't be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LineFault {
    /// It has more bytes than this.
    Long(usize),
    /// It is not UTF-8.
    NoText,
}

impl fmt::Display for LineFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Long(most) => write!(formatter, "the line is longer than {most} bytes"),
            Self::NoText => formatter.write_str("the line is not text in UTF-8"),
        }
    }
}

/// The lines of the file at this path, or of standard input for `-`.
///
/// # Errors
/// If the file can't be opened.
pub fn lines_of(path: &Path, most: usize) -> Result<Lines<Box<dyn BufRead>>, Failure> {
    let reader: Box<dyn BufRead> = match path.as_os_str() == "-" {
        true => Box::new(BufReader::new(io::stdin())),
        false => Box::new(BufReader::new(
            File::open(path).map_err(|error| unreadable(path, &error))?,
        )),
    };
    Ok(Lines::new(reader, most))
}

/// That a file can't be read.
pub fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::environment(format!("{}: {error}", path.display()))
}

impl<R: BufRead> Lines<R> {
    /// The lines that this reads, each of at most this number of bytes.
    pub fn new(reader: R, most: usize) -> Self {
        Self {
            reader,
            number: 0,
            most,
            read: 0,
        }
    }

    /// How many bytes were read.
    pub fn bytes(&self) -> u64 {
        self.read
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    /// Those of the reader.
    pub fn next_line(&mut self) -> io::Result<Option<NumberedLine>> {
        let mut bytes = Vec::new();
        let room = u64::try_from(self.most)
            .unwrap_or(u64::MAX)
            .saturating_add(1);
        let mut limited = self.reader.by_ref().take(room);
        let read = limited.read_until(b'\n', &mut bytes)?;
        if read == 0 {
            return Ok(None);
        }
        self.number = self.number.saturating_add(1);
        self.count(read);
        let is_ended = bytes.last() == Some(&b'\n');
        let text = match is_ended || bytes.len() <= self.most {
            true => text(bytes),
            false => {
                self.skip_line()?;
                Err(LineFault::Long(self.most))
            }
        };
        let number = self.number;
        Ok(Some(NumberedLine { number, text }))
    }

    /// Reads up to the end of the line without keeping it.
    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let held = self.reader.fill_buf()?;
            let end = held.iter().position(|byte| *byte == b'\n');
            let used = end.map_or(held.len(), |end| end.saturating_add(1));
            let is_over = end.is_some() || used == 0;
            self.reader.consume(used);
            self.count(used);
            if is_over {
                return Ok(());
            }
        }
    }

    fn count(&mut self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.read = self.read.saturating_add(bytes);
    }
}

fn text(mut bytes: Vec<u8>) -> Result<String, LineFault> {
    for end in [b'\n', b'\r'] {
        if bytes.last() == Some(&end) {
            bytes.pop();
        }
    }
    String::from_utf8(bytes).map_err(|_| LineFault::NoText)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], most: usize) -> Vec<Result<String, LineFault>> {
        let mut lines = Lines::new(BufReader::with_capacity(3, bytes), most);
        let mut read = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            read.push(line.text);
            assert_eq!(line.number, read.len() as u64);
        }
        assert_eq!(lines.bytes(), bytes.len() as u64);
        read
    }

    #[test]
    fn a_line_that_is_too_long_or_no_text_hides_no_other() {
        let text = |text: &str| Ok(text.to_owned());
        let all = read(b"one\r\ntoo long a line\n\xff\n\ntwo", 5);
        let long = Err(LineFault::Long(5));
        assert_eq!(
            all,
            [
                text("one"),
                long,
                Err(LineFault::NoText),
                text(""),
                text("two")
            ]
        );
    }

    #[test]
    fn a_line_of_just_the_length_is_read_and_an_endless_one_is_skipped() {
        assert_eq!(
            read(b"12345\n12345", 5),
            [Ok("12345".into()), Ok("12345".into())]
        );
        assert_eq!(read(&[b'x'; 1000], 5), [Err(LineFault::Long(5))]);
        assert_eq!(read(b"", 5), []);
    }
}
