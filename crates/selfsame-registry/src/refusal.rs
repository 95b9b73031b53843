//! The reasons to refuse a transaction, and the errors of checking and applying.

use selfsame_proof::cbor::Malformed;
use selfsame_proof::tree::TreeError;

use crate::authority::Act;
use crate::content::ContentFault;
use crate::receipt::Receipt;
use crate::state::StateError;

/// Why a transaction is refused. A refused transaction changes nothing.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// The transaction is for another network.
    #[error("the transaction is for another network")]
    Network,
    /// The new DID's identifier does not belong to its first key.
    #[error("the identifier does not belong to the first key")]
    Identifier,
    /// The author's DID is not in the state that the operation needs.
    #[error("{0}")]
    Author(AuthorFault),
    /// The version is not one above the present version.
    #[error("the present version is {present}; the next must be one more")]
    Version {
        /// The present version.
        present: u64,
    },
    /// A signature is missing or wrong.
    #[error("{0}")]
    Signature(SignatureFault),
    /// The author has used the nonce for another transaction.
    #[error("the nonce was used for another transaction")]
    NonceUsed,
    /// Keys, services, names or URIs break the network's rules.
    #[error("the content is refused: {0}")]
    Content(ContentFault),
    /// The author's role does not allow the act on this object.
    #[error("the author's role does not allow this: {act:?}")]
    NotAllowed {
        /// The refused act.
        act: Act,
    },
    /// The endorser has no role, so their signature endorses nothing.
    #[error("the endorser is no member of the network")]
    Endorser,
    /// The author agreement in force is not accepted, or its change is refused.
    #[error("{0}")]
    Agreement(AgreementFault),
    /// The change of members, validators or rules is refused.
    #[error("{0}")]
    Governance(GovernanceFault),
    /// A published object breaks a rule.
    #[error("{0}")]
    Object(ObjectFault),
    /// An entry of a revocation registry does not follow the one before it.
    #[error("{0}")]
    Entry(EntryFault),
    /// No delegation covers the action, or the delegation itself is refused.
    #[error("{0}")]
    Delegation(DelegationFault),
    /// The handle was used before; the receipt says when.
    #[error("it was used before, by transaction {}", .receipt.seq_no)]
    Used {
        /// The receipt of the first use.
        receipt: Receipt,
    },
    /// The status list anchored before is as new as this one, or newer.
    #[error("the status list anchored before is as new or newer")]
    NotNewer,
    /// The status list's time of issue is in the future.
    #[error("the status list was issued later than now")]
    Future,
    /// The transaction is larger than the network allows.
    #[error("the transaction is larger than the network allows")]
    TooLarge,
    /// A quota is used up; try again in the next window.
    #[error("a quota of the network is used up")]
    Quota {
        /// Seconds until the next window.
        retry_after: u64,
    },
    /// The block is full; send the transaction again for the next one.
    #[error("the block is full")]
    BlockFull,
}

/// The fate of a transaction, as the state shows it. Nothing is ever removed from a state, so the first two are final.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fate {
    /// It was accepted: the state contains what it wrote, with this receipt.
    Written(Receipt),
    /// It was not accepted, and never will be: the state contains something that excludes it.
    Excluded(Refusal),
    /// The state shows neither.
    Open,
}

/// What is wrong with the state of the author's DID.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum AuthorFault {
    /// The DID to be created exists already.
    #[error("the DID exists already")]
    Exists,
    /// The author's DID is not registered.
    #[error("the author is not registered")]
    Unknown,
    /// The DID has been deactivated.
    #[error("the author's DID has been deactivated")]
    Deactivated,
}

/// What is wrong with a signature.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum SignatureFault {
    /// The key is not one of the author's, or may not sign transactions.
    #[error("a signature is by no key that may sign transactions of the author")]
    UnknownKey,
    /// One key signs twice.
    #[error("a key signs twice")]
    Repeated,
    /// The first key of a new DID does not sign.
    #[error("the first key of a new DID has to sign")]
    FirstKeyMissing,
    /// The owner of an identifier of Indy's form has not signed.
    #[error(
        "an identifier that has half of the key in it is registered with its owner's signature"
    )]
    OwnerMissing,
    /// The signature does not verify with that key over these bytes.
    #[error("a signature is not by the key it names")]
    Bad,
}

/// What is wrong with the acceptance of the author agreement, or with a change of the agreement.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum AgreementFault {
    /// The network has no agreement in force.
    #[error("no author agreement is in force")]
    NoneInForce,
    /// The transaction accepts no agreement.
    #[error("the author agreement in force has to be accepted")]
    Missing,
    /// The accepted agreement is not the one in force.
    #[error("the accepted author agreement is not the one in force")]
    Other,
    /// The agreement does not list this acceptance mechanism.
    #[error("the author agreement is not accepted by this mechanism")]
    Mechanism,
    /// Accepted before it was in force, or in the future.
    #[error("the author agreement was accepted before it was in force, or in the future")]
    Day,
    /// The agreement is malformed.
    #[error("an author agreement has a version and 1 to 16 mechanisms, each a plain name")]
    Malformed,
    /// The new agreement has the version of the one in force.
    #[error("the author agreement in force has the same version")]
    VersionUsed,
}

/// What is wrong with a change of members, validators or rules.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum GovernanceFault {
    /// Only an active DID can have a role.
    #[error("a role is given to a registered DID that is not deactivated")]
    NotRegistered,
    /// Nothing would change.
    #[error("nothing would change")]
    Unchanged,
    /// The network would have no trustee, so it could not be governed any more.
    #[error("the last trustee stays")]
    LastTrustee,
    /// There is no such validator.
    #[error("there is no validator of this name")]
    UnknownValidator,
    /// A steward runs at most one validator.
    #[error("a steward has one validator")]
    OneEach,
    /// A steward's validator would have more power than another.
    #[error("a steward's validator has no more power than any other")]
    Power,
    /// Some validators have a key in a consensus engine, and others do not.
    #[error("either all validators have a key in a consensus engine or none has")]
    Engine,
    /// The engine would have no validator left, and could not make another block.
    #[error("the validators of a network keep keys in its consensus engine")]
    EngineLeft,
    /// The validators would not be a valid set.
    #[error("{0}")]
    Validators(&'static str),
    /// Rules can change only at a later height.
    #[error("rules change from a height after this block's")]
    Height,
    /// Rules that no author could correct any more.
    #[error("{0}")]
    Rules(&'static str),
    /// A machine version may only increase, by one at a time.
    #[error("the machine's version stays, or goes on by one")]
    Machine,
    /// This program lacks that machine version; other programs may have it.
    #[error("this node's program does not have that machine: install a newer one first")]
    MachineUnknown,
    /// The machine version in force lacks the operation, though this program has it.
    #[error("the network's machine does not have this operation yet")]
    OperationUnknown,
    /// Too many changes of the rules are planned.
    #[error("too many changes of the rules are to come")]
    TooManyChanges,
}

/// What is wrong with a published object.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ObjectFault {
    /// The object exists already; objects do not change.
    #[error("the object exists already")]
    Exists,
    /// An object that it refers to is not in this registry.
    #[error("what it refers to is not in this registry")]
    Unknown,
    /// The object is larger than the network allows.
    #[error("the object is larger than the network allows")]
    TooLarge,
    /// The revocation registry has more places than the network allows.
    #[error("the revocation registry has more places than the network allows")]
    TooManyPlaces,
    /// The name, version, type or tag is malformed.
    #[error("the object's name, type, version or tag is empty, too long or not plain")]
    Name,
    /// The media type is malformed.
    #[error("the media type is malformed")]
    MediaType,
    /// The JSON is refused.
    #[error("{what}: {why}")]
    Json {
        /// The refused part.
        what: &'static str,
        /// The reason.
        why: &'static str,
    },
    /// The definition's key is refused.
    #[error("the credential definition's key is refused")]
    Key,
    /// The definition's validity has ended already.
    #[error("the definition's validity has ended")]
    Expired,
    /// It cannot succeed the other definition.
    #[error("a definition succeeds one of the same issuer and schema that has no successor")]
    Succession,
    /// The definition is not revocable, or not the author's.
    #[error("the definition has no key for revocation, or is somebody else's")]
    NotRevocable,
}

/// What is wrong with an entry of a revocation registry.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum EntryFault {
    /// The accumulator it changes is not the present one.
    #[error("the accumulator before is not the present one")]
    Before,
    /// The accumulator is not a point of the curve.
    #[error("the accumulator is no point of the curve")]
    Accumulator,
    /// The places are not ascending, or a place is in both lists.
    #[error("places ascend, and are issued or revoked, not both")]
    Order,
    /// A place is outside the registry.
    #[error("the registry has no such place")]
    Place,
    /// A place already has the state that the entry gives it.
    #[error("a place is revoked already, or is not")]
    Unchanged,
}

/// What is wrong with a delegation.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum DelegationFault {
    /// The issuer has no delegation with this name.
    #[error("the issuer has given no such delegation")]
    Unknown,
    /// The name was used for another delegation.
    #[error("the name was used for another delegation")]
    NameUsed,
    /// The delegate is another DID, or is not registered.
    #[error("the delegation is for another DID, or for a DID that is not registered")]
    Delegate,
    /// The delegation has expired.
    #[error("the delegation has expired")]
    Expired,
    /// The issuer has withdrawn it.
    #[error("the delegation was withdrawn")]
    Withdrawn,
    /// It is for another action.
    #[error("the delegation is not for this action")]
    Action,
    /// It does not cover the credential's type.
    #[error("the delegation does not cover this type of credential")]
    Scope,
    /// The issuer needs no delegation.
    #[error("the issuer acts without a delegation")]
    Needless,
    /// Name, scope or type are malformed.
    #[error("a delegation has a plain name and plain types, as many as the network allows")]
    Malformed,
    /// Its end is in the past, or later than the network allows.
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

    /// Seconds after which the same transaction may be accepted; `None` if waiting does not help.
    pub fn retry_after(&self) -> Option<u64> {
        match self {
            Self::Quota { retry_after } => Some(*retry_after),
            Self::BlockFull => Some(1),
            _ => None,
        }
    }
}

/// Why checking gave no receipt.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CheckError {
    /// The transaction is refused; its author must act.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The state cannot be read; the operator must act.
    #[error(transparent)]
    State(#[from] StateError),
}

/// Why bytes are not a transaction of this network.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ReadError {
    /// The network's machine knows no such transaction; its sender must act.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The state cannot be read; the operator must act.
    #[error(transparent)]
    State(#[from] StateError),
}

/// Why a block cannot be applied; it changes nothing.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ApplyError {
    /// The block is earlier than the one before; the sequencer must act.
    #[error("the block is earlier than the one before it")]
    Time,
    /// The state cannot be read; the operator must act.
    #[error(transparent)]
    State(#[from] StateError),
    /// The stored tree differs from what was written; the operator must act.
    #[error("the registry's tree is damaged: {0}")]
    Damaged(TreeError),
}

impl From<TreeError> for ApplyError {
    fn from(error: TreeError) -> Self {
        match error {
            // No node of the newest tree is ever pruned.
            TreeError::Missing | TreeError::Damaged => Self::Damaged(error),
            other => Self::State(StateError(other.to_string())),
        }
    }
}
