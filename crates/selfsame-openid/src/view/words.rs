//! Members of the API whose values are words of a set, for its description. The use cases judge what is sent.

use utoipa::ToSchema;

/// What a delegate may do with a single-use credential.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum DelegatedAction {
    /// Use it up.
    Consume,
    /// Revoke it.
    Revoke,
}

/// The outcome of a verification, from most to least useful to a verifier.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum VerdictOutcome {
    /// Every rule that applies holds.
    Valid,
    /// Genuine, but revoked by its issuer.
    Revoked,
    /// Genuine, but a single-use credential that is used up.
    Spent,
    /// Genuine, but suspended by its issuer.
    Suspended,
    /// Genuine, but expired.
    Expired,
    /// Genuine, but not yet valid.
    NotYetValid,
    /// Genuine, but its issuer is not trusted by the policy.
    Untrusted,
    /// Verification is incomplete: evidence is missing.
    Unverifiable,
    /// Forged, tampered with, malformed, or presented wrongly.
    Invalid,
}

/// How a wallet fetches a signed request (OpenID4VP 1.0 §5.10).
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum RequestUriMethod {
    /// By GET.
    Get,
    /// By POST, with a nonce of the wallet's own.
    Post,
}

/// The status of a card.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum CardStatus {
    /// Valid.
    Valid,
    /// A single-use card that is used up.
    Spent,
    /// Revoked by its issuer.
    Revoked,
    /// Suspended by its issuer.
    Suspended,
    /// Expired.
    Expired,
    /// Not yet valid.
    NotYetValid,
    /// It could not be checked.
    Unknown,
}

/// The characters of a transaction code (OpenID4VCI 1.0 §4.1.1).
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum TxCodeInput {
    /// Digits.
    Numeric,
    /// Any characters.
    Text,
}

/// How a wallet chooses cards in place of a person.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum AnswerPolicy {
    /// The newest card that fits.
    Newest,
}

/// What an entry of the history tells.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum HistoryKind {
    /// Cards were received.
    Received,
    /// Claims were shared.
    Shared,
    /// A request was declined.
    Declined,
    /// An offer or an answer failed.
    Failed,
}

#[cfg(test)]
mod tests {
    use selfsame_credential::verdict::Outcome;
    use utoipa::PartialSchema;

    use super::*;

    fn words<T: PartialSchema>() -> Vec<String> {
        let schema = serde_json::to_value(T::schema()).unwrap();
        serde_json::from_value(schema["enum"].clone()).unwrap()
    }

    #[test]
    fn the_outcomes_of_the_description_are_those_of_verdicts() {
        let outcomes = [
            Outcome::Valid,
            Outcome::Revoked,
            Outcome::Spent,
            Outcome::Suspended,
            Outcome::Expired,
            Outcome::NotYetValid,
            Outcome::Untrusted,
            Outcome::Unverifiable,
            Outcome::Invalid,
        ];
        assert_eq!(words::<VerdictOutcome>(), outcomes.map(Outcome::as_str));
    }

    #[test]
    fn each_prefix_of_the_description_can_be_asked_for() {
        let described = words::<crate::config::ClientIdPrefix>();
        assert_eq!(described.len(), 3);
        for prefix in described {
            assert!(
                crate::config::ClientIdPrefix::named(&prefix).is_some(),
                "{prefix}"
            );
        }
    }
}
