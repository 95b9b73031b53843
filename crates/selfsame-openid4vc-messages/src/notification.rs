//! The notification endpoint's request (OpenID4VCI 1.0 §11).

use selfsame_crypto::json;
use serde::{Deserialize, Serialize};

use crate::error::{CredentialCode, Error};

/// The longest identifier of a notification, in bytes.
const MAX_ID: usize = 512;
/// The longest explanation, in bytes.
const MAX_DESCRIPTION: usize = 1024;

/// What became of the credentials of a response.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum NotificationEvent {
    /// The wallet keeps them.
    #[serde(rename = "credential_accepted")]
    Accepted,
    /// The person did not want them.
    #[serde(rename = "credential_deleted")]
    Deleted,
    /// The wallet could not keep them, or not all of them.
    #[serde(rename = "credential_failure")]
    Failure,
}

/// A wallet's message about the credentials of a response.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct NotificationRequest {
    /// The identifier in the response.
    pub notification_id: String,
    /// What became of the credentials.
    pub event: NotificationEvent,
    /// An explanation for developers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_description: Option<String>,
}

impl NotificationRequest {
    /// Parses a request. Unknown members are ignored (§11.1), repeated ones refused (§11.3).
    ///
    /// # Errors
    /// `invalid_notification_request`.
    pub fn parse(body: &[u8]) -> Result<Self, Error> {
        let refuse =
            |reason: &str| Error::credential(CredentialCode::InvalidNotificationRequest, reason);
        let request: Self = json::parse_as(body, &crate::limits())
            .map_err(|_| refuse("the notification lacks a member, or has a wrong one"))?;
        if request.notification_id.is_empty() || request.notification_id.len() > MAX_ID {
            return Err(refuse("notification_id is empty or too long"));
        }
        let is_allowed = |byte: u8| matches!(byte, 0x20..=0x21 | 0x23..=0x5b | 0x5d..=0x7e);
        let is_fine = |text: &String| text.len() <= MAX_DESCRIPTION && text.bytes().all(is_allowed);
        if !request.event_description.as_ref().is_none_or(is_fine) {
            return Err(refuse(
                "event_description is too long, or has other characters than allowed",
            ));
        }
        Ok(request)
    }

    /// The request as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(body: &str) -> Option<&'static str> {
        let parsed = NotificationRequest::parse(body.as_bytes());
        parsed.err().and_then(|error| error.code())
    }

    #[test]
    fn a_request_reads_back_as_it_was_written() {
        for event in [
            NotificationEvent::Accepted,
            NotificationEvent::Deleted,
            NotificationEvent::Failure,
        ] {
            let request = NotificationRequest {
                notification_id: "3fwe98js".to_owned(),
                event,
                event_description: Some("Out of storage.".to_owned()),
            };
            let again = NotificationRequest::parse(request.to_json().as_bytes());
            assert_eq!(again.unwrap(), request);
        }
    }

    #[test]
    fn the_example_of_the_specification_is_read_and_an_unknown_member_ignored() {
        let body = br#"{"notification_id":"3fwe98js","event":"credential_failure",
            "event_description":"Could not store the Credential. Out of storage.","more":1}"#;
        let request = NotificationRequest::parse(body).unwrap();
        assert_eq!(request.event, NotificationEvent::Failure);
    }

    #[test]
    fn a_malformed_request_is_refused_with_its_code() {
        let long = "n".repeat(MAX_ID + 1);
        for bad in [
            "{}".to_owned(),
            r#"{"notification_id":"a"}"#.to_owned(),
            r#"{"notification_id":"a","event":"Credential_Accepted"}"#.to_owned(),
            r#"{"notification_id":"a","notification_id":"a","event":"credential_deleted"}"#
                .to_owned(),
            r#"{"notification_id":"","event":"credential_deleted"}"#.to_owned(),
            format!(r#"{{"notification_id":"{long}","event":"credential_deleted"}}"#),
            r#"{"notification_id":"a","event":"credential_deleted","event_description":"\u00e4"}"#
                .to_owned(),
            r#"{"notification_id":"a","event":"credential_deleted","event_description":"\""}"#
                .to_owned(),
        ] {
            assert_eq!(code(&bad), Some("invalid_notification_request"), "{bad}");
        }
    }
}
