//! The window that another site's page opens to ask the wallet: it waits for the page's message, and gives the answer back.

use askama::Template;
use selfsame_wallet_view::requests::ReturnedAnswer;

use crate::Frame;

/// Waits for the message of the page that opened the window.
#[derive(Template)]
#[template(path = "wallet_window.html")]
pub struct WindowPage {
    frame: Frame,
}

impl WindowPage {
    /// The page.
    pub fn of(frame: Frame) -> Self {
        Self {
            frame: frame.titled("A page asks"),
        }
    }
}

/// Gives the answer back to the page.
#[derive(Template)]
#[template(path = "wallet_returned.html")]
pub struct ReturnedPage {
    frame: Frame,
    origin: String,
    message: String,
    is_shared: bool,
    refused: Option<String>,
}

impl ReturnedPage {
    /// The page with this answer; `refused` says why the request was refused.
    pub fn of(frame: Frame, returned: &ReturnedAnswer, refused: Option<String>) -> Self {
        let message = serde_json::json!({
            "protocol": returned.protocol,
            "data": returned.data,
        });
        let title = "Done";
        Self {
            frame: match refused {
                Some(_) => frame.failed(title),
                None => frame.titled(title),
            },
            origin: returned.origin.clone(),
            message: message.to_string(),
            is_shared: returned.data.get("error").is_none(),
            refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn page(data: serde_json::Value, refused: Option<&str>) -> String {
        let returned = ReturnedAnswer {
            origin: "https://shop.example".to_owned(),
            protocol: "openid4vp-v1-unsigned".to_owned(),
            data,
        };
        let refused = refused.map(str::to_owned);
        let page = ReturnedPage::of(Frame::of_visitor(), &returned, refused);
        page.render().unwrap()
    }

    #[test]
    fn an_answer_is_for_one_origin_and_stands_escaped_in_the_page() {
        let page = page(json!({"vp_token": {"a": ["<x'\"&"]}}), None);
        assert!(page.contains("data-to=\"https://shop.example\""), "{page}");
        assert!(!page.contains("<x"), "{page}");
        assert!(page.contains("Shown"), "{page}");
    }

    #[test]
    fn a_page_whose_request_is_refused_gets_the_code_and_the_person_the_reason() {
        let page = page(
            json!({"error": "invalid_request"}),
            Some("the page is of another origin"),
        );
        assert!(
            page.contains("another origin") && page.contains("invalid_request"),
            "{page}"
        );
        assert!(page.contains("Nothing has left your wallet"), "{page}");
    }
}
