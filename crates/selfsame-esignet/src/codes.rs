//! eSignet's error codes for the errors of use cases.

use selfsame_driver::{Error, ErrorKind};

/// A result, or eSignet's error code.
pub(crate) type Coded<T> = Result<T, &'static str>;

/// The code for a transaction that is unknown, over or at another stage.
pub(crate) const INVALID_TRANSACTION: &str = "invalid_transaction";
const UNKNOWN: &str = "unknown_error";

/// The code of an error of the provider.
pub(crate) fn of(error: &Error) -> &'static str {
    match error.reason.id() {
        "identity-not-proven" | "totp-needed" => "auth_failed",
        "identity-blocked" => "individual_id_blocked",
        "sign-in-attempts-exhausted" => "no_attempts_left",
        "sign-in-busy" => "too_early_attempt",
        "challenge-malformed" => "invalid_challenge_format",
        "factor-unsupported" => "invalid_auth_factor_type",
        "factors-insufficient" => "auth_factor_mismatch",
        "otp-address-absent" => "no_email_mobile_found",
        "claims-not-asked" | "claims-essential" => "invalid_accepted_claim",
        "scopes-not-asked" => "invalid_permitted_scope",
        "client-exists" => "duplicate_client_id",
        _ => of_kind(error.kind),
    }
}

fn of_kind(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Gone | ErrorKind::NotFound | ErrorKind::Conflict => INVALID_TRANSACTION,
        ErrorKind::BadRequest => "invalid_request",
        _ => UNKNOWN,
    }
}
