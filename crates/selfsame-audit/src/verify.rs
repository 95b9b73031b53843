//! Verifies an exported trail.

use std::collections::HashSet;
use std::io::{self, BufRead, Read};

use thiserror::Error;

use crate::chain::{ChainHead, ChainLink, LinkHash};
use crate::entry::AuditEntry;
use crate::export::ExportLine;

/// The longest line that is read, in bytes: a link with its maximum of entries is a fraction of that.
const LINE_MAX: u64 = 1024 * 1024;

/// A trail that is complete and unchanged up to its head.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Verified {
    /// Its head.
    pub head: ChainHead,
    /// The time of its first and its last entry, RFC 3339; `None` without entries.
    pub span: Option<(String, String)>,
}

/// What is wrong with a trail, and where.
#[derive(Debug, Error)]
pub enum TrailFault {
    /// The file can't be read.
    #[error("the file can't be read: {0}")]
    Unreadable(#[from] io::Error),
    /// A line is not one of an export.
    #[error("line {line} is not a line of an audit trail: {detail}")]
    Malformed {
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        detail: String,
    },
    /// Links are missing, doubled or in another order.
    #[error(
        "line {line}: link {found} stands where link {expected} must be: links were removed or moved"
    )]
    LinkOutOfOrder {
        /// The line, from 1.
        line: u64,
        /// The number that it has.
        found: u64,
        /// The number that it must have.
        expected: u64,
    },
    /// A link does not follow the one before it.
    #[error("line {line}: link {number} does not follow link {before}: one of both was changed", before = .number - 1)]
    LinkBroken {
        /// The line, from 1.
        line: u64,
        /// The number of the link.
        number: u64,
    },
    /// An entry is not the one that its link names at this place.
    #[error(
        "line {line}: entry {id} is not entry {place} of link {number}: an entry was changed, added, removed or moved"
    )]
    EntryForeign {
        /// The line, from 1.
        line: u64,
        /// The id of the entry.
        id: String,
        /// The place in the link, from 1.
        place: usize,
        /// The number of the link.
        number: u64,
    },
    /// A link has more entries than follow it.
    #[error(
        "link {number} has {expected} entries, and {found} of them follow it: entries were removed"
    )]
    EntriesMissing {
        /// The number of the link.
        number: u64,
        /// How many entries it has.
        expected: usize,
        /// How many follow.
        found: usize,
    },
    /// The trail belongs to two organisations.
    #[error("line {line} is of the organisation {found}, and the trail is of {expected}")]
    OtherOrganisation {
        /// The line, from 1.
        line: u64,
        /// The organisation of the line.
        found: String,
        /// The organisation of the trail.
        expected: String,
    },
    /// An id stands twice.
    #[error("line {line}: entry {id} stands twice")]
    Doubled {
        /// The line, from 1.
        line: u64,
        /// The id of the entry.
        id: String,
    },
    /// The last line is not a head.
    #[error("the trail has no head at its end: it was cut off")]
    CutOff,
    /// Lines follow the head.
    #[error("line {line} follows the head of the trail")]
    AfterHead {
        /// The line, from 1.
        line: u64,
    },
    /// The head is not that of the links before it.
    #[error(
        "the head names link {found}, and the trail ends with link {expected}: links were cut off or changed"
    )]
    HeadForeign {
        /// The link that the head names.
        found: u64,
        /// The last link.
        expected: u64,
    },
    /// The trail does not contain a head that was known before.
    #[error(
        "the trail does not contain link {number} as it was known before: it was cut off or written again"
    )]
    HeadUnknown {
        /// The number of the link.
        number: u64,
    },
}

/// Verifies a trail. `known` are heads seen before, such as those in the registry: the trail must contain each.
///
/// # Errors
/// The first fault.
pub fn verify(trail: impl BufRead, known: &[ChainHead]) -> Result<Verified, TrailFault> {
    let mut reading = Reading::default();
    let mut trail = trail;
    loop {
        let mut text = String::new();
        if (&mut trail).take(LINE_MAX).read_line(&mut text)? == 0 {
            break;
        }
        reading.line += 1;
        let line = serde_json::from_str(&text).map_err(|error| TrailFault::Malformed {
            line: reading.line,
            detail: error.to_string(),
        })?;
        reading.read(line)?;
    }
    let head = reading.end.ok_or(TrailFault::CutOff)?;
    for known in known.iter().filter(|known| known.number > 0) {
        let place = usize::try_from(known.number - 1).unwrap_or(usize::MAX);
        let is_there = known.organisation == head.organisation
            && reading.hashes.get(place) == Some(&known.hash);
        if !is_there {
            let number = known.number;
            return Err(TrailFault::HeadUnknown { number });
        }
    }
    Ok(Verified {
        head,
        span: reading.span,
    })
}

/// What was read so far.
#[derive(Default)]
struct Reading {
    line: u64,
    head: Option<ChainHead>,
    link: Option<ChainLink>,
    /// The number of entries of the link that were read.
    read: usize,
    /// The hashes of the links.
    hashes: Vec<LinkHash>,
    ids: HashSet<String>,
    span: Option<(String, String)>,
    end: Option<ChainHead>,
}

impl Reading {
    fn read(&mut self, line: ExportLine) -> Result<(), TrailFault> {
        if self.end.is_some() {
            return Err(TrailFault::AfterHead { line: self.line });
        }
        match line {
            ExportLine::Link(link) => self.link(link),
            ExportLine::Entry(entry) => self.entry(&entry),
            ExportLine::Head(head) => self.end(head),
        }
    }

    fn link(&mut self, link: ChainLink) -> Result<(), TrailFault> {
        self.complete()?;
        self.is_of(&link.organisation)?;
        let line = self.line;
        let head = self.head.take();
        let head = head.unwrap_or_else(|| ChainHead::beginning(&link.organisation));
        let (found, expected) = (link.number, head.number + 1);
        if found != expected {
            return Err(TrailFault::LinkOutOfOrder {
                line,
                found,
                expected,
            });
        }
        if link.previous != head.hash {
            let number = link.number;
            return Err(TrailFault::LinkBroken { line, number });
        }
        let head = link.head(&head);
        self.hashes.push(head.hash);
        self.head = Some(head);
        self.link = Some(link);
        self.read = 0;
        Ok(())
    }

    fn entry(&mut self, entry: &AuditEntry) -> Result<(), TrailFault> {
        self.is_of(&entry.organisation)?;
        let (line, id) = (self.line, entry.id.clone());
        let named = self
            .link
            .as_ref()
            .and_then(|link| link.entries.get(self.read));
        if named != Some(&LinkHash(entry.hash())) {
            return Err(TrailFault::EntryForeign {
                line,
                id,
                place: self.read + 1,
                number: self.head.as_ref().map_or(0, |head| head.number),
            });
        }
        if !self.ids.insert(id.clone()) {
            return Err(TrailFault::Doubled { line, id });
        }
        self.read += 1;
        let at = entry.at.clone();
        match &mut self.span {
            Some((_, last)) => *last = at,
            None => self.span = Some((at.clone(), at)),
        }
        Ok(())
    }

    fn end(&mut self, end: ChainHead) -> Result<(), TrailFault> {
        self.complete()?;
        self.is_of(&end.organisation)?;
        let head = self.head.clone();
        let head = head.unwrap_or_else(|| ChainHead::beginning(&end.organisation));
        if end != head {
            return Err(TrailFault::HeadForeign {
                found: end.number,
                expected: head.number,
            });
        }
        self.end = Some(end);
        Ok(())
    }

    /// Whether all entries of the present link were read.
    fn complete(&self) -> Result<(), TrailFault> {
        match &self.link {
            Some(link) if link.entries.len() != self.read => Err(TrailFault::EntriesMissing {
                number: link.number,
                expected: link.entries.len(),
                found: self.read,
            }),
            _ => Ok(()),
        }
    }

    fn is_of(&self, organisation: &str) -> Result<(), TrailFault> {
        match &self.head {
            Some(head) if head.organisation != organisation => Err(TrailFault::OtherOrganisation {
                line: self.line,
                found: organisation.to_owned(),
                expected: head.organisation.clone(),
            }),
            _ => Ok(()),
        }
    }
}
