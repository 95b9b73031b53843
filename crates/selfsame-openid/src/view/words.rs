//! Members of the API whose values are words of a set, for its description. The use cases judge what is sent.

use utoipa::ToSchema;

/// How a wallet fetches a signed request (OpenID4VP 1.0 §5.10).
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum RequestUriMethod {
    /// By GET.
    Get,
    /// By POST, with a nonce of the wallet's own.
    Post,
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
    use utoipa::PartialSchema;

    use crate::config::ClientIdPrefix;

    fn words<T: PartialSchema>() -> Vec<String> {
        let schema = serde_json::to_value(T::schema()).unwrap();
        serde_json::from_value(schema["enum"].clone()).unwrap()
    }

    #[test]
    fn each_prefix_of_the_description_can_be_asked_for() {
        let described = words::<ClientIdPrefix>();
        assert_eq!(described.len(), 3);
        for prefix in described {
            assert!(ClientIdPrefix::named(&prefix).is_some(), "{prefix}");
        }
    }
}
