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
