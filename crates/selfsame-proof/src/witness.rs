//! Messages between a log and its witnesses: the call `add-checkpoint` and its answers (C2SP tlog-witness).

use std::fmt;

use selfsame_crypto::encoding::base64_encode;
use selfsame_crypto::time::UnixTime;

use crate::ProofError;
use crate::checkpoint::{Checkpoint, decimal, hash};
use crate::log::Hash;
use crate::note::{MAX_NOTE_BYTES, Signature, SignedNote, VerifierKey};

/// The path of the call, appended to the witness's submission prefix.
pub const ADD_CHECKPOINT: &str = "add-checkpoint";
/// The media type of a 409 answer, which contains a size.
pub const SIZE_MEDIA_TYPE: &str = "text/x.tlog.size";
/// Maximum number of lines in a consistency proof (C2SP tlog-witness, add-checkpoint).
pub const MAX_PROOF: usize = 63;
/// Maximum length of an answer, in bytes: room for several signatures, including ML-DSA-44.
pub const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// Maximum number of signature lines in an answer.
const MAX_LINES: usize = 16;
/// The length of `old `, a number of 20 digits and the end of line.
const OLD_LINE_BYTES: usize = 25;
/// The length of a hash in base64 and the end of line.
const PROOF_LINE_BYTES: usize = 45;
/// Maximum length of a call's body: the proof, the empty line and the note.
pub const MAX_CALL_BYTES: usize =
    OLD_LINE_BYTES + MAX_PROOF * PROOF_LINE_BYTES + 1 + MAX_NOTE_BYTES;

/// The body of the call `add-checkpoint`: a signed checkpoint, and the proof that its log begins with the one that the
/// witness last cosigned. `Display` writes it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AddCheckpoint {
    old: u64,
    proof: Vec<Hash>,
    note: SignedNote,
}

impl AddCheckpoint {
    /// A call for a witness that last saw the log with `old` entries (0: never).
    ///
    /// # Errors
    /// `Witness` if the proof is longer than the specification allows, or if the note is not a checkpoint.
    pub fn new(old: u64, proof: Vec<Hash>, note: SignedNote) -> Result<Self, ProofError> {
        if proof.len() > MAX_PROOF {
            return Err(ProofError::Witness("the proof is too long"));
        }
        Checkpoint::parse(note.text())?;
        Ok(Self { old, proof, note })
    }

    /// Parses a call strictly. Does not verify the signatures or the proof.
    ///
    /// # Errors
    /// `Witness`, `Note` or `Checkpoint`, depending on the malformed part.
    pub fn parse(body: &str) -> Result<Self, ProofError> {
        let bad = ProofError::Witness;
        if body.len() > MAX_CALL_BYTES {
            return Err(bad("the call is too long"));
        }
        let (head, note) = body
            .split_once("\n\n")
            .ok_or(bad("the call has no empty line"))?;
        let mut lines = head.split('\n');
        let old = lines.next().and_then(|line| line.strip_prefix("old "));
        let old = old
            .and_then(decimal)
            .ok_or(bad("its first line is not an old size"))?;
        let mut proof = Vec::new();
        for line in lines {
            if proof.len() >= MAX_PROOF {
                return Err(bad("the proof is too long"));
            }
            proof.push(hash(line).ok_or(bad("a line of the proof is not a hash"))?);
        }
        Self::new(old, proof, SignedNote::parse(note)?)
    }

    /// The size of the log that the witness last cosigned, according to the caller.
    pub fn old(&self) -> u64 {
        self.old
    }

    /// The proof that the checkpoint's log begins with that log (RFC 6962 §2.1.2).
    pub fn proof(&self) -> &[Hash] {
        &self.proof
    }

    /// The checkpoint. It is untrusted until its signers are known.
    pub fn note(&self) -> &SignedNote {
        &self.note
    }
}

impl fmt::Display for AddCheckpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "old {}", self.old)?;
        for hash in &self.proof {
            writeln!(f, "{}", base64_encode(hash))?;
        }
        write!(f, "\n{}", self.note)
    }
}

/// Parses the body of a 409 answer: the size of the log that the witness last cosigned.
///
/// # Errors
/// `Witness` unless it is a number and an end of line.
pub fn parse_size(answer: &str) -> Result<u64, ProofError> {
    let number = answer.strip_suffix('\n').and_then(decimal);
    number.ok_or(ProofError::Witness("the answer is not a size"))
}

/// Adds a witness's cosignature from its answer to a note, and returns its time. It must be by this key over this note,
/// and made at `latest` or before. Signatures of other keys are ignored.
///
/// # Errors
/// `Witness` if the answer is malformed or its time is not valid for a cosignature, `Note` if a line is not a
/// signature, `Untrusted` if the key did not sign, `BadSignature` if a line names the key but its signature is invalid.
/// On error the note is unchanged.
pub fn take_cosignature(
    note: &mut SignedNote,
    answer: &str,
    key: &VerifierKey,
    latest: UnixTime,
) -> Result<UnixTime, ProofError> {
    let bad = ProofError::Witness;
    let mut taken: Option<(UnixTime, Signature)> = None;
    for signature in signatures(answer)? {
        if !signature.names(key) {
            continue;
        }
        let time = key.check(note.text(), signature.bytes())?;
        let time = time.ok_or(bad("the key is not a witness's"))?;
        // "The cosignature MUST NOT omit the timestamp" (C2SP tlog-witness, add-checkpoint).
        if time == UnixTime(0) || time > latest {
            return Err(bad("the time of the cosignature is 0 or in the future"));
        }
        if taken.as_ref().is_none_or(|(before, _)| *before < time) {
            taken = Some((time, signature));
        }
    }
    let (time, signature) = taken.ok_or(ProofError::Untrusted)?;
    note.sign(key, signature.bytes().to_vec())?;
    Ok(time)
}

/// Parses the lines of a 200 answer.
fn signatures(answer: &str) -> Result<Vec<Signature>, ProofError> {
    let bad = ProofError::Witness;
    if answer.len() > MAX_ANSWER_BYTES {
        return Err(bad("the answer is too long"));
    }
    let lines = answer
        .strip_suffix('\n')
        .ok_or(bad("the last line of the answer does not end"))?;
    if lines.split('\n').count() > MAX_LINES {
        return Err(bad("the answer has too many lines"));
    }
    lines.split('\n').map(Signature::parse).collect()
}

#[cfg(test)]
mod tests;
