//! A log: its entries verified one after the other. A reading can go on where an earlier one ended.

use std::ops::Range;
use std::sync::Arc;

use selfsame_crypto::time::UnixTime;
use selfsame_did::Did;
use selfsame_did::method::webvh::scid;

use crate::entry::LogEntry;
use crate::fault::{
    EntryFault, LogError, ProofFault, SizeFault, SubjectFault, TimeFault, VersionFault,
    WitnessFault,
};
use crate::parameters::{Active, Witnesses};
use crate::time::VersionTime;
use crate::witness::Approvals;

/// The maximum length of a log in bytes. It is compared before anything is parsed.
pub const MAX_LOG: usize = 2 * 1024 * 1024;
/// The maximum number of entries. Verifying one takes about 0.1 ms.
const MAX_ENTRIES: usize = 2_048;

/// The verified entries of a log, from the first one on.
#[derive(Clone, Debug)]
pub struct Log {
    did: Did,
    scid: String,
    /// The verified entries as they were received.
    text: Vec<u8>,
    versions: Vec<LogVersion>,
    /// The number of entries, from the first on, that need no further approval by witnesses.
    approved: usize,
}

/// A verified entry.
#[derive(Clone, Debug)]
pub struct LogVersion {
    /// Its versionId.
    pub id: String,
    /// Its time.
    pub time: VersionTime,
    /// The DID of its document.
    pub did: Arc<Did>,
    /// What is in force after it.
    pub active: Arc<Active>,
    /// Where it is in the text.
    pub(crate) line: Range<usize>,
}

/// What was read of a log: the entries that are valid, and what is wrong with the one after them.
#[derive(Clone, Debug)]
pub struct LogReading {
    pub(crate) log: Log,
    pub(crate) fault: Option<LogError>,
}

impl Log {
    /// The log of a did:webvh, of which nothing was read yet.
    ///
    /// # Errors
    /// The DID is not a valid did:webvh.
    pub fn of(did: &Did) -> Result<Self, selfsame_did::method::webvh::WebvhError> {
        Ok(Self {
            did: did.clone(),
            scid: scid(did)?.to_owned(),
            text: Vec::new(),
            versions: Vec::new(),
            approved: 0,
        })
    }

    /// Reads the whole text of the log. Entries that were verified before, and stand unchanged at its beginning, are
    /// not verified again (did:webvh v1.0, "Read (Resolve)", note on caching).
    #[must_use]
    pub fn read(&self, text: &[u8], now: UnixTime) -> LogReading {
        if text.len() > MAX_LOG {
            return self.refused(SizeFault::Log);
        }
        let mut log = match self.is_beginning_of(text) {
            true => self.clone(),
            false => self.anew(),
        };
        let fault = log.read_on(text, now).err();
        let end = log.versions.last().map_or(0, |version| version.line.end);
        let new = text.get(log.text.len()..end).unwrap_or_default();
        log.text.extend_from_slice(new);
        LogReading { log, fault }.checked()
    }

    /// The DID whose log this is.
    pub fn did(&self) -> &Did {
        &self.did
    }

    /// Its SCID.
    pub fn scid(&self) -> &str {
        &self.scid
    }

    /// The verified entries, oldest first.
    pub fn versions(&self) -> &[LogVersion] {
        &self.versions
    }

    /// The verified entries as they were received.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// What is in force after the last entry.
    pub fn active(&self) -> Option<&Active> {
        self.versions.last().map(|version| &*version.active)
    }

    /// The memory it takes, in bytes.
    pub fn weight(&self) -> usize {
        // A version with the parameters of its own: a key and a hash take some hundred bytes.
        const VERSION: usize = 1_024;
        let versions = self.versions.len().saturating_mul(VERSION);
        self.text.len().saturating_add(versions)
    }

    /// Whether the verified entries stand at the beginning of a text, and a line ends after them.
    fn is_beginning_of(&self, text: &[u8]) -> bool {
        let rest = text.strip_prefix(&self.text[..]);
        rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'\n')))
    }

    fn anew(&self) -> Self {
        Self {
            text: Vec::new(),
            versions: Vec::new(),
            approved: 0,
            ..self.clone()
        }
    }

    fn refused(&self, fault: SizeFault) -> LogReading {
        let fault = Some(LogError {
            entry: 0,
            fault: fault.into(),
        });
        LogReading {
            log: self.anew(),
            fault,
        }
    }

    /// Verifies the entries after those that are verified.
    fn read_on(&mut self, text: &[u8], now: UnixTime) -> Result<(), LogError> {
        let mut at = match self.text.len() {
            0 => 0,
            length => length.saturating_add(1),
        };
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let length = rest
                .iter()
                .position(|byte| *byte == b'\n')
                .unwrap_or(rest.len());
            let line = at..at.saturating_add(length);
            at = line.end.saturating_add(1);
            let entry = self.versions.len().saturating_add(1);
            let numbered = |fault| LogError {
                entry: u64::try_from(entry).unwrap_or(u64::MAX),
                fault,
            };
            if entry > MAX_ENTRIES {
                return Err(numbered(SizeFault::Entries.into()));
            }
            let version = self.verified(text, line, now).map_err(numbered)?;
            self.versions.push(version);
        }
        Ok(())
    }

    /// Verifies one entry (did:webvh v1.0, "Read (Resolve)", the steps for each entry).
    fn verified(
        &self,
        text: &[u8],
        line: Range<usize>,
        now: UnixTime,
    ) -> Result<LogVersion, EntryFault> {
        let before = self.versions.last();
        if before.is_some_and(|before| before.active.deactivated) {
            return Err(EntryFault::Ended);
        }
        let entry = LogEntry::read(text.get(line.clone()).unwrap_or_default())?;
        let number = self.versions.len().saturating_add(1);
        if u64::try_from(number) != Ok(entry.number) {
            return Err(VersionFault::Number.into());
        }
        if before.is_some() && !entry.is_of(&self.scid) {
            return Err(SubjectFault::Scid.into());
        }
        let active = match before {
            None => self.first(&entry)?,
            Some(before) => later(&entry, before)?,
        };
        entry.time.not_ahead(now)?;
        signed(&entry, before, &active, now)?;
        Ok(self.version(entry, line, active))
    }

    fn first(&self, entry: &LogEntry) -> Result<Active, EntryFault> {
        let active = entry.parameters.first()?;
        if entry.parameters.scid.as_deref() != Some(&self.scid) {
            return Err(VersionFault::Scid.into());
        }
        entry.has_scid(&self.scid)?;
        entry.is_after(&self.scid)?;
        match entry.is_of(&self.scid) {
            true => Ok(active),
            false => Err(SubjectFault::Scid.into()),
        }
    }

    /// The version. What did not change is shared with the version before.
    fn version(&self, entry: LogEntry, line: Range<usize>, active: Active) -> LogVersion {
        let before = self.versions.last();
        let same = before.filter(|before| *before.active == active);
        let active = same.map_or_else(|| Arc::new(active), |before| Arc::clone(&before.active));
        let same = before.filter(|before| *before.did == entry.id);
        let did = same.map_or_else(|| Arc::new(entry.id), |before| Arc::clone(&before.did));
        LogVersion {
            id: entry.version_id,
            time: entry.time,
            did,
            active,
            line,
        }
    }

    /// The witnesses who must approve the entry at this index: those in force before it, or, if there were none, those
    /// that it states (did:webvh v1.0, parameter `witness`).
    fn witnesses_of(&self, index: usize) -> Option<&Witnesses> {
        let before = index
            .checked_sub(1)
            .and_then(|before| self.versions.get(before));
        let before = before.map(|before| &before.active.witness);
        let own = self
            .versions
            .get(index)
            .map(|version| &version.active.witness);
        let in_force = before.filter(|witnesses| !witnesses.is_empty()).or(own);
        in_force.filter(|witnesses| !witnesses.is_empty())
    }

    /// Drops the entries from this index on.
    fn cut(&mut self, index: usize) {
        self.versions.truncate(index);
        let end = self.versions.last().map_or(0, |version| version.line.end);
        self.text.truncate(end);
        self.approved = self.approved.min(index);
    }
}

impl LogReading {
    /// The valid entries.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// What is wrong with the entry after the valid ones; `None` if the whole log is valid.
    pub fn fault(&self) -> Option<LogError> {
        self.fault
    }

    /// Whether the proofs of witnesses must be fetched: entries need approval that they did not have before.
    pub fn needs_witnesses(&self) -> bool {
        let mut new = self.log.approved..self.log.versions.len();
        new.any(|index| self.log.witnesses_of(index).is_some())
    }

    /// The reading with the file of witnesses' proofs; `None` if there is no such file. The first entry without enough
    /// approval ends the valid entries (did:webvh v1.0, "Verifying Witness Proofs During Resolution").
    #[must_use]
    pub fn witnessed(mut self, file: Option<&[u8]>, now: UnixTime) -> Self {
        let log = &self.log;
        let new = || log.approved..log.versions.len();
        let listed: Vec<&Witnesses> = new().filter_map(|index| log.witnesses_of(index)).collect();
        let ids: Vec<&str> = log.versions.iter().map(|version| &*version.id).collect();
        let approvals = match file {
            None => Err(WitnessFault::Missing),
            Some(file) => Approvals::read(file, &ids, &listed, now),
        };
        let failed = new().find_map(|index| {
            let witnesses = log.witnesses_of(index)?;
            let judged = match &approvals {
                Ok(approvals) => approvals.of(index, witnesses),
                Err(fault) => Err(*fault),
            };
            Some((index, judged.err()?))
        });
        if let Some((index, fault)) = failed {
            self.log.cut(index);
            self.fault = Some(LogError {
                entry: u64::try_from(index).unwrap_or(u64::MAX).saturating_add(1),
                fault: fault.into(),
            });
        }
        self.log.approved = self.log.versions.len();
        self.checked()
    }

    /// The reading with the faults of the log as a whole: it has entries, and one of them is of the DID asked for.
    fn checked(mut self) -> Self {
        let whole = |fault: EntryFault| Some(LogError { entry: 0, fault });
        let versions = &self.log.versions;
        let is_of = |version: &LogVersion| *version.did == self.log.did;
        if versions.is_empty() {
            self.fault = self.fault.or(whole(SizeFault::Empty.into()));
        } else if self.fault.is_none() && !versions.iter().any(is_of) {
            self.fault = whole(SubjectFault::Other.into());
        }
        self
    }

    /// Whether some valid entry is of the DID asked for. Without one, no version of this log is a version of it.
    pub(crate) fn is_of_asked(&self) -> bool {
        let mut versions = self.log.versions.iter();
        versions.any(|version| *version.did == self.log.did)
    }
}

/// What is in force after a later entry, which follows the entry before.
fn later(entry: &LogEntry, before: &LogVersion) -> Result<Active, EntryFault> {
    let active = entry.parameters.after(&before.active)?;
    entry.is_after(&before.id)?;
    if entry.time <= before.time {
        return Err(TimeFault::Order.into());
    }
    if entry.id == *before.did {
        return Ok(active);
    }
    // did:webvh v1.0, "DID Portability".
    if !active.portable {
        return Err(SubjectFault::Moved.into());
    }
    match entry.also_names(&before.did) {
        true => Ok(active),
        false => Err(SubjectFault::Unnamed.into()),
    }
}

/// did:webvh v1.0, "Authorized Keys": the first entry is signed by its own keys, as is one with pre-rotation; any other
/// by the keys of the entry before. Each of its proofs counts.
fn signed(
    entry: &LogEntry,
    before: Option<&LogVersion>,
    own: &Active,
    now: UnixTime,
) -> Result<(), ProofFault> {
    let earlier = before.map(|before| &before.active);
    let earlier = earlier.filter(|earlier| earlier.next_key_hashes.is_empty());
    let keys = earlier.map_or(&own.update_keys, |earlier| &earlier.update_keys);
    let digest = entry.digest();
    for proof in &entry.proofs {
        if !keys.iter().any(|key| key == proof.multikey()) {
            return Err(ProofFault::Unauthorised);
        }
        proof.verify(&digest, now)?;
    }
    Ok(())
}
