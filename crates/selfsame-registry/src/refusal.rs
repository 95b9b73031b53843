//! Why a transaction is refused, and how checking one can fail.

use selfsame_proof::cbor::Malformed;
use selfsame_proof::tree::TreeError;

use crate::authority::Act;
use crate::content::ContentFault;
use crate::receipt::Receipt;
use crate::state::StateError;

/// Why a transaction is refused. A refused transaction changes nothing.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// It is for another network.
    #[error("the transaction is for another network")]
    Network,
    /// The new DID's identifier does not belong to its first key.
    #[error("the identifier does not belong to the first key")]
    Identifier,
    /// The author is not in the state the operation needs.
    #[error("{0}")]
    Author(AuthorFault),
    /// The version does not follow the present one.
    #[error("the present version is {present}; the next must be one more")]
    Version {
        /// The present version.
        present: u64,
    },
    /// A signature is missing or wrong.
    #[error("{0}")]
    Signature(SignatureFault),
    /// The author has used the nonce for something else.
    #[error("the nonce was used for another transaction")]
    NonceUsed,
    /// Keys, services, names or URIs are not as the network wants them.
    #[error("the content is refused: {0}")]
    Content(ContentFault),
    /// The author's role does not allow it, here and for this object.
    #[error("the author's role does not allow this: {act:?}")]
    NotAllowed {
        /// What is not allowed.
        act: Act,
    },
    /// The endorser has no role, so his signature vouches for nothing.
    #[error("the endorser is no member of the network")]
    Endorser,
    /// The author agreement is not accepted as it is in force.
    #[error("{0}")]
    Agreement(AgreementFault),
    /// Who governs the network, or how, cannot be changed like this.
    #[error("{0}")]
    Governance(GovernanceFault),
    /// A published object is not as it has to be.
    #[error("{0}")]
    Object(ObjectFault),
    /// An entry of a revocation registry does not follow.
    #[error("{0}")]
    Entry(EntryFault),
    /// There is no delegation that covers this.
    #[error("{0}")]
    Delegation(DelegationFault),
    /// Somebody was first; the receipt says when.
    #[error("it was used before, by transaction {}", .receipt.seq_no)]
    Used {
        /// The receipt of the first use.
        receipt: Receipt,
    },
    /// The status list anchored before is as new or newer.
    #[error("the status list anchored before is as new or newer")]
    NotNewer,
    /// The status list was issued in the future.
    #[error("the status list was issued later than now")]
    Future,
    /// It is larger than the network allows.
    #[error("the transaction is larger than the network allows")]
    TooLarge,
    /// A quota is used up; come back later.
    #[error("a quota of the network is used up")]
    Quota {
        /// Seconds until the next window.
        retry_after: u64,
    },
    /// The block is full; send it again for the next.
    #[error("the block is full")]
    BlockFull,
}

/// What the state says of a transaction. Nothing is ever taken out of a state, so the first two hold for ever.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fate {
    /// It was accepted: what it wrote stands there, with this receipt.
    Written(Receipt),
    /// It was not, and never will be: what stands there excludes it.
    Excluded(Refusal),
    /// Neither can be seen.
    Open,
}

/// What is wrong with the author's state.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum AuthorFault {
    /// There is such a DID already.
    #[error("the DID exists already")]
    Exists,
    /// There is no such DID.
    #[error("the author is not registered")]
    Unknown,
    /// The DID has been deactivated.
    #[error("the author's DID has been deactivated")]
    Deactivated,
}

/// What is wrong with a signature.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum SignatureFault {
    /// The key is not among the author's, or may not sign transactions.
    #[error("a signature is by no key that may sign transactions of the author")]
    UnknownKey,
    /// The same key signs twice.
    #[error("a key signs twice")]
    Repeated,
    /// The first key of a new DID does not sign.
    #[error("the first key of a new DID has to sign")]
    FirstKeyMissing,
    /// The owner of an identifier of Indy's form does not sign.
    #[error(
        "an identifier that has half of the key in it is registered with its owner's signature"
    )]
    OwnerMissing,
    /// The signature is not over these bytes by that key.
    #[error("a signature is not by the key it names")]
    Bad,
}

/// What is wrong with the acceptance of the author agreement, or with the agreement.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum AgreementFault {
    /// The network has none.
    #[error("no author agreement is in force")]
    NoneInForce,
    /// The transaction names none.
    #[error("the author agreement in force has to be accepted")]
    Missing,
    /// Another is in force.
    #[error("the accepted author agreement is not the one in force")]
    Other,
    /// The agreement does not know this way of accepting it.
    #[error("the author agreement is not accepted by this mechanism")]
    Mechanism,
    /// Accepted before it was in force, or in the future.
    #[error("the author agreement was accepted before it was in force, or in the future")]
    Day,
    /// The agreement is malformed.
    #[error("an author agreement has a version and 1 to 16 mechanisms, each a plain name")]
    Malformed,
    /// The version is the one in force.
    #[error("the author agreement in force has the same version")]
    VersionUsed,
}

/// What is wrong with a change of members, validators or rules.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum GovernanceFault {
    /// A role is for an active DID.
    #[error("a role is given to a registered DID that is not deactivated")]
    NotRegistered,
    /// Nothing would change.
    #[error("nothing would change")]
    Unchanged,
    /// Nobody could govern any more.
    #[error("the last trustee stays")]
    LastTrustee,
    /// There is no such validator.
    #[error("there is no validator of this name")]
    UnknownValidator,
    /// A steward runs one validator.
    #[error("a steward has one validator")]
    OneEach,
    /// A steward's validator is no mightier than the others.
    #[error("a steward's validator has no more power than any other")]
    Power,
    /// Some validators take part in a consensus engine, and others do not.
    #[error("either all validators have a key in a consensus engine or none has")]
    Engine,
    /// The engine would have no validator left, and could make no further block.
    #[error("the validators of a network keep keys in its consensus engine")]
    EngineLeft,
    /// The validators would be none a network can have.
    #[error("{0}")]
    Validators(&'static str),
    /// Rules change at a height to come.
    #[error("rules change from a height after this block's")]
    Height,
    /// Nobody could mend these rules.
    #[error("{0}")]
    Rules(&'static str),
    /// Machines follow each other.
    #[error("the machine's version stays, or goes on by one")]
    Machine,
    /// This program has no such machine; others may.
    #[error("this node's program does not have that machine: install a newer one first")]
    MachineUnknown,
    /// The machine in force does not have it, though this program does.
    #[error("the network's machine does not have this operation yet")]
    OperationUnknown,
    /// Too many changes wait.
    #[error("too many changes of the rules are to come")]
    TooManyChanges,
}

/// What is wrong with a published object.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ObjectFault {
    /// There is one already; objects do not change.
    #[error("the object exists already")]
    Exists,
    /// What it refers to is not here.
    #[error("what it refers to is not in this registry")]
    Unknown,
    /// Larger than the network allows.
    #[error("the object is larger than the network allows")]
    TooLarge,
    /// More places than the network allows.
    #[error("the revocation registry has more places than the network allows")]
    TooManyPlaces,
    /// The name, version, type or tag is none.
    #[error("the object's name, type, version or tag is empty, too long or not plain")]
    Name,
    /// The media type is none.
    #[error("the media type is malformed")]
    MediaType,
    /// The JSON is refused.
    #[error("{what}: {why}")]
    Json {
        /// Which part.
        what: &'static str,
        /// Why.
        why: &'static str,
    },
    /// The key is refused.
    #[error("the credential definition's key is refused")]
    Key,
    /// It would end before it begins.
    #[error("the definition's validity has ended")]
    Expired,
    /// It cannot take the other's place.
    #[error("a definition succeeds one of the same issuer and schema that has no successor")]
    Succession,
    /// Its credentials cannot be revoked by the author.
    #[error("the definition has no key for revocation, or is somebody else's")]
    NotRevocable,
}

/// What is wrong with an entry of a revocation registry.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum EntryFault {
    /// It changes another accumulator than the present one.
    #[error("the accumulator before is not the present one")]
    Before,
    /// The accumulator is none.
    #[error("the accumulator is no point of the curve")]
    Accumulator,
    /// The places are not ascending, or a place is in both lists.
    #[error("places ascend, and are issued or revoked, not both")]
    Order,
    /// A place is outside of the registry.
    #[error("the registry has no such place")]
    Place,
    /// A place is as the entry wants it already.
    #[error("a place is revoked already, or is not")]
    Unchanged,
}

/// What is wrong with a delegation.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum DelegationFault {
    /// There is none of that name.
    #[error("the issuer has given no such delegation")]
    Unknown,
    /// The name was used before.
    #[error("the name was used for another delegation")]
    NameUsed,
    /// It is for somebody else, or for nobody who is registered.
    #[error("the delegation is for somebody else, or for nobody registered")]
    Delegate,
    /// Its time is over.
    #[error("the delegation has expired")]
    Expired,
    /// The issuer has withdrawn it.
    #[error("the delegation was withdrawn")]
    Withdrawn,
    /// It is for the other action.
    #[error("the delegation is not for this action")]
    Action,
    /// It does not cover the credential's type.
    #[error("the delegation does not cover this type of credential")]
    Scope,
    /// The issuer needs none.
    #[error("the issuer acts without a delegation")]
    Needless,
    /// Name, scope or type are not as they should be.
    #[error("a delegation has a plain name and plain types, as many as the network allows")]
    Malformed,
    /// It ends in the past, or too late.
    #[error("a delegation ends in the future, and not later than the network allows")]
    Until,
}

/// Every code a refusal can have.
pub const CODES: [&str; 25] = [
    "wrong_network",
    "identifier_not_of_key",
    "did_exists",
    "author_unknown",
    "did_deactivated",
    "wrong_version",
    "bad_signature",
    "nonce_used",
    "content_refused",
    "not_allowed",
    "endorser_not_member",
    "agreement_refused",
    "governance_refused",
    "object_exists",
    "object_unknown",
    "object_refused",
    "wrong_accumulator",
    "entry_refused",
    "delegation_refused",
    "already_used",
    "status_not_newer",
    "status_from_future",
    "too_large",
    "quota_used_up",
    "block_full",
];

impl Refusal {
    /// A stable name, for interfaces; one of [`CODES`].
    pub fn code(&self) -> &'static str {
        match self {
            Self::Network => "wrong_network",
            Self::Identifier => "identifier_not_of_key",
            Self::Author(AuthorFault::Exists) => "did_exists",
            Self::Author(AuthorFault::Unknown) => "author_unknown",
            Self::Author(AuthorFault::Deactivated) => "did_deactivated",
            Self::Version { .. } => "wrong_version",
            Self::Signature(_) => "bad_signature",
            Self::NonceUsed => "nonce_used",
            Self::Content(_) => "content_refused",
            Self::NotAllowed { .. } => "not_allowed",
            Self::Endorser => "endorser_not_member",
            Self::Agreement(_) => "agreement_refused",
            Self::Governance(_) => "governance_refused",
            Self::Object(ObjectFault::Exists) => "object_exists",
            Self::Object(ObjectFault::Unknown) => "object_unknown",
            Self::Object(_) => "object_refused",
            Self::Entry(EntryFault::Before) => "wrong_accumulator",
            Self::Entry(_) => "entry_refused",
            Self::Delegation(_) => "delegation_refused",
            Self::Used { .. } => "already_used",
            Self::NotNewer => "status_not_newer",
            Self::Future => "status_from_future",
            Self::TooLarge => "too_large",
            Self::Quota { .. } => "quota_used_up",
            Self::BlockFull => "block_full",
        }
    }

    /// Seconds after which the same transaction may be accepted, where waiting helps.
    pub fn retry_after(&self) -> Option<u64> {
        match self {
            Self::Quota { retry_after } => Some(*retry_after),
            Self::BlockFull => Some(1),
            _ => None,
        }
    }
}

/// Why the machine gave no receipt.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CheckError {
    /// The transaction is refused; its author must act.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The state cannot be read; the operator must act.
    #[error(transparent)]
    State(#[from] StateError),
}

/// Why bytes are no transaction here.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ReadError {
    /// They are none that the network's machine knows; their sender must act.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The state cannot be read; the operator must act.
    #[error(transparent)]
    State(#[from] StateError),
}

/// Why a block cannot be applied; nothing of it counts.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ApplyError {
    /// The block is earlier than the one before; the sequencer must act.
    #[error("the block is earlier than the one before it")]
    Time,
    /// The state cannot be read; the operator must act.
    #[error(transparent)]
    State(#[from] StateError),
    /// What is stored is not what was written; the operator must act.
    #[error("the registry's tree is damaged: {0}")]
    Damaged(TreeError),
}

impl From<TreeError> for ApplyError {
    fn from(error: TreeError) -> Self {
        match error {
            // Nothing of the newest tree is ever pruned.
            TreeError::Missing | TreeError::Damaged => Self::Damaged(error),
            other => Self::State(StateError(other.to_string())),
        }
    }
}
