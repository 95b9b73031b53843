//! Why an entry of a log is refused: a code that names the entry.

/// What is wrong with a log, and in which entry. The controller of the DID must act.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{fault}, in entry {entry} of the log")]
pub struct LogError {
    /// The place of the entry, counted from 1; 0 for the file as a whole.
    pub entry: u64,
    /// What is wrong with it.
    pub fault: EntryFault,
}

/// What is wrong with an entry.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum EntryFault {
    /// The log or an entry of it has another size than a log may have.
    #[error(transparent)]
    Size(#[from] SizeFault),
    /// The entry is not the JSON of an entry: a member is missing, unknown or of another type.
    #[error("the member {0} is malformed")]
    Form(&'static str),
    /// The version is not the next one.
    #[error(transparent)]
    Version(#[from] VersionFault),
    /// The time is not after that of the entry before.
    #[error(transparent)]
    Time(#[from] TimeFault),
    /// A parameter is missing, unknown, not allowed here, or has a value that is not allowed.
    #[error("the parameter {0} is not allowed in this form here")]
    Parameter(&'static str),
    /// The keys are not those to which the entry before committed.
    #[error(transparent)]
    PreRotation(#[from] PreRotationFault),
    /// A proof does not verify, or is not of an authorised key.
    #[error(transparent)]
    Proof(#[from] ProofFault),
    /// Witnesses have not approved.
    #[error(transparent)]
    Witness(#[from] WitnessFault),
    /// The document is of another DID.
    #[error(transparent)]
    Subject(#[from] SubjectFault),
    /// The DID was deactivated before.
    #[error("the DID was deactivated before this entry")]
    Ended,
}

/// A size that a log must not have.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum SizeFault {
    /// The file has no entry.
    #[error("the log is empty")]
    Empty,
    /// The file is longer than 2 MiB.
    #[error("the log is longer than 2 MiB")]
    Log,
    /// The file has more than 2,048 entries.
    #[error("the log has more than 2,048 entries")]
    Entries,
    /// An entry is longer than 64 KiB.
    #[error("the entry is longer than 64 KiB")]
    Entry,
}

/// A version that is not the next one.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum VersionFault {
    /// The versionId is not a number, a dash and a multihash of SHA-256.
    #[error("the versionId is malformed")]
    Form,
    /// The number is not one more than that of the entry before.
    #[error("the version number is not the next one")]
    Number,
    /// The SCID is not the hash of the first entry.
    #[error("the SCID is not the hash of the first entry")]
    Scid,
    /// The entry hash is not the hash of the entry.
    #[error("the entry hash is not that of the entry")]
    Hash,
}

/// A time that an entry must not have.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TimeFault {
    /// The versionTime is not a time in UTC.
    #[error("the versionTime is not a time in UTC")]
    Form,
    /// The time is not after that of the entry before.
    #[error("the versionTime is not after that of the entry before")]
    Order,
    /// The time is more than 5 minutes ahead.
    #[error("the versionTime is in the future")]
    Future,
}

/// A broken commitment to keys.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum PreRotationFault {
    /// The entry states no keys, though the entry before committed to some.
    #[error("pre-rotation is on, and the entry states no {0}")]
    Missing(&'static str),
    /// A key has no hash among those to which the entry before committed.
    #[error("the entry before did not commit to an update key")]
    Uncommitted,
}

/// A proof that proves nothing.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ProofFault {
    /// There is no proof, or there are more than 16.
    #[error("the entry has no proof, or too many")]
    Count,
    /// A member is missing or malformed.
    #[error("the member {0} of a proof is malformed")]
    Form(&'static str),
    /// The cryptosuite is not eddsa-jcs-2022.
    #[error("the cryptosuite of a proof is not eddsa-jcs-2022")]
    Suite,
    /// The purpose is not assertionMethod.
    #[error("the purpose of a proof is not assertionMethod")]
    Purpose,
    /// The verification method is not the did:key of an Ed25519 key, with the same key as its fragment.
    #[error("the verification method of a proof is not the did:key of an Ed25519 key")]
    Method,
    /// The key may not update the DID.
    #[error("the key of a proof is no authorised update key")]
    Unauthorised,
    /// The proof has expired.
    #[error("a proof has expired")]
    Expired,
    /// The signature does not verify.
    #[error("the signature of a proof does not verify")]
    Signature,
}

/// Missing approval.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum WitnessFault {
    /// There is no file with proofs of witnesses.
    #[error("there are no proofs of witnesses")]
    Missing,
    /// The file is longer than 1 MiB, malformed, or has more than 4,096 proofs.
    #[error("the file with the proofs of witnesses is malformed or too long")]
    File,
    /// Fewer witnesses than the threshold have approved the entry.
    #[error("too few witnesses have approved the entry")]
    Threshold,
}

/// A document of another DID.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum SubjectFault {
    /// The `id` of the document is not a did:webvh.
    #[error("the id of the document is not a valid did:webvh")]
    Form,
    /// The SCID of the document's `id` is not that of the log.
    #[error("the id of the document has another SCID")]
    Scid,
    /// The DID moved, but it is not portable.
    #[error("the DID moved, but it is not portable")]
    Moved,
    /// The DID moved, and the document does not name the DID before.
    #[error("the DID moved, and alsoKnownAs does not name the DID before")]
    Unnamed,
    /// No entry is of the DID asked for.
    #[error("no entry is of the DID asked for")]
    Other,
}

impl EntryFault {
    /// Its code, `entry-hash-mismatch`.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Size(SizeFault::Empty) => "log-empty",
            Self::Size(SizeFault::Log) => "log-too-long",
            Self::Size(SizeFault::Entries) => "log-too-many-entries",
            Self::Size(SizeFault::Entry) => "entry-too-long",
            Self::Form(_) => "entry-malformed",
            Self::Version(VersionFault::Form) => "version-id-malformed",
            Self::Version(VersionFault::Number) => "version-number-not-next",
            Self::Version(VersionFault::Scid) => "scid-mismatch",
            Self::Version(VersionFault::Hash) => "entry-hash-mismatch",
            Self::Time(TimeFault::Form) => "version-time-malformed",
            Self::Time(TimeFault::Order) => "version-time-not-later",
            Self::Time(TimeFault::Future) => "version-time-in-future",
            Self::Parameter(_) => "parameter-refused",
            Self::PreRotation(PreRotationFault::Missing(_)) => "pre-rotation-skipped",
            Self::PreRotation(PreRotationFault::Uncommitted) => "update-key-uncommitted",
            Self::Proof(fault) => fault.code(),
            Self::Witness(WitnessFault::Missing) => "witness-proofs-missing",
            Self::Witness(WitnessFault::File) => "witness-proofs-malformed",
            Self::Witness(WitnessFault::Threshold) => "witness-threshold-missed",
            Self::Subject(SubjectFault::Form) => "subject-malformed",
            Self::Subject(SubjectFault::Scid) => "subject-scid-mismatch",
            Self::Subject(SubjectFault::Moved) => "subject-not-portable",
            Self::Subject(SubjectFault::Unnamed) => "subject-not-named",
            Self::Subject(SubjectFault::Other) => "subject-not-asked-for",
            Self::Ended => "entry-after-deactivation",
        }
    }
}

impl ProofFault {
    const fn code(self) -> &'static str {
        match self {
            Self::Count => "proof-missing",
            Self::Form(_) => "proof-malformed",
            Self::Suite => "proof-suite-unsupported",
            Self::Purpose => "proof-purpose-wrong",
            Self::Method => "proof-key-malformed",
            Self::Unauthorised => "proof-key-unauthorised",
            Self::Expired => "proof-expired",
            Self::Signature => "proof-signature-invalid",
        }
    }
}
