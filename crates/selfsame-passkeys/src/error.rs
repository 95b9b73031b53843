//! Why an answer of a browser or an authenticator is refused.

/// Why an answer is refused. The sender must act: begin again, or use another passkey.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum PasskeyError {
    /// The answer is not of the form that the specification gives it.
    #[error("malformed: {0}")]
    Malformed(&'static str),
    /// The client data belong to the other ceremony (§7.1 step 7, §7.2 step 11).
    #[error("the answer is for another ceremony")]
    OtherCeremony,
    /// The challenge is not the one that was sent, was sent for something else, or has expired (§7.1 step 8).
    #[error("the challenge is not the one that was sent, or has expired")]
    Challenge,
    /// The page that asked is not one of the relying party (§7.1 steps 9–11).
    #[error("the answer was made for another site")]
    Origin,
    /// The passkey was made for another relying party (§7.1 step 14).
    #[error("the passkey belongs to another site")]
    OtherParty,
    /// The authenticator did not see the user's touch (§7.1 step 15).
    #[error("the authenticator reports no person")]
    NotPresent,
    /// The authenticator did not verify who is there, for example by PIN or fingerprint (§7.1 step 16).
    #[error("the authenticator did not verify the person")]
    NotVerified,
    /// The key is of an algorithm that was not offered (§7.1 step 20).
    #[error("the passkey's algorithm was not offered")]
    Algorithm,
    /// The answer comes from another passkey than the one it names (§7.2 steps 5 and 6).
    #[error("the answer is of another passkey")]
    OtherPasskey,
    /// The signature is not one of the passkey (§7.2 step 21).
    #[error("the signature is not valid")]
    Signature,
    /// The counter did not grow, so the passkey may have been copied (§6.1.1, §7.2 step 22).
    #[error("the passkey's counter went back: it may have been copied")]
    Counter,
}
